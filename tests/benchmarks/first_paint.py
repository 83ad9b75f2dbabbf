"""Prints how fast the app opens, draws another scene, steps and plays, in headless Chromium.

Run it as `python -m tests.benchmarks.first_paint`. First paint is from `streamlit run` until the
scene answers to keys, or from the last choice in the sidebar until the scene is drawn; a step is
from the arrow key until the browser has painted it; a payload is what the browser was sent until
the scene was drawn. At rest the pages beside a step's own are sent too.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

from playwright.sync_api import Page

from simulator import catalogue
from tests.browser.app import STEPPER, browser, running_app

STEPS = 60
PACE = 10  # steps a second
SECONDS = 5  # of playing

# Resolves with the milliseconds from a key press until a second animation frame after Plotly has
# moved its shapes: by then the first one, with the texts and shapes, is on the screen.
PRESS = """
(key) => new Promise((resolve) => {
  const gd = document.querySelector('.st-key-scene .js-plotly-plot');
  const begun = performance.now();
  gd.once('plotly_relayout', () => requestAnimationFrame(() => requestAnimationFrame(
    () => resolve(performance.now() - begun))));
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
})
"""

# Resolves with the times, in milliseconds, at which frames with another title were painted.
WATCH = """
(seconds) => new Promise((resolve) => {
  const title = () => document.querySelector('.st-key-scene .gtitle')?.textContent;
  const times = [];
  let before = title();
  const begun = performance.now();
  const look = () => {
    const now = title();
    if (now !== before) times.push(performance.now());
    before = now;
    if (performance.now() - begun < seconds * 1000) requestAnimationFrame(look);
    else resolve(times);
  };
  requestAnimationFrame(look);
})
"""


# Whether another scene than that of a data-ready is on the screen.
PAINTED = """
(before) => [...document.querySelectorAll('.st-key-scene .js-plotly-plot')].some((gd) =>
  gd.layout?.meta?.scene && !before.startsWith(gd.layout.meta.scene)
  && gd.querySelector('.gtitle'))
"""


def main() -> None:
    """Measure and print, each figure with its goal."""
    with browser() as chromium:
        begun = time.perf_counter()
        with running_app() as address:
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            sent = [0]
            page.on("websocket", lambda socket: socket.on("framereceived", _adding(sent)))
            page.goto(address)
            page.wait_for_selector(STEPPER)
            painted = time.perf_counter() - begun
            print(f"first paint, from `streamlit run`  {painted:7.2f} s   (goal 4)")
            steps(page, "8x8, tile 4")
            enlarge(page, 64)
            drawn(page, sent, "64x64, tile 16", "TILE", "16")
            steps(page, "64x64, tile 16")
            play(page)
            for entry in catalogue().values():
                if entry.name != "tiled":
                    drawn(page, sent, f"64x64, {entry.name}", "Kernel", entry.title)


def _adding(sent: list[int]) -> Callable[[bytes | str], None]:
    def add(frame: bytes | str) -> None:
        sent[0] += len(frame)

    return add


def drawn(page: Page, sent: list[int], name: str, box: str, option: str) -> None:
    """Time a choice in the sidebar until its scene is drawn."""
    before = page.get_attribute(STEPPER, "data-ready")
    sent[0] = 0
    begun = time.perf_counter()
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option, exact=True).click()
    page.wait_for_function(PAINTED, arg=before)
    painted = time.perf_counter() - begun
    page.wait_for_function(
        "(before) => { const gd = document.querySelector('.st-key-scene .js-plotly-plot');"
        " return gd?.dataset.ready && gd.dataset.ready !== before; }",
        arg=before,
    )
    ready, payload = time.perf_counter() - begun, sent[0]
    page.wait_for_timeout(3000)
    print(
        f"{name}: painted in {painted:.2f} s, {payload / 1e6:.2f} MB sent   (goals 2.5 and 1), "
        f"answers keys after {ready:.2f} s; {(sent[0] - payload) / 1e6:.2f} MB of the page beside"
    )


def enlarge(page: Page, size: int) -> None:
    """Enter M, N and K."""
    for name in "MNK":
        field = page.get_by_label(name, exact=True)
        field.fill(str(size))
        field.press("Enter")
        page.wait_for_timeout(4000)


def steps(page: Page, name: str) -> None:
    times = [page.evaluate(PRESS, "ArrowRight") for _ in range(STEPS)]
    worst = sorted(times)[int(0.95 * len(times))]
    median = statistics.median(times)
    print(f"{name}: key to paint {median:.1f} ms median, {worst:.1f} ms p95   (goals 50 and 80)")


def play(page: Page) -> None:
    """Play for some seconds, and count the steps that came late or not at all."""
    page.keyboard.press("Home")
    page.get_by_label("Steps a second").select_option(str(PACE))
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Play or pause").click()
    times = page.evaluate(WATCH, SECONDS)
    page.get_by_role("button", name="Play or pause").click()
    gaps = [after - before for before, after in itertools.pairwise(times)]
    late = sum(gap > 1.5 * 1000 / PACE for gap in gaps)
    print(
        f"playing at {PACE} a second for {SECONDS} s: {len(times)} steps painted, {late} late, the "
        f"longest wait {max(gaps):.0f} ms"
    )


if __name__ == "__main__":
    main()
