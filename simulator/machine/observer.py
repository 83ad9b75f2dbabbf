"""The interface of observers: what the machine notifies them of while it runs a kernel.

Counters, hazards and recordings are observers. A new analysis is a new one: a subclass of Observer
that overrides the methods it needs and is given to the Machine. Here is one that counts the
elements that all threads load:

>>> from simulator import Launch, compile_kernel
>>> from simulator.machine.machine import Machine
>>> class LoadCount(Observer):
...     def __init__(self):
...         self.loads = 0
...
...     def on_access(self, access):
...         if access.kind is AccessKind.LOAD:
...             _, active = access.by_warp()
...             self.loads += int(active.sum()) * access.components
>>> kernel = compile_kernel("__global__ void k(float* A) { A[threadIdx.x] += 1; }", "k")
>>> launch = Launch((2, 1, 1), (40, 1, 1), {"A": np.zeros(40, np.float32)})
>>> count = LoadCount()
>>> Machine(kernel, launch, [count]).run()
>>> count.loads
80
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import Span
from simulator.language.tree import Barrier, Call, Expression, Kernel, MemorySpace, Statement
from simulator.launch import WARP_SIZE, Launch
from simulator.machine.buffers import Address, Buffer
from simulator.machine.group import Group
from simulator.machine.masks import Mask


class AccessKind(StrEnum):
    """What an instruction does to memory."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


class FaultReason(StrEnum):
    """Why an access is dropped."""

    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"


class WarpFaultReason(StrEnum):
    """What is wrong with a call of a warp function, so that its result is undefined."""

    UNNAMED_LANE = "unnamed-lane"  # the mask does not name the lane that calls
    MISSING_LANE = "missing-lane"  # the mask names a lane that does not arrive with it
    ABSENT_SOURCE = "absent-source"  # a shuffle reads from a lane that is not there


class StepKind(StrEnum):
    """What a step executes of its statement."""

    RUN = "run"  # all of it
    TEST = "test"  # the condition of an if or a loop, the selector of a switch
    ADVANCE = "advance"  # the third expression of a for loop
    BARRIER = "barrier"  # the arrival at a barrier


# Patterns and accesses are made for every load and store, so that they are not frozen: that would
# make each of them several times slower.


@dataclass(slots=True, eq=False)
class Pattern:
    """How the lanes' addresses in an access differ, and what follows from that alone.

    The iterations of a loop often share a pattern: only the base of their accesses differs.
    """

    buffer: Buffer
    lane_offsets: Array | None  # int64 [lanes], bytes from the access's base; None if all are 0
    low: int  # bytes, the least of lane_offsets
    high: int  # bytes, the greatest of lane_offsets
    aligned: bool  # whether all of lane_offsets are multiples of the access's alignment
    step: int  # from a lane's component to its next, in entries of index
    index: Array | None  # int [lanes], lane_offsets in elements of the buffer's view; None if 0
    costs: dict[Any, Any] = field(default_factory=dict)  # results of observers, by their own keys

    def index_at(self, elements: int) -> Any:
        """The index of an access whose base is so many elements: int [lanes], or one int."""
        shift = elements * self.step
        if self.index is None:
            return shift
        return self.index + shift if shift else self.index


