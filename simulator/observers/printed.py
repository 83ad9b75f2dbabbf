"""What the threads of a launch print, in the order of blocks and threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Call
from simulator.launch import Dim3, Launch, unravel
from simulator.machine.group import Group
from simulator.machine.observer import Observer

MAX_LINES = 1_000  # the first, in the order of blocks, threads and time


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line that a thread prints, by one call of printf or several."""

    block: Dim3  # x, y, z in the grid
    thread: Dim3  # x, y, z in its block
    text: str  # without the line's end


class Printed(Observer):
    """Keeps what is printed first; `lines` gives it."""

    def __init__(self) -> None:
        # Of each call by a thread: the thread over the grid, the number of the call, its text.
        self._calls: list[tuple[int, int, str]] = []
        self._time = 0
        self._bound: int | None = None  # only threads before it can still print one of the first
        self._count = 0  # calls by a thread, those that are not kept among them

    def on_print(self, group: Group, call: Call, lanes: Array, text: Callable[[int], str]) -> None:
        """Keep what lanes print, unless earlier threads have printed enough."""
        self._count += lanes.size
        self._time += 1
        blocks = np.repeat(group.blocks.astype(np.int64), group.threads.size)
        threads = (
            blocks[lanes] * group.launch.threads + np.tile(group.threads, group.block_count)[lanes]
        )
        order = np.argsort(threads, kind="stable")[:MAX_LINES]
        for thread, lane in zip(threads[order].tolist(), lanes[order].tolist(), strict=True):
            if self._bound is not None and thread >= self._bound:
                break
            self._calls.append((thread, self._time, text(lane)))
        if len(self._calls) >= 2 * MAX_LINES:
            self._calls = sorted(self._calls)[:MAX_LINES]
            self._bound = self._calls[-1][0]

    @property
    def more(self) -> int:
        """How many calls by a thread are not kept."""
        return self._count - min(len(self._calls), MAX_LINES)

    def lines(self, launch: Launch) -> tuple[PrintedLine, ...]:
        """The first MAX_LINES lines."""
        found: list[PrintedLine] = []
        for thread, calls in groupby(sorted(self._calls)[:MAX_LINES], key=lambda call: call[0]):
            text = "".join(part for _, _, part in calls)
            block, within = divmod(thread, launch.threads)
            place = unravel(block, launch.grid), unravel(within, launch.block)
            found += [PrintedLine(*place, line) for line in text.removesuffix("\n").split("\n")]
        return tuple(found[:MAX_LINES])
