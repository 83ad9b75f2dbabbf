"""Asynchronous copies to shared memory: they begin, are committed as batches and waited for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import CType, Pointer, Vector
from simulator.language.errors import SourceError
from simulator.language.tree import Call, Dereference, Literal, MemorySpace
from simulator.language.visit import strip_casts
from simulator.machine.buffers import element_of
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.load_store import zero_outside
from simulator.machine.masks import NONE, Mask, as_array, narrow


def _copy(call: Call, compiler: ExpressionCompiler) -> Closure:
    """Loads at once; stores to shared memory when the batch of the copy is waited for."""
    target, source, size, *rest = (strip_casts(argument) for argument in call.arguments)
    if not isinstance(size, Literal) or int(size.value) not in (4, 8, 16):
        raise SourceError(
            "__pipeline_memcpy_async takes 4, 8 or 16 bytes, known before the launch.", call.span
        )
    fills = rest and not (isinstance(rest[0], Literal) and not rest[0].value)
    zero_fill = compiler.compile(rest[0]) if fills else None
    assert isinstance(target.ctype, Pointer)
    element = element_of(target.ctype.target)
    copied = int(size.value)
    count = copied // element.size
    ctype: CType = element
    if count > 1:
        ctype = Vector(f"{element}[{count}]", element, count)
    to, origin = compiler.compile(target), compiler.compile(source)
    memory = compiler.memory
    stored = compiler.operand(Dereference(ctype, target.span, target), ctype)
    loaded = compiler.operand(Dereference(ctype, source.span, source, copied=True), ctype)

    def copy(group: Group, mask: Mask) -> Any:
        address = to(group, mask)
        if address.buffer.space is MemorySpace.LOCAL:
            raise SourceError(
                "__pipeline_memcpy_async copies to shared memory, and "
                f"{address.buffer.name} is an array of each thread's own.",
                call.span,
            )
        reads = mask
        if zero_fill is not None:
            zeros = zero_fill(group, mask)
            _refuse_partial_fill(call, group, mask, zeros, copied)
            reads = narrow(mask, zeros == 0)
        # A lane that reads nothing may have any address.
        is_shared = address.buffer.space is MemorySpace.SHARED and not address.is_far
        target = address if is_shared else None
        values = memory.load(group, reads, origin(group, mask), loaded, target)
        if reads is not mask:
            values = zero_outside(group, reads, values)
        memory.begin_store(group, mask, address, stored)

        def store() -> None:
            memory.store(group, mask, address, stored, values)

        group.uncommitted.append(store)
        return np.int32(0)

    return copy


def _refuse_partial_fill(call: Call, group: Group, mask: Mask, zeros: Any, size: int) -> None:
    """SourceError where an active lane fills a part of its copy with zeros; zeros are bytes."""
    wrong = narrow(mask, (zeros != 0) & (zeros != size))
    if wrong is not NONE:
        part = np.broadcast_to(zeros, group.lanes)[as_array(wrong, group.lanes)][0]
        raise SourceError(
            f"__pipeline_memcpy_async fills {part} of {size} bytes with zeros; here it may fill "
            f"none or all {size}.",
            call.span,
        )


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


ASYNC_COPIES: Mapping[str, CompileCall] = {
    "__pipeline_memcpy_async": _copy,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
}
