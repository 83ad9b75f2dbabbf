"""The sheet that every panel draws on: one pair of axes counted in pixels, and its primitives.

The scene is laid out for WIDTH x HEIGHT and scaled as a whole, so that what a teacher sees on a
laptop is what the back row sees on the wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.number_format import format_short

WIDTH, HEIGHT = 1600, 900
# Streamlit brings the first of each; where it does not, what a machine has.
MONO = "'Source Code Pro', ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
SANS = "'Source Sans', 'Source Sans Pro', 'Source Sans 3', 'DejaVu Sans', Arial, sans-serif"

SPACE = "\u00a0"
CLEAR = "rgba(0,0,0,0)"

Trace = dict[str, Any]
Shape = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """Square cells on the sheet, in rows and columns."""

    left: float  # pixels, of the first cell's upper left corner
    top: float  # pixels, of the same corner; y grows downwards
    size: float  # pixels, a cell's width and height
    rows: int
    columns: int

    @property
    def right(self) -> float:
        """The edge after the last column."""
        return self.left + self.size * self.columns

    @property
    def bottom(self) -> float:
        """The edge under the last row."""
        return self.top + self.size * self.rows

    def box(self, row: float, column: float, rows: float = 1, columns: float = 1) -> str:
        """A rectangle of cells as a path."""
        x, y = self.left + column * self.size, self.top + row * self.size
        w, h = columns * self.size, rows * self.size
        return f"M{x:g},{y:g}L{x + w:g},{y:g}L{x + w:g},{y + h:g}L{x:g},{y + h:g}Z"

    def centre(self, row: float, column: float) -> tuple[float, float]:
        """A cell's middle."""
        return self.left + (column + 0.5) * self.size, self.top + (row + 0.5) * self.size

    def cell_at(self, x: float, y: float) -> int | None:
        """The cell at a place of the sheet, counted row by row; None beyond the grid."""
        column, row = int((x - self.left) // self.size), int((y - self.top) // self.size)
        if 0 <= row < self.rows and 0 <= column < self.columns:
            return row * self.columns + column
        return None


def outline(
    path: str,
    colour: str,
    width: float = 3,
    fill: str = CLEAR,
    layer: str = "above",
    dash: str = "solid",
) -> Shape:
    """A highlight or a fill, above or below all traces; an empty path is invisible."""
    return {
        "type": "path", "path": path or "M0,0Z",
        "line": {"color": colour, "width": width, "dash": dash}, "fillcolor": fill, "layer": layer,
    }  # fmt: skip


def colour_scale(colours: Sequence[str]) -> dict[str, Any]:
    """A heatmap's attributes that give cell value i the colour `colours[i]`."""
    count = len(colours)
    scale = []
    for i, colour in enumerate(colours):
        scale += [[i / count, colour], [(i + 1) / count, colour]]
    return {"zmin": -0.5, "zmax": count - 0.5, "colorscale": scale, "showscale": False}


def heat(
    grid: Grid, values: np.ndarray[Any, Any], colours: Sequence[str], **attributes: Any
) -> Trace:
    """Cells filled by number: values [rows, columns] index `colours`."""
    return {
        "type": "heatmap", "z": values.astype(np.int8),
        "x0": grid.left + grid.size / 2, "dx": grid.size,
        "y0": grid.top + grid.size / 2, "dy": grid.size, **colour_scale(colours),
        "hoverinfo": "skip",
        "xgap": 1 if grid.size > 9 else 0, "ygap": 1 if grid.size > 9 else 0, **attributes,
    }  # fmt: skip


def words(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    size: float | Sequence[float],
    colour: str | Sequence[str],
    align: str = "middle center",
    family: str = MONO,
    **attributes: Any,
) -> Trace:
    """Texts at points (x, y) of the sheet, in pixels.

    An empty text becomes a space that does not break: Plotly creates no node for an empty text, and
    the script that shows a step writes into existing nodes.
    """
    return {
        "type": "scatter", "mode": "text", "x": [x for x, _ in points],
        "y": [y for _, y in points], "text": [text or SPACE for text in texts],
        "textposition": align,
        "textfont": {"size": size, "color": colour, "family": family}, "hoverinfo": "skip",
        "cliponaxis": False, **attributes,
    }  # fmt: skip


def lines(grid: Grid, every: tuple[int, int], colour: str, width: float = 1.5) -> Trace:
    """The borders between tiles of `every` rows and columns, and around the whole."""
    x: list[float | None] = []
    y: list[float | None] = []
    rows = sorted({*range(0, grid.rows, max(1, every[0])), grid.rows})
    columns = sorted({*range(0, grid.columns, max(1, every[1])), grid.columns})
    for row in rows:
        position = grid.top + row * grid.size
        x += [grid.left, grid.right, None]
        y += [position, position, None]
    for column in columns:
        position = grid.left + column * grid.size
        x += [position, position, None]
        y += [grid.top, grid.bottom, None]
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "line": {"color": colour, "width": width},
    }  # fmt: skip


def number(value: Any) -> str:
    """A number as short as a cell needs it."""
    return format_short(value)
