"""A lesson as one HTML file that needs no network: its scenes, charts, questions and exercises."""

from __future__ import annotations

import base64
import functools
import html
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from string import Template
from typing import assert_never

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from plotly.offline import get_plotlyjs

from simulator.broken_file import Broken
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES, css_colours
from ui.drawing.viewport import PHONE, USUAL, VIEWPORTS
from ui.gpu_charts import rows
from ui.lessons import charts
from ui.lessons.cell_picture import describe as describe_cells
from ui.lessons.cell_picture import draw_cells
from ui.lessons.judge import cells, claim_title, fill, judge, right_answer, words
from ui.lessons.lesson import (
    MORE,
    ChartPart,
    Claim,
    ExercisePart,
    Kind,
    Lesson,
    Notes,
    Part,
    Prose,
    Question,
    QuestionPart,
    ScenePart,
    Stops,
)
from ui.lessons.markup import code_lines, inline, scene_html, stops_html
from ui.lessons.parse import lessons
from ui.lessons.picture import draw_stops
from ui.lessons.played_scene import describe, draw_figure, print_picture
from ui.lessons.quantities import find
from ui.run.click_cost import Work, lesson_file
from ui.scene.export import within_script
from ui.view.presets import source
from ui.view.view_url import View
from ui.web_page.web_files import read_script, read_web

STYLES = ("stepper.css", "lesson.css", "lesson_file.css")
# Which picture a browser takes: the first whose condition holds, else, and on paper, USUAL's.
PICTURES: tuple[tuple[str, Look], ...] = (
    (
        "screen and (max-width: 640px) and (prefers-color-scheme: dark)",
        replace(PHONE, theme="dark"),
    ),
    ("screen and (max-width: 640px)", PHONE),
    ("screen and (prefers-color-scheme: dark)", replace(USUAL, theme="dark")),
)
LOOKS = (USUAL, *(look for _, look in PICTURES))


def build_lesson(name: str, with_notes: bool = False) -> bytes:
    """Build the file of a lesson, in UTF-8; a job of a worker process.

    with_notes adds the notes for the teacher. Raises what draw_stops and find raise, and
    LaunchError where it would take more than a click may.
    """
    work_of(lessons()[name]).check()
    return "".join(write_lesson(name, with_notes)).encode()


def work_of(lesson: Lesson) -> Work:
    """What building the file of a lesson takes."""
    stops = sum(len(part.stops) for part in lesson.parts if isinstance(part, Stops))
    return lesson_file(stops, sum(isinstance(part, ScenePart) for part in lesson.parts))


def write_lesson(name: str, with_notes: bool) -> Iterator[str]:
    """Write the file of a lesson, in pieces."""
    lesson = lessons()[name]
    yield Template(read_web("lesson_file.html")).substitute(
        title=html.escape(lesson.title), style=css_colours() + read_web(*STYLES)
    )
    place = list(lessons().everything).index(name) + 1
    yield f"<h1 class='lesson-title'>{place}. {html.escape(lesson.title)}</h1>\n"
    yield f"<p class='lesson-idea'>{inline(lesson.idea)}</p>\n"
    asked, has_plotly = 0, False
    for part in lesson.parts:
        if isinstance(part, Notes) and not with_notes:
            continue
        asked += isinstance(part, QuestionPart)
        if isinstance(part, ChartPart | ScenePart) and not has_plotly:
            yield f"<script>{get_plotlyjs()}</script>\n"
            has_plotly = True
        yield f"<section>{_part(part, asked)}</section>\n"
    yield f"<script>\n{read_script('lesson_file.js')}</script>\n</body>\n</html>\n"


