"""Where the blocks of a launch ran and when, as they were traced: places, waves, the tail.

A multiprocessor holds some blocks at once, each at a place of its own, and the next one comes as
soon as one of them has ended. So waves, which a plan counts, need not begin together.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu.trace.trace import Block
from simulator.language.ctype import Array


@dataclass(frozen=True, slots=True)
class Placed:
    """The blocks of a launch, B of them in the order of their numbers, and their places."""

    multiprocessor: Array  # int [B], its number
    start: Array  # int [B], nanoseconds since the first block began
    end: Array  # int [B], nanoseconds
    place: Array  # int [B], which place of its multiprocessor, from 0
    before: Array  # int [B], how many blocks had that place before it

    @property
    def resident(self) -> int:
        """The most blocks that a multiprocessor held at once."""
        return int(self.place.max()) + 1

    @property
    def length(self) -> int:
        """Nanoseconds from the first block's start to the last one's end."""
        return int(self.end.max())

    @property
    def tail(self) -> int:
        """Nanoseconds from which places stay empty: all blocks have begun, and the first ends."""
        return int(self.end[self.end >= self.start.max()].min())

    @property
    def median_life(self) -> float:
        """Nanoseconds that a block runs, the median."""
        return float(np.median(self.end - self.start))

    def running(self, begin: int, end: int) -> float:
        """How many blocks run, on average between two times in nanoseconds."""
        overlap = np.minimum(self.end, end) - np.maximum(self.start, begin)
        return float(np.maximum(overlap, 0).sum() / max(1, end - begin))

    def running_over_time(self, parts: int) -> tuple[Array, Array]:
        """Nanoseconds at the ends of so many equal parts, [parts + 1], and blocks in each [parts].

        The second is how many run, on average over a part.
        """
        edges = np.linspace(0, max(1, self.length), parts + 1)
        # Blocks that have begun by a time, and have ended: their time up to it, added up.
        spent = [_time_since(np.sort(times), edges) for times in (self.start, self.end)]
        return edges, np.diff(spent[0] - spent[1]) / np.diff(edges)


def place_blocks(blocks: Sequence[Block]) -> Placed:
    """Give each block the lowest place of its multiprocessor that is free when it begins."""
    multiprocessor, start, end = (
        np.array([getattr(block, name) for block in blocks], np.int64)
        for name in ("multiprocessor", "start", "end")
    )
    place, before = np.zeros(len(blocks), np.int64), np.zeros(len(blocks), np.int64)
    busy: dict[int, list[tuple[int, int]]] = {}  # by multiprocessor: a heap of ends and places
    free: dict[int, list[int]] = {}  # by multiprocessor: a heap of places
    had: dict[tuple[int, int], int] = {}
    for number in np.lexsort((end, start)):
        where, begins = int(multiprocessor[number]), int(start[number])
        running, open_places = busy.setdefault(where, []), free.setdefault(where, [])
        while running and running[0][0] <= begins:
            heapq.heappush(open_places, heapq.heappop(running)[1])
        chosen = heapq.heappop(open_places) if open_places else len(running)
        heapq.heappush(running, (int(end[number]), chosen))
        place[number] = chosen
        before[number] = had.get((where, chosen), 0)
        had[where, chosen] = int(before[number]) + 1
    return Placed(multiprocessor, start, end, place, before)


def _time_since(times: Array, edges: Array) -> Array:
    """For each edge the sum of what has passed since those of the sorted times before it."""
    sums = np.concatenate([[0], np.cumsum(times)])
    count = np.searchsorted(times, edges, side="right")
    found: Array = count * edges - sums[count]
    return found
