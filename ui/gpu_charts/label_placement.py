"""Where names beside points go so that none lies on another, as on a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom

GAP = 14  # pixels from a point's centre to its name
THICK = 6  # of a line that names keep off
LEADER = 18  # beyond this a line leads from the name to its point
# What counts against a place, beside each pixel of it that another name or point covers.
LINES_WEIGH = 0.5  # a pixel that a line covers
OUTSIDE_WEIGHS = 10.0  # a pixel outside the room
AWAY_WEIGHS = 1.0  # a pixel further up or down than the point
REACHES = (0, 20, 40, 60, 80, 110, 140, 180)  # how far up or down a name may move


@dataclass(frozen=True, slots=True)
class Place:
    """A name's place: pixels from its point to the near end of the text, y downwards.

    side is "left" (the text begins there) or "right" (it ends there); far: a line is needed.
    """

    x: float
    y: float
    side: str

    @property
    def far(self) -> bool:
        """Whether a line must lead to the point."""
        return abs(self.y) > LEADER


def place(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    room: Box,
    lines: Sequence[tuple[float, float]] = (),
) -> list[Place]:
    """A place for each point's name, of `widths` and one height, all in pixels.

    Names keep within `room`, off the points and one another, and off the places that `lines` and
    those which lead to names go through, all as far as that is possible near their points. The
    first point is placed first, at its right if that is free.
    """
    taken: list[Box] = [_around(x, y, GAP) for x, y in points]
    drawn = [_around(x, y, THICK) for x, y in lines]
    found = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=True)):
        others = [box for at, box in enumerate(taken) if at != number]
        options = [
            (one, _box(x, y, one, width, height), _leader(x, y, one)) for one in _candidates()
        ]
        costs = [
            _shared(box, others)
            + LINES_WEIGH * _shared(box, drawn)
            + OUTSIDE_WEIGHS * (width * height - _overlap(box, room))
            + AWAY_WEIGHS * abs(one.y)
            + sum(_shared(bit, taken[len(points) :]) for bit in leader)
            for one, box, leader in options
        ]
        best, box, leader = options[costs.index(min(costs))]
        found.append(best)
        taken.append(box)
        drawn += leader
    return found


def _around(x: float, y: float, size: float) -> Box:
    return (x - size / 2, y - size / 2, x + size / 2, y + size / 2)


def _leader(x: float, y: float, one: Place) -> list[Box]:
    """Boxes along the line from a point to its name, where there is one."""
    if not one.far:
        return []
    steps = int(abs(one.y) // THICK)
    return [_around(x + one.x * n / steps, y + one.y * n / steps, THICK) for n in range(1, steps)]


def _candidates() -> list[Place]:
    return [
        Place(sign * GAP, move, side)
        for reach in REACHES
        for move in ((0,) if not reach else (reach, -reach))
        for side, sign in (("left", 1), ("right", -1))
    ]


def _box(x: float, y: float, one: Place, width: float, height: float) -> Box:
    left = x + one.x if one.side == "left" else x + one.x - width
    return (left, y + one.y - height / 2, left + width, y + one.y + height / 2)


def _shared(box: Box, others: Sequence[Box]) -> float:
    """Pixels that a box shares with others."""
    return sum(_overlap(box, other) for other in others)


def _overlap(one: Box, other: Box) -> float:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, down)
