"""What cooperative groups compute: ranks, votes, shuffles by rank, reductions and scans.

A group's value is the lanes of it, a bit each, which every function here takes as its mask. The
order of a reduction's operations follows CUDA's own code (cooperative_groups/details), so that
floating-point sums have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array, CType
from simulator.language.functions import GROUP_OPERATIONS
from simulator.language.thread_groups import GroupKind, group_of
from simulator.language.tree import Call, Literal
from simulator.launch import WARP_SIZE
from simulator.machine.arithmetic import operation as rounded_operation
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import Mask
from simulator.machine.warp_functions import lanes_read, reduce_lanes, register_of, take_from
from simulator.machine.warp_masks import (
    BITS,
    FULL,
    WarpMasks,
    active_bits,
    alike,
    by_lane,
    count,
    lanes_where,
    pack,
    unpack,
)

REDUX_BYTES = 4  # whole numbers up to this size are joined by one instruction, in no order
# Of each operation that instruction.
REDUX = {
    "plus": "add", "less": "min", "greater": "max", "bit_and": "and", "bit_or": "or",
    "bit_xor": "xor",
}  # fmt: skip
OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "plus": np.add,
    "less": lambda a, b: np.where(b < a, b, a),
    "greater": lambda a, b: np.where(a < b, b, a),
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
}


# Groups and their sizes --------------------------------------------------------------------------


def _tile(call: Call, compiler: ExpressionCompiler) -> Closure:
    """The lanes of a lane's tile."""
    width = _number(call, 0)
    if width == WARP_SIZE:
        return lambda group, mask: FULL
    tile = np.uint32((1 << width) - 1)
    slot = compiler.memo_slot()

    def lanes(group: Group, mask: Mask) -> Any:
        if group.memo[slot] is None:
            first = group.warp_lanes // width * width
            group.memo[slot] = tile << first.astype(np.uint32)
        return group.memo[slot]

    return lanes


def _rank(call: Call, compiler: ExpressionCompiler) -> Closure:
    """How many lanes of its group come before a lane."""
    lanes = compiler.compile(call.arguments[0])
    return lambda group, mask: _ranks(group, lanes(group, mask)).astype(np.uint32)


def _size(call: Call, compiler: ExpressionCompiler) -> Closure:
    """How many lanes a group has."""
    lanes = compiler.compile(call.arguments[0])
    return lambda group, mask: count(lanes(group, mask)).astype(np.uint32)


