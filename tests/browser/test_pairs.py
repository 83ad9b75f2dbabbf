"""Two scenes beside each other: one set of keys, one address, one file."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from simulator import Recording
from tests.browser import app
from tests.browser.conftest import Open
from tests.browser.scene import alike, click, opened, picture, ready, settled, until, where
from tests.ui.lecture.lectures import record_view
from ui.analysis.pairs import Pair, align, pair_navigation
from ui.drawing.look import Look
from ui.lecture.pair_sheet import PairSheet
from ui.run.compute import load_drawing
from ui.run.side_by_side import side_views
from ui.view.view_url import from_query

pytestmark = pytest.mark.browser
ADDRESS = "?kernel=naive&M=8&N=8&K=16&with=tiled,TILE:8&step=30"
QUERY = dict(part.split("=") for part in ADDRESS[1:].split("&"))
SECOND = "A second scene, in lockstep"


@functools.cache
def recordings() -> tuple[Recording, Recording]:
    view, _ = from_query(QUERY)

    def record_side(side):  # type: ignore[no-untyped-def]
        return record_view(replace(side, step=0, thread=(0, 0)))

    left, right = side_views(view, record_side)
    return record_side(left), record_side(right)


@functools.cache
def pairs() -> tuple[Pair, ...]:
    return align(*recordings())


def sentences(page: Page) -> list[str]:
    """What the two scenes say of their threads, without the threads' names."""
    texts = page.evaluate(
        "document.querySelector('.stepper .plot').data.filter((one) => one.meta === 'sentence')"
        ".map((one) => one.text.slice(1).join(' ').trim())"
    )
    assert len(texts) == 2
    return [str(text) for text in texts]


def test_one_set_of_keys_steps_both(visit: Open) -> None:
    page = ready(visit(f"/step{ADDRESS}"))
    stops = pair_navigation(*recordings(), pairs())
    assert where(page) == (30, len(pairs()))
    assert sentences(page) == [
        "adds A[5] × B[40] = 7 × 4 to its sum acc, now 117.",
        "adds As[0][5] × Bs[5][0] = 7 × 4 to its sum acc, now 117.",
    ]
    at = 29
    stops["tile"] = [next(n for n in (*stops["beat"], len(pairs())) if n >= begin)
                     for begin in stops["outer"]]  # fmt: skip
    for key, ways in (
        ("b", "barrier"), ("PageDown", "tile"), ("Shift+ArrowRight", "inner"),
        ("ArrowRight", "beat"),
    ):  # fmt: skip
        page.keyboard.press(key)
        at = next((n for n in stops[ways] if n > at), len(pairs()) - 1)
        until(page, f"Step {at + 1} of")  # it may be of a page that is on its way
    page.keyboard.press("ArrowUp")
    until(page, f"Step {at} of")
    page.keyboard.press("End")
    until(page, f"Step {len(pairs())} of")
    assert all("stores acc" in text for text in sentences(page))
    page.keyboard.press("Home")
    until(page, "Step 1 of")
    settled(page, step="")


def test_the_control_switches_a_second_scene_on_and_off(visit: Open) -> None:
    page = ready(visit("/step?step=18"))
    single = picture(page)
    opened(page, "Beside", SECOND).click()
    page.get_by_role("option", name="Naive: a thread reads its row and its column").click()
    settled(page, **{"with": "naive"})
    assert "81" in sentences(page)[0]
    assert "81" in sentences(page)[1], "at the same product"
    page.go_back()
    settled(page, **{"with": ""})
    assert alike(single, picture(page)), "a scene alone is as it was"


@pytest.mark.deep
def test_a_link_reopens_both(visit: Open) -> None:
    page = ready(visit(f"/step{ADDRESS}"))
    page.keyboard.press("ArrowDown")
    settled(page, step="31")
    again = ready(visit(f"/step?{urlsplit(page.url).query}"))
    until(again, "Step 31 of")
    assert alike(picture(page), picture(again))


@pytest.mark.deep
def test_a_click_on_either_side_moves_both_threads(visit: Open) -> None:
    # A window that no other test opens: its first figure is laid out for its room, and stays.
    page = ready(visit(f"/step{ADDRESS}", 1290, 720))
    texts = page.locator(".st-key-scene text")
    number = texts.filter(has_text="153").last.bounding_box()  # a sum of the right scene
    assert number is not None
    page.mouse.click(number["x"] + 4, number["y"] + 4)
    settled(page, tx="1")
    expect(texts.filter(has_text="Thread (1, 0) of block (0, 0)")).to_have_count(2)
    assert where(page)[0] == 30
    room = page.evaluate("document.querySelector('.stepper .plot').layout")
    look = Look(width=round(room["width"]), height=round(room["height"]))
    sheet = load_drawing(from_query(QUERY)[0], look).sheet
    assert isinstance(sheet, PairSheet)
    line = sheet.areas.sides[1].source
    click(page, line.left + 60, line.top + 5)
    until(page, f"Step {next_of_line() + 1} of")


def next_of_line() -> int:
    """The pair at which the right side comes to its line of step 30 once more."""
    line = pairs()[29].sides[1].line
    return next(
        pair.number for pair in pairs()[30:] if pair.moves[1] and pair.sides[1].line == line
    )


@pytest.mark.deep
def test_a_part_stands_out_on_both_sides(visit: Open) -> None:
    page = ready(visit(f"/step{ADDRESS}"))
    page.keyboard.press(".")
    shown = page.evaluate(
        """() => {
          const { data } = document.querySelector('.stepper .plot');
          const parts = data.filter((one) => one.meta === 'parts').map((one) => one.text[0]);
          const bold = [...document.querySelectorAll('.stepper .plot text')]
            .filter((node) => node.style.fontWeight === 'bold').map((node) => node.textContent);
          return parts.map((text) => bold.includes(text));
        }"""
    )
    assert shown == [True, True]
    assert where(page)[0] == 30


@pytest.mark.deep
def test_the_pair_is_one_file_with_the_same_keys(
    visit: Open, chromium: Browser, tmp_path: Path
) -> None:
    page = ready(visit(f"/step{ADDRESS}"))
    with page.expect_download() as given:
        opened_files(page)
        page.get_by_role("button", name="Animation, one HTML file").click()
    assert given.value.suggested_filename == "tilewise-naive-tiled-8x8x16.html"
    given.value.save_as(tmp_path / "pair.html")
    alone = chromium.new_page(viewport={"width": 1280, "height": 720})
    alone.set_default_timeout(app.PATIENCE)
    alone.goto((tmp_path / "pair.html").as_uri())
    alone.wait_for_selector(".js-plotly-plot[data-ready]")
    title = alone.locator(".gtitle")
    first = pair_navigation(*recordings(), pairs())["beat"][0] + 1
    expect(title).to_contain_text(f"Step {first} of {len(pairs())}")
    alone.keyboard.type("30")
    alone.keyboard.press("Enter")
    expect(title).to_contain_text("Step 30 of")
    assert sentences(alone) == sentences(page)
    alone.keyboard.press("ArrowDown")
    expect(title).to_contain_text("Step 31 of")
    alone.close()


def opened_files(page: Page) -> None:
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Animation, one HTML file").wait_for()
