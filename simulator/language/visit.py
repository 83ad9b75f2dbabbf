"""Walks over the tree: a node's direct children, all its descendants, what they assign."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from simulator.language import tree

T = TypeVar("T")


def operands(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    """An expression's direct subexpressions, in the order of the text.

    The body of an inlined function is no operand: inner_statements has it.
    """
    match expression:
        case tree.Load(lvalue=only) | tree.Cast(operand=only):  # the most frequent come first
            return (only,)
        case tree.Name() | tree.Literal() | tree.Builtin() | tree.Inlined():
            return ()
        case tree.Binary(left=first, right=second) | tree.Logical(left=first, right=second):
            return (first, second)
        case tree.Index(base=first, index=second) | tree.Comma(first=first, second=second):
            return (first, second)
        case tree.Assign(lvalue=lvalue, value=value):
            return (lvalue, value)
        case tree.Call(arguments=arguments):
            return arguments
        case tree.Conditional(condition=condition, yes=yes, no=no):
            return (condition, yes, no)
        case (
            tree.Dereference(pointer=only)
            | tree.Member(base=only)
            | tree.FieldOf(base=only)
            | tree.Unary(operand=only)
        ):
            return (only,)
        case tree.AddressOf(lvalue=only) | tree.Increment(lvalue=only):
            return (only,)
        case _:
            assert_never(expression)


def expressions_of(statement: tree.Statement) -> tuple[tree.Expression, ...]:
    """The expressions that a statement evaluates, without those of statements nested in it."""
    match statement:
        case tree.Declare(value=value, cells=cells):
            return (*((value,) if value is not None else ()), *(cells or ()))
        case tree.Evaluate(expression=expression):
            return (expression,)
        case tree.If(condition=condition):
            return (condition,)
        case tree.Switch(selector=selector):
            return (selector,)
        case tree.Loop(condition=test, advance=advance):
            return tuple(expression for expression in (test, advance) if expression is not None)
        case tree.Barrier(vote=tree.BlockVote(predicate=predicate)):
            return (predicate,)
        case (
            tree.Barrier()
            | tree.Sequence()
            | tree.Break()
            | tree.Continue()
            | tree.Return()
            | tree.Function()
        ):
            return ()
        case _:
            assert_never(statement)


def subexpressions(expression: tree.Expression) -> Iterator[tree.Expression]:
    """An expression and all its subexpressions, outermost first."""
    waiting = [expression]
    while waiting:
        next_one = waiting.pop()
        yield next_one
        waiting.extend(reversed(operands(next_one)))


@functools.lru_cache(maxsize=4096)  # each launch of a kernel asks for the same ones several times
def inner_statements(statement: tree.Statement) -> tuple[tree.Statement, ...]:
    """The statements nested directly in one, with the functions that its expressions call."""
    return tuple(_inner_statements(statement))


def _inner_statements(statement: tree.Statement) -> Iterator[tree.Statement]:
    for expression in expressions_of(statement):
        yield from inlined_functions(expression)
    match statement:
        case tree.Sequence(statements=statements) | tree.Switch(body=statements):
            yield from statements
        case tree.Function(parameters=parameters, body=body):
            yield from parameters
            yield body
        case tree.If(yes=yes, no=no):
            yield yes
            if no is not None:
                yield no
        case tree.Loop(start=start, before_test=before_test, body=body):
            if start is not None:
                yield start
            if before_test is not None:
                yield before_test
            yield body
        case (
            tree.Declare()
            | tree.Evaluate()
            | tree.Barrier()
            | tree.Break()
            | tree.Continue()
            | tree.Return()
        ):
            pass
        case _:
            assert_never(statement)


def inlined_functions(expression: tree.Expression) -> Iterator[tree.Function]:
    """The __device__ functions that an expression calls, without those that these call."""
    for inner in subexpressions(expression):
        if isinstance(inner, tree.Inlined):
            yield inner.function


def walk(statement: tree.Statement) -> Iterator[tree.Statement]:
    """A statement and all statements nested in it, outermost first."""
    yield statement
    for inner in inner_statements(statement):
        yield from walk(inner)


@functools.lru_cache(maxsize=64)  # of whole kernels, mostly
def expressions_within(statement: tree.Statement) -> tuple[tree.Expression, ...]:
    """Every expression of a statement and of those in it, also in functions that it calls."""
    return tuple(
        expression
        for inner in walk(statement)
        for root in expressions_of(inner)
        for expression in subexpressions(root)
    )


def calls_of(statement: tree.Statement, functions: Collection[str]) -> Iterator[tree.Call]:
    """Where a statement, or a function that it calls, calls any of CUDA's functions given."""
    for expression in expressions_within(statement):
        if isinstance(expression, tree.Call) and expression.function in functions:
            yield expression


