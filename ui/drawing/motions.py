"""What moves while a scene plays: a value on its way, a wavefront that is served, a barrier's gate.

Each is drawn by ui/web/player/motions.js upon the picture of its step, for a part of the
time that the step is shown. The stages give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Point = tuple[float, float]  # pixels of the sheet
Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels


@dataclass(frozen=True, slots=True)
class Place:
    """A cell with its number: where a flight begins or ends."""

    text: str
    middle: Point
    box: Box
    size: float  # pixels, of its letters


@dataclass(frozen=True, slots=True)
class Flight:
    """A number that flies from its cell into another, which is empty until it has come."""

    text: str
    start: Point
    end: Point
    size: float  # pixels, of its letters
    cell: Box  # its end

    def plain(self) -> list[Any]:
        """As it is sent."""
        return ["fly", self.text, *_rounded(*self.start, *self.end, self.size, *self.cell)]


@dataclass(frozen=True, slots=True)
class Light:
    """A rectangle that lights up in its turn."""

    box: Box
    turn: int  # from 0
    turns: int  # of all

    def plain(self) -> list[Any]:
        """As it is sent."""
        return ["light", *_rounded(*self.box), self.turn, self.turns]


@dataclass(frozen=True, slots=True)
class Wall:
    """A barrier's gate: it closes where threads begin to wait, and opens where all have come."""

    box: Box
    opens: bool

    def plain(self) -> list[Any]:
        """As it is sent."""
        return ["wall", *_rounded(*self.box), int(self.opens)]


@dataclass(frozen=True, slots=True)
class Walk:
    """A warp that comes from the left to where it is."""

    box: Box  # its end
    start: float  # pixels, how far to the right of there it begins: below 0

    def plain(self) -> list[Any]:
        """As it is sent."""
        return ["walk", *_rounded(*self.box, self.start)]


Motion = Flight | Light | Wall | Walk


def fly(starts: Sequence[Place], ends: Sequence[Place]) -> list[Motion]:
    """The flights of numbers from some places to others, which pair off in their order.

    Where one side has fewer, all the rest share its last place.
    """
    if not (starts and ends):
        return []
    flights: list[Motion] = []
    for i in range(max(len(starts), len(ends))):
        start, end = starts[min(i, len(starts) - 1)], ends[min(i, len(ends) - 1)]
        flights.append(Flight(start.text, start.middle, end.middle, end.size, end.box))
    return flights


def _rounded(*pixels: float) -> list[float]:
    return [round(pixel, 1) for pixel in pixels]
