"""Focus, links, presets, edits and what can be taken along, in a browser."""

from __future__ import annotations

import csv
import functools
import re
import struct
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as Late

from simulator import Recording, catalogue, compile_kernel, record
from tests.browser.conftest import Open, Screens
from tests.browser.scene import (
    alike,
    click,
    focus,
    opened,
    picture,
    ready,
    setting,
    settled,
    spot,
    until,
    where,
)
from ui.drawing.hit import Hit
from ui.drawing.look import Stage
from ui.drawing.viewport import USUAL
from ui.scene import scene
from ui.view.presets import Preset, launch, preset_sentence, presets, source
from ui.view.view_url import View, from_query, to_query
from ui.view.what_if import SWITCHES

pytestmark = pytest.mark.browser
WALKED = "First barrier removed"


@functools.cache
def recorded(view: View) -> Recording:
    return record(compile_kernel(source(view), catalogue()[view.kernel].kernel), launch(view))


CLICKS = [  # what is hit, on which stage, the block and the thread then, and what the address says
    (Hit("shared:Bs", 2), Stage.PRODUCT, (0, 0, 2, 0), {"tx": "2", "ty": "", "step": "12"}),
    (Hit("global:B", 56), None, (0, 0, 0, 3), {"tx": "", "ty": "3", "step": "33"}),
    (Hit("thread", 11), Stage.THREADS, (0, 0, 3, 2), {"tx": "3", "ty": "2", "step": "12"}),
    (Hit("global:C", 10), None, (0, 0, 2, 1), {"tx": "2", "ty": "1", "step": "12"}),
    (Hit("global:C", 49), None, (0, 1, 1, 2), {"by": "1", "tx": "1", "ty": "2"}),
    (Hit("global:C", 63), None, (1, 1, 3, 3), {"bx": "1", "by": "1", "tx": "3", "ty": "3"}),
    (Hit("shared:As", 13), Stage.PRODUCT, (0, 0, 1, 3), {"tx": "1", "ty": "3", "step": "12"}),
    # Of the first tile of B, which the 11th step copies; cell 56 is of its second.
    (Hit("global:B", 17), None, (0, 0, 1, 2), {"tx": "1", "ty": "2", "step": "11"}),
]


@pytest.mark.parametrize(
    ("hit", "stage", "place", "asked"),
    [CLICKS[0], *(pytest.param(*one, marks=pytest.mark.deep) for one in CLICKS[1:])],
)
def test_a_click_moves_the_focus_and_keeps_the_step(
    visit: Open, hit: Hit, stage: Stage | None, place: tuple[int, ...], asked: dict[str, str]
) -> None:
    view = View(step=11, stage=stage)
    query = {name: text for name, text in to_query(view).items() if name != "step"}
    page = ready(visit(f"/step?{urlencode(query | {'step': '11'})}"))
    page.keyboard.press("ArrowDown")  # the server is not yet told
    click(page, *spot(page, view, hit))
    settled(page, **asked)
    step = int(asked.get("step", 12))
    until(page, f"Step {step} of")
    assert focus(page) == place
    thread = f"Thread ({place[2]}, {place[3]})"
    expect(page.locator(".st-key-scene")).to_contain_text(thread)
    page.keyboard.press("ArrowDown")
    until(page, f"Step {step + 1} of")


@pytest.mark.deep
def test_a_click_on_a_line_runs_to_its_next_execution(visit: Open) -> None:
    steps = recorded(View()).steps
    line = next(step.line for step in steps if len(step.accesses) == 2 and step.loops[1:])
    runs = [step.number + 1 for step in steps if step.line == line]
    page = ready(visit(f"/step?step={runs[0] - 1}"))
    for number in (*runs[:3], runs[0]):
        if number < where(page)[0]:
            page.keyboard.press("End")
            until(page, f"Step {len(steps)} of")
        click(page, *spot(page, View(step=where(page)[0] - 1), Hit("line", line)))
        until(page, f"Step {number} of")
        settled(page, step=to_query(View(step=number - 1)).get("step", ""))


