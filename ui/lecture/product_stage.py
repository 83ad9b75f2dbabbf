"""The stage of a product: factors and sums as on a blackboard, row and column lit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.launch import unravel
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from simulator.sentences.steps import is_called_sum
from ui.analysis.scene_model import (
    distinct_snapshots,
    iteration,
    outer_iteration,
    values_held,
)
from ui.analysis.variable_values import values_by_step
from ui.drawing.canvas import Shape, Trace, labels, number, outline, words
from ui.drawing.hit import Hit
from ui.drawing.motions import Box, Motion, Place, fly
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import SPACE_NAMES, ArrayName, array_of
from ui.lecture.board import Board, Cell, Factor
from ui.lecture.cells import (
    LARGEST_NUMBER,
    Cells,
    longest_text,
    number_size,
    number_width,
    window_start,
)
from ui.lecture.letters import MONO_WIDTH, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.sectors import Sectors
from ui.lecture.stage_panel import StagePanel
from ui.lecture.window import Content, Window, Windows, chosen

MOST = 8  # rows or columns of a window
DEEPEST = 8  # of the factors
ROW = 1.75  # of a number's height, a row of cells; as wide at least
LARGEST_CELL = 6.0  # of a number's height, a cell's width and height at most
SIGNS = ("\u00a0\u00a0", "× ", "+ ", "= ")  # before a product's factors, the sum before and after
LARGEST_WRITTEN = 2.2  # of the smallest number, one of these
WRITTEN_SHARE = 0.38  # of the chip's width, where the sectors are beside them
WRITTEN = 1.3  # of a number's height, from one of them to the next

Contents = tuple[Content | None, Content | None, Content | None]  # left, upper, sums


class ProductStage(StagePanel):
    """One board: the left factor, the upper one, and the sums between them."""

    def __init__(self, context: PanelContext, board: Board) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        self._reader, self._boards, self._board = context.reader, context.boards, board
        self._box, self._has_far = areas.stage, areas.far is not None
        self._sum_values = values_by_step(model.recording, board.sums.variable.name)
        self._longest_sum = self._longest()
        self._steps = [step for step in model.recording.steps if step.statement is board.statement]
        self._nearest = self._nearest_product()
        self._drawn: tuple[int, Contents] = (-1, (None, None, None))
        self._lit_cells: dict[tuple[int | None, int], frozenset[int]] = {}
        self._left, self._top, self._sums = self._windows(areas.corner)
        written, sectors = self._free_areas()
        self._written_area = written
        self._sectors = Sectors(context, sectors) if self._has_far else None

    def matches(self, step: Step) -> bool:
        """Whether this board is the one that a step belongs to: that of the nearest product."""
        return self._nearest[step.number] is not None

    def _nearest_product(self) -> list[Step | None]:
        """For each step the board's step that it belongs to: the next within its tile, or the last.

        None for a step that another board's product is nearer to.
        """
        steps = self._model.recording.steps
        nearest: list[Step | None] = [None] * len(steps)
        following: Step | None = None
        for step in reversed(steps):
            if self._boards.is_product(step):
                following = step
            nearest[step.number] = following
        latest: Step | None = None
        for step in steps:
            if self._boards.is_product(step):
                latest = step
            after = nearest[step.number]
            turn = outer_iteration(self._model, step)
            if after is None or (
                latest is not None and outer_iteration(self._model, after) != turn
                and outer_iteration(self._model, latest) == turn
            ):  # fmt: skip
                nearest[step.number] = latest
        return [
            step if step is not None and step.statement is self._board.statement else None
            for step in nearest
        ]

    def _longest(self) -> int:
        """Letters of the longest sum that is ever shown."""
        snapshots = distinct_snapshots(v for v in self._sum_values if v is not None)
        shown = self._model.thread if self._board.sums.own else slice(None)
        values = values_held(v[shown] for v in snapshots)
        if not values.size:
            return 1
        return longest_text(number(value) for value in values[:: max(1, values.size // 4096)])

    def _windows(self, maps: Rectangle) -> tuple[Window, Window, Window]:
        """The largest windows for which the stage has room."""
        board, least, stage = self._board, self._letters.number, self._box
        gap, label = 0.8 * self._letters.name, 1.7 * self._letters.name
        (left_rows, left_columns), (top_rows, top_columns) = (
            self._boards.shape(factor) if self._is_near(factor) else (1, 0)
            for factor in (board.left, board.top)
        )
        if not self._is_near(board.top):
            top_rows, top_columns = 0, 1
        sums_rows, sums_columns = board.sums.rows, board.sums.columns
        height = ROW * least
        left_width = max(height, number_width(self._longest_of(board.left), least))
        sum_width = max(
            height, number_width(max(self._longest_sum, self._longest_of(board.top)), least)
        )
        best: tuple[float, tuple[int, int, int, int]] | None = None
        for deep in range(1, DEEPEST + 1):
            dl, dt = min(deep, left_columns), min(deep, top_rows)
            if deep > max(dl, dt, 1):
                break
            across = stage.width - max(maps.width + gap, dl * left_width + gap)
            down = stage.height - max(maps.height, label + dt * height) - label
            q, p = int(across / sum_width), int(down / height)
            q = min(q, MOST, max(sums_columns, top_columns))
            p = min(p, MOST, max(sums_rows, left_rows))
            if p < 1 or q < 1:
                continue
            # Two rows of sums before a fourth of the factors: then reuse is seen in both.
            score = 2.0 * min(deep, 4) + 0.1 * deep + min(p, 4) + min(q, 4) + 0.05 * (p + q)
            score += 2.0 * (p > 1) + 2.0 * (q > 1)
            if best is None or score > best[0]:
                best = (score, (dl, dt, p, q))
        dl, dt, p, q = best[1] if best is not None else (1, 1, 1, 1)
        dl, dt = min(dl, left_columns), min(dt, top_rows)
        corner = max(maps.width + gap, dl * left_width + gap)
        upper = max(maps.height, label + dt * height) + label
        largest = LARGEST_CELL * least
        wider = max(1.0, min(
            max(LARGEST_NUMBER, largest / max(left_width, sum_width)),
            (stage.width - gap) / (dl * left_width + q * sum_width),
            (stage.width - corner) / (q * sum_width),
        ))  # fmt: skip
        left_width, sum_width = left_width * wider, sum_width * wider
        height = max(
            height, min(largest, (stage.height - 2 * label) / (dt + p), (stage.height - upper) / p)
        )
        x = stage.left + max(maps.width + gap, dl * left_width + gap)
        y = stage.top + max(maps.height, label + dt * height) + label
        grids = (
            Cells(x - gap - dl * left_width, y, left_width, height, p, dl),
            Cells(x, y - label - dt * height, sum_width, height, dt, q),
            Cells(x, y, sum_width, height, p, q),
        )
        longest = (self._longest_of(board.left), self._longest_of(board.top), self._longest_sum)
        sizes = [number_size(cells, n, least) for cells, n in zip(grids, longest, strict=True)]
        left, top, sums = (
            Window(cells, size, self._palette) for cells, size in zip(grids, sizes, strict=True)
        )
        return left, top, sums

    def _free_areas(self) -> tuple[Rectangle, Rectangle]:
        """Where the product is written, and the sectors: left of the upper factor.

        Where both factors are in global memory, side by side above the sums.
        """
        area, gap = self._box, 0.8 * self._letters.name
        label = 1.7 * self._letters.name
        if self._is_near(self._board.top) or self._is_near(self._board.left):
            free = Rectangle(area.left, area.top, self._sums.cells.left - gap,
                             self._left.cells.top - label)  # fmt: skip
            return free, free
        free = replace(area, bottom=self._sums.cells.top - label)
        middle = area.left + WRITTEN_SHARE * area.width
        return replace(free, right=middle), replace(free, left=middle + gap)

    def _is_near(self, factor: Factor) -> bool:
        """Whether a factor is on the chip: global memory has a place of its own."""
        in_global = factor.array is not None and factor.array.space is MemorySpace.GLOBAL
        return not (self._has_far and in_global)

    def _longest_of(self, factor: Factor) -> int:
        if factor.array is None:
            return 6
        return self._reader.longest(factor.array)

    def changing(self, step: Step) -> list[Trace]:
        """The numbers, and the names of what is shown."""
        left, top, sums = self._contents(step)
        return [
            *self._left.changing(left), *self._top.changing(top), *self._sums.changing(sums),
            *([] if self._sectors is None else self._sectors.changing(step)),
            self._written(step), self._registers(step), self._names((left, top, sums)),
        ]  # fmt: skip

    def _written(self, step: Step) -> Trace:
        """The focused thread's product and sum, one under the other, in the corner that is free."""
        texts = [""] * len(SIGNS)
        if self._has_focus(step):
            values = self._operand(step, 0), self._operand(step, 1), *self._sum_around(step)
            if all(value is not None for value in values):
                texts = [f"{sign}{number(value)}" for sign, value in
                         zip(SIGNS, values, strict=True)]  # fmt: skip
        area = self._written_area
        longest = max(self._longest_of(self._board.left), self._longest_of(self._board.top),
                      self._longest_sum) + len(SIGNS[0])  # fmt: skip
        size = min(
            area.width / (longest * MONO_WIDTH), LARGEST_WRITTEN * self._letters.number,
            area.height / (len(SIGNS) * WRITTEN),
        )  # fmt: skip
        if size < self._letters.number:
            texts, size = [""] * len(SIGNS), self._letters.number
        points = [(area.right, area.top + (i + 0.5) * WRITTEN * size) for i in range(len(SIGNS))]
        return words(points, texts, round(size, 1), self._palette.focus, "middle left",
                     meta="written")  # fmt: skip

    def _registers(self, step: Step) -> Trace:
        """What the focused thread's variables hold, where no product and no sectors are."""
        area, size = self._written_area, self._letters.number
        count = max(1, int(area.height / (WRITTEN * size)))
        lines: list[str] = []
        if self._sectors is not None and not (self._has_focus(step) or self._sectors.moves(step)):
            given = {parameter.name for parameter in self._model.recording.kernel.parameters}
            for name, values in step.registers.items():
                if values.ndim == 1 and name not in given:
                    text = f"{name} = {number(values[self._model.thread])}"
                    lines += [text] if text_width(text, size) <= area.width else []
        points = [(area.left, area.top + (i + 0.5) * WRITTEN * size) for i in range(count)]
        return labels(points, [*lines[-count:], *[""] * count][:count], size, self._palette.ink,
                      meta="registers")  # fmt: skip

    def _operand(self, step: Step, number_: int) -> Any:
        """What a factor of the focused thread is at a step; None if that is not known."""
        thread = self._model.thread
        access = self._boards.factor_access(self._board, step, number_)
        if access is not None:
            return access.values[thread] if access.components == 1 else None
        factor = self._board.top if number_ else self._board.left
        values = step.registers.get(factor.text)
        return None if values is None or values.ndim != 1 else values[thread]

    def _sum_around(self, step: Step) -> tuple[Any, Any]:
        """The focused thread's sum before and after a step, None each if it has none."""
        cell = self._boards.sum_cell(self._board, step, self._model.thread)
        sums, found = self._board.sums, []
        for at in (step.number - 1, step.number):
            values = self._sum_values[at] if at >= 0 else None
            own = None if values is None or cell is None else values[self._model.thread]
            if own is not None and cell is not None and sums.own:
                own = own.reshape(-1)[cell[0] * sums.columns + cell[1]]
            found.append(own)
        return found[0], found[1]

    def shapes(self, step: Step) -> list[Shape]:
        """The cells, and lines from both factors to their sum."""
        left, top, sums = self._contents(step)
        palette = self._palette
        shared = self._sharing(step, sums) if self._has_focus(step) else ""
        return [
            *self._left.shapes(left), *self._top.shapes(top), *self._sums.shapes(sums),
            *([] if self._sectors is None else self._sectors.shapes(step)),
            outline(shared, palette.focus, 1.5),
        ]  # fmt: skip

    def windows(self, step: Step) -> Windows:
        """Both factors, and the sums."""
        left, top, sums = self._contents(step)
        return (self._left, left), (self._top, top), (self._sums, sums)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A cell of a factor, or the thread of a sum."""
        left, top, sums = self._contents(step)
        found = self._left.hit(left, x, y) or self._top.hit(top, x, y)
        at = self._sums.cells.at(x, y)
        if found is not None or at is None or sums is None or self._board.sums.own:
            return found
        row, column = at[0] + sums.start[0], at[1] + sums.start[1]
        threads = np.flatnonzero((self._board.sums.cells == (row, column)).all(axis=1))
        return Hit("thread", int(threads[0])) if threads.size else None

    def motions(self, step: Step) -> list[Motion]:
        """Both factors of the focused thread, on their way into its sum."""
        left, top, sums = self._focused(step)
        return [*fly(left, sums), *fly(top, sums)]

    @property
    def has_own_sums(self) -> bool:
        """Whether the sums are many of the focused thread, not one of each."""
        return self._board.sums.own

    def own_sums(self, step: Step) -> Box | None:
        """Where the focused thread's sums are; None where each thread has one."""
        cells, content = self._sums.cells, self._contents(step)[2]
        if content is None or not self._board.sums.own:
            return None
        rows, columns = (
            min(most, size - first)
            for most, size, first in zip(
                (cells.rows, cells.columns), content.shape, content.start, strict=True
            )
        )
        return (
            cells.left, cells.top,
            cells.left + columns * cells.width, cells.top + rows * cells.height,
        )  # fmt: skip

    def focused_factors(self, step: Step) -> list[tuple[Box, Box]]:
        """Where the focused thread's factors are, each with the sum that it goes into."""
        left, top, sums = self._focused(step)
        return [(place.box, total.box) for place in (*left, *top) for total in sums]

    def cell_box(self, step: Step, array: ArrayName, cell: int) -> Box | None:
        """Where a factor's cell is; None if it is not in view."""
        windows = zip((self._left, self._top), self._contents(step)[:2], strict=True)
        for window, content in windows:
            if content is not None and content.array == array and not content.upright:
                row, column = divmod(cell, content.shape[1])
                found = _box_in(window, row - content.start[0], column - content.start[1])
                if found is not None:
                    return found
        return None

    def sum_box(self, step: Step, thread: int) -> Box | None:
        """Where a thread's sum is; None if it is not in view, or one of its own many."""
        content = self._contents(step)[2]
        if content is None or self._board.sums.own:
            return None
        row, column = self._board.sums.cells[thread].tolist()
        if row < 0:
            return None
        return _box_in(self._sums, row - content.start[0], column - content.start[1])

    def factor_accesses(self, step: Step) -> list[StepAccess]:
        """The loads of both factors at a step of the board; none at another."""
        if step.statement is not self._board.statement:
            return []
        found = (self._boards.factor_access(self._board, step, number_) for number_ in (0, 1))
        return [access for access in found if access is not None]

    def _names(self, contents: Contents) -> Trace:
        """What is in each window, and which part of it."""
        letters = self._letters
        windows = (self._left, self._top, self._sums)
        one = "one" if is_called_sum(self._board.sums.variable.name) else "one sum"
        own = "its sums" if self._board.sums.own else f"{one} per thread{self._plane()}"
        kinds = (*map(_kind_of, (self._board.left, self._board.top)), own)
        points, texts = [], []
        for window, content, kind in zip(windows, contents, kinds, strict=True):
            x = window.cells.left
            width = self._sums.cells.left - x if window is self._left else self._box.right - x
            points.append((x, window.cells.top - 0.75 * letters.name))
            texts.append("" if content is None else window.name(content, kind, letters, width - 4))
        return labels(points, texts, letters.name, self._palette.ink)

    def _plane(self) -> str:
        """Of which z the threads are, in a block that has a depth."""
        block = self._model.recording.launch.block
        return f", z = {unravel(self._model.thread, block)[2]}" if block[2] > 1 else ""

    def _focused(self, step: Step) -> list[list[Place]]:
        """The focused thread's cells in each window; none where it adds no product."""
        if not self._has_focus(step):
            return [[], [], []]
        windows = self._left, self._top, self._sums
        return list(map(Window.focused, windows, self._contents(step)))

    def _has_focus(self, step: Step) -> bool:
        """Whether the focused thread adds a product of the board at a step."""
        return step.statement is self._board.statement and bool(step.active[self._model.thread])

    def _cells_at(self, step: Step) -> tuple[Cell | None, Cell | None, Cell | None]:
        thread, boards, board = self._model.thread, self._boards, self._board
        return (
            boards.left_cell(board, step, thread), boards.top_cell(board, step, thread),
            boards.sum_cell(board, step, thread),
        )  # fmt: skip

    def _contents(self, step: Step) -> Contents:
        """What the windows show at a step; texts and shapes are drawn from the same."""
        if self._drawn[0] != step.number:
            self._drawn = (step.number, self._build_contents(step))
        return self._drawn[1]

    def _build_contents(self, step: Step) -> Contents:
        """The arrays around the nearest product's cells."""
        product = self._nearest[step.number]
        if product is None:
            return None, None, None
        left_cell, top_cell, sum_cell = self._cells_at(product)
        sums = self._board.sums
        p, q = self._sums.cells.rows, self._sums.cells.columns
        row, column = sum_cell or (0, 0)
        start = (window_start(row, p, sums.rows), window_start(column, q, sums.columns))
        left_start = top_start = (0, 0)
        if left_cell is not None and self._is_near(self._board.left):
            shape, cells = self._boards.shape(self._board.left), self._left.cells
            offset = self._board.left_offset
            left_start = (
                window_start(left_cell[0], p, shape[0], self._first_row(left_cell))
                if offset is None
                else start[0] + offset,
                window_start(left_cell[1], cells.columns, shape[1]),
            )
        if top_cell is not None and self._is_near(self._board.top):
            shape, cells = self._boards.shape(self._board.top), self._top.cells
            offset = self._board.top_offset
            top_start = (
                window_start(top_cell[0], cells.rows, shape[0]),
                window_start(top_cell[1], q, shape[1]) if offset is None else start[1] + offset,
            )
        return (
            self._factor_content(self._board.left, 0, step, product, left_start),
            self._factor_content(self._board.top, 1, step, product, top_start),
            self._sums_content(step, start),
        )

    def _first_row(self, cell: Cell) -> int:
        """The first row of the left factor's tile that a cell is in, where tiles take turns."""
        array = self._board.left.array
        shape = () if array is None else self._model.shared_shapes.get(array.name, ())
        return cell[0] // shape[1] * shape[1] if len(shape) == 3 else 0

    def _factor_content(
        self, factor: Factor, number_: int, step: Step, product: Step, start: Cell
    ) -> Content | None:
        if not self._is_near(factor):
            return None
        shape = self._boards.shape(factor)
        focused: list[int] = []
        touched: Iterable[int] = ()
        if factor.array is None:
            return self._register_content(factor, step, start)
        if step is product or iteration(self._model, step, self._model.inner) is not None:
            access = self._boards.factor_access(self._board, product, number_)
            if access is not None:
                touched, focused = self._touched(access, factor)
        if step is not product:  # between two products nothing is read
            touched = ()
        for access in step.accesses:
            if access.kind is not AccessKind.LOAD and array_of(access) == factor.array:
                touched, focused = self._touched(access, factor)
        return Content(
            factor.array, shape, start, self._reader.texts(step, factor.array),
            self._reader.iterations(step, factor.array),
            chosen(shape, self._lit(number_, factor, product)), chosen(shape, touched),
            chosen(shape, focused), self._reader.unordered(step, factor.array),
            self._reader.wrong(step, factor.array), upright=factor.upright,
        )  # fmt: skip

    def _touched(self, access: StepAccess, factor: Factor) -> tuple[Iterable[int], list[int]]:
        """The cells that the focused thread reads, and those of all; of its own arrays its own."""
        cells, threads = access.touched_cells()
        focused = cells[threads == self._model.thread].tolist()
        assert factor.array is not None
        return (focused if factor.array.space is MemorySpace.LOCAL else cells.tolist()), focused

    def _register_content(self, factor: Factor, step: Step, start: Cell) -> Content | None:
        """A factor that is a variable of the thread."""
        values = step.registers.get(factor.text)
        text = ""
        if values is not None and values.ndim == 1:
            text = number(values[self._model.thread])
        is_used = step.statement is self._board.statement
        return Content(
            ArrayName(factor.text, MemorySpace.LOCAL), (1, 1), start, [text], np.array([-1]),
            np.array([False]), np.array([False]), np.array([is_used]),
        )  # fmt: skip

    def _lit(self, number_: int, factor: Factor, product: Step) -> frozenset[int]:
        """The cells of a factor that the focused thread reads in the outer iteration."""
        turn = outer_iteration(self._model, product)
        key = (turn, number_)
        if key not in self._lit_cells:
            cells: set[int] = set()
            for step in self._steps:
                if outer_iteration(self._model, step) == turn:
                    access = self._boards.factor_access(self._board, step, number_)
                    if access is not None:
                        cells.update(self._touched(access, factor)[1])
            self._lit_cells[key] = frozenset(cells)
        return self._lit_cells[key]

    def _sums_content(self, step: Step, start: Cell) -> Content:
        sums, thread = self._board.sums, self._model.thread
        shape = (sums.rows, sums.columns)
        values = self._sum_values[step.number]
        texts = [""] * (shape[0] * shape[1])
        none: Array = np.zeros(len(texts), np.bool_)
        focused = none
        cell = (
            self._boards.sum_cell(self._board, step, thread)
            if step.statement is self._board.statement and step.active[thread]
            else None
        )
        if sums.own:
            if values is not None:
                texts = [number(value) for value in values[thread].reshape(-1).tolist()]
        else:
            flat = sums.cells[:, 0] * shape[1] + sums.cells[:, 1]
            for i in np.flatnonzero(sums.cells[:, 0] >= 0).tolist():
                texts[int(flat[i])] = "" if values is None else number(values[i])
            row, column = sums.cells[thread].tolist()
            cell = cell or ((row, column) if row >= 0 else None)
        if cell is not None:
            focused = chosen(shape, [cell[0] * shape[1] + cell[1]])
        wrong = self._wrong_sums(step)
        return Content(
            ArrayName(sums.variable.name, sums.variable.space),  # type: ignore[arg-type]
            shape, start, texts, np.full(len(texts), -1), none, none, focused, wrong=wrong,
            corner=sums.corner,
        )  # fmt: skip

    def _wrong_sums(self, step: Step) -> Array | None:
        """The sums that a run without the fault does not have: bool, flat; None for none."""
        right, sums = self._model.right, self._board.sums
        found = None if right is None else right.right_sums(step, sums.variable.name)
        if found is None:
            return None
        wrong: Array
        if sums.own:
            wrong = ~np.isnan(found[self._model.thread].reshape(-1))
            return wrong
        wrong = np.zeros(sums.rows * sums.columns, np.bool_)
        flat = sums.cells[:, 0] * sums.columns + sums.cells[:, 1]
        shown = (sums.cells[:, 0] >= 0) & ~np.isnan(found)
        wrong[flat[shown]] = True
        return wrong

    def _sharing(self, step: Step, content: Content | None) -> str:
        """The sums whose threads read the same cell of a factor as the focused thread."""
        sums = self._board.sums
        if content is None or sums.own:
            return ""
        path = ""
        window = self._sums
        for number_ in (0, 1):
            access = self._boards.factor_access(self._board, step, number_)
            if access is None or not access.active[self._model.thread]:
                continue
            same = access.active & (access.offsets == access.offsets[self._model.thread])
            same[self._model.thread] = False
            for row, column in sums.cells[same].tolist():
                r, c = row - content.start[0], column - content.start[1]
                if row >= 0 and 0 <= r < window.cells.rows and 0 <= c < window.cells.columns:
                    path += window.cells.path(r, c)
        return path


def _box_in(window: Window, row: int, column: int) -> Box | None:
    cells = window.cells
    is_within = 0 <= row < cells.rows and 0 <= column < cells.columns
    return cells.box(row, column) if is_within else None


def _kind_of(factor: Factor) -> str:
    """Where a factor is: in one of the memories, or in a register."""
    return SPACE_NAMES[factor.array.space] if factor.array is not None else "register"
