"""One server for all tests; each test opens a page that reports its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import app

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with app.running_app() as found:
        yield found


@pytest.fixture
def visit(address: str, chromium: Browser) -> Iterator[Open]:
    """Open a path of the app; no page may have written an error to its console at the end."""
    errors: list[str] = []
    contexts = []

    def opened(path: str = "", width: int = 1280, height: int = 720, scheme: str = "light") -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(app.PATIENCE)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
