"""Loads, stores and atomics: from an address, through bounds and alignment, to NumPy's cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np

from simulator.language.ctype import Array, CType, Scalar, Vector, size_of
from simulator.language.errors import SourceError
from simulator.language.tree import Expression, MemorySpace
from simulator.machine.buffers import Address, Buffer, element_of
from simulator.machine.group import Group
from simulator.machine.masks import ALL, NONE, Mask, as_array
from simulator.machine.observer import (
    Access,
    AccessKind,
    Fault,
    FaultReason,
    Observer,
    Pattern,
    callbacks,
)

# Where an access goes: its pattern; its base in bytes; the mask of the lanes that are inside the
# array and aligned; and their first element in the buffer's view, int [lanes] or one int.
Located = tuple[Pattern, int, Mask, Any]


class Memory:
    """Reads and writes cells for the active lanes, and notifies observers.

    Its methods take the address of an lvalue of a C type, and the slot of Group.memo that stores
    the last pattern of this access. Lanes outside the array or not aligned fault: a load gives 0
    for them, a store or atomic leaves them out.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._on_access = callbacks(observers, "on_access")
        self._on_store = callbacks(observers, "on_store")
        self._on_fault = callbacks(observers, "on_fault")
        self._on_copy = callbacks(observers, "on_copy")

    def load(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        slot: int,
        target: Address | None = None,
    ) -> Any:
        """The values at an address: an array [lanes], one number, or a tuple of components.

        target is where in shared memory an asynchronous copy writes them.
        """
        located = self._locate(group, mask, address, ctype, lvalue, slot, AccessKind.LOAD)
        pattern, _, allowed, index = located
        cells = pattern.buffer.view(element_of(ctype).dtype)
        values: Any
        if isinstance(ctype, Vector):
            values = tuple(
                _gather(cells, index, i * pattern.step, pattern) for i in range(ctype.length)
            )
        else:
            values = _gather(cells, index, 0, pattern)
        if allowed is not mask:
            values = zero_outside(group, allowed, values)
        if self._on_access and allowed is not NONE:
            access = _build_access(AccessKind.LOAD, group, located, ctype, values, lvalue)
            access.target = target
            for notify in self._on_access:
                notify(access)
        return values

    def store(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        slot: int,
        values: Any,
    ) -> None:
        """Write values at an address; where lanes share a cell, the last lane's value remains."""
        located = self._locate(group, mask, address, ctype, lvalue, slot, AccessKind.STORE)
        pattern, _, allowed, index = located
        if allowed is NONE:
            return
        access: Access | None = None
        if self._on_access or self._on_store:
            access = _build_access(AccessKind.STORE, group, located, ctype, values, lvalue)
            for notify in self._on_store:
                notify(access)
        cells = pattern.buffer.view(element_of(ctype).dtype)
        if isinstance(ctype, Vector):
            for i, component in enumerate(values):
                _scatter(group, cells, index, i * pattern.step, pattern, allowed, component)
        else:
            _scatter(group, cells, index, 0, pattern, allowed, values)
        if access is not None:
            for notify in self._on_access:
                notify(access)

    def begin_store(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        slot: int,
    ) -> None:
        """Notify observers that a later store may change its cells from now on.

        Lanes that will fault are left out; the store itself reports them.
        """
        if not self._on_copy:
            return
        located = self._locate(group, mask, address, ctype, lvalue, slot, None)
        _, _, allowed, _ = located
        if allowed is NONE:
            return
        access = _build_access(AccessKind.STORE, group, located, ctype, None, lvalue)
        for notify in self._on_copy:
            notify(access)

    def update(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: Scalar,
        lvalue: Expression,
        slot: int,
        function: Any,
        operand: Any,
    ) -> Any:
        """An atomic: write function(old, operand) at an address; gives the old values [lanes].

        Lanes that share a cell update it one after another, in the order of their numbers.
        """
        located = self._locate(group, mask, address, ctype, lvalue, slot, AccessKind.STORE)
        pattern, _, allowed, index = located
        old = np.zeros(group.lanes, ctype.dtype)
        if allowed is NONE:
            return old
        cells = pattern.buffer.view(ctype.dtype)
        if pattern.buffer.space is MemorySpace.LOCAL:
            raise SourceError("An atomic needs shared or global memory.", lvalue.span)
        cell_of = np.broadcast_to(index, (group.lanes,))
        operands = np.broadcast_to(operand, (group.lanes, *np.shape(operand)[1:]))
        waiting = np.flatnonzero(as_array(allowed, group.lanes))
        while waiting.size:  # each round serves the first waiting lane of every cell
            _, first = np.unique(cell_of[waiting], return_index=True)
            lanes = waiting[first]
            old[lanes] = cells[cell_of[lanes]]
            cells[cell_of[lanes]] = function(old[lanes], operands[lanes])
            waiting = np.delete(waiting, first)
        if self._on_access:
            access = _build_access(AccessKind.ATOMIC, group, located, ctype, old, lvalue)
            for notify in self._on_access:
                notify(access)
        return old

    # Bounds and alignment ------------------------------------------------------------------------

    def _locate(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        slot: int,
        kind: AccessKind | None,
    ) -> Located:
        """Where the active lanes access memory. The others fault, unless kind is None."""
        if address.is_far:
            address, mask = self._bring_near(group, mask, address, ctype, lvalue, kind)
        size, base = element_of(ctype).size, address.base
        pattern: Pattern | None = group.memo[slot]
        if (
            pattern is None
            or pattern.lane_offsets is not address.lane_offsets
            or pattern.buffer is not address.buffer
        ):
            _refuse_reinterpretation(address.buffer, element_of(ctype), lvalue)
            if kind is not AccessKind.LOAD:
                _refuse_constant(address.buffer, lvalue)
            pattern = group.memo[slot] = _build_pattern(group, address, ctype)
        if not (
            pattern.aligned
            and base % _alignment(ctype) == 0
            and base + pattern.low >= 0
            and base + pattern.high <= pattern.buffer.size - size_of(ctype)
        ):
            mask = self._drop_faults(group, mask, pattern, base, ctype, lvalue, kind)
        shift = base // size * pattern.step
        return pattern, base, mask, shift if pattern.index is None else pattern.index + shift

    def _bring_near(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        kind: AccessKind | None,
    ) -> tuple[Address, Mask]:
        """A far address and its mask without the lanes that are outside the array.

        Those lanes fault, unless kind is None.
        """
        buffer, width = address.buffer, size_of(ctype)
        offsets = group.spread(np.asarray(address.offset, dtype=object))
        active = as_array(mask, group.lanes)
        inside = (offsets >= 0) & (offsets <= buffer.size - width)
        if kind is not None:
            outside = active & ~inside
            self._report(
                FaultReason.OUT_OF_BOUNDS, kind, group, buffer, offsets, outside, width, lvalue
            )
        near = None if address.lane_offsets is None else np.where(inside, offsets, 0)
        lane_offsets = None if near is None else near.astype(np.int64)
        allowed = active & inside
        return Address(buffer, lane_offsets, 0), allowed if allowed.any() else NONE

    def _drop_faults(
        self,
        group: Group,
        mask: Mask,
        pattern: Pattern,
        base: int,
        ctype: CType,
        lvalue: Expression,
        kind: AccessKind | None,
    ) -> Mask:
        """The active lanes whose address is inside the array and aligned.

        The others fault, unless kind is None.
        """
        width, lane_offsets = size_of(ctype), pattern.lane_offsets
        offsets = group.spread(base if lane_offsets is None else lane_offsets + base)
        active = as_array(mask, group.lanes)
        outside = active & ((offsets < 0) | (offsets > pattern.buffer.size - width))
        misaligned = active & ~outside & (offsets % _alignment(ctype) != 0)
        if kind is not None:
            for reason, lanes in (
                (FaultReason.OUT_OF_BOUNDS, outside),
                (FaultReason.MISALIGNED, misaligned),
            ):
                self._report(reason, kind, group, pattern.buffer, offsets, lanes, width, lvalue)
        wrong = outside | misaligned
        if not wrong.any():
            return mask
        allowed = active & ~wrong
        return allowed if allowed.any() else NONE

    def _report(
        self,
        reason: FaultReason,
        kind: AccessKind,
        group: Group,
        buffer: Buffer,
        offsets: Array,
        lanes: Array,
        width: int,
        lvalue: Expression,
    ) -> None:
        """Notify observers of a fault, if any of the lanes [lanes] are set."""
        if not lanes.any():
            return
        fault = Fault(
            reason=reason,
            kind=kind,
            group=group,
            buffer=buffer,
            offsets=offsets,
            lanes=lanes,
            width=width,
            lvalue=lvalue,
        )
        for notify in self._on_fault:
            notify(fault)


