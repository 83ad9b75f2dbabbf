"""What tests of several folders share, which tests run, and which of them share a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Tests with one of these marks run in one process: a browser and the app's server are started
# once, and a GPU is measured by one test at a time.
TOGETHER = ("browser", "gpu")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deep", action="store_true", help="run the tests marked deep too (-m deep: them alone)"
    )


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in its own
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--deep"):
        deep = [item for item in items if item.get_closest_marker("deep")]
        if deep:
            config.hook.pytest_deselected(items=deep)
            items[:] = [item for item in items if not item.get_closest_marker("deep")]
    for item in items:
        for mark in TOGETHER:
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.xdist_group(mark))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole process, which has room for one of Playwright's event loops."""
    from tests.browser import app  # Playwright is not installed where only `gpu` tests run.

    with app.browser() as found:
        yield found