# Holds back pages of steps that come, hands them on while another picture is drawn, and drops later
# ones, as Streamlit does not send again what it has sent.
HOLD_PAGES = """
    window.held = [];
    window.isReleased = false;
    let passes = false;
    document.addEventListener("tilewise:frames", (event) => {
      if (passes) return;
      held.push(event.detail);
      event.stopImmediatePropagation();
    }, true);
    new MutationObserver(() => {
      if (isReleased || !held.length || !document.querySelector(".plot.coming")) return;
      isReleased = passes = true;
      for (const detail of held) {
        document.dispatchEvent(new CustomEvent("tilewise:frames", { detail }));
      }
      passes = false;
    }).observe(document, { subtree: true, childList: true });
"""


def test_a_page_of_steps_that_comes_while_a_picture_is_drawn_is_kept(visit: Open) -> None:
    """On a slow machine a step of it was waited for without end."""
    steps = recorded(View()).steps
    at, line = next(
        (step.number - 1, step.line) for step in steps if len(step.accesses) == 2 and step.loops[1:]
    )
    page = visit(f"/step?step={at + 1}")
    page.add_init_script(HOLD_PAGES)
    page.reload()
    ready(page)
    page.wait_for_function("held.length > 0")
    click(page, *spot(page, View(step=at), Hit("line", line)))
    until(page, f"Step {at + 2} of")
    page.wait_for_function("isReleased")
    page.keyboard.press("End")
    until(page, f"Step {len(steps)} of")
    page.close()  # and its script


