"""The observer that finds what no correct kernel does: races, bad addresses, unset cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import Span
from simulator.language.functions import ATOMIC_FUNCTIONS, FENCES
from simulator.language.retries import retried_reads
from simulator.language.tree import (
    Barrier,
    Call,
    Dereference,
    Expression,
    Index,
    Kernel,
    MemorySpace,
    Statement,
)
from simulator.language.visit import calls, expressions_within
from simulator.language.waiting import barriers_at_the_end, polled_lvalues, spins
from simulator.launch import WARP_SIZE, Dim3, Launch, unravel
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.masks import Mask, as_array
from simulator.machine.observer import Access, AccessKind, Fault, Observer, Stop, WarpFault
from simulator.observers.findings import Example, Findings, Hazard, loop_iterations
from simulator.observers.hazard_kind import FAULTS, RACES, HazardKind
from simulator.observers.messages import (
    ended_threads_note,
    fault_message,
    format_cell,
    partial_barrier_message,
    race_message,
    same_value_note,
    stop_message,
    unset_cell_message,
    unset_copy_note,
    unset_variable_message,
    warp_fault_message,
)
from simulator.observers.races import Relation, is_race
from simulator.observers.readers import Readers
from simulator.observers.shadow import (
    GIVEN,
    MANY,
    MAX_READS,
    NOBODY,
    ProgramPosition,
    Read,
    Shadow,
    program_position,
)
from simulator.observers.stored_values import bits_of, last_in_cells, written_bits
from simulator.observers.synchronization import Synchronization
from simulator.observers.written_parameters import written_parameters


@dataclass(frozen=True, slots=True)
class CellAccesses:
    """What one instruction did to n cells of a buffer, to be compared with their last writes."""

    access: Access
    shadow: Shadow  # of the access's buffer
    cells: Array  # int [n], entries of the shadow's arrays
    lanes: Array  # int [n], the lane of the access's group that touches each cell
    threads: Array  # int [n], the thread that touches each cell, numbered over the grid
    interval: Any  # int, or int [n]: the barrier interval of each thread's block
    warp_syncs: int  # how often the threads' warps had passed __syncwarp()
    clock: int  # how many accesses the group had made
    position: ProgramPosition
    copied: Any = False  # bool, or bool [n]: an asynchronous copy not yet waited for writes it
    read_event: int | None = None  # stores before a read that was remembered; else None
    of_one_block: bool = False  # an atomic for the threads of its own block alone makes it


class Hazards(Observer):
    """Finds the hazards of a launch: `findings` has them in the order they were first seen."""

    def __init__(self) -> None:
        self.findings = Findings()
        self._shadows: dict[Buffer, Shadow] = {}
        self._written: set[str] = set()  # parameters that the kernel may write through
        self._launch: Launch | None = None
        self._events = 1  # stores, fences and barriers so far, over the whole launch
        self._copies: set[Expression] = set()  # lvalues that asynchronous copies write to
        self._synchronization: Synchronization | None = None  # None in a kernel without fences
        self._spins = False  # whether loops wait for other threads
        self._polled: set[Expression] = set()  # volatile lvalues read by loops that wait for them
        self._retried: frozenset[Expression] = frozenset()  # reads that begin a try of atomicCAS
        self._block_pointers: frozenset[Expression] = frozenset()  # of atomics of one block's scope
        self._at_the_end: frozenset[Barrier] = frozenset()  # whoever does not reach them ends
        self._one_team = True  # whether all warps of a chunk wait at the same barriers
        # Of the stores since the last barrier, by their event.
        self._store_positions: dict[int, ProgramPosition] = {}

    # Notifications of the machine ------------------------------------------------------------

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Shadow the global arrays that the kernel may write: reads of the others cannot race."""
        self._launch = launch
        self._written = written_parameters(kernel)
        self._block_pointers = _block_pointers(kernel.body)
        self._spins = spins(kernel.body)
        self._at_the_end = barriers_at_the_end(kernel.body)
        self._polled = polled_lvalues(kernel.body)
        self._retried = retried_reads(kernel.body)
        self._synchronization = Synchronization(launch) if calls(kernel.body, FENCES) else None
        for name, buffer in buffers.items():
            if name in self._written:
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
            threads = _thread_numbers(group)[as_array(mask, group.lanes)]
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
                case MemorySpace.SHARED | MemorySpace.LOCAL:
                    pass
                case _:
                    assert_never(buffer.space)
            shadow = self._shadows[buffer] = Shadow(buffer)
        access.group.clock += 1
        if access.kind is not AccessKind.ATOMIC and self._is_clean(access, shadow):
            return
        cells, lanes = access.cells()
        if access.kind is AccessKind.LOAD:
            self._check_load(access, shadow, cells, lanes)
        elif access.lvalue in self._copies:
            _finish_copy(access, shadow, cells, lanes)
        else:
            self._check_store(access, shadow, cells, lanes)

    def on_copy(self, access: Access) -> None:
        """A copy begins: until it is waited for, whoever touches its cells is in a race."""
        shadow = self._shadows.get(access.buffer)
        if shadow is None:
            shadow = self._shadows[access.buffer] = Shadow(access.buffer)
        access.group.clock += 1
        cells, lanes = access.cells()
        self._check_store(access, shadow, cells, lanes)
        self._copies.add(access.lvalue)
        shadow.copied[cells] = True
        shadow.copies += cells.size

    def on_fault(self, fault: Fault) -> None:
        """An access outside its array, or at a wrong multiple."""
        lane = int(fault.lanes.argmax())
        self._add_for_array(
            FAULTS[fault.reason],
            (fault.lvalue.span.line,),
            fault.buffer,
            fault_message(fault, lane),
            int(fault.lanes.sum()),
            _example_of_lane(fault.group, lane, cell=None),
        )

    def on_warp_fault(self, fault: WarpFault) -> None:
        """A warp function is called with a wrong mask, or reads from a lane that is not there."""
        kind, line = FAULTS[fault.reason], fault.call.span.line
        lane = int(fault.lanes.argmax())
        example = _example_of_lane(fault.group, lane, None)
        message = warp_fault_message(fault, lane)
        hazard = Hazard(kind, (line,), None, None, message, int(fault.lanes.sum()), example)
        self.findings.add((kind, fault.reason, line), hazard)

    def on_stop(self, stop: Stop) -> None:
        """Threads end the launch."""
        is_assert = stop.call.function == "assert"
        kind = HazardKind.FAILED_ASSERTION if is_assert else HazardKind.TRAP
        lane, line = int(stop.lanes.argmax()), stop.call.span.line
        example = _example_of_lane(stop.group, lane, None)
        message = stop_message(kind, stop, lane)
        hazard = Hazard(kind, (line,), None, None, message, int(stop.lanes.sum()), example)
        self.findings.add((kind, line), hazard)

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is read before it has a value."""
        kind, example = HazardKind.UNINITIALIZED_READ, _example_of_lane(group, int(lanes[0]), None)
        message = unset_variable_message(
            span.line, example.block, example.thread, group.launch, name
        )
        space = MemorySpace.REGISTER
        hazard = Hazard(kind, (span.line,), name, space, message, lanes.size, example)
        self.findings.add((kind, name, span.line), hazard)

    def on_unset_copy(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is copied before it has a value."""
        block, thread = group.thread_of(int(lanes[0]))
        note = unset_copy_note(span.line, block, thread, group.launch, name)
        self.findings.note(("copy", name, span.line), note)

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """A barrier interval ends."""
        self._end_interval(None if self._one_team else groups)
        if self._synchronization is not None:
            self._synchronization.barrier(groups[0].blocks.tolist(), self._events)
            self._events += 1

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk ends; its shared and local arrays go with it."""
        self._end_interval(None)
        for buffer in [b for b in self._shadows if b.space is not MemorySpace.GLOBAL]:
            del self._shadows[buffer]

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, block_index: int, arrived: Array, ended: Array
    ) -> None:
        """Some threads of a block wait at a barrier that others do not reach."""
        assert self._launch is not None
        kind, line = HazardKind.DIVERGENT_BARRIER, barrier.span.line
        block = unravel(int(group.blocks[block_index]), self._launch.grid)
        present = arrived | ended
        if present.all() or barrier in self._at_the_end:
            count = int((~arrived).sum())
            self.findings.note(
                ("ended", line), ended_threads_note(barrier, block, self._launch, count)
            )
            return
        waiting, missing = (
            unravel(int(threads.argmax()), self._launch.block) for threads in (arrived, ~present)
        )
        message = partial_barrier_message(barrier, block, missing, self._launch, int(arrived.sum()))
        example = Example(block, waiting, block, missing, None, loop_iterations(group))
        hazard = Hazard(kind, (line,), None, None, message, 1, example)
        self.findings.add((kind, line), hazard)

    def _is_clean(self, access: Access, shadow: Shadow) -> bool:
        """Note a load or store by one lane alone of a cell that no other thread has touched.

        False, with nothing done, for any other: it is to be checked. A loop of one thread makes
        many such, for which arrays of one entry would take most of the time.
        """
        only = access.only_cell()
        if only is None or shadow.copies or self._synchronization is not None or self._spins:
            return False
        cell, lane = only
        group, is_load = access.group, access.kind is AccessKind.LOAD
        if access.lvalue in self._retried or access.lvalue in self._copies or _is_volatile(access):
            return False
        if is_load and shadow.interval[cell] == NOBODY:
            return False  # it was never set
        if access.buffer.space is MemorySpace.LOCAL:
            if not is_load:
                shadow.interval[cell] = 0
            return True
        thread = int(_thread_numbers(group)[lane])
        if shadow.writer[cell] not in (NOBODY, thread):
            return False
        if shadow.reader_block is not None:
            block = thread // group.launch.threads
            if shadow.reader_block[cell] not in (NOBODY, block):
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

    # What an instruction is checked for ------------------------------------------------------

    def _check_load(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        """Check a load against the last writes of its cells; remember it for later stores."""
        group = access.group
        written = shadow.interval.take(cells)
        space = access.buffer.space
        if int(written.min()) == NOBODY:
            self._report_unset_cells(access, cells, lanes, written == NOBODY)
        if space is MemorySpace.LOCAL:
            return
        threads = _thread_numbers(group)[lanes]
        candidates = _written_in_interval(group, written, lanes)
        copied = shadow.copied.take(cells) if shadow.copies else False
        candidates = candidates | copied
        if space is MemorySpace.GLOBAL:
            candidates = candidates | (shadow.writer.take(cells) >= 0)
            if not self._is_strong(access):
                blocks, line = threads // group.launch.threads, access.lvalue.span.line
                _note_reader_blocks(shadow, cells, blocks, line)
                if shadow.readers is not None:
                    shadow.readers.note(cells, threads, self._events)
        if candidates is not False and candidates.any():
            current = _current_accesses(access, shadow, cells, lanes, threads, copied)
            self._compare_with_writes(current, candidates)
        if access.lvalue in self._polled:
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
        if access.buffer.space is MemorySpace.LOCAL:
            shadow.interval[cells] = 0
            return
        threads = _thread_numbers(group)[lanes]
        written = shadow.interval.take(cells)
        if access.kind is AccessKind.ATOMIC and int(written.min()) == NOBODY:
            self._report_unset_cells(access, cells, lanes, written == NOBODY)
        candidates = _written_in_interval(group, written, lanes)
        if access.buffer.space is MemorySpace.GLOBAL:
            candidates = candidates | (shadow.writer.take(cells) >= 0)
            self._check_reader_blocks(access, shadow, cells, threads)
        if candidates is not False and candidates.any():
            current = _current_accesses(access, shadow, cells, lanes, threads)
            current = replace(current, of_one_block=self._is_of_one_block(access))
            values = written_bits(access, lanes)
            same = False if values is None else values == bits_of(access.buffer.cells.take(cells))
            self._compare_with_writes(current, candidates, same)
        self._note_write(access, shadow, cells, _select(group.interval, lanes), threads)
        if access.kind is AccessKind.ATOMIC and access.component_size == access.buffer.element.size:
            old = bits_of(group.spread(access.values)[lanes])
            new = bits_of(access.buffer.cells.take(cells))
            self._communicate(access, cells, threads, old != new)
        elif _is_volatile(access):
            self._communicate(access, cells, threads, np.ones(threads.size, np.bool_))
        overwritten = shadow.writer.take(cells) != threads
        if overwritten.any():  # two lanes of this very instruction write one cell
            current = _current_accesses(access, shadow, cells, lanes, threads)
            values = written_bits(access, lanes)
            same = False if values is None else values == last_in_cells(cells, values)
            self._compare_with_writes(current, overwritten, same)

    def _note_write(
        self, access: Access, shadow: Shadow, cells: Any, interval: Any, threads: Any
    ) -> None:
        """Make a store or atomic the last write of its cells: int [n], or one."""
        group = access.group
        shadow.interval[cells] = interval
        shadow.writer[cells] = threads
        shadow.line[cells] = access.lvalue.span.line
        shadow.clock[cells] = group.clock
        self._events += 1
        shadow.event[cells] = self._events
        if len(self._store_positions) < MAX_READS:
            self._store_positions[self._events] = program_position(access)
        shadow.warp_syncs[cells] = group.warp_syncs.count
        shadow.atomic[cells] = access.kind is AccessKind.ATOMIC or self._is_strong(access)
        shadow.of_one_block[cells] = self._is_of_one_block(access)
        shadow.wrote = True

    def _is_of_one_block(self, access: Access) -> bool:
        """Whether an access is an atomic for the threads of its own block alone."""
        lvalue = access.lvalue
        return (
            access.kind is AccessKind.ATOMIC
            and isinstance(lvalue, Dereference)
            and lvalue.pointer in self._block_pointers
        )

    def _is_strong(self, access: Access) -> bool:
        """Whether an access is as good as an atomic: no race with one.

        It is a volatile load of a loop that waits, or a volatile store in a kernel with one. So is
        a read that only begins a try of an atomicCAS, which fails if the value is not the present.
        """
        if access.lvalue in self._retried:
            return True
        return self._spins and (access.lvalue in self._polled or _is_volatile(access))

    def _end_interval(self, groups: list[Group] | None) -> None:
        """Compare the reads of the interval that ends with the writes that came after them.

        A write of another block was compared with the cell's readers as it was made. groups are
        those whose interval ends; None for all.
        """
        blocks = None if groups is None else set(groups[0].blocks.tolist())
        for shadow in self._shadows.values():
            if shadow.wrote and shadow.reads:
                reads = shadow.overwritten() if blocks is None else list(shadow.reads.items())
                for key, read in reads:
                    if blocks is not None:
                        if blocks.isdisjoint(read.access.group.blocks.tolist()):
                            continue
                        del shadow.reads[key]
                    self._check_remembered(read, shadow)
            if blocks is None:
                shadow.reads.clear()
                shadow.wrote = False
        if blocks is None:
            self._store_positions.clear()

    def _check_remembered(self, read: Read, shadow: Shadow) -> None:
        """Compare a read of the interval that ends with later writes."""
        cells, lanes = read.access.cells()
        interval = _select(read.interval, lanes)
        after = shadow.event.take(cells) > read.event
        candidates = (shadow.interval.take(cells) == interval) & after
        if candidates.any():
            threads = _thread_numbers(read.access.group)[lanes]
            remembered = _remembered_accesses(read, shadow, cells, lanes, interval, threads)
            self._compare_with_writes(remembered, candidates)

    # Races -----------------------------------------------------------------------------------

    def _compare_with_writes(
        self, accesses: CellAccesses, candidates: Array, same_value: Any = False
    ) -> None:
        """Report those of `candidates` (bool [n]) that race with the last write of their cell.

        same_value, bool or bool [n], is whether they store what that has written: of no effect,
        it is worth a note alone, as compute-sanitizer's racecheck grades it.
        """
        relation, kind = _relation_to_writes(accesses), accesses.access.kind
        if self._is_strong(accesses.access):
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
                self._note_same_value(accesses, int(harmless.argmax()))
                races = races & ~harmless
        if not races.any():
            return
        lines = accesses.shadow.line.take(accesses.cells)
        for line in np.unique(lines[races]):
            self._report_race(accesses, races & (lines == line), relation.same_warp, int(line))

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

    def _report_race(
        self, accesses: CellAccesses, races: Array, same_warp: Array, write_line: int
    ) -> None:
        """Report `races` (bool [n]) with writes of one line.

        The example is the first of them, or the first whose threads are not of the same warp
        (same_warp, bool [n]) if there is one.
        """
        access, launch = accesses.access, accesses.access.group.launch
        between_warps = races & ~same_warp
        first = int((between_warps if between_warps.any() else races).argmax())
        cell = int(accesses.cells[first])
        kinds = (AccessKind.STORE, _load_or_store(access.kind))
        lines = (write_line, access.lvalue.span.line)
        access_is_first = self._precedes_write(accesses, cell)
        if access_is_first:
            kinds, lines = (kinds[1], kinds[0]), (lines[1], lines[0])
        kind = next(kind for kind, pair in RACES.items() if pair == kinds)
        if not self.findings.takes((kind, lines, access.buffer.name)):
            return
        block, thread = _block_and_thread(int(accesses.threads[first]), launch)
        other_block, other = _block_and_thread(int(accesses.shadow.writer[cell]), launch)
        index = _cell_index(access.buffer, cell)
        iterations = loop_iterations(access.group)
        within_warp = launch.warps > 1 and bool(same_warp[first])
        example = Example(block, thread, other_block, other, index, iterations, within_warp)
        name = format_cell(access.buffer, index)
        both_atomic = access.kind is AccessKind.ATOMIC and bool(accesses.shadow.atomic[cell])
        message = race_message(
            kind, lines, name, example, launch, access_is_first,
            during_copy=not access_is_first and bool(np.any(accesses.copied & races)),
            of_one_block=both_atomic,
        )  # fmt: skip
        self._add_for_array(kind, lines, access.buffer, message, int(races.sum()), example)

    def _note_same_value(self, accesses: CellAccesses, number: int) -> None:
        """Note that an access (its number) stores what another thread has stored in its cell."""
        access, cell = accesses.access, int(accesses.cells[number])
        lines = (int(accesses.shadow.line[cell]), access.lvalue.span.line)
        key = ("same value", *sorted(lines), access.buffer.name)
        if key in self.findings.notes:
            return
        launch = access.group.launch
        writers = (int(accesses.shadow.writer[cell]), int(accesses.threads[number]))
        name = format_cell(access.buffer, _cell_index(access.buffer, cell))
        places = [_block_and_thread(writer, launch) for writer in writers]
        self.findings.note(key, same_value_note(lines, name, places, launch))

    def _precedes_write(self, accesses: CellAccesses, cell: int) -> bool:
        """Whether the author of the kernel meant an access to come before the cell's last write.

        Positions in the text and its loops decide. For accesses of one line, or within functions,
        the number of accesses that each warp had made decides.
        """
        event = int(accesses.shadow.event[cell])
        write, access = self._store_positions.get(event, ()), accesses.position
        if access and write and access != write:
            return access < write
        return accesses.clock < int(accesses.shadow.clock[cell])

    def _check_reader_blocks(
        self, access: Access, shadow: Shadow, cells: Array, threads: Array
    ) -> None:
        """Report the cells of a global array that are written after another block read them.

        No barrier orders blocks, so that each of these is a race.
        """
        assert shadow.reader_block is not None
        launch = access.group.launch
        readers = shadow.reader_block.take(cells)
        races = (readers != NOBODY) & (readers != threads // launch.threads)
        if shadow.readers is not None and races.any():
            assert self._synchronization is not None
            races &= shadow.readers.unordered(cells, threads, self._synchronization)
        if shadow.readers is not None:  # who comes after this write comes after these reads, too
            shadow.readers.forget(cells)
            shadow.reader_block[cells] = NOBODY
        if not races.any():
            return
        first = int(races.argmax())
        other_block: Dim3 | None = None
        other: Dim3 | None = None
        if readers[first] != MANY:  # which of the block's threads it was is not known: its first
            other_block, other = _block_and_thread(int(readers[first]) * launch.threads, launch)
        block, thread = _block_and_thread(int(threads[first]), launch)
        index = _cell_index(access.buffer, int(cells[first]))
        iterations = loop_iterations(access.group)
        example = Example(block, thread, other_block, other, index, iterations)
        assert shadow.reader_line is not None
        read_line = int(shadow.reader_line[cells[first]])
        kind, lines = HazardKind.WRITE_AFTER_READ, (access.lvalue.span.line,)
        name = format_cell(access.buffer, index)
        message = race_message(kind, (read_line, *lines), name, example, launch, False)
        self._add_for_array(kind, lines, access.buffer, message, int(races.sum()), example)

    # Reports ---------------------------------------------------------------------------------

    def _report_unset_cells(self, access: Access, cells: Array, lanes: Any, unset: Array) -> None:
        """Report reads of the cells `unset` (bool [n]), which nothing was written to."""
        group, buffer, line = access.group, access.buffer, access.lvalue.span.line
        first = int(unset.argmax())
        lane = int(group.lane_numbers[lanes][first])
        index = _cell_index(buffer, int(cells[first]), group.lanes)
        example = _example_of_lane(group, lane, index)
        message = unset_cell_message(
            line,
            example.block,
            example.thread,
            group.launch,
            format_cell(buffer, index),
            buffer.space,
        )
        kind, count = HazardKind.UNINITIALIZED_READ, int(unset.sum())
        self._add_for_array(kind, (line,), buffer, message, count, example)

    def _add_for_array(
        self,
        kind: HazardKind,
        lines: tuple[int, ...],
        buffer: Buffer,
        message: str,
        count: int,
        example: Example,
    ) -> None:
        """Add a hazard of an array, one for its kind and lines."""
        hazard = Hazard(kind, lines, buffer.name, buffer.space, message, count, example)
        self.findings.add((kind, lines, buffer.name), hazard)


def _current_accesses(
    access: Access,
    shadow: Shadow,
    cells: Array,
    lanes: Any,
    threads: Array,
    copied: Any = False,
) -> CellAccesses:
    """An access that is being made, as its group stands at this moment."""
    group = access.group
    return CellAccesses(
        access=access,
        shadow=shadow,
        cells=cells,
        lanes=group.lane_numbers[lanes],
        threads=threads,
        interval=_select(group.interval, lanes),
        warp_syncs=group.warp_syncs.count,
        clock=group.clock,
        position=program_position(access),
        copied=copied,
    )


def _remembered_accesses(
    read: Read, shadow: Shadow, cells: Array, lanes: Any, interval: Any, threads: Array
) -> CellAccesses:
    """A read that was remembered, as its group stood when it was made."""
    return CellAccesses(
        access=read.access,
        shadow=shadow,
        cells=cells,
        lanes=read.access.group.lane_numbers[lanes],
        threads=threads,
        interval=interval,
        warp_syncs=read.warp_syncs,
        read_event=read.event,
        clock=read.clock,
        position=read.position,
    )


def _relation_to_writes(accesses: CellAccesses) -> Relation:
    """How accesses stand to the last write of each cell."""
    cells, threads, shadow = accesses.cells, accesses.threads, accesses.shadow
    block_threads = accesses.access.group.launch.threads
    writers = shadow.writer.take(cells)
    same_block = writers // block_threads == threads // block_threads
    ordered_in_warp = accesses.access.group.warp_syncs.order(
        shadow.warp_syncs.take(cells),
        accesses.warp_syncs,
        accesses.lanes,
        writers % block_threads % WARP_SIZE,
    )
    warps, writer_warps = (t % block_threads // WARP_SIZE for t in (threads, writers))
    return Relation(
        same_thread=writers == threads,
        same_warp=same_block & (writer_warps == warps),
        same_block=same_block,
        same_interval=shadow.interval.take(cells) == accesses.interval,
        same_warp_interval=~ordered_in_warp,
        during_copy=accesses.copied,
        of_one_block=shadow.of_one_block.take(cells) | accesses.of_one_block,
    )


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
    shadow.interval[cells] = _select(access.group.interval, lanes)
    shadow.copied[cells] = False
    shadow.copies -= cells.size


def _written_in_interval(group: Group, written: Array, lanes: Any) -> Any:
    """Which cells were last written in the present interval of their lane: bool [n], or False.

    written int [n] are the intervals in which the cells were last written.
    """
    if isinstance(group.interval, int) and int(written.max()) < group.interval:
        return False
    return written == _select(group.interval, lanes)


def _thread_numbers(group: Group) -> Array:
    """Each lane's thread, numbered over the grid: int [lanes]."""
    numbers: Array | None = group.thread_numbers
    if numbers is None:
        numbers = np.add.outer(
            group.blocks.astype(np.int64) * group.launch.threads, group.threads
        ).reshape(-1)
        group.thread_numbers = numbers
    return numbers


