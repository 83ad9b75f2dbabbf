"""How far one press of a key goes: a statement, an iteration of a loop, or to the next barrier.

All steps of a recording are known, so that a move in either direction is a look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never

from simulator.language.tree import Loop
from simulator.machine.observer import StepKind
from simulator.recording.recording import Recording, Step


class Granularity(StrEnum):
    """At which steps a move stops."""

    STATEMENT = "statement"  # at every step
    INNER = "inner"  # where an iteration of the innermost loop begins, and where the loop ends
    OUTER = "outer"  # likewise for the outermost loop
    BARRIER = "barrier"  # at a barrier's own step, at which threads wait


# The loops that a step belongs to, outermost first, each with its iteration from 0.
Position = tuple[tuple[Loop, int], ...]


def boundaries(
    recording: Recording,
    granularity: Granularity,
    known_positions: tuple[Position, ...] | None = None,
) -> tuple[int, ...]:
    """The numbers of the steps at which a granularity stops, ascending; the first is 0.

    A barrier is one step in lockstep, and one for each warp where warps run one after another.
    known_positions is positions(recording), where that has been computed.
    """
    steps = recording.steps
    match granularity:
        case Granularity.STATEMENT:
            return tuple(range(len(steps)))
        case Granularity.BARRIER:
            barriers = (step.number for step in steps if step.kind is StepKind.BARRIER)
            return tuple(sorted({*([0] if steps else []), *barriers}))
        case Granularity.INNER:
            return _changes(known_positions or positions(recording))
        case Granularity.OUTER:
            loops = known_positions or positions(recording)
            return _changes([position[:1] for position in loops])
        case _:
            assert_never(granularity)


def positions(recording: Recording) -> tuple[Position, ...]:
    """For each step the loops that it belongs to, and the iteration of each.

    The advance that leads to an iteration belongs to it; the test that ends a loop, and the advance
    before that, belong to what follows.
    """
    steps = recording.steps
    found: list[Position] = [()] * len(steps)
    for step in reversed(steps):
        loops = tuple((position.loop, position.iteration) for position in step.loops)
        if step.kind is StepKind.ADVANCE and loops:
            after = step.number + 1
            # The loop's test follows directly, if it has one.
            if after < len(steps) and steps[after].statement is step.statement:
                loops = found[after]
            else:
                loop, iteration = loops[-1]
                loops = (*loops[:-1], (loop, iteration + 1))
        elif _ends_loop(step):
            loops = loops[:-1]
        found[step.number] = loops
    return tuple(found)


def _changes(keys: Sequence[object]) -> tuple[int, ...]:
    """The indices at which a key differs from the key before it."""
    return tuple(i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1])


def _ends_loop(step: Step) -> bool:
    """Whether a step is a loop's test that no active thread passes."""
    if step.kind is not StepKind.TEST or not isinstance(step.statement, Loop):
        return False
    condition = step.statement.condition
    for evaluation in step.evaluations:
        if evaluation.expression is condition:
            return not (evaluation.values[evaluation.active] != 0).any()
    return False
