"""Loops whose loads can be made ahead: a counter alone says how often and what they read.

Such a loop counts to a bound that does not change, nothing leaves it or is stored to memory in it,
and each of its iterations makes the same loads, from addresses that the counter moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from simulator.language import tree
from simulator.language.ctype import Pointer, Scalar, Vector
from simulator.language.functions import ARITHMETIC_FUNCTIONS
from simulator.language.visit import (
    AssignedVariables,
    expressions_within,
    in_register,
    read_variable,
    strip_casts,
    subexpressions,
)

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True, eq=False)
class CountedLoop:
    """A loop whose iterations are known when it begins, and the loads that each of them makes."""

    counter: tree.Variable
    step: int  # added to the counter by an iteration, not 0
    operator: str  # the loop goes on while the counter is <, <=, > or >= the bound
    types: tuple[Scalar, ...]  # those that the counter's values must fit, not to wrap
    bound: tree.Expression
    loads: tuple[tree.Load, ...]  # of memory, in the order in which an iteration makes them
    variables: frozenset[tree.Variable]  # what it reads and does not declare, without arrays

    def iterations(self, first: int, bound: int) -> int | None:
        """How often it repeats from the counter's first value; None if the counter would wrap.

        >>> from simulator import compile_kernel
        >>> kernel = compile_kernel(
        ...     "__global__ void k(float* x, float s) { for (int i = 9; i > 2; i -= 3) s += x[i]; }"
        ... )
        >>> loop = kernel.body.statements[0]
        >>> counted_loop(loop, kernel.contractions).iterations(9, 2)
        3
        """
        distance = bound - first if self.step > 0 else first - bound
        if self.operator in ("<=", ">="):
            distance += 1
        count = max(0, -(-distance // abs(self.step)))
        last = first + count * self.step
        for ctype in self.types:
            limits = np.iinfo(ctype.dtype)
            if not (limits.min <= min(first, last) and max(first, last) <= limits.max):
                return None
        return count


def counted_loop(loop: tree.Loop, contractions: tree.Contractions) -> CountedLoop | None:
    """A loop as a counted one, or None if it is none or makes no loads."""
    advance, condition = loop.advance, loop.condition
    if not loop.test_first or loop.before_test is not None or condition is None or advance is None:
        return None
    counting = _step(advance)
    if counting is None:
        return None
    counter, step = counting
    test = strip_casts(condition)
    if not isinstance(test, tree.Binary) or test.operator not in MIRRORED:
        return None
    left, right, operator = test.left, test.right, test.operator
    if read_variable(left) is not counter:
        left, right, operator = right, left, MIRRORED[operator]
    types = _integer_types(left)
    if read_variable(left) is not counter or types is None:
        return None
    if (step > 0) != (operator in ("<", "<=")):
        return None
    assigned = AssignedVariables().in_statement(loop.body)
    if counter in assigned or not _is_fixed(right, assigned | {counter}):
        return None
    body = _Body(counter, assigned, contractions)
    if not body.takes(loop.body, always=True) or not body.loads:
        return None
    read = {*_variables(expressions_within(loop.body)), *_variables(subexpressions(right)), counter}
    return CountedLoop(
        counter=counter,
        step=step,
        operator=operator,
        types=types,
        bound=right,
        loads=tuple(body.loads),
        variables=frozenset(read - body.declared),
    )


def _step(advance: tree.Expression) -> tuple[tree.Variable, int] | None:
    """The counter of a loop's third clause, and by how much it moves; None for other clauses."""
    match strip_casts(advance):
        case tree.Increment(lvalue=tree.Name(variable=variable, ctype=Scalar()), delta=delta):
            step = delta
        case tree.Assign(
            lvalue=tree.Name(variable=variable, ctype=Scalar()),
            operator="+" | "-" as sign,
            value=value,
        ):
            amount = strip_casts(value)
            if not isinstance(amount, tree.Literal) or not amount.ctype.is_integer:
                return None
            step = int(amount.value) if sign == "+" else -int(amount.value)
        case _:
            return None
    is_counter = variable.in_register and isinstance(variable.ctype, Scalar) and step != 0
    return (variable, step) if is_counter and _is_whole(variable.ctype) else None


def _is_whole(ctype: object) -> bool:
    return isinstance(ctype, Scalar) and ctype.dtype.kind in "iu"


def _integer_types(expression: tree.Expression) -> tuple[Scalar, ...] | None:
    """The types that a converted variable passes through; None unless all are integers."""
    types = [expression.ctype]
    while isinstance(expression, tree.Cast):
        expression = expression.operand
        types.append(expression.ctype)
    whole = tuple(ctype for ctype in types if isinstance(ctype, Scalar) and _is_whole(ctype))
    return whole if len(whole) == len(types) else None


def _variables(expressions: Iterable[tree.Expression]) -> set[tree.Variable]:
    """The variables in registers that expressions name."""
    names = (one.variable for one in expressions if isinstance(one, tree.Name))
    return {variable for variable in names if variable.in_register}


def _is_fixed(expression: tree.Expression, changing: frozenset[tree.Variable]) -> bool:
    """Whether it is a number that depends on no memory, and on none of some variables."""
    return all(
        isinstance(inner, (tree.Literal, tree.Builtin, tree.Cast, tree.Unary, tree.Binary))
        or (isinstance(inner, tree.Load) and isinstance(inner.lvalue, tree.Name))
        or (isinstance(inner, tree.Name) and inner.variable.in_register)
        for inner in subexpressions(expression)
    ) and changing.isdisjoint(_variables(subexpressions(expression)))


