"""What the Step page says above the scene: one sentence, and every hazard."""

from __future__ import annotations

import html

import streamlit as st

from simulator import Report
from simulator.language.files import with_file_names
from ui.run.cache import load_opened
from ui.run.displayed_hazard import DisplayedHazard, select_hazard
from ui.run.mailbox import mailbox
from ui.step.controls import SECOND
from ui.step.state import step_state
from ui.view import shown_kernel
from ui.view.presets import preset_sentence
from ui.view.view_url import USER_KERNEL, View
from ui.web_page.plain_text import plain_text
from ui.web_page.popover import draw_popover

IN_LOCKSTEP = (
    "Both scenes are at the same point of the computation. ≠ marks a count or a line that differs "
    "on the other side; a bar under a cell marks a value that does."
)


def draw_sentence(view: View, reports: tuple[Report, ...]) -> None:
    """Draw what to look at.

    It is a preset's sentence, else the first hazard's witness, else the hazard, else what the edit
    does that was switched on last, else the kernel's idea. A hazard can be opened.
    """
    state = step_state()
    explanation, preset = state.explain(view), state.shown_preset(view)
    displayed = select_hazard(reports)
    text = explanation or (IN_LOCKSTEP if view.comparison else shown_kernel.idea(view))
    if displayed is not None:
        witness = displayed.hazard.witness
        text = displayed.hazard.message if witness is None else witness.sentence
        text = with_file_names(text, _shown_text(view, displayed), keeps_numbers=True)
        text = f"{SECOND}{text}" if displayed.side else text
    kind = "hazard" if displayed is not None and preset is None else "idea"
    with st.container(key="sentence", horizontal=True, vertical_alignment="center"):
        if preset is not None:
            text = preset_sentence(preset)
        st.html(f"<p class='{kind}'>{html.escape(text)}</p>")
        if displayed is not None:
            draw_show_button(view, displayed, "show_hazard")


def draw_hazards(view: View, reports: tuple[Report, ...]) -> None:
    """Draw the hazards: how many different ones there are, and in a popover all of them."""
    every = [
        DisplayedHazard(one, side) for side, report in enumerate(reports) for one in report.hazards
    ]
    both = {(one.hazard.kind, one.hazard.message): one for one in reversed(every)}
    hazards = list(both.values())[::-1]
    if not hazards:
        return
    count = f"{len(hazards)} hazards" if len(hazards) > 1 else "1 hazard"
    popover = draw_popover(count, ":material/warning:", "hazards")
    if popover is None:
        return
    with popover:
        for number, displayed in enumerate(hazards):
            hazard = displayed.hazard
            where = SECOND if displayed.side else ""
            shown_text = _shown_text(view, displayed)
            message = plain_text(with_file_names(hazard.message, shown_text, keeps_numbers=True))
            st.write(f"**{where}{hazard.kind}**, {hazard.how_often}: {message}")
            if hazard.witness is not None:
                witness = hazard.witness.sentence
                st.caption(plain_text(with_file_names(witness, shown_text, keeps_numbers=True)))
            draw_show_button(view, displayed, f"show_hazard_{number}")


def _shown_text(view: View, displayed: DisplayedHazard) -> str:
    """The code that a hazard is in, if a visitor wrote it; "" for the catalogue's."""
    compared = view.comparison if displayed.side else None
    is_own = compared is None or compared.kernel == USER_KERNEL
    return view.user_kernel.text if view.user_kernel is not None and is_own else ""


def draw_show_button(view: View, displayed: DisplayedHazard, key: str) -> None:
    """Draw a button that opens a hazard: its order of the warps, its thread and its step."""
    st.button(
        "Show it", icon=":material/play_arrow:", key=key, on_click=mailbox().request,
        args=(view, (), displayed),
        help="Go to this thread, at this step, in an order of the warps that shows it.",
    )  # fmt: skip


def open_displayed_hazard() -> None:
    """Open the hazard shown above the scene, as its button does."""
    state = step_state()
    displayed = select_hazard(load_opened(state.view, state.look(state.view)).reports)
    if displayed is not None:
        mailbox().request(state.view, displayed=displayed)
        st.rerun()
