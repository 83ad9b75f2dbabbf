"""The Learn page without a browser: lessons, questions, the teacher's view, files."""

from __future__ import annotations

import re

import pytest
from plotly.offline import get_plotlyjs
from streamlit.testing.v1 import AppTest

from simulator.broken_file import Entries
from tests.ui.apps import app_at, open_page
from tests.ui.test_lessons import HEAD, scene, stops
from ui.drawing.viewport import USUAL
from ui.lessons import export
from ui.lessons.export import build_lesson
from ui.lessons.judge import right_answer
from ui.lessons.lesson import SESSIONS, ExercisePart, Kind, Notes, QuestionPart, ScenePart, Stops
from ui.lessons.parse import lessons, parse_lesson
from ui.lessons.played_scene import draw_scene
from ui.lessons.quantities import find
from ui.lessons.visit import Visit

SEED = 1
FIRST = next(iter(lessons().values()))


def opened(**query: str) -> AppTest:
    return checked(open_page("learn", **query))


def checked(page: AppTest) -> AppTest:
    assert not page.exception, page.exception
    assert not [error for error in page.error if "cannot be shown" in error.value]
    return page


def texts(page: AppTest) -> str:
    return "\n".join(str(one.value) for one in [*page.markdown, *page.success, *page.error])


@pytest.mark.deep
@pytest.mark.parametrize("name", lessons())
def test_a_lesson_opens_by_its_address(name: str) -> None:
    page = opened(lesson=name, numbers=str(SEED))
    assert page.query_params["lesson"] in (name, [name])
    shown = texts(page)
    for number, part in enumerate(lessons()[name].questions, 1):
        assert f"**Question {number}.**" in shown, part.name
    exercises = [one for one in lessons()[name].parts if isinstance(one, ExercisePart)]
    assert sum(button.label == "Open it" for button in page.button) == len(exercises)


def played(page: AppTest) -> list[bytes]:
    """What the players of a page's scenes were given."""
    drawn = [one.proto for one in page.get("bidi_component")]
    return [one.bytes for one in drawn if one.component_name == "tilewise_lesson_scene"]


def test_a_scene_is_on_the_page_and_a_rerun_sends_the_same() -> None:
    [part] = [one for one in FIRST.parts if isinstance(one, ScenePart)]
    page = opened(lesson=FIRST.name)
    assert played(page) == [draw_scene(part.view, part.text, USUAL)]
    assert played(checked(page.run())) == played(page)


def numbered() -> tuple[str, QuestionPart]:
    """The first question for a number."""
    for lesson in lessons().values():
        for part in lesson.questions:
            if part.variants[0].kind is Kind.NUMBER:
                return lesson.name, part
    raise AssertionError


def test_an_answer_is_kept_before_the_right_one_is_shown() -> None:
    name, part = numbered()
    page = opened(lesson=name, numbers=str(SEED))
    question = Visit(seed=SEED).variant(part)
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    right = right_answer(question, numbers)
    assert isinstance(right, int)
    field, answer = f"number {part.name} 0 False", f"answer {part.name} 0"
    page.button(key=answer).click().run()
    assert "Enter a number first." in [one.value for one in checked(page).caption]
    assert not page.success
    page.number_input(key=field).set_value(right + 1)
    page.button(key=answer).click().run()
    assert checked(page).warning[0].value.startswith(f"**Not {right + 1:,}.** {question.hint}")
    assert not page.error, "the second try is before the answer"
    page.number_input(key=field).set_value(right + 2)
    page.button(key=answer).click().run()
    assert f"You answered {right + 2:,}; it is {right:,}." in checked(page).error[0].value
    assert not page.session_state["learn_visit"].book.progress.questions
    page.button(key=f"again {part.name} 0").click().run()
    question = Visit(seed=SEED, drawings={part.name: 1}).variant(part)
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    page.number_input(key=f"number {part.name} 1 False").set_value(right_answer(question, numbers))
    page.button(key=f"answer {part.name} 1").click().run()
    assert checked(page).success[0].value.startswith("**Right.**")
    assert page.session_state["learn_visit"].book.progress.questions == {part.name}


