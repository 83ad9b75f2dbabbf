"""CUDA's functions of two halfwords or four bytes in a word (CUDA Math API, SIMD intrinsics)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import Array

Function = Callable[..., Any]

WORD_BITS = 32
COUNTS = (2, 4)  # parts of a word
TESTS: Mapping[str, Function] = {
    "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater,
    "le": np.less_equal, "lt": np.less,
}  # fmt: skip


def split(word: Any, count: int, signed: bool) -> Array:
    """The parts of words [lanes], the lowest first, as int64 [count, lanes].

    >>> split(np.uint32(0xFF0001FE), 4, signed=True).tolist()
    [-2, 1, 0, -1]
    """
    bits = WORD_BITS // count
    words = np.asarray(word).astype(np.uint32)
    parts = np.stack([words >> np.uint32(bits * number) for number in range(count)])
    return parts.astype(f"{'i' if signed else 'u'}{bits // 8}").astype(np.int64)


def join(parts: Array) -> Any:
    """Words [lanes] of their parts, int64 [count, lanes], which wrap."""
    bits = WORD_BITS // len(parts)
    words = np.zeros(parts.shape[1:], np.uint32)
    for number, part in enumerate(parts):
        words |= (part & (2**bits - 1)).astype(np.uint32) << np.uint32(bits * number)
    return words[()]


def _in_parts(count: int, signed: bool, function: Function, saturates: bool = False) -> Function:
    """A function of words that computes each of their parts alone."""
    limits = np.iinfo(f"{'i' if signed else 'u'}{WORD_BITS // count // 8}")

    def compute(*words: Any) -> Any:
        parts = function(*(split(word, count, signed) for word in np.broadcast_arrays(*words)))
        return join(np.clip(parts, limits.min, limits.max) if saturates else parts)

    return compute


def _test(count: int, signed: bool, test: Function, yes: int) -> Function:
    """A comparison part by part: `yes` where it holds, else 0."""
    return _in_parts(count, signed, lambda a, b: np.where(test(a, b), yes, 0))


def _sum_of_differences(count: int, signed: bool) -> Function:
    """The sum of |a - b| over the parts."""

    def compute(a: Any, b: Any) -> Any:
        first, second = (split(word, count, signed) for word in np.broadcast_arrays(a, b))
        differences = np.abs(first - second)
        return differences.sum(axis=0).astype(np.uint32)[()]

    return compute


def _functions(count: int) -> Iterator[tuple[str, Function]]:
    for name, signed, function in (
        ("add", False, np.add), ("sub", False, np.subtract), ("neg", False, np.negative),
        ("abs", True, np.abs), ("maxs", True, np.maximum), ("maxu", False, np.maximum),
        ("mins", True, np.minimum), ("minu", False, np.minimum),
        ("avgu", False, lambda a, b: (a + b + 1) >> 1), ("haddu", False, lambda a, b: (a + b) >> 1),
        ("absdiffs", True, lambda a, b: np.abs(a - b)),
        ("absdiffu", False, lambda a, b: np.abs(a - b)),
    ):  # fmt: skip
        yield name, _in_parts(count, signed, function)
    for name, signed, function in (
        ("addss", True, np.add), ("addus", False, np.add), ("subss", True, np.subtract),
        ("subus", False, np.subtract), ("negss", True, np.negative), ("absss", True, np.abs),
    ):  # fmt: skip
        yield name, _in_parts(count, signed, function, saturates=True)
    for kind, signed in (("s", True), ("u", False)):
        yield f"sad{kind}", _sum_of_differences(count, signed)
        for test, function in TESTS.items():
            if test in ("eq", "ne") and signed:
                continue  # these have no s or u
            suffix = test if test in ("eq", "ne") else test + kind
            yield f"cmp{suffix}", _test(count, signed, function, -1)
            yield f"set{suffix}", _test(count, signed, function, 1)


def dot_of_halfwords(upper: bool) -> Function:
    """c plus the products of a's halfwords and b's two lower, or upper, bytes: __dp2a_lo, _hi."""

    def compute(a: Any, b: Any, c: Any) -> Any:
        signed = a.dtype.kind == "i"
        halves, quarters = np.broadcast_arrays(a, b)
        words, bytes_ = split(halves, 2, signed), split(quarters, 4, signed)
        products = words * (bytes_[2:] if upper else bytes_[:2])
        return (products.sum(axis=0) + np.asarray(c).astype(np.int64)).astype(c.dtype)[()]

    return compute


SIMD_FUNCTIONS: Mapping[str, Function] = {
    f"__v{name}{count}": function for count in COUNTS for name, function in _functions(count)
} | {"__dp2a_lo": dot_of_halfwords(upper=False), "__dp2a_hi": dot_of_halfwords(upper=True)}
