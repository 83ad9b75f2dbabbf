"""The stepper in a browser: what its keys, buttons and clicks do to the picture."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from simulator import catalogue, compile_kernel, record
from simulator.recording.navigation import boundaries
from tests.browser.app import STEPPER
from tests.browser.conftest import Open, Screens
from tests.browser.scene import alike, at_rest, picture, ready, setting, settled, until, where
from ui.scene import scene
from ui.view.presets import launch, source
from ui.view.view_url import View, opening_view
from ui.web_page.web_files import read_script

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def opened(screens: Screens) -> Iterator[Page]:
    """A scene that tests share which only step it."""
    with screens.opened("/step?step=1") as page:
        yield ready(page)


@pytest.fixture
def page(opened: Page) -> Page:
    """The scene at its first step, without a presentation and with nothing under the mouse."""
    opened.bring_to_front()
    opened.mouse.move(0, 0)
    opened.keyboard.press("Escape")
    opened.keyboard.press("Home")
    until(opened, "Step 1 of")
    return opened


@pytest.mark.deep
@pytest.mark.parametrize("last", [18, pytest.param(39, marks=pytest.mark.deep)])
def test_up_and_down_step_by_statements(visit: Open, last: int) -> None:
    page = ready(visit("/step?step=1"))
    settled(page, step="1")
    pictures = [picture(page)]
    for number in range(2, last + 1):
        page.keyboard.press("ArrowDown")
        assert where(page)[0] == number
        if number % 6 == 0:
            pictures.append(picture(page))
    for one, other in itertools.combinations(pictures, 2):
        assert not alike(one, other), "every sixth step looks different"
    for number in range(last - 1, 0, -1):
        page.keyboard.press("ArrowUp")
        assert where(page)[0] == number
        if number % 6 == 0:
            assert alike(picture(page), pictures[number // 6]), f"step {number}, come back to"
    assert alike(picture(page), pictures[0])


@pytest.mark.deep
def test_the_scene_goes_on_when_its_data_is_overtaken_by_newer_data(visit: Open) -> None:
    """Streamlit then cleans up after the call that had the older data, once that has returned."""
    page = ready(visit("/step?step=1"))
    page.evaluate(
        """async (script) => {
          const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
          const { default: update } = await import(url);
          const { component } = [...document.querySelectorAll(".st-key-scene *")]
            .find((element) => element.__tilewise).__tilewise.reports;
          update(component)();
        }""",
        read_script("stepper.js"),
    )
    page.keyboard.press("ArrowDown")
    until(page, "Step 2 of")
    assert page.locator(".stepper .plot").count() == 1


@pytest.mark.deep
def test_a_first_visit_opens_where_there_is_something_to_see(visit: Open) -> None:
    page = ready(visit("/step"))
    opening = opening_view("tiled").step + 1
    assert where(page)[0] == opening > 1
    assert "?" not in page.url
    page.keyboard.press("Home")
    settled(page, step="1")
    page.reload()
    until(ready(page), "Step 1 of")
    page.keyboard.type(str(opening))
    page.keyboard.press("Enter")
    until(page, f"Step {opening} of")
    page.wait_for_function("!location.search")
    link = ready(visit("/step?M=8"))
    assert where(link)[0] == 1, "as links were made before"


def test_every_key_goes_where_its_name_says(page: Page) -> None:
    last = where(page)[1]
    entry, view = catalogue()["tiled"], View()
    stops = scene.navigation(record(compile_kernel(source(view), entry.kernel), launch(view)))
    for keys, expected in (
        (["End"], last),
        (["ArrowDown"], last),
        (["Home"], 1),
        (["ArrowUp"], 1),
        (["PageDown"], 10),
        (["PageDown"], 32),
        (["PageUp"], 10),
        (["ArrowRight", "ArrowRight", "ArrowRight"], stops["beat"][3] + 1),
        (["ArrowLeft"], stops["beat"][2] + 1),
        (["ArrowDown"], stops["beat"][2] + 2),
        (["ArrowRight"], stops["beat"][3] + 1),
        (["End", "ArrowLeft"], stops["beat"][-2] + 1),
        (["ArrowRight"], last),
        (["Home", "b"], stops["barrier"][1] + 1),
        (["B"], stops["barrier"][2] + 1),
        (["Home", "Shift+ArrowRight"], stops["inner"][1] + 1),
        (["Shift+ArrowRight"], stops["inner"][2] + 1),
        (["Shift+ArrowLeft"], stops["inner"][1] + 1),
    ):
        for key in keys:
            page.keyboard.press(key)
        assert where(page)[0] == expected, keys


def test_buttons_say_their_key_and_do_the_same(page: Page) -> None:
    for name, key, step in (
        ("Statement forward", "Down", 2),
        ("Beat forward", "Right", 10),
        ("Beat forward", "Right", 11),
        ("Beat back", "Left", 10),
        ("Last step", "End", where(page)[1]),
        ("Statement back", "Up", where(page)[1] - 1),
        ("First step", "Home", 1),
    ):
        button = page.get_by_role("button", name=name, exact=True)
        assert key in (button.get_attribute("title") or "")
        button.click()
        assert where(page)[0] == step


def test_every_control_names_its_key(page: Page) -> None:
    for button in page.locator(".stepper .bar button").all():
        title = button.get_attribute("title") or ""
        assert re.search(r"\([A-Z?,.+-][^()]*\)", title), title
    for name, key in (("Presets", "E"), ("What if", "I"), ("Beside", "D"), ("More", "M")):
        menu = page.get_by_role("button", name=name)
        menu.hover()
        expect(menu).to_have_attribute("title", re.compile(rf"\({key}\)$"))


def test_the_toolbar_says_which_beat_it_is(page: Page) -> None:
    line = page.locator("[data-beat]")
    for key, text in (
        ("Home", "beat 1 of 17"), ("ArrowRight", "beat 1 of 17"), ("ArrowRight", "beat 2 of 17"),
        ("PageDown", "beat 9 of 17"), ("ArrowUp", "beat 9 of 17"), ("End", "beat 17 of 17"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(line).to_have_text(text)


def test_space_plays_and_pauses(page: Page) -> None:
    page.get_by_label("Beats a second").select_option("10")
    page.keyboard.press("Space")
    page.wait_for_function(
        "parseInt(document.querySelector('.st-key-scene .gtitle')?.textContent.slice(5)) > 4"
    )
    page.keyboard.press("Space")
    stopped = where(page)[0]
    page.wait_for_timeout(500)
    assert where(page)[0] == stopped < where(page)[1]
    beats = boundaries(record(compile_kernel(source(View()), "tiled"), launch(View())), "beat")
    assert stopped - 1 in beats, "it plays beat by beat"


@pytest.mark.deep
def test_a_number_jumps_and_nonsense_does_not(page: Page) -> None:
    field = page.get_by_label("Go to step")
    for typed, expected in (("17", 17), ("100000", where(page)[1]), ("-5", 1), ("", 1)):
        field.fill(typed)
        field.press("Enter")
        assert where(page)[0] == expected


# Press keys before the pause goes by that ends a number; what the title says then.
AT_ONCE = """(keys) => {
  for (const key of keys) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  }
  return document.querySelector(".st-key-scene .gtitle").textContent;
}"""


def test_digits_typed_anywhere_jump(page: Page) -> None:
    page.keyboard.press("p")  # there is no field to type into
    assert page.evaluate(AT_ONCE, ["1", "7"]).startswith("Step 1 of")
    page.keyboard.press("Enter")
    until(page, "Step 17 of")
    page.keyboard.type("31")
    until(page, "Step 31 of")
    page.evaluate(AT_ONCE, ["9", "ArrowDown"])  # changes one's mind
    page.wait_for_timeout(1000)  # after which the number would have been taken
    assert where(page)[0] == 32
    page.keyboard.type("0")
    page.keyboard.press("Enter")
    until(page, "Step 1 of")
    page.keyboard.type("99999999999")
    page.keyboard.press("Enter")
    until(page, "Step 53 of 53")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")  # without a number it is the page's
    assert where(page)[0] == where(page)[1]


def test_the_timeline_is_clicked_and_dragged(page: Page) -> None:
    at_rest(page)  # at its size after a presentation, which a test before may have left
    slider = page.get_by_role("slider", name="Step")
    box = slider.bounding_box()
    assert box is not None
    width, y = box["width"] / 53, box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 30.5 * width, y)
    assert where(page)[0] == 31
    page.mouse.move(box["x"] + 10.5 * width, y)
    page.mouse.down()
    for step in (11, 12, 40, 53):
        page.mouse.move(box["x"] + (step - 0.5) * width, y)
        assert where(page)[0] == step
    page.mouse.move(box["x"] + box["width"] + 30, y - 60)
    assert where(page)[0] == 53, "beyond its end"
    page.mouse.up()
    page.mouse.move(box["x"], y)
    assert where(page)[0] == 53, "the button is up"
    expect(slider).to_have_attribute("aria-valuenow", "53")
    expect(slider).to_have_attribute("aria-valuemax", "53")
    page.keyboard.press("ArrowUp")
    expect(slider).to_have_attribute("aria-valuenow", "52")


def test_title_number_timeline_address_and_live_region_agree(page: Page) -> None:
    for key in ("End", "b", "PageUp", "Shift+ArrowRight", "Home", "ArrowDown"):
        page.keyboard.press(key)
        step = where(page)[0]
        assert page.get_by_label("Go to step").input_value() == str(step)
        assert page.get_by_role("slider").get_attribute("aria-valuenow") == str(step)
        assert (page.locator(".live").text_content() or "").startswith(f"Step {step} of 53")
    settled(page, step="2")
    page.keyboard.press("ArrowUp")
    settled(page, step="1")
    assert page.evaluate("history.length") <= 3, "a step is no entry of the history"


def test_there_is_one_play_and_no_control_of_plotlys(page: Page) -> None:
    assert (
        page.locator(".st-key-scene").locator(".updatemenu-container, .slider-container").count()
        == 0
    )
    assert page.get_by_role("button", name="Play").count() == 1
    assert page.get_by_role("slider").count() == 1


@pytest.mark.deep
@pytest.mark.parametrize(
    "missing", ["text", *(pytest.param(one, marks=pytest.mark.deep) for one in ("title", "shape"))]
)
def test_steps_are_shown_without_plotlys_private_parts(visit: Open, missing: str) -> None:
    page = ready(visit("/step?step=1"))
    page.keyboard.press("End")
    shown = picture(page)
    page.keyboard.press("Home")
    page.evaluate(
        """(missing) => {
          const gd = document.querySelector('.st-key-scene .js-plotly-plot');
          if (missing === 'title') gd.querySelector('.gtitle').classList.remove('gtitle');
          if (missing === 'text')
            gd.calcdata = gd.calcdata.map((points) => points.map(({ node3, ...one }) => one));
          if (missing === 'shape')
            for (const node of gd.querySelectorAll('.shapelayer path')) {
              const other = node.cloneNode();
              other.removeAttribute('data-index');
              node.replaceWith(other);
            }
          const { animate } = window.Plotly;
          window.frames_drawn = [];
          window.Plotly.animate = (gd, frame, options) => (
            window.frames_drawn.push(frame), animate(gd, frame, options));
        }""",
        missing,
    )
    page.keyboard.press("End")
    page.wait_for_timeout(800)
    assert where(page)[0] == 53
    [frame, *_] = page.evaluate("window.frames_drawn")
    assert (len(frame["traces"]) > 0) == (missing == "text")
    assert ("title" in frame["layout"]) == (missing == "title")
    assert ("shapes" in frame["layout"]) == (missing == "shape")
    assert missing == "title" or alike(picture(page), shown), "there are two titles now"


def test_a_statement_is_stepped_through_its_parts(page: Page) -> None:
    page.keyboard.type("43")  # acc += As[ty][k] * Bs[k][tx]
    page.keyboard.press("Enter")
    until(page, "Step 43 of")
    marked = (
        "[...document.querySelectorAll('.st-key-scene text')]"
        ".filter((one) => one.style.fontWeight === 'bold').map((one) => one.textContent)"
    )
    parts = ["As[ty][k]", "Bs[k][tx]", "acc = 201"]
    for part in parts:
        page.keyboard.press(".")
        [found] = page.evaluate(marked)
        assert found.startswith(part)
        expect(page.locator("[aria-live]").filter(has_text=part)).to_have_count(1)
    page.keyboard.press(",")
    assert page.evaluate(marked)[0].startswith("Bs[k][tx]")
    page.keyboard.press(".")
    page.get_by_role("button", name="Part forward").click()
    until(page, "Step 44 of")
    assert len(page.evaluate(marked)) == 1
    page.keyboard.press(",")
    until(page, "Step 43 of")
    assert page.evaluate(marked)[0].startswith(parts[-1])
    page.keyboard.press("ArrowDown")
    assert page.evaluate(marked) == []


def test_a_step_is_announced(page: Page) -> None:
    page.keyboard.press("ArrowDown")
    expect(page.locator("[aria-live]").filter(has_text="Step 2 of")).to_contain_text("ty = 0")


@pytest.mark.deep
def test_another_size_begins_anew_and_a_focus_keeps_the_step(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    for _ in range(10):
        page.keyboard.press("ArrowDown")
    settled(page, step="11")
    before = page.get_attribute(STEPPER, "data-ready") or ""
    field = setting(page, "Thread x")
    field.fill("2")
    field.press("Enter")
    expect(page.locator(f".js-plotly-plot[data-ready='{before}']")).to_have_count(0)
    ready(page)
    assert where(page)[0] == 11
    assert "Thread (2, 0)" in page.locator(".st-key-scene").inner_text()
    field = setting(page, "K")
    field.fill("3")
    field.press("Enter")
    until(page, "Step 10 of")
    settled(page, K="3", step="10")


def test_the_scene_fits_its_window(page: Page) -> None:
    fits(page, 1280, 720)


@pytest.mark.parametrize("width", [718, 1047])  # of A4, upright and on its side
def test_a_printed_scene_is_whole_and_has_no_toolbar(page: Page, width: int) -> None:
    page.emulate_media(media="print")
    page.evaluate("width => document.querySelector('.stepper').style.width = width", f"{width}px")
    expect(page.locator(".stepper .bar")).to_be_hidden()
    drawn = page.locator(".stepper .main-svg").first.bounding_box()
    assert drawn is not None
    assert width * 0.95 < drawn["width"] <= width
    page.evaluate("document.querySelector('.stepper').style.width = ''")
    page.emulate_media(media="screen")


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (3840, 2160)])
def test_the_first_scene_fits_its_window(visit: Open, width: int, height: int, scheme: str) -> None:
    fits(ready(visit("/step", width, height, scheme)), width, height)


def fits(page: Page, width: int, height: int) -> None:
    """The scene is whole, in a window with nothing to scroll to, and as large as that allows."""
    box = page.locator(".st-key-scene .js-plotly-plot").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width + 1
    assert box["y"] + box["height"] <= height + 1
    assert box["width"] > width * 0.6, "and is as large as that allows"
    right, low = box["x"] + box["width"] - 10, box["y"] + box["height"] - 6
    for point in ((box["x"] + 10, box["y"] + 10), (right, box["y"] + 10), (box["x"] + 10, low),
                  (right, low)):  # fmt: skip
        assert page.evaluate(
            "([x, y]) => !!document.elementFromPoint(x, y)?.closest('.st-key-scene')", list(point)
        ), "no corner is cut off"
    assert (
        page.evaluate(
            "(() => { const page = document.querySelector('.stMain');"
            " return page.scrollHeight - page.clientHeight; })()"
        )
        <= 1
    ), "and there is nothing to scroll to"
