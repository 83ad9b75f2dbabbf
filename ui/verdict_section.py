"""The verdict on a kernel of one's own, as a page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from simulator.machine.schedule import Schedule
from simulator.verdict.form import OwnKernel
from simulator.verdict.verdict import (
    FoundHazard,
    Named,
    SizeCheck,
    State,
    Verdict,
    WrongCell,
)
from ui import verdict_html
from ui.draft import at_numbers
from ui.problems import Problem, mark_line
from ui.told_hazard import Told
from ui.view_url import SCHEDULES, View

# Opens the scene of a view, at a hazard or at a line that the view's thread is at.
Open = Callable[[View, Told | None, int | None], None]


def draw_verdict(own: OwnKernel, verdict: Verdict, open_scene: Open) -> None:
    """Draw a verdict: the one thing to do, then why."""
    st.html(verdict_html.next_step(verdict.state, verdict.next_step))
    for number, found in enumerate(verdict.hazards):
        _draw_hazard(own, number, found, open_scene)
    _draw_checks(own, verdict.checks, open_scene)
    costs = verdict_html.costs(verdict)
    if costs:
        st.html(costs)


def mark_hazards(text: str, verdict: Verdict) -> tuple[Problem, ...]:
    """The lines of a text that its hazards, its wrong cell and its costliest line are about."""
    marked = [
        mark_line(text, line, found.hazard.message)
        for found in verdict.hazards
        for line in dict.fromkeys(found.hazard.lines)
    ]
    for check in verdict.checks:
        if check.wrong is not None and check.wrong.line is not None:
            marked.append(mark_line(text, check.wrong.line, check.wrong.sentence))
            break
    if verdict.costliest is not None and verdict.state in (State.RIGHT, State.UNCHECKED):
        marked.append(mark_line(text, verdict.costliest.line, verdict.costliest.sentence))
    return tuple(marked)


def _draw_hazard(own: OwnKernel, number: int, found: FoundHazard, open_scene: Open) -> None:
    st.html(verdict_html.hazard(found))
    if st.button("Show it", icon=":material/play_arrow:", key=f"verdict_hazard_{number}"):
        open_scene(View(own=at_numbers(own, found.numbers)), Told(found.hazard, 0), None)


def _draw_checks(own: OwnKernel, checks: Sequence[SizeCheck], open_scene: Open) -> None:
    st.html(verdict_html.checks(checks))
    wrong = next((one for one in checks if one.wrong is not None), None)
    if wrong is not None and wrong.wrong is not None and wrong.wrong.block is not None:
        cell = wrong.wrong
        if st.button("Show the wrong cell", icon=":material/play_arrow:", key="verdict_wrong"):
            open_scene(_wrong_view(own, wrong.numbers, cell), None, cell.line)


def _wrong_view(own: OwnKernel, numbers: Named, cell: WrongCell) -> View:
    """The view of the thread that stored a wrong cell."""
    assert cell.block is not None
    assert cell.thread is not None
    schedule = Schedule(cell.order) if cell.order in SCHEDULES else Schedule.LOCKSTEP
    return View(
        own=at_numbers(own, numbers), block=cell.block[:2], thread=cell.thread[:2],
        schedule=schedule,
    )  # fmt: skip
