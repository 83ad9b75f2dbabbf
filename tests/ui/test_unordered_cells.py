"""The scene shows a race where the rule says that there is one, as the hazards do."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import catalogue, record, simulate
from simulator.observers.hazards.hazard_kind import RACES
from tests.simulator.launches import launch_text
from tests.ui.scene_models import EACH, WARP_TILE, launched, recorded, run, scene_model
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.scene_model import build_scene_model
from ui.analysis.unordered_cells import find_racing_cells, find_unordered_cells

# Statements on `__shared__ int s[64]`, which 64 threads have set to 0 before a barrier, and the
# cells that race; i is the thread.
TABLE = {
    "two atomics of one cell": ("atomicAdd(&s[0], 1); atomicAdd(&s[0], 2);", set()),
    "a plain sum of all threads": ("s[0] += 1;", {0}),
    "atomics of two warps": ("atomicAdd(&s[i % 32], 1);", set()),
    "an atomic, then a read": ("atomicAdd(&s[0], 1); if (i == 40) x[0] = s[0];", {0}),
    "a read, then an atomic": ("if (i == 40) x[0] = s[0]; atomicAdd(&s[0], 1);", {0}),
    "an atomic, then a store": ("atomicAdd(&s[0], 1); if (i == 40) s[0] = 3;", {0}),
    "a thread's own atomic and read": ("atomicAdd(&s[i], 1); x[i] = s[i];", set()),
    "a store of all lanes to one cell": ("s[5] = i;", {5}),
    "a store of two warps to one cell": ("if (i % 32 == 0) s[5] = i;", {5}),
    "two reads of one cell": ("x[i] = s[7] + s[7];", set()),
    "reads of a warp, then a store of it": ("if (i < 32) x[i] = s[7]; if (i == 3) s[7] = 1;", {7}),
    "the same with __syncwarp() between": (
        "if (i < 32) x[i] = s[7]; __syncwarp(); if (i == 3) s[7] = 1;", set()),
    "with __syncwarp() between warps": ("x[i] = s[7]; __syncwarp(); if (i == 3) s[7] = 1;", {7}),
    "a warp's store after another's": (
        "if (i == 3) s[7] = 1; __syncwarp(); if (i == 4) s[7] = 2; if (i == 40) x[0] = s[7];", {7}),
    "halves of a warp, each by its mask": (
        "s[i] = i; __syncwarp(i % 32 < 16 ? 0xffff : 0xffff0000); x[i] = s[i ^ 15];", set()),
    "across the halves": (
        "if (i == 3) s[7] = i; __syncwarp(i % 32 < 16 ? 0xffff : 0xffff0000);"
        " if (i == 20) x[i] = s[7]; if (i == 4) x[i] = s[7];", {7}),
    "lanes that did not call": (
        "if (i == 3) s[7] = i; if (i < 16) __syncwarp(0xffff); if (i == 20) x[i] = s[7];", {7}),
    "a half that has met before the other calls": (
        "if (i < 16) { __syncwarp(0xffff); if (i == 3) s[7] = i; }"
        " if (i >= 16) __syncwarp(0xffff0000); if (i == 4) x[i] = s[7];", {7}),
    "two branches that meet": (
        "if (i % 2) { s[i] = i; __syncwarp(); x[i] = s[i - 1]; }"
        " else { s[i] = i; __syncwarp(); x[i] = s[i + 1]; }", set()),
    "two branches that meet too early": (
        "if (i % 2) { __syncwarp(); if (i == 5) s[4] = i; }"
        " else { __syncwarp(); if (i == 6) x[i] = s[4]; }", {4}),
    "reads of several lanes, then a part of them waits": (
        "x[i] = s[7]; if (i < 16) { __syncwarp(0xffff); if (i == 3) s[7] = 1; }", {7}),
    "a read that begins a try of atomicCAS": (
        "int old = s[0], then; do { then = old; old = atomicCAS(&s[0], then, then + i); }"
        " while (then != old);", set()),
    "a read that is stored after it": (
        "int old = s[0], then; x[i] = old; do { then = old; old = atomicCAS(&s[0], then, then + i);"
        " } while (then != old);", {0}),
    "with a barrier between": ("x[i] = s[7]; __syncthreads(); if (i == 3) s[7] = 1;", set()),
}  # fmt: skip


@pytest.mark.parametrize("schedule", ["lockstep", "ascending", "descending"])
@pytest.mark.parametrize("case", TABLE)
@pytest.mark.sample(10)
def test_the_scene_has_the_races_that_the_hazards_have(case: str, schedule: str) -> None:
    statements, expected = TABLE[case]
    kernel, launch = launch_text(
        "__global__ void k(int* x) { __shared__ int s[64]; int i = threadIdx.x;"
        f" s[i] = 0; __syncthreads(); {statements} }}",
        block=64,
        x=np.zeros(64, np.int32),
    )
    found = find_unordered_cells(record(kernel, launch, schedule=schedule))
    shown = [cells["s"].tolist() for cells in found if cells]
    assert {cell for cells in shown for cell in cells} == expected
    races = [h for h in simulate(kernel, launch).hazards if h.kind in RACES and h.array == "s"]
    assert {h.example.cell for h in races} == {(cell,) for cell in expected}


@pytest.mark.parametrize("schedule", ["lockstep", "ascending", "descending"])
@pytest.mark.parametrize("case", TABLE)
@pytest.mark.sample(10)
def test_global_cells_are_as_shared_ones(case: str, schedule: str) -> None:
    statements, expected = TABLE[case]
    kernel, launch = launch_text(
        "__global__ void k(int* x, int* s) { int i = threadIdx.x;"
        f" s[i] = 0; __syncthreads(); {statements} }}",
        block=64,
        x=np.zeros(64, np.int32),
        s=np.zeros(64, np.int32),
    )
    hazards = simulate(kernel, launch).hazards
    found = find_racing_cells(record(kernel, launch, schedule=schedule), hazards)
    shown = [cells["s"].tolist() for cells in found if cells]
    assert {cell for cells in shown for cell in cells} == expected


# Statements of 2 blocks of 64 threads on global arrays; the cells of p that are marked in block 0.
GLOBAL = {
    "a sum of two blocks": ("if (i == 0) p[7] += 1;", {7}),
    "a sum by atomics": ("if (i == 0) atomicAdd(&p[7], 1);", set()),
    "a cell that is written before another block reads it": (
        "if (i == 0 && b == 0) p[3] = 1; if (i == 0 && b == 1) x[0] = p[3];", {3}),
    "a flag that orders": (
        "volatile int* flag = x; if (i == 0 && b == 0) { p[3] = 1; __threadfence(); flag[0] = 1; }"
        " if (i == 0 && b == 1) { while (flag[0] == 0) ; __threadfence(); x[1] = p[3]; }", set()),
    "a flag between the warps of a block": (
        "volatile int* flag = x; if (i == 0 && b == 0) { p[3] = 1; __threadfence(); flag[0] = 1; }"
        " if (i == 40 && b == 0) { while (flag[0] == 0) ; __threadfence(); x[1] = p[3]; }", set()),
    "no flag between the warps of a block": (
        "if (i == 0) p[3 + 64 * b] = 1; if (i == 40) x[b] = p[3 + 64 * b];", {3}),
}  # fmt: skip


@pytest.mark.parametrize("case", GLOBAL)
def test_a_global_cell_is_marked_if_its_line_has_a_race(case: str) -> None:
    statements, expected = GLOBAL[case]
    kernel, launch = launch_text(
        "__global__ void k(int* x, int* p) { int i = threadIdx.x, b = blockIdx.x;"
        f" {statements} }}",
        grid=2,
        block=64,
        x=np.zeros(64, np.int32),
        p=np.zeros(128, np.int32),
    )
    found = find_racing_cells(record(kernel, launch), simulate(kernel, launch).hazards)
    assert {cell for step in found for cell in step.get("p", np.zeros(0)).tolist()} == expected


@pytest.mark.parametrize(
    ("statement", "cells"), [("atomicAdd(&s[0], 1.0f);", []), ("s[0] += 1.0f;", [0])]
)
def test_the_scene_marks_a_cell_that_all_threads_add_to_unless_by_atomics(
    statement: str, cells: list[int]
) -> None:
    kernel, launch = launch_text(
        "__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {\n"
        "__shared__ float s[2];\n"
        "if (threadIdx.x == 0) s[0] = 0;\n"
        "__syncthreads();\n"
        f"{statement}\n"
        "__syncthreads();\n"
        "if (threadIdx.x == 0) C[0] = s[0]; }",
        block=64,
        **{name: np.zeros((1, 1), np.float32) for name in "ABC"},
        **dict.fromkeys("MNK", 1),
    )
    model = build_scene_model(record(kernel, launch), 0)
    shown = {cell for arrays in model.unordered for cell in arrays.get("s", np.zeros(0)).tolist()}
    assert sorted(shown) == cells


# The catalogue's kernels, whole and without a barrier

BARRIER = "__syncthreads();"


def without(name: str, which: int, **defines: int) -> str:
    pieces = catalogue()[name].source(**defines).split(BARRIER)
    return BARRIER.join(pieces[:which]) + BARRIER.join(["", *pieces[which:]])[len(BARRIER) :]


@EACH
def test_a_correct_kernel_has_no_step_in_disorder(number):
    assert not any(find_unordered_cells(recorded(number)))
    assert not any(steps_with_hazards(scene_model(number)))


@pytest.mark.sample(4)
@pytest.mark.parametrize("tile", [4, 8])
@pytest.mark.parametrize("name", ["tiled", "transposed", "padded", "swizzled"])
@pytest.mark.parametrize("barrier", [1, 2])
def test_a_missing_barrier_shows_where_the_referee_sees_its_race(name, tile, barrier):
    text = without(name, barrier, TILE=tile)
    assert text.count(BARRIER) == 1
    kernel, launch = launched(name, 16, 16, 16, {"TILE": tile}, text)
    found = find_unordered_cells(record(kernel, launch))
    steps = record(kernel, launch).steps
    lines = {step.line for step, wrong in zip(steps, found, strict=True) if wrong}
    report = simulate(kernel, launch)
    later = {line for hazard in report.hazards for line in hazard.lines}
    assert lines
    assert lines <= later
    wrong = next(one for one in found if one)
    arrays = {hazard.array for hazard in report.hazards}
    assert set(wrong) <= arrays
    model = build_scene_model(record(kernel, launch), 0)
    assert sum(steps_with_hazards(model)) == sum(map(bool, found))


@pytest.mark.sample(4)
@pytest.mark.parametrize("schedule", ["ascending", "descending"])
@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("tiled", {"TILE": 8}),
        ("swizzled", {"TILE": 16}),
        ("pipelined", {"TILE": 16, "DEPTH": 4, "EACH": 4}),
        ("warptiles", WARP_TILE | {"WARPS_DOWN": 2}),
    ],
)
def test_no_order_of_warps_brings_a_correct_kernel_into_disorder(name, defines, schedule):
    assert not any(find_unordered_cells(run(name, 32, 32, 8, defines=defines, schedule=schedule)))


def test_stale_and_unset_cells_are_found_where_one_warp_runs_ahead():
    text = without("tiled", 1, TILE=8)
    recording = run("tiled", 8, 8, 16, defines={"TILE": 8}, text=text, schedule="ascending")
    found = find_unordered_cells(recording)
    line = next(i for i, one in enumerate(text.split("\n"), 1) if "acc +=" in one)
    ahead = [
        (step, wrong)
        for step, wrong in zip(recording.steps, found, strict=True)
        if step.line == line and step.active[0]
    ]
    for k, (_, wrong) in enumerate(ahead[:8]):  # rows 4 to 7 are the other warp's to load
        assert {8 * 4 + 8 * i + k for i in range(4)}.isdisjoint(wrong["As"].tolist())
        assert ({8 * k + i for i in range(8)} <= set(wrong["Bs"].tolist())) or k < 4
    unset = [
        sum(int((~step.written[name].reshape(-1)[cells]).sum()) for name, cells in wrong.items())
        for step, wrong in ahead
    ]
    assert (unset[4], unset[12]) == (8, 0)


def test_a_cell_read_before_it_is_written_is_found():
    text = catalogue()["tiled"].source(TILE=4).replace("As[ty][k]", "As[ty][k + 1 & 3]")
    text = text.replace("As[ty][tx] =", "if (tx) As[ty][tx] =")
    recording = run("tiled", 4, 4, 4, defines={"TILE": 4}, text=text)
    found = [wrong for wrong in find_unordered_cells(recording) if wrong]
    assert [{n: c.tolist() for n, c in wrong.items()} for wrong in found] == [{"As": [0, 4, 8, 12]}]
