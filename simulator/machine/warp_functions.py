"""What lanes of a warp do together: shuffles, votes, matches, reductions and __syncwarp().

Each joins the lanes that its mask names; warp_masks.py reports those that are not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import INT, Array, Pointer
from simulator.language.errors import SourceError
from simulator.language.functions import MATCHES, REDUCTIONS, SHUFFLES, VOTES
from simulator.language.tree import Call, Dereference, Expression, Load, Name, Variable
from simulator.language.visit import strip_casts
from simulator.launch import WARP_SIZE
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import ALL, Mask, as_array, narrow
from simulator.machine.warp_masks import (
    FULL,
    WarpMasks,
    active_bits,
    alike,
    by_lane,
    by_warp,
    lanes_where,
    pack,
    unpack,
)

LOW_BITS = WARP_SIZE - 1  # of a shuffle's offset and width, which the hardware looks at


def _sources(mode: str, lane: Array, amount: Any, width: Any) -> tuple[Array, Array]:
    """The lane of the warp that each lane [lanes] reads from, and whether that is in its segment.

    width is lanes a segment. See PTX ISA, shfl.
    """
    segment = lane // width * width
    match mode:
        case "__shfl_up_sync":
            source = lane - (amount & LOW_BITS)
            return source, source >= segment
        case "__shfl_down_sync":
            source = lane + (amount & LOW_BITS)
            return source, source < segment + width
        case "__shfl_xor_sync":
            source = lane ^ (amount & LOW_BITS)
            return source, source < segment + width
        case _:
            source = segment + amount % width
            return source, np.ones(lane.shape, np.bool_)


def _shuffle(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives another lane's value; a lane's own if the other is outside its segment or warp."""
    named, value, amount, *rest = (compiler.compile(argument) for argument in call.arguments)
    width = rest[0] if rest else None
    masks, variable = WarpMasks(call, compiler), register_of(call.arguments[1])

    def shuffle(group: Group, mask: Mask) -> Any:
        masks.peers(group, mask, named(group, mask))
        segment = WARP_SIZE if width is None else width(group, mask)
        source = source_lanes(group, call.function, amount(group, mask), segment)
        source = np.where(masks.present(group, source), source, group.warp_lanes)
        given = value(group, lanes_read(group, mask, source, variable))
        return take_from(group, given, source)

    return shuffle


def source_lanes(group: Group, name: str, amount: Any, width: Any) -> Array:
    """The lane that each lane reads from in the shuffle `name`: int [lanes], 0 to 31.

    amount and width are its last two arguments, numbers or [lanes].
    """
    by = group.spread(amount).astype(np.int64)
    segment = np.clip(group.spread(width).astype(np.int64), 1, WARP_SIZE)
    source, inside = _sources(name, group.warp_lanes, by, segment)
    return np.where(inside & (source >= 0) & (source < WARP_SIZE), source, group.warp_lanes)


def take_from(group: Group, values: Any, source: Array) -> Any:
    """Of each lane the value of its source lane (int [lanes]); of half2, two values."""
    places = group.warp_numbers * WARP_SIZE + source
    if isinstance(values, tuple):
        return tuple(by_warp(group, each, 0).reshape(-1)[places] for each in values)
    return by_warp(group, values, 0).reshape(-1)[places]


def register_of(value: Expression) -> Variable | None:
    """The variable in a register that a value is, None if it is anything else."""
    match strip_casts(value):
        case Load(lvalue=Name(variable=variable)) if variable.in_register:
            return variable
        case _:
            return None


def lanes_read(group: Group, mask: Mask, source: Array, variable: Variable | None) -> Mask:
    """The lanes whose value a shuffle takes: all of a mask, or only those that are read from.

    These are distinguished where the value is a variable that some lanes have not set, as in
    `if (lane == 0) n = atomicAdd(…); n = __shfl_sync(…, n, 0)`. source is int [lanes].
    """
    assigned = ALL if variable is None else group.assigned_mask[group.slot_of[variable]]
    if assigned is ALL or assigned is mask:
        return mask
    read = np.zeros(group.lanes, np.bool_)
    active = as_array(mask, group.lanes)
    read[(group.lane_numbers - group.warp_lanes + source)[active]] = True
    return narrow(mask, read)


