"""The observer that finds what no correct kernel does: races, bad addresses, unset cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import Span
from simulator.language.tree import Barrier, Expression, Kernel, MemorySpace
from simulator.launch import WARP_SIZE, Launch, unravel
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.observer import Access, AccessKind, Fault, FaultReason, Observer
from simulator.observers.findings import (
    KINDS,
    Example,
    Hazard,
    HazardKind,
    block_and_thread,
    cell_index,
    iterations,
    point,
    race_sentence,
    stored,
)
from simulator.observers.shadow import MANY, MAX_READS, NOBODY, Moment, Shadow, moment


class Hazards(Observer):
    """Watches a launch; `found` lists what it saw, in the order it was first seen."""

    def __init__(self) -> None:
        self._found: dict[Any, Hazard] = {}
        self._shadows: dict[Buffer, Shadow] = {}
        self.stored: set[str] = set()
        self._launch: Launch | None = None
        self._events = 0
        self._copies: set[Expression] = set()  # places that asynchronous copies write to
        self._moments: dict[int, Moment] = {}  # of the events since the last barrier

    @property
    def found(self) -> tuple[Hazard, ...]:
        """Every hazard so far."""
        return tuple(self._found.values())

    # What the machine tells ------------------------------------------------------------------

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Learn which global arrays the kernel may write: reads of the others cannot race."""
        self._launch = launch
        self.stored = stored(kernel)
        for name, buffer in buffers.items():
            if name in self.stored:
                shadow = self._shadows[buffer] = Shadow(buffer)
                shadow.interval[:] = -2  # given by the launch: written, but in no interval

    def on_access(self, access: Access) -> None:
        """Check one instruction against what was done to its cells before."""
        buffer = access.buffer
        shadow = self._shadows.get(buffer)
        if shadow is None:
            if buffer.space is MemorySpace.GLOBAL:
                return
            shadow = self._shadows[buffer] = Shadow(buffer)
        group = access.group
        group.clock += 1
        cells, lanes = access.cells()
        if access.kind is AccessKind.LOAD:
            self._load(access, shadow, cells, lanes)
        elif access.lvalue in self._copies:
            self._arrive(access, shadow, cells, lanes)
        else:
            self._store(access, shadow, cells, lanes)

    def on_copy(self, access: Access) -> None:
        """A copy begins: until it is waited for, whoever touches its cells is in a race."""
        shadow = self._shadows.get(access.buffer)
        if shadow is None:
            shadow = self._shadows[access.buffer] = Shadow(access.buffer)
        access.group.clock += 1
        cells, lanes = access.cells()
        self._store(access, shadow, cells, lanes)
        self._copies.add(access.lvalue)
        shadow.copied[cells] = True
        shadow.copies += cells.size

    def on_fault(self, fault: Fault) -> None:
        """An access outside its array, or at a wrong multiple."""
        lane = int(fault.lanes.argmax())
        offset, count = int(fault.offsets[lane]), int(fault.lanes.sum())
        block, thread = fault.group.thread_of(lane)
        what = "reads" if fault.kind is AccessKind.LOAD else "writes"
        buffer, line = fault.buffer, fault.lvalue.span.line
        size = buffer.element.size
        shape = "".join(f"[{n}]" for n in buffer.shape)
        if fault.reason is FaultReason.OUT_OF_BOUNDS:
            where = (
                f"element {offset // size} of {buffer.name}, an array of "
                f"{buffer.size // size} ({buffer.element} {buffer.name}{shape})"
            )
        else:
            where = (
                f"{fault.width} bytes of {buffer.name} at byte {offset}, which is no "
                f"multiple of {fault.width}"
            )
        message = (
            f"line {line}: thread {point(thread)} of block {point(block)} {what} {where}; "
            "the access is dropped."
        )
        example = Example(block, thread, None, None, None, iterations(fault.group))
        self._add(HazardKind(fault.reason), (line,), buffer, message, count, example)

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is read before it has a value."""
        block, thread = group.thread_of(int(lanes[0]))
        message = (
            f"line {span.line}: thread {point(thread)} of block {point(block)} reads {name}, "
            "which has no value yet."
        )
        example = Example(block, thread, None, None, None, iterations(group))
        key = (HazardKind.UNINITIALIZED_READ, name, span.line)
        self._put(
            key,
            Hazard(key[0], (span.line,), name, MemorySpace.REGISTER, message, lanes.size, example),
        )

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """An interval ends: its reads are compared with the writes that came after them."""
        self._end_interval()

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk ends; its shared and local arrays go with it."""
        self._end_interval()
        for buffer in [b for b in self._shadows if b.space is not MemorySpace.GLOBAL]:
            del self._shadows[buffer]

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, block_index: int, arrived: Array
    ) -> None:
        """Some threads of a block wait at a barrier that others do not reach."""
        assert self._launch is not None
        line = barrier.span.line
        here, missing = int(arrived.argmax()), int((~arrived).argmax())
        block = unravel(int(group.blocks[block_index]), self._launch.grid)
        thread, other = (unravel(t, self._launch.block) for t in (here, missing))
        message = (
            f"line {line}: __syncthreads() is reached by only {int(arrived.sum())} of the "
            f"{arrived.size} threads of block {point(block)}; thread {point(other)} does not "
            "reach it."
        )
        example = Example(block, thread, block, other, None, iterations(group))
        key = (HazardKind.DIVERGENT_BARRIER, line)
        self._put(key, Hazard(key[0], (line,), None, None, message, 1, example))

    # Races -----------------------------------------------------------------------------------

    def _load(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        group = access.group
        written = shadow.interval.take(cells)
        space = access.buffer.space
        if int(written.min()) == NOBODY:
            self._uninitialized(access, cells, lanes, written == NOBODY)
        if space is MemorySpace.LOCAL:
            return
        me = self._threads(group)[lanes]
        race = self._same_interval(group, written, lanes)
        early = shadow.copied.take(cells) if shadow.copies else False
        race = race | early
        if space is MemorySpace.GLOBAL:
            assert shadow.blocks is not None
            race = race | (shadow.writer.take(cells) >= 0)
            blocks = me // group.launch.threads
            before = shadow.blocks.take(cells)
            one = (before == NOBODY) | (before == blocks)
            shadow.blocks[cells] = np.where(one, blocks, MANY)
            clash = shadow.blocks.take(cells) != blocks
            shadow.blocks[cells[clash]] = MANY
        if race is not False and race.any():
            self._compare(access, shadow, cells, lanes, race, me, "read", early=early)
        shadow.remember_read(access, self._events)

    def _store(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        group = access.group
        if access.buffer.space is MemorySpace.LOCAL:
            shadow.interval[cells] = 0
            return
        me = self._threads(group)[lanes]
        written = shadow.interval.take(cells)
        if access.kind is AccessKind.ATOMIC and int(written.min()) == NOBODY:
            self._uninitialized(access, cells, lanes, written == NOBODY)
        race = self._same_interval(group, written, lanes)
        if access.buffer.space is MemorySpace.GLOBAL:
            assert shadow.blocks is not None
            race = race | (shadow.writer.take(cells) >= 0)
            readers = shadow.blocks.take(cells)
            foreign = (readers != NOBODY) & (readers != me // group.launch.threads)
            if foreign.any():
                self._foreign_reader(access, cells, lanes, foreign, readers, me)
        if race is not False and race.any():
            self._compare(access, shadow, cells, lanes, race, me, "write")
        interval = group.interval
        shadow.interval[cells] = interval if isinstance(interval, int) else interval[lanes]
        shadow.writer[cells] = me
        shadow.line[cells] = access.lvalue.span.line
        shadow.clock[cells] = group.clock
        self._events += 1
        shadow.event[cells] = self._events
        if len(self._moments) < MAX_READS:
            self._moments[self._events] = moment(access)
        shadow.syncs[cells] = group.warp_syncs
        shadow.atomic[cells] = access.kind is AccessKind.ATOMIC
        shadow.wrote = True
        clash = shadow.writer.take(cells) != me
        if clash.any():  # two lanes of this very instruction write one cell
            self._compare(access, shadow, cells, lanes, clash, me, "write")

    def _arrive(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        """A copy has been waited for: the next barrier shows its cells to all threads."""
        interval = access.group.interval
        shadow.interval[cells] = interval if isinstance(interval, int) else interval[lanes]
        shadow.copied[cells] = False
        shadow.copies -= cells.size

    def _end_interval(self) -> None:
        """Compare the reads of the interval that ends with writes that came later."""
        for shadow in self._shadows.values():
            if shadow.wrote and shadow.reads:
                for access, clock, interval, event, syncs, when in list(shadow.reads.values()):
                    cells, lanes = access.cells()
                    group = access.group
                    me = self._threads(group)[lanes]
                    written = shadow.interval.take(cells)
                    race = (written == _of(interval, lanes)) & (shadow.event.take(cells) > event)
                    if race.any():
                        self._compare(
                            access, shadow, cells, lanes, race, me, "read", (clock, syncs, when)
                        )
            shadow.reads.clear()
            shadow.wrote = False
        self._moments.clear()

    def _same_interval(self, group: Group, written: Array, lanes: Any) -> Any:
        """Which cells were last written in the lanes' present interval; False if none."""
        if isinstance(group.interval, int) and int(written.max()) < group.interval:
            return False
        return written == _of(group.interval, lanes)

    def _compare(
        self,
        access: Access,
        shadow: Shadow,
        cells: Array,
        lanes: Any,
        race: Array,
        me: Array,
        what: str,
        then: tuple[int, int, Moment] | None = None,
        early: Any = False,
    ) -> None:
        """Report the lanes of `race` whose cell another thread wrote.

        then holds the clock, the warp's syncs and the moment of an access that was made before;
        early tells the cells that a copy not yet waited for writes, by the same thread or another.
        """
        group = access.group
        others = shadow.writer.take(cells)
        real = race & ((others != me) | early)
        at, syncs, mine = then or (group.clock, group.warp_syncs, moment(access))
        threads = group.launch.threads
        same_block = others // threads == me // threads
        same_warp = same_block & (others % threads // WARP_SIZE == me % threads // WARP_SIZE)
        real &= ~same_warp | (shadow.syncs.take(cells) == syncs) | early
        if access.kind is AccessKind.ATOMIC:
            real &= ~shadow.atomic.take(cells)
        if access.buffer.space is MemorySpace.GLOBAL:
            interval = shadow.interval.take(cells) == _of(group.interval, lanes)
            real &= ~same_block | interval
        if not real.any():
            return
        for line in np.unique(shadow.line.take(cells)[real]):
            these = real & (shadow.line.take(cells) == line)
            first = int(these.argmax())
            # Which was meant first is told by where in the text and its loops each stands; in one
            # line, or within functions, by how many accesses each warp had made by then.
            theirs = self._moments.get(int(shadow.event[cells[first]]), ())
            if mine and theirs and mine != theirs:
                later = theirs > mine
            else:
                later = int(shadow.clock[cells[first]]) > at
            order, lines = ("write", what), (int(line), access.lvalue.span.line)
            if later:
                order, lines = order[::-1], lines[::-1]
            copying = not later and bool(np.any(early & these))
            self._race(
                KINDS[order], lines, access, int(cells[first]), int(me[first]),
                int(others[first]), int(these.sum()), later, copying,
            )  # fmt: skip

    def _foreign_reader(
        self, access: Access, cells: Array, lanes: Any, foreign: Array, readers: Array, me: Array
    ) -> None:
        """A global cell is written that a thread of another block has read."""
        first = int(foreign.argmax())
        reader = int(readers[first])
        line = access.lvalue.span.line
        other = None if reader == MANY else reader * access.group.launch.threads
        self._race(
            HazardKind.WRITE_AFTER_READ, (line,), access, int(cells[first]), int(me[first]), other,
            int(foreign.sum()),
        )  # fmt: skip

    def _race(
        self,
        kind: HazardKind,
        lines: tuple[int, ...],
        access: Access,
        cell: int,
        me: int,
        other: int | None,
        count: int,
        mine_first: bool = False,
        copying: bool = False,
    ) -> None:
        launch = access.group.launch
        buffer = access.buffer
        block, thread = block_and_thread(me, launch)
        other_block, other_thread = (
            (None, None) if other is None else block_and_thread(other, launch)
        )
        index = cell_index(buffer, cell)
        name = buffer.name + "".join(f"[{i}]" for i in index)
        message = race_sentence(
            kind, lines, name, (block, thread), (other_block, other_thread), mine_first, copying
        )
        example = Example(block, thread, other_block, other_thread, index, iterations(access.group))
        self._add(kind, lines, buffer, message, count, example)

    def _uninitialized(self, access: Access, cells: Array, lanes: Any, unset: Array) -> None:
        group, buffer = access.group, access.buffer
        first = int(unset.argmax())
        lane = int(group.lane_numbers[lanes][first])
        block, thread = group.thread_of(lane)
        index = cell_index(buffer, int(cells[first]), group.lanes)
        line = access.lvalue.span.line
        message = (
            f"line {line}: thread {point(thread)} of block {point(block)} reads "
            f"{buffer.name}{''.join(f'[{i}]' for i in index)}, a {buffer.space} cell that "
            "nothing was written to."
        )
        example = Example(block, thread, None, None, index, iterations(group))
        count = int(unset.sum())
        self._add(HazardKind.UNINITIALIZED_READ, (line,), buffer, message, count, example)

    def _threads(self, group: Group) -> Array:
        """Each lane's thread, numbered over the grid: [lanes]."""
        numbers: Array | None = group.thread_numbers
        if numbers is None:
            numbers = np.add.outer(
                group.blocks.astype(np.int64) * group.launch.threads, group.threads
            ).reshape(-1)
            group.thread_numbers = numbers
        return numbers

    def _add(
        self,
        kind: HazardKind,
        lines: tuple[int, ...],
        buffer: Buffer,
        message: str,
        count: int,
        example: Example,
    ) -> None:
        key = (kind, lines, buffer.name)
        self._put(key, Hazard(kind, lines, buffer.name, buffer.space, message, count, example))

    def _put(self, key: Any, hazard: Hazard) -> None:
        known = self._found.get(key)
        if known is None:
            self._found[key] = hazard
        else:
            self._found[key] = replace(known, count=known.count + hazard.count)


def _of(interval: Any, lanes: Any) -> Any:
    return interval if isinstance(interval, int) else interval[lanes]
