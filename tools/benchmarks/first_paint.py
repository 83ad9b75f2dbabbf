"""Prints how fast the app opens, draws another scene, steps and plays, in headless Chromium.

Run it as `python -m tools.benchmarks.first_paint`. First paint is from `streamlit run` until the
scene answers to keys, or from the last choice of a control until the scene is drawn; a step is
from the arrow key until the browser has painted it; a payload is what the browser was sent until
the scene was drawn. At rest the pages beside a step's own are sent too.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page

from simulator import catalogue
from tests.browser.app import AS_USUAL, STEPPER, browser, driver, running_app
from ui.view.presets import Preset, presets

STEPS = 60
VISITS = 5  # to each of two pages
# Scenes, and the second one that is set beside each.
TWO_SCENES = (("M=8&N=8&K=16&TILE=8", "naive"), ("M=64&N=64&K=64&TILE=16", "padded"))
PACE = 10  # steps a second
MOVING_PACE = 4  # steps a second, the most at which values fly
SECONDS = 5  # of playing

# Resolves with the milliseconds from a key press until a second animation frame after it: by then
# the first one, with the step's texts and shapes, is on the screen.
PRESS = """
(key) => new Promise((resolve) => {
  const begun = performance.now();
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
})
"""

# The milliseconds that the page's script takes for a key press.
WORK = """
(key) => {
  const begun = performance.now();
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  return performance.now() - begun;
}
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

# Resolves with the times, in milliseconds, of all frames that the browser painted.
FRAMES = """
(seconds) => new Promise((resolve) => {
  const times = [];
  const look = (now) => {
    times.push(now);
    if (now - times[0] < seconds * 1000) requestAnimationFrame(look);
    else resolve(times);
  };
  requestAnimationFrame(look);
})
"""


# Whether another scene than that of a data-ready is on the screen.
PAINTED = """
(before) => [...document.querySelectorAll('.st-key-scene .js-plotly-plot')].some(
  (gd) => gd.dataset.ready && gd.dataset.ready !== before)
"""

# A page with one chart and nothing else, as large as the scene.
BARE = """
import plotly.graph_objects as go
import streamlit as st
st.set_page_config(layout="wide")
rows = [[(i * j) % 7 for i in range(40)] for j in range(40)]
figure = go.Figure([go.Heatmap(z=rows), go.Scatter(x=[0, 39], y=[0, 39])])
figure.update_layout(width=1240, height=600)
st.plotly_chart(figure, key="scene", theme=None, width="content")
"""


def main() -> None:
    """Measure and print, each figure with its goal."""
    with driver() as playwright, browser(playwright) as chromium:
        begun = time.perf_counter()
        with running_app(**AS_USUAL) as address:
            page = chromium.new_page(viewport={"width": 1280, "height": 720})
            sent = [0]
            page.on("websocket", lambda socket: socket.on("framereceived", _adding(sent)))
            page.goto(f"{address}/step")
            page.wait_for_selector(STEPPER)
            painted = time.perf_counter() - begun
            print(f"first paint, from `streamlit run`  {painted:7.2f} s   (goal 4)")
            steps(page, "8x8, tile 4")
            page.close()
            beside_a_bare_page(chromium, address)
            page = chromium.new_page(viewport={"width": 1280, "height": 720})
            page.on("websocket", lambda socket: socket.on("framereceived", _adding(sent)))
            page.goto(f"{address}/step?M=64&N=64&K=64")
            page.wait_for_selector(STEPPER)
            page.wait_for_timeout(3000)
            drawn(page, sent, "64x64, tile 16", "TILE", "16")
            steps(page, "64x64, tile 16")
            play(page)
            move(page)
            for entry in catalogue().values():
                if entry.name != "tiled":
                    drawn(page, sent, f"64x64, {entry.name}", "Kernel", entry.title)
            for preset in presets():
                chosen(page, preset)
            page.close()
            for query, second in TWO_SCENES:
                beside_one_scene(chromium, address, query, second)


def beside_a_bare_page(chromium: Browser, address: str) -> None:
    """Time opening the page beside a bare Streamlit page with one chart of its size, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE, encoding="utf-8")
        with running_app(script) as bare:
            times: dict[str, list[float]] = {bare: [], f"{address}/step": []}
            for _ in range(VISITS + 1):
                for opened in times:
                    times[opened].append(opening(chromium, opened))
    medians = [statistics.median(taken[1:]) for taken in times.values()]  # the first warms up
    print(
        f"page to scene {medians[1]:.2f} s, a bare page with one chart {medians[0]:.2f} s: "
        f"{medians[1] / medians[0]:.2f} times   (goal 1.1)"
    )


def opening(chromium: Browser, address: str) -> float:
    """Seconds from opening an address until its chart is drawn, for a new visitor."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    begun = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(".st-key-scene .main-svg", state="visible")
    taken = time.perf_counter() - begun
    context.close()
    return taken


