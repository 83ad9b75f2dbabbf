"""The functions of cuda_fp16.h and its like; a pair such as half2 is computed by component.

Sums, products, quotients and roots are computed in wider floats and rounded once more, which is
harmless where these have 2 p + 2 bits for the p of the type (Figueroa, When is double rounding
innocuous?, 1995); a fused multiply-add rounds once. So they are the GPU's, bit for bit.
Exponentials, logarithms, sine, cosine and tanh are float32's, rounded: CUDA's may differ in the
last bit; of bfloat16 none does on an H200.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import INT, LONGLONG, SHORT, UINT, ULONGLONG, USHORT, Scalar, convert
from simulator.language.number_types import SHORT_FLOATS
from simulator.machine.arithmetic import componentwise, fused, maximum, minimum, operation
from simulator.machine.bits import reinterpret
from simulator.machine.rounding import MODES, to_float, to_integer

Function = Callable[..., Any]

TESTS: Mapping[str, Function] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_WHOLE_NUMBERS: Mapping[str, Scalar] = {
    "int": INT, "uint": UINT, "short": SHORT, "ushort": USHORT, "ll": LONGLONG, "ull": ULONGLONG,
}  # fmt: skip
_IN_FLOAT: Mapping[str, Function] = {
    "sqrt": np.sqrt, "rsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "rcp": lambda x: np.float32(1) / x, "exp": np.exp, "exp2": np.exp2,
    "exp10": lambda x: np.power(np.float32(10), x), "log": np.log, "log2": np.log2,
    "log10": np.log10, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
}  # fmt: skip


# Where a header takes another way (cuda_bf16.hpp): e to the power of x by a factor that is above
# log2 e, and for one x of 10's powers a result of its own.
_BY_TYPE: Mapping[str, Mapping[str, Function]] = {
    "bfloat16": {
        "exp": lambda x: np.exp2(x * np.float32(float.fromhex("0x1.715478p+0"))),
        "exp10": lambda x: np.where(
            x == -149 * 2.0**-13, 245 * 2.0**-8, np.power(np.float32(10), x)
        ).astype(np.float32),
    }
}


def _unordered(test: str) -> Function:
    """A comparison that holds, too, where an operand is NaN."""
    compare = TESTS[test]
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def _ordered(test: str) -> Function:
    """A comparison that fails where an operand is NaN; C's != does not."""
    compare = TESTS[test]
    return lambda a, b: compare(a, b) & ~(np.isnan(a) | np.isnan(b))


def _for_both(test: Function) -> Function:
    """A comparison that must hold for both components."""

    def holds(a: Any, b: Any) -> Any:
        low, high = componentwise(test)(a, b)
        return low & high

    return holds


def _to_single(value: Any) -> Any:
    return np.asarray(value).astype(np.float32)[()]


