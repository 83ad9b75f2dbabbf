"""Who has come to a barrier of a recorded block, and where those are that never come to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Barrier
from simulator.recording.recording import Recording, Step


@dataclass(frozen=True, slots=True)
class Absent:
    """Threads that do not come to a barrier at which others wait."""

    threads: tuple[int, ...]  # their numbers in the block
    line: int | None  # where they wait or go on; None for those that have ended
    waits: bool  # at another barrier


def arrived(recording: Recording, step: Step) -> Array:
    """bool [T]: the threads that have come to the barrier of a step by then."""
    come = step.active
    for earlier in reversed(recording.steps[: step.number]):
        if earlier.interval != step.interval:
            break
        if earlier.statement is step.statement:
            come = come | earlier.active
    return come


def waiting_threads(recording: Recording) -> list[Array]:
    """For each step, which threads [T] have come to the barrier and wait there for the others."""
    by_step: list[Array] = []
    nobody = waits = np.zeros(recording.launch.threads, np.bool_)
    interval = 0
    for step in recording.steps:
        if step.interval != interval:
            waits, interval = nobody, step.interval
        if isinstance(step.statement, Barrier):
            waits = waits | step.active
        by_step.append(waits)
    return by_step


def absent(recording: Recording, step: Step) -> tuple[Absent, ...]:
    """Those that never come to the barrier of a step, by where they are: () for a right kernel's.

    Threads that have ended are not missed: where all others come nobody is absent.
    """
    interval = [one for one in recording.steps if one.interval == step.interval]
    come = np.zeros_like(step.active)
    last = np.full(come.size, -1)  # the number of each thread's last step in the interval
    for one in interval:
        last[one.active] = one.number
        if one.statement is step.statement:
            come = come | one.active
    after = recording.steps[interval[-1].number + 1 :]
    places: dict[tuple[int | None, bool], list[int]] = {}
    for thread in np.flatnonzero(~come).tolist():
        before = recording.steps[last[thread]] if last[thread] >= 0 else None
        if before is not None and isinstance(before.statement, Barrier):
            place: tuple[int | None, bool] = before.line, True
        else:
            place = next((one.line for one in after if one.active[thread]), None), False
        places.setdefault(place, []).append(thread)
    if all(line is None for line, _ in places):
        return ()
    return tuple(Absent(tuple(threads), *place) for place, threads in places.items())
