"""Words are explained where they are, on the Learn, the Step and the GPU page."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.scene import point, ready, until
from tests.browser.test_accessibility import violations
from ui.drawing.palette import PALETTES
from ui.glossary.entry import SmallScene, glossary
from ui.glossary.route import folder
from ui.view.view_url import from_query

pytestmark = pytest.mark.browser

SCENE = "step?kernel=tiled&M=8&N=8&K=8&TILE=4&step=10"
LINKED = "() => (CSS.highlights?.get('tilewise-terms')?.size ?? 0) > 0"
# The middle of a word in a text of the page, and in one of the scene.
ON_PAGE = """([selector, word]) => {
  const within = document.querySelector(selector);
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const start = node.data.indexOf(word);
    if (start < 0) continue;
    const range = new Range();
    range.setStart(node, start);
    range.setEnd(node, start + word.length);
    node.parentElement.scrollIntoView({ block: "center" });
    const { left, right, top, bottom } = range.getBoundingClientRect();
    return { x: (left + right) / 2, y: (top + bottom) / 2, left, right, top, bottom };
  }
}"""
IN_SCENE = """([begins, word]) => {
  const text = [...document.querySelectorAll(".stepper .plot text")].find((one) =>
    one.textContent.trimStart().startsWith(begins) && one.getBoundingClientRect().width);
  const start = text.textContent.indexOf(word);
  const [first, last] = [start, start + word.length - 1].map((i) => text.getExtentOfChar(i));
  const [box, drawn] = [text.getBBox(), text.getBoundingClientRect()];
  const across = (x) => drawn.left + ((x - box.x) * drawn.width) / box.width;
  const [left, right] = [across(first.x), across(last.x + last.width)];
  const { top, bottom } = drawn;
  return { x: (left + right) / 2, y: (top + bottom) / 2, left, right, top, bottom };
}"""
# What a card lies upon of the buttons, and of the names and sentences in a scene.
COVERED = """() => {
  const card = document.querySelector(".term-card").getBoundingClientRect();
  return [...document.querySelectorAll(".stepper .bar > *")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && card.left < box.right && box.left < card.right
      && card.top < box.bottom && box.top < card.bottom;
  }).map((one) => one.textContent.trim());
}"""

# The words of the page's glossary, of some terms, whose picture a browser cannot draw.
PICTURES = """async ([folder, theme, terms]) => {
  const base = new URL(folder + "/", window.__streamlit.BACKEND_BASE_URL);
  const words = await (await fetch(new URL("words.json", base))).json();
  const missing = terms.filter((term) => !words[term]);
  for (const [term, { picture }] of Object.entries(words)) {
    const image = new Image();
    image.src = new URL(`${theme}/${picture}.svg`, base).href;
    const drawn = picture && await image.decode().then(() => image.naturalWidth > 100, () => false);
    if (!drawn) missing.push(term);
  }
  return missing;
}"""

Place = dict[str, float]


def card(page: Page) -> Locator:
    return page.locator(".term-card")


def linked(page: Page) -> Page:
    """Wait until the words of a page are known and underlined."""
    page.wait_for_function(LINKED)
    return page


def explained(page: Page, where: str, words: list[str], term: str) -> None:
    """Rest the pointer on a word; its card must come, beside the word, with what it means.

    Once more if need be: what comes late may move a page's texts.
    """
    for _ in range(5):
        place: Place = page.evaluate(where, words)
        page.mouse.move(place["x"] - 2, place["y"])
        page.mouse.move(place["x"], place["y"])
        with suppress(Error):
            card(page).wait_for(timeout=5000)
            break
    is_explained(page, place, term)


def is_explained(page: Page, place: Place, term: str) -> None:
    expect(card(page)).to_contain_text(f"{term}: {glossary()[term].text[:20].replace('`', '')}")
    expect(card(page).locator("img")).to_be_visible()
    box = card(page).bounding_box()
    assert box is not None
    assert box["y"] >= place["bottom"] or box["y"] + box["height"] <= place["top"]
    assert box["x"] >= 0
    assert box["y"] >= 0


def goes_away(page: Page) -> None:
    page.mouse.move(3, 300)
    expect(card(page)).to_be_hidden()


def shows_scene(page: Page, term: str) -> None:
    """The Step page is there with a word's scene."""
    scene = glossary()[term].picture
    assert isinstance(scene, SmallScene)
    until(ready(page), f"Step {scene.view.step + 1} of")
    view, notices = from_query(dict(parse_qsl(urlsplit(page.url).query)))
    assert (view.kernel, view.M, view.stage, notices) == (
        scene.view.kernel, scene.view.M, scene.view.stage, (),
    )  # fmt: skip


@pytest.mark.deep
def test_a_card_covers_no_button_beside_its_word(visit: Open) -> None:
    page = linked(ready(visit("/step")))
    for word in ("block", "barrier"):
        explained(page, ON_PAGE, [".st-key-sentence", word], word)
        assert page.evaluate(COVERED) == []
        box = card(page).bounding_box()
        assert box is not None
        place: Place = page.evaluate(ON_PAGE, [".st-key-sentence", word])
        for part in range(1, 9):  # the way to the card takes longer than one may be away from both
            x = place["x"] + (box["x"] + box["width"] / 2 - place["x"]) * part / 8
            page.mouse.move(x, place["y"] + (box["y"] + 9 - place["y"]) * part / 8)
            page.wait_for_timeout(50)
        expect(card(page)).to_be_visible()
        goes_away(page)


