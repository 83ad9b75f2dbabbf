"""Random tiles for a tensor core, the same bits everywhere: with NumPy, or with CuPy on a GPU.

A kind says how wide the operands' exponents are, and how often an operand is zero, subnormal,
infinite or NaN, so that each rule of simulator/machine/tensor_core.py has sums that need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.language.ctype import FLOAT, Scalar
from simulator.language.number_types import OPERANDS, Operand

HALF = OPERANDS["half"]
FROM_FLOAT = 15 - 127  # from an exponent field of float to that of the same number as a half
CHANCES = 1024  # that a Spread's chances are out of


@dataclass(frozen=True)
class Layout:
    """How a type's bits lie: sign, exponent, fraction."""

    exponent_bits: int
    fraction_bits: int
    dtype: Any

    @property
    def top(self) -> int:
        """The exponent field of infinity and NaN."""
        return (1 << self.exponent_bits) - 1


FLOAT_LAYOUT = Layout(8, 23, np.uint32)
LAYOUTS: Mapping[str, Layout] = {
    "half": Layout(5, 10, np.uint16),
    "__nv_bfloat16": Layout(8, 7, np.uint16),
    "tf32": FLOAT_LAYOUT,  # with 13 low bits that nothing looks at
}


@dataclass(frozen=True)
class Spread:
    """Which numbers one operand of a kind has."""

    low: int = 1  # exponent fields, from
    high: int = 1000  # to; no more than that of the largest finite number
    zero: int = 0  # how many of CHANCES are zero,
    subnormal: int = 0  # subnormal,
    special: int = 0  # infinite or NaN
    coarse: bool = False  # only two fraction bits, so that sums cancel to nothing


Kind = tuple[Spread, Spread, Spread]  # of A, B and C


def kinds(form: Operand) -> dict[str, Kind]:
    """The kinds of tiles for a type of operands, by name."""
    one = 15 if form is HALF else 127  # the exponent field of 1
    near, wide = Spread(one - 3, one + 3), Spread(one - 6, one + 6)
    low = Spread(1, 4, subnormal=700)
    found = {
        "near": (near, near, Spread(124, 132)),
        "one exponent": (Spread(one, one), Spread(one, one), Spread(127, 131)),
        "spread": (wide, wide, Spread(113, 141)),
        "large accumulator": (near, near, Spread(137, 167)),
        "no accumulator": (wide, wide, Spread(zero=CHANCES)),
        "sparse": (Spread(one - 6, one + 6, zero=820), wide, Spread(97, 141, zero=300)),
        "very sparse": (Spread(zero=950), Spread(zero=300), Spread(zero=300)),
        "all but nothing": (
            Spread(zero=1010), Spread(zero=1010), Spread(1, 40, zero=400, subnormal=500)
        ),
        "all exponents": (Spread(), Spread(), Spread(79, 167) if form is HALF else Spread()),
        "any bits": (Spread(0, subnormal=4, special=4), Spread(0, special=2), Spread(0, special=2)),
        "cancelling": (
            Spread(one - 1, one + 1, zero=300, coarse=True),
            Spread(one - 1, one + 1, zero=300, coarse=True),
            Spread(126, 129, zero=300, coarse=True),
        ),
        "special": (
            Spread(one - 3, one + 3, special=10), Spread(one - 3, one + 3, zero=50, special=10),
            Spread(120, 135, special=50),
        ),
        "few special": (
            Spread(one - 3, one + 3, special=4), Spread(one - 3, one + 3, zero=300),
            Spread(120, 135, special=50),
        ),
        "subnormal operands": (
            low, low, Spread(70, 100, zero=200) if form is HALF else Spread(1, 5, subnormal=500)
        ),
        "one subnormal": (
            Spread(1, 3, subnormal=900), Spread(one - 2, one + 12, subnormal=100),
            Spread(85, 127, zero=200) if form is HALF else Spread(1, 15, zero=100, subnormal=300),
        ),
        "subnormal accumulator": (Spread(zero=CHANCES), Spread(), Spread(1, 3, subnormal=800)),
        "small accumulator": (
            Spread(1, one, zero=820), Spread(1, one), Spread(1, one if form is HALF else 30)
        ),
    }  # fmt: skip
    if form is not HALF:  # products beside the ends of float
        found |= {
            "subnormal sums": (
                Spread(40, 70), Spread(56, 76), Spread(1, 4, zero=200, subnormal=600)
            ),
            "least sums": (Spread(55, 60), Spread(50, 56), Spread(1, 2, zero=300, subnormal=700)),
            "below the least": (
                Spread(50, 62), Spread(50, 62), Spread(1, 1, zero=500, subnormal=1000)
            ),
            "cut to zero": (
                Spread(46, 58, zero=500), Spread(46, 58), Spread(1, 1, zero=700, subnormal=1000)
            ),
            "overflow": (Spread(188, 192), Spread(186, 190), Spread(248, 254)),
            "rare overflow": (Spread(189, 191, zero=600), Spread(189, 190), Spread(250, 254)),
            "huge": (Spread(180, 200), Spread(180, 200), Spread(200, 254, zero=200)),
        }  # fmt: skip
    return found