def _vote(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives whether any or all lanes of the mask hold, or a bit for each that does."""
    named, predicate = (compiler.compile(argument) for argument in call.arguments)
    masks = WarpMasks(call, compiler)

    def vote(group: Group, mask: Mask) -> Any:
        peers = masks.peers(group, mask, named(group, mask))
        return count_votes(group, peers, predicate(group, mask), call.function)

    return vote


def count_votes(group: Group, peers: Array | None, predicate: Any, name: str) -> Array:
    """What the vote `name` gives each lane of its peers' predicates."""
    bits = lanes_where(group, group.spread(predicate) != 0)
    joined = FULL if peers is None else peers
    match name:
        case "__any_sync":
            given: Array = (bits & joined != 0).astype(np.int32)
        case "__all_sync":
            given = (bits & joined == joined).astype(np.int32)
        case _:
            given = bits & joined
    return given


def _joined(group: Group, peers: Array | None) -> Array:
    """Which lanes are joined: bool [warps, 32, 32], of each lane which of its warp."""
    everyone = np.full(group.lanes, FULL, np.uint32) if peers is None else peers
    return unpack(by_warp(group, everyone, 0))


def _match(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the lanes of the mask that have a lane's value; or the mask, if all have one value."""
    named, value, *rest = (compiler.compile(argument) for argument in call.arguments)
    masks = WarpMasks(call, compiler)
    store = _store_flag(call, compiler) if rest else None

    def match(group: Group, mask: Mask) -> Any:
        peers = masks.peers(group, mask, named(group, mask))
        same, joined = _matches(group, peers, value(group, mask))
        if store is None:
            return by_lane(group, pack(same))
        alike = (same == joined).all(axis=-1)
        store(group, mask, by_lane(group, alike).astype(np.int32))
        return by_lane(group, np.where(alike, pack(joined), np.uint32(0)))

    return match


def _matches(group: Group, peers: Array | None, value: Any) -> tuple[Array, Array]:
    """Which lanes have each lane's value, and which are joined: bool [warps, 32, 32]."""
    joined = _joined(group, peers)
    return alike(group, group.spread(value)) & joined, joined


def result_of(group: Group, name: str, peers: Array | None, values: Any) -> Any:
    """What lanes get that come to a vote, match or reduction `name` with some values [lanes]."""
    if name in VOTES:
        return count_votes(group, peers, values, name)
    if name in REDUCTIONS:
        return reduce_lanes(group, peers, values, name)
    return by_lane(group, pack(_matches(group, peers, values)[0]))


def _store_flag(call: Call, compiler: ExpressionCompiler) -> Callable[[Group, Mask, Array], None]:
    """Stores an int [lanes] where a call's last argument points to."""
    pointer = call.arguments[-1]
    if not isinstance(pointer.ctype, Pointer):
        raise SourceError(f"{call.function} takes a pointer to an int.", pointer.span)
    address, memory = compiler.compile(pointer), compiler.memory
    flag = compiler.operand(Dereference(INT, pointer.span, pointer), INT)

    def store(group: Group, mask: Mask, flags: Array) -> None:
        memory.store(group, mask, address(group, mask), flag, flags)

    return store


# Of each reduction the function, and what it starts from for a type's dtype.
REDUCERS: Mapping[str, tuple[Any, Callable[[Any], Any]]] = {
    "__reduce_add_sync": (np.add, lambda dtype: dtype.type(0)),
    "__reduce_min_sync": (np.minimum, lambda dtype: dtype.type(np.iinfo(dtype).max)),
    "__reduce_max_sync": (np.maximum, lambda dtype: dtype.type(np.iinfo(dtype).min)),
    "__reduce_and_sync": (np.bitwise_and, lambda dtype: ~dtype.type(0)),
    "__reduce_or_sync": (np.bitwise_or, lambda dtype: dtype.type(0)),
    "__reduce_xor_sync": (np.bitwise_xor, lambda dtype: dtype.type(0)),
}


def _reduce(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives every lane of the mask the sum, least, … of their whole numbers."""
    named, value = (compiler.compile(argument) for argument in call.arguments)
    masks = WarpMasks(call, compiler)

    def reduce(group: Group, mask: Mask) -> Any:
        peers = masks.peers(group, mask, named(group, mask))
        return reduce_lanes(group, peers, group.spread(value(group, mask)), call.function)

    return reduce


def reduce_lanes(group: Group, peers: Array | None, values: Array, name: str) -> Array:
    """The whole numbers of each lane's peers (see WarpMasks), joined as the function `name` does.

    values and the result are [lanes].
    """
    function, identity = REDUCERS[name]
    start = identity(values.dtype)
    table = by_warp(group, values, start)
    chosen = np.where(_joined(group, peers), table[:, None, :], start)
    return by_lane(group, function.reduce(chosen, axis=-1, dtype=values.dtype))


def _syncwarp(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Notes the call, which orders the accesses of the lanes of its mask."""
    (named,) = [compiler.compile(a) for a in call.arguments] or [lambda group, mask: FULL]
    masks = WarpMasks(call, compiler)

    def sync(group: Group, mask: Mask) -> Any:
        group.warp_syncs.add(masks.peers(group, mask, named(group, mask)))
        return np.int32(0)

    return sync


WARP_CALLS: Mapping[str, CompileCall] = {
    **dict.fromkeys(SHUFFLES, _shuffle),
    **dict.fromkeys(VOTES, _vote),
    **dict.fromkeys(MATCHES, _match),
    **dict.fromkeys(REDUCTIONS, _reduce),
    "__syncwarp": _syncwarp,
    "__activemask": lambda call, compiler: active_bits,
}
