"""Choices in haste: each made before the page has answered the last."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page

from simulator import catalogue
from tests.browser.conftest import Open
from tests.browser.scene import ready, settled, until
from ui.view.presets import presets
from ui.view.view_url import DEFAULT

pytestmark = pytest.mark.browser

CHOICES = 4  # at most, in a burst
GAPS = (0, 0, 20, 100, 400)  # milliseconds from one choice to the next
HASTE = 3000  # milliseconds to find what to click, which the page may be about to take away
KEYS = ("ArrowDown", "End", "Home", "PageDown", "b")
# Whether the list of kernels, the only one, shows the address's.
AGREE = """
([titles, usual]) => {
  const lists = document.querySelectorAll('.st-key-controls [aria-label=Kernel]');
  const kernel = new URLSearchParams(location.search).get('kernel') ?? usual;
  return lists.length === 1 && lists[0].value === titles[kernel];
}
"""


def open_preset(page: Page, chance: random.Random) -> None:
    page.get_by_role("button", name="Presets").click(timeout=HASTE)
    name = chance.choice(presets()).name
    page.get_by_role("button", name=name, exact=True).click(timeout=HASTE)


def choose_kernel(page: Page, chance: random.Random) -> None:
    title = chance.choice(list(catalogue().values())).title
    page.get_by_role("combobox", name="Kernel").click(timeout=HASTE)
    page.get_by_role("option", name=title, exact=True).click(timeout=HASTE)


def change_what_if(page: Page, chance: random.Random) -> None:
    page.get_by_role("button", name="What if").click(timeout=HASTE)
    boxes = page.get_by_test_id("stPopoverBody").get_by_test_id("stCheckbox")
    boxes.first.wait_for(timeout=HASTE)
    boxes.nth(int(chance.random() * boxes.count())).click(timeout=HASTE)


def press(page: Page, chance: random.Random) -> None:
    page.keyboard.press(chance.choice(KEYS))


def go_back(page: Page, chance: random.Random) -> None:
    page.evaluate("navigation.canGoBack && history.back()")  # within the app


ACTIONS = (open_preset, choose_kernel, change_what_if, press, go_back)


@pytest.mark.parametrize(
    ("seed", "bursts"),  # of one visitor
    [(1, 2), *(pytest.param(seed, 4, marks=pytest.mark.deep) for seed in range(1, 4))],
)
def test_after_hasty_choices_address_controls_and_picture_agree_and_keys_work(
    visit: Open, seed: int, bursts: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  # no secret
    titles = {name: entry.title for name, entry in catalogue().items()}
    page = visit("/step")
    ready(page)
    for _ in range(bursts):
        for _ in range(chance.randint(1, CHOICES)):
            with suppress(Error):  # what it clicks has gone
                chance.choice(ACTIONS)(page, chance)
            page.wait_for_timeout(chance.choice(GAPS))
        page.wait_for_function(AGREE, arg=[titles, DEFAULT.kernel])
        settled(page)  # the picture is of the address, and the only one
        assert page.locator(".stException").count() == 0
        page.keyboard.press("Escape")  # of a list that is still open
        page.keyboard.press("Home")
        until(page, "Step 1 of")
        page.keyboard.press("ArrowDown")
        until(page, "Step 2 of")
