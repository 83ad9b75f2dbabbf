"""A verdict as one HTML file that needs no network: what is said, the text, and the scene.

`python -m simulator --report FILE.html` finds it by its name (simulator/terminal/report_file.py).
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from string import Template

from simulator import LaunchError, SourceError
from simulator.exercises.check_solution import ExerciseResult
from simulator.verdict.form import UserKernel
from simulator.verdict.verdict import Verdict
from ui.drawing.palette import DARK, LIGHT
from ui.drawing.viewport import USUAL
from ui.run.displayed_hazard import DisplayedHazard, hazardous_view, view_at_line
from ui.run.standalone import draw_standalone
from ui.user_kernel import verdict_html
from ui.user_kernel.launch_text import summarize_launch
from ui.user_kernel.problems import Problem, mark_hazards
from ui.user_kernel.verdict_views import hazard_view, wrong_view
from ui.view.view_url import View
from ui.web_page.web_files import read_web
from ui.web_page.write_style import write_style


def write_report(
    user_kernel: UserKernel,
    verdict: Verdict | None,
    title: str = "",
    result: ExerciseResult | None = None,
) -> Iterator[str]:
    """Write a report, in pieces.

    title and result are an exercise's. The scene begins at the first hazard, else where the first
    wrong cell is stored.
    """
    name = title or user_kernel.kernel
    yield Template(read_web("report.html")).substitute(
        title=html.escape(f"Tilewise: {name}"),
        light=write_style(LIGHT), light_paper=LIGHT.paper, light_ink=LIGHT.ink,
        dark=write_style(DARK), dark_paper=DARK.paper, dark_ink=DARK.ink,
    )  # fmt: skip
    yield f"<h1>{html.escape(name)}</h1>"
    launched = html.escape(summarize_launch(user_kernel.kernel, user_kernel.form))
    yield f"<p class='launched'><code>{launched}</code></p>"
    if result is not None:
        state, message = ("right", "Solved.") if result.solved else ("wrong", result.problem)
        if message:
            yield verdict_html.next_step(state, message)
        yield verdict_html.requirements(result)
    if verdict is not None:
        located = verdict.in_files(user_kernel.text)
        yield verdict_html.next_step(located.state, located.next_step, located.repair)
        for found in located.causes:
            yield verdict_html.hazard(found, located.next_step)
        yield verdict_html.checks(located.checks, located.next_step)
        yield verdict_html.costs(located)
    yield _listing(
        user_kernel.text, mark_hazards(user_kernel.text, verdict) if verdict is not None else ()
    )
    yield from _scene(user_kernel, verdict)
    yield "</body>\n</html>\n"


def _listing(text: str, marked: tuple[Problem, ...]) -> str:
    """The text with its lines' numbers; those that something is said of are marked."""
    messages = {problem.line: problem.message for problem in reversed(marked)}
    lines = "".join(
        f"<li{_mark(messages.get(number))}><code>{html.escape(line) or ' '}</code></li>"
        for number, line in enumerate(text.rstrip("\n").split("\n"), 1)
    )
    return f"<ol class='listing'>{lines}</ol>"


def _mark(message: str | None) -> str:
    return "" if message is None else f' class="marked" title="{html.escape(message)}"'


def _scene(user_kernel: UserKernel, verdict: Verdict | None) -> Iterator[str]:
    """The scene, in a frame of its own: its keys and its style are not the report's."""
    try:
        view = _first_view(user_kernel, verdict)
        pieces = iter(
            draw_standalone(view, USUAL, begins=view == View(user_kernel=user_kernel)).pieces
        )
        first = next(pieces)
    except (SourceError, LaunchError) as error:
        yield f"<p class='said'>There is no scene: {html.escape(str(error))}</p>"
        return
    yield "<iframe title='The scene' srcdoc=\""
    yield html.escape(first)
    yield from map(html.escape, pieces)
    yield '"></iframe>'


def _first_view(user_kernel: UserKernel, verdict: Verdict | None) -> View:
    """The view at which the scene begins; where nothing is wrong its step is not yet known."""
    if verdict is None:
        return View(user_kernel=user_kernel)
    if verdict.hazards:
        found = verdict.hazards[0]
        return hazardous_view(hazard_view(user_kernel, found), DisplayedHazard(found.hazard, 0))
    wrong = next((one for one in verdict.checks if one.wrong is not None), None)
    if wrong is not None and wrong.wrong is not None and wrong.wrong.line is not None:
        return view_at_line(wrong_view(user_kernel, wrong), wrong.wrong.line)
    return View(user_kernel=user_kernel)
