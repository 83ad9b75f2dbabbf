"""Who touched which cell, and when: the memory beside a memory that races are found in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.observer import Access, Sweep, SweptLoad
from simulator.observers.cell_rows import CellRows
from simulator.observers.hazards.readers import Readers

NOBODY = -1
MANY = -2
GIVEN = -2  # the interval of a cell that the launch has written: no barrier interval of a block
CELL_BYTES = 35  # of a Shadow, for every cell of a global array
MAX_STORES = 64  # to different rows of one array that are kept beside its arrays
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
    cell: int = NOBODY  # the one read, where one thread reads one alone
    thread: int = NOBODY  # its reader, numbered over the grid


class SweptReads(NamedTuple):
    """Loads of a sweep, as its group stood before the first of them."""

    sweep: Sweep
    loads: tuple[tuple[int, SweptLoad], ...]  # each with its number among those that clocks count
    counted: int  # loads of an iteration that clocks count
    interval: Any  # the barrier interval of its lanes: int, or int [lanes]
    warp_syncs: int  # how often its warps had passed __syncwarp()
    clock: int  # how many accesses its group had made
    event: int  # how many stores the whole launch had made
    position: ProgramPosition  # of the loop's first iteration, without the load's line
    thread: int  # the thread that makes them, numbered over the grid; NOBODY if several do

    def one_by_one(self) -> Iterator[Read]:
        """Each load, in the order in which they were made."""
        for iteration in range(self.sweep.iterations):
            for number, load in self.loads:
                access = self.sweep.access(iteration, load)
                only = None if self.thread == NOBODY else access.only_cell()
                yield Read(
                    access,
                    self.interval,
                    self.warp_syncs,
                    self.clock + iteration * self.counted + number,
                    self.event,
                    self._position(iteration, access),
                    NOBODY if only is None else only[0],
                    NOBODY if only is None else self.thread,
                )

    def _position(self, iteration: int, access: Access) -> ProgramPosition:
        if not self.position:
            return ()
        *outer, first = self.position
        return (*outer, first + iteration, access.lvalue.span.line)


class RowStore(NamedTuple):
    """A plain store to rows of a shared array, which Shadow's arrays do not have yet."""

    interval: int  # the barrier interval of its lanes
    threads: Array  # int [lanes], numbered over the grid
    moments: tuple[int, int, int, int]  # as in Shadow


