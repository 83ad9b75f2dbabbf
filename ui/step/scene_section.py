"""The Step page's scene: what it shows, and what comes of its steps, clicks and choices."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from simulator import LaunchError, SourceError
from simulator.broken_file import BrokenFileError, log
from ui.drawing.look import LEVELS, Stage, parse_held
from ui.jobs.workers import WorkerLostError
from ui.machine_code.section import draw_machine_code
from ui.run.cache import answers, load_picture
from ui.run.compute import (
    Opened,
    draw_frames,
    figure_id,
    figure_key,
    find_line,
    find_stage,
    scene_title,
)
from ui.run.follow_click import follow_click
from ui.run.mailbox import mailbox
from ui.run.waiting import waits_told_here
from ui.scene import scene
from ui.scene.stepper import Click, Shown, draw_stepper, read_stepper, send_frames
from ui.step.address import is_same_but_step, store_step, store_view, without_step
from ui.step.hazards import open_displayed_hazard
from ui.step.state import Drawn, entered, step_state
from ui.view.view_url import View, to_query, usual_step
from ui.web_page.plain_text import plain_text

# Streamlit sends a large message once and then only its hash, also where the message itself was
# dropped since the next script run began. Runs follow each other quickly after a choice: until they
# have settled, each sends a message of its own.
SETTLED_SECONDS = 3.0

# Of any job: a worker may run a kernel anew that another has run, and find less time or memory.
JOB_ERRORS = (SourceError, LaunchError, WorkerLostError)


def draw_error(error: Exception) -> None:
    """Draw why there is no scene."""
    if isinstance(error, BrokenFileError):
        log(error.broken)
    place = "\n" if "\n" in str(error) else " "  # several errors are a line each
    st.error(plain_text(f"This cannot be run:{place}{error}"), icon=":material/error:")


@st.fragment
def draw_scene(opened: Opened) -> None:
    """Draw the scene; it reports its step, its viewport, choices and clicks, which move the focus.

    Frames of steps that the figure does not have are sent on request.
    """
    try:
        with waits_told_here():
            draw_scene_of(opened)
    except JOB_ERRORS as error:
        draw_error(error)


def draw_scene_of(opened: Opened) -> None:
    """Draw the scene, for draw_scene."""
    state, reported, navigation = step_state(), read_stepper(), opened.navigation
    store_step(reported.place)
    # The browser sends a step and a click of one instant as a run of the fragment alone. It may
    # leave out controls that have their first values.
    before = state.entered
    is_changed = any(before.get(key, value) != value for key, value in entered().items())
    if is_changed or mailbox().requested is not state.applied:
        st.rerun()
    state.viewport = reported.viewport or state.viewport
    if reported.click is not None:
        handle_click(opened, reported.click)
    chosen = "" if reported.choice is None else reported.choice.name
    if chosen == "hazard":
        open_displayed_hazard()
    elif chosen == "stage":
        store_view(toggle_stage(state.view))
    elif chosen == Stage.CLOCK:
        held = None if state.view.stage is Stage.CLOCK else Stage.CLOCK
        store_view(replace(state.view, stage=held))
    elif chosen in LEVELS:
        store_view(replace(state.view, stage=parse_held(chosen)))
    view = state.view
    look = state.look(view)
    identifier, sides = figure_id(view, look), opened.sides
    drawn = state.drawn
    if drawn is None or (drawn.scene, drawn.order) != (identifier, state.order):
        steps = scene.first_steps(navigation, view.step)
        drawn = state.drawn = Drawn(identifier, state.order, view.step, steps, time.monotonic())
    if time.monotonic() - drawn.since < SETTLED_SECONDS:
        state.sent += 1
    name = (
        f"{scene_title(opened.sides)}: the kernel's source, its arrays, shared memory and "
        "threads, and a timeline, at one step."
    )
    draw_stepper(
        Shown(identifier, state.order, drawn.start, usual_step(view), drawn.steps, look, name,
              without_step(to_query(view)), state.sent),
        navigation, load_picture(view, look, drawn.steps),
    )  # fmt: skip
    requested = reported.place.requested
    is_lacking = 0 <= requested < navigation["steps"] and requested not in drawn.steps
    if reported.place.scene == identifier and is_lacking:
        steps = scene.page(navigation, requested, len(sides))
        frames = answers().ask(
            draw_frames, figure_key(view), look, steps, is_ahead=requested != view.step
        )
        send_frames(identifier, steps, frames, state.sent)
    if state.shows_machine_code:
        at = replace(figure_key(view), step=view.step)
        line = answers().ask(find_line, at, is_quiet=True)
        draw_machine_code(opened.sides[0], line, next(iter(opened.sides[1:]), None))


def toggle_stage(view: View) -> View:
    """The view held at the stage that its step is shown on, or let go where it is held."""
    if view.stage is not None:
        return replace(view, stage=None)
    shown = replace(figure_key(view), step=view.step)
    return replace(view, stage=answers().ask(find_stage, shown, step_state().look(view)))


def handle_click(opened: Opened, click: Click) -> None:
    """Handle a click on the scene at a step: move the focus, or go to another step."""
    state = step_state()
    view = replace(state.view, step=min(max(click.step, 0), opened.navigation["steps"] - 1))
    clicked = answers().ask(follow_click, view, state.look(view), click.x, click.y)
    if is_same_but_step(clicked, view):
        if clicked.step != view.step:
            step_state().order += 1
        store_view(clicked)
    else:
        mailbox().request(clicked)
        st.rerun()
