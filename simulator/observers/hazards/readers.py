"""Who has read a cell of a global array since its last write, for kernels that use fences."""

from __future__ import annotations

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.buffers import Buffer
from simulator.observers.hazards.synchronization import Synchronization

NOBODY = -1
CELL_BYTES = 16  # of Readers, for every cell


class Readers:
    """The first and the last reader of each cell since it was written, and when they read it.

    Between these two others may have read it; that all are ordered with a write is not checked.
    """

    def __init__(self, buffer: Buffer) -> None:
        cells = buffer.cells.size
        # Of the first reader and of the last: threads numbered over the grid, and events.
        self._threads = [np.full(cells, NOBODY, np.int32) for _ in range(2)]
        self._events = [np.zeros(cells, np.int32) for _ in range(2)]

    def note(self, cells: Array, threads: Array, event: int) -> None:
        """Threads int [n] read cells int [n]."""
        unread = self._threads[0].take(cells) == NOBODY
        for chosen, readers, events in zip(
            (unread, slice(None)), self._threads, self._events, strict=True
        ):
            readers[cells[chosen]] = threads[chosen]
            events[cells[chosen]] = event

    def unordered(self, cells: Array, threads: Array, synchronization: Synchronization) -> Array:
        """Which cells int [n] others have read that nothing orders before threads int [n]."""
        found = np.zeros(cells.size, np.bool_)
        for readers, events in zip(self._threads, self._events, strict=True):
            others = readers.take(cells)
            numbers = np.flatnonzero((others != NOBODY) & (others != threads))
            if numbers.size:
                found[numbers] |= ~synchronization.ordered(
                    threads[numbers], others[numbers], events.take(cells[numbers])
                )
        return found

    def forget(self, cells: Array) -> None:
        """The cells have been written."""
        for readers in self._threads:
            readers[cells] = NOBODY
