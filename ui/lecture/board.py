"""A product as a blackboard has it: the left factor's rows, the upper one's columns, the sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import Expression, Load, Member, MemorySpace, Name, Statement, Variable
from simulator.language.visit import strip_casts
from simulator.launch import Dim3, unravel
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.products import accumulated_variable, product_of_sum
from ui.analysis.scene_model import SceneModel
from ui.lecture.arrays import ArrayName, ArrayReader, array_of
from ui.lecture.cells import columns_of_block

SAMPLES = 64  # products of one thread that tell how its sums are arranged

Cell = tuple[int, int]  # row, column


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a product: an array's cell, or a register."""

    array: ArrayName | None  # None for a register
    text: str  # as the source has it
    upright: bool = False  # an array of one dimension that is drawn as a column


@dataclass(frozen=True, slots=True)
class Sums:
    """Where the sums of a block, or of one thread, are."""

    variable: Variable
    own: bool  # whether they are an array of the focused thread
    rows: int
    columns: int
    cells: Array  # int [T, 2] of a block: each thread's row and column; [0, 2] of one thread
    corner: Cell  # row and column of C where the first sum goes; (0, 0) if not known


@dataclass(frozen=True, slots=True)
class Board:
    """One product statement: its factors and sums, and whether they are in line."""

    statement: Statement
    left: Factor
    top: Factor
    sums: Sums
    left_offset: int | None  # from a sum's row to its factor's; None if they are not in line
    top_offset: int | None  # from a sum's column to its factor's; None if they are not in line


def access_of(step: Step, operand: Expression) -> StepAccess | None:
    """The load that brought an operand; None if it is in a register."""
    bare = strip_casts(operand)
    lvalue = bare.lvalue if isinstance(bare, Load) else bare
    while isinstance(lvalue, Member):
        lvalue = lvalue.base
    for access in step.accesses:
        if access.kind is AccessKind.LOAD and access.expression is lvalue:
            return access
    return None


class Boards:
    """The boards of a recording, one for each statement that adds a product."""

    def __init__(self, model: SceneModel, reader: ArrayReader) -> None:
        self._model, self._reader = model, reader
        self._boards: dict[Statement, Board] = {}
        self._steps: dict[Statement, list[Step]] = {}
        for step in model.recording.steps if model.product is not None else ():
            if product_of_sum(step.statement) is not None:
                self._steps.setdefault(step.statement, []).append(step)

    def __iter__(self) -> Iterator[Board]:
        """Every board, in the order in which its statement first runs."""
        for statement in self._steps:
            yield self.of(statement)

    def is_product(self, step: Step) -> bool:
        """Whether a step adds a product."""
        return step.statement in self._steps

    def of(self, statement: Statement) -> Board:
        """The board of a statement that adds a product."""
        if statement not in self._boards:
            self._boards[statement] = self._build(statement)
        return self._boards[statement]

    def left_cell(self, board: Board, step: Step, thread: int) -> Cell | None:
        """Row and column of the left factor that a thread reads at a step of the board."""
        return self._factor_cell(board.left, step, self._operand(board, 0), thread)

    def top_cell(self, board: Board, step: Step, thread: int) -> Cell | None:
        """The same of the upper factor."""
        return self._factor_cell(board.top, step, self._operand(board, 1), thread)

    def factor_access(self, board: Board, step: Step, number: int) -> StepAccess | None:
        """The load of the left (0) or the upper (1) factor at a step."""
        return access_of(step, self._operand(board, number))

    def sum_cell(self, board: Board, step: Step, thread: int) -> Cell | None:
        """Row and column of the sum that a thread adds to at a step of the board."""
        sums = board.sums
        if not sums.own:
            row, column = sums.cells[thread].tolist()
            return (row, column) if row >= 0 else None
        for access in step.accesses:
            if access.kind is AccessKind.STORE and access.name == sums.variable.name:
                cell = int(access.offsets[thread]) // access.element_bytes
                return divmod(cell, sums.columns)
        return None

    def shape(self, factor: Factor) -> tuple[int, int]:
        """Rows and columns of a factor's array as it is drawn."""
        if factor.array is None:
            return 1, 1
        rows, columns = self._reader.shape(factor.array)
        return (columns, rows) if factor.upright else (rows, columns)

    def _operand(self, board: Board, number: int) -> Expression:
        product = product_of_sum(board.statement)
        assert product is not None
        return product.right if number else product.left

    def _factor_cell(
        self, factor: Factor, step: Step, operand: Expression, thread: int
    ) -> Cell | None:
        access = access_of(step, operand)
        if access is None or factor.array is None:
            return (0, 0) if factor.array is None else None
        if not (access.active[thread] and access.in_bounds[thread]):
            return None
        cell = int(access.offsets[thread]) // access.element_bytes
        row, column = divmod(cell, self._reader.shape(factor.array)[1])
        return (column, row) if factor.upright else (row, column)

    def _build(self, statement: Statement) -> Board:
        step = self._steps[statement][0]
        product = product_of_sum(statement)
        assert product is not None
        factors = []
        for number, operand in enumerate((product.left, product.right)):
            access = access_of(step, operand)
            array = array_of(access) if access is not None else None
            upright = (
                number == 0 and array is not None and array.space is MemorySpace.LOCAL
                and self._reader.shape(array)[0] == 1
            )  # fmt: skip
            factors.append(Factor(array, _name_of(operand), upright))
        variable = accumulated_variable(statement)
        assert variable is not None
        sums = self._sums(variable)
        board = Board(statement, factors[0], factors[1], sums, None, None)
        offsets = self._offsets(board)
        return Board(statement, factors[0], factors[1], sums, *offsets)

    def _sums(self, variable: Variable) -> Sums:
        if variable.space is MemorySpace.LOCAL:
            rows, columns = self._reader.shape(ArrayName(variable.name, MemorySpace.LOCAL))
            if rows == 1:  # of one dimension: it is drawn as a column
                rows, columns = columns, rows
            return Sums(variable, True, rows, columns, np.zeros((0, 2), np.int64), (0, 0))
        cells, corner = sums_of_threads(self._model)
        has_sum = np.logical_or.reduce(
            [step.active for steps in self._steps.values() for step in steps]
        )
        cells = np.where(has_sum[:, None], cells, -1)
        rows, columns = (int(cells[:, axis].max()) + 1 for axis in (0, 1))
        return Sums(variable, False, rows, columns, cells, corner)

    def _offsets(self, board: Board) -> tuple[int | None, int | None]:
        """How far each factor's row or column is from its sum's, where that never differs."""
        steps = self._steps[board.statement]
        samples = [(step, self._model.thread) for step in steps[:SAMPLES]]
        if not board.sums.own:
            samples += [(steps[0], thread) for thread in np.flatnonzero(steps[0].active).tolist()]
        rows: set[int] = set()
        columns: set[int] = set()
        for step, thread in samples:
            total = self.sum_cell(board, step, thread)
            left, top = self.left_cell(board, step, thread), self.top_cell(board, step, thread)
            if total is None or left is None or top is None:
                continue
            rows.add(left[0] - total[0])
            columns.add(top[1] - total[1])
        return (
            rows.pop() if len(rows) == 1 else None,
            columns.pop() if len(columns) == 1 else None,
        )


