"""Arrays of structs and of short vectors as a sheet draws them: one a row, each number a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator import Recording
from simulator.language.ctype import Array, Part, Struct, Vector, parts
from simulator.language.ctype import size_of as bytes_of
from simulator.language.tree import ArraySpace
from ui.analysis.product_roles import element_of


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The numbers of one struct or vector, and the cells of its array that each of them takes."""

    parts: tuple[Part, ...]
    size: int  # bytes of one struct
    part_of_cell: Array  # int [cells of one struct], -1 for padding
    cell_of_part: Array  # int [parts], the first

    @property
    def names(self) -> tuple[str, ...]:
        """As C writes them after the struct, without the dot: "x", "position.y", "[2]"."""
        return tuple(part.name.removeprefix(".") for part in self.parts)

    def values(self, held: Array) -> Array:
        """The numbers in an array's cells: objects, flat, those of a struct side by side."""
        cells = np.ascontiguousarray(held).reshape(-1).view(np.uint8).reshape(-1, self.size)
        columns = [
            np.ascontiguousarray(cells[:, part.offset : part.offset + part.scalar.size])
            .view(part.scalar.dtype).reshape(-1).tolist()
            for part in self.parts
        ]  # fmt: skip
        found = np.empty((len(cells), len(columns)), object)
        for i, column in enumerate(columns):
            found[:, i] = column
        return found.reshape(-1)

    def of_cells(self, values: Array) -> Array:
        """What an array has for each cell, flat, as one for each number, flat."""
        by_struct = values.reshape(-1, self.part_of_cell.size)
        found: Array = by_struct[:, self.cell_of_part].reshape(-1)
        return found

    def numbers(self, cells: Array) -> Array:
        """The number that each cell belongs to, counted through the array; -1 for padding."""
        struct, cell = np.divmod(cells, self.part_of_cell.size)
        part = self.part_of_cell[cell]
        found: Array = np.where(part < 0, -1, struct * len(self.parts) + part)
        return found

    def cell(self, number: int) -> int:
        """The first cell of a number."""
        struct, part = divmod(number, len(self.parts))
        return struct * self.part_of_cell.size + int(self.cell_of_part[part])


def members_of(recording: Recording, name: str, space: ArraySpace) -> Members | None:
    """The members of what an array holds; None for numbers."""
    ctype = element_of(recording, name, space)
    if not isinstance(ctype, Struct | Vector):
        return None
    cell = ctype.cell if isinstance(ctype, Struct) else ctype.element
    part_of_cell = np.full(max(1, bytes_of(ctype) // cell.size), -1)
    found = tuple(parts(ctype))
    for i, part in enumerate(found):
        first = part.offset // cell.size
        part_of_cell[first : first + max(1, part.scalar.size // cell.size)] = i
    cell_of_part = np.array([part.offset // cell.size for part in found])
    return Members(found, bytes_of(ctype), part_of_cell, cell_of_part)
