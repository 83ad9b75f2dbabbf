"""Tiles of shared memory that take turns: which one is multiplied, and which is being filled.

Each turn is a row: its tile of A and of B, small and without numbers. What an asynchronous copy
brings is on the border of the chip until somebody waits for it; its cells in shared memory are
empty so long. From the row whose tiles are multiplied an arrow leads on to the registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from ui.analysis.async_copies import copied_from, copies_under_way
from ui.analysis.flat_tiles import places_of_tiles
from ui.analysis.products import has_tensor_core
from ui.analysis.scene_model import SceneModel, cells_of, follows_products, multiplied_tile
from ui.analysis.tiles_of_k import waits_for_copies
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.hit import SHARED, Hit
from ui.drawing.motions import Box, Light, Motion
from ui.drawing.paths import px
from ui.lecture.arrays import SPACE_NAMES, ArrayName
from ui.lecture.cells import Cells
from ui.lecture.colours import mix
from ui.lecture.global_memory import PAST
from ui.lecture.layout import Areas
from ui.lecture.letters import text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

MOST_TURNS = 4  # of a shared array: with more planes it is no tile that takes turns
FACTORS = 2  # the arrays that are drawn: A's and B's
TITLE = 1.6  # of a name's letter, the line with the names above the rows
LINE = 1.3  # of a small letter, from a row's first line to its second
LEAST_ROW = 2.3  # of a small letter, a row that leaves room for the names above all
ASIDE = 1.4  # of a name's letter, the room of an arrow, and of the cross between two tiles
ROW_GAP = 8.0  # pixels between two rows
WIDEST = 8.0  # of its height, a cell's width
LARGEST = 16.0  # pixels of a cell's height
CROSS = 0.3  # of a name's letter, from the middle of the cross to its ends
HALF = 1.25  # of a name's letter, the widest tile on the border, on either side of it
HEAD = 7.0  # pixels, of an arrow's head
ON_ITS_WAY, FILLED, READY, MULTIPLIED, USED = (
    "on its way", "being filled", "ready", "multiplied", "used"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _State:
    """What is in the rows at a step. Two steps with equal arrays look alike."""

    held: tuple[Array, ...]  # by array: int [cells], the tile of each value, -1 for none
    copied: tuple[Array, ...]  # by array: int [cells], the tile under way into each, -1 for none
    current: int | None  # the tile that is multiplied
    last: int  # of the tiles that were multiplied before

    def is_like(self, other: _State) -> bool:
        """Whether both are the same."""
        arrays = zip((*self.held, *self.copied), (*other.held, *other.copied), strict=True)
        return (self.current, self.last) == (other.current, other.last) and all(
            one is same for one, same in arrays
        )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A state's shapes, on the chip and on its border, and each row's words."""

    state: _State
    near: list[Shape]
    border: list[Shape]
    texts: list[tuple[str, str]]  # of each row


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Tiles of a shared array that take turns."""

    array: str
    name: str  # as it is shown
    matrix: str  # they are its tiles; "" where copies tell
    cells: Array  # int [turns, rows, columns], the array's cell of each element, -1 for none


@dataclass(frozen=True, slots=True)
class OnBorder:
    """A tile that is under way."""

    matrix: str  # its source
    tile: int  # counted along K from 0
    box: Box


class BuffersStage(StagePanel):
    """A row for each turn, and what is on its way into it."""

    def __init__(self, context: PanelContext, turns: tuple[Turns, ...]) -> None:
        """turns are those of tiles_in_turns; the areas have a strip for them."""
        model = context.model
        self._model, self._palette, self._letters = model, context.palette, context.letters
        self._reader, self._names = context.reader, [one.name for one in turns]
        self._arrays = [ArrayName(one.array, MemorySpace.SHARED) for one in turns]
        self._cells_of = [one.cells for one in turns]
        self._shapes_of = [one.cells.shape for one in turns]
        self._at = [
            {int(one.cells[place]): place for place in np.ndindex(one.cells.shape)} for one in turns
        ]
        self._turns = max(turns for turns, *_ in self._shapes_of)
        self._under_way = copies_under_way(model)
        copied = copied_from(model.recording)
        self._sources = [one.matrix or copied.get(one.array, "") for one in turns]
        self._drawn: _Drawn | None = None
        self._place(context.areas)

    def _place(self, areas: Areas) -> None:
        """Find where each row, its tiles, and those on the border are."""
        letters, area = self._letters, areas.buffers
        assert area is not None
        aside, small, half = ASIDE * letters.name, letters.small, HALF * letters.name
        title = TITLE * letters.name
        if (area.height - title) / self._turns - ROW_GAP < LEAST_ROW * small:
            title = 0.0
        self._title = (area.left, area.top + 0.4 * title) if title else None
        top, each = area.top + title, (area.height - title) / self._turns
        height = each - ROW_GAP
        border = area.left + half
        self._is_above = areas.far is not None
        self.has_border = False
        if areas.far is not None and areas.chip is not None:
            self.has_border = areas.far.right <= areas.chip.left
            border = (areas.far.right + areas.chip.left) / 2 if self.has_border else border
        left = border + half + aside
        self._lines = min(2, int(each / (LINE * small)))
        text = max(text_width(word, small) for word in (ON_ITS_WAY, FILLED, MULTIPLIED))
        text = text if self._lines else 0.0
        end = area.right - text - aside - 4
        across = sum(columns for _, _, columns in self._shapes_of)
        cross = aside * (len(self._arrays) - 1)
        tall = min(LARGEST, height / max(rows for _, rows, _ in self._shapes_of))
        wide = min(WIDEST * tall, max(20.0, end - left - cross) / across)
        self._border, self._elbow = border, left + across * wide + cross + 0.5 * aside
        self._text = self._elbow + 0.5 * aside + 4
        self._out = area.bottom - 2 if self._is_above else area.top + 2
        self._tiles: list[list[Cells]] = []  # by array, then by turn
        x = left
        for _, rows, columns in self._shapes_of:
            self._tiles.append([
                Cells(x, top + turn * each + (height - rows * tall) / 2, wide, tall, rows, columns)
                for turn in range(self._turns)
            ])  # fmt: skip
            x += columns * wide + aside
        self._middles = [top + turn * each + height / 2 for turn in range(self._turns)]
        self._on_border = self._place_border(half, height)

    def _place_border(self, half: float, height: float) -> list[list[Cells]]:
        """The tiles on the border beside each row, one under another: by array, then by turn."""
        gap = 3.0
        wide = 2 * half / max(columns for _, _, columns in self._shapes_of)
        tall = min(
            (height - gap) / sum(rows for _, rows, _ in self._shapes_of), max(2 * wide, LARGEST / 3)
        )
        high = tall * sum(rows for _, rows, _ in self._shapes_of) + gap * (len(self._arrays) - 1)
        found, down = [], -high / 2
        for _, rows, columns in self._shapes_of:
            found.append([
                Cells(self._border - columns * wide / 2, y + down, wide, tall, rows, columns)
                for y in self._middles
            ])  # fmt: skip
            down += rows * tall + gap
        return found

    def changing(self, step: Step) -> list[Trace]:
        """The arrays' names, and what becomes of each row's tile."""
        letters, palette = self._letters, self._palette
        first = LINE * letters.small * (1 - self._lines) / 2
        points = [
            (self._text, y + first + LINE * letters.small * line)
            for y in self._middles for line in range(self._lines)
        ]  # fmt: skip
        # Where there is one line, what becomes of a tile matters more than its number.
        texts = [text for pair in self._draw(step).texts for text in pair[2 - self._lines :]]
        traces = [labels(points, texts, letters.small, palette.ink)]
        if self._title is not None:
            names = " × ".join(f"<b>{name}</b>" for name in self._names)
            text = f"{names} {SPACE_NAMES[MemorySpace.SHARED]}"
            traces.append(labels([self._title], [text], letters.name, palette.ink))
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """The rows, what the step reads or writes, and where no frame is, what is on its way."""
        drawn, palette = self._draw(step), self._palette
        touched, own = self._touched(step)
        return [
            *drawn.near,
            *([] if self.has_border else [self._chip_edge(), *drawn.border]),
            outline(touched, palette.ink, 1.5),
            outline(own, palette.focus, 2.5),
        ]

    def _chip_edge(self) -> Shape:
        """The border of the chip, where no frame is around it."""
        x, tiles = self._border, self._tiles[0]
        path = f"M{px(x)},{px(tiles[0].top)}V{px(tiles[-1].bottom)}"
        return outline(path, self._palette.line, 1.5)

    def border_shapes(self, step: Step) -> list[Shape]:
        """The tiles on the border, and arrows from there to where they will be."""
        return self._draw(step).border

    def under_way(self, step: Step) -> list[list[OnBorder]]:
        """The tiles on the border beside each row."""
        contents = self._under_way[step.number]
        found: list[list[OnBorder]] = [[] for _ in range(self._turns)]
        for array, places, matrix, on_border in zip(
            self._arrays, self._cells_of, self._sources, self._on_border, strict=True
        ):
            tiles = _values_at(contents[array.name], places).reshape(len(places), -1)
            tiles = tiles.max(axis=1, initial=-1).tolist()
            for turn, (tile, cells) in enumerate(zip(tiles, on_border, strict=True)):
                if tile >= 0:
                    place = cells.box(0, 0, cells.rows, cells.columns)
                    found[turn].append(OnBorder(matrix, tile, place))
        return found

    def border_box(self, name: str, cell: int) -> Box | None:
        """Where on the border a value is that is copied into a cell; None if not drawn."""
        return self._box(self._on_border, name, cell)

    def cell_box(self, name: str, cell: int) -> Box | None:
        """Where a cell of shared memory is; None if it is not drawn."""
        return self._box(self._tiles, name, cell)

    def _box(self, tiles: list[list[Cells]], name: str, cell: int) -> Box | None:
        for array, places, by_turn in zip(self._arrays, self._at, tiles, strict=True):
            if array.name == name and cell in places:
                turn, row, column = places[cell]
                return by_turn[turn].box(row, column)
        return None

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The cell of a tile."""
        for array, places, by_turn in zip(self._arrays, self._cells_of, self._tiles, strict=True):
            for turn, cells in enumerate(by_turn):
                at = cells.at(x, y)
                if at is not None and places[turn, *at] >= 0:
                    return Hit(SHARED + array.name, int(places[turn, *at]))
        return None

    def motions(self, step: Step) -> list[Motion]:
        """The tiles that arrive where they are waited for."""
        if not waits_for_copies(step.statement):
            return []
        arrived: dict[Box, None] = {}
        for access in step.accesses:
            for array, places, by_turn in zip(
                self._arrays, self._cells_of, self._tiles, strict=True
            ):
                if access.name == array.name and access.kind is AccessKind.STORE:
                    for cells, own in zip(by_turn, places, strict=True):
                        if np.isin(own, cells_of(access)).any():
                            arrived[cells.box(0, 0, cells.rows, cells.columns)] = None
        return [Light(box, 0, 1) for box in arrived]

    def _state(self, step: Step) -> _State:
        contents = self._under_way[step.number]
        current = multiplied_tile(self._model, step)
        done = self._model.tile_count if follows_products(self._model, step) else 0
        return _State(
            tuple(self._reader.iterations(step, array) for array in self._arrays),
            tuple(contents[array.name] for array in self._arrays),
            current, done if current is None else current,
        )  # fmt: skip

    def _draw(self, step: Step) -> _Drawn:
        """What is there at a step; many steps in sequence look alike."""
        state = self._state(step)
        if self._drawn is None or not self._drawn.state.is_like(state):
            self._drawn = self._build(state)
        return self._drawn

    def _build(self, state: _State) -> _Drawn:
        palette = self._palette
        held, copied = (
            [_values_at(values, places) for values, places in
             zip(found, self._cells_of, strict=True)]
            for found in (state.held, state.copied)
        )  # fmt: skip
        whole = read = cross = leads = ""
        fills: list[Shape] = []
        waited: list[Shape] = []
        on_border: list[Shape] = []
        texts: list[tuple[str, str]] = []
        for turn in range(self._turns):
            fresh = old = dashes = arriving = around = ""
            coming = max(int(array[turn].max(initial=-1)) for array in copied)
            tile = -1
            for cells, far, values, under_way in zip(
                (tiles[turn] for tiles in self._tiles), (tiles[turn] for tiles in self._on_border),
                (array[turn] for array in held), (array[turn] for array in copied), strict=True,
            ):  # fmt: skip
                is_copied = under_way >= 0
                there = (values >= 0) & ~is_copied
                is_new = there & (values >= state.last)
                tile = max(tile, int(values[there].max(initial=-1)))
                whole += cells.path(0, 0, cells.rows, cells.columns)
                fresh += cells.fill(is_new)
                old += cells.fill(there & ~is_new)
                if state.current is not None:
                    read += cells.border(there & (values == state.current))
                dashes += cells.border(is_copied)
                arriving += far.fill(is_copied)
                around += far.border(is_copied)
            is_whole = all((array[turn] == tile).any() for array in held)
            texts.append(_words(tile, coming, is_whole, state))
            if tile == state.current and coming < 0 and is_whole:
                cross += self._cross(turn)
                leads += self._arrow_out(turn)
            colour = palette.tiles[tile % len(palette.tiles)]
            edge, new = palette.tile_edge(coming), palette.tiles[coming % len(palette.tiles)]
            fills += [
                outline(fresh, palette.line, 0, colour, "below"),
                outline(old, palette.line, 0, mix(palette.cell, colour, PAST), "below"),
            ]
            waited.append(outline(dashes, edge, 2, dash="dot"))
            on_border += [
                outline(arriving, edge, 0, new),
                outline(around + (self._arrow_in(turn) if coming >= 0 else ""), edge, 2),
            ]
        lit = palette.tile_edge(state.current or 0)
        return _Drawn(
            state,
            [
                outline(whole, palette.line, 1, palette.cell, "below"), *fills,
                outline(read, lit, 3), *waited,
                outline(cross, palette.ink, 2.5), outline(leads, palette.ink, 2),
            ],
            on_border, texts,
        )  # fmt: skip

    def _cross(self, turn: int) -> str:
        """The sign of a product between the row's tiles."""
        if len(self._arrays) < FACTORS:
            return ""
        x = (self._tiles[0][turn].right + self._tiles[1][turn].left) / 2
        y, half = self._middles[turn], CROSS * self._letters.name
        return (
            f"M{px(x - half)},{px(y - half)}L{px(x + half)},{px(y + half)}"
            f"M{px(x - half)},{px(y + half)}L{px(x + half)},{px(y - half)}"
        )

    def _arrow_in(self, turn: int) -> str:
        """From the border to the row."""
        y, end = self._middles[turn], self._tiles[0][turn].left - 2
        start = max(tiles[turn].right for tiles in self._on_border) + 3
        return (
            f"M{px(start)},{px(y)}H{px(end)}"
            f"M{px(end - HEAD)},{px(y - HEAD)}L{px(end)},{px(y)}L{px(end - HEAD)},{px(y + HEAD)}"
        )

    def _arrow_out(self, turn: int) -> str:
        """From the row on to the registers."""
        x, end = self._elbow, self._out
        neck = end - HEAD if self._is_above else end + HEAD
        return (
            f"M{px(self._tiles[-1][turn].right + 3)},{px(self._middles[turn])}H{px(x)}V{px(end)}"
            f"M{px(x - HEAD)},{px(neck)}L{px(x)},{px(end)}L{px(x + HEAD)},{px(neck)}"
        )

    def _touched(self, step: Step) -> tuple[str, str]:
        """The cells that a step reads or writes in shared memory, and the focused thread's."""
        touched = own = ""
        for access in step.accesses:
            for array, places, by_turn in zip(
                self._arrays, self._cells_of, self._tiles, strict=True
            ):
                if access.name != array.name or access.space is not MemorySpace.SHARED:
                    continue
                if waits_for_copies(step.statement):
                    continue
                for turn, cells in enumerate(by_turn):
                    for numbers, is_own in (
                        (cells_of(access), False), (cells_of(access, self._model.thread), True)
                    ):  # fmt: skip
                        mask = np.isin(places[turn], numbers)
                        path = cells.border(mask) if mask.any() else ""
                        if is_own:
                            own += path
                        else:
                            touched += path
        return touched, own


