"""Reads of variables and of cells of arrays before anything was written there."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import Span
from simulator.language.tree import UNSET_SPACES, MemorySpace
from simulator.machine.buffers import Buffer
from simulator.machine.group import Group
from simulator.machine.observer import Access, AccessKind, Observer, Sweep
from simulator.observers.hazards.findings import (
    Findings,
    Hazard,
    cell_index,
    example_of_lane,
    name_cell,
)
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.sentences import hazards

KIND = HazardKind.UNINITIALIZED_READ


class UnsetReads(Observer):
    """Finds reads of what nothing was written to."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._written: dict[Buffer, Array] = {}  # bool, which of a buffer's cells have a value
        self._unset_stores = 0  # after each of which some cells may have lost theirs

    def on_access(self, access: Access) -> None:
        """Check what is read, and note what is written."""
        buffer = access.buffer
        if buffer.space not in UNSET_SPACES:
            return
        written, only = self._cells(buffer), access.only_cell()
        if only is not None and (access.kind is AccessKind.STORE or written.item(only[0])):
            written[only[0]] = access.unset is None
            self._unset_stores += access.unset is not None
            return
        known = access.pattern.costs
        key = (UnsetReads, access.base, access.width, self._unset_stores)
        if known.get(key, UnsetReads) is access.mask:
            return  # what was written stays written, until a copy of what has no value
        cells, lanes = access.cells()
        if access.unset is not None:
            self._unset_stores += 1
            written[cells] = ~access.unset[lanes]
            return
        if access.kind is not AccessKind.STORE and not (is_set := written.take(cells)).all():
            self._report_cells(access, cells, lanes, ~is_set)
            if access.kind is AccessKind.LOAD:
                return
        written[cells] = True
        known[key] = access.mask

    def on_sweep(self, sweep: Sweep) -> bool:
        """Look whether all cells that are read were written."""
        for load in sweep.loads:
            buffer = load.pattern.buffer
            if buffer.space not in UNSET_SPACES:
                continue
            known = load.pattern.costs
            key = (UnsetReads, load.base, load.stride, load.width, sweep.iterations,
                   self._unset_stores)  # fmt: skip
            if known.get(key, UnsetReads) is sweep.mask:
                continue
            written = self._cells(buffer)
            for iteration in range(sweep.iterations if load.stride else 1):
                if not written.take(sweep.access(iteration, load).cells()[0]).all():
                    return False
            known[key] = sweep.mask
        return True

    def on_copy(self, access: Access) -> None:
        """An asynchronous copy begins to write."""
        self._cells(access.buffer)[access.cells()[0]] = True

    def on_finish(self, groups: list[Group]) -> None:
        """A chunk ends; its shared and local arrays go with it."""
        self._written.clear()

    def on_unset(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is read before it has a value."""
        example = example_of_lane(group, int(lanes[0]))
        message = hazards.unset_variable(
            span.line, example.block, example.thread, group.launch, name
        )
        space = MemorySpace.REGISTER
        hazard = Hazard(KIND, (span.line,), name, space, message, lanes.size, example)
        self._findings.add((KIND, name, span.line), hazard)

    def on_unset_copy(self, group: Group, name: str, lanes: Array, span: Span) -> None:
        """A variable is copied before it has a value."""
        block, thread = group.thread_of(int(lanes[0]))
        note = hazards.unset_copy(span.line, block, thread, group.launch, name)
        self._findings.note(("copy", name, span.line), note)

    def _cells(self, buffer: Buffer) -> Array:
        """Which cells of a buffer were written: bool, one for each."""
        written = self._written.get(buffer)
        if written is None:
            written = self._written[buffer] = np.zeros(buffer.cells.size, np.bool_)
        return written

    def _report_cells(self, access: Access, cells: Array, lanes: Any, unset: Array) -> None:
        """Report reads of the cells `unset` (bool [n]), which nothing was written to."""
        group, buffer, lines = access.group, access.buffer, (access.lvalue.span.line,)
        first = int(unset.argmax())
        index = cell_index(buffer, int(cells[first]), group.lanes)
        example = example_of_lane(group, int(group.lane_numbers[lanes][first]), index)
        name, place = name_cell(buffer, index), (example.block, example.thread)
        message = hazards.unset_cell(lines[0], *place, group.launch, name, buffer.space)
        self._findings.add_for_array(KIND, lines, buffer, message, int(unset.sum()), example)
