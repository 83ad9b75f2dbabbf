"""A whole launch, simulated: its counters, its hazards and the arrays it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.counters import Counters
from simulator.ctype import Array
from simulator.findings import Hazard
from simulator.hazards import Hazards
from simulator.launch import Launch
from simulator.machine import Machine
from simulator.tree import Kernel


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


def simulate(kernel: Kernel, launch: Launch, schedule: str = "ascending", seed: int = 0) -> Report:
    """Run every block of a launch; schedule is the order of a block's warps (machine.SCHEDULES).

    Raises LaunchError for a launch that no GPU takes, SourceError for what cannot be executed.
    """
    counters, hazards = Counters(), Hazards()
    machine = Machine(kernel, launch, [counters, hazards], schedule, seed)
    machine.run()
    return Report(
        counters.totals, counters.lines, hazards.found, machine.seconds, machine.results()
    )