@dataclass(slots=True, eq=False)
class Access:
    """One load, store or atomic by the active lanes of a group of warps.

    All of its active lanes are inside the array and aligned.
    """

    kind: AccessKind
    group: Group
    pattern: Pattern
    base: int  # bytes from the buffer's start, the same for all lanes
    mask: Mask  # the active lanes
    width: int  # bytes a lane
    component_size: int  # bytes; less than width for a short vector
    index: Any  # int [lanes] or one int: where a lane starts, in components of the buffer's data
    values: Any  # read (by an atomic: before it) or written: [lanes], one number, or components
    lvalue: Expression
    target: Address | None = None  # in shared memory, of a load that an asynchronous copy makes
    unset: Array | None = None  # bool [lanes], which store a copy of a variable without a value

    @property
    def buffer(self) -> Buffer:
        """The array."""
        return self.pattern.buffer

    @property
    def components(self) -> int:
        """Components a lane: 1, or 2 to 4 for a short vector."""
        return self.width // self.component_size

    @property
    def offsets(self) -> Any:
        """Bytes from the buffer's start: int64 [lanes], or one number for all."""
        lane_offsets = self.pattern.lane_offsets
        return self.base if lane_offsets is None else lane_offsets + self.base

    def by_warp(self) -> tuple[Array, Array]:
        """Offsets in bytes and whether a lane is active, each [warps, 32].

        Lanes that a partial warp lacks are inactive.
        """
        active = True if self.mask is None else self.mask
        return self._warps(self.offsets), self._warps(active)

    def targets_by_warp(self) -> Array | None:
        """Where in shared memory each lane of a copy writes: bytes from its start, [warps, 32]."""
        if self.target is None:
            return None
        return self._warps(self.target.offset + self.target.buffer.offset)

    def _warps(self, values: Any) -> Array:
        """Lanes' values, or one for all, as [warps, 32]; 0 for lanes that a partial warp lacks."""
        group = self.group
        shape = (group.block_count, group.threads.size)
        found = np.broadcast_to(values, (group.lanes,)).reshape(shape)
        missing = -shape[1] % WARP_SIZE
        if missing:
            found = np.pad(found, ((0, 0), (0, missing)))
        return found.reshape(-1, WARP_SIZE)

    def only_cell(self) -> tuple[int, int] | None:
        """The cell and the lane of an access by one lane to one cell; None for any other.

        A loop of one thread makes many of them.
        """
        if self.mask is None or self.width != self.buffer.element.size:
            return None
        lanes = self.group.lanes_of(self.mask)
        if lanes.size != 1:
            return None
        lane = int(lanes[0])
        index = self.index
        if not isinstance(index, int):
            return int(index[lane]), lane
        return index + lane if self.buffer.space is MemorySpace.LOCAL else index, lane

    def cells(self) -> tuple[Array, Any]:
        """The cells that the active lanes touch, and the lane of each.

        Gives int [n] entries of the buffer's `cells`, and int [n] lane numbers. In place of these
        there is slice(None) if every lane is active and touches one cell. A cell is one element of
        the buffer; an access by elements of another size may touch several, or a part of one.
        """
        buffer, group, index = self.buffer, self.group, self.index
        lanes: Any = slice(None) if self.mask is None else group.lanes_of(self.mask)
        if isinstance(index, int):
            if buffer.space is MemorySpace.LOCAL:
                index = index + group.lane_numbers[lanes]
            else:
                index = np.full(group.lanes if self.mask is None else lanes.size, index)
        elif self.mask is not None:
            index = index[lanes]
        cell_size = buffer.element.size
        if self.component_size == cell_size and self.components == 1:
            return index, lanes
        cells = (index[:, None] + np.arange(self.components) * self.pattern.step).reshape(-1)
        if self.component_size > cell_size:
            ratio = self.component_size // cell_size
            cells = (cells[:, None] * ratio + np.arange(ratio)).reshape(-1)
        elif self.component_size < cell_size:
            cells = cells // (cell_size // self.component_size)
        numbers = group.lane_numbers[lanes]
        return cells, np.repeat(numbers, cells.size // max(1, numbers.size))


@dataclass(slots=True, eq=False)  # not frozen: a sweep has several, made in a third of the time
class SweptLoad:
    """A load that every iteration of a sweep makes, at a base that moves by a stride."""

    pattern: Pattern
    base: int  # bytes from the buffer's start, in the first iteration
    stride: int  # bytes, from one iteration to the next
    width: int  # bytes a lane
    component_size: int  # bytes; less than width for a short vector
    lvalue: Expression

    @property
    def step(self) -> int:
        """From one iteration to the next, in entries of an access's index."""
        return self.stride // self.component_size * self.pattern.step

    @property
    def first_index(self) -> Any:
        """The index of the first iteration's access: int [lanes], or one int."""
        return self.pattern.index_at(self.base // self.component_size)


@dataclass(slots=True, eq=False)
class Sweep:
    """What the iterations of a loop load, known before they run.

    Lanes that are active are so in all of them, and no lane among these faults.
    """

    group: Group
    mask: Mask  # the active lanes
    loads: tuple[SweptLoad, ...]  # of each iteration, in their order
    iterations: int  # of the innermost loop that the group executes, all of them

    def access(self, iteration: int, load: SweptLoad, values: Any = None) -> Access:
        """One load of an iteration, counted from 0."""
        base = load.base + iteration * load.stride
        return Access(
            kind=AccessKind.LOAD,
            group=self.group,
            pattern=load.pattern,
            base=base,
            mask=self.mask,
            width=load.width,
            component_size=load.component_size,
            index=load.pattern.index_at(base // load.component_size),
            values=values,
            lvalue=load.lvalue,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Lanes of an access that are outside the array or not aligned.

    Their access is dropped (a load gives 0) and execution goes on.
    """

    reason: FaultReason
    kind: AccessKind
    group: Group
    buffer: Buffer
    offsets: Array  # int64 or Python ints [lanes], bytes from the buffer's start
    lanes: Array  # bool [lanes], which lanes fault
    width: int  # bytes a lane
    lvalue: Expression


@dataclass(frozen=True, slots=True, eq=False)
class WarpFault:
    """Lanes whose call of a warp function has an undefined result.

    A lane is joined with the lanes that arrive with its mask, and reads its own value where
    another lane's is not there; execution goes on.
    """

    reason: WarpFaultReason
    group: Group
    call: Call
    lanes: Array  # bool [lanes], which lanes are wrong
    others: Array  # int [lanes], 0 to 31: the lane of its warp that each is wrong about


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """Threads end the launch: their assert fails, or they come to a trap."""

    group: Group
    call: Call  # of assert, __trap or __brkpt
    lanes: Array  # bool [lanes]


class Observer:
    """Base of all observers: methods that the machine calls, each of which does nothing.

    A method that a class does not override costs no time. All observers are passed the same
    objects: neither these nor their arrays may be changed.
    """

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Called once, before anything runs; buffers are the launch's arrays by name."""

    def on_chunk(self, groups: list[Group]) -> None:
        """Called before each chunk of blocks runs.

        groups are its warps; their shared arrays are all zeros, and nothing was written to them.
        """

    def on_access(self, access: Access) -> None:
        """Called after each load, store or atomic of a group of warps.

        An asynchronous copy is a load when it begins, and a store when it is waited for.
        """

    def on_sweep(self, sweep: Sweep) -> bool:
        """Called before loads that iterations of a loop make: whether these were noted at once.

        Where they were not, as here, on_access is called for each of them.
        """
        return False

    def on_store(self, access: Access) -> None:
        """Called before each store, while its cells still hold what they held.

        on_access follows, with the same access.
        """

    def on_copy(self, access: Access) -> None:
        """Called when an asynchronous copy begins.

        access is its store, without values: the cells may change at any time from now on. The same
        store is passed to on_access once the copy is waited for.
        """

    def on_fault(self, fault: Fault) -> None:
        """Called when lanes of a group access what is outside an array, or not aligned.

        on_access follows if other lanes of the same access are active.
        """

    def on_warp_fault(self, fault: WarpFault) -> None:
        """Called when lanes call a warp function with a wrong mask, or read a lane not there."""

    def on_print(self, group: Group, call: Call, lanes: Array, text: Callable[[int], str]) -> None:
        """Called when lanes of a group, int [n], print; text(lane) is what a lane prints."""

    def on_stop(self, stop: Stop) -> None:
        """Called when threads end the launch; nothing runs after that."""

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """Called when lanes of a group read a variable before it has a value.

        name is the variable's, lanes int [n], span the place of the read in the text.
        """

    def on_unset_copy(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """Called when lanes copy a variable without a value to another, which then has none too.

        That is a variable, or a cell of a shared or local array: then the store follows. The
        arguments are as in on_unset.
        """

    def on_fence(self, group: Group, mask: Mask, of_the_block: bool) -> None:
        """Called when lanes call a memory fence, for the threads of the block or for all."""

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """Called before groups pass the barrier that they wait at.

        Their `interval` is still that before the barrier.
        """

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, block_index: int, arrived: Array, ended: Array
    ) -> None:
        """Called when only some threads of a block reach a barrier, once for each such block.

        block_index is the block's index in group.blocks; arrived is bool [T], T threads a block,
        and ended bool [T] those that have ended, for which no barrier waits. on_barrier follows.
        """

    def on_finish(self, groups: list[Group]) -> None:
        """Called when all blocks of a chunk have ended."""

    def on_evaluation(self, group: Group, expression: Expression, value: Any, mask: Mask) -> None:
        """Called after each subexpression is evaluated for the lanes of a mask.

        value is one number, an array [lanes], a tuple of components, or an Address.
        """

    def on_step(self, group: Group, kind: StepKind, statement: Statement, mask: Mask) -> None:
        """Called after a statement or its condition has run for the lanes of a mask.

        At a barrier it is called when the lanes arrive.
        """


def callbacks(observers: Sequence[Observer], method: str) -> list[Callable[..., None]]:
    """A method of every observer that overrides it."""
    return [getattr(observer, method) for observer in overriding(observers, method)]


def overriding(observers: Sequence[Observer], method: str) -> list[Observer]:
    """The observers that override a method."""
    empty = getattr(Observer, method)
    return [one for one in observers if getattr(type(one), method) is not empty]
