"""What moves while a scene plays, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Open
from tests.browser.scene import alike, picture, ready, until, where
from ui.notebook import show

pytestmark = pytest.mark.browser

MOVING = ".motions .flying"


# Plays until the first number has flown, then pauses; its places on the screen, frame by frame.
WATCH = """
new Promise((resolve) => {
  const button = document.querySelector('.stepper [data-do=play]');
  const places = [];
  const look = () => {
    const number = document.querySelector('.motions .flying');
    if (number) {
      const { left, top } = number.getBoundingClientRect();
      places.push([left, top]);
    } else if (places.length) {
      button.click();
      resolve(places);
      return;
    }
    requestAnimationFrame(look);
  };
  button.click();
  look();
})
"""


def play(page: Page, pace: str) -> None:
    page.get_by_label("Beats a second").select_option(pace)
    page.keyboard.press("Space")


COUNT = """
new Promise((resolve) => {
  let seen = 0;
  const watcher = new MutationObserver((all) => {
    const added = all.flatMap((one) => [...one.addedNodes]);
    seen += added.filter((node) => node.className === 'motions').length;
  });
  watcher.observe(document.querySelector('.stepper'), { childList: true, subtree: true });
  setTimeout(() => { watcher.disconnect(); resolve(seen); }, 1000);
})
"""


def test_a_value_flies_where_it_is_copied_to_unless_a_key_or_the_pace_is_faster(
    visit: Open,
) -> None:
    page = ready(visit("/step?step=10"))
    page.keyboard.press("ArrowDown")
    until(page, "Step 11 of")
    still = picture(page)
    page.keyboard.press("ArrowUp")
    until(page, "Step 10 of")
    page.get_by_label("Beats a second").select_option("1")
    places = page.evaluate(WATCH)
    assert len({tuple(place) for place in places}) > 3
    assert where(page)[0] == 11
    assert alike(picture(page), still), "the picture is then the step's"
    page.keyboard.press("ArrowUp")
    play(page, "1")
    page.wait_for_selector(MOVING)
    page.keyboard.press("ArrowDown")
    assert page.locator(MOVING).count() == 0
    until(page, "Step 12 of")
    page.keyboard.press("Home")
    play(page, "4")
    page.wait_for_selector(MOVING)
    page.get_by_label("Beats a second").select_option("10")
    page.wait_for_selector(MOVING, state="detached")
    assert page.evaluate(COUNT) == 0


@pytest.mark.deep
def test_nothing_moves_step_by_step(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    assert page.locator(".motions").count() == 0


@pytest.mark.deep
def test_nothing_moves_where_a_visitor_wants_less_motion(visit: Open) -> None:
    page = ready(visit("/step?step=9", reduced_motion="reduce"))
    play(page, "2")
    assert page.evaluate(COUNT) == 0
    assert where(page)[0] > 10


@pytest.mark.deep
def test_an_exported_file_moves_too(chromium: Browser, tmp_path) -> None:
    file = tmp_path / "scene.html"
    file.write_text(show("tiled", M=8, N=8, K=8, step=10).content, encoding="utf-8")
    page = chromium.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".js-plotly-plot[data-ready]")
    play(page, "1")
    page.wait_for_selector(MOVING)
    page.close()
