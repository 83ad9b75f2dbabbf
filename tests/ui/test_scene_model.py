"""What a recording tells beyond its steps, beside kernels small enough to say it by hand."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from simulator import Launch, Recording, catalogue, compile_kernel, record, simulate
from simulator.observers.hazards.findings import Hazard
from simulator.recording.recording import StepAccess
from tests.ui.scene_models import SIZES, recorded, run
from ui.analysis.scene_model import (
    SceneModel,
    build_scene_model,
    cells_of,
    focus_cell,
    follows_products,
    iteration,
    iteration_noun,
    loaded_tile,
    multiplied_tile,
    outer_iteration,
    shared_tiles,
    writer,
)
from ui.analysis.tile_of_product import find_tile

M, N, K = 6, 8, 10
HEAD = "__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {\n"
LOOPS = """    __shared__ float s[8];
    int i = threadIdx.x;
    float acc = A[40 + i] + C[i + 1];
    for (int z = 0; z < 2; ++z)
        A[20 + z] = z;
    for (int t = 0; t < 3; ++t) {
        for (int y = 0; y < 1; ++y)
            s[i] = A[i + 2 * t];
        s[4 + i] = 0;
        __syncthreads();
        for (int k = 0; k < t + 2; ++k)
            acc += s[k] * B[k * N];
        __syncthreads();
    }
    if (i > 0) C[2 * i] = acc;
}"""
ONE_LOOP = """    int i = threadIdx.x;
    float acc = B[70 + i];
    for (int k = 0; k < 3; ++k)
        acc += A[8 + k + i];
    reinterpret_cast<float4*>(C)[2 * i + 1] = make_float4(acc, acc, acc, acc);
}"""
WRITES = """    int i = threadIdx.x;
    C[i] = 1;
    C[3 - i] = 2;
    float v = C[i];
    reinterpret_cast<float4*>(C)[i + 1] = make_float4(v, v, v, v);
    if (i < 2) C[20] = v;
    C[21 + 60 * i] = 1;
    C[i + 19] = 3;
}"""
AHEAD = """    __shared__ float s[2][4];
    int i = threadIdx.x;
    float acc = 0;
    s[0][i] = A[i];
    for (int t = 0; t < 4; ++t) {
        float later = 0;
        if (t < 3)
            later = A[(t + 1) * 2 + i % 2];
        for (int k = 0; k < 2; ++k)
            if (t > 0)
                acc += s[0][k] * B[(t * 2 - 2 + k) * N];
        s[t % 2][i] = later;
        __syncthreads();
    }
    s[1][i] = acc;
}"""
TEXTS = {"ahead": AHEAD, "loops": LOOPS, "one loop": ONE_LOOP, "writes": WRITES}


@functools.cache
def recording(name: str) -> Recording:
    """Four threads of one block; A is 6 x 10, B 10 x 8 and C 6 x 8."""
    kernel = compile_kernel(HEAD + TEXTS[name], "k")
    return record(kernel, launch(), (0, 0, 0), "lockstep")


def launch() -> Launch:
    arguments = {
        "A": np.ones((M, K), np.float32), "B": np.ones((K, N), np.float32),
        "C": np.zeros((M, N), np.float32), "M": M, "N": N, "K": K,
    }  # fmt: skip
    return Launch((1, 1, 1), (4, 1, 1), arguments)


def scene_model(name: str, thread: int = 0) -> SceneModel:
    return build_scene_model(recorded(2) if name == "tiled" else recording(name), thread)


def access(name: str, line: int, number: int = 0) -> StepAccess:
    """An access of the first step of a line."""
    return next(s for s in recording(name).steps if s.line == line and s.accesses).accesses[number]


@pytest.mark.parametrize(
    ("name", "outer", "inner", "iterations"),
    [
        ("loops", 7, 12, 3),
        ("one loop", 4, None, 3),
        ("writes", None, None, 1),
        ("tiled", 18, 25, 2),
    ],
)
def test_the_loops_are_those_that_most_steps_are_in(
    name: str, outer: int | None, inner: int | None, iterations: int
) -> None:
    found = scene_model(name)
    assert (found.outer.span.line if found.outer else None) == outer
    assert (found.inner.span.line if found.inner else None) == inner
    assert found.iterations == iterations


# Kernel, then for each phase the lines that have steps of it: of a loop its test and advance too.
PHASES = {
    "loops": {
        "other": {3, 5, 7, 8, 10, 16},
        "store": {6, 16},
        "load": {4, 9},
        "barrier": {11, 14},
        "compute": {12, 13},
    },
    "one loop": {"other": {2, 4}, "compute": {3, 5}, "store": {6}},
    "writes": {"other": {2, 7}, "store": {3, 4, 6, 7, 8, 9}, "compute": {5}},
    "tiled": {
        "other": {12, 13, 14, 15, 16, 18, 19, 20, 30},
        "load": {21, 22},
        "barrier": {23, 27},
        "compute": {25, 26},
        "store": {31},
    },
}


@pytest.mark.parametrize("name", PHASES)
def test_each_steps_phase(name: str) -> None:
    found: dict[str, set[int]] = {}
    model = scene_model(name)
    for step, phase in zip(model.recording.steps, model.phases, strict=True):
        found.setdefault(phase, set()).add(step.line)
    assert found == PHASES[name]


def test_the_shapes_are_those_of_the_product() -> None:
    assert scene_model("loops").shapes == {"A": (M, K), "B": (K, N), "C": (M, N)}


def test_a_cells_tile_is_the_outer_iteration_that_first_reads_it() -> None:
    tiles = scene_model("loops").tiles
    assert tiles.keys() == {"A", "B"}
    expected = np.full(M * K, -1)
    expected[:8] = [0, 0, 0, 0, 1, 1, 2, 2]
    assert tiles["A"].tolist() == expected.tolist()
    expected = np.full(K * N, -1)
    expected[[0, N, 2 * N, 3 * N]] = [0, 0, 1, 2]
    assert tiles["B"].tolist() == expected.tolist()


def test_without_an_inner_loop_all_cells_of_the_loop_are_one_tile() -> None:
    tiles = scene_model("one loop").tiles
    assert np.flatnonzero(tiles["A"] == 0).tolist() == list(range(8, 14))
    assert np.flatnonzero(tiles["A"] != -1).tolist() == list(range(8, 14))
    assert (tiles["B"] == -1).all(), "read before the loop"


def test_the_tiles_of_a_block_are_its_rows_and_columns() -> None:
    tiles = scene_model("tiled").tiles  # block (1, 1) of a product of 4 x 4 with tiles of 2 x 2
    rows = [[-1, -1, -1, -1], [-1, -1, -1, -1], [0, 0, 1, 1], [0, 0, 1, 1]]
    assert tiles["A"].reshape(4, 4).tolist() == rows
    assert tiles["B"].reshape(4, 4).T.tolist() == rows


def test_a_steps_iteration_and_of_how_many() -> None:
    model = scene_model("loops")
    outer = [outer_iteration(model, step) for step in model.recording.steps if step.line == 13]
    inner = [
        iteration(model, step, model.inner) for step in model.recording.steps if step.line == 13
    ]
    assert outer == [0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert inner == [(k, of) for of in (2, 3, 4) for k in range(of)]
    rest = [step for step in model.recording.steps if step.line in (2, 4, 6, 16)]
    assert {outer_iteration(model, step) for step in rest} == {None}
    assert {iteration(model, step, model.inner) for step in rest} == {None}
    assert iteration(model, model.recording.steps[0], None) is None


def test_tiles_along_k_of_a_kernel_that_loads_ahead() -> None:
    recording_ = recording("ahead")
    model = build_scene_model(recording_, 0, (1, 4, 2))
    plain = build_scene_model(recording_, 0)
    assert model.tile_count == 5
    assert plain.tile_count == plain.iterations == 4
    by_line: dict[int, list[tuple[int | None, int | None]]] = {}
    for step in recording_.steps:
        found = multiplied_tile(model, step), loaded_tile(model, step)
        by_line.setdefault(step.line, []).append(found)
        assert multiplied_tile(plain, step) == outer_iteration(plain, step)
        assert loaded_tile(plain, step) is None
    assert by_line[5] == [(None, 0)]  # before the loop
    assert by_line[9] == [(None, 1), (0, 2), (1, 3)]  # the first iteration multiplies nothing
    assert by_line[12] == [(t, t) for t in (0, 0, 1, 1, 2, 2)]  # which B's tile is, too
    assert by_line[13] == [(None, None), (0, None), (1, None), (2, None)]
    assert by_line[16] == [(None, None)]
    first = next(step.number for step in recording_.steps if step.line == 12)
    follows = [follows_products(model, step) for step in recording_.steps]
    assert follows == [number >= first for number in range(len(follows))]
    assert not any(follows_products(plain, step) for step in recording_.steps)


def test_a_register_carries_a_tile_into_shared_memory() -> None:
    model = build_scene_model(recording("ahead"), 0, (1, 4, 2))
    found = shared_tiles(model)
    after = {
        line: [found[s.number]["s"].tolist() for s in model.recording.steps if s.line == line]
        for line in (3, 5, 13, 16)
    }
    none, by_iteration = [-1] * 4, [3] * 4  # the last iteration loads nothing
    assert after[3] == [none + none]
    assert after[5] == [[0, 0, 1, 1, *none]]
    assert after[13] == [
        [1] * 4 + none,
        [1] * 4 + [2] * 4,
        [3] * 4 + [2] * 4,
        [3] * 4 + by_iteration,
    ]
    assert after[16] == [[3] * 4 + none], "a sum is of no tile"
    assert model.tiles["A"][:10].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, -1, -1]
    assert model.tiles["B"].reshape(K, N)[:, 0].tolist() == [0, 0, 1, 1, 2, 2, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("name", "thread", "cell"),
    [
        ("loops", 0, None),
        ("loops", 1, (0, 2)),
        ("loops", 3, (0, 6)),
        ("one loop", 0, (0, 4)),
        ("one loop", 2, (2, 4)),
        ("writes", 3, (0, 3)),
        ("tiled", 0, (2, 2)),
        ("tiled", 1, (2, 3)),
        ("tiled", 2, (3, 2)),
    ],
)
def test_the_focused_cell_is_the_first_of_c_that_the_thread_stores(
    name: str, thread: int, cell: tuple[int, int] | None
) -> None:
    assert focus_cell(scene_model(name, thread)) == cell


@pytest.mark.parametrize(
    ("name", "line", "number", "thread", "cells"),
    [
        ("loops", 4, 0, None, [40, 41, 42, 43]),
        ("loops", 4, 1, None, [1, 2, 3, 4]),
        ("loops", 4, 1, 2, [3]),
        ("loops", 6, 0, None, [20]),  # one cell of all threads
        ("loops", 16, 0, None, [2, 4, 6]),  # thread 0 is not active
        ("loops", 16, 0, 0, []),
        ("one loop", 6, 0, 1, [12, 13, 14, 15]),
        ("one loop", 6, 0, None, [c for i in range(4) for c in range(8 * i + 4, 8 * i + 8)]),
        ("writes", 8, 0, None, []),  # threads 1 to 3 are outside C
        ("writes", 8, 1, None, [21]),
    ],
)
def test_the_cells_of_an_access(
    name: str, line: int, number: int, thread: int | None, cells: list[int]
) -> None:
    assert cells_of(access(name, line, number), thread).tolist() == cells


# Array, cell, step (line 3 is step 1, line 4 step 2, line 7 steps 5 and 6, line 8 step 7).
@pytest.mark.parametrize(
    ("array", "cell", "step", "thread"),
    [
        ("C", 0, None, 3),
        ("C", 0, 1, 0),
        ("C", 0, 2, 3),
        ("C", 3, 1, 3),
        ("C", 3, None, 0),
        ("C", 0, 0, 0),  # nobody yet: the first to write it
        ("C", 7, None, 0),  # a vector's last component
        ("C", 8, None, 1),
        ("C", 18, 4, 3),
        ("C", 20, 6, 1),  # two threads of one store: the last
        ("C", 20, 5, 1),
        ("C", 21, 7, 0),
        ("C", 21, None, 2),
        ("C", 22, None, 3),
        ("C", 23, None, None),
        ("C", 47, None, None),
        ("C", 81, None, None),  # outside, so dropped
        ("A", 0, None, None),
    ],
)
def test_who_wrote_a_cell(array: str, cell: int, step: int | None, thread: int | None) -> None:
    assert writer(recording("writes"), array, cell, step) == thread


def test_a_reader_is_no_writer() -> None:
    assert writer(recording("loops"), "A", 40) is None
    assert writer(recording("loops"), "s", 6) == 2
    assert writer(recording("loops"), "C", 6) == 3


def test_what_is_given_is_kept() -> None:
    hazards: tuple[Hazard, ...] = simulate(compile_kernel(HEAD + WRITES, "k"), launch()).hazards
    assert hazards
    model = build_scene_model(recording("writes"), 2, (4, 5, 6), hazards)
    assert (model.recording, model.thread, model.tile) == (recording("writes"), 2, (4, 5, 6))
    assert model.hazards == hazards
    assert len(model.unordered) == len(model.positions) == len(model.recording.steps)


def test_iterations_that_multiply_tiles_are_called_so() -> None:
    naive = build_scene_model(recorded(0), 0)
    assert [iteration_noun(one) for one in (naive, scene_model("tiled"))] == ["iteration", "tile"]


@pytest.mark.parametrize(
    ("name", "M", "N", "K", "block", "defines"),
    [*SIZES[2:14], ("tiled", 5, 11, 6, (2, 1), {"TILE": 4})],
)
def test_a_tile_is_found_from_what_a_block_loads_and_stores(name, M, N, K, block, defines) -> None:
    recording = run(name, M, N, K, (*block, 0), defines)
    found = build_scene_model(recording, 0)
    assert found.product is not None
    iterations = [outer_iteration(found, step) for step in recording.steps]
    rows, columns, depth = catalogue()[name].tile(**defines)
    expected = rows, columns, min(depth, K)
    assert find_tile(recording, found.product, iterations) == expected
