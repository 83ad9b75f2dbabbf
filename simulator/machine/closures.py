"""What a kernel is compiled to: Python closures over a group of warps and its active lanes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

from simulator.language.ctype import CType
from simulator.language.tree import Barrier, Call, Expression
from simulator.machine.buffers import Address
from simulator.machine.group import Group, Meeting, Spin
from simulator.machine.load_store import Memory, MemoryOperand
from simulator.machine.masks import Mask
from simulator.machine.observer import Observer

# An expression's closure gives its value: one number where all lanes agree, else an array [lanes];
# a tuple of these for a short vector; an Address for a pointer. Lanes that are not active hold
# any value.
Closure = Callable[[Group, Mask], Any]

# An lvalue's closure gives its address.
AddressClosure = Callable[[Group, Mask], Address]

# An assignment's closure gives the new value. Its third argument reads the old one.
Update = Callable[[Group, Mask, Closure], Any]

# A statement in which threads wait is a generator: it yields each barrier with the lanes that wait
# there, each turn of a loop that waits for another thread, and each call of a warp function that
# lanes of another branch may come to; it goes on when it is resumed, and returns the lanes that go
# on after the statement.
Waiting = Generator[tuple[Barrier, Mask] | Spin | Meeting, None, Any]

# A statement's closure gives the lanes that go on after it (a Mask), or a Waiting if threads wait
# in the statement.
Run = Callable[[Group, Mask], Any]


class ExpressionCompiler(Protocol):
    """What the compiler of one construct needs to compile the expressions within it."""

    @property
    def memory(self) -> Memory:
        """Loads and stores."""

    @property
    def observers(self) -> Sequence[Observer]:
        """Whom calls notify of what they do."""

    def compile(self, expression: Expression) -> Closure:
        """The closure that gives an expression's value."""

    def memo_slot(self) -> int:
        """A fresh index into Group.memo."""

    def operand(self, lvalue: Expression, ctype: CType) -> MemoryOperand:
        """What a load, store or atomic of values of a type accesses."""


# How a call of one of CUDA's functions is compiled.
CompileCall = Callable[[Call, ExpressionCompiler], Closure]


def remember(group: Group, slot: int, function: Any, left: Any, right: Any) -> Any:
    """function(left, right), or its last result if the operands are the very same objects."""
    memo = group.memo[slot]
    if memo is not None and memo[0] is left and memo[1] is right:
        return memo[2]
    result = function(left, right)
    group.memo[slot] = (left, right, result)
    return result


def as_generator(run: Run) -> Run:
    """A statement without a barrier in the form of a statement that has one."""

    def waiting(group: Group, mask: Mask) -> Waiting:
        return run(group, mask)
        yield  # makes this function a generator; it is never reached

    return waiting


def without_barrier(run: Callable[[Group, Mask], Waiting]) -> Run:
    """A statement in the form of a generator as a plain call, if no barrier is within it."""

    def call(group: Group, mask: Mask) -> Mask:
        try:
            next(run(group, mask))
        except StopIteration as end:
            return end.value
        raise AssertionError("a statement compiled without a barrier has met one")

    return call
