"""The stage of the registers: the focused thread's variables, and one of them for every thread.

Where the threads write an element of arrays of their own, it is those values for every thread.
"""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.drawing.canvas import MONO, Shape, Trace, labels, number, words
from ui.drawing.hit import Hit
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import ArrayName
from ui.lecture.cells import (
    LARGEST_NUMBER,
    Cells,
    columns_of_block,
    number_size,
    number_width,
    window_start,
)
from ui.lecture.letters import mono_width, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel
from ui.lecture.window import Content, Window, Windows, chosen

MOST = 8  # rows or columns of the window
ROW = 1.75  # of a number's height
LARGEST_CELL = 6.0  # of a number's height, a cell's width and height at most
LONGEST = 6  # letters of a number in the window


class RegistersStage(StagePanel):
    """Two columns of variables with their values, and a window of the block's threads."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        stage, maps = areas.stage, areas.corner
        block = model.recording.launch.block
        self._columns = columns_of_block(block)
        self._rows = -(-model.recording.launch.threads // self._columns)
        self._step_height = 1.5 * letters.number
        self._list = Rectangle(maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom)
        self._count = max(1, int(self._list.height / self._step_height))
        self._names = self._named()
        top = max(maps.bottom, self._list.top + self._count * self._step_height)
        top += 2.4 * letters.name
        height = ROW * letters.number
        width = max(height, number_width(LONGEST, letters.number))
        across = max(1, min(MOST, self._columns, int(stage.width / width)))
        down = max(1, min(MOST, self._rows, int((stage.bottom - top) / height)))
        largest = LARGEST_CELL * letters.number
        width = max(width, min(stage.width / across, max(largest, LARGEST_NUMBER * width)))
        height = max(height, min((stage.bottom - top) / down, largest))
        cells = Cells(stage.left, top, width, height, down, across)
        self._window = Window(cells, number_size(cells, LONGEST, letters.number), context.palette)
        self._changed = self._changes()

    def _named(self) -> list[str]:
        """The plain variables of the recording, in the order in which they appear."""
        given = {parameter.name for parameter in self._model.recording.kernel.parameters}
        names: dict[str, None] = {}
        for step in self._model.recording.steps:
            for name, values in step.registers.items():
                if values.ndim == 1 and values.dtype.kind in "iufb" and name not in given:
                    names[name] = None
        return list(names)

    def _changes(self) -> list[str]:
        """For each step the variable that changed last."""
        by_step, name = [], ""
        before: dict[str, Array] = {}
        for step in self._model.recording.steps:
            for candidate in self._names:
                values = step.registers.get(candidate)
                if values is not None and values is not before.get(candidate):
                    name, before[candidate] = candidate, values
            by_step.append(name)
        return by_step

    def changing(self, step: Step) -> list[Trace]:
        """The variables, the one that changed, and its value for each thread."""
        palette, letters = self._palette, self._letters
        entries = self._entries(step)
        plain = [text if not changed else "" for text, changed in entries]
        changed = [f"<b>{text}</b>" if changed else "" for text, changed in entries]
        points = self._points()
        content = self._content(step)
        cells = self._window.cells
        return [
            words(points, plain, letters.number, palette.ink, "middle right", MONO),
            words(points, changed, letters.number, palette.focus, "middle right", MONO),
            labels([(cells.left, cells.top - 0.9 * letters.name)],
                   [self._title(step) if content is not None else ""], letters.name,
                   palette.ink),
            *self._window.changing(content),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The window's cells."""
        return self._window.shapes(self._content(step))

    def windows(self, step: Step) -> Windows:
        """The variable that changed last, of each thread."""
        return ((self._window, self._content(step)),)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The thread under a point."""
        at, content = self._window.cells.at(x, y), self._content(step)
        if at is None or content is None:
            return None
        thread = (at[0] + content.start[0]) * self._columns + at[1] + content.start[1]
        return Hit("thread", thread) if thread < self._model.recording.launch.threads else None

    def _points(self) -> list[tuple[float, float]]:
        """The middles of the list's rows, in two columns."""
        return [
            (self._list.left + column * self._list.width / 2,
             self._list.top + (row + 0.5) * self._step_height)
            for column in (0, 1)
            for row in range(self._count)
        ]  # fmt: skip

    def _entries(self, step: Step) -> list[tuple[str, bool]]:
        """The variables in scope, and which of them changed last; as many as there are places.

        Where there are more, those that were declared last stay. A text that is too long for its
        column is left out.
        """
        thread, places = self._model.thread, 2 * self._count
        width = self._list.width / 2 - 4
        entries = []
        for name in self._names:
            values = step.registers.get(name)
            if values is None or values.ndim != 1:
                continue
            text = f"{name} = {number(values[thread])}"
            if mono_width(len(text), self._letters.number) * 1.05 <= width:
                entries.append((text, name == self._changed[step.number]))
        entries = entries[-places:]
        return [*entries, *[("", False)] * (places - len(entries))]

    def _title(self, step: Step) -> str:
        store = _own_store(step)
        if store is not None:
            name, before, after = store.name, "written to ", " by each thread"
        else:
            name, before, after = self._changed[step.number], "", " of each thread"
        where = ", threadIdx.x to the right"
        width = self._window.cells.columns * max(self._window.cells.width, 1) + 40
        if text_width(f"{before}{name}{after}{where}", self._letters.name) > width:
            where = ""
        return f"{before}<b>{name}</b>{after}{where}"

    def _content(self, step: Step) -> Content | None:
        name, store = self._changed[step.number], _own_store(step)
        values = step.registers.get(name) if name else None
        if store is not None:
            name, values = store.name, store.values
        if values is None:
            return None
        shape = (self._rows, self._columns)
        size = shape[0] * shape[1]
        texts = [number(value) for value in values.tolist()]
        if store is not None:
            texts = [_shorter(value) if ran else ""
                     for value, ran in zip(values.tolist(), store.active, strict=True)]  # fmt: skip
        texts = [text if len(text) <= LONGEST else "" for text in texts]
        texts += [""] * (size - len(texts))
        row, column = divmod(self._model.thread, self._columns)
        cells = self._window.cells
        start = (
            window_start(row, cells.rows, shape[0]),
            window_start(column, cells.columns, shape[1]),
        )
        none = np.zeros(size, np.bool_)
        return Content(
            ArrayName(name, MemorySpace.LOCAL), shape, start, texts, np.full(size, -1), none, none,
            chosen(shape, [self._model.thread]),
        )  # fmt: skip


def _shorter(value: float) -> str:
    """A number with fewer digits of a fraction where it would be too long."""
    text = number(value)
    is_long = len(text) > LONGEST and abs(value) < 1
    return number(float(f"{value:.1g}")) if is_long else text


def _own_store(step: Step) -> StepAccess | None:
    """The store of one element into each thread's own array; None if a step has none."""
    for access in step.accesses:
        is_own = access.kind is AccessKind.STORE and access.space is MemorySpace.LOCAL
        if is_own and access.values.ndim == 1:
            return access
    return None
