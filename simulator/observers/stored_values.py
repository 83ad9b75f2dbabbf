"""What a store writes to each of its cells, bit for bit, to be compared with other writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.observer import Access, AccessKind


def written_bits(access: Access, lanes: Any) -> Array | None:
    """The bits that a store writes to each of n cells, unsigned [n], in the order of its cells().

    lanes are as in cells(). None for an atomic or a copy, and where a cell is not an element.
    """
    if access.kind is not AccessKind.STORE or access.values is None:
        return None
    if access.component_size != access.buffer.element.size:
        return None
    if not isinstance(access.values, tuple):
        return bits_of(access.group.spread(access.values)[lanes])
    components = np.stack([access.group.spread(value) for value in access.values], axis=-1)
    return bits_of(components[lanes, np.arange(lanes.size) % access.components])


def bits_of(values: Array) -> Array:
    """Numbers [n] as unsigned integers of their bits.

    >>> bits_of(np.array([1.0, -0.0], np.float32)).tolist()
    [1065353216, 2147483648]
    """
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def last_in_cells(cells: Array, values: Array) -> Array:
    """For each of n stores the value [n] of the last one to the same cell.

    >>> last_in_cells(np.array([7, 8, 7]), np.array([1, 2, 3])).tolist()
    [3, 2, 3]
    """
    distinct, numbers = np.unique(cells, return_inverse=True)
    last = np.empty(distinct.size, values.dtype)
    last[numbers] = values
    return last[numbers]
