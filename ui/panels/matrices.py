"""A, B and C whole: B above C, A to its left, so that a row and a column meet in their cell."""

from __future__ import annotations

import numpy as np

from simulator import Step
from ui.palette import Palette
from ui.panels.canvas import SANS, Grid, Shape, Trace, heat, lines, number, outline, words
from ui.story import Story, cells_of, focus_cell, outer_iteration

LEFT, TOP, RIGHT, BOTTOM = 622, 66, 1122, 812
GAP, LABEL = 34, 26
LARGEST_CELL = 46
TEXT_CELLS = 64  # more texts than an 8 x 8 matrix has slow a step down
SMALLEST_TEXT = 17  # pixels of a cell that a number fits in


class MatricesPanel:
    """The three matrices with the block's tiles in their iterations' colours."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        shapes = story.shapes
        (M, K), (_, N) = shapes["A"], shapes["B"]
        size = min(
            (RIGHT - LEFT - GAP) / (K + N),
            (BOTTOM - TOP - GAP - 2 * LABEL) / (K + M),
            LARGEST_CELL,
        )
        left = LEFT + (RIGHT - LEFT - GAP - size * (K + N)) / 2
        top = TOP + LABEL
        b_left, c_top = left + K * size + GAP, top + K * size + GAP + LABEL - 8
        self.grids = {
            "A": Grid(left, c_top, size, M, K),
            "B": Grid(b_left, top, size, K, N),
            "C": Grid(b_left, c_top, size, M, N),
        }
        self._focus = focus_cell(story)
        self._start = {
            name: np.asarray(story.recording.arguments[name]).reshape(-1) for name in "ABC"
        }

    def static(self) -> list[Trace]:
        """A and B with their tiles, every border, every name."""
        palette, story = self._palette, self._story
        traces: list[Trace] = []
        colours = [palette.cell, *palette.tiles]
        for name in "AB":
            grid, tiles = self.grids[name], story.tiles[name]
            fill = np.where(tiles < 0, 0, tiles % len(palette.tiles) + 1)
            traces.append(heat(grid, fill.reshape(grid.rows, grid.columns).tolist(), colours))
            traces.append(lines(grid, self._tile(name), palette.line))
            if self._has_text(grid):
                places = [grid.centre(*divmod(i, grid.columns)) for i in range(tiles.size)]
                texts = [number(v) for v in self._start[name]]
                traces.append(words(places, texts, self._text_size(grid), palette.ink))
        grids = [self.grids[name] for name in "ABC"]
        sizes = {name: "×".join(map(str, shape)) for name, shape in story.shapes.items()}
        names = [
            f"<b>{name}</b>  {sizes[name]}, {'this block’s tile' if name == 'C' else 'global'}"
            if grid.columns * grid.size > 150 else f"<b>{name}</b>  {sizes[name]}"
            for name, grid in zip("ABC", grids, strict=True)
        ]  # fmt: skip
        traces.append(
            words([(g.left, g.top - 14) for g in grids], names, 15, palette.ink, "middle right",
                  SANS)
        )  # fmt: skip
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """C: its borders, what the block has stored, and the cells it works for."""
        palette, grid = self._palette, self.grids["C"]
        stored = step.stored.get("C")
        written = np.zeros(grid.rows * grid.columns, np.int64)
        written[self._block_cells()] = 1
        if stored is not None:
            written[np.asarray(stored).reshape(-1)] = 2
        colours = [palette.cell, palette.idle, palette.done]
        traces = [heat(grid, written.reshape(grid.rows, -1).tolist(), colours)]
        if self._has_text(grid):
            places = [grid.centre(*divmod(i, grid.columns)) for i in range(written.size)]
            values = np.asarray(step.outputs.get("C", self._start["C"])).reshape(-1)
            shown = [
                number(v) if done == 2 else "" for v, done in zip(values, written, strict=True)
            ]
            traces.append(words(places, shown, self._text_size(grid), palette.ink))
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """The current tiles, the focused thread's row and column, and the cells touched now."""
        palette, story = self._palette, self._story
        iteration = outer_iteration(story, step)
        edge = palette.tile_edge(iteration or 0)
        tiles = focus = ""
        if iteration is not None:
            for name in "AB":
                current = np.flatnonzero(story.tiles[name] == iteration)
                tiles += self._bounds(self.grids[name], current)
        if self._focus is not None:
            row, column = self._focus
            a, b, c = (self.grids[name] for name in "ABC")
            focus = a.box(row, 0, 1, a.columns) + b.box(0, column, b.rows, 1)
            focus += c.box(row, column)
        now = mine = ""
        for access in step.accesses:
            if access.space == "global" and access.name in self.grids:
                grid = self.grids[access.name]
                now += grid.boxes(cells_of(access).tolist())
                mine += grid.boxes(cells_of(access, story.thread).tolist())
        block = self._bounds(self.grids["C"], self._block_cells())
        return [
            outline(block, palette.faint, 2),
            outline(tiles, edge, 3.5),
            outline(now, palette.ink, 2.5),
            outline(focus, palette.focus, 2),
            outline(mine, palette.focus, 4, palette.focus_fill if mine else "rgba(0,0,0,0)")
            | {"layer": "above", "opacity": 0.75},
        ]

    def _block_cells(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The cells of C that the block ends up storing."""
        last = self._story.recording.steps[-1].stored.get("C")
        if last is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.asarray(last).reshape(-1))

    def _bounds(self, grid: Grid, cells: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
        """The rectangle around cells."""
        if not cells.size:
            return ""
        rows, columns = np.divmod(cells, grid.columns)
        top, left = int(rows.min()), int(columns.min())
        return grid.box(top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1)

    def _tile(self, name: str) -> tuple[int, int]:
        """Rows and columns of the first iteration's tile of A or B; the whole where it is none."""
        grid, tiles = self.grids[name], self._story.tiles[name]
        first = np.flatnonzero(tiles == 0)
        if not first.size or self._story.iterations < 2:
            return grid.rows, grid.columns
        rows, columns = np.divmod(first, grid.columns)
        return int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1

    def _has_text(self, grid: Grid) -> bool:
        return grid.size >= SMALLEST_TEXT and grid.rows * grid.columns <= TEXT_CELLS

    def _text_size(self, grid: Grid) -> float:
        return min(17.0, grid.size * 0.42)
