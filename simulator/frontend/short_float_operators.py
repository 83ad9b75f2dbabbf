"""Lowers floats of 16 bits and their pairs: operators, and the functions that are plain operators.

__hadd, __hsub and __hmul become sums and products like those of the operators: nvcc makes the same
instructions of both, and fuses them (PTX ISA, add.f16: without .rn it may be contracted).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.frontend.clang import unwrapped
from simulator.frontend.types import lower_type
from simulator.language import tree
from simulator.language.ctype import CType, Scalar
from simulator.language.errors import SourceError, Span
from simulator.language.number_types import SHORT_FLOATS, short_float
from simulator.language.visit import strip_casts, subexpressions

OPERATORS = {
    "__hadd": "+", "__hsub": "-", "__hmul": "*", "__hdiv": "/", "__hadd2": "+", "__hsub2": "-",
    "__hmul2": "*", "__h2div": "/", "operator+": "+", "operator-": "-", "operator*": "*",
    "operator/": "/", "__hneg": "-", "__hneg2": "-",
}  # fmt: skip
COMPARISONS = {
    "operator==": "__hbeq2", "operator!=": "__hbneu2", "operator<": "__hblt2",
    "operator<=": "__hble2", "operator>": "__hbgt2", "operator>=": "__hbge2",
}  # fmt: skip
COMPOUND = {"operator+=": "+", "operator-=": "-", "operator*=": "*", "operator/=": "/"}
CONVERSIONS = frozenset(
    name
    for each in SHORT_FLOATS.values()
    for from_float, to_float in (each.conversions,)
    for name in (from_float, f"{from_float}_rn", from_float.replace("float2", "double2"), to_float)
)


def lower_short_float(
    name: str, result: CType, arguments: tuple[tree.Expression, ...], span: Span
) -> tree.Expression | None:
    """A call of one of these functions as an operator; None for any other."""
    if name in COMPARISONS and arguments and short_float(arguments[0].ctype):
        return tree.Call(result, span, COMPARISONS[name], arguments)
    if name in CONVERSIONS and isinstance(result, Scalar):
        return tree.Cast(result, span, arguments[0], explicit=True)
    if name not in OPERATORS or not short_float(result):
        return None
    operator = OPERATORS[name]
    if len(arguments) == 1:
        return tree.Unary(result, span, operator, arguments[0])
    left, right = arguments
    return tree.Binary(result, span, operator, left, right)


def compound_pair(
    name: str, lvalue: tree.Expression, value: tree.Expression, span: Span
) -> tree.Assign:
    """lvalue += value of a pair, as lvalue = lvalue + value; SourceError for one that has effects.

    The lvalue is evaluated twice.
    """
    effects = (tree.Assign, tree.Increment, tree.Call, tree.Inlined)
    if any(isinstance(part, effects) for part in subexpressions(lvalue)):
        raise SourceError(f"Write this without {name.removeprefix('operator')}: x = x + y.", span)
    old = tree.Load(lvalue.ctype, lvalue.span, lvalue)
    total = tree.Binary(lvalue.ctype, span, COMPOUND[name], old, value)
    return tree.Assign(lvalue.ctype, span, lvalue, "", total, lvalue.ctype)


def check_mixture(operator: str, sides: Sequence[Any], span: Span) -> None:
    """SourceError for one of these types with another: nvcc finds several operators that would fit.

    sides are the operands' cursors.
    """
    # In the text, without the conversions that C implies.
    kinds = [lower_type(unwrapped(side).type, span) for side in sides]
    found = next((known for kind in kinds if (known := short_float(kind)) is not None), None)
    if found is not None and any(kind != found.ctype for kind in kinds):
        other = next(kind for kind in kinds if kind != found.ctype)
        from_float, to_float = found.conversions
        raise SourceError(
            f"nvcc does not take {operator} of {found.name} and {other}: write {to_float}(…) for "
            f"the one or {from_float}(…) for the other.",
            span,
        )


def may_be_mixed(*sides: tree.Expression) -> bool:
    """Whether one of the operands is of these types, or was before a conversion."""
    return any(short_float(side.ctype) or short_float(strip_casts(side).ctype) for side in sides)
