"""What a browser reports through a component may be anything; a page leaves out what it is not."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import pytest

from tests.protocol_client import run, visitor
from ui.lessons import component
from ui.scene.stepper import Choice, Click, Place
from ui.user_kernel import editor
from ui.web_page.reported import parse, whole_number

ANYTHING = (
    True, False, 0, -7, 10**40, 1.5, math.nan, math.inf, "", "x", "\ud800", [], {}, [1], ["x"],
    [None], [True], [10**40], [math.inf], {"0": 1}, [[1], [2]], [1, 2, 3], {"x": 1, "y": 2},
    *({"x": 1, "y": 2, "step": value} for value in (None, "3", True, 3.0, math.nan, 10**40, [3])),
    {"x": 1, "y": 2, "step": 3, "more": 4}, {"number": 1, "version": 2, "text": 3},
)  # fmt: skip


@pytest.mark.parametrize("value", [None, *ANYTHING])
def test_what_has_not_a_kinds_fields_is_none(value: object) -> None:
    assert parse(Click, value) is parse(Place, value) is parse(Choice, value) is None


def test_a_kind_has_its_fields() -> None:
    assert parse(Click, {"step": 2**53, "x": -9, "y": 10**9}) == Click(-9, 10**9, 2**53)
    place = Place("scene", 1, 2, -1)
    assert parse(Place, dataclasses.asdict(place)) == place


def test_a_whole_number_is_within_its_end() -> None:
    found = [whole_number(value, 5) for value in (-1, 0, 4, 5, 10**40, 2.0, True, "2", None)]
    assert found == [None, 0, 4, None, None, None, None, None, None]


@pytest.mark.parametrize("value", [None, *ANYTHING])
def test_a_component_leaves_out_what_it_cannot_have_reported(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reported(**_: object) -> Any:
        return SimpleNamespace(text=value, asked=None, get=lambda _: value)

    for module in (editor, component):
        monkeypatch.setattr(module, "component", lambda *_, **__: reported)
    document = editor.Document(1, "", "")
    assert editor.draw_editor(document, None, (), lambda: None) is None
    opened = 0 if value == 0 and type(value) is int else None
    assert component.draw_stops("", 2, "stops") == component.play_scene(b"", "scene") == opened
    picked = component.draw_picker(component.Kind.LINE, ["a", "b"], None, [], "pick")
    assert all(type(one) is int and one in (0, 1) for one in picked)


# Of the stepper.
CLICKS = (7, [1], {"x": 1}, *({"x": x, "y": -7, "step": 2**53} for x in ("x", math.nan, 2**53)))
REPORTS = [
    *({"at": value} for value in (1, "x", {"1": 1}, [1])),
    *({"clicked": value} for value in CLICKS),
    *({"chosen": value} for value in (7, {}, {"name": 7}, {"name": "x"}, {"name": "hazard"})),
    *({"viewport": value} for value in (7, [1, 2], {"width": math.nan, "height": "x"})),
]
# Of a step of the scene that it shows, and of one that it lacks.
STEPS: list[tuple[Any, Any]] = [("x", -1), (math.inf, math.nan), (-5, -5), (2**53, 2**53)]


async def report_all(address: str) -> str:
    """Report all of it in one visit; the address in the end."""
    async with visitor(address) as one:
        await one.rerun()
        for step, requested in STEPS:
            await one.report_step(step, requested)
            await one.rerun()
        for values in REPORTS:
            await one.report("scene", **values)
            await one.rerun()
        await one.choose("kernel", "no such kernel")
        return one.query


def test_the_step_page_goes_on_whatever_its_stepper_reports(address: str) -> None:
    assert run(report_all(address)) == "step=53"  # the last, for one beyond it