def _part(part: Part, asked: int) -> str:
    match part:
        case Prose(text):
            return markdown(text)
        case Notes(text):
            return f"<aside>{markdown(f'**For the teacher.** {text}')}</aside>"
        case Stops():
            return (
                f"<div class='stops'>{stops_html(part.stops, _pictures(part), opens=False)}</div>"
                + (f"<p class='source'>{MORE}</p>" if part.is_more else "")
            )
        case ScenePart(view, text):
            return f"<figure class='played'>{_scene(view, text)}</figure>"
        case ChartPart(chart, text):
            drawn = (
                charts.draw_chart(chart, rows.INK)
                .update_layout(plot_bgcolor="white")
                .to_html(
                    full_html=False, include_plotlyjs=False,
                    config={"displayModeBar": False, "responsive": True},
                )
            )  # fmt: skip
            source = f"<p class='source'>{html.escape(charts.source(chart))}</p>"
            return f"{markdown(text)}<div class='chart'>{drawn}</div>{source}"
        case ExercisePart(exercise, text):
            return (
                f"<aside>{markdown(f'**Exercise: {exercise.title}.** {text}')}"
                f"{markdown(exercise.text)}<pre>{html.escape(exercise.start)}</pre></aside>"
            )
        case Claim():
            numbers = {name: find(quantity) for name, quantity in part.quantities.items()}
            sentence = markdown(fill(part, part.found, numbers))
            verdict = f"<b>{part.verdict.capitalize()}.</b>"
            return f"<aside>{markdown(claim_title(part))}{verdict} {sentence}</aside>"
        case QuestionPart():
            return _question(part.variants[0], asked)
        case Broken():
            return f"<p>This cannot be shown: {html.escape(str(part))}</p>"
        case _:
            assert_never(part)


def _scene(view: View, text: str) -> str:
    """A scene with its figures for every window."""
    figures = {"scene": json.dumps(describe(view))} | {
        f"{viewport}-{theme}": draw_figure(view, replace(look, theme=theme)).decode()
        for (viewport, look), theme in itertools.product(VIEWPORTS.items(), PALETTES)
    }
    return scene_html(text, print_picture(view), opens=False) + "".join(
        f'<script type="application/json" data-of="{name}">{within_script(content)}</script>'
        for name, content in figures.items()
    )


def _pictures(part: Stops) -> list[str]:
    """Of each stop a picture for every window, and one for paper."""
    drawn = {look: draw_stops(part.stops[0].view, part.stops, look) for look in LOOKS}
    return [
        _picture({look: pictures[i] for look, pictures in drawn.items()})
        for i in range(len(part.stops))
    ]


def _picture(drawn: Mapping[Look, str], alt: str = "") -> str:
    """A picture of which a browser takes the SVG that is drawn for its window."""
    sources = "".join(
        f'<source media="{condition}" srcset="{_data(drawn[look])}">'
        for condition, look in PICTURES
    )
    return f'<picture>{sources}<img src="{_data(drawn[USUAL])}" alt="{html.escape(alt)}"></picture>'


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _question(question: Question, number: int) -> str:
    """A question whose answer is unfolded."""
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    text: Callable[[str], str] = functools.partial(fill, question, numbers=numbers)
    asked = ""
    if question.options:
        asked = "".join(f"<li>{inline(text(one.text))}</li>" for one in question.options)
        asked = f"<ul>{asked}</ul>"
    elif question.kind is Kind.CELL:
        rows, columns = cells(question, numbers)
        asked = f"<p>There are {rows} rows and {columns} columns, both counted from 0.</p>"
        if question.picture is not None:
            view, array = question.picture, question.array
            drawn = {
                look: draw_cells(view, array, rows, columns, replace(look, stage=view.stage))
                for look in LOOKS
            }
            asked += f"<div class='cells'>{_picture(drawn, describe_cells(view))}</div>"
    elif question.kind is Kind.LINE and question.view is not None:
        lines = code_lines(source(question.view))
        asked = "".join(f"{n:>3}  {html.escape(line)}\n" for n, line in lines)
        asked = f"<pre>{asked}</pre>"
    right = right_answer(question, numbers)
    answer = inline(words(question, numbers, right))
    because = markdown(judge(question, numbers, right).because)
    return (
        f"<aside>{markdown(f'**Question {number}.** {text(question.ask)}')}{asked}<details>"
        f"<summary>The answer</summary><p><b>{answer}</b></p>{because}</details></aside>"
    )


@functools.cache
def _reader() -> MarkdownIt:
    def formula(content: str, options: Mapping[str, bool]) -> str:
        is_block = options.get("display_mode", False)
        return str(convert(content, display="block" if is_block else "inline"))

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    return reader.use(dollarmath_plugin, renderer=formula)


def markdown(text: str) -> str:
    """Markdown with formulas as HTML, the formulas as MathML.

    >>> markdown("**Two** < three")
    '<p><strong>Two</strong> &lt; three</p>\\n'
    """
    return str(_reader().render(text))
