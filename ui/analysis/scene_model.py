"""What the scene draws beside a recording's steps: loops, phases, tiles, unordered cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.tree import ArraySpace, Barrier, Loop, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.hazards.findings import Hazard
from simulator.recording.navigation import Position, positions
from simulator.recording.recording import StepAccess
from simulator.verdict.form import LaunchForm
from ui.analysis.clock import Clock
from ui.analysis.flat_tiles import shared_shapes
from ui.analysis.product_roles import (
    Product,
    Shape,
    array_shapes,
    product_of_catalogue,
    product_of_form,
)
from ui.analysis.products import loads_tile
from ui.analysis.right_values import RightValues
from ui.analysis.tile_of_product import find_tile
from ui.analysis.tiles_of_k import TilesOfK, number_tiles, tiles_of_matrices, tiles_of_shared
from ui.analysis.unordered_cells import find_racing_cells, find_unordered_cells
from ui.view.what_if import Change


class Phase(StrEnum):
    """What a step is for, in the order of the timeline's key."""

    LOAD = "load"  # from global memory, outside the inner loop, or a whole tile
    COMPUTE = "compute"
    BARRIER = "barrier"
    STORE = "store"  # to global memory
    OTHER = "other"


SHARED_KINDS = {(kind, MemorySpace.SHARED) for kind in AccessKind}


@dataclass(frozen=True, slots=True)
class SceneModel:
    """A recording as the scene shows it, for one focused thread."""

    recording: Recording
    thread: int  # the focused one's number in the block, counted in x, then y, then z
    outer: Loop | None  # the outermost loop that most steps are in
    inner: Loop | None  # the loop directly within it that most steps are in
    phases: tuple[Phase, ...]  # one for each step
    product: Product | None  # None for a kernel that computes something else
    shapes: Mapping[str, Shape]  # rows and columns of each array in global or constant memory
    shared_shapes: Mapping[str, tuple[int, ...]]  # the dimensions of each shared array
    is_user_kernel: bool  # whether a visitor wrote the kernel: none that was measured
    tiles: Mapping[str, Array]  # of A and B: int [cells], the tile of each cell that this block
    # reads, else -1; without tiles_of_k the outer iteration that first reads it; empty where the
    # kernel multiplies no matrices
    tile: tuple[int, int, int] | None  # rows and columns of C that a block produces, and the depth
    # of K that it takes at a time; None for a kernel without tiles
    hazards: tuple[Hazard, ...]  # of the whole launch
    unordered: tuple[Mapping[str, Array], ...]  # for each step and shared array: int [n], the
    # cells that race or that are read before they were written
    racing: tuple[Mapping[str, Array], ...]  # for each step and global array: int [n], the cells
    # that race
    positions: tuple[Position, ...]  # for each step, the loops that it is in and their iterations
    iteration_counts: Mapping[tuple[Position, Loop], int]  # how many iterations a loop runs, by
    # the position of the loops around it
    iterations: int  # outer iterations that the block runs; 1 without an outer loop
    tiles_of_k: TilesOfK | None  # None for a kernel without tiles, or whose sums are not understood
    changes: tuple[Change, ...]  # lines that a what-if changed
    right: RightValues | None  # for a what-if that makes the kernel wrong
    clock: Clock | None = None  # what a GPU's clock said of the kernel; None if it was not traced

    @property
    def tile_count(self) -> int:
        """How many tiles of A and of B the block multiplies; else its outer iterations."""
        return self.iterations if self.tiles_of_k is None else self.tiles_of_k.count


def build_scene_model(
    recording: Recording,
    thread: int,
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    changes: tuple[Change, ...] = (),
    right: Recording | None = None,
    form: LaunchForm | None = None,
) -> SceneModel:
    """Derive from a recording, once, all that the panels of the scene need of it.

    right is a recording of the same block in the same order without the fault of a what-if. form
    is a user kernel's, whose arrays and tile follow from it and from the recording;
    without one the kernel has the catalogue's parameters.
    """
    outer = _most_frequent_loop(recording, None)
    inner = _most_frequent_loop(recording, outer) if outer is not None else None
    step_positions = positions(recording)
    iterations = [_iteration_in(position, outer) for position in step_positions]
    if form is None:
        product: Product | None = product_of_catalogue(recording)
    else:
        product = product_of_form(recording, form)
        tile = None if product is None else find_tile(recording, product, iterations)
    tiles: Mapping[str, Array] = {}
    tiles_of_k = None
    if product is not None:
        if tile is not None:
            tiles_of_k = number_tiles(recording, product, iterations, tile[2], thread)
        tiles = (
            _tiles(recording, product, iterations, inner) if tiles_of_k is None
            else tiles_of_matrices(recording, product, tiles_of_k.depth)
        )  # fmt: skip
    return SceneModel(
        recording=recording,
        thread=thread,
        outer=outer,
        inner=inner,
        phases=tuple(_phase(step, inner, product is not None) for step in recording.steps),
        product=product,
        shapes={**array_shapes(recording), **(product.shapes if product is not None else {})},
        shared_shapes=shared_shapes(recording, None if form is None else product),
        is_user_kernel=form is not None,
        tiles=tiles,
        tile=tile,
        hazards=hazards,
        unordered=find_unordered_cells(recording),
        racing=find_racing_cells(recording, hazards),
        positions=step_positions,
        iteration_counts=iteration_counts(step_positions),
        iterations=_count_iterations(step_positions, outer),
        tiles_of_k=tiles_of_k,
        changes=changes,
        right=None if right is None else RightValues(recording, right),
    )