def test_a_link_reopens_the_same_picture(visit: Open) -> None:
    page = ready(visit("/step?kernel=padded&M=16&N=12&K=16&TILE=8&bx=1&tx=3&ty=2"))
    page.get_by_test_id("stStatusWidget").wait_for(state="detached")  # its first run has ended
    settled(page)
    for key in ("PageDown", "ArrowDown", "Shift+ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    number = where(page)[0]
    setting(page, "Thread y").fill("5")
    page.wait_for_timeout(50)  # nobody types faster
    page.keyboard.press("Enter")
    settled(page, ty="5", step=str(number))
    page.keyboard.press("Escape")
    until(page, f"Step {number} of")
    link = urlsplit(page.url)
    view, said = from_query(dict(parse_qsl(link.query)))
    assert not said
    assert (view.kernel, view.block, view.thread) == ("padded", (1, 0), (3, 5))
    page.mouse.move(0, 0)
    shown = picture(page)  # while it is in front: a page behind another is painted late
    other = ready(visit(f"/step?{link.query}"))
    settled(other)
    assert where(other) == where(page) == (view.step + 1, where(page)[1])
    assert alike(picture(other), shown)


@pytest.mark.deep
def test_a_long_recording_is_one_to_its_reader(visit: Open) -> None:
    page = ready(visit("/step?M=64&N=64&K=64&TILE=2"))
    assert where(page)[1] == 521
    view = View(M=64, N=64, K=64, defines=(("TILE", 2),))
    turn = scene.page(scene.navigation(recorded(view)), 0).stop
    assert turn < 521
    for keys, expected in (
        (["End"], 521),
        (["ArrowUp"], 520),
        (["Home"], 1),
        (["End"], 521),
        (["Home", "End", "Home"], 1),
    ):
        for key in keys:
            page.keyboard.press(key)
        until(page, f"Step {expected} of 521")
    page.evaluate(
        "document.querySelector('.st-key-scene .js-plotly-plot')"
        ".on('plotly_afterplot', () => (window.redrawn = (window.redrawn ?? 0) + 1))"
    )
    page.get_by_label("Go to step").fill(str(turn - 1))
    page.keyboard.press("Enter")
    until(page, f"Step {turn - 1} of 521")
    for number in (turn, turn + 1, turn + 2):
        page.keyboard.press("ArrowDown")
        until(page, f"Step {number} of 521")
    for number in (turn + 1, turn, turn - 1, turn - 2):
        page.keyboard.press("ArrowUp")
        until(page, f"Step {number} of 521")
    page.get_by_label("Beats a second").select_option("10")
    page.get_by_role("button", name="Play or pause").click()
    beat = next(n for n in scene.navigation(recorded(view))["beat"] if n > turn + 1)
    until(page, f"Step {beat + 1} of 521")
    page.get_by_role("button", name="Play or pause").click()
    page.keyboard.press("End")
    settled(page, step="521")
    assert page.evaluate("window.redrawn ?? 0") == 0, "a page turns without a redraw"


@pytest.mark.deep
def test_at_rest_the_pages_beside_a_steps_own_come(visit: Open) -> None:
    page = visit("/step?M=64&N=64&K=64&TILE=2&step=250")
    page.evaluate(
        "window.came = []; document.addEventListener('tilewise:frames', "
        "({ detail }) => window.came.push(detail.first, detail.end - 1))"
    )
    ready(page)
    view = View(M=64, N=64, K=64, defines=(("TILE", 2),))
    steps = scene.page(scene.navigation(recorded(view)), 249)
    assert 0 < steps.start < steps.stop < 521
    for number in (steps.start - 1, steps.stop):  # the steps just outside the page
        page.wait_for_function("(number) => window.came.includes(number)", arg=number)
    scrolled = "(page => page.scrollHeight - page.clientHeight)(document.querySelector('.stMain'))"
    assert page.evaluate(scrolled) <= 1, "what brings them takes no room"
    for number in (steps.stop + 1, steps.start):
        page.keyboard.type(str(number))
        page.keyboard.press("Enter")
        assert where(page)[0] == number


@pytest.mark.deep
@pytest.mark.parametrize("some", [WALKED, "the others"])
def test_a_preset_opens_and_goes_to_its_end_and_back(visit: Open, some: str) -> None:
    page = ready(visit("/step?kernel=naive"))
    changed = [one for one in presets() if one.view.edits or one.view.comparison is not None]
    walked = [one for one in presets() if one.name == WALKED]
    for preset in walked if some == WALKED else [one for one in changed if one.name != WALKED]:
        open_preset(page, preset)
        settled(page, **{"kernel": "", **to_query(preset.view)})
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        until(page, f"Step {preset.view.step + 1} of")
        last = where(page)[1]
        page.locator(".st-key-scene").hover(position={"x": 5, "y": 5})
        page.keyboard.press("End")
        until(page, f"Step {last} of {last}")
        page.keyboard.press("Home")
        until(page, f"Step 1 of {last}")
        for _ in range(5):
            page.keyboard.press("ArrowDown")
        until(page, f"Step 6 of {last}")
        open_preset(page, preset)
        until(page, f"Step {preset.view.step + 1} of {last}")


def open_preset(page: Page, preset: Preset) -> None:
    page.get_by_role("button", name="Beside" if preset.view.comparison else "Presets").click()
    page.get_by_role("button", name=preset.name, exact=True).click()


PNG_SIZE = slice(16, 24)  # width and height, after the signature and the first chunk's head


def of_svg(file: Path) -> None:
    root = ElementTree.parse(file).getroot()  # noqa: S314  # our own file
    assert root.tag.endswith("svg")
    assert "Step 3 of 53" in "".join(root.itertext())


def of_png(file: Path) -> None:
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[PNG_SIZE])
    assert (width, height) == (2 * USUAL.width, 2 * USUAL.height), "the room of this window"


