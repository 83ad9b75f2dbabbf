"""Is C the product of A and B? Fresh random inputs, a float64 reference, and a stated bound."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import Array

ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}  # half a unit in the last place of 1
STEPS = 16.0  # see error_bound
CUT = 4 * 2.0**-24  # of a tensor core's sum, for each product
TF32_OPERANDS = 16 * 2.0**-12  # what rounding them may do to a sum
CHUNK = 4096  # rows and columns of the reference computed at a time
MARGIN = 1024  # elements before and after C that a kernel must leave alone


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the comparison with the float64 product found.

    max_rel_error is the largest error of an element over the typical size of one (see `scale`),
    rel_norm_error the error's Frobenius norm over the product's; both NaN where C holds NaN.
    """

    verified: bool  # right, and nothing outside C was written
    max_rel_error: float  # a ratio
    rel_norm_error: float  # a ratio
    error_bound: float  # of max_rel_error
    sentence: str


def random_inputs(
    M: int, N: int, K: int, element: str, seed: int | None = None
) -> tuple[Array, Array]:
    """A [M, K] and B [K, N], uniform over [-1, 1): the same for a seed, without one always new.

    Signed values keep the sums small beside their terms' number, so that a wrong index or a
    shorter float type (TF32) shows far above the rounding of the type itself.
    """
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    kind = np.float64 if element == "float64" else np.float32

    def matrix(rows: int, columns: int) -> Array:
        values: Array = rng.random((rows, columns), dtype=kind)
        values *= kind(2)
        values -= kind(1)
        return values.astype(element, copy=False)

    return matrix(M, K), matrix(K, N)


def error_bound(K: int, precision: str) -> float:
    """The largest max_rel_error that rounding explains for sums of K products.

    A sum of K random products, added one after another, is off by about 0.3 sqrt(K) roundings of
    its typical size; the largest of 10^7 to 10^8 such sums was off by 5.5 sqrt(K) on an H200.
    16 sqrt(K) leaves that tail its room and stays a factor of ten under what TF32 inputs give at
    K = 4096. A float64 product is compared with another one, whose error counts as well.

    Tensor cores cut their sums toward zero, so that errors add up with K: on an H200 the largest of
    10^7 sums of 1,023 products of half operands was off by 1.0e-5, and bounds allow for 2.7e-4.
    The largest sum of operands rounded to TF32 was off by 1.5e-3, six times 2^-12.
    """
    references = 2.0 if precision == "float64" else 1.0
    in_order = references * STEPS * math.sqrt(K) * ROUNDING.get(precision, ROUNDING["float32"])
    cut = 0.0 if precision in ROUNDING else CUT * K
    return in_order + cut + (TF32_OPERANDS if precision == "tf32" else 0.0)


def scale(A: Array, B: Array) -> float:
    """The typical size of an element of A B: rms(A) rms(B) sqrt(K)."""

    def rms(matrix: Array) -> float:
        return math.sqrt(float(np.mean(np.square(matrix, dtype=np.float64))))

    return rms(A) * rms(B) * math.sqrt(A.shape[1])


def reference(xp: Any, A: Any, B: Any) -> Any:
    """A B in float64, by chunks so that no whole float64 copy of both inputs is needed.

    xp is the array module of A and B: numpy or cupy.
    """
    M, N = A.shape[0], B.shape[1]
    product = xp.empty((M, N), dtype=xp.float64)
    for column in range(0, N, CHUNK):
        right = B[:, column : column + CHUNK].astype(xp.float64)
        for row in range(0, M, CHUNK):
            left = A[row : row + CHUNK].astype(xp.float64)
            product[row : row + CHUNK, column : column + CHUNK] = left @ right
    return product


def judge(
    xp: Any,
    C: Any,
    product: Any,
    typical: float,
    K: int,
    precision: str,
    wrote_outside: bool = False,
) -> Verdict:
    """Compare C [M, N] with the float64 product [M, N], both arrays of the module `xp`.

    typical is `scale` of the inputs, precision a name of gpu.precision; wrote_outside: whether the
    kernel wrote outside C.
    """
    worst, squares, norm, unwritten = 0.0, 0.0, 0.0, 0
    for row in range(0, C.shape[0], CHUNK):
        expected = product[row : row + CHUNK]
        error = C[row : row + CHUNK].astype(xp.float64) - expected
        unwritten += int(xp.isnan(error).sum())
        worst = max(worst, float(xp.abs(error).max()))
        squares += float(xp.square(error).sum())
        norm += float(xp.square(expected).sum())
    bound = error_bound(K, precision)
    relative = math.nan if unwritten else worst / typical
    overall = math.nan if unwritten else math.sqrt(squares / norm) if norm else 0.0
    within = relative <= bound
    return Verdict(
        within and not wrote_outside,
        relative,
        overall,
        bound,
        _sentence(C.size, unwritten, within, wrote_outside, relative, bound),
    )


def _sentence(
    cells: int, unwritten: int, within: bool, wrote_outside: bool, relative: float, bound: float
) -> str:
    if unwritten:
        return (
            f"{unwritten:,} of C's {cells:,} elements hold no number: "
            "the kernel did not write them, or wrote NaN."
        )
    if not within:
        return (
            f"C is wrong: its largest relative error is {relative:.2g}, "
            f"and rounding explains at most {bound:.2g}."
        )
    if wrote_outside:
        return "C is right, but the kernel also wrote outside C."
    return f"C is right: its largest relative error is {relative:.2g}, within {bound:.2g}."


def finite(value: float) -> float | None:
    """An error as JSON, which has no NaN, holds it: None for one that is no number."""
    return value if math.isfinite(value) else None
