"""Label placement: where the names of a chart's points go, so that no two names overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom

# All lengths are pixels.
GAP = 14  # from a point's centre to its name
LINE_THICKNESS = 6  # of a line that names avoid
LONGEST_WITHOUT_LEADER = 18  # a name further up or down has a line to its point
# Costs of a position; a pixel of it that another name or a point covers costs 1.
LINE_WEIGHT = 0.5  # a pixel that a line covers
OUTSIDE_WEIGHT = 10.0  # a pixel outside the bounds
DISTANCE_WEIGHT = 1.0  # a pixel of vertical distance from the point
VERTICAL_OFFSETS = (0, 20, 40, 60, 80, 110, 140, 180)  # above or below the point


@dataclass(frozen=True, slots=True)
class LabelPosition:
    """Where a name is: the offset from its point to the near end of the text."""

    x: float  # pixels to the right
    y: float  # pixels downwards
    side: str  # which end of the text is near: "left" or "right"

    @property
    def far(self) -> bool:
        """Whether the name needs a line to its point."""
        return abs(self.y) > LONGEST_WITHOUT_LEADER


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    bounds: Box,
    lines: Sequence[tuple[float, float]] = (),
) -> list[LabelPosition]:
    """Choose a position for the name of each point, in the order of the points.

    points, bounds and lines are in pixels, y downwards; widths and height are the names' sizes.
    Each name takes the cheapest position near its point: within the bounds, and not over points,
    earlier names, points of `lines` or the leader lines of earlier names. To the right of its
    point is preferred.
    """
    occupied: list[Box] = [_square(x, y, GAP) for x, y in points]
    line_boxes = [_square(x, y, LINE_THICKNESS) for x, y in lines]
    positions = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=True)):
        obstacles = [box for index, box in enumerate(occupied) if index != number]
        options = [
            (position, _box(x, y, position, width, height), _leader(x, y, position))
            for position in _candidates()
        ]
        costs = [
            _covered_pixels(box, obstacles)
            + LINE_WEIGHT * _covered_pixels(box, line_boxes)
            + OUTSIDE_WEIGHT * (width * height - _overlap(box, bounds))
            + DISTANCE_WEIGHT * abs(position.y)
            + sum(_covered_pixels(segment, occupied[len(points) :]) for segment in leader)
            for position, box, leader in options
        ]
        best, box, leader = options[costs.index(min(costs))]
        positions.append(best)
        occupied.append(box)
        line_boxes += leader
    return positions


def _square(x: float, y: float, size: float) -> Box:
    return (x - size / 2, y - size / 2, x + size / 2, y + size / 2)


def _leader(x: float, y: float, position: LabelPosition) -> list[Box]:
    """Boxes along the line from a point to its name; none if the name is near."""
    if not position.far:
        return []
    steps = int(abs(position.y) // LINE_THICKNESS)
    return [
        _square(x + position.x * n / steps, y + position.y * n / steps, LINE_THICKNESS)
        for n in range(1, steps)
    ]


def _candidates() -> list[LabelPosition]:
    return [
        LabelPosition(sign * GAP, y, side)
        for offset in VERTICAL_OFFSETS
        for y in ((0,) if not offset else (offset, -offset))
        for side, sign in (("left", 1), ("right", -1))
    ]


def _box(x: float, y: float, position: LabelPosition, width: float, height: float) -> Box:
    left = x + position.x if position.side == "left" else x + position.x - width
    return (left, y + position.y - height / 2, left + width, y + position.y + height / 2)


def _covered_pixels(box: Box, obstacles: Sequence[Box]) -> float:
    """Pixels that a box shares with the obstacles, summed."""
    return sum(_overlap(box, other) for other in obstacles)


def _overlap(first: Box, second: Box) -> float:
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return max(0.0, across) * max(0.0, down)