def calls(statement: tree.Statement, functions: Collection[str]) -> bool:
    """Whether it calls any of them."""
    return any(True for _ in calls_of(statement, functions))


def declared_variables(statement: tree.Statement) -> list[tree.Variable]:
    """Every variable declared within a statement, and the variables of functions' results."""
    statements = list(walk(statement))
    variables = [v for s in statements if (v := defined_variable(s)) is not None]
    results = [
        s.result for s in statements if isinstance(s, tree.Function) and s.result is not None
    ]
    return variables + results


def defined_variable(statement: tree.Statement) -> tree.Variable | None:
    """The variable that a statement, without its expressions, gives a value; None for most."""
    match statement:
        case tree.Declare(variable=variable) | tree.Barrier(vote=tree.BlockVote(result=variable)):
            return variable
        case _:
            return None


@dataclass(slots=True)
class AssignedVariables:
    """Finds the variables that statements and expressions assign; remembers those of statements."""

    _of: dict[tree.Statement, frozenset[tree.Variable]] = field(default_factory=dict)

    def in_statement(self, statement: tree.Statement) -> frozenset[tree.Variable]:
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

    def in_expression(self, expression: tree.Expression) -> set[tree.Variable]:
        """The variables that an expression assigns, without local variables of its functions."""
        found = set(_directly_assigned(expression))
        for function in inlined_functions(expression):
            found |= self.in_statement(function).difference(declared_variables(function))
        return found


def _directly_assigned(expression: tree.Expression) -> Iterator[tree.Variable]:
    """The variables that an expression assigns outside the functions that it calls."""
    for inner in subexpressions(expression):
        if isinstance(inner, (tree.Assign, tree.Increment)) and isinstance(inner.lvalue, tree.Name):
            yield inner.lvalue.variable


def strip_casts(expression: tree.Expression) -> tree.Expression:
    """An expression without the conversions around it, explicit or implicit."""
    while isinstance(expression, tree.Cast):
        expression = expression.operand
    return expression


def read_variable(expression: tree.Expression) -> tree.Variable | None:
    """The variable whose value an expression is, apart from conversions; None for any other."""
    match strip_casts(expression):
        case tree.Load(lvalue=tree.Name(variable=variable)):
            return variable
        case _:
            return None


def in_register(lvalue: tree.Expression) -> bool:
    """Whether an lvalue is a variable in a register, or a component of one: it has no address."""
    match lvalue:
        case tree.Name(variable=variable):
            return variable.in_register
        case tree.Member(base=base):
            return not isinstance(base, (tree.Index, tree.Dereference)) and in_register(base)
        case tree.Index() | tree.Dereference() | tree.FieldOf():
            return False
        case _:
            return True  # an expression's value


def is_copy(lvalue: tree.Expression) -> bool:
    """Whether an lvalue is the source of an asynchronous copy."""
    return isinstance(lvalue, tree.Dereference) and lvalue.copied


def sources_of(sources: Mapping[T, Iterable[T]], first: Iterable[T]) -> set[T]:
    """Some values or instructions, and all that they come from: their sources, and so on.

    sources gives each value the ones it is computed from, or each instruction those before it.
    """
    found: set[T] = set()
    left = list(first)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += sources.get(one, ())
    return found
