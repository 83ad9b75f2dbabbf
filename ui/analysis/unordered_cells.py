"""Which cells a step touches without a barrier between it and another thread's access."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.retries import retried_reads
from simulator.language.tree import Expression, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.machine.warp_syncs import WarpSyncs
from simulator.observers.hazards.findings import Hazard
from simulator.observers.hazards.hazard_kind import RACES
from simulator.observers.hazards.races import Relation, is_race
from simulator.recording.recording import StepAccess

NOBODY, MANY = -1, -2


@dataclass(frozen=True, slots=True)
class _CellAccesses:
    """What one instruction did to n cells of an array."""

    name: str  # of the array
    kind: AccessKind
    cells: Array  # int [n], counted from the array's start
    threads: Array  # int [n], the thread of the block that touches each
    warps: Array  # int [n], that thread's warp
    syncs: WarpSyncs  # of the block, or of the one warp that this is
    lanes: Array  # int [n], the lane of `syncs` that each thread is
    warp_syncs: int  # calls of __syncwarp() that the warps had made
    interval: int  # barriers that the block had passed
    iteration: int  # of the outermost loop


class _LastAccesses:
    """The last accesses of one kind to each cell of an array, of one barrier interval.

    Each array is int [cells]. A thread's warp is recorded apart from the thread, since several
    threads of one warp are ordered by its __syncwarp(), and those of several warps are not.
    """

    def __init__(self, cells: int) -> None:
        self.interval = np.full(cells, -1)  # barriers that the block had passed
        self.warp = np.full(cells, NOBODY)  # MANY for threads of several warps
        self.warp_syncs = np.zeros(cells, np.int64)  # calls of __syncwarp() before it
        self.thread = np.full(cells, NOBODY)  # MANY for several threads that none of these orders
        self.iteration = np.full(cells, -1)  # of the outermost loop

    def add(self, accesses: _CellAccesses) -> None:
        """Add the accesses of one instruction, made after (or all before) those added so far."""
        cells, threads, warps = accesses.cells, accesses.threads, accesses.warps
        same_interval = self.interval[cells] == accesses.interval
        same_warp = same_interval & (self.warp[cells] == warps)
        unordered = same_warp & ~self._ordered(accesses)
        other_warp = same_interval & ~same_warp
        other_thread = other_warp | (unordered & (self.thread[cells] != threads))
        _assign_or_many(self.warp, cells, np.where(other_warp, MANY, warps))
        _assign_or_many(self.thread, cells, np.where(other_thread, MANY, threads))
        self.warp_syncs[cells] = accesses.warp_syncs
        self.interval[cells] = accesses.interval
        self.iteration[cells] = accesses.iteration

    def race_with(self, accesses: _CellAccesses, kind: AccessKind) -> Array:
        """Which of one instruction's accesses race with some of these, of the given kind: [n]."""
        cells = accesses.cells
        relation = Relation(
            same_thread=self.thread[cells] == accesses.threads,
            same_warp=self.warp[cells] == accesses.warps,
            same_block=np.ones(cells.size, np.bool_),  # one block is recorded
            same_interval=self.interval[cells] == accesses.interval,
            same_warp_interval=~self._ordered(accesses),
        )
        return np.broadcast_to(is_race(accesses.kind, kind, relation), cells.shape)

    def _ordered(self, accesses: _CellAccesses) -> Array:
        """Whether a __syncwarp() is between these and accesses of the same warp: bool [n].

        Where several threads have touched a cell, it must be one that orders all of the warp's.
        """
        cells, lanes, syncs = accesses.cells, accesses.lanes, accesses.syncs
        authors = self.thread[cells]
        before, now = self.warp_syncs[cells], np.full(cells.size, accesses.warp_syncs)
        ordered = np.broadcast_to(
            syncs.order(before, now, lanes, np.maximum(authors, 0) % WARP_SIZE), cells.shape
        ).copy()
        if syncs.are_full:
            return ordered
        several = np.flatnonzero(authors == MANY)
        for lane in range(WARP_SIZE if several.size else 0):
            ordered[several] &= syncs.order(
                before[several], now[several], lanes[several], np.full(several.size, lane)
            )
        return ordered


