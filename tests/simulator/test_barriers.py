"""Who waits at a barrier of a recorded block."""

from __future__ import annotations

from simulator import record
from simulator.language.tree import Barrier
from simulator.recording.barriers import waiting_threads
from tests.simulator.launches import matmul


def test_a_warp_waits_while_the_other_runs():
    recording = record(*matmul("tiled", 8, 8, 8, TILE=8), schedule="ascending")
    waits = [int(threads.sum()) for threads in waiting_threads(recording)]
    barriers = [step.number for step in recording.steps if isinstance(step.statement, Barrier)]
    assert len(barriers) == 4
    for first, second in (barriers[:2], barriers[2:]):
        assert waits[first - 1] == 0
        assert set(waits[first:second]) == {32}
        assert waits[second : second + 2] == [64, 0]


def test_nobody_waits_any_more_when_the_next_barrier_follows_at_once():
    twice = "__syncthreads_or(__syncthreads_and(t < K));"
    kernel, launch = matmul("tiled", 8, 8, 8, (("__syncthreads();", twice),), TILE=8)
    recording = record(kernel, launch, schedule="ascending")
    waits = [int(threads.sum()) for threads in waiting_threads(recording)]
    barriers = [step.number for step in recording.steps if isinstance(step.statement, Barrier)]
    assert [waits[number] for number in barriers] == [32, 64] * 4
    assert barriers[1] - barriers[0] > 1
    assert barriers[1:4] == list(range(barriers[1], barriers[1] + 3))
