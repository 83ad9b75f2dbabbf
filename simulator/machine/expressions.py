"""Compiles expressions to closures, which give a value for the active lanes of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, assert_never

import numpy as np

from simulator.language import tree
from simulator.language.ctype import CType, Pointer, Scalar, convert, size_of
from simulator.language.errors import SourceError
from simulator.language.visit import in_register, strip_casts
from simulator.machine.addresses import Addresses
from simulator.machine.arithmetic import BINARY, conversion, operation, unary
from simulator.machine.buffers import NULL, Address, in_buffer_of, wrap_offsets
from simulator.machine.closures import AddressClosure, Closure, Run, Update, remember
from simulator.machine.fma import contracted_sum, contracted_update, remembered_product
from simulator.machine.functions import function_of
from simulator.machine.group import Group
from simulator.machine.intrinsics import INTRINSICS
from simulator.machine.load_store import Memory, MemoryOperand
from simulator.machine.masks import NONE, Mask, narrow
from simulator.machine.observer import Observer, callbacks
from simulator.machine.pointers import PointerMemory
from simulator.machine.registers import PassOn, Registers, blend


class Evaluator:
    """Compiles the expressions of one kernel.

    An observer that overrides on_evaluation is notified of every subexpression.
    """

    def __init__(
        self,
        frame_slots: Mapping[tree.Variable, int],
        observers: Sequence[Observer],
        compile_function: Callable[[tree.Function], Run],
        contractions: tree.Contractions,
    ) -> None:
        """frame_slots numbers the kernel's variables, compile_function compiles its functions."""
        self._compile_function = compile_function
        self._contractions = contractions
        self.observers = observers
        self._on_evaluation = callbacks(observers, "on_evaluation")
        self._addresses = Addresses(self, splits_indices=not self._on_evaluation)
        self._registers = Registers(frame_slots, observers, self)
        self.memory = Memory(observers)
        self._copies: set[tree.Expression] = set()  # loads of variables that may be without a value
        self._results: set[tree.Variable] = set()  # variables that functions return
        # Of loads from memory that were compiled: their address, and what they access.
        self._loads: dict[tree.Load, tuple[AddressClosure, MemoryOperand]] = {}
        self._ahead: dict[
            tree.Load, int
        ] = {}  # loads made ahead: where Group.ahead has their value
        self.pointers = PointerMemory(self.memory)
        self.memo_slots = 0  # used so far

    def memory_of(self, ctype: CType) -> Memory | PointerMemory:
        """What loads and stores values of a type."""
        return self.pointers if isinstance(ctype, Pointer) else self.memory

    def memo_slot(self) -> int:
        """A fresh index into Group.memo."""
        self.memo_slots += 1
        return self.memo_slots - 1

    def operand(self, lvalue: tree.Expression, ctype: CType) -> MemoryOperand:
        """What a load, store or atomic of values of a type accesses."""
        return MemoryOperand(lvalue, ctype, self.memo_slot())

    def compile(self, expression: tree.Expression) -> Closure:
        """The closure that gives the expression's value. SourceError if it is not supported."""
        value = self._compile(expression)
        if not self._on_evaluation:
            return value
        notifications = self._on_evaluation

        def notifying(group: Group, mask: Mask) -> Any:
            result = value(group, mask)
            for notify in notifications:
                notify(group, expression, result, mask)
            return result

        return notifying

    def _compile(self, expression: tree.Expression) -> Closure:
        match expression:
            case tree.Literal(value=value):
                return lambda group, mask: value
            case tree.Builtin(name=name, axis=axis):
                return lambda group, mask: group.builtin(name, axis)
            case tree.Load():
                return self._load(expression)
            case tree.AddressOf():
                return self._addresses.address(expression.lvalue)
            case tree.Cast():
                return self._cast(expression)
            case tree.Unary():
                return self._unary(expression)
            case tree.Binary():
                return self._binary(expression)
            case tree.Logical():
                return self._logical(expression)
            case tree.Conditional():
                return self._conditional(expression)
            case tree.Comma():
                return self._comma(expression)
            case tree.Assign():
                return self._assign(expression)
            case tree.Increment():
                return self._increment(expression)
            case tree.Call():
                return self._call(expression)
            case tree.Inlined():
                return self._inlined(expression)
            case tree.Member() if in_register(expression):
                return self._registers.read(expression)
            case tree.Name() | tree.Index() | tree.Dereference() | tree.Member() | tree.FieldOf():
                raise TypeError(f"an lvalue is not a value: {expression}")
            case _:
                assert_never(expression)

    # Variables and memory ----------------------------------------------------------------------

    def _load(self, expression: tree.Load) -> Closure:
        lvalue, ctype = expression.lvalue, expression.ctype
        if expression in self._copies and isinstance(lvalue, tree.Name):
            return self._registers.read_copied(lvalue)
        if in_register(lvalue):
            return self._registers.read(lvalue)
        if expression in self._ahead:
            number = self._ahead[expression]
            return lambda group, mask: group.ahead[number]
        address, operand = self._addresses.address(lvalue), self.operand(lvalue, ctype)
        self._loads[expression] = (address, operand)
        memory = self.memory_of(ctype)

        def load(group: Group, mask: Mask) -> Any:
            return memory.load(group, mask, address(group, mask), operand)

        return load

    def place(self, load: tree.Load) -> tuple[AddressClosure, MemoryOperand]:
        """The address of a load from memory that was compiled, and what it accesses."""
        return self._loads[load]

    @contextmanager
    def reading_ahead(self, loads: Sequence[tree.Load]) -> Iterator[None]:
        """Compile these loads from memory to reads of Group.ahead, which has their values."""
        self._ahead = {load: number for number, load in enumerate(loads)}
        yield
        self._ahead = {}

    def _assign(self, expression: tree.Assign) -> Closure:
        if not in_register(expression.lvalue):
            return self._assign_in_memory(expression)
        lvalue = expression.lvalue
        pass_on: PassOn | None = None
        if not expression.operator and isinstance(lvalue, tree.Name):
            new_value, pass_on = self.compile_copy(expression.value, lvalue.variable)
        elif not expression.operator:
            new_value = self.compile(expression.value)
        elif isinstance(expression.compute, Pointer):
            new_value = self._advanced_pointer(expression, expression.compute)
        else:
            update, read = self._update(expression), self._registers.read(lvalue)

            def new_value(group: Group, mask: Mask) -> Any:
                return update(group, mask, read)

        write = self._registers.write(lvalue)

        def assign(group: Group, mask: Mask) -> Any:
            value = new_value(group, mask)
            write(group, mask, value)
            if pass_on is not None:
                pass_on(group, mask)
            return value

        return assign

    def compile_copy(
        self, value: tree.Expression, target: tree.Variable
    ) -> tuple[Closure, PassOn | None]:
        """The closure of a value that a variable in a register gets, and what is called afterwards.

        A variable that is copied as it is may be without a value: then the copy is, too. What a
        function returns is used by its caller, and must have one.
        """
        source = None if target in self._results else self._copied(value)
        if source is None:
            return self.compile(value), None
        return self.compile(value), self._registers.pass_on_unset(source, target)

    def _copied(self, value: tree.Expression) -> tree.Name | None:
        """The variable in a register that a value is a copy of, which may be without a value."""
        load = strip_casts(value)
        if not (isinstance(load, tree.Load) and isinstance(load.lvalue, tree.Name)):
            return None
        if not load.lvalue.variable.in_register:
            return None
        self._copies.add(load)
        return load.lvalue

    def _assign_in_memory(self, expression: tree.Assign) -> Closure:
        lvalue, ctype = expression.lvalue, expression.lvalue.ctype
        if expression.operator:
            return self._update_in_memory(expression)
        may_be_unset = _is_in_unset_array(lvalue) and not isinstance(ctype, Pointer)
        source = self._copied(expression.value) if may_be_unset else None
        new_value = self.compile(expression.value)
        address, operand = self._addresses.address(lvalue), self.operand(lvalue, ctype)
        memory = self.memory_of(ctype)

        def store(group: Group, mask: Mask) -> Any:
            value = new_value(group, mask)
            memory.store(group, mask, address(group, mask), operand, value)
            return value

        if source is None:
            return store
        unset_copies = self._registers.unset_copies(source)

        def store_copy(group: Group, mask: Mask) -> Any:
            value, unset = new_value(group, mask), unset_copies(group, mask)
            self.memory.store(group, mask, address(group, mask), operand, value, unset)
            return value

        return store_copy

    def _update_in_memory(self, expression: tree.Assign) -> Closure:
        """lvalue op= value: the address is evaluated once, for the load and the store."""
        lvalue, ctype = expression.lvalue, expression.lvalue.ctype
        memory, address = self.memory_of(ctype), self._addresses.address(lvalue)
        moves = isinstance(ctype, Pointer)
        update = self._moved_pointer(expression) if moves else self._update(expression)
        loaded, stored = self.operand(lvalue, ctype), self.operand(lvalue, ctype)

        def store(group: Group, mask: Mask) -> Any:
            target: Address | None = None

            def old(group: Group, mask: Mask) -> Any:
                nonlocal target
                target = address(group, mask)
                return memory.load(group, mask, target, loaded)

            value = update(group, mask, old)
            assert target is not None
            memory.store(group, mask, target, stored, value)
            return value

        return store

    def _moved_pointer(self, expression: tree.Assign) -> Update:
        """The new value of a pointer in memory, in pointer += number and pointer -= number."""
        assert isinstance(expression.compute, Pointer)
        size = size_of(expression.compute.target)
        old_value: list[Closure] = []
        advanced = self._addresses.advance(
            lambda group, mask: old_value[-1](group, mask),
            expression.value,
            size if expression.operator == "+" else -size,
        )

        def update(group: Group, mask: Mask, old: Closure) -> Any:
            old_value.append(old)
            try:
                return advanced(group, mask)
            finally:
                old_value.pop()

        return update

    def _advanced_pointer(self, expression: tree.Assign, pointer: Pointer) -> Closure:
        """The new value of a pointer in pointer += number and pointer -= number."""
        size = size_of(pointer.target)
        old = self._registers.read(expression.lvalue)
        return self._addresses.advance(
            old, expression.value, size if expression.operator == "+" else -size
        )

    def _update(self, expression: tree.Assign) -> Update:
        """The new value of a number in lvalue op= value."""
        contraction = self._contractions.sums.get(expression)
        if contraction is not None:
            return contracted_update(expression, contraction, self)
        operator, compute, target = expression.operator, expression.compute, expression.lvalue.ctype
        assert isinstance(compute, Scalar)
        assert isinstance(target, Scalar)
        value, function = self.compile(expression.value), operation(operator, compute)
        shifts = operator in ("<<", ">>")  # the right operand of a shift keeps its own type
        is_earlier_product = expression in self._contractions.earlier

        def update(group: Group, mask: Mask, old: Closure) -> Any:
            right = value(group, mask)
            right = right if shifts else convert(right, compute)
            left = convert(old(group, mask), compute)
            if is_earlier_product:
                group.products[expression] = (left, right)
            return convert(function(left, right), target)

        return update

    def _increment(self, expression: tree.Increment) -> Closure:
        lvalue, postfix, ctype = expression.lvalue, expression.postfix, expression.ctype
        next_value = _next_value(expression)
        if in_register(lvalue):
            read, write = self._registers.read(lvalue), self._registers.write(lvalue)

            def increment(group: Group, mask: Mask) -> Any:
                old = read(group, mask)
                new = next_value(old)
                write(group, mask, new)
                return old if postfix else new

            return increment
        address, memory = self._addresses.address(lvalue), self.memory_of(ctype)
        loaded, stored = self.operand(lvalue, ctype), self.operand(lvalue, ctype)

        def increment_in_memory(group: Group, mask: Mask) -> Any:
            target = address(group, mask)
            old = memory.load(group, mask, target, loaded)
            new = next_value(old)
            memory.store(group, mask, target, stored, new)
            return old if postfix else new

        return increment_in_memory

    # Operators -----------------------------------------------------------------------------------

    def _cast(self, expression: tree.Cast) -> Closure:
        operand, target = self.compile(expression.operand), expression.ctype
        if isinstance(target, Pointer) and isinstance(expression.operand.ctype, Scalar):
            return lambda group, mask: NULL
        if not isinstance(target, Scalar):
            return operand
        slot, turn = self.memo_slot(), conversion(expression.operand.ctype, target)

        def cast(group: Group, mask: Mask) -> Any:
            value = operand(group, mask)
            memo = group.memo[slot]
            if memo is not None and memo[0] is value:
                return memo[1]
            result = turn(value)
            group.memo[slot] = (value, result)
            return result

        return cast

    def _unary(self, expression: tree.Unary) -> Closure:
        operand = self.compile(expression.operand)
        function = unary(expression.operator, expression.ctype)
        return lambda group, mask: function(operand(group, mask))

    def _binary(self, expression: tree.Binary) -> Closure:
        left, right, operator = expression.left, expression.right, expression.operator
        if isinstance(left.ctype, Pointer) or isinstance(right.ctype, Pointer):
            return self._pointer_binary(expression)
        contraction = self._contractions.sums.get(expression)
        if contraction is not None:
            return contracted_sum(expression, contraction, self)
        a, b, function = self.compile(left), self.compile(right), operation(operator, left.ctype)
        if expression in self._contractions.earlier:
            return remembered_product(expression, a, b)
        if not isinstance(left.ctype, Scalar) or left.ctype.is_float:
            return lambda group, mask: function(a(group, mask), b(group, mask))
        slot = self.memo_slot()
        return lambda group, mask: remember(group, slot, function, a(group, mask), b(group, mask))

    def _pointer_binary(self, expression: tree.Binary) -> Closure:
        """pointer + number, number + pointer, pointer - number; else _pointer_comparison."""
        left, right, operator = expression.left, expression.right, expression.operator
        if operator not in ("+", "-") or not isinstance(expression.ctype, Pointer):
            return self._pointer_comparison(expression)
        size = size_of(expression.ctype.target)
        pointer, number = (left, right) if isinstance(left.ctype, Pointer) else (right, left)
        return self._addresses.advance(
            self.compile(pointer), number, size if operator == "+" else -size
        )

    def _pointer_comparison(self, expression: tree.Binary) -> Closure:
        """pointer - pointer in elements, or a comparison of two pointers, as int64 or bool."""
        left, right, operator = expression.left, expression.right, expression.operator
        a, b, function = self.compile(left), self.compile(right), BINARY[operator]
        span = expression.span
        size = size_of(left.ctype.target) if isinstance(left.ctype, Pointer) else 1

        def compare(group: Group, mask: Mask) -> Any:
            x, y = a(group, mask), b(group, mask)
            x, y = in_buffer_of(x, y), in_buffer_of(y, x)
            if x.buffer is not y.buffer:
                raise SourceError(
                    f"{x.buffer.name} and {y.buffer.name} are different arrays: pointers into "
                    "them cannot be subtracted or compared.",
                    span,
                )
            if x.is_far or y.is_far:
                result = function(
                    np.asarray(x.offset, dtype=object), np.asarray(y.offset, dtype=object)
                )
                return wrap_offsets(result // size) if operator == "-" else result
            result = function(np.int64(x.offset), np.int64(y.offset))
            return result // np.int64(size) if operator == "-" else result

        return compare

    def _logical(self, expression: tree.Logical) -> Closure:
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

    def _conditional(self, expression: tree.Conditional) -> Closure:
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

    def _comma(self, expression: tree.Comma) -> Closure:
        first, second = self.compile(expression.first), self.compile(expression.second)

        def comma(group: Group, mask: Mask) -> Any:
            first(group, mask)
            return second(group, mask)

        return comma

    def _call(self, expression: tree.Call) -> Closure:
        compile_intrinsic = INTRINSICS.get(expression.function)
        if compile_intrinsic is not None:
            return compile_intrinsic(expression, self)
        arguments = [self.compile(argument) for argument in expression.arguments]
        if expression.function.startswith("make_"):
            return lambda group, mask: tuple(argument(group, mask) for argument in arguments)
        function = function_of(expression)
        return lambda group, mask: function(*(argument(group, mask) for argument in arguments))

    def _inlined(self, expression: tree.Inlined) -> Closure:
        """A call of a function of the text: run its body, then read its result."""
        result = expression.function.result
        if result is not None:
            self._results.add(result)
        run = self._compile_function(expression.function)
        if result is None:
            return run
        read = self._registers.read(tree.Name(result.ctype, expression.span, result))

        def call(group: Group, mask: Mask) -> Any:
            run(group, mask)
            return read(group, mask)

        return call


def _is_in_unset_array(lvalue: tree.Expression) -> bool:
    """Whether an lvalue is a cell of an array that holds only what the kernel writes to it."""
    while isinstance(lvalue, tree.Index):
        lvalue = lvalue.base
    return isinstance(lvalue, tree.Name) and lvalue.variable.space in tree.UNSET_SPACES


def _next_value(expression: tree.Increment) -> Callable[[Any], Any]:
    """The function that gives the value after ++ or --, of a number or an Address."""
    match expression.ctype:
        case Pointer(target=target):
            shift = expression.delta * size_of(target)
            return lambda old: old.moved(shift)
        case Scalar(dtype=dtype):
            one = dtype.type(1)
            function = operation("+" if expression.delta > 0 else "-", expression.ctype)
            return lambda old: function(old, one)
        case _:
            raise SourceError("This cannot be counted up or down.", expression.span)
