"""The observer that finds what a correct kernel never does: races, and reads of what is not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.ctype import Array
from simulator.group import Group
from simulator.launch import Dim3, Launch
from simulator.memory import Buffer
from simulator.observer import Access, Fault, Observer
from simulator.shadow import MANY, NOBODY, Shadow, cells_of
from simulator.tree import (
    Assign,
    Barrier,
    Expression,
    Increment,
    Kernel,
    Load,
    Name,
    Span,
    expressions_of,
    operands,
    subexpressions,
    walk,
)

KINDS = {
    ("write", "read"): "read-after-write",
    ("read", "write"): "write-after-read",
    ("write", "write"): "write-after-write",
}


@dataclass(frozen=True, slots=True)
class Example:
    """The first time a hazard was seen.

    thread and other are in x, y, z within their blocks; cell indexes the array (row first), or is
    None outside it; iterations tells each loop's iteration from 0, outermost first.
    """

    block: Dim3
    thread: Dim3
    other_block: Dim3 | None
    other: Dim3 | None
    cell: tuple[int, ...] | None
    iterations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something that a correct kernel never does, once for each pair of lines.

    kind: read-after-write, write-after-read, write-after-write, uninitialized-read,
    out-of-bounds, misaligned or divergent-barrier. lines holds one line, or the two of a race in
    the order that the kernel's author meant them; count how many lanes, over all its instructions.
    """

    kind: str
    lines: tuple[int, ...]
    array: str | None
    space: str | None
    message: str
    count: int
    example: Example


