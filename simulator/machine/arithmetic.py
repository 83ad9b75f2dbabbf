"""C's operators over NumPy: a value is one number or an array [lanes].

Operands come in their common type, as the tree makes every conversion explicit, so that a result
has its operands' width: integers wrap, float stays float.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from simulator.language.ctype import CType, Scalar, Vector, convert
from simulator.language.encodings import Encoding

Function = Callable[..., Any]

LOW_BITS = np.int64(0x1FFFFFFF)  # what a float64 significand has beyond a float32's
HALF = np.int64(0x10000000)  # exactly half way between two neighbouring float32
SMALLEST_NORMAL = np.float64(np.finfo(np.float32).smallest_normal)
NAN_OF_BYTE = np.uint32(0x7FFFFFFF).view(np.float32)  # as an H100 gave it
SPLITTER = np.float64(2**27 + 1)  # Veltkamp's constant for 53 bits


def divide(left: Any, right: Any) -> Any:
    """C's division: IEEE for floats, truncated toward zero for integers; x / 0 gives 0.

    >>> divide(np.int32(-7), np.int32(2))
    np.int32(-3)
    """
    if left.dtype.kind == "f":
        return np.divide(left, right)
    quotient = np.floor_divide(left, right)
    if left.dtype.kind == "u":
        return quotient
    inexact = quotient * right != left
    return quotient + (inexact & ((left < 0) != (right < 0)) & (right != 0)).astype(left.dtype)


def shift_left(left: Any, right: Any) -> Any:
    """Bits moved up; by the width or more gives 0 (PTX ISA, shl)."""
    return np.left_shift(left, _count(left, right))


def shift_right(left: Any, right: Any) -> Any:
    """Bits moved down, the sign filled in; by the width or more gives 0 or -1 (PTX ISA, shr)."""
    return np.right_shift(left, _count(left, right))


def _count(left: Any, right: Any) -> Any:
    """A shift's count, clamped to the width as the hardware does, in the left side's type."""
    bits = 8 * left.dtype.itemsize
    wide = np.asarray(right).astype(np.int64)
    clamped = np.where((wide < 0) | (wide > bits), bits, wide).astype(left.dtype)
    return clamped if np.ndim(right) else clamped[()]


def componentwise(function: Function) -> Function:
    """A function of numbers as one of short vectors, which are tuples of components."""

    def of_components(*operands: Any) -> tuple[Any, ...]:
        return tuple(function(*each) for each in zip(*operands, strict=True))

    return of_components


def negate(value: Any) -> Any:
    """Minus a number, or each component of a short vector."""
    return tuple(-component for component in value) if isinstance(value, tuple) else -value


BINARY: Mapping[str, Function] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": divide,
    "%": np.fmod,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": shift_left,
    ">>": shift_right,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}

UNARY: Mapping[str, Function] = {
    "-": np.negative,
    "+": np.positive,
    "~": np.invert,
    "!": np.logical_not,
}


def operation(operator: str, ctype: CType) -> Function:
    """A binary operator for operands of a type: each result rounded once, of a pair each of two."""
    return _of_type(ctype, BINARY[operator], WIDE.get(operator))


def unary(operator: str, ctype: CType) -> Function:
    """A unary operator for an operand of a type: of few bits every NaN becomes the same."""
    return _of_type(ctype, UNARY[operator], np.negative if operator == "-" else None)


def conversion(source: CType, target: Scalar) -> Function:
    """From values of a type to those of another; every NaN of 8 bits is the same as a float."""
    encoding = source.encoding if isinstance(source, Scalar) else None
    if encoding is None or encoding.cell_dtype.itemsize > 1:
        return lambda value: convert(value, target)
    return lambda value: convert(
        np.where(np.isnan(value), NAN_OF_BYTE, value).astype(np.float32)[()], target
    )


def fused(ctype: CType) -> Function:
    """a * b + c rounded once, for operands of a type."""
    return _of_type(ctype, fma, _fma_to_odd)


def _of_type(ctype: CType, function: Function, wide: Function | None) -> Function:
    """A function of operands of a type, of a pair for each of two.

    Of numbers of few bits it is the wide one, if there is one, whose results are rounded to them.
    """
    element = ctype.element if isinstance(ctype, Vector) else ctype
    encoding = element.encoding if isinstance(element, Scalar) else None
    if encoding is not None and wide is not None:
        function = _rounded(wide, encoding)
    return componentwise(function) if isinstance(ctype, Vector) else function


def _rounded(function: Function, encoding: Encoding) -> Function:
    """A function whose results are rounded to numbers of few bits."""
    return lambda *operands: encoding.round(function(*operands), is_result=True)


# Of two numbers of at most 11 bits the float result has enough bits more for its second rounding
# to change nothing (Figueroa, When is double rounding innocuous, 1995); a quotient may be so small
# that a float has fewer.
WIDE: Mapping[str, Function] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": lambda left, right: np.divide(left, right, dtype=np.float64),
}


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c rounded once, in float16, float32 or float64 (IEEE 754-2008, fusedMultiplyAdd).

    >>> x = np.float32(1 + 2**-12)
    >>> float(fma(x, x, np.float32(-1))), float(x * x - np.float32(1))
    (0.0004883408546447754, 0.00048828125)
    """
    if isinstance(a, tuple):  # half2
        return componentwise(fma)(a, b, c)
    match a.dtype.itemsize:
        case 2:
            return _fma_to_odd(a, b, c).astype(np.float16)
        case 4:
            return _fma32(a, b, c)
        case _:
            return _fma64(a, b, c)


