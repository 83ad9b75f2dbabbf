"""Which products a compiler fuses with a sum: a*b + c with one rounding, as nvcc does by default.

The rules are those seen in nvcc 13's machine code for sm_90, without -fmad=false:

- A product that is an operand of a sum or difference fuses with it, negated or not; one under a
  conversion or a ?: does not.
- So does one that reaches the sum through a variable or an inlined function, if every use of it
  is such a sum in the same stretch of straight code, or its one use stands in an if after it. Each
  of its sums fuses then; with any other use none does.
- Of two products in a sum the one whose operands were loaded first fuses, of two in a difference
  the one that is not subtracted.
- A product that does not change in a loop is computed before it, and does not fuse within.
- A product written twice in one stretch of code is computed once, and has the uses of both.

Where a product's sums are in other stretches of code, it depends on what the compiler makes of
the branches and loops between, on unrolling above all, as it does where a product goes through an
array in registers: such a sum is not fused here, and a warning names it.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.language.ctype import Scalar
from simulator.language.tree import Assign, Binary, Expression, Literal, Unary, Variable


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A stretch of straight code; kind is that of the statement around it."""

    outer: Block | None
    kind: str


@dataclass(frozen=True, slots=True)
class Consumer:
    """What takes a value: a side of a sum, a variable, or (with neither) anything else.

    minus tells that it is negated on the way; given is the expression that the variable is set to.
    """

    sum: Binary | Assign | None = None
    left: bool = False
    minus: bool = False
    variable: Variable | None = None
    given: Expression | None = None


OTHER = Consumer()


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A variable gets a value from an expression, or its value is taken by a consumer."""

    order: int
    block: Block
    value: Expression | None = None
    consumer: Consumer = OTHER


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