def _build_access(
    kind: AccessKind, group: Group, located: Located, ctype: CType, values: Any, lvalue: Expression
) -> Access:
    pattern, base, mask, index = located
    return Access(
        kind=kind,
        group=group,
        pattern=pattern,
        base=base,
        mask=mask,
        width=size_of(ctype),
        component_size=element_of(ctype).size,
        index=index,
        values=values,
        lvalue=lvalue,
    )


def _build_pattern(group: Group, address: Address, ctype: CType) -> Pattern:
    """What follows from the lanes' offsets, without the base."""
    buffer, lane_offsets, size = address.buffer, address.lane_offsets, element_of(ctype).size
    index = None if lane_offsets is None else lane_offsets // size
    step = 1
    match buffer.space:
        case MemorySpace.LOCAL if buffer.stride:  # each lane has its own instance
            origin = group.lane_numbers * (buffer.stride // size)
            index = origin if index is None else index + origin
        case MemorySpace.LOCAL:  # element c of lane l is element c * lanes + l of the buffer
            step = group.lanes
            if index is not None:
                index = index * group.lanes + group.lane_numbers
        case MemorySpace.SHARED:  # each block has its own instance
            origin = group.block_indices * (buffer.stride // size)
            index = origin if index is None else index + origin
        case MemorySpace.GLOBAL | MemorySpace.CONSTANT:
            pass
        case _:
            assert_never(buffer.space)
    return Pattern(
        buffer=buffer,
        lane_offsets=lane_offsets,
        low=0 if lane_offsets is None else int(lane_offsets.min()),
        high=0 if lane_offsets is None else int(lane_offsets.max()),
        aligned=lane_offsets is None or not (lane_offsets % _alignment(ctype)).any(),
        step=step,
        index=index,
    )


def _alignment(ctype: CType) -> int:
    """Bytes that an address of this type must be a multiple of."""
    return ctype.alignment if isinstance(ctype, Vector) else size_of(ctype)


def _gather(cells: Any, index: Any, shift: int, pattern: Pattern) -> Any:
    """The values of cells at index + shift; indices outside give the value of some cell inside."""
    if isinstance(index, int):
        start = index + shift
        if pattern.buffer.space is MemorySpace.LOCAL:
            return cells[start : start + pattern.step].copy()
        return cells[min(max(start, 0), cells.size - 1)]
    return cells.take(index + shift if shift else index, mode="clip")


def _scatter(
    group: Group, cells: Any, index: Any, shift: int, pattern: Pattern, mask: Mask, values: Any
) -> None:
    """Write the values of a mask's lanes to the cells at index + shift."""
    if isinstance(index, int):
        start = index + shift
        if pattern.buffer.space is MemorySpace.LOCAL:
            target = cells[start : start + pattern.step]
            if mask is ALL:
                target[:] = values
            else:
                np.copyto(target, values, where=mask)
            return
        if isinstance(values, np.ndarray) and values.ndim:  # the last lane's remains
            values = values[-1 if mask is ALL else group.lanes_of(mask)[-1]]
        cells[start] = values
        return
    index = index + shift if shift else index
    if mask is ALL:
        cells[index] = values
    else:
        cells[index[mask]] = values[mask] if isinstance(values, np.ndarray) else values


def zero_outside(group: Group, allowed: Mask, values: Any) -> Any:
    """Loaded values, with 0 in the lanes that were not to load."""
    if isinstance(values, tuple):
        return tuple(zero_outside(group, allowed, value) for value in values)
    zero = values.dtype.type(0)
    if allowed is NONE:
        return zero
    return np.where(as_array(allowed, group.lanes), values, zero)


def _refuse_constant(buffer: Buffer, lvalue: Expression) -> None:
    """SourceError if a buffer is in constant memory: a store there ends the kernel on a GPU."""
    if buffer.space is MemorySpace.CONSTANT:
        raise SourceError(
            f"{buffer.name} is in constant memory, which a kernel can only read. Make it "
            "__device__ to write to it.",
            lvalue.span,
        )


def _refuse_reinterpretation(buffer: Buffer, element: Scalar, lvalue: Expression) -> None:
    """SourceError if a local array is accessed by elements of another size than its own.

    The bytes of a lane's neighbouring cells do not lie side by side there.
    """
    interleaved = buffer.space is MemorySpace.LOCAL and not buffer.stride
    if interleaved and element.size != buffer.element.size:
        raise SourceError(
            f"{buffer.name} holds {buffer.element}; reading it as {element} in registers is not "
            "supported.",
            lvalue.span,
        )
