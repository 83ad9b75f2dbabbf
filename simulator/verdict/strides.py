"""Parameters that say how far apart rows, or matrices of a batch, lie in memory: lda, pitch.

A stride is a factor in addresses and is compared with nothing, while what is added to its products
is compared: it is at least as large as the row beside it, and no size of its own. A size that no
guard names, as of a grid that fits, is no such factor: nothing bounds what is added there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from simulator.language import tree
from simulator.language.ctype import CType, Pointer, Scalar
from simulator.language.visit import (
    expressions_within,
    operands,
    read_variable,
    sources_of,
    strip_casts,
    walk,
)

ROW, MATRIX, BATCH = 1536, 2**16, 2**18  # elements that leave room for all rows that are tried
DIVISIONS = frozenset({"/", "%"})
BOUNDING = frozenset({"min", "max"})

Term = tuple[tree.Expression, ...]  # its factors


@dataclass(frozen=True, slots=True)
class Stride:
    """How far apart what a parameter strides over is."""

    room: int  # elements that are enough; 1 where it lies between elements, not rows
    arrays: frozenset[str]  # the parameters that it leads through


def find_strides(kernel: tree.Kernel) -> dict[str, Stride]:
    """The strides among a kernel's whole parameters, in their order."""
    reader = _Reader(kernel)
    addresses = [address for one in expressions_within(kernel.body)
                 if (address := reader.address(one))]  # fmt: skip
    names = [one.name for one in kernel.parameters
             if _is_whole_type(one.ctype) and one.ctype.size > 1
             and one not in reader.compared]  # fmt: skip
    rooms: defaultdict[str, list[int]] = defaultdict(list)
    arrays: defaultdict[str, set[str]] = defaultdict(set)
    for terms in addresses:
        terms = [
            term for term in terms if isinstance(term[0], tree.Name) or not reader.is_same(term)
        ]
        strides = [[name for one in term for name in reader.parameters(one) if name in names]
                   for term in terms]  # fmt: skip
        used = list(dict.fromkeys(name for each in strides for name in each))
        beside = [term for term, each in zip(terms, strides, strict=True)
                  if not each and not reader.is_same(term)]  # fmt: skip
        if beside and beside[0] is next(one for one in terms if not reader.is_same(one)):
            used.reverse()  # x + y * width + z * area: else the widest strides come first
        for name in used:
            arrays[name] |= {one.variable.name for term in terms for one in term
                             if isinstance(one, tree.Name)}  # fmt: skip
            rooms[name].append(reader.room(beside, len(used) - used.index(name)))
    return {
        name: Stride(max(rooms[name]), frozenset(arrays[name]))
        for name in names
        if rooms[name] and min(rooms[name]) > 0
    }


def find_flags(kernel: tree.Kernel) -> set[str]:
    """The whole parameters that only decide what is done: they are no size."""
    read: defaultdict[str, int] = defaultdict(int)
    decides: defaultdict[str, int] = defaultdict(int)

    def note(condition: tree.Expression) -> None:
        variable = read_variable(condition)
        if variable is not None:
            decides[variable.name] += 1

    for statement in walk(kernel.body):
        if isinstance(statement, tree.If):
            note(statement.condition)
    for one in expressions_within(kernel.body):
        match one:
            case tree.Name(variable=variable):
                read[variable.name] += 1
            case (
                tree.Conditional(condition=condition) | tree.Unary(operator="!", operand=condition)
            ):
                note(condition)
            case tree.Logical(left=first, right=second):
                note(first)
                note(second)
    return {one.name for one in kernel.parameters
            if _is_whole_type(one.ctype) and 0 < read[one.name] <= decides[one.name]}  # fmt: skip


