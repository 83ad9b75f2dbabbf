"""The observer that finds races: it compares each access with what was done to its cells before."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np

from simulator.language.ctype import Array
from simulator.language.functions import FENCES
from simulator.language.tree import Barrier, Expression, Kernel, MemorySpace
from simulator.language.visit import calls
from simulator.launch import Launch
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.masks import Mask, as_array
from simulator.machine.observer import Access, AccessKind, Observer, Sweep, SweptLoad
from simulator.observers.cell_accesses import (
    CellAccesses,
    current_accesses,
    interval_of,
    relation_to_writes,
    remembered_accesses,
    thread_numbers,
)
from simulator.observers.cell_rows import cell_rows
from simulator.observers.hazards.findings import Findings
from simulator.observers.hazards.race_reports import RaceReports
from simulator.observers.hazards.races import is_race
from simulator.observers.hazards.readers import Readers
from simulator.observers.hazards.shadow import (
    GIVEN,
    MANY,
    MAX_READS,
    NOBODY,
    ProgramPosition,
    Read,
    RowStore,
    Shadow,
    SweptReads,
    loop_positions,
    program_position,
)
from simulator.observers.hazards.strong_accesses import StrongAccesses, is_volatile
from simulator.observers.hazards.synchronization import Synchronization
from simulator.observers.stored_values import bits_of, last_in_cells, written_bits
from simulator.observers.written_parameters import written_parameters


class RaceDetector(Observer):
    """Finds races in shared arrays, and in the global arrays that a kernel writes."""

    def __init__(self, findings: Findings) -> None:
        self._reports = RaceReports(findings)
        self._shadows: dict[Buffer, Shadow] = {}
        self._strong: StrongAccesses
        self._events = 1  # stores, fences and barriers so far, over the whole launch
        self._copies: set[Expression] = set()  # lvalues that asynchronous copies write to
        self._synchronization: Synchronization | None = None  # None in a kernel without fences
        self._one_team = True  # whether all warps of a chunk wait at the same barriers
        # Of the stores since the last barrier, by their event.
        self._store_positions: dict[int, ProgramPosition] = {}

    # Notifications of the machine ------------------------------------------------------------

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Shadow the global arrays that the kernel may write: reads of the others cannot race."""
        written = written_parameters(kernel)
        self._strong = StrongAccesses(kernel.body)
        self._synchronization = Synchronization(launch) if calls(kernel.body, FENCES) else None
        for name, buffer in buffers.items():
            if name in written:
                shadow = self._shadows[buffer] = Shadow(buffer)
                shadow.interval[:] = GIVEN
                if self._synchronization is not None:
                    shadow.readers = Readers(buffer)

    def on_chunk(self, groups: list[Group]) -> None:
        """See which groups wait at the same barriers."""
        self._one_team = all(group.blocks is groups[0].blocks for group in groups)

    def on_fence(self, group: Group, mask: Mask, of_the_block: bool) -> None:
        """What lanes did before a fence can be released from now on."""
        if self._synchronization is not None:
            threads = thread_numbers(group)[as_array(mask, group.lanes)]
            self._synchronization.fence(threads, self._events, of_the_block)
            self._events += 1

    def on_access(self, access: Access) -> None:
        """Check a load or an atomic; a store was checked before it was made."""
        if access.kind is not AccessKind.STORE:
            self.on_store(access)

    def on_store(self, access: Access) -> None:
        """Check one instruction against what was done to its cells before."""
        buffer = access.buffer
        shadow = self._shadows.get(buffer)
        if shadow is None:
            match buffer.space:
                case MemorySpace.GLOBAL | MemorySpace.CONSTANT:  # one that no thread writes
                    return
                case MemorySpace.LOCAL:  # one thread alone can touch it; the clock counts it
                    access.group.clock += 1
                    return
                case MemorySpace.SHARED:
                    pass
                case _:
                    assert_never(buffer.space)
            shadow = self._shadows[buffer] = Shadow(buffer)
        access.group.clock += 1
        if access.kind is AccessKind.STORE and self._is_first_store(access, shadow):
            return
        shadow.settle()
        if access.kind is not AccessKind.ATOMIC and self._is_clean(access, shadow):
            return
        cells, lanes = access.cells()
        if access.kind is AccessKind.LOAD:
            self._check_load(access, shadow, cells, lanes)
        elif access.lvalue in self._copies:
            _finish_copy(access, shadow, cells, lanes)
        else:
            self._check_store(access, shadow, cells, lanes)

    def on_sweep(self, sweep: Sweep) -> bool:
        """Note loads that cannot race with what was done before, to be compared with later writes.

        They cannot where nothing was written to an array since the last barrier.
        """
        if self._synchronization is not None or self._strong.spins:
            return False
        group, counted = sweep.group, 0
        shared: dict[Shadow, list[tuple[int, SweptLoad]]] = {}
        for load in sweep.loads:
            buffer = load.pattern.buffer
            shadow = self._shadows.get(buffer)
            if shadow is None and buffer.space in (MemorySpace.GLOBAL, MemorySpace.CONSTANT):
                continue
            counted += 1
            if buffer.space is MemorySpace.LOCAL:
                continue
            if shadow is None:
                shadow = self._shadows[buffer] = Shadow(buffer)
            if buffer.space is not MemorySpace.SHARED or not self._is_settled(shadow, group):
                return False
            shared.setdefault(shadow, []).append((counted, load))
        threads = thread_numbers(group)[slice(None) if sweep.mask is None else sweep.mask]
        thread = int(threads[0]) if threads.size == 1 else NOBODY
        for shadow, loads in shared.items():
            shadow.remember_sweep(
                SweptReads(
                    sweep=sweep,
                    loads=tuple(loads),
                    counted=counted,
                    interval=group.interval,
                    warp_syncs=group.warp_syncs.count,
                    clock=group.clock,
                    event=self._events,
                    position=() if len(group.returns) > 1 else loop_positions(group),
                    thread=thread,
                )
            )
        group.clock += counted * sweep.iterations
        return True

    def _is_settled(self, shadow: Shadow, group: Group) -> bool:
        """Whether a barrier is between a group and every write to an array."""
        return (
            shadow.copies == 0
            and isinstance(group.interval, int)
            and shadow.last_interval < group.interval
        )

    def on_copy(self, access: Access) -> None:
        """A copy begins: until it is waited for, whoever touches its cells is in a race."""
        shadow = self._shadows.get(access.buffer)
        if shadow is None:
            shadow = self._shadows[access.buffer] = Shadow(access.buffer)
        access.group.clock += 1
        shadow.settle()
        cells, lanes = access.cells()
        self._check_store(access, shadow, cells, lanes)
        self._copies.add(access.lvalue)
        shadow.copied[cells] = True
        shadow.copies += cells.size

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """A barrier interval ends."""
        self._end_interval(None if self._one_team or barrier.of_grid else groups)
        if barrier.of_grid:  # all that was done is over, as if the launch began here
            for shadow in self._shadows.values():
                shadow.forget()
        if self._synchronization is not None:
            self._synchronization.barrier(groups[0].blocks.tolist(), self._events)
            self._events += 1

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk ends; its shared arrays go with it."""
        self._end_interval(None)
        for buffer in [b for b in self._shadows if b.space is not MemorySpace.GLOBAL]:
            del self._shadows[buffer]

    def _is_clean(self, access: Access, shadow: Shadow) -> bool:
        """Note a load or store by one lane alone of a cell that no other thread has touched.

        False, with nothing done, for any other: it is to be checked. A loop of one thread makes
        many such, for which arrays of one entry would take most of the time.
        """
        only = access.only_cell()
        if only is None or shadow.copies or self._synchronization is not None or self._strong.spins:
            return False
        cell, lane = only
        group, is_load = access.group, access.kind is AccessKind.LOAD
        lvalue = access.lvalue
        if lvalue in self._strong.retried or lvalue in self._copies or is_volatile(access):
            return False
        thread = int(thread_numbers(group)[lane])
        if shadow.writer.item(cell) not in (NOBODY, thread):
            return False
        if shadow.reader_block is not None:
            block = thread // group.launch.threads
            if shadow.reader_block.item(cell) not in (NOBODY, block):
                return False
            if is_load and shadow.reader_line is not None:
                shadow.reader_block[cell] = block
                shadow.reader_line[cell] = access.lvalue.span.line
        if is_load:
            shadow.remember_read(access, self._events, cell, thread)
        else:
            interval = group.interval if isinstance(group.interval, int) else group.interval[lane]
            self._note_write(access, shadow, cell, interval, thread)
        return True

    def _is_first_store(self, access: Access, shadow: Shadow) -> bool:
        """Note a plain store to rows of cells that nothing was written to since the last barrier.

        False, with nothing done, for any other.
        """
        group, interval = access.group, access.group.interval
        if access.mask is not None or shadow.copies or not isinstance(interval, int):
            return False
        rows = cell_rows(access)
        if rows is None or access.lvalue in self._copies or is_volatile(access):
            return False
        if not shadow.is_first_store(rows, interval):
            return False
        threads, moments = thread_numbers(group), self._moments_of_store(access)
        shadow.note_store(rows, RowStore(interval, threads, moments))
        shadow.wrote = True
        return True

    # What an instruction is checked for ------------------------------------------------------

    def _check_load(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        """Check a load against the last writes of its cells; remember it for later stores."""
        group = access.group
        candidates = _written_in_interval(group, shadow.interval.take(cells), lanes)
        copied = shadow.copied.take(cells) if shadow.copies else False
        candidates = candidates | copied
        if access.buffer.space is MemorySpace.GLOBAL:
            candidates = candidates | (shadow.writer.take(cells) >= 0)
            if not self._strong.is_strong(access):
                threads = thread_numbers(group)[lanes]
                blocks, line = threads // group.launch.threads, access.lvalue.span.line
                _note_reader_blocks(shadow, cells, blocks, line)
                if shadow.readers is not None:
                    shadow.readers.note(cells, threads, self._events)
        if candidates is not False and candidates.any():
            current = current_accesses(access, shadow, cells, lanes, copied)
            self._compare_with_writes(current, candidates)
        if access.lvalue in self._strong.polled:
            threads = thread_numbers(group)[lanes]
            self._communicate(access, cells, threads, np.zeros(threads.size, np.bool_))
        else:
            shadow.remember_read(access, self._events)

    def _communicate(self, access: Access, cells: Array, threads: Array, writes: Array) -> None:
        """An access by which threads may tell each other what they have done."""
        if self._synchronization is not None:
            reads = access.kind is not AccessKind.STORE
            self._synchronization.communicate(
                access.buffer, cells, threads, self._events, reads, writes
            )

    def _check_store(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        """Check a store or atomic against earlier writes and reads; note it as the last write."""
        group = access.group
        threads = thread_numbers(group)[lanes]
        candidates = _written_in_interval(group, shadow.interval.take(cells), lanes)
        if access.buffer.space is MemorySpace.GLOBAL:
            candidates = candidates | (shadow.writer.take(cells) >= 0)
            self._check_reader_blocks(access, shadow, cells, threads)
        if candidates is not False and candidates.any():
            of_one_block = self._strong.is_of_one_block(access)
            current = current_accesses(access, shadow, cells, lanes, of_one_block=of_one_block)
            values = written_bits(access, lanes)
            same = False if values is None else values == bits_of(access.buffer.cells.take(cells))
            self._compare_with_writes(current, candidates, same)
        self._note_write(access, shadow, cells, interval_of(group.interval, lanes), threads)
        if access.kind is AccessKind.ATOMIC and access.component_size == access.buffer.element.size:
            old = bits_of(group.spread(access.values)[lanes])
            new = bits_of(access.buffer.cells.take(cells))
            self._communicate(access, cells, threads, old != new)
        elif is_volatile(access):
            self._communicate(access, cells, threads, np.ones(threads.size, np.bool_))
        overwritten = shadow.writer.take(cells) != threads
        if overwritten.any():  # two lanes of this very instruction write one cell
            current = current_accesses(access, shadow, cells, lanes)
            values = written_bits(access, lanes)
            same = False if values is None else values == last_in_cells(cells, values)
            self._compare_with_writes(current, overwritten, same)

    def _note_write(
        self, access: Access, shadow: Shadow, cells: Any, interval: Any, threads: Any
    ) -> None:
        """Make a store or atomic the last write of its cells: int [n], or one."""
        shadow.note_interval(interval)
        shadow.interval[cells] = interval
        shadow.writer[cells] = threads
        columns = (shadow.line, shadow.clock, shadow.event, shadow.warp_syncs)
        for entries, moment in zip(columns, self._moments_of_store(access), strict=True):
            entries[cells] = moment
        is_atomic = access.kind is AccessKind.ATOMIC or self._strong.is_strong(access)
        of_one_block = self._strong.is_of_one_block(access)
        if is_atomic or shadow.has_atomics:
            shadow.has_atomics = True
            shadow.atomic[cells] = is_atomic
            shadow.of_one_block[cells] = of_one_block
        shadow.wrote = True

    def _moments_of_store(self, access: Access) -> tuple[int, int, int, int]:
        """When a store or atomic is made, as Shadow.moments has it: it is the next event."""
        self._events += 1
        if len(self._store_positions) < MAX_READS:
            self._store_positions[self._events] = program_position(access)
        group = access.group
        return access.lvalue.span.line, group.clock, self._events, group.warp_syncs.count

    def _end_interval(self, groups: list[Group] | None) -> None:
        """Compare the reads of the interval that ends with the writes that came after them.

        A write of another block was compared with the cell's readers as it was made. groups are
        those whose interval ends; None for all.
        """
        blocks = None if groups is None else set(groups[0].blocks.tolist())
        for shadow in self._shadows.values():
            if shadow.wrote:
                reads = shadow.overwritten() if blocks is None else shadow.reads()
                for key, read in reads:
                    if blocks is not None:
                        if blocks.isdisjoint(read.access.group.blocks.tolist()):
                            continue
                        shadow.forget_read(key)
                    self._check_remembered(read, shadow)
            if blocks is None:
                shadow.forget_reads()
                shadow.wrote = False
        if blocks is None:
            self._store_positions.clear()

    def _check_remembered(self, read: Read, shadow: Shadow) -> None:
        """Compare a read of the interval that ends with later writes."""
        cells, lanes = read.access.cells()
        interval = interval_of(read.interval, lanes)
        after = shadow.event.take(cells) > read.event
        candidates = (shadow.interval.take(cells) == interval) & after
        if candidates.any():
            remembered = remembered_accesses(read, shadow, cells, lanes, interval)
            self._compare_with_writes(remembered, candidates)

    # Races -----------------------------------------------------------------------------------

    def _compare_with_writes(
        self, accesses: CellAccesses, candidates: Array, same_value: Any = False
    ) -> None:
        """Report those of `candidates` (bool [n]) that race with the last write of their cell.

        same_value, bool or bool [n], is whether they store what that has written: of no effect,
        it is worth a note alone, as compute-sanitizer's racecheck grades it.
        """
        relation, kind = relation_to_writes(accesses), accesses.access.kind
        if self._strong.is_strong(accesses.access):
            kind = AccessKind.ATOMIC
        after_atomic = accesses.shadow.atomic.take(accesses.cells)
        races = candidates & np.where(
            after_atomic,
            is_race(kind, AccessKind.ATOMIC, relation),
            is_race(kind, AccessKind.STORE, relation),
        )
        if self._synchronization is not None and races.any():
            races &= ~self._ordered_with_writes(accesses, races)
        if same_value is not False:
            harmless = races & same_value & ~after_atomic
            if harmless.any():
                self._reports.note_same_value(accesses, int(harmless.argmax()))
                races = races & ~harmless
        if not races.any():
            return
        lines = accesses.shadow.line.take(accesses.cells)
        for line in np.unique(lines[races]):
            self._reports.with_write(
                accesses, races & (lines == line), relation.same_warp, int(line),
                self._store_positions,
            )  # fmt: skip

    def _ordered_with_writes(self, accesses: CellAccesses, races: Array) -> Array:
        """Which of `races` (bool [n]) happen in one order for certain: bool [n]."""
        assert self._synchronization is not None
        numbers = np.flatnonzero(races)
        cells, threads = accesses.cells[numbers], accesses.threads[numbers]
        writers = accesses.shadow.writer.take(cells)
        ordered = np.zeros(races.size, np.bool_)
        if accesses.read_event is None:
            events = accesses.shadow.event.take(cells)
            ordered[numbers] = self._synchronization.ordered(threads, writers, events)
        else:
            events = np.full(numbers.size, accesses.read_event)
            ordered[numbers] = self._synchronization.ordered(writers, threads, events)
        return ordered

    def _check_reader_blocks(
        self, access: Access, shadow: Shadow, cells: Array, threads: Array
    ) -> None:
        """Report the cells of a global array that are written after another block read them.

        No barrier orders blocks, so that each of these is a race.
        """
        assert shadow.reader_block is not None
        readers = shadow.reader_block.take(cells)
        races = (readers != NOBODY) & (readers != threads // access.group.launch.threads)
        if shadow.readers is not None and races.any():
            assert self._synchronization is not None
            races &= shadow.readers.unordered(cells, threads, self._synchronization)
        if races.any():
            self._reports.with_reader_block(access, shadow, cells, threads, races)
        if shadow.readers is not None:  # who comes after this write comes after these reads, too
            shadow.readers.forget(cells)
            shadow.reader_block[cells] = NOBODY


def _note_reader_blocks(shadow: Shadow, cells: Array, blocks: Array, line: int) -> None:
    """Note for cells of a global array that the blocks [n] have read them in a line."""
    readers, lines = shadow.reader_block, shadow.reader_line
    assert readers is not None
    assert lines is not None
    lines[cells] = line
    before = readers.take(cells)
    alone = (before == NOBODY) | (before == blocks)
    readers[cells] = np.where(alone, blocks, MANY)
    several = readers.take(cells) != blocks  # blocks of one chunk that read a cell at once
    readers[cells[several]] = MANY


def _finish_copy(access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
    """A copy has been waited for: the next barrier shows its cells to all threads."""
    interval = interval_of(access.group.interval, lanes)
    shadow.note_interval(interval)
    shadow.interval[cells] = interval
    shadow.copied[cells] = False
    shadow.copies -= cells.size


def _written_in_interval(group: Group, written: Array, lanes: Any) -> Any:
    """Which cells were last written in the present interval of their lane: bool [n], or False.

    written int [n] are the intervals in which the cells were last written.
    """
    if isinstance(group.interval, int) and int(written.max()) < group.interval:
        return False
    return written == interval_of(group.interval, lanes)
