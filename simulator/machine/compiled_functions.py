"""Functions of CUDA's library as NVRTC 13.0 compiles them: the same operations in the same order.

They give a GPU's bits for finite operands of moderate size; NumPy's own functions, which kernels
have for others, differ from these in the last bit here and there. log of a double begins with the
hardware's estimate of a reciprocal, here the reciprocal itself: of 65,536 results one differed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.machine.arithmetic import fma
from simulator.machine.multifunction_unit import cosine, power_of_two, sine

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def _singles(*bits: int) -> Array:
    return np.array(bits, np.uint32).view(np.float32)


def _doubles(*bits: int) -> Array:
    return np.array(bits, np.uint64).view(np.float64)


# Coefficients of polynomials, that of the highest power first.
LOGF = _singles(
    0xBE055027, 0x3E1039F6, 0xBDF8CDCC, 0x3E0F2955, 0xBE2AD8B9, 0x3E4CED0B, 0xBE7FFF22, 0x3EAAAA78,
    0xBF000000,
)  # fmt: skip
LOG = _doubles(
    0x3EB1380B3AE80F1E, 0x3ED0EE258B7A8B04, 0x3EF3B2669F02676F, 0x3F1745CBA9AB0956,
    0x3F3C71C72D1B5154, 0x3F624924923BE72D, 0x3F8999999999A3C4, 0x3FB5555555555554,
)  # fmt: skip
EXP = _doubles(
    0x3E5ADE1569CE2BDF, 0x3E928AF3FCA213EA, 0x3EC71DEE62401315, 0x3EFA01997C89EB71,
    0x3F2A01A014761F65, 0x3F56C16C1852B7AF, 0x3F81111111122322, 0x3FA55555555502A1,
    0x3FC5555555555511, 0x3FE000000000000B, 0x3FF0000000000000, 0x3FF0000000000000,
)  # fmt: skip
SINE_OF_PI = _doubles(
    0x3DE5DB65F9785EBA, 0xBE5AE5F12CB0D246, 0x3EC71DE369ACE392, 0xBF2A01A019DB62A1,
    0x3F81111111110818, 0xBFC5555555555554, 0,
)  # fmt: skip
COSINE_OF_PI = _doubles(
    0xBDA8FF8320FD8164, 0x3E21EEA7C1EF8528, 0xBE927E4F8E06E6D9, 0x3EFA01A019DDBCE9,
    0xBF56C16C16C15D47, 0x3FA5555555555551, 0xBFE0000000000000, 0x3FF0000000000000,
)  # fmt: skip
LN2 = _singles(0x3F317218)[0]
LN2_HIGH, LN2_LOW = _doubles(0x3FE62E42FEFA39EF, 0x3C7ABC9E3B39803F)
LOG2E_OF_252, LOG2E, LOG2E_LOW = _singles(0x3BBB989D, 0x3FB8AA3B, 0x32A57060)
PI, PI_LOW = _doubles(0x400921FB54442D18, 0x3CA1A62633145C07)
LOG2E_WIDE, TO_WHOLE = _doubles(0x3FF71547652B82FE, 0x4338000000000000)
STEPS, TO_STEP, BIAS = np.float32(252), np.float32(12582913), np.float32(12583039)  # of expf
TWO_THIRDS, SQUARE_ROOT = 0x3F2AAAAB, 1073127583  # words from which a significand is halved
FURTHEST_SINGLE, FURTHEST = 300, 700  # for expf, for exp


def logf(x: Array) -> Array:
    """The natural logarithm of normal positive float32 numbers [n]."""
    bits = x.view(np.int32)
    exponent = (bits - np.int32(TWO_THIRDS)) & np.int32(-(1 << 23))
    f = (bits - exponent).view(np.float32) - np.float32(1)
    near = fma(f * _polynomial(LOGF, f), f, f)
    return np.asarray(fma(exponent.astype(np.float32) * np.float32(2.0**-23), LN2, near))


def expf(x: Array) -> Array:
    """e to the power of float32 numbers [n]."""
    share = np.clip(fma(x, LOG2E_OF_252, np.float32(0.5)), np.float32(0), np.float32(1))
    exact = share.astype(np.float64) * STEPS + TO_STEP
    step = exact.astype(np.float32)
    step = np.where(step > exact, np.nextafter(step, np.float32(0)), step)  # downward
    rest = fma(x, LOG2E_LOW, fma(x, LOG2E, BIAS - step))
    scale = (step.view(np.uint32) << np.uint32(23)).view(np.float32)
    return np.where(np.abs(x) < FURTHEST_SINGLE, power_of_two(rest) * scale, np.exp(x))


def log(x: Array) -> Array:
    """The natural logarithm of normal positive float64 numbers [n]."""
    bits = x.view(np.int64)
    exponent = (bits >> 52) - 1023
    m = ((bits & ((1 << 52) - 1)) | (1023 << 52)).view(np.float64)
    is_halved = m.view(np.int64) >> 32 >= SQUARE_ROOT
    m, exponent = np.where(is_halved, m / 2, m), exponent + is_halved
    f, reciprocal = m - 1, 1 / (m + 1)
    q = f * reciprocal
    q = fma(f, reciprocal, q)
    square = q * q
    rest = f - q
    rest = reciprocal * fma(-q, f, rest + rest)
    rest = fma(square * _polynomial(LOG, square), q, rest)
    count = exponent.astype(np.float64)
    high = fma(count, LN2_HIGH, q)
    rest = rest - (fma(-count, LN2_HIGH, high) - q)
    return np.asarray(high + fma(count, LN2_LOW, rest))


def exp(x: Array) -> Array:
    """e to the power of float64 numbers [n]."""
    near = np.clip(x, -FURTHEST, FURTHEST)
    count = fma(near, LOG2E_WIDE, TO_WHOLE) - TO_WHOLE
    rest = fma(count, -LN2_LOW, fma(count, -LN2_HIGH, near))
    found = np.ldexp(_polynomial(EXP, rest), count.astype(np.int64))
    return np.where(near == x, found, np.exp(x))


def quick_expf(x: Array) -> Array:
    """e to the power of float32 numbers [n] as __expf has it: 2 to that of a rounded product."""
    return power_of_two(x * LOG2E)


# What a kernel's own calls compute for the operands of which an H100's bits are known, from one
# number to another: tests/simulator/test_function_bits.py has them.
LARGEST, SMALLEST_NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
MEASURED: Mapping[str, tuple[Function, float, float]] = {
    "expf": (expf, -87, LARGEST), "logf": (logf, SMALLEST_NORMAL, LARGEST),
    "__expf": (quick_expf, -87, LARGEST), "__sinf": (sine, -LARGEST, LARGEST),
    "__cosf": (cosine, -LARGEST, LARGEST),
}  # fmt: skip


def as_measured(name: str, other: Function) -> Function:
    """A function of MEASURED for operands in its range, another one's for all others."""
    function, lowest, highest = MEASURED[name]

    def either(x: Any) -> Any:
        is_inside = (lowest <= x) & (x <= highest)
        if np.all(is_inside):
            return function(x)[()]
        beyond = other(x)
        if not np.any(is_inside):
            return beyond
        return np.where(is_inside, function(np.where(is_inside, x, x.dtype.type(1))), beyond)

    return either


def sincospi(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of float64 numbers [n] of half turns."""
    count = np.rint(2 * x)
    quarter = count.astype(np.int64)
    rest = fma(count, np.float64(-0.5), x)
    angle = fma(rest, PI, rest * PI_LOW)
    square = angle * angle
    near_cosine = _polynomial(COSINE_OF_PI, square)
    near_sine = fma(_polynomial(SINE_OF_PI, square), angle, angle)
    sine = np.where(quarter & 1, near_cosine, near_sine)
    cosine = np.where(quarter & 1, -near_sine, near_cosine)
    sine, cosine = (np.where(quarter & 2, -one, one) for one in (sine, cosine))
    return np.where(x == np.trunc(x), 0 * x, sine), cosine + 0


def _polynomial(coefficients: Sequence[Any] | Array, x: Array) -> Any:
    first, *others = coefficients
    total: Any = np.full_like(x, first)
    for coefficient in others:
        total = fma(total, x, coefficient)
    return total
