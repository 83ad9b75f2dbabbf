"""Which lanes of a warp a warp function joins, by its mask, and what is wrong with a mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Call
from simulator.launch import WARP_SIZE
from simulator.machine.closures import ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import ALL, Mask, as_array
from simulator.machine.observer import WarpFault, WarpFaultReason, callbacks

FULL = np.uint32(0xFFFFFFFF)
BITS = np.uint32(1) << np.arange(WARP_SIZE, dtype=np.uint32)  # uint32 [32], a bit for each lane


def positions(group: Group) -> Array:
    """Where each lane is in an array [warps, 32] laid flat: int [lanes]."""
    if group.warp_positions is None:
        group.warp_positions = group.warp_numbers * WARP_SIZE + group.warp_lanes
    return group.warp_positions


def by_warp(group: Group, values: Any, missing: Any) -> Array:
    """Values [lanes] as [warps, 32], with `missing` for lanes that a partial warp lacks."""
    values = group.spread(values)
    whole: Array
    warps = int(group.warp_numbers[-1]) + 1
    if group.lanes == warps * WARP_SIZE:
        whole = values
    else:
        whole = np.full(warps * WARP_SIZE, missing, values.dtype)
        whole[positions(group)] = values
    return whole.reshape(warps, WARP_SIZE)


def by_lane(group: Group, values: Array) -> Array:
    """Values [warps, 32] as [lanes]; or values [warps], for each lane that of its warp."""
    if values.ndim == 1:
        values = np.repeat(values[:, None], WARP_SIZE, axis=1)
    lanes: Array = values.reshape(-1)[positions(group)]
    return lanes


def pack(chosen: Array) -> Array:
    """A bit for each lane: bool [..., 32] as uint32 [...].

    >>> pack(np.arange(32) < 4)
    np.uint32(15)
    """
    bits: Array = np.where(chosen, BITS, np.uint32(0)).sum(axis=-1, dtype=np.uint32)
    return bits


def unpack(bits: Array) -> Array:
    """uint32 [...] as bool [..., 32]."""
    chosen: Array = (bits[..., None] & BITS) != 0
    return chosen


def count(bits: Any) -> Any:
    """How many lanes uint32 [...] has bits for: int64 [...]."""
    return np.bitwise_count(bits).astype(np.int64)


def active_bits(group: Group, mask: Mask) -> Array:
    """The active lanes of each lane's warp, a bit each: uint32 [lanes]."""
    return lanes_where(group, as_array(mask, group.lanes))


def lanes_where(group: Group, holds: Array) -> Array:
    """Of each lane those of its warp that hold (bool [lanes]), a bit each: uint32 [lanes]."""
    return by_lane(group, pack(by_warp(group, holds, False)))


def alike(group: Group, values: Array) -> Array:
    """Which lanes of a warp have the bits of a lane's value [lanes]: bool [warps, 32, 32]."""
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    table = by_warp(group, bits, 0)
    equal: Array = table[:, :, None] == table[:, None, :]
    return equal


class WarpMasks:
    """Finds the lanes that calls of one warp function join; reports wrong masks to observers."""

    def __init__(self, call: Call, compiler: ExpressionCompiler) -> None:
        self._call = call
        self._on_fault = callbacks(compiler.observers, "on_warp_fault")
        self._slot = compiler.memo_slot()

    def peers(self, group: Group, mask: Mask, named: Any) -> Array | None:
        """The lanes that arrive with each lane, itself among them: uint32 [lanes], a bit each.

        named is the mask argument, one number or [lanes]. Gives None where all 32 lanes of every
        warp arrive with a full mask.
        """
        memo = group.memo[self._slot]
        returned = group.returns[0]
        if memo is not None and memo[0] is mask and memo[1] is named and memo[2] is returned:
            arrival: Arrival = memo[3]
        else:
            arrival = find_arrival(group, mask, named)
            group.memo[self._slot] = (mask, named, returned, arrival)
        for reason, lanes, others in arrival.faults:
            self.report(reason, group, lanes, others)
        return arrival.peers

    def present(self, group: Group, source: Array) -> Array:
        """Whether the lanes that lanes read from (int [lanes], 0 to 31) arrived with them.

        Reports those that did not, but for those that their mask names, which peers() has
        reported. Lanes that are not active count as present.
        """
        present, unexpected = sources_present(group.memo[self._slot][3], source)
        self.report(WarpFaultReason.ABSENT_SOURCE, group, unexpected, source)
        return present

    def report(self, reason: WarpFaultReason, group: Group, lanes: Array, others: Array) -> None:
        """Notify observers of lanes (bool [lanes]), each with another lane of its warp."""
        if self._on_fault and lanes.any():
            fault = WarpFault(reason, group, self._call, lanes, others)
            for notify in self._on_fault:
                notify(fault)


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """Which lanes arrive at a call together, and what is wrong."""

    peers: Array | None  # as WarpMasks.peers gives it
    missing: Array | None  # uint32 [lanes], of each lane those that its mask names in vain
    # Of each fault the lanes (bool [lanes]), and another lane for each (int [lanes]).
    faults: tuple[tuple[WarpFaultReason, Array, Array], ...]


def sources_present(arrival: Arrival, source: Array) -> tuple[Array, Array]:
    """Of each lane whether the lane that it reads from (int [lanes], 0 to 31) arrived with it.

    After it come the lanes whose source did not, though no mask names it: both bool [lanes].
    """
    if arrival.peers is None or arrival.missing is None:
        return np.ones(source.shape, np.bool_), np.zeros(source.shape, np.bool_)
    bits = BITS[source]
    absent: Array = (arrival.peers & bits == 0) & (arrival.peers != 0)
    return ~absent, absent & (arrival.missing & bits == 0)


def find_arrival(group: Group, mask: Mask, named: Any, kinds: Array | None = None) -> Arrival:
    """How the lanes of a mask arrive together; named is their masks, one number or [lanes].

    kinds is int [lanes] where they come to different functions: only those of one arrive together.
    """
    complete = group.threads.size % WARP_SIZE == 0
    uniform = np.ndim(named) == 0
    if mask is ALL and complete and uniform and named == FULL:
        return Arrival(None, None, ())
    active = as_array(mask, group.lanes)
    names = group.spread(named).astype(np.uint32)
    if uniform:
        peers = names & active_bits(group, mask)
    else:  # lanes that arrive with the same mask
        same = alike(group, names) & by_warp(group, active, False)[:, None, :]
        if kinds is not None:
            same &= alike(group, kinds)
        peers = names & by_lane(group, pack(same))
    own = BITS[group.warp_lanes]
    peers = np.where(active, peers | own, np.uint32(0))
    if complete and (peers == FULL).all():
        return Arrival(None, None, ())
    unnamed = active & (names & own == 0)
    started = active_bits(group, ALL) & ~active_bits(group, group.returns[0])
    missing = np.where(active, names & started & ~peers, np.uint32(0))
    first = np.log2(np.maximum(missing & -missing, 1)).astype(np.int64)
    faults = (
        (WarpFaultReason.UNNAMED_LANE, unnamed, group.warp_lanes),
        (WarpFaultReason.MISSING_LANE, missing != 0, first),
    )
    return Arrival(peers, missing, tuple(fault for fault in faults if fault[1].any()))