def words(seed: int, count: int, arrays: Any) -> Any:
    """Random words, uint64 [count]: SplitMix64's, which any machine computes alike."""
    z = arrays.arange(count, dtype=np.uint64) + np.uint64((seed * 0x2545F4914F6CDD1D) % 2**64)
    z = z * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def operand(spread: Spread, layout: Layout, seed: int, shape: tuple[int, ...], arrays: Any) -> Any:
    """Random numbers of a spread, as bits."""
    z = words(seed, int(np.prod(shape)), arrays).reshape(shape)

    def taken(first: int, bits: int) -> Any:
        return ((z >> np.uint64(first)) & np.uint64((1 << bits) - 1)).astype(np.int64)

    fraction = taken(0, layout.fraction_bits)
    if spread.coarse:
        fraction = fraction & ~((1 << (layout.fraction_bits - 2)) - 1)
    low, high = spread.low, min(spread.high, layout.top - 1)
    exponent = low + (taken(24, 10) * (high - low + 1) >> 10)
    zero, special = taken(34, 10) < spread.zero, taken(44, 10) < spread.special
    exponent = arrays.where(zero | (taken(54, 10) < spread.subnormal), 0, exponent)
    fraction = arrays.where(zero, 0, fraction)
    exponent = arrays.where(special, layout.top, exponent)
    quiet = fraction & ((1 << max(0, layout.fraction_bits - 10)) - 1)  # all but ten bits cleared
    fraction = arrays.where(special & (taken(23, 1) == taken(22, 1)), quiet, fraction)
    bits = (taken(23, 1) << (layout.exponent_bits + layout.fraction_bits)) | fraction
    return (bits | (exponent << layout.fraction_bits)).astype(layout.dtype)


def tiles(
    form: Operand,
    kind: str,
    shape: tuple[int, int, int],
    count: int,
    seed: int,
    arrays: Any = np,
    sums: Scalar = FLOAT,
) -> tuple[Any, Any, Any]:
    """A, B and C of `count` products of a shape (m, n, k): cells of the type, and of the sums'."""
    m, n, k = shape
    spreads, layout = kinds(form)[kind], LAYOUTS[form.name]
    of_sums, sums_layout = spreads[2], FLOAT_LAYOUT
    if sums is not FLOAT:
        low, high = (max(1, field + FROM_FLOAT) for field in (of_sums.low, of_sums.high))
        of_sums, sums_layout = replace(of_sums, low=low, high=high), LAYOUTS[sums.name]
    first = 3 * (seed * 1000 + list(kinds(form)).index(kind))
    a = operand(spreads[0], layout, first, (count, m, k), arrays)
    b = operand(spreads[1], layout, first + 1, (count, k, n), arrays)
    c = operand(of_sums, sums_layout, first + 2, (count, m, n), arrays)
    return a.view(form.ctype.cell_dtype), b.view(form.ctype.cell_dtype), c.view(sums.dtype)
