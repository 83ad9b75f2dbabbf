"""Atomics: read, change and write a cell; lanes that share one in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import UINT, Pointer, Scalar, Vector
from simulator.language.errors import SourceError
from simulator.language.functions import ATOMIC_OPERATIONS, ATOMIC_SCOPES
from simulator.language.number_types import short_float
from simulator.language.tree import Call, Dereference
from simulator.machine.arithmetic import operation
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import Mask


def _increment(old: Any, limit: Any) -> Any:
    """Counts up; from the limit, or above it, to 0 (CUDA C++ Programming Guide, atomicInc)."""
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Any, limit: Any) -> Any:
    """Counts down; from 0, or from above the limit, to the limit (the guide's atomicDec)."""
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


UPDATES: Mapping[str, Callable[[Any, Any], Any]] = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMax": np.maximum,
    "atomicMin": np.minimum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
    "atomicExch": lambda old, value: value,
    "atomicInc": _increment,
    "atomicDec": _decrement,
}


def _update(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the old value; lanes that share a cell update it in the order of their numbers."""
    pointed = call.arguments[0].ctype
    if isinstance(pointed, Pointer) and isinstance(pointed.target, Vector):
        return _add_pairs(call, pointed.target, compiler)
    pointer, value = (compiler.compile(argument) for argument in call.arguments[:2])
    ctype = _target(call)
    name = _operation(call)
    function = operation("+", ctype) if name == "atomicAdd" else UPDATES[name]
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, cell = compiler.memory, compiler.operand(lvalue, ctype)

    def update(group: Group, mask: Mask) -> Any:
        values = value(group, mask)
        return memory.update(group, mask, pointer(group, mask), cell, function, values)

    return update


def _add_pairs(call: Call, pair: Vector, compiler: ExpressionCompiler) -> Closure:
    """atomicAdd of half2 and its kind: adds both numbers in a cell of 32 bits; gives the old pair.

    Raises SourceError for other short vectors.
    """
    element = pair.element
    if short_float(pair) is None:
        raise SourceError(f"{call.function} takes a pointer to a number.", call.span)
    pointer, value = (compiler.compile(argument) for argument in call.arguments)
    lvalue = Dereference(UINT, call.arguments[0].span, call.arguments[0])
    memory, cell = compiler.memory, compiler.operand(lvalue, UINT)
    plus = operation("+", element)

    def add(old: Any, operand: Any) -> Any:
        sides = (np.ascontiguousarray(each).view(element.cell_dtype) for each in (old, operand))
        return element.cells_of(plus(*map(element.values_of, sides))).view(np.uint32)

    def update(group: Group, mask: Mask) -> Any:
        halves = [group.spread(half) for half in value(group, mask)]
        words = np.ascontiguousarray(element.cells_of(np.stack(halves, axis=-1)))
        words = words.view(np.uint32)[..., 0]
        old = memory.update(group, mask, pointer(group, mask), cell, add, words)
        pairs = element.values_of(old.view(element.cell_dtype)).reshape(-1, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    return update


def _compare_and_swap(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the old value; replaces it where it equals the second argument."""
    pointer, compare, value = (compiler.compile(argument) for argument in call.arguments)
    ctype = _target(call)
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, cell = compiler.memory, compiler.operand(lvalue, ctype)

    def swap(group: Group, mask: Mask) -> Any:
        pair = np.stack(
            [group.spread(compare(group, mask)), group.spread(value(group, mask))], axis=-1
        )

        def replace(old: Any, pair: Any) -> Any:
            return np.where(old == pair[..., 0], pair[..., 1], old)

        return memory.update(group, mask, pointer(group, mask), cell, replace, pair)

    return swap


def _operation(call: Call) -> str:
    """The operation of an atomic, without its scope."""
    for scope in filter(None, ATOMIC_SCOPES):
        if call.function.endswith(scope):
            return call.function.removesuffix(scope)
    return call.function


def _target(call: Call) -> Scalar:
    """The type that an atomic's pointer points to."""
    pointer = call.arguments[0].ctype
    if not isinstance(pointer, Pointer) or not isinstance(pointer.target, Scalar):
        raise SourceError(f"{call.function} takes a pointer to a number.", call.span)
    return pointer.target


ATOMICS: Mapping[str, CompileCall] = {
    f"{operation}{scope}": _compare_and_swap if operation == "atomicCAS" else _update
    for operation in ATOMIC_OPERATIONS
    for scope in ATOMIC_SCOPES
}
