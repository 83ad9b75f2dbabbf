"""A walk over a kernel that notes its products: what they are, what takes them, and in what order.

It follows what LLVM, nvcc's middle, does before it fuses: equal values are computed once (early
CSE), negations move outward (instruction combining), and a sum's operands are ordered by the last
load that they depend on (Reassociate).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from simulator.contraction.rules import OTHER, Block, Consumer, Event, product_of
from simulator.language.ctype import Scalar
from simulator.language.tree import (
    Assign,
    Barrier,
    Binary,
    Builtin,
    Call,
    Cast,
    Conditional,
    Declare,
    Dereference,
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
    Sequence,
    Statement,
    Switch,
    Unary,
    Variable,
)
from simulator.language.visit import expressions_of, operands, set_by, set_in, subexpressions

COMMUTATIVE = frozenset({"+", "*", "&", "|", "^", "==", "!="})


class Known(NamedTuple):
    """A value: its rank (the place of the last load in it), a number, and whether it is negated.

    Two values of one number are equal but for their sign. depth counts the loops around in which
    it changes: a compiler moves what does not change out of a loop.
    """

    rank: int
    number: int
    minus: bool = False
    depth: int = 0

    @property
    def signed(self) -> tuple[int, bool]:
        """What tells it from other values."""
        return self.number, self.minus


@dataclass(slots=True, eq=False)
class Site:
    """A product: where it stands, in how many loops, what takes it, and what its value is."""

    node: Expression
    block: Block
    depth: int
    consumer: Consumer
    known: Known


@dataclass(slots=True)
class Survey:
    """What the walk has found so far; `now` is what each variable holds at this place."""

    block: Block = field(default_factory=lambda: Block(None, "kernel"))
    order: int = 0
    loads: int = 0  # loads, stores and other things that stay in order
    stores: int = 0
    now: dict[Variable, Known] = field(default_factory=dict)
    numbers: dict[Any, int] = field(default_factory=dict)
    definitions: dict[Variable, list[Event]] = field(default_factory=dict)
    uses: dict[Variable, list[Event]] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    sums: list[Binary | Assign] = field(default_factory=list)
    changed: dict[Statement, set[Variable]] = field(default_factory=dict)
    depth: int = 0  # loops around this place
    depths: dict[Expression, int] = field(default_factory=dict)  # of each sum
    kept: dict[Variable, Expression] = field(default_factory=dict)  # products in register arrays
    taken: set[Variable] = field(default_factory=set)  # arrays whose cells stand in sums

    def statement(self, statement: Statement) -> None:
        """Walk a statement."""
        match statement:
            case Declare(variable=variable, value=value) if value is not None:
                known = self.value(value, Consumer(variable=variable, given=value))
                self._define(variable, value, known)
            case Sequence(statements=statements):
                for one in statements:
                    self.statement(one)
            case If(condition=condition, yes=yes, no=no):
                self.value(condition)
                self._within("if", yes)
                if no is not None:
                    self._within("if", no)
                self._join([yes] if no is None else [yes, no])
            case Loop(start=start, condition=condition, advance=advance, body=body):
                if start is not None:
                    self.statement(start)
                self.depth += not _unrolls(statement)
                self._renew(set_in(statement, self.changed))
                outer = self.block
                self.block = Block(outer, "loop")
                if condition is not None:
                    self.value(condition)
                self.statement(body)
                if advance is not None:  # it runs after the body, which need not have run through
                    self.block = Block(outer, "loop")
                    self.value(advance)
                self.block = outer
                self.depth -= not _unrolls(statement)
                self._join([statement])
            case Switch(selector=selector, body=body):
                self.value(selector)
                for one in body:
                    self._within("switch", one)
                self._join(list(body))
            case Function(parameters=parameters, body=body):
                for parameter in parameters:
                    self.statement(parameter)
                self.statement(body)
            case Barrier():
                self._in_order()
            case _:
                for expression in expressions_of(statement):
                    self.value(expression)

    def value(self, expression: Expression, consumer: Consumer = OTHER) -> Known:
        """Walk an expression whose value `consumer` takes."""
        self.order += 1
        match expression:
            case Literal(ctype=ctype, value=value):
                return Known(0, self._number("literal", str(ctype), repr(value)))
            case Builtin(name=name, axis=axis):
                return Known(1, self._number("builtin", name, axis))
            case Load(lvalue=Name(variable=variable)) if _in_register(variable):
                self._use(variable, consumer)
                return self._held(variable)
            case Load(lvalue=lvalue, ctype=ctype):
                where, array = self._place(lvalue), _array(lvalue)
                if array is not None and consumer.sum is not None:
                    self.taken.add(array)
                self.loads += 1
                number = self._number("load", str(ctype), where, self.stores)
                return Known(1 + self.loads, number, depth=self.depth)
            case Inlined(function=function):
                self.statement(function)
                if function.result is None:
                    return self._fresh()
                self._use(function.result, consumer)
                return self._held(function.result)
            case Assign(lvalue=lvalue, value=value):
                return self._assign(expression, lvalue, value, consumer)
            case Increment(lvalue=Name(variable=variable)) if _in_register(variable):
                self._use(variable, OTHER)
                self._define(variable, None, self._fresh())
                return self._held(variable)
            case Binary(operator="*", left=left, right=right) if product_of(expression):
                known = self._product(expression.ctype, self.value(left), self.value(right))
                self.sites.append(Site(expression, self.block, self.depth, consumer, known))
                return known
            case Binary(operator=operator, left=left, right=right, ctype=ctype):
                takers = (OTHER, OTHER)
                if operator in ("+", "-") and _is_float(expression):
                    self.sums.append(expression)
                    takers = (Consumer(expression, left=True), Consumer(expression))
                known = self._binary(
                    operator, ctype, self.value(left, takers[0]), self.value(right, takers[1])
                )
                self.depths[expression] = known.depth
                return known
            case Unary(operator="-", operand=operand):
                turned = consumer
                if consumer is not OTHER:
                    turned = replace(consumer, minus=not consumer.minus)
                known = self.value(operand, turned)
                return known._replace(minus=not known.minus)
            case Cast(operand=operand, ctype=ctype):
                inner = self.value(operand)
                number = self._number("cast", str(ctype), inner.signed)
                return Known(inner.rank, number, depth=inner.depth)
            case Call():
                self._inside(expression)
                self._in_order()
                return self._fresh()
            case Conditional(condition=first, yes=yes, no=no):
                return self._some_threads(expression, first, (yes, no))
            case Logical(left=first, right=right):
                return self._some_threads(expression, first, (right,))
            case _:
                self._inside(expression)
                return self._fresh()

    def _some_threads(
        self, expression: Expression, first: Expression, branches: tuple[Expression, ...]
    ) -> Known:
        """Walk a ?:, && or ||: what sets a variable there is a branch; no code joins after it."""
        changed = set[Variable]().union(*(set_by(one, self.changed) for one in branches))
        if not changed:
            self._inside(expression)
            return self._fresh()
        self._place(first)
        for branch in branches:
            outer = self.block
            self.block = Block(outer, "if")
            self._place(branch)
            self.block = outer
        self._renew(changed)
        return self._fresh()

    def _assign(
        self, assign: Assign, lvalue: Expression, value: Expression, consumer: Consumer
    ) -> Known:
        if not isinstance(lvalue, Name) or not _in_register(lvalue.variable):
            self._place(lvalue)
            taker = OTHER
            if _is_sum(assign):
                self.sums.append(assign)
                taker = Consumer(assign)
            self.depths[assign] = self.depth
            known = self.value(value, taker)
            array = _array(lvalue)
            if array is not None and not assign.operator and product_of(value) is not None:
                self.kept.setdefault(array, assign)
            self._in_order()
            return known if not assign.operator else self._fresh()
        variable = lvalue.variable
        given: Expression | None = assign
        if not assign.operator:
            known, given = self.value(value, Consumer(variable=variable, given=value)), value
        elif _is_sum(assign):
            self.sums.append(assign)
            self._use(variable, Consumer(assign, left=True))
            old = self._held(variable)
            new = self.value(value, Consumer(assign))
            known = self._binary(assign.operator, assign.ctype, old, new)
            self.depths[assign] = known.depth
        else:
            self._use(variable, OTHER)
            old, new = self._held(variable), self.value(value)
            known = self._binary(assign.operator, assign.ctype, old, new)
            if assign.operator == "*" and _same_float(assign):
                known = self._product(assign.ctype, old, new)
                taker = Consumer(variable=variable, given=assign)
                self.sites.append(Site(assign, self.block, self.depth, taker, known))
        self._define(variable, given, known)
        if consumer is not OTHER:
            self._use(variable, consumer)
        return known

    def _product(self, ctype: Any, left: Known, right: Known) -> Known:
        """A product: its sign stands before it."""
        pair = sorted((left.number, right.number))
        number = self._number("*", str(ctype), *pair)
        rank, depth = 1 + max(left.rank, right.rank), max(left.depth, right.depth)
        return Known(rank, number, left.minus != right.minus, depth)

    def _binary(self, operator: str, ctype: Any, left: Known, right: Known) -> Known:
        pair = [left.signed, right.signed]
        if operator in COMMUTATIVE:
            pair.sort()
        rank, depth = 1 + max(left.rank, right.rank), max(left.depth, right.depth)
        return Known(rank, self._number(operator, str(ctype), *pair), depth=depth)

    def _place(self, lvalue: Expression) -> Any:
        """Walk what stands in a place; gives a key that equal places share."""
        match lvalue:
            case Index(base=base, index=index):
                return ("index", self._place(base), self.value(index).signed)
            case Member(base=base, position=position):
                return ("member", self._place(base), position)
            case Dereference(pointer=pointer):
                return ("at", self.value(pointer).signed)
            case Name(variable=variable):
                return variable
            case _:
                return self.value(lvalue).signed

    def _inside(self, expression: Expression) -> None:
        for part in operands(expression):
            self._place(part)

    def _number(self, *key: Any) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def _fresh(self) -> Known:
        return Known(1 + self.loads, self._number(len(self.numbers)), depth=self.depth)

    def _held(self, variable: Variable) -> Known:
        if variable not in self.now:
            self.now[variable] = Known(1, self._number(variable))
        return self.now[variable]

    def _in_order(self) -> None:
        """Something that may change memory stays where it is."""
        self.loads += 1
        self.stores += 1

    def _define(self, variable: Variable, value: Expression | None, known: Known) -> None:
        self.order += 1
        event = Event(self.order, self.block, value)
        self.definitions.setdefault(variable, []).append(event)
        self.now[variable] = known

    def _use(self, variable: Variable, consumer: Consumer) -> None:
        self.order += 1
        event = Event(self.order, self.block, consumer=consumer)
        self.uses.setdefault(variable, []).append(event)

    def _within(self, kind: str, statement: Statement) -> None:
        outer = self.block
        self.block = Block(outer, kind)
        self.statement(statement)
        self.block = outer

    def _join(self, statements: list[Statement]) -> None:
        """Code goes on after a branch or loop: another stretch, and what it set is merged."""
        self._renew(set[Variable]().union(*(set_in(one, self.changed) for one in statements)))
        self.stores += 1
        self.block = Block(self.block.outer, self.block.kind)

    def _renew(self, changed: set[Variable]) -> None:
        """What is set in a branch or loop is, where paths meet, a value of its own."""
        for variable in changed:
            self.now[variable] = self._fresh()


def _unrolls(loop: Loop) -> bool:
    """Whether a loop counts between two constants, so that a compiler writes its turns out."""
    limits = [loop.condition] if loop.condition is not None else []
    start = loop.start
    if isinstance(start, Declare) and start.value is not None:
        limits.append(start.value)
    named = [part for limit in limits for part in subexpressions(limit) if isinstance(part, Name)]
    return len(limits) == 2 and all(name.variable is loop.variable for name in named)


def _array(lvalue: Expression) -> Variable | None:
    """The array that every thread has of its own in which a place is."""
    while isinstance(lvalue, (Index, Member)):
        lvalue = lvalue.base
    if isinstance(lvalue, Name) and lvalue.variable.space is MemorySpace.LOCAL:
        return lvalue.variable
    return None


def _in_register(variable: Variable) -> bool:
    return variable.space in (MemorySpace.REGISTER, MemorySpace.PARAMETER)


def _is_float(expression: Any) -> bool:
    return isinstance(expression.ctype, Scalar) and expression.ctype.is_float


def _same_float(assign: Assign) -> bool:
    """Whether a compound assignment computes in the float type of both its sides."""
    return (
        isinstance(assign.compute, Scalar)
        and assign.compute.is_float
        and assign.value.ctype == assign.compute == assign.lvalue.ctype
    )


def _is_sum(assign: Assign) -> bool:
    return (
        assign.operator in ("+", "-")
        and isinstance(assign.compute, Scalar)
        and assign.compute.is_float
        and assign.value.ctype == assign.compute
    )
