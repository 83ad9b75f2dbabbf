"""Loops that take steps of a whole grid: any grid covers an array, and a small one shows more."""

from __future__ import annotations

from simulator.language.tree import (
    Assign,
    Builtin,
    Declare,
    Expression,
    Kernel,
    Loop,
    Name,
    Variable,
)
from simulator.language.visit import expressions_within, subexpressions, walk

ROUNDS = 2  # of such a loop, where a launch is chosen: fewer would not show its step


def rounds(kernel: Kernel) -> tuple[int, int, int]:
    """How often a block takes its part of an array, in x, y and z: 1 without such a loop."""
    strided = _strided_axes(kernel)
    x, y, z = (ROUNDS if axis in strided else 1 for axis in "xyz")
    return x, y, z


def _strided_axes(kernel: Kernel) -> set[str]:
    """The axes along which a loop steps by a grid, as in `i += gridDim.x * blockDim.x`.

    A step may be a variable that is declared so.
    """
    values = {one.variable: one.value for one in walk(kernel.body)
              if isinstance(one, Declare) and one.value is not None}  # fmt: skip

    def axes(step: Expression) -> set[str]:
        parts = [step, *(values[one] for one in _names(step) if one in values)]
        return {one.axis for part in parts for one in subexpressions(part)
                if isinstance(one, Builtin) and one.name == "gridDim"}  # fmt: skip

    return {
        axis
        for loop in walk(kernel.body) if isinstance(loop, Loop) and loop.condition is not None
        for counter in _names(loop.condition)
        for one in expressions_within(loop)
        if isinstance(one, Assign) and one.operator == "+" and counter in _names(one.lvalue)
        for axis in axes(one.value)
    }  # fmt: skip


def _names(expression: Expression) -> set[Variable]:
    return {one.variable for one in subexpressions(expression) if isinstance(one, Name)}
