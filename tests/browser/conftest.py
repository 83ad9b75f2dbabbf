"""One server for all tests; each test opens pages that report their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser import app

Contexts = dict[tuple[int, int, str], BrowserContext]

Open = Callable[..., Page]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A page, and what it has written to its console as errors."""

    page: Page
    errors: list[str]


def load(
    chromium: Browser,
    contexts: Contexts,
    address: str,
    width: int = 1280,
    height: int = 720,
    scheme: str = "light",
) -> Loaded:
    """Open an address on a screen; those of one kind share what the browser keeps."""
    screen = (width, height, scheme)
    if screen not in contexts:
        contexts[screen] = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
    page = contexts[screen].new_page()
    errors = note_errors(page)
    page.goto(address)
    return Loaded(page, errors)


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
def contexts() -> Contexts:
    """A context for each kind of screen: it fetches and compiles Streamlit's scripts only once."""
    return {}


@pytest.fixture
def visit(address: str, chromium: Browser, contexts: Contexts) -> Iterator[Open]:
    """Open a path of the app; no page may have written an error to its console at the end."""
    opened: list[Loaded] = []

    def visited(path: str = "", *screen: Any) -> Page:
        opened.append(load(chromium, contexts, address + path, *screen))
        return opened[-1].page

    yield visited
    for loaded in opened:
        loaded.page.close()
    assert [error for loaded in opened for error in loaded.errors] == []
