"""Walks over the tree: a node's direct children, all its descendants, what they assign."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from simulator.language.tree import (
    AddressOf,
    Assign,
    Barrier,
    Binary,
    BlockVote,
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
    FieldOf,
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
    Name,
    Return,
    Sequence,
    Statement,
    Switch,
    Unary,
    Variable,
)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """An expression's direct subexpressions, in the order of the text.

    The body of an inlined function is no operand: inner_statements has it.
    """
    match expression:
        case Literal() | Builtin() | Name() | Inlined():
            return ()
        case Index(base=first, index=second) | Comma(first=first, second=second):
            return (first, second)
        case Dereference(pointer=only) | Member(base=only) | FieldOf(base=only) | Load(lvalue=only):
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
    """The expressions that a statement evaluates, without those of statements nested in it."""
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
            return tuple(expression for expression in (test, advance) if expression is not None)
        case Barrier(vote=BlockVote(predicate=predicate)):
            return (predicate,)
        case Barrier() | Sequence() | Break() | Continue() | Return() | Function():
            return ()
        case _:
            assert_never(statement)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all its subexpressions, outermost first."""
    yield expression
    for operand in operands(expression):
        yield from subexpressions(operand)


def inner_statements(statement: Statement) -> Iterator[Statement]:
    """The statements nested directly in one, with the functions that its expressions call."""
    for expression in expressions_of(statement):
        yield from inlined_functions(expression)
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
        case Loop(start=start, before_test=before_test, body=body):
            if start is not None:
                yield start
            if before_test is not None:
                yield before_test
            yield body
        case Declare() | Evaluate() | Barrier() | Break() | Continue() | Return():
            pass
        case _:
            assert_never(statement)


def inlined_functions(expression: Expression) -> Iterator[Function]:
    """The __device__ functions that an expression calls, without those that these call."""
    for inner in subexpressions(expression):
        if isinstance(inner, Inlined):
            yield inner.function


def walk(statement: Statement) -> Iterator[Statement]:
    """A statement and all statements nested in it, outermost first."""
    yield statement
    for inner in inner_statements(statement):
        yield from walk(inner)


def expressions_within(statement: Statement) -> Iterator[Expression]:
    """Every expression of a statement and of those in it, also in functions that it calls."""
    for inner in walk(statement):
        for root in expressions_of(inner):
            yield from subexpressions(root)


def calls_of(statement: Statement, functions: Collection[str]) -> Iterator[Call]:
    """Where a statement, or a function that it calls, calls any of CUDA's functions given."""
    for expression in expressions_within(statement):
        if isinstance(expression, Call) and expression.function in functions:
            yield expression


def calls(statement: Statement, functions: Collection[str]) -> bool:
    """Whether it calls any of them."""
    return any(True for _ in calls_of(statement, functions))


def declared_variables(statement: Statement) -> list[Variable]:
    """Every variable declared within a statement, and the variables of functions' results."""
    statements = list(walk(statement))
    variables = [v for s in statements if (v := defined_variable(s)) is not None]
    results = [s.result for s in statements if isinstance(s, Function) and s.result is not None]
    return variables + results


def defined_variable(statement: Statement) -> Variable | None:
    """The variable that a statement, without its expressions, gives a value; None for most."""
    match statement:
        case Declare(variable=variable) | Barrier(vote=BlockVote(result=variable)):
            return variable
        case _:
            return None


@dataclass(slots=True)
class AssignedVariables:
    """Finds the variables that statements and expressions assign; remembers those of statements."""

    _of: dict[Statement, frozenset[Variable]] = field(default_factory=dict)

    def in_statement(self, statement: Statement) -> frozenset[Variable]:
        """The variables that a statement, or one nested in it, declares or assigns."""
        if statement not in self._of:
            variable = defined_variable(statement)
            found = set() if variable is None else {variable}
            for expression in expressions_of(statement):
                found.update(_directly_assigned(expression))
            for inner in inner_statements(statement):
                found |= self.in_statement(inner)
            self._of[statement] = frozenset(found)
        return self._of[statement]

    def in_expression(self, expression: Expression) -> set[Variable]:
        """The variables that an expression assigns, without local variables of its functions."""
        found = set(_directly_assigned(expression))
        for function in inlined_functions(expression):
            found |= self.in_statement(function).difference(declared_variables(function))
        return found


def _directly_assigned(expression: Expression) -> Iterator[Variable]:
    """The variables that an expression assigns outside the functions that it calls."""
    for inner in subexpressions(expression):
        if isinstance(inner, (Assign, Increment)) and isinstance(inner.lvalue, Name):
            yield inner.lvalue.variable


def strip_casts(expression: Expression) -> Expression:
    """An expression without the conversions around it, explicit or implicit."""
    while isinstance(expression, Cast):
        expression = expression.operand
    return expression


def in_register(lvalue: Expression) -> bool:
    """Whether an lvalue is a variable in a register, or a component of one: it has no address."""
    match lvalue:
        case Name(variable=variable):
            return variable.in_register
        case Member(base=base):
            return not isinstance(base, (Index, Dereference)) and in_register(base)
        case Index() | Dereference() | FieldOf():
            return False
        case _:
            return True  # an expression's value


def is_copy(lvalue: Expression) -> bool:
    """Whether an lvalue is the source of an asynchronous copy."""
    return isinstance(lvalue, Dereference) and lvalue.copied
