"""SVG paths of many cells or marks at once: few shapes keep a scene small."""

from __future__ import annotations

import functools
import itertools
import math
import textwrap
from collections.abc import Iterable

import numpy as np

from simulator.language.ctype import Array
from ui.drawing.canvas import Grid

Rectangle = tuple[int, int, int, int]  # row, column, rows, columns
HOVER_WIDTH = 60
HATCH_APART = 10  # pixels across, between two lines
FEW_CELLS = 8  # down and across together, whose every cell keeps its diagonal
SMALLEST_FOOT = 12  # pixels of a cell whose foot stands apart from its neighbour's


def px(value: float) -> str:
    """A length on the sheet, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def box(left: float, top: float, right: float, bottom: float) -> str:
    """A rectangle."""
    return f"M{px(left)},{px(top)}H{px(right)}V{px(bottom)}H{px(left)}Z"


def horizontal_line(left: float, right: float, y: float) -> str:
    """A horizontal line; drawn as thick as a mark is tall, it is the mark."""
    return f"M{px(left)},{px(y)}H{px(right)}"


def vertical_line(x: float, top: float, bottom: float) -> str:
    """A vertical line."""
    return f"M{px(x)},{px(top)}V{px(bottom)}"


def fill(grid: Grid, chosen: Array) -> str:
    """The cells where `chosen` [rows * columns] is true, neighbours joined."""
    return _rectangles_path(grid, np.ascontiguousarray(chosen, np.bool_).tobytes())


def hatch(grid: Grid, chosen: Array) -> str:
    """A diagonal through each cell where `chosen` [rows * columns] is true, neighbours joined.

    Where cells are small and many, only through so many that the lines stay HATCH_APART apart.
    """
    return _hatch_lines(grid, np.ascontiguousarray(chosen, np.bool_).tobytes())


def foot_bars(grid: Grid, chosen: Array) -> str:
    """A bar at the foot of each cell where `chosen` [rows * columns] is true.

    Those of a row's neighbours are joined where cells are too small to distinguish.
    """
    return _foot_bars(grid, np.ascontiguousarray(chosen, np.bool_).tobytes())


@functools.lru_cache(maxsize=4096)
def _rectangles_path(grid: Grid, chosen: bytes) -> str:
    paths = []
    for row, column, rows, columns in _rectangles(grid, chosen):
        left, top = grid.left + column * grid.size, grid.top + row * grid.size
        paths.append(box(left, top, left + columns * grid.size, top + rows * grid.size))
    return "".join(paths)


@functools.lru_cache(maxsize=4096)
def _hatch_lines(grid: Grid, chosen: bytes) -> str:
    paths = []
    apart = math.ceil(HATCH_APART / grid.size)  # cells
    for row, column, rows, columns in _rectangles(grid, chosen):
        left, bottom = grid.left + column * grid.size, grid.top + (row + rows) * grid.size
        # Diagonals are counted from the upper left corner; those of rectangles side by side meet.
        every = apart if rows + columns > FEW_CELLS else 1
        for diagonal in range(-(row + column) % every, rows + columns - 1, every):
            low = min(diagonal + 1, rows)
            right = min(diagonal + 1, columns)
            from_left, to_top = diagonal + 1 - low, diagonal + 1 - right
            paths.append(
                f"M{px(left + from_left * grid.size)},{px(bottom - (rows - low) * grid.size)}"
                f"L{px(left + right * grid.size)},{px(bottom - (rows - to_top) * grid.size)}"
            )
    return "".join(paths)


@functools.lru_cache(maxsize=4096)
def _foot_bars(grid: Grid, chosen: bytes) -> str:
    paths = []
    for row, column, rows, columns in _rectangles(grid, chosen):
        wide = columns if grid.size < SMALLEST_FOOT else 1  # cells
        for cell_row, first_column in itertools.product(
            range(row, row + rows), range(column, column + columns, wide)
        ):
            left, right = (grid.left + (first_column + x) * grid.size for x in (0.2, wide - 0.2))
            paths.append(horizontal_line(left, right, grid.top + (cell_row + 0.86) * grid.size))
    return "".join(paths)


def _rectangles(grid: Grid, chosen: bytes) -> Iterable[Rectangle]:
    """Chosen cells as few rectangles: runs of a row, joined with the same runs below."""
    mask = np.frombuffer(chosen, np.bool_).reshape(grid.rows, grid.columns)
    if mask.all():
        return [(0, 0, grid.rows, grid.columns)] if mask.size else []
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    found: list[Rectangle] = []
    growing: dict[tuple[int, int], tuple[int, int]] = {}  # a run: its first row, rows so far
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        first, height = growing.get((start, end), (row, 0))
        if first + height == row:
            growing[start, end] = (first, height + 1)
        else:
            found.append((first, start, height, end - start))
            growing[start, end] = (row, 1)
    found += [(first, start, h, end - start) for (start, end), (first, h) in growing.items()]
    return found


def hover(text: str) -> str:
    """A panel's explanation as its title shows it."""
    return "<br>".join(textwrap.wrap(text, HOVER_WIDTH))
