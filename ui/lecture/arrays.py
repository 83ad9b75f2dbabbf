"""Arrays as a stage draws them: rows and columns, and what they hold at a step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.number_types import numbers_held
from simulator.language.tree import ArraySpace, Declare, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from ui.analysis.product_roles import element_of, two_dimensions
from ui.analysis.scene_model import (
    SceneModel,
    distinct_snapshots,
    shared_tiles,
    unordered_cells,
    values_held,
)
from ui.analysis.variable_values import values_by_step
from ui.analysis.wrong_access import WrongAccess, find_wrong_access
from ui.drawing.canvas import number
from ui.lecture.members import Members, members_of

SPACE_NAMES = {
    MemorySpace.GLOBAL: "global memory",
    MemorySpace.SHARED: "shared memory",
    MemorySpace.LOCAL: "registers",
    MemorySpace.CONSTANT: "constant memory",
}


@dataclass(frozen=True, slots=True)
class ArrayName:
    """An array of the kernel; of a thread's own arrays, those of the focused thread."""

    name: str
    space: ArraySpace


def array_of(access: StepAccess) -> ArrayName:
    """The array that an access goes to."""
    return ArrayName(access.name, access.space)


class ArrayReader:
    """What the arrays of a recording hold at each step, as rows and columns."""

    def __init__(self, model: SceneModel) -> None:
        self._model = model
        self._local: dict[str, list[Array]] = {}
        self._local_written: dict[str, list[Array]] = {}
        self._longest: dict[ArrayName, int] = {}
        # Of each array the latest texts, with the values and marks, if any, that they are of.
        self._latest_texts: dict[ArrayName, tuple[Array | None, Array | None, list[str]]] = {}
        self._iterations: list[Mapping[str, Array]] | None = None
        self._wrong: dict[int, WrongAccess | None] = {}
        self._members: dict[ArrayName, Members | None] = {}

    def shape(self, array: ArrayName) -> tuple[int, int]:
        """Rows and columns; the planes of three dimensions are one under another.

        A struct is a row, and so is a short vector.
        """
        members = self.members(array)
        if members is not None:
            cells = math.prod(self._dimensions(array))
            return cells // members.part_of_cell.size, len(members.parts)
        return two_dimensions(self._dimensions(array))

    def members(self, array: ArrayName) -> Members | None:
        """The columns of an array of structs or of short vectors; None for other arrays.

        None for every array of a product, which is drawn as a matrix.
        """
        if array not in self._members:
            is_plain = self._model.product is not None or array.space is MemorySpace.LOCAL
            recording = self._model.recording
            self._members[array] = (
                None if is_plain else members_of(recording, array.name, array.space)
            )
        return self._members[array]

    def touched(self, access: StepAccess) -> tuple[Array, Array]:
        """The drawn cells that an access touches, and which thread touches each: int [m] each."""
        cells, threads = access.touched_cells()
        members = self.members(array_of(access))
        if members is None:
            return cells, threads
        numbers = members.numbers(cells)
        return numbers[numbers >= 0], threads[numbers >= 0]

    def cell(self, array: ArrayName, drawn: int) -> int:
        """The cell of memory that a drawn cell shows."""
        members = self.members(array)
        return drawn if members is None else members.cell(drawn)

    def _dimensions(self, array: ArrayName) -> tuple[int, ...]:
        steps = self._model.recording.steps
        match array.space:
            case MemorySpace.SHARED:
                return self._model.shared_shapes[array.name]
            case MemorySpace.LOCAL:
                for step in steps:
                    values = step.registers.get(array.name)
                    if values is not None and values.ndim > 1:
                        return tuple(values.shape[1:])
                return (1, 1)
            case _:
                if array.name in self._model.shapes:
                    return self._model.shapes[array.name]
                return np.shape(self._model.recording.arguments[array.name])

    def values(self, step: Step, array: ArrayName) -> Array:
        """The cells' values after a step, flat."""
        match array.space:
            case MemorySpace.SHARED:
                held = step.shared[array.name]
            case MemorySpace.LOCAL:
                return self._local_values(array.name)[step.number]
            case _:
                held = step.outputs.get(array.name, self._model.recording.arguments[array.name])
        return self._numbers(array, held)

    def _numbers(self, array: ArrayName, held: Array) -> Array:
        """What an array holds as the numbers that are drawn, flat."""
        members = self.members(array)
        if members is not None:
            return members.values(held)
        element = element_of(self._model.recording, array.name, array.space)
        return numbers_held(element, np.asarray(held)).reshape(-1)

    def _drawn(self, array: ArrayName, by_cell: Array) -> Array:
        """What there is for each cell of memory, flat, as it is for each drawn cell."""
        members = self.members(array)
        return by_cell if members is None else members.of_cells(by_cell)

    def written(self, step: Step, array: ArrayName) -> Array:
        """bool, flat: the cells that hold a value; of C those that the block has stored."""
        match array.space:
            case MemorySpace.LOCAL:
                return self._written_cells(array.name)[step.number]
            case MemorySpace.SHARED:
                return self._drawn(array, step.written[array.name].reshape(-1))
            case MemorySpace.GLOBAL if self._is_result(array):
                stored = step.stored.get(array.name)
                size = math.prod(self.shape(array))
                return np.zeros(size, np.bool_) if stored is None else stored.reshape(-1)
            case _:
                return np.ones(math.prod(self.shape(array)), np.bool_)

    def _is_result(self, array: ArrayName) -> bool:
        """Whether it is C, whose cells are empty until the block stores them."""
        product = self._model.product
        return product is not None and array.name == product.C and array.space is MemorySpace.GLOBAL

    def unordered(self, step: Step, array: ArrayName) -> Array | None:
        """The cells of an array, int [n], whose access no barrier orders; None if none."""
        unordered = unordered_cells(self._model, step, array.space)
        cells, members = unordered.get(array.name), self.members(array)
        if cells is None or members is None:
            return cells
        numbers = np.unique(members.numbers(cells))
        return numbers[numbers >= 0]

    def wrong(self, step: Step, array: ArrayName) -> Array | None:
        """The cells that a run without a what-if's fault does not have: bool, flat; None if none.

        Also the one of the focused thread's wrong access. Those of its own arrays, and constants,
        are not compared.
        """
        spaces = (MemorySpace.SHARED, MemorySpace.GLOBAL)
        if array.space not in spaces:
            return None
        masks: list[Array] = []
        if self._model.right is not None:
            right = self._model.right.wrong_cells(step, array.name, array.space)
            masks += [] if right is None else [~np.isnan(right)]
            stray = None
            if array.space is MemorySpace.GLOBAL:
                stray = self._model.right.stray_cells(step, array.name)
            masks += [] if stray is None else [stray]
        found = self.wrong_access(step)
        if found is not None and array_of(found.access) == array and 0 <= found.cell < found.size:
            masks.append(np.arange(math.prod(self._dimensions(array))) == found.cell)
        return self._drawn(array, np.logical_or.reduce(masks)) if masks else None

    def wrong_access(self, step: Step) -> WrongAccess | None:
        """The focused thread's wrong access at a step."""
        if step.number not in self._wrong:
            model = self._model
            self._wrong[step.number] = find_wrong_access(
                model.recording, model.right, step, model.thread
            )
        return self._wrong[step.number]

    def right_texts(self, step: Step, array: ArrayName) -> list[str] | None:
        """The right values of the wrong cells of a global array as texts, flat, "" for others.

        None if no cell is wrong, or a run without the fault has none of them.
        """
        if self._model.right is None or array.space is not MemorySpace.GLOBAL:
            return None
        right = self._model.right.wrong_cells(step, array.name, array.space)
        if right is None:
            return None
        return ["" if math.isnan(value) else number(value) for value in right.tolist()]

    def texts(self, step: Step, array: ArrayName) -> list[str]:
        """The cells' values as texts, flat; empty where nothing was written.

        Steps share the snapshots that did not change: those of the latest are there.
        """
        values, written = self.values(step, array), self.written(step, array)
        if array.space is MemorySpace.LOCAL:
            cells = zip(values.tolist(), written.tolist(), strict=True)
            return [number(value) if is_written else "" for value, is_written in cells]
        holders = (step.shared, step.written) if array.space is MemorySpace.SHARED else (
            step.outputs, step.stored
        )  # fmt: skip
        held, marked = (holder.get(array.name) for holder in holders)
        latest = self._latest_texts.get(array)
        if latest is not None and latest[0] is held and latest[1] is marked:
            return latest[2]
        texts = [
            number(value) if is_written else ""
            for value, is_written in zip(values.tolist(), written.tolist(), strict=True)
        ]
        self._latest_texts[array] = held, marked, texts
        return texts

    def texts_of(self, step: Step, array: ArrayName, cells: Array) -> list[str]:
        """The values of some of the cells as texts; empty where nothing was written."""
        values, written = self.values(step, array)[cells], self.written(step, array)[cells]
        return [
            number(value) if is_written else ""
            for value, is_written in zip(values.tolist(), written.tolist(), strict=True)
        ]

    def longest(self, array: ArrayName) -> int:
        """Letters of the longest number that the array ever holds."""
        if array not in self._longest:
            snapshots = distinct_snapshots(self._snapshots(array))
            distinct = values_held(self._numbers(array, snapshot) for snapshot in snapshots)
            if distinct.size > 4096:  # enough to find the longest: the ends, and some between
                distinct = distinct[:: distinct.size // 4096]
            self._longest[array] = max(
                (len(number(value)) for value in distinct.tolist()), default=1
            )
        return self._longest[array]

    def _snapshots(self, array: ArrayName) -> Iterable[Array]:
        """What the array holds step by step; steps share it while it does not change."""
        recording, name = self._model.recording, array.name
        match array.space:
            case MemorySpace.SHARED:
                return (step.shared[name] for step in recording.steps)
            case MemorySpace.LOCAL:
                return self._local_values(name)
            case _:
                argument = np.asarray(recording.arguments[name])
                if name not in recording.steps[-1].outputs:  # nothing writes it
                    return [argument]
                return (step.outputs.get(name, argument) for step in recording.steps)

    def iterations(self, step: Step, array: ArrayName) -> Array:
        """The tile, counted along K, of the value in each cell; -1 for none.

        Of A and B: the tile of each cell that the block reads.
        """
        if array.space is MemorySpace.GLOBAL and array.name in self._model.tiles:
            return self._model.tiles[array.name]
        if array.space is not MemorySpace.SHARED:
            return np.full(math.prod(self.shape(array)), -1)
        if self._iterations is None:
            self._iterations = shared_tiles(self._model)
        return self._drawn(array, self._iterations[step.number][array.name])

    def _local_values(self, name: str) -> list[Array]:
        """The focused thread's array after each step, flat; zeros before its declaration."""
        if name not in self._local:
            size = math.prod(self._dimensions(ArrayName(name, MemorySpace.LOCAL)))
            latest, own = None, np.zeros(size)
            self._local[name] = []
            for values in values_by_step(self._model.recording, name):
                if values is not None and values is not latest:  # steps share what does not change
                    latest, own = values, values[self._model.thread].reshape(-1)
                self._local[name].append(own)
        return self._local[name]

    def _written_cells(self, name: str) -> list[Array]:
        """Which cells of the focused thread's array hold a value after each step: bool, flat.

        A declaration without values leaves them undefined, in each iteration of a loop anew.
        """
        if name in self._local_written:
            return self._local_written[name]
        thread = self._model.thread
        size = math.prod(self._dimensions(ArrayName(name, MemorySpace.LOCAL)))
        mask: Array = np.ones(size, np.bool_)
        by_step = []
        for step in self._model.recording.steps:
            statement = step.statement
            if (
                isinstance(statement, Declare) and statement.variable.name == name
                and statement.variable.space is MemorySpace.LOCAL and step.active[thread]
            ):  # fmt: skip
                is_set = statement.cells is not None or statement.value is not None
                mask = np.full(size, is_set)
            for access in step.accesses:
                if (
                    access.name == name and access.space is MemorySpace.LOCAL
                    and access.kind is not AccessKind.LOAD
                ):  # fmt: skip
                    mask = mask.copy()
                    mask[cells_of_thread(access, thread)] = True
            by_step.append(mask)
        self._local_written[name] = by_step
        return by_step


def cells_of_thread(access: StepAccess, thread: int) -> list[int]:
    """The cells that one thread accesses, flat."""
    if not (access.active[thread] and access.in_bounds[thread]):
        return []
    first = int(access.offsets[thread]) // access.cell_bytes
    return list(range(first, first + max(1, access.width // access.cell_bytes)))
