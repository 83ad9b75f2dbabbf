"""Takes the calls in which threads wait out of expressions: only a statement can wait."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, get_args

from simulator.frontend.records import assign
from simulator.frontend.types import discarded
from simulator.language import ctype, tree
from simulator.language.errors import Span
from simulator.language.functions import BLOCK_VOTES
from simulator.language.visit import strip_casts, subexpressions
from simulator.language.waiting import waits

EXPRESSIONS = get_args(tree.Expression)
Taken = tuple[list[tree.Statement], tree.Expression]  # statements, and what is evaluated after them
NODES = (*EXPRESSIONS, *get_args(tree.Statement))


def hoist(statement: tree.Statement) -> tree.Statement:
    """v = f(…) where threads wait in f as two statements: the call, then v = its result.

    The same for each statement of a sequence.
    """
    match statement:
        case tree.Sequence(statements=statements):
            return dataclasses.replace(statement, statements=tuple(map(hoist, statements)))
        case _:
            return take_from(statement, hoist_calls)


def take_from(
    statement: tree.Statement, take: Callable[[tree.Expression], Taken]
) -> tree.Statement:
    """A declaration or an expression after the statements that `take` takes out of it."""
    match statement:
        case tree.Declare(value=value) if value is not None:
            before, value = take(value)
            return in_sequence(before, dataclasses.replace(statement, value=value))
        case tree.Declare(cells=cells) if cells:
            taken = [take(cell) for cell in cells]
            before = [call for calls, _ in taken for call in calls]
            values = tuple(value for _, value in taken)
            return in_sequence(before, dataclasses.replace(statement, cells=values))
        case tree.Evaluate(expression=expression):
            before, expression = take(expression)
            match strip_casts(expression):
                case tree.Load(lvalue=tree.Name()) if before:  # nothing takes the call's value
                    return in_sequence(before[:-1], before[-1])
            return in_sequence(before, dataclasses.replace(statement, expression=expression))
        case _:
            return statement


def in_sequence(before: Iterable[tree.Statement], statement: tree.Statement) -> tree.Statement:
    """Statements one after another, in the scope that is there; only the last if there is one."""
    all_ = (*before, statement)
    return tree.Sequence(statement.span, all_, opens_scope=False) if len(all_) > 1 else statement


def hoist_calls(expression: tree.Expression) -> Taken:
    """The calls in an expression in which threads wait, and the expression with their results.

    The order stays as C++17 has it: an assignment evaluates its right side first ([expr.ass]/1),
    and most operators leave open what they evaluate first.
    """
    return take_out(expression, _waits, _hoist_call)


def _hoist_call(expression: tree.Expression) -> Taken | None:
    match expression:
        case tree.Inlined(function=function) if waits(function):
            return [function], result_of(function, expression.span)
        case tree.Call(function=name, arguments=(predicate,)) if name in BLOCK_VOTES:
            before, predicate = hoist_calls(predicate)
            result = tree.Variable(name, ctype.INT, tree.MemorySpace.REGISTER, expression.span)
            vote = tree.BlockVote(name, predicate, result)
            return [*before, tree.Barrier(expression.span, vote)], value_of(result, expression.span)
        case _:
            return None


def take_out(
    expression: tree.Expression,
    has_call: Callable[[tree.Expression], bool],
    take_call: Callable[[tree.Expression], Taken | None],
) -> Taken:
    """Some calls in an expression as statements before it, and the expression with their results.

    has_call says whether there are any in an expression; take_call gives what becomes of one that
    is such a call, None for others. What &&, || and ?: may skip is in the branches of an if.
    """

    def take(part: tree.Expression) -> Taken:
        if not has_call(part):
            return [], part
        taken = take_call(part)
        if taken is not None:
            return taken
        match part:
            case tree.Logical():
                return _taken_logical(part, take(part.left), take(part.right))
            case tree.Conditional():
                return _taken_choice(part, take(part.condition), take(part.yes), take(part.no))
            case tree.Comma(first=first, second=second, span=span):
                before, value = take(first)
                after, result = take(second)
                return [*before, tree.Evaluate(span, value), *after], result
            case _:
                pass
        calls: list[tree.Statement] = []

        def take_part(inner: tree.Expression) -> tree.Expression:
            before, value = take(inner)
            calls.extend(before)
            return value

        changed = rebuild(part, take_part)
        return calls, changed

    return take(expression)


def _taken_logical(expression: tree.Logical, left: Taken, right: Taken) -> Taken:
    """bool r = left; if (r) r = right; for an &&, with !r for an ||."""
    span = expression.span
    if not right[0]:
        return left[0], dataclasses.replace(expression, left=left[1], right=right[1])
    result = tree.Variable(expression.operator, ctype.BOOL, tree.MemorySpace.REGISTER, span)
    test: tree.Expression = value_of(result, span)
    if expression.operator == "||":
        test = tree.Unary(ctype.BOOL, span, "!", test)
    branch = tree.If(span, test, _assigned(result, right, span), None)
    return [*left[0], tree.Declare(span, result, left[1]), branch], value_of(result, span)


def _taken_choice(expression: tree.Conditional, condition: Taken, yes: Taken, no: Taken) -> Taken:
    """T r; if (condition) r = yes; else r = no; for a ?: with calls in a side."""
    span, before = expression.span, condition[0]
    if not yes[0] and not no[0]:
        return before, dataclasses.replace(expression, condition=condition[1])
    if isinstance(expression.ctype, ctype.Void):
        sides = [
            tree.Sequence(span, (*calls, tree.Evaluate(span, value))) for calls, value in (yes, no)
        ]
        return [*before, tree.If(span, condition[1], *sides)], discarded(None, span)
    result = tree.Variable("?:", expression.ctype, tree.MemorySpace.REGISTER, span)
    sides = [_assigned(result, side, span) for side in (yes, no)]
    branch = tree.If(span, condition[1], *sides)
    return [*before, tree.Declare(span, result), branch], value_of(result, span)


def _assigned(result: tree.Variable, taken: Taken, span: Span) -> tree.Sequence:
    """Calls, and the assignment of what they give to a variable."""
    calls, value = taken
    return tree.Sequence(span, (*calls, assign(tree.Name(result.ctype, span, result), value, span)))


def rebuild(
    expression: tree.Expression, change: Callable[[tree.Expression], tree.Expression]
) -> tree.Expression:
    """An expression whose direct parts are changed, in the order of its fields."""

    def changed(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(changed, part))
        return change(part) if isinstance(part, EXPRESSIONS) else part

    fields = {f.name: changed(getattr(expression, f.name)) for f in dataclasses.fields(expression)}
    return dataclasses.replace(expression, **fields)


def relocate(node: Any, span: Span) -> Any:
    """A statement or expression as if all of it stood at a place of the text."""
    if isinstance(node, tuple):
        return tuple(relocate(part, span) for part in node)
    if not isinstance(node, NODES):
        return node
    fields = {f.name: relocate(getattr(node, f.name), span) for f in dataclasses.fields(node)}
    return dataclasses.replace(node, **fields | {"span": span})


def _waits(expression: tree.Expression) -> bool:
    """Whether threads wait for others in a function that an expression calls."""
    return any(
        (isinstance(inner, tree.Call) and inner.function in BLOCK_VOTES)
        or (isinstance(inner, tree.Inlined) and waits(inner.function))
        for inner in subexpressions(expression)
    )


def result_of(function: tree.Function, span: Span) -> tree.Expression:
    """What a call as a statement has given."""
    if function.result is None:
        return discarded(None, span)
    return value_of(function.result, span)


def value_of(variable: tree.Variable, span: Span) -> tree.Load:
    """The load of a variable."""
    return tree.Load(variable.ctype, span, tree.Name(variable.ctype, span, variable))