def _words(tile: int, coming: int, is_whole: bool, state: _State) -> tuple[str, str]:
    """Which tile a row has, and what becomes of it; nothing of an empty row.

    is_whole is whether all of its arrays have the tile.
    """
    if coming >= 0:
        return f"tile {coming + 1}", ON_ITS_WAY
    if tile < 0:
        return "", ""
    what = (
        USED if tile < state.last else FILLED if not is_whole
        else MULTIPLIED if tile == state.current else READY
    )  # fmt: skip
    return f"tile {tile + 1}", what


def _planes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """How many tiles an array has, and the rows and columns of each."""
    turns, rows, columns = shape if len(shape) == 3 else (1, *shape)
    return turns, rows, columns


def tiles_in_turns(model: SceneModel) -> tuple[Turns, ...]:
    """The shared arrays of which the block has several tiles, or that asynchronous copies fill.

    The first two of them, which have the same number of tiles; of an array of one dimension the
    tiles of A and of B that lie there. None of a kernel that multiplies no matrices.
    """
    if model.product is None:
        return ()
    copied = copied_from(model.recording)
    found = [
        Turns(name, name, "", np.arange(math.prod(shape)).reshape(_planes(shape)))
        for name, shape in model.shared_shapes.items()
        if (len(shape) == 3 and 1 < shape[0] <= MOST_TURNS) or (len(shape) == 2 and name in copied)
    ]
    if not found and has_tensor_core(model.recording) and model.tiles_of_k is not None:
        places = places_of_tiles(model.recording, model.product, model.tiles_of_k.depth)
        found = [
            Turns(array, f"{matrix}'s tiles", matrix, cells)
            for (array, matrix), cells in sorted(places.items(), key=lambda one: one[0][1])
            if len(cells) <= MOST_TURNS
        ]
    return tuple(one for one in found if len(one.cells) == len(found[0].cells))[:FACTORS]


def _values_at(values: Array, places: Array) -> Array:
    """The values of an array's cells where its tiles have them: -1 where none is copied."""
    found: Array = np.where(places >= 0, values[places], -1)
    return found
