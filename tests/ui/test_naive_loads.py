"""The figure "Global loads: naive" against the naive kernel's own loads, at ragged sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Recording, Step, catalogue, compile_kernel, record
from tests.ui.scene_models import launched, run
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.scene_model import SceneModel, build_scene_model

ADDS = "acc"  # the kernels' statements that multiply are those that add to it
ONE_SUM = ("naive", "uncoalesced", "tiled", "tiled_double", "transposed", "padded", "swizzled")
ON_TENSOR_CORES = [name for name in catalogue() if name.startswith("tensor_")]
SHARED = [name for name, entry in catalogue().items() if entry.few]  # threads share a cell's sum
BY_THREADS = [name for name in catalogue() if name not in ON_TENSOR_CORES + SHARED]
SEEDS = 9
QUICK_SEEDS = 2  # the others are for the deep tests

Values = Mapping[str, Any]


def seeds(count: int, quick: int) -> list[Any]:
    """The numbers below `count`, all but the first few of them for the deep tests."""
    return [*range(quick), *(pytest.param(n, marks=pytest.mark.deep) for n in range(quick, count))]


def indices(step: Step, macros: Values) -> Values:
    """A thread's coordinates, its i and j, and the macros, each [T] or a number."""
    count = step.active.size
    return {**macros, **step.registers, "threadIdx": np.arange(count)}


# Row and column of the sum that a statement adds to, within the block's tile, as each text has it.
def place_in_warp_tiles(v: Values) -> tuple[Any, Any]:
    """Row and column of the sum of a thread of a warp's tile."""
    warp, lane = v["threadIdx"] // 32, v["threadIdx"] % 32
    return (
        warp // v["WARPS_ACROSS"] * 4 * v["ROWS"] + lane // 8 * 4 + v["i"] // 4 * 16 + v["i"] % 4,
        warp % v["WARPS_ACROSS"] * 8 * v["COLUMNS"] + lane % 8 * 4 + v["j"] // 4 * 32 + v["j"] % 4,
    )


