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
MONO = "ui-monospace, 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
SANS = "'Source Sans Pro', 'Source Sans 3', 'DejaVu Sans', Arial, sans-serif"

SPACE = "\u00a0"
CLEAR = "rgba(0,0,0,0)"

Trace = dict[str, Any]
Shape = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells on the sheet: the first one's corner, a cell's size in pixels, rows and columns."""

    left: float
    top: float
    size: float
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


def outline(
    path: str,
    colour: str,
    width: float = 3,
    fill: str = CLEAR,
    layer: str = "above",
    dash: str = "solid",
) -> Shape:
    """A highlight or a fill, above or below all traces; an empty path is not seen."""
    return {
        "type": "path", "path": path or "M0,0Z",
        "line": {"color": colour, "width": width, "dash": dash}, "fillcolor": fill, "layer": layer,
    }  # fmt: skip


def target(grid: Grid, name: str) -> Trace:
    """Cells that are not seen and that a click finds: the trace's name, then row and column."""
    cells = np.zeros((grid.rows, grid.columns))
    return heat(grid, cells, [CLEAR]) | {"name": name, "hoverinfo": "none"}


def heat(grid: Grid, values: np.ndarray[Any, Any], colours: Sequence[str], **more: Any) -> Trace:
    """Cells filled by number: values [rows, columns] index `colours`."""
    steps = len(colours)
    scale = []
    for i, colour in enumerate(colours):
        scale += [[i / steps, colour], [(i + 1) / steps, colour]]
    return {
        "type": "heatmap", "z": values.astype(np.int8),
        "x0": grid.left + grid.size / 2, "dx": grid.size,
        "y0": grid.top + grid.size / 2, "dy": grid.size, "zmin": -0.5, "zmax": steps - 0.5,
        "colorscale": scale, "showscale": False, "hoverinfo": "skip",
        "xgap": 1 if grid.size > 9 else 0, "ygap": 1 if grid.size > 9 else 0, **more,
    }  # fmt: skip


def words(
    places: Sequence[tuple[float, float]],
    texts: Sequence[str],
    size: float | Sequence[float],
    colour: str | Sequence[str],
    align: str = "middle center",
    family: str = MONO,
    **more: Any,
) -> Trace:
    """Texts at places on the sheet.

    An empty one becomes a space that does not break: Plotly keeps no node for none, and a key's
    step writes into the nodes that are there.
    """
    return {
        "type": "scatter", "mode": "text", "x": [x for x, _ in places],
        "y": [y for _, y in places], "text": [text or SPACE for text in texts],
        "textposition": align,
        "textfont": {"size": size, "color": colour, "family": family}, "hoverinfo": "skip",
        "cliponaxis": False, **more,
    }  # fmt: skip


def lines(grid: Grid, every: tuple[int, int], colour: str, width: float = 1.5) -> Trace:
    """The borders between tiles of `every` rows and columns, and around the whole."""
    x: list[float | None] = []
    y: list[float | None] = []
    rows = sorted({*range(0, grid.rows, max(1, every[0])), grid.rows})
    columns = sorted({*range(0, grid.columns, max(1, every[1])), grid.columns})
    for row in rows:
        at = grid.top + row * grid.size
        x += [grid.left, grid.right, None]
        y += [at, at, None]
    for column in columns:
        at = grid.left + column * grid.size
        x += [at, at, None]
        y += [grid.top, grid.bottom, None]
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "line": {"color": colour, "width": width},
    }  # fmt: skip


def number(value: Any) -> str:
    """A number as short as a cell needs it."""
    return format_short(value)
