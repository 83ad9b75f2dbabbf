"""What a test asks of the scene in a browser: where it is, what it shows, a click on it."""

from __future__ import annotations

import io
import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl, urlsplit

from PIL import Image, ImageChops
from playwright.sync_api import Error, Locator, Page

from tests.browser.app import STEPPER
from ui.drawing.hit import Hit
from ui.drawing.look import Look
from ui.run.compute import load_drawing, load_navigation
from ui.view.view_url import View, parse_view

PAUSE = 100  # milliseconds within which a run begins that is asked for
# Whether a scene and the app have been at rest for some milliseconds.
AT_REST = """(pause) => {
  let at = document.querySelector(".stepper");
  while (at && !at.__tilewise) at = at.parentNode;
  const { reports, viewport } = at?.__tilewise ?? {};
  const isRunning = !document.querySelector("[data-test-script-state=notRunning]");
  const isBusy = reports?.waiting || viewport?.measuring || viewport?.isSettling;
  if (isRunning || isBusy) delete window.restingSince;
  else window.restingSince ??= performance.now();
  return performance.now() - window.restingSince >= pause;
}"""
SHADE = 32  # of 255, in one colour of a pixel: Chromium repaints a part, whose edges blend anew


def ready(page: Page) -> Page:
    page.wait_for_selector(STEPPER)
    page.evaluate("document.fonts.ready.then(() => true)")
    return page


def step_of(root: Locator) -> int:
    """The step that the one scene within an element is at."""
    title = root.locator(".gtitle").text_content() or ""
    found = re.match(r"Step (\d+) of \d+", title)
    assert found, title
    return int(found[1])


def swipe(page: Page, across: int) -> None:
    """Move a finger over the scene, as the screen reports it."""
    session = page.context.new_cdp_session(page)
    x, y = 200, 500
    send = partial(session.send, "Input.dispatchTouchEvent")
    send({"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in range(1, 5):
        send({"type": "touchMove", "touchPoints": [{"x": x + across * part / 4, "y": y}]})
    send({"type": "touchEnd", "touchPoints": []})
    session.detach()


def where(page: Page) -> tuple[int, int]:
    """The step and the number of steps that the chart's title tells, once its frame is there."""
    page.wait_for_selector(".st-key-scene .stage:not(.waiting)")
    title = page.locator(f"{STEPPER} .gtitle").text_content() or ""
    found = re.match(r"Step (\d+) of (\d+)", title)
    assert found, title
    return int(found[1]), int(found[2])


def next_beat(page: Page) -> int:
    """The step that Right goes to from where the scene is."""
    view = parse_view(dict(parse_qsl(urlsplit(page.url).query)))
    return beat_after(replace(view, step=where(page)[0] - 1))


def beat_after(view: View) -> int:
    """The step, from 1, of the first beat after a view's step, else the last one."""
    stops = load_navigation(view)
    later = (number for number in stops["beat"] if number > view.step)
    return int(next(later, stops["steps"] - 1)) + 1


def until(page: Page, begins: str) -> None:
    """Wait for a title, which is the scene's alone once the one before it is gone."""
    page.wait_for_function(
        "(begins) => { const told = document.querySelectorAll('.st-key-scene .gtitle');"
        " return told.length === 1 && told[0].closest('[data-ready]')"
        " && told[0].textContent.startsWith(begins); }",
        arg=begins,
    )


def settled(page: Page, **asked: str) -> None:
    """Wait until the address says what it should, and nothing runs any more."""
    page.wait_for_function(
        "(asked) => { const said = new URLSearchParams(location.search);"
        " return Object.entries(asked).every(([name, text]) => (said.get(name) ?? '') === text); }",
        arg=asked,
    )
    # The picture is of the view that the address has.
    page.wait_for_function(
        """() => {
          const drawn = JSON.parse(document.querySelector('.stepper')?.dataset.address ?? 'null');
          const said = Object.fromEntries(new URLSearchParams(location.search));
          delete said.step;
          const pairs = (one) => JSON.stringify(Object.entries(one).sort());
          return drawn && pairs(drawn) === pairs(said)
            && document.querySelectorAll('.stepper .plot').length === 1;
        }"""
    )
    at_rest(page)


def at_rest(page: Page) -> None:
    """Wait until no run goes on, and the scene has nothing to report that asks for another."""
    page.evaluate("delete window.restingSince")
    page.wait_for_function(AT_REST, arg=PAUSE)


def point(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the figure is in the window."""
    left, top, scale = page.evaluate(
        """() => {
          const plot = document.querySelector('.st-key-scene .js-plotly-plot[data-ready]');
          const box = plot.getBoundingClientRect();
          return [box.left, box.top, box.width / plot.layout.width];
        }"""
    )
    return left + x * scale, top + y * scale


def spot(page: Page, view: View, hit: Hit) -> tuple[float, float]:
    """A pixel of the figure, in the middle of what is hit by a click at the view's step."""
    width, height = page.evaluate(
        "(({ width, height }) => [width, height])(document.querySelector('.stepper .plot').layout)"
    )
    drawing = load_drawing(view, Look(width=width, height=height, stage=view.stage))
    found = [
        (x, y) for x in range(2, width, 4) for y in range(2, height, 4)
        if drawing.hit(view.step, x, y) == hit
    ]  # fmt: skip
    assert found, f"{hit} is not shown at step {view.step + 1}"
    return found[len(found) // 2]


def click(page: Page, x: float, y: float) -> None:
    """Click a pixel of the figure."""
    x, y = point(page, x, y)
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def opened(page: Page, popover: str, label: str) -> Locator:
    """A control by its label, in a popover that is open from then on.

    Clicked again if need be: a run that closes the popover may end after the first click.
    """
    control = page.get_by_label(label, exact=True)
    for _ in range(5):
        if control.is_visible():
            break
        page.get_by_role("button", name=popover).click()
        with suppress(Error):
            control.wait_for(timeout=5000)
    control.wait_for()
    return control


def setting(page: Page, label: str) -> Locator:
    """A field of the menu of sizes, the focus and files."""
    return opened(page, "More", label)


def focus(page: Page) -> tuple[int, ...]:
    """What the fields of the focus hold: block x and y, thread x and y."""
    labels = ("Block x", "Block y", "Thread x", "Thread y")
    return tuple(int(setting(page, label).input_value()) for label in labels)


def picture(page: Page) -> bytes:
    """The scene as it is seen; once more where Streamlit puts it there anew meanwhile."""
    stage = page.locator(".st-key-scene .stage")
    for _ in range(3):
        with suppress(Error):
            return stage.screenshot(animations="disabled")
        ready(page)
    return stage.screenshot(animations="disabled")


def alike(one: bytes, other: bytes) -> bool:
    """Whether two pictures are the same, but for the shades that a redrawn edge may have."""
    first, second = (Image.open(io.BytesIO(data)).convert("RGB") for data in (one, other))
    if first.size != second.size:
        return False
    apart = ImageChops.difference(first, second).getextrema()
    return all(most <= SHADE for _, most in apart)
