"""Shared arrays of one dimension that hold tiles: how long their rows are, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from simulator import Recording
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.recording.recording import Step, StepAccess
from ui.analysis.product_roles import Product
from ui.analysis.tiles_of_k import NONE, copied_cells, is_load


def shared_shapes(recording: Recording, product: Product | None) -> Mapping[str, tuple[int, ...]]:
    """The dimensions of each shared array: as declared, or of the tile that one dimension holds.

    A tile's row is as long as neighbours in a column of A or B, or in a row, are apart in the
    array, where the block copies them; everywhere alike, else the array is as it is declared.
    """
    first = recording.steps[0].shared if recording.steps else {}
    shapes = {name: tuple(values.shape) for name, values in first.items()}
    if product is None:
        return shapes
    pitches: dict[str, set[int]] = {}
    for step in recording.steps:
        for store in step.accesses:
            if store.space is MemorySpace.SHARED and store.kind is not AccessKind.LOAD:
                pitches.setdefault(store.name, set()).update(_pitches(step, store, product))
    for name, found in pitches.items():
        size = shapes[name][0]
        pitch = next(iter(found), 0)
        if len(shapes[name]) == 1 and len(found) == 1 and 1 < pitch < size and size % pitch == 0:
            shapes[name] = (size // pitch, pitch)
    return shapes


def _pitches(step: Step, store: StepAccess, product: Product) -> set[int]:
    """How far from each other neighbours of A or B are in the array, other than side by side."""
    found: set[int] = set()
    for load in step.accesses:
        if not is_load(product, load) or load.components > 1 or store.components > 1:
            continue
        threads = np.flatnonzero(store.active & store.in_bounds & load.active & load.in_bounds)
        rows, columns = np.divmod(
            load.offsets[threads] // load.cell_bytes, product.columns(load.name)
        )
        cells = store.offsets[threads] // store.cell_bytes
        apart = [_apart(rows, columns, cells), _apart(columns, rows, cells)]
        if 1 in apart:
            apart.remove(1)
            found |= {each for each in apart if each is not None}
    return found


def _apart(along: Array, across: Array, cells: Array) -> int | None:
    """How far apart cells are whose places differ by one along an axis; None if not all alike."""
    places = zip(along.tolist(), across.tolist(), strict=True)
    at = dict(zip(places, cells.tolist(), strict=True))
    found = {
        abs(at[one + 1, other] - cell)
        for (one, other), cell in at.items()
        if (one + 1, other) in at
    }
    return found.pop() if len(found) == 1 else None


def places_of_tiles(
    recording: Recording, product: Product, depth: int
) -> dict[tuple[str, str], Array]:
    """Where tiles of A and B lie in shared arrays of one dimension, by the array and the matrix.

    int [turns, rows, columns]: the array's cell of each element, NONE where none is copied. A turn
    is where a tile begins: those that are copied to the same place take turns there.
    """
    copies: dict[tuple[str, str], list[tuple[Array, Array]]] = {}
    for step in recording.steps:
        for name, matrix, targets, sources in _copies(recording, step, product):
            if recording.steps[0].shared[name].ndim == 1:
                copies.setdefault((name, matrix), []).append((targets, sources))
    found = {}
    for (name, matrix), parts in copies.items():
        targets, sources = (np.concatenate(each) for each in zip(*parts, strict=True))
        rows, columns = np.divmod(sources, product.columns(matrix))
        k, other = (columns, rows) if matrix == product.A else (rows, columns)
        other = other - other.min()
        tiles, within = np.divmod(k, depth)
        shape = (int(other.max()) + 1, depth)
        by_start: dict[int, Array] = {}
        for tile in np.unique(tiles).tolist():
            own = tiles == tile
            places = np.full(shape, NONE)
            places[other[own], within[own]] = targets[own]
            by_start.setdefault(int(targets[own].min()), places)
        turns = np.stack([by_start[start] for start in sorted(by_start)])
        found[name, matrix] = turns if matrix == product.A else turns.transpose(0, 2, 1)
    return found


def _copies(
    recording: Recording, step: Step, product: Product
) -> Iterator[tuple[str, str, Array, Array]]:
    """What a step copies into shared memory: array, matrix, its cells, and those of the matrix."""
    stores = [
        one for one in step.accesses
        if one.space is MemorySpace.SHARED and one.kind is not AccessKind.LOAD
    ]  # fmt: skip
    for load in step.accesses:
        if not is_load(product, load):
            continue
        if load.targets is not None:
            name, targets, sources, _ = copied_cells(recording, load)
            yield name, load.name, targets, sources
        elif len(stores) == 1 and stores[0].components == load.components == 1:
            (store,) = stores
            threads = np.flatnonzero(store.active & store.in_bounds & load.active & load.in_bounds)
            yield (store.name, load.name, store.offsets[threads] // store.cell_bytes,
                   load.offsets[threads] // load.cell_bytes)  # fmt: skip
