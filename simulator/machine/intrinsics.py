"""CUDA's functions that touch memory or other lanes: atomics, shuffles, votes, asynchronous copies.

Each compiles its Call to a closure, given the evaluator that compiles the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.language.ctype import VECTORS, Array, CType, Pointer, Scalar
from simulator.language.errors import SourceError
from simulator.language.tree import Call, Dereference, Literal
from simulator.language.visit import strip_casts
from simulator.launch import WARP_SIZE
from simulator.machine.addresses import Closure
from simulator.machine.buffers import element_of
from simulator.machine.group import Group, Mask, as_array

if TYPE_CHECKING:
    from simulator.machine.expressions import Evaluator

Compile = Callable[[Call, "Evaluator"], Closure]


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


def _atomic(call: Call, evaluator: Evaluator) -> Closure:
    """The old value; lanes that name one cell take their turns in lane order."""
    pointer, value = (evaluator.compile(argument) for argument in call.arguments[:2])
    function, ctype = ATOMICS[call.function], _target(call)
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, slot = evaluator.memory, evaluator.memo()

    def atomic(group: Group, mask: Mask) -> Any:
        operand = value(group, mask)
        return memory.update(
            group, mask, pointer(group, mask), ctype, lvalue, slot, function, operand
        )

    return atomic


def _compare_and_swap(call: Call, evaluator: Evaluator) -> Closure:
    pointer, compare, value = (evaluator.compile(argument) for argument in call.arguments)
    ctype = _target(call)
    lvalue = Dereference(ctype, call.arguments[0].span, call.arguments[0])
    memory, slot = evaluator.memory, evaluator.memo()

    def swap(group: Group, mask: Mask) -> Any:
        pair = np.stack(
            [group.spread(compare(group, mask)), group.spread(value(group, mask))], axis=-1
        )

        def chosen(old: Any, given: Any) -> Any:
            return np.where(old == given[..., 0], given[..., 1], old)

        return memory.update(group, mask, pointer(group, mask), ctype, lvalue, slot, chosen, pair)

    return swap


def _target(call: Call) -> Scalar:
    pointer = call.arguments[0].ctype
    if not isinstance(pointer, Pointer) or not isinstance(pointer.target, Scalar):
        raise SourceError(f"{call.function} takes a pointer to a number.", call.span)
    return pointer.target


# Lanes of a warp -------------------------------------------------------------------------------


def _sources(mode: str, lane: Array, amount: Any, width: Any) -> tuple[Array, Array]:
    """The lane each lane reads from, and whether that is within its segment.

    CUDA C++ Programming Guide, warp shuffle functions: out of its segment a lane gets its own.
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


def _shuffle(call: Call, evaluator: Evaluator) -> Closure:
    _, value, amount, *rest = (evaluator.compile(argument) for argument in call.arguments)
    width = rest[0] if rest else None

    def shuffle(group: Group, mask: Mask) -> Any:
        given = group.spread(value(group, mask))
        by = group.spread(amount(group, mask)).astype(np.int64)
        segment = 32 if width is None else group.spread(width(group, mask)).astype(np.int64)
        lane = group.warp_lanes
        source, inside = _sources(call.function, lane, by, segment)
        position = group.lane_numbers + source - lane
        there = inside & (source >= 0) & (source < WARP_SIZE) & (position < group.lanes)
        taken = given.take(np.where(there, position, group.lane_numbers), mode="clip")
        return np.where(there, taken, given)

    return shuffle


def _vote(call: Call, evaluator: Evaluator) -> Closure:
    predicate = evaluator.compile(call.arguments[1])

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


def _syncwarp(call: Call, evaluator: Evaluator) -> Closure:
    """Orders the warp's accesses; its lanes are together here already."""

    def sync(group: Group, mask: Mask) -> Any:
        group.warp_syncs += 1
        return np.int32(0)

    return sync


def _nothing(call: Call, evaluator: Evaluator) -> Closure:
    """A fence: every access here is complete before the next."""
    return lambda group, mask: np.int32(0)


# Asynchronous copies -----------------------------------------------------------------------------


def _copy(call: Call, evaluator: Evaluator) -> Closure:
    """Reads now; the shared cells get their values when the batch is waited for."""
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
    to, origin = evaluator.compile(target), evaluator.compile(source)
    memory, load_slot, store_slot = evaluator.memory, evaluator.memo(), evaluator.memo()
    there = Dereference(ctype, target.span, target)
    here = Dereference(ctype, source.span, source, copied=True)

    def copy(group: Group, mask: Mask) -> Any:
        address = to(group, mask)
        if address.buffer.space == "local":
            raise SourceError(
                "__pipeline_memcpy_async copies to shared memory, and "
                f"{address.buffer.name} is an array of each thread's own.",
                call.span,
            )
        values = memory.load(group, mask, origin(group, mask), ctype, here, load_slot)
        memory.begin_store(group, mask, address, ctype, there, store_slot)

        def arrive() -> None:
            memory.store(group, mask, address, ctype, there, store_slot, values)

        group.pending.append(arrive)
        return np.int32(0)

    return copy


def _commit(call: Call, evaluator: Evaluator) -> Closure:
    def commit(group: Group, mask: Mask) -> Any:
        group.batches.append(group.pending)
        group.pending = []
        return np.int32(0)

    return commit


def _wait(call: Call, evaluator: Evaluator) -> Closure:
    prior = strip_casts(call.arguments[0])
    if not isinstance(prior, Literal):
        raise SourceError(f"{call.function} takes a number known before the launch.", call.span)
    left = int(prior.value)

    def wait(group: Group, mask: Mask) -> Any:
        while len(group.batches) > left:
            for arrive in group.batches.pop(0):
                arrive()
        return np.int32(0)

    return wait


INTRINSICS: Mapping[str, Compile] = {
    **dict.fromkeys(ATOMICS, _atomic),
    "atomicCAS": _compare_and_swap,
    **dict.fromkeys(
        ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"), _shuffle
    ),
    **dict.fromkeys(("__any_sync", "__all_sync", "__ballot_sync"), _vote),
    "__syncwarp": _syncwarp,
    **dict.fromkeys(("__threadfence", "__threadfence_block"), _nothing),
    "__pipeline_memcpy_async": _copy,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
}
