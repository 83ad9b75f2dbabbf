"""Walks over the tree: what is directly within a node, and all that is within it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from simulator.language.tree import (
    AddressOf,
    Assign,
    Barrier,
    Binary,
    Break,
    Builtin,
    Call,
    Cast,
    Comma,
    Conditional,
    Continue,
    Declare,
    Dereference,
    Evaluate,
    Expression,
    Function,
    If,
    Increment,
    Index,
    Inlined,
    Literal,
    Load,
    Logical,
    Loop,
    Member,
    MemorySpace,
    Name,
    Return,
    Sequence,
    Statement,
    Switch,
    Unary,
    Variable,
)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly within one, in the order of the text."""
    match expression:
        case Literal() | Builtin() | Name() | Inlined():
            return ()
        case Index(base=first, index=second) | Comma(first=first, second=second):
            return (first, second)
        case Dereference(pointer=only) | Member(base=only) | Load(lvalue=only):
            return (only,)
        case AddressOf(lvalue=only) | Increment(lvalue=only):
            return (only,)
        case Cast(operand=only) | Unary(operand=only):
            return (only,)
        case Binary(left=first, right=second) | Logical(left=first, right=second):
            return (first, second)
        case Conditional(condition=condition, yes=yes, no=no):
            return (condition, yes, no)
        case Assign(lvalue=lvalue, value=value):
            return (lvalue, value)
        case Call(arguments=arguments):
            return arguments
        case _:
            assert_never(expression)


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions that a statement evaluates itself, not those of statements within it."""
    match statement:
        case Declare(value=value, cells=cells):
            return (*((value,) if value is not None else ()), *(cells or ()))
        case Evaluate(expression=expression):
            return (expression,)
        case If(condition=condition):
            return (condition,)
        case Switch(selector=selector):
            return (selector,)
        case Loop(condition=test, advance=advance):
            return tuple(part for part in (test, advance) if part is not None)
        case Barrier() | Sequence() | Break() | Continue() | Return() | Function():
            return ()
        case _:
            assert_never(statement)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all within it, outermost first."""
    yield expression
    for operand in operands(expression):
        yield from subexpressions(operand)


def inner_statements(statement: Statement) -> Iterator[Statement]:
    """The statements directly within one, functions called in its expressions among them."""
    for expression in expressions_of(statement):
        for part in subexpressions(expression):
            if isinstance(part, Inlined):
                yield part.function
    match statement:
        case Sequence(statements=statements) | Switch(body=statements):
            yield from statements
        case Function(parameters=parameters, body=body):
            yield from parameters
            yield body
        case If(yes=yes, no=no):
            yield yes
            if no is not None:
                yield no
        case Loop(start=start, body=body):
            if start is not None:
                yield start
            yield body
        case _:
            pass


def walk(statement: Statement) -> Iterator[Statement]:
    """A statement and all within it, outermost first."""
    yield statement
    for inner in inner_statements(statement):
        yield from walk(inner)


def declared(statement: Statement) -> list[Variable]:
    """Every variable declared within a statement."""
    inside = list(walk(statement))
    variables = [s.variable for s in inside if isinstance(s, Declare)]
    results = [s.result for s in inside if isinstance(s, Function) and s.result is not None]
    return variables + results


def set_in(statement: Statement, known: dict[Statement, set[Variable]]) -> set[Variable]:
    """The variables that a statement declares or sets; known keeps what was found before."""
    found = known.get(statement)
    if found is None:
        found = known[statement] = set()
        if isinstance(statement, Declare):
            found.add(statement.variable)
        for expression in expressions_of(statement):
            found.update(_assigned(expression))
        for inner in inner_statements(statement):
            found |= set_in(inner, known)
    return found


def set_by(expression: Expression, known: dict[Statement, set[Variable]]) -> set[Variable]:
    """The same of an expression; of a function that it calls, what is not the function's own."""
    found = set(_assigned(expression))
    for part in subexpressions(expression):
        if isinstance(part, Inlined):
            found |= set_in(part.function, known).difference(declared(part.function))
    return found


def _assigned(expression: Expression) -> Iterator[Variable]:
    """The variables that an expression sets itself."""
    for part in subexpressions(expression):
        if isinstance(part, (Assign, Increment)) and isinstance(part.lvalue, Name):
            yield part.lvalue.variable


def strip_casts(expression: Expression) -> Expression:
    """An expression without the conversions around it, written or implied."""
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression


def in_register(lvalue: Expression) -> bool:
    """Whether an lvalue is a variable, or a component of one, that has no address."""
    match lvalue:
        case Name(variable=variable):
            return variable.space not in (MemorySpace.SHARED, MemorySpace.LOCAL)
        case Member(base=base):
            return not isinstance(base, (Index, Dereference)) and in_register(base)
        case Index() | Dereference():
            return False
        case _:
            return True  # a value


def is_copy(lvalue: Expression) -> bool:
    """Whether a place is what an asynchronous copy reads."""
    return isinstance(lvalue, Dereference) and lvalue.copied
