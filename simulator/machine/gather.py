"""Reads what the iterations of a loop load, whole runs of lanes at once where these allow it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.observer import Pattern

RUNS = (32, 16, 8, 4)  # lanes of a run, the longest first


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """An index [lanes] whose runs of neighbouring lanes each read one cell, or a row of cells."""

    lanes: int  # of a run
    starts: Array  # int [runs], the index of each run's first lane, less that of the first run
    is_row: bool  # whether a lane reads the cell after its neighbour's, else the same one


def gather(
    cells: Array, pattern: Pattern, index: Array, step: int, iterations: int
) -> Iterator[Array]:
    """The cells at index + i * step, [lanes], for each iteration i.

    index int [lanes] is of an access with this pattern. What is outside the buffer gives the value
    of some cell inside.
    """
    if Runs not in pattern.costs:
        pattern.costs[Runs] = _find_runs(index)
    runs: Runs | None = pattern.costs[Runs]
    moves = range(0, iterations * step, step) if step else repeat(0, iterations)
    if runs is None:
        return (cells.take(index + move, mode="clip") for move in moves)
    starts = runs.starts + index[0]
    if not runs.is_row:
        return (cells.take(starts + move, mode="clip").repeat(runs.lanes) for move in moves)
    origin = int(index[0]) % runs.lanes
    count = (cells.size - origin) // runs.lanes
    last = step * (iterations - 1)
    inside = starts.min() + min(last, 0) >= 0 and starts.max() + max(last, 0) < count * runs.lanes
    if step % runs.lanes or not inside:
        return (cells.take(index + move, mode="clip") for move in moves)
    rows = cells[origin : origin + count * runs.lanes].reshape(count, runs.lanes)
    numbers = (starts - origin) // runs.lanes
    return (rows.take(numbers + move // runs.lanes, axis=0).reshape(-1) for move in moves)


def _find_runs(index: Array) -> Runs | None:
    for lanes in RUNS:
        if index.size % lanes:
            continue
        runs = index.reshape(-1, lanes)
        within, starts = runs - runs[:, :1], runs[:, 0] - runs[0, 0]
        if not within.any():
            return Runs(lanes, starts, is_row=False)
        if (within == np.arange(lanes)).all() and not (starts % lanes).any():
            return Runs(lanes, starts, is_row=True)
    return None
