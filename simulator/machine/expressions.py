"""Expressions as closures: each takes a group and the active lanes and gives a value.

A value is one number where all lanes agree, else an array [lanes]; a short vector is a tuple of
components; a pointer is an Address. Lanes that are not active hold whatever is convenient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np

from simulator.language.ctype import Pointer, Scalar, convert, size_of
from simulator.language.errors import SourceError
from simulator.language.tree import (
    AddressOf,
    Assign,
    Binary,
    Builtin,
    Call,
    Cast,
    Comma,
    Conditional,
    Contractions,
    Dereference,
    Expression,
    Function,
    Increment,
    Index,
    Inlined,
    Literal,
    Load,
    Logical,
    Member,
    Name,
    Unary,
    Variable,
)
from simulator.language.visit import in_register
from simulator.machine.addresses import Closure, Places, remember
from simulator.machine.arithmetic import BINARY, FUNCTIONS, UNARY
from simulator.machine.buffers import Address, wrap_offsets
from simulator.machine.fma import contracted_sum, contracted_update, remembered_product
from simulator.machine.group import NONE, Group, Mask, narrow
from simulator.machine.intrinsics import INTRINSICS
from simulator.machine.load_store import Memory
from simulator.machine.observer import Observer, overrides
from simulator.machine.registers import Registers, blend


class Evaluator:
    """Compiles expressions; slots numbers the variables of a frame.

    With an observer that hears parts, every subexpression is evaluated and told on its own.
    """

    def __init__(
        self,
        slots: Mapping[Variable, int],
        observers: list[Observer],
        inlined: Callable[[Function], Closure],
        contractions: Contractions,
    ) -> None:
        self._contractions = contractions
        self.memos = 0
        self._inlined = inlined
        self.memory = Memory(observers)
        self.part = [o.on_evaluation for o in observers if overrides(o, "on_evaluation")]
        self._places = Places(self.compile, self.memo, bool(self.part))
        self._registers = Registers(slots, observers, self.compile)

    def compile(self, expression: Expression) -> Closure:
        """The closure that gives the expression's value."""
        run = self._compile(expression)
        if not self.part:
            return run
        tellers = self.part

        def told(group: Group, mask: Mask) -> Any:
            value = run(group, mask)
            for tell in tellers:
                tell(group, expression, value, mask)
            return value

        return told

    def _compile(self, expression: Expression) -> Closure:
        match expression:
            case Literal(value=value):
                return lambda group, mask: value
            case Builtin(name=name, axis=axis):
                return lambda group, mask: group.builtin(name, axis)
            case Load():
                return self._load(expression)
            case AddressOf():
                return self._places.address(expression.lvalue)
            case Cast():
                return self._cast(expression)
            case Unary():
                return self._unary(expression)
            case Binary():
                return self._binary(expression)
            case Logical():
                return self._logical(expression)
            case Conditional():
                return self._conditional(expression)
            case Comma():
                return self._comma(expression)
            case Assign():
                return self._assign(expression)
            case Increment():
                return self._increment(expression)
            case Call():
                return self._call(expression)
            case Inlined():
                return self._called(expression)
            case Member() if in_register(expression):
                return self._registers.read(expression)
            case Name() | Index() | Dereference() | Member():
                raise TypeError(f"a place is no value: {expression}")
            case _:
                assert_never(expression)

    def memo(self) -> int:
        """A fresh slot of Group.memo."""
        self.memos += 1
        return self.memos - 1

    # Variables and memory ----------------------------------------------------------------------

    def _load(self, expression: Load) -> Closure:
        lvalue, ctype = expression.lvalue, expression.ctype
        if in_register(lvalue):
            return self._registers.read(lvalue)
        address, memory, slot = self._places.address(lvalue), self.memory, self.memo()
        if isinstance(ctype, Pointer):
            raise SourceError("Arrays of pointers are not supported.", expression.span)

        def load(group: Group, mask: Mask) -> Any:
            return memory.load(group, mask, address(group, mask), ctype, lvalue, slot)

        return load

    def _assign(self, expression: Assign) -> Closure:
        lvalue, span = expression.lvalue, expression.span
        update = self._update(expression)
        if in_register(lvalue):
            read, write = self._registers.read(lvalue), self._registers.write(lvalue)

            def assign(group: Group, mask: Mask) -> Any:
                value = update(group, mask, read)
                write(group, mask, value)
                return value

            return assign
        address, memory, ctype = self._places.address(lvalue), self.memory, lvalue.ctype
        load_slot, store_slot = self.memo(), self.memo()
        if isinstance(ctype, Pointer):
            raise SourceError("Arrays of pointers are not supported.", span)

        def store(group: Group, mask: Mask) -> Any:
            where: list[Address] = []

            def old(group: Group, mask: Mask) -> Any:
                where.append(address(group, mask))
                return memory.load(group, mask, where[0], ctype, lvalue, load_slot)

            value = update(group, mask, old)
            target = where[0] if where else address(group, mask)
            memory.store(group, mask, target, ctype, lvalue, store_slot, value)
            return value

        return store

    def _update(self, expression: Assign) -> Callable[[Group, Mask, Closure], Any]:
        """What an assignment stores, given a closure that reads the old value."""
        operator, compute = expression.operator, expression.compute
        target = expression.lvalue.ctype
        if not operator:
            value = self.compile(expression.value)
            return lambda group, mask, old: value(group, mask)
        if isinstance(compute, Pointer):
            sign = 1 if operator == "+" else -1
            size = size_of(compute.target)
            current: list[Any] = []
            move = self._places.offset(
                lambda group, mask: current[-1], expression.value, size, sign
            )

            def moved(group: Group, mask: Mask, old: Closure) -> Any:
                current[:] = [old(group, mask)]
                return move(group, mask)

            return moved
        assert isinstance(compute, Scalar)
        assert isinstance(target, Scalar)
        contraction = self._contractions.sums.get(expression)
        if contraction is not None:
            return contracted_update(expression, contraction, self.compile)
        value, function = self.compile(expression.value), BINARY[operator]
        shifts = operator in ("<<", ">>")

        remembers = expression in self._contractions.earlier

        def updated(group: Group, mask: Mask, old: Closure) -> Any:
            right = value(group, mask)
            right = right if shifts else convert(right, compute)
            left = convert(old(group, mask), compute)
            if remembers:
                group.products[expression] = (left, right)
            return convert(function(left, right), target)

        return updated

    def _increment(self, expression: Increment) -> Closure:
        lvalue, postfix, ctype = expression.lvalue, expression.postfix, expression.ctype
        if isinstance(ctype, Pointer):
            delta = expression.delta * size_of(ctype.target)

            def advanced(old: Any) -> Any:
                return Address(old.buffer, old.lanes, old.base + delta)

        elif isinstance(ctype, Scalar):
            one = ctype.dtype.type(1)
            function = np.add if expression.delta > 0 else np.subtract

            def advanced(old: Any) -> Any:
                return function(old, one)

        else:
            raise SourceError("This cannot be counted up or down.", expression.span)
        if in_register(lvalue):
            read, write = self._registers.read(lvalue), self._registers.write(lvalue)

            def increment(group: Group, mask: Mask) -> Any:
                old = read(group, mask)
                new = advanced(old)
                write(group, mask, new)
                return old if postfix else new

            return increment
        address, memory = self._places.address(lvalue), self.memory
        load_slot, store_slot = self.memo(), self.memo()

        def step(group: Group, mask: Mask) -> Any:
            where = address(group, mask)
            old = memory.load(group, mask, where, ctype, lvalue, load_slot)
            new = advanced(old)
            memory.store(group, mask, where, ctype, lvalue, store_slot, new)
            return old if postfix else new

        return step

    # Operators -----------------------------------------------------------------------------------

    def _cast(self, expression: Cast) -> Closure:
        operand, target = self.compile(expression.operand), expression.ctype
        if not isinstance(target, Scalar):
            return operand
        slot = self.memo()

        def cast(group: Group, mask: Mask) -> Any:
            value = operand(group, mask)
            memo = group.memo[slot]
            if memo is not None and memo[0] is value:
                return memo[1]
            result = convert(value, target)
            group.memo[slot] = (value, result)
            return result

        return cast

    def _unary(self, expression: Unary) -> Closure:
        operand, function = self.compile(expression.operand), UNARY[expression.operator]
        return lambda group, mask: function(operand(group, mask))

    def _binary(self, expression: Binary) -> Closure:
        left, right, operator = expression.left, expression.right, expression.operator
        if isinstance(left.ctype, Pointer) or isinstance(right.ctype, Pointer):
            return self._pointer_binary(expression)
        contraction = self._contractions.sums.get(expression)
        if contraction is not None:
            return contracted_sum(expression, contraction, self.compile)
        a, b, function = self.compile(left), self.compile(right), BINARY[operator]
        if expression in self._contractions.earlier:
            return remembered_product(expression, a, b)
        if not isinstance(left.ctype, Scalar) or left.ctype.is_float:
            return lambda group, mask: function(a(group, mask), b(group, mask))
        slot = self.memo()
        return lambda group, mask: remember(group, slot, function, a(group, mask), b(group, mask))

    def _pointer_binary(self, expression: Binary) -> Closure:
        left, right, operator = expression.left, expression.right, expression.operator
        if operator in ("+", "-") and isinstance(expression.ctype, Pointer):
            size = size_of(expression.ctype.target)
            pointer, number = (left, right) if isinstance(left.ctype, Pointer) else (right, left)
            return self._places.offset(
                self.compile(pointer), number, size, 1 if operator == "+" else -1
            )
        a, b, function = self.compile(left), self.compile(right), BINARY[operator]
        span = expression.span
        size = size_of(left.ctype.target) if isinstance(left.ctype, Pointer) else 1

        def compare_far(x: Any, y: Any) -> Any:
            result = function(np.asarray(x, dtype=object), np.asarray(y, dtype=object))
            return wrap_offsets(result // size) if operator == "-" else result

        def compare(group: Group, mask: Mask) -> Any:
            x, y = a(group, mask), b(group, mask)
            if x.buffer is not y.buffer:
                raise SourceError(
                    f"{x.buffer.name} and {y.buffer.name} are different arrays: pointers into "
                    "them cannot be subtracted or compared.",
                    span,
                )
            if x.is_far or y.is_far:
                return compare_far(x.offset, y.offset)
            result = function(np.int64(x.offset), np.int64(y.offset))
            return result // np.int64(size) if operator == "-" else result

        return compare

    def _logical(self, expression: Logical) -> Closure:
        left, right = self.compile(expression.left), self.compile(expression.right)
        both = expression.operator == "&&"

        def logical(group: Group, mask: Mask) -> Any:
            first = left(group, mask)
            if not isinstance(first, np.ndarray):
                return right(group, mask) if bool(first) == both else first
            needed = narrow(mask, first if both else ~first)
            if needed is NONE:
                return first
            second = right(group, needed)
            return first & second if both else first | second

        return logical

    def _conditional(self, expression: Conditional) -> Closure:
        condition = self.compile(expression.condition)
        yes, no, span = self.compile(expression.yes), self.compile(expression.no), expression.span

        def conditional(group: Group, mask: Mask) -> Any:
            chosen = condition(group, mask)
            if not isinstance(chosen, np.ndarray):
                return yes(group, mask) if chosen else no(group, mask)
            for_yes, for_no = narrow(mask, chosen), narrow(mask, ~chosen)
            if for_no is NONE:
                return yes(group, mask)
            if for_yes is NONE:
                return no(group, mask)
            return blend(chosen, yes(group, for_yes), no(group, for_no), span)

        return conditional

    def _comma(self, expression: Comma) -> Closure:
        first, second = self.compile(expression.first), self.compile(expression.second)

        def comma(group: Group, mask: Mask) -> Any:
            first(group, mask)
            return second(group, mask)

        return comma

    def _call(self, expression: Call) -> Closure:
        special = INTRINSICS.get(expression.function)
        if special is not None:
            return special(expression, self)
        arguments = [self.compile(argument) for argument in expression.arguments]
        if expression.function.startswith("make_"):
            return lambda group, mask: tuple(argument(group, mask) for argument in arguments)
        function = FUNCTIONS[expression.function]
        return lambda group, mask: function(*(argument(group, mask) for argument in arguments))

    def _called(self, expression: Inlined) -> Closure:
        run, result = self._inlined(expression.function), expression.function.result
        if result is None:
            return run
        read = self._registers.read(Name(result.ctype, expression.span, result))

        def called(group: Group, mask: Mask) -> Any:
            run(group, mask)
            return read(group, mask)

        return called
