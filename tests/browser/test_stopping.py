"""A run that takes long: what its visitor sees meanwhile, and how it is stopped."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser import app
from tests.browser.conftest import Screens, note_errors
from tests.browser.scene import ready, setting, settled

SCRIPT = Path(__file__).with_name("app_that_says_at_once.py")
RUNNING = "Running the kernel, "
LONG = "/step?kernel=warptiles&M=64&N=64&K=64"


def test_a_run_is_stopped_and_run_after_all_and_another_stopped_for_a_smaller_one(
    chromium: Browser,
) -> None:
    with app.running_app(SCRIPT, PYTHONPATH=str(app.ROOT)) as address:
        page = Screens(chromium, address).page()
        errors = note_errors(page)
        page.goto(address + LONG)
        expect(page.get_by_text(RUNNING)).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("This run was stopped")).to_be_visible()
        page.get_by_role("button", name="Run it").click()
        ready(page)
        expect(page.get_by_role("button", name="Stop")).not_to_be_visible()
        page.goto(address + LONG.replace("M=64", "M=60"))
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("This run was stopped")).to_be_visible()
        page.goto(address + "/step?kernel=naive")
        settled(ready(page), kernel="naive")
        assert errors == []


def test_a_scene_stays_in_its_place_while_another_is_waited_for(chromium: Browser) -> None:
    with app.running_app(SCRIPT, PYTHONPATH=str(app.ROOT)) as address:
        page = Screens(chromium, address).page()
        errors = note_errors(page)
        page.goto(f"{address}/step?kernel=warptiles&M=64&N=64&K=8")
        settled(ready(page))
        place = page.locator(".st-key-scene .stage").bounding_box()
        field = setting(page, "K")
        field.fill("64")
        field.press("Enter")
        expect(page.get_by_text(RUNNING)).to_be_visible()
        assert page.locator(".st-key-scene .stage").bounding_box() == place
        settled(page, K="64")
        assert page.locator(".st-key-scene .stage").bounding_box() == place
        assert errors == []
