"""The viewport that a page leaves the scene: reported, remembered, and used on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.scene import opened, ready, settled, until, where
from tests.browser.test_views import PLAYER

pytestmark = pytest.mark.browser

# Moves a finger over the picture.
# A pinch on a trackpad as desktop Safari tells of it; whether each event's default goes on.
SAFARI_PINCH = """
(scales) => ["gesturestart", ...scales.slice(1).map(() => "gesturechange"), "gestureend"].map(
  (name, i) => document.querySelector(".stepper .picture").dispatchEvent(Object.assign(
    new Event(name, { bubbles: true, cancelable: true }), { scale: scales[i] ?? scales.at(-1) })))
"""
SWIPE = """
([dx, dy]) => {
  const picture = document.querySelector('.stepper .picture');
  const [x, y] = [200, 500];
  const send = (type, x, y) => picture.dispatchEvent(new PointerEvent(type, {
    pointerType: 'touch', pointerId: 7, isPrimary: true, bubbles: true, clientX: x, clientY: y }));
  send('pointerdown', x, y);
  send('pointermove', x + dx, y + dy);
  send('pointerup', x + dx, y + dy);
}
"""


def figure(page: Page) -> tuple[int, int]:
    width, height = page.evaluate(
        "(() => { const { width, height } = document.querySelector("
        "'.stepper .plot[data-ready]').layout; return [width, height]; })()"
    )
    return width, height


@pytest.mark.parametrize(
    ("width", "height"),
    [(1400, 860), *(pytest.param(*one, marks=pytest.mark.deep)
                    for one in ((1280, 720), (1920, 1080)))],
)  # fmt: skip
def test_the_figure_is_laid_out_for_its_viewport_at_once(
    visit: Open, width: int, height: int
) -> None:
    page = ready(visit("/step?step=18", width, height))
    first = figure(page)
    settled(page)
    drawn = figure(page)
    assert drawn == first
    assert drawn[0] > width - 160, "the viewport is no estimate"
    across, down = page.evaluate(
        "(({ width, height }) => [width, height])"
        "(document.querySelector('.stepper .stage').getBoundingClientRect())"
    )
    assert 0 <= across - drawn[0] < 40
    assert 0 <= down - drawn[1] < 40
    top = page.evaluate("document.querySelector('.stepper .stage').getBoundingClientRect().top")
    assert top <= 150
    [cookie] = [one for one in page.context.cookies() if one["name"] == "tilewise_room"]
    assert cookie["value"] == f"{drawn[0]}x{drawn[1]}"
    again = ready(visit("/step?step=18", width, height))
    assert figure(again) == drawn, "the first figure of the next visit"
    assert where(again)[0] == 18


@pytest.mark.deep
def test_another_window_is_another_viewport(visit: Open) -> None:
    page = ready(visit("/step?step=18"))
    page.wait_for_timeout(1000)
    before = figure(page)
    page.keyboard.press("ArrowDown")
    page.set_viewport_size({"width": 1600, "height": 900})
    page.wait_for_function(
        "(before) => document.querySelector('.stepper .plot[data-ready]').layout.width > before",
        arg=before[0],
    )
    until(page, "Step 19 of")
    assert figure(page)[1] > before[1]


def test_a_finger_steps_and_the_page_scrolls_under_the_player(visit: Open) -> None:
    page = ready(visit("/step?step=18", 390, 844))
    settled(page)
    menus = page.locator(".st-key-controls .stPopover p")
    for menu in menus.all():
        expect(menu).to_be_visible()
    for dx, dy, step in ((-90, 5, 21), (-90, -20, 24), (90, 0, 21), (10, 200, 21), (-60, 50, 21)):
        page.evaluate(SWIPE, [dx, dy])
        assert where(page)[0] == step, (dx, dy)
    style = "getComputedStyle(document.querySelector('.stepper .stage')).touchAction"
    assert page.evaluate(style) == "pan-y"
    scrolled = "(() => { const one = document.querySelector('.stMain');"
    assert page.evaluate(f"{scrolled} return one.scrollHeight > one.clientHeight; }})()")
    assert page.evaluate(f"{scrolled} return one.scrollWidth <= one.clientWidth; }})()")
    for name in ("Beat back", "Beat forward", "Next barrier", "Play or pause"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 40, name
    expect(page.get_by_role("button", name="Part forward")).to_be_hidden()
    bar = page.locator(".stepper .bar")
    expect(bar).to_be_in_viewport(ratio=1)
    page.mouse.move(200, 500)
    page.mouse.wheel(0, 2000)
    page.wait_for_function(  # once it has scrolled
        f"() => {{ const found = ({PLAYER})();"
        " return found.under && found.row === 1 && found.right; }"
    )
    expect(bar).to_be_in_viewport(ratio=1)


@pytest.mark.deep
def test_a_phones_controls_leave_the_scene_its_viewport(visit: Open) -> None:
    page = ready(visit("/step?M=16&N=16&K=16&TILE=8&edits=first-barrier&step=20", 390, 844))
    rows = set()
    for name in ("Presets", "What if", "Beside", "More", "hazards"):
        menu = page.get_by_role("button", name=name)
        expect(menu.locator("p")).to_be_visible()
        box = menu.bounding_box()
        assert box is not None
        rows.add(box["y"])
    assert len(rows) == 1
    sentence = page.locator(".st-key-sentence p.hazard")

    def lines() -> float:
        return float(sentence.evaluate("(one) => one.clientHeight / 18"))

    assert lines() <= 2
    assert page.evaluate("document.querySelector('.stage').getBoundingClientRect().top") <= 200
    sentence.evaluate("(one) => { one.textContent = one.textContent.repeat(3); }")
    assert lines() == 2
    sentence.click()
    assert lines() > 2
    page.get_by_role("button", name="Expand sidebar").click()
    expect(page.get_by_role("link", name="GPU")).to_be_visible()
    page.evaluate("localStorage.clear()")  # where Streamlit remembers that it is open


@pytest.mark.deep
def test_the_first_tab_leads_to_the_scene(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the scene")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#scene")).to_be_focused()
    assert page.get_by_role("heading", level=1).count() == 1


@pytest.mark.deep
def test_each_list_is_seen_whole_on_a_projector(visit: Open) -> None:
    page = ready(visit("/step", 1280, 720))
    for name, key in (("Presets", "e"), ("What if", "i"), ("Beside", "d"), ("More", "m")):
        page.keyboard.press(key)
        body = page.locator("[data-testid=stPopoverBody]")
        body.locator("button, input").first.wait_for()
        page.wait_for_function(
            "body => body.clientHeight >= body.scrollHeight", arg=body.element_handle()
        )
        box = body.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 720, name
        button = page.locator(".st-key-controls").get_by_role("button", name=name)
        expect(button).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Escape")
        expect(body).to_have_count(0)


def test_what_is_held_is_in_the_address(visit: Open) -> None:
    page = ready(visit("/step?step=20&stage=banks&view=overview"))  # once of another design
    settled(page, view="", stage="banks", step="20")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    page.keyboard.press("s")
    settled(page, stage="", step="20")
    page.keyboard.press("s")
    settled(page, stage="product", step="20")  # which step 20 is shown on
    for key in ("+", "-", "-"):  # the last is beyond what is drawn by then
        page.keyboard.press(key)
    settled(page, stage="grid", step="20")
    expect(page.get_by_role("button", name="grid", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.locator(".stepper .picture").hover()
    page.mouse.wheel(0, -100)  # scrolls, as ever
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    settled(page, stage="block", step="20")
    assert page.evaluate(SAFARI_PINCH, [1, 0.9, 0.7]) == [False] * 4  # the page is not enlarged
    settled(page, stage="grid", step="20")
    page.keyboard.press("ArrowDown")
    until(page, "Step 21 of")


@pytest.mark.deep
def test_what_is_held_is_chosen_from_a_list(visit: Open) -> None:
    page = ready(visit("/step?step=20"))
    opened(page, "More", "The chip shows").click()
    page.get_by_role("option", name="Banks").click()
    settled(page, stage="banks", step="20")
