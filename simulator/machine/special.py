"""The error function, the gamma function and their kind, in double; a float's result is rounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

NEWTON_STEPS = 3  # each doubles the correct digits of the start, which has six
# Giles, Approximating the erfinv function (GPU Computing Gems 2, 2012): coefficients of w - 2.5
# for w < 5, and of sqrt(w) - 3 beyond, the highest power first.
CENTRAL = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
    0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def _by_lane(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of Python's, for each lane; the result in the value's type."""
    compute = np.vectorize(function, otypes=[np.float64])

    def of_lanes(value: Any) -> Any:
        wide = np.asarray(value).astype(np.float64)
        return np.asarray(compute(wide)).astype(value.dtype)[()]

    return of_lanes


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except ValueError:  # a negative whole number, or -inf
        return math.nan
    except OverflowError:
        return math.inf


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole, or too large
        return math.inf


def _error_inverse(y: float) -> float:
    """The x whose error function is y: NaN outside [-1, 1]."""
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if y == 0:
        return y
    w = -math.log1p(-y * y)
    start, power = (CENTRAL, w - 2.5) if w < 5 else (TAIL, math.sqrt(w) - 3)
    x = 0.0
    for coefficient in start:
        x = x * power + coefficient
    x *= y
    for _ in range(NEWTON_STEPS):
        miss = math.erf(x) - y
        if abs(y) >= 0.5:  # near 1 the difference of the complements keeps more digits
            miss = math.copysign(1, y) * ((1 - abs(y)) - math.erfc(abs(x)))
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        step = miss / slope
        x -= step / (1 + x * step)  # Halley's correction
    return x


error = _by_lane(math.erf)
error_complement = _by_lane(math.erfc)
error_inverse = _by_lane(_error_inverse)
gamma = _by_lane(_gamma)
log_gamma = _by_lane(_log_gamma)
normal_distribution = _by_lane(lambda x: math.erfc(-x / math.sqrt(2)) / 2)
