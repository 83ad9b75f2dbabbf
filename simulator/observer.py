"""What the machine tells those who watch it: the one interface behind counters, hazards, records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.ctype import Array
from simulator.memory import Buffer
from simulator.tree import Barrier, Expression, Kernel, Span, Statement

if TYPE_CHECKING:
    from simulator.group import Group
    from simulator.launch import Launch

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store by the active lanes of a group of warps.

    offsets is one number of bytes from the buffer's start for all lanes, or an array [lanes].
    active is a bool array [lanes], or None for all; lanes outside the array are not in it, they
    come as a Fault. width is bytes a lane. values is what was read or written.
    """

    kind: str  # "load" or "store"
    group: Group
    buffer: Buffer
    offsets: Any
    active: Array | None
    width: int
    values: Any
    place: Expression

    def by_warp(self) -> tuple[Array, Array]:
        """Offsets and activity, each [warps, 32]; lanes a partial warp lacks are inactive."""
        group = self.group
        shape = (group.block_count, group.threads.size)
        offsets = np.broadcast_to(self.offsets, (group.lanes,)).reshape(shape)
        active = np.broadcast_to(True if self.active is None else self.active, (group.lanes,))
        active = active.reshape(shape)
        missing = -shape[1] % WARP_SIZE
        if missing:
            offsets = np.pad(offsets, ((0, 0), (0, missing)))
            active = np.pad(active, ((0, 0), (0, missing)))
        return offsets.reshape(-1, WARP_SIZE), active.reshape(-1, WARP_SIZE)


@dataclass(frozen=True, slots=True)
class Fault:
    """An access outside its array or at a wrong multiple; it is dropped and execution goes on.

    reason is "out-of-bounds" or "misaligned"; lane is the first of `count` lanes.
    """

    reason: str
    kind: str
    group: Group
    buffer: Buffer
    offset: int
    lane: int
    count: int
    width: int
    place: Expression


class Observer:
    """Hears what happens; every method may be left as it is."""

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """A launch begins; buffers are the global arrays by parameter name."""

    def on_chunk(self, groups: list[Group]) -> None:
        """A chunk of blocks begins, its shared arrays fresh; groups are its warps."""

    def on_access(self, access: Access) -> None:
        """A group of warps loads or stores."""

    def on_fault(self, fault: Fault) -> None:
        """Lanes of a group touch memory that is not theirs."""

    def on_unset(self, group: Group, name: str, count: int, span: Span) -> None:
        """Lanes of a group read a variable that was never given a value."""

    def on_barrier(self, barrier: Barrier, groups: list[Group], arrived: Array) -> None:
        """Blocks pass a barrier; arrived [blocks, threads] tells who reached it."""

    def on_partial_barrier(
        self, barrier: Barrier, group: Group, block: int, arrived: int, expected: int
    ) -> None:
        """Only `arrived` of `expected` threads of a block reached a barrier."""

    def on_part(self, group: Group, expression: Expression, value: Any, mask: Any) -> None:
        """A subexpression has a value; told only to observers that ask for parts."""

    def on_step(self, group: Group, kind: str, statement: Statement, mask: Any) -> None:
        """A statement or condition is done; told only to observers that ask for parts."""
