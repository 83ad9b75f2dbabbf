"""The stage of the tensor core: how one instruction adds up a cell, bit by bit.

It shows the focused thread's first element of the accumulator: the sum so far and each product,
aligned to the largest of them, what the alignment cuts off, their sum, and what a float, or a half,
keeps of it.
Above that, or beside it, two whole fragments become a third: the 32 lanes of one warp multiply them
together. Frames show the elements that the focused lane holds of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.fragments import Fragment, parse_fragment
from simulator.language.number_types import OPERANDS
from simulator.language.tree import AddressOf, Call
from simulator.launch import WARP_SIZE
from simulator.machine.tensor_core import FRACTION_BITS, Addition, explain, widen
from ui.analysis.products import multiplication
from ui.analysis.scene_model import outer_iteration
from ui.drawing.canvas import Shape, Trace, labels, outline, words
from ui.drawing.paths import box, head, px
from ui.drawing.sheet import Rectangle
from ui.lecture.cells import Cells
from ui.lecture.fragments_stage import place_fragments
from ui.lecture.layout import Areas
from ui.lecture.letters import MONO_WIDTH, fit, mono_width, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

BITS = 30  # of most instructions' sums
CUT = 5  # bits shown of what is cut, and what stands for more
ROW, LOWEST_ROW = 1.25, 1.1  # of a number's height; the latter where all rows fit so
TALLEST_ROW = 2.4  # of a number's height, where there is room
FIELD = 0.84  # of a row's height, the field behind its bits
STRETCH = 4.0  # of a tile's element, its longer side by its shorter at most
ALL_ROWS = 20  # of the most products that one instruction adds, 16
FEWEST = 8  # rows: with fewer the stage takes the room below the maps
LABEL = "−0.123 × −1.23"  # about the longest of a product
BITS_SHARE = 0.58  # of the height, the rows under the tiles at most
LEAST_TILES = 9.0  # of a small letter, the height of the tiles: with less there are none
GAP = 1.6  # of a small letter, between tiles: an arrow, or a name, stands there
HEAD = 14.0  # pixels, of such an arrow, at most
ARROW_AT = 0.75  # of the width, the one from b to c, beside the name of c
ACROSS = 8  # lanes of the warp in a row
LANES_SHARE = 0.8  # of the corner left of b and above a, the warp in it
EDGE = 2.0  # pixels between the bits and the chip's frame
OTHER_ROWS = 4  # headings, the sum so far, the sum, and what its type keeps


@dataclass(frozen=True, slots=True)
class _Row:
    """A row: what it is, the bits that count, and those that are cut off."""

    label: str
    kept: str = ""
    cut: str = ""
    has_bits: bool = False  # whether it is a number, not words


class TensorStage(StagePanel):
    """A row for each addend of one cell, their bits under each other."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        stage, maps = areas.whole_stage, areas.corner
        gap = letters.name
        at_right = Rectangle(maps.right + 1.5 * gap, stage.top, stage.right, stage.bottom)
        # Without a product there are no maps, and their place is free.
        taken = stage.top if model.product is None else maps.bottom + gap
        below = Rectangle(stage.left, taken, stage.right, stage.bottom)
        if areas.chip is not None:  # the bits need all of its width
            left, right = areas.chip.left + EDGE, areas.chip.right - EDGE
            rows = max(
                min(self._rows_needed() * ROW * letters.number, BITS_SHARE * stage.height),
                FEWEST * LOWEST_ROW * letters.number,
            )
            if stage.height - rows < LEAST_TILES * letters.small:
                rows = stage.height
            below = Rectangle(left, stage.bottom - rows, right, stage.bottom)
        needed = text_width(LABEL, letters.small) + mono_width(BITS + CUT + 1, letters.small)
        is_at_right = at_right.width >= needed and areas.chip is None
        self._area = at_right if is_at_right else below
        self._tiles = self._place_tiles(areas, taken, is_at_right)
        each = self._area.height / self._rows_needed()
        self._row = min(each, TALLEST_ROW * letters.number)
        if each < LOWEST_ROW * letters.number:  # not all have room
            self._row = ROW * letters.number
        self._count = max(FEWEST, int(self._area.height / self._row + 0.01))
        label = text_width(LABEL, letters.small) + 0.5 * letters.small
        for_bits = (self._area.width - label) / ((BITS + CUT) * MONO_WIDTH)
        self._size = min(letters.number, for_bits)
        self._line = self._area.right - mono_width(CUT, self._size)  # right of the last kept bit

    def _place_tiles(self, areas: Areas, taken: float, is_at_right: bool) -> Rectangle | None:
        """Where the tiles are: under the maps, or above the bits where maps have another place."""
        gap, stage, corner = self._letters.name, areas.whole_stage, areas.corner
        if areas.chip is not None:
            tiles = replace(stage, bottom=self._area.top - gap)
            return tiles if tiles.height > 0 else None
        return Rectangle(corner.left, taken, corner.right, stage.bottom) if is_at_right else None

    def changing(self, step: Step) -> list[Trace]:
        """The rows' names, the bits that count, and the bits that are cut off."""
        rows = self._rows(step)
        rows += [_Row("")] * (self._count - len(rows))
        heights = [self._area.top + (i + 0.5) * self._row for i in range(len(rows))]
        terms, kept, cut = zip(*((row.label, row.kept, row.cut) for row in rows), strict=True)
        names, points = self._names(step)
        small, ink = self._letters.small, self._palette.ink
        return [
            labels(points, names, small, ink),
            labels([(self._area.left, y) for y in heights], terms, small, ink),
            words([(self._line, y) for y in heights], kept, self._size, self._palette.ink,
                  "middle left"),
            words([(self._line, y) for y in heights], cut, self._size, self._palette.number,
                  "middle right"),
        ]  # fmt: skip

    def _names(self, step: Step) -> tuple[list[str], list[tuple[float, float]]]:
        """Who multiplies, above the warp's lanes, and the names of the tiles; nothing elsewhere."""
        call = next(filter(None, map(multiplication, self._model.recording.steps)), None)
        if self._tiles is None or call is None:
            return [""], [(self._area.left, self._area.top)]
        texts = [f"warp {self._model.thread // WARP_SIZE}: {WARP_SIZE} lanes"]
        half = 0.5 * GAP * self._letters.small
        points = [(self._tiles.left, self._tiles.top + half)]
        for name, (cells, _) in zip("abc", self._place_fragments(call), strict=True):
            texts.append(f"<b>{name}</b> {cells.rows} × {cells.columns}")
            points.append((cells.left, cells.top - half))
        return texts if multiplication(step) is not None else [""] * len(texts), points

    def _place_fragments(self, call: Call) -> list[tuple[Cells, Fragment]]:
        """The cells of a, b and the sums, and these fragments."""
        found = (parse_fragment(call.texts[number]) for number in (1, 2, 3))
        three = tuple(one for one in found if one is not None)
        gap = GAP * self._letters.small
        cells = place_fragments(three, self._tiles or self._area, gap, gap, STRETCH)
        return list(zip(cells, three, strict=True))

    def shapes(self, step: Step) -> list[Shape]:
        """The line after which bits are cut off, and above it the tiles, of which two make one.

        Of the tiles also the row and the column whose products are added up, and what is in the
        focused thread's lane.
        """
        palette, call = self._palette, multiplication(step)
        turn = outer_iteration(self._model, step) or 0
        kept, cut = self._draw_fields(step)
        shapes = [
            outline(kept, palette.line, 0, palette.idle, "below"),
            outline(cut, palette.line, 0, palette.cell, "below"),
            outline("" if call is None else
                    f"M{self._line:.1f},{self._area.top:.1f}V{self._area.bottom:.1f}",
                    palette.focus, 1.5),
        ]  # fmt: skip
        tiles = [] if call is None or self._tiles is None else self._place_fragments(call)
        factors, sums, lines, lanes, own, arrows, frames, taken, held = (
            self._draw_tiles(tiles) if tiles else [""] * 9
        )
        return [
            *shapes,
            outline(factors, palette.line, 0, palette.tiles[turn % len(palette.tiles)], "below"),
            outline(sums, palette.line, 0, palette.done, "below"),
            outline(lines, palette.paper, 0.7, layer="below"),
            outline(lanes, palette.near, 1, palette.number, "below"),
            outline(own, palette.focus, 3),
            outline(arrows, palette.ink, 4),
            outline(frames, palette.ink, 3),
            outline(taken, palette.ink, 1.5),
            outline(held, palette.focus, 0, palette.focus),
        ]

    def _draw_tiles(self, tiles: list[tuple[Cells, Fragment]]) -> tuple[str, ...]:
        """Paths: factors, sums, lines between elements, the warp's lanes, the focused one, arrows.

        Then frames of the tiles, the row and the column that are multiplied for the lane's first
        sum, and the elements that the lane holds.
        """
        (a, _), (b, _), (c, sums) = tiles
        area, lane = self._tiles or self._area, self._model.thread % WARP_SIZE
        warp = Cells(
            area.left, b.top, LANES_SHARE * a.columns * a.width / ACROSS,
            (b.bottom - b.top) / (WARP_SIZE // ACROSS), WARP_SIZE // ACROSS, ACROSS,
        )  # fmt: skip
        arrows = ""
        for start, end in (
            ((a.right, (a.top + a.bottom) / 2), (c.left, (c.top + c.bottom) / 2)),
            (
                (b.left + ARROW_AT * (b.right - b.left), b.bottom),
                (c.left + ARROW_AT * (c.right - c.left), c.top),
            ),
            ((warp.right, warp.bottom), (c.left, c.top)),
        ):
            length = min(HEAD, 0.6 * (c.left - a.right))
            arrows += "M{},{}L{},{}".format(*map(px, (*start, *end)))
            arrows += head(*start, *end, length)
        held = ""
        for cells, fragment in tiles:
            places = zip(*(each[lane].tolist() for each in fragment.positions()), strict=True)
            held += "".join(cells.path(i, j) for i, j in sorted(set(places)))
        rows, columns = sums.positions()
        row, column = int(rows[lane, 0]), int(columns[lane, 0])
        return (
            a.path(0, 0, a.rows, a.columns) + b.path(0, 0, b.rows, b.columns),
            c.path(0, 0, c.rows, c.columns), a.lines() + b.lines() + c.lines(),
            "".join(warp.path(*divmod(i, ACROSS)) for i in range(WARP_SIZE)),
            warp.path(*divmod(lane, ACROSS)), arrows,
            "".join(cells.path(0, 0, cells.rows, cells.columns) for cells, _ in tiles),
            a.path(row, 0, 1, a.columns) + b.path(0, column, b.rows, 1), held,
        )  # fmt: skip

    def _draw_fields(self, step: Step) -> tuple[str, str]:
        """Paths: behind each row the bits that an instruction's sum has, and those that are cut."""
        kept = cut = ""
        left, right = self._line - mono_width(BITS, self._size), self._area.right
        for i, row in enumerate(self._rows(step)[: self._count]):
            middle, half = self._area.top + (i + 0.5) * self._row, 0.5 * FIELD * self._row
            if row.has_bits:
                kept += box(left, middle - half, self._line, middle + half)
                cut += box(self._line, middle - half, right, middle + half)
        return kept, cut

    def _rows_needed(self) -> int:
        """The rows of the first instruction's sum; ALL_ROWS if nothing is added up."""
        for step in self._model.recording.steps:
            call = multiplication(step)
            found = None if call is None else self._addition(step, call)
            if found is not None:
                return OTHER_ROWS + len(found[0].addends) - 1
        return ALL_ROWS

    def _rows(self, step: Step) -> list[_Row]:
        call = multiplication(step)
        if call is None:
            return self._sentence("Nothing is multiplied on the tensor core here.")
        found = self._addition(step, call)
        if found is None:
            return self._sentence("An operand is infinite or NaN: nothing is aligned.")
        addition, factors, type_name = found
        first, *products = addition.addends
        shown = products[: self._count - OTHER_ROWS]
        if len(shown) < len(products):
            shown = shown[:-1]
        rows = [
            _Row("one instruction", f"in units of 2^{addition.exponent - FRACTION_BITS}", " cut"),
            _row(f"so far {_short(first.value)}", first.aligned, first.cut, addition),
        ]
        for addend, (a, b) in zip(shown, factors, strict=False):
            label = f"{_short(a)} × {_short(b)}"
            rows.append(_row(label, addend.aligned, addend.cut, addition))
        if len(shown) < len(products):
            rows.append(_Row(f"and {len(products) - len(shown)} more"))
        rows.append(_row("their sum", addition.total, 0.0, addition))
        result = float(addition.result)
        label = f"as {type_name} {_short(result)}"
        if math.isinf(result):
            return [*rows, _Row(label)]
        return [*rows, _row(label, int(result / addition.unit), 0.0, addition)]

    def _sentence(self, sentence: str) -> list[_Row]:
        width = self._area.width
        return [_Row(line) for line in fit((sentence,), self._letters.number, width, 2)]

    def _addition(
        self, step: Step, call: Call
    ) -> tuple[Addition, list[tuple[float, float]], str] | None:
        """The first instruction of the thread's x[0], its factors, and the name of its sum's type.

        None if an operand is not finite.
        """
        thread = self._model.thread
        first = thread // WARP_SIZE * WARP_SIZE
        tiles = []
        for number in (1, 2, 3):
            fragment = parse_fragment(call.texts[number])
            pointer = call.arguments[number]
            assert fragment is not None
            assert isinstance(pointer, AddressOf)
            access = next(each for each in step.accesses if each.expression is pointer.lvalue)
            tiles.append((fragment, access.values[first : first + WARP_SIZE]))
        (a, a_values), (b, b_values), (c, c_values) = tiles
        rows, columns = c.positions()
        lane = thread - first
        row, column = int(rows[lane, 0]), int(columns[lane, 0])
        operand = OPERANDS[a.operand]
        (a_rows, a_columns), (b_rows, b_columns) = a.positions(), b.positions()
        left = _line_of(a_rows, a_columns, row, a_values)
        right = _line_of(b_columns, b_rows, column, b_values)
        try:
            addition, *_ = explain(left, right, c_values[lane, 0], operand)
        except ValueError:
            return None
        factors = zip(widen(left, operand).tolist(), widen(right, operand).tolist(), strict=True)
        return addition, list(factors), c.operand


def _line_of(across: Array, along: Array, wanted: int, values: Array) -> Array:
    """A row or a column of a tile, from the elements [32, count] of its warp's lanes.

    across tells in which row, or column, each element is; along, its place within it.
    """
    chosen = across == wanted
    line = np.zeros(int(along.max()) + 1, values.dtype)
    line[along[chosen]] = values[chosen]
    return line


def _short(value: float) -> str:
    """A number with three digits."""
    return f"{value:.3g}".replace("-", "−")


def _row(label: str, aligned: int, cut: float, addition: Addition) -> _Row:
    """The bits of an addend: those in whole units, and of the rest the first few."""
    sign = "−" if aligned < 0 or (not aligned and cut < 0) else ""
    kept = f"{sign}{abs(aligned):b}" if aligned or cut else "0"
    rest = abs(cut) / addition.unit
    bits = ""
    while rest and len(bits) < CUT - 1:
        rest *= 2
        bits += "1" if rest >= 1 else "0"
        rest -= rest >= 1
    return _Row(label, kept, bits + ("…" if rest else ""), has_bits=True)
