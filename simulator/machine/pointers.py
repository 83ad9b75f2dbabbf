"""Pointers in memory: 64-bit numbers, each of which stands for an array and an offset in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.errors import SourceError, Span
from simulator.language.tree import MemorySpace
from simulator.machine.buffers import NULL, NULL_OFFSET, Address, Buffer, clip_offsets
from simulator.machine.group import Group
from simulator.machine.load_store import Memory, MemoryOperand
from simulator.machine.masks import Mask, as_array

OFFSET_BITS = 42  # of the number, more than any array is long; those above number the array
MIDDLE = -NULL_OFFSET  # an offset of 0: pointers may lie before their array
MAX_ARRAYS = 2**20  # the most arrays that pointers in memory may point into


class PointerMemory:
    """Loads and stores pointers, as Memory does numbers; a cell of zeros is a null pointer."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._arrays: list[Buffer] = [NULL.buffer]
        self._numbers: dict[Buffer, int] = {NULL.buffer: 0}

    def load(self, group: Group, mask: Mask, address: Address, operand: MemoryOperand) -> Address:
        """The pointers at an address."""
        codes = self._memory.load(group, mask, address, operand)
        return self._decode(group, mask, codes, operand.lvalue.span)

    def store(
        self, group: Group, mask: Mask, address: Address, operand: MemoryOperand, values: Address
    ) -> None:
        """Write pointers at an address."""
        buffer = values.buffer
        if buffer.space is MemorySpace.LOCAL and address.buffer.space is not MemorySpace.LOCAL:
            raise SourceError(
                f"A pointer to {buffer.name}, an array of each thread's own, is stored here where "
                "other threads see it.",
                operand.lvalue.span,
            )
        codes = self.encode(values, operand.lvalue.span)
        self._memory.store(group, mask, address, operand, codes)

    def encode(self, address: Address, span: Span) -> Any:
        """Addresses as the numbers that stand for them, uint64 [lanes] or one."""
        buffer = address.buffer
        if buffer is NULL.buffer:
            return np.uint64(0)
        number = self._numbers.get(buffer)
        if number is None:
            if len(self._arrays) >= MAX_ARRAYS:
                raise SourceError("Too many arrays are pointed to from memory.", span)
            number = self._numbers[buffer] = len(self._arrays)
            self._arrays.append(buffer)
        offsets = np.clip(clip_offsets(address.offset), NULL_OFFSET, MIDDLE - 1)
        codes = (offsets + MIDDLE).astype(np.uint64) + np.uint64(number << OFFSET_BITS)
        codes = np.where(offsets == NULL_OFFSET, np.uint64(0), codes)
        return codes if np.ndim(codes) else np.uint64(codes)

    def _decode(self, group: Group, mask: Mask, codes: Any, span: Span) -> Address:
        every = group.spread(codes)
        active = every[as_array(mask, group.lanes)]
        numbers = active[active != 0] >> np.uint64(OFFSET_BITS)
        first = int(numbers[0]) if numbers.size else 0
        if first >= len(self._arrays):
            raise SourceError(
                "This pointer was not stored by the kernel; a launch gives arrays by parameters, "
                "not by pointers within structs.",
                span,
            )
        others = numbers[numbers != first]
        if others.size:
            other = int(others[0])
            names = [self._arrays[n].name if n < len(self._arrays) else "?" for n in (first, other)]
            raise SourceError(
                f"Here threads point into different arrays ({names[0]} and {names[1]}), which is "
                "not supported.",
                span,
            )
        buffer = self._arrays[first]
        if not first:
            return NULL
        offsets = (every & np.uint64(2**OFFSET_BITS - 1)).astype(np.int64) + NULL_OFFSET
        if (active == active[0]).all():
            return Address(buffer, None, int(active[0] & np.uint64(2**OFFSET_BITS - 1)) - MIDDLE)
        return Address(buffer, offsets, 0)
