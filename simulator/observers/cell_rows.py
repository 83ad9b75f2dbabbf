"""Cells of a shared array that lie in rows: stores to them are noted without their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import Access

NO_ROWS = -1


@dataclass(frozen=True, slots=True)
class CellRows:
    """Cells that are neighbours in each block, at the same place: [blocks, count], as lanes are."""

    step: int  # cells from one block to the next
    first: int  # cell of each block
    count: int  # cells of each block

    def overlaps(self, other: CellRows) -> bool:
        """Whether any cell is among those of other rows of the same array."""
        return self.first < other.first + other.count and other.first < self.first + self.count

    def of(self, entries: Array) -> Array:
        """The part [..., blocks, count] of entries [..., cells], as a view."""
        rows = entries.reshape(*entries.shape[:-1], -1, self.step)
        return rows[..., self.first : self.first + self.count]

    def put(self, entries: Array, values: Any) -> None:
        """Give that part values: [blocks * count], or what NumPy spreads over it."""
        rows = self.of(entries)
        is_flat = isinstance(values, np.ndarray) and values.ndim == 1
        rows[:] = values.reshape(rows.shape) if is_flat else values


def cell_rows(access: Access) -> CellRows | None:
    """The cells of an access by all lanes of a chunk's blocks; None where they are no rows."""
    buffer, pattern = access.buffer, access.pattern
    is_whole = access.mask is None and access.width == access.component_size == buffer.element.size
    if not is_whole or buffer.space is not MemorySpace.SHARED or pattern.index is None:
        return None
    group, step = access.group, buffer.stride // buffer.element.size
    first = pattern.costs.get(CellRows)
    if first is None:
        index = pattern.index
        rows = np.add.outer(np.arange(group.block_count) * step, np.arange(group.threads.size))
        is_even = buffer.cells.size == group.block_count * step
        is_row = is_even and bool((index - index[0] == rows.reshape(-1)).all())
        first = pattern.costs[CellRows] = int(index[0]) if is_row else NO_ROWS
    if first == NO_ROWS:
        return None
    shift = access.base // access.component_size * pattern.step
    return CellRows(step, first + shift, group.threads.size)
