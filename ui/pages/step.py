"""The Step page: a kernel, statement by statement, forward and back."""

from __future__ import annotations

import functools

import streamlit as st

from simulator import LaunchError, SourceError
from ui.glossary.component import explain_words
from ui.run.cache import is_known, load_opened
from ui.run.compute import figure_key
from ui.run.mailbox import mailbox
from ui.scene.stepper import bring_plotly
from ui.step.address import read_address, restore_view, store_view
from ui.step.controls import draw_changed_lines, draw_controls
from ui.step.downloads import draw_downloads
from ui.step.hazards import draw_hazards, draw_sentence
from ui.step.scene_section import JOB_ERRORS, draw_error, draw_scene
from ui.step.state import entered, step_state
from ui.view.view_url import clamp, to_query
from ui.web_page.style import draw_style, paper_style
from ui.web_page.web_files import read_web


def draw_page() -> None:
    """Draw the page."""
    draw_style(read_web("page.css") + paper_style())
    st.html("<h1 class='for-screen-readers'>Tilewise: step through a kernel</h1>")
    bring_plotly("step")
    explain_words(mailbox().request)  # first, for a scene that it asks for is drawn in this run
    try:
        draw_view()
    except JOB_ERRORS as error:
        draw_error(error)


def draw_view() -> None:
    """Draw the controls, and the scene of the view that they choose."""
    previous = restore_view()
    view, places = draw_controls(previous)
    nearest, notices = read_address(to_query(view))
    if notices:  # for example a block with too many threads
        mailbox().request(nearest, notices, begins=step_state().begins)
        st.rerun()
    store_view(view)
    state, key = step_state(), figure_key(view)
    if state.stopped == key and not is_known(view):
        draw_stopped()
        return
    state.stopped = None
    try:
        opened = load_opened(view, state.look(view), functools.partial(state.stop, key))
    except (SourceError, LaunchError) as error:
        draw_notices()
        draw_error(error)
        return
    view = state.begin(view, opened.navigation)
    view, notices = clamp(view, opened.grid, opened.block, opened.navigation["steps"])
    step_state().notices += notices
    store_view(view)
    with places.hazards:
        draw_hazards(view, opened.reports)
    draw_sentence(view, opened.reports)
    draw_notices()
    step_state().entered = entered()
    draw_scene(opened)
    if places.changes is not None:
        with places.changes:
            draw_changed_lines(view)
    if places.downloads is not None:
        with places.downloads:
            draw_downloads(view, opened)


def draw_stopped() -> None:
    """Draw what a visitor may do who has stopped a run."""
    st.info("This run was stopped. Choose smaller matrices or another kernel, or run it after all.")
    st.button("Run it", icon=":material/play_arrow:", on_click=step_state().stop, args=(None,))


def draw_notices() -> None:
    """Draw the notices about what a URL requested and the page could not show."""
    if notices := step_state().notices:
        st.warning(" ".join(notices), icon=":material/info:")


if __name__ == "__main__":  # run by Streamlit; not by a test's workers, which import it
    draw_page()
