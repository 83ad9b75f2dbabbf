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
from simulator.machine.warp_masks import FULL, pack
from simulator.machine.warp_syncs import WarpSyncs
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
    warp_syncs: int  # calls of __syncwarp() that the block had made
    interval: int  # barriers that the block had passed
    iteration: int  # of the outermost loop


class _LastAccesses:
    """The last accesses of one kind to each cell of a shared array, of one barrier interval.

    Each array is int [cells]. A thread's warp is recorded apart from the thread, since several
    threads of one warp are ordered by its __syncwarp(), and those of several warps are not.
    """

    def __init__(self, cells: int, syncs: WarpSyncs) -> None:
        self._syncs = syncs  # of the whole block, a lane for each thread
        self.interval = np.full(cells, -1)  # barriers that the block had passed
        self.warp = np.full(cells, NOBODY)  # MANY for threads of several warps
        self.warp_syncs = np.zeros(cells, np.int64)  # calls of __syncwarp() in the block before it
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
        """Whether a __syncwarp() stands between these and accesses of the same warp: bool [n].

        Where several threads have touched a cell, it must be one that orders all of the warp's.
        """
        cells, threads = accesses.cells, accesses.threads
        authors = self.thread[cells]
        before, now = self.warp_syncs[cells], np.full(cells.size, accesses.warp_syncs)
        ordered = np.broadcast_to(
            self._syncs.order(before, now, threads, np.maximum(authors, 0) % WARP_SIZE), cells.shape
        ).copy()
        several = np.flatnonzero(authors == MANY)
        for lane in range(WARP_SIZE if several.size else 0):
            ordered[several] &= self._syncs.order(
                before[several], now[several], threads[several], np.full(several.size, lane)
            )
        return ordered


def _assign_or_many(array: Array, cells: Array, values: Array) -> None:
    """array[cells] = values, and MANY for a cell that is there several times with other values."""
    array[cells] = values
    array[cells[array[cells] != values]] = MANY


def _cell_accesses(
    step: Step, access: StepAccess, warp_syncs: int, retried: Set[Expression]
) -> _CellAccesses:
    """An access of a step, cell by cell; warp_syncs is how many calls there were until then.

    One of the retried reads (see simulator.language.retries) is as good as an atomic.
    """
    cells, threads = access.touched_cells()
    return _CellAccesses(
        kind=AccessKind.ATOMIC if access.expression in retried else access.kind,
        cells=cells,
        threads=threads,
        warps=threads // WARP_SIZE,
        warp_syncs=warp_syncs,
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
    syncs, retried = _warp_syncs(recording), retried_reads(recording.kernel.body)
    _find_races_with_earlier(recording, syncs, retried, found)
    _find_stale_loads(recording, syncs, retried, found)
    return tuple(found)


def _find_races_with_earlier(
    recording: Recording,
    syncs: _Syncs,
    retried: Set[Expression],
    found: list[dict[str, Array]],
) -> None:
    """Add each step's cells that race with an access before it, or that it reads unset."""
    last: dict[tuple[str, AccessKind], _LastAccesses] = {}
    before: Mapping[str, Array] = {}
    for step in recording.steps:
        for access in _shared_accesses(step):
            size = step.shared[access.name].size
            accesses = _cell_accesses(step, access, syncs.counts[step.number], retried)
            by_kind = {
                kind: last.setdefault((access.name, kind), _LastAccesses(size, syncs.calls))
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
    syncs: _Syncs,
    retried: Set[Expression],
    found: list[dict[str, Array]],
) -> None:
    """Add each load's cells that race with a store after it, of the same iteration or before."""
    coming: dict[tuple[str, AccessKind], _LastAccesses] = {}
    for step in reversed(recording.steps):
        for access in _shared_accesses(step):
            size = step.shared[access.name].size
            by_kind = {
                kind: coming.setdefault((access.name, kind), _LastAccesses(size, syncs.calls))
                for kind in (AccessKind.STORE, AccessKind.ATOMIC)
            }
            accesses = _cell_accesses(step, access, syncs.counts[step.number], retried)
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


@dataclass(frozen=True, slots=True)
class _Syncs:
    """The calls of __syncwarp() of the recorded block."""

    calls: WarpSyncs  # a lane for each thread of the block
    counts: tuple[int, ...]  # for each step, how many calls there were until it


def _warp_syncs(recording: Recording) -> _Syncs:
    """Find which lanes have waited for each other, step by step.

    Lanes that arrive with a mask wait for the others that it names: these may come in a later
    step, by a __syncwarp() in another branch.
    """
    threads = recording.launch.threads
    lanes, warps = np.arange(threads) % WARP_SIZE, np.arange(threads) // WARP_SIZE
    calls, counts = WarpSyncs(), []
    waiting = np.zeros(threads, np.bool_)
    masks = np.zeros(threads, np.uint32)
    for step in recording.steps:
        match step.statement:
            case Evaluate(expression=Call(function="__syncwarp") as call):
                if (waiting & step.active).any():  # the others have not come: they go on
                    waiting[:] = False
                waiting = waiting | step.active
                masks = np.where(step.active, _masks(step, call), masks)
                peers = _peers(waiting, masks, lanes, warps)
                calls.add(None if (peers == FULL).all() else peers)
                waiting = waiting & (masks & ~peers != 0)
            case _:
                pass
        counts.append(calls.count)
    return _Syncs(calls, tuple(counts))


def _masks(step: Step, call: Call) -> Array:
    """The mask of each thread that calls __syncwarp(): uint32 [T]."""
    for argument in call.arguments:
        for evaluation in step.evaluations:
            if evaluation.expression is argument:
                return evaluation.values.astype(np.uint32)
    return np.full(step.active.size, FULL)


def _peers(waiting: Array, masks: Array, lanes: Array, warps: Array) -> Array:
    """Of each thread the lanes of its warp that wait with its mask, itself among them: uint32 [T].

    Lanes that a partial warp lacks count as waiting: there is nothing to be ordered with them.
    """
    own = np.zeros((int(warps[-1]) + 1, WARP_SIZE), np.uint32)
    here = np.ones(own.shape, np.bool_)
    own[warps, lanes], here[warps, lanes] = masks, waiting
    missing = np.ones(own.shape, np.bool_)
    missing[warps, lanes] = False
    same = (own[:, :, None] == own[:, None, :]) & here[:, None, :] | missing[:, None, :]
    peers: Array = pack(same)[warps, lanes] & (masks | pack(missing)[warps])
    return np.where(waiting, peers, np.uint32(0))
