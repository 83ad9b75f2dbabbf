"""Small maps of A, B and C: where the tiles are, and how far C has come."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from ui.analysis.product_roles import Product
from ui.analysis.scene_model import Phase, SceneModel, cells_of, focus_cell, multiplied_tile
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.hit import GLOBAL, Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.lecture.board import Boards
from ui.lecture.cells import Cells
from ui.lecture.colours import fading
from ui.lecture.layout import Areas
from ui.lecture.letters import Letters, text_width

THINNEST = 10.0  # pixels of a matrix's side
GAP = 6.0
LEAST_NAME = 16.0  # pixels that a name may be wider than its map
SHADES = 8  # of a sum on its way into C


class MapsPanel:
    """B above C, A to its left: without numbers, but with every tile of the block."""

    def __init__(
        self, model: SceneModel, product: Product, palette: Palette, letters: Letters,
        areas: Areas, boards: Boards,
    ) -> None:  # fmt: skip
        self._model, self._palette, self._letters = model, palette, letters
        self._product = product
        M, N, K = product.M, product.N, product.K
        left, top = areas.maps.left, areas.maps.top
        name = 1.3 * letters.small
        across, down = areas.maps.width - GAP, areas.maps.height - GAP - name
        wide_k, wide_n = _divide(across, K, N)
        high_k, high_m = _divide(down, K, M)
        size = min(wide_k / K, high_k / K) if max(M, N) < K * 3 else 0.0
        if size:  # square cells, where no matrix becomes too thin
            wide_k = high_k = max(size * K, THINNEST)
            wide_n, high_m = (max(size * n, THINNEST) for n in (N, M))
        x, y = left + wide_k + GAP, top + high_k + GAP
        self._maps = {
            product.A: Cells(left, y, wide_k / K, high_m / M, M, K),
            product.B: Cells(x, top, wide_n / N, high_k / K, K, N),
            product.C: Cells(x, y, wide_n / N, high_m / M, M, N),
        }
        self._focus = focus_cell(model)
        self._tiles = [self._tiles_of(t) for t in range(model.tile_count)]
        self._shares = self._products_done(boards)
        steps = model.recording.steps
        last = steps[-1].stored.get(product.C) if steps else None
        self._block = np.zeros(M * N, np.bool_) if last is None else last.reshape(-1)

    def _tiles_of(self, tile: int) -> str:
        """A tile of A and the tile of B that it is multiplied by."""
        return "".join(
            _bounds(self._maps[name], np.flatnonzero(self._model.tiles[name] == tile))
            for name in self._product.factors
        )

    def _products_done(self, boards: Boards) -> list[float]:
        """For each step the share of the block's products that are done, from 0 to 1."""
        counts, count = [], 0
        for step in self._model.recording.steps:
            count += int(step.active.sum()) if boards.is_product(step) else 0
            counts.append(count)
        return [done / max(1, count) for done in counts]

    def static(self) -> list[Trace]:
        """The names."""
        a, b, c = self._maps.values()
        half = 0.65 * self._letters.small
        points = [(a.left, a.top - half), (b.left - 0.5 * half, b.top + half),
                  (c.right, c.bottom + half)]  # fmt: skip
        names = [self._fitting(name) for name in self._product.names]
        return [
            words([point], [name], self._letters.small, self._palette.ink, align, SANS)
            for point, name, align in zip(
                points, names, ("middle right", "middle left", "middle left"), strict=True
            )
        ]

    def _fitting(self, name: str) -> str:
        """A matrix's name, cut where it is longer than its map is wide."""
        room = self._maps[name].columns * self._maps[name].width + LEAST_NAME
        shown = name
        while text_width(shown, self._letters.small, True) > room and len(shown) > 1:
            shown = f"{shown.removesuffix('…')[:-1]}…"
        return f"<b>{shown}</b>"

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: the maps have no numbers."""
        return []

    def shapes(self, step: Step) -> list[Shape]:
        """The tiles, those that are multiplied, C's cells, and what the block touches."""
        palette, model, maps = self._palette, self._model, self._maps
        count = len(palette.tiles)
        fills = [""] * count
        for tile, path in enumerate(self._tiles):
            fills[tile % count] += path
        current = multiplied_tile(model, step)
        edge = palette.tile_edge(current or 0)
        c = maps[self._product.C]
        whole = "".join(
            box(cells.left, cells.top, cells.right, cells.bottom) for cells in maps.values()
        )
        stored = step.stored.get(self._product.C)
        share = self._shares[step.number]
        growing = _bounds(c, np.flatnonzero(self._block)) if share else ""
        touched = ""
        for access in step.accesses:
            if access.space is MemorySpace.GLOBAL and access.name in maps:
                cells = cells_of(access)
                touched += _cells_path(maps[access.name], cells) if cells.size else ""
        racing = "".join(
            _cells_path(maps[name], cells) for name, cells in model.racing[step.number].items()
            if name in maps
        )  # fmt: skip
        focus = self._focus_lines()
        return [
            outline(whole, palette.line, 1, palette.cell, "below"),
            *(outline(fills[i], palette.tiles[i], 0, palette.tiles[i], "below")
              for i in range(count)),
            outline("" if current is None else self._tiles[current], edge, 1, edge, "below"),
            outline(_bounds(c, np.flatnonzero(self._block)), palette.faint, 1.5, layer="below"),
            outline(growing, palette.faint, 1.5, fading(palette, round(share * SHADES) / SHADES),
                    "below"),
            outline("" if stored is None else c.fill(stored.reshape(c.rows, c.columns)),
                    palette.line, 0, palette.phases[Phase.STORE], "below"),
            outline(touched, palette.ink, 1.5),
            outline(focus, palette.focus, 2),
            outline(racing, palette.focus, 3, dash="dot"),
        ]  # fmt: skip

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of a matrix."""
        for name, cells in self._maps.items():
            at = cells.at(x, y)
            if at is not None:
                return Hit(GLOBAL + name, at[0] * cells.columns + at[1])
        return None

    def _focus_lines(self) -> str:
        """The focused thread's row of A, its column of B and its cell of C."""
        if self._focus is None:
            return ""
        row, column = self._focus
        a, b, c = self._maps.values()
        return a.path(row, 0, 1, a.columns) + b.path(0, column, b.rows, 1) + c.path(row, column)


def _divide(room: float, first: int, second: int) -> tuple[float, float]:
    """A length in two parts like two sizes, neither of them too thin."""
    part = min(max(room * first / (first + second), THINNEST), room - THINNEST)
    return part, room - part


def _bounds(cells: Cells, numbers: Array) -> str:
    """The rectangle around cells."""
    if not numbers.size:
        return ""
    rows, columns = np.divmod(numbers, cells.columns)
    top, left = int(rows.min()), int(columns.min())
    return cells.path(top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1)


def _cells_path(cells: Cells, numbers: Array) -> str:
    """Cells as one rectangle where they are one, else each on its own."""
    rows, columns = np.divmod(numbers, cells.columns)
    if numbers.size == (np.ptp(rows) + 1) * (np.ptp(columns) + 1):
        return _bounds(cells, numbers)
    mask = np.zeros(cells.rows * cells.columns, np.bool_)
    mask[numbers] = True
    return cells.fill(mask.reshape(cells.rows, cells.columns))
