"""Global memory at the left of the canvas: A, B and C whole, and what a step moves out of them.

B is above C and A to its left, so that a row of A and a column of B meet in their element of C.
Where there is little room, as on a phone or on one of two sides, it is a map without numbers.
"""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.observers.transactions import SECTOR_BYTES
from ui.analysis.product_roles import Product
from ui.analysis.scene_model import (
    Phase,
    SceneModel,
    cells_of,
    focus_cell,
    follows_products,
    loaded_tile,
    multiplied_tile,
)
from ui.drawing.canvas import Shape, Trace, labels, outline, words
from ui.drawing.hit import GLOBAL, Hit
from ui.drawing.motions import Box, Place
from ui.drawing.paths import box, head, px
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import ArrayName
from ui.lecture.board import Boards, sums_of_threads
from ui.lecture.cells import LARGEST_NUMBER, Cells, number_size, number_width
from ui.lecture.colours import fading, mix
from ui.lecture.layout import HIGH_BAR_ROW, Areas
from ui.lecture.letters import cut_name, text_width
from ui.lecture.panel_context import PanelContext

THINNEST = 10.0  # pixels of a matrix's side
GAP = 6.0
LEAST_NAME = 16.0  # pixels that a name may be wider than its map
SHADES = 8  # of a sum on its way into C
ROW = 1.5  # of a number's height, a row of cells, at least
NARROWEST = 1.2  # of a number's height, a cell's width at least
LARGEST = 4.0  # of a number's height, a cell's width and height at most
STRETCH = 3.5  # a cell of a map without numbers, its longer side by its shorter, at most
PAST = 0.45  # of a tile's colour, that of a tile that was used before
CORNER_WIDTH = 7.0  # of a small letter, what bars of loads need left of B at least
NOTE = 1.3  # of a number's height, the field behind one that is written on C
TIP = 7.0  # pixels, from that field to the cell that it points at
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)
ARROW = 9.0  # pixels, the head of the path along K


