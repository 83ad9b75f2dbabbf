"""One server for all tests; each test opens pages that report their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser import app

Contexts = dict[tuple[int, int, str], BrowserContext]

Open = Callable[..., Page]


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
    errors: list[str] = []
    pages = []

    def opened(path: str = "", width: int = 1280, height: int = 720, scheme: str = "light") -> Page:
        screen = (width, height, scheme)
        if screen not in contexts:
            contexts[screen] = chromium.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                accept_downloads=True,
            )
        page = contexts[screen].new_page()
        pages.append(page)
        page.set_default_timeout(app.PATIENCE)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address + path)
        return page

    yield opened
    for page in pages:
        page.close()
    assert errors == []
