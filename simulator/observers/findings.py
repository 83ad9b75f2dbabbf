"""What a hazard is, and the words for where it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from simulator.language.functions import ASYNC_COPY, ATOMIC_FUNCTIONS
from simulator.language.tree import (
    Assign,
    Call,
    Expression,
    Increment,
    Kernel,
    Load,
    MemorySpace,
    Name,
    Variable,
)
from simulator.language.visit import expressions_of, operands, subexpressions, walk
from simulator.launch import Dim3, Launch, unravel
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group

Number = float | str  # a value; its name where it is not finite
WRITING_FUNCTIONS = ATOMIC_FUNCTIONS | {ASYNC_COPY}


class HazardKind(StrEnum):
    """What no correct kernel does."""

    READ_AFTER_WRITE = "read-after-write"
    WRITE_AFTER_READ = "write-after-read"
    WRITE_AFTER_WRITE = "write-after-write"
    UNINITIALIZED_READ = "uninitialized-read"
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    DIVERGENT_BARRIER = "divergent-barrier"


KINDS = {
    ("write", "read"): HazardKind.READ_AFTER_WRITE,
    ("read", "write"): HazardKind.WRITE_AFTER_READ,
    ("write", "write"): HazardKind.WRITE_AFTER_WRITE,
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
class Witness:
    """An order under which a race gives another value than `against` (observers.witness says why).

    order and against are "lockstep", a schedule ("descending", "random, seed 3") or two blocks'
    order. thread reads `read` where it reads `read_against` otherwise; the cell named by output
    ends as `value` instead of `value_against`; each None where nothing differs, and "nan" or
    "inf" by name. said tells it in a sentence.
    """

    order: str
    against: str
    thread: Dim3 | None
    read: Number | None
    read_against: Number | None
    output: str | None
    value: Number | None
    value_against: Number | None
    said: str


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something that a correct kernel never does, once for each pair of lines.

    lines holds one line, or the two of a race in
    the order that the kernel's author meant them; count how many lanes, over all its instructions.
    wrong_order names an order of warps or blocks that makes a race give a wrong value, where one
    was found, and witness that value.
    """

    kind: HazardKind
    lines: tuple[int, ...]
    array: str | None
    space: MemorySpace | None
    message: str
    count: int
    example: Example
    wrong_order: str | None = None
    witness: Witness | None = None


def race_sentence(
    kind: HazardKind,
    lines: tuple[int, ...],
    name: str,
    mine: tuple[Dim3, Dim3],
    other: tuple[Dim3 | None, Dim3 | None],
    mine_first: bool,
    copying: bool,
) -> str:
    """A race on the cell `name` in words; mine and other are a block and a thread each.

    copying tells that it is a copy not yet waited for that meets the second access.
    """
    (block, thread), (other_block, other_thread) = mine, other
    if other_block == block:
        theirs = f"thread {point(other_thread)}"
        between = "with no __syncthreads() between them"
    else:
        theirs = f"a thread of block {point(other_block)}" if other_block else "another block"
        between = "and blocks run in no order"
    if copying:
        between = "and the copy has not been waited for"
    first, second = next(pair for pair, name in KINDS.items() if name == kind)
    ours = f"thread {point(thread)}"
    who = (ours, theirs) if mine_first else (theirs, ours)
    return (
        f"line {lines[0]}: {who[0]} {first}s {name} and line {lines[-1]}: {who[1]} {second}s "
        f"it in block {point(block)}, {between}."
    )


def stored(kernel: Kernel) -> set[str]:
    """The parameters that the kernel may store through; all of them if a pointer is copied."""
    every = {p.name for p in kernel.parameters}
    found: set[str] = set()
    for statement in walk(kernel.body):
        for expression in expressions_of(statement):
            for part in subexpressions(expression):
                if isinstance(part, Call) and part.function in WRITING_FUNCTIONS:
                    root = _root(part.arguments[0])
                elif isinstance(part, (Assign, Increment)) and not isinstance(part.lvalue, Name):
                    root = _root(part.lvalue)
                else:
                    continue
                if root is None or root.space is MemorySpace.REGISTER:
                    return every
                if root.space is MemorySpace.PARAMETER:
                    found.add(root.name)
    return found


def _root(lvalue: Expression) -> Variable | None:
    """The variable that a place's address starts from, or None where it is computed."""
    match lvalue:
        case Name(variable=variable):
            return variable
        case Load(lvalue=inner):
            return _root(inner)
        case _:
            inside = operands(lvalue)
            return _root(inside[0]) if inside else None


def block_and_thread(thread: int, launch: Launch) -> tuple[Dim3, Dim3]:
    """Block and thread of a thread numbered over the grid."""
    return (
        unravel(thread // launch.threads, launch.grid),
        unravel(thread % launch.threads, launch.block),
    )


def cell_index(buffer: Buffer, cell: int, lanes: int = 1) -> tuple[int, ...]:
    """A cell's indices in its array's shape."""
    if buffer.space is MemorySpace.SHARED:
        cell %= buffer.stride // buffer.element.size
    elif buffer.space is MemorySpace.LOCAL:
        cell //= lanes
    return tuple(int(i) for i in np.unravel_index(cell, buffer.shape or (1,)))


def iterations(group: Group) -> tuple[int, ...]:
    """Each loop's iteration that a group is in, outermost first."""
    return tuple(state.iteration for state in group.loops)


def point(index: Dim3 | None) -> str:
    """An index in x, y, z as messages write it."""
    return "(?)" if index is None else f"({', '.join(map(str, index))})"