class _Reader:
    """Reads addresses as sums of products."""

    def __init__(self, kernel: tree.Kernel) -> None:
        self._first: dict[tree.Variable, tree.Expression] = {}  # values of variables that keep them
        for statement in walk(kernel.body):
            if isinstance(statement, tree.Declare) and statement.value is not None:
                self._first[statement.variable] = statement.value
        self._parameters = set(kernel.parameters)
        self._sources: defaultdict[tree.Variable, set[tree.Variable]] = defaultdict(set)
        for variable, value in self._first.items():
            self._sources[variable] |= set(_read(value))
        for one in expressions_within(kernel.body):
            if isinstance(one, tree.Assign) and isinstance(one.lvalue, tree.Name):
                self._sources[one.lvalue.variable] |= set(_read(one.value))
                self._first.pop(one.lvalue.variable, None)
            elif isinstance(one, tree.Increment) and isinstance(one.lvalue, tree.Name):
                self._first.pop(one.lvalue.variable, None)
        # The variables that end loops, guard statements or divide, and what these come from; and
        # those that are compared with a parameter, with a number, or with another of these.
        self.compared, self._bounded = self._compared(kernel)

    def _compared(self, kernel: tree.Kernel) -> tuple[set[tree.Variable], set[tree.Variable]]:
        compared: list[tree.Variable] = []
        bounded: set[tree.Variable] = set()
        sides: list[
            tuple[set[tree.Variable], set[tree.Variable]]
        ] = []  # and what it is compared with
        for one in expressions_within(kernel.body):
            match one:
                case tree.Binary(operator=operator, left=first, right=second):
                    if operator in tree.COMPARISONS and _is_whole(first) and _is_whole(second):
                        one_side, other = set(_read(first)), set(_read(second))
                        compared += [*one_side, *other]
                        sides += [(one_side, sources_of(self._sources, other)),
                                  (other, sources_of(self._sources, one_side))]  # fmt: skip
                    elif operator in DIVISIONS and _is_whole(one):
                        compared += _read(second)
                case tree.Call(function=name, arguments=values) if name in BOUNDING and _is_whole(
                    one
                ):
                    compared += [each for value in values for each in _read(value)]
        for _ in sides:  # one that is below a bounded one is bounded
            for side, other in sides:
                if not other or not other.isdisjoint(self._parameters | bounded):
                    bounded |= side
        return sources_of(self._sources, compared), sources_of(
            self._sources, bounded
        ) - self._parameters

    def address(self, expression: tree.Expression) -> list[Term]:
        """The terms of an access's address, in global memory; [] where it is none."""
        match expression:
            case tree.Index(base=base, index=index) if isinstance(base.ctype, Pointer):
                return [*self._terms(base), *self._terms(index)]
            case tree.Dereference(pointer=pointer):
                return list(self._terms(pointer))
            case _:
                return []

    def _terms(self, expression: tree.Expression) -> Iterator[Term]:
        expression = strip_casts(expression)
        variable = read_variable(expression)
        match expression:
            case tree.Binary(operator="+" | "-", left=first, right=second):
                yield from self._terms(first)
                yield from self._terms(second)
            case tree.AddressOf(lvalue=tree.Index(base=base, index=index)):
                yield from self._terms(base)
                yield from self._terms(index)
            case _ if variable in self._first and self._is_offset(variable):
                yield from self._terms(self._first[variable])
            case _:
                yield tuple(self._factors(expression))

    def _is_offset(self, variable: tree.Variable) -> bool:
        return isinstance(variable.ctype, Pointer) or variable not in self.compared

    def _factors(self, expression: tree.Expression) -> Iterator[tree.Expression]:
        expression = strip_casts(expression)
        variable = read_variable(expression)
        if isinstance(expression, tree.Binary) and expression.operator == "*":
            yield from self._factors(expression.left)
            yield from self._factors(expression.right)
        elif variable is not None and isinstance(variable.ctype, Pointer):
            yield tree.Name(variable.ctype, expression.span, variable)
        else:
            yield expression

    def parameters(self, factor: tree.Expression) -> Iterator[str]:
        """The parameter that a factor of a product is, or is a literal's part of."""
        factor = strip_casts(factor)
        if isinstance(factor, tree.Binary) and factor.operator == "/":
            if isinstance(strip_casts(factor.right), tree.Literal):
                yield from self.parameters(factor.left)
            return
        variable = read_variable(factor)
        if variable in self._first and variable not in self.compared:
            yield from self.parameters(self._first[variable])
        elif variable in self._parameters:
            yield variable.name

    def is_same(self, term: Term) -> bool:
        """Whether a term is the same for all threads: a pointer, a literal, an offset."""
        return all(
            isinstance(one, tree.Name | tree.Literal) or set(self.parameters(one)) for one in term
        )

    def room(self, beside: list[Term], level: int) -> int:
        """The elements that a stride needs at most, as the level-th largest; 0 where it is none.

        beside are an address's other terms that differ among threads.
        """
        if not beside:
            return (1, ROW, MATRIX, BATCH)[min(level, 4) - 1]
        if not all(self._is_row(term) or any(map(self._is_bounded, term)) for term in beside):
            return 0
        has_rows = any(self._is_row(term) for term in beside)
        return (ROW, MATRIX, BATCH)[min(level + has_rows, 3) - 1]

    def _is_row(self, term: Term) -> bool:
        """Whether a term leads to a row by itself: a product with a parameter."""
        return any(set(self.parameters(one)) for one in term)

    def _is_bounded(self, factor: tree.Expression) -> bool:
        return any(one in self._bounded for one in _read(factor))


def _is_whole(expression: tree.Expression) -> bool:
    return _is_whole_type(strip_casts(expression).ctype)


def _is_whole_type(ctype: CType) -> TypeGuard[Scalar]:
    return isinstance(ctype, Scalar) and ctype.dtype.kind in "iub"


def _read(expression: tree.Expression) -> Iterator[tree.Variable]:
    """The variables whose values an expression comes from, without those of memory's cells."""
    match expression:
        case tree.Name(variable=variable):
            if variable.space in (tree.MemorySpace.REGISTER, tree.MemorySpace.PARAMETER):
                yield variable
        case tree.Index() | tree.Dereference():
            return
        case _:
            for one in operands(expression):
                yield from _read(one)
