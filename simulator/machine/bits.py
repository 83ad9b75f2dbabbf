"""CUDA's functions of whole numbers and of bits: counts, reversals, high products, averages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Function = Callable[..., Any]

BYTES = 4  # of the words that __byte_perm and __dp4a take


def count_bits(value: Any) -> Any:
    """How many bits are set."""
    return np.bitwise_count(value).astype(np.int32)


def leading_zeros(value: Any) -> Any:
    """Zeros above the highest bit that is set; the width for 0.

    >>> int(leading_zeros(np.int32(1))), int(leading_zeros(np.int64(-1)))
    (31, 0)
    """
    rest = _unsigned(value)
    bits = 8 * rest.dtype.itemsize
    zeros = np.full(rest.shape, bits, np.int32)
    step = bits // 2
    while step:  # a binary search for the highest bit
        upper = rest >> rest.dtype.type(step)
        found = upper != 0
        zeros -= np.where(found, step, 0).astype(np.int32)
        rest = np.where(found, upper, rest)
        step //= 2
    zeros -= (rest != 0).astype(np.int32)
    return zeros[()]


def first_set(value: Any) -> Any:
    """The position of the lowest bit that is set, from 1; 0 for 0."""
    bits = _unsigned(value)
    lowest = bits & (~bits + bits.dtype.type(1))
    width = 8 * bits.dtype.itemsize
    return np.where(bits != 0, width - leading_zeros(lowest), 0).astype(np.int32)[()]


def reverse_bits(value: Any) -> Any:
    """The bits in reverse order.

    >>> hex(reverse_bits(np.uint32(1)))
    '0x80000000'
    """
    dtype = value.dtype.type
    shift = 1
    while shift < 8 * value.dtype.itemsize:
        ones = (1 << shift) - 1
        low = dtype(sum(ones << at for at in range(0, 8 * value.dtype.itemsize, 2 * shift)))
        value = ((value >> dtype(shift)) & low) | ((value & low) << dtype(shift))
        shift *= 2
    return value


def permute_bytes(x: Any, y: Any, selector: Any) -> Any:
    """Four bytes of the eight of x and y, those that the selector's digits name.

    Three bits of each digit count (CUDA Math API, __byte_perm; an H100 gave the same).

    >>> hex(permute_bytes(np.uint32(0x33221100), np.uint32(0x77665544), np.uint32(0x7410)))
    '0x77441100'
    """
    both = np.asarray(x).astype(np.uint64) | np.asarray(y).astype(np.uint64) << np.uint64(32)
    digits = np.asarray(selector).astype(np.uint64)
    result = np.zeros(np.broadcast_shapes(both.shape, digits.shape), np.uint64)
    for position in range(BYTES):
        digit = digits >> np.uint64(4 * position) & np.uint64(7)
        byte = both >> digit * np.uint64(8) & np.uint64(0xFF)
        result |= byte << np.uint64(8 * position)
    return result.astype(np.uint32)[()]


def _funnel(left: bool, clamped: bool) -> Function:
    """A shift of the 64 bits high:low, of which the upper (left) or lower 32 are the result."""

    def shift(low: Any, high: Any, count: Any) -> Any:
        both = np.asarray(low).astype(np.uint64) | np.asarray(high).astype(np.uint64) << np.uint64(
            32
        )
        wide = np.asarray(count).astype(np.uint64)
        by = np.minimum(wide, np.uint64(32)) if clamped else wide & np.uint64(31)
        moved = both << by >> np.uint64(32) if left else both >> by
        return moved.astype(np.uint32)[()]

    return shift


def high_product(a: Any, b: Any) -> Any:
    """The upper half of the bits of a * b.

    >>> int(high_product(np.uint64(2**63), np.uint64(6)))
    3
    """
    bits, kind = 8 * a.dtype.itemsize, a.dtype.kind
    if bits == 32:
        wide = np.int64 if kind == "i" else np.uint64
        product = np.asarray(a).astype(wide) * np.asarray(b).astype(wide)
        return (product >> wide(32)).astype(a.dtype)[()]
    exact = np.asarray(a).astype(object) * np.asarray(b).astype(object)
    return np.asarray(exact >> 64).astype(a.dtype)[()]


def absolute_difference_sum(x: Any, y: Any, z: Any) -> Any:
    """|x - y| + z, as an unsigned number."""
    wide = np.abs(np.asarray(x).astype(np.int64) - np.asarray(y).astype(np.int64))
    return (wide + np.asarray(z).astype(np.int64)).astype(np.uint32)[()]


def average(a: Any, b: Any) -> Any:
    """(a + b) / 2 rounded down, without overflow."""
    return _wide_sum(a, b, 0)


def average_rounded_up(a: Any, b: Any) -> Any:
    """(a + b + 1) / 2 rounded down, without overflow."""
    return _wide_sum(a, b, 1)


def _wide_sum(a: Any, b: Any, extra: int) -> Any:
    total = np.asarray(a).astype(np.int64) + np.asarray(b).astype(np.int64) + extra
    return (total >> np.int64(1)).astype(a.dtype)[()]


def dot_of_bytes(a: Any, b: Any, c: Any) -> Any:
    """c plus the products of the four bytes of a and b, signed if these are signed."""
    byte = np.int8 if a.dtype.kind == "i" else np.uint8
    total = np.asarray(c).astype(np.int64)
    for position in range(BYTES):
        x, y = ((_unsigned(v) >> np.uint32(8 * position)).astype(byte) for v in (a, b))
        total = total + x.astype(np.int64) * y.astype(np.int64)
    return total.astype(c.dtype)[()]


def multiply_24(a: Any, b: Any) -> Any:
    """The low 32 bits of the product of two signed 24-bit numbers; their upper bits are ignored."""
    eight = a.dtype.type(8)
    return np.right_shift(np.left_shift(a, eight), eight) * np.right_shift(
        np.left_shift(b, eight), eight
    )


def multiply_unsigned_24(a: Any, b: Any) -> Any:
    """The low 32 bits of the product of two unsigned 24-bit numbers; upper bits are ignored."""
    low = a.dtype.type(0xFFFFFF)
    return (a & low) * (b & low)


def reinterpret(dtype: Any) -> Function:
    """The same bits as another type of the same size."""

    def view(value: Any) -> Any:
        array = np.ascontiguousarray(value).view(dtype)
        return array if np.ndim(value) else array.reshape(-1)[0]

    return view


def double_of_words(high: Any, low: Any) -> Any:
    """The double whose bits are high:low."""
    bits = _unsigned(high).astype(np.uint64) << np.uint64(32) | _unsigned(low).astype(np.uint64)
    return reinterpret(np.float64)(bits)[()]


def high_word(value: Any) -> Any:
    """The upper 32 bits of a double."""
    return (reinterpret(np.int64)(value) >> np.int64(32)).astype(np.int32)


def low_word(value: Any) -> Any:
    """The lower 32 bits of a double."""
    return reinterpret(np.int64)(value).astype(np.int32)


def _unsigned(value: Any) -> Any:
    """A whole number, or an array of them, as an array of the unsigned type of the same width."""
    array = np.asarray(value)
    return array.astype(f"u{array.dtype.itemsize}")


BIT_FUNCTIONS: Mapping[str, Function] = {
    **dict.fromkeys(("__popc", "__popcll"), count_bits),
    **dict.fromkeys(("__clz", "__clzll"), leading_zeros),
    **dict.fromkeys(("__ffs", "__ffsll"), first_set),
    **dict.fromkeys(("__brev", "__brevll"), reverse_bits),
    "__byte_perm": permute_bytes,
    "__funnelshift_l": _funnel(left=True, clamped=False),
    "__funnelshift_lc": _funnel(left=True, clamped=True),
    "__funnelshift_r": _funnel(left=False, clamped=False),
    "__funnelshift_rc": _funnel(left=False, clamped=True),
    **dict.fromkeys(("__mulhi", "__umulhi", "__mul64hi", "__umul64hi"), high_product),
    "__mul24": multiply_24,
    "__umul24": multiply_unsigned_24,
    **dict.fromkeys(("__sad", "__usad"), absolute_difference_sum),
    **dict.fromkeys(("__hadd", "__uhadd"), average),
    **dict.fromkeys(("__rhadd", "__urhadd"), average_rounded_up),
    "__dp4a": dot_of_bytes,
    **dict.fromkeys(("__int_as_float", "__uint_as_float"), reinterpret(np.float32)),
    "__float_as_int": reinterpret(np.int32),
    "__float_as_uint": reinterpret(np.uint32),
    "__double_as_longlong": reinterpret(np.int64),
    "__longlong_as_double": reinterpret(np.float64),
    "__hiloint2double": double_of_words,
    "__double2hiint": high_word,
    "__double2loint": low_word,
}