def _adding(sent: list[int]) -> Callable[[bytes | str], None]:
    def add(frame: bytes | str) -> None:
        sent[0] += len(frame)

    return add


def drawn(page: Page, sent: list[int], name: str, box: str, option: str) -> None:
    """Time a choice in the sidebar until its scene is drawn."""
    before = page.get_attribute(STEPPER, "data-ready")
    sent[0] = 0
    if box != "Kernel":
        page.get_by_role("button", name="More").click()
    page.get_by_role("combobox", name=box).click()
    begun = time.perf_counter()
    page.get_by_role("option", name=option, exact=True).click()
    page.wait_for_function(PAINTED, arg=before)
    painted = time.perf_counter() - begun
    payload = sent[0]
    page.wait_for_timeout(3000)
    print(
        f"{name}: painted in {painted:.2f} s, {payload / 1e6:.2f} MB sent   (goals 1.0, "
        f"warptiles 1.5); then {(sent[0] - payload) / 1e6:.2f} MB of the page beside"
    )


def chosen(page: Page, preset: Preset) -> None:
    """Time a preset until its scene is drawn."""
    button = page.get_by_role("button", name=preset.name, exact=True)
    page.get_by_role("button", name="Beside" if preset.view.comparison else "Presets").click()
    button.wait_for()
    page.wait_for_timeout(1000)
    before = page.get_attribute(STEPPER, "data-ready")
    begun = time.perf_counter()
    button.click()
    page.wait_for_function(PAINTED, arg=before)
    print(f"preset “{preset.name}”: painted in {time.perf_counter() - begun:.2f} s   (goal 1.0)")
    page.wait_for_timeout(2000)


def beside_one_scene(chromium: Browser, address: str, query: str, second: str) -> None:
    """Time the keys of a scene, and of the same with a second one beside it."""
    taken = []
    for asked in (query, f"{query}&with={second}"):
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        page.goto(f"{address}/step?{asked}")
        page.wait_for_selector(STEPPER)
        page.wait_for_timeout(3000)
        medians = []
        for script in (PRESS, WORK):
            page.keyboard.press("Home")
            times = [page.evaluate(script, "ArrowRight") for _ in range(STEPS)]
            medians.append(statistics.median(times))
        taken.append(medians)
        page.close()
    (alone, alone_work), (both, both_work) = taken
    print(
        f"{query}, {second} beside it: key to paint {both:.1f} ms, alone {alone:.1f} ms: "
        f"{both / alone:.2f} times   (goal 1.5); of it script {both_work:.1f} and "
        f"{alone_work:.1f} ms"
    )


def steps(page: Page, name: str) -> None:
    times = [page.evaluate(PRESS, "ArrowRight") for _ in range(STEPS)]
    worst = sorted(times)[int(0.95 * len(times))]
    median = statistics.median(times)
    print(
        f"{name}: key to paint {median:.1f} ms median, {worst:.1f} ms p95, {max(times):.1f} ms at "
        "most   (goals 33, 50, 100)"
    )


def played(page: Page, pace: int, watch: str) -> list[float]:
    """Play for some seconds from the first step; the times that a script of the page gives."""
    page.keyboard.press("Home")
    page.get_by_label("Beats a second").select_option(str(pace))
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Play or pause").click()
    times: list[float] = page.evaluate(watch, SECONDS)
    page.get_by_role("button", name="Play or pause").click()
    return times


def play(page: Page) -> None:
    """Play for some seconds, and count the steps that came late or not at all."""
    times = played(page, PACE, WATCH)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    late = sum(gap > 1.5 * 1000 / PACE for gap in gaps)
    print(
        f"playing at {PACE} a second for {SECONDS} s: {len(times)} steps painted, {late} late, the "
        f"longest wait {max(gaps):.0f} ms"
    )


def move(page: Page) -> None:
    """Play at a pace at which values fly, and count the frames that the browser painted."""
    times = played(page, MOVING_PACE, FRAMES)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    print(
        f"playing at {MOVING_PACE} a second, with motion: {len(gaps) / SECONDS:.0f} frames a "
        f"second, the longest wait {max(gaps):.0f} ms   (goal 60)"
    )


if __name__ == "__main__":
    main()