PLACES: dict[str, Callable[[Values], tuple[Any, Any]]] = {
    "rows": lambda v: (v["ty"] * v["EACH"] + v["i"], v["tx"]),
    "registers": lambda v: (
        v["i"] * (v["TILE"] // v["EACH"]) + v["ty"],
        v["j"] * (v["TILE"] // v["EACH"]) + v["tx"],
    ),
    "vectors": lambda v: (
        v["i"] // 4 * 4 * (v["TILE"] // v["EACH"]) + v["ty"] * 4 + v["i"] % 4,
        v["j"] // 4 * 4 * (v["TILE"] // v["EACH"]) + v["tx"] * 4 + v["j"] % 4,
    ),
    "pipelined": lambda v: (
        v["i"] * (v["TILE"] // v["EACH"]) + v["ty"],
        v["j"] // 4 * 4 * (v["TILE"] // v["EACH"]) + v["tx"] * 4 + v["j"] % 4,
    ),
    "warptiles": place_in_warp_tiles,
    "anyshape": place_in_warp_tiles,
}  # fmt: skip


def multiplies(recording: Recording, step: Step) -> bool:
    """Whether a step is a statement `acc... += ... * ...`."""
    text = recording.kernel.text.splitlines()[step.line - 1].strip()
    return step.kind == "run" and text.startswith(ADDS) and "+=" in text


def drawn(name: str, seed: int) -> tuple[int, int, int, tuple[int, int, int], dict[str, int]]:
    """Random sizes, a block and macros, most of them such that the last tiles are not whole."""
    choose, entry = random.Random(f"{name} {seed}"), catalogue()[name]  # noqa: S311  # no secret
    offered = [dict(setting) for setting in entry.teaching]
    macros = choose.choice([*offered, {"TILE": 2}] if {"TILE"} == set(offered[0]) else offered)
    rows, columns = entry.produces(**macros)
    M, N = choose.randint(1, 2 * rows + 2), choose.randint(1, 2 * columns + 2)
    K = choose.randint(1, 3 * macros.get("DEPTH", macros.get("TILE", 3)) + 2)
    grid, _ = entry.shape(M, N, **macros)
    return M, N, K, (choose.randrange(grid[0]), choose.randrange(grid[1]), 0), macros


def ragged_model(name: str, seed: int, schedule: str) -> tuple[SceneModel, dict[str, int]]:
    M, N, K, block, macros = drawn(name, seed)
    recording = run(name, M, N, K, block, macros, schedule=schedule)
    return build_scene_model(recording, 0, catalogue()[name].tile(**macros)), macros


def recorded_naive_loads(recording: Recording, rows: int, columns: int) -> list[int]:
    """Elements that the naive kernel loads for the same cells of C: after none, one, two … k."""
    naive = catalogue()["naive"]
    arguments = {name: recording.arguments[name] for name in "ABCMNK"}
    arguments |= {name: np.asarray(arguments[name], np.float32) for name in "ABC"}
    launch = Launch(recording.launch.grid, (columns, rows, 1), arguments)
    its = record(compile_kernel(naive.source(), naive.kernel), launch, recording.block)
    loads = global_loads(build_scene_model(its, 0))
    return [0, *(loads[step.number] for step in its.steps if multiplies(its, step))]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ON_TENSOR_CORES + SHARED)
def test_nothing_is_said_of_products_that_are_a_warps(name: str) -> None:
    model, _ = ragged_model(name, 0, "lockstep")
    assert naive_loads(model) is None
    assert naive_loads(model, 0) is None


@pytest.mark.sample(15)
@pytest.mark.parametrize("seed", seeds(SEEDS, QUICK_SEEDS))
@pytest.mark.parametrize("name", BY_THREADS)
def test_each_k_counts_what_the_naive_kernel_loads_for_it(name: str, seed: int) -> None:
    model, macros = ragged_model(name, seed, "lockstep")
    recording = model.recording
    expected = recorded_naive_loads(recording, *catalogue()[name].produces(**macros))
    K = int(recording.arguments["K"])
    assert len(expected) == K + 1
    adding = [step for step in recording.steps if multiplies(recording, step)]
    each = len({(str(step.registers.get("i")), str(step.registers.get("j"))) for step in adding})
    each = 1 if name in ONE_SUM else each
    counted = naive_loads(model)
    ends = adding[each - 1 :: each]  # where all sums have taken up the products of one more k
    assert len(ends) >= K
    for k, step in enumerate(ends, 1):
        assert counted[step.number] == expected[min(k, K)]
    assert counted[-1] == expected[-1]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "schedule",
    ["ascending", *(pytest.param(s, marks=pytest.mark.deep) for s in ("lockstep", "descending"))],
)
@pytest.mark.parametrize("seed", seeds(SEEDS // 3, 1))
@pytest.mark.parametrize("name", BY_THREADS)
def test_each_step_counts_the_products_of_cells_within_c(
    name: str, seed: int, schedule: str
) -> None:
    model, macros = ragged_model(name, seed, schedule)
    recording, entry = model.recording, catalogue()[name]
    M, N, K = (int(recording.arguments[size]) for size in "MNK")
    rows, columns = entry.produces(**macros)
    done: dict[tuple[int, int], int] = {}
    expected = 0
    for step, counted in zip(recording.steps, naive_loads(model), strict=True):
        if multiplies(recording, step):
            values = indices(step, {**{m: v[0] for m, v in entry.defines.items()}, **macros})
            row, column = (
                (values["row"], values["col"]) if name in ONE_SUM else PLACES[name](values)
            )
            if name not in ONE_SUM:
                row = row + recording.block[1] * rows
                column = column + recording.block[0] * columns
            for cell in zip(row[step.active].tolist(), column[step.active].tolist(), strict=True):
                done[cell] = done.get(cell, 0) + 1
                expected += 2 * (cell[0] < M and cell[1] < N and done[cell] <= K)
        assert counted == expected


def test_padding_counts_for_nothing() -> None:
    """Sixteen k of 33 for four cells, in tiles of 2 x 2 of which the last holds zeros."""
    recording = run("tiled", 64, 4, 33, (0, 31, 0), {"TILE": 2})
    model = build_scene_model(recording, 0, (2, 2, 2))
    adding = [step for step in recording.steps if multiplies(recording, step)]
    step = adding[15]
    assert naive_loads(model)[step.number] == 2 * 4 * 16


def test_a_launch_of_the_naive_kernel_is_its_own_measure() -> None:
    kernel, launch = launched("naive", 13, 45, 7)
    model = build_scene_model(record(kernel, launch, (1, 1, 0)), 0)
    assert naive_loads(model) == global_loads(model)
    assert naive_loads(model)[-1] == 2 * 5 * 13 * 7
