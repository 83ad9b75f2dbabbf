"""Which variables are in scope at each statement of a kernel."""

from __future__ import annotations

from typing import assert_never

from simulator.language import tree
from simulator.language.visit import expressions_of, inlined_functions

Variables = tuple[tree.Variable, ...]


def visible_variables(
    body: tree.Statement, parameters: Variables
) -> dict[tree.Statement, Variables]:
    """The variables in scope at each statement of a kernel's body, in the order of declaration.

    A declaration sees its own variable; shared arrays, which all threads see, are not listed.
    """
    found: dict[tree.Statement, Variables] = {}
    _visit(body, parameters, found)
    return found


def _visit(
    statement: tree.Statement, visible: Variables, found: dict[tree.Statement, Variables]
) -> Variables:
    """Note the variables in scope at a statement; returns those in scope after it."""
    for expression in expressions_of(statement):
        for function in inlined_functions(expression):
            _visit(function, visible, found)
    match statement:
        case tree.Declare(variable=variable):
            if variable.space is not tree.MemorySpace.SHARED:
                visible = (*visible, variable)
            found[statement] = visible
        case tree.Sequence(statements=statements, opens_scope=opens_scope):
            inside = visible
            for inner in statements:
                inside = _visit(inner, inside, found)
            if not opens_scope:
                return inside
        case tree.Switch(body=statements):
            found[statement] = inside = visible
            for inner in statements:
                inside = _visit(inner, inside, found)
        case tree.Function(parameters=parameters, body=body, result=result):
            inside = ()
            for parameter in parameters:
                if isinstance(parameter, tree.Declare):
                    found[parameter] = (*visible, *inside, parameter.variable)
                    if parameter.variable.space is not tree.MemorySpace.SHARED:
                        inside = (*inside, parameter.variable)
                else:
                    _visit(parameter, (*visible, *inside), found)
            _visit(body, inside if result is None else (*inside, result), found)
        case tree.If(yes=yes, no=no):
            found[statement] = visible
            _visit(yes, visible, found)
            if no is not None:
                _visit(no, visible, found)
        case tree.Loop(start=start, before_test=before_test, body=body):
            inside = visible if start is None else _visit(start, visible, found)
            inside = inside if before_test is None else _visit(before_test, inside, found)
            found[statement] = inside
            _visit(body, inside, found)
        case tree.Evaluate() | tree.Barrier() | tree.Break() | tree.Continue() | tree.Return():
            found[statement] = visible
        case _:
            assert_never(statement)
    return visible
