"""Which lanes of a warp have waited for each other, and when: what orders their accesses."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from simulator.language.ctype import Array

MAX_MASKS = 64  # different masks that are remembered; beyond it the oldest orders nothing


class WarpSyncs:
    """The calls of __syncwarp() that a group has made, numbered from 1.

    An access is between the calls `count` and `count` + 1. A call orders the accesses of two lanes
    if it is between these, and both lanes call with masks that name each other.
    """

    def __init__(self) -> None:
        self.count = 0  # calls so far
        self._full: list[int] = []  # calls of all lanes, if there are partial ones
        # Of each mask of a partial call: uint32 [lanes], a bit for each lane that a lane waits
        # for, 0 for a lane that does not call; and the numbers of the calls.
        self._partial: dict[bytes, tuple[Array, list[int]]] = {}

    @property
    def are_full(self) -> bool:
        """Whether every call was of all lanes of the warp: which lanes are asked of is the same."""
        return not self._partial

    def add(self, peers: Array | None) -> None:
        """Note a call: of each lane the lanes that it waits for (uint32 [lanes]); None for all."""
        self.count += 1
        if peers is None:
            if self._partial:
                self._full.append(self.count)
            return
        if not self._partial and self.count > 1:
            self._full = list(range(1, self.count))
        key = peers.tobytes()
        if key not in self._partial and len(self._partial) >= MAX_MASKS:
            del self._partial[next(iter(self._partial))]
        _, numbers = self._partial.setdefault(key, (peers, []))
        numbers.append(self.count)

    def order(self, first: Any, second: Any, lanes: Array, others: Array) -> Any:
        """Whether a call is between two accesses: bool, or bool [n] for n pairs of them.

        first and second are the counts at the accesses, in any order; lanes int [n] are lanes of
        the group, and others int [n] lanes, 0 to 31, of the same warps.
        """
        if self.are_full:
            return first != second
        low, high = np.minimum(first, second), np.maximum(first, second)
        ordered = _any_between(self._full, low, high)
        for peers, numbers in self._partial.values():
            named = (peers[lanes] >> others.astype(np.uint32)) & np.uint32(1) != 0
            ordered = ordered | (named & _any_between(numbers, low, high))
        return ordered


def _any_between(numbers: list[int], low: Any, high: Any) -> Any:
    """Whether any of some ascending numbers is above low and not above high."""
    if np.ndim(low) == 0 and np.ndim(high) == 0:
        return bisect_right(numbers, int(low)) < bisect_right(numbers, int(high))
    return np.searchsorted(numbers, low, "right") < np.searchsorted(numbers, high, "right")
