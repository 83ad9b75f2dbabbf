"""The verdict on a user kernel, as a page shows it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from simulator.verdict.form import UserKernel
from simulator.verdict.verdict import FoundHazard, SizeCheck, State, Verdict
from ui.run.displayed_hazard import DisplayedHazard
from ui.user_kernel import verdict_html
from ui.user_kernel.verdict_views import hazard_view, wrong_view
from ui.view.view_url import View
from ui.web_page.press import press

# Opens the scene of a view, at a hazard or at a line that the view's thread is at.
Open = Callable[[View, DisplayedHazard | None, int | None], None]


def draw_verdict(user_kernel: UserKernel, verdict: Verdict, open_scene: Open) -> None:
    """Draw a verdict: the one thing to do and where it is seen, then all else that was found."""
    located = verdict.in_files(user_kernel.text)
    shown_text = located.next_step
    st.html(verdict_html.next_step(located.state, shown_text, located.repair))
    if verdict.state is State.UNCHECKED:
        st.html("<p class='said'>Choose it in <b>Launch</b>, at <b>It computes</b>.</p>")
    wrong = _first_wrong(located)
    if wrong is not None and wrong.sentence in shown_text:
        _draw_wrong_button(user_kernel, wrong, "verdict_wrong", open_scene)
    numbered = list(zip(range(len(located.causes)), located.causes, verdict.causes, strict=True))
    numbered.sort(key=lambda one: one[1].hazard.message not in shown_text)
    # What one change mends has one cause: the first is enough to see it.
    shown = numbered[:1] if verdict.repair is not None else numbered
    for number, words, found in shown:
        _draw_hazard(user_kernel, number, found, verdict_html.hazard(words, shown_text), open_scene)
    if numbered[len(shown) :]:
        with st.expander(f"{len(numbered) - len(shown)} more, which the same change fixes"):
            for number, words, found in numbered[len(shown) :]:
                message = verdict_html.hazard(words, shown_text)
                _draw_hazard(user_kernel, number, found, message, open_scene)
    st.html(verdict_html.checks(located.checks, shown_text))
    if wrong is not None and wrong.sentence not in shown_text:
        _draw_wrong_button(user_kernel, wrong, "verdict_wrong", open_scene)
    costs = verdict_html.costs(located)
    if costs:
        st.html(costs)


def _draw_hazard(
    user_kernel: UserKernel, number: int, found: FoundHazard, message: str, open_scene: Open
) -> None:
    """Draw a hazard as a message in HTML; its number is the key of its button."""
    if message:
        st.html(message)
    _draw_hazard_button(user_kernel, found, f"verdict_hazard_{number}", open_scene)


def draw_first_button(user_kernel: UserKernel, verdict: Verdict, open_scene: Open) -> None:
    """Draw the button that opens the scene at the first fault; none where nothing is wrong."""
    wrong = _first_wrong(verdict)
    if verdict.hazards:
        _draw_hazard_button(user_kernel, verdict.hazards[0], "first_hazard", open_scene)
    elif wrong is not None:
        _draw_wrong_button(user_kernel, wrong, "first_wrong", open_scene)


def _first_wrong(verdict: Verdict) -> SizeCheck | None:
    return next((one for one in verdict.checks if one.wrong is not None), None)


def _draw_hazard_button(
    user_kernel: UserKernel, found: FoundHazard, key: str, open_scene: Open
) -> None:
    if press(st.button, "Show it", key, icon=":material/play_arrow:"):
        open_scene(hazard_view(user_kernel, found), DisplayedHazard(found.hazard, 0), None)


def _draw_wrong_button(
    user_kernel: UserKernel, check: SizeCheck, key: str, open_scene: Open
) -> None:
    """Draw the button that opens the scene where a wrong cell is stored, if that is known."""
    cell = check.wrong
    if cell is None or cell.block is None:
        return
    if press(st.button, "Show the wrong cell", key, icon=":material/play_arrow:"):
        open_scene(wrong_view(user_kernel, check), None, cell.line)
