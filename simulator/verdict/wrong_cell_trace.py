"""Traces a wrong cell: which thread stored it, and which of its operands was the wrong one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel, MemorySpace
from simulator.launch import Dim3, Launch, format_cell, format_index, ravel
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Number, loop_iterations
from simulator.sentences import verdicts
from simulator.verdict.verdict import CellRead, WrongCell

SECONDS = 2.0  # for the launch, and for its block once more
MAX_READS = 20_000  # of a thread that are kept
LAST_READS = 4  # that are listed where the wrong one is not known


@dataclass(frozen=True, slots=True)
class Operands:
    """The factors that a cell of a product needs: A's row and B's column, [K] each."""

    A: str  # the parameter's name
    B: str
    row: int
    column: int
    left: Array
    right: Array


def trace_wrong_cell(
    kernel: Kernel, launch: Launch, wrong: WrongCell, cell: int, operands: Operands | None
) -> WrongCell:
    """A wrong cell with its thread, line and reads, as far as a run shows them.

    Its sentence says them too. cell is its number in its array.
    """
    schedule = Schedule(wrong.order)
    stores = _Stores(wrong.array, cell)
    try:
        Machine(kernel, launch, [stores], schedule, seconds=SECONDS).run()
        if stores.last is None:
            return replace(wrong, sentence=f"{wrong.sentence} {verdicts.NOT_STORED}")
        block, thread, line = stores.last
        reads = _Reads(ravel(thread, launch.block))
        number = ravel(block, launch.grid)
        Machine(kernel, launch, [reads], schedule, seconds=SECONDS).run(np.array([number]))
    except (LaunchError, SourceError):
        return wrong
    names = format_index(thread, launch.block), format_index(block, launch.grid)
    who = verdicts.stored(*names, line, len(stores.threads) - 1)
    found, explanation = _operand(reads.reads, operands) if operands is not None else (None, "")
    if operands is not None and not reads.reads:
        explanation = verdicts.few_products(0, operands.left.size)
    explanation = explanation or verdicts.last_reads(
        [_held(one) for one in reads.reads[-LAST_READS:]]
    )
    return replace(
        wrong,
        block=block,
        thread=thread,
        line=line,
        reads=(found,) if found is not None else tuple(reads.reads[-LAST_READS:]),
        sentence=f"{wrong.sentence} {who} {explanation}",
    )


@dataclass(slots=True)
class _Stores(Observer):
    """Who stores one cell of one array."""

    array: str
    cell: int
    last: tuple[Dim3, Dim3, int] | None = None  # block, thread, line
    threads: set[tuple[Dim3, Dim3]] = field(default_factory=set)

    def on_access(self, access: Access) -> None:
        """Keep a store to the cell."""
        if access.kind is AccessKind.LOAD or access.buffer.name != self.array:
            return
        cells, lanes = access.cells()
        for place in np.flatnonzero(cells == self.cell).tolist():
            lane = int(place if isinstance(lanes, slice) else lanes[place])
            block, thread = access.group.thread_of(lane)
            self.threads.add((block, thread))
            self.last = (block, thread, access.lvalue.span.line)


@dataclass(slots=True)
class _Reads(Observer):
    """What one thread of the only block that runs reads from shared and global memory."""

    thread: int  # its number in the block
    reads: list[CellRead] = field(default_factory=list)

    def on_access(self, access: Access) -> None:
        """Keep a load."""
        is_array = access.buffer.space in (MemorySpace.GLOBAL, MemorySpace.SHARED)
        if access.kind is not AccessKind.LOAD or not is_array or len(self.reads) >= MAX_READS:
            return
        group = access.group
        lanes = np.flatnonzero(group.threads == self.thread)
        if not lanes.size:
            return
        lane = int(lanes[0])
        if access.mask is not None and not np.broadcast_to(access.mask, (group.lanes,))[lane]:
            return
        first = access.index if isinstance(access.index, int) else int(access.index[lane])
        held = access.values if isinstance(access.values, tuple) else (access.values,)
        values = [np.asarray(each) for each in held]
        iterations = loop_iterations(group)
        for component, value in enumerate(values):
            one = np.broadcast_to(value, (group.lanes,))[lane]
            size = access.buffer.size // access.component_size
            self.reads.append(
                CellRead(
                    line=access.lvalue.span.line,
                    array=access.buffer.name,
                    index=_index(first + component, access.buffer.shape, size),
                    value=as_number(one),
                    iteration=iterations[-1] if iterations else None,
                )
            )


def _index(cell: int, shape: Sequence[int], size: int) -> tuple[int, ...]:
    """A cell as the array's index, where its elements are read as what they are."""
    if int(np.prod(shape)) != size or not 0 <= cell < size:
        return (cell,)
    return tuple(int(one) for one in np.unravel_index(cell, tuple(shape)))


