"""Addresses of shared memory as numbers: the bytes from the start of the block's shared memory.

CUDA leaves open what the numbers are, and a GPU's differ from these by a constant. Instructions
that take one, such as cp.async, find the array that it lies in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.language.errors import SourceError
from simulator.language.functions import TO_SHARED, TO_SHARED_POINTER
from simulator.language.tree import Call, MemorySpace
from simulator.machine.buffers import Address, Buffer, clip_offsets
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import Mask, as_array


def _to_number(call: Call, compiler: ExpressionCompiler) -> Closure:
    """The number of a pointer into shared memory: uint64 [lanes], or one."""
    pointer = compiler.compile(call.arguments[0])

    def number(group: Group, mask: Mask) -> Any:
        address: Address = pointer(group, mask)
        buffer = address.buffer
        if buffer.space is not MemorySpace.SHARED:
            raise SourceError(
                f"This is the address of {buffer.name}, which is not in shared memory: "
                f"{TO_SHARED} takes a pointer to a __shared__ array.",
                call.span,
            )
        numbers = (clip_offsets(address.offset) + buffer.offset).astype(np.uint64)
        return numbers if numbers.ndim else numbers[()]

    return number


def _to_pointer(call: Call, compiler: ExpressionCompiler) -> Closure:
    """The pointer that such a number stands for; SourceError where lanes name several arrays."""
    value = compiler.compile(call.arguments[0])

    def pointer(group: Group, mask: Mask) -> Address:
        buffers = sorted(group.shared.values(), key=lambda buffer: buffer.offset)
        if not buffers:
            raise SourceError(
                "This should be an address in shared memory, and the kernel has no __shared__ "
                "array.",
                call.span,
            )
        numbers = np.asarray(value(group, mask)).astype(np.int64)
        active = group.spread(numbers)[as_array(mask, group.lanes)]
        buffer = _array_of(buffers, active, call)
        if not numbers.ndim:
            return Address(buffer, None, int(numbers) - buffer.offset)
        return Address(buffer, numbers - buffer.offset, 0)

    return pointer


def _array_of(buffers: list[Buffer], numbers: Any, call: Call) -> Buffer:
    """The array, the last that starts at or before them, in which numbers int64 [n] lie."""
    starts = np.array([buffer.offset for buffer in buffers])
    found = np.unique(np.maximum(np.searchsorted(starts, numbers, side="right") - 1, 0))
    if found.size > 1:
        first, second = (buffers[number].name for number in found[:2])
        raise SourceError(
            f"Here threads use addresses in different arrays ({first} and {second}), which is not "
            "supported.",
            call.span,
        )
    return buffers[int(found[0]) if found.size else 0]


SHARED_ADDRESSES: Mapping[str, CompileCall] = {
    TO_SHARED: _to_number,
    TO_SHARED_POINTER: _to_pointer,
}
