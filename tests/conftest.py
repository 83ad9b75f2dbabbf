"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole run: a process has room for one of Playwright's event loops."""
    from tests.browser import app  # Playwright is not installed where only `gpu` tests run.

    with app.browser() as found:
        yield found
