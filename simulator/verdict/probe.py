"""Which cells of a result a block stores, found by running single blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Observer

GRID = 64  # blocks in x and in y of a launch of which single blocks run
SECONDS = 0.5  # for one block


class _StoredCells(Observer):
    """The cells of one array that are stored, by their numbers."""

    def __init__(self, array: str) -> None:
        self.cells: set[int] = set()
        self._array = array

    def on_access(self, access: Access) -> None:
        """Keep what a store touches."""
        if access.kind is not AccessKind.LOAD and access.buffer.name == self._array:
            self.cells.update(np.unique(access.cells()[0]).tolist())


@dataclass(frozen=True, slots=True)
class BlockTile:
    """The cells of a result of which each block stores its part.

    rows and columns are those of one block; along_x and along_y are what the next block in x and
    in y goes along, "rows", "columns", or "" where it computes nothing of its own. Where is_linear,
    columns are cells, which go on in the next row.
    """

    rows: int
    columns: int
    along_x: str
    along_y: str
    is_linear: bool


def block_tile(
    kernel: Kernel,
    array: str,
    launch: Callable[[int], Launch],
    columns: Callable[[int], int],
) -> BlockTile | None:
    """What a block of a kernel stores into an array; None where that is no such tile.

    launch gives a launch of GRID x GRID blocks by a size, and columns that array's columns.
    """
    found: BlockTile | None = None
    for size in (37, 131, 523):
        try:
            found = _tile(kernel, array, launch(size), columns(size)) or found
        except (SourceError, LaunchError):
            break
        if found is not None and (found.is_linear or (found.along_x and found.along_y)):
            break
    return found


def _tile(kernel: Kernel, array: str, launch: Launch, columns: int) -> BlockTile | None:
    """The tile at one size; None where no neighbour has cells of its own."""

    def stored(block: int) -> Array:
        observer = _StoredCells(array)
        Machine(kernel, launch, [observer], seconds=SECONDS).run(np.array([block]))
        return np.array(sorted(observer.cells), dtype=np.int64)

    here = stored(0)
    if not here.size:
        return None
    tops = {axis: _moved(here, stored(block), columns) for axis, block in (("x", 1), ("y", GRID))}
    rows, wide = np.unique(here // columns), np.unique(here % columns)
    if tops["x"] is None and tops["y"] is None:
        return None
    x, y = (tops[axis] or ("", 0) for axis in "xy")
    steps = {along: step for along, step in (y, x) if along}
    if not y[0] and x[0] == "columns" and rows.size == 1:
        beyond = stored(-(-columns // x[1]))
        if beyond.size and beyond[0] // columns != rows[0]:
            return BlockTile(1, x[1], "columns", "", is_linear=True)
    return BlockTile(
        steps.get("rows", int(rows[-1]) + 1),
        steps.get("columns", int(wide[-1]) + 1),
        x[0],
        y[0],
        is_linear=False,
    )


def _moved(here: Array, there: Array, columns: int) -> tuple[str, int] | None:
    """Along what another block's cells lie from a block's, and how far; None where they do not."""
    if not there.size or np.array_equal(here, there):
        return None
    down = int(np.min(there // columns) - np.min(here // columns))
    across = int(np.min(there % columns) - np.min(here % columns))
    if down > 0 and across == 0:
        return "rows", down
    if across > 0 and down == 0:
        return "columns", across
    return None
