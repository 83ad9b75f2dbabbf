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
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Fault, Observer
from simulator.machine.schedule import Schedule
from simulator.size_expression import evaluate
from simulator.verdict.expected import expected_results
from simulator.verdict.experiment import BLOCK_SECONDS, run_to_end
from simulator.verdict.form import LaunchForm, with_fractions
from simulator.verdict.launches import build_launch, known_values
from simulator.verdict.parameters import vector_length
from simulator.verdict.sizes import TILE_SIDE
from simulator.verdict.tasks import LARGEST_WORK, TASKS, wrong_cells

GRID = 64  # blocks in x and in y of a launch of which single blocks run
ALL_SECONDS = 8.0  # of a processor, for all blocks of a probe
FEW_TERMS = 8  # of a product's sums, where it only matters what is stored
# Rows and terms with which a block is to be right; the second for tiles that nothing guards.
TRIED = ((37, 16), (131, 32))
SIZES = (37, 131, 523)  # of the result, each larger than a block's part in more kernels
APART = 6  # by how much its columns are more than its rows


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
    """The cells of one array that are stored, by their numbers, and whether accesses were dropped.

    Those are outside of an array, or not aligned.
    """

    def __init__(self, array: str) -> None:
        self.cells: set[int] = set()
        self.has_faults = False
        self._array = array

    def on_fault(self, fault: Fault) -> None:
        """Note it."""
        self.has_faults = True

    def on_access(self, access: Access) -> None:
        """Keep what a store touches."""
        if access.kind is not AccessKind.LOAD and access.buffer.name == self._array:
            self.cells.update(np.unique(access.cells()[0]).tolist())

    def numbers(self) -> Array:
        """The cells' numbers in their order: int [n]."""
        return np.array(sorted(self.cells), dtype=np.int64)


class Probe:
    """Runs single blocks of a form with a task; its grid does not matter."""

    def __init__(self, kernel: Kernel, form: LaunchForm) -> None:
        self._kernel = kernel
        # With digits alone a sum of which the larger of it and 0 is stored would be a sum.
        self._form = with_fractions(replace(form, grid=(str(GRID), str(GRID), "1")))
        self._task = TASKS[form.task]
        self._roles = dict(form.roles)
        self._result = self._roles[self._task.results[0]]
        given = {one.name for one in form.numbers}
        self._end = time.process_time() + ALL_SECONDS
        self._multiple = (
            TILE_SIDE if calls(kernel.body, FRAGMENT_FUNCTIONS) else vector_length(kernel)
        )
        self._free = [self._roles[role] for role in self._task.sizes if self._roles[role] in given]

    def block_is_right(self, is_patient: bool = True) -> bool:
        """Whether the first block stores right values, into cells without holes between them.

        is_patient also tries a larger result: a tile that nothing guards may not fit the first.
        """
        for size, terms in TRIED if is_patient else TRIED[:1]:
            try:
                launch, sizes = self._launch(size, terms)
                machine, stored = self._run(launch, 0)
            except (LaunchError, SourceError):
                return False
            if not stored.has_faults:
                return self._is_right(launch, sizes, machine, stored)
        return False

    def _is_right(
        self, launch: Launch, sizes: Mapping[str, int], machine: Machine, stored: _StoredCells
    ) -> bool:
        found = expected_results(self._kernel, self._form, launch, self._task, sizes)
        expected = found[self._task.results[0]]
        result, cells = machine.results()[self._result], stored.numbers()
        if not cells.size or result.size < expected.size or cells[-1] >= expected.size:
            return False
        wrong = wrong_cells(result, expected, self._task.count_terms(sizes)).reshape(-1)
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

    def _launch(self, size: int, terms: int) -> tuple[Launch, Mapping[str, int]]:
        """A launch of about one size, but for a product's inner one, and its sizes."""
        roles = self._roles
        wanted = {roles.get("K", ""): terms, roles.get("N", ""): size + max(APART, self._multiple)}
        wanted |= {roles.get(role, ""): size for role in ("M", "n")}
        numbers = {
            name: -(-wanted.get(name, size) // self._multiple) * self._multiple
            for name in self._free
        }
        known = known_values(self._kernel, self._form, numbers)
        sizes = {role: evaluate(self._roles[role], known) for role in self._task.sizes}
        if math.prod(sizes.values()) > LARGEST_WORK:
            raise LaunchError("The sizes are too large to try a block.")
        return build_launch(self._kernel, self._form, numbers), sizes

    def _run(self, launch: Launch, block: int) -> tuple[Machine, _StoredCells]:
        """Run one block; the machine, and what it stored."""
        observer = _StoredCells(self._result)
        if time.process_time() > self._end:
            raise LaunchError("A block of this kernel takes too long to be tried.")
        schedule = Schedule.LOCKSTEP
        machine = Machine(self._kernel, launch, [observer], schedule, seconds=BLOCK_SECONDS)
        run_to_end(machine, [block])
        return machine, observer

    def _tile(self, size: int) -> BlockTile | None:
        """The tile at one size; None where no neighbour has cells of its own."""
        launch, sizes = self._launch(size, FEW_TERMS)
        columns = evaluate(self._task.arrays[self._task.results[0]][1], sizes)
        here = self._run(launch, 0)[1].numbers()
        if not here.size:
            return None
        x = _moved(here, self._run(launch, 1)[1].numbers(), columns)
        y = _moved(here, self._run(launch, GRID)[1].numbers(), columns)
        if x is None and y is None:
            return None
        along_x, step_x = x or ("", 0)
        along_y, step_y = y or ("", 0)
        rows, wide = np.unique(here // columns), np.unique(here % columns)
        if not along_y and along_x == "columns" and rows.size == 1:
            beyond = self._run(launch, -(-columns // step_x))[1].numbers()
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
