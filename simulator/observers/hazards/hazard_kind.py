"""Every kind of hazard."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from simulator.machine.observer import AccessKind, FaultReason, WarpFaultReason


class HazardKind(StrEnum):
    """What no correct kernel does, in the order in which hazards are mended."""

    TRAP = "trap"
    FAILED_ASSERTION = "failed-assertion"
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    DIVERGENT_BARRIER = "divergent-barrier"
    READ_AFTER_WRITE = "read-after-write"
    WRITE_AFTER_READ = "write-after-read"
    WRITE_AFTER_WRITE = "write-after-write"
    WRONG_MASK = "wrong-mask"
    ABSENT_LANE = "absent-lane"
    UNINITIALIZED_READ = "uninitialized-read"


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
