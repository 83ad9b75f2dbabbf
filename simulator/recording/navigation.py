"""How far one press of a key goes: a statement, an iteration of a loop, or to the next barrier.

A recording's steps are all there, so that a move in either direction is a look-up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from simulator.language.tree import Loop
from simulator.machine.observer import StepKind
from simulator.recording.recording import Recording, Step

GRANULARITIES = ("statement", "inner", "outer", "barrier")

Position = tuple[tuple[Loop, int], ...]  # of each loop around a step, outermost first: iteration


def boundaries(
    recording: Recording, granularity: str, where: tuple[Position, ...] | None = None
) -> tuple[int, ...]:
    """The numbers of the steps at which a granularity stops, ascending; the first is 0.

    "statement" is every step. "inner" begins with each iteration of the innermost loop, "outer"
    with each of the outermost, and both where the loop is left, as positions() has it. "barrier"
    is each barrier's own step, at which threads wait: one step in lockstep, one for each warp
    where warps run one after another. Raises ValueError for another granularity.
    where is positions(recording), for one who has it.
    """
    steps = recording.steps
    match granularity:
        case "statement":
            return tuple(range(len(steps)))
        case "barrier":
            return tuple(i for i, step in enumerate(steps) if i == 0 or step.kind == "barrier")
        case "inner":
            return _changes(where or positions(recording))
        case "outer":
            return _changes([position[:1] for position in where or positions(recording)])
        case _:
            raise ValueError(f"{granularity!r} is none of {', '.join(GRANULARITIES)}")


def next_step(recording: Recording, number: int, granularity: str) -> int:
    """The nearest stop after step `number`; the last step if there is none."""
    starts = boundaries(recording, granularity)
    place = bisect_right(starts, number)
    return starts[place] if place < len(starts) else max(0, len(recording.steps) - 1)


def previous_step(recording: Recording, number: int, granularity: str) -> int:
    """The nearest stop before step `number`; 0 if there is none."""
    starts = boundaries(recording, granularity)
    place = bisect_left(starts, number) - 1
    return starts[place] if place >= 0 else 0


def positions(recording: Recording) -> tuple[Position, ...]:
    """For each step the loops that it belongs to, outermost first, with the iteration of each.

    The advance that leads to an iteration belongs to it; the test that ends a loop, and the advance
    before that, belong to what follows.
    """
    steps = recording.steps
    found: list[Position] = [()] * len(steps)
    for step in reversed(steps):
        loops = tuple((one.loop, one.iteration) for one in step.loops)
        if step.kind is StepKind.ADVANCE and loops:
            after = step.number + 1
            leads = after < len(steps) and steps[after].statement is step.statement
            # The loop's test follows at once, where it has one.
            loops = found[after] if leads else (*loops[:-1], (loops[-1][0], loops[-1][1] + 1))
        elif _ends_loop(step):
            loops = loops[:-1]
        found[step.number] = loops
    return tuple(found)


def _changes(keys: Sequence[object]) -> tuple[int, ...]:
    """Where a key differs from the one before it."""
    return tuple(i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1])


def _ends_loop(step: Step) -> bool:
    """Whether a step is the test that no thread passes any more."""
    if step.kind is not StepKind.TEST or not isinstance(step.statement, Loop):
        return False
    condition = step.statement.condition
    for part in step.evaluations:
        if part.expression is condition:
            return not (part.values[part.active] != 0).any()
    return False
