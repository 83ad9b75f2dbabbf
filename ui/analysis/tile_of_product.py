"""The tile of a user kernel that multiplies, from what a recorded block loads and stores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator import Recording
from simulator.language.ctype import Array
from simulator.machine.observer import AccessKind
from ui.analysis.product_roles import Product
from ui.analysis.tiles_of_k import is_load


def find_tile(
    recording: Recording, product: Product, iterations: Sequence[int | None]
) -> tuple[int, int, int] | None:
    """Rows and columns of C that a block produces, and the depth of K that it takes at a time.

    iterations has each step's outer iteration, None outside the outer loop. None where that is not
    plain: without shared memory, or where the block's cells of C are no rectangle, or what it loads
    of A and B comes in parts that do not follow each other along K.
    """
    cells = _stored_cells(recording, product)
    depth = _depth(recording, product, iterations)
    if not recording.shared or not cells.size or depth is None:
        return None
    rows, columns = np.divmod(cells, product.N)
    down, across = int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1
    if cells.size != down * across:
        return None
    first, block = (int(rows.min()), int(columns.min())), recording.block
    return _whole(first[0], block[1], down), _whole(first[1], block[0], across), depth


def _whole(first: int, block: int, count: int) -> int:
    """Rows, or columns, of a whole tile, of which a block at the edge of C stores only some."""
    size = first // block if block else count
    return size if size >= count and size * block == first else count


def _stored_cells(recording: Recording, product: Product) -> Array:
    """The cells of C that the block stores, each once."""
    cells = [
        access.touched_cells()[0]
        for step in recording.steps
        for access in step.accesses
        if access.kind is not AccessKind.LOAD and access.name == product.C
    ]
    return np.unique(np.concatenate(cells)) if cells else np.zeros(0, np.int64)


def _depth(recording: Recording, product: Product, iterations: Sequence[int | None]) -> int | None:
    """How far along K the block loads in one iteration of its outer loop."""
    parts: dict[int, int] = {}  # the first k of each iteration's loads, and the one after the last
    loads: dict[int | None, list[Array]] = {}
    for step in recording.steps:
        for access in step.accesses:
            if is_load(product, access):
                cells = access.touched_cells()[0]
                k = cells % product.K if access.name == product.A else cells // product.N
                loads.setdefault(iterations[step.number], []).append(k)
    for found in loads.values():
        k = np.concatenate(found)
        if k.size:
            first, end = int(k.min()), int(k.max()) + 1
            parts[first] = max(end, parts.get(first, end))
    firsts = sorted(parts)
    if not firsts or firsts[0] != 0:
        return None
    depth = firsts[1] if len(firsts) > 1 else parts[0]
    whole = firsts == list(range(0, len(firsts) * depth, depth))
    return depth if whole and all(end - first <= depth for first, end in parts.items()) else None
