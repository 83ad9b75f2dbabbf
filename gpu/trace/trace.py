"""A trace's figures: the dataclasses that pages draw and the JSON that programs read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from gpu.json_data import decode

NO_TILE = -1  # of an interval outside the loop over tiles
MOST_RATIO = 1.25  # of the traced kernel's time to the plain one's: above it another kernel is seen
MOST_SUM_ERROR = 0.03


class Level(StrEnum):
    """Between which statements the clock is read."""

    PHASES = "phases"  # where a block goes over to something else: a copy, a wait, a product
    STATEMENTS = "statements"  # between all of the loop over tiles; for one tile at each k


class Kind(StrEnum):
    """What a phase is for: names and colours are the same as in the scene's timeline."""

    LOAD = "load"
    COMPUTE = "compute"
    BARRIER = "barrier"
    STORE = "store"
    OTHER = "other"  # before the loop over tiles


@dataclass(frozen=True, slots=True)
class TracedPhase:
    """One phase of a kernel and how long a warp takes for it. The names are JSON keys."""

    name: str  # "copy", "wait", "inner loop", "store"; of a statement its code
    kind: Kind
    first_line: int  # of the kernel's code, from 1
    last_line: int  # of the kernel's code; of a phase of one line the first
    cycles: float  # of a multiprocessor, for a tile; outside the loop for a warp's life: the median
    spread: tuple[float, float]  # 20th and 80th percentile of these cycles
    visits: float  # times that a warp goes through it: tiles, or 1 outside the loop
    share: float  # of a block's lifetime, 0 to 1, all visits together
    k: int | None = None  # the iteration of the inner loop that it is, of one tile; else None
    mean: float | None = None  # of the same cycles: means add up where medians do not


class Interval(NamedTuple):
    """A warp in one phase. In JSON an array of these four numbers."""

    phase: int  # its index in the trace's phases
    tile: int  # the iteration of the loop over tiles, from 0; NO_TILE outside it
    begin: int  # cycles since the block began
    end: int  # cycles since the block began


class Block(NamedTuple):
    """One block at its place and time. In JSON an array of these six values.

    `warps` has the intervals of each warp, in the order of time, for a block that was traced whole;
    it is empty for the others.
    """

    x: int
    y: int  # goes on through the layers of a grid that has a z
    multiprocessor: int  # its number, %smid
    start: int  # nanoseconds since the first block began
    end: int  # nanoseconds since the first block began
    warps: tuple[tuple[Interval, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """One kernel of one size by the GPU's clock. The names are JSON keys."""

    kernel: str  # as gpu.candidate.choose takes it: "tiled:TILE=32"
    size: tuple[int, int, int]  # M, N, K
    level: Level
    ratio: float  # the traced kernel's time over the plain one's, both of the same run
    same_bits: bool  # whether C is the plain kernel's, bit for bit
    phases: Annotated[tuple[TracedPhase, ...], Meta(min_length=1)]  # in the order of the code
    sum_error: float  # all phases together over a block's lifetime, less 1
    blocks: tuple[Block, ...]  # in the order of their numbers: x first, then y
    empty_read_cycles: float  # what reading the clock takes itself; subtracted from all cycles
    left_out: str = ""  # a sentence on what has no figures; "" where nothing was left out

    @property
    def is_disturbed(self) -> bool:
        """Whether reading the clock slows the kernel by so much that its phases may be others."""
        return self.ratio > MOST_RATIO

    @property
    def tells_all(self) -> bool:
        """Whether the phases add up to a block's lifetime, or nearly."""
        return abs(self.sum_error) <= MOST_SUM_ERROR

    @property
    def whole_blocks(self) -> tuple[Block, ...]:
        """The blocks of which every warp's intervals are known."""
        return tuple(block for block in self.blocks if block.warps)

    def to_json(self) -> dict[str, Any]:
        """The object, whose keys are the names of the fields."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def trace_from(found: Any) -> Trace:
    """A Trace from its JSON object. ValueError, a sentence, names a missing or wrong field."""
    return decode(Trace, found, "A trace")
