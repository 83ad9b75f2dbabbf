"""The observer that counts memory transactions, as a GPU's own counters do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.language.tree import MemorySpace
from simulator.language.visit import is_copy
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.observers.transactions import (
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
        self._lines: dict[int, dict[str, int]] = {}

    @property
    def totals(self) -> Mapping[str, int]:
        """Each of FIELDS, summed over all lines."""
        return {name: sum(line[name] for line in self._lines.values()) for name in FIELDS}

    @property
    def lines(self) -> Mapping[int, Mapping[str, int]]:
        """The same counters, and those of IDEAL_FIELDS, for each line that accesses memory."""
        return {number: dict(self._lines[number]) for number in sorted(self._lines)}

    def on_access(self, access: Access) -> None:
        """Add what one instruction of a group of warps costs."""
        space = access.buffer.space
        if space is MemorySpace.LOCAL or access.kind is AccessKind.ATOMIC:
            return  # the hardware counts atomics apart, as neither loads nor stores
        requests, cost, ideal = _cost(access)
        line = access.lvalue.span.line
        counts = self._lines.get(line)
        if counts is None:
            counts = self._lines[line] = dict.fromkeys((*FIELDS, *IDEAL_FIELDS), 0)
        name = f"{space}_{access.kind}"
        counts[f"{name}_requests"] += requests
        if space is MemorySpace.GLOBAL:
            counts[f"{name}_sectors"] += cost
        else:
            counts[f"{name}_wavefronts"] += cost
            counts[f"{name}_wavefronts_ideal"] += ideal


def _cost(access: Access) -> tuple[int, int, int]:
    """Requests, sectors or wavefronts, and ideal wavefronts of one instruction.

    They depend on the lanes' pattern and mask, and on the common base only by its place within a
    sector or bank, so that a loop's iterations share what was found once.
    """
    space = access.buffer.space
    phase = access.base % 32 if space is MemorySpace.GLOBAL else access.base % 4
    key = (phase, access.width, access.kind)
    known: Any = access.pattern.costs.get(key)
    if known is not None and known[0] is access.mask:
        return known[1]  # type: ignore[no-any-return]  # a tuple kept beside its mask
    addresses, active = access.by_warp()
    warps = int(active.any(axis=1).sum())
    moved = copied_sectors if is_copy(access.lvalue) else sectors
    requests = cost = ideal = 0
    for first, width in instructions(access.width, access.component_size):
        requests += warps
        if space is MemorySpace.GLOBAL:
            cost += int(moved(addresses + first, active, width).sum())
        else:
            start = access.buffer.offset + first
            ways = (addresses + start, active, width, access.kind)
            cost += int(wavefronts(*ways).sum())
            ideal += int(ideal_wavefronts(*ways).sum())
    result = (requests, cost, ideal)
    access.pattern.costs[key] = (access.mask, result)
    return result
