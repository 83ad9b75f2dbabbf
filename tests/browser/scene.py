"""What a test asks of the scene in a browser: where it is, what it shows, a click on it."""

from __future__ import annotations

import io
import re

from PIL import Image, ImageChops
from playwright.sync_api import Page

from tests.browser.app import STEPPER

SHADE = 8  # of 255, in one colour of a pixel


def ready(page: Page) -> Page:
    page.wait_for_selector(STEPPER)
    return page


def where(page: Page) -> tuple[int, int]:
    """The step and the number of steps that the chart's title tells."""
    title = page.locator(".st-key-scene .gtitle").text_content() or ""
    found = re.match(r"Step (\d+) of (\d+)", title)
    assert found, title
    return int(found[1]), int(found[2])


def until(page: Page, begins: str) -> None:
    """Wait for a title, which is the scene's alone once the one before it is gone."""
    page.wait_for_function(
        "(begins) => { const told = document.querySelectorAll('.st-key-scene .gtitle');"
        " return told.length === 1 && told[0].textContent.startsWith(begins); }",
        arg=begins,
    )  # fmt: skip


def settled(page: Page, **asked: str) -> None:
    """Wait until the address says what it should, and nothing runs any more."""
    page.wait_for_function(
        "(asked) => { const said = new URLSearchParams(location.search);"
        " return Object.entries(asked).every(([name, text]) => (said.get(name) ?? '') === text); }",
        arg=asked,
    )  # fmt: skip
    page.wait_for_function(
        "() => { const scenes = document.querySelectorAll('.st-key-scene');"
        " return scenes.length === 1 && scenes[0].dataset.stale === 'false'"
        " && scenes[0].querySelector('.js-plotly-plot[data-ready]'); }"
    )
    page.wait_for_timeout(300)


def click(page: Page, name: str, row: int, column: int) -> None:
    """Click the middle of a cell of the trace with this name."""
    x, y = page.evaluate(
        """([name, row, column]) => {
          const gd = document.querySelector('.st-key-scene .js-plotly-plot[data-ready]');
          const trace = gd.data.find((one) => one.name === name);
          const box = gd.getBoundingClientRect();
          const scale = box.width / gd._fullLayout.width;
          return [box.left + (trace.x0 + column * trace.dx) * scale,
                  box.top + ((trace.y0 ?? 866) + row * (trace.dy ?? 0)) * scale];
        }""",
        [name, row, column],
    )
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def focus(page: Page) -> tuple[int, ...]:
    """What the sidebar's fields hold: block x and y, thread x and y."""
    labels = ("Block x", "Block y", "Thread x", "Thread y")
    return tuple(int(page.get_by_label(label, exact=True).input_value()) for label in labels)


def picture(page: Page) -> bytes:
    return page.locator(".st-key-stage").screenshot(animations="disabled")


def alike(one: bytes, other: bytes) -> bool:
    """Whether two pictures are the same, but for the shades that a redrawn edge may have."""
    first, second = (Image.open(io.BytesIO(data)).convert("RGB") for data in (one, other))
    if first.size != second.size:
        return False
    apart = ImageChops.difference(first, second).getextrema()
    return all(most <= SHADE for _, most in apart)
