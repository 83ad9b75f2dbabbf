"""A window of an array on the sheet: its cells' numbers, fills and outlines, and clicks on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from ui.drawing.canvas import Shape, Trace, outline, words
from ui.drawing.hit import GLOBAL, SHARED, Hit
from ui.drawing.motions import Place
from ui.drawing.palette import Palette
from ui.lecture.arrays import ArrayName
from ui.lecture.cells import Cells
from ui.lecture.colours import lit
from ui.lecture.cut_edges import torn_edges
from ui.lecture.letters import Letters, text_width

FILLS = 6  # iterations that a window shows at once; a palette has no more colours
LIGHTS = 2  # iterations whose cells stand out


@dataclass(frozen=True, slots=True)
class Content:
    """What a window shows at a step; rows and columns are the array's as it is drawn."""

    array: ArrayName
    shape: tuple[int, int]
    start: tuple[int, int]  # the window's first row and column
    texts: list[str]  # flat, of the whole array
    iterations: Array  # int, flat: the outer iteration whose colour a cell has, -1 for none
    lit: Array  # bool, flat: the cells that stand out
    touched: Array  # bool, flat: the cells that the block accesses at this step
    focused: Array  # bool, flat: those that the focused thread accesses
    unordered: Array | None = None  # int: the cells that race, or that are read unwritten
    wrong: Array | None = None  # bool, flat: the cells whose value a right run does not have
    pending: list[str] | None = None  # flat: values on their way into cells that have no text yet
    upright: bool = False  # whether the array, of one dimension, is drawn as a column
    corner: tuple[int, int] = (0, 0)  # row and column of C where a block's first sum goes
    is_right: bool = False  # whether it shows what the wrong cells of the array should be


