"""What a recording holds: every snapshot as it was, in few bytes."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from simulator import Kernel, Launch, compile_kernel, record
from simulator.language.ctype import Array
from simulator.recording.snapshots import MOST_CHANGES, Memory

CELLS = 4096  # of the array that is stored to
ITERATIONS = 100
WARP = """
__global__ void running(const float* x, float* y, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i * 32 + threadIdx.x];
        y[threadIdx.x] = sum;
        __syncthreads();
    }
}
"""


def warp() -> tuple[Kernel, Launch]:
    """A loop of one warp with two accesses to global memory and a barrier."""
    arrays = {"x": np.arange(CELLS, dtype=np.float32), "y": np.zeros(CELLS, np.float32)}
    launch = Launch((1, 1, 1), (32, 1, 1), arrays | {"n": ITERATIONS})
    return compile_kernel(WARP, "running"), launch


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.bool_])
def test_snapshots_hold_what_the_array_held(dtype: type, share: float) -> None:
    """A share of the cells changes each time; NaN and -0 are numbers as others are."""
    draw, memory = np.random.default_rng(1), Memory()
    values = np.array([0.0, 1.0, 2.0, *([-0.0, np.nan] if dtype(0.5) else [])], dtype)
    held: Array = np.zeros((20, 30), dtype)
    wholes, found = [], []
    for _ in range(2 * MOST_CHANGES):
        held = np.where(draw.random(held.shape) < share, draw.choice(values, held.shape), held)
        memory.update("a", held)
        wholes.append(held.tobytes())
        found.append(memory.contents())
    for turn in draw.permutation(len(found)).tolist():
        assert found[turn]["a"].tobytes() == wholes[turn]
        assert found[turn]["a"].shape == held.shape


def test_steps_share_what_does_not_change() -> None:
    memory = Memory()
    memory.update("a", np.zeros(4))
    memory.mark("b", np.array([1]), (4,))
    before = memory.contents()
    memory.update("a", np.zeros(4))
    memory.mark("b", np.array([1]), (4,))
    assert memory.contents() is before
    memory.mark("b", np.array([2]), (4,))
    assert memory.contents() is not before
    assert [before["b"].tolist(), memory.contents()["b"].tolist()] == [
        [False, True, False, False], [False, True, True, False],
    ]  # fmt: skip


def test_a_step_of_one_warp_is_small() -> None:
    """However large the array is that it stores to; and the recording knows what it takes."""
    kernel, launch = warp()
    record(kernel, launch)  # what is made once is there then
    tracemalloc.start()
    try:
        recording = record(kernel, launch)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    taken -= sum(array.nbytes for array in recording.arguments.values())
    assert taken / len(recording.steps) < 1800
    assert 0.7 < recording.bytes / taken < 1.3


def test_the_sums_are_read_back() -> None:
    steps = record(*warp()).steps
    sums = np.cumsum(np.arange(ITERATIONS * 32, dtype=np.float32).reshape(-1, 32), axis=0)
    stores = [step for step in steps if any(one.name == "y" for one in step.accesses)]
    for step, expected in zip(stores, sums, strict=True):
        assert np.array_equal(step.outputs["y"][:32], expected)
        assert not step.outputs["y"][32:].any()
        assert np.flatnonzero(step.stored["y"]).tolist() == list(range(32))
