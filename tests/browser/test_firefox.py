"""The app in Firefox, where it is installed: pages, keys, stops, choices, words, the editor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright, expect

from tests.browser.conftest import note_errors
from tests.browser.scene import at_rest, ready, until
from tests.browser.test_glossary import ON_PAGE, card, linked
from tests.browser.test_write import PROBLEMS, write

pytestmark = [pytest.mark.browser, pytest.mark.deep]

PAGES = {
    "": ".st-key-way_learn",
    "/learn?lesson=memory": ".stops.walking svg",
    "/step": ".stepper .js-plotly-plot[data-ready]",
    "/write": ".cm-content",
    "/gpu": ".js-plotly-plot",
}


@pytest.fixture(scope="module")
def firefox(driver: Playwright) -> Iterator[Browser]:
    """An installed Firefox, by WebDriver BiDi: Playwright's own build need not be fetched."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        pytest.skip("No Firefox is installed.")
    try:
        launched = driver.firefox.launch(channel="moz-firefox", executable_path=found)
        launched.new_context().close()  # which Playwright 1.65 cannot, and 1.60 can
    except Error as error:
        pytest.skip(f"This Playwright cannot drive this Firefox: {str(error).splitlines()[0]}")
    yield launched
    launched.close()


@pytest.fixture
def page(firefox: Browser) -> Iterator[Page]:
    """A page that may have written no error at the end."""
    context = firefox.new_context(viewport={"width": 1280, "height": 720})
    opened = context.new_page()
    errors = note_errors(opened)
    yield opened
    context.close()
    assert errors == []


@pytest.mark.parametrize("path", PAGES)
def test_each_page_is_drawn_without_an_error(address: str, page: Page, path: str) -> None:
    page.goto(address + path)
    expect(page.locator(PAGES[path]).first).to_be_visible()


def test_keys_step_the_scene_before_and_after_a_pace_is_chosen(address: str, page: Page) -> None:
    page.goto(f"{address}/step?step=9")
    ready(page)
    page.keyboard.press("ArrowDown")
    until(page, "Step 10 of")
    pace = page.get_by_label("Beats a second")
    pace.dispatch_event("pointerdown")
    pace.focus()
    pace.select_option("4")
    page.keyboard.press("ArrowDown")
    until(page, "Step 11 of")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    until(page, "Step 52 of")


def test_the_last_stop_that_was_clicked_to_has_keys(address: str, page: Page) -> None:
    page.goto(f"{address}/learn?lesson=memory")
    root = page.locator(".stops.walking:has([data-walk])").first
    for _ in range(4):
        root.get_by_role("button", name="Next stop").click()
    expect(root.locator(".place")).to_have_text("5 of 5")
    page.keyboard.press("ArrowRight")
    expect(root.locator(".place")).to_have_text("5 of 5 the end")
    page.keyboard.press("ArrowLeft")
    expect(root.locator(".place")).to_have_text("4 of 5")


def test_a_choice_is_answered_and_counted(address: str, page: Page) -> None:
    page.goto(f"{address}/learn?lesson=memory&numbers=1")
    box = page.locator("[class*=st-key-question]").filter(has=page.get_by_role("radio")).first
    # The input is hidden, and at its middle Firefox finds what is drawn over it.
    box.locator("[role=radiogroup] label").first.click()
    expect(box.get_by_role("radio").first).to_be_checked()
    box.get_by_role("button", name="Answer", exact=True).click()
    expect(box.get_by_test_id("stAlert")).to_be_visible()


def test_a_words_card_comes_and_leaves_by_escape(address: str, page: Page) -> None:
    page.goto(f"{address}/step")
    linked(ready(page))
    place = page.evaluate(ON_PAGE, [".st-key-sentence", "block"])
    page.mouse.move(place["x"] - 2, place["y"])  # within the window: it ignores others
    page.mouse.move(place["x"], place["y"])
    expect(card(page)).to_contain_text("block: Threads")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()


def test_a_mistake_in_the_editor_is_underlined(address: str, page: Page) -> None:
    page.goto(f"{address}/write")
    write(page, "__global__ void f(float* x) { x[0] = y; }")
    expect(page.locator(PROBLEMS).first).to_contain_text("undeclared identifier")
    wrong = page.locator(".cm-lintRange-error").first
    expect(wrong).to_have_text("y")
    expect(wrong).to_have_css("text-decoration-line", "underline")
    expect(wrong).to_have_css("text-decoration-style", "wavy")


def test_back_leads_from_a_scene_to_its_stop(address: str, page: Page) -> None:
    page.goto(f"{address}/learn?lesson=memory")
    place = page.locator(".stops.walking:has([data-walk]) .place").first
    expect(place).to_have_text("1 of 5")
    page.keyboard.press("ArrowRight")
    expect(place).to_have_text("2 of 5")
    page.locator(".stops [data-open]").first.click()
    ready(page)
    at_rest(page)  # the address tells the step
    page.go_back()
    expect(place).to_have_text("2 of 5")
