"""The Learn page: lessons, with the scene, charts, questions and exercises as their blackboard."""

from __future__ import annotations

import html
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from simulator.broken_file import Broken
from ui.drawing.palette import PALETTES, css_charts_on_paper
from ui.glossary.component import draw_glossary, explain_words
from ui.gpu.gpu_results import CHART_CONFIG
from ui.lessons import charts, markup, picture
from ui.lessons.component import draw_stops, play_scene, write_address
from ui.lessons.export import build_lesson, work_of
from ui.lessons.lesson import (
    MORE,
    SESSIONS,
    ChartPart,
    Claim,
    ExercisePart,
    Lesson,
    Notes,
    Part,
    Prose,
    QuestionPart,
    ScenePart,
    Stops,
)
from ui.lessons.parse import lessons
from ui.lessons.played_scene import draw_scene
from ui.lessons.progress import Progress
from ui.lessons.progress_section import draw_progress_file, remember_progress, restore_book
from ui.lessons.question_section import draw_claim, draw_question
from ui.lessons.visit import VISIT, Visit
from ui.run.broken_section import draw_broken, drawn_from
from ui.run.cache import answers
from ui.run.costly_download import draw_costly_download
from ui.run.mailbox import open_view
from ui.scene.stepper import bring_plotly
from ui.step.state import step_state
from ui.view.view_url import describe_unknown
from ui.web_page import navigation_query
from ui.web_page.browser import browser_theme, is_history_navigation, picture_look, text_colour
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import close_popovers, draw_popover
from ui.web_page.press import press
from ui.web_page.style import draw_style
from ui.web_page.web_files import read_web

WRITE_PAGE = "ui/pages/write.py"
ASKED, CONTROLS = "learn_asked", "learn_controls"  # keys of the session state
LESSON, NUMBERS = "lesson", "numbers"  # of the address; the latter gives a class the same numbers


def draw_page() -> None:
    """Draw the page."""
    paper = PALETTES[browser_theme()].paper  # white on the dark theme's orange is too faint
    draw_style(
        read_web("page.css", "lesson.css") + css_charts_on_paper()
        + f".stMain [data-testid^=stBaseButton-primary]:enabled {{ color: {paper}; }}"
    )  # fmt: skip
    visit = restore_visit()
    lesson = draw_controls(visit)
    remember_progress(visit.book)  # before what takes long: a reader may leave meanwhile
    if isinstance(lesson, Broken):
        draw_broken(lesson)
        draw_next(visit)
        explain_words(open_view)
        return
    place = list(lessons().everything).index(lesson.name) + 1
    st.html(
        f"<h1 class='lesson-title'>{place}. {html.escape(lesson.title)}</h1>"
        f"<p class='lesson-idea'>{html.escape(lesson.idea)}</p>"
    )
    if visit.is_teacher:
        st.info(f"{lesson.minutes} minutes in class.", icon=":material/schedule:")
    number = 0
    for i, part in enumerate(lesson.parts):
        number += isinstance(part, QuestionPart)
        with drawn_from(lesson.file, lesson.lines[i]):
            draw_part(part, visit, f"{lesson.name} {i}", number)
    draw_next(visit)
    explain_words(open_view)


def restore_visit() -> Visit:
    """The visitor's lessons; an address names the one to open, and may choose the numbers."""
    state = st.session_state
    if VISIT not in state:
        state[VISIT] = Visit(book=restore_book())
    visit: Visit = state[VISIT]
    asked, numbers = st.query_params.get(LESSON, ""), st.query_params.get(NUMBERS, "")
    # By a link, or by the browser's Back. Else the address may be older than the last choice.
    is_asked = ASKED not in state or is_history_navigation()
    if is_asked and asked in lessons().everything and asked != visit.lesson:
        choose_lesson(visit, asked)
    elif is_asked and asked and asked != visit.lesson:
        st.warning(plain_text(describe_unknown(LESSON, asked, list(lessons()))))
    if numbers.isascii() and numbers.isdigit() and len(numbers) < 10:
        visit.seed = int(numbers)
        visit.is_seeded = True
    if visit.lesson not in lessons().everything:
        visit.lesson = next(iter(lessons() or lessons().everything))
    return visit


def store_address(visit: Visit) -> None:
    """Write the lesson into the address; other pages keep theirs."""
    state = st.session_state
    state[ASKED] = True
    address = {LESSON: visit.lesson}
    if visit.is_seeded:
        address[NUMBERS] = str(visit.seed)
    if LESSON in st.query_params and st.query_params.to_dict() != address:
        st.query_params.from_dict(address)  # the browser's Back undoes this
    write_address(urlencode(address))
    navigation_query.keep(step_state().address or {})


def choose_lesson(visit: Visit, name: str) -> None:
    """Open a lesson."""
    visit.lesson = name
    st.session_state[CONTROLS] = st.session_state.get(CONTROLS, 0) + 1


