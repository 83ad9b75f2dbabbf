"""CUDA's functions that touch memory or other lanes: atomics, shuffles, votes, asynchronous copies.

Each function here compiles a call of one or more of them to a closure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import VECTORS, Array, CType, Pointer, Scalar
from simulator.language.errors import SourceError
from simulator.language.tree import Call, Dereference, Literal, MemorySpace
from simulator.language.visit import strip_casts
from simulator.launch import WARP_SIZE
from simulator.machine.buffers import element_of
from simulator.machine.closures import Closure, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import Mask, as_array

CompileCall = Callable[[Call, ExpressionCompiler], Closure]


def _exchange(old: Any, value: Any) -> Any:
    return value


ATOMICS: Mapping[str, Callable[[Any, Any], Any]] = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMax": np.maximum,
    "atomicMin": np.minimum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
    "atomicExch": _exchange,
}


def _atomic(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the old value; lanes that share a cell update it in the order of their numbers."""
    pointer, value = (compiler.compile(argument) for argument in call.arguments[:2])
    function, ctype = ATOMICS[call.function], _target(call)
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, slot = compiler.memory, compiler.memo_slot()

    def atomic(group: Group, mask: Mask) -> Any:
        operand = value(group, mask)
        return memory.update(
            group, mask, pointer(group, mask), ctype, lvalue, slot, function, operand
        )

    return atomic