def _count_iterations(step_positions: tuple[Position, ...], outer: Loop | None) -> int:
    """How many iterations of the outer loop the block runs; 1 without an outer loop."""
    found = (_iteration_in(position, outer) for position in step_positions)
    return max((t for t in found if t is not None), default=0) + 1


def _tiles(
    recording: Recording, product: Product, iterations: Sequence[int | None], inner: Loop | None
) -> dict[str, Array]:
    """The outer iteration that first reads each cell of A and B: int [cells], -1 for none.

    Without an inner loop all cells that the outer loop reads are of one tile, number 0.
    """
    shapes = product.shapes
    tiles = {name: np.full(shapes[name][0] * shapes[name][1], -1) for name in product.factors}
    for step in recording.steps:
        iteration_ = iterations[step.number]
        if iteration_ is None:
            continue
        for access in step.accesses:
            if (
                access.kind is AccessKind.LOAD
                and access.space is MemorySpace.GLOBAL
                and access.name in tiles
            ):
                cells, tile = cells_of(access), tiles[access.name]
                tile[cells[tile[cells] < 0]] = 0 if inner is None else iteration_
    return tiles


def _most_frequent_loop(recording: Recording, around: Loop | None) -> Loop | None:
    """The outermost loop, or the loop directly within `around`, that most steps are in."""
    steps: Counter[Loop] = Counter()
    for step in recording.steps:
        nest = [position.loop for position in step.loops]
        if around is not None:
            nest = nest[1:] if nest and nest[0] is around else []
        if nest:
            steps[nest[0]] += 1
    return steps.most_common(1)[0][0] if steps else None


def focus_cell(model: SceneModel) -> tuple[int, int] | None:
    """Row and column of the first cell of C that the focused thread stores, if it stores any."""
    if model.product is None:
        return None
    cell = stored_cell(model.recording, model.thread, model.product.C)
    return None if cell is None else divmod(cell, model.product.N)


def stored_cell(recording: Recording, thread: int, name: str = "C") -> int | None:
    """The first cell of C that a thread stores, counted from C's start; None if it stores none.

    name is what the kernel calls C. A store beyond C is dropped: it stores no cell.
    """
    for step in recording.steps:
        for access in step.accesses:
            is_store = access.kind is not AccessKind.LOAD and access.name == name
            if is_store and access.active[thread] and access.in_bounds[thread]:
                return int(access.offsets[thread]) // access.element_bytes
    return None


def cells_of(access: StepAccess, thread: int | None = None) -> Array:
    """The cells, counted from the array's start, that active threads (or one) touch."""
    cells, threads = access.touched_cells()
    return np.unique(cells if thread is None else cells[threads == thread])


def distinct_snapshots(snapshots: Iterable[Array]) -> Iterator[Array]:
    """The snapshots in order, without those that are the one before: nothing changed there."""
    before: Array | None = None
    for snapshot in snapshots:
        if snapshot is not before:
            yield snapshot
        before = snapshot


def values_held(snapshots: Iterable[Array]) -> Array:
    """The numbers, each once, that an array ever holds: those of the first snapshot, and changes.

    All snapshots together may be a thousand times as large as what is returned.
    """
    found: list[Array] = []
    before: Array | None = None
    for snapshot in snapshots:
        is_like = before is not None and before.shape == snapshot.shape
        found.append(np.unique(snapshot[snapshot != before] if is_like else snapshot))
        before = snapshot
    return np.unique(np.concatenate(found)) if found else np.zeros(0)


