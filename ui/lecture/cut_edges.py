"""Torn edges, where an array goes on beyond the window of it that is drawn."""

from __future__ import annotations

import functools

from ui.drawing.paths import px
from ui.lecture.cells import Cells

TOOTH = 8.0  # pixels along an edge, about, from one tip to the next
DEEP = 2.0  # pixels, half the depth of a tooth
OUTSIDE = 1.5  # pixels from the cells to the middle of the teeth


@functools.lru_cache(maxsize=4096)
def torn_edges(cells: Cells, start: tuple[int, int], shape: tuple[int, int]) -> str:
    """A zigzag line at each side of a window where its array goes on.

    start is the window's first row and column, shape has the array's rows and columns.
    """
    (row, column), (rows, columns) = start, shape
    right = cells.left + min(cells.columns, columns - column) * cells.width
    bottom = cells.top + min(cells.rows, rows - row) * cells.height
    path = ""
    if column > 0:
        path += _zigzag(cells.left - OUTSIDE, cells.top, bottom, False)
    if column + cells.columns < columns:
        path += _zigzag(right + OUTSIDE, cells.top, bottom, False)
    if row > 0:
        path += _zigzag(cells.top - OUTSIDE, cells.left, right, True)
    if row + cells.rows < rows:
        path += _zigzag(bottom + OUTSIDE, cells.left, right, True)
    return path


def _zigzag(middle: float, start: float, end: float, is_across: bool) -> str:
    """A line from start to end whose teeth are on both sides of a middle."""
    count = max(2, round((end - start) / TOOTH)) * 2
    points = [
        (start + (end - start) * i / count, middle + (DEEP if i % 2 else -DEEP))
        for i in range(count + 1)
    ]
    places = points if is_across else [(across, along) for along, across in points]
    return "M" + "L".join(f"{px(x)},{px(y)}" for x, y in places)
