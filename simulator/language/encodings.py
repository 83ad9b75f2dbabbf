"""Floating-point numbers of 8 and 16 bits that NumPy lacks: their cells, values and roundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# To a whole number: to the nearest, toward zero, up and down.
WHOLE: Mapping[str, Any] = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
FLOAT_FRACTION_BITS, FLOAT_BIAS = 23, 127
FLOAT_INFINITY, SIGN = np.uint32(0x7F800000), np.uint32(0x80000000)
EXACT_IN_DOUBLE = 2**53  # up to it every whole number is one


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the bits of a number lie: a sign, an exponent, a fraction.

    A value is a float32 that the type has; a cell is its bits. An arithmetic NaN has all bits but
    the sign set.

    >>> like_float = Encoding(exponent_bits=8, fraction_bits=7)
    >>> [hex(cell) for cell in like_float.encode(np.array([1.0, -2.0, np.nan], np.float32))]
    ['0x3f80', '0xc000', '0x7fff']
    """

    exponent_bits: int
    fraction_bits: int
    # Whether only infinity and NaN have the largest exponent; else a number with it is NaN
    # where all bits of its fraction are set, and there is no infinity.
    has_infinity: bool = True
    saturates: bool = False  # whether conversions give the largest number instead of larger ones

    @property
    def cell_dtype(self) -> np.dtype[Any]:
        """NumPy's type of the bits."""
        return np.dtype(f"u{(1 + self.exponent_bits + self.fraction_bits) // 8}")

    @property
    def largest(self) -> float:
        """The largest finite number."""
        steps = 2**self.fraction_bits
        if self.has_infinity:
            return float((2 - 1 / steps) * 2.0**self._bias)
        return float((2 - 2 / steps) * 2.0 ** (self._bias + 1))

    @property
    def _bias(self) -> int:
        return int(2 ** (self.exponent_bits - 1) - 1)

    @property
    def _dropped(self) -> np.uint32:
        """Fraction bits that a float has more."""
        return np.uint32(FLOAT_FRACTION_BITS - self.fraction_bits)

    def decode(self, cells: Any) -> Any:
        """The values of cells of any shape, or of one cell: float32."""
        bits = cells.astype(np.uint32)
        if self._bias == FLOAT_BIAS:
            return (bits << self._dropped).view(np.float32)
        width = self.exponent_bits + self.fraction_bits
        sign, size = bits >> np.uint32(width), bits & np.uint32((1 << width) - 1)
        shifted = size << self._dropped
        scaled = shifted.view(np.float32) * np.float32(2.0 ** (FLOAT_BIAS - self._bias))
        special = size > self._cell_of_largest  # infinity or NaN
        found = np.where(special, shifted | FLOAT_INFINITY, scaled.view(np.uint32))
        return (found | (sign << np.uint32(31))).view(np.float32)[()]

    def cells(self, values: Any) -> Any:
        """The cells of values of any shape, or of one: the bits of numbers that the type has."""
        bits = np.asarray(values, np.float32).view(np.uint32)
        if self._bias == FLOAT_BIAS:
            return (bits >> self._dropped).astype(self.cell_dtype)[()]
        width, size = self.exponent_bits + self.fraction_bits, bits & ~SIGN
        with np.errstate(invalid="ignore"):
            scaled = size.view(np.float32) * np.float32(2.0 ** (self._bias - FLOAT_BIAS))
        top = np.uint32((1 << width) - (1 << self.fraction_bits))
        special = top | ((size & ~FLOAT_INFINITY) >> self._dropped)
        found = np.where(size < FLOAT_INFINITY, scaled.view(np.uint32) >> self._dropped, special)
        sign = (bits >> np.uint32(31)) << np.uint32(width)
        return (found | sign).astype(self.cell_dtype)[()]

    def encode(self, numbers: Any) -> Any:
        """The cells of any numbers, rounded to nearest."""
        return self.cells(self.round(numbers))

    def round(
        self, numbers: Any, mode: str = "rn", saturates: bool | None = None, is_result: bool = False
    ) -> Any:
        """Numbers of any type and shape as values, rounded once: float32.

        saturates is the type's own unless it is given. is_result is for what arithmetic gives, of
        which every NaN is the same; a double's that is converted keeps bits.
        """
        given = np.asarray(numbers)
        if given.dtype == np.float32 and self._bias == FLOAT_BIAS and mode == "rn":
            return self._round_float(given)[()]
        wide = _as_double(given)
        _, exponent = np.frexp(wide)
        least = 1 - self._bias
        unit = np.ldexp(1.0, np.maximum(exponent - 1, least) - self.fraction_bits)
        with np.errstate(invalid="ignore", over="ignore"):
            whole = WHOLE[mode](wide / unit) * unit
            past = np.isfinite(wide) & (np.abs(whole) > self.largest)
        nowhere = np.zeros(wide.shape, np.bool_)
        inward = {"rn": nowhere, "rz": ~nowhere, "ru": wide < 0, "rd": wide > 0}[mode]
        ends = np.copysign(self.largest, wide)
        finite = self.saturates if saturates is None else saturates
        beyond = np.copysign(np.inf if self.has_infinity else np.nan, wide)
        found = np.where(past, np.where(inward | finite, ends, beyond), whole)
        found = np.where(np.isinf(wide), ends if finite else beyond, found)
        with np.errstate(over="ignore"):
            bits = found.astype(np.float32).view(np.uint32)
        is_nan = np.isnan(found)
        if is_nan.any():
            keeps_bits = given.dtype == np.float64 and not is_result
            bits = np.where(is_nan, self._nan_of(wide, keeps_bits), bits)
        return bits.view(np.float32)[()]

    def _nan_of(self, wide: Array, keeps_bits: bool) -> Array:
        """The bits of the floats that NaN becomes, and what has become NaN by its size.

        Of a double the sign of NaN is kept and, where the type has infinity, the first bits of the
        fraction (cuda_fp8.hpp, and as an H100 gave it: no instruction does it).
        """
        sign = (np.signbit(wide).astype(np.uint32)) << np.uint32(31)
        if keeps_bits:
            first = (wide.view(np.uint64) >> np.uint64(52 - self.fraction_bits)).astype(np.uint32)
            kept = first << self._dropped if self.has_infinity else self._float_nan
            quiet = FLOAT_INFINITY | np.uint32(1 << (FLOAT_FRACTION_BITS - 1))
            return (kept & self._float_nan) | quiet | sign
        return np.where(np.isnan(wide), self._float_nan, self._float_nan | sign)

    def _round_float(self, given: Array) -> Array:
        """Floats rounded to nearest, halves to even, where exponents are as in float."""
        bits = given.view(np.uint32)
        last = (bits >> self._dropped) & np.uint32(1)
        half = np.uint32((1 << (int(self._dropped) - 1)) - 1)
        rounded = (bits + half + last) >> self._dropped << self._dropped
        rounded = np.where(np.isnan(given), self._float_nan, rounded)
        return rounded.view(np.float32)

    @property
    def _float_nan(self) -> np.uint32:
        """The bits of the float that the arithmetic NaN is."""
        return np.uint32((1 << 31) - 1) >> self._dropped << self._dropped

    @property
    def _cell_of_largest(self) -> int:
        top = (1 << (self.exponent_bits + self.fraction_bits)) - 1
        return top - (1 << self.fraction_bits) if self.has_infinity else top - 1


def _as_double(numbers: Array) -> Array:
    """Numbers as doubles; whole ones of more bits rounded to odd, so that no later rounding errs.

    That needs a later rounding to 42 bits or fewer (Boldo and Melquiond, Emulation of FMA and
    correctly rounded sums, 2008).
    """
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8:
        return numbers.astype(np.float64)
    coarse = (numbers >> 11) | ((numbers & 2047) != 0)
    fits = numbers <= EXACT_IN_DOUBLE
    if numbers.dtype.kind == "i":
        fits &= numbers >= -EXACT_IN_DOUBLE
    return np.where(fits, numbers.astype(np.float64), coarse.astype(np.float64) * 2048)
