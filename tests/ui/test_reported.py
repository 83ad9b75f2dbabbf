"""What a browser reports through a component may be anything; a page leaves out what it is not."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser.app import running_app
from tests.protocol_client import run, visitor
from ui.lessons import component
from ui.own import editor
from ui.web_page.reported import row, whole_number

ANYTHING = (
    True, False, 0, -7, 10**40, 1.5, math.nan, math.inf, "", "x", "\ud800", [], {}, [1], ["x"],
    [None], [True], [10**40], [math.inf], {"0": 1}, [[1], [2]], [1, 2], [1, 2, 3], [1, 1, 10**40],
    [1, 1, -math.inf], [math.nan] * 3, ["x"] * 3, [1, 2, None], [1, 2, {"a": 1}], ["x", 1, 1, 1.5],
)  # fmt: skip


@pytest.mark.parametrize("value", [None, *ANYTHING])
def test_what_is_no_row_is_none(value: object) -> None:
    assert row(value, int, int, int) == (value if value == [1, 2, 3] else None)
    assert row(value, str, int, int, int) is None


def test_a_row_has_its_kinds() -> None:
    assert row([-9, 10**9, 2**53], int, int, int) == [-9, 10**9, 2**53]
    assert row(["scene", 1, 2, -1], str, int, int, int) == ["scene", 1, 2, -1]
    assert row([1.0], int) is row([True], int) is row([1], str) is None


def test_a_whole_number_is_within_its_end() -> None:
    found = [whole_number(value, 5) for value in (-1, 0, 4, 5, 10**40, 2.0, True, "2", None)]
    assert found == [None, 0, 4, None, None, None, None, None, None]


@pytest.mark.parametrize("value", [None, *ANYTHING])
def test_a_component_leaves_out_what_it_cannot_have_reported(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reported(**_: object) -> Any:
        return SimpleNamespace(text=value, asked=None, get=lambda _: value)

    monkeypatch.setattr(editor, "_register_component", lambda: reported)
    monkeypatch.setattr(component, "_register_components", lambda: [reported] * 4)
    document = editor.Document(1, "", "")
    assert editor.draw_editor(document, None, (), lambda: None) is None
    opened = 0 if value == 0 and type(value) is int else None
    assert component.draw_stops("", 2, "stops") == component.play_scene(b"", "scene") == opened
    picked = component.draw_picker(component.Kind.LINE, ["a", "b"], None, 1, None, [], "pick")
    assert all(type(one) is int and one in (0, 1) for one in picked)


# Of the stepper; what it shows is the header's id in place of ID, and its order in place of ORDER.
REPORTS = [
    *({"at": value} for value in (1, "x", {"1": 1}, [1], ["ID", "ORDER"])),
    {"at": ["ID", "ORDER", "x", -1]}, {"at": ["ID", "ORDER", math.inf, math.nan]},
    {"at": ["ID", "ORDER", -5, -5]}, {"at": ["ID", "ORDER", 2**53, 2**53]},
    *({"clicked": value} for value in (7, [1], ["x"] * 3, [math.nan] * 3, [2**53, -7, 2**53])),
    *({"chosen": value} for value in (7, ["hazard"], ["stage", {}], ["sheet", "x"], ["x", "y"])),
    *({"room": value} for value in (7, [1, 2], {"width": math.nan, "height": "x"})),
]  # fmt: skip


async def report_all(address: str) -> str:
    """Report all of it in one visit; the address in the end."""
    async with visitor(address) as one:
        await one.rerun()
        for values in REPORTS:
            header = one.header("scene")
            meant = {"ID": header["id"], "ORDER": header["order"]}
            await one.report("scene", **{
                name: [meant.get(str(part), part) for part in value]
                if isinstance(value, list) else value
                for name, value in values.items()
            })  # fmt: skip
            await one.rerun()
        await one.choose("kernel", "no such kernel")
        return one.query


def test_the_step_page_goes_on_whatever_its_stepper_reports() -> None:
    with running_app() as address:
        assert run(report_all(address)) == "step=53"  # the last, for one beyond it