class Hazards(Observer):
    """Watches a launch; `found` lists what it saw, in the order it was first seen."""

    def __init__(self) -> None:
        self._found: dict[Any, Hazard] = {}
        self._shadows: dict[Buffer, Shadow] = {}
        self._stored: set[str] = set()
        self._launch: Launch | None = None
        self._events = 0

    @property
    def found(self) -> tuple[Hazard, ...]:
        """Every hazard so far."""
        return tuple(self._found.values())

    # What the machine tells ------------------------------------------------------------------

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Learn which global arrays the kernel may write: reads of the others cannot race."""
        self._launch = launch
        self._stored = _stored(kernel)
        for name, buffer in buffers.items():
            if name in self._stored:
                shadow = self._shadows[buffer] = Shadow(buffer)
                shadow.interval[:] = -2  # given by the launch: written, but in no interval

    def on_access(self, access: Access) -> None:
        """Check one instruction against what was done to its cells before."""
        buffer = access.buffer
        shadow = self._shadows.get(buffer)
        if shadow is None:
            if buffer.space == "global":
                return
            shadow = self._shadows[buffer] = Shadow(buffer)
        group = access.group
        group.clock += 1
        cells, lanes = cells_of(access)
        if access.kind == "load":
            self._load(access, shadow, cells, lanes)
        else:
            self._store(access, shadow, cells, lanes)

    def on_fault(self, fault: Fault) -> None:
        """An access outside its array, or at a wrong multiple."""
        lane = int(fault.lanes.argmax())
        offset, count = int(fault.offsets[lane]), int(fault.lanes.sum())
        block, thread = fault.group.thread_of(lane)
        what = "reads" if fault.kind == "load" else "writes"
        buffer, line = fault.buffer, fault.place.span.line
        size = buffer.element.size
        shape = "".join(f"[{n}]" for n in buffer.shape)
        if fault.reason == "out-of-bounds":
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
            f"line {line}: thread {_point(thread)} of block {_point(block)} {what} {where}; "
            "the access is dropped."
        )
        example = Example(block, thread, None, None, None, _iterations(fault.group))
        self._add(fault.reason, (line,), buffer, message, count, example)

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is read before it has a value."""
        block, thread = group.thread_of(int(lanes[0]))
        message = (
            f"line {span.line}: thread {_point(thread)} of block {_point(block)} reads {name}, "
            "which has no value yet."
        )
        example = Example(block, thread, None, None, None, _iterations(group))
        key = ("uninitialized-read", name, span.line)
        self._put(key, Hazard(key[0], (span.line,), name, "register", message, lanes.size, example))

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """An interval ends: its reads are compared with the writes that came after them."""
        self._end_interval()

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk ends; its shared and local arrays go with it."""
        self._end_interval()
        for buffer in [b for b in self._shadows if b.space != "global"]:
            del self._shadows[buffer]

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, slot: int, arrived: Array
    ) -> None:
        """Some threads of a block wait at a barrier that others do not reach."""
        assert self._launch is not None
        line = barrier.span.line
        here, missing = int(arrived.argmax()), int((~arrived).argmax())
        block = _three(int(group.blocks[slot]), self._launch.grid)
        thread, other = (_three(t, self._launch.block) for t in (here, missing))
        message = (
            f"line {line}: __syncthreads() is reached by only {int(arrived.sum())} of the "
            f"{arrived.size} threads of block {_point(block)}; thread {_point(other)} does not "
            "reach it."
        )
        example = Example(block, thread, block, other, None, _iterations(group))
        key = ("divergent-barrier", line)
        self._put(key, Hazard(key[0], (line,), None, None, message, 1, example))

    # Races -----------------------------------------------------------------------------------

    def _load(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        group = access.group
        written = shadow.interval.take(cells)
        space = access.buffer.space
        if int(written.min()) == NOBODY:
            self._uninitialized(access, cells, lanes, written == NOBODY)
        if space == "local":
            return
        me = self._threads(group)[lanes]
        race = self._same_interval(group, written, lanes)
        if space == "global":
            assert shadow.blocks is not None
            race = race | (shadow.writer.take(cells) >= 0)
            blocks = me // group.launch.threads
            before = shadow.blocks.take(cells)
            one = (before == NOBODY) | (before == blocks)
            shadow.blocks[cells] = np.where(one, blocks, MANY)
            clash = shadow.blocks.take(cells) != blocks
            shadow.blocks[cells[clash]] = MANY
        if race is not False and race.any():
            self._compare(access, shadow, cells, lanes, race, me, "read")
        shadow.remember_read(access, group.clock, group.interval, self._events)

    def _store(self, access: Access, shadow: Shadow, cells: Array, lanes: Any) -> None:
        group = access.group
        if access.buffer.space == "local":
            shadow.interval[cells] = 0
            return
        me = self._threads(group)[lanes]
        written = shadow.interval.take(cells)
        race = self._same_interval(group, written, lanes)
        if access.buffer.space == "global":
            assert shadow.blocks is not None
            race = race | (shadow.writer.take(cells) >= 0)
            readers = shadow.blocks.take(cells)
            foreign = (readers != NOBODY) & (readers != me // group.launch.threads)
            if foreign.any():
                self._foreign_reader(access, cells, lanes, foreign, readers, me)
        if race is not False and race.any():
            self._compare(access, shadow, cells, lanes, race, me, "write")
        interval = group.interval
        shadow.interval[cells] = (
            interval if isinstance(interval, int) else interval[lanes]
        )
        shadow.writer[cells] = me
        shadow.line[cells] = access.place.span.line
        shadow.clock[cells] = group.clock
        self._events += 1
        shadow.event[cells] = self._events
        shadow.wrote = True
        clash = shadow.writer.take(cells) != me
        if clash.any():  # two lanes of this very instruction write one cell
            self._compare(access, shadow, cells, lanes, clash, me, "write")

    def _end_interval(self) -> None:
        """Compare the reads of the interval that ends with writes that came later."""
        for shadow in self._shadows.values():
            if shadow.wrote and shadow.reads:
                for access, clock, interval, event in list(shadow.reads.values()):
                    cells, lanes = cells_of(access)
                    group = access.group
                    me = self._threads(group)[lanes]
                    written = shadow.interval.take(cells)
                    race = (written == _of(interval, lanes)) & (shadow.event.take(cells) > event)
                    if race.any():
                        self._compare(access, shadow, cells, lanes, race, me, "read", clock)
            shadow.reads.clear()
            shadow.wrote = False

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
        clock: int | None = None,
    ) -> None:
        """Report the lanes of `race` whose cell another thread wrote."""
        group = access.group
        others = shadow.writer.take(cells)
        real = race & (others != me)
        if access.buffer.space == "global":
            threads = group.launch.threads
            same_block = others // threads == me // threads
            interval = shadow.interval.take(cells) == _of(group.interval, lanes)
            real &= ~same_block | interval
        if not real.any():
            return
        at = group.clock if clock is None else clock
        for line in np.unique(shadow.line.take(cells)[real]):
            these = real & (shadow.line.take(cells) == line)
            first = int(these.argmax())
            # Which was meant first is told by how many accesses each warp had made by then.
            later = int(shadow.clock[cells[first]]) > at
            order = ("write", "write") if what == "write" else ("write", "read")
            lines = (int(line), access.place.span.line)
            if later and what == "read":
                order, lines = ("read", "write"), lines[::-1]
            self._race(
                KINDS[order], lines, access, int(cells[first]), int(me[first]),
                int(others[first]), int(these.sum()),
            )  # fmt: skip

    def _foreign_reader(
        self, access: Access, cells: Array, lanes: Any, foreign: Array, readers: Array, me: Array
    ) -> None:
        """A global cell is written that a thread of another block has read."""
        first = int(foreign.argmax())
        reader = int(readers[first])
        line = access.place.span.line
        other = None if reader == MANY else reader * access.group.launch.threads
        self._race(
            "write-after-read", (line,), access, int(cells[first]), int(me[first]), other,
            int(foreign.sum()),
        )  # fmt: skip

    def _race(
        self,
        kind: str,
        lines: tuple[int, ...],
        access: Access,
        cell: int,
        me: int,
        other: int | None,
        count: int,
    ) -> None:
        launch = access.group.launch
        buffer = access.buffer
        block, thread = _place(me, launch)
        other_block, other_thread = (None, None) if other is None else _place(other, launch)
        index = _cell_index(buffer, cell)
        name = buffer.name + "".join(f"[{i}]" for i in index)
        first, second = lines[0], lines[-1]
        verbs = dict((v, k) for k, v in KINDS.items())[kind]
        if other_block is not None and other_block == block:
            others = f"thread {_point(other_thread)}"
            between = "no __syncthreads() between them"
        else:
            others = f"a thread of block {_point(other_block)}" if other_block else "another block"
            between = "blocks are in no order"
        mine = f"thread {_point(thread)}"
        # The access at hand is the second of the pair, except for a read that came first.
        reads_first = kind == "write-after-read" and access.kind == "load"
        who = (mine, others) if reads_first else (others, mine)
        message = (
            f"line {first}: {who[0]} {verbs[0]}s {name} and line {second}: {who[1]} {verbs[1]}s "
            f"it in block {_point(block)}, with {between}."
        )
        example = Example(block, thread, other_block, other_thread, index, _iterations(access.group))
        self._add(kind, lines, buffer, message, count, example)

    def _uninitialized(self, access: Access, cells: Array, lanes: Any, unset: Array) -> None:
        group, buffer = access.group, access.buffer
        first = int(unset.argmax())
        lane = int(group.lane_numbers[lanes][first])
        block, thread = group.thread_of(lane)
        index = _cell_index(buffer, int(cells[first]), group.lanes)
        line = access.place.span.line
        message = (
            f"line {line}: thread {_point(thread)} of block {_point(block)} reads "
            f"{buffer.name}{''.join(f'[{i}]' for i in index)}, a {buffer.space} cell that "
            "nothing was written to."
        )
        example = Example(block, thread, None, None, index, _iterations(group))
        count = int(unset.sum())
        self._add("uninitialized-read", (line,), buffer, message, count, example)

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
        kind: str,
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


def _stored(kernel: Kernel) -> set[str]:
    """The parameters that the kernel may store through; all of them if a pointer is copied."""
    every = {p.name for p in kernel.parameters}
    stored: set[str] = set()
    for statement in walk(kernel.body):
        for expression in expressions_of(statement):
            for part in subexpressions(expression):
                if not isinstance(part, (Assign, Increment)) or isinstance(part.place, Name):
                    continue
                root = _root(part.place)
                if root is None or root.space == "register":
                    return every
                if root.space == "parameter":
                    stored.add(root.name)
    return stored


def _root(place: Expression) -> Any:
    """The variable that a place's address starts from, or None where it is computed."""
    match place:
        case Name(variable=variable):
            return variable
        case Load(place=inner):
            return _root(inner)
        case _:
            inside = operands(place)
            return _root(inside[0]) if inside else None


def _place(thread: int, launch: Launch) -> tuple[Dim3, Dim3]:
    """Block and thread of a thread numbered over the grid."""
    return (
        _three(thread // launch.threads, launch.grid),
        _three(thread % launch.threads, launch.block),
    )


def _three(number: int, sizes: Dim3) -> Dim3:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


def _cell_index(buffer: Buffer, cell: int, lanes: int = 1) -> tuple[int, ...]:
    """A cell's indices in its array's shape."""
    if buffer.space == "shared":
        cell %= buffer.stride // buffer.element.size
    elif buffer.space == "local":
        cell //= lanes
    return tuple(int(i) for i in np.unravel_index(cell, buffer.shape or (1,)))


def _iterations(group: Group) -> tuple[int, ...]:
    return tuple(state.iteration for state in group.loops)


def _point(place: Dim3 | None) -> str:
    return "(?)" if place is None else f"({', '.join(map(str, place))})"
