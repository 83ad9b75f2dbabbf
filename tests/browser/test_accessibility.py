"""axe-core finds nothing serious on any page."""

from __future__ import annotations

import io
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageStat
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Screens
from tests.browser.scene import at_rest, ready
from tests.browser.test_write import PROBLEMS, RACE, VERDICT, write

pytestmark = pytest.mark.browser

SERIOUS = ("serious", "critical")
# Elements that Streamlit alone writes, which no setting of it changes: the selector, the rule that
# axe-core does not apply to them, and why.
EXCLUDED: tuple[tuple[str, str, str], ...] = ()


def door(page: Page) -> None:
    expect(
        page.get_by_role("img", name="The naive kernel and the tiled one side by side")
    ).to_be_visible()


def lecture(page: Page) -> None:
    ready(page)


def presenting(page: Page) -> None:
    page.keyboard.press("p")
    expect(page.locator(".stSidebar").first).to_be_hidden()


def presets_open(page: Page) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Presets").click()
    expect(page.get_by_role("button", name="Both barriers", exact=True)).to_be_visible()


def beside_open(page: Page) -> None:
    page.get_by_role("button", name="Beside").click()
    expect(page.get_by_label("Second scene: TILE", exact=True)).to_be_visible()


def an_edit(page: Page) -> None:
    ready(page).get_by_role("button", name="What if").click()
    page.get_by_text("What the edit changed").click()
    expect(page.get_by_test_id("stCode")).to_be_visible()


def gpu_page(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def errors_marked(page: Page) -> None:
    write(page, "__global__ void f(float* x) { x[0] = y; }")
    expect(page.locator(PROBLEMS).first).to_be_visible()


def verdict_drawn(page: Page) -> None:
    write(page, RACE).keyboard.press("Control+Enter")
    expect(page.locator(VERDICT)).to_be_visible()


def launch_open(page: Page) -> None:
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_label("It computes")).to_be_visible()


def exercise_open(page: Page) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start from").click()
    page.get_by_role("button", name="Place the barriers").click()
    expect(page.get_by_role("heading", name="Place the barriers")).to_be_visible()
    expect(page.locator(".problems.stale")).to_have_count(0)  # a stale one is pale


def lesson(page: Page) -> None:
    page.wait_for_selector(".stops.walking svg")
    expect(page.get_by_role("button", name="Next:")).to_be_visible()


def answered(page: Page) -> None:
    page.get_by_label("Your number").first.fill("1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stAlert").first).to_be_visible()


def words_open(page: Page) -> None:
    page.get_by_text("For the teacher").click()
    page.get_by_role("button", name="Words").click()
    expect(page.get_by_text("arithmetic intensity").first).to_be_visible()
    expect(page.get_by_label("Find a word")).to_be_visible()  # Streamlit loads its module later


PAGES = {  # an address, and what is done there, one after another
    "door": ("", (door,)),
    "step": ("/step", (lecture, presenting, presets_open)),
    "edit": ("/step?M=16&N=16&K=16&TILE=8&edits=first-barrier&step=20", (an_edit,)),
    "two scenes": ("/step?kernel=naive&with=tiled&step=20", (lecture, beside_open)),
    "learn": ("/learn?lesson=barriers", (lesson, answered, words_open)),
    "gpu": ("/compare", (gpu_page,)),
    "write": ("/write", (errors_marked, verdict_drawn, launch_open, exercise_open)),
}


def violations(page: Page, within: str | None = None) -> list[str]:
    """What axe-core finds: the rule, the element and the reason of each serious violation."""
    options = {"resultTypes": ["violations"]}
    results: dict[str, Any] = Axe().run(page, within, options).response
    assert results["passes"], "axe-core has looked at nothing"
    return [
        f"{rule['id']} ({rule['impact']}): {node['target'][-1]}: {node['html'][:120]}: "
        + "; ".join(check["message"] for check in (*node["any"], *node["all"], *node["none"]))
        for rule in results["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
        if not is_excluded(page, rule["id"], node["target"][-1])
    ]


def is_excluded(page: Page, rule: str, target: str) -> bool:
    element = page.locator(target).first
    return any(
        rule == excluded and element.evaluate("(one, its) => one.matches(its)", selector)
        for selector, excluded, _ in EXCLUDED
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("step", "light"),
        ("write", "dark"),
        *(
            pytest.param(name, scheme, marks=pytest.mark.deep)
            for name in PAGES
            for scheme in ("light", "dark")
            if (name, scheme) not in (("step", "light"), ("write", "dark"))
        ),
    ],
)
def test_a_page_has_no_serious_violation_and_one_is_found(
    screens: Screens, request: pytest.FixtureRequest, name: str, scheme: str
) -> None:
    path, states = PAGES[name]
    if not request.config.getoption("--deep"):
        states = states[:1]
    # Streamlit looks for its server beneath /compare first, and writes an error of 404.
    page = screens.page(scheme=scheme)
    page.goto(screens.address + path)
    found = {}
    for state in states:
        state(page)
        at_rest(page)
        found[state.__name__] = violations(page)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button id=nameless></button>')")
    faults = violations(page, "#nameless")
    page.close()
    assert found == {name: [] for name in found}
    assert [one for one in faults if "#nameless" in one]


# Whether what has the focus, or what stands for it, is outlined or ringed.
MARKED = """() => {
  const at = document.activeElement;
  if (at === document.body) return true;
  return [at, at.closest("label"), at.closest(".cm-editor")].some((one) => {
    if (!one) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    const ring = boxShadow.match(/0px 0px 0px ([\\d.]+)px(?! inset)/);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 || ring?.[1] >= 2;
  });
}"""


@pytest.mark.deep
@pytest.mark.parametrize(
    "path",
    ["/step", *(pytest.param(path, marks=pytest.mark.deep)
                for path in ("/", "/learn?lesson=memory", "/write", "/compare"))],
)  # fmt: skip
def test_the_focus_is_seen_after_each_tab(visit: Open, path: str) -> None:
    page = visit(path)
    drawn = ".door svg, .stops.walking, .plot[data-ready], .cm-content, .js-plotly-plot"
    page.locator(drawn).first.wait_for(state="attached")
    for _ in range(15):
        page.keyboard.press("Tab")
        page.wait_for_function(MARKED, timeout=5000)  # the editor marks itself a little later


@pytest.mark.deep
@pytest.mark.parametrize("path", ["/step", "/write", "/compare"])
def test_a_dark_page_is_printed_in_light_colours(visit: Open, path: str) -> None:
    page = visit(path, 1280, 720, "dark")
    page.locator(".plot[data-ready], .cm-content, .js-plotly-plot").first.wait_for()

    def lightness() -> float:
        picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("L")
        return ImageStat.Stat(picture).mean[0]

    assert lightness() < 90
    page.emulate_media(media="print", color_scheme="dark")
    assert lightness() > 190
