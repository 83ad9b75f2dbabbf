"""The fragments of a warp: the tiles that its lanes hold together for the tensor core.

They are as a product does on a blackboard: b above the sums, a left of them. A number in a cell
is the lane that holds the element; which those are is the hardware's business.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.fragments import Fragment, parse_fragment
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE, format_cell
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.products import multiplication
from ui.analysis.scene_model import outer_iteration
from ui.analysis.variable_values import values_by_step
from ui.drawing.canvas import Shape, Trace, labels, number, outline
from ui.drawing.hit import Hit
from ui.drawing.motions import Box
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import ArrayName
from ui.lecture.cells import Cells
from ui.lecture.letters import text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

STRETCH = 2.2  # of an element, its longer side by its shorter, at most
LABEL = 1.5  # of a name's letter, the line above a tile
GAP = 8.0  # pixels between tiles
LANE_SIZE = 0.92  # of an element's height, a lane's number
LEAST_LANE = 13 / 15  # of a small letter, a lane's number at least
VALUES = 8  # of the focused lane, at most
VALUE_LINE = 1.3  # of their height


@dataclass(frozen=True, slots=True)
class _Held:
    """A fragment that is multiplied, and where its elements are among a variable's."""

    name: str  # the variable: a fragment, or an array of them
    first: int  # the fragment's first element, of those that a lane has of the variable
    fragment: Fragment

    @property
    def elements(self) -> slice:
        """Of those that a lane has of the variable."""
        return slice(self.first, self.first + self.fragment.count)

    def is_accessed(self, access: StepAccess, thread: int) -> bool:
        """Whether an access of a thread is one to the fragment."""
        cell = int(access.offsets[thread]) // access.element_bytes
        return access.name == self.name and access.space is MemorySpace.LOCAL and (
            self.first <= cell < self.first + self.fragment.count
        )  # fmt: skip


