"""A group: warps that execute together, one array entry a thread, and the state they carry."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Barrier, Call, Expression, Variable
from simulator.launch import WARP_SIZE, Launch, unravel
from simulator.machine.budget import Budget, LoopState
from simulator.machine.buffers import Address, Buffer
from simulator.machine.masks import NONE, Mask
from simulator.machine.warp_syncs import WarpSyncs


@dataclass(slots=True, eq=False)
class Spin:
    """A turn of lanes that wait in a loop for what another thread writes."""

    finished: Mask  # lanes that have finished the statement with the loop ahead of the others
    taken: bool = False  # whether these went on: they then are not among those it ends with


@dataclass(slots=True, eq=False)
class Arrived:
    """Lanes that have arrived at a warp function in a branch of an if."""

    call: Call
    lanes: Array  # bool [lanes]
    names: Array  # uint32 [lanes], the mask of each: a bit for each lane that it waits for
    operands: tuple[Any, ...]  # the values of the other arguments
    report: Callable[..., None]  # notifies observers of a fault; see WarpMasks.report
    result: Any = None  # once they have met


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Lanes wait for lanes of another branch; they go on once those have arrived."""

    arrived: list[Arrived]


# What waits on a group's stacks above some depth: loops, breaks, continues, returns.
Suspended = tuple[list[LoopState], list[Mask], list[Mask], list[Mask]]


