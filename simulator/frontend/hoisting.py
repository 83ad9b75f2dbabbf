"""Takes the calls in which threads wait out of expressions: only a statement can wait."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, get_args

from simulator.language import ctype
from simulator.language.errors import SourceError, Span
from simulator.language.functions import BLOCK_VOTES
from simulator.language.tree import (
    Barrier,
    BlockVote,
    Call,
    Comma,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    Function,
    Inlined,
    Load,
    Logical,
    MemorySpace,
    Name,
    Sequence,
    Statement,
    Variable,
)
from simulator.language.visit import operands, strip_casts, subexpressions
from simulator.language.waiting import waits

EXPRESSIONS = get_args(Expression)
NODES = (*EXPRESSIONS, *get_args(Statement))


def hoist(statement: Statement) -> Statement:
    """v = f(…) where threads wait in f as two statements: the call, then v = its result.

    The same for each statement of a sequence.
    """
    match statement:
        case Sequence(statements=statements):
            return dataclasses.replace(statement, statements=tuple(map(hoist, statements)))
        case Declare(value=value) if value is not None:
            before, value = hoist_calls(value)
            return behind(before, dataclasses.replace(statement, value=value))
        case Declare(cells=cells) if cells:
            taken = [hoist_calls(cell) for cell in cells]
            before = [call for calls, _ in taken for call in calls]
            values = tuple(value for _, value in taken)
            return behind(before, dataclasses.replace(statement, cells=values))
        case Evaluate(expression=expression):
            before, expression = hoist_calls(expression)
            match strip_casts(expression):
                case Load(lvalue=Name()) if before:  # nothing takes the call's value
                    return behind(before[:-1], before[-1])
            return behind(before, dataclasses.replace(statement, expression=expression))
        case _:
            return statement


def behind(before: Iterable[Statement], statement: Statement) -> Statement:
    """Statements one after another, in the scope that is there; only the last if there is one."""
    all_ = (*before, statement)
    return Sequence(statement.span, all_, opens_scope=False) if len(all_) > 1 else statement


def hoist_calls(expression: Expression) -> tuple[list[Statement], Expression]:
    """The calls in an expression in which threads wait, and the expression with their results.

    The order stays as C++17 has it: an assignment evaluates its right side first ([expr.ass]/1),
    and most operators leave open what they evaluate first. Raises SourceError for a call that
    the expression may skip, or that is to follow another part of it.
    """
    if not _waiting_call(expression):
        return [], expression
    match expression:
        case Inlined(function=Function(result=result) as function) if result and waits(function):
            return [function], value_of(result, expression.span)
        case Call(function=name, arguments=(predicate,)) if name in BLOCK_VOTES:
            before, predicate = hoist_calls(predicate)
            result = Variable(name, ctype.INT, MemorySpace.REGISTER, expression.span)
            vote = BlockVote(name, predicate, result)
            return [*before, Barrier(expression.span, vote)], value_of(result, expression.span)
        case Logical() | Conditional() | Comma():
            for later in operands(expression)[1:]:
                name = _waiting_call(later)
                if name:
                    raise SourceError(
                        f"Threads wait in {name} for others: call it in a statement of its own, "
                        "before this one.",
                        later.span,
                    )
        case _:
            pass
    calls: list[Statement] = []

    def take(part: Expression) -> Expression:
        before, value = hoist_calls(part)
        calls.extend(before)
        return value

    return calls, rebuild(expression, take)


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
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


def _waiting_call(expression: Expression) -> str:
    """The name of the first function in an expression in which threads wait; "" for none."""
    for inner in subexpressions(expression):
        if isinstance(inner, Call) and inner.function in BLOCK_VOTES:
            return inner.function
        if isinstance(inner, Inlined) and waits(inner.function):
            return inner.function.name
    return ""


def value_of(variable: Variable, span: Span) -> Load:
    """The load of a variable."""
    return Load(variable.ctype, span, Name(variable.ctype, span, variable))
