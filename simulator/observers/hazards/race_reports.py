"""Races as hazards: of each kind and pair of lines one, with an example and a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import shorten
from simulator.launch import Dim3, Launch, unravel
from simulator.machine.observer import Access, AccessKind
from simulator.observers.cell_accesses import CellAccesses
from simulator.observers.hazards.findings import (
    Example,
    Findings,
    cell_index,
    loop_iterations,
    name_cell,
)
from simulator.observers.hazards.hazard_kind import RACES, HazardKind
from simulator.observers.hazards.shadow import MANY, ProgramPosition, Shadow
from simulator.sentences import hazards


class RaceReports:
    """Adds races to the findings."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def with_write(
        self,
        accesses: CellAccesses,
        races: Array,
        same_warp: Array,
        write_line: int,
        write_positions: Mapping[int, ProgramPosition],
    ) -> None:
        """Report `races` (bool [n]) with writes of one line.

        The example is the first of them, or the first whose threads are not of the same warp
        (same_warp, bool [n]) if there is one. write_positions has the stores', by their event.
        """
        access, launch = accesses.access, accesses.access.group.launch
        between_warps = races & ~same_warp
        first = int((between_warps if between_warps.any() else races).argmax())
        cell = int(accesses.cells[first])
        kinds = (AccessKind.STORE, _load_or_store(access.kind))
        lines = (write_line, access.lvalue.span.line)
        access_is_first = _precedes_write(accesses, cell, write_positions)
        if access_is_first:
            kinds, lines = (kinds[1], kinds[0]), (lines[1], lines[0])
        kind = next(kind for kind, pair in RACES.items() if pair == kinds)
        if not self._findings.takes((kind, lines, access.buffer.name)):
            return
        block, thread = _block_and_thread(int(accesses.threads[first]), launch)
        other_block, other = _block_and_thread(int(accesses.shadow.writer[cell]), launch)
        index = cell_index(access.buffer, cell)
        # The loops of a read that was remembered are over; where it was is not known in functions.
        position = accesses.position
        iterations = position[1::2] if position else loop_iterations(access.group)
        within_warp = launch.warps > 1 and bool(same_warp[first])
        during_copy = not access_is_first and bool(np.any(accesses.copied & races))
        example = Example(
            block, thread, other_block, other, index, iterations, within_warp, during_copy
        )
        name = name_cell(access.buffer, index)
        between = hazards.OF_BLOCKS
        if other_block == block:
            between = hazards.of_threads(within_warp)
        if access.kind is AccessKind.ATOMIC and accesses.shadow.atomic[cell]:
            between = hazards.OF_BLOCK_ATOMICS
        elif during_copy:
            between = hazards.OF_COPY
        places = (block, thread), (other_block, other)
        message = hazards.race(kinds, lines, name, places, launch, access_is_first, between)
        count = int(races.sum())
        self._findings.add_for_array(kind, lines, access.buffer, message, count, example)

    def note_same_value(self, accesses: CellAccesses, number: int) -> None:
        """Note that an access (its number) stores what another thread has stored in its cell."""
        access, cell = accesses.access, int(accesses.cells[number])
        first, second = sorted((int(accesses.shadow.line[cell]), access.lvalue.span.line))
        key = (first, second), access.buffer.name
        if key in self._findings.same_values:
            return
        launch = access.group.launch
        writers = (int(accesses.shadow.writer[cell]), int(accesses.threads[number]))
        name = name_cell(access.buffer, cell_index(access.buffer, cell))
        places = [_block_and_thread(writer, launch) for writer in writers]
        said = hazards.same_value((first, second), name, places, launch)
        self._findings.same_values[key] = shorten(said)

    def with_reader_block(
        self, access: Access, shadow: Shadow, cells: Array, threads: Array, races: Array
    ) -> None:
        """Report `races` (bool [n]) of a write with earlier reads of other blocks.

        cells int [n] are those that threads int [n] write.
        """
        assert shadow.reader_block is not None
        assert shadow.reader_line is not None
        launch, first = access.group.launch, int(races.argmax())
        reader = int(shadow.reader_block[cells[first]])
        other_block: Dim3 | None = None
        other: Dim3 | None = None
        if reader != MANY:  # which of the block's threads it was is not known: its first
            other_block, other = _block_and_thread(reader * launch.threads, launch)
        block, thread = _block_and_thread(int(threads[first]), launch)
        index = cell_index(access.buffer, int(cells[first]))
        iterations = loop_iterations(access.group)
        example = Example(block, thread, other_block, other, index, iterations)
        read_line = int(shadow.reader_line[cells[first]])
        kind, lines = HazardKind.WRITE_AFTER_READ, (access.lvalue.span.line,)
        name = name_cell(access.buffer, index)
        message = hazards.race(
            RACES[kind], (read_line, *lines), name, ((block, thread), (other_block, other)),
            launch, False, hazards.OF_BLOCKS,
        )  # fmt: skip
        count = int(races.sum())
        self._findings.add_for_array(kind, lines, access.buffer, message, count, example)


def _precedes_write(
    accesses: CellAccesses, cell: int, write_positions: Mapping[int, ProgramPosition]
) -> bool:
    """Whether the author of the kernel meant an access to come before the cell's last write.

    Positions in the text and its loops decide. For accesses of one line, or within functions,
    the number of accesses that each warp had made decides.
    """
    event = int(accesses.shadow.event[cell])
    write, access = write_positions.get(event, ()), accesses.position
    if access and write and access != write:
        return access < write
    return accesses.clock < int(accesses.shadow.clock[cell])


def _load_or_store(kind: AccessKind) -> AccessKind:
    """A kind of access as RACES has it: an atomic counts as a store."""
    return AccessKind.LOAD if kind is AccessKind.LOAD else AccessKind.STORE


def _block_and_thread(thread: int, launch: Launch) -> tuple[Dim3, Dim3]:
    """Block and thread, in x, y, z, of a thread numbered over the grid."""
    block, within = divmod(thread, launch.threads)
    return unravel(block, launch.grid), unravel(within, launch.block)
