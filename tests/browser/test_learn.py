"""The Learn page in a browser: stops are walked, scenes stepped through, questions answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Open, Screens
from tests.browser.scene import alike, at_rest, beat_after, ready, step_of, swipe, where
from ui.drawing.palette import DARK
from ui.drawing.viewport import PHONE
from ui.lessons.judge import Answer, fill, right_answer
from ui.lessons.lesson import Kind, Lesson, Question, QuestionPart, ScenePart, Stops
from ui.lessons.parse import lessons
from ui.lessons.quantities import find
from ui.lessons.visit import Visit
from ui.view.view_url import from_query

pytestmark = pytest.mark.browser

SEED = 1
WALK = ".stops.walking:has([data-walk])"
GIVEN = re.compile("You answered|You chose")  # begins the reply to a wrong answer
CLICKS = 3  # at one place, where the page moves meanwhile
ON_A_PHONE = "Mozilla/5.0 (Linux; Android 14) Chrome/126.0.0.0 Mobile Safari/537.36"
FIRST = next(iter(lessons().values()))


def sequences(lesson: Lesson) -> list[Stops]:
    return [one for one in lesson.parts if isinstance(one, Stops) and len(one.stops) > 1]


def scenes(lesson: Lesson) -> list[ScenePart]:
    return [one for one in lesson.parts if isinstance(one, ScenePart)]


def drawn(page: Page, lesson: Lesson) -> Page:
    """Wait until all of a lesson is there."""
    expect(page.locator(WALK)).to_have_count(len(sequences(lesson)))
    expect(page.locator(".played .plot[data-ready]")).to_have_count(len(scenes(lesson)))
    if lesson.questions:
        expect(page.get_by_text(f"Question {len(lesson.questions)}.")).to_be_attached()
    return page


@pytest.fixture(scope="module")
def first(screens: Screens) -> Iterator[Page]:
    """The first lesson, for tests that answer no question."""
    with screens.opened(f"/learn?lesson={FIRST.name}") as page:
        yield drawn(page, FIRST)


def test_each_stop_is_walked_and_each_scene_stepped_by_keys(first: Page) -> None:
    walk_and_step(first, FIRST)


@pytest.mark.deep
@pytest.mark.parametrize("name", list(lessons())[1:])
def test_each_lesson_is_walked_and_stepped_by_keys(visit: Open, name: str) -> None:
    walk_and_step(drawn(visit(f"/learn?lesson={name}"), lessons()[name]), lessons()[name])


def walk_and_step(page: Page, lesson: Lesson) -> None:
    """Walk all stops and step through all scenes of a lesson."""
    for number, part in enumerate(sequences(lesson)):
        root = page.locator(WALK).nth(number)
        root.evaluate("root => root.scrollIntoView({ block: 'center' })")
        for i, stop in enumerate(part.stops):
            expect(root.locator(".place")).to_have_text(f"{i + 1} of {len(part.stops)}")
            shown = root.locator(".stop.shown")
            expect(shown).to_have_count(1)
            expect(shown.locator("figcaption")).to_have_text(stop.text.replace("`", ""))
            expect(shown.locator("svg .mark").first).to_be_visible()
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        expect(root.locator(".place")).to_have_text(f"{len(part.stops) - 1} of {len(part.stops)}")
    places = page.locator(f"{WALK} .place").all_inner_texts()
    for number, scene in enumerate(scenes(lesson)):
        root = page.locator(".played").nth(number)
        root.evaluate("root => root.scrollIntoView({ block: 'center' })")
        assert step_of(root) == scene.view.step + 1
        page.keyboard.press("ArrowRight")
        assert step_of(root) == beat_after(scene.view)
    assert page.locator(f"{WALK} .place").all_inner_texts() == places


def test_a_wrong_answer_leads_to_a_scene_and_back_and_a_right_one_is_kept(visit: Open) -> None:
    """And the last stop says that it is the last, and has keys."""
    page = drawn(visit(f"/learn?lesson={FIRST.name}&numbers={SEED}"), FIRST)
    root, count = page.locator(WALK).first, len(sequences(FIRST)[0].stops)
    forward = root.get_by_role("button", name="Next stop")
    for _ in range(count - 1):
        forward.click()
    expect(forward).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowRight")
    expect(root.locator(".place")).to_have_text(f"{count} of {count} the end")
    page.keyboard.press("ArrowRight")  # and goes on
    expect(page.locator(WALK).nth(1)).to_be_in_viewport(ratio=0.5)
    root.evaluate("root => root.scrollIntoView({ block: 'center' })")
    page.keyboard.press("ArrowLeft")
    expect(root.locator(".place")).to_have_text(f"{count - 1} of {count}")
    box = page.locator("[class*=st-key-question]").first
    box.get_by_label("Your number").fill("1")
    box.get_by_role("button", name="Answer", exact=True).click()
    expect(box.get_by_text("Try once more.", exact=False)).to_be_visible()
    box.get_by_role("button", name="Answer", exact=True).click()
    show = box.get_by_role("button", name="Show me")
    show.scroll_into_view_if_needed()
    top = show.evaluate("one => one.getBoundingClientRect().top")
    show.click()
    ready(page)
    at_rest(page)  # the address tells the step
    page.go_back()
    expect(root.locator(".place")).to_have_text(f"{count - 1} of {count}")
    show.wait_for()
    page.wait_for_function(
        """([word, top]) => [...document.querySelectorAll(".stButton button")].some((one) =>
          one.textContent.includes(word) && Math.abs(one.getBoundingClientRect().top - top) < 8)""",
        arg=["Show me", top],
    )
    part = next(one for one in FIRST.questions if one.variants[0].kind is Kind.ORDER)
    question = Visit(seed=SEED).variant(part)
    box = page.locator(f".st-key-question-{part.name}")
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    answer(box, question, numbers, right_answer(question, numbers))
    expect(box.get_by_text("Right.", exact=True)).to_be_visible()
    is_kept(page, FIRST, 1, part)


def answer(box: Locator, question: Question, numbers: Mapping[str, float], said: Answer) -> None:
    """Give an answer as a reader does, once what was there before is gone."""
    expect(box.get_by_role("button", name="Answer", exact=True)).to_have_count(1)
    match question.kind:
        case Kind.NUMBER:
            field = box.get_by_label("Your number")
            expect(field).to_have_count(1)
            field.press_sequentially(str(said))  # which the page has not been told of yet
        case Kind.CHOICE:
            choose(box.get_by_role("radio").nth(int(str(said))))
        case Kind.CELL:
            assert isinstance(said, tuple)
            box.get_by_role("button", name=f"row {said[0]}, column {said[1]}", exact=True).click()
        case Kind.LINE:
            box.locator(".picker button", has_text=re.compile(rf"^\s*{said}\b")).click()
        case Kind.ORDER:
            assert isinstance(said, tuple)
            expect(box.locator(".picker").first).not_to_contain_text("`")
            for i in said:
                box.locator(".picker button").nth(i).click()
    box.get_by_role("button", name="Answer", exact=True).click()


def choose(radio: Locator) -> None:
    """Click a choice, once more where the page has moved under the pointer, as by hand."""
    for attempt in range(CLICKS):
        radio.evaluate("one => one.scrollIntoView({ block: 'center' })")  # and not at the edge
        radio.click(force=True)
        try:
            expect(radio).to_be_checked(timeout=5_000)
            return
        except AssertionError:
            assert attempt + 1 < CLICKS, f"a choice was clicked {CLICKS} times"


@pytest.mark.deep
def test_a_cell_of_a_picture_is_reached_and_picked_by_keys(visit: Open) -> None:
    """Tab reaches one cell, and the arrow keys, which walk no stops meanwhile, the others."""
    page = drawn(visit("/learn?lesson=threads"), lessons()["threads"])
    box = page.locator(".st-key-question-threads_cell")
    cells = box.locator(".picker rect.cell")
    expect(cells).to_have_count(16)
    unready = box.get_by_role("button", name="Answer", exact=True)
    expect(unready).to_be_disabled()
    expect(unready).not_to_have_css("color", "rgb(255, 255, 255)")  # on white
    assert cells.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1
    cells.first.focus()
    for key in ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(cells.nth(6)).to_be_focused()
    expect(box.locator(".picker .place")).to_have_text("row 1, column 2")
    page.keyboard.press("Enter")
    expect(cells.nth(6)).to_have_attribute("aria-pressed", "true")
    expect(box.get_by_role("button", name="Answer", exact=True)).to_be_enabled()
    expect(cells.nth(6)).to_be_focused()


def wrong_answer(question: Question, right: Answer) -> Answer:
    match right:
        case tuple() if question.kind is Kind.ORDER:
            return right[::-1]
        case tuple():
            return right[0], 0 if right[1] else 1
        case int() if question.kind is Kind.CHOICE:
            return (right + 1) % len(question.options)
        case _:
            assert isinstance(right, int)
            return right - 1 if right > 1 else right + 1


@pytest.mark.deep
@pytest.mark.parametrize("name", lessons())
def test_each_question_is_answered_wrong_and_right(visit: Open, name: str) -> None:
    lesson = lessons()[name]
    page = drawn(visit(f"/learn?lesson={name}&numbers={SEED}"), lesson)
    mine = Visit(seed=SEED)
    for part in lesson.questions:
        number = lesson.questions.index(part) + 1
        box = page.locator(f".st-key-question-{part.name.replace('_', '_')}")
        for is_right in (False, True):
            question = mine.variant(part)
            numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
            right = right_answer(question, numbers)
            expect(box).to_contain_text(f"Question {number}.")
            answer(box, question, numbers, right if is_right else wrong_answer(question, right))
            if not is_right:
                expect(box.get_by_text("Try once more.", exact=False)).to_be_visible()
                box.get_by_role("button", name="Answer", exact=True).click()
            if is_right:
                expect(box.get_by_text("Right.", exact=True)).to_be_visible()
                break
            expect(box.get_by_text(GIVEN).first).to_be_visible()
            box.get_by_role("button", name="With other numbers" if len(part.variants) > 1
                            else "Answer again").click()  # fmt: skip
            mine.draw_anew(part)
            expect(box.get_by_text(GIVEN)).to_have_count(0)
        assert fill(question, question.ask, numbers)
    is_kept(page, lesson, len(lesson.questions), lesson.questions[-1])


def is_kept(page: Page, lesson: Lesson, count: int, last: QuestionPart) -> None:
    """So many questions count as answered, also after a reload."""
    said = f"{count} of {len(lesson.questions)} right"
    expect(page.locator(".lesson-count")).to_have_text(said)
    page.wait_for_function(
        "(name) => (sessionStorage.getItem('tilewise_progress') ?? '').includes(name)",
        arg=last.name,
    )
    page.reload()
    expect(page.locator(".lesson-count")).to_have_text(said)


@pytest.mark.deep
def test_a_key_at_the_last_stop_of_a_lesson_opens_the_next(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}"), FIRST)
    root = page.locator(WALK).last
    root.evaluate("root => root.scrollIntoView({ block: 'center' })")
    for _ in range(len(sequences(FIRST)[-1].stops) + 1):
        page.keyboard.press("ArrowRight")
    following = list(lessons().values())[1]
    expect(page.locator(".lesson-title")).to_have_text(f"2. {following.title}")
    expect(page.locator(".lesson-title")).to_be_in_viewport()


@pytest.mark.deep
def test_the_browsers_back_opens_the_lesson_before(visit: Open) -> None:
    page = visit(f"/learn?lesson={FIRST.name}")
    chosen = page.get_by_role("combobox", name="Lesson")
    shown = page.locator(".lesson-title")
    others = list(enumerate(lessons().values(), 1))[1:3]
    for number, lesson in others:
        chosen.click()
        page.get_by_role("option", name=lesson.title).click()
        expect(shown).to_have_text(f"{number}. {lesson.title}")
        page.wait_for_url(f"**/learn?lesson={lesson.name}")
    page.go_back()
    expect(shown).to_have_text(f"{others[0][0]}. {others[0][1].title}")
    expect(chosen).to_have_count(1)  # the one of before has gone
    expect(chosen).to_have_value(f"{others[0][0]}. {others[0][1].title}")
    page.go_back()
    expect(shown).to_have_text(f"1. {FIRST.title}")
    page.go_forward()
    expect(shown).to_have_text(f"{others[0][0]}. {others[0][1].title}")


KEPT = [part.name for part in FIRST.questions[:2]]  # answered in an earlier session of the tab


@pytest.mark.deep
@pytest.mark.parametrize(
    "kept",
    ['{"questions": 7}', *(pytest.param(kept, marks=pytest.mark.deep)
                           for kept in ("x", "null", "[]", "[" * 5000))],
)  # fmt: skip
def test_anything_that_the_tab_keeps_is_taken(visit: Open, kept: str) -> None:
    page = visit("/compare")
    page.evaluate("kept => sessionStorage.setItem('tilewise_progress', kept)", kept)
    page.goto(page.url.replace("compare", f"learn?lesson={FIRST.name}"))
    expect(page.locator(".lesson-count")).to_have_text(f"0 of {len(FIRST.questions)} right")
    drawn(page, FIRST)


@pytest.mark.deep
def test_progress_is_kept_when_the_page_is_left_and_opened_in_haste(visit: Open) -> None:
    page = visit("/compare")
    page.evaluate(
        "names => sessionStorage.setItem('tilewise_progress', JSON.stringify({questions: names}))",
        KEPT,
    )
    part = FIRST.questions[2]
    question = Visit(seed=SEED).variant(part)
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    page.goto(page.url.replace("compare", f"learn?lesson={FIRST.name}&numbers={SEED}"))
    box = page.locator(f".st-key-question-{part.name}")
    answer(box, question, numbers, right_answer(question, numbers))  # before all is drawn
    said = f"{len(KEPT) + 1} of {len(FIRST.questions)} right"
    expect(page.locator(".lesson-count")).to_have_text(said)
    page.wait_for_function(  # the browser is asked to keep it in the same run as the count
        "n => JSON.parse(sessionStorage.getItem('tilewise_progress')).questions.length === n",
        arg=len(KEPT) + 1,
    )
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".lesson-count")).to_have_text(said)


@pytest.mark.deep
def test_a_link_opens_its_lesson_with_its_numbers(visit: Open) -> None:
    name = list(lessons())[-1]
    page = drawn(visit(f"/learn?lesson={name}&numbers={SEED}"), lessons()[name])
    expect(page.locator(".lesson-title")).to_contain_text(lessons()[name].title)
    assert dict(parse_qsl(urlsplit(page.url).query)) == {"lesson": name, "numbers": str(SEED)}


@pytest.mark.deep
def test_a_stop_opens_its_scene_and_the_lesson_is_there_afterwards(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}&numbers={SEED}"), FIRST)
    stop = sequences(FIRST)[0].stops[1]
    root = page.locator(WALK).first
    root.get_by_role("button", name="Next stop").click()
    root.get_by_role("button", name="Step through it").click()
    ready(page)
    assert where(page)[0] == stop.view.step + 1
    view, notices = from_query(dict(parse_qsl(urlsplit(page.url).query)))
    assert (view.kernel, view.M, notices) == (stop.view.kernel, stop.view.M, ())
    page.get_by_role("link", name="Learn").click()
    drawn(page, FIRST)
    page.get_by_role("link", name="Step").click()
    ready(page)
    assert where(page)[0] == stop.view.step + 1
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.deep
def test_a_measured_claim_opens_the_run_that_it_is_from(visit: Open) -> None:
    page = visit("/learn?lesson=claims")
    page.locator(".st-key-recorded-claim_54_ms").get_by_role("button").click()
    expect(page.get_by_role("heading", name="Recorded on")).to_be_visible()
    expect(page.get_by_role("combobox", name="M × N × K")).to_have_value("8,192 × 6,144 × 4,096")


@pytest.mark.deep
def test_a_scene_keeps_its_step_through_a_run_and_is_opened_there(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}&numbers={SEED}"), FIRST)
    begins = scenes(FIRST)[0].view.step + 1
    root = page.locator(".played").first
    root.evaluate("root => root.scrollIntoView({ block: 'center' })")
    page.keyboard.press("ArrowRight")
    root.get_by_role("button", name="Statement forward").click()
    root.locator(".plot").evaluate("plot => { plot.isTheSame = true; }")
    part = next(one for one in FIRST.questions if one.variants[0].kind is Kind.NUMBER)
    box = page.locator(f".st-key-question-{part.name.replace('_', '_')}")
    field = box.get_by_label("Your number")
    field.fill("5")
    field.press("Enter")  # which is the question's, as the digit is
    expect(box.get_by_text("Try once more.", exact=False)).to_be_visible()
    field.press("Enter")
    expect(box.get_by_text(GIVEN).first).to_be_visible()
    there = beat_after(scenes(FIRST)[0].view) + 1
    assert step_of(root) == there > begins
    assert root.locator(".plot").evaluate("plot => plot.isTheSame")
    root.get_by_role("button", name="Open it on the Step page").click()
    ready(page)
    assert where(page)[0] == there
    page.get_by_role("link", name="Learn").click()
    drawn(page, FIRST)
    assert step_of(root) == there, "where the visitor was"


@pytest.mark.deep
@pytest.mark.parametrize("is_phone", [True, False], ids=["a phone", "a narrow window"])
def test_a_phone_in_the_dark_steps_by_a_swipe(visit: Open, is_phone: bool) -> None:
    page = visit(
        f"/learn?lesson={FIRST.name}", 390, 844, "dark", has_touch=True, is_mobile=is_phone,
        user_agent=ON_A_PHONE if is_phone else None,
    )  # fmt: skip
    root = drawn(page, FIRST).locator(".played").first
    layout = root.locator(".plot").evaluate("plot => plot.layout")
    assert (layout["width"], layout["paper_bgcolor"]) == (PHONE.width, DARK.paper)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    root.locator(".stage").evaluate("stage => stage.scrollIntoView({ block: 'center' })")
    swipe(page, -90)
    page.wait_for_function(
        "title => document.querySelector('.played .gtitle')?.textContent.startsWith(title)",
        arg=f"Step {beat_after(scenes(FIRST)[0].view)} of",
    )


@pytest.mark.deep
def test_a_font_that_comes_late_takes_no_step_back(screens: Screens) -> None:
    """Streamlit's Plotly draws anew then: what was drawn first, which is not the scene's step."""
    page = screens.page()
    held: list[Route] = []
    page.route("**/late/font", lambda route: held.append(route))
    page.add_init_script(
        "const late = new FontFace('Late', 'url(/late/font)');"
        "document.fonts.add(late); late.load().catch(() => {});"
    )
    page.goto(f"{screens.address}/learn?lesson={FIRST.name}", wait_until="commit")
    texts = drawn(page, FIRST).locator(".played .textpoint text")
    shown = texts.all_text_contents()
    assert held
    for one in held:
        one.abort()
    page.evaluate("document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 500)))")
    assert texts.all_text_contents() == shown
    page.close()


@pytest.mark.deep
def test_a_key_in_a_field_walks_no_stops_and_steps_no_scene(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}"), FIRST)
    places = page.locator(f"{WALK} .place")
    before = places.all_inner_texts(), step_of(page.locator(".played").first)
    page.locator(".played").first.get_by_role("button", name="Statement back").click()
    page.locator(".played").first.get_by_role("button", name="Statement forward").click()
    page.get_by_label("Your number").first.focus()
    for key in ("ArrowRight", "1", "Enter"):
        page.keyboard.press(key)
    page.wait_for_timeout(1000)  # after which a number would have been taken
    assert (places.all_inner_texts(), step_of(page.locator(".played").first)) == before


def test_a_stop_is_seen_whole_with_its_sentence(first: Page) -> None:
    covered = first.locator(".stAppHeader").bounding_box()
    assert covered
    for root in first.locator(WALK).all():
        box = root.bounding_box()
        assert box
        assert box["height"] <= 720 - covered["height"]


@pytest.mark.deep
def test_on_a_phone_the_next_stops_place_comes_into_sight(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}", 390, 844), FIRST)
    root = page.locator(WALK).first
    for _ in sequences(FIRST)[0].stops[1:]:
        root.get_by_role("button", name="Next stop").click()
        mark = root.locator(".stop.shown .mark").first
        expect(mark).to_be_in_viewport(ratio=0.5)
        expect(root.locator(".stop.shown figcaption")).to_be_in_viewport()


def test_nothing_is_wider_than_its_window(first: Page) -> None:
    for width, height in ((1280, 720), (390, 844)):
        first.set_viewport_size({"width": width, "height": height})
        first.wait_for_function(
            "width => document.querySelector('[data-testid=stMain]').scrollWidth <= width",
            arg=width,
        )


@pytest.mark.deep
def test_a_wide_array_of_cells_does_not_widen_a_phones_page(visit: Open) -> None:
    page = drawn(visit("/learn?lesson=loading", 390, 844), lessons()["loading"])
    expect(page.locator(".picker rect.cell").last).to_be_attached()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


@pytest.mark.deep
def test_a_chart_fits_the_paper_however_wide_the_window_is(visit: Open) -> None:
    page = drawn(visit(f"/learn?lesson={FIRST.name}", 1920, 1080), FIRST)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_attached()
    page.emulate_media(media="print")
    for chart in page.locator("[class*=st-key-chart]").all():
        widths = chart.evaluate(
            "one => [...one.querySelectorAll('.main-svg')]"
            ".map((svg) => svg.getBoundingClientRect().width)"
        )
        assert widths
        assert max(widths) <= 718, "what A4 has between margins of a centimetre"
    page.close()


@pytest.mark.deep
def test_a_dark_page_is_printed_as_a_light_one(visit: Open) -> None:
    printed = []
    for scheme in ("light", "dark"):
        page = drawn(visit(f"/learn?lesson={FIRST.name}", 1280, 720, scheme), FIRST)
        expect(page.locator("[class*=st-key-chart] .main-svg").first).to_be_attached()
        page.emulate_media(media="print")
        for part in (".stApp", ".stApp .lesson-title", ".stApp [class*=st-key-prose] p"):
            expect(page.locator(part).first).to_have_css("color", "rgb(0, 0, 0)")
        expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(page.locator(".stApp")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        pictures = page.locator(".stops .shot, .played .printed, [class*=st-key-chart]")
        printed.append([one.screenshot(animations="disabled") for one in pictures.all()])
        page.close()
    assert len(printed[0]) > len(sequences(FIRST)) + len(scenes(FIRST))
    for light, dark in zip(*printed, strict=True):
        assert alike(light, dark)
