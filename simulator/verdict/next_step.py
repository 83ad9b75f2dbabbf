"""The one thing to do next, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.observers.findings import RACES, HazardKind
from simulator.verdict.verdict import CheckState, FoundHazard, SizeCheck, State

# Hazards in the order in which they are mended.
ORDER = (
    HazardKind.TRAP,
    HazardKind.FAILED_ASSERTION,
    HazardKind.OUT_OF_BOUNDS,
    HazardKind.MISALIGNED,
    HazardKind.DIVERGENT_BARRIER,
    *RACES,
    HazardKind.WRONG_MASK,
    HazardKind.ABSENT_LANE,
    HazardKind.UNINITIALIZED_READ,
)


def next_step(state: State, checks: Sequence[SizeCheck], hazards: Sequence[FoundHazard]) -> str:
    """What to do next of all that a verdict found."""
    if state is State.STOPPED:
        return checks[0].sentence
    if hazards:
        first = min(hazards, key=lambda one: ORDER.index(one.hazard.kind))
        return first.hazard.message
    wrong = [check for check in checks if check.state is CheckState.WRONG]
    if wrong:
        return wrong[0].sentence
    return "No hazards: run it on a GPU."
