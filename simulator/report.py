"""A whole launch, simulated: its counters, its hazards and the arrays it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.counters import Counters
from simulator.observers.findings import Hazard, stored
from simulator.observers.hazards import Hazards
from simulator.observers.shadow import CELL_BYTES
from simulator.observers.witness import witnessed

MEMORY_BYTES = 700 * 2**20  # of a whole simulated launch
COPIES = 3  # of every array: the caller's, the one that the kernel works on, and the result


@dataclass(frozen=True, slots=True)
class Report:
    """What a launch did.

    counters are warp-level sums over the grid, lines the same by line of the text; arrays the
    global arrays afterwards, by parameter name; seconds the simulation's own time.
    """

    counters: Mapping[str, int]
    lines: Mapping[int, Mapping[str, int]]
    hazards: tuple[Hazard, ...]
    seconds: float
    arrays: Mapping[str, Array]


def simulate(
    kernel: Kernel,
    launch: Launch,
    schedule: Schedule = Schedule.ASCENDING,
    seed: int = 0,
    seconds: float | None = None,
) -> Report:
    """Run every block of a launch; schedule is the order of a block's warps (machine.SCHEDULES).

    seconds, where given, is the longest that the run may take. Raises LaunchError for a launch
    that no GPU takes, SourceError for what cannot be executed, endless loops among it.
    """
    _check_memory(kernel, launch)
    counters, hazards = Counters(), Hazards()
    machine = Machine(kernel, launch, [counters, hazards], schedule, seed, seconds)
    machine.run()
    found = witnessed(kernel, launch, hazards.found)
    return Report(counters.totals, counters.lines, found, machine.seconds, machine.results())


def _check_memory(kernel: Kernel, launch: Launch) -> None:
    """LaunchError where the arrays, and the notes kept of each cell written, take too much."""
    arrays = {n: a for n, a in launch.arguments.items() if isinstance(a, np.ndarray)}
    written = sum(arrays[name].size for name in stored(kernel) if name in arrays)
    needed = COPIES * sum(array.nbytes for array in arrays.values()) + CELL_BYTES * written
    if needed > MEMORY_BYTES:
        raise LaunchError(
            f"Watching this launch takes about {needed / 2**20:,.0f} MiB, "
            f"{CELL_BYTES * written / 2**20:,.0f} of them for the {written:,} elements that the "
            f"kernel may write; the simulator takes up to {MEMORY_BYTES / 2**20:,.0f} MiB. "
            "Choose smaller matrices."
        )
