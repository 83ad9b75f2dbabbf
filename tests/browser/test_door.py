"""The first page: what is behind each of its links, and old links that begin there."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.scene import at_rest, ready, settled, until, where

pytestmark = pytest.mark.browser

WAYS = {
    "learn": ".stops.walking svg",
    "step": ".stepper .js-plotly-plot[data-ready]",
    "write": ".cm-content",
    "compare": ".js-plotly-plot",
}
SCRIPTS = {"compare": "gpu"}  # of the pages that have another name than their address


def door(page: Page) -> Page:
    expect(page.get_by_role("heading", name="Tilewise")).to_be_visible()
    page.locator(".door svg").wait_for(state="attached")  # the last that is drawn
    return page


@pytest.mark.deep
def test_every_way_leads_to_its_page(visit: Open) -> None:
    page = visit()
    for name, drawn in WAYS.items():
        door(page).locator(f".st-key-way_{SCRIPTS.get(name, name)}").click()  # anywhere on the card
        expect(page.locator(drawn).first).to_be_visible()
        assert urlsplit(page.url).path == f"/{name}"
        at_rest(page)
        page.go_back()


@pytest.mark.deep
def test_the_picture_moves_until_a_key_stops_it(visit: Open) -> None:
    page = door(visit())
    picture = page.locator(".door [role=img]")
    expect(picture).not_to_have_attribute("data-beat", "1")
    page.keyboard.press("Space")
    expect(page.locator("figure.door button")).to_have_text("Play")
    beat = picture.get_attribute("data-beat")
    page.wait_for_timeout(1500)
    assert picture.get_attribute("data-beat") == beat
    page.keyboard.press("Space")
    expect(picture).to_have_attribute("data-beat", "17")  # the last, where it ends by itself
    expect(page.locator("figure.door button")).to_have_text("Play")


@pytest.mark.parametrize("size", [(390, 844), pytest.param((1280, 720), marks=pytest.mark.deep)])
def test_one_click_leads_to_the_first_stop_of_the_first_lesson_and_back_from_it(
    visit: Open, size: tuple[int, int]
) -> None:
    page = door(visit("", *size))
    page.locator(".st-key-way_learn").click()
    stop = page.locator(".stops .stop.shown figcaption").first
    expect(stop).to_be_visible()
    expect(stop).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".stops .place").first).to_have_text("2 of 5")
    page.wait_for_url("**/learn?lesson=memory")
    page.go_back()
    door(page)
    assert urlsplit(page.url).path == "/"
    expect(page.locator(".lesson-title")).to_have_count(0)
    page.go_forward()
    page.wait_for_url("**/learn?lesson=memory")
    expect(page.locator(".lesson-title")).to_be_visible()


def test_the_way_back_to_a_scene_keeps_it(visit: Open) -> None:
    page = ready(visit("/step?kernel=naive&step=5"))
    page.keyboard.press("ArrowDown")
    settled(page, step="6")
    page.get_by_role("link", name="Tilewise").click()
    door(page)
    assert urlsplit(page.url).query == ""
    page.locator(".st-key-way_step").click()
    until(ready(page), "Step 6 of")
    page.go_back()
    door(page)
    page.go_forward()
    until(ready(page), "Step 6 of")


@pytest.mark.deep
def test_a_link_of_before_that_begins_here_opens_its_scene(visit: Open) -> None:
    page = ready(visit("/?kernel=naive&M=6&step=5"))
    assert where(page)[0] == 5
    address = urlsplit(page.url)
    assert address.path == "/step"
    assert dict(parse_qsl(address.query)) == {"kernel": "naive", "M": "6", "step": "5"}


@pytest.mark.deep
def test_a_lessons_query_beside_another_page_goes_to_no_other(visit: Open) -> None:
    """An address that was written by hand may have it there."""
    page = visit("/compare?lesson=memory")
    expect(page.get_by_role("heading", name="On the GPU")).to_be_visible()
    page.get_by_role("link", name="Step").click()
    ready(page)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.deep
@pytest.mark.parametrize("start", ["/", "/step?kernel=naive&step=5", "/compare"])
def test_one_back_leads_to_where_the_way_to_a_lesson_began(visit: Open, start: str) -> None:
    page = visit(start)
    expect(page.locator(WAYS.get(urlsplit(start).path[1:], ".door svg")).first).to_be_attached()
    at_rest(page)
    began = page.url
    page.get_by_role("link", name="Learn", exact=True).first.click()
    page.wait_for_url("**/learn?lesson=memory")
    expect(page.locator(".lesson-title")).to_be_visible()
    page.go_back()
    page.wait_for_url(began)
    expect(page.locator(".lesson-title")).to_have_count(0)
    page.go_forward()
    page.wait_for_url("**/learn?lesson=memory")
    expect(page.locator(".lesson-title")).to_be_visible()