@dataclass(slots=True, eq=False, kw_only=True)
class Group:
    """The same warp (or all warps) of each of some blocks, executed as one.

    Its lanes are B blocks x n threads: lane b * n + i is thread threads[i] of block blocks[b].
    Arrays that hold a value a lane are written [lanes].
    """

    # Which threads these are.
    launch: Launch
    blocks: Array  # int [B], linear block numbers in the grid
    threads: Array  # int [n], linear thread numbers in a block
    block_count: int = field(init=False)  # B
    lanes: int = field(init=False)  # how many
    lane_numbers: Array = field(init=False)  # int [lanes]
    block_indices: Array = field(init=False)  # int [lanes], index into blocks
    warp_lanes: Array = field(init=False)  # int [lanes], 0 to 31
    warp_numbers: Array = field(init=False)  # int [lanes], the warp within the group
    warp_positions: Array | None = None  # int [lanes]; see warp_masks.positions
    thread_numbers: Array | None = None  # int [lanes] over the grid; set by observers
    _builtins: dict[tuple[str, str], Any] = field(init=False, default_factory=dict)
    _lanes_of: tuple[Mask, Array] = field(init=False)  # the last result

    # Variables: lists with an entry a variable, found by slot_of.
    slot_of: Mapping[Variable, int]
    # Values: an array [lanes] that is never written to, one number if all lanes agree, a tuple of
    # these for a short vector, an Address for a pointer; None before the first assignment.
    frame: list[Any] = field(init=False)
    declared_mask: list[Mask] = field(init=False)  # at the last declaration
    assigned_mask: list[Mask] = field(init=False)  # lanes assigned since then

    # Memory.
    arrays: dict[Variable, Address]  # where shared and local arrays start
    shared: dict[str, Buffer]  # shared arrays by name
    # Stores of asynchronous copies; those committed by batch, oldest first.
    uncommitted: list[Callable[[], None]] = field(default_factory=list)
    committed: list[list[Callable[[], None]]] = field(default_factory=list)

    # Results of expressions that are used again.
    memo_slots: InitVar[int]
    memo: list[Any] = field(init=False)  # an expression's last operands and result
    # Factors, for a contracted sum.
    products: dict[Expression, tuple[Any, Any]] = field(default_factory=dict)

    ahead: tuple[Any, ...] = ()  # the values of this iteration's loads, where they were made ahead

    # Divergence: lanes that wait where their way joins that of the others. Each list begins with
    # the outermost construct.
    loops: list[LoopState] = field(default_factory=list)  # around the current statement
    breaks: list[Mask] = field(default_factory=list)  # lanes that left each loop or switch
    continues: list[Mask] = field(default_factory=list)  # lanes that left each loop's iteration
    # Lanes that left the kernel, then each called function.
    returns: list[Mask] = field(default_factory=lambda: [NONE])

    # Barriers.
    # The execution.
    code: Generator[tuple[Barrier, Mask] | Spin | Meeting, None, Any] | None = None
    # The barrier it waits at, and its lanes; or the turn that a loop has taken.
    waiting: tuple[Barrier, Mask] | Spin | Meeting | None = None
    released: bool = True  # whether it may pass that barrier
    interval: Any = 0  # barriers passed by the block: one number, or int [lanes]
    # How its lanes vote at the barrier that they wait at (0 for no), then what comes of it.
    vote: Any = None
    # What comes of a warp function in which lanes of several branches have met.
    met: Any = None

    # Counts and limits.
    warp_syncs: WarpSyncs = field(default_factory=WarpSyncs)  # calls of __syncwarp()
    clock: int = 0  # accesses so far; counted by observers
    # Steps that each thread has executed, int64 [lanes] or one number; counted for kernels that
    # read a clock.
    steps: Any = field(default_factory=np.int64)
    budget: Budget  # of the whole run

    def __post_init__(self, memo_slots: int) -> None:
        """Number the lanes, and make a frame without values."""
        count, size = self.blocks.size, self.threads.size
        in_block = np.arange(size)
        self.block_count, self.lanes = count, count * size
        self.lane_numbers = np.arange(self.lanes)
        self.block_indices = np.repeat(np.arange(count), size)
        self.warp_lanes = np.tile(in_block % WARP_SIZE, count)
        first_warps = np.arange(count) * -(-size // WARP_SIZE)  # of each block
        self.warp_numbers = np.add.outer(first_warps, in_block // WARP_SIZE).reshape(-1)
        self._lanes_of = (None, self.lane_numbers)
        self.frame = [None] * len(self.slot_of)
        self.declared_mask = [NONE] * len(self.slot_of)
        self.assigned_mask = [NONE] * len(self.slot_of)
        self.memo = [None] * memo_slots

    def depth(self) -> tuple[int, int, int, int]:
        """How many constructs each of the stacks of divergence holds."""
        return len(self.loops), len(self.breaks), len(self.continues), len(self.returns)

    def suspend(self, depth: tuple[int, int, int, int]) -> Suspended:
        """Take what the stacks hold above a depth, so that other lanes can run from there."""
        loops, breaks, continues, returns = depth
        taken = (
            self.loops[loops:], self.breaks[breaks:], self.continues[continues:],
            self.returns[returns:],
        )  # fmt: skip
        del self.loops[loops:], self.breaks[breaks:]
        del self.continues[continues:], self.returns[returns:]
        return taken

    def resume(self, suspended: Suspended) -> None:
        """Put back what suspend has taken."""
        loops, breaks, continues, returns = suspended
        self.loops += loops
        self.breaks += breaks
        self.continues += continues
        self.returns += returns

    def builtin(self, name: str, axis: str) -> Any:
        """threadIdx, blockIdx, blockDim or gridDim in one axis (x, y, z), or warpSize.

        Gives uint32 [lanes], or one number if all lanes agree.
        """
        key = (name, axis)
        if key not in self._builtins:
            self._builtins[key] = self._compute_builtin(name, axis)
        return self._builtins[key]

    def _compute_builtin(self, name: str, axis: str) -> Any:
        position = "xyz".find(axis)
        match name:
            case "warpSize":
                return np.int32(WARP_SIZE)
            case "blockDim":
                return np.uint32(self.launch.block[position])
            case "gridDim":
                return np.uint32(self.launch.grid[position])
            case "threadIdx":
                index = unravel(self.threads, self.launch.block)[position]
                values = np.tile(index, self.block_count)
            case "blockIdx":
                index = unravel(self.blocks, self.launch.grid)[position]
                values = np.repeat(index, self.threads.size)
            case _:
                raise ValueError(f"{name} is not a built-in variable")
        values = values.astype(np.uint32)
        return values[0] if (values == values[0]).all() else values

    def thread_of(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Block and thread of a lane, each in x, y, z."""
        block = self.blocks[lane // self.threads.size]
        thread = self.threads[lane % self.threads.size]
        bx, by, bz = (int(v) for v in unravel(block, self.launch.grid))
        tx, ty, tz = (int(v) for v in unravel(thread, self.launch.block))
        return (bx, by, bz), (tx, ty, tz)

    def lanes_of(self, mask: Array) -> Array:
        """The numbers of a mask's lanes: int [n]. A loop's accesses share a mask, and these."""
        known, lanes = self._lanes_of
        if known is not mask:
            lanes = np.flatnonzero(mask)
            self._lanes_of = (mask, lanes)
        return lanes

    def spread(self, value: Any) -> Array:
        """A value as an array [lanes]."""
        return np.broadcast_to(value, (self.lanes,))
