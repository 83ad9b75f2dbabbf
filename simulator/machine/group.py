"""A group: warps that execute together, one array entry a thread, and the state they carry."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Barrier, Expression, Loop, Variable
from simulator.launch import WARP_SIZE, Launch, unravel
from simulator.machine.buffers import Address, Buffer

# Which lanes of a group are active: None is all of them, False none, an array [lanes] some.
Mask = Any
ALL: Mask = None
NONE: Mask = False


class LoopState:
    """A loop that a group is in, how often it has gone round, and when it was entered."""

    __slots__ = ("begun", "iteration", "loop")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.iteration = 0
        self.begun = time.perf_counter()


class Group:
    """The same warp (or all warps) of each of some blocks: lanes = blocks x threads.

    blocks [B] are linear block numbers, threads [n] linear thread numbers within a block. Lane
    b * n + i is thread threads[i] of block blocks[b]. slot_of numbers the
    variables; frame holds their values by slot, each an array [lanes] that is never written
    again, or one number where all lanes agree.
    declared holds the mask under which each variable came into being, given the lanes that have
    assigned it since. memo holds what expressions remember between evaluations.
    """

    def __init__(
        self,
        launch: Launch,
        blocks: Array,
        threads: Array,
        slots: Mapping[Variable, int],
        memos: int,
    ) -> None:
        self.launch = launch
        self.blocks = blocks
        self.threads = threads
        self.block_count = blocks.size
        self.lanes = blocks.size * threads.size
        self.lane_numbers = np.arange(self.lanes)
        within = np.arange(threads.size)
        warps = -(-threads.size // WARP_SIZE)
        self.warp_lanes = np.tile(within % WARP_SIZE, blocks.size)  # a lane's place in its warp
        self.warp_numbers = np.add.outer(np.arange(blocks.size) * warps, within // WARP_SIZE)
        self.warp_numbers = self.warp_numbers.reshape(-1)  # which of the group's warps it is in
        self.warp_syncs = 0
        self.slots = np.repeat(np.arange(blocks.size), threads.size)
        self.slot_of = slots
        self.frame: list[Any] = [None] * len(slots)
        self.declared: list[Mask] = [NONE] * len(slots)
        self.given: list[Mask] = [NONE] * len(slots)
        self.memo: list[Any] = [None] * memos
        self.products: dict[Expression, tuple[Any, Any]] = {}  # factors of products, for later sums
        self.arrays: dict[Variable, Address] = {}
        self.shared: dict[str, Buffer] = {}
        self.breaks: list[Mask] = []
        self.continues: list[Mask] = []
        self.loops: list[LoopState] = []
        self.returns: list[Mask] = [NONE]  # of the kernel, then of each function being called
        self.pending: list[Any] = []  # asynchronous copies not yet committed
        self.batches: list[list[Any]] = []  # those committed and not yet waited for
        self.interval: Any = 0
        self.clock = 0
        self.code: Generator[tuple[Barrier, Mask], None, Mask] | None = None
        self.waiting: tuple[Barrier, Mask] | None = None
        self.released = True
        self.deadline: float | None = None  # when the whole run is stopped, if at all
        self.thread_numbers: Array | None = None  # over the grid, once an observer asks
        self._builtins: dict[tuple[str, str], Any] = {}

    def builtin(self, name: str, axis: str) -> Any:
        """threadIdx and its kind in one axis: an array [lanes], or one number if all are equal."""
        key = (name, axis)
        if key not in self._builtins:
            self._builtins[key] = self._compute_builtin(name, axis)
        return self._builtins[key]

    def _compute_builtin(self, name: str, axis: str) -> Any:
        position = "xyz".find(axis)
        match name:
            case "warpSize":
                return np.int32(32)
            case "blockDim":
                return np.uint32(self.launch.block[position])
            case "gridDim":
                return np.uint32(self.launch.grid[position])
            case "threadIdx":
                one = unravel(self.threads, self.launch.block)[position]
                values = np.tile(one, self.block_count)
            case _:
                one = unravel(self.blocks, self.launch.grid)[position]
                values = np.repeat(one, self.threads.size)
        values = values.astype(np.uint32)
        return values[0] if (values == values[0]).all() else values

    def thread_of(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread of a lane, each in x, y, z."""
        block = self.blocks[lane // self.threads.size]
        thread = self.threads[lane % self.threads.size]
        bx, by, bz = (int(v) for v in unravel(block, self.launch.grid))
        tx, ty, tz = (int(v) for v in unravel(thread, self.launch.block))
        return (bx, by, bz), (tx, ty, tz)

    def spread(self, value: Any) -> Array:
        """A value as an array [lanes]."""
        return np.broadcast_to(value, (self.lanes,))


# Masks ---------------------------------------------------------------------------------------


def narrow(mask: Mask, condition: Any) -> Mask:
    """The lanes of a mask for which a condition holds."""
    if mask is NONE:
        return NONE
    if not isinstance(condition, np.ndarray):
        return mask if condition else NONE
    both = condition if mask is ALL else mask & condition
    if not both.any():
        return NONE
    if mask is ALL:
        return ALL if both.all() else both
    return mask if np.array_equal(both, mask) else both


def union(left: Mask, right: Mask) -> Mask:
    """The lanes of either mask."""
    if left is NONE or right is ALL:
        return right
    if right is NONE or left is ALL:
        return left
    both = left | right
    return ALL if both.all() else both


def count(mask: Mask, lanes: int) -> int:
    """How many lanes a mask has."""
    if mask is ALL:
        return lanes
    return 0 if mask is NONE else int(mask.sum())


def as_array(mask: Mask, lanes: int) -> Array:
    """A mask as a bool array [lanes]."""
    if mask is ALL:
        return np.ones(lanes, np.bool_)
    return np.zeros(lanes, np.bool_) if mask is NONE else mask
