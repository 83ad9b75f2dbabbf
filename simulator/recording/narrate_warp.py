"""A step of a whole warp in a sentence: who is active, and what its requests cost memory."""

from __future__ import annotations

import numpy as np

from simulator.language.tree import Barrier, If, Loop, MemorySpace, Statement, Switch
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
    lanes = step.active[warp * WARP_SIZE : warp * WARP_SIZE + size]
    count = int(lanes.sum())
    if not count:
        return f"Warp {warp}: none of its {size} lanes is active here."
    who = f"all {size} lanes" if count == size else f"{count} of {size} lanes"
    if isinstance(step.statement, Barrier):
        return f"Warp {warp}: {who} wait at the barrier."
    said = [f"{who} active"]
    holds = _split(step, step.statement, warp, size)
    if holds is not None:
        said.append(holds)
    said += [_asked(request) for request in requests(recording, step, warp)]
    return f"Warp {warp}: {'; '.join(said)}."


def _split(step: Step, statement: Statement, warp: int, size: int) -> str | None:
    """How a warp's lanes answer a condition."""
    if step.kind is not StepKind.TEST or isinstance(statement, Switch):
        return None
    assert isinstance(statement, (If, Loop))
    for part in step.evaluations:
        if part.expression is statement.condition:
            own = slice(warp * WARP_SIZE, warp * WARP_SIZE + size)
            answers = part.values[own][part.active[own]]
            yes = int(np.count_nonzero(answers))
            if yes == answers.size:
                return "the condition holds for them all"
            if not yes:
                return "the condition holds for none"
            return f"the warp diverges: the condition holds for {yes}, not for {answers.size - yes}"
    return None


def _asked(request: Request) -> str:
    """One request: sectors for global memory, wavefronts and banks for shared."""
    access = request.access
    verb = f"{VERBS[access.kind]} {access.name}"
    if access.space is MemorySpace.GLOBAL:
        return (
            f"{verb}: {_count(request.moved, 'sector')} of {SECTOR_BYTES} bytes in "
            f"{_count(len(request.lines), 'line')}, {request.useful} of {request.fetched} bytes "
            f"needed{_shared_words(request)}"
        )
    banks = np.unique(request.banks[request.banks >= 0]).size
    said = (
        f"{verb}: {_count(request.passes, 'wavefront')}, "
        f"{_count(_words(request), 'word')} in {_count(banks, 'bank')}"
    )
    if request.degree > 1:
        said += f", {request.degree}-way bank conflict"
    return said + _shared_words(request)


def _shared_words(request: Request) -> str:
    """How many lanes at most get the same word at once."""
    most = max(len(lanes) for lanes in request.served.values())
    if most == 1 or request.access.kind is not AccessKind.LOAD:
        return ""
    if len(request.served) == 1:
        return f", one word for all {most} lanes (broadcast)"
    return f", each word for up to {most} lanes (broadcast)"


def _words(request: Request) -> int:
    return int(np.unique(request.words[request.words >= 0]).size)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
