"""What "naive" says in a comparison: what the naive kernel's own text loads for the same cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from simulator import Recording, catalogue, record
from simulator.machine.observer import AccessKind
from tests.ui.scene_models import launched, run
from ui.analysis.loads import naive_loads
from ui.analysis.scene_model import build_scene_model

SHAPES = 200
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
    "number",
    [n if n < QUICK else pytest.param(n, marks=pytest.mark.deep) for n in range(SHAPES)],
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
