"""What a Hopper tensor core computes, bit for bit: C + A B in instructions of a few k each.

One instruction adds the accumulator and all its products in one go (seen on an H200 and an H100;
tests/simulator/tensor_core/ holds what they gave):

- A product is exact. Its exponent is the sum of its operands' exponents, also where the product of
  their significands is 2 or more. A subnormal operand has its format's least exponent.
- All addends are aligned to the largest exponent among those that are not zero, or to one
  BITS_BELOW under that of the sums' subnormal numbers if it is larger, and cut toward zero after
  FRACTION_BITS bits.
- Their exact sum is cut toward zero to a float, subnormal ones too; from 2**128 on it is infinite.
  Where sums are halves it is rounded to the nearest half instead, once, ties to even, and is
  infinite where IEEE 754 has it so. Where nothing is left of it, it is +0.
- An infinite or NaN operand gives what IEEE 754 says of the sum; every NaN is 0x7fffffff, or
  0x7fff as a half.

All functions take arrays with any leading axes, so that many warps are one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import FLOAT, HALF, Array
from simulator.language.number_types import Operand

FRACTION_BITS = 25  # kept of each addend, below the largest exponent
BITS_BELOW = 7  # from the exponent of subnormal sums to the least to which addends are aligned
FLOAT_FRACTION_BITS = 23
NOT_A_NUMBER, NOT_A_HALF = 0x7FFFFFFF, 0x7FFF

_NOTHING = -1000  # the exponent of a zero


def multiply_add(a: Array, b: Array, c: Array, form: Operand) -> Array:
    """c + a b, as mma_sync computes it: [..., m, n] of the type of c.

    a is [..., m, k], b [..., k, n] of the type's numbers, c float32 or float16 [..., m, n]; k is a
    multiple of the type's depth. Each instruction takes the next k and the sum of the one before
    it.
    """
    left, right = (decode(widen(each, form), form.least_exponent) for each in (a, b))
    for first in range(0, a.shape[-1], form.depth):
        ks = slice(first, first + form.depth)
        c = _instruction(left.part(..., ks), right.part(..., ks, slice(None)), c)
    return c


def widen(numbers: Array, form: Operand) -> Array:
    """What the tensor core reads of operands: float32, of the same shape."""
    dropped = FLOAT_FRACTION_BITS - form.fraction_bits
    bits = numbers.astype(np.float32).view(np.uint32) >> np.uint32(dropped)
    return (bits << np.uint32(dropped)).view(np.float32)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Operands or accumulators with the exponents that the tensor core has for them."""

    values: Array  # float64, exact
    exponents: Array  # int16; far below any other for a zero, an infinity and NaN

    def part(self, *index: Any) -> Numbers:
        """Those at an index of both arrays."""
        return Numbers(self.values[index], self.exponents[index])


def decode(values: Array, least_exponent: int) -> Numbers:
    """Float32 numbers by their bits, so that nothing can flush them.

    least_exponent is a subnormal number's, of the type that they came from.
    """
    bits = values.view(np.uint32).astype(np.int64)
    field, fraction = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    significand = np.where(field > 0, fraction + 0x800000, fraction)
    places = np.maximum(field, 1) - 127
    size = significand.astype(np.float64) * _power_of_two(places - 23)
    odd = np.where(fraction > 0, np.float64(np.nan), np.float64(np.inf))
    size = np.where(field == 0xFF, odd, size)
    exponents = np.maximum(places, least_exponent)
    exponents = np.where((significand == 0) | (field == 0xFF), _NOTHING, exponents)
    signed = np.where(bits >> 31 > 0, -size, size)
    return Numbers(signed, exponents.astype(np.int16))


def _instruction(a: Numbers, b: Numbers, c: Array) -> Array:
    """One instruction: [..., m, n] of a [..., m, k], b [..., k, n] and c [..., m, n]."""
    form = ACCUMULATORS[c.dtype]
    accumulator = form.decode(c)
    columns = Numbers(b.values.swapaxes(-1, -2).copy(), b.exponents.swapaxes(-1, -2).copy())
    pairs = a.exponents[..., :, None, :] + columns.exponents[..., None, :, :]
    largest = np.maximum(pairs.max(axis=-1), accumulator.exponents)
    scale = _power_of_two(FRACTION_BITS - np.maximum(largest, form.least_aligned))
    with np.errstate(invalid="ignore"):
        products = a.values[..., :, None, :] * columns.values[..., None, :, :]
        products *= scale[..., None]
        total = np.trunc(products, out=products).sum(axis=-1)  # exact: fewer than 2**32 units
        total += np.trunc(accumulator.values * scale)
        return form.from_sum(total / scale)


def _power_of_two(exponents: Array) -> Array:
    """2 to the power of whole numbers from -1022 to 1023: float64."""
    return ((exponents.astype(np.int64) + 1023) << 52).view(np.float64)


