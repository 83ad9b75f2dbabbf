"""Takes warp functions out of expressions in the branches of an if that may meet there.

Since Volta, lanes that are in both branches of an if take part in one shuffle, vote or
__syncwarp() together where each branch calls it with the same mask. Only a statement can wait for
another branch, so such a call becomes one: int w = v + __shfl_sync(m, v, 0) is done in two.
"""

from __future__ import annotations

import dataclasses

from simulator.frontend.hoisting import Taken, in_sequence, result_of, take_from, take_out, value_of
from simulator.language import tree
from simulator.language.functions import MEETING_FUNCTIONS
from simulator.language.visit import calls, expressions_of, inlined_functions, subexpressions, walk


def separate_calls(body: tree.Sequence) -> tree.Sequence:
    """A kernel's body in which branches that may meet call warp functions in statements."""
    if not any(_may_meet(each) or _has_choice_that_meets(each) for each in walk(body)):
        return body
    statements = tuple(_statement(inner, False) for inner in body.statements)
    return dataclasses.replace(body, statements=statements)


def _may_meet(statement: tree.Statement) -> bool:
    """Whether a statement is an if of which either branch calls a warp function that waits."""
    return (
        isinstance(statement, tree.If)
        and statement.no is not None
        and calls(statement.yes, MEETING_FUNCTIONS)
        and calls(statement.no, MEETING_FUNCTIONS)
    )


def _statement(statement: tree.Statement, within: bool) -> tree.Statement:
    """A statement with its calls in statements of their own; within such a branch, or not."""
    match statement:
        case tree.If(yes=yes, no=no):
            before, condition = _take(statement.condition, within)
            within = within or _may_meet(statement)
            no = None if no is None else _statement(no, within)
            changed = tree.If(statement.span, condition, _statement(yes, within), no)
            return in_sequence(before, changed)
        case tree.Sequence(statements=statements):
            inner = tuple(_statement(each, within) for each in statements)
            return dataclasses.replace(statement, statements=inner)
        case tree.Switch(body=body):
            before, selector = _take(statement.selector, within)
            inner = tuple(_statement(each, within) for each in body)
            changed_switch = dataclasses.replace(statement, selector=selector, body=inner)
            return in_sequence(before, changed_switch)
        case tree.Loop():
            return _loop(statement, within)
        case tree.Function():
            return _function(statement, within)
        case tree.Declare(value=value) if value is not None and _is_meeting(value):
            return statement
        case tree.Evaluate(expression=expression) if _is_meeting(expression):
            return statement
        case _:
            return take_from(statement, lambda expression: _take(expression, within))


def _is_meeting(expression: tree.Expression) -> bool:
    """Whether an expression is such a call, whose arguments have none."""
    return (
        isinstance(expression, tree.Call)
        and expression.function in MEETING_FUNCTIONS
        and not any(_has_call(argument) for argument in expression.arguments)
    )


def _has_call(expression: tree.Expression) -> bool:
    """Whether an expression, or a function that it calls, calls a warp function that waits."""
    return calls(tree.Evaluate(expression.span, expression), MEETING_FUNCTIONS)


def _loop(loop: tree.Loop, within: bool) -> tree.Loop:
    before, condition = ([], None) if loop.condition is None else _take(loop.condition, within)
    inner = [] if loop.before_test is None else [_statement(loop.before_test, within)]
    prepare = [*inner, *before]
    return dataclasses.replace(
        loop,
        start=None if loop.start is None else _statement(loop.start, within),
        condition=condition,
        body=_statement(loop.body, within),
        before_test=tree.Sequence(loop.span, tuple(prepare), opens_scope=False)
        if prepare
        else None,
    )


def _function(function: tree.Function, within: bool) -> tree.Function:
    body = _statement(function.body, within)
    assert isinstance(body, tree.Sequence)
    parameters = tuple(_statement(each, within) for each in function.parameters)
    return dataclasses.replace(function, parameters=parameters, body=body)


def _take(expression: tree.Expression, within: bool) -> Taken:
    """The calls in an expression as statements, and the expression with their results."""

    def take_call(part: tree.Expression) -> Taken | None:
        match part:
            case tree.Inlined(function=function):
                return [_function(function, within)], result_of(function, part.span)
            case tree.Call(function=name, arguments=arguments) if (
                within and name in MEETING_FUNCTIONS
            ):
                taken = [_take(argument, within) for argument in arguments]
                before = [statement for statements, _ in taken for statement in statements]
                changed = dataclasses.replace(part, arguments=tuple(value for _, value in taken))
                result = tree.Variable(name, part.ctype, tree.MemorySpace.REGISTER, part.span)
                declared = tree.Declare(part.span, result, changed)
                return [*before, declared], value_of(result, part.span)
            case tree.Conditional() if not within and _is_choice_that_meets(part):
                return _take(part, True)
            case _:
                return None

    return take_out(expression, _has_call if within else _meets, take_call)


def _meets(expression: tree.Expression) -> bool:
    """Whether branches meet within an expression: in a function that it calls, or in a ?:."""
    return any(map(_is_choice_that_meets, subexpressions(expression))) or any(
        _may_meet(inner) or _has_choice_that_meets(inner)
        for function in inlined_functions(expression)
        for inner in walk(function)
    )


def _is_choice_that_meets(expression: tree.Expression) -> bool:
    """Whether an expression is a ?: of which either side calls a warp function that waits."""
    return (
        isinstance(expression, tree.Conditional)
        and _has_call(expression.yes)
        and _has_call(expression.no)
    )


def _has_choice_that_meets(statement: tree.Statement) -> bool:
    return any(
        _is_choice_that_meets(inner)
        for whole in expressions_of(statement)
        for inner in subexpressions(whole)
    )