def _phase(step: Step, inner: Loop | None, is_product: bool) -> Phase:
    if isinstance(step.statement, Barrier):
        return Phase.BARRIER
    kinds = {(a.kind, a.space) for a in step.accesses}
    within = inner is not None and any(position.loop is inner for position in step.loops)
    if {(AccessKind.STORE, MemorySpace.GLOBAL), (AccessKind.ATOMIC, MemorySpace.GLOBAL)} & kinds:
        return Phase.STORE
    is_copy = (not within and inner is not None) or not is_product or loads_tile(step)
    if (AccessKind.LOAD, MemorySpace.GLOBAL) in kinds and is_copy:
        return Phase.LOAD
    if within or (kinds and inner is None) or not (is_product or kinds.isdisjoint(SHARED_KINDS)):
        return Phase.COMPUTE
    return Phase.OTHER


def warp_alone(model: SceneModel, step: Step) -> int | None:
    """The warp that runs a step while the block's others are elsewhere in the kernel.

    None where all warps go together: then their first step has all threads.
    """
    if model.recording.steps[0].active.all():
        return None
    warps = np.unique(np.flatnonzero(step.active) // WARP_SIZE)
    return int(warps[0]) if warps.size == 1 else None


def iteration_noun(model: SceneModel) -> str:
    """What an iteration of the outer loop is called: a product's with an inner loop is a tile."""
    return "tile" if model.inner is not None and model.product is not None else "iteration"


def outer_iteration(model: SceneModel, step: Step) -> int | None:
    """Which iteration of the outer loop a step is in, from 0, or None outside it."""
    return _iteration_in(model.positions[step.number], model.outer)


def multiplied_tile(model: SceneModel, step: Step) -> int | None:
    """The tile, counted along K from 0, that a step multiplies, or the steps around it.

    None outside the outer loop, and in an outer iteration that multiplies nothing. Without tiles
    the outer iteration itself.
    """
    if model.tiles_of_k is None:
        return outer_iteration(model, step)
    return model.tiles_of_k.multiplied[step.number]


def loaded_tile(model: SceneModel, step: Step) -> int | None:
    """The tile of A or B that a step reads from global memory; None if it reads none."""
    return None if model.tiles_of_k is None else model.tiles_of_k.loaded[step.number]


def unordered_cells(model: SceneModel, step: Step, space: ArraySpace) -> Mapping[str, Array]:
    """For each array of a memory that has any: int [n], the cells whose access nothing orders."""
    match space:
        case MemorySpace.SHARED:
            return model.unordered[step.number]
        case MemorySpace.GLOBAL:
            return model.racing[step.number]
        case _:
            return {}


def follows_products(model: SceneModel, step: Step) -> bool:
    """Whether products of tiles were added up to a step."""
    return model.tiles_of_k is not None and step.number >= model.tiles_of_k.first_product


def shared_tiles(model: SceneModel) -> list[Mapping[str, Array]]:
    """For each step and shared array the tile of the value in each cell: int [cells], -1 for none.

    Without tiles the outer iteration that wrote the cell last.
    """
    iterations = [outer_iteration(model, step) for step in model.recording.steps]
    return tiles_of_shared(model.recording, model.product, iterations, model.tiles_of_k)


def iteration(model: SceneModel, step: Step, loop: Loop | None) -> tuple[int, int] | None:
    """Which iteration of a loop a step is in, from 0, and of how many; None outside it."""
    position = model.positions[step.number]
    for depth, (around, number) in enumerate(position):
        if around is loop:
            return number, model.iteration_counts[position[:depth], around]
    return None


def _iteration_in(position: Position, loop: Loop | None) -> int | None:
    """The iteration, from 0, that a position has in a loop; None outside it."""
    return next((number for around, number in position if around is loop), None)


def iteration_counts(step_positions: tuple[Position, ...]) -> dict[tuple[Position, Loop], int]:
    """How many iterations each loop runs, by the position of the loops around it."""
    counts: dict[tuple[Position, Loop], int] = {}
    for position in step_positions:
        for depth, (loop, number) in enumerate(position):
            run = position[:depth], loop
            counts[run] = max(counts.get(run, 0), number + 1)
    return counts


def writer(recording: Recording, name: str, cell: int, step: int | None = None) -> int | None:
    """The thread that last wrote a cell of an array up to a step (or ever); else the first to."""
    steps = recording.steps
    last = len(steps) - 1 if step is None else step
    for candidate in (*reversed(steps[: last + 1]), *steps[last + 1 :]):
        for access in candidate.accesses:
            if access.kind is AccessKind.LOAD or access.name != name:
                continue
            cells, threads = access.touched_cells()
            found = threads[cells == cell]
            if found.size:
                return int(found[-1])
    return None
