"""What a faulty run should have read: against the run without the fault, and against NumPy."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.machine.schedule import Schedule
from tests.ui.lecture.lectures import Lecture, of_code, record_view
from ui.analysis.right_values import Fate, RightValues
from ui.analysis.scene_model import build_scene_model
from ui.analysis.wrong_access import Fault, WrongAccess, find_wrong_access
from ui.drawing.look import Look
from ui.lecture.ledger import LedgerPanel
from ui.lecture.sentences.sentence import SentencePanel
from ui.view.view_url import View, from_query
from ui.view.what_if import without_faults


def view_of(edits: str, schedule: str = "ascending", **query: Any) -> View:
    sizes = {"M": 16, "N": 16, "K": 16, "TILE": 8} | query
    texts = {name: str(value) for name, value in sizes.items()}
    view, notices = from_query({"edits": edits, "schedule": schedule, **texts})
    assert not notices
    return view


@functools.cache
def compared(view: View) -> RightValues:
    return RightValues(
        record_view(view), record_view(replace(view, edits=without_faults(view.edits)))
    )


@functools.cache
def wrong_accesses(view: View) -> list[tuple[int, int, WrongAccess]]:
    """Step, thread and wrong access, of every thread."""
    recording, right = record_view(view), compared(view)
    return [
        (step.number, thread, found)
        for step in recording.steps
        for thread in range(recording.launch.threads)
        if (found := find_wrong_access(recording, right, step, thread)) is not None
    ]


def wrong_reads(view: View) -> list[tuple[int, int, WrongAccess]]:
    """Those that read a cell of shared memory whose value is wrong."""
    return [
        found for found in wrong_accesses(view)
        if found[2].fault in (Fault.VALUE, Fault.UNSET) and found[2].is_load
        and not found[2].is_harmless
    ]  # fmt: skip


CASES = [
    ("first-barrier", "ascending", {}, {Fate.COMING}),
    ("first-barrier", "descending", {}, {Fate.COMING}),
    ("second-barrier", "ascending", {}, {Fate.LOST}),
    ("zero-fill", "lockstep", {"M": 13, "N": 9, "K": 18}, {Fate.NEVER}),
    ("bounds", "lockstep", {"M": 13, "N": 9, "K": 18}, {Fate.OTHER}),
]


@pytest.mark.parametrize(("edits", "schedule", "query", "fates"), CASES)
def test_a_wrong_read_has_both_runs_values_and_says_why(
    edits: str, schedule: str, query: dict[str, int], fates: set[Fate]
) -> None:
    view = view_of(edits, schedule, **query)
    recording, found = record_view(view), wrong_reads(view)
    assert found
    assert {wrong.fate for _, _, wrong in found if wrong.writer is not None} == fates
    for number, thread, wrong in found[:: max(1, len(found) // 40)]:
        step = recording.steps[number]
        loads = [
            access for access in step.accesses
            if access.kind is AccessKind.LOAD and access.name == wrong.access.name
            and access.offsets[thread] == wrong.cell * access.element_bytes
        ]  # fmt: skip
        assert any(float(access.values[thread]) == wrong.value for access in loads)
        assert wrong.value != wrong.right
        stores = [
            other.number
            for other in recording.steps
            for access in other.accesses
            if access.kind is AccessKind.STORE and access.name == wrong.access.name
            and wrong.writer in access.touched_cells()[1][access.touched_cells()[0] == wrong.cell]
        ]  # fmt: skip
        if wrong.fate is Fate.COMING:
            assert max(stores) > number
        elif wrong.fate in (Fate.LOST, Fate.OTHER):
            assert min(stores) < number


@pytest.mark.parametrize(("edits", "schedule", "query", "fates"), CASES[:-1])
def test_the_wrong_cells_of_c_are_those_that_numpy_has_otherwise(
    edits: str, schedule: str, query: dict[str, int], fates: set[Fate]
) -> None:
    view = view_of(edits, schedule, **query)
    recording, right = record_view(view), compared(view)
    A, B = (np.asarray(recording.arguments[name], np.float64) for name in "AB")
    product = (A.reshape(view.M, view.K) @ B.reshape(view.K, view.N)).reshape(-1)
    last = recording.steps[-1]
    found = right.wrong_cells(last, "C", MemorySpace.GLOBAL)
    assert found is not None
    stored = last.stored["C"].reshape(-1)
    expected = stored & (last.outputs["C"].reshape(-1) != product)
    assert np.array_equal(~np.isnan(found), expected)
    assert np.array_equal(found[expected], product[expected])


@pytest.mark.parametrize("edits", ["first-barrier", "second-barrier"])
def test_where_no_order_shows_the_race_nothing_is_wrong(edits: str) -> None:
    view = view_of(edits, "lockstep")
    assert not wrong_reads(view)
    last = record_view(view).steps[-1]
    assert compared(view).wrong_cells(last, "C", MemorySpace.GLOBAL) is None


@pytest.mark.parametrize("sign", [">", "<="])
def test_a_sum_that_has_a_value_in_one_run_alone_is_not_compared(sign: str) -> None:
    code = f"""__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {{
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = A[i];
    __syncthreads();
    float sum;
    if (s[63 - i] {sign} 0) sum = 1;
    C[i] = 1;
}}"""
    faulty, right = (
        of_code(text, 64, 0, Schedule.ASCENDING).recording
        for text in (code.replace("__syncthreads();", ""), code)
    )
    values = RightValues(faulty, right)
    pairs = [(step, values.step(step)) for step in faulty.steps]
    assert any(one and ("sum" in step.registers) != ("sum" in one.registers) for step, one in pairs)
    assert not any(values.right_sums(step, "sum") is not None for step in faulty.steps)


def lecture_of(view: View, thread: int) -> Lecture:
    right = record_view(replace(view, edits=without_faults(view.edits)))
    look = Look(width=1280, height=720, presenting=True)
    model = build_scene_model(record_view(view), thread, (8, 8, 8), right=right)
    return Lecture(model, look)


def test_the_sentence_says_what_is_read_and_what_belongs_there() -> None:
    view = view_of("first-barrier")
    number, thread, wrong = next(
        found for found in wrong_reads(view) if found[2].fault is Fault.VALUE
    )
    lecture = lecture_of(view, thread)
    step = lecture.steps[number]
    said = " ".join(lecture.panel(SentencePanel).changing(step)[0]["text"])
    x, y = wrong.writer % 8, wrong.writer // 8  # type: ignore[operator]  # some thread
    assert f"⚠ reads {wrong.value:g}, from tile 1; {wrong.right:g} belongs there" in said
    assert f"which thread ({x}, {y}) has not written yet." in said


def test_the_ledger_follows_the_wrong_value_into_the_sum_and_into_c() -> None:
    view = view_of("first-barrier")
    number, thread, _ = wrong_reads(view)[0]
    lecture = lecture_of(view, thread)
    assert "wrong" not in entries(lecture, number - 1)
    right = compared(view).step(lecture.steps[number])
    assert right is not None
    assert f"this thread's acc should be {right.registers['acc'][thread]:g}" in entries(
        lecture, number
    )
    assert "of C are wrong" in entries(lecture, len(lecture.steps) - 1)


def entries(lecture: Lecture, number: int) -> str:
    return " ".join(lecture.panel(LedgerPanel).changing(lecture.steps[number])[0]["text"])
