"""Contracted sums as closures: a*b + c with one rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.language.ctype import Scalar, convert
from simulator.language.tree import Assign, Binary, Contraction, Expression
from simulator.machine.addresses import Closure
from simulator.machine.arithmetic import fma
from simulator.machine.group import Group, Mask

Update = Callable[[Group, Mask, Closure], Any]


def _factors(
    contraction: Contraction, side: Closure | None, compile_value: Callable[[Expression], Closure]
) -> Callable[[Group, Mask], tuple[Any, Any]]:
    """The closure that gives a product's two factors."""
    if contraction.product is not None:
        a, b = compile_value(contraction.product.left), compile_value(contraction.product.right)
        return lambda group, mask: (a(group, mask), b(group, mask))
    earlier, minus = contraction.earlier, contraction.negated
    assert earlier is not None

    def remembered(group: Group, mask: Mask) -> tuple[Any, Any]:
        if side is not None:
            side(group, mask)  # a call runs here, a variable is read
        x, y = group.products[earlier]
        return (-x if minus else x), y

    return remembered


def remembered_product(earlier: Expression, left: Closure, right: Closure) -> Closure:
    """The closure of a product that a later sum takes the factors of."""

    def product(group: Group, mask: Mask) -> Any:
        x, y = left(group, mask), right(group, mask)
        group.products[earlier] = (x, y)
        return x * y

    return product


def contracted_sum(
    sum_: Binary, contraction: Contraction, compile_value: Callable[[Expression], Closure]
) -> Closure:
    """The closure of a sum or difference that is one fma."""
    side, other = (sum_.left, sum_.right) if contraction.on_left else (sum_.right, sum_.left)
    factors = _factors(
        contraction, None if contraction.product is not None else compile_value(side), compile_value
    )
    addend = compile_value(other)
    minus = sum_.operator == "-"

    def value(group: Group, mask: Mask) -> Any:
        x, y = factors(group, mask)
        z = addend(group, mask)
        if minus and contraction.on_left:
            return fma(x, y, -z)
        return fma(-x if minus else x, y, z)

    return value


def contracted_update(
    assign: Assign, contraction: Contraction, compile_value: Callable[[Expression], Closure]
) -> Update:
    """The same for place += value and place -= value, given a closure for the old value."""
    compute, target = assign.compute, assign.lvalue.ctype
    assert isinstance(compute, Scalar)
    assert isinstance(target, Scalar)
    value = None if contraction.product is not None else compile_value(assign.value)
    factors = _factors(contraction, None if contraction.on_left else value, compile_value)
    minus = assign.operator == "-"

    def update(group: Group, mask: Mask, old: Closure) -> Any:
        if contraction.on_left:  # the old value is the product
            assert value is not None
            z = value(group, mask)
            old(group, mask)
            x, y = factors(group, mask)
            return convert(fma(x, y, -z if minus else z), target)
        x, y = factors(group, mask)
        before = convert(old(group, mask), compute)
        return convert(fma(-x if minus else x, y, before), target)

    return update
