"""The wrong access of a thread at a step: outside its array, of an unset cell, or of a wrong value.

A value is wrong that a run without the fault of a what-if does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.right_values import Fate, RightValues, differ, stored_value


class Fault(Enum):
    """What is wrong with an access."""

    VALUE = auto()  # it is not the one that a run without the fault has
    UNSET = auto()  # a cell that has no value yet
    OUTSIDE = auto()  # an element that the array does not have
    MISALIGNED = auto()  # an address that is not a multiple of the access's width
    STRAY = auto()  # an element that a run without the fault does not access there


@dataclass(frozen=True, slots=True)
class WrongAccess:
    """A load or store that no right kernel makes, or of another value."""

    fault: Fault
    access: StepAccess
    cell: int  # element, counted from the array's start; outside it where the access is
    size: int  # elements of the array
    value: float  # read or stored; 0, which the simulator gives, for a load outside
    right: float | None  # what the run without the fault has in its place; None if not known
    target: StepAccess | None  # the store into which `right` belongs; None: into the cell itself
    writer: int | None  # of an unset or stale cell the thread that stores what belongs there
    fate: Fate  # what has become of that store

    @property
    def is_load(self) -> bool:
        """Whether the thread reads."""
        return self.access.kind is AccessKind.LOAD

    @property
    def is_harmless(self) -> bool:
        """Whether the value is what belongs there all the same."""
        return self.right is not None and not differ(self.value, self.right)


def find_wrong_access(
    recording: Recording, right: RightValues | None, step: Step, thread: int
) -> WrongAccess | None:
    """The first wrong access of a thread at a step, one that changes a value before others.

    right compares the recording with one without the fault of a what-if; without that, an access
    is wrong that is outside its array, or that reads an unset cell of shared memory.
    """
    if not step.active[thread]:
        return None
    found = list(_find(recording, right, step, thread))
    return next((wrong for wrong in found if not wrong.is_harmless), next(iter(found), None))


def _find(
    recording: Recording, right: RightValues | None, step: Step, thread: int
) -> Iterator[WrongAccess]:
    other = None if right is None else right.step_of(step, thread)
    for number, access in enumerate(step.accesses):
        if not access.active[thread]:
            continue
        is_load = access.kind is AccessKind.LOAD
        in_global = access.space is MemorySpace.GLOBAL
        cell = int(access.offsets[thread]) // access.element_bytes
        value = float(np.atleast_1d(access.values[thread])[0])
        size = _array_of(recording, access).size
        fault: Fault | None = None
        if not access.in_bounds[thread]:
            cell = int(access.offsets[thread]) // _array_of(recording, access).itemsize
            fault = Fault.MISALIGNED if 0 <= cell < size else Fault.OUTSIDE
        elif right is not None and in_global and not right.has_access(step, access, thread):
            fault = Fault.STRAY
        if fault is not None:
            right_value, target = _instead(step, other, thread, is_load)
            yield WrongAccess(
                fault, access, cell, size, value, right_value, target, None, Fate.NEVER
            )
        elif is_load or in_global:
            same = None if other is None else _same_access(access, other, number, thread)
            yield from _compare(recording, right, step, access, same, thread)


def _compare(
    recording: Recording, right: RightValues | None, step: Step, access: StepAccess,
    same: StepAccess | None, thread: int,
) -> Iterator[WrongAccess]:  # fmt: skip
    """The components of an access that are unset, or differ from the same access elsewhere."""
    is_load = access.kind is AccessKind.LOAD
    first = int(access.offsets[thread]) // access.element_bytes
    values = np.atleast_1d(access.values[thread])
    rights = None if same is None else np.atleast_1d(same.values[thread])
    for i, value in enumerate(values.tolist()):
        belongs = None if rights is None else float(rights[i])
        is_set = not is_load or _is_written(recording, step, access, first + i)
        if is_set and (belongs is None or not differ(value, belongs)):
            continue
        writer: int | None = None
        fate = Fate.NEVER
        if is_load and right is not None:
            writer, fate = right.writer(step, access, first + i, thread)
        elif is_load:
            writer, fate = _later_writer(recording, step, access, first + i)
        fault = Fault.VALUE if is_set else Fault.UNSET
        size = _array_of(recording, access).size
        yield WrongAccess(fault, access, first + i, size, value, belongs, None, writer, fate)


def _same_access(access: StepAccess, other: Step, number: int, thread: int) -> StepAccess | None:
    """The same access, by its place within the step, of the same cell; None if there is none."""
    if number >= len(other.accesses):
        return None
    theirs = other.accesses[number]
    is_same = (
        (theirs.kind, theirs.space, theirs.name, theirs.values.shape)
        == (access.kind, access.space, access.name, access.values.shape)
        and theirs.active[thread] and theirs.offsets[thread] == access.offsets[thread]
    )  # fmt: skip
    return theirs if is_same else None


def _instead(
    step: Step, other: Step | None, thread: int, is_load: bool
) -> tuple[float | None, StepAccess | None]:
    """What the run without the fault stores instead of what a thread loads where it should not.

    Also the store of the faulty run into the same cell.
    """
    if other is None or not is_load:
        return None, None
    for mine, theirs in zip(_stores(step, thread), _stores(other, thread), strict=False):
        if (mine.name, mine.offsets[thread]) == (theirs.name, theirs.offsets[thread]):
            return float(np.atleast_1d(theirs.values[thread])[0]), mine
    return None, None


def _stores(step: Step, thread: int) -> list[StepAccess]:
    return [
        access for access in step.accesses
        if access.kind is not AccessKind.LOAD and access.active[thread]
    ]  # fmt: skip


def _array_of(recording: Recording, access: StepAccess) -> Array:
    """The array of an access, whatever it holds; of a thread's own array any thread's."""
    match access.space:
        case MemorySpace.SHARED:
            return recording.steps[0].shared[access.name]
        case MemorySpace.LOCAL:
            held = (step.registers.get(access.name) for step in recording.steps)
            return next((values[0] for values in held if values is not None), np.zeros(1))
        case _:
            # Of a null pointer there is none.
            return np.asarray(recording.arguments.get(access.name, ()))


def _is_written(recording: Recording, step: Step, access: StepAccess, cell: int) -> bool:
    """Whether a cell held a value before a step; those of other memories than shared do."""
    if access.space is not MemorySpace.SHARED:
        return True
    before = recording.steps[step.number - 1].written.get(access.name) if step.number else None
    return before is not None and bool(before.reshape(-1)[cell])


def _later_writer(
    recording: Recording, step: Step, access: StepAccess, cell: int
) -> tuple[int | None, Fate]:
    """The next thread of the block that stores into a cell after a step."""
    for later in recording.steps[step.number :]:
        stored = stored_value(later, access, cell)
        if stored is not None:
            return stored[0], Fate.COMING
    return None, Fate.NEVER