def test_a_teacher_sees_answers_and_notes() -> None:
    page = opened(lesson=FIRST.name, numbers=str(SEED))
    assert not [one for one in page.info if one.value.startswith("**Answer:")]
    page.toggle(key="learn_teacher").set_value(True).run()
    notes = [one.value for one in checked(page).info]
    assert sum(one.startswith("**Answer:") for one in notes) == len(FIRST.questions)
    for part in FIRST.parts:
        if isinstance(part, Notes):
            assert part.text in notes


def test_the_course_is_a_map_with_what_is_done() -> None:
    page = AppTest.from_function(draw_a_map, default_timeout=60)
    checked(page.run())
    labels = [one.label for one in page.button]
    assert len(labels) == len(lessons())
    asked = len(FIRST.questions)
    assert labels[0] == f"1. {FIRST.title} · 1 of {asked} right"
    assert [one.value.split("**")[1] for one in page.markdown] == list(SESSIONS.values())


def draw_a_map() -> None:
    from ui.lessons.parse import lessons
    from ui.lessons.visit import Visit
    from ui.pages.learn import draw_map

    visit = Visit(lesson="claims")
    visit.answer(next(iter(lessons().values())).questions[0], 1, True)
    draw_map(visit)


@pytest.mark.deep
def test_the_teachers_view_stays_while_another_page_is_open() -> None:
    page = app_at("learn").run()
    page.toggle(key="learn_teacher").set_value(True).run()
    page.switch_page("ui/pages/door.py").run()
    page.switch_page("ui/pages/learn.py").run()
    assert checked(page).toggle(key="learn_teacher").value
    page.toggle(key="learn_teacher").set_value(False).run()
    assert not checked(page.run()).toggle(key="learn_teacher").value


def test_the_next_lesson_is_a_click_away() -> None:
    page = opened(lesson=FIRST.name)
    following = list(lessons())[1]
    page.button(key="next_lesson").click().run()
    assert checked(page).session_state["learn_visit"].lesson == following


@pytest.mark.sample(4)
@pytest.mark.parametrize("address", ["barier", "none", "", "../x", "<b>"])
def test_an_unknown_lesson_is_the_first_and_a_sentence_says_so(address: str) -> None:
    page = opened(lesson=address, numbers="x" * 50)
    assert page.session_state["learn_visit"].lesson == FIRST.name
    assert len(page.warning) == bool(address)
    if address == "barier":
        assert page.warning[0].value == (
            "The address asks for lesson “barier”, and there is none of that name; "
            "“barriers” is similar."
        )


@pytest.mark.deep
def test_a_lesson_is_one_file_that_asks_nothing_of_the_network() -> None:
    text = build_lesson(FIRST.name, with_notes=True).decode()
    for part in FIRST.parts:
        if isinstance(part, Stops):
            assert all(f'aria-label="{stop.text[:20]}' in text for stop in part.stops)
    without_plotly = re.sub(r"(?s)<script.*?</script>", "", text)
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", without_plotly)
    assert without_plotly.count("<summary>The answer</summary>") == len(FIRST.questions)
    assert "For the teacher." in text
    assert "For the teacher." not in build_lesson(FIRST.name).decode()


CHART = '```chart\nchart = "latencies"\ntext = "Look."\n```\n'


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("parts", "scripts"),
    [("", 0), (CHART, 1), (scene(), 1), (CHART + scene(), 1), (scene() + scene() + CHART, 1)],
)
def test_a_file_has_plotly_once_before_what_draws_with_it(
    monkeypatch: pytest.MonkeyPatch, parts: str, scripts: int
) -> None:
    text = HEAD + (stops(4) + parts).replace(HEAD, "")
    lesson = parse_lesson(text, "01_test.md")
    monkeypatch.setattr(export, "lessons", lambda: Entries({"test": lesson}))
    written = "".join(export.write_lesson("test", False))
    assert written.count(get_plotlyjs()) == scripts
    assert written.count('class="plotly-graph-div"') == parts.count("chart = ")
    if scripts:
        first = min(at for sign in ('class="plotly-graph-div"', "<figure class='played'")
                    if (at := written.find(sign)) > 0)  # fmt: skip
        assert written.index(get_plotlyjs()) < first