class Shadow:
    """For every cell of a buffer: its last writer, when that wrote and from where; then its reads.

    Arrays have an entry for each cell of the buffer. Stores to rows are kept beside them until
    settle is called, which whoever reads the arrays does: most are overwritten before that.
    """

    __slots__ = (
        "_buffer", "_reads", "_settled_interval", "_stores", "_swept", "_swept_count", "atomic",
        "clock", "copied", "copies", "event", "has_atomics", "interval", "last_interval", "line",
        "moments", "of_one_block", "reader_block", "reader_line", "readers", "warp_syncs",
        "writer", "wrote",
    )  # fmt: skip

    def __init__(self, buffer: Buffer) -> None:
        cells = buffer.cells.size
        # The last writer's barrier interval; NOBODY if never written, GIVEN if by the launch.
        self._buffer = buffer
        self.interval = np.full(cells, NOBODY, np.int32)
        self.writer = np.full(cells, NOBODY, np.int32)  # a thread, numbered over the grid
        # Of the write: its line, from 1; the accesses that the writer's group had made; the stores
        # that the whole launch had made; how often its warp had passed __syncwarp().
        self.moments = np.zeros((4, cells), np.int32)
        self.line, self.clock, self.event, self.warp_syncs = self.moments
        self.atomic = np.zeros(cells, np.bool_)  # whether the last write was an atomic
        # Whether it was one for the threads of the writer's block alone.
        self.of_one_block = np.zeros(cells, np.bool_)
        self.has_atomics = False  # whether any write was, so that these two have entries to set
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
        # Since the last barrier, each instruction once between two __syncwarp().
        self._reads: dict[Any, Read] = {}
        self._swept: list[SweptReads] = []  # later reads, which are not yet among these
        self._swept_count = 0  # how many reads that is
        self._stores: dict[CellRows, RowStore] = {}  # to rows, the oldest first
        self.last_interval = NOBODY  # the last barrier interval in which a cell was written
        self._settled_interval = NOBODY  # the same, by a store that the arrays have
        self.wrote = False  # whether there was a store since the last barrier

    def remember_read(
        self, access: Access, event: int, cell: int = NOBODY, thread: int = NOBODY
    ) -> None:
        """Keep a load for the stores that may follow it before the next barrier.

        cell and thread are given for a load of one cell by one thread.
        """
        self._take_swept()
        group = access.group
        self._remember(
            Read(
                access,
                group.interval,
                group.warp_syncs.count,
                group.clock,
                event,
                program_position(access),
                cell,
                thread,
            )
        )

    def _remember(self, read: Read) -> None:
        access = read.access
        line, syncs = access.lvalue.span.line, read.warp_syncs
        key = (id(access.pattern), id(access.mask), access.base, line, syncs)
        if key not in self._reads and len(self._reads) < MAX_READS:
            self._reads[key] = read

    def remember_sweep(self, reads: SweptReads) -> None:
        """Keep loads of a sweep for the stores that may follow them before the next barrier."""
        self._swept.append(reads)
        self._swept_count += reads.sweep.iterations * len(reads.loads)
        if self._swept_count >= MAX_READS:
            self._take_swept()

    def _take_swept(self) -> None:
        """Let the reads of sweeps be among the others."""
        for read in chain.from_iterable(swept.one_by_one() for swept in self._swept):
            if len(self._reads) >= MAX_READS:
                break
            self._remember(read)
        self._swept.clear()
        self._swept_count = 0

    def reads(self) -> list[tuple[Any, Read]]:
        """The loads since the last barrier, each with its key."""
        self._take_swept()
        if self._reads:  # they are compared with the stores
            self.settle()
        return list(self._reads.items())

    def forget_read(self, key: Any) -> None:
        """Another block's barrier interval goes on: that of a read has ended."""
        del self._reads[key]

    def forget_reads(self) -> None:
        """A barrier interval has ended."""
        self._reads.clear()
        self._swept.clear()
        self._swept_count = 0

    def note_interval(self, interval: Any) -> None:
        """Cells are written in a barrier interval: int, or int [n]."""
        latest = interval if isinstance(interval, int) else int(np.max(interval))
        self.last_interval = max(self.last_interval, latest)
        self._settled_interval = max(self._settled_interval, latest)

    def is_first_store(self, rows: CellRows, interval: int) -> bool:
        """Whether nothing was written to rows of cells in a barrier interval so far."""
        if self.last_interval < interval:
            return True
        return self._settled_interval < interval and not any(
            store.interval >= interval and rows.overlaps(other)
            for other, store in self._stores.items()
        )

    def note_store(self, rows: CellRows, store: RowStore) -> None:
        """Note the last write of rows of cells."""
        self.last_interval = max(self.last_interval, store.interval)
        self._stores.pop(rows, None)  # the newest is to be the last
        self._stores[rows] = store
        if len(self._stores) > MAX_STORES:
            self.settle()

    def settle(self) -> None:
        """Let the arrays have all stores to rows."""
        if not self._stores:
            return
        for rows, store in self._stores.items():
            rows.put(self.interval, store.interval)
            rows.put(self.writer, store.threads)
            rows.put(self.moments, np.array(store.moments)[:, None, None])
            if self.has_atomics:
                rows.put(self.atomic, False)
                rows.put(self.of_one_block, False)
        self._settled_interval = self.last_interval
        self._stores.clear()

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
        reads = self.reads()
        if not reads:
            return []
        columns = [(read.cell, read.thread, read.event) for _, read in reads]
        cells, threads, events = np.array(columns, np.int64).T
        after = self.event.take(cells, mode="clip") > events
        races = (cells == NOBODY) | (after & (self.writer.take(cells, mode="clip") != threads))
        return [reads[number] for number in np.flatnonzero(races)]


def program_position(access: Access) -> ProgramPosition:
    """Where in a thread's run an access is.

    Empty within a function that the kernel calls, whose lines do not say when it is called.
    """
    if len(access.group.returns) > 1:
        return ()
    return (*loop_positions(access.group), access.lvalue.span.line)


def loop_positions(group: Group) -> ProgramPosition:
    """The line and the iteration of each loop that a group executes, outermost first."""
    return tuple(n for state in group.loops for n in (state.loop.span.line, state.iteration))
