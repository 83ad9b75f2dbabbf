"""Label placement: where the names of a chart's points and lines go, so that none overlap."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]  # left, top, right, bottom

# All lengths are pixels.
GAP = 14  # from a point's centre to its name
LINE_THICKNESS = 6  # of a line that names avoid
LONGEST_WITHOUT_LEADER = 18  # a name further up or down has a line to its point
# Costs of a position.
LINE_WEIGHT = 0.5  # a pixel that a line covers
DISTANCE_WEIGHT = 1.0  # a pixel of vertical distance from the point
CROSSING_WEIGHT = 0.5  # a pixel of another point that the line to the name covers
ATTEMPTS = 8  # orders in which names choose their positions
VERTICAL_OFFSETS = (0, 20, 40, 60, 80, 110, 140, 180)  # above or below the point


@dataclass(frozen=True, slots=True)
class LabelPosition:
    """Where a name is: the offset from its point to the near end of the text."""

    x: float  # pixels to the right
    y: float  # pixels downwards
    side: str  # the part of the text that is near: "left", "right" or, above or below, "center"

    @property
    def far(self) -> bool:
        """Whether the name needs a line to its point."""
        return abs(self.y) > LONGEST_WITHOUT_LEADER


def spread(heights: Sequence[float], step: float, height: float) -> list[float]:
    """Move heights apart, in their order, so that neighbours are at least a step apart.

    All are pixels downwards; those that do not fit below `height` move up.

    >>> spread([10.0, 12.0, 90.0], 20.0, 100.0)
    [10.0, 30.0, 90.0]
    >>> spread([90.0, 95.0], 20.0, 100.0)
    [80.0, 100.0]
    """
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    found = list(heights)
    for before, index in itertools.pairwise(order):
        found[index] = max(found[index], found[before] + step)
    lowest = height
    for index in reversed(order):
        found[index] = min(found[index], lowest)
        lowest = found[index] - step
    return found


@dataclass(frozen=True, slots=True)
class View:
    """A chart at one of the widths that it may be drawn at. All in pixels, y downwards."""

    points: tuple[tuple[float, float], ...]
    bounds: Box
    lines: tuple[tuple[float, float], ...] = ()  # points along the lines that names avoid


@functools.lru_cache(maxsize=64)  # a page draws the same chart again at every choice
def place_labels(
    views: tuple[View, ...], widths: tuple[float, ...], height: float
) -> tuple[LabelPosition | None, ...]:
    """Choose a position for the name of each point, in the order of the points.

    A position has to do at every width that the chart may have, each a view with the same points.
    widths and height are the names' sizes in pixels. Each name takes the cheapest position near its
    point: within the bounds, and rather not over points of `lines`. To the right of its point is
    preferred. None where every position lies over another name or its leader line, over another
    point or outside the bounds. The names choose in the order of the points; where some find no
    position, they choose first in another attempt, and the attempt with the most names counts.
    """
    order = list(range(len(widths)))
    found: list[LabelPosition | None] = []
    for _ in range(ATTEMPTS):
        positions = _place_in(order, views, widths, height)
        if not found or positions.count(None) < found.count(None):
            found = positions
        missing = [number for number in order if positions[number] is None]
        if not missing:
            break
        order = missing + [number for number in order if number not in missing]
    return tuple(found)


def _place_in(
    order: Sequence[int], views: Sequence[View], widths: Sequence[float], height: float
) -> list[LabelPosition | None]:
    """Choose positions one name after the other, in an order of the points' numbers."""
    points = [[_square(x, y, GAP) for x, y in view.points] for view in views]
    lines = [[_square(x, y, LINE_THICKNESS) for x, y in view.lines] for view in views]
    taken: list[list[Box]] = [[] for _ in views]
    positions: list[LabelPosition | None] = [None] * len(widths)
    for number in order:
        width = widths[number]
        least = math.inf
        for position in _candidates():
            cost = DISTANCE_WEIGHT * abs(position.y)
            if cost >= least:
                break  # the candidates after it are as far or farther
            for index, view in enumerate(views):
                x, y = view.points[number]
                box = _box(x, y, position, width, height)
                outside = width * height - _overlap(box, view.bounds)
                if outside > 1:
                    cost = math.inf
                    break
                leader = _leader(x, y, position)
                others = points[index][:number] + points[index][number + 1 :]
                if _covered_pixels(box, others) > 1 or any(
                    _covered_pixels(part, taken[index]) for part in (box, *leader)
                ):
                    cost = math.inf
                    break
                cost += LINE_WEIGHT * _covered_pixels(box, lines[index])
                cost += CROSSING_WEIGHT * sum(_covered_pixels(part, others) for part in leader)
            if cost < least:
                positions[number], least = position, cost
        best = positions[number]
        if best:
            for index, view in enumerate(views):
                x, y = view.points[number]
                taken[index] += [_box(x, y, best, width, height), *_leader(x, y, best)]
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
        for side, sign in (("left", 1), ("right", -1), *((("center", 0),) if y else ()))
    ]


def _box(x: float, y: float, position: LabelPosition, width: float, height: float) -> Box:
    left = x + position.x - {"left": 0.0, "center": 0.5, "right": 1.0}[position.side] * width
    return (left, y + position.y - height / 2, left + width, y + position.y + height / 2)


def _covered_pixels(box: Box, obstacles: Sequence[Box]) -> float:
    """Pixels that a box shares with the obstacles, summed."""
    left, top, right, bottom = box
    return sum(
        _overlap(box, other)
        for other in obstacles
        if other[0] < right and other[2] > left and other[1] < bottom and other[3] > top
    )


def _overlap(first: Box, second: Box) -> float:
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return max(0.0, across) * max(0.0, down)
