"""What a recording consists of: steps, and of each its values, accesses and how everything stood.

In shapes T is the number of threads of the block, counted in x, then y, then z.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language import tree
from simulator.language.ctype import Array
from simulator.launch import Dim3, Launch
from simulator.machine.observer import AccessKind, StepKind
from simulator.machine.warp_syncs import WarpSyncs

FARTHEST_FIRST = (
    tree.MemorySpace.GLOBAL, tree.MemorySpace.SHARED, tree.MemorySpace.CONSTANT,
    tree.MemorySpace.LOCAL,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoopPosition:
    """Where in a loop a step is."""

    loop: tree.Loop
    iteration: int  # from 0
    variable: str | None  # the name of the loop's variable, None if it has none
    value: int | None  # what that holds; None if threads differ or it is no whole number


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One subexpression's value within a step."""

    expression: tree.Expression
    # [T], of a short vector [T, components]; of a pointer bytes from the start of its array.
    values: Array
    active: Array  # bool [T], threads that evaluated it
    array: str | None = None  # the name of the array that a pointer points into


@dataclass(frozen=True, slots=True)
class StepAccess:
    """One load or store instruction within a step, for every thread of the block."""

    kind: AccessKind
    space: tree.ArraySpace
    name: str  # of the array
    offsets: Array  # int64 [T], bytes from the array's start
    width: int  # bytes a thread
    cell_bytes: int  # of one element of the array, whatever the access takes it for
    values: Array  # [T], of a short vector [T, components]; read, written or, if atomic, before it
    active: Array  # bool [T], threads that take part
    expression: tree.Expression  # the lvalue that is accessed
    in_bounds: Array  # bool [T], False where the access was dropped
    # int64 [T], bytes from the start of shared memory: where an asynchronous copy writes what it
    # loads. None of any other access.
    targets: Array | None = None

    @property
    def components(self) -> int:
        """Elements that a thread accesses: 1, or those of a short vector."""
        return int(self.values.shape[1]) if self.values.ndim > 1 else 1

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self.width // self.components

    def touched_cells(self) -> tuple[Array, Array]:
        """The cells that active threads touch within the array, and which thread touches each.

        Both int [m]; cells are elements, counted from the array's start, in the order of threads. A
        member of a struct may be several cells, or a part of one.
        """
        threads = np.flatnonzero(self.active & self.in_bounds)
        count = max(1, self.width // self.cell_bytes)
        first = self.offsets[threads] // self.cell_bytes
        cells = (first[:, None] + np.arange(count)).reshape(-1)
        return cells, np.repeat(threads, count)


@dataclass(frozen=True, slots=True)
class Step:
    """What one statement did in the recorded block, and how everything stood afterwards.

    Arrays are never written again, and steps share those that did not change.
    """

    number: int  # from 0
    kind: StepKind
    statement: tree.Statement
    loops: tuple[LoopPosition, ...]  # outermost first
    interval: int  # barriers that the block had passed before
    warp_syncs: int  # calls of __syncwarp() that its warps had made, this step's among them
    active: Array  # bool [T], threads that ran the statement
    evaluations: tuple[Evaluation, ...]  # in the order in which they were made
    accesses: tuple[StepAccess, ...]  # in the order in which they were made
    registers: Mapping[str, Array]  # each visible variable's values: [T], or [T, ...] for an array
    shared: Mapping[str, Array]  # each shared array's contents, in its shape
    written: Mapping[str, Array]  # bool in that shape: cells of it that were ever given a value
    # Contents of each global array that the block has written, or others before a grid's barrier.
    outputs: Mapping[str, Array]
    stored: Mapping[str, Array]  # bool in that shape: cells of it that the block has written

    @property
    def line(self) -> int:
        """The line of the text, from 1."""
        expression: tree.Expression | None = None
        match self.statement:
            case tree.If(condition=condition) if self.kind is StepKind.TEST:
                expression = condition
            case tree.Loop(condition=condition) if self.kind is StepKind.TEST:
                expression = condition
            case tree.Loop(advance=advance) if self.kind is StepKind.ADVANCE:
                expression = advance
        return self.statement.span.line if expression is None else expression.span.line


@dataclass(frozen=True, slots=True)
class Recording:
    """The steps of one block and what is needed to draw any of them."""

    kernel: tree.Kernel
    launch: Launch
    arguments: Mapping[str, Array]  # by parameter name, as they were before the launch
    block: Dim3  # x, y, z in the grid
    steps: tuple[Step, ...]
    shared: tuple[tree.Variable, ...]  # Kernel.shared_memories
    warp_syncs: tuple[WarpSyncs, ...]  # one for the block if it ran in lockstep, else one a warp
    bytes: int = 0  # of memory that the steps take, as they were counted when they were made


def farthest(accesses: Iterable[StepAccess]) -> tuple[StepAccess | None, StepAccess | None]:
    """The load from the farthest memory, and the store to the farthest; None for neither."""
    found = sorted(accesses, key=lambda access: FARTHEST_FIRST.index(access.space))
    loads = (access for access in found if access.kind is AccessKind.LOAD)
    stores = (access for access in found if access.kind is not AccessKind.LOAD)
    return next(loads, None), next(stores, None)


def farthest_of(step: Step, thread: int) -> tuple[StepAccess | None, StepAccess | None]:
    """A thread's farthest load and store at a step."""
    return farthest(access for access in step.accesses if access.active[thread])
