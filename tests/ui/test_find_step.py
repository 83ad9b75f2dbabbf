"""Steps that are looked for: a line's next execution, a cell's reader, the same place elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import Step
from simulator.machine.observer import AccessKind
from simulator.machine.schedule import Schedule
from tests.ui.lecture.lectures import record_view
from ui.analysis.find_step import corresponding_step, next_access, next_execution
from ui.view.view_url import View

SMALL = View(M=4, N=4, K=4, defines=(("TILE", 2),))
TWO_WARPS = View(M=16, N=16, K=16, defines=(("TILE", 8),))


def iterations(step: Step) -> list[int]:
    return [loop.iteration for loop in step.loops]


def test_a_line_runs_next_where_it_runs_next_and_then_from_its_first() -> None:
    steps = record_view(SMALL).steps
    runs = [step.number for step in steps if step.line == 26]  # acc += As[ty][k] * Bs[k][tx]
    assert len(runs) == 4
    visited, at = [], 0
    for _ in range(5):
        found = next_execution(record_view(SMALL), 26, at)
        assert found is not None
        visited.append(at := found)
    assert visited == [*runs, runs[0]]
    assert next_execution(record_view(SMALL), 9, 0) is None, "a brace"


def test_steps_of_a_line_that_follow_one_another_are_one_execution() -> None:
    recording = record_view(SMALL)
    test, advance = (
        next(step for step in recording.steps if step.line == 25 and step.kind == kind)
        for kind in ("test", "advance")
    )
    assert test.number < advance.number
    assert next_execution(recording, 25, test.number) == advance.number


def test_a_cell_is_read_next_by_a_thread_that_reads_it() -> None:
    recording = record_view(SMALL)
    for name in "AB":
        for cell in range(16):
            found = next_access(recording, name, cell, 0, True)
            if found is None:
                continue
            step, thread = found
            read = next(
                access for access in recording.steps[step].accesses
                if (access.name, access.kind) == (name, AccessKind.LOAD)
            )  # fmt: skip
            assert read.active[thread]
            assert read.offsets[thread] == 4 * cell
            assert next_access(recording, name, cell, step, True) == found, (
                "the block reads it once"
            )
    block_reads = [cell for cell in range(16) if next_access(recording, "A", cell, 0, True)]
    assert block_reads == list(range(8)), "block (0, 0) reads the first two rows of A"


@pytest.mark.parametrize(
    "change",
    [
        {"edits": ("pad",)},
        {"edits": ("double",)},
        {"inputs": "counting"},
        {"edits": ("first-barrier",)},
        {"edits": ("second-barrier",)},
        {"schedule": Schedule.ASCENDING},
        {"schedule": Schedule.ASCENDING, "edits": ("first-barrier",)},
    ],
)
def test_a_what_if_keeps_the_place(change: dict[str, object]) -> None:
    before, after = record_view(TWO_WARPS), record_view(replace(TWO_WARPS, **change))  # type: ignore[arg-type]
    there = {(step.line, *iterations(step)) for step in after.steps}
    compared = 0
    for step in before.steps:
        found = after.steps[corresponding_step(before, step.number, after)]
        if (step.line, *iterations(step)) in there:
            assert (found.line, iterations(found)) == (step.line, iterations(step))
            compared += 1
        else:
            assert step.kind == "barrier", "what was removed"
    assert compared > len(before.steps) - 3


def test_a_removed_line_is_at_the_step_before_it() -> None:
    before = record_view(TWO_WARPS)
    after = record_view(replace(TWO_WARPS, edits=("first-barrier",)))
    barrier = next(step.number for step in before.steps if step.kind == "barrier")
    found = after.steps[corresponding_step(before, barrier, after)]
    assert found.line == before.steps[barrier - 1].line


def test_the_same_recording_has_every_step_at_its_place() -> None:
    recording = record_view(replace(TWO_WARPS, schedule=Schedule.ASCENDING))
    numbers = [corresponding_step(recording, n, recording) for n in range(len(recording.steps))]
    assert numbers == list(range(len(recording.steps)))
