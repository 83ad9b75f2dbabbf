"""Which GPU computes which tile of C, and which pieces of A and B it gets from whom, and when.

A GPU is to the host what a block is to a GPU. C is cut into tiles, a GPU for each; for its tile
a GPU needs a panel of A (its tile's rows) and a panel of B (its tile's columns), which the GPUs
beside it need too. So a panel lies in pieces, one on each of the GPUs that share it, and each
piece goes from its owner to the others. K is never cut: a kernel that stores C runs as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Size = tuple[int, int, int]  # M, N, K
FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Band:
    """Rows of A and C, or columns of B and C: `begin` to before `end`."""

    begin: int
    end: int

    @property
    def extent(self) -> int:
        """How many rows or columns."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole rows of A or whole columns of B, and the GPU that has them from the beginning."""

    matrix: Literal["A", "B"]
    band: Band
    owner: int  # number of a GPU


@dataclass(frozen=True, slots=True)
class Move:
    """A piece goes from its owner to another GPU."""

    piece: Piece
    target: int  # number of a GPU


@dataclass(frozen=True, slots=True)
class Product:
    """A GPU multiplies a piece of A by a piece of B: a part of its tile of C."""

    gpu: int
    a: Piece
    b: Piece


@dataclass(frozen=True, slots=True)
class Step:
    """What runs at once: these products, and the moves of the pieces for the next step."""

    products: tuple[Product, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A product over `down` x `across` GPUs, numbered row by row as their tiles lie in C."""

    size: Size
    down: int
    across: int
    steps: tuple[Step, ...]

    @property
    def gpus(self) -> int:
        """How many GPUs take part."""
        return self.down * self.across

    def moves(self) -> Iterator[Move]:
        """Every move, in order."""
        return (move for step in self.steps for move in step.moves)

    def products(self) -> Iterator[Product]:
        """Every product, in order."""
        return (product for step in self.steps for product in step.products)

    def bytes_of(self, piece: Piece) -> int:
        """The size of a piece."""
        return FLOAT_BYTES * piece.band.extent * self.size[2]

    @property
    def bytes_moved(self) -> int:
        """Bytes that go from one GPU to another."""
        return sum(self.bytes_of(move.piece) for move in self.moves())

    def bytes_held(self, gpu: int) -> int:
        """Bytes that a GPU holds in the end: its panels of A and B, and its tile of C."""
        mine = [product for product in self.products() if product.gpu == gpu]
        pieces = {piece for product in mine for piece in (product.a, product.b)}
        tile = sum(product.a.band.extent * product.b.band.extent for product in mine)
        return sum(map(self.bytes_of, pieces)) + FLOAT_BYTES * tile


def make_plan(size: Size, gpus: int, unit: tuple[int, int]) -> Plan:
    """The plan for M, N, K over so many GPUs, at least one.

    `unit` are the rows and columns of C that one block of the kernel computes: cuts lie between
    blocks, so that no GPU computes more blocks than one GPU alone would. In step s a GPU uses the
    pieces of the s-th GPU after it, in its row for A, in its column for B: every GPU then sends
    one piece of each at a time and receives one.
    """
    M, N, _ = size
    down, across = choose_grid(size, gpus)
    rows = [cut(band, across, unit[0]) for band in cut(Band(0, M), down, unit[0])]
    columns = [cut(band, down, unit[1]) for band in cut(Band(0, N), across, unit[1])]

    def a_piece(gpu: int, step: int) -> Piece:
        row, place = gpu // across, (gpu + step) % across
        return Piece("A", rows[row][place], row * across + place)

    def b_piece(gpu: int, step: int) -> Piece:
        column, place = gpu % across, (gpu // across + step) % down
        return Piece("B", columns[column][place], place * across + column)

    orders = [(i, j) for i in range(across) for j in range(down)]
    products = {
        step: tuple(
            Product(gpu, a_piece(gpu, i), b_piece(gpu, j))
            for gpu in range(gpus)
            for i, j in orders
            if max(i, j) == step and a_piece(gpu, i).band.extent and b_piece(gpu, j).band.extent
        )
        for step in range(max(down, across))
    }
    used = {
        (one.gpu, piece) for many in products.values() for one in many for piece in (one.a, one.b)
    }
    steps = []
    for step, many in products.items():
        coming = [
            Move(piece(gpu, step + 1), gpu)
            for gpu in range(gpus)
            for piece, count in ((a_piece, across), (b_piece, down))
            if step + 1 < count
        ]
        steps.append(Step(many, tuple(one for one in coming if (one.target, one.piece) in used)))
    return Plan(size, down, across, tuple(steps))


def choose_grid(size: Size, gpus: int) -> tuple[int, int]:
    """Rows and columns of GPUs whose panels are the smallest: the fewest bytes move.

    >>> choose_grid((1000, 1000, 1000), 4), choose_grid((8000, 10, 1000), 4)
    ((2, 2), (4, 1))
    """
    M, N, _ = size
    grids = [(down, gpus // down) for down in range(1, gpus + 1) if gpus % down == 0]
    return min(grids, key=lambda grid: M * (grid[1] - 1) + N * (grid[0] - 1))


def cut(band: Band, parts: int, unit: int) -> list[Band]:
    """The band in so many parts, cut at multiples of `unit` from its beginning.

    They differ by one unit at most; where there are fewer units than parts, some are empty.

    >>> [part.extent for part in cut(Band(0, 1000), 3, 128)]
    [256, 384, 360]
    """
    units = -(-band.extent // unit)
    edges = [min(band.end, band.begin + unit * (units * part // parts)) for part in range(parts)]
    return [Band(*edge) for edge in zip(edges, [*edges[1:], band.end], strict=True)]
