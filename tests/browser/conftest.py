"""One server for all tests; each test opens pages that report their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser import app

Open = Callable[..., Page]


@dataclass(frozen=True, slots=True)
class Screens:
    """Where a browser opens pages of an app: a context for each kind of screen.

    A page of each stays open, so that Chromium keeps the process of the app's pages, in which
    Streamlit's and Plotly's scripts are compiled already: that is half of what a visit costs.
    """

    chromium: Browser
    address: str
    contexts: dict[tuple[Any, ...], BrowserContext] = field(default_factory=dict)

    def page(
        self, width: int = 1280, height: int = 720, scheme: str = "light", **more: Any
    ) -> Page:
        """An empty page on a screen; more are options of Playwright's new_context."""
        screen = (width, height, scheme, *sorted(more.items()))
        if screen not in self.contexts:
            self.contexts[screen] = self.chromium.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme,
                accept_downloads=True, **more,
            )  # fmt: skip
            self.contexts[screen].set_default_timeout(app.PATIENCE)
            self.contexts[screen].new_page().goto(f"{self.address}/_stcore/health")
        return self.contexts[screen].new_page()


def note_errors(page: Page) -> list[str]:
    """The errors that a page writes from now on; it has the tests' patience."""
    errors: list[str] = []
    page.set_default_timeout(app.PATIENCE)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with app.running_app() as found:
        yield found


@pytest.fixture(scope="session")
def screens(chromium: Browser, address: str) -> Screens:
    return Screens(chromium, address)


@pytest.fixture
def visit(screens: Screens) -> Iterator[Open]:
    """Open a path of the app; no page may have written an error to its console at the end."""
    opened: list[tuple[Page, list[str]]] = []

    def visited(path: str = "", *screen: Any, **more: Any) -> Page:
        page = screens.page(*screen, **more)
        opened.append((page, note_errors(page)))
        page.goto(screens.address + path)
        return page

    yield visited
    for page, _ in opened:
        page.close()
    assert [error for _, errors in opened for error in errors] == []
