"""The functions of cuda_fp16.h over NumPy's float16; a half2 is a pair, computed by component.

Sums, products, quotients and roots are those of float32 rounded once more, which is harmless as
float32 has at least 2 * 11 + 2 bits (Figueroa, When is double rounding innocuous?, 1995); a fused
multiply-add rounds once. So they are the GPU's, bit for bit. Exponentials, logarithms, sine, cosine
and tanh are float32's, rounded: CUDA's may differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import (
    HALF,
    INT,
    LONGLONG,
    SHORT,
    UINT,
    ULONGLONG,
    USHORT,
    Scalar,
)
from simulator.machine.arithmetic import componentwise, fma, maximum, minimum
from simulator.machine.bits import reinterpret
from simulator.machine.rounding import MODES, to_float, to_integer

Function = Callable[..., Any]

ZERO, ONE = np.float16(0), np.float16(1)
CANONICAL_NAN = np.array([0x7FFF], np.uint16).view(np.float16)[0]  # what the hardware gives
TESTS: Mapping[str, Function] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_WHOLE_NUMBERS: Mapping[str, Scalar] = {
    "int": INT, "uint": UINT, "short": SHORT, "ushort": USHORT, "ll": LONGLONG, "ull": ULONGLONG,
}  # fmt: skip


def in_float(function: Function) -> Function:
    """A function of half that is computed in float and rounded."""

    def rounded(value: Any) -> Any:
        return function(np.asarray(value).astype(np.float32)).astype(np.float16)[()]

    return rounded


def _saturated(function: Function) -> Function:
    """A function's result, no less than 0 and no more than 1; 0 for NaN."""

    def clamped(*operands: Any) -> Any:
        value = function(*operands)
        return np.where(value > 0, np.minimum(value, ONE), ZERO)[()]

    return clamped


def _without_negatives(a: Any, b: Any, c: Any) -> Any:
    """fma(a, b, c), 0 in place of what is negative; NaN stays."""
    value = fma(a, b, c)
    return np.where(value <= 0, ZERO, np.where(np.isnan(value), CANONICAL_NAN, value))[()]


def _with_nan(order: Function) -> Function:
    """min or max that gives NaN where either operand is one."""

    def ordered(a: Any, b: Any) -> Any:
        return np.where(np.isnan(a) | np.isnan(b), CANONICAL_NAN, order(a, b))[()]

    return ordered


def _unordered(test: str) -> Function:
    """A comparison that holds, too, where an operand is NaN."""
    compare = TESTS[test]
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def _ordered(test: str) -> Function:
    """A comparison that fails where an operand is NaN; C's != does not."""
    compare = TESTS[test]
    return lambda a, b: compare(a, b) & ~(np.isnan(a) | np.isnan(b))


def _as_half(test: Function) -> Function:
    """A comparison, or a test of one value, whose result is 1 or 0."""
    return lambda *operands: np.where(test(*operands), ONE, ZERO)[()]


def _for_both(test: Function) -> Function:
    """A comparison that must hold for both components."""

    def holds(a: Any, b: Any) -> Any:
        low, high = componentwise(test)(a, b)
        return low & high

    return holds


def _sign_of_infinity(value: Any) -> Any:
    """-1 or 1 for an infinite value, else 0."""
    return np.where(np.isinf(value), np.sign(value), ZERO).astype(np.int32)[()]


def _to_half(value: Any) -> Any:
    return to_float("rn", HALF)(value)


def _to_single(value: Any) -> Any:
    return np.asarray(value).astype(np.float32)[()]


_ONE_OPERAND: Mapping[str, Function] = {
    "sqrt": np.sqrt, "rsqrt": in_float(lambda x: np.float32(1) / np.sqrt(x)),
    "rcp": in_float(lambda x: np.float32(1) / x), "exp": in_float(np.exp),
    "exp2": in_float(np.exp2), "exp10": in_float(lambda x: np.power(np.float32(10), x)),
    "log": in_float(np.log), "log2": in_float(np.log2), "log10": in_float(np.log10),
    "sin": in_float(np.sin), "cos": in_float(np.cos), "tanh": in_float(np.tanh),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
}  # fmt: skip

# Functions of half whose form for half2 has a 2 behind the name's first part.
_BY_COMPONENT: Mapping[str, Function] = {
    "__hadd{}_rn": np.add, "__hsub{}_rn": np.subtract, "__hmul{}_rn": np.multiply,
    "__hadd{}_sat": _saturated(np.add), "__hsub{}_sat": _saturated(np.subtract),
    "__hmul{}_sat": _saturated(np.multiply), "__hfma{}": fma, "__hfma{}_sat": _saturated(fma),
    "__hfma{}_relu": _without_negatives, "__habs{}": np.abs, "__hmax{}": maximum,
    "__hmin{}": minimum, "__hmax{}_nan": _with_nan(maximum), "__hmin{}_nan": _with_nan(minimum),
}  # fmt: skip

_PAIRS: Mapping[str, Function] = {
    "__half2half2": lambda a: (a, a),
    "__halves2half2": lambda a, b: (a, b),
    "__float2half2_rn": lambda a: (_to_half(a), _to_half(a)),
    "__floats2half2_rn": lambda a, b: (_to_half(a), _to_half(b)),
    "__float22half2_rn": lambda a: (_to_half(a[0]), _to_half(a[1])),
    "__half22float2": lambda a: (_to_single(a[0]), _to_single(a[1])),
    "__low2half": lambda a: a[0],
    "__high2half": lambda a: a[1],
    "__low2float": lambda a: _to_single(a[0]),
    "__high2float": lambda a: _to_single(a[1]),
    "__low2half2": lambda a: (a[0], a[0]),
    "__high2half2": lambda a: (a[1], a[1]),
    "__lowhigh2highlow": lambda a: (a[1], a[0]),
    "__lows2half2": lambda a, b: (a[0], b[0]),
    "__highs2half2": lambda a, b: (a[1], b[1]),
}

HALF_FUNCTIONS: Mapping[str, Function] = {
    **{name.format(""): function for name, function in _BY_COMPONENT.items()},
    **{name.format("2"): componentwise(function) for name, function in _BY_COMPONENT.items()},
    **{f"h{name}": function for name, function in _ONE_OPERAND.items()},
    **{f"h2{name}": componentwise(function) for name, function in _ONE_OPERAND.items()},
    **_PAIRS,
    **{f"__h{test}": _ordered(test) for test in TESTS},
    **{f"__h{test}u": _unordered(test) for test in TESTS},
    **{f"__h{test}2": componentwise(_as_half(_ordered(test))) for test in TESTS},
    **{f"__h{test}u2": componentwise(_as_half(_unordered(test))) for test in TESTS},
    **{f"__hb{test}2": _for_both(_ordered(test)) for test in TESTS},
    **{f"__hb{test}u2": _for_both(_unordered(test)) for test in TESTS},
    "__hisnan": np.isnan,
    "__hisnan2": componentwise(_as_half(np.isnan)),
    "__hisinf": _sign_of_infinity,
    "__half_as_short": reinterpret(np.int16),
    "__half_as_ushort": reinterpret(np.uint16),
    "__short_as_half": reinterpret(np.float16),
    "__ushort_as_half": reinterpret(np.float16),
    **{
        f"__{name}2half_{mode}": to_float(mode, HALF)
        for name in ("float", *_WHOLE_NUMBERS)
        for mode in MODES
    },
    **{
        f"__half2{name}_{mode}": to_integer(mode, target)
        for name, target in _WHOLE_NUMBERS.items()
        for mode in MODES
    },
}
