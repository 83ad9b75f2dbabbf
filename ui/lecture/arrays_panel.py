"""The arrays of a kernel that multiplies no matrices: what they hold, and what a step touches."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from ui.analysis.scene_model import SceneModel
from ui.analysis.wrong_access import Fault
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.hit import GLOBAL, SHARED, Hit
from ui.drawing.motions import Motion, fly
from ui.drawing.palette import Palette
from ui.drawing.sheet import Rectangle
from ui.lecture.array_layout import HEADS, LABEL, Drawn, Place, place_arrays
from ui.lecture.arrays import SPACE_NAMES, ArrayName, ArrayReader, array_of
from ui.lecture.cells import window_start
from ui.lecture.letters import Letters, cut_name, text_width
from ui.lecture.stage_panel import StagePanel
from ui.lecture.window import Content, Window, Windows, chosen


class ArraysPanel(StagePanel):
    """Each array in a grid of its own: one row in rows of a readable width, a struct a row.

    A value is marked in the step that reads or writes it, for the block's threads and for the
    focused one; so is what the block has stored. Of an array that is too large for its numbers a
    window follows the focused thread, and a small picture of all its cells is above.
    """

    def __init__(
        self, model: SceneModel, palette: Palette, letters: Letters, area: Rectangle,
        reader: ArrayReader, spaces: tuple[MemorySpace, ...],
    ) -> None:  # fmt: skip
        self._model, self._palette, self._letters = model, palette, letters
        self._reader, self._area = reader, area
        arrays = [
            Drawn(array, reader.shape(array), reader.longest(array), _names(reader, array))
            for array in shown_arrays(model) if array.space in spaces
        ]  # fmt: skip
        self._places, self._maps = place_arrays(arrays, area, letters)
        self._views = [Window(place.cells, place.letters, palette) for place in self._places]
        self._dots = [Window(place.cells, 0.0, palette) for place in self._maps]
        self._anchors = {place.array: self._last_touched(place.array) for place in self._places}
        self._left_out = len(arrays) - len(self._places)

    def changing(self, step: Step) -> list[Trace]:
        """Numbers, names with what is in view, and the number of each row's first element."""
        contents = [self._content(step, place) for place in self._places]
        shown = list(zip(self._places, contents, strict=True))
        traces = [
            self._map_names(),
            self._array_names(step, shown),
            self._row_numbers(shown),
            self._member_names(shown),
        ]
        for window, content in zip(self._views, contents, strict=True):
            traces += window.changing(content)
        return [*traces, self._missing()]

    def _map_names(self) -> Trace:
        """The name beside each small picture."""
        small = self._letters.small
        points = [(one.cells.left, one.cells.top - 0.75 * small) for one in self._maps]
        names = [cut_name(one.array.name, small, one.right - one.cells.left) for one in self._maps]
        return labels(points, names, small, self._palette.ink)

    def _array_names(self, step: Step, shown: list[tuple[Place, Content]]) -> Trace:
        """The name of each array, with what is in view."""
        letters = self._letters
        points = [
            (
                place.cells.left,
                place.cells.top
                - 0.5 * LABEL * letters.name
                - (HEADS * letters.small if place.members else 0),
            )
            for place, _ in shown
        ]
        names = [self._name(step, place, content) for place, content in shown]
        return labels(points, names, letters.name, self._palette.ink)

    def _row_numbers(self, shown: list[tuple[Place, Content]]) -> Trace:
        """The number of the first element of each row, where an array is drawn in several."""
        rows = [
            (place, content, row)
            for place, content in shown if place.is_wrapped
            for row in range(place.cells.rows)
        ]  # fmt: skip
        points = [
            (place.cells.left - 4, place.cells.top + (row + 0.5) * place.cells.height)
            for place, _, row in rows
        ]
        numbers = [
            str((content.start[0] + row) * (1 if place.members else place.shape[1]))
            for place, content, row in rows
        ]
        small, faint = self._letters.small, self._palette.faint
        return labels(points, numbers, small, faint, "middle left")

    def _member_names(self, shown: list[tuple[Place, Content]]) -> Trace:
        """The name of each column of an array of structs."""
        small = self._letters.small
        heads = [
            (place, content, column)
            for place, content in shown if place.members
            for column in range(place.cells.columns)
        ]  # fmt: skip
        points = [
            (place.cells.left + (column + 0.5) * place.cells.width,
             place.cells.top - 0.5 * HEADS * small)
            for place, _, column in heads
        ]  # fmt: skip
        texts = [
            cut_name(place.members[content.start[1] + column], small, place.cells.width)
            for place, content, column in heads
        ]
        return labels(points, texts, small, self._palette.faint, "middle center")

    def _missing(self) -> Trace:
        """How many arrays have no room, or that there are none."""
        missing = f"and {self._left_out} more" if self._left_out > 0 else ""
        if not self._places:
            missing = "no arrays in this memory"
        small = self._letters.small
        point = (self._area.left, self._area.bottom - 0.5 * small)
        return labels([point], [missing], small, self._palette.faint)

    def shapes(self, step: Step) -> list[Shape]:
        """The cells: those that the block has stored, that are touched, and that are wrong."""
        palette = self._palette
        drawn: list[Shape] = []
        for windows, places in ((self._dots, self._maps), (self._views, self._places)):
            for window, place in zip(windows, places, strict=True):
                content = self._content(step, place)
                cells = np.arange(place.shape[0] * place.shape[1]) < place.size
                whole = window.path_of(content, cells)
                _, *others = window.shapes(content)
                stored = self._stored(step, place)
                path = "" if stored is None else window.path_of(content, stored)
                drawn += [
                    outline(whole, palette.line, 0, palette.idle, "below"),
                    outline(path, palette.line, 0, palette.done, "below"),
                    *others,
                ]
        return drawn

    def motions(self, step: Step) -> list[Motion]:
        """The focused thread's values, from where they are loaded to where they are stored."""
        arrays: dict[bool, ArrayName] = {}
        for access in step.accesses:
            arrays[access.kind is AccessKind.LOAD] = array_of(access)
        if len(arrays) < 2 or arrays[True] == arrays[False]:
            return []
        found = {
            place.array: window.focused(self._content(step, place))
            for window, place in zip(self._views, self._places, strict=True)
        }
        return fly(found.get(arrays[True], []), found.get(arrays[False], []))

    def windows(self, step: Step) -> Windows:
        """Every array and what of it is in view."""
        return tuple(
            (window, self._content(step, place))
            for window, place in zip(self._views, self._places, strict=True)
        )

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The cell of an array under a point."""
        for place in (*self._places, *self._maps):
            at = place.cells.at(x, y)
            if at is not None:
                start = self._content(step, place).start
                cell = (at[0] + start[0]) * place.shape[1] + at[1] + start[1]
                prefix = SHARED if place.array.space is MemorySpace.SHARED else GLOBAL
                if at[1] + start[1] >= place.shape[1] or cell >= place.size:
                    return None
                return Hit(prefix + place.array.name, self._reader.cell(place.array, cell))
        return None

    def _content(self, step: Step, place: Place) -> Content:
        """What an array shows at a step, as rows and columns of its drawing."""
        array, reader, thread = place.array, self._reader, self._model.thread
        cells = [np.zeros(0, np.int64)]
        own = [np.zeros(0, np.int64)]
        for access in step.accesses:
            if array_of(access) == array:
                touched, threads = reader.touched(access)
                cells.append(touched)
                own.append(touched[threads == thread])
        count = place.shape[0] * place.shape[1]
        start, wrong = self._start(step, place), reader.wrong(step, array)
        return Content(
            array, place.shape, start, self._texts(step, place, start),
            _padded(reader.iterations(step, array), count, -1), np.zeros(count, np.bool_),
            chosen(place.shape, np.concatenate(cells).tolist()),
            chosen(place.shape, np.concatenate(own).tolist()), reader.unordered(step, array),
            None if wrong is None else _padded(wrong, count, 0),
        )  # fmt: skip

    def _texts(self, step: Step, place: Place, start: tuple[int, int]) -> list[str]:
        """The values that are in view, among empty texts for all others."""
        texts = [""] * (place.shape[0] * place.shape[1])
        if not place.letters:
            return texts
        if place.is_whole:
            texts[: place.size] = self._reader.texts(step, place.array)
            return texts
        rows, columns = np.indices((place.cells.rows, place.cells.columns))
        cells = ((rows + start[0]) * place.shape[1] + columns + start[1]).reshape(-1)
        cells = cells[cells < place.size]
        found = self._reader.texts_of(step, place.array, cells)
        for cell, text in zip(cells.tolist(), found, strict=True):
            texts[cell] = text
        return texts

    def _start(self, step: Step, place: Place) -> tuple[int, int]:
        """The first row and column in view: those around what was touched last."""
        if place.is_whole:
            return 0, 0
        row, column = divmod(self._anchors[place.array][step.number], place.shape[1])
        return (
            window_start(row, place.cells.rows, place.shape[0]),
            window_start(column, place.cells.columns, place.shape[1]),
        )

    def _last_touched(self, array: ArrayName) -> list[int]:
        """For each step a cell that the focused thread, or else another, has touched last."""
        by_step, cell = [], 0
        for step in self._model.recording.steps:
            for access in step.accesses:
                if array_of(access) == array:
                    cells, threads = self._reader.touched(access)
                    own = cells[threads == self._model.thread]
                    cell = int(own[0]) if own.size else int(cells[0]) if cells.size else cell
            by_step.append(cell)
        return by_step

    def _stored(self, step: Step, place: Place) -> Array | None:
        """The cells of global memory that the block has stored: bool, as the array is drawn."""
        if place.array.space is not MemorySpace.GLOBAL:
            return None
        stored = step.stored.get(place.array.name)
        if stored is None:
            return None
        members, flat = self._reader.members(place.array), stored.reshape(-1)
        flat = flat if members is None else members.of_cells(flat)
        return _padded(flat, place.shape[0] * place.shape[1], 0)

    def _name(self, step: Step, place: Place, content: Content) -> str:
        """The array's name, its size or what of it is in view, and its memory; what has room.

        Where the focused thread accesses an element that is no part of it, that instead.
        """
        name, kind = place.array.name, SPACE_NAMES[place.array.space]
        rows, columns = place.shape
        is_row = (place.is_wrapped or rows == 1) and not place.members
        size = str(place.size) if is_row else f"{rows} × {columns}"
        part = f"[{place.size}]" if is_row else f"[{rows}]"
        part += "" if is_row or place.members else f"[{columns}]"
        if not place.is_whole:
            (row, column), cells = content.start, place.cells
            last = min(column + cells.columns, columns) - 1, min(row + cells.rows, rows) - 1
            part = f"[{row}–{last[1]}][{column}–{last[0]}] of {size}"
            if place.members:
                part = f"[{row}–{last[1]}] of {rows}"
            if is_row:
                first = row * columns + column
                end = min(last[1] * columns + last[0], place.size - 1)
                part = f"[{first}–{end}] of {size}"
        width, height = place.right - place.cells.left, self._letters.name
        wordings = [f"{part} {kind}", part, ""]
        wrong = self._reader.wrong_access(step)
        if wrong is not None and array_of(wrong.access) == place.array and (
            wrong.fault is Fault.OUTSIDE
        ):  # fmt: skip
            text = f"[{wrong.cell}] is outside"
            wordings = [f"{text}: it has {wrong.size}", text, f"[{wrong.cell}]"]
            name = f"⚠ {name}"
        for rest in wordings:
            if text_width(name, height, True) + text_width(rest, height) <= width:
                return f"<b>{name}</b>{rest}"
        return cut_name(name, height, width)


def shown_arrays(model: SceneModel) -> list[ArrayName]:
    """The arrays to draw: those that the block accesses, the parameters', the shared ones."""
    recording = model.recording
    accessed = {array_of(access) for step in recording.steps for access in step.accesses}
    given = [parameter.name for parameter in recording.kernel.parameters]
    arrays = [
        ArrayName(name, space)
        for name in model.shapes
        for space in (MemorySpace.GLOBAL, MemorySpace.CONSTANT)
        if ArrayName(name, space) in accessed
        or (space is MemorySpace.GLOBAL and name.split(".")[0] in given)
    ]
    steps = recording.steps
    arrays += [ArrayName(name, MemorySpace.SHARED) for name in (steps[0].shared if steps else ())]
    return [
        *(array for array in arrays if array in accessed),
        *(array for array in arrays if array not in accessed),
    ]


def _names(reader: ArrayReader, array: ArrayName) -> tuple[str, ...]:
    """The names of an array's columns, of structs."""
    members = reader.members(array)
    return () if members is None else members.names


def _padded(values: Array, count: int, fill: int) -> Array:
    """Values of an array's cells, and of the cells that its drawing has beyond them."""
    return np.pad(values, (0, count - values.size), constant_values=fill)
