"""Shared memory: each array as the source declares it, coloured by the tile of its value."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from ui.analysis.scene_model import (
    SceneModel,
    cells_of,
    distinct_snapshots,
    shared_tiles,
    values_held,
)
from ui.drawing.canvas import (
    SANS,
    Grid,
    Shape,
    Trace,
    lines,
    number,
    outline,
    words,
)
from ui.drawing.hit import SHARED, Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import fill, hatch, hover

LEFT, TOP, RIGHT, BOTTOM = 1152, 40, 1580, 290
NOTE = 20  # under the arrays: which accesses are not ordered
GAP, LABEL = 26, 26
STACK_GAP = 8  # between an array and the title of the one below
PLANE_BORDER = 5
LETTER = 7.3  # pixels of a letter in what a title adds; the title's own are larger
LARGEST_CELL = 52
TEXT_CELLS = 256
SMALLEST_TEXT = 20
SMALLEST_BORDER = 5
STACKED_GAIN = 1.15  # arrays stand side by side unless this much is won by stacking them
HOVER = (
    "The block's shared arrays, row by row as the source declares them; an array of three "
    "dimensions shows its first as blocks one under another. A cell has the colour of the tile of "
    "A or B that its value is from; a diagonal marks one that nothing has written yet, padding "
    "above all. Outlined: what all threads of the block touch at this statement, the focused "
    "thread's in its own colour. Dashed: a cell that another thread wrote or read since the last "
    "barrier, or that is read before it was written; the hardware decides what such an access "
    "sees. Simplified: the values are those of one order of the warps, of many."
)


class SharedPanel:
    """The block's shared arrays and what its threads touch in them."""

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette
        self.grids = _layout(model.shared_shapes)
        self._tiles = shared_tiles(model)
        # Of each array the latest texts, with the values and marks that they are of.
        self._latest_texts: dict[str, tuple[Array, Array, list[str]]] = {}
        self._sizes = {name: self._text_size(name) for name in self.grids if self._has_text(name)}
        self._unordered = model.unordered

    def static(self) -> list[Trace]:
        """Names and borders."""
        palette = self._palette
        if not self.grids:
            point = ((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2)
            return [words([point], ["This kernel uses no shared memory"], 17, palette.faint,
                          family=SANS)]  # fmt: skip
        traces = [
            words(
                [(grid.left, grid.top - 14) for grid in self.grids.values()],
                self._titles(), 16, palette.ink, "middle right", SANS,
                hoverinfo="text", hovertext=[hover(HOVER)] * len(self.grids),
            )
        ]  # fmt: skip
        for name, grid in self.grids.items():
            if grid.size >= SMALLEST_BORDER:
                traces.append(lines(grid, (1, 1), palette.paper, 1))
            plane = _plane(self._shape(name))
            if plane[0] < grid.rows:
                traces.append(lines(grid, plane, palette.paper, PLANE_BORDER))
            traces.append(lines(grid, (grid.rows, grid.columns), palette.line, 1.5))
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """The values where cells are large enough, and which accesses are not ordered."""
        palette = self._palette
        traces: list[Trace] = []
        for name, grid in self.grids.items():
            if name not in self._sizes:
                continue
            texts = self._texts(step, name)
            points = [grid.centre(*divmod(i, grid.columns)) for i in range(len(texts))]
            traces.append(words(points, texts, self._sizes[name], palette.ink))
        if self.grids:
            point = (LEFT, BOTTOM - 6)
            traces.append(words([point], [self._note(step)], 15, palette.focus, "middle right",
                                SANS))  # fmt: skip
        return traces

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of an array."""
        cells = {name: grid.cell_at(x, y) for name, grid in self.grids.items()}
        return next(
            (Hit(SHARED + name, cell) for name, cell in cells.items() if cell is not None), None
        )

    def shapes(self, step: Step) -> list[Shape]:
        """The cells' fills, what was never written, and the words that the step touches."""
        if not self.grids:
            return []
        palette = self._palette
        fills = [""] * len(palette.tiles)
        whole = padding = never = touched_path = focused_path = unordered_path = ""
        for name, grid in self.grids.items():
            tiles = self._tiles[step.number][name]
            classes = np.where(tiles < 0, -1, tiles % len(palette.tiles))
            is_written = step.written[name].reshape(-1)
            touched, touched_by_focused = (
                np.zeros(classes.size, np.bool_),
                np.zeros(classes.size, np.bool_),
            )
            is_unordered = np.zeros(classes.size, np.bool_)
            for access in step.accesses:
                if access.space is MemorySpace.SHARED and access.name == name:
                    touched[cells_of(access)] = True
                    touched_by_focused[cells_of(access, self._model.thread)] = True
            is_unordered[self._unordered[step.number].get(name, np.zeros(0, np.int64))] = True
            for tile in {*classes.tolist()} - {-1}:
                fills[tile] += fill(grid, classes == tile)
            whole += fill(grid, np.ones(classes.size, np.bool_))
            # For good: a path that never varies.
            unused = ~self._model.recording.steps[-1].written[name].reshape(-1)
            padding += hatch(grid, unused)
            never += hatch(grid, ~is_written & ~unused)
            touched_path += fill(grid, touched)
            focused_path += fill(grid, touched_by_focused)
            unordered_path += fill(grid, is_unordered)
        below = [
            outline(path, colour, 0, colour, "below")
            for path, colour in zip([whole, *fills], [palette.cell, *palette.tiles], strict=True)
        ]
        return [
            *below,
            outline(padding, palette.faint, 0.8, layer="below"),
            outline(never, palette.faint, 0.8, layer="below"),
            outline(touched_path, palette.ink, 2.5),
            outline(focused_path, palette.focus, 4),
            outline(unordered_path, palette.focus, 3, dash="dot"),
        ]

    def _texts(self, step: Step, name: str) -> list[str]:
        """An array's values as texts, empty where nothing was written.

        Steps share the snapshots that did not change: those of the latest are there.
        """
        values, written = step.shared[name], step.written[name]
        latest = self._latest_texts.get(name)
        if latest is not None and latest[0] is values and latest[1] is written:
            return latest[2]
        pairs = zip(values.reshape(-1).tolist(), written.reshape(-1).tolist(), strict=True)
        texts = [number(value) if is_written else "" for value, is_written in pairs]
        self._latest_texts[name] = values, written, texts
        return texts

    def _titles(self) -> list[str]:
        """Each array as it is declared, and how many of its columns are padding."""
        sizes = {name: "".join(f"[{n}]" for n in self._shape(name)) for name in self.grids}
        by_array = {name: self._descriptions(name) for name in self.grids}
        fits = 0  # the longest words for which every title has room
        for name, descriptions in by_array.items():
            room = self._room(name) - GAP / 2 - 1.3 * LETTER * len(name + sizes[name])
            fits = max(fits, sum(LETTER * len(description) >= room for description in descriptions))
        return [
            f"<b>{name}</b>{sizes[name]}  "
            f"<span style='font-size:14px'>{[*texts, ''][min(fits, len(texts))]}</span>"
            for name, texts in by_array.items()
        ]

    def _descriptions(self, name: str) -> tuple[str, ...]:
        """What an array is: a text, then shorter ones that say the same."""
        written = self._model.recording.steps[-1].written[name]
        columns = self._shape(name)[-1]
        used = np.flatnonzero(written.reshape(-1, columns).any(axis=0))
        padding = columns - 1 - int(used.max()) if used.size else 0
        if not padding:
            return "shared memory", "shared"
        noun = "column" if padding == 1 else "columns"
        return f"{padding} {noun} of padding", f"{padding} padding"

    def _room(self, name: str) -> float:
        """Pixels from an array's left edge to what stands beside it."""
        left = self.grids[name].left
        return min((g.left for g in self.grids.values() if g.left > left), default=RIGHT) - left

    def _note(self, step: Step) -> str:
        """A sentence where an access is not ordered by a barrier."""
        unordered = self._unordered[step.number]
        if not unordered:
            return ""
        unset = sum(int((~step.written[name].reshape(-1)[c]).sum())
                    for name, c in unordered.items())  # fmt: skip
        count = sum(cells.size for cells in unordered.values()) - unset
        reasons = []
        if unset:
            reasons.append(f"{unset} {_cells(unset)} read before anything was written there")
        if count:
            reasons.append(f"{count} {_cells(count)} shared with no barrier between")
        return f"<b>⚠ {'; '.join(reasons)}</b>"

    def _shape(self, name: str) -> tuple[int, ...]:
        """An array's dimensions as the source declares them, or of the tile that it holds."""
        return self._model.shared_shapes[name]

    def _has_text(self, name: str) -> bool:
        grid = self.grids[name]
        return grid.size >= SMALLEST_TEXT and grid.rows * grid.columns <= TEXT_CELLS

    def _text_size(self, name: str) -> float:
        """As large as the longest number allows that the array ever holds."""
        snapshots = distinct_snapshots(step.shared[name] for step in self._model.recording.steps)
        distinct = values_held(snapshots)
        longest = max(len(number(value)) for value in distinct.tolist())
        size = self.grids[name].size
        return round(min(22.0, size * 0.6, size * 0.94 / (0.602 * longest)), 1)


def _cells(count: int) -> str:
    return "cell" if count == 1 else "cells"


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of an array's last two dimensions."""
    return (shape[-2] if len(shape) > 1 else 1), shape[-1]


def _layout(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Grid]:
    """A grid for each array, its planes one under another, all with cells of one size."""
    if not shapes:
        return {}
    columns = {name: shape[-1] for name, shape in shapes.items()}
    rows = {name: math.prod(shape) // shape[-1] for name, shape in shapes.items()}
    width, height = RIGHT - LEFT, BOTTOM - TOP - NOTE
    gaps = GAP * (len(shapes) - 1)
    beside = min(
        (width - gaps) / sum(columns.values()), (height - LABEL) / max(rows.values()), LARGEST_CELL
    )
    stacked = min(
        width / max(columns.values()),
        (height - LABEL * len(shapes) - STACK_GAP * (len(shapes) - 1)) / sum(rows.values()),
        LARGEST_CELL,
    )
    if stacked > beside * STACKED_GAIN:
        grids, y = {}, float(TOP)
        for name in shapes:
            grids[name] = Grid(LEFT, y + LABEL, stacked, rows[name], columns[name])
            y = grids[name].bottom + STACK_GAP
        return grids
    x = float(LEFT)
    spare = max(0.0, width - gaps - beside * sum(columns.values())) / len(shapes)
    grids = {}
    for name in shapes:
        grids[name] = Grid(x, TOP + LABEL, beside, rows[name], columns[name])
        x = grids[name].right + GAP + spare
    return grids
