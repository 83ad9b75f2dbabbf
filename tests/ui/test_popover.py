"""What popovers hold is drawn while they are open, and nothing that is entered there is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from tests.protocol_client import run, visitor
from tests.ui.apps import app_at, visited
from ui.step.state import KEY
from ui.web_page.popover import close_popovers

FEW = 12  # messages; a run of the page takes more
ROOT = Path(__file__).resolve().parents[2]


def test_a_closed_popover_has_no_controls_and_keeps_its_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui.web_page.popover.CLOSING_SECONDS", 0.0)
    app = visited(app_at("step"), {"M": "16"})
    assert not app.number_input
    app.session_state[settings(app)] = True
    app.run()
    assert size(app).value == 16
    size(app).set_value(20).run()
    assert app.session_state[KEY].view.M == 20
    app.session_state[settings(app)] = False
    app.run()
    assert not app.number_input
    assert app.session_state[KEY].view.M == 20


def test_a_control_that_changes_as_its_popover_closes_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui.web_page.popover.CLOSING_SECONDS", 60.0)
    app = app_at("step").run()
    app.session_state[settings(app)] = True
    app.run()
    app.session_state[settings(app)] = False
    app.run()
    size(app).set_value(20).run()
    assert app.session_state[KEY].view.M == 20


def test_a_what_if_closes_its_list_though_a_report_ends_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = app_at("step").run()
    opened = f"popover what_if:{app.session_state['closed']}"
    app.session_state[opened] = True
    app.run()
    closes: list[bool] = []

    def end_once() -> None:
        closes.append(True)
        if len(closes) == 1:
            st.rerun()  # as a report ends a run
        close_popovers()

    monkeypatch.setattr("ui.step.controls.close_popovers", end_once)
    [pad] = [box for box in app.checkbox if box.label == "Pad the tile of B"]
    pad.check().run()
    assert len(closes) == 2
    assert app.session_state[KEY].view.edits == ("pad",)
    assert opened not in app.session_state  # another one is drawn in its place, which is closed


def settings(app: AppTest) -> str:
    """The key of the popover that has the sizes."""
    return f"popover more:{app.session_state['closed']}"


def size(app: AppTest) -> Any:
    [found] = [field for field in app.number_input if field.label == "M"]
    return found


async def click_with_a_step(address: str) -> None:
    """Open a popover, then switch an edit on, each in one message with a step of the scene."""
    async with visitor(address, "M=16") as one:
        await one.rerun()
        what_if = one.find("popover what_if").id
        one.states[what_if] = WidgetState(id=what_if, bool_value=True)
        await one.report_step(5)
        box = one.find("edit_tiled_pad")
        one.states[box.id] = WidgetState(id=box.id, bool_value=True)
        await one.report_step(7)
        assert parse_qs(one.query)["edits"] == ["pad"]
        answer = await one.report_step(9)
        assert answer.messages < FEW, "a step alone runs the scene's fragment alone"


@pytest.mark.deep
def test_what_is_clicked_in_one_instant_with_a_step_is_heard(address: str) -> None:
    run(click_with_a_step(address))