class FragmentsStage(StagePanel):
    """The three tiles of the nearest multiplication, element by element, and one lane's values."""

    has_own_sums = True  # many of each thread: nothing flies into a thread's sum

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        self._area = areas.stage
        self._nearest = self._nearest_multiplications()
        names = {held.name for _, three in self._nearest for held in three}
        self._values = {name: values_by_step(model.recording, name) for name in names}
        self._filled = self._first_stores()
        self._cells = place_fragments(
            tuple(held.fragment for held in self._nearest[0][1]), areas.stage, GAP,
            LABEL * letters.name, STRETCH,
        )  # fmt: skip
        self._lanes_of_elements = self._lane_numbers()

    def _nearest_multiplications(self) -> list[tuple[Step, tuple[_Held, ...]]]:
        """For each step the next multiplication, or the last: its step, and a, b and the sums."""
        steps, nearest = self._model.recording.steps, []
        found = [(step, self._held(step)) for step in steps if multiplication(step) is not None]
        at = 0
        for step in steps:
            while at + 1 < len(found) and found[at][0].number < step.number:
                at += 1
            nearest.append(found[at])
        return nearest

    def _held(self, step: Step) -> tuple[_Held, ...]:
        call, held = multiplication(step), []
        assert call is not None
        for access, text in zip(step.accesses, call.texts[1:4], strict=False):
            fragment = parse_fragment(text)
            assert fragment is not None
            cell = int(access.offsets[self._model.thread]) // access.element_bytes
            held.append(_Held(access.name, cell, fragment))
        return tuple(held)

    def _first_stores(self) -> dict[tuple[str, int], int]:
        """The step from which on each fragment holds something, by its variable and element."""
        thread, first = self._model.thread, {}
        held = {(one.name, one.first): one for _, three in self._nearest for one in three}
        for step in self._model.recording.steps:
            for access in step.accesses:
                if access.kind is not AccessKind.LOAD:
                    for key, one in held.items():
                        if key not in first and one.is_accessed(access, thread):
                            first[key] = step.number
        return first

    def _lane_numbers(self) -> list[Trace]:
        """The lane of each element, where that has room."""
        high, wide = self._cells[0].height, self._cells[0].width
        size = min(LANE_SIZE * high, wide / text_width("00", 1))
        if size < LEAST_LANE * self._letters.small:
            return []
        points: list[tuple[float, float]] = []
        texts: list[str] = []
        for cells, held in zip(self._cells, self._nearest[0][1], strict=True):
            points += cells.centres()
            texts += map(str, _lanes(held.fragment).reshape(-1).tolist())
        return [
            labels(points, texts, round(size, 1), self._palette.ink, "middle center", meta="lanes")
        ]

    def changing(self, step: Step) -> list[Trace]:
        """The elements' lanes, the fragments' names, and what the focused lane holds of one."""
        letters, palette = self._letters, self._palette
        names, points = [], []
        for cells, held in zip(self._cells, self._three(step), strict=True):
            size = f" {held.fragment.rows} × {held.fragment.columns}"
            name, width = self._name_of(held), cells.right - cells.left
            if text_width(name, letters.name, True) + text_width(size, letters.name) > width:
                size = ""
            names.append(f"<b>{name}</b>{size}")
            points.append((cells.left, cells.top - 0.6 * letters.name))
        texts, at, height = self._list(step)
        return [
            *self._lanes_of_elements,
            labels(points, names, letters.name, palette.ink),
            labels(at, texts, height, palette.focus, meta="lane"),
        ]

    def _list(self, step: Step) -> tuple[list[str], list[tuple[float, float]], float]:
        """The focused lane's values of the fragment that a step accesses, else of its sums."""
        letters, area, b = self._letters, self._area, self._cells[1]
        free = b.bottom - area.top
        height = max(letters.small, min(letters.number, free / ((VALUES + 1) * VALUE_LINE)))
        count = min(VALUES + 1, int(free / (VALUE_LINE * height)))
        held, columns = self._shown(step), ([""] * count, [""] * count)
        values, half = self._values_of(held, step), (self._cells[0].right - area.left) / 2
        lane = self._model.thread % WARP_SIZE
        if values is not None:
            each = [f"x[{i}] = {number(value)}" for i, value in enumerate(values[lane].tolist())]
            lines = [f"lane {lane} has", *each[: held.fragment.distinct]]
            rest = lines[count:] if max(text_width(one, height) for one in lines) < half else []
            columns = lines[:count], ["", *rest]
        points = [
            (x, area.top + (i + 0.5) * VALUE_LINE * height)
            for x in (area.left, area.left + half) for i in range(count)
        ]  # fmt: skip
        texts = [text for column in columns for text in [*column, *[""] * count][:count]]
        return texts, points, round(height, 1)

    def shapes(self, step: Step) -> list[Shape]:
        """The tiles, filled once they are held, the lane's elements, and what a step accesses."""
        palette = self._palette
        whole = filled = sums = own = touched = ""
        turn = outer_iteration(self._model, self._nearest[step.number][0]) or 0
        lane, shown = self._model.thread % WARP_SIZE, self._accessed(step)
        three = self._three(step)
        for cells, held in zip(self._cells, three, strict=True):
            whole += cells.whole()
            is_filled = self._values_of(held, step) is not None
            if is_filled and held is three[-1]:
                sums += cells.whole()
            elif is_filled:
                filled += cells.whole()
            own += cells.fill(_lanes(held.fragment) == lane)
            if held in shown:
                touched += cells.path(0, 0, cells.rows, cells.columns)
        colour = palette.tiles[turn % len(palette.tiles)]
        return [
            outline(whole, palette.line, 0.7, palette.cell, "below"),
            outline(filled, palette.line, 0.7, colour, "below"),
            outline(sums, palette.line, 0.7, palette.idle, "below"),
            outline(own, palette.focus, 2, palette.focus_fill, "below"),
            outline(touched, palette.ink, 3),
        ]

    def _three(self, step: Step) -> tuple[_Held, ...]:
        return self._nearest[step.number][1]

    def _accessed(self, step: Step) -> list[_Held]:
        """The fragments that a step accesses."""
        thread = self._model.thread
        return [
            held for held in self._three(step)
            if any(held.is_accessed(access, thread) for access in step.accesses)
        ]  # fmt: skip

    def _shown(self, step: Step) -> _Held:
        """The fragment whose values are listed."""
        return next(iter(self._accessed(step)), self._three(step)[-1])

    def _values_of(self, held: _Held, step: Step) -> Array | None:
        """What the lanes of the focused thread's warp hold of a fragment [32, elements], if any."""
        values = self._values[held.name][step.number]
        filled = self._filled.get((held.name, held.first))
        if values is None or filled is None or step.number < filled:
            return None
        first = self._model.thread // WARP_SIZE * WARP_SIZE
        found: Array = values[first : first + WARP_SIZE].reshape(WARP_SIZE, -1)[:, held.elements]
        return found

    def _name_of(self, held: _Held) -> str:
        """A fragment as the source names it: a, or acc[0][1]."""
        values = next((one for one in self._values[held.name] if one is not None), None)
        shape = () if values is None else values.shape[1:-1]
        at = np.unravel_index(held.first // held.fragment.count, shape) if shape else ()
        return format_cell(held.name, at)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The lane that holds an element."""
        first = self._model.thread // WARP_SIZE * WARP_SIZE
        for cells, held in zip(self._cells, self._three(step), strict=True):
            at = cells.at(x, y)
            if at is not None:
                return Hit("thread", first + int(_lanes(held.fragment)[at]))
        return None

    def cell_box(self, step: Step, array: ArrayName, cell: int) -> Box | None:
        """None: no cell of an array is here."""
        return None

    def sum_box(self, step: Step, thread: int) -> Box | None:
        """None: a thread has many sums."""
        return None

    def factor_accesses(self, step: Step) -> list[StepAccess]:
        """None: no thread reads what another holds."""
        return []


def _lanes(fragment: Fragment) -> Array:
    """The lane that holds each element of a tile: int [rows, columns]."""
    lanes = np.zeros((fragment.rows, fragment.columns), np.int64)
    rows, columns = fragment.positions()
    lanes[rows, columns] = np.arange(WARP_SIZE)[:, None]
    return lanes


def place_fragments(
    three: tuple[Fragment, ...], area: Rectangle, across: float, down: float, stretch: float
) -> tuple[Cells, Cells, Cells]:
    """The elements of a, of b and of their sums: as on a blackboard, b above c, a left of it.

    `across` is the pixels from a to the sums; `down` those above b and above the sums, for names;
    an element's longer side is at most `stretch` times its shorter.
    """
    a, b, c = three
    wide = (area.width - across) / (a.columns + c.columns)
    high = (area.height - 2 * down) / (b.rows + c.rows)
    wide, high = min(wide, stretch * high), min(high, stretch * wide)
    left, top = area.left + a.columns * wide + across, area.top + 2 * down + b.rows * high
    return (
        Cells(area.left, top, wide, high, a.rows, a.columns),
        Cells(left, area.top + down, wide, high, b.rows, b.columns),
        Cells(left, top, wide, high, c.rows, c.columns),
    )
