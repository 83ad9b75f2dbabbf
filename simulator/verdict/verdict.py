"""What is to be said of a user kernel: the data of a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from simulator.language.files import with_file_names
from simulator.launch import Dim3
from simulator.observers.hazards.findings import Hazard, Number
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.verdict.repair import Repair

Named = tuple[tuple[str, int], ...]  # names with their whole numbers


class State(StrEnum):
    """The verdict in a word."""

    RIGHT = "right"  # right at every size that was run, and no hazards
    LIMITED = "limited"  # right at the sizes that its tiles divide, for which it was written
    WRONG = "wrong"
    HAZARD = "hazard"
    STOPPED = "stopped"  # no launch came to its end
    # No hazards but those that arrays' drawn values cause, and no task that says what is right.
    UNCHECKED = "unchecked"


class CheckState(StrEnum):
    """How one size went."""

    RIGHT = "right"
    WRONG = "wrong"
    UNCHECKED = "unchecked"  # it ran, and there is no task to compare with
    STOPPED = "stopped"  # the launch is refused, or did not come to its end
    SKIPPED = "skipped"  # the time for all sizes was over, or no GPU would take its tiles


@dataclass(frozen=True, slots=True)
class CellRead:
    """A value that a thread read on its way to a wrong cell."""

    line: int  # of the text, from 1
    array: str
    index: tuple[int, ...]
    value: Number
    iteration: int | None  # of the innermost loop around the read, from 0; None outside loops
    needed: str = ""  # the cell whose value belongs there, such as "A[1][7]"; "" if not known
    needed_value: Number | None = None  # what that holds


@dataclass(frozen=True, slots=True)
class WrongCell:
    """The first cell of a result that is not what it should be."""

    array: str  # the parameter's name
    index: tuple[int, ...]  # row and column
    value: Number
    expected: Number
    wrong: int  # cells of the array that are wrong
    cells: int  # of the array
    order: str  # of the warps: a Schedule
    sentence: str
    block: Dim3 | None = None  # the last to store it; None where no thread did, or it is not known
    thread: Dim3 | None = None  # that thread in its block; None as above
    line: int | None = None  # of that store
    # What that thread read before: the operand that is not what was needed, where it is known; else
    # the last values.
    reads: tuple[CellRead, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeCheck:
    """The kernel at one size."""

    sizes: Named  # by the task's roles, as M, N, K; by parameter without a task
    numbers: Named  # what the launch has instead of the form's numbers, for build_launch
    state: CheckState
    is_ragged: bool  # whether a tile does not divide a size
    seconds: float
    sentence: str
    wrong: WrongCell | None = None
    has_fractions: bool = False  # instead of the form's random digits


@dataclass(frozen=True, slots=True)
class FoundHazard:
    """A hazard, and a launch that shows it."""

    hazard: Hazard
    sizes: Named  # of the first size that shows it
    numbers: Named  # of that size too, for build_launch
    launches: int  # of those that ran, how many show it
    only_ragged: bool  # whether all of these have a size that a tile does not divide


@dataclass(frozen=True, slots=True)
class CounterRow:
    """What a kernel's memory traffic costs, for comparison."""

    name: str  # "" for the user kernel, else the catalogue's
    title: str
    conflicts: int  # wavefronts of shared memory beyond those without bank conflicts
    sectors_per_request: float | None  # of global memory; None without requests
    bytes_per_flop: float | None  # of global memory; None where the operations are not known
    wavefronts_per_flop: float | None  # of shared memory; None as above


@dataclass(frozen=True, slots=True)
class LineCost:
    """The line whose accesses to an array take most beyond what they need."""

    line: int  # of the text, from 1
    array: str
    space: str  # "global" or "shared"
    requests: int  # warp instructions
    transactions: int  # sectors of global memory, wavefronts of shared memory
    fewest: int  # how few would do
    sentence: str


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many blocks a multiprocessor of compute capability 9.0 holds at once."""

    blocks: int
    warps: int
    warps_at_most: int  # how many it has room for
    limit: str  # what allows no more: "threads", "shared memory", "registers", "blocks"
    registers: int | None  # of a thread; None where they are not known
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that is said of a kernel."""

    next_step: str  # the one thing to do next
    repair: Repair | None  # a change of the text that does it, and that was run
    state: State
    checks: tuple[SizeCheck, ...]  # the form's own size first
    hazards: tuple[FoundHazard, ...]
    # Of the launch by the form's own size: FIELDS, and by line of the text FIELDS and IDEAL_FIELDS.
    counters: Mapping[str, int]
    lines: Mapping[int, Mapping[str, int]]
    neighbours: tuple[CounterRow, ...]  # the user kernel first; empty without a product
    costliest: LineCost | None  # None where no line costs more than it needs
    occupancy: Occupancy | None  # None where no launch was made
    notes: tuple[str, ...]  # sentences: what was skipped, what may be wrong and is no hazard

    @property
    def causes(self) -> tuple[FoundHazard, ...]:
        """Of the hazards one for each cause: races of the same lines for an array are one.

        What a race leaves unset is no other one.
        """
        found: dict[tuple[str, str | None, frozenset[int]], FoundHazard] = {}
        raced = {(one.hazard.array, one.hazard.lines[-1]) for one in self.hazards
                 if one.hazard.kind is HazardKind.READ_AFTER_WRITE}  # fmt: skip
        for one in sorted(self.hazards, key=lambda one: -len(set(one.hazard.lines))):
            hazard = one.hazard
            is_unset = hazard.kind is HazardKind.UNINITIALIZED_READ
            if is_unset and (hazard.array, hazard.lines[0]) in raced:
                continue  # it was read too soon
            kind = "race" if hazard.kind in RACES else hazard.kind
            lines = set(hazard.lines)
            if not any(key[:2] == (kind, hazard.array) and lines <= key[2] for key in found):
                found[kind, hazard.array, frozenset(lines)] = one
        return tuple(found.values())

    def in_files(self, text: str) -> Verdict:
        """What is said of source of several files, each line in a header with that file, too.

        The numbers of the whole source stay: with these it is shown.
        """

        def named(sentence: str) -> str:
            return with_file_names(sentence, text, keeps_numbers=True)

        def of_hazard(found: FoundHazard) -> FoundHazard:
            hazard, witness = found.hazard, found.hazard.witness
            witness = witness and replace(witness, sentence=named(witness.sentence))
            message = named(hazard.message)
            return replace(found, hazard=replace(hazard, message=message, witness=witness))

        def of_check(check: SizeCheck) -> SizeCheck:
            wrong = check.wrong and replace(check.wrong, sentence=named(check.wrong.sentence))
            return replace(check, sentence=named(check.sentence), wrong=wrong)

        change, cost = self.repair, self.costliest
        return replace(
            self,
            next_step=named(self.next_step),
            repair=change
            and replace(change, sentence=named(change.sentence), why=named(change.why)),
            checks=tuple(map(of_check, self.checks)),
            hazards=tuple(map(of_hazard, self.hazards)),
            costliest=cost and replace(cost, sentence=named(cost.sentence)),
            notes=tuple(map(named, self.notes)),
        )

    @property
    def depends_on_machine(self) -> bool:
        """Whether another run may end otherwise, since the time for a size was over."""
        return any(one.state in (CheckState.STOPPED, CheckState.SKIPPED) for one in self.checks)
