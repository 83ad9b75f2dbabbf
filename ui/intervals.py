"""Which shared cells a step touches without a barrier between it and another thread's access."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator import Recording, Step
from simulator.launch import WARP_SIZE
from simulator.record import StepAccess
from simulator.tree import Call, Evaluate

Array = np.ndarray[Any, Any]
NOBODY, MANY = -1, -2


class _Cells:
    """Of each cell of a shared array: who wrote and who read it last, and in which interval."""

    def __init__(self, size: int) -> None:
        self.writer = np.full(size, NOBODY)
        self.wrote = np.full((size, 2), -1)  # barrier interval, and warps' own barriers so far
        self.reader = np.full(size, NOBODY)
        self.read = np.full((size, 2), -1)


def unordered(recording: Recording) -> tuple[Mapping[str, Array], ...]:
    """For each step the cells, by array, that race or were never written when they are read.

    A cell races where another thread wrote it (or, at a store, read it) since the last barrier:
    which of them comes first is then up to the hardware. Cells are counted from the array's
    start. Threads of one warp are kept apart by __syncwarp too.
    """
    known: dict[str, _Cells] = {}
    found: list[Mapping[str, Array]] = []
    syncs = 0
    before: Mapping[str, Array] = {}
    for step in recording.steps:
        syncs += _is_warp_barrier(step)
        wrong: dict[str, Array] = {}
        for access in step.accesses:
            if access.space != "shared":
                continue
            state = known.setdefault(access.name, _Cells(step.shared[access.name].size))
            written = before.get(access.name)
            bad = _check(access, state, (step.interval, syncs), written)
            if bad.size:
                wrong[access.name] = np.union1d(wrong.get(access.name, bad), bad)
        found.append(wrong)
        before = {name: cells.reshape(-1) for name, cells in step.written.items()}
    return tuple(found)


def _check(access: StepAccess, state: _Cells, now: tuple[int, int], written: Array | None) -> Array:
    cells, threads = touched(access)
    raced = _unsettled(cells, threads, state.writer, state.wrote, now)
    if access.kind == "load":
        unset = ~written[cells] if written is not None else np.ones(cells.size, np.bool_)
        bad = raced | unset
        old = (state.read[cells] == now).all(axis=1)
        other = old & (state.reader[cells] != NOBODY) & (state.reader[cells] != threads)
        state.reader[cells] = np.where(other, MANY, threads)
        firsts = np.unique(cells, return_counts=True)
        state.reader[firsts[0][firsts[1] > 1]] = MANY
        state.read[cells] = now
    else:
        bad = raced | _unsettled(cells, threads, state.reader, state.read, now)
        state.writer[cells] = threads
        state.wrote[cells] = now
    result: Array = np.unique(cells[bad])
    return result


def _unsettled(
    cells: Array, threads: Array, who: Array, when: Array, now: tuple[int, int]
) -> Array:
    """Where another thread's access is not ordered before this one by a barrier."""
    last, moments = who[cells], when[cells]
    other = (last != NOBODY) & (last != threads)
    same_interval = moments[:, 0] == now[0]
    same_warp = (last != MANY) & (last // WARP_SIZE == threads // WARP_SIZE)
    settled = same_warp & (moments[:, 1] < now[1])
    result: Array = other & same_interval & ~settled
    return result


def touched(access: StepAccess) -> tuple[Array, Array]:
    """Every cell that an active thread touches, counted from the array's start, and who."""
    active = np.flatnonzero(access.active & access.in_bounds)
    count = access.values.shape[1] if access.values.ndim > 1 else 1
    first = access.offsets[active] // (access.width // count)
    cells = (first[:, None] + np.arange(count)).reshape(-1)
    return cells, np.repeat(active, count)


def _is_warp_barrier(step: Step) -> bool:
    match step.statement:
        case Evaluate(expression=Call(function="__syncwarp")):
            return True
        case _:
            return False
