"""A scene in a notebook."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import app
from ui.notebook import show


def test_two_scenes_are_shown_in_lockstep() -> None:
    shown = show("naive", M=4, N=4, K=4, **{"with": "tiled,TILE:2"})
    assert repr(shown) == "Scene of naive: 41 steps"
    assert "Step 41 of 41" in shown.content


def test_what_cannot_be_shown_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="M = 900 is more than 64"):
        show("tiled", M=900)
    with pytest.raises(ValueError, match="“tilde” is none of"):
        show("tilde")


@pytest.mark.browser
def test_a_notebook_shows_and_plays_it(chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(app.PATIENCE)
    page.set_content(f"<!doctype html><body>{show('naive', M=4, N=4, K=4, step=3)._repr_html_()}")
    scene = page.frame_locator("iframe")
    expect(scene.locator(".gtitle")).to_contain_text("Step 3 of")
    scene.get_by_role("button", name="Statement forward").click()
    expect(scene.locator(".gtitle")).to_contain_text("Step 4 of")
    page.keyboard.press("Home")
    expect(scene.locator(".gtitle")).to_contain_text("Step 1 of")
    page.keyboard.press("Space")
    expect(scene.locator(".gtitle")).not_to_contain_text("Step 1 of")
    page.close()