def _fma_to_odd(a: Any, b: Any, c: Any) -> Any:
    """a * b + c of numbers of at most 26 bits: the float64 product is exact, the sum to odd."""
    product = np.multiply(a, b, dtype=np.float64)
    total = np.asarray(_add_to_odd(product, np.asarray(c).astype(np.float64)))
    scalar = not (np.ndim(a) or np.ndim(b) or np.ndim(c))
    return total[0] if scalar else total


def _fma32(a: Any, b: Any, c: Any) -> Any:
    """The float64 product of two float32 is exact; only the sum's second rounding can go wrong.

    It does where the first rounding ends half way between two float32, or below the smallest
    normal float32, where their spacing is wider; there the sum is rounded to odd first
    (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
    """
    product = np.multiply(a, b, dtype=np.float64)
    if not isinstance(product, np.ndarray):
        total = np.add(product, c, dtype=np.float64)
        if not isinstance(total, np.ndarray):
            if total.view(np.int64) & LOW_BITS == HALF or 0 < abs(total) < SMALLEST_NORMAL:
                total = _add_to_odd(product, np.float64(c))[0]
            return np.float32(total)
    else:
        total = np.add(product, c, out=product)  # one array less in the processor's cache
    result: Any = total.astype(np.float32)
    doubtful = (total.view(np.int64) & LOW_BITS) == HALF
    if not np.minimum.reduce(np.abs(result)) > SMALLEST_NORMAL:  # there may be NaN among them
        doubtful |= (np.abs(total) < SMALLEST_NORMAL) & (total != 0)  # a sum of zero is exact
    if np.count_nonzero(doubtful):
        lanes = np.flatnonzero(doubtful)
        x, y, z = (np.broadcast_to(part, total.shape)[lanes] for part in (a, b, c))
        result[lanes] = _fma_to_odd(x, y, z).astype(np.float32)
    return result


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Sum and its rounding error, exactly (Knuth)."""
    total = a + b
    rounded_b = total - a
    return total, (a - (total - rounded_b)) + (b - rounded_b)


def _add_to_odd(a: Any, b: Any) -> Any:
    """a + b, rounded to the neighbour whose last bit is odd where the sum is not exact."""
    total, error = _two_sum(a, b)
    total = np.atleast_1d(np.asarray(total, dtype=np.float64))
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    nudge = even & (error != 0) & np.isfinite(total)
    return np.where(nudge, np.nextafter(total, toward), total)


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Product and its rounding error, exactly (Dekker), for operands of moderate size."""

    def split(x: Any) -> tuple[Any, Any]:
        high = SPLITTER * x
        high = high - (high - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = split(a), split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _fma64(a: Any, b: Any, c: Any) -> Any:
    """Boldo and Melquiond's fused multiply-add; far from overflow and underflow it is exact.

    Lanes with operands of extreme size are computed with exact fractions.
    """
    scalar = not (np.ndim(a) or np.ndim(b) or np.ndim(c))
    a, b, c = (np.atleast_1d(x) for x in np.broadcast_arrays(a, b, c))
    high, low = _two_product(a, b)
    addend_high, addend_low = _two_sum(c, low)
    total_high, total_low = _two_sum(high, addend_high)
    result = total_high + _add_to_odd(addend_low, total_low)
    result = np.where(result == 0, high + c, result)  # a zero has the plain sum's sign
    sizes = (np.abs(a), np.abs(b), np.abs(c), np.abs(high))
    plain = np.logical_and.reduce([(x == 0) | ((x > 1e-140) & (x < 1e140)) for x in sizes])
    for lane in np.flatnonzero(~plain):
        result[lane] = _exact_fma(float(a[lane]), float(b[lane]), float(c[lane]))
    return result[0] if scalar else result


def _exact_fma(a: float, b: float, c: float) -> float:
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c  # however large the product: it is not rounded to infinity first
    if not (np.isfinite(a) and np.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c))  # keeps the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two; of a number and a NaN the number, of zeros -0 (PTX ISA, min)."""
    return _zero_by_sign(np.fmin(a, b), a, b, np.logical_or)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two; of a number and a NaN the number, of zeros +0 (PTX ISA, max)."""
    return _zero_by_sign(np.fmax(a, b), a, b, np.logical_and)


def _zero_by_sign(result: Any, a: Any, b: Any, join: Function) -> Any:
    """The result of min or max, with the sign of a zero: NumPy does not define it."""
    if result.dtype.kind != "f":
        return result
    zeros = (a == 0) & (b == 0)
    if not np.any(zeros):
        return result
    signed = np.where(join(np.signbit(a), np.signbit(b)), -0.0, 0.0).astype(result.dtype)
    return np.where(zeros, signed, result)[()]
