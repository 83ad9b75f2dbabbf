"""Which products a compiler fuses with a sum: a*b + c with one rounding, as nvcc does by default.

The rules are those seen in nvcc 13's machine code for sm_90, without -fmad=false:

- A product that is an operand of a sum or difference fuses with it, negated or not; one under a
  conversion or a ?: does not.
- So does one that reaches the sum through a variable or an inlined function, if every use of it
  is such a sum in the same basic block, or its only use is in an if after that block. Each of
  its sums fuses then; with any other use none does.
- Of two products in a sum the one whose operands were loaded first fuses, of two in a difference
  the one that is not subtracted.
- A product that does not change in a loop is computed before the loop, and does not fuse within.
- A product written twice in one basic block is computed once, and has the uses of both.

Products of floats of 16 bits and their pairs are contracted later, when the compiler makes machine
code: they are not computed before a loop, and one written twice is computed twice; the other rules
hold for them.

Where a product's sums are in other basic blocks, it depends on what the compiler makes of the
branches and loops between, on unrolling above all, as it does where a product goes through an
array in registers: such a sum is not fused here, and a warning names it.

This file says which expressions are sums and products; contract.py decides which of them fuse.
"""

from __future__ import annotations

from simulator.language.ctype import CType, Scalar, Vector
from simulator.language.number_types import short_float
from simulator.language.tree import Assign, Binary, Expression, Literal, Unary


def product_of(expression: Expression) -> Binary | None:
    """The expression as a float product that a compiler would fuse with a sum, else None.

    A product of two constants is none: the compiler folds it.
    """
    match expression:
        case Binary(operator="*", ctype=ctype) if _is_float(ctype):
            constant = isinstance(expression.left, Literal) and isinstance(
                expression.right, Literal
            )
            return None if constant else expression
        case Unary(operator="-", operand=Binary() as inner) if product_of(inner) is not None:
            # -(a*b) is (-a)*b, exactly
            minus = Unary(inner.left.ctype, expression.span, "-", inner.left)
            return Binary(inner.ctype, inner.span, "*", minus, inner.right)
        case _:
            return None


def is_sum(expression: Binary | Assign) -> bool:
    """Whether an expression is a float sum or difference: a + b, a - b, a += b or a -= b."""
    if expression.operator not in ("+", "-"):
        return False
    if isinstance(expression, Binary):
        return _is_float(expression.ctype)
    return _is_float(expression.compute) and expression.value.ctype == expression.compute


def is_product_update(assign: Assign) -> bool:
    """Whether an assignment is a float product, a *= b, in the type of both its sides."""
    return (
        assign.operator == "*"
        and _is_float(assign.compute)
        and assign.value.ctype == assign.compute == assign.lvalue.ctype
    )


def is_of_short_float(expression: Binary | Assign) -> bool:
    """Whether it is of floats of 16 bits or a pair: nvcc does not look into their instructions."""
    return short_float(expression.ctype) is not None


def _is_float(ctype: CType) -> bool:
    """Whether a type is of floating-point numbers, or a pair of short ones."""
    element = ctype.element if isinstance(ctype, Vector) else ctype
    return isinstance(element, Scalar) and element.is_float