@pytest.mark.deep
def test_a_word_of_a_lesson_shows_a_small_scene_that_opens(visit: Open) -> None:
    page = linked(visit("/learn?lesson=memory"))
    words = [".lesson-idea", "threads"]
    explained(page, ON_PAGE, words, "thread")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    explained(page, ON_PAGE, words, "thread")
    goes_away(page)
    explained(page, ON_PAGE, words, "thread")
    box = card(page).locator("button").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 9, box["y"] + 9, steps=4)  # over the picture
    page.wait_for_timeout(800)
    card(page).get_by_role("button", name="Step through it").click()
    shows_scene(page, "thread")
    expect(card(page)).to_be_hidden()
    page.get_by_role("link", name="Learn").click()
    expect(page.locator(".lesson-idea")).to_be_visible()


def test_a_word_of_the_scene_is_explained_and_keys_are_the_scenes(visit: Open) -> None:
    page = linked(ready(visit(f"/{SCENE}")))
    explained(page, IN_SCENE, ["Thread", "Thread"], "thread")
    page.keyboard.press("ArrowDown")
    until(page, "Step 11 of")
    expect(card(page)).to_be_hidden()
    goes_away(page)
    explained(page, IN_SCENE, ["Warp 0, ", "wavefront"], "wavefront")
    page.mouse.move(3, 300)
    page.keyboard.press("p")
    expect(page.locator(".stepper.presenting")).to_be_visible()
    page.wait_for_selector(".stage:not(.held)")  # the picture for the whole screen is there
    explained(page, IN_SCENE, ["Thread", "Thread"], "thread")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator(".stepper.presenting")).to_be_visible()


@pytest.mark.deep
def test_the_programs_text_in_the_scene_is_no_word(visit: Open) -> None:
    page = linked(ready(visit("/step?kernel=pipelined&step=14")))
    place = page.evaluate(IN_SCENE, ["// Tile", "Tile"])
    page.mouse.move(place["x"] - 2, place["y"])
    page.mouse.move(place["x"], place["y"])
    page.wait_for_timeout(900)
    expect(card(page)).to_be_hidden()


@pytest.mark.deep
def test_a_tap_explains_a_word_and_elsewhere_follows_what_is_there(visit: Open) -> None:
    page = linked(ready(visit(f"/{SCENE}&stage=threads", has_touch=True)))
    place = page.evaluate(IN_SCENE, ["Thread", "Thread"])
    before = page.url
    page.touchscreen.tap(place["x"], place["y"])
    is_explained(page, place, "thread")
    assert page.url == before
    page.touchscreen.tap(*point(page, 6, 300))
    expect(card(page)).to_be_hidden()
    row = page.evaluate(IN_SCENE, ["warp 0", "warp 0"])
    page.touchscreen.tap(row["right"] + 60, row["y"])
    page.wait_for_url(lambda url: "tx=" in url)


def found_alone(page: Page, word: str) -> tuple[Locator, Locator]:
    """What the menu lists of the only word that a search finds, and its loaded picture."""
    page.get_by_role("button", name="Words").click()
    page.get_by_label("Find a word").fill(word)
    page.keyboard.press("Enter")
    found = page.locator(".st-key-glossary_list")
    expect(found.locator(".stMarkdown")).to_have_count(1)
    picture = found.locator("img")
    expect(picture).to_have_js_property("complete", True)
    return found, picture


@pytest.mark.deep
def test_a_word_that_a_gpu_alone_shows_has_a_chart(visit: Open) -> None:
    page = linked(visit("/learn?lesson=limits"))
    explained(page, ON_PAGE, [".stMain", "occupancy"], "occupancy")
    expect(card(page).get_by_role("button")).to_be_hidden()
    goes_away(page)
    found, picture = found_alone(page, "roofline")
    assert picture.evaluate("image => image.naturalWidth") == 400
    expect(found.get_by_role("button")).to_have_count(0)


@pytest.mark.deep
@pytest.mark.parametrize("theme", PALETTES)
def test_every_word_has_a_picture(visit: Open, theme: str) -> None:
    page = linked(visit("/learn"))
    assert page.evaluate(PICTURES, [folder(), theme, sorted(glossary())]) == []


@pytest.mark.deep
def test_words_of_the_gpu_page_are_explained_and_listed(visit: Open) -> None:
    page = linked(visit("/compare"))
    explained(page, ON_PAGE, [".stMain", "steps"], "step")
    goes_away(page)
    found, picture = found_alone(page, "wavefront")
    assert picture.evaluate("image => image.naturalWidth") > 100
    found.get_by_role("button", name="Step through it").click()
    shows_scene(page, "wavefront")


@pytest.mark.deep
@pytest.mark.parametrize("clicks", [2, 3])
def test_a_double_click_on_words_opens_them(visit: Open, clicks: int) -> None:
    page = linked(visit("/learn"))
    words = page.get_by_role("button", name="Words")
    words.click(click_count=clicks, delay=30)
    field = page.get_by_label("Find a word")
    expect(field).to_be_visible()
    page.wait_for_timeout(1500)  # what the server answers late changes nothing
    expect(field).to_be_visible()
    words.click()
    expect(field).to_be_hidden()


@pytest.mark.deep
def test_words_are_found_on_the_step_page_by_the_keyboard(visit: Open) -> None:
    page = ready(visit(f"/{SCENE}"))
    page.get_by_role("button", name="More").click()
    field = page.get_by_label("Find a word")
    field.fill("padding")
    field.press("Enter")
    button = page.locator(".st-key-glossary_list").get_by_role("button", name="Step through it")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "padded" in url)
    shows_scene(page, "padding")
