"""Compiles contracted sums to closures: a * b + c with one rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.language.ctype import Scalar, convert
from simulator.language.tree import Assign, Binary, Contraction, Expression
from simulator.machine.arithmetic import fused, negate, operation
from simulator.machine.closures import Closure, ExpressionCompiler, Update
from simulator.machine.group import Group
from simulator.machine.masks import Mask

Factors = Callable[[Group, Mask], tuple[Any, Any]]


def remembered_product(product: Expression, left: Closure, right: Closure) -> Closure:
    """The closure of a product whose factors a later sum needs."""
    multiply = operation("*", product.ctype)

    def remember_factors(group: Group, mask: Mask) -> Any:
        x, y = left(group, mask), right(group, mask)
        group.products[product] = (x, y)
        return multiply(x, y)

    return remember_factors


def contracted_sum(sum_: Binary, contraction: Contraction, compiler: ExpressionCompiler) -> Closure:
    """The closure of a sum or difference that is one fma."""
    side, other = (sum_.left, sum_.right) if contraction.on_left else (sum_.right, sum_.left)
    if contraction.product is not None:
        factors = _product_factors(contraction.product, compiler)
    else:
        factors = _earlier_factors(contraction, compiler.compile(side))
    addend = compiler.compile(other)
    minus, fma = sum_.operator == "-", fused(sum_.ctype)

    def value(group: Group, mask: Mask) -> Any:
        x, y = factors(group, mask)
        z = addend(group, mask)
        if minus and contraction.on_left:
            return fma(x, y, negate(z))
        return fma(negate(x) if minus else x, y, z)

    return value


def contracted_update(
    assign: Assign, contraction: Contraction, compiler: ExpressionCompiler
) -> Update:
    """The closure of lvalue += value or lvalue -= value that is one fma."""
    if contraction.on_left:
        return _old_value_is_product(assign, contraction, compiler)
    if contraction.product is not None:
        factors = _product_factors(contraction.product, compiler)
    else:
        factors = _earlier_factors(contraction, compiler.compile(assign.value))
    compute, target = assign.compute, assign.lvalue.ctype
    assert isinstance(compute, Scalar)
    assert isinstance(target, Scalar)
    minus, fma = assign.operator == "-", fused(compute)

    def update(group: Group, mask: Mask, old: Closure) -> Any:
        x, y = factors(group, mask)
        addend = convert(old(group, mask), compute)
        return convert(fma(negate(x) if minus else x, y, addend), target)

    return update


def _old_value_is_product(
    assign: Assign, contraction: Contraction, compiler: ExpressionCompiler
) -> Update:
    """The closure of lvalue += value where the old value is an earlier product."""
    addend, factors = compiler.compile(assign.value), _earlier_factors(contraction, None)
    target = assign.lvalue.ctype
    assert isinstance(target, Scalar)
    minus, fma = assign.operator == "-", fused(target)

    def update(group: Group, mask: Mask, old: Closure) -> Any:
        z = addend(group, mask)
        old(group, mask)
        x, y = factors(group, mask)
        return convert(fma(x, y, negate(z) if minus else z), target)

    return update


def _product_factors(product: Binary, compiler: ExpressionCompiler) -> Factors:
    """The factors of a product that is evaluated within its sum."""
    left, right = compiler.compile(product.left), compiler.compile(product.right)
    return lambda group, mask: (left(group, mask), right(group, mask))


def _earlier_factors(contraction: Contraction, side: Closure | None) -> Factors:
    """The factors of a product that was evaluated before.

    side is the operand of the sum that it was: a variable that is read, or a call that computes the
    product. None if the caller evaluates it.
    """
    earlier, negated = contraction.earlier, contraction.negated
    assert earlier is not None

    def factors(group: Group, mask: Mask) -> tuple[Any, Any]:
        if side is not None:
            side(group, mask)
        x, y = group.products[earlier]
        return (negate(x) if negated else x), y

    return factors