def _meta_rank(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Which of its parent's tiles a tile is: of the block's, or of those of a larger tile."""
    width, parent = _number(call, 0), _number(call, 1)

    def meta_rank(group: Group, mask: Mask) -> Any:
        within = group.warp_lanes % parent if parent else _thread_numbers(group)
        return (within // width).astype(np.uint32)

    return meta_rank


def _meta_size(call: Call, compiler: ExpressionCompiler) -> Closure:
    """How many tiles a tile's parent has."""
    width, parent = _number(call, 0), _number(call, 1)
    return lambda group, mask: np.uint32(-(-(parent or group.launch.threads) // width))


def _number(call: Call, position: int) -> int:
    """An argument that the frontend has made a constant."""
    argument = call.arguments[position]
    assert isinstance(argument, Literal)
    return int(argument.value)


def _thread_numbers(group: Group) -> Array:
    return np.tile(group.threads, group.block_count).astype(np.uint32)


def _block_numbers(group: Group) -> Array:
    return np.repeat(group.blocks, group.threads.size).astype(np.uint64)


def _rank_in_grid(group: Group, mask: Mask) -> Any:
    """A thread's number in the grid: block after block."""
    return _block_numbers(group) * np.uint64(group.launch.threads) + _thread_numbers(group)


# Calls without arguments: what each gives depends only on the threads that call.
WITHOUT_ARGUMENTS: Mapping[str, Closure] = {
    # All threads of the block or of the grid: no lanes of a warp in particular.
    **dict.fromkeys(("this_thread_block", "this_grid"), lambda group, mask: np.uint32(0)),
    "coalesced_threads": active_bits,
    "thread_block::thread_rank": lambda group, mask: _thread_numbers(group),
    "thread_block::size": lambda group, mask: np.uint32(group.launch.threads),
    "grid_group::thread_rank": _rank_in_grid,
    "grid_group::size": lambda group, mask: np.uint64(group.launch.blocks * group.launch.threads),
    "grid_group::block_rank": lambda group, mask: _block_numbers(group),
    "grid_group::num_blocks": lambda group, mask: np.uint64(group.launch.blocks),
}


def _ranks(group: Group, lanes: Any) -> Array:
    """How many of the lanes [lanes] come before each lane: int64 [lanes]."""
    before = BITS[group.warp_lanes] - np.uint32(1)
    ranks: Array = count(group.spread(lanes) & before).astype(np.int64)
    return ranks


# Votes and shuffles ------------------------------------------------------------------------------


def _vote(call: Call, compiler: ExpressionCompiler) -> Closure:
    """A bit for each rank that votes yes, or that has a lane's value; or whether all vote yes."""
    lanes, value = (compiler.compile(argument) for argument in call.arguments)
    masks = WarpMasks(call, compiler)
    matches = call.function == "cg::match_any"

    def vote(group: Group, mask: Mask) -> Any:
        members = group.spread(lanes(group, mask))
        masks.peers(group, mask, members)
        values = group.spread(value(group, mask))
        if matches:
            found = by_lane(group, pack(alike(group, values)))
        else:
            found = lanes_where(group, values != 0)
        chosen = found & active_bits(group, mask) & members
        if call.function == "cg::all":  # a lane that has ended does not hold
            return (chosen == members).astype(np.int32)
        return _by_rank(members, chosen)

    return vote


def _by_rank(members: Array, chosen: Array) -> Array:
    """Lanes as ranks: bit r of uint32 [lanes] is for the member of rank r."""
    is_member, is_chosen = unpack(members), unpack(chosen)
    ranks = np.cumsum(is_member, axis=-1) - 1
    bits = np.where(is_chosen & is_member, np.uint32(1) << ranks.clip(0).astype(np.uint32), 0)
    packed: Array = bits.sum(axis=-1, dtype=np.uint32)
    return packed


def _lane_of_rank(members: Array, rank: Array) -> Array:
    """The lane that has a rank (int64 [lanes]) among members (uint32 [lanes])."""
    counts = np.cumsum(unpack(members), axis=-1)
    lanes: Array = (counts == rank[:, None] + 1).argmax(axis=-1)
    return lanes


class Shuffle:
    """Reads the value of the member of a rank, and reports the lanes that are not there."""

    def __init__(self, call: Call, compiler: ExpressionCompiler) -> None:
        self._masks = WarpMasks(call, compiler)
        self._members = compiler.compile(call.arguments[0])

    def members(self, group: Group, mask: Mask) -> Members:
        """The groups of the lanes at one call."""
        lanes = self._members(group, mask)
        peers = self._masks.peers(group, mask, lanes)
        members = group.spread(lanes)
        there = group.spread(FULL) if peers is None else peers
        return Members(group, self._masks, members, _ranks(group, members), count(members), there)


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Of each lane its group; all arrays are [lanes]."""

    group: Group
    masks: WarpMasks
    lanes: Array  # a bit each
    rank: Array  # in it
    size: Array
    there: Array  # the lanes that are there, a bit each

    def read(self, values: Array, rank: Array, wanted: Array) -> Array:
        """The values [lanes] of the members of some ranks, for the lanes that want one.

        wanted is bool [lanes]; the others get their own value.
        """
        read: Array = take_from(self.group, values, self.source(rank, wanted))
        return read

    def source(self, rank: Array, wanted: Array) -> Array:
        """The lanes, 0 to 31, that `read` reads from: int [lanes]."""
        own = self.group.warp_lanes
        source = _lane_of_rank(self.lanes, np.where(wanted, rank, 0))
        source = np.where(wanted & (self.there != 0), source, own)
        return np.where(self.masks.present(self.group, source), source, own)


def _shuffle(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the value of another rank; a lane's own if there is no such rank."""
    value, amount = (compiler.compile(argument) for argument in call.arguments[1:])
    shuffle, variable = Shuffle(call, compiler), register_of(call.arguments[1])

    def read(group: Group, mask: Mask) -> Any:
        members = shuffle.members(group, mask)
        by = group.spread(amount(group, mask)).astype(np.int64)
        match call.function:
            case "cg::shfl_up":
                other = members.rank - by
            case "cg::shfl_down":
                other = members.rank + by
            case _:
                other = by
        source = members.source(other, (other >= 0) & (other < members.size))
        values = value(group, lanes_read(group, mask, source, variable))
        return take_from(group, group.spread(values), source)

    return read


# Reductions and scans ----------------------------------------------------------------------------


def _reduce(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives all lanes of a group their values, joined by an operation."""
    value = compiler.compile(call.arguments[1])
    name = _operation(call)
    shuffle, operation = Shuffle(call, compiler), _joining(name, call.ctype)
    group_type = group_of(call.arguments[0].ctype)
    is_tile = group_type is not None and group_type.kind is GroupKind.TILE

    def reduce(group: Group, mask: Mask) -> Any:
        members = shuffle.members(group, mask)
        values = group.spread(value(group, mask))
        if values.dtype.kind in "iu" and values.dtype.itemsize <= REDUX_BYTES:
            return reduce_lanes(group, members.there, values, f"__reduce_{REDUX[name]}_sync")
        if is_tile or (members.size == WARP_SIZE).all():
            return _butterfly(members, operation, values)
        scanned = _scan(members, operation, values)
        return members.read(scanned, members.size - 1, np.ones(group.lanes, np.bool_))

    return reduce


def _butterfly(members: Members, operation: Callable[[Any, Any], Any], values: Array) -> Array:
    """Each lane joins with the lane whose rank differs in one bit, from the highest bit down."""
    distance = int(members.size[0]) // 2
    wanted = members.there != 0
    while distance:
        other = members.read(values, members.rank ^ distance, wanted)
        values = operation(values, other).astype(values.dtype)
        distance //= 2
    return values


def _scan(members: Members, operation: Callable[[Any, Any], Any], values: Array) -> Array:
    """Each lane joins with the lane of half as many ranks before it, then twice as many, …."""
    distance = 1
    while distance < int(members.size.max()):
        wanted = (members.rank >= distance) & (members.there != 0)
        other = members.read(values, members.rank - distance, wanted)
        values = np.where(wanted, operation(values, other), values).astype(values.dtype)
        distance *= 2
    return values


def _scan_call(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives each lane the values of the ranks up to its own, joined; or of those before it."""
    value = compiler.compile(call.arguments[1])
    shuffle, name = Shuffle(call, compiler), _operation(call)
    exclusive = call.function.startswith("cg::exclusive")

    def scan(group: Group, mask: Mask) -> Any:
        members = shuffle.members(group, mask)
        values = group.spread(value(group, mask))
        joined = _scan(members, _joining(name, call.ctype), values)
        if not exclusive:
            return joined
        if name == "plus" and values.dtype.kind in "iu":
            return joined - values
        is_later = members.rank > 0
        before = members.read(joined, members.rank - 1, is_later & (members.there != 0))
        return np.where(is_later, before, values.dtype.type(0))

    return scan


def _joining(name: str, ctype: CType) -> Callable[[Any, Any], Any]:
    """What joins two values of a type by an operation."""
    return rounded_operation("+", ctype) if name == "plus" else OPERATIONS[name]


def _operation(call: Call) -> str:
    """The operation in a name such as cg::reduce<plus>."""
    return call.function.partition("<")[2].removesuffix(">")


GROUP_CALLS: Mapping[str, CompileCall] = {
    **dict.fromkeys(WITHOUT_ARGUMENTS, lambda call, compiler: WITHOUT_ARGUMENTS[call.function]),
    "tiled_partition": _tile,
    "cg::thread_rank": _rank,
    "cg::size": _size,
    "cg::meta_group_rank": _meta_rank,
    "cg::meta_group_size": _meta_size,
    **dict.fromkeys(("cg::ballot", "cg::all", "cg::match_any"), _vote),
    **dict.fromkeys(("cg::shfl", "cg::shfl_up", "cg::shfl_down"), _shuffle),
    **{f"cg::reduce<{name}>": _reduce for name in GROUP_OPERATIONS},
    **{f"cg::inclusive_scan<{name}>": _scan_call for name in GROUP_OPERATIONS},
    **{f"cg::exclusive_scan<{name}>": _scan_call for name in GROUP_OPERATIONS},
}
