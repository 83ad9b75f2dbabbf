"""Which cells of a launch's arrays some blocks touch: by them alone blocks could meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Kernel, MemorySpace
from simulator.launch import Launch
from simulator.machine.buffers import Buffer
from simulator.machine.observer import Access, AccessKind, Observer, Sweep
from simulator.observers.written_parameters import written_parameters


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of an array in global memory that some blocks have touched.

    touched and written have a bit for each cell, as np.packbits packs them: uint8 [cells / 8].
    """

    touched: Array  # read, written, or both
    written: Array  # by a store or an atomic
    values: Array  # [n], what the n cells that were written hold afterwards, in their order

    def write_to(self, buffer: Buffer) -> None:
        """Write the values to their cells of an array of the same kind."""
        is_written = np.unpackbits(self.written, count=buffer.cells.size).view(np.bool_)
        buffer.cells[is_written] = self.values


class TouchedCells(Observer):
    """Notes which cells are touched of the arrays that a kernel may write."""

    def __init__(self) -> None:
        self.is_complete = True  # whether nothing else in global memory was written
        self._touched: dict[Buffer, Array] = {}  # bool [cells]
        self._written: dict[Buffer, Array] = {}

    def on_start(self, kernel: Kernel, launch: Launch, buffers: dict[str, Buffer]) -> None:
        """Nothing is touched yet."""
        names = written_parameters(kernel)
        watched = [buffer for name, buffer in buffers.items() if name in names]
        self._touched = {buffer: np.zeros(buffer.cells.size, np.bool_) for buffer in watched}
        self._written = {buffer: np.zeros(buffer.cells.size, np.bool_) for buffer in watched}

    def on_access(self, access: Access) -> None:
        """Note the cells of an access to global memory."""
        if access.buffer.space is not MemorySpace.GLOBAL:
            return
        touched, writes = self._touched.get(access.buffer), access.kind is not AccessKind.LOAD
        if touched is None:
            self.is_complete = self.is_complete and not writes
            return
        cells, _ = access.cells()
        touched[cells] = True
        if writes:
            self._written[access.buffer][cells] = True

    def on_sweep(self, sweep: Sweep) -> bool:
        """Loads of arrays that nothing writes need no note."""
        return not any(load.pattern.buffer in self._touched for load in sweep.loads)

    @property
    def by_array(self) -> Mapping[str, Cells]:
        """What was touched, by the array's name."""
        return {
            buffer.name: Cells(
                touched=np.packbits(touched),
                written=np.packbits(self._written[buffer]),
                values=buffer.cells[self._written[buffer]],
            )
            for buffer, touched in self._touched.items()
        }
