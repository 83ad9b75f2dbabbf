"""Which memory accesses of a launch cost more than they need, by line and array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.language.tree import Kernel, MemorySpace
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.observers.counters import Counters
from simulator.observers.transactions import SECTOR_BYTES
from simulator.sentences import verdicts
from simulator.verdict.verdict import LineCost

WORTH = 2.0  # times the fewest transactions that a line must exceed to be mentioned
SHARE = 0.2  # of all transactions of its memory that it must waste


@dataclass(slots=True)
class Traffic:
    """What the accesses of one line to one array took."""

    requests: int = 0  # warp instructions
    transactions: int = 0  # sectors of global memory, wavefronts of shared memory
    fewest: int = 0  # what the same bytes, side by side and in banks of their own, would take
    stride: int = 0  # bytes from a thread's to the next one's, of the access that took most
    most: int = 0  # transactions of one request

    def add(self, other: Traffic) -> None:
        """Add the accesses of another."""
        self.requests += other.requests
        self.transactions += other.transactions
        self.fewest += other.fewest
        if other.most > self.most:
            self.most, self.stride = other.most, other.stride


@dataclass(frozen=True, slots=True)
class Place:
    """Where accesses are made."""

    line: int  # of the text, from 1
    array: str
    space: MemorySpace
    kind: AccessKind


@dataclass(slots=True)
class _Lines(Observer):
    """Adds up accesses by place."""

    places: dict[Place, Traffic] = field(default_factory=dict)

    def on_access(self, access: Access) -> None:
        """Add one instruction of a group of warps."""
        space = access.buffer.space
        if access.kind is AccessKind.ATOMIC or space not in (
            MemorySpace.GLOBAL, MemorySpace.SHARED,
        ):  # fmt: skip
            return
        # A loop's iterations share patterns, and what follows from them: see Pattern.costs.
        key = ("traffic", access.base % SECTOR_BYTES, access.width, access.kind)
        found: tuple[Any, Traffic] | None = access.pattern.costs.get(key)
        if found is None or found[0] is not access.mask:
            found = access.pattern.costs[key] = (access.mask, _traffic(access))
        place = Place(access.lvalue.span.line, access.buffer.name, space, access.kind)
        self.places.setdefault(place, Traffic()).add(found[1])


def _traffic(access: Access) -> Traffic:
    """What one instruction of a group of warps takes."""
    counted = Counters()
    counted.on_access(access)
    (counts,) = counted.lines.values()
    name = f"{access.buffer.space}_{access.kind}"
    requests = counts[f"{name}_requests"]
    offsets, active = access.by_warp()
    if access.buffer.space is MemorySpace.SHARED:
        taken, fewest = counts[f"{name}_wavefronts"], counts[f"{name}_wavefronts_ideal"]
    else:
        taken = counts[f"{name}_sectors"]
        fewest = int((-(-active.sum(axis=1) * access.width // SECTOR_BYTES)).sum())
    steps = np.diff(offsets[:1], axis=1)[active[:1, 1:] & active[:1, :-1]]
    return Traffic(
        requests=requests,
        transactions=taken,
        fewest=min(fewest, taken),
        stride=int(np.median(np.abs(steps))) if steps.size else 0,
        most=taken // max(1, requests),
    )


def line_traffic(kernel: Kernel, launch: Launch, seconds: float) -> Mapping[Place, Traffic]:
    """What each line of a launch takes of each array, by running it once more.

    Raises LaunchError and SourceError as a run does.
    """
    observer = _Lines()
    Machine(kernel, launch, [observer], Schedule.LOCKSTEP, seconds=seconds).run()
    return observer.places


def costliest_line(places: Mapping[Place, Traffic]) -> LineCost | None:
    """The place that wastes most of its memory's transactions; None where none wastes many."""
    totals = {
        space: sum(one.transactions for place, one in places.items() if place.space is space)
        for space in (MemorySpace.GLOBAL, MemorySpace.SHARED)
    }
    wasteful = {
        place: one.transactions - one.fewest
        for place, one in places.items()
        if one.transactions > WORTH * one.fewest
        and one.transactions - one.fewest > SHARE * totals[place.space]
    }
    if not wasteful:
        return None
    place = max(wasteful, key=lambda one: (one.space is MemorySpace.SHARED, wasteful[one]))
    found = places[place]
    taken, enough = (round(n / found.requests, 1) for n in (found.transactions, found.fewest))
    accesses = place.kind, place.line, place.array
    if place.space is MemorySpace.SHARED:
        sentence = verdicts.bank_conflicts(*accesses, taken, enough)
    else:
        sentence = verdicts.scattered(*accesses, found.stride, taken, enough)
    return LineCost(
        line=place.line,
        array=place.array,
        space=str(place.space),
        requests=found.requests,
        transactions=found.transactions,
        fewest=found.fewest,
        sentence=sentence,
    )
