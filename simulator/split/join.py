"""Puts the parts of a launch together, as long as blocks of different parts cannot have met.

Blocks that ran in different parts cannot have met where no part writes a cell that another one
reads or writes: each then has read what it would have read in one process, and no two accesses of
different parts can race. Counts then add up, and what was found in each part is, one part after
the other, what one process finds.
"""

from __future__ import annotations

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.machine import Machine
from simulator.observers.counters import Counters
from simulator.observers.hazards.findings import Findings
from simulator.split.cells import Cells
from simulator.split.part import NotSplitError, Part


class Join:
    """The parts of a launch that are done."""

    def __init__(self, machine: Machine) -> None:
        """Nothing is done; machine is the launch's, which does not run."""
        self.counters = Counters()
        self.seconds = 0.0  # of processors, that the parts took
        self._machine = machine  # the arrays get what the parts wrote
        self._findings: dict[int, Findings] = {}  # by the part's number
        self._touched: dict[str, Array] = {}  # by the array's name, as Cells have them
        self._written: dict[str, Array] = {}

    @property
    def findings(self) -> Findings:
        """What was found, in the order of the blocks."""
        found = Findings()
        for number in sorted(self._findings):
            found.add_later(self._findings[number])
        return found

    def add(self, number: int, part: Part) -> None:
        """Add a part by its number; NotSplitError where its blocks may have met others."""
        if not part.is_complete:
            raise NotSplitError("it writes an array that is not known before it runs")
        for name, cells in part.cells.items():
            self._add_cells(name, cells)
        self.counters.add_blocks(part.counters)
        self.seconds += part.seconds
        self._findings[number] = part.findings

    def _add_cells(self, name: str, cells: Cells) -> None:
        touched = self._touched.setdefault(name, np.zeros_like(cells.touched))
        written = self._written.setdefault(name, np.zeros_like(cells.written))
        if (touched & cells.written).any() or (written & cells.touched).any():
            raise NotSplitError(f"blocks far from each other use the same cells of {name}")
        touched |= cells.touched
        written |= cells.written
        cells.write_to(self._machine.buffers[name])