class Window:
    """Cells of fixed places that show a part of one array at each step, or nothing."""

    def __init__(
        self, cells: Cells, size: float, palette: Palette, has_pending: bool = False
    ) -> None:
        self.cells, self._size, self._palette = cells, size, palette
        self._has_pending = has_pending
        self._centres = cells.centres()

    def changing(self, content: Content | None) -> list[Trace]:
        """The numbers."""
        if not self._size:
            return []
        texts = pending = [""] * len(self._centres)
        if content is not None:
            texts = self._texts(content, content.texts)
            if content.pending is not None:
                pending = self._texts(content, content.pending)
        traces = [words(self._centres, texts, self._size, self._palette.ink, meta="numbers")]
        if self._has_pending:
            traces.append(
                words(self._centres, pending, self._size, self._palette.faint, meta="numbers")
            )
        return traces

    def shapes(self, content: Content | None) -> list[Shape]:
        """The cells by iteration, those that stand out, and what is accessed."""
        palette, cells = self._palette, self.cells
        whole = torn = touched = focused = unordered = wrong = ""
        fills, lights, borders = [("", 0)] * FILLS, [("", 0)] * LIGHTS, [("", 0)] * LIGHTS
        if content is not None:
            inside = self._mask(content, np.ones(content.lit.size, np.bool_))
            classes = self._window(content, content.iterations, -1)
            stands_out = self._mask(content, content.lit)
            whole, torn = cells.fill(inside), torn_edges(cells, content.start, content.shape)
            fills = self._by_iteration(classes, inside & ~stands_out, FILLS, cells.fill)
            lights = self._by_iteration(classes, inside & stands_out, LIGHTS, cells.fill)
            borders = self._by_iteration(classes, inside & stands_out, LIGHTS, cells.border)
            touched = cells.fill(self._mask(content, content.touched & ~content.focused))
            focused = cells.fill(self._mask(content, content.focused))
            if content.unordered is not None:
                unordered = cells.fill(
                    self._mask(content, chosen(content.shape, content.unordered.tolist()))
                )
            if content.wrong is not None:
                wrong = cells.corners(self._mask(content, content.wrong))
        return [
            outline(whole, palette.line, 0, palette.idle, "below"),
            *(outline(path, palette.line, 0, palette.tiles[i], "below") for path, i in fills),
            *(outline(path, palette.line, 0, lit(palette, i), "below") for path, i in lights),
            *(outline(path, palette.tile_edges[i], 2.5, layer="below") for path, i in borders),
            outline(torn, palette.faint, 1.5, layer="below"),
            outline(touched, palette.ink, 2, layer="below"),
            outline(focused, palette.focus, 4, palette.focus_fill, "below"),
            outline(unordered, palette.focus, 3, dash="dot"),
            outline(wrong, palette.focus, 0, palette.focus),
        ]

    def path_of(self, content: Content, cells: Array) -> str:
        """Some cells of the array, bool and flat, as far as they are in view."""
        return self.cells.fill(self._mask(content, cells))

    def _by_iteration(
        self, classes: Array, within: Array, most: int, draw: Callable[[Array], str]
    ) -> list[tuple[str, int]]:
        """The cells of each colour that there is, as a path and the colour's number.

        Always `most` of them: a window shows few iterations at once.
        """
        count = len(self._palette.tiles)
        colours = np.where(within & (classes >= 0), classes % count, -1)
        found = [i for i in np.unique(colours).tolist() if i >= 0][:most]
        paths = [(draw(colours == i), i) for i in found]
        return [*paths, *[("", 0)] * (most - len(paths))]

    def differing(self, content: Content, other: Content) -> Array:
        """The cells whose text is another than in the other content: bool [rows, columns].

        Sums are compared that go to the same cell of C. Cells that one of both does not have, or
        that hold nothing yet, do not differ.
        """
        found = np.zeros((self.cells.rows, self.cells.columns), np.bool_)
        down, across = (a - b for a, b in zip(content.corner, other.corner, strict=True))
        for row, column in np.ndindex(found.shape):
            mine = _text_at(content, row + content.start[0], column + content.start[1])
            its = _text_at(other, row + content.start[0] + down, column + content.start[1] + across)
            found[row, column] = bool(mine and its) and mine != its
        return found

    def name(self, content: Content, kind: str, letters: Letters, width: float) -> str:
        """The array's name, where it is, and which rows and columns are shown if not all are.

        As much of it as fits into `width` pixels.
        """
        name = f"<b>{content.array.name}</b>"
        (row, column), (rows, columns) = content.start, content.shape
        last_row = min(row + self.cells.rows, rows) - 1
        last_column = min(column + self.cells.columns, columns) - 1
        part = f"{name}[{_range(row, last_row)}][{_range(column, last_column)}]"
        size = f"{rows} × {columns}"
        if rows == 1 and content.array.space is MemorySpace.SHARED:
            part, size = f"{name}[{_range(column, last_column)}]", str(columns)
        texts: tuple[str, ...]
        if content.is_right:
            texts = (f"{part} {kind}", f"{name} {kind}", f"correct {name}")
        elif (last_row - row + 1, last_column - column + 1) == content.shape:
            texts = (f"{name} {kind}", name)
        else:
            texts = (f"{part} of {size}, {kind}", f"{part} of {size}", part, name)
        for text in texts:
            plain = text.replace("<b>", "").replace("</b>", "")
            if text_width(plain, letters.name) <= width:
                return text
        return texts[-1]

    def hit(self, content: Content | None, x: float, y: float) -> Hit | None:
        """The array's cell under a point."""
        at = self.cells.at(x, y)
        if content is None or at is None or content.array.space is MemorySpace.LOCAL:
            return None
        row, column = at[0] + content.start[0], at[1] + content.start[1]
        if row >= content.shape[0] or column >= content.shape[1]:
            return None
        prefix = SHARED if content.array.space is MemorySpace.SHARED else GLOBAL
        index = row if content.upright else row * content.shape[1] + column
        return Hit(prefix + content.array.name, index)

    def focused(self, content: Content | None) -> list[Place]:
        """The cells that the focused thread accesses, as far as they are shown with numbers."""
        if content is None or not self._size:
            return []
        texts, columns = self._texts(content, content.texts), self.cells.columns
        mask = self._mask(content, content.focused)
        return [
            Place(texts[at], self._centres[at], self.cells.box(*divmod(at, columns)), self._size)
            for at in np.flatnonzero(mask).tolist()
        ]

    def _texts(self, content: Content, texts: list[str]) -> list[str]:
        rows, columns = content.shape
        shown = []
        for row in range(content.start[0], content.start[0] + self.cells.rows):
            for column in range(content.start[1], content.start[1] + self.cells.columns):
                inside = row < rows and column < columns
                shown.append(texts[row * columns + column] if inside else "")
        return shown

    def _window(self, content: Content, values: Array, outside: int) -> Array:
        """The window's part of an array's values, `outside` beyond the array."""
        part = np.full((self.cells.rows, self.cells.columns), outside, values.dtype)
        row, column = content.start
        found = values.reshape(content.shape)[
            row : row + self.cells.rows, column : column + self.cells.columns
        ]
        part[: found.shape[0], : found.shape[1]] = found
        return part

    def _mask(self, content: Content, chosen: Array) -> Array:
        return self._window(content, chosen, 0).astype(np.bool_)


Windows = tuple[tuple[Window, Content | None], ...]  # and what each shows at a step


def _text_at(content: Content, row: int, column: int) -> str:
    """The text of an array's cell; "" beyond the array."""
    rows, columns = content.shape
    is_within = 0 <= row < rows and 0 <= column < columns
    return content.texts[row * columns + column] if is_within else ""


def chosen(shape: tuple[int, int], cells: Iterable[int]) -> Array:
    """bool, flat: the cells of an array that are chosen by their numbers."""
    mask = np.zeros(shape[0] * shape[1], np.bool_)
    mask[list(cells)] = True
    return mask


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
