"""One server for all tests; each test opens pages that report their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser import app

Open = Callable[..., Page]


@dataclass(slots=True)
class Window:
    """A browser's window: what it keeps, such as cookies, and its tabs."""

    context: BrowserContext
    screen: tuple[int, int, str] | None = None  # of the last visit: width, height and scheme
    free: list[tuple[Page, list[str]]] = field(default_factory=list)  # tabs and their errors

    def show(self, page: Page, screen: tuple[int, int, str]) -> None:
        """Put a page on a screen, for which no visit on another has left a viewport."""
        width, height, scheme = screen
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        if screen != self.screen:
            self.context.clear_cookies()
        self.screen = screen


@dataclass(frozen=True, slots=True)
class Screens:
    """Where a browser opens pages of an app, on screens of any size.

    A tab stays open in each window, so that Chromium keeps the process of the app's pages, in which
    Streamlit's and Plotly's scripts are compiled already: that is most of what a visit costs.
    A tab that is used again saves a third of the rest.
    """

    chromium: Browser
    address: str
    windows: dict[tuple[Any, ...], Window] = field(default_factory=dict)  # by their options

    def page(
        self, width: int = 1280, height: int = 720, scheme: str = "light", **more: Any
    ) -> Page:
        """An empty page on a screen; more are options of Playwright's new_context."""
        window = self._window(**more)
        page = window.context.new_page()
        window.show(page, (width, height, scheme))
        return page

    def _window(self, **more: Any) -> Window:
        options = tuple(sorted(more.items()))
        if options not in self.windows:
            context = self.chromium.new_context(accept_downloads=True, **more)
            context.set_default_timeout(app.PATIENCE)
            context.new_page().goto(f"{self.address}/_stcore/health")
            self.windows[options] = Window(context)
        return self.windows[options]

    @contextmanager
    def opened(
        self, path: str = "", width: int = 1280, height: int = 720, scheme: str = "light",
        **more: Any,
    ) -> Iterator[Page]:  # fmt: skip
        """A path of the app, in a page that other tests had before and will have afterwards.

        A test that leaves more in it than a tab's storage, such as a script, closes it. At the end
        the page may have written no error to its console.
        """
        window = self._window(**more)
        if window.free:
            page, errors = window.free.pop()
            errors.clear()
            window.show(page, (width, height, scheme))
        else:
            page = self.page(width, height, scheme, **more)
            errors = note_errors(page)
        page.bring_to_front()
        page.goto(self.address + path)
        _forget_history(page)
        yield page
        assert errors == []
        if not page.is_closed():
            page.goto(f"{self.address}/_stcore/health")
            page.evaluate("sessionStorage.clear()")
            page.mouse.move(0, 0)
            window.free.append((page, errors))


def _forget_history(page: Page) -> None:
    """Let no Back lead to what another test opened."""
    session = page.context.new_cdp_session(page)
    session.send("Page.resetNavigationHistory")
    session.detach()


def note_errors(page: Page) -> list[str]:
    """The errors that a page writes from now on; it has the tests' patience."""
    errors: list[str] = []
    page.set_default_timeout(app.PATIENCE)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


@pytest.fixture(scope="session")
def screens(chromium: Browser, address: str) -> Screens:
    return Screens(chromium, address)


@pytest.fixture
def visit(screens: Screens) -> Iterator[Open]:
    """Open a path of the app on a screen."""
    with ExitStack() as pages:
        yield lambda *path, **more: pages.enter_context(screens.opened(*path, **more))
