"""A step of a whole warp: its active lanes, and what its requests cost.

`warp` has several wordings of it for the lecture, `warp_sentence` one for the overview.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from simulator.language.tree import Barrier, If, Loop, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind, StepKind
from simulator.observers.transactions import SECTOR_BYTES
from simulator.recording.recording import Recording, Step
from simulator.recording.requests import Request, requests

VERBS = {
    AccessKind.LOAD: "reads",
    AccessKind.STORE: "writes",
    AccessKind.ATOMIC: "updates",
}


def warp_sentence(recording: Recording, step: Step, warp: int) -> str:
    """What warp number `warp` of the block did at a step: lanes, sectors, wavefronts, banks."""
    size = min(WARP_SIZE, recording.launch.threads - warp * WARP_SIZE)
    count = int(step.active[_lanes(warp, size)].sum())
    if not count:
        return f"Warp {warp}: none of its {size} lanes is active here."
    subject = f"all {size} lanes" if count == size else f"{count} of {size} lanes"
    if isinstance(step.statement, Barrier):
        return f"Warp {warp}: {subject} wait at the barrier."
    clauses = [f"{subject} active"]
    condition = _describe_condition(step, warp, size)
    if condition is not None:
        clauses.append(condition)
    clauses += counted([_describe_request(one) for one in requests(recording, step, warp)])
    clauses += _describe_constants(step, warp, size)
    return f"Warp {warp}: {'; '.join(clauses)}."


def counted(clauses: list[str]) -> list[str]:
    """Clauses, each once, those that come several times with how often that is.

    >>> counted(["reads A: 8 sectors", "reads A: 8 sectors", "reads B: 1 sector"])
    ['reads A 2 times: 8 sectors', 'reads B: 1 sector']
    """
    found = []
    for clause, count in Counter(clauses).items():
        head, colon, rest = clause.partition(":")
        found.append(clause if count == 1 else f"{head} {count} times{colon}{rest}")
    return found


def _describe_condition(step: Step, warp: int, size: int) -> str | None:
    """For how many of a warp's lanes the statement's condition holds; None if it tests none."""
    statement = step.statement
    if step.kind is not StepKind.TEST or not isinstance(statement, (If, Loop)):
        return None
    for evaluation in step.evaluations:
        if evaluation.expression is statement.condition:
            lanes = _lanes(warp, size)
            results = evaluation.values[lanes][evaluation.active[lanes]]
            true = int(np.count_nonzero(results))
            false = results.size - true
            if not false:
                return "the condition holds for them all"
            if not true:
                return "the condition holds for none"
            return f"the warp diverges: the condition holds for {true}, not for {false}"
    return None


def _describe_request(request: Request) -> str:
    """What a request costs: sectors in global memory, wavefronts and banks in shared."""
    access = request.access
    verb = f"{VERBS[access.kind]} {access.name}"
    if access.space is MemorySpace.GLOBAL:
        again = request.repeated_sectors
        split = f" ({again} again: lanes that share it write to two lines)" if again else ""
        return (
            f"{verb}: {_count(request.moved_sectors, 'sector')} of {SECTOR_BYTES} bytes in "
            f"{_count(len(request.lines), 'line')}{split}, {request.useful_bytes} of "
            f"{request.fetched_bytes} bytes needed{_describe_broadcast(request)}"
        )
    banks = np.unique(request.banks[request.banks >= 0]).size
    words = np.unique(request.words[request.words >= 0]).size
    text = (
        f"{verb}: {_count(request.wavefront_count, 'wavefront')}, "
        f"{_count(words, 'word')} in {_count(banks, 'bank')}"
    )
    if request.degree > 1:
        text += f", {request.degree}-way bank conflict"
    return text + _describe_broadcast(request)


def _describe_constants(step: Step, warp: int, size: int) -> list[str]:
    """What reads of constant memory cost: a pass for each distinct address of the warp.

    (CUDA C++ Programming Guide, device memory accesses, constant memory.)
    """
    lanes, found = _lanes(warp, size), []
    for access in step.accesses:
        active = (access.active & access.in_bounds)[lanes]
        if access.space is MemorySpace.CONSTANT and active.any():
            addresses = np.unique(access.offsets[lanes][active]).size
            cost = (
                "one address for all (broadcast)"
                if addresses == 1
                else (f"{addresses} addresses of constant memory, one after another")
            )
            found.append(f"{VERBS[access.kind]} {access.name}: {cost}")
    return found


def _describe_broadcast(request: Request) -> str:
    """To how many lanes, at most, one word goes; empty if each lane loads its own."""
    most = max(len(lanes) for lanes in request.lanes_by_word.values())
    if most == 1 or request.access.kind is not AccessKind.LOAD:
        return ""
    if len(request.lanes_by_word) == 1:
        return f", one word for all {most} lanes (broadcast)"
    return f", each word for up to {most} lanes (broadcast)"


def warp(recording: Recording, step: Step, number: int) -> tuple[str, ...]:
    """What warp `number` asks of memory at a step, the dearest request first."""
    size = min(WARP_SIZE, recording.launch.threads - number * WARP_SIZE)
    count = int(step.active[number * WARP_SIZE : number * WARP_SIZE + size].sum())
    if not count:
        return (f"Warp {number}: none of its {size} lanes is active here.",)
    lanes = f"all {size} lanes" if count == size else f"{count} of {size} lanes"
    if isinstance(step.statement, Barrier):
        return (f"Warp {number}: {lanes} are at the barrier.",)
    found = sorted(
        requests(recording, step, number), key=lambda one: (one.degree, one.wavefront_count),
        reverse=True,
    )  # fmt: skip
    if not found:
        return (f"Warp {number}: {lanes} active.",)
    costs = counted([_cost(request) for request in found])
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
            sectors += f", {request.repeated_sectors} of them again"
        return f"{text}{sectors}, {request.useful_bytes} of {request.fetched_bytes} bytes used"
    waves = f"{request.wavefront_count} wavefront" + ("s" if request.wavefront_count != 1 else "")
    if request.degree > 1:
        return f"{text}{request.degree}-way bank conflict, {waves}"
    if len(request.lanes_by_word) == 1 < int(request.active.sum()):
        return f"{text}one word for all (broadcast), {waves}"
    return f"{text}no conflict, {waves}"


def _lanes(warp: int, size: int) -> slice:
    """The threads of a warp of `size` lanes, in arrays [T]."""
    return slice(warp * WARP_SIZE, warp * WARP_SIZE + size)


def _count(number: int, noun: str) -> str:
    """A number and its noun, which is in the plural but for 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