@dataclass(slots=True)
class _Body:
    """The body of a loop: whether it does only what a counted one may, and its loads."""

    counter: tree.Variable
    assigned: frozenset[tree.Variable]
    contractions: tree.Contractions
    loads: list[tree.Load] = field(default_factory=list)
    declared: set[tree.Variable] = field(default_factory=set)

    def takes(self, statement: tree.Statement, always: bool) -> bool:
        """Whether a counted loop may have a statement; `always`: every lane executes it."""
        match statement:
            case tree.Sequence(statements=statements):
                return all(self.takes(inner, always) for inner in statements)
            case tree.Declare(variable=variable, value=value):
                self.declared.add(variable)
                in_register = variable.space is tree.MemorySpace.REGISTER
                return in_register and value is not None and self.evaluates(value, always)
            case tree.Evaluate(expression=expression):
                return self.evaluates(expression, always)
            case tree.If(condition=condition, yes=yes, no=no):
                return (
                    self.evaluates(condition, always)
                    and self.takes(yes, False)
                    and (no is None or self.takes(no, False))
                )
            case _:
                return False

    def evaluates(self, expression: tree.Expression, always: bool) -> bool:
        """Whether a counted loop may have an expression; its loads are noted, in their order."""
        match expression:
            case tree.Literal() | tree.Builtin():
                return True
            case tree.Load(lvalue=lvalue) if in_register(lvalue):
                return self._reads(lvalue, always)
            case tree.Load(
                lvalue=lvalue, ctype=Scalar(encoding=None) | Vector(element=Scalar(encoding=None))
            ):
                self.loads.append(expression)
                return always and self._moves_with_counter(lvalue)
            case tree.Cast(operand=operand) | tree.Unary(operand=operand):
                return self.evaluates(operand, always)
            case tree.Binary(left=left, right=right):
                contraction = self.contractions.sums.get(expression)
                if contraction is not None and not contraction.on_left:
                    left, right = right, left  # the product is computed before its sum
                return self.evaluates(left, always) and self.evaluates(right, always)
            case tree.Comma(first=first, second=second):
                return self.evaluates(first, always) and self.evaluates(second, always)
            case tree.Logical(left=left, right=right):
                return self.evaluates(left, always) and self.evaluates(right, False)
            case tree.Conditional(condition=condition, yes=yes, no=no):
                return (
                    self.evaluates(condition, always)
                    and self.evaluates(yes, False)
                    and self.evaluates(no, False)
                )
            case tree.Assign(lvalue=lvalue, value=value):
                return in_register(lvalue) and self.evaluates(value, always)
            case tree.Increment(lvalue=lvalue):
                return in_register(lvalue)
            case tree.Call(function=function, arguments=arguments):
                known = function in ARITHMETIC_FUNCTIONS or function.startswith("make_")
                return known and all(self.evaluates(one, always) for one in arguments)
            case _:
                return False

    def _reads(self, lvalue: tree.Expression, always: bool) -> bool:
        match lvalue:
            case tree.Name():
                return True
            case tree.Member(base=base):
                return self._reads(base, always)
            case _:
                return self.evaluates(lvalue, always)

    def _moves_with_counter(self, lvalue: tree.Expression) -> bool:
        """Whether an address grows by the same amount with each step of the counter.

        It may name the counter once: where a sum of several wraps its parts could make up for one
        another. So where it moves evenly from the first iteration to the second and the last, it
        does so in all of them.
        """
        inner = list(subexpressions(lvalue))
        if sum(isinstance(one, tree.Name) and one.variable is self.counter for one in inner) > 1:
            return False
        return self.assigned.isdisjoint(_variables(inner)) and self._is_linear(lvalue)

    def _is_linear(self, expression: tree.Expression) -> bool:
        """Whether an address, or a number of one, is linear in the counter, or without it."""
        match expression:
            case tree.Literal() | tree.Builtin() | tree.Name():
                return True
            case tree.Load(lvalue=lvalue):
                return isinstance(lvalue, tree.Name) and in_register(lvalue)
            case tree.Index(base=base, index=index, volatile=False):
                return self._is_linear(base) and self._is_linear(index)
            case tree.Dereference(pointer=pointer, copied=False, volatile=False):
                return self._is_linear(pointer)
            case tree.Member(base=only) | tree.FieldOf(base=only) | tree.AddressOf(lvalue=only):
                return self._is_linear(only)
            case tree.Cast(ctype=ctype, operand=operand):
                whole = isinstance(ctype, Pointer) or _is_whole(ctype)
                return self._is_linear(operand) and (whole or not self._counts(operand))
            case tree.Unary(operator=operator, operand=operand):
                linear = operator in ("-", "+") or not self._counts(operand)
                return linear and self._is_linear(operand)
            case tree.Binary(operator=operator, left=left, right=right):
                linear = (
                    operator in ("+", "-", "*")
                    or not self._counts(expression)
                    or (operator == "<<" and not self._counts(right))
                )
                return linear and self._is_linear(left) and self._is_linear(right)
            case _:
                return False

    def _counts(self, expression: tree.Expression) -> bool:
        """Whether a number depends on the counter."""
        return self.counter in _variables(subexpressions(expression))
