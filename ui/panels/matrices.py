"""A, B and C whole: B above C, A to its left, so that a row and a column meet in their cell."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from ui.analysis.product_roles import Product
from ui.analysis.scene_model import SceneModel, cells_of, focus_cell, multiplied_tile
from ui.drawing.canvas import (
    CLEAR,
    SANS,
    Grid,
    Shape,
    Trace,
    heat,
    lines,
    number,
    outline,
    words,
)
from ui.drawing.hit import GLOBAL, Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import fill

LEFT, TOP, RIGHT, BOTTOM = 622, 40, 1122, 816
GAP, LABEL = 34, 26
LARGEST_CELL = 46
SMALLEST_TEXT = 15  # pixels of a cell that a number fits in
FACTOR = (
    "{} as it lies in global memory. Each tile that this block<br>reads has the colour of the "
    "outer iteration that reads it first."
)
RESULT = (
    "{} as it lies in global memory, with what this block has<br>stored so far. What other "
    "blocks store is not shown: they<br>run at the same time, in no order that can be told."
)


class MatricesPanel:
    """The three matrices with the block's tiles in their colours.

    Where the kernel's tile reaches past an edge of A or B, its zeros are drawn beyond the edge.
    """

    def __init__(self, model: SceneModel, product: Product, palette: Palette) -> None:
        self._model, self._product, self._palette = model, product, palette
        M, N, K = product.M, product.N, product.K
        rows, columns, depth = model.tile or (1, 1, 1)
        self._padded = {
            product.A: (_round_up(M, rows), _round_up(K, depth)),
            product.B: (_round_up(K, depth), _round_up(N, columns)),
            product.C: (_round_up(M, rows), _round_up(N, columns)),
        }
        (high, across), (_, wide) = self._padded[product.A], self._padded[product.B]
        size = min(
            (RIGHT - LEFT - GAP) / (across + wide),
            (BOTTOM - TOP - GAP - 2 * LABEL) / (across + high),
            LARGEST_CELL,
        )
        left = LEFT + (RIGHT - LEFT - GAP - size * (across + wide)) / 2
        top = TOP + LABEL + (BOTTOM - TOP - GAP - 2 * LABEL - size * (across + high)) / 2
        b_left, c_top = left + across * size + GAP, top + across * size + GAP + LABEL - 8
        self.grids = {
            product.A: Grid(left, c_top, size, M, K),
            product.B: Grid(b_left, top, size, K, N),
            product.C: Grid(b_left, c_top, size, M, N),
        }
        self._focus = focus_cell(model)
        self._start = {
            name: np.asarray(model.recording.arguments[name]).reshape(-1) for name in product.names
        }
        steps = model.recording.steps
        last = steps[-1].stored.get(product.C) if steps else None
        none = np.zeros(0, np.int64)
        self._block = none if last is None else np.flatnonzero(np.asarray(last).reshape(-1))
        self._tiles = [self._bounds_of_tile(t) for t in range(model.tile_count)]

    def static(self) -> list[Trace]:
        """A and B with their tiles, every border, every name."""
        palette, model = self._palette, self._model
        traces: list[Trace] = []
        colours = [palette.cell, *palette.tiles]
        size = self._text_size()
        product = self._product
        for name in product.factors:
            grid, tiles = self.grids[name], model.tiles[name]
            tile_numbers = np.where(tiles < 0, 0, tiles % len(palette.tiles) + 1)
            traces.append(heat(grid, tile_numbers.reshape(grid.rows, grid.columns), colours))
            traces.append(lines(grid, self._borders(name), palette.line))
            if size:
                points = [grid.centre(*divmod(i, grid.columns)) for i in range(tiles.size)]
                traces.append(words(points, [number(v) for v in self._start[name]], size,
                                    palette.ink))  # fmt: skip
            beyond = self._cells_beyond(name) if size else []
            traces.append(words([grid.centre(*cell) for cell in beyond], ["0"] * len(beyond),
                                size or 1, palette.faint))  # fmt: skip
        grid = self.grids[product.C]
        traces.append(lines(grid, (grid.rows, grid.columns), palette.line))
        sizes = {name: "×".join(map(str, shape)) for name, shape in product.shapes.items()}
        names = [
            f"<b>{name}</b>  {sizes[name]}"
            + (", global" if self.grids[name].columns * self.grids[name].size > 150 else "")
            for name in product.names
        ]
        explained = [
            (RESULT if name == product.C else FACTOR).format(name) for name in product.names
        ]
        traces.append(
            words([(g.left, g.top - 14) for g in self.grids.values()], names, 16, palette.ink,
                  "middle right", SANS, hoverinfo="text", hovertext=explained)
        )  # fmt: skip
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """What the block has stored in C."""
        result = self._product.C
        grid, size = self.grids[result], self._text_size()
        if not size:
            return []
        stored = step.stored.get(result)
        is_stored = np.zeros(grid.rows * grid.columns, np.bool_)
        if stored is not None:
            is_stored = np.asarray(stored).reshape(-1)
        values = np.asarray(step.outputs.get(result, self._start[result])).reshape(-1)
        cells = self._block.tolist()
        points = [grid.centre(*divmod(i, grid.columns)) for i in cells]
        texts = [number(values[i]) if is_stored[i] else "" for i in cells]
        return [words(points, texts, size, self._palette.ink)]

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of A, B or C."""
        cells = {name: grid.cell_at(x, y) for name, grid in self.grids.items()}
        return next(
            (Hit(GLOBAL + name, cell) for name, cell in cells.items() if cell is not None), None
        )

    def shapes(self, step: Step) -> list[Shape]:
        """The current tiles, the focused thread's row and column, and the cells touched."""
        palette, model = self._palette, self._model
        tile = multiplied_tile(model, step)
        edge = palette.tile_edge(tile or 0)
        focus = ""
        a, b, c = (self.grids[name] for name in self._product.names)
        if self._focus is not None:
            row, column = self._focus
            focus = a.box(row, 0, 1, a.columns) + b.box(0, column, b.rows, 1) + c.box(row, column)
        touched = touched_by_focused = ""
        for access in step.accesses:
            if access.space is MemorySpace.GLOBAL and access.name in self.grids:
                grid = self.grids[access.name]
                touched += _fill_cells(grid, cells_of(access))
                touched_by_focused += _fill_cells(grid, cells_of(access, model.thread))
        racing = "".join(
            _fill_cells(self.grids[name], cells)
            for name, cells in model.racing[step.number].items() if name in self.grids
        )  # fmt: skip
        stored = step.stored.get(self._product.C)
        beyond = "".join(self._outline_beyond(name) for name in self._product.factors)
        return [
            outline(c.box(0, 0, c.rows, c.columns), palette.line, 0, palette.cell, "below"),
            outline(_bounding_box(c, self._block), palette.faint, 2, palette.idle, "below"),
            outline(
                "" if stored is None else fill(c, stored), palette.line, 0, palette.done, "below"
            ),
            outline(beyond, palette.line, 1, CLEAR, dash="dot"),
            outline("" if tile is None else self._tiles[tile], edge, 3.5),
            outline(touched, palette.ink, 2.5),
            outline(focus, palette.focus, 2),
            outline(touched_by_focused, palette.focus, 4, palette.focus_fill, "below"),
            outline(touched_by_focused, palette.focus, 4),
            outline(racing, palette.focus, 3, dash="dot"),
        ]

    def _bounds_of_tile(self, tile: int) -> str:
        """A tile of A and the tile of B that it is multiplied by."""
        tiles = self._model.tiles
        return "".join(
            _bounding_box(self.grids[name], np.flatnonzero(tiles[name] == tile))
            for name in self._product.factors
        )

    def _borders(self, name: str) -> tuple[int, int]:
        """Rows and columns between two borders: a tile's where the kernel has tiles."""
        grid, tile = self.grids[name], self._model.tile
        if tile is None:
            return grid.rows, grid.columns
        rows, columns, depth = tile
        return (rows, depth) if name == self._product.A else (depth, columns)

    def _cells_beyond(self, name: str) -> list[tuple[int, int]]:
        """Row and column of the cells of tiles that lie outside a matrix."""
        grid, (rows, columns) = self.grids[name], self._padded[name]
        return [
            (row, column) for row in range(rows) for column in range(columns)
            if row >= grid.rows or column >= grid.columns
        ]  # fmt: skip

    def _outline_beyond(self, name: str) -> str:
        """The outline of what tiles cover beyond a matrix's right and lower edge."""
        grid, (rows, columns) = self.grids[name], self._padded[name]
        path = ""
        if columns > grid.columns:
            path += grid.box(0, grid.columns, rows, columns - grid.columns)
        if rows > grid.rows:
            path += grid.box(grid.rows, 0, rows - grid.rows, grid.columns)
        return path

    def _text_size(self) -> float:
        """The size of a cell's number, or 0 where a number would not be readable."""
        size = self.grids[self._product.A].size
        if size < SMALLEST_TEXT:
            return 0
        factors = (self._start[name] for name in self._product.factors)
        longest = max((len(number(v)) for values in factors for v in values), default=1)
        return min(17.0, size * 0.5, size * 1.35 / max(longest, self._longest_sum()))

    def _longest_sum(self) -> int:
        """Characters of the longest number that the block stores in C."""
        steps = self._model.recording.steps
        last = steps[-1].outputs.get(self._product.C) if steps else None
        if last is None:
            return 1
        flat = np.asarray(last).reshape(-1)[self._block]
        return max((len(number(v)) for v in flat), default=1)


def _round_up(size: int, tile: int) -> int:
    """A size rounded up to whole tiles."""
    return -(-size // tile) * tile


def _fill_cells(grid: Grid, cells: Array) -> str:
    chosen = np.zeros(grid.rows * grid.columns, np.bool_)
    chosen[cells] = True
    return fill(grid, chosen)


def _bounding_box(grid: Grid, cells: Array) -> str:
    """The rectangle around cells."""
    if not cells.size:
        return ""
    rows, columns = np.divmod(cells, grid.columns)
    top, left = int(rows.min()), int(columns.min())
    return grid.box(top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1)
