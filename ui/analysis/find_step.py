"""Finds steps: a line's next execution, a cell's next reader, a place in another recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simulator import Recording
from simulator.machine.observer import AccessKind, StepKind
from simulator.recording.navigation import positions

# A step's line, its kind, the iterations of the loops it is in, and how many such were before it.
Place = tuple[int, StepKind, tuple[int, ...], int]


def next_execution(recording: Recording, line: int, step: int) -> int | None:
    """The next step after `step` that executes a line, else the first; None for a line without.

    The steps of a line that directly follow one another are one execution.
    """
    steps = recording.steps
    found = [
        candidate.number
        for candidate in steps
        if candidate.line == line
        and (candidate.number == 0 or steps[candidate.number - 1].line != line)
    ]
    return next((number for number in found if number > step), found[0] if found else None)


def next_access(
    recording: Recording, name: str, cell: int, step: int, is_read: bool
) -> tuple[int, int] | None:
    """The next step after `step` at which the block accesses a cell, and the first that does.

    After the last such step comes the first. Only reads count where is_read is set. None if no
    thread of the block accesses the cell of this array so.
    """
    steps = recording.steps
    for candidate in (*steps[step + 1 :], *steps[: step + 1]):
        for access in candidate.accesses:
            if (is_read and access.kind is not AccessKind.LOAD) or access.name != name:
                continue
            cells, threads = access.touched_cells()
            readers = threads[cells == cell]
            if readers.size:
                return candidate.number, int(readers[0])
    return None


def corresponding_step(before: Recording, step: int, after: Recording) -> int:
    """The step of another recording that is at the same place as a step of this one.

    Both recordings are of texts with the same lines. The same place is the same line in the same
    iterations of its loops, as often executed there. If the other recording has no such step, as
    where its line was removed, the step before counts; at last the result is 0.
    """
    numbers = {place: number for number, place in enumerate(_places(after))}
    places = list(_places(before))[: step + 1]
    return next((numbers[place] for place in reversed(places) if place in numbers), 0)


def matching_steps(before: Recording, after: Recording) -> list[int | None]:
    """For each step, the one at the same place of another recording; None if that has none.

    Both recordings are of texts with the same lines; see corresponding_step.
    """
    numbers = {place: number for number, place in enumerate(_places(after))}
    return [numbers.get(place) for place in _places(before)]


def _places(recording: Recording) -> Iterator[Place]:
    """The place of each step."""
    counts: Counter[tuple[int, StepKind, tuple[int, ...]]] = Counter()
    for step, position in zip(recording.steps, positions(recording), strict=True):
        place = (step.line, step.kind, tuple(iteration for _, iteration in position))
        yield *place, counts[place]
        counts[place] += 1
