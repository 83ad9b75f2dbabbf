"""What a recording consists of: steps, and of each its parts, accesses and how everything stood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.ctype import Array
from simulator.language.tree import Expression, If, Kernel, Loop, MemorySpace, Statement, Variable
from simulator.launch import Dim3, Launch
from simulator.machine.observer import AccessKind, StepKind


@dataclass(frozen=True, slots=True)
class LoopPosition:
    """Where in a loop a step is: its iteration from 0, and what its variable then holds.

    value is None where the threads' values differ or are no whole numbers, and where the loop has
    no variable.
    """

    loop: Loop
    iteration: int
    variable: str | None
    value: int | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One subexpression's value within a step: `values` has a number a thread of the block [T].

    A short vector's are [T, n], a pointer's are bytes from the start of the array it points into,
    whose name `array` then is. `active` [T] tells which threads evaluated it.
    """

    expression: Expression
    values: Array
    active: Array
    array: str | None = None


@dataclass(frozen=True, slots=True)
class StepAccess:
    """One load or store instruction within a step, for every thread of the block.

    name is the array's;
    offsets [T] bytes from its start; width bytes a thread; values [T] (or [T, n] for a short
    vector) what was read or written; active [T]; in_bounds [T] is False where it was dropped.
    """

    kind: AccessKind
    space: MemorySpace
    name: str
    offsets: Array
    width: int
    values: Array
    active: Array
    expression: Expression
    in_bounds: Array


@dataclass(frozen=True, slots=True)
class Step:
    """What one statement did in the recorded block, and how everything stood afterwards.

    T is the number of threads of the block, counted in x, then y, then z. Snapshots are never
    written again: steps share those that did not change.
    """

    number: int
    kind: StepKind
    statement: Statement
    loops: tuple[LoopPosition, ...]
    interval: int
    active: Array
    evaluations: tuple[Evaluation, ...]
    accesses: tuple[StepAccess, ...]
    registers: Mapping[str, Array]
    shared: Mapping[str, Array]
    written: Mapping[str, Array]
    outputs: Mapping[str, Array]
    stored: Mapping[str, Array]

    @property
    def line(self) -> int:
        """The line of the text, from 1."""
        if self.kind in (StepKind.TEST, StepKind.ADVANCE) and isinstance(
            self.statement, (If, Loop)
        ):
            part = self.statement.condition
            if self.kind is StepKind.ADVANCE and isinstance(self.statement, Loop):
                part = self.statement.advance
            if part is not None:
                return part.span.line
        return self.statement.span.line


@dataclass(frozen=True, slots=True)
class Recording:
    """The steps of one block and what is needed to draw any of them.

    arguments are as they were before the launch. outputs in a Step maps the name of each global
    array that the kernel writes to a copy of it as this block has left it, stored to the cells
    this block has written. shared maps each shared array's name to its contents, written to
    which of its cells were ever written. registers maps each variable's name to one value a
    thread [T], or [T, ...] for an array that every thread has of its own.
    """

    kernel: Kernel
    launch: Launch
    arguments: Mapping[str, Array]
    block: Dim3
    steps: tuple[Step, ...]
    shared: tuple[Variable, ...]
