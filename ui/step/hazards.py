"""What the Step page says above the scene: one sentence, and every hazard."""

from __future__ import annotations

import html

import streamlit as st

from simulator import Report
from ui.run.cache import load_opened
from ui.run.mailbox import mailbox
from ui.run.told_hazard import Told, told_hazard
from ui.step.controls import RIGHT
from ui.step.state import step_state
from ui.view import shown_kernel
from ui.view.view_url import View
from ui.web_page.browser import browser_theme
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import draw_popover

IN_LOCKSTEP = (
    "Both scenes are at the same place of the story: ≠ marks a count or a line, and a bar under "
    "its cell a value, that is another on the other side."
)


def draw_sentence(view: View, reports: tuple[Report, ...]) -> None:
    """Draw what to look at.

    It is a preset's sentence, else the first hazard's witness, else the hazard, else what the edit
    does that was switched on last, else the kernel's idea. A hazard can be opened.
    """
    state = step_state()
    explanation, preset, told = state.explain(view), state.shown_preset(view), told_hazard(reports)
    text = explanation or (IN_LOCKSTEP if view.partner else shown_kernel.idea(view))
    if told is not None:
        witness = told.hazard.witness
        text = told.hazard.message if witness is None else witness.sentence
        text = f"{RIGHT}{text}" if told.side else text
    kind = f"hazard {browser_theme()}" if told is not None and preset is None else "idea"
    with st.container(key="sentence", horizontal=True, vertical_alignment="center"):
        st.html(f"<p class='{kind}'>{html.escape(text if preset is None else preset.text)}</p>")
        if told is not None:
            draw_show_button(view, told, "show_hazard")


def draw_hazards(view: View, reports: tuple[Report, ...]) -> None:
    """Draw the hazards: how many different ones there are, and in a popover all of them."""
    every = [Told(one, side) for side, report in enumerate(reports) for one in report.hazards]
    both = {(told.hazard.kind, told.hazard.message): told for told in reversed(every)}
    hazards = list(both.values())[::-1]
    if not hazards:
        return
    count = f"{len(hazards)} hazards" if len(hazards) > 1 else "1 hazard"
    popover = draw_popover(f":red[**{count}**]", ":material/warning:", "hazards")
    if not popover.is_drawn:
        return
    with popover.container:
        for number, told in enumerate(hazards):
            hazard = told.hazard
            where = RIGHT if told.side else ""
            said = plain_text(hazard.message)
            st.write(f"**{where}{hazard.kind}**, {hazard.count:,} times: {said}")
            if hazard.witness is not None:
                st.caption(plain_text(hazard.witness.sentence))
            draw_show_button(view, told, f"show_hazard_{number}")


def draw_show_button(view: View, told: Told, key: str) -> None:
    """Draw a button that opens a hazard: its order of the warps, its thread and its step."""
    st.button(
        "Show it", icon=":material/play_arrow:", key=key, on_click=mailbox().request,
        args=(view, (), None, told),
        help="Go to this thread, at this step, in an order of the warps that shows it.",
    )  # fmt: skip


def open_told_hazard() -> None:
    """Open the hazard that is told above the scene, as its button does."""
    state = step_state()
    told = told_hazard(load_opened(state.view, state.look(state.view)).reports)
    if told is not None:
        mailbox().request(state.view, told=told)
        st.rerun()
