"""Which shared cells a step touches without a barrier between it and another thread's access."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from simulator import Recording, Step
from simulator.language.ctype import Array
from simulator.language.retries import retried_reads
from simulator.language.tree import Call, Evaluate, Expression, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.races import Relation, is_race
from simulator.recording.recording import StepAccess

NOBODY, MANY = -1, -2


@dataclass(frozen=True, slots=True)
class _CellAccesses:
    """What one instruction did to n cells of a shared array."""

    kind: AccessKind
    cells: Array  # int [n], counted from the array's start
    threads: Array  # int [n], the thread of the block that touches each
    warps: Array  # int [n], that thread's warp
    warp_syncs: Array  # int [n], __syncwarp() that the warp had passed
    interval: int  # barriers that the block had passed
    iteration: int  # of the outermost loop


class _LastAccesses:
    """The last accesses of one kind to each cell of a shared array, of one barrier interval.

    Each array is int [cells]. A thread's warp is recorded apart from the thread, since several
    threads of one warp are ordered by its __syncwarp(), and those of several warps are not.
    """

    def __init__(self, cells: int) -> None:
        self.interval = np.full(cells, -1)  # barriers that the block had passed
        self.warp = np.full(cells, NOBODY)  # MANY for threads of several warps
        self.warp_syncs = np.zeros(cells, np.int64)  # __syncwarp() that the warp had passed
        self.thread = np.full(cells, NOBODY)  # MANY for several threads since that __syncwarp()
        self.iteration = np.full(cells, -1)  # of the outermost loop

    def add(self, accesses: _CellAccesses) -> None:
        """Add the accesses of one instruction, made after (or all before) those added so far."""
        cells, threads, warps = accesses.cells, accesses.threads, accesses.warps
        same_interval = self.interval[cells] == accesses.interval
        same_warp = same_interval & (self.warp[cells] == warps)
        same_syncs = same_warp & (self.warp_syncs[cells] == accesses.warp_syncs)
        other_warp = same_interval & ~same_warp
        other_thread = other_warp | (same_syncs & (self.thread[cells] != threads))
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
            same_warp_interval=self.warp_syncs[cells] == accesses.warp_syncs,
        )
        return np.broadcast_to(is_race(accesses.kind, kind, relation), cells.shape)


def _assign_or_many(array: Array, cells: Array, values: Array) -> None:
    """array[cells] = values, and MANY for a cell that is there several times with other values."""
    array[cells] = values
    array[cells[array[cells] != values]] = MANY


def _cell_accesses(
    step: Step, access: StepAccess, warp_syncs: Array, retried: Set[Expression]
) -> _CellAccesses:
    """An access of a step, cell by cell; warp_syncs is int [warps] at that step.

    One of the retried reads (see simulator.language.retries) is as good as an atomic.
    """
    cells, threads = access.touched_cells()
    warps = threads // WARP_SIZE
    return _CellAccesses(
        kind=AccessKind.ATOMIC if access.expression in retried else access.kind,
        cells=cells,
        threads=threads,
        warps=warps,
        warp_syncs=warp_syncs[warps],
        interval=step.interval,
        iteration=step.loops[0].iteration if step.loops else 0,
    )


def find_unordered_cells(recording: Recording) -> tuple[Mapping[str, Array], ...]:
    """For each step the cells, by array, that race or were never written when they are read.

    A race is what simulator.observers.races says. It is shown at the later of its two accesses,
    and at a load before another thread's store that no later iteration makes: what such a load
    reads is stale, and which of the two comes first is up to the hardware. Cells are counted from
    the array's start.
    """
    found: list[dict[str, Array]] = [{} for _ in recording.steps]
    warp_syncs, retried = _warp_syncs(recording), retried_reads(recording.kernel.body)
    _find_races_with_earlier(recording, warp_syncs, retried, found)
    _find_stale_loads(recording, warp_syncs, retried, found)
    return tuple(found)


def _find_races_with_earlier(
    recording: Recording,
    warp_syncs: list[Array],
    retried: Set[Expression],
    found: list[dict[str, Array]],
) -> None:
    """Add each step's cells that race with an access before it, or that it reads unset."""
    last: dict[tuple[str, AccessKind], _LastAccesses] = {}
    before: Mapping[str, Array] = {}
    for step in recording.steps:
        for access in _shared_accesses(step):
            size = step.shared[access.name].size
            accesses = _cell_accesses(step, access, warp_syncs[step.number], retried)
            by_kind = {
                kind: last.setdefault((access.name, kind), _LastAccesses(size))
                for kind in AccessKind
            }
            by_kind[accesses.kind].add(accesses)  # lanes of one instruction can race too
            bad = np.zeros(accesses.cells.size, np.bool_)
            for kind, others in by_kind.items():
                bad |= others.race_with(accesses, kind)
            if access.kind is AccessKind.LOAD:
                written = before.get(access.name)
                bad |= True if written is None else ~written[accesses.cells]
            _add(found[step.number], access.name, accesses.cells[bad])
        before = {name: cells.reshape(-1) for name, cells in step.written.items()}


def _find_stale_loads(
    recording: Recording,
    warp_syncs: list[Array],
    retried: Set[Expression],
    found: list[dict[str, Array]],
) -> None:
    """Add each load's cells that race with a store after it, of the same iteration or before."""
    coming: dict[tuple[str, AccessKind], _LastAccesses] = {}
    for step in reversed(recording.steps):
        for access in _shared_accesses(step):
            size = step.shared[access.name].size
            by_kind = {
                kind: coming.setdefault((access.name, kind), _LastAccesses(size))
                for kind in (AccessKind.STORE, AccessKind.ATOMIC)
            }
            accesses = _cell_accesses(step, access, warp_syncs[step.number], retried)
            if access.kind is not AccessKind.LOAD:
                by_kind[access.kind].add(accesses)
                continue
            for kind, others in by_kind.items():
                races = others.race_with(accesses, kind)
                stale = races & (others.iteration[accesses.cells] <= accesses.iteration)
                _add(found[step.number], access.name, accesses.cells[stale])


def _shared_accesses(step: Step) -> list[StepAccess]:
    return [access for access in step.accesses if access.space is MemorySpace.SHARED]


def _add(found: dict[str, Array], name: str, cells: Array) -> None:
    if cells.size:
        found[name] = np.union1d(found.get(name, cells), cells)


def _warp_syncs(recording: Recording) -> list[Array]:
    """For each step, how often each warp has passed __syncwarp(): int [warps]."""
    syncs = np.zeros(recording.launch.warps, np.int64)
    found = []
    for step in recording.steps:
        match step.statement:
            case Evaluate(expression=Call(function="__syncwarp")):
                syncs = syncs.copy()
                syncs[np.unique(np.flatnonzero(step.active) // WARP_SIZE)] += 1
            case _:
                pass
        found.append(syncs)
    return found
