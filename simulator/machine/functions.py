"""CUDA's mathematical functions over NumPy: a value is one number or an array [lanes].

Arguments come in their parameters' types. Where IEEE 754 or C defines the result (fmaf, sqrt,
division, floor, conversions, __fadd_rn and their kind) it is the GPU's, bit for bit. expf, logf,
__expf, __sinf and __cosf compute as a GPU does for arguments like those of which an H100's bits are
known (compiled_functions.py). The others are NumPy's or Python's: on 2,048 numbers an H100's were
at most 3 units in the last place apart (lgammaf near its zeros more), those with two underscores
before them up to thousands where the result is near 0 (CUDA C++ Programming Guide, mathematical
functions appendix, has their errors).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import LONG, LONGLONG, Scalar, convert
from simulator.language.functions import BITS, FROM_BITS
from simulator.language.number_types import ROUNDINGS, short_float
from simulator.language.tree import Call
from simulator.machine.arithmetic import fma, maximum, minimum
from simulator.machine.bits import BIT_FUNCTIONS
from simulator.machine.compiled_functions import as_measured
from simulator.machine.fp8_conversions import FP8_CONVERSIONS
from simulator.machine.rounding import ROUNDED_FUNCTIONS
from simulator.machine.short_floats import SHORT_FLOAT_FUNCTIONS
from simulator.machine.simd import SIMD_FUNCTIONS
from simulator.machine.special import (
    error,
    error_complement,
    error_inverse,
    gamma,
    log_gamma,
    normal_distribution,
)

Function = Callable[..., Any]

QUICK_DIVISION_LIMIT = 2.0**126  # __fdividef gives 0 for a divisor beyond it (Programming Guide)


def round_away(value: Any) -> Any:
    """To the nearest whole number, halves away from zero, as C's round does."""
    whole = np.trunc(value)
    away = np.abs(value - whole) >= value.dtype.type(0.5)
    return np.where(away, whole + np.sign(value), whole).astype(value.dtype)[()]


def reciprocal_root(value: Any) -> Any:
    """1 / sqrt(x)."""
    return value.dtype.type(1) / np.sqrt(value)


def reciprocal_root_once(value: Any) -> Any:
    """1 / sqrt(x) of a float, by way of double."""
    return (1 / np.sqrt(np.asarray(value).astype(np.float64))).astype(np.float32)[()]


def reciprocal_cube_root(value: Any) -> Any:
    """1 / cbrt(x)."""
    return value.dtype.type(1) / np.cbrt(value)


def positive_difference(a: Any, b: Any) -> Any:
    """a - b where that is positive, else 0; NaN where either is NaN."""
    return np.where(a <= b, a.dtype.type(0), a - b)[()]


def ieee_remainder(x: Any, y: Any) -> Any:
    """x - n y, n the whole number nearest to x / y, the even one of two: exact (C's remainder)."""
    pairs = np.broadcast_arrays(np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64))
    found = np.full(pairs[0].shape, np.nan)
    for lane in np.ndindex(found.shape):
        a, b = float(pairs[0][lane]), float(pairs[1][lane])
        if math.isfinite(a) and b and not math.isnan(b):
            found[lane] = math.remainder(a, b)
    return found.astype(x.dtype)[()]


def power_of_ten(value: Any) -> Any:
    """10 to the power of x."""
    return np.power(value.dtype.type(10), value)


def sine_of_pi(value: Any) -> Any:
    """sin(pi x), exact at multiples of 1/2."""
    return _turn(np.sin, value, 0)


def cosine_of_pi(value: Any) -> Any:
    """cos(pi x), exact at multiples of 1/2."""
    return _turn(np.cos, value, 1)


def _turn(function: Function, value: Any, quarter: int) -> Any:
    """A function of pi x, of a remainder of x by 2; zero at `quarter` halves and every whole."""
    wide = np.fmod(np.asarray(value).astype(np.float64), 2)
    is_zero = np.isfinite(wide) & (np.fmod(2 * wide - quarter, 2) == 0)
    result = np.where(is_zero, 0.0, function(np.pi * wide))
    return result.astype(value.dtype)[()]


def binary_exponent(value: Any) -> Any:
    """The exponent of x in base 2 as a float: -inf for 0."""
    _, exponent = np.frexp(value)
    usual = (exponent - 1).astype(value.dtype)
    return np.select(
        [np.isnan(value), np.isinf(value), value == 0],
        [value, np.abs(value), -value.dtype.type(np.inf)],
        usual,
    ).astype(value.dtype)[()]


def whole_exponent(value: Any) -> Any:
    """The exponent of x in base 2 as an int (CUDA Math API, ilogb)."""
    _, exponent = np.frexp(value)
    limits = np.iinfo(np.int32)
    odd = [np.isnan(value) | (value == 0), np.isinf(value)]
    return np.select(odd, [limits.min, limits.max], exponent - 1).astype(np.int32)[()]


def scale(value: Any, exponent: Any) -> Any:
    """x times 2 to the power of a whole number, rounded once."""
    return np.ldexp(value, np.clip(exponent, -(2**15), 2**15))


