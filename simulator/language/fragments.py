"""The fragments of nvcuda::wmma: which lane of a warp holds which element of a matrix tile.

CUDA leaves that open (CUDA C++ Programming Guide, Warp Matrix Functions). The tables are what an
H200 showed, each lane's elements read back one by one; tests/simulator/fragments.json has them all.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from simulator.language.ctype import FLOAT, HALF, Array, Scalar
from simulator.language.number_types import OPERANDS

Step = tuple[int, int]  # rows, columns
Shape = tuple[int, int, int]  # m, n, k


class Use(StrEnum):
    """Which matrix of D = A B + C a fragment is a tile of."""

    A = "matrix_a"
    B = "matrix_b"
    ACCUMULATOR = "accumulator"


SQUARE, TALL, WIDE = (16, 16, 16), (32, 8, 16), (8, 32, 16)
SHALLOW = (16, 16, 8)
# Those of single instructions, mma.sync (PTX ISA, Matrix fragments for mma.m16n8k16 and its kind).
NARROW, NARROW_8, NARROW_4 = (16, 8, 16), (16, 8, 8), (16, 8, 4)
# By the bytes of an operand's element.
SHAPES: Mapping[int, tuple[Shape, ...]] = {2: (SQUARE, TALL, WIDE), 4: (SHALLOW,)}
# How far each bit of a lane's number moves within the tile, the lowest bit first.
PAIRS_IN_ROWS: tuple[Step, ...] = ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0))
PAIRS_IN_COLUMNS: tuple[Step, ...] = ((2, 0), (4, 0), (0, 1), (0, 2), (0, 4))
SINGLES_IN_ROWS: tuple[Step, ...] = ((0, 1), (0, 2), (1, 0), (2, 0), (4, 0))
SINGLES_IN_COLUMNS: tuple[Step, ...] = ((1, 0), (2, 0), (0, 1), (0, 2), (0, 4))
AGAIN: Step = (0, 0)  # these elements are copies of those before them
# The same of each bit of an element's number within a lane.
ELEMENTS_OF_16_BITS: Mapping[tuple[Use, Shape], tuple[Step, ...]] = {
    (Use.A, SQUARE): ((0, 1), (8, 0), (0, 8)),
    (Use.B, SQUARE): ((1, 0), (8, 0), (0, 8)),
    (Use.A, TALL): ((0, 1), (8, 0), (0, 8), (16, 0)),
    (Use.B, TALL): ((1, 0), (8, 0)),
    (Use.A, WIDE): ((0, 1), (0, 8)),
    (Use.B, WIDE): ((1, 0), (0, 8), (8, 0), (0, 16)),
    (Use.A, NARROW): ((0, 1), (8, 0), (0, 8)),
    (Use.B, NARROW): ((1, 0), (8, 0)),
    (Use.A, NARROW_8): ((0, 1), (8, 0)),
    (Use.B, NARROW_8): ((1, 0),),
}
ELEMENTS_OF_32_BITS: Mapping[tuple[Use, Shape], tuple[Step, ...]] = {
    (Use.A, SHALLOW): ((8, 0), (0, 4)),
    (Use.B, SHALLOW): ((4, 0), (0, 8)),
    (Use.A, NARROW_8): ((8, 0), (0, 4)),
    (Use.B, NARROW_8): ((4, 0),),
    (Use.A, NARROW_4): ((8, 0),),
    (Use.B, NARROW_4): (),
}
ELEMENTS_OF_SUMS: Mapping[Shape, tuple[Step, ...]] = {
    SQUARE: ((0, 1), (8, 0), (0, 8)),
    TALL: ((0, 1), (8, 0), (16, 0)),
    WIDE: ((1, 0), (0, 8), (0, 16)),
    SHALLOW: ((0, 1), (8, 0), (0, 8)),
    **dict.fromkeys((NARROW, NARROW_8, NARROW_4), ((0, 1), (8, 0))),
}
# What an accumulator may be of, by its name; only operands of half have sums of half.
SUMS: Mapping[str, Scalar] = {each.name: each for each in (FLOAT, HALF)}
OPERAND_NAMES = {each.clang_name: name for name, each in OPERANDS.items() if each.clang_name}
WITH_COPIES = 16  # elements of a lane where some may be copies


@dataclass(frozen=True, slots=True)
class Fragment:
    """The type of a fragment."""

    use: Use
    shape: Shape
    operand: str  # of number_types.OPERANDS; of an accumulator of SUMS
    layout: str  # "row_major" or "col_major", of memory; "" for an accumulator

    def __str__(self) -> str:
        """The type as a kernel writes it, without namespaces."""
        m, n, k = self.shape
        layout = f", {self.layout}" if self.layout else ""
        return f"fragment<{self.use}, {m}, {n}, {k}, {self.operand}{layout}>"

    @property
    def element(self) -> Scalar:
        """The type of the cells that x[i] are."""
        if self.use is Use.ACCUMULATOR:
            return SUMS[self.operand]
        return OPERANDS[self.operand].ctype

    @property
    def rows(self) -> int:
        """Of the tile."""
        m, _, k = self.shape
        return k if self.use is Use.B else m

    @property
    def columns(self) -> int:
        """Of the tile."""
        _, n, k = self.shape
        return k if self.use is Use.A else n

    @property
    def distinct(self) -> int:
        """Elements of a lane before they are repeated: the ones that are multiplied."""
        return 1 << len(self._element_steps)

    @property
    def count(self) -> int:
        """Elements of a lane: num_elements."""
        has_copies = self.use is not Use.ACCUMULATOR and OPERANDS[self.operand].has_copies
        return WITH_COPIES if has_copies else self.distinct

    @property
    def _element_steps(self) -> tuple[Step, ...]:
        if self.use is Use.ACCUMULATOR:
            return ELEMENTS_OF_SUMS[self.shape]
        if self.element.size == 4:
            return ELEMENTS_OF_32_BITS[self.use, self.shape]
        return ELEMENTS_OF_16_BITS[self.use, self.shape]

    @property
    def _lane_steps(self) -> tuple[Step, ...]:
        if self.use is Use.ACCUMULATOR:
            return PAIRS_IN_COLUMNS if self.shape == WIDE else PAIRS_IN_ROWS
        if self.element.size == 4:
            return SINGLES_IN_ROWS if self.use is Use.A else SINGLES_IN_COLUMNS
        return PAIRS_IN_ROWS if self.use is Use.A else PAIRS_IN_COLUMNS

    def positions(self) -> tuple[Array, Array]:
        """The row and the column of each lane's elements in the tile: int [32, count] each.

        >>> sums = Fragment(Use.ACCUMULATOR, (16, 16, 16), "float", "")
        >>> rows, columns = sums.positions()
        >>> [(int(row), int(column)) for row, column in zip(rows[5], columns[5])][:4]
        [(1, 2), (1, 3), (9, 2), (9, 3)]
        """
        elements = self._element_steps
        steps = (*elements, *(AGAIN,) * (self.count.bit_length() - 1 - len(elements)))
        lane_numbers = np.arange(1 << len(self._lane_steps))
        lanes = _moved(lane_numbers, self._lane_steps)
        within = _moved(np.arange(self.count), steps)
        rows, columns = (lanes[axis][:, None] + within[axis] for axis in (0, 1))
        return rows, columns


def _moved(numbers: Array, steps: tuple[Step, ...]) -> tuple[Array, Array]:
    """How far the bits of numbers move: rows and columns, int of the same shape each."""
    bits = [(numbers >> place) & 1 for place in range(len(steps))]
    moved = [
        sum((bit * step[axis] for bit, step in zip(bits, steps, strict=True)), 0 * numbers)
        for axis in (0, 1)
    ]
    return moved[0], moved[1]


@functools.cache
def parse_fragment(name: str) -> Fragment | None:
    """The fragment that a type is, by its name as clang or a Fragment writes it; else None.

    >>> str(parse_fragment("nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, _Float16, "
    ...                    "nvcuda::wmma::row_major>"))
    'fragment<matrix_a, 16, 16, 16, half, row_major>'
    """
    found = re.fullmatch(
        r"(?:const )?(?:nvcuda::wmma::)?fragment<(?:nvcuda::wmma::)?(\w+), (\d+), (\d+), (\d+), "
        r"((?:\w+::)*\w+)(?:, (?:nvcuda::wmma::)?(\w+))?>",
        name,
    )
    if found is None:
        return None
    use, m, n, k, operand, layout = found.groups()
    operand = OPERAND_NAMES.get(operand, operand.rpartition("::")[2])
    layout = "" if layout in (None, "void") else layout
    return Fragment(Use(use), (int(m), int(n), int(k)), operand, layout)