def _select(interval: Any, lanes: Any) -> Any:
    """The barrier interval of some lanes, one number where all lanes have the same."""
    return interval if isinstance(interval, int) else interval[lanes]


def _block_pointers(body: Statement) -> frozenset[Expression]:
    """The pointers of a kernel's atomics for the threads of one block."""
    return frozenset(
        expression.arguments[0]
        for expression in expressions_within(body)
        if isinstance(expression, Call)
        and expression.function in ATOMIC_FUNCTIONS
        and expression.function.endswith("_block")
    )


def _is_volatile(access: Access) -> bool:
    """Whether an access is a store to a volatile lvalue."""
    lvalue = access.lvalue
    return (
        access.kind is AccessKind.STORE
        and isinstance(lvalue, (Index, Dereference))
        and lvalue.volatile
    )


def _load_or_store(kind: AccessKind) -> AccessKind:
    """A kind of access as RACES has it: an atomic counts as a store."""
    return AccessKind.LOAD if kind is AccessKind.LOAD else AccessKind.STORE


def _example_of_lane(group: Group, lane: int, cell: tuple[int, ...] | None) -> Example:
    """An example with one thread alone."""
    return Example(*group.thread_of(lane), None, None, cell, loop_iterations(group))


def _block_and_thread(thread: int, launch: Launch) -> tuple[Dim3, Dim3]:
    """Block and thread, in x, y, z, of a thread numbered over the grid."""
    block, within = divmod(thread, launch.threads)
    return unravel(block, launch.grid), unravel(within, launch.block)


def _cell_index(buffer: Buffer, cell: int, lanes: int = 1) -> tuple[int, ...]:
    """A cell's indices in the shape of its array; lanes are those of a local array's group."""
    match buffer.space:
        case MemorySpace.SHARED:
            cell %= buffer.stride // buffer.element.size
        case MemorySpace.LOCAL if buffer.stride:  # a lane's bytes lie side by side
            cell %= buffer.stride // buffer.element.size
        case MemorySpace.LOCAL:
            cell //= lanes
        case MemorySpace.GLOBAL | MemorySpace.CONSTANT:
            pass
        case _:
            assert_never(buffer.space)
    return tuple(int(i) for i in np.unravel_index(cell, buffer.shape or (1,)))
