"""The GPU page in a browser: every request answered, every text legible, on screen and phone."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, expect

from gpu.trace.recorded import recorded_traces
from tests.browser import app
from tests.browser.conftest import Open, Screens
from ui.gpu import trace_section

pytestmark = pytest.mark.browser

PLOT = ".js-plotly-plot .main-svg"
TABS = (
    "Speed", "Time", "Share of cuBLAS", "Against size", "Speed and error", "Roofline",
    "Instructions", "Predicted and measured",
)  # fmt: skip
TRACED = tuple(trace_section.TABS) if recorded_traces() else ()
FOLDED = ("The code that ran", "What is missing to run kernels here")
SMALLEST = {1280: 12, 1920: 12, 390: 11}  # CSS pixels, by the width of the screen
# Each visible text with its size, its contrast with what is behind it, and its box.
TEXTS = """() => {
  const channels = (text) => {
    const found = text.match(/[\\d.]+/g);
    if (!found || text === "none") return [0, 0, 0, 0];
    const [r, g, b, a] = found.map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [r * scale, g * scale, b * scale, a ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = (rgb) => rgb.map((value) => value / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = (element) => {
    if (!element) return [255, 255, 255];
    const style = getComputedStyle(element);
    const colour = channels(style.backgroundColor);
    return colour[3] === 1 ? colour.slice(0, 3) : over(colour, paper(element.parentElement));
  };
  const opacity = (element) =>
    element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
  const walker = document.createTreeWalker(document.querySelector(".stApp"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.textContent.trim() || element.closest("style, script, title, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (box.width < 2 || box.height < 2 || style.visibility === "hidden") continue;
    if (!element.checkVisibility({opacityProperty: true}) || opacity(element) < 0.05) continue;
    if (/Material/.test(style.fontFamily) || element.closest(".modebar-container")) continue;
    const svg = element.closest(".main-svg");
    const ink = channels(svg ? style.fill : style.color);
    ink[3] *= opacity(element);
    const below = paper(element);
    const [light, dark] = [luminance(over(ink, below)), luminance(below)].sort((a, b) => b - a);
    const plot = svg?.closest(".js-plotly-plot").getBoundingClientRect();
    found.push({
      text: node.textContent.trim(), size: parseFloat(style.fontSize),
      contrast: (light + 0.05) / (dark + 0.05),
      box: [box.left, box.top, box.right, box.bottom],
      plot: plot ? [plot.left, plot.top, plot.right, plot.bottom] : null,
    });
  }
  return found;
}"""
FRESH = """() => [...document.querySelectorAll("[data-stale]")].every((element) =>
  element.dataset.stale === "false" && getComputedStyle(element).opacity === "1")"""
# The lines of the charts that are drawn over a text: those of axes, grids, traces and shapes.
CROSSED = """() => {
  const found = [];
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    const labels = [...plot.querySelectorAll("text")].filter((text) => text.textContent.trim()
      && !text.closest(".annotation"));
    const covered = [...plot.querySelectorAll(".annotation")].map((one) => ({
      text: one.textContent, box: (one.querySelector("text") ?? one).getBoundingClientRect(),
      opaque: !/rgba\\(.*, 0\\)|transparent/.test(
        getComputedStyle(one.querySelector("rect.bg")).fill) &&
        Number(getComputedStyle(one.querySelector("rect.bg")).fillOpacity) === 1,
    }));
    const boxes = [...labels.map((one) => ({
      text: one.textContent, box: one.getBoundingClientRect(), opaque: false,
    })), ...covered].filter((one) => one.box.width && !one.opaque);
    const lines = plot.querySelectorAll(
      ".crisp, path.js-line, .shapelayer path, .annotation-arrow-g path, .hlines, .gridlayer path");
    for (const line of lines) {
      const style = getComputedStyle(line);
      if (style.stroke === "none" || !line.getTotalLength) continue;
      const around = line.getBoundingClientRect();
      const near = boxes.filter(({box}) => box.left <= around.right && box.right >= around.left
        && box.top <= around.bottom && box.bottom >= around.top);
      if (!near.length) continue;
      const matrix = line.getScreenCTM(), length = line.getTotalLength();
      if (!length) continue;
      for (let at = 0; at <= length; at += 2) {
        const point = line.getPointAtLength(at).matrixTransform(matrix);
        for (const {text, box} of near) {
          if (point.x > box.left + 1 && point.x < box.right - 1 && point.y > box.top + 3
              && point.y < box.bottom - 3) found.push(`${line.getAttribute("class")}: ${text}`);
        }
      }
    }
  }
  return [...new Set(found)];
}"""


def opened(page: Page) -> Page:
    """The GPU page once it is drawn to its end."""
    page.locator(PLOT).first.wait_for()
    page.get_by_text("The code that ran").wait_for()
    return page


def show(page: Page, tab: str) -> None:
    """Show a tab and wait until its charts are drawn, and nothing is faded that is drawn anew."""
    page.get_by_role("tab", name=tab, exact=True).click()
    drawn = f"[role=tabpanel]:visible :is({PLOT}, table)"
    page.locator(drawn).last.wait_for()
    page.wait_for_function(FRESH)
    page.wait_for_timeout(400)  # Plotly draws once more for the width that the tab has


def show_every_kernel(page: Page) -> None:
    """Clear the choice of kernels, which then are all shown."""
    page.get_by_role("button", name="Clear all").first.click()
    page.get_by_text("tiled_double, TILE 32").first.wait_for()


def failures(page: Page, base: str) -> list[str]:
    """A list that grows with each request of the page that fails, and each answer from 400 on."""
    found: list[str] = []

    def answered(response: Response) -> None:
        if response.status >= 400:
            found.append(f"{response.status} {response.url.removeprefix(base)}")

    page.on("response", answered)
    page.on("requestfailed", lambda request: found.append(f"{request.failure} {request.url}"))
    page.on("console", lambda line: found.append(line.text) if line.type == "error" else None)
    return found


def drawn_door(page: Page) -> None:
    expect(page.get_by_role("link", name="Write").last).to_be_visible()


def drawn_step(page: Page) -> None:
    page.locator(app.STEPPER).first.wait_for(timeout=app.PATIENCE)


def drawn_gpu(page: Page) -> None:
    opened(page)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("path", "drawn"),
    [
        ("/step?kernel=padded&step=3", drawn_step),
        ("/compare/", drawn_gpu),
        *(
            pytest.param(*one, marks=pytest.mark.deep)
            for one in (
                ("/", drawn_door),
                ("/step", drawn_step),
                ("/compare", drawn_gpu),
                ("/compare?kernel=padded&step=3", drawn_gpu),
            )
        ),
    ],
)
def test_no_request_fails(screens: Screens, path: str, drawn: Callable[[Page], None]) -> None:
    page = screens.page()
    found = failures(page, screens.address)
    page.goto(screens.address + path)
    drawn(page)
    expect(page.get_by_role("link", name="GPU", exact=True).first).to_be_visible()
    page.close()
    assert found == []


@pytest.mark.deep
def test_no_request_fails_from_page_to_page(screens: Screens) -> None:
    page = screens.page()
    found = failures(page, screens.address)
    page.goto(f"{screens.address}/compare")
    opened(page)
    page.get_by_role("link", name="Step", exact=True).click(delay=200)
    page.wait_for_url(lambda url: "/compare" not in url)
    drawn_step(page)
    page.go_back()
    opened(page)
    page.reload()
    opened(page)
    page.close()
    assert found == []


@pytest.mark.deep
@pytest.mark.parametrize(
    ("width", "height", "scheme", "every"),
    [
        (1280, 720, "light", False),
        pytest.param(390, 844, "dark", True, marks=pytest.mark.deep),
        pytest.param(1280, 720, "dark", True, marks=pytest.mark.deep),
        pytest.param(390, 844, "light", False, marks=pytest.mark.deep),
        pytest.param(1920, 1080, "light", True, marks=pytest.mark.deep),
    ],
)
def test_every_text_is_legible(
    visit: Open, width: int, height: int, scheme: str, every: bool
) -> None:
    page = opened(visit("/compare", width, height, scheme))
    if every:
        show_every_kernel(page)
    for folded in FOLDED:
        page.get_by_text(folded).click()
    for tab in (*TABS, *TRACED):
        show(page, tab)
        texts = page.evaluate(TEXTS)
        assert len(texts) > 40
        assert [one for one in texts if one["size"] < SMALLEST[width]] == []
        assert [one for one in texts if one["contrast"] < 4.5] == []
        in_charts = [one for one in texts if one["plot"]]
        assert in_charts
        assert [one["text"] for one in in_charts if not inside(one["box"], one["plot"])] == []
        assert [
            (first["text"], second["text"])
            for number, first in enumerate(in_charts)
            for second in in_charts[:number]
            if overlap(first["box"], second["box"])
        ] == []
        assert page.evaluate(CROSSED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def inside(box: list[float], outer: list[float]) -> bool:
    """Whether a box lies within another, to a pixel."""
    return (
        box[0] >= outer[0] - 1
        and box[1] >= outer[1] - 1
        and box[2] <= outer[2] + 1
        and box[3] <= outer[3] + 1
    )


def overlap(first: list[float], second: list[float]) -> bool:
    """Whether two texts touch; a line's box is higher than its letters."""
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return across > 1 and down > 5


@pytest.mark.deep
def test_headings_controls_and_charts_have_their_names(visit: Open) -> None:
    page = opened(visit("/compare"))
    page.get_by_text("What is missing to run kernels here").click()
    for tab in (*TABS, *TRACED):
        show(page, tab)
        levels = page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4')]"
            ".filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels
        assert (
            page.evaluate(
                "[...document.querySelectorAll('.stMain :is(button, input, [role=tab], a)')]"
                ".filter((one) => one.checkVisibility() && !one.closest('.modebar-container')"
                " && !one.ariaLabel && !one.textContent.trim() && !one.labels?.length"
                " && !one.getAttribute('aria-labelledby') && !one.title)"
                ".map((one) => one.outerHTML)"
            )
            == []
        )
        charts = page.locator(".stPlotlyChart:visible")
        for number in range(charts.count()):
            expect(charts.nth(number)).to_have_attribute("role", "figure")
            described = charts.nth(number).get_attribute("aria-label") or ""
            assert any(digit.isdigit() for digit in described)  # it says the chart's numbers
