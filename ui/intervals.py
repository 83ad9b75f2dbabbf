"""Which shared cells a step touches without a barrier between it and another thread's access."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator import Recording, Step
from simulator.language.tree import Call, Evaluate, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess

Array = np.ndarray[Any, Any]
NOBODY, MANY = -1, -2


class _Marks:
    """Of each cell of a shared array: who touched it last, and when.

    when [cells, 2] holds the barrier interval, and the barriers that the thread's own warp had
    passed by then; turn the iteration of the outermost loop.
    """

    def __init__(self, size: int) -> None:
        self.who = np.full(size, NOBODY)
        self.when = np.full((size, 2), -1)
        self.turn = np.full(size, -1)

    def unsettled(self, cells: Array, threads: Array, now: Array) -> Array:
        """Where no barrier stands between another thread's touch and one at `now` [n, 2]."""
        who, when = self.who[cells], self.when[cells]
        other = (who != NOBODY) & (who != threads) & (when[:, 0] == now[:, 0])
        same_warp = (who != MANY) & (who // WARP_SIZE == threads // WARP_SIZE)
        result: Array = other & ~(same_warp & (when[:, 1] != now[:, 1]))
        return result

    def touch(self, cells: Array, threads: Array, now: Array, turn: int) -> None:
        """Note who touches cells; of several at once none is named."""
        again = (self.when[cells] == now).all(axis=1)
        again &= (self.who[cells] != NOBODY) & (self.who[cells] != threads)
        self.who[cells] = np.where(again, MANY, threads)
        distinct, counts = np.unique(cells, return_counts=True)
        self.who[distinct[counts > 1]] = MANY
        self.when[cells], self.turn[cells] = now, turn


def unordered(recording: Recording) -> tuple[Mapping[str, Array], ...]:
    """For each step the cells, by array, that race or were never written when they are read.

    A cell races where another thread wrote it (or, at a store, read it) since the last barrier,
    and where it is read before another thread's store that no later iteration makes: such a read
    is stale. Which of the two comes first is up to the hardware. Cells are counted from the
    array's start. Threads of one warp are kept apart by __syncwarp too.
    """
    found: list[dict[str, Array]] = [{} for _ in recording.steps]
    passed = _warp_barriers(recording)
    written: dict[str, _Marks] = {}
    read: dict[str, _Marks] = {}
    before: dict[str, Array] = {}
    for step in recording.steps:
        for access in _shared(step):
            size = step.shared[access.name].size
            stores = written.setdefault(access.name, _Marks(size))
            loads = read.setdefault(access.name, _Marks(size))
            cells, threads = touched(access)
            now = _moments(step, threads, passed)
            bad = stores.unsettled(cells, threads, now)
            if access.kind is AccessKind.LOAD:
                bad |= ~before.get(access.name, np.zeros(size, np.bool_))[cells]
                loads.touch(cells, threads, now, _turn(step))
            else:
                bad |= loads.unsettled(cells, threads, now)
                stores.touch(cells, threads, now, _turn(step))
            _add(found[step.number], access.name, cells[bad])
        before = {name: cells.reshape(-1) for name, cells in step.written.items()}
    coming: dict[str, _Marks] = {}
    for step in reversed(recording.steps):
        for access in _shared(step):
            stores = coming.setdefault(access.name, _Marks(step.shared[access.name].size))
            cells, threads = touched(access)
            now = _moments(step, threads, passed)
            if access.kind is AccessKind.LOAD:
                stale = stores.unsettled(cells, threads, now) & (stores.turn[cells] <= _turn(step))
                _add(found[step.number], access.name, cells[stale])
            else:
                stores.touch(cells, threads, now, _turn(step))
    return tuple(found)


def touched(access: StepAccess) -> tuple[Array, Array]:
    """Every cell that an active thread touches, counted from the array's start, and who."""
    active = np.flatnonzero(access.active & access.in_bounds)
    count = access.values.shape[1] if access.values.ndim > 1 else 1
    first = access.offsets[active] // (access.width // count)
    cells = (first[:, None] + np.arange(count)).reshape(-1)
    return cells, np.repeat(active, count)


def _shared(step: Step) -> list[StepAccess]:
    return [access for access in step.accesses if access.space is MemorySpace.SHARED]


def _add(found: dict[str, Array], name: str, cells: Array) -> None:
    if cells.size:
        found[name] = np.union1d(found.get(name, cells), cells)


def _moments(step: Step, threads: Array, passed: list[Array]) -> Array:
    """The barrier interval, and how many barriers of its own each thread's warp has passed."""
    own = passed[step.number][threads // WARP_SIZE]
    return np.stack([np.full(threads.size, step.interval), own], axis=1)


def _warp_barriers(recording: Recording) -> list[Array]:
    """For each step, how often each warp has come to __syncwarp."""
    threads = recording.launch.threads
    now = np.zeros(-(-threads // WARP_SIZE), np.int64)
    found = []
    for step in recording.steps:
        match step.statement:
            case Evaluate(expression=Call(function="__syncwarp")):
                now = now.copy()
                now[np.unique(np.flatnonzero(step.active) // WARP_SIZE)] += 1
            case _:
                pass
        found.append(now)
    return found


def _turn(step: Step) -> int:
    return step.loops[0].iteration if step.loops else 0
