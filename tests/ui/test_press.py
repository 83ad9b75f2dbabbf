"""A click is heard whatever else the browser reports in the same moment, or just after it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.protocol_client import Visitor, run, visitor
from ui.lessons.judge import right_answer
from ui.lessons.lesson import Kind
from ui.lessons.parse import lessons
from ui.lessons.quantities import find
from ui.lessons.visit import Visit
from ui.user_kernel.draft import BLANK
from ui.view.user_kernel_link import PARAMETER

SEED = 1
FIRST = next(iter(lessons().values()))
KEPT = [part.name for part in FIRST.questions[:2]]  # answered in an earlier session of the tab
ASKED = next(
    part
    for part in FIRST.questions[2:]
    if all(question.kind is Kind.NUMBER for question in part.variants)
)


def state(one: Visitor, key: str, **values: Any) -> WidgetState:
    """What a browser tells of an element: its plain value, or a component's as JSON."""
    element = one.find(key)
    if "json_value" in values:
        values["json_value"] = json.dumps(values["json_value"])
    return WidgetState(id=element.id, **values)


async def click(one: Visitor, key: str, report: WidgetState, is_later: bool) -> None:
    """Click a button while something is reported too.

    Both come in one message, or the report once the click's run has begun, which it ends.
    """
    trigger = state(one, key, trigger_value=True)
    if is_later:
        await one.begin(trigger)
    one.states[report.id] = report
    await one.rerun(trigger=None if is_later else trigger)
    await one.rerun()


async def answered(address: str, is_later: bool) -> list[str]:
    """The questions that count as answered, once one is while the tab's memory comes."""
    question = Visit(seed=SEED).variant(ASKED)
    assert question.kind is Kind.NUMBER
    numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
    right = right_answer(question, numbers)
    assert isinstance(right, int)
    async with visitor(address, f"lesson={FIRST.name}&numbers={SEED}", "learn") as one:
        await one.rerun()
        field = state(one, f"number {ASKED.name} 0 False", double_value=right)
        one.states[field.id] = field
        kept = json.dumps({"questions": KEPT})
        report = state(one, "memory", json_value={"remembered": kept})
        await click(one, f"answer {ASKED.name} 0", report, is_later)
        found: list[str] = json.loads(one.find("memory").json)["marks"]["questions"]
        return found


async def checked(address: str, button: str, is_later: bool) -> dict[str, list[str]]:
    """The address, once a button is clicked while the editor tells of a new text."""
    async with visitor(address, page="write") as one:
        await one.rerun()
        document = json.loads(one.find("editor").json)["document"]["number"]
        text = {"number": document, "version": 1, "text": BLANK}
        report = state(one, "editor", json_value={"text": text})
        await click(one, button, report, is_later)
        return parse_qs(one.query)


@pytest.mark.parametrize("is_later", [False, True])
def test_an_answer_is_heard(address: str, is_later: bool) -> None:
    assert run(answered(address, is_later)) == sorted([*KEPT, ASKED.name])


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("button", ["write_check", "write_step"])
@pytest.mark.sample(4)
def test_a_click_right_after_typing_is_heard(address: str, button: str, is_later: bool) -> None:
    assert PARAMETER in run(checked(address, button, is_later))