def _compare_and_swap(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives the old value; replaces it where it equals the second argument."""
    pointer, compare, value = (compiler.compile(argument) for argument in call.arguments)
    ctype = _target(call)
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, slot = compiler.memory, compiler.memo_slot()

    def swap(group: Group, mask: Mask) -> Any:
        pair = np.stack(
            [group.spread(compare(group, mask)), group.spread(value(group, mask))], axis=-1
        )

        def replace(old: Any, pair: Any) -> Any:
            return np.where(old == pair[..., 0], pair[..., 1], old)

        return memory.update(group, mask, pointer(group, mask), ctype, lvalue, slot, replace, pair)

    return swap


def _target(call: Call) -> Scalar:
    """The type that an atomic's pointer points to."""
    pointer = call.arguments[0].ctype
    if not isinstance(pointer, Pointer) or not isinstance(pointer.target, Scalar):
        raise SourceError(f"{call.function} takes a pointer to a number.", call.span)
    return pointer.target


# Lanes of a warp -------------------------------------------------------------------------------


def _sources(mode: str, lane: Array, amount: Any, width: Any) -> tuple[Array, Array]:
    """The lane of the warp that each lane [lanes] reads from, and whether that is in its segment.

    width is lanes a segment. See CUDA C++ Programming Guide, warp shuffle functions.
    """
    segment = lane // width * width
    match mode:
        case "__shfl_up_sync":
            source = lane - amount
            return source, source >= segment
        case "__shfl_down_sync":
            source = lane + amount
            return source, source < segment + width
        case "__shfl_xor_sync":
            source = lane ^ amount
            return source, source < segment + width
        case _:
            source = segment + amount % width
            return source, np.ones(lane.shape, np.bool_)


def _shuffle(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives another lane's value; a lane's own if the other is outside its segment or warp."""
    _, value, amount, *rest = (compiler.compile(argument) for argument in call.arguments)
    width = rest[0] if rest else None

    def shuffle(group: Group, mask: Mask) -> Any:
        values = group.spread(value(group, mask))
        by = group.spread(amount(group, mask)).astype(np.int64)
        segment = WARP_SIZE if width is None else group.spread(width(group, mask)).astype(np.int64)
        lane = group.warp_lanes
        source, inside = _sources(call.function, lane, by, segment)
        position = group.lane_numbers + source - lane
        inside = inside & (source >= 0) & (source < WARP_SIZE) & (position < group.lanes)
        read = values.take(np.where(inside, position, group.lane_numbers), mode="clip")
        return np.where(inside, read, values)

    return shuffle


def _vote(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Gives whether any or all active lanes of a warp hold, or a bit for each that does."""
    predicate = compiler.compile(call.arguments[1])

    def vote(group: Group, mask: Mask) -> Any:
        holds = group.spread(predicate(group, mask)) != 0
        active = as_array(mask, group.lanes)
        warps = group.warp_numbers
        count = int(warps[-1]) + 1
        match call.function:
            case "__any_sync":
                found = np.bincount(warps, holds & active, count) > 0
                return found[warps].astype(np.int32)
            case "__all_sync":
                failed = np.bincount(warps, ~holds & active, count) > 0
                return (~failed)[warps].astype(np.int32)
            case _:
                bits = (holds & active).astype(np.float64) * 2.0**group.warp_lanes
                return np.bincount(warps, bits, count)[warps].astype(np.uint32)

    return vote


def _syncwarp(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Counts the call, which orders the accesses of a warp; its lanes always run together here."""

    def sync(group: Group, mask: Mask) -> Any:
        group.warp_syncs += 1
        return np.int32(0)

    return sync


def _fence(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Does nothing: every access of the machine is complete before the next."""
    return lambda group, mask: np.int32(0)


# Asynchronous copies -----------------------------------------------------------------------------


def _copy(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Loads at once; stores to shared memory when the batch of the copy is waited for."""
    target, source, size, *rest = (strip_casts(argument) for argument in call.arguments)
    zero_fill = rest and not (isinstance(rest[0], Literal) and not rest[0].value)
    if not isinstance(size, Literal) or int(size.value) not in (4, 8, 16) or zero_fill:
        raise SourceError(
            "__pipeline_memcpy_async takes 4, 8 or 16 bytes, known before the launch, and no "
            "zero-fill here.",
            call.span,
        )
    assert isinstance(target.ctype, Pointer)
    element = element_of(target.ctype.target)
    count = int(size.value) // element.size
    ctype: CType = element
    if count > 1:
        name = {"unsigned int": "uint"}.get(element.name, element.name) + str(count)
        if name not in VECTORS:
            raise SourceError(f"A copy of {count} {element} at once is not supported.", call.span)
        ctype = VECTORS[name]
    to, origin = compiler.compile(target), compiler.compile(source)
    memory, load_slot, store_slot = compiler.memory, compiler.memo_slot(), compiler.memo_slot()
    stored = Dereference(ctype, target.span, target)
    loaded = Dereference(ctype, source.span, source, copied=True)

    def copy(group: Group, mask: Mask) -> Any:
        address = to(group, mask)
        if address.buffer.space is MemorySpace.LOCAL:
            raise SourceError(
                "__pipeline_memcpy_async copies to shared memory, and "
                f"{address.buffer.name} is an array of each thread's own.",
                call.span,
            )
        values = memory.load(group, mask, origin(group, mask), ctype, loaded, load_slot)
        memory.begin_store(group, mask, address, ctype, stored, store_slot)

        def store() -> None:
            memory.store(group, mask, address, ctype, stored, store_slot, values)

        group.uncommitted.append(store)
        return np.int32(0)

    return copy


def _commit(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Makes a batch of the copies since the last commit."""

    def commit(group: Group, mask: Mask) -> Any:
        group.committed.append(group.uncommitted)
        group.uncommitted = []
        return np.int32(0)

    return commit


def _wait(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Completes the oldest batches, all but as many as the argument says."""
    number = strip_casts(call.arguments[0])
    if not isinstance(number, Literal):
        raise SourceError(f"{call.function} takes a number known before the launch.", call.span)
    unfinished = int(number.value)

    def wait(group: Group, mask: Mask) -> Any:
        while len(group.committed) > unfinished:
            for store in group.committed.pop(0):
                store()
        return np.int32(0)

    return wait


INTRINSICS: Mapping[str, CompileCall] = {
    **dict.fromkeys(ATOMICS, _atomic),
    "atomicCAS": _compare_and_swap,
    **dict.fromkeys(
        ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"), _shuffle
    ),
    **dict.fromkeys(("__any_sync", "__all_sync", "__ballot_sync"), _vote),
    "__syncwarp": _syncwarp,
    **dict.fromkeys(("__threadfence", "__threadfence_block"), _fence),
    "__pipeline_memcpy_async": _copy,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
}
