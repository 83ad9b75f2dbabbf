"""What a faulty run should have read and summed: the same steps of a run without the fault."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import ArraySpace, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.find_step import matching_steps


class Fate(StrEnum):
    """What has become of the store of a right value that is not there."""

    COMING = "has not written yet"
    LOST = "wrote and another has overwritten"
    NEVER = "does not write"


@dataclass(frozen=True, slots=True)
class WrongRead:
    """A value that a thread reads, and the one that the run without the fault reads there."""

    array: str
    space: ArraySpace
    cell: int  # counted from the array's start
    value: float
    right: float
    is_written: bool  # whether anything was ever written there
    writer: int | None  # the thread that stores the right value in the run without the fault
    fate: Fate


class RightValues:
    """A faulty recording beside one of the same block, numbers and order without the fault.

    Both are of texts with the same lines, and are compared where both are at the same place of the
    story: a value is wrong that differs there.
    """

    def __init__(self, recording: Recording, right: Recording) -> None:
        self._recording, self._right = recording, right
        self._steps = matching_steps(recording, right)
        self._sums: dict[str, list[Array | None]] = {}
        self._back = {n: i for i, n in enumerate(self._steps) if n is not None}

    def step(self, step: Step) -> Step | None:
        """The same step of the run without the fault, by the same threads; None if it has none."""
        number = self._steps[step.number]
        if number is None:
            return None
        other = self._right.steps[number]
        return other if np.array_equal(other.active, step.active) else None

    def wrong_read(self, step: Step, thread: int) -> WrongRead | None:
        """The first wrong value that a thread reads at a step; None if all are right."""
        other = self.step(step)
        if other is None or not step.active[thread]:
            return None
        for mine, theirs in zip(step.accesses, other.accesses, strict=False):
            if not _is_same_load(mine, theirs) or not mine.active[thread]:
                continue
            read, right = (np.atleast_1d(a.values[thread]) for a in (mine, theirs))
            wrong = np.flatnonzero(_differ(read, right))
            if wrong.size and mine.offsets[thread] == theirs.offsets[thread]:
                i = int(wrong[0])
                cell = int(mine.offsets[thread]) // mine.element_bytes + i
                writer, fate = self._writer(step, other, mine, cell)
                return WrongRead(
                    mine.name, mine.space, cell, float(read[i]), float(right[i]),
                    self._is_written(step, mine, cell), writer, fate,
                )  # fmt: skip
        return None

    def _is_written(self, step: Step, access: StepAccess, cell: int) -> bool:
        """Whether a cell of shared memory held a value before a step."""
        if access.space is not MemorySpace.SHARED or not step.number:
            return access.space is not MemorySpace.SHARED
        before = self._recording.steps[step.number - 1].written.get(access.name)
        return before is not None and bool(before.reshape(-1)[cell])

    def _writer(
        self, step: Step, other: Step, access: StepAccess, cell: int
    ) -> tuple[int | None, Fate]:
        """Who stores the right value of a cell, and what became of that."""
        for earlier in reversed(self._right.steps[: other.number]):
            stored = _stored(earlier, access, cell)
            if stored is None:
                continue
            thread = stored[0]
            number = self._back.get(earlier.number)
            if number is not None and number > step.number:
                return thread, Fate.COMING
            mine = None if number is None else _stored(self._recording.steps[number], access, cell)
            return thread, Fate.LOST if mine == stored else Fate.NEVER
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
            if mine is not None and right is not None and mine.shape == right.shape:
                if latest is None:
                    latest = np.full(mine.shape, np.nan)
                found = _right_where_wrong(mine[step.active], right[step.active])
                if not np.array_equal(latest[step.active], found, equal_nan=True):
                    latest = latest.copy()
                    latest[step.active] = found
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


def _held(step: Step, name: str, space: ArraySpace) -> tuple[Array, Array] | None:
    """An array's values, and where they were written."""
    values, written = (
        (step.shared, step.written) if space is MemorySpace.SHARED else (step.outputs, step.stored)
    )
    if name not in values or name not in written:
        return None
    return values[name].reshape(-1), written[name].reshape(-1)


def _stored(step: Step, access: StepAccess, cell: int) -> tuple[int, float] | None:
    """The thread that stores into a cell of an access's array at a step, and the value."""
    for store in step.accesses:
        is_store = store.kind is not AccessKind.LOAD
        if is_store and (store.name, store.space) == (access.name, access.space):
            cells, threads = store.touched_cells()
            found = np.flatnonzero(cells == cell)
            if found.size:
                thread, i = int(threads[found[-1]]), int(found[-1]) % store.components
                return thread, float(np.atleast_1d(store.values[thread])[i])
    return None


def _is_same_load(mine: StepAccess, theirs: StepAccess) -> bool:
    return (
        mine.kind is AccessKind.LOAD is theirs.kind
        and (mine.name, mine.space, mine.values.shape)
        == (theirs.name, theirs.space, theirs.values.shape)
    )  # fmt: skip


def _differ(mine: Array, theirs: Array) -> Array:
    """bool: where numbers differ; NaN equals NaN."""
    differs: Array = (mine != theirs) & ~(np.isnan(mine) & np.isnan(theirs))
    return differs


def _right_where_wrong(mine: Array, right: Array) -> Array:
    """The right numbers where mine are others, else NaN."""
    numbers = right.astype(np.float64)
    return np.where(_differ(mine.astype(np.float64), numbers), numbers, np.nan)
