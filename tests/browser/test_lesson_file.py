"""A lesson as a file: its scenes are stepped without a network, each by its own keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from simulator.broken_file import Entries
from tests.browser.conftest import note_errors
from tests.browser.scene import step_of
from tests.ui.test_lessons import HEAD, scene, stops
from ui.lessons import export
from ui.lessons.parse import parse_lesson

pytestmark = pytest.mark.browser

PAPER = 718  # pixels of CSS that A4 has between margins of a centimetre
ONE = "kernel=tiled&M=4&N=4&K=4&TILE=2&step=10"
TWO = "kernel=naive&M=4&N=4&K=4&step=5&with=tiled,TILE:2"
CHART = '\n```chart\nchart = "latencies"\ntext = "T."\n```\n'
WIDE = rf"$$\text{{{'a formula that is wider than a phone ' * 3}}}$$"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lesson with a scene, stops, two scenes beside each other, a wide formula and a chart."""
    parts = scene(ONE) + stops(4) + scene(TWO) + CHART
    lesson = parse_lesson(HEAD + parts.replace(HEAD, f"Between.\n\n{WIDE}\n\n"), "01_test.md")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "lessons", lambda: Entries({"test": lesson}))
        written = tmp_path_factory.mktemp("lesson") / "lesson.html"
        written.write_text("".join(export.write_lesson("test", False)), encoding="utf-8")
    return written


@pytest.fixture(scope="module")
def tab(chromium: Browser) -> Iterator[Page]:
    """A dark one without a network."""
    context = chromium.new_context(offline=True, color_scheme="dark")
    yield context.new_page()
    context.close()


@pytest.fixture
def page(tab: Page, file: Path) -> Iterator[Page]:
    """The file, which writes no error."""
    errors = note_errors(tab)
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(file.as_uri())
    expect(tab.locator(".played .plot[data-ready]")).to_have_count(2)
    yield tab
    assert errors == []


def centred(one: Locator) -> Locator:
    one.evaluate("one => one.scrollIntoView({ block: 'center' })")
    return one


def test_each_scene_and_the_stops_have_keys_of_their_own(page: Page) -> None:
    first, second = page.locator(".played").all()
    walked = page.locator(".stops")
    centred(first)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    centred(walked)
    page.keyboard.press("ArrowRight")
    centred(second)
    page.keyboard.press("ArrowLeft")
    assert [step_of(one) for one in (first, second)] == [12, 1]
    expect(walked.locator(".place")).to_have_text("2 of 4")
    # Other keys are for none, until a scene was clicked, and then for that one.
    page.keyboard.press("End")
    assert [step_of(one) for one in (first, second)] == [12, 1]
    second.get_by_role("button", name="Statement forward").click()
    page.keyboard.press("b")
    assert step_of(second) == 12, "of the first barrier on the right"
    centred(first)
    page.keyboard.press("Shift+ArrowRight")
    assert step_of(first) == 12, "the other one was clicked"
    first.locator(".picture").click(position={"x": 5, "y": 5})
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    assert [step_of(one) for one in (first, second)] == [23, 12]
    # Who comes to a scene by the keyboard steps that one, wherever the window is.
    page.keyboard.press("Tab")
    centred(second)
    page.keyboard.press("ArrowRight")
    assert [step_of(one) for one in (first, second)] == [26, 12]
    page.get_by_text("Between.").first.click()
    page.keyboard.press("Home")
    assert [step_of(one) for one in (first, second)] == [26, 12]
    expect(walked.locator(".place")).to_have_text("2 of 4")
    # A list of keys is of one scene alone.
    centred(first).get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
    assert [step_of(one) for one in (first, second)] == [26, 12]


def test_scenes_and_a_chart_fit_their_window_and_follow_the_colours_and_the_paper(
    page: Page,
) -> None:
    for one in page.locator(".played").all():
        box = one.bounding_box()
        assert box is not None
        assert box["height"] <= 720
        colour = "one => one.querySelector('.plot').layout.paper_bgcolor"
        assert one.evaluate(colour) == "#0e1420"
    first = page.locator(".played").first
    centred(first)
    page.keyboard.press("ArrowRight")
    page.set_viewport_size({"width": 390, "height": 844})
    for one in page.locator(".played").all():
        wide = "() => document.querySelectorAll('.played .plot').length === 2"
        page.wait_for_function(wide)
        assert one.evaluate("one => one.querySelector('.plot').layout.width") == 370
    assert step_of(first) == 11
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    for one in page.locator(".played").all():
        expect(one.locator(".stepper")).to_be_hidden()
        expect(one.locator(".printed svg")).to_be_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1920, "height": 1080})
    drawn = page.locator(".chart .main-svg").first
    width = "one => one.getBoundingClientRect().width"
    before = drawn.evaluate(width)
    assert before > PAPER
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert drawn.evaluate(width) <= PAPER
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert drawn.evaluate(width) == before