def length(*components: Any) -> Any:
    """The square root of the sum of squares."""
    wide = [np.asarray(component).astype(np.float64) for component in components]
    largest = np.maximum.reduce([np.abs(component) for component in wide])
    unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
    total = sum((component / unit) ** 2 for component in wide)
    infinite = np.logical_or.reduce([np.isinf(component) for component in wide])
    result = np.where(infinite, np.inf, np.sqrt(total) * unit)
    return result.astype(components[0].dtype)[()]


def reciprocal_length(*components: Any) -> Any:
    """1 / length(…)."""
    return components[0].dtype.type(1) / length(*components)


def quick_division(x: Any, y: Any) -> Any:
    """x / y; 0 for a divisor beyond 2**126, as __fdividef has it, NaN for an infinite x there."""
    beyond = (np.abs(y) > QUICK_DIVISION_LIMIT) & np.isfinite(y)
    odd = np.where(np.isinf(x), np.nan, 0.0)
    return np.where(beyond, odd, np.divide(x, y)).astype(np.float32)[()]


def saturate(value: Any) -> Any:
    """The value, no less than 0 and no more than 1; 0 for NaN and -0."""
    return np.where(value > 0, np.minimum(value, np.float32(1)), np.float32(0))[()]


def _as_whole(rounded: Function, target: Scalar) -> Function:
    """A float, rounded to a whole number of a type."""
    return lambda value: convert(rounded(value), target)


_OF_BOTH_WIDTHS: Mapping[str, Function] = {
    "sqrt": np.sqrt, "rsqrt": reciprocal_root, "cbrt": np.cbrt, "rcbrt": reciprocal_cube_root,
    "fabs": np.abs, "exp": np.exp, "exp2": np.exp2, "exp10": power_of_ten, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "logb": binary_exponent,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinpi": sine_of_pi, "cospi": cosine_of_pi,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
    "round": round_away, "erf": error, "erfc": error_complement, "erfinv": error_inverse,
    "normcdf": normal_distribution, "lgamma": log_gamma, "tgamma": gamma,
    "fmin": minimum, "fmax": maximum, "fmod": np.fmod, "remainder": ieee_remainder,
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "rhypot": reciprocal_length,
    "copysign": np.copysign, "fdim": positive_difference, "nextafter": np.nextafter,
}  # fmt: skip

# Those whose arguments, or whose result, are of another type besides.
_WITH_WHOLE_NUMBERS: Mapping[str, Function] = {
    "ilogb": whole_exponent, "ldexp": scale, "scalbn": scale,
    "lrint": _as_whole(np.rint, LONG), "llrint": _as_whole(np.rint, LONGLONG),
    "lround": _as_whole(round_away, LONG), "llround": _as_whole(round_away, LONGLONG),
}  # fmt: skip

FUNCTIONS: Mapping[str, Function] = {
    **_OF_BOTH_WIDTHS,
    **{f"{name}f": function for name, function in _OF_BOTH_WIDTHS.items()},
    **_WITH_WHOLE_NUMBERS,
    **{f"{name}f": function for name, function in _WITH_WHOLE_NUMBERS.items()},
    **BIT_FUNCTIONS,
    **SIMD_FUNCTIONS,
    **ROUNDED_FUNCTIONS,
    **FP8_CONVERSIONS,
    **dict.fromkeys(("fmaf", "fma"), fma),
    **dict.fromkeys(("norm3d", "norm3df", "norm4d", "norm4df"), length),
    **dict.fromkeys(("rnorm3d", "rnorm3df"), reciprocal_length),
    "fdividef": np.divide,
    "__fdividef": quick_division,
    "__powf": np.power,
    "__exp10f": power_of_ten,
    "__logf": np.log,
    "__log2f": np.log2,
    "__log10f": np.log10,
    "__tanf": np.tan,
    "__tanhf": np.tanh,
    "__saturatef": saturate,
    **{
        name: as_measured(name, other)
        for name, other in (
            ("expf", np.exp),
            ("logf", np.log),
            ("__expf", np.exp),
            ("__sinf", np.sin),
            ("__cosf", np.cos),
        )
    },
    **ROUNDINGS,
    "__frsqrt_rn": reciprocal_root_once,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
    **dict.fromkeys(("abs", "labs", "llabs"), np.abs),
    **dict.fromkeys(("min", "umin", "llmin", "ullmin"), minimum),
    **dict.fromkeys(("max", "umax", "llmax", "ullmax"), maximum),
}


def function_of(call: Call) -> Function:
    """What a call computes: by its name, and of a short float or a number of 8 bits by its type."""
    argument = call.arguments[0].ctype if call.arguments else call.ctype
    if call.function == BITS and isinstance(argument, Scalar):
        return argument.cells_of
    if call.function == FROM_BITS and isinstance(call.ctype, Scalar):
        return call.ctype.values_of
    for kind in (argument, call.ctype):
        known = short_float(kind)
        if known is not None and call.function in SHORT_FLOAT_FUNCTIONS[known.ctype]:
            return SHORT_FLOAT_FUNCTIONS[known.ctype][call.function]
    return FUNCTIONS[call.function]