def of_html(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Step 53 of 53" in text
    assert "http://" not in text.split("<script")[0]


def of_csv(file: Path) -> None:
    rows = list(csv.reader(file.open(encoding="utf-8")))
    assert rows[0][:2] == ["line", "source"]
    assert rows[-1][0] == "total"


FILES: tuple[tuple[str, str, Callable[[Path], None]], ...] = (
    ("Picture, SVG", "tilewise-step-3.svg", of_svg),
    ("Picture, PNG", "tilewise-step-3.png", of_png),
    ("Animation, one HTML file", "tilewise-tiled-8x8x8.html", of_html),
    ("Counters by line, CSV", "tilewise-tiled-8x8x8.csv", of_csv),
)


def files(page: Page) -> None:
    """Open the list of files, if it is not."""
    if not page.get_by_role("button", name="Animation, one HTML file").is_visible():
        page.get_by_role("button", name="More").click()


def test_each_button_gives_a_file(visit: Open, tmp_path: Path) -> None:
    page = ready(visit("/step?step=1"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    settled(page, step="3")
    for button, name, holds in FILES:
        files(page)
        with page.expect_download() as given:
            page.get_by_role("button", name=button).click()
        assert given.value.suggested_filename == name
        given.value.save_as(tmp_path / name)
        holds(tmp_path / name)


CLICKS = 3
LINK = "?kernel=padded&M=16&N=12&K=16&TILE=4&bx=1&tx=3&ty=2&step=20"


def other_page(page: Page, title: str, path: str) -> None:
    """Follow a link of the navigation, no faster than a hand does.

    Streamlit may draw the link anew while it is pressed; then it is clicked once more, as by hand.
    """
    for attempt in range(CLICKS):
        page.get_by_role("link", name=title, exact=True).click(delay=200)
        try:
            page.wait_for_url(lambda address: urlsplit(address).path == path, timeout=10_000)
            return
        except Late:
            assert attempt + 1 < CLICKS, f"{title} was clicked {CLICKS} times"


def at_the_view(page: Page, step: int) -> None:
    """Wait for LINK's view at a step."""
    settled(page, **dict(parse_qsl(LINK[1:])) | {"step": str(step)})
    until(page, f"Step {step} of 97")
    assert focus(page) == (1, 0, 3, 2)


@pytest.mark.deep
def test_the_view_is_there_again_after_the_gpu_page(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    setting(page, "Thread x").fill("1")
    page.keyboard.press("Enter")
    settled(page, tx="1")
    page.locator(".st-key-scene").click(position={"x": 5, "y": 5})
    for step in ("2", "3"):
        page.keyboard.press("ArrowDown")
        settled(page, tx="1", step=step)
    other_page(page, "GPU", "/compare")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    assert urlsplit(page.url).query == "tx=1&step=3"
    page.go_back()
    settled(ready(page), tx="1", step="3")
    until(page, "Step 3 of")
    assert focus(page) == (0, 0, 1, 0)
    page.wait_for_timeout(3500)  # until an address before is no longer one that is left behind
    page.go_back()  # past the choice of the thread; its steps are no entries of the history
    settled(page, tx="", step="1")
    expect(setting(page, "Thread x")).to_have_value("0")
    page.locator(".st-key-scene", has_text="Thread (0, 0)").first.wait_for()


def test_back_undoes_one_choice_at_a_time(visit: Open, request: pytest.FixtureRequest) -> None:
    page = ready(visit("/step?step=4"))
    page.get_by_role("button", name="What if").click()
    page.get_by_text("Pad the tile of B").click()
    settled(page, edits="pad", step="4")
    page.keyboard.press("ArrowDown")
    settled(page, edits="pad", step="5")
    page.get_by_role("combobox", name="Kernel").click()
    page.get_by_role("option").filter(has_text="Padded").click()
    settled(page, kernel="padded", edits="", step="15")
    page.wait_for_timeout(3500)  # until an address before is no longer one that is left behind
    page.go_back()
    settled(page, kernel="", edits="pad", step="5")
    until(page, "Step 5 of")
    page.go_back()
    settled(page, edits="", step="4")
    until(page, "Step 4 of")
    if request.config.getoption("--deep"):
        page.go_forward()
        settled(page, edits="pad", step="5")
        until(page, "Step 5 of")


@pytest.mark.deep
def test_a_what_if_keeps_the_place_in_the_story(visit: Open) -> None:
    page = ready(visit("/step?M=16&N=16&K=16&TILE=8&step=60"))
    title = page.locator(".st-key-scene .gtitle").text_content() or ""
    page.get_by_role("button", name="What if").click()
    page.get_by_text("Remove the second barrier").click()
    settled(page, edits="second-barrier", step="59")  # one barrier less before it
    opened(page, "What if", "Remove the first barrier")
    page.get_by_text("Remove the first barrier").click()
    settled(page, edits="first-barrier.second-barrier", step="57")  # and two
    found = page.locator(".st-key-scene .gtitle").text_content() or ""
    assert found.split(" · ")[1:4] == title.split(" · ")[1:4]


@pytest.mark.deep
def test_a_preset_says_what_to_look_at(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    for preset in presets()[:2]:
        page.get_by_role("button", name="Presets").click()
        page.get_by_role("button", name=preset.name, exact=True).click()
        expect(page.locator(".st-key-sentence")).to_have_text(preset_sentence(preset))
        expect(page.get_by_role("button", name=preset.name, exact=True)).to_be_hidden()
        settled(page, **to_query(preset.view))
    page.get_by_role("combobox", name="Kernel").click()
    page.get_by_role("option").filter(has_text="Padded").click()
    expect(page.locator(".st-key-sentence")).to_have_text(catalogue()["padded"].teaches)
    address = urlencode(to_query(presets()[1].view))
    page = ready(visit(f"/step?{address}"))
    expect(page.locator(".st-key-sentence")).to_have_text(preset_sentence(presets()[1]))


@pytest.mark.deep
def test_a_list_that_opens_after_other_runs_shows_the_view(visit: Open) -> None:
    page = ready(visit("/step?schedule=ascending&inputs=counting&TILE=8&M=9&tx=3&edits=pad"))
    page.get_by_role("button", name="Presets").click()
    expect(page.get_by_role("button", name="Both barriers", exact=True)).to_be_visible()
    page.wait_for_timeout(1000)  # until its run has ended
    page.keyboard.press("Escape")
    page.wait_for_timeout(1000)
    for label, value in (("M", "9"), ("Thread x", "3"), ("TILE", "8")):
        assert setting(page, label).input_value() == value
    page.keyboard.press("Escape")
    assert opened(page, "What if", "Pad the tile of B").is_checked()
    warps = page.get_by_role("combobox", name="The block's warps run")
    expect(warps).to_have_value("Warp by warp")
    page.keyboard.press("Escape")
    expect(setting(page, "A and B hold")).to_have_value("1, 2, 3, …")
    settled(page, schedule="ascending", inputs="counting", TILE="8", M="9", tx="3", edits="pad")


@pytest.mark.deep
def test_a_what_if_closes_its_list_and_says_what_it_did(visit: Open) -> None:
    page = ready(visit("/step?step=18&K=9"))
    pad = next(switch.edit for switch in SWITCHES if switch.edit.key == "pad")
    usual = catalogue()["tiled"].teaches
    box = page.get_by_text(pad.label)
    for text, edits in ((pad.help_text, "pad"), (usual, "")):
        page.get_by_role("button", name="What if").click()
        box.click()
        settled(page, edits=edits)
        expect(box).to_be_hidden()
        expect(page.locator(".st-key-sentence")).to_have_text(text)


@pytest.mark.deep
def test_a_click_is_kept_that_follows_a_step_at_once(visit: Open) -> None:
    """Nothing is between the press and the release, as where a pad is tapped."""
    page = ready(visit("/step?M=16&N=16&K=16&TILE=8&edits=second-barrier&step=20"))
    settled(page, step="20")
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Show it").click()
    settled(page, step="60", ty="4", schedule="ascending")


@pytest.mark.deep
def test_a_step_is_kept_that_was_made_just_before_the_gpu_page(visit: Open) -> None:
    page = ready(visit(f"/step{LINK}"))
    at_the_view(page, 20)
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(600)  # from the keys to the mouse
    page.wait_for_selector("[data-test-script-state='notRunning']")
    other_page(page, "GPU", "/compare")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    other_page(page, "Step", "/step")
    at_the_view(ready(page), 23)


@pytest.mark.deep
def test_a_link_to_the_gpu_page_holds_a_view(screens: Screens) -> None:
    page = screens.page()  # Streamlit looks for its server beneath /compare first: 404
    page.goto(f"{screens.address}/compare{LINK}")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=30_000)
    assert urlsplit(page.url).query == LINK[1:]
    other_page(page, "Step", "/step")
    at_the_view(ready(page), 20)
    page.close()


@pytest.mark.deep
def test_presenting_leaves_only_the_scene(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    plot = page.locator(".st-key-scene .js-plotly-plot[data-ready]")

    def size() -> tuple[float, float] | None:
        box = plot.bounding_box()
        return None if box is None else (box["width"], box["height"])

    def at_rest() -> tuple[float, float]:
        """The size once it stays: the room is known, and the figure for it has come."""
        before, now = None, size()
        while now is None or now != before:
            page.wait_for_timeout(1500)
            before, now = now, size()
        return now

    small = at_rest()
    page.evaluate(
        """() => {
          window.sizes = [];
          new MutationObserver(() => {
            const plots = document.querySelectorAll('.stepper .plot[data-ready]');
            for (const { layout: { width, height } } of plots) {
              const size = `${width}x${height}`;
              if (window.sizes.at(-1) !== size) window.sizes.push(size);
            }
          }).observe(document.querySelector('.stepper'),
            { subtree: true, attributeFilter: ['data-ready'] });
        }"""
    )
    for leave in ("Escape", "p", "button"):
        page.keyboard.press("p")
        for hidden in (".stAppHeader", ".st-key-controls", ".stepper .bar"):
            expect(page.locator(hidden).first).to_be_hidden()
        assert at_rest() == (1280, 720)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        if leave == "button":
            page.get_by_role("button", name="Leave the presentation").click()
        else:
            page.keyboard.press(leave)
        expect(page.locator(".st-key-controls").first).to_be_visible()
        assert at_rest() == pytest.approx(small, abs=1)
    sizes = page.evaluate("window.sizes")
    assert sizes == [sizes[0], sizes[1]] * 3, "each time one figure is drawn"


def test_an_edit_and_its_hazard_are_shown_which_a_presentation_tells_and_opens(visit: Open) -> None:
    page = ready(visit("/step?M=16&N=16&K=16&TILE=8&step=1"))
    drawn = page.locator(".st-key-scene")
    expect(drawn).not_to_contain_text("removed")
    page.get_by_role("button", name="What if").click()
    page.get_by_text("Remove the second barrier").click()
    settled(page, edits="second-barrier")
    expect(drawn).to_contain_text("removed")
    expect(page.locator(".st-key-hazards")).to_contain_text("hazards")
    expect(page.locator(".st-key-sentence")).to_contain_text(re.compile("line [0-9]+"))
    page.keyboard.press("p")
    said = page.locator(".st-key-sentence .hazard")
    expect(said).to_be_in_viewport()
    expect(said).to_contain_text("instead of")
    assert float(said.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")) >= 22
    settled(page, schedule="")
    banner = page.locator(".st-key-sentence").bounding_box()
    stage = page.locator(".stepper .stage").bounding_box()
    assert banner is not None
    assert stage is not None
    assert banner["y"] + banner["height"] <= stage["y"]
    for by_key in (True, False):
        if by_key:
            page.keyboard.press("w")
        else:
            page.get_by_role("button", name="Show it").click()
        settled(page, schedule="ascending")
        page.wait_for_function(
            "/^Step (?!1 ).*⚠/.test(document.querySelector('.gtitle')?.textContent ?? '')"
        )
        page.keyboard.press("Home")
        until(page, "Step 1 of")
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-controls").first).to_be_visible()


@pytest.mark.deep
def test_a_key_is_one_step_after_any_number_of_changes(visit: Open) -> None:
    page = ready(visit("/step?step=1"))
    for thread in ("1", "2"):
        setting(page, "Thread x").fill(thread)
        page.keyboard.press("Enter")
        settled(page, tx=thread)
        page.locator(".st-key-scene").click(position={"x": 5, "y": 5})
    page.keyboard.press("ArrowDown")
    until(page, "Step 2 of")


@pytest.mark.deep
def test_the_animation_of_a_long_recording_has_all_its_pages(visit: Open, tmp_path: Path) -> None:
    page = ready(visit("/step?M=64&N=64&K=64&TILE=2&step=500"))
    files(page)
    with page.expect_download() as given:
        page.get_by_role("button", name="Animation, one HTML file").click()
    given.value.save_as(tmp_path / "long.html")
    text = (tmp_path / "long.html").read_text(encoding="utf-8")
    found = [int(number) for number in re.findall(r"Step (\d+) of 521", text)]
    assert set(found) == set(range(1, 522))


# The controls that lie over each other or beyond the window, and those whose names are cut.
CROWDED = """() => {
  const boxes = [...document.querySelectorAll(".st-key-controls > *")].map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { left, right, top, bottom, name: one.innerText };
  }).filter((box) => box.right > box.left);
  const found = boxes.filter((box) => box.left < 0 || box.right > window.innerWidth);
  boxes.forEach((one, i) => found.push(...boxes.slice(0, i).filter((other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1)));
  const cut = [...document.querySelectorAll(".st-key-controls label p")].filter(
    (one) => one.getClientRects().length && one.scrollWidth > one.clientWidth);
  return [...found.map(({ name }) => name), ...cut.map((one) => one.innerText)];
}"""


@pytest.mark.deep
def test_controls_have_room_on_each_width_of_a_phone(visit: Open) -> None:
    for path, drawn in (("/step", ".plot[data-ready]"), ("/learn?lesson=memory", ".walking")):
        page = visit(path, 390, 844)
        page.locator(drawn).first.wait_for()
        for width in (390, 402, 480, 560, 639):
            page.set_viewport_size({"width": width, "height": 844})
            expect(page.locator(".st-key-controls > *").last).to_be_in_viewport()
            page.wait_for_timeout(200)
            assert page.evaluate(CROWDED) == [], (path, width)


# Whether the player is one row under the timeline, within the window, and the part of the window's
# height that the scene has.
PLAYER = """() => {
  const [bar, timeline, stage] = [".bar", ".timeline", ".stage"].map(
    (one) => document.querySelector(`.stepper ${one}`).getBoundingClientRect());
  const middles = [...document.querySelectorAll(".stepper .bar > *")].filter(
    (one) => one.getClientRects().length).map((one) => one.getBoundingClientRect());
  return {
    under: timeline.bottom <= bar.top + 1 && bar.bottom <= window.innerHeight,
    row: new Set(middles.map(({ top, bottom }) => Math.round(top + bottom))).size,
    right: Math.max(...middles.map(({ right }) => right)) <= bar.right + 1,
    share: stage.height / window.innerHeight,
  };
}"""
BROKEN = "?M=16&N=16&K=16&TILE=8&edits=first-barrier&step=20"
LONG = "?kernel=anyshape&M=64&N=64&K=64"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("width", "height", "query"),
    [
        (853, 480, BROKEN), (1024, 576, LONG),
        *(pytest.param(*one, marks=pytest.mark.deep)
          for one in ((853, 480, LONG), (853, 480, "?kernel=naive&with=tiled&step=20"),
                      (800, 600, LONG), (1024, 576, BROKEN), (1160, 720, LONG),
                      (1280, 720, BROKEN), (1600, 900, LONG))),
    ],
)  # fmt: skip
def test_controls_are_a_row_above_the_scene_and_a_row_below(
    visit: Open, width: int, height: int, query: str
) -> None:
    page = ready(visit(f"/step{query}", width, height))
    settled(page)
    menus = page.locator(".st-key-controls .stPopover p")
    assert menus.all_inner_texts()[:4] == ["Presets", "What if", "Beside", "More"]
    for menu in menus.all():
        expect(menu).to_be_visible()
    assert page.evaluate(CROWDED) == []
    links = page.get_by_role("link", name="GPU").bounding_box()
    controls = page.locator(".st-key-controls").first.bounding_box()
    assert links is not None
    assert controls is not None
    assert controls["height"] < 50
    assert links["x"] + links["width"] <= controls["x"]
    found = page.evaluate(PLAYER)
    assert (found["under"], found["row"], found["right"]) == (True, 1, True)
    assert found["share"] >= 2 / 3
    page.keyboard.press("p")
    expect(page.locator(".st-key-controls").first).to_be_hidden()
    page.wait_for_function(f"({PLAYER})().share >= 2 / 3")
