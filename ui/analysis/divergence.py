"""Where the lanes of a warp part: those that a condition holds for go on, the others wait."""

from __future__ import annotations

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import If, Loop
from simulator.launch import WARP_SIZE
from simulator.machine.observer import StepKind


def threads_that_take(step: Step) -> Array | None:
    """The threads for which a step's condition holds: bool [T]; None if it tests none."""
    statement = step.statement
    if step.kind is not StepKind.TEST or not isinstance(statement, If | Loop):
        return None
    values = next(
        (one for one in reversed(step.evaluations) if one.expression is statement.condition), None
    )
    if values is None or values.values.ndim != 1:
        return None
    taking: Array = step.active & values.active & (values.values != 0)
    return taking


def parts_warp(step: Step) -> bool:
    """Whether a step's condition holds for some of a warp's lanes that test it and not for all."""
    taking = threads_that_take(step)
    return taking is not None and any(
        taking[lanes].any() and (step.active & ~taking)[lanes].any()
        for lanes in _warps(step.active.size)
    )


def has_divergence(recording: Recording) -> bool:
    """Whether the lanes of a warp ever part."""
    return any(parts_warp(step) for step in recording.steps)


def _warps(threads: int) -> list[slice]:
    return [slice(first, first + WARP_SIZE) for first in range(0, threads, WARP_SIZE)]
