"""Every kind of hazard: its sentences, what to do about it, and which steps show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from simulator.machine.observer import AccessKind, FaultReason, WarpFaultReason


class Mark(StrEnum):
    """Which steps of a recording show a hazard that the launch reports."""

    LINES = "lines"  # all steps at its lines
    MISSING_THREADS = "missing-threads"  # the steps at its lines that not all threads execute


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said of a kind of hazard, and where it is shown.

    Sentences and next steps are templates of str.format, by case: "" where there is one alone, or
    where no other case applies.
    """

    sentences: Mapping[str, str]
    next_steps: Mapping[str, str]  # without the full stop
    mark: Mark | None = None  # None where its own accesses show it, or no step does
    # Of a race the first and the second access, in the order that the author of the kernel meant;
    # an atomic counts as a store.
    race: tuple[AccessKind, AccessKind] | None = None


VERBS: Mapping[AccessKind, str] = {
    AccessKind.LOAD: "reads",
    AccessKind.STORE: "writes",
    AccessKind.ATOMIC: "writes",
}
THREAD = "line {line}: thread {thread} of block {block}"


def _race(first: AccessKind, second: AccessKind) -> Entry:
    return Entry(
        {
            "": f"line {{line}}: {{first}} {VERBS[first]} {{cell}}, and {{second}} {VERBS[second]} "
            "it on line {second_line}{between}."
        },
        {
            "": "Let the threads wait for each other between these accesses",
            "blocks": "Blocks run in no fixed order: let them write to another array, or do what "
            "comes after in a second launch",
            "shared": "Put a __syncthreads() between {accesses}",
        },
        race=(first, second),
    )


class HazardKind(StrEnum):
    """What no correct kernel does, in the order in which hazards are mended."""

    entry: Entry

    def __new__(cls, name: str, entry: Entry) -> Self:
        """A kind is its name, as reports write it."""
        kind = str.__new__(cls, name)
        kind._value_, kind.entry = name, entry
        return kind

    TRAP = (
        "trap",
        Entry(
            {"": THREAD + " reaches {function}(), which ends the launch."},
            {"": "Fix what ends the launch"},
        ),
    )
    FAILED_ASSERTION = (
        "failed-assertion",
        Entry(
            {"": THREAD + " fails assert({condition}), which ends the launch."},
            {"": "Fix what ends the launch"},
        ),
    )
    OUT_OF_BOUNDS = (
        "out-of-bounds",
        Entry(
            {
                FaultReason.OUT_OF_BOUNDS: THREAD + " {verb} element {element} of {array}, an "
                "array of {count} ({ctype} {array}{shape}); the access is dropped.",
                "null": THREAD + " {verb} what a null pointer (nullptr) points to; the access is "
                "dropped.",
                # Follows another, of an extern __shared__ array.
                "dynamic": " The launch gives {size:,} bytes of dynamic shared memory: give what "
                "{array} needs as the third value of <<<grid, block, bytes>>>, which is --shared "
                "in a terminal.",
            },
            {
                "": "Keep every access inside its array",
                "ragged": "Guard the edge, where the tile does not divide the size",
            },
        ),
    )
    MISALIGNED = (
        "misaligned",
        Entry(
            {
                FaultReason.MISALIGNED: THREAD + " {verb} {width} bytes of {array} at byte "
                "{offset}, which is not a multiple of {width}; the access is dropped."
            },
            {"": "Align the wide access"},
            Mark.LINES,
        ),
    )
    DIVERGENT_BARRIER = (
        "divergent-barrier",
        Entry(
            {
                "": "line {line}: {function}() is reached by only {arrived} of the {threads} "
                "threads of block {block}; thread {thread} does not reach it.",
                "block": "line {line}: block {block} ends without reaching the grid's sync(), "
                "where other blocks wait for it.",
            },
            {"": "Let all threads of a block reach the barrier"},
            Mark.MISSING_THREADS,
        ),
    )
    READ_AFTER_WRITE = "read-after-write", _race(AccessKind.STORE, AccessKind.LOAD)
    WRITE_AFTER_READ = "write-after-read", _race(AccessKind.LOAD, AccessKind.STORE)
    WRITE_AFTER_WRITE = "write-after-write", _race(AccessKind.STORE, AccessKind.STORE)
    WRONG_MASK = (
        "wrong-mask",
        Entry(
            {
                WarpFaultReason.UNNAMED_LANE: THREAD + " calls {function} with a mask that does "
                "not name it, lane {lane}.",
                WarpFaultReason.MISSING_LANE: THREAD + " waits in {function} for lane {other}, "
                "which its mask names but which does not call {function} with the same mask: the "
                "result is undefined. Call it where all lanes of the mask arrive, or name only "
                "those that do.",
            },
            {"": "In the mask, name the lanes that make the call"},
        ),
    )
    ABSENT_LANE = (
        "absent-lane",
        Entry(
            {
                WarpFaultReason.ABSENT_SOURCE: THREAD + " takes the value of lane {other} by "
                "{function}, and that lane does not take part: the value is undefined."
            },
            {"": "Read only from lanes that take part"},
        ),
    )
    UNINITIALIZED_READ = (
        "uninitialized-read",
        Entry(
            {
                "variable": THREAD + " reads {variable}, which has no value yet.",
                "cell": THREAD + " reads {cell}, a {space} cell that has no value yet.",
            },
            {"": "Set a value before it is read"},
        ),
    )

    def sentence(self, case: str = "", /, **facts: object) -> str:
        """What is said of a hazard of this kind."""
        return self.entry.sentences[case].format(**facts)

    def next_step(self, case: str = "", /, **facts: object) -> str:
        """What to do about a hazard of this kind, without the full stop."""
        return self.entry.next_steps[case].format(**facts)


# Of each kind of race its two accesses.
RACES: Mapping[HazardKind, tuple[AccessKind, AccessKind]] = {
    kind: kind.entry.race for kind in HazardKind if kind.entry.race is not None
}
# What the machine's reason for a fault is a hazard of.
FAULTS: Mapping[FaultReason | WarpFaultReason, HazardKind] = {
    reason: kind
    for kind in HazardKind
    for reason in kind.entry.sentences
    if isinstance(reason, FaultReason | WarpFaultReason)
}
