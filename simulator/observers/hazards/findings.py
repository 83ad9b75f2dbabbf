"""What observers find: hazards, an example of each, and the witness that a race matters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import numpy as np

from simulator.language.errors import shorten
from simulator.language.tree import MemorySpace
from simulator.launch import Dim3, format_cell
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.observer import AccessKind
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.sentences import hazards

Number = float | str  # a value; its name ("nan", "inf", "-inf") where it is not finite


@dataclass(frozen=True, slots=True)
class Example:
    """The first time that a hazard was found; of a race, the first between warps if there is one.

    Within a warp __syncwarp() would mend a race: as an example it would hide what mends the others.
    """

    block: Dim3  # x, y, z in the grid
    thread: Dim3  # x, y, z in its block
    other_block: Dim3 | None  # of the other thread of a race; None if unknown or no race
    other_thread: Dim3 | None  # x, y, z of that thread in its block; None as above
    cell: tuple[int, ...] | None  # an index for each dimension, row first; None outside the array
    iterations: tuple[int, ...]  # of each loop around the access, from 0, outermost first
    within_warp: bool = False  # a race of two threads of one warp, of several in their block
    during_copy: bool = False  # a race with an asynchronous copy that is not yet waited for


@dataclass(frozen=True, slots=True)
class Witness:
    """An order under which a race gives another value than it does under a reference order.

    An order is "lockstep", a schedule ("descending", "random, seed 3") or an order of two blocks.
    observers/witness.py says why a difference between two orders is a fault.
    """

    order: str  # the order that gives the wrong value
    against: str  # the reference order
    thread: Dim3 | None  # x, y, z of a thread that reads another value; None if no thread does
    read: Number | None  # the value that it reads under `order`
    read_against: Number | None  # the value that it reads under `against`
    output: str | None  # a cell of a global array that ends differently ("C[0][3]"), if any
    value: Number | None  # what that cell holds after `order`
    value_against: Number | None  # what that cell holds after `against`
    sentence: str  # all of this in a sentence


@dataclass(frozen=True, slots=True)
class Hazard:
    """What a correct kernel never does, once for each line, or pair of lines, that does it."""

    kind: HazardKind
    lines: tuple[int, ...]  # one line from 1, or the two of a race in the order of RACES
    array: str | None  # the name of the array, or of the variable; None for a barrier
    space: MemorySpace | None  # where that lies; None for a barrier
    message: str  # a sentence with lines, threads and cell
    count: int  # lanes, summed over all instructions
    example: Example
    witness: Witness | None = None  # None if no order that was tried shows a race; see Witness

    @property
    def how_often(self) -> str:
        """The count in words: "once", or "3 times"."""
        return "once" if self.count == 1 else f"{self.count:,} times"


def precedence(hazard: Hazard) -> tuple[int, bool]:
    """What is mended first is least: of races those between warps, whose barrier mends others."""
    return MENDED.index(hazard.kind), hazard.example.within_warp


MENDED = tuple(HazardKind)  # in this order
MOST_HAZARDS = 200  # of different kinds, lines or arrays, in a report


@dataclass(slots=True)
class Findings:
    """Hazards and notes, each under a key that says what it is about, in the order first seen.

    Hazards are at most MOST_HAZARDS: races are those of pairs of lines, of which a long text has
    hundreds of thousands.
    """

    hazards: dict[Any, Hazard] = field(default_factory=dict)
    notes: dict[Any, str] = field(default_factory=dict)  # sentences on what is no fault
    # On stores of the same value, by their lines and the array.
    same_values: dict[tuple[tuple[int, int], str], str] = field(default_factory=dict)

    def takes(self, key: Any) -> bool:
        """Whether a hazard of this key is kept; a note says that not all are."""
        if key in self.hazards or len(self.hazards) < MOST_HAZARDS:
            return True
        self.notes.setdefault(MOST_HAZARDS, hazards.first_hazards(MOST_HAZARDS))
        return False

    def add(self, key: Any, hazard: Hazard) -> None:
        """Add a hazard, or its count to the one already found for this key."""
        if not self.takes(key):
            return
        known, merged = self.hazards.get(key), replace(hazard, message=shorten(hazard.message))
        if known is not None:
            more_telling = known.example.within_warp and not hazard.example.within_warp
            count = known.count + hazard.count
            merged = replace(merged if more_telling else known, count=count)
        self.hazards[key] = merged

    def add_for_array(
        self,
        kind: HazardKind,
        lines: tuple[int, ...],
        buffer: Buffer,
        message: str,
        count: int,
        example: Example,
    ) -> None:
        """Add a hazard of an array, one for its kind and lines."""
        hazard = Hazard(kind, lines, buffer.name, buffer.space, message, count, example)
        self.add((kind, lines, buffer.name), hazard)

    def note(self, key: Any, sentence: str) -> None:
        """Add a sentence, unless there is one for this key."""
        self.notes.setdefault(key, shorten(sentence))

    def all_notes(self) -> tuple[str, ...]:
        """All notes; of stores of the same value only those that no value of the array led to.

        Threads that add 1 to what they all read store the same value too, and updates are lost.
        """
        raced = {
            (line, one.array) for one in self.hazards.values()
            if AccessKind.LOAD in RACES.get(one.kind, ()) for line in one.lines
        }  # fmt: skip
        same = (
            sentence for (lines, array), sentence in self.same_values.items()
            if raced.isdisjoint((line, array) for line in lines)
        )  # fmt: skip
        return (*self.notes.values(), *same)

    def add_later(self, later: Findings) -> None:
        """Add what was found after all of this."""
        for key, hazard in later.hazards.items():
            self.add(key, hazard)
        for key, sentence in later.notes.items():
            self.note(key, sentence)
        for same, sentence in later.same_values.items():
            self.same_values.setdefault(same, sentence)


def loop_iterations(group: Group) -> tuple[int, ...]:
    """The iteration, from 0, of each loop that a group is in, outermost first."""
    return tuple(state.iteration for state in group.loops)


def example_of_lane(group: Group, lane: int, cell: tuple[int, ...] | None = None) -> Example:
    """An example with one thread alone."""
    return Example(*group.thread_of(lane), None, None, cell, loop_iterations(group))


def cell_index(buffer: Buffer, cell: int, lanes: int = 1) -> tuple[int, ...]:
    """A cell's indices in the shape of its array; lanes are those of a local array's group."""
    match buffer.space:
        case MemorySpace.SHARED:
            cell %= buffer.stride // buffer.element.size
        case MemorySpace.LOCAL if buffer.stride:  # a lane's bytes lie side by side
            cell %= buffer.stride // buffer.element.size
        case MemorySpace.LOCAL:
            cell //= lanes
        case MemorySpace.GLOBAL | MemorySpace.CONSTANT:
            pass
        case _:
            assert_never(buffer.space)
    return tuple(int(i) for i in np.unravel_index(cell, buffer.shape or (1,)))


def name_cell(buffer: Buffer, index: tuple[int, ...]) -> str:
    """A cell as C writes it: As[0][1], or particles[3].mass."""
    *whole, last = index
    if buffer.members:
        return format_cell(buffer.name, whole) + buffer.members[last]
    return format_cell(buffer.name, index)