def cut_to_float(values: Array) -> Array:
    """Float64 numbers cut toward zero to float32; +0 for what is cut to nothing.

    >>> float(cut_to_float(np.array([1 + 2**-23 + 2**-24]))[0]) == 1 + 2**-23
    True
    """
    bits = values.view(np.int64)
    exponent = ((bits >> 52) & 0x7FF) - 1023
    significand = (bits & (2**52 - 1)) | 2**52
    below = np.clip(-126 - exponent, 0, 34)  # places that a subnormal result has lost
    significand = significand >> (below + 29)
    field = np.where(below > 0, 0, exponent + 126)  # the significand's first bit adds one to it
    result = (np.clip(field, 0, 254) << 23) + significand
    result = np.where(exponent > 127, 0x7F800000, result)
    result = np.where((bits < 0) & (result > 0), result | 0x80000000, result)
    result = np.where(np.isnan(values), NOT_A_NUMBER, result)
    return result.astype(np.uint32).view(np.float32)


def round_to_half(values: Array) -> Array:
    """Float64 numbers of 40 bits or fewer, rounded to the nearest float16; +0 for what is nothing.

    >>> round_to_half(np.array([1 + 2**-11, 1 + 3 * 2**-11, -(2.0**-25), 65520.0])).tolist()
    [1.0, 1.001953125, 0.0, inf]
    """
    with np.errstate(over="ignore"):
        bits = values.astype(np.float16).view(np.uint16)
    bits = np.where(bits == 0x8000, 0, bits)
    return np.where(np.isnan(values), NOT_A_HALF, bits).astype(np.uint16).view(np.float16)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A type of sums."""

    least_exponent: int  # of a subnormal number
    from_sum: Callable[[Array], Array]  # numbers of the type from exact sums, which are float64

    @property
    def least_aligned(self) -> int:
        """The exponent to which addends are aligned at least."""
        return self.least_exponent - BITS_BELOW

    def decode(self, sums: Array) -> Numbers:
        """Sums of the type with the exponents that the tensor core has for them."""
        return decode(sums.astype(np.float32, copy=False), self.least_exponent)


ACCUMULATORS: Mapping[Any, Accumulator] = {  # by NumPy's type
    FLOAT.dtype: Accumulator(-126, cut_to_float),
    HALF.dtype: Accumulator(-14, round_to_half),
}


@dataclass(frozen=True, slots=True)
class Addend:
    """The accumulator or a product, on its way into the sum of one instruction."""

    value: float  # exact
    exponent: int | None  # as the tensor core has it; None for zero
    aligned: int  # what is added, in units of 2**(exponent - FRACTION_BITS) of the instruction
    cut: float  # what the alignment has cut off; value = aligned units + cut


@dataclass(frozen=True, slots=True)
class Addition:
    """How one instruction computes one cell of finite operands."""

    addends: tuple[Addend, ...]  # the accumulator, then the products in the order of k
    exponent: int  # the one that they are aligned to
    total: int  # the sum of what is added, in units
    result: np.floating[Any]  # of the type of the sums

    @property
    def unit(self) -> float:
        """What one unit of `aligned` and `total` is worth."""
        return 2.0 ** (self.exponent - FRACTION_BITS)


def explain(a: Array, b: Array, c: np.floating[Any], form: Operand) -> tuple[Addition, ...]:
    """The steps that give one cell: a row of A and a column of B, each [k], and the accumulator.

    c is a float32 or a float16, as the sums are.
    Raises ValueError where an operand is infinite or NaN: then nothing is aligned.
    """
    left, right = (decode(widen(each, form), form.least_exponent) for each in (a, b))
    if not all(np.isfinite(each).all() for each in (left.values, right.values, c)):
        raise ValueError("Only finite operands are aligned and added.")
    sums, additions = ACCUMULATORS[c.dtype], []
    for first in range(0, len(a), form.depth):
        ks = slice(first, first + form.depth)
        row, column = left.part(ks), right.part(ks)
        accumulator = sums.decode(np.array([c]))
        values = [*accumulator.values.tolist(), *(row.values * column.values).tolist()]
        pairs = row.exponents + column.exponents
        exponents = [*accumulator.exponents.tolist(), *pairs.tolist()]
        largest = max(*exponents, sums.least_aligned)
        unit = 2.0 ** (largest - FRACTION_BITS)
        addends = []
        for value, exponent in zip(values, exponents, strict=True):
            aligned = int(value / unit)
            known = None if value == 0 else exponent
            addends.append(Addend(value, known, aligned, value - aligned * unit))
        total = sum(addend.aligned for addend in addends)
        c = sums.from_sum(np.array([total * unit]))[0]
        additions.append(Addition(tuple(addends), largest, total, c))
    return tuple(additions)
