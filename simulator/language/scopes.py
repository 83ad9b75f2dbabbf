"""Which variables each statement of a kernel can see."""

from __future__ import annotations

from simulator.language.tree import (
    Declare,
    Function,
    If,
    Inlined,
    Loop,
    MemorySpace,
    Sequence,
    Statement,
    Switch,
    Variable,
)
from simulator.language.visit import expressions_of, subexpressions


def scopes(
    statement: Statement,
    visible: tuple[Variable, ...],
    found: dict[Statement, tuple[Variable, ...]],
) -> tuple[Variable, ...]:
    """Note the variables each statement can see; gives those that the next one can."""
    for expression in expressions_of(statement):
        for part in subexpressions(expression):
            if isinstance(part, Inlined):
                scopes(part.function, visible, found)
    match statement:
        case Declare(variable=variable):
            if variable.space is not MemorySpace.SHARED:
                visible = (*visible, variable)
            found[statement] = visible
        case Sequence(statements=statements):
            inner = visible
            for one in statements:
                inner = scopes(one, inner, found)
            if all(isinstance(one, (Declare, Function)) for one in statements):
                return inner  # int a = f(), b; declares in the scope around it
        case Switch(body=statements):
            found[statement] = inner = visible
            for one in statements:
                inner = scopes(one, inner, found)
        case Function(parameters=parameters, body=body, result=result):
            inner = tuple(p.variable for p in parameters)
            for parameter in parameters:
                found[parameter] = (*visible, parameter.variable)
            scopes(body, inner if result is None else (*inner, result), found)
        case If(yes=yes, no=no):
            found[statement] = visible
            scopes(yes, visible, found)
            if no is not None:
                scopes(no, visible, found)
        case Loop(start=start, body=body):
            inner = visible if start is None else scopes(start, visible, found)
            found[statement] = inner
            scopes(body, inner, found)
        case _:
            found[statement] = visible
    return visible