class GlobalMemoryPanel:
    """A, B and C, the tiles of the block by iteration, sectors, and the cells of a step."""

    def __init__(self, context: PanelContext, product: Product) -> None:
        model, letters = context.model, context.letters
        self._model, self._palette, self._letters = model, context.palette, letters
        self._product, self._reader = product, context.reader
        self._arrays = {name: ArrayName(name, MemorySpace.GLOBAL) for name in product.names}
        self._maps, self.bars = self._place_with_bars(context.areas)
        self._sizes = {
            name: number_size(cells, context.reader.longest(self._arrays[name]), letters.small)
            for name, cells in self._maps.items()
        }
        self._tiles = [self._tiles_of(t) for t in range(model.tile_count)]
        self._shares = self._products_done(context.boards)
        self._axes = _axes(model)
        steps = model.recording.steps
        last = steps[-1].stored.get(product.C) if steps else None
        self._block = (
            np.zeros(product.M * product.N, np.bool_) if last is None else (last.reshape(-1))
        )
        self._note = self._place_note()
        self._cell_lines, self._focus_lines = self._draw_cell_lines(), self._draw_focus_lines()
        numbers = np.flatnonzero(self._block)
        self._block_box = _box_around(self._maps[product.C], numbers) if numbers.size else NOWHERE
        self._block_bounds = box(*self._block_box) if numbers.size else ""

    def _place_with_bars(self, areas: Areas) -> tuple[dict[str, Cells], Rectangle]:
        """The cells of A, B and C, and the room for bars: left of B, or where that is small below.

        Nothing else is left of B and above A, and the matrices have the room below.
        """
        letters, far = self._letters, areas.far
        if far is None:
            return self._place(areas.maps), areas.maps
        whole = replace(areas.maps, bottom=far.bottom - 0.4 * letters.small)
        a, b, _ = (found := self._place(whole)).values()
        name = 1.6 * letters.small  # of B at its left, and of A above it
        corner = Rectangle(whole.left, whole.top, b.left - name, a.top - name)
        if (corner.width < CORNER_WIDTH * letters.small
                or corner.height < 2 * HIGH_BAR_ROW * letters.name):  # fmt: skip
            found = self._place(areas.maps)
            bottom = max(cells.bottom for cells in found.values()) + 2 * letters.small
            corner = Rectangle(
                far.left + 0.7 * letters.name, bottom, far.right - 0.7 * letters.name,
                far.bottom - 0.7 * letters.small,
            )  # fmt: skip
        return found, corner

    def _place(self, area: Rectangle) -> dict[str, Cells]:
        """The cells of A, B and C: with room for their numbers, if there is enough."""
        letters = self._letters
        M, N, K = self._product.M, self._product.N, self._product.K
        name = 1.3 * letters.small
        across, down = area.width - GAP, area.height - GAP - name
        A, B, C = self._product.names
        longest = {one: self._reader.longest(self._arrays[one]) for one in (A, B, C)}
        least, height = letters.small, ROW * letters.small
        wide_a, wide_b, wide_c = (
            max(NARROWEST * least, number_width(longest[one], least)) for one in (A, B, C)
        )
        # The numbers of C, which come late, may have no room.
        for wide in (max(wide_b, wide_c), max(wide_b, height)):
            if K * wide_a + N * wide <= across and (K + M) * height <= down:
                wider = min(across / (K * wide_a + N * wide),
                            max(LARGEST_NUMBER, LARGEST * least / max(wide_a, wide)))  # fmt: skip
                high = min(down / (K + M), LARGEST * least)
                sizes = K * wide_a * wider, N * wide * wider, K * high, M * high
                break
        else:
            sizes = self._place_map(across, down)
        wide_k, wide_n, high_k, high_m = sizes
        x, y = area.left + wide_k + GAP, area.top + high_k + GAP
        return {
            A: Cells(area.left, y, wide_k / K, high_m / M, M, K),
            B: Cells(x, area.top, wide_n / N, high_k / K, K, N),
            C: Cells(x, y, wide_n / N, high_m / M, M, N),
        }

    def _place_map(self, across: float, down: float) -> tuple[float, float, float, float]:
        """The widths of A and B and the heights of B and A, without numbers."""
        M, N, K = self._product.M, self._product.N, self._product.K
        wide_k, wide_n = _divide(across, K, N)
        high_k, high_m = _divide(down, K, M)
        if max(M, N) < K * 3:  # cells of about a square's shape, where no matrix becomes too thin
            wide, high = wide_k / K, high_k / K
            wide, high = min(wide, STRETCH * high), min(high, STRETCH * wide)
            wide_k, wide_n = (max(wide * n, THINNEST) for n in (K, N))
            high_k, high_m = (max(high * n, THINNEST) for n in (K, M))
        return wide_k, wide_n, high_k, high_m

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
        """The names, and which way a thread's x and y go in C."""
        a, b, c = self._maps.values()
        half = 0.65 * self._letters.small
        points = [(a.left, a.top - half), (b.left - 0.5 * half, b.top + half),
                  (c.right, c.bottom + half)]  # fmt: skip
        names = [
            cut_name(name, self._letters.small, cells.right - cells.left + LEAST_NAME)
            for name, cells in self._maps.items()
        ]
        small = self._letters.small
        width = c.right - c.left - text_width(names[2], small) - half
        axes = next((text for text in self._axes if text_width(text, small) <= width), "")
        return [
            labels([(c.left, c.bottom + 0.8 * small)], [axes], small, self._palette.faint),
            *self._draw_names(points, names),
        ]

    def _draw_names(self, points: list[tuple[float, float]], names: list[str]) -> list[Trace]:
        return [
            labels([point], [name], self._letters.small, self._palette.ink, align)
            for point, name, align in zip(
                points, names, ("middle right", "middle left", "middle left"), strict=True
            )
        ]

    def changing(self, step: Step) -> list[Trace]:
        """The numbers, where the cells have room for them."""
        return [
            words(cells.centres(), self._reader.texts(step, self._arrays[name]),
                  self._sizes[name], self._palette.ink, meta="far numbers")
            for name, cells in self._maps.items() if self._sizes[name]
        ] + self._write_note(step) + self._write_share(step)  # fmt: skip

    def _place_note(self) -> Rectangle | None:
        """Where the focused thread's value in C is written, if no number has room in C's cells.

        It is under the thread's cell, or above it where C ends, and points at it.
        """
        name, focus, size = self._product.C, focus_cell(self._model), self._letters.number
        if focus is None or self._sizes[name]:
            return None
        cells = self._maps[name]
        left, top, _, bottom = cells.box(*focus)
        longest = self._reader.longest(self._arrays[name])
        width, height = number_width(longest, size), NOTE * size
        left = min(left, cells.right - width)
        below = bottom + TIP
        top = below if below + height <= cells.bottom else top - TIP - height
        has_room = left >= cells.left - 1 and top >= cells.top - 1
        return Rectangle(left, top, left + width, top + height) if has_room else None

    def _noted(self, step: Step) -> str:
        """The focused thread's value in C, once it is stored, where the cells have no numbers."""
        stored, focus = step.stored.get(self._product.C), focus_cell(self._model)
        if stored is None or focus is None or self._note is None:
            return ""
        # The frames of vectors and tiles would be drawn over it.
        if any(one.name == self._product.C and one.components > 1 for one in step.accesses):
            return ""
        cell = focus[0] * self._product.N + focus[1]
        text = self._reader.texts(step, self._arrays[self._product.C])[cell]
        return text if stored.reshape(-1)[cell] else ""

    def _write_note(self, step: Step) -> list[Trace]:
        if self._note is None:
            return []
        middle = self._note.left + GAP, (self._note.top + self._note.bottom) / 2
        return [
            words([middle], [self._noted(step)], self._letters.number, self._palette.ink,
                  "middle right", meta="stored")
        ]  # fmt: skip

    def _write_share(self, step: Step) -> list[Trace]:
        """How much of its sums the block has by now, on its tile of C, which that tints."""
        left, top, right, bottom = self._block_box
        share, size = self._shares[step.number], self._letters.small
        if right - left < text_width("100%", size) or bottom - top < ROW * size:
            return []
        is_shown = share and step.stored.get(self._product.C) is None
        return [
            labels([((left + right) / 2, bottom - ROW / 2 * size)],
                   [f"{share:.0%}" if is_shown else ""], size, self._palette.ink,
                   "middle center")
        ]  # fmt: skip

    def _draw_note(self) -> str:
        """The field of the value in C, with a tip at the focused thread's cell."""
        focus, note = focus_cell(self._model), self._note
        if focus is None or note is None:
            return ""
        left, top, right, bottom = self._maps[self._product.C].box(*focus)
        edge, tip = (note.top, bottom) if note.top > top else (note.bottom, top)
        x = min(max((left + right) / 2, note.left + TIP / 2), note.right - TIP / 2)
        return box(*astuple(note)) + (
            f"M{px(x - TIP / 2)},{px(edge)}L{px((left + right) / 2)},{px(tip)}"
            f"L{px(x + TIP / 2)},{px(edge)}Z"
        )

    def shapes(self, step: Step) -> list[Shape]:
        """The tiles, those that are moved or multiplied, C's cells, and what the block touches."""
        palette, maps = self._palette, self._maps
        c = maps[self._product.C]
        whole = "".join(
            box(cells.left, cells.top, cells.right, cells.bottom) for cells in maps.values()
        )
        stored = step.stored.get(self._product.C)
        share = self._shares[step.number]
        growing = self._block_bounds if share else ""
        fetched, unused, touched, own, splits = self._accessed(step)
        return [
            outline(whole, palette.line, 1, palette.cell, "below"),
            *self._tile_shapes(step),
            outline(self._block_bounds, palette.faint, 1.5, layer="below"),
            outline(growing, palette.faint, 1.5, fading(palette, round(share * SHADES) / SHADES),
                    "below"),
            outline("" if stored is None else c.fill(stored.reshape(c.rows, c.columns)),
                    palette.line, 0, palette.done, "below"),
            outline(self._cell_lines, palette.paper, 1, layer="below"),
            outline(unused, palette.phases[Phase.LOAD], 1.5, layer="below"),
            outline(fetched, palette.phases[Phase.LOAD], 2.5),
            outline(splits, palette.ink, 0.7),
            outline(touched, palette.ink, 1.5),
            outline(own, palette.focus, 3),
            outline(self._focus_lines, palette.focus, 2),
            outline(self._path_along_k(step), palette.faint, 1.5, palette.faint),
            outline(self._draw_note() if self._noted(step) else "", palette.focus, 2,
                    palette.focus_fill, "below"),
            outline(self._racing(step), palette.focus, 3, dash="dot"),
            outline(self._wrong(step), palette.focus, 0, palette.focus),
        ]  # fmt: skip

    def _tile_shapes(self, step: Step) -> list[Shape]:
        """The tiles of past iterations, paler, and those that are loaded or multiplied now."""
        palette, model = self._palette, self._model
        count = len(palette.tiles)
        current = {multiplied_tile(model, step), loaded_tile(model, step)} - {None}
        end = len(self._tiles) if follows_products(model, step) else 0
        last = max((t for t in current if t is not None), default=end)
        fills, lit = [""] * count, [""] * count
        # Without an inner loop an iteration takes no tile: all that is read has one number.
        for tile, path in enumerate(self._tiles if model.inner is not None else ()):
            if tile in current:
                lit[tile % count] += path
            elif tile < last:
                fills[tile % count] += path
        return [
            *(outline(path, palette.line, 0, mix(palette.cell, colour, PAST), "below")
              for path, colour in zip(fills, palette.tiles, strict=True)),
            *(outline(path, edge, 3, colour, "below")
              for path, edge, colour in zip(lit, palette.tile_edges, palette.tiles, strict=True)),
        ]  # fmt: skip

    def _draw_cell_lines(self) -> str:
        """The lines between cells, where these have room for numbers."""
        path = ""
        for name, cells in self._maps.items():
            if self._sizes[name]:
                for row in range(1, cells.rows):
                    y = cells.top + row * cells.height
                    path += f"M{px(cells.left)},{px(y)}H{px(cells.right)}"
                for column in range(1, cells.columns):
                    x = cells.left + column * cells.width
                    path += f"M{px(x)},{px(cells.top)}V{px(cells.bottom)}"
        return path

    def _accessed(self, step: Step) -> tuple[str, str, str, str, str]:
        """What a step accesses: fetched sectors, their unused part, cells, the focused thread's.

        Cells of a vector have one frame; the last path is the lines between them.
        """
        fetched = unused = touched = own = splits = ""
        for access in step.accesses:
            if access.space is not MemorySpace.GLOBAL or access.name not in self._maps:
                continue
            cells = self._maps[access.name]
            numbers = cells_of(access)
            if not numbers.size:
                continue
            touched += _cells_path(cells, numbers)
            if access.components > 1:
                frames, lines = _vectors_paths(cells, *access.touched_cells())
                touched, splits = touched + frames, splits + lines
            own += _cells_path(cells, cells_of(access, self._model.thread))
            if access.kind is AccessKind.LOAD:
                each = max(1, SECTOR_BYTES // access.element_bytes)
                sectors = np.unique(numbers // each)
                moved = (sectors[:, None] * each + np.arange(each)).reshape(-1)
                moved = moved[moved < cells.rows * cells.columns]
                mask = np.zeros(cells.rows * cells.columns, np.bool_)
                mask[moved] = True
                fetched += cells.border(mask.reshape(cells.rows, cells.columns))
                mask[numbers] = False
                unused += _hatch(cells, mask.reshape(cells.rows, cells.columns))
        return fetched, unused, touched, own, splits

    def _path_along_k(self, step: Step) -> str:
        """The way along A's columns and down B's rows, with a head where the block is now."""
        if self._model.tile_count < 2 or not any(self._sizes.values()):
            return ""
        tile = multiplied_tile(self._model, step)
        loaded = loaded_tile(self._model, step)
        at = loaded if loaded is not None else tile
        if at is None:
            at = self._model.tile_count - 1 if follows_products(self._model, step) else 0
        a, b, _ = self._maps.values()
        share = (at + 1) / self._model.tile_count
        x, y = a.left + share * (a.right - a.left), a.bottom + GAP
        path = f"M{px(a.left)},{px(y)}H{px(x)}" + head(a.left, y, x, y, ARROW) + "Z"
        x, y = b.right + GAP, b.top + share * (b.bottom - b.top)
        return path + f"M{px(x)},{px(b.top)}V{px(y)}" + head(x, b.top, x, y, ARROW) + "Z"

    def _racing(self, step: Step) -> str:
        return "".join(
            _cells_path(self._maps[name], cells)
            for name, cells in self._model.racing[step.number].items()
            if name in self._maps
        )

    def _wrong(self, step: Step) -> str:
        """A mark in the cells whose value a run without the fault does not have."""
        path = ""
        for name, cells in self._maps.items():
            wrong = self._reader.wrong(step, self._arrays[name]) if self._sizes[name] else None
            if wrong is not None:
                path += cells.corners(wrong.reshape(cells.rows, cells.columns))
        return path

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of a matrix."""
        for name, cells in self._maps.items():
            at = cells.at(x, y)
            if at is not None:
                return Hit(GLOBAL + name, at[0] * cells.columns + at[1])
        return None

    def has(self, name: str) -> bool:
        """Whether an array is one of the matrices."""
        return name in self._maps

    def cells(self, name: str) -> Cells:
        """Where the cells of a matrix are."""
        return self._maps[name]

    def place(self, step: Step, name: str, cell: int) -> Place:
        """Where a cell of a matrix is, for what flies from it or to it."""
        cells = self._maps[name]
        left, top, right, bottom = cells.box(*divmod(cell, cells.columns))
        middle = (left + right) / 2, (top + bottom) / 2
        text = self._reader.texts(step, self._arrays[name])[cell]
        return Place(
            text, middle, (left, top, right, bottom), self._sizes[name] or self._letters.small
        )

    def tile_box(self, name: str, tile: int) -> Box | None:
        """Where a tile of A or of B is; None if there is no such tile."""
        cells = np.flatnonzero(self._model.tiles.get(name, np.zeros(0)) == tile)
        return _box_around(self._maps[name], cells) if cells.size else None

    def _draw_focus_lines(self) -> str:
        """The focused thread's row of A, its column of B and its cell of C."""
        focus = focus_cell(self._model)
        if focus is None:
            return ""
        row, column = focus
        a, b, c = self._maps.values()
        return a.path(row, 0, 1, a.columns) + b.path(0, column, b.rows, 1) + c.path(row, column)


def _axes(model: SceneModel) -> tuple[str, ...]:
    """Which way a thread's x and y go in C, in wordings from the longest; () if neither is plain.

    A thread is (x, y), and a cell [row][column]: usually x goes along a row.
    """
    cells, _ = sums_of_threads(model)
    across, down, _ = model.recording.launch.block
    if across < 2 or down < 2:
        return ()
    ways = [tuple((cells[thread] - cells[0]).tolist()) for thread in (1, across)]
    if ways == [(0, 1), (1, 0)]:
        return ("x → column, y ↓ row", "x →, y ↓")
    if ways == [(1, 0), (0, 1)]:
        return ("x ↓ row, y → column", "x ↓, y →")
    return ()


def _divide(length: float, first: int, second: int) -> tuple[float, float]:
    """A length in two parts like two sizes, neither of them too thin."""
    part = min(max(length * first / (first + second), THINNEST), length - THINNEST)
    return part, length - part


def _hatch(cells: Cells, chosen: Array) -> str:
    """A diagonal through each cell."""
    path = ""
    for row, column in np.argwhere(chosen).tolist():
        left, top, right, bottom = cells.box(row, column)
        path += f"M{px(left)},{px(bottom)}L{px(right)},{px(top)}"
    return path


def _bounds(cells: Cells, numbers: Array) -> str:
    """The rectangle around cells."""
    return box(*_box_around(cells, numbers)) if numbers.size else ""


def _box_around(cells: Cells, numbers: Array) -> Box:
    rows, columns = np.divmod(numbers, cells.columns)
    top, left = int(rows.min()), int(columns.min())
    return cells.box(top, left, int(rows.max()) - top + 1, int(columns.max()) - left + 1)


def _vectors_paths(cells: Cells, numbers: Array, threads: Array) -> tuple[str, str]:
    """A rectangle for what each thread accesses, neighbours in a row; the lines between these."""
    _, first, counts = np.unique(threads, return_index=True, return_counts=True)
    frames = splits = ""
    for number, count in zip(numbers[first].tolist(), counts.tolist(), strict=True):
        row, column = divmod(number, cells.columns)
        frames += cells.path(row, column, 1, count)
        splits += cells.splits(row, column, count)
    return frames, splits


def _cells_path(cells: Cells, numbers: Array) -> str:
    """Cells as one rectangle where they are one, else each on its own."""
    if not numbers.size:
        return ""
    rows, columns = np.divmod(numbers, cells.columns)
    if numbers.size == (np.ptp(rows) + 1) * (np.ptp(columns) + 1):
        return _bounds(cells, numbers)
    mask = np.zeros(cells.rows * cells.columns, np.bool_)
    mask[numbers] = True
    return cells.fill(mask.reshape(cells.rows, cells.columns))
