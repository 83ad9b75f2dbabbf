"""What a faulty run should have read and summed: the same steps of a run without the fault."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum, auto

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import ArraySpace, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.find_step import matching_steps


class Fate(Enum):
    """What has become of the store of a right value that is not there."""

    COMING = auto()  # it has not been written yet
    LOST = auto()  # it was overwritten
    OTHER = auto()  # another value was written
    NEVER = auto()  # nothing is written


class RightValues:
    """A faulty recording beside one of the same block, numbers and order without the fault.

    Both are of texts with the same lines, and are compared where both are at the same point of the
    computation: a value is wrong that differs there.
    """

    def __init__(self, recording: Recording, right: Recording) -> None:
        self._recording, self._right = recording, right
        self._steps = matching_steps(recording, right)
        self._sums: dict[str, list[Array | None]] = {}
        self._back = {n: i for i, n in enumerate(self._steps) if n is not None}
        self._at_place: dict[tuple[int, tuple[int, ...]], list[Step]] = defaultdict(list)
        for step in right.steps:
            self._at_place[_place(step)].append(step)

    def step(self, step: Step) -> Step | None:
        """The same step of the run without the fault; None if it has none.

        It may be of other threads.
        """
        number = self._steps[step.number]
        return None if number is None else self._right.steps[number]

    def step_of(self, step: Step, thread: int) -> Step | None:
        """The same step of the run without the fault, if a thread runs that, too."""
        other = self.step(step)
        return other if other is not None and other.active[thread] else None

    def has_access(self, step: Step, access: StepAccess, thread: int) -> bool:
        """Whether a thread accesses the same element at the same place without the fault, too."""
        return any(
            (other.kind, other.space, other.name) == (access.kind, access.space, access.name)
            and other.active[thread] and other.offsets[thread] == access.offsets[thread]
            for same in self._at_place[_place(step)]
            for other in same.accesses
        )  # fmt: skip

    def writer(
        self, step: Step, access: StepAccess, cell: int, thread: int
    ) -> tuple[int | None, Fate]:
        """Who stores the right value of a cell that a thread reads, and what became of that."""
        other = self.step_of(step, thread)
        for earlier in () if other is None else reversed(self._right.steps[: other.number]):
            stored = stored_value(earlier, access, cell)
            if stored is None:
                continue
            number = self._back.get(earlier.number)
            if number is not None and number > step.number:
                return stored[0], Fate.COMING
            mine = None
            if number is not None:
                mine = stored_value(self._recording.steps[number], access, cell)
            if mine == stored:
                return stored[0], Fate.LOST
            is_other = mine is not None and mine[0] == stored[0]
            return stored[0], Fate.OTHER if is_other else Fate.NEVER
        return None, Fate.NEVER

    def right_sums(self, step: Step, name: str) -> Array | None:
        """What the wrong values of a variable in registers should be after a step: [T, ...].

        NaN for a thread whose value is right; None if all are. A thread is compared at the steps
        that it runs, since warps may have come less far in one of the runs.
        """
        if name not in self._sums:
            self._sums[name] = self._compare(name)
        return self._sums[name][step.number]

    def _compare(self, name: str) -> list[Array | None]:
        """For each step what right_sums returns."""
        by_step: list[Array | None] = []
        latest: Array | None = None
        for step in self._recording.steps:
            other = self.step(step)
            mine = step.registers.get(name)
            right = None if other is None else other.registers.get(name)
            if other is not None and mine is not None and right is not None and (
                mine.shape == right.shape
            ):  # fmt: skip
                if latest is None:
                    latest = np.full(mine.shape, np.nan)
                both = step.active & other.active
                found = _right_where_wrong(mine[both], right[both])
                if not np.array_equal(latest[both], found, equal_nan=True):
                    latest = latest.copy()
                    latest[both] = found
            by_step.append(None if latest is None or np.isnan(latest).all() else latest)
        return by_step

    def wrong_cells(self, step: Step, name: str, space: ArraySpace) -> Array | None:
        """The right values of a global or shared array's wrong cells: flat, NaN where it is right.

        Compared are cells that both runs have written. None if nothing is wrong.
        """
        number = self._steps[step.number]
        if number is None:
            return None
        mine, theirs = (_held(one, name, space) for one in (step, self._right.steps[number]))
        if mine is None or theirs is None or mine[0].shape != theirs[0].shape:
            return None
        both = mine[1] & theirs[1]
        found = _right_where_wrong(np.where(both, mine[0], 0), np.where(both, theirs[0], 0))
        return None if np.isnan(found).all() else found

    def stray_cells(self, step: Step, name: str) -> Array | None:
        """The cells of a global array that the block stores, and never without the fault: bool.

        Flat. None if there are none.
        """
        stored = step.stored.get(name)
        if stored is None or not self._right.steps:
            return None
        right = self._right.steps[-1].stored.get(name, np.zeros_like(stored))
        stray: Array = (stored & ~right).reshape(-1)
        return stray if stray.any() else None


def _held(step: Step, name: str, space: ArraySpace) -> tuple[Array, Array] | None:
    """An array's values, and where they were written."""
    values, written = (
        (step.shared, step.written) if space is MemorySpace.SHARED else (step.outputs, step.stored)
    )
    if name not in values or name not in written:
        return None
    return values[name].reshape(-1), written[name].reshape(-1)


def stored_value(step: Step, access: StepAccess, cell: int) -> tuple[int, float] | None:
    """The thread that stores into a cell of an access's array at a step, and the value."""
    for store in step.accesses:
        is_store = store.kind is not AccessKind.LOAD
        if is_store and (store.name, store.space) == (access.name, access.space):
            cells, threads = store.touched_cells()
            found = np.flatnonzero(cells == cell)
            if found.size:
                thread = int(threads[found[-1]])
                i = int(found[-1]) % (cells.size // np.unique(threads).size) % store.components
                return thread, float(np.atleast_1d(store.values[thread])[i])
    return None


def _place(step: Step) -> tuple[int, tuple[int, ...]]:
    """The line of a step, and the iterations of the loops around it."""
    return step.line, tuple(position.iteration for position in step.loops)


def differ(mine: Array | float, theirs: Array | float) -> Array:
    """bool: where numbers differ; NaN equals NaN."""
    differs: Array = (mine != theirs) & ~(np.isnan(mine) & np.isnan(theirs))
    return differs


def _right_where_wrong(mine: Array, right: Array) -> Array:
    """The right numbers where mine are others, else NaN."""
    numbers = right.astype(np.float64)
    return np.where(differ(mine.astype(np.float64), numbers), numbers, np.nan)
