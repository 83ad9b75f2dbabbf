"""The stepper component: it owns the scene's picture, its toolbar, its timeline and its keys."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from ui.drawing.look import Look
from ui.drawing.viewport import parse_viewport
from ui.web_page.component import component
from ui.web_page.index_page import INDEX, PLOTLY, module
from ui.web_page.reported import parse
from ui.web_page.web_files import read_web

KEY = "scene"  # of the stepper, and of what it reports in the session state


@dataclass(frozen=True, slots=True)
class Shown:
    """What the stepper is to show."""

    scene: str  # identifies the figure
    order: int  # another one begins at `start`, the same goes on at the visitor's step
    start: int  # step, from 0
    usual: int  # the step that an address does not name
    steps: range  # those that the figure has frames of
    look: Look
    name: str  # of the scene, for a screen reader
    address: Mapping[str, str]  # the view's parameters, but for its step
    # Another one makes a message of its own, which Streamlit does not take for an old one.
    sent: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where the stepper is."""

    scene: str  # the figure that it shows
    order: int  # the one that it was drawn with
    step: int
    requested: int  # the step whose frames it lacks; -1 for none


NOWHERE = Place("", -1, 0, -1)  # before the first report


@dataclass(frozen=True, slots=True)
class Click:
    """A click on the figure since the last run."""

    x: int  # pixels of the figure
    y: int
    step: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A key since the last run that is for Python."""

    # "stage" holds the one that is shown, or lets go; "clock" its own; "hazard" goes to it; one of
    # LEVELS is held.
    name: str


@dataclass(frozen=True, slots=True)
class Reported:
    """What the stepper reports. Its numbers and texts may be any: a browser can send anything."""

    place: Place
    viewport: Look | None  # the space that the page leaves the figure
    click: Click | None
    choice: Choice | None


@functools.cache
def _smallest_chart() -> go.Figure:
    """A chart with no template to be sent."""
    return go.Figure({"data": [{"x": [0], "y": [0]}], "layout": {"template": "none"}})


def bring_plotly(key: str) -> None:
    """Bring Plotly's script to the page, which a player draws with, where no page runs it early.

    It comes with a chart that nobody sees.
    """
    if module(INDEX, PLOTLY):
        return
    with st.container(key=f"plotly {key}"):
        st.plotly_chart(_smallest_chart(), theme=None, key=f"plotly_script {key}", height=10)


def draw_stepper(shown: Shown, navigation: Mapping[str, Any], figure: bytes) -> None:
    """Draw the scene with its toolbar, and handle the keyboard.

    figure is the figure as JSON, navigation is scene.navigation's. As long as the arguments stay
    the same, Streamlit sends them once.
    """
    look = shown.look
    header = {
        "sent": shown.sent, "id": shown.scene, "order": shown.order, "start": shown.start,
        "usual": shown.usual, "first": shown.steps.start, "end": shown.steps.stop,
        "stops": dict(navigation), "name": shown.name, "address": dict(shown.address),
        "viewport": {"width": look.width, "height": look.height, "presenting": look.presenting},
    }  # fmt: skip
    component("stepper", "stepper.js", read_web("stepper.html"), ("stepper.css",))(
        key=KEY, data=json.dumps(header).encode() + b"\n" + figure,
        default={"at": None, "viewport": None}, on_at_change=lambda: None,
        on_viewport_change=lambda: None, on_clicked_change=lambda: None,
        on_chosen_change=lambda: None,
    )  # fmt: skip


def read_stepper() -> Reported:
    """What the stepper that the page drew last reports."""
    found = st.session_state.get(KEY) or {}
    return Reported(
        parse(Place, found.get("at")) or NOWHERE, parse_viewport(found.get("viewport")),
        parse(Click, found.get("clicked")), parse(Choice, found.get("chosen")),
    )  # fmt: skip


def send_frames(scene: str, steps: range, frames: bytes, sent: int) -> None:
    """Send the stepper the frames, as JSON, of some steps of a scene."""
    head = json.dumps({"sent": sent, "scene": scene, "first": steps.start, "end": steps.stop})
    data = head[:-1].encode() + b', "frames": ' + frames + b"}"
    component("pages", "pages.js", "")(key="frames", data=data)
