"""Who touched which cell, and when: the memory beside a memory that races are found in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulator.language.tree import MemorySpace
from simulator.machine.buffers import Buffer
from simulator.machine.observer import Access
from simulator.observers.hazards.readers import Readers

NOBODY = -1
MANY = -2
GIVEN = -2  # the interval of a cell that the launch has written: no barrier interval of a block
CELL_BYTES = 35  # that a Shadow takes for every cell of a global array
MAX_READS = 200_000  # reads remembered between two barriers; far more than a tile's loop makes

# A position in a thread's run: each loop's line and iteration, outermost first, then a line.
# Of two positions the smaller comes first. Empty where that is unknown.
ProgramPosition = tuple[int, ...]


class Read(NamedTuple):
    """A load that a later store of the same barrier interval may race with.

    A NamedTuple, since one is made for almost every load: a dataclass takes three times as long.
    """

    access: Access
    interval: Any  # the barrier interval of its lanes: int, or int [lanes]
    warp_syncs: int  # how often its warps had passed __syncwarp()
    clock: int  # how many accesses its group had made
    event: int  # how many stores the whole launch had made
    position: ProgramPosition
    cell: int = NOBODY  # that it reads, where one thread reads one alone
    thread: int = NOBODY  # that one, numbered over the grid


class Shadow:
    """For every cell of a buffer: its last writer, when that wrote and from where; then its reads.

    Arrays have an entry for each cell of the buffer.
    """

    __slots__ = (
        "_buffer", "atomic", "clock", "copied", "copies", "event", "interval", "line",
        "of_one_block", "reader_block", "reader_line", "readers", "reads", "warp_syncs", "writer",
        "wrote",
    )  # fmt: skip

    def __init__(self, buffer: Buffer) -> None:
        cells = buffer.cells.size
        # The last writer's barrier interval; NOBODY if never written, GIVEN if by the launch.
        self._buffer = buffer
        self.interval = np.full(cells, NOBODY, np.int32)
        self.writer = np.full(cells, NOBODY, np.int32)  # a thread, numbered over the grid
        self.line = np.zeros(cells, np.int32)  # of the write, from 1
        self.clock = np.zeros(cells, np.int32)  # accesses that the writer's group had made
        self.event = np.zeros(cells, np.int32)  # stores that the whole launch had made
        self.warp_syncs = np.zeros(cells, np.int32)  # __syncwarp() that its warp had passed
        self.atomic = np.zeros(cells, np.bool_)  # whether the last write was an atomic
        # Whether it was one for the threads of the writer's block alone.
        self.of_one_block = np.zeros(cells, np.bool_)
        # The block that has read a global cell: NOBODY, or MANY for several.
        self.reader_block = (
            np.full(cells, NOBODY, np.int32) if buffer.space is MemorySpace.GLOBAL else None
        )
        self.reader_line = (  # of the last read of a global cell, from 1
            np.zeros(cells, np.int32) if buffer.space is MemorySpace.GLOBAL else None
        )
        self.readers: Readers | None = None  # of a global array in a kernel with fences
        self.copied = np.zeros(cells, np.bool_)  # an asynchronous copy not yet waited for writes it
        self.copies = 0  # how many cells of `copied` are set
        self.reads: dict[Any, Read] = {}  # since the last barrier, each instruction once
        self.wrote = False  # whether there was a store since the last barrier

    def remember_read(
        self, access: Access, event: int, cell: int = NOBODY, thread: int = NOBODY
    ) -> None:
        """Keep a load for the stores that may follow it before the next barrier.

        cell and thread are given for a load of one cell by one thread.
        """
        group = access.group
        key = (id(access.pattern), id(access.mask), access.base, access.lvalue.span.line)
        if key not in self.reads and len(self.reads) < MAX_READS:
            self.reads[key] = Read(
                access,
                group.interval,
                group.warp_syncs.count,
                group.clock,
                event,
                program_position(access),
                cell,
                thread,
            )

    def forget(self) -> None:
        """Let what was done to global memory be as if the launch had given it so."""
        if self.reader_block is None or self.reader_line is None:
            return
        self.interval[:] = GIVEN
        self.writer[:] = self.reader_block[:] = NOBODY
        self.reader_line[:] = 0
        if self.readers is not None:
            self.readers = Readers(self._buffer)

    def overwritten(self) -> list[tuple[Any, Read]]:
        """The reads, each with its key, that stores of other threads may have followed."""
        reads = list(self.reads.items())
        columns = [(read.cell, read.thread, read.event) for _, read in reads]
        cells, threads, events = np.array(columns, np.int64).T
        after = self.event.take(cells, mode="clip") > events
        races = (cells == NOBODY) | (after & (self.writer.take(cells, mode="clip") != threads))
        return [reads[number] for number in np.flatnonzero(races)]


def program_position(access: Access) -> ProgramPosition:
    """Where in a thread's run an access stands.

    Empty within a function that the kernel calls, whose lines do not say when it is called.
    """
    group = access.group
    if len(group.returns) > 1:
        return ()
    loops = (n for state in group.loops for n in (state.loop.span.line, state.iteration))
    return (*loops, access.lvalue.span.line)
