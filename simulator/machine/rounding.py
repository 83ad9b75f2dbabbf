"""One operation, or one conversion, rounded as its name's end says: _rn, _rz, _ru or _rd.

Each is exact: the result to the nearest is computed first and moved by one step where the exact
result lies on the other side of it (IEEE 754-2008, rounding-direction attributes).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from simulator.language.ctype import DOUBLE, FLOAT, INT, LONGLONG, UINT, ULONGLONG, Scalar, convert
from simulator.language.encodings import WHOLE
from simulator.machine.arithmetic import fma

Function = Callable[..., Any]

MODES = ("rn", "rz", "ru", "rd")


def _round_toward(mode: str, nearest: Any, exact_is: Any) -> Any:
    """The nearest result, moved to its neighbour where a direction asks for it.

    exact_is is -1, 0 or 1: whether the exact result is less than, equal to or greater than the
    nearest; NaN compares as 0.
    """
    infinity = nearest.dtype.type(np.inf)
    up = np.nextafter(nearest, infinity)
    down = np.nextafter(nearest, -infinity)
    match mode:
        case "ru":
            moved = np.where(exact_is > 0, up, nearest)
        case "rd":
            moved = np.where(exact_is < 0, down, nearest)
        case _:  # toward zero: a nearest 0 of a result that is not 0 is already there
            inward = np.where(nearest > 0, exact_is < 0, (nearest < 0) & (exact_is > 0))
            moved = np.where(inward, np.where(nearest > 0, down, up), nearest)
    return moved.astype(nearest.dtype)[()]


def _directed(mode: str, operate: Function, exactly: Callable[..., Fraction | None]) -> Function:
    """An operation in a direction; `exactly` compares with its exact result, lane by lane.

    exactly gives the sign of the exact result less a given number, from the operands and that.
    """
    if mode == "rn":
        return operate

    def directed(*operands: Any) -> Any:
        nearest = np.asarray(operate(*operands))
        lanes = np.broadcast_arrays(*operands, nearest)
        signs = np.zeros(nearest.shape, np.int64)
        finite = np.logical_and.reduce([np.isfinite(lane) for lane in lanes[:-1]])
        for lane in np.ndindex(nearest.shape):
            if finite[lane] and not np.isnan(nearest[lane]):
                signs[lane] = _sign(exactly, [float(operand[lane]) for operand in lanes])
        result = np.asarray(_round_toward(mode, nearest, signs))
        return _signed_zero(mode, result, operate, operands)[()]

    return directed


def _sign(exactly: Callable[..., Any], operands: list[float]) -> int:
    """Whether an exact result is less than (-1), equal to (0) or greater than (1) the nearest."""
    *given, nearest = operands
    exact = exactly(*(Fraction(value) for value in given))
    if exact is None:
        return 0
    if math.isinf(nearest):
        return -1 if nearest > 0 else 1
    difference = exact(Fraction(nearest)) if callable(exact) else exact - Fraction(nearest)
    return int(difference > 0) - int(difference < 0)


def _signed_zero(mode: str, result: Any, operate: Function, operands: tuple[Any, ...]) -> Any:
    """An exact sum of zero is -0 when rounded down, unless both its parts are +0."""
    if mode != "rd" or operate not in (np.add, np.subtract, fma):
        return result
    left, right = operands[0], operands[-1]
    if operate is fma:
        left = np.multiply(operands[0], operands[1])
    left, right = np.broadcast_arrays(left, -right if operate is np.subtract else right)
    cancelled = (result == 0) & (np.signbit(left) | np.signbit(right))
    return np.where(cancelled, -np.abs(result), result)


def _root(a: Fraction) -> Any:
    """Compares squares: a root may be no fraction. A nearest root is never negative."""
    return (lambda nearest: a - nearest * nearest) if a >= 0 else None


# By the letters of CUDA's names: the operation, and its exact result.
OPERATIONS: Mapping[str, tuple[Function, Callable[..., Any]]] = {
    "add": (np.add, operator.add),
    "sub": (np.subtract, operator.sub),
    "mul": (np.multiply, operator.mul),
    "div": (np.divide, lambda a, b: a / b if b else None),
    "sqrt": (np.sqrt, _root),
    "rcp": (
        lambda value: np.divide(value.dtype.type(1), value),
        lambda a: 1 / a if a else None,
    ),
}


def to_integer(mode: str, target: Scalar) -> Function:
    """A float as a whole number of a type, saturated."""
    whole = WHOLE[mode]
    return lambda value: convert(whole(value), target)


def to_float(mode: str, target: Scalar) -> Function:
    """A whole number, or a double, as a float of a type."""
    encoding = target.encoding
    if encoding is not None:
        return lambda value: encoding.round(value, mode)

    def rounded(value: Any) -> Any:
        nearest = np.asarray(convert(np.asarray(value), target))
        if mode == "rn":
            return nearest[()]
        given = np.asarray(value)
        signs = np.zeros(nearest.shape, np.int64)
        for lane in np.ndindex(nearest.shape):
            exact, near = given[lane].item(), nearest[lane].item()
            signs[lane] = (exact > near) - (exact < near)  # Python compares int and float exactly
        return _round_toward(mode, nearest, signs)

    return rounded


_INTEGERS: Mapping[str, Scalar] = {"int": INT, "uint": UINT, "ll": LONGLONG, "ull": ULONGLONG}
_FLOATS: Mapping[str, Scalar] = {"float": FLOAT, "double": DOUBLE}

ROUNDED_FUNCTIONS: Mapping[str, Function] = {
    **{
        f"__{width}{name}_{mode}": _directed(mode, operate, exactly)
        for width in "fd"
        for name, (operate, exactly) in OPERATIONS.items()
        for mode in MODES
    },
    **{
        f"__{name}_{mode}": _directed(mode, fma, lambda a, b, c: a * b + c)
        for name in ("fmaf", "fma")
        for mode in MODES
    },
    **{
        f"__{source}2{name}_{mode}": to_integer(mode, target)
        for source in _FLOATS
        for name, target in _INTEGERS.items()
        for mode in MODES
    },
    **{
        f"__{source}2{name}_{mode}": to_float(mode, target)
        for source in (*_INTEGERS, "double")
        for name, target in _FLOATS.items()
        for mode in MODES
        if source != name and not (source in ("int", "uint") and name == "double" and mode != "rn")
    },
}