def sums_of_threads(model: SceneModel) -> tuple[Array, Cell]:
    """Each thread's sum as the block's part of C has it: int [T, 2], rows and columns from 0.

    Also the cell of C where the first is. What each thread stores in C tells; a thread that
    stores nothing, because its cell is beyond C's edges, follows from its neighbours, else it has
    (-1, -1). So has a thread of another z than the focused one's, in whose cell one of that z
    is. Where nothing is stored, threads are as in their block.
    """
    recording, product = model.recording, model.product
    block, count = recording.launch.block, recording.launch.threads
    cells = np.full((count, 2), -1)
    for step in recording.steps:
        for access in step.accesses:
            is_store = access.kind is not AccessKind.LOAD
            if product is not None and is_store and access.name == product.C:
                flat, threads = access.touched_cells()
                cells[threads, 0], cells[threads, 1] = np.divmod(flat, product.N)
    places = np.array([unravel(thread, block)[:2] for thread in range(count)])  # x, y
    is_known = cells[:, 0] >= 0
    if not is_known.any():
        columns = columns_of_block(block)
        return np.stack(np.divmod(np.arange(count), columns), axis=1), (0, 0)
    if not is_known.all():
        for across, down in ((0, 1), (1, 0)):
            row = cells[:, 0] - places[:, down]
            column = cells[:, 1] - places[:, across]
            if np.unique(row[is_known]).size == np.unique(column[is_known]).size == 1:
                cells[:, 0] = row[is_known][0] + places[:, down]
                cells[:, 1] = column[is_known][0] + places[:, across]
                is_known[:] = True
                break
    corner = cells[is_known].min(axis=0)
    cells[is_known] -= corner
    _hide_other_planes(cells, block, model.thread)
    return cells, (int(corner[0]), int(corner[1]))


def _hide_other_planes(cells: Array, block: Dim3, thread: int) -> None:
    """Leave of threads of several z that are in one cell the one of the focused thread's z.

    cells int [T, 2] has their rows and columns, and gets (-1, -1) for the others.
    """
    planes = np.arange(cells.shape[0]) // (block[0] * block[1])
    own = planes == planes[thread]
    taken = set(map(tuple, cells[own].tolist()))
    for other in np.flatnonzero(~own).tolist():
        if tuple(cells[other].tolist()) in taken:
            cells[other] = -1


def _name_of(operand: Expression) -> str:
    bare = strip_casts(operand)
    if isinstance(bare, Load) and isinstance(bare.lvalue, Name):
        return bare.lvalue.variable.name
    return ""
