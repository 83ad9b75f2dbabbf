"""The verdict on a kernel of one's own, as a page shows it."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import streamlit as st

from simulator.machine.schedule import Schedule
from simulator.verdict.form import OwnKernel
from simulator.verdict.verdict import (
    CheckState,
    CounterRow,
    FoundHazard,
    Named,
    SizeCheck,
    State,
    Verdict,
    WrongCell,
)
from ui.draft import at_numbers
from ui.problems import Problem, mark_line
from ui.told_hazard import Told
from ui.view_url import SCHEDULES, View

MARKS = {
    CheckState.RIGHT: "✓", CheckState.WRONG: "✗", CheckState.UNCHECKED: "·",
    CheckState.STOPPED: "✗", CheckState.SKIPPED: "–",
}  # fmt: skip
WORDS = {
    CheckState.RIGHT: "right", CheckState.WRONG: "wrong", CheckState.UNCHECKED: "ran",
    CheckState.STOPPED: "stopped", CheckState.SKIPPED: "not run",
}  # fmt: skip
QUIET = frozenset({CheckState.RIGHT, CheckState.UNCHECKED, CheckState.SKIPPED})

# Opens the scene of a view, at a hazard or at a line that the view's thread is at.
Open = Callable[[View, Told | None, int | None], None]


def draw_verdict(own: OwnKernel, verdict: Verdict, open_scene: Open) -> None:
    """Draw a verdict: the one thing to do, then why."""
    st.html(f"<p class='next {verdict.state}'>{html.escape(verdict.next_step)}</p>")
    for number, found in enumerate(verdict.hazards):
        _draw_hazard(own, number, found, open_scene)
    _draw_checks(own, verdict.checks, open_scene)
    if verdict.costliest is not None:
        st.html(f"<p class='said'>{html.escape(verdict.costliest.sentence)}</p>")
    if verdict.neighbours:
        st.html(_neighbours(verdict.neighbours))
    if verdict.occupancy is not None:
        st.html(f"<p class='said'>{html.escape(verdict.occupancy.sentence)}</p>")
    for note in verdict.notes:
        st.html(f"<p class='said note'>{html.escape(note)}</p>")


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
    hazard = found.hazard
    witness = f" {hazard.witness.sentence}" if hazard.witness is not None else ""
    st.html(
        f"<p class='found'><b>{html.escape(hazard.kind)}</b>: "
        f"{html.escape(hazard.message)}{html.escape(witness)} "
        f"<span class='where'>{_at(found.sizes)}</span></p>"
    )
    if st.button("Show it", icon=":material/play_arrow:", key=f"verdict_hazard_{number}"):
        open_scene(View(own=at_numbers(own, found.numbers)), Told(hazard, 0), None)


def _draw_checks(own: OwnKernel, checks: Sequence[SizeCheck], open_scene: Open) -> None:
    items = []
    for check in checks:
        told = "" if check.state in QUIET else f": {html.escape(check.sentence)}"
        items.append(
            f"<li class='{check.state}'><b>{MARKS[check.state]}</b> {_sizes(check.sizes)} "
            f"{WORDS[check.state]}{told}</li>"
        )
    names = html.escape(" × ".join(name for name, _ in checks[0].sizes)) if checks else ""
    st.html(f"<ul class='checks' aria-label='{names}'>{''.join(items)}</ul>")
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


def _neighbours(rows: Sequence[CounterRow]) -> str:
    """The table of what kernels cost, one's own first."""
    body = []
    for row in rows:
        name = "yours" if not row.name else row.title
        figures = (
            f"{row.conflicts:,}", _figure(row.sectors_per_request), _figure(row.bytes_per_flop),
            _figure(row.wavefronts_per_flop),
        )  # fmt: skip
        body.append(
            f"<tr{'' if row.name else ' class=own'}><th scope=row>{html.escape(name)}</th>"
            + "".join(f"<td>{figure}</td>" for figure in figures)
            + "</tr>"
        )
    return (
        "<div class='wide'><table class='costs'><thead><tr><th></th>"
        "<th scope=col title='Wavefronts of shared memory beyond those without bank conflicts'>"
        "bank conflicts</th>"
        "<th scope=col title='Sectors of 32 bytes for each request to global memory'>"
        "sectors a request</th>"
        "<th scope=col title='Bytes of global memory for each multiplication or addition'>"
        "global bytes an operation</th>"
        "<th scope=col title='Wavefronts of shared memory for each multiplication or addition'>"
        "wavefronts an operation</th></tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _sizes(sizes: Named) -> str:
    return html.escape(" × ".join(f"{value:,}" for _, value in sizes) or "as launched")


def _at(sizes: Named) -> str:
    named = ", ".join(f"{name} = {value:,}" for name, value in sizes)
    return f"At {html.escape(named)}." if named else ""
