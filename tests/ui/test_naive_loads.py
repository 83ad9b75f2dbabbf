"""The figure "Global loads: naive" against the naive kernel's own loads, at ragged sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from simulator import Recording, Step, catalogue, record
from simulator.machine.observer import AccessKind
from tests.ui.scene_models import launched, run
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.scene_model import SceneModel, build_scene_model

ADDS = "acc"  # the kernels' statements that multiply are those that add to it
ONE_SUM = ("naive", "uncoalesced", "tiled", "tiled_double", "transposed", "padded", "swizzled")
ON_TENSOR_CORES = [name for name in catalogue() if name.startswith("tensor_")]
SHARED = [name for name, entry in catalogue().items() if entry.few]  # threads share a cell's sum
BY_THREADS = [name for name in catalogue() if name not in ON_TENSOR_CORES + SHARED]
SEEDS = 3

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
}


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


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ON_TENSOR_CORES + SHARED)
def test_nothing_is_said_of_products_that_are_a_warps(name: str) -> None:
    model, _ = ragged_model(name, 0, "lockstep")
    assert naive_loads(model) is None
    assert naive_loads(model, 0) is None


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "schedule",
    ["ascending", *(pytest.param(s, marks=pytest.mark.deep) for s in ("lockstep", "descending"))],
)
@pytest.mark.parametrize("seed", seeds(SEEDS, 1))
@pytest.mark.parametrize("name", BY_THREADS)
def test_each_step_counts_the_products_of_cells_within_c(
    name: str, seed: int, schedule: str
) -> None:
    model, macros = ragged_model(name, seed, schedule)
    recording, entry = model.recording, catalogue()[name]
    M, N, K = (int(recording.arguments[size]) for size in "MNK")
    rows, columns = entry.produces(**macros)
    done: dict[tuple[int, int], int] = {}
    expected = np.zeros(recording.launch.threads, np.int64)
    one = expected.size * seed // SEEDS
    for step, counted, own in zip(
        recording.steps, naive_loads(model), naive_loads(model, one), strict=True
    ):
        if multiplies(recording, step):
            values = indices(step, {**{m: v[0] for m, v in entry.defines.items()}, **macros})
            row, column = (
                (values["row"], values["col"]) if name in ONE_SUM else PLACES[name](values)
            )
            if name not in ONE_SUM:
                row = row + recording.block[1] * rows
                column = column + recording.block[0] * columns
            for thread in np.flatnonzero(step.active):
                cell = int(row[thread]), int(column[thread])
                done[cell] = done.get(cell, 0) + 1
                expected[thread] += 2 * (cell[0] < M and cell[1] < N and done[cell] <= K)
        assert (counted, own) == (expected.sum(), expected[one])


def test_a_launch_of_the_naive_kernel_is_its_own_measure() -> None:
    kernel, launch = launched("naive", 13, 45, 7)
    model = build_scene_model(record(kernel, launch, (1, 1, 0)), 0)
    assert naive_loads(model) == global_loads(model)
    assert naive_loads(model)[-1] == 2 * 5 * 13 * 7


# Beside what the naive kernel's own text loads for the same cells ------------------------------

SHAPES = 102  # three of each setting
QUICK = 20  # of them, in every run of the tests
LARGEST = 24
SETTINGS = [
    (entry.name, defines)
    for entry in catalogue().values()
    for defines in entry.settings()
    if entry.name != "naive" and not entry.name.startswith("tensor_")  # a warp's, no thread's
    if not entry.few  # threads share a cell's sum
    if entry.produces(**defines)[0] <= 32
]


def stores(recording: Recording) -> Iterator[tuple[int, int]]:
    """The cells of C that a block stores, each with its thread."""
    for step in recording.steps:
        for access in step.accesses:
            if access.name == "C" and access.kind is AccessKind.STORE:
                for cell, thread in zip(*access.touched_cells(), strict=True):
                    yield int(cell), int(thread)


def naive_loads_of_cells(M: int, N: int, K: int) -> dict[int, int]:
    """Of each cell of C, the elements that the naive kernel's thread loads for it."""
    kernel, launch = launched("naive", M, N, K)
    loads: dict[int, int] = {}
    for x, y in np.ndindex(launch.grid[:2]):
        recording = record(kernel, launch, (x, y, 0))
        count = np.zeros(launch.threads, np.int64)
        for step in recording.steps:
            for access in step.accesses:
                if access.name in ("A", "B"):
                    np.add.at(count, access.touched_cells()[1], 1)
        loads |= {cell: int(count[thread]) for cell, thread in stores(recording)}
    assert sorted(loads) == list(range(M * N))
    return loads


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "number", [n if n < QUICK else pytest.param(n, marks=pytest.mark.deep) for n in range(SHAPES)]
)
def test_naive_loads_are_those_of_the_naive_kernel_on_the_same_cells(number: int) -> None:
    random = np.random.default_rng(number)
    name, defines = SETTINGS[number % len(SETTINGS)]
    M, N, K = (int(size) for size in random.integers(1, LARGEST + 1, 3))
    entry = catalogue()[name]
    grid, _ = entry.shape(M, N, **defines)
    block = (int(random.integers(grid[0])), int(random.integers(grid[1])), 0)
    recording = run(name, M, N, K, block, defines)
    model = build_scene_model(recording, 0, entry.tile(**defines))
    loads, writers = naive_loads_of_cells(M, N, K), dict(stores(recording))
    assert naive_loads(model)[-1] == sum(loads[cell] for cell in writers)
    if name == "anyshape" and N % 4:  # its sums are stored by other threads of the warp
        threads = range(recording.launch.threads)
        assert naive_loads(model)[-1] == sum(naive_loads(model, thread)[-1] for thread in threads)
        return
    thread = int(random.choice(sorted(set(writers.values()))))
    own = [cell for cell, writer in writers.items() if writer == thread]
    assert naive_loads(model, thread)[-1] == sum(loads[cell] for cell in own)
