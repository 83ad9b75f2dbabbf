"""The verdict on a kernel of one's own, as a page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from simulator.verdict.form import OwnKernel
from simulator.verdict.verdict import (
    FoundHazard,
    SizeCheck,
    Verdict,
)
from ui import verdict_html
from ui.told_hazard import Told
from ui.verdict_views import hazard_view, wrong_view
from ui.view_url import View

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


def _draw_hazard(own: OwnKernel, number: int, found: FoundHazard, open_scene: Open) -> None:
    st.html(verdict_html.hazard(found))
    if st.button("Show it", icon=":material/play_arrow:", key=f"verdict_hazard_{number}"):
        open_scene(hazard_view(own, found), Told(found.hazard, 0), None)


def _draw_checks(own: OwnKernel, checks: Sequence[SizeCheck], open_scene: Open) -> None:
    st.html(verdict_html.checks(checks))
    wrong = next((one for one in checks if one.wrong is not None), None)
    if wrong is not None and wrong.wrong is not None and wrong.wrong.block is not None:
        cell = wrong.wrong
        if st.button("Show the wrong cell", icon=":material/play_arrow:", key="verdict_wrong"):
            open_scene(wrong_view(own, wrong.numbers, cell), None, cell.line)
