"""What the machine tells those who watch it: counters, hazards and recordings are observers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import Span
from simulator.language.tree import Barrier, Expression, Kernel, MemorySpace, Statement
from simulator.launch import WARP_SIZE
from simulator.machine.buffers import Buffer

if TYPE_CHECKING:
    from simulator.launch import Launch
    from simulator.machine.group import Group, Mask


class AccessKind(StrEnum):
    """What an instruction does to memory."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


class FaultReason(StrEnum):
    """Why an access is dropped."""

    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"


class StepKind(StrEnum):
    """What of a statement a step is: all of it, a condition, a for loop's third part, a barrier."""

    RUN = "run"
    TEST = "test"
    ADVANCE = "advance"
    BARRIER = "barrier"


class Pattern:
    """The part of an address that differs between lanes, and what follows from it alone.

    low and high bound it in bytes; aligned tells whether every lane's is a multiple of the
    access's width. index [lanes] counts elements in the buffer's view, one element of `step`
    entries apart from the next; costs remembers what observers found out about it.
    """

    __slots__ = ("aligned", "buffer", "costs", "high", "index", "lanes", "low", "step")

    def __init__(self, group: Group, buffer: Buffer, lanes: Array | None, width: int, size: int):
        self.buffer = buffer
        self.lanes = lanes
        self.low = int(lanes.min()) if lanes is not None else 0
        self.high = int(lanes.max()) if lanes is not None else 0
        self.aligned = lanes is None or not (lanes % width).any()
        self.step = 1
        self.costs: dict[Any, Any] = {}
        elements = lanes // size if lanes is not None else None
        match buffer.space:
            case MemorySpace.LOCAL:
                self.step = group.lanes
                if elements is not None:
                    elements = elements * group.lanes + group.lane_numbers
            case MemorySpace.SHARED:
                origin = group.slots * (buffer.stride // size)
                elements = origin if elements is None else elements + origin
        self.index: Array | None = elements


class Access:
    """One load, store or atomic by the active lanes of a group of warps.

    A lane's address is `base` bytes from the buffer's start plus lanes[lane], or `base` alone
    where lanes is None; width is bytes a lane, mask the lanes that take part, all of them inside
    the array. index [lanes], or one number, counts elements of `size` bytes in the buffer's data.
    values is what was read (by an atomic: before it) or written: an array [lanes], one number,
    or a tuple of components.
    """

    __slots__ = (
        "base", "buffer", "group", "index", "kind", "lanes", "lvalue", "mask", "pattern", "size",
        "values", "width",
    )  # fmt: skip

    def __init__(
        self,
        kind: AccessKind,
        group: Group,
        pattern: Pattern,
        base: int,
        mask: Mask,
        width: int,
        size: int,
        index: Any,
        values: Any,
        lvalue: Expression,
    ) -> None:
        self.kind = kind
        self.group = group
        self.pattern = pattern
        self.buffer = pattern.buffer
        self.lanes = pattern.lanes
        self.base = base
        self.mask = mask
        self.width = width
        self.size = size
        self.index = index
        self.values = values
        self.lvalue = lvalue

    @property
    def offsets(self) -> Any:
        """Bytes from the buffer's start: an array [lanes], or one number for all."""
        return self.base if self.lanes is None else self.lanes + self.base

    def by_warp(self) -> tuple[Array, Array]:
        """Offsets and activity, each [warps, 32]; lanes a partial warp lacks are inactive."""
        group = self.group
        shape = (group.block_count, group.threads.size)
        offsets = np.broadcast_to(self.offsets, (group.lanes,)).reshape(shape)
        active = np.broadcast_to(True if self.mask is None else self.mask, (group.lanes,))
        active = active.reshape(shape)
        missing = -shape[1] % WARP_SIZE
        if missing:
            offsets = np.pad(offsets, ((0, 0), (0, missing)))
            active = np.pad(active, ((0, 0), (0, missing)))
        return offsets.reshape(-1, WARP_SIZE), active.reshape(-1, WARP_SIZE)


class Fault:
    """An access outside its array or at a wrong multiple; it is dropped and execution goes on.

    lanes [lanes] tells whose, offsets [lanes] counts
    bytes from the array's start.
    """

    __slots__ = ("buffer", "group", "kind", "lanes", "lvalue", "offsets", "reason", "width")

    def __init__(
        self,
        reason: FaultReason,
        kind: AccessKind,
        group: Group,
        buffer: Buffer,
        offsets: Array,
        lanes: Array,
        width: int,
        lvalue: Expression,
    ) -> None:
        self.reason = reason
        self.kind = kind
        self.group = group
        self.buffer = buffer
        self.offsets = offsets
        self.lanes = lanes
        self.width = width
        self.lvalue = lvalue


class Observer:
    """Hears what happens; every method may be left as it is."""

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """A launch begins; buffers are the global arrays by parameter name."""

    def on_chunk(self, groups: list[Group]) -> None:
        """A chunk of blocks begins, its shared arrays fresh; groups are its warps."""

    def on_access(self, access: Access) -> None:
        """A group of warps loads or stores."""

    def on_copy(self, access: Access) -> None:
        """A group begins a copy: its store, told of once it is waited for, may be from now on."""

    def on_fault(self, fault: Fault) -> None:
        """Lanes of a group touch memory that is not theirs."""

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """Lanes [n] of a group read a variable that was never given a value."""

    def on_barrier(self, barrier: Barrier, groups: list[Group]) -> None:
        """Groups are about to pass a barrier; their intervals are still the old ones."""

    def on_partial_barrier(self, barrier: Barrier, group: Group, slot: int, arrived: Array) -> None:
        """Only the threads `arrived` [n] of the block at `slot` of the chunk reached a barrier."""

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk's blocks have all ended."""

    def on_evaluation(self, group: Group, expression: Expression, value: Any, mask: Mask) -> None:
        """A subexpression has a value; told only to observers that override it."""

    def on_step(self, group: Group, kind: StepKind, statement: Statement, mask: Mask) -> None:
        """A statement or condition is done; told only to observers that override it."""


def overrides(observer: Observer, method: str) -> bool:
    """Whether an observer overrides a method, so that the machine need not call what is empty."""
    return getattr(type(observer), method) is not getattr(Observer, method)
