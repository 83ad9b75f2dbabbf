"""What single blocks of a kernel do: which cells of the result they store, and whether rightly."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.launch import Launch
from simulator.machine.budget import Progress
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer
from simulator.machine.schedule import Schedule
from simulator.size_expression import evaluate
from simulator.verdict.form import LaunchForm, NumberArgument
from simulator.verdict.launches import arrays_by_role, build_launch, known_values
from simulator.verdict.tasks import LARGEST_WORK, TASKS, wrong_cells

GRID = 64  # blocks in x and in y of a launch of which single blocks run
SECONDS = 4.0  # for one block, on a machine however busy
PROCESSOR_SECONDS = 0.8  # for one block; most take a tenth of one
ALL_SECONDS = 2.0  # of a processor, for all blocks of a probe
TILE_SIDE = 16  # of which the sizes are multiples, where warps multiply tiles
INNER = 8  # terms of a product's sums
SIZES = (37, 131, 523)  # of the result, each larger than a block's part in more kernels


@dataclass(frozen=True, slots=True)
class BlockTile:
    """The part of a result that a block stores.

    along_x and along_y are what the next block in x and in y goes along, "rows", "columns", or ""
    where it has no cells of its own. Where is_linear, a block stores `columns` cells, which go on
    in the next row. has_gaps says whether cells between two blocks are stored by neither.
    """

    rows: int
    columns: int
    along_x: str
    along_y: str
    is_linear: bool
    has_gaps: bool


class _StoredCells(Observer):
    """The cells of one array that are stored, by their numbers."""

    def __init__(self, array: str) -> None:
        self.cells: set[int] = set()
        self._array = array

    def on_access(self, access: Access) -> None:
        """Keep what a store touches."""
        if access.kind is not AccessKind.LOAD and access.buffer.name == self._array:
            self.cells.update(np.unique(access.cells()[0]).tolist())


class Probe:
    """Runs single blocks of a form with a task; its grid does not matter."""

    def __init__(self, kernel: Kernel, form: LaunchForm) -> None:
        self._kernel = kernel
        self._form = replace(form, grid=(str(GRID), str(GRID), "1"))
        self._task = TASKS[form.task]
        self._roles = dict(form.roles)
        self._result = self._roles[self._task.results[0]]
        given = {one.name for one in form.arguments if isinstance(one, NumberArgument)}
        self._end = time.process_time() + ALL_SECONDS
        self._multiple = TILE_SIDE if calls(kernel.body, FRAGMENT_FUNCTIONS) else 1
        self._free = [self._roles[role] for role in self._task.sizes if self._roles[role] in given]

    def block_is_right(self) -> bool:
        """Whether the first block stores right values, into cells without holes between them."""
        try:
            launch, sizes = self._launch(SIZES[0])
            machine, cells = self._run(launch, 0)
        except (LaunchError, SourceError):
            return False
        before = arrays_by_role(self._kernel, self._form, launch, self._task.arrays)
        expected = self._task.expected(before, sizes)[self._task.results[0]]
        result = machine.results()[self._result]
        if not cells.size or result.size < expected.size or cells[-1] >= expected.size:
            return False
        wrong = wrong_cells(result, expected, self._task.terms(sizes)).reshape(-1)
        rows, columns = np.divmod(cells, expected.shape[-1])
        in_rectangle = (int(np.ptp(rows)) + 1) * (int(np.ptp(columns)) + 1)
        has_holes = cells.size not in (in_rectangle, int(np.ptp(cells)) + 1)
        return not has_holes and not wrong[cells].any()

    def tile(self) -> BlockTile | None:
        """What a block stores of the result; None where that is no rectangle that blocks repeat."""
        found: BlockTile | None = None
        for size in SIZES:
            try:
                found = self._tile(size) or found
            except (SourceError, LaunchError):
                break
            if found is not None and (found.is_linear or (found.along_x and found.along_y)):
                break
            if not self._free:
                break
        return found

    def _launch(self, size: int) -> tuple[Launch, Mapping[str, int]]:
        """A launch whose sizes are one number, but for a product's inner one, and its sizes."""
        size, terms = (-(-each // self._multiple) * self._multiple for each in (size, INNER))
        inner = self._roles.get("K", "")
        is_apart = inner not in (self._roles.get("M"), self._roles.get("N"))
        numbers = {name: terms if is_apart and name == inner else size for name in self._free}
        known = known_values(self._kernel, self._form, numbers)
        sizes = {role: evaluate(self._roles[role], known) for role in self._task.sizes}
        if math.prod(sizes.values()) > LARGEST_WORK:
            raise LaunchError("The sizes are too large to try a block.")
        return build_launch(self._kernel, self._form, numbers), sizes

    def _run(self, launch: Launch, block: int) -> tuple[Machine, Array]:
        """Run one block; the machine, and the numbers of the result's cells that it stored."""
        observer = _StoredCells(self._result)
        end = min(self._end, time.process_time() + PROCESSOR_SECONDS)

        def check(_: Progress) -> None:
            if time.process_time() > end:
                raise LaunchError("A block of this kernel takes too long to be tried.")

        seconds = SECONDS if time.process_time() < end else 0.0
        machine = Machine(
            self._kernel, launch, [observer], Schedule.LOCKSTEP, seconds=seconds, on_progress=check
        )
        machine.run(np.array([block]))
        return machine, np.array(sorted(observer.cells), dtype=np.int64)

    def _tile(self, size: int) -> BlockTile | None:
        """The tile at one size; None where no neighbour has cells of its own."""
        launch, sizes = self._launch(size)
        columns = sizes[self._task.arrays[self._task.results[0]][1]]
        here = self._run(launch, 0)[1]
        if not here.size:
            return None
        x = _moved(here, self._run(launch, 1)[1], columns)
        y = _moved(here, self._run(launch, GRID)[1], columns)
        if x is None and y is None:
            return None
        along_x, step_x = x or ("", 0)
        along_y, step_y = y or ("", 0)
        rows, wide = np.unique(here // columns), np.unique(here % columns)
        if not along_y and along_x == "columns" and rows.size == 1:
            beyond = self._run(launch, -(-columns // step_x))[1]
            if beyond.size and beyond[0] // columns != rows[0]:
                return BlockTile(1, step_x, "columns", "", True, here.size < step_x)
        steps = {along_y: step_y, along_x: step_x}
        own_rows, own_columns = int(rows[-1]) + 1, int(wide[-1]) + 1
        down, across = steps.get("rows", own_rows), steps.get("columns", own_columns)
        has_gaps = own_rows < down or own_columns < across
        return BlockTile(down, across, along_x, along_y, False, has_gaps)


def _moved(here: Array, there: Array, columns: int) -> tuple[str, int] | None:
    """Along what another block's cells lie from a block's, and how far; None where they do not.

    Blocks that share cells are none of a tiling.
    """
    if not there.size or np.isin(there, here).any():
        return None
    down = int(np.min(there // columns) - np.min(here // columns))
    across = int(np.min(there % columns) - np.min(here % columns))
    if down > 0 and across == 0:
        return "rows", down
    if across > 0 and down == 0:
        return "columns", across
    return None