def draw_controls(visit: Visit) -> Lesson | Broken:
    """Draw the choice of a lesson, which is returned, and the teacher's switch."""
    every = lessons().everything
    names = list(every)
    titles = {
        name: f"{i}. {one if isinstance(one, Broken) else one.title}"
        for i, (name, one) in enumerate(every.items(), 1)
    }
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        name = st.selectbox(
            "Lesson", names, names.index(visit.lesson), format_func=titles.__getitem__, width=520,
            key=f"lesson {st.session_state.get(CONTROLS, 0)}", label_visibility="collapsed",
        )  # fmt: skip
        visit.lesson = name
        lesson = every[name]
        if isinstance(lesson, Lesson):
            counted = visit.count(lesson.questions)
            solved = f"{counted['solved']} of {counted['of']} right"
            st.html(f"<p class='lesson-count' title='Questions of this lesson'>{solved}</p>")
        visit.is_teacher = st.toggle(
            "For the teacher", visit.is_teacher, key="learn_teacher",
            help="Answers, notes, times, and what students often say.",
        )  # fmt: skip
        draw_popover("Map", ":material/map:", "learn_map", partial(draw_map, visit))
        explain = partial(draw_glossary, open_view)
        draw_popover("Words", ":material/dictionary:", "learn_words", explain)
        offer = partial(draw_files, visit, lesson)
        draw_popover("Files", ":material/download:", "learn_files", offer)
    store_address(visit)
    return lesson


def draw_map(visit: Visit) -> None:
    """Draw the course: its classes, their lessons, and what is answered right in each."""
    every = list(lessons().everything.items())
    for session, title in SESSIONS.items():
        shown = [
            (number, one) for number, (_, one) in enumerate(every, 1)
            if isinstance(one, Lesson) and one.session == session
        ]  # fmt: skip
        minutes = sum(one.minutes for _, one in shown)
        st.markdown(f"**{title}**, {minutes} minutes")
        for number, one in shown:
            counted = visit.count(one.questions)
            icon = ":material/radio_button_unchecked:"
            if counted["solved"]:
                is_done = counted["solved"] == counted["of"]
                icon = ":material/check_circle:" if is_done else ":material/pending:"
            st.button(
                f"{number}. {one.title} · {counted['solved']} of {counted['of']} right", icon=icon,
                key=f"map {one.name}", type="tertiary", disabled=one.name == visit.lesson,
                on_click=partial(choose_on_map, visit, one.name),
            )  # fmt: skip


def choose_on_map(visit: Visit, name: str) -> None:
    """Open a lesson, and close the map."""
    close_popovers()
    choose_lesson(visit, name)


def draw_files(visit: Visit, lesson: Lesson | Broken) -> None:
    """Draw the lesson as a file, and how the progress is saved and opened again."""
    with_notes = visit.is_teacher
    notes = ", with the teacher's notes" if with_notes else ""
    if isinstance(lesson, Lesson):
        draw_costly_download(
            work_of(lesson), f"This lesson, one HTML file{notes}",
            partial(
                answers().ask, build_lesson, lesson.name, with_notes, is_kept=False, is_long=True
            ),
            f"tilewise-{lesson.name}.html", ":material/school:",
        )  # fmt: skip
    draw_progress_file(visit.book, partial(open_progress, visit))


def open_progress(visit: Visit, saved: Progress) -> None:
    """Go on with a progress that was saved; nothing of this visit is lost."""
    visit.book.progress = saved.with_visit(visit.book.progress)


def draw_part(part: Part, visit: Visit, key: str, number: int) -> None:
    """Draw a part of a lesson."""
    match part:
        case Prose(text):
            with st.container(key=f"prose {key}"):
                st.markdown(text.replace("```cpp", "```text"))  # its colours have little contrast
        case Notes(text):
            if visit.is_teacher:
                st.info(text, icon=":material/school:")
        case Stops():
            look = picture_look()
            pictures, printed = (
                answers().ask(
                    picture.draw_stops, part.stops[0].view, part.stops, one, is_quiet=True
                )
                for one in (look, replace(look, theme="light"))
            )
            walked = markup.stops_html(part.stops, pictures, opens=True)
            if look.theme != "light":
                walked += f"<style>{markup.css_on_paper(pictures, printed)}</style>"
            if part.is_more:
                st.markdown(
                    f":gray-badge[{MORE}]", help="A class of ninety minutes may leave this out."
                )
            opened = draw_stops(walked, len(part.stops), f"stops {key}")
            if opened is not None:
                open_view(part.stops[opened].view)
        case ScenePart():
            bring_plotly(key)
            content = answers().ask(draw_scene, part.view, part.text, picture_look(), is_quiet=True)
            step = play_scene(content, f"scene {key}")
            if step is not None:
                open_view(replace(part.view, step=step))
        case ChartPart():
            draw_chart(part, key)
        case ExercisePart(exercise, text):
            with st.container(border=True, key=f"exercise {key}"):
                st.markdown(f"**Exercise: {exercise.title}.** {text}")
                if press(st.button, "Open it", f"open {key}", icon=":material/edit_note:"):
                    st.switch_page(WRITE_PAGE, query_params={"exercise": exercise.name})
        case Claim():
            draw_claim(part)
        case QuestionPart():
            draw_question(part, visit, number, visit.is_teacher)
        case Broken():
            draw_broken(part)


def draw_chart(part: ChartPart, key: str) -> None:
    """Draw a chart of the newest recorded run, and say which run that is."""
    with st.container(key=f"prose of {key}"):
        st.markdown(part.text)
    st.plotly_chart(
        charts.draw_chart(part.chart, text_colour()), key=f"chart {key}", config=CHART_CONFIG,
        alt=charts.describe(part.chart),
    )  # fmt: skip
    st.caption(charts.source(part.chart))


def draw_next(visit: Visit) -> None:
    """Draw the way to the next lesson that can be shown."""
    names = list(lessons().everything)
    later = [name for name in names[names.index(visit.lesson) + 1 :] if name in lessons()]
    if later:
        following = lessons()[later[0]]
        st.button(
            f"Next: {following.title}", type="primary", icon=":material/arrow_forward:",
            key="next_lesson", on_click=partial(choose_lesson, visit, following.name),
        )  # fmt: skip


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
