"""A step of a whole warp: its active lanes, and what its requests cost."""

from __future__ import annotations

from collections import Counter

import numpy as np

from simulator.language.tree import Barrier, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.recording.recording import Recording, Step
from simulator.recording.requests import Request, requests

VERBS = {AccessKind.LOAD: "reads", AccessKind.STORE: "writes", AccessKind.ATOMIC: "updates"}


def counted(clauses: list[str]) -> list[str]:
    """Clauses, each once, those that come several times with how often that is.

    >>> counted(["reads A: 8 sectors", "reads A: 8 sectors", "reads B: 1 sector"])
    ['reads A 2 times: 8 sectors each time', 'reads B: 1 sector']
    """
    found = []
    for clause, count in Counter(clauses).items():
        head, colon, rest = clause.partition(":")
        found.append(clause if count == 1 else f"{head} {count} times{colon}{rest} each time")
    return found


def warp(recording: Recording, step: Step, number: int) -> tuple[str, ...]:
    """What warp `number` asks of memory at a step, the dearest request first."""
    size = min(WARP_SIZE, recording.launch.threads - number * WARP_SIZE)
    count = int(step.active[number * WARP_SIZE : number * WARP_SIZE + size].sum())
    if not count:
        none = f"none of its {size} lanes" if size > 1 else "its only lane"
        return (f"Warp {number}: {none} is{' not' * (size == 1)} active here.",)
    lanes = f"all {size} lanes" if count == size else f"{count} of {size} lanes"
    if size == 1:
        lanes = "its only lane"
    if isinstance(step.statement, Barrier):
        return (f"Warp {number}: {lanes} {'is' if count == 1 else 'are'} at the barrier.",)
    found = sorted(
        requests(recording, step, number), key=lambda one: (one.degree, one.wavefront_count),
        reverse=True,
    )  # fmt: skip
    costs = counted([_cost(request) for request in found])
    costs += counted(_costs_of_constants(step, number))
    if not costs:
        return (f"Warp {number}: {lanes} active.",)
    return tuple(
        f"Warp {number}, {lanes}: {'; '.join(costs[:shown])}." for shown in range(len(costs), 0, -1)
    )


def _cost(request: Request) -> str:
    """What a request costs, in a few words."""
    access = request.access
    text = f"{VERBS[access.kind]} {access.name}: "
    if access.space is MemorySpace.GLOBAL:
        sectors = f"{request.moved_sectors} sector" + ("s" if request.moved_sectors != 1 else "")
        if request.repeated_sectors:
            sectors += f", {request.repeated_sectors} of which it had already fetched"
        return f"{text}{sectors}, {request.useful_bytes} of {request.fetched_bytes} bytes used"
    waves = f"{request.wavefront_count} wavefront" + ("s" if request.wavefront_count != 1 else "")
    if request.degree > 1:
        return f"{text}{request.degree}-way bank conflict, {waves}"
    if len(request.lanes_by_word) == 1 < int(request.active.sum()):
        return f"{text}one word for all (broadcast), {waves}"
    return f"{text}no conflict, {waves}"


def _costs_of_constants(step: Step, number: int) -> list[str]:
    """What a warp's loads from constant memory cost: a pass for each address that lanes differ in.

    CUDA C++ Programming Guide, Device Memory Accesses, Constant Memory.
    """
    lanes, found = slice(number * WARP_SIZE, (number + 1) * WARP_SIZE), []
    for access in step.accesses:
        asking = (access.active & access.in_bounds)[lanes]
        if access.space is not MemorySpace.CONSTANT or not asking.any():
            continue
        passes = np.unique(access.offsets[lanes][asking]).size
        cost = "one value for all, 1 pass" if passes == 1 else (
            f"{passes} addresses, one after another, {passes} passes"
        )  # fmt: skip
        found.append(f"reads {access.name}, constant memory: {cost}")
    return found
