"""The observer that counts memory transactions, as a GPU's own counters do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.language.visit import is_copy
from simulator.machine.buffers import Buffer
from simulator.machine.observer import Access, AccessKind, Observer, Sweep
from simulator.observers.transactions import (
    BANK_BYTES,
    BANKS,
    LINE_BYTES,
    SECTOR_BYTES,
    copied_sectors,
    ideal_wavefronts,
    instructions,
    sectors,
    wavefronts,
)

FIELDS = (
    "global_load_requests", "global_load_sectors", "global_store_requests",
    "global_store_sectors", "shared_load_requests", "shared_load_wavefronts",
    "shared_store_requests", "shared_store_wavefronts",
)  # fmt: skip
IDEAL_FIELDS = ("shared_load_wavefronts_ideal", "shared_store_wavefronts_ideal")


class Counters(Observer):
    """Warp-level counts over all blocks that ran: in all, and by line of the text.

    A request is one warp instruction with at least one active lane; sectors and wavefronts are
    those of simulator.observers.transactions. Ideal wavefronts are what the same requests would
    take if no two words met in a bank.
    """

    def __init__(self) -> None:
        self._lines: dict[int, dict[str, int]] = {}  # by line from 1: a count for each field

    @property
    def totals(self) -> Mapping[str, int]:
        """Each of FIELDS, summed over all lines."""
        return {name: sum(line[name] for line in self._lines.values()) for name in FIELDS}

    @property
    def lines(self) -> Mapping[int, Mapping[str, int]]:
        """The same counters, and those of IDEAL_FIELDS, for each line that accesses memory."""
        return {number: dict(self._lines[number]) for number in sorted(self._lines)}

    def add_blocks(self, others: Counters) -> None:
        """Add what was counted over other blocks."""
        for number, counts in others.lines.items():
            known = self._lines.setdefault(number, dict.fromkeys(counts, 0))
            for name, count in counts.items():
                known[name] += count

    def on_access(self, access: Access) -> None:
        """Add what one instruction of a group of warps costs."""
        space = access.buffer.space
        if space is MemorySpace.LOCAL or access.kind is AccessKind.ATOMIC:
            return  # the hardware counts atomics apart, as neither loads nor stores
        if space is MemorySpace.CONSTANT:
            return  # a cache of its own serves it: neither sectors nor wavefronts
        self._add(access, 1)

    def on_sweep(self, sweep: Sweep) -> bool:
        """Add what a loop's loads cost, which repeats with the remainders of their bases."""
        for load in sweep.loads:
            if load.pattern.buffer.space not in (MemorySpace.SHARED, MemorySpace.GLOBAL):
                continue
            unit = _unit(load.pattern.buffer)
            period = min(unit // math.gcd(unit, load.stride), sweep.iterations)
            for number in range(period):
                times = len(range(number, sweep.iterations, period))
                self._add(sweep.access(number, load), times)
        return True

    def _add(self, access: Access, times: int) -> None:
        """Add what an access to global or shared memory costs, so many times."""
        cost, space = _cost(access), access.buffer.space
        line = access.lvalue.span.line
        counts = self._lines.get(line)
        if counts is None:
            counts = self._lines[line] = dict.fromkeys((*FIELDS, *IDEAL_FIELDS), 0)
        name = f"{space}_{access.kind}"
        counts[f"{name}_requests"] += times * cost.requests
        if space is MemorySpace.GLOBAL:
            counts[f"{name}_sectors"] += times * cost.transactions
        elif space is MemorySpace.SHARED:
            counts[f"{name}_wavefronts"] += times * cost.transactions
            counts[f"{name}_wavefronts_ideal"] += times * cost.ideal
        else:
            raise AssertionError(f"accesses to {space} memory cost nothing")


class ArrayCounters(Counters):
    """The same counts, and those of each array by itself at each line."""

    def __init__(self) -> None:
        super().__init__()
        # By line, from 1, and array: its space, whether it is read, requests and what they cost.
        self.arrays: dict[tuple[int, str, AccessKind], tuple[MemorySpace, int, int]] = {}

    def _add(self, access: Access, times: int) -> None:
        super()._add(access, times)
        cost, buffer = _cost(access), access.buffer
        key = (access.lvalue.span.line, buffer.name, access.kind)
        _, requests, transactions = self.arrays.get(key, (buffer.space, 0, 0))
        self.arrays[key] = (
            buffer.space, requests + times * cost.requests, transactions + times * cost.transactions
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What one instruction of a group costs, over all its warps."""

    requests: int  # warps with an active lane, for each instruction that moves the data
    transactions: int  # sectors of global memory, or wavefronts of shared memory
    ideal: int  # wavefronts without bank conflicts; 0 for global memory


def _cost(access: Access) -> Cost:
    """The cost of an access, kept with its pattern.

    It depends on the lanes' pattern and mask, and on the common base only by its remainder within
    a sector or bank, so that a loop's iterations share what was computed once.
    """
    key: tuple[Any, ...] = (access.base % _unit(access.buffer), access.width, access.kind)
    target = access.target
    lanes: Any = None
    if target is not None:
        lanes = target.lane_offsets
        key = (*key, (target.base + target.buffer.offset) % LINE_BYTES)
    known: tuple[Any, Any, Cost] | None = access.pattern.costs.get(key)
    if known is not None and known[0] is access.mask and known[1] is lanes:
        return known[2]
    cost = _compute_cost(access)
    access.pattern.costs[key] = (access.mask, lanes, cost)
    return cost


def _unit(buffer: Buffer) -> int:
    """Bytes of a sector or bank: what an access costs is the same if its base moves by these."""
    return SECTOR_BYTES if buffer.space is MemorySpace.GLOBAL else BANK_BYTES


def _compute_cost(access: Access) -> Cost:
    offsets, active = access.by_warp()
    is_shared = access.buffer.space is not MemorySpace.GLOBAL
    addresses = offsets + access.buffer.offset if is_shared else offsets
    parts = instructions(access.width, access.component_size)
    if is_copy(access.lvalue):
        targets = access.targets_by_warp()
        return add_up_cost(addresses, active, parts, access.kind, is_shared, True, targets)
    alike = 1
    if _are_alike(addresses, active, BANKS * BANK_BYTES if is_shared else SECTOR_BYTES):
        alike, addresses, active = len(addresses), addresses[:1], active[:1]
    cost = add_up_cost(addresses, active, parts, access.kind, is_shared, False)
    return Cost(alike * cost.requests, alike * cost.transactions, alike * cost.ideal)


def _are_alike(addresses: Array, active: Array, unit: int) -> bool:
    """Whether all warps access as the first does, moved by multiples of a unit of bytes."""
    moved = addresses - addresses[:1]
    by = moved[:, :1]
    same = not (by % unit).any() and bool((moved == by).all())
    return same and bool((active == active[:1]).all())


def add_up_cost(
    addresses: Array,
    active: Array,
    parts: tuple[tuple[int, int], ...],
    kind: AccessKind,
    is_shared: bool,
    is_copied: bool,
    targets: Array | None = None,
) -> Cost:
    """Add up the cost of the instructions that an access takes.

    addresses int [warps, 32] in bytes, of shared memory from its start; active bool [warps, 32];
    parts are transactions.instructions' of the access; is_copied says whether it is an asynchronous
    copy, and targets, int [warps, 32], to which bytes of shared memory.
    """
    warps = int(active.any(axis=1).sum())
    requests = transactions = ideal = 0
    for first, width in parts:
        requests += warps
        if is_shared:
            lanes = (addresses + first, active, width, kind)
            transactions += int(wavefronts(*lanes).sum())
            ideal += int(ideal_wavefronts(*lanes).sum())
        elif is_copied:
            transactions += int(copied_sectors(addresses + first, active, width, targets).sum())
        else:
            transactions += int(sectors(addresses + first, active, width).sum())
    return Cost(requests, transactions, ideal)