def _assign_or_many(array: Array, cells: Array, values: Array) -> None:
    """array[cells] = values, and MANY for a cell that is there several times with other values."""
    array[cells] = values
    array[cells[array[cells] != values]] = MANY


def _cell_accesses(
    recording: Recording, step: Step, access: StepAccess, retried: Set[Expression]
) -> _CellAccesses:
    """An access of a step, cell by cell.

    One of the retried reads (see simulator.language.retries) is as good as an atomic.
    """
    cells, threads = access.touched_cells()
    in_lockstep = len(recording.warp_syncs) == 1
    first = 0 if in_lockstep else int(np.flatnonzero(access.active)[0]) // WARP_SIZE
    return _CellAccesses(
        name=access.name,
        kind=AccessKind.ATOMIC if access.expression in retried else access.kind,
        cells=cells,
        threads=threads,
        warps=threads // WARP_SIZE,
        syncs=recording.warp_syncs[first],
        lanes=threads - first * WARP_SIZE,
        warp_syncs=step.warp_syncs,
        interval=step.interval,
        iteration=step.loops[0].iteration if step.loops else 0,
    )


# The accesses of a step that are asked for, in the order in which they were made.
_Accesses = Callable[[Step], Iterable[_CellAccesses]]
_Found = list[dict[str, Array]]  # for each step: int [n], cells by array


def find_unordered_cells(recording: Recording) -> tuple[Mapping[str, Array], ...]:
    """For each step the shared cells, by array, that race or were never written when they are read.

    A race is what simulator.observers.hazards.races says. It is shown at the later of its two
    accesses, and at a load before another thread's store that no later iteration makes: what such
    a load reads is stale, and which of the two comes first is up to the hardware. Cells are counted
    from the array's start.
    """
    retried = retried_reads(recording.kernel.body)

    def shared_accesses(step: Step) -> Iterable[_CellAccesses]:
        for access in step.accesses:
            if access.space is MemorySpace.SHARED:
                yield _cell_accesses(recording, step, access, retried)

    shared = recording.steps[0].shared if recording.steps else {}
    sizes = {name: array.size for name, array in shared.items()}
    found = _find_races(recording, shared_accesses, sizes)
    _add_unset_reads(recording, shared_accesses, found)
    return tuple(found)


def find_racing_cells(
    recording: Recording, hazards: Sequence[Hazard]
) -> tuple[Mapping[str, Array], ...]:
    """For each step the cells, by global array, that race, as find_unordered_cells has the shared.

    hazards are of the whole launch: threads may order their accesses to global memory by
    fences and flags, too, so that only lines are asked of which a race was found. Of a race with
    another block, which the recording does not have, it is the cell of the hazard's example.
    """
    races = [one for one in hazards if one.kind in RACES and one.space is MemorySpace.GLOBAL]
    if not races:
        return tuple({} for _ in recording.steps)
    retried = retried_reads(recording.kernel.body)
    lines: dict[str | None, set[int]] = defaultdict(set)
    for hazard in races:
        lines[hazard.array] |= set(hazard.lines)
    known: dict[str, Array] = {}  # by array: the cells that are asked for, in order

    def accesses_of(step: Step) -> Iterable[_CellAccesses]:
        for access in step.accesses:
            is_asked = access.expression.span.line in lines[access.name]
            if access.space is MemorySpace.GLOBAL and is_asked:
                yield _cell_accesses(recording, step, access, retried)

    def by_number(step: Step) -> Iterable[_CellAccesses]:
        """The same with cells as numbers in `known`, since an array may have millions."""
        for accesses in accesses_of(step):
            numbers = np.searchsorted(known[accesses.name], accesses.cells)
            yield replace(accesses, cells=numbers)

    found: _Found = [{} for _ in recording.steps]
    touched = defaultdict(list)
    others = _cells_of_other_blocks(recording, races)
    for step in recording.steps:
        for accesses in accesses_of(step):
            touched[accesses.name].append(accesses.cells)
            cells = np.intersect1d(accesses.cells, others.get(accesses.name, ()))
            _add(found[step.number], accesses.name, cells.astype(np.int64))
    known.update({name: np.unique(np.concatenate(cells)) for name, cells in touched.items()})
    sizes = {name: cells.size for name, cells in known.items()}
    races_by_step = _find_races(recording, by_number, sizes)
    for of_step, racing in zip(found, races_by_step, strict=True):
        for name, numbers in racing.items():
            _add(of_step, name, known[name][numbers])
    return tuple(found)


