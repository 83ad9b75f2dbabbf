"""A run that takes long: what its visitor sees meanwhile, and how it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import app
from tests.browser.conftest import Open, Screens
from tests.browser.scene import ready, setting, settled

SCRIPT = Path(__file__).with_name("app_that_says_at_once.py")
RUNNING = "Running the kernel, "
LONG = "/step?kernel=warptiles&M=64&N=64&K=64"


@pytest.fixture(scope="module")
def screens(screens: Screens) -> Iterator[Screens]:
    """Of an app that says at once that it waits."""
    with app.running_app(SCRIPT, PYTHONPATH=str(app.ROOT)) as address:
        yield replace(screens, address=address)


def test_a_run_is_stopped_and_run_after_all_and_another_stopped_for_a_smaller_one(
    visit: Open, screens: Screens
) -> None:
    page = visit(LONG)
    expect(page.get_by_text(RUNNING)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("This run was stopped")).to_be_visible()
    page.get_by_role("button", name="Run it").click()
    ready(page)
    expect(page.get_by_role("button", name="Stop")).not_to_be_visible()
    page.goto(screens.address + LONG.replace("M=64", "M=60"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("This run was stopped")).to_be_visible()
    page.goto(f"{screens.address}/step?kernel=naive")
    settled(ready(page), kernel="naive")


@pytest.mark.deep
def test_a_scene_stays_in_its_place_while_another_is_waited_for(visit: Open) -> None:
    page = ready(visit("/step?kernel=warptiles&M=64&N=60&K=8"))
    settled(page)
    place = page.locator(".st-key-scene .stage").bounding_box()
    field = setting(page, "K")
    field.fill("64")
    field.press("Enter")
    expect(page.get_by_text(RUNNING)).to_be_visible()
    assert page.locator(".st-key-scene .stage").bounding_box() == place
    settled(page, K="64")
    assert page.locator(".st-key-scene .stage").bounding_box() == place
