"""The stage of a copy: where a value comes from, where it goes, and the sectors that it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import Declare, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.transactions import LINE_BYTES, SECTOR_BYTES
from simulator.recording.recording import StepAccess, farthest
from simulator.recording.requests import Request
from ui.analysis.product_roles import Product
from ui.analysis.products import accumulator
from ui.analysis.variable_values import values_by_step
from ui.analysis.wrong_access import Fault
from ui.drawing.canvas import Shape, Trace, labels, number, outline
from ui.drawing.hit import Hit
from ui.drawing.motions import Motion, fly
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import SPACE_NAMES, ArrayName, array_of
from ui.lecture.board import sums_of_threads
from ui.lecture.cells import LARGEST_NUMBER, Cells, number_size, number_width, window_start
from ui.lecture.letters import fit, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel
from ui.lecture.window import Content, Window, Windows, chosen

MOST = 8  # rows or columns of a window
ROW = 1.75  # of a number's height, a row of cells
LARGEST_CELL = 3.0  # of a number's height, a cell's width and height at most
WORD_BYTES = 4
WITHOUT_FAULT = "without the fault"
TALLEST_LINE = 3.0  # of a small letter, a line of 128 bytes


class CopyStage(StagePanel):
    """A load, a store, or a value that goes from one memory to another."""

    def __init__(self, context: PanelContext, product: Product) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        self._product, self._reader, self._stages = product, context.reader, context.stages
        sums = accumulator(model.recording)
        self._sums = values_by_step(model.recording, None if sums is None else sums.name)
        self._sum_cells = sums_of_threads(model)
        stage, maps = areas.stage, areas.corner
        label, gap = 1.7 * letters.name, 0.9 * letters.name
        arrays = self._arrays()
        longest = max((context.reader.longest(array) for array in arrays), default=1)
        width = max(ROW * letters.number, number_width(longest, letters.number))
        height = ROW * letters.number
        self._upper = Rectangle(maps.right + 1.6 * gap, stage.top + label, stage.right, 0)
        rows = max((context.reader.shape(array)[0] for array in arrays), default=1)
        columns = max((context.reader.shape(array)[1] for array in arrays), default=1)
        across = max(1, min(MOST, columns, int(self._upper.width / width)))
        lower_height = max(0.36 * stage.height, label + 4 * height)
        free = stage.height - label - lower_height - gap
        down = max(1, min(MOST, rows, int(free / height)))
        largest = LARGEST_CELL * letters.number
        source = Cells(
            self._upper.left, self._upper.top,
            max(width, min(self._upper.width / across, max(largest, LARGEST_NUMBER * width))),
            max(height, min(free / down, largest)), down, across,
        )  # fmt: skip
        top = max(source.bottom, maps.bottom) + gap + label
        # The lower window is under the maps and is as wide as four cells, at most.
        self._lower = Rectangle(stage.left, top, stage.left + 0.42 * stage.width, stage.bottom)
        lower_across = max(1, min(4, columns, int(self._lower.width / width)))
        lower_down = max(1, min(4, rows, int(self._lower.height / height)))
        target = Cells(
            self._lower.left, top,
            max(width, min(self._lower.width / lower_across, source.width)),
            max(height, min(self._lower.height / lower_down, source.height)),
            lower_down, lower_across,
        )  # fmt: skip
        self._source, self._target = (
            Window(cells, number_size(cells, longest, letters.number), context.palette, True)
            for cells in (source, target)
        )
        self._beside = Rectangle(self._lower.right + gap, top, stage.right, stage.bottom)

    def _arrays(self) -> list[ArrayName]:
        """The arrays that are ever shown."""
        return list({
            array_of(access): None
            for step in self._model.recording.steps
            for access in step.accesses
        })  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """Numbers, names, and what the warp fetches in words."""
        palette, letters = self._palette, self._letters
        source, target = self._contents(step)
        names, points = [], []
        for window, content, width in (
            (self._source, source, self._upper.width),
            (self._target, target, self._beside.left - self._target.cells.left - 4),
        ):
            points.append((window.cells.left, window.cells.top - 0.8 * letters.name))
            names.append("" if content is None else self._name(step, window, content, width))
        area = self._sectors(target)
        sentence, rows = self._sector_words(step, area.width)
        # Texts do not move from step to step: both places have theirs, one of them empty.
        lefts = [self._lower.left, self._beside.left]
        points_of_sentence = [(left, area.top - 0.8 * letters.name) for left in lefts]
        points_of_rows = [
            (left, self._rows_top - (2 - i) * 1.35 * letters.small)
            for left in lefts for i in range(2)
        ]  # fmt: skip
        is_at = [left == area.left for left in lefts]
        sentences = [sentence if is_here else "" for is_here in is_at]
        lines = [text if is_here else "" for is_here in is_at for text in [*rows, "", ""][:2]]
        return [
            *self._source.changing(source), *self._target.changing(target),
            labels(points, names, letters.name, palette.ink),
            labels(points_of_sentence, sentences, letters.name, palette.ink),
            labels(points_of_rows, lines, letters.small, palette.ink),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The cells, and the sectors with the words of them that are used."""
        palette = self._palette
        source, target = self._contents(step)
        fetched = used = own = guides = ""
        request = self._global_request(step)
        if request is not None:
            fetched, used, own, guides = self._draw_sectors(request, self._sectors(target))
        return [
            *self._source.shapes(source), *self._target.shapes(target),
            outline(guides, palette.line, 1),
            outline(fetched, palette.faint, 1.5, palette.idle),
            outline(used, palette.phases["load"], 0, palette.phases["load"]),
            outline(own, palette.focus, 0, palette.focus),
        ]  # fmt: skip

    def _name(self, step: Step, window: Window, content: Content, width: float) -> str:
        """What a window shows: an array in its memory, or what C should be.

        Also which element the focused thread accesses that is no part of the array.
        """
        wrong = self._reader.wrong_access(self._stages.subject(step))
        if wrong is not None and array_of(wrong.access) == content.array and (
            wrong.fault is Fault.OUTSIDE and not content.is_right
        ):  # fmt: skip
            name = f"<b>{content.array.name}</b>"
            return f"⚠ {name}[{wrong.cell}] is outside: {name} has {wrong.size}"
        kind = WITHOUT_FAULT if content.is_right else SPACE_NAMES[content.array.space]
        return window.name(content, kind, self._letters, width)

    def windows(self, step: Step) -> Windows:
        """Where a value comes from, and where it goes."""
        source, target = self._contents(step)
        if target is not None and target.is_right:
            target = None
        return (self._source, source), (self._target, target)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of either window."""
        source, target = self._contents(step)
        return self._source.hit(source, x, y) or self._target.hit(target, x, y)

    def motions(self, step: Step) -> list[Motion]:
        """The focused thread's value, from where it is loaded to where it is stored."""
        if self._stages.subject(step) is not step:
            return []
        store = farthest(step.accesses)[1]
        upper, lower = map(Window.focused, (self._source, self._target), self._contents(step))
        if store is None or store.space is not MemorySpace.GLOBAL:
            return fly(upper, lower)
        if not lower:  # out of a register, which has no window here
            start = self._target.cells.left, self._target.cells.top
            lower = [replace(place, middle=start) for place in upper]
        return fly(lower, upper)

    def _contents(self, step: Step) -> tuple[Content | None, Content | None]:
        """What the windows show. What goes into C is in the upper one."""
        load, store = farthest(self._stages.subject(step).accesses)
        if store is not None and store.space is MemorySpace.GLOBAL:
            load, store = store, load
        if load is not None and load.space is MemorySpace.LOCAL and store is not None:
            load, store = store, load
        upper = None if load is None else self._content(step, load, self._source)
        lower = None if store is None else self._content(step, store, self._target)
        right = None if upper is None else self._right_content(step, upper)
        return upper, right or lower

    def _right_content(self, step: Step, content: Content) -> Content | None:
        """What the wrong cells beside should be: the focused one, else those in view."""
        texts = self._reader.right_texts(step, content.array)
        if texts is None:
            return None
        wrong = np.array([bool(text) for text in texts])
        shown = np.zeros(content.shape, np.bool_)
        (first, left), upper = content.start, self._source.cells
        shown[first : first + upper.rows, left : left + upper.columns] = True
        choices = (wrong & content.focused, wrong & shown.reshape(-1), wrong)
        cell = next(int(cells.argmax()) for cells in choices if cells.any())
        row, column = divmod(cell, content.shape[1])
        grid, none = self._target.cells, np.zeros(wrong.size, np.bool_)
        start = (
            window_start(row, grid.rows, content.shape[0], content.start[0]),
            window_start(column, grid.columns, content.shape[1], content.start[1]),
        )
        return replace(
            content, start=start, texts=texts, lit=none, touched=none, focused=none,
            wrong=None, pending=None, is_right=True,
        )  # fmt: skip

    def _content(self, step: Step, access: StepAccess, window: Window) -> Content:
        array = array_of(access)
        shape, reader, thread = self._reader.shape(array), self._reader, self._model.thread
        cells, threads = access.touched_cells()
        own = cells[threads == thread]
        if array.space is MemorySpace.LOCAL:
            cells = own
        first = int(own[0]) if own.size else int(cells[0]) if cells.size else 0
        row, column = divmod(first, shape[1])
        grid = window.cells
        above, before = self._origin(step, array, first)
        start = (
            window_start(row, grid.rows, shape[0], above),
            window_start(column, grid.columns, shape[1], before),
        )
        texts = reader.texts(step, array)
        lit: Array = np.zeros(shape[0] * shape[1], np.bool_)
        if array.name == self._product.C and array.space is MemorySpace.GLOBAL:
            iterations = np.full(lit.size, -1)
        else:
            iterations = reader.iterations(step, array)
        warp = self._model.thread // WARP_SIZE
        lit[
            cells[threads // WARP_SIZE == warp] if array.space is not MemorySpace.LOCAL else cells
        ] = True
        return Content(
            array, shape, start, texts, iterations, lit, np.zeros(lit.size, np.bool_),
            chosen(shape, own.tolist() if self._stages.subject(step) is step else ()),
            reader.unordered(step, array), reader.wrong(step, array), self._pending(array, step),
        )  # fmt: skip

    def _origin(self, step: Step, array: ArrayName, cell: int) -> tuple[int, int]:
        """The first row and column of the tile that a cell of global memory is in."""
        if array.space is not MemorySpace.GLOBAL:
            return 0, 0
        if array.name == self._product.C:
            return self._sum_cells[1]
        tiles = self._reader.iterations(step, array)
        if tiles[cell] < 0:
            return 0, 0
        rows, columns = np.divmod(
            np.flatnonzero(tiles == tiles[cell]), self._reader.shape(array)[1]
        )
        return int(rows.min()), int(columns.min())

    def _pending(self, array: ArrayName, step: Step) -> list[str] | None:
        """The block's sums that are not yet stored, in their cells of C."""
        values = self._sums[step.number]
        if array.name != self._product.C or values is None or values.ndim != 1:
            return None
        shape = self._reader.shape(array)
        texts = [""] * (shape[0] * shape[1])
        stored = self._reader.written(step, array)
        cells, corner = self._sum_cells
        for thread, (row, column) in enumerate((cells + corner).tolist()):
            inside = 0 <= row < shape[0] and 0 <= column < shape[1] and cells[thread, 0] >= 0
            if inside and not stored[row * shape[1] + column]:
                texts[row * shape[1] + column] = number(values[thread])
        return texts

    def _global_request(self, step: Step) -> Request | None:
        return next(
            (
                r
                for r in self._stages.requests(self._stages.subject(step))
                if r.access.space is MemorySpace.GLOBAL
            ),
            None,
        )

    def _sectors(self, target: Content | None) -> Rectangle:
        """Where the sectors are: beside the lower window, or in its place if it is empty."""
        return replace(self._beside, left=self._lower.left) if target is None else self._beside

    def _sector_words(self, step: Step, width: float) -> tuple[str, tuple[str, ...]]:
        """What the focused thread's warp moves: a name, and at most two lines."""
        request = self._global_request(step)
        letters = self._letters
        if request is None:
            target = step.statement.variable.name if isinstance(step.statement, Declare) else ""
            value = step.registers.get(target)
            if not target or value is None or value.ndim != 1:
                return "", ()
            return f"<b>{target}</b> = {number(value[self._model.thread])} in a register", ()
        is_load = request.access.kind is AccessKind.LOAD
        later = self._stages.subject(step).number - step.number
        verb = ("fetches" if is_load else "writes") if not later else (
            ("fetched" if is_load else "wrote") if later < 0
            else ("will fetch" if is_load else "will write")
        )  # fmt: skip
        count = request.moved_sectors
        sectors = f"{count} sector" + ("s" if count != 1 else "")
        title = f"<b>Warp {request.warp}</b> {verb} {sectors}"
        if text_width(f"Warp {request.warp} {verb} {sectors}", letters.name) > width:
            title = f"<b>{sectors}</b>"
        useful, moved = request.useful_bytes, request.fetched_bytes
        of = "of " if is_load else "into "
        each = f", {SECTOR_BYTES} bytes each" if count != 1 else ""
        wordings = (
            f"{of}{request.access.name}{each}: {useful} of {moved} bytes are used",
            f"{useful} of {moved} bytes are used",
            f"{useful} of {moved} B used",
        )
        return title, fit(wordings, letters.small, width, 2)

    @property
    def _rows_top(self) -> float:
        return self._beside.top + 2 * 1.35 * self._letters.small + 0.5 * self._letters.small

    def _draw_sectors(self, request: Request, area: Rectangle) -> tuple[str, str, str, str]:
        """A row for each line of 128 bytes: its sectors, the words used, the thread's own."""
        top = self._rows_top
        height = min(TALLEST_LINE * self._letters.small, (area.bottom - top) / len(request.lines))
        gap = 4.0 if height > 14 else 1.0 if height > 4 else 0.0
        word = area.width / (LINE_BYTES / WORD_BYTES)
        rows = {line: top + i * height for i, line in enumerate(request.lines)}
        fetched = used = own = guides = ""
        for y in rows.values():
            guides += box(area.left, y, area.right, y + height - gap)
        for sector in request.sectors:
            line, offset = divmod(sector * SECTOR_BYTES, LINE_BYTES)
            x = area.left + offset / WORD_BYTES * word
            fetched += box(x, rows[line], x + SECTOR_BYTES / WORD_BYTES * word,
                           rows[line] + height - gap)  # fmt: skip
        lane = self._model.thread - request.threads[0]
        words_used = {w for row in request.words.tolist() for w in row if w >= 0}
        words_own = {w for w in request.words[lane].tolist() if w >= 0}
        inset = 0.08 * word
        for number_ in sorted(words_used):
            line, offset = divmod(number_ * WORD_BYTES, LINE_BYTES)
            x = area.left + offset / WORD_BYTES * word
            mark = box(x + inset, rows[line] + 1, x + word - inset, rows[line] + height - gap - 1)
            if number_ in words_own:
                own += mark
            else:
                used += mark
        return fetched, used, own, guides