class _ShortFloat:
    """What the functions of one type have in common: its zero and one, its NaN, its rounding."""

    def __init__(self, kind: Scalar) -> None:
        self.kind, self.fma = kind, fused(kind)
        self.add, self.subtract, self.multiply = (operation(sign, kind) for sign in "+-*")
        self.zero, self.one = kind.dtype.type(0), kind.dtype.type(1)
        # what the hardware gives: all bits but the sign
        self.nan = kind.values_of(np.array([0x7FFF], np.uint16).view(kind.cell_dtype))[0]

    def round(self, value: Any) -> Any:
        """A float as a number of the type."""
        return convert(np.asarray(value), self.kind)[()]

    def in_float(self, function: Function) -> Function:
        """A function that is computed in float and rounded."""
        return lambda value: self.round(function(np.asarray(value).astype(np.float32)))

    def saturated(self, function: Function) -> Function:
        """A function's result, no less than 0 and no more than 1; 0 for NaN."""

        def clamped(*operands: Any) -> Any:
            value = function(*operands)
            return np.where(value > 0, np.minimum(value, self.one), self.zero)[()]

        return clamped

    def without_negatives(self, a: Any, b: Any, c: Any) -> Any:
        """fma(a, b, c), 0 instead of what is negative; NaN stays."""
        value = self.fma(a, b, c)
        return np.where(value <= 0, self.zero, np.where(np.isnan(value), self.nan, value))[()]

    def with_one_nan(self, order: Function) -> Function:
        """min or max that gives the one NaN of results where both operands are some NaN."""

        def ordered(a: Any, b: Any) -> Any:
            value = order(a, b)
            return np.where(np.isnan(value), self.nan, value)[()]

        return ordered

    def with_nan(self, order: Function) -> Function:
        """min or max that gives NaN where either operand is one."""

        def ordered(a: Any, b: Any) -> Any:
            return np.where(np.isnan(a) | np.isnan(b), self.nan, order(a, b))[()]

        return ordered

    def as_number(self, test: Function) -> Function:
        """A comparison, or a test of one value, whose result is 1 or 0."""
        return lambda *operands: np.where(test(*operands), self.one, self.zero)[()]

    def by_component(self, word: str) -> Mapping[str, Function]:
        """Functions whose form for a pair has a 2 where the braces are; word is as for pairs."""
        in_float = {**_IN_FLOAT, **_BY_TYPE.get(word, {})}
        return {
            "__hadd{}_rn": self.add, "__hsub{}_rn": self.subtract, "__hmul{}_rn": self.multiply,
            "__hadd{}_sat": self.saturated(self.add), "__hsub{}_sat": self.saturated(self.subtract),
            "__hmul{}_sat": self.saturated(self.multiply), "__hfma{}": self.fma,
            "__hfma{}_sat": self.saturated(self.fma), "__hfma{}_relu": self.without_negatives,
            "__habs{}": lambda value: self.round(np.abs(value)),
            "__hmax{}": self.with_one_nan(maximum), "__hmin{}": self.with_one_nan(minimum),
            "__hmax{}_nan": self.with_nan(maximum), "__hmin{}_nan": self.with_nan(minimum),
            **{f"h{{}}{name}": self.in_float(function) for name, function in in_float.items()},
        }  # fmt: skip

    def pairs(self, word: str) -> Mapping[str, Function]:
        """What makes pairs and takes them apart; word is the type's in CUDA's names."""
        return {
            f"__{word}2{word}2": lambda a: (a, a),
            f"__halves2{word}2": lambda a, b: (a, b),
            f"__float2{word}2_rn": lambda a: (self.round(a), self.round(a)),
            f"__floats2{word}2_rn": lambda a, b: (self.round(a), self.round(b)),
            f"__float22{word}2_rn": lambda a: (self.round(a[0]), self.round(a[1])),
            f"__{word}22float2": lambda a: (_to_single(a[0]), _to_single(a[1])),
            f"__low2{word}": lambda a: a[0],
            f"__high2{word}": lambda a: a[1],
            "__low2float": lambda a: _to_single(a[0]),
            "__high2float": lambda a: _to_single(a[1]),
            f"__low2{word}2": lambda a: (a[0], a[0]),
            f"__high2{word}2": lambda a: (a[1], a[1]),
            "__lowhigh2highlow": lambda a: (a[1], a[0]),
            f"__lows2{word}2": lambda a, b: (a[0], b[0]),
            f"__highs2{word}2": lambda a, b: (a[1], b[1]),
        }

    def tests(self) -> Mapping[str, Function]:
        """Comparisons, ordered and not, and what a number is."""
        return {
            **{f"__h{test}": _ordered(test) for test in TESTS},
            **{f"__h{test}u": _unordered(test) for test in TESTS},
            **{f"__h{test}2": componentwise(self.as_number(_ordered(test))) for test in TESTS},
            **{f"__h{test}u2": componentwise(self.as_number(_unordered(test))) for test in TESTS},
            **{f"__hb{test}2": _for_both(_ordered(test)) for test in TESTS},
            **{f"__hb{test}u2": _for_both(_unordered(test)) for test in TESTS},
            "__hisnan": np.isnan,
            "__hisnan2": componentwise(self.as_number(np.isnan)),
            # -1 or 1
            "__hisinf": lambda x: np.where(np.isinf(x), np.sign(x), 0).astype(np.int32)[()],
        }

    def conversions(self, word: str) -> Mapping[str, Function]:
        """Bits, and numbers of other types, rounded in each direction."""

        def as_bits(dtype: Any) -> Function:
            view = reinterpret(dtype)
            return lambda value: view(self.kind.cells_of(value))

        def of_bits(value: Any) -> Any:
            return self.kind.values_of(reinterpret(self.kind.cell_dtype.type)(value))

        return {
            f"__{word}_as_short": as_bits(np.int16),
            f"__{word}_as_ushort": as_bits(np.uint16),
            f"__short_as_{word}": of_bits,
            f"__ushort_as_{word}": of_bits,
            **{
                f"__{name}2{word}_{mode}": to_float(mode, self.kind)
                for name in ("float", *_WHOLE_NUMBERS)
                for mode in MODES
            },
            **{
                f"__{word}2{name}_{mode}": to_integer(mode, target)
                for name, target in _WHOLE_NUMBERS.items()
                for mode in MODES
            },
        }


def _functions_of(kind: Scalar) -> Mapping[str, Function]:
    """All functions of a type, by name."""
    word, one = SHORT_FLOATS[kind].word, _ShortFloat(kind)
    alike = one.by_component(word)
    return {
        **{name.format(""): function for name, function in alike.items()},
        **{name.format("2"): componentwise(function) for name, function in alike.items()},
        **one.pairs(word),
        **one.tests(),
        **one.conversions(word),
    }


SHORT_FLOAT_FUNCTIONS: Mapping[Scalar, Mapping[str, Function]] = {
    kind: _functions_of(kind) for kind in SHORT_FLOATS
}
