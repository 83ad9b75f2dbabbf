"""Value numbering: which expressions of a kernel have equal values.

It follows what LLVM, nvcc's middle, does before it fuses: equal values are computed once (early
CSE), negations move outward (instruction combining), and a sum's operands are ordered by the last
load that they depend on (Reassociate).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.language.ctype import CType
from simulator.language.tree import Variable

COMMUTATIVE = frozenset({"+", "*", "&", "|", "^", "==", "!="})


class Value(NamedTuple):
    """What is known of an expression's value; values of one number are equal but for their sign."""

    rank: int  # grows with the number of the last load that the value depends on
    number: int
    negated: bool = False  # whether it is the negation of the value of that number
    loop_depth: int = 0  # the loops around in which it changes; outside them it is computed once

    @property
    def key(self) -> tuple[int, bool]:
        """What distinguishes it from other values: its number and its sign."""
        return self.number, self.negated


@dataclass(slots=True)
class ValueNumbering:
    """Numbers values in the order of execution: equal keys give equal numbers."""

    loop_depth: int = 0  # loops around the current statement that are not unrolled
    _loads: int = 0  # loads, and whatever else stays in order with them
    _stores: int = 0  # whatever may have changed memory
    _numbers: dict[Hashable, int] = field(default_factory=dict)  # by key
    _next_number: int = 0
    _current: dict[Variable, Value] = field(default_factory=dict)  # what each variable holds

    def constant(self, *key: Hashable) -> Value:
        """A literal's value, known at compile time."""
        return Value(0, self._number(key))

    def builtin(self, name: str, axis: str) -> Value:
        """The value of threadIdx.x and its kind: the same wherever it is."""
        return Value(1, self._number(("builtin", name, axis)))

    def load(self, ctype: CType, address: Hashable) -> Value:
        """The value at an address, equal to an earlier load's if no memory changed between."""
        self._loads += 1
        number = self._number(("load", str(ctype), address, self._stores))
        return Value(1 + self._loads, number, loop_depth=self.loop_depth)

    def cast(self, ctype: CType, operand: Value) -> Value:
        """A value converted to another type."""
        number = self._number(("cast", str(ctype), operand.key))
        return Value(operand.rank, number, loop_depth=operand.loop_depth)

    def binary(self, operator: str, ctype: CType, left: Value, right: Value) -> Value:
        """The value of left `operator` right."""
        keys = [left.key, right.key]
        if operator in COMMUTATIVE:
            keys.sort()
        number = self._number((operator, str(ctype), *keys))
        return Value(_rank(left, right), number, loop_depth=_loop_depth(left, right))

    def product(self, ctype: CType, left: Value, right: Value) -> Value:
        """The value of a float product; the signs of its factors become its own."""
        number = self._number(("*", str(ctype), *sorted((left.number, right.number))))
        negated = left.negated != right.negated
        return Value(_rank(left, right), number, negated, _loop_depth(left, right))

    def unknown(self) -> Value:
        """A value that is equal to no other."""
        self._next_number += 1
        return Value(1 + self._loads, self._next_number, loop_depth=self.loop_depth)

    def current(self, variable: Variable) -> Value:
        """What a variable holds; before its first assignment, a value of its own."""
        if variable not in self._current:
            self._current[variable] = Value(1, self._number(variable))
        return self._current[variable]

    def assign(self, variable: Variable, value: Value) -> None:
        """Set what a variable holds."""
        self._current[variable] = value

    def store(self) -> None:
        """A store, a call or a barrier: memory may have changed, and later loads stay after it."""
        self._loads += 1
        self._stores += 1

    def forget(self, variables: Iterable[Variable]) -> None:
        """Let variables hold values that are equal to no known one: some paths assign them."""
        for variable in variables:
            self._current[variable] = self.unknown()

    def merge_paths(self, assigned: Iterable[Variable]) -> None:
        """Where paths meet: forget what is assigned on any of them; memory may have changed."""
        self.forget(assigned)
        self._stores += 1

    def _number(self, key: Hashable) -> int:
        if key not in self._numbers:
            self._next_number += 1
            self._numbers[key] = self._next_number
        return self._numbers[key]


def _rank(left: Value, right: Value) -> int:
    return 1 + max(left.rank, right.rank)


def _loop_depth(left: Value, right: Value) -> int:
    return max(left.loop_depth, right.loop_depth)
