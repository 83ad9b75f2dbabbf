"""Cells of a stage: a window of an array, its rectangles, and the size of what is in them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.launch import Dim3
from ui.drawing.paths import box, px
from ui.lecture.letters import MONO_WIDTH

GAP = 2  # pixels between neighbours
LINE_ABOVE = 1.5  # of a number's height, at least, from one row to the next
LARGEST_NUMBER = 1.8  # times the smallest
WRAPPED = 8  # columns of a block of one long row


@dataclass(frozen=True, slots=True)
class Cells:
    """Equal cells on the sheet."""

    left: float  # pixels, of the first cell's upper left corner
    top: float
    width: float  # pixels, of a cell
    height: float
    rows: int
    columns: int

    @property
    def right(self) -> float:
        """The edge after the last column."""
        return self.left + self.columns * self.width

    @property
    def bottom(self) -> float:
        """The edge under the last row."""
        return self.top + self.rows * self.height

    def centres(self) -> list[tuple[float, float]]:
        """The middle of each cell, row by row."""
        return [
            (self.left + (column + 0.5) * self.width, self.top + (row + 0.5) * self.height)
            for row in range(self.rows)
            for column in range(self.columns)
        ]

    def path(self, row: float, column: float, rows: float = 1, columns: float = 1) -> str:
        """A rectangle of cells, a gap smaller than they are, as a path."""
        return box(*self.box(row, column, rows, columns))

    def box(
        self, row: float, column: float, rows: float = 1, columns: float = 1
    ) -> tuple[float, float, float, float]:
        """The same rectangle: left, top, right, bottom."""
        gap = GAP / 2 if min(self.width, self.height) > 5 * GAP else 0
        return (
            self.left + column * self.width + gap, self.top + row * self.height + gap,
            self.left + (column + columns) * self.width - gap,
            self.top + (row + rows) * self.height - gap,
        )  # fmt: skip

    def splits(self, row: float, column: float, columns: int) -> str:
        """The lines between some neighbours of a row."""
        _, top, _, bottom = self.box(row, column)
        return "".join(
            f"M{px(self.left + (column + i) * self.width)},{px(top)}V{px(bottom)}"
            for i in range(1, columns)
        )

    def fill(self, chosen: Array) -> str:
        """The cells where `chosen` [rows, columns] is true, each on its own."""
        return _fill(self, np.ascontiguousarray(chosen, np.bool_).tobytes())

    def corners(self, chosen: Array) -> str:
        """A triangle in the upper right corner of each cell where `chosen` is true."""
        side = 0.3 * min(self.width, self.height)
        path = ""
        for row, column in np.argwhere(chosen).tolist():
            x, y = self.left + (column + 1) * self.width - 1, self.top + row * self.height + 1
            path += f"M{px(x - side)},{px(y)}H{px(x)}V{px(y + side)}Z"
        return path

    def border(self, chosen: Array) -> str:
        """The lines around the cells where `chosen` [rows, columns] is true, as one area."""
        around = np.pad(np.asarray(chosen, np.bool_), 1)
        path = ""
        for row, column in np.argwhere(around[1:, :] != around[:-1, :]).tolist():
            x, y = self.left + (column - 1) * self.width, self.top + row * self.height
            path += f"M{px(x)},{px(y)}H{px(x + self.width)}"
        for row, column in np.argwhere(around[:, 1:] != around[:, :-1]).tolist():
            x, y = self.left + column * self.width, self.top + (row - 1) * self.height
            path += f"M{px(x)},{px(y)}V{px(y + self.height)}"
        return path

    def feet(self, chosen: Array) -> str:
        """A bar at the foot of each cell where `chosen` is true."""
        high = max(2.0, 0.12 * self.height)
        path = ""
        for row, column in np.argwhere(chosen).tolist():
            left, low = self.left + column * self.width, self.top + (row + 1) * self.height - 1
            path += box(left + 2, low - high, left + self.width - 2, low)
        return path

    def whole(self) -> str:
        """All cells."""
        return _fill(self, b"\1" * (self.rows * self.columns))

    def lines(self) -> str:
        """The lines around all cells, and between them both ways."""
        if not self.rows or not self.columns:
            return ""
        across = (self.left + i * self.width for i in range(self.columns + 1))
        down = (self.top + i * self.height for i in range(self.rows + 1))
        return "".join(
            [box(x, self.top, x, self.bottom) for x in across]
            + [box(self.left, y, self.right, y) for y in down]
        )

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and column under a point of the sheet."""
        column, row = (x - self.left) // self.width, (y - self.top) // self.height
        if 0 <= row < self.rows and 0 <= column < self.columns:
            return int(row), int(column)
        return None


@functools.lru_cache(maxsize=8192)
def _fill(cells: Cells, chosen: bytes) -> str:
    mask = np.frombuffer(chosen, np.bool_).reshape(cells.rows, cells.columns)
    if min(cells.width, cells.height) > 5 * GAP:
        return "".join(cells.path(row, column) for row, column in np.argwhere(mask).tolist())
    # Small cells have no gaps: neighbours are joined, along rows or columns, whichever are fewer.
    rows, columns = _runs(mask), _runs(mask.T)
    if len(rows) <= len(columns):
        return "".join(cells.path(row, start, 1, end - start) for row, start, end in rows)
    return "".join(cells.path(start, column, end - start) for column, start, end in columns)


def _runs(mask: Array) -> list[tuple[int, int, int]]:
    """The runs of true values in each row of a mask [rows, columns]: row, first, and end."""
    found = []
    for row in range(mask.shape[0]):
        edges = np.flatnonzero(np.diff(np.pad(mask[row], 1).astype(np.int8)))
        found += [(row, start, end) for start, end in edges.reshape(-1, 2).tolist()]
    return found


def number_width(longest: int, size: float) -> float:
    """The width of a cell in which a number of so many letters has room."""
    return longest * size * MONO_WIDTH + 0.5 * size


def number_size(cells: Cells, longest: int, least: float) -> float:
    """The largest height at which numbers fit into cells, or 0 if that is below the least."""
    size = min(
        (cells.width - GAP) / (longest * MONO_WIDTH + 0.3), cells.height / LINE_ABOVE,
        LARGEST_NUMBER * least,
    )  # fmt: skip
    return round(size, 1) if size >= least else 0.0


def window_start(index: int, count: int, total: int, origin: int = 0) -> int:
    """The first of `count` neighbours, of which one is `index`; it moves by whole windows.

    One of the windows begins at `origin`.

    >>> [window_start(index, 4, 10) for index in (0, 3, 4, 9)]
    [0, 0, 4, 6]
    >>> window_start(5, 4, 10, origin=5)
    5
    """
    return max(0, min((index - origin) // count * count + origin, total - count))


def longest_text(texts: Iterable[str]) -> int:
    """Letters of the longest text, at least 1."""
    return max((len(text) for text in texts), default=1) or 1


def columns_of_block(block: Dim3) -> int:
    """How many threads of a block are in a row: threadIdx.x, or less where all are in one."""
    x, y, z = block
    return x if y * z > 1 else min(x, WRAPPED)
