"""Who touched which cell, and when: the memory beside a memory that races are found in."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.buffers import Buffer
from simulator.machine.observer import Access

NOBODY = -1
MANY = -2
CELL_BYTES = 30  # that a Shadow takes for every cell of a global array
MAX_READS = 200_000  # reads kept between two barriers; far more than a tile's loop makes
Moment = tuple[int, ...]


class Shadow:
    """For every cell of a buffer: its last writer (a thread of the grid), when, and from where.

    interval is the writer's barrier interval, NOBODY where the cell was never written; line and
    clock are the writing line and how many accesses its warp had made by then. blocks holds the
    one block that has read a global cell, or MANY. reads are the loads since the last barrier,
    each kept once, since a write that follows may race with them. copied tells the cells, `copies`
    in number, that an asynchronous copy not yet waited for writes.
    """

    __slots__ = (
        "atomic", "blocks", "clock", "copied", "copies", "event", "interval", "line", "reads",
        "syncs", "writer", "wrote",
    )  # fmt: skip

    def __init__(self, buffer: Buffer) -> None:
        cells = buffer.cells.size
        self.interval = np.full(cells, NOBODY, np.int32)
        if buffer.space is MemorySpace.LOCAL:
            cells = 0  # nobody else can touch it: all that matters is whether it was written
        self.writer = np.full(cells, NOBODY, np.int32)
        self.line = np.zeros(cells, np.int32)
        self.clock = np.zeros(cells, np.int32)
        self.event = np.zeros(cells, np.int32)
        self.syncs = np.zeros(cells, np.int32)
        self.atomic = np.zeros(cells, np.bool_)
        self.blocks = (
            np.full(cells, NOBODY, np.int32) if buffer.space is MemorySpace.GLOBAL else None
        )
        self.reads: dict[Any, tuple[Access, int, Any, int, int, Moment]] = {}
        self.wrote = False
        self.copied = np.zeros(cells, np.bool_)
        self.copies = 0

    def remember_read(self, access: Access, event: int) -> None:
        """Keep a load for the writes that may follow it before the next barrier."""
        group = access.group
        key = (id(access.pattern), id(access.mask), access.base, access.lvalue.span.line)
        if key not in self.reads and len(self.reads) < MAX_READS:
            self.reads[key] = (
                access,
                group.clock,
                group.interval,
                event,
                group.warp_syncs,
                moment(access),
            )


def moment(access: Access) -> Moment:
    """Where in a thread's run an access stands: each loop's line and iteration, then its line.

    Of two moments the smaller comes first. Empty within a function that the kernel calls, whose
    lines do not say when it is called.
    """
    group = access.group
    if len(group.returns) > 1:
        return ()
    loops = (n for state in group.loops for n in (state.loop.span.line, state.iteration))
    return (*loops, access.lvalue.span.line)


def cells_of(access: Access) -> tuple[Array, Any]:
    """The cells that an access touches, as entries of the buffer's `cells`, and which lanes did.

    Gives cells [n] and lanes [n]; lanes is a slice where every lane touches one cell in order.
    """
    buffer, group = access.buffer, access.group
    own = buffer.element.size
    index = access.index
    if isinstance(index, int):
        if buffer.space is MemorySpace.LOCAL:
            index = index + group.lane_numbers
        else:
            index = np.full(group.lanes, index)
    lanes: Any = slice(None)
    if access.mask is not None:
        lanes = np.flatnonzero(access.mask)
        index = index[lanes]
    count = access.width // access.size
    if access.size == own and count == 1:
        return index, lanes
    step = access.pattern.step
    shifts = np.arange(count) * step
    cells = (index[:, None] + shifts).reshape(-1)
    if access.size > own:
        ratio = access.size // own
        cells = (cells[:, None] * ratio + np.arange(ratio)).reshape(-1)
    elif access.size < own:
        cells = cells // (own // access.size)
    numbers = np.arange(group.lanes)[lanes]
    return cells, np.repeat(numbers, cells.size // max(1, numbers.size))
