"""Places, waves and tails of traced launches, against blocks laid out by hand and counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpu.trace.trace import Block, Trace
from gpu.trace.waves import place_blocks
from tests.gpu.trace.traces import TRACES

# Two multiprocessors, 5 and 2. On 5 two blocks at once, of which the second's place is free first.
BLOCKS = (
    Block(0, 0, 5, 0, 100), Block(1, 0, 2, 0, 60), Block(2, 0, 5, 10, 40), Block(3, 0, 5, 40, 90),
    Block(4, 0, 2, 60, 130), Block(5, 0, 5, 95, 120),
)  # fmt: skip


def test_a_block_has_the_lowest_place_that_is_free() -> None:
    placed = place_blocks(BLOCKS)
    assert list(placed.place) == [0, 0, 1, 1, 0, 1]
    assert list(placed.before) == [0, 0, 0, 1, 1, 2]
    assert (placed.resident, placed.length, placed.tail) == (2, 130, 100)
    assert placed.running(0, 10) == 2
    assert placed.running(100, 130) == pytest.approx((30 + 20) / 30)


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.kernel)
def test_no_two_blocks_are_at_one_place_at_once(trace: Trace) -> None:
    placed = place_blocks(trace.blocks)
    by_place: dict[tuple[int, int], list[int]] = {}
    for number in np.argsort(placed.start, kind="stable"):
        key = int(placed.multiprocessor[number]), int(placed.place[number])
        by_place.setdefault(key, []).append(int(number))
    for numbers in by_place.values():
        assert list(placed.before[numbers]) == list(range(len(numbers)))
        assert all(
            placed.end[first] <= placed.start[second]
            for first, second in itertools.pairwise(numbers)
        )
    edges, running = placed.running_over_time(50)
    assert running @ np.diff(edges) == pytest.approx((placed.end - placed.start).sum())
    assert running[7] == pytest.approx(placed.running(round(edges[7]), round(edges[8])), rel=0.01)


def test_one_block_is_a_launch() -> None:
    placed = place_blocks([Block(0, 0, 9, 0, 7)])
    assert (placed.resident, placed.length, placed.tail, placed.median_life) == (1, 7, 7, 7.0)
