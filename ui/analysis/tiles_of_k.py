"""Tiles counted along K: which one a step multiplies or loads, and which one a cell belongs to.

A sum takes its products in the order of k, so that the number of products that it has had before
tells the k of the next. It begins with the first tile that the block reads: not with tile 0 where
blocks share K. A kernel that copies ahead reads other tiles in the same iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.fragments import parse_fragment
from simulator.language.tree import (
    AddressOf,
    Call,
    Dereference,
    Evaluate,
    MemorySpace,
    Statement,
    Variable,
)
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from simulator.recording.snapshots import Memory
from ui.analysis.product_roles import Product
from ui.analysis.products import accumulated_variable, multiplication, product_of_sum, variable_of

WAIT = "__pipeline_wait_prior"
NONE = -1  # the tile of a cell that belongs to none


@dataclass(frozen=True, slots=True)
class TilesOfK:
    """The tiles of a recording's block, counted along K from 0."""

    depth: int  # columns of A in one
    count: int
    multiplied: tuple[int | None, ...]  # by each step; by a step that adds no product the one of
    # the next product in the same outer iteration, or of the last; None where there is none
    loaded: tuple[int | None, ...]  # what each step reads from A or B; None if it reads neither
    first_product: int  # the number of the first step that adds a product


def number_tiles(
    recording: Recording, product: Product, iterations: Sequence[int | None], depth: int,
    thread: int,
) -> TilesOfK | None:  # fmt: skip
    """Count tiles along K for one thread; iterations has each step's outer iteration.

    None where the kernel's sums cannot be followed: no statement adds a product, or a sum gets more
    products than all tiles have.
    """
    count = max(1, -(-product.K // depth))
    loaded = tuple(_loaded(step, product, depth) for step in recording.steps)
    first = min((tile for tile in loaded if tile is not None), default=0)
    of_products = {
        number: first + done // depth
        for number, done in _products_before(recording, thread).items()
    }
    if not of_products or max(of_products.values()) >= count:
        return None
    multiplied: list[int | None] = [None] * len(recording.steps)
    for numbers in (range(len(multiplied) - 1, -1, -1), range(len(multiplied))):
        nearest: dict[int, int] = {}  # by outer iteration
        for number in numbers:
            iteration = iterations[number]
            if number in of_products:
                multiplied[number] = of_products[number]
                if iteration is not None:
                    nearest[iteration] = of_products[number]
            elif multiplied[number] is None and iteration is not None:
                multiplied[number] = nearest.get(iteration)
    return TilesOfK(depth, count, tuple(multiplied), loaded, min(of_products))


def _products_before(recording: Recording, thread: int) -> dict[int, int]:
    """For each step that adds a product: how many the thread's sum has had before.

    A tensor core adds as many as its factor has columns. Where the thread does not take part, those
    of the first thread that does.
    """
    threads = np.arange(recording.launch.threads)
    variables: dict[Statement, Variable | None] = {}
    counts: dict[str, Array] = {}  # by the sums' name: int [T, cells]
    before: dict[int, int] = {}
    for step in recording.steps:
        statement = step.statement
        if statement not in variables:
            is_product = product_of_sum(statement) is not None
            variables[statement] = accumulated_variable(statement) if is_product else None
        variable, deep = variables[statement], 1
        call = multiplication(step)
        if call is not None:
            sums, factor = call.arguments[0], parse_fragment(call.texts[1])
            assert isinstance(sums, AddressOf)
            assert factor is not None
            variable, deep = variable_of(sums.lvalue), factor.columns
        if variable is None or not step.active.any():
            continue
        cells = _sum_cells(step, variable)
        done = counts.get(variable.name, np.zeros((threads.size, 1), np.int64))
        missing = int(cells.max()) + 1 - done.shape[1]
        if missing > 0:
            done = np.pad(done, ((0, 0), (0, missing)))
        who = thread if step.active[thread] else int(np.argmax(step.active))
        before[step.number] = int(done[who, cells[who]])
        done[threads[step.active], cells[step.active]] += deep
        counts[variable.name] = done
    return before


def _sum_cells(step: Step, variable: Variable) -> Array:
    """The cell of its sums that each thread adds to: int [T], 0 for a plain variable."""
    for access in step.accesses:
        if (
            access.space is MemorySpace.LOCAL
            and access.kind is AccessKind.STORE
            and access.name == variable.name
        ):
            cells: Array = np.where(
                access.active & access.in_bounds, access.offsets // access.element_bytes, 0
            )
            return cells
    return np.zeros(step.active.size, np.int64)


def _tile_of(product: Product, name: str, cells: Array, depth: int) -> Array:
    """The tiles that cells of A or B belong to."""
    columns = product.columns(name)
    k: Array = cells % columns if name == product.A else cells // columns
    return k // depth


def is_load(product: Product, access: StepAccess) -> bool:
    """Whether an access reads A or B."""
    return (
        access.kind is AccessKind.LOAD
        and access.space is MemorySpace.GLOBAL
        and access.name in product.factors
    )


def _loaded(step: Step, product: Product, depth: int) -> int | None:
    for access in step.accesses:
        if is_load(product, access):
            active = access.active & access.in_bounds
            if active.any():
                cell = access.offsets[active][:1] // access.element_bytes
                return int(_tile_of(product, access.name, cell, depth)[0])
    return None


def tiles_of_matrices(recording: Recording, product: Product, depth: int) -> dict[str, Array]:
    """The tile of each cell of A and B that the block ever reads: int [cells], NONE for others."""
    tiles = {}
    for name in product.factors:
        rows, columns = product.shapes[name]
        is_read = np.zeros(rows * columns, np.bool_)
        for step in recording.steps:
            for access in step.accesses:
                if is_load(product, access) and access.name == name:
                    is_read[access.touched_cells()[0]] = True
        cells = np.arange(rows * columns)
        tiles[name] = np.where(is_read, _tile_of(product, name, cells, depth), NONE)
    return tiles


def tiles_of_shared(
    recording: Recording, product: Product | None, iterations: Sequence[int | None],
    tiles: TilesOfK | None,
) -> list[Mapping[str, Array]]:  # fmt: skip
    """For each step and shared array the tile of the value in each cell: int [cells].

    NONE for a cell that nothing was written to, and for a value that is of no tile. Without tiles
    along K the outer iteration that wrote the cell last.
    """
    stores = None
    if product is not None and tiles is not None:
        stores = _StoredTiles(recording, product, iterations, tiles)
    first = recording.steps[0].shared if recording.steps else {}
    held = Memory()
    for name, values in first.items():
        held.update(name, np.full(values.size, NONE))
    by_step: list[Mapping[str, Array]] = []
    for step in recording.steps:
        if stores is not None:
            stores.begin(step)
        for access in step.accesses:
            if access.kind is not AccessKind.LOAD and access.space is MemorySpace.SHARED:
                cells, threads = access.touched_cells()
                changed = held.contents()[access.name].copy()
                if stores is None:
                    changed[cells] = iterations[step.number] or 0
                else:
                    changed[cells] = stores.of(step, access)[threads]
                held.update(access.name, changed)
        by_step.append(held.contents())
    return by_step


class _StoredTiles:
    """Of which tile the values are that go into shared memory, step by step."""

    def __init__(
        self, recording: Recording, product: Product, iterations: Sequence[int | None],
        tiles: TilesOfK,
    ) -> None:  # fmt: skip
        self._product, self._depth = product, tiles.depth
        loaded = [
            None if product_of_sum(step.statement) is not None else tile
            for step, tile in zip(recording.steps, tiles.loaded, strict=True)
        ]  # a product uses up what it loads
        self._carried = _carried_tiles(iterations, loaded, tiles.count)
        self._copies: list[StepAccess] = []  # asynchronous ones, not yet stored, oldest first
        self._loads: list[StepAccess] = []  # other ones of this step

    def begin(self, step: Step) -> None:
        """Take note of what a step loads."""
        self._loads = []
        for access in step.accesses:
            if is_load(self._product, access):
                lvalue = access.expression
                is_copy = isinstance(lvalue, Dereference) and lvalue.copied
                (self._copies if is_copy else self._loads).append(access)

    def of(self, step: Step, store: StepAccess) -> Array:
        """The tile of what each thread stores: int [T].

        It comes from the load of the same step or, when copies are waited for, from the oldest.
        Threads that load nothing while others do store the zeros beyond a matrix's edge, which are
        of no tile.
        """
        loads = self._next_copy(store) if waits_for_copies(step.statement) else self._loads
        tiles = np.full(store.active.size, NONE)
        for access in loads:
            threads = np.flatnonzero(access.active & access.in_bounds & (tiles == NONE))
            cells = access.offsets[threads] // access.element_bytes
            tiles[threads] = _tile_of(self._product, access.name, cells, self._depth)
        if not (tiles != NONE).any():
            tiles[:] = self._carried[step.number]
        return tiles

    def _next_copy(self, store: StepAccess) -> list[StepAccess]:
        for i, copy in enumerate(self._copies):
            if (copy.active & store.active).any():
                return [self._copies.pop(i)]
        return []


def waits_for_copies(statement: Statement) -> bool:
    """Whether a statement waits for asynchronous copies, whose stores are made then."""
    match statement:
        case Evaluate(expression=Call(function=function)):
            return function == WAIT
        case _:
            return False


def _carried_tiles(
    iterations: Sequence[int | None], loaded: Sequence[int | None], count: int
) -> list[int]:
    """For each step the tile of a value from A or B that a register may hold.

    It is what the same outer iteration loaded last, else what it loads next, else its own number.
    Outside the outer loop only steps in sequence count, and what none of them loaded is NONE.
    """
    latest: dict[tuple[int | None, int], int] = {}
    following: dict[tuple[int | None, int], int] = {}
    keys: list[tuple[int | None, int]] = []
    for run, (iteration, numbers) in enumerate(groupby(iterations)):
        keys += [(iteration, run if iteration is None else 0) for _ in numbers]
    next_tiles: list[int | None] = [None] * len(keys)
    for number in range(len(keys) - 1, -1, -1):
        next_tiles[number] = following.get(keys[number])
        tile = loaded[number]
        if tile is not None:
            following[keys[number]] = tile
    carried = []
    for number, key in enumerate(keys):
        tile = loaded[number]
        if tile is not None:
            latest[key] = tile
        found = latest.get(key, next_tiles[number])
        if found is None:
            found = NONE if key[0] is None else min(key[0], count - 1)
        carried.append(found)
    return carried


def copied_cells(recording: Recording, load: StepAccess) -> tuple[str, Array, Array, Array]:
    """The shared array that an asynchronous copy goes to, its cells, those it reads, and threads.

    Cells are elements, counted from their array's start, in the order of threads: int [m] each. A
    cell beyond the shared array's end is left out.
    """
    assert load.targets is not None
    sources, threads = load.touched_cells()
    held = recording.steps[0].shared
    starts = {
        variable.name: start
        for variable, start in recording.kernel.shared_offsets.items() if variable.name in held
    }  # fmt: skip
    first = int(load.targets[threads].min()) if threads.size else 0
    name = max((one for one in starts if starts[one] <= first), key=lambda one: starts[one])
    each = max(1, load.width // load.cell_bytes)
    cells = (load.targets[threads] - starts[name]) // load.cell_bytes
    cells += np.arange(threads.size) % each
    inside = cells < held[name].size
    return name, cells[inside], sources[inside], threads[inside]