def _cells_of_other_blocks(recording: Recording, races: Sequence[Hazard]) -> dict[str, list[int]]:
    """The cells, by global array, that the examples of races between two blocks name."""
    found: dict[str, list[int]] = defaultdict(list)
    for hazard in races:
        example, name = hazard.example, hazard.array
        shape = np.shape(recording.arguments.get(name or "", ()))
        if name and example.block != example.other_block and example.cell is not None and (
            len(example.cell) == len(shape)
        ):  # fmt: skip
            found[name].append(int(np.ravel_multi_index(example.cell, shape)))
    return found


def _find_races(recording: Recording, accesses_of: _Accesses, sizes: Mapping[str, int]) -> _Found:
    """For each step the cells that race; sizes are the arrays'."""
    found: _Found = [{} for _ in recording.steps]
    _add_races_with_earlier(recording, accesses_of, sizes, found)
    _add_stale_loads(recording, accesses_of, sizes, found)
    return found


def _add_races_with_earlier(
    recording: Recording, accesses_of: _Accesses, sizes: Mapping[str, int], found: _Found
) -> None:
    """Add each step's cells that race with an access before it."""
    last: dict[tuple[str, AccessKind], _LastAccesses] = {}
    for step in recording.steps:
        for accesses in accesses_of(step):
            name = accesses.name
            by_kind = {
                kind: last.setdefault((name, kind), _LastAccesses(sizes[name]))
                for kind in AccessKind
            }
            by_kind[accesses.kind].add(accesses)  # lanes of one instruction can race too
            bad = np.zeros(accesses.cells.size, np.bool_)
            for kind, others in by_kind.items():
                bad |= others.race_with(accesses, kind)
            _add(found[step.number], name, accesses.cells[bad])


def _add_unset_reads(recording: Recording, accesses_of: _Accesses, found: _Found) -> None:
    """Add each step's shared cells that it reads before anything was written there."""
    before: Mapping[str, Array] = {}
    for step in recording.steps:
        for accesses in accesses_of(step):
            if accesses.kind is not AccessKind.STORE:
                written, cells = before.get(accesses.name), accesses.cells
                unset = cells if written is None else cells[~written[cells]]
                _add(found[step.number], accesses.name, unset)
        before = {name: cells.reshape(-1) for name, cells in step.written.items()}


def _add_stale_loads(
    recording: Recording, accesses_of: _Accesses, sizes: Mapping[str, int], found: _Found
) -> None:
    """Add each load's cells that race with a store after it, of the same iteration or before."""
    coming: dict[tuple[str, AccessKind], _LastAccesses] = {}
    for step in reversed(recording.steps):
        for accesses in accesses_of(step):
            name = accesses.name
            by_kind = {
                kind: coming.setdefault((name, kind), _LastAccesses(sizes[name]))
                for kind in (AccessKind.STORE, AccessKind.ATOMIC)
            }
            if accesses.kind is not AccessKind.LOAD:
                by_kind[accesses.kind].add(accesses)
                continue
            for kind, others in by_kind.items():
                races = others.race_with(accesses, kind)
                stale = races & (others.iteration[accesses.cells] <= accesses.iteration)
                _add(found[step.number], name, accesses.cells[stale])


def _add(found: dict[str, Array], name: str, cells: Array) -> None:
    if cells.size:
        found[name] = np.union1d(found.get(name, cells), cells)
