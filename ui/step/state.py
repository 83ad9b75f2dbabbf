"""What the Step page remembers of a visitor from one script run to the next.

Streamlit ends a run that another one replaces, and repeats nothing of it. The run ends where it
next draws an element or uses the session state; until then it goes on beside its successor. So one
object holds all of this. A replaced run ends at step_state(); what a run sets right after it, as in
one method, is set as a whole. Callbacks of controls are ended in the same way: they are methods
of this object or of the mailbox, which use neither elements nor the session state.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ui.drawing.look import Look
from ui.run.compute import first_beat, recording_key
from ui.run.mailbox import Requested
from ui.view.presets import Preset, presets
from ui.view.view_url import DEFAULT, ComparedScene, View, to_query
from ui.web_page.browser import browser_theme, known_viewport
from ui.web_page.popover import is_popover

KEY = "step_page"  # of the session state
KERNEL = "kernel"  # the control that chooses the kernel
RECENT_SECONDS = 10.0  # how long a browser may still request the address before the current URL


@dataclass(frozen=True, slots=True)
class Drawn:
    """Which figure the browser was last given; the same step numbers keep it the same."""

    scene: str
    order: int
    start: int
    steps: range
    since: float  # time.monotonic() when it was drawn first


@dataclass(slots=True)
class StepState:
    """The view, of which the controls and the scene are drawn, and what belongs to it.

    A view that the controls did not choose, as a preset's, gives each a new key: what the browser
    still sends of the old ones, as when a key closes a popover before the new ones are there,
    cannot be taken for a choice.
    """

    view: View = DEFAULT
    applied: Requested | None = None  # what the mailbox held when it was last looked into
    notices: tuple[str, ...] = ()  # what the address requested and the page could not show
    preset: Preset | None = None  # its sentence is above the scene
    controls: int = 0  # grows with each view that the controls did not choose: a part of their keys
    begins: bool = False  # whether the view is to begin at its first beat, once it has run
    order: int = 0  # grows where the stepper is to begin at the view's step
    address: dict[str, str] | None = None  # the view's; None before the first
    recent_addresses: list[tuple[dict[str, str], float]] = field(default_factory=list)
    # The what-ifs that the browser says have changed: what each was drawn with, and its words.
    what_ifs: dict[str, tuple[object, str]] = field(default_factory=dict)
    new_explanation: str | None = None  # of an edit that was just switched on; "" of another change
    explanation: tuple[View | None, str] = None, ""  # the same, with its recording's key
    stopped: View | None = None  # the figure_key of the run that the visitor has stopped
    entered: dict[str, Any] = field(default_factory=dict)  # entered(), when the page was drawn
    shows_machine_code: bool = False  # below the scene
    viewport: Look | None = None  # measured by the stepper
    drawn: Drawn | None = None
    sent: int = 0  # see stepper.Shown

    def show(self, requested: Requested, view: View) -> None:
        """Set every control to a requested view, and the stepper to its step."""
        self.view, self.notices = view, requested.notices
        self.preset = next((one for one in presets() if one.view == view), self.preset)
        if requested.displayed is not None:  # its sentence is asked for
            self.preset = None
        self.controls += 1
        self.order += 1
        self.begins = requested.begins
        self.applied = requested

    def begin(self, view: View, navigation: Mapping[str, Any]) -> View:
        """The view that has run: at its first beat, if it is to begin there."""
        if self.begins:
            self.view = view = replace(view, step=first_beat(navigation))
            self.begins = False
        return view

    def store(self, view: View) -> dict[str, str]:
        """Store the view; return its address."""
        address = to_query(view)
        if self.address is not None and self.address != address:
            self.recent_addresses.append((self.address, time.monotonic()))
        self.view, self.address = view, address
        return address

    def has_recent_address(self, query: dict[str, str]) -> bool:
        """Whether a query is the current view's, or a recent view's that a slow browser sends."""
        now = time.monotonic()
        self.recent_addresses = [
            (address, since)
            for address, since in self.recent_addresses
            if now - since < RECENT_SECONDS
        ]
        return query == self.address or any(query == one for one, _ in self.recent_addresses)

    def stop(self, key: View | None) -> None:
        """Remember which view's run the visitor has stopped: its figure_key."""
        self.stopped = key

    def explain(self, view: View) -> str:
        """What the edit does that was switched on last; "" where another recording is shown."""
        if self.new_explanation is not None:
            self.explanation = recording_key(view), self.new_explanation
            self.new_explanation = None
        explained, explanation = self.explanation
        return explanation if explained == recording_key(view) else ""

    def shown_preset(self, view: View) -> Preset | None:
        """The preset that was opened, by its button or its address, while its steps are shown."""
        if self.preset is not None and steps_key(self.preset.view) != steps_key(view):
            self.preset = None
        return self.preset

    def look(self, view: View) -> Look:
        """How to draw a view: in the browser's theme, for the viewport available to the scene.

        Until the stepper has measured the viewport, it is the last visit's, or estimated.
        """
        viewport = self.viewport or known_viewport()
        return replace(viewport, theme=browser_theme(), stage=view.stage)


def step_state() -> StepState:
    """The session's state of the Step page; a run that another has replaced ends here."""
    if KEY not in st.session_state:
        st.session_state[KEY] = StepState()
    return st.session_state[KEY]  # type: ignore[no-any-return]  # a StepState, as above


def control_key(name: str) -> str:
    """The key of a control, which holds until the view is set by something else."""
    return f"{name}:{step_state().controls}"


def entered() -> dict[str, Any]:
    """What the controls are set to, by their keys, and which popovers are open."""
    controls = control_key("")
    values = {str(key): value for key, value in st.session_state.items()}
    return {
        key: value for key, value in values.items() if key.endswith(controls) or is_popover(key)
    }


def steps_key(view: View) -> tuple[View, ComparedScene | None]:
    """What the steps of a view's scene depend on, but for the focused thread's cell of C."""
    return recording_key(view), view.comparison