def as_number(value: Any) -> Number:
    """A value of an array as JSON holds it: its name where it is not finite."""
    found = float(value)
    return found if np.isfinite(found) else str(found)


def _held(read: CellRead) -> str:
    return verdicts.holding(read.array, read.index, read.value)


# The operands of a product ------------------------------------------------------------------------


def _operand(reads: Sequence[CellRead], operands: Operands) -> tuple[CellRead | None, str]:
    """The first read that is not the factor it should be, and the sentence; (None, "") if unknown.

    The factors are the two values that one line reads each time that it runs.
    """
    pairs = _pairs(reads)
    if not pairs:
        return None, ""
    needed = list(zip(operands.left.tolist(), operands.right.tolist(), strict=True))
    terms = len(needed)
    exchanged = [(right, left) for left, right in pairs]
    for each in (pairs, exchanged):
        if Counter((left.value, right.value) for left, right in each) == Counter(needed):
            return None, verdicts.right_factors(terms)  # in whatever order
    pairs = max(pairs, exchanged, key=lambda each: _agreeing(each, needed))
    k, _ = _agreeing(pairs, needed)
    if k < min(len(pairs), terms):
        left, right = pairs[k]
        is_left = left.value != needed[k][0]
        read = left if is_left else right
        cell = (operands.row, k) if is_left else (k, operands.column)
        array, value = (operands.A if is_left else operands.B), needed[k][0 if is_left else 1]
        number = as_number(value)
        found = replace(read, needed=format_cell(array, cell), needed_value=number)
        needs = verdicts.holding(array, cell, number)
        explanation = verdicts.wrong_factor(k, terms, _held(read), read.line, needs)
        if len(pairs) < terms:
            explanation = f"{verdicts.few_products(len(pairs), terms)} {explanation}"
        return found, explanation
    if len(pairs) < terms:
        return None, verdicts.few_products(len(pairs), terms)
    beyond = next(
        ((left, right) for left, right in pairs[terms:] if left.value and right.value), None
    )
    if beyond is not None:
        left, right = beyond
        return left, verdicts.many_products(terms, _held(left), _held(right), left.line)
    return None, verdicts.right_factors(terms)


def _pairs(reads: Sequence[CellRead]) -> list[tuple[CellRead, CellRead]]:
    """The two values that one line reads each time that it runs, of the line that runs most."""
    by_line: dict[int, list[CellRead]] = {}
    for read in reads:
        by_line.setdefault(read.line, []).append(read)
    best: list[tuple[CellRead, CellRead]] = []
    for line in by_line.values():
        pairs = list(zip(line[::2], line[1::2], strict=False))
        alike = all(
            (a.array, b.array) == (line[0].array, line[1].array) and a.array != b.array
            for a, b in pairs
        )
        if len(line) % 2 == 0 and alike and len(pairs) >= len(best):
            best = pairs
    return best


def _agreeing(
    pairs: Sequence[tuple[CellRead, CellRead]], needed: Sequence[tuple[float, float]]
) -> tuple[int, int]:
    """How many pairs from the first are those needed, and how many factors in whatever order."""
    values = [(left.value, right.value) for left, right in pairs]
    agree = [found == right for found, right in zip(values, needed, strict=False)]
    sides = zip(zip(*values, strict=True), zip(*needed, strict=True), strict=True)
    alike = sum((Counter[Any](found) & Counter(right)).total() for found, right in sides)
    return (*agree, False).index(False), alike
