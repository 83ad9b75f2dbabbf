"""Every kind of hazard: an entry each, from which all else takes what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Self

from simulator.machine.observer import AccessKind, FaultReason, WarpFaultReason
from simulator.sentences import hazards


class Mark(Enum):
    """The steps of a recorded block that a hazard is at."""

    ACCESS = auto()  # those whose recorded accesses show it
    LINE = auto()  # all of its lines
    ABSENT_THREADS = auto()  # those of its lines that not all threads execute
    EXAMPLE = auto()  # the one of its example


class HazardKind(StrEnum):
    """What no correct kernel does, in the order in which hazards are mended."""

    next_step: str  # what to do about it, where nothing more is known
    mark: Mark

    def __new__(cls, name: str, next_step: str, mark: Mark) -> Self:
        """A member, which is the string `name`."""
        kind = str.__new__(cls, name)
        kind._value_, kind.next_step, kind.mark = name, next_step, mark
        return kind

    TRAP = "trap", hazards.FIX_STOP, Mark.EXAMPLE
    FAILED_ASSERTION = "failed-assertion", hazards.FIX_STOP, Mark.EXAMPLE
    OUT_OF_BOUNDS = "out-of-bounds", hazards.KEEP_INSIDE, Mark.ACCESS
    MISALIGNED = "misaligned", hazards.ALIGN, Mark.LINE
    DIVERGENT_BARRIER = "divergent-barrier", hazards.REACH_BARRIER, Mark.ABSENT_THREADS
    READ_AFTER_WRITE = "read-after-write", hazards.WAIT_BETWEEN, Mark.ACCESS
    WRITE_AFTER_READ = "write-after-read", hazards.WAIT_BETWEEN, Mark.ACCESS
    WRITE_AFTER_WRITE = "write-after-write", hazards.WAIT_BETWEEN, Mark.ACCESS
    WRONG_MASK = "wrong-mask", hazards.NAME_CALLERS, Mark.EXAMPLE
    ABSENT_LANE = "absent-lane", hazards.READ_FROM_CALLERS, Mark.EXAMPLE
    UNINITIALIZED_READ = "uninitialized-read", hazards.SET_FIRST, Mark.EXAMPLE


# Of each kind of race its two accesses, in the order that the author of the kernel meant; an atomic
# counts as a store.
RACES: Mapping[HazardKind, tuple[AccessKind, AccessKind]] = {
    HazardKind.READ_AFTER_WRITE: (AccessKind.STORE, AccessKind.LOAD),
    HazardKind.WRITE_AFTER_READ: (AccessKind.LOAD, AccessKind.STORE),
    HazardKind.WRITE_AFTER_WRITE: (AccessKind.STORE, AccessKind.STORE),
}
# What the machine's reason for a fault is a hazard of.
FAULTS: Mapping[FaultReason | WarpFaultReason, HazardKind] = {
    FaultReason.OUT_OF_BOUNDS: HazardKind.OUT_OF_BOUNDS,
    FaultReason.MISALIGNED: HazardKind.MISALIGNED,
    WarpFaultReason.UNNAMED_LANE: HazardKind.WRONG_MASK,
    WarpFaultReason.MISSING_LANE: HazardKind.WRONG_MASK,
    WarpFaultReason.ABSENT_SOURCE: HazardKind.ABSENT_LANE,
}
