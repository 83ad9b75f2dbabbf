"""Which products a compiler fuses with a sum: a*b + c with one rounding, as nvcc does by default.

Seen in nvcc 13's machine code for sm_90, without -fmad=false: of two products the left one fuses,
a negated product too, one under a conversion or a ?: not.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.ctype import Scalar
from simulator.tree import Binary, Expression, Literal, Unary


@dataclass(frozen=True, slots=True)
class FusedSum:
    """product + addend, each with its sign."""

    product: Binary
    addend: Expression
    minus_product: bool
    minus_addend: bool


def fused_sum(left: Expression, right: Expression, operator: str) -> FusedSum | None:
    """The parts of left + right or left - right that become one fma, if any do."""
    minus = operator == "-"
    product = product_of(left)
    if product is not None:
        return FusedSum(product, right, minus_product=False, minus_addend=minus)
    product = product_of(right)
    if product is not None:
        return FusedSum(product, left, minus_product=minus, minus_addend=False)
    return None


def product_of(expression: Expression) -> Binary | None:
    """The expression if it is a float product that a compiler would fuse with a sum."""
    match expression:
        case Binary(operator="*", ctype=Scalar(dtype=dtype)) if dtype.kind == "f":
            constant = isinstance(expression.left, Literal) and isinstance(
                expression.right, Literal
            )
            return None if constant else expression
        case Unary(operator="-", operand=Binary() as inner) if product_of(inner) is not None:
            # -(a*b) is (-a)*b, exactly
            minus = Unary(inner.left.ctype, expression.span, "-", inner.left)  # type: ignore[arg-type]  # a float
            return Binary(inner.ctype, inner.span, "*", minus, inner.right)
        case _:
            return None
