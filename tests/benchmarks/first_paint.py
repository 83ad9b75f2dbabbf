"""Prints how fast the app opens and how fast a step is, in headless Chromium.

Run it as `python -m tests.benchmarks.first_paint`. First paint is from `streamlit run` until the
scene is drawn; a step is from the arrow key until the browser has painted its frame.
"""

from __future__ import annotations

import statistics
import time

from tests.browser.app import STEPPER, browser, running_app

STEPS = 60

# Resolves with the milliseconds from a key press to the second animation frame after Plotly's
# plotly_animated or, where it does not come, after the picture's title has changed.
PRESS = """
(key) => new Promise((resolve) => {
  const gd = document.querySelector('.st-key-scene .js-plotly-plot');
  const begun = performance.now();
  gd.once('plotly_afterplot', () => requestAnimationFrame(() => requestAnimationFrame(
    () => resolve(performance.now() - begun))));
  document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
})
"""


def main() -> None:
    """Measure and print, each figure with its goal."""
    with browser() as chromium:
        begun = time.perf_counter()
        with running_app() as address:
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector(STEPPER)
            painted = time.perf_counter() - begun
            print(f"first paint, from `streamlit run`  {painted:7.2f} s   (goal 4)")
            for name, sizes in (
                ("8x8, tile 4", {"M": 8, "N": 8, "K": 8, "TILE": "4"}),
                ("64x64, tile 16", {"M": 64, "N": 64, "K": 64, "TILE": "16"}),
            ):
                if name != "8x8, tile 4":
                    begun_choice = time.perf_counter()
                    choose(page, sizes)
                    seconds = time.perf_counter() - begun_choice
                    print(f"{name}: new size drawn in        {seconds:7.2f} s")
                page.wait_for_timeout(1500)
                times = [page.evaluate(PRESS, "ArrowRight") for _ in range(STEPS)]
                median = statistics.median(times)
                worst = sorted(times)[int(0.95 * len(times))]
                print(f"{name}: arrow key to paint  {median:7.1f} ms median, {worst:.1f} ms p95")


def choose(page, sizes: dict[str, object]) -> None:  # type: ignore[no-untyped-def]  # a Page
    """Enter sizes and a tile, and wait for the scene."""
    before = page.get_attribute(STEPPER, "data-ready")
    for name in "MNK":
        field = page.get_by_label(name, exact=True)
        field.fill(str(sizes[name]))
        field.press("Enter")
    page.get_by_role("combobox", name="TILE").click()
    page.get_by_role("option", name=str(sizes["TILE"]), exact=True).click()
    page.wait_for_function(
        "(before) => { const gd = document.querySelector('.st-key-scene .js-plotly-plot');"
        " return gd && gd.dataset.ready && gd.dataset.ready !== before"
        " && gd._transitionData._frames.length === 241; }",
        arg=before,
    )


if __name__ == "__main__":
    main()
