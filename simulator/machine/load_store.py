"""Loads, stores and atomics: from an address, through bounds and alignment, to NumPy's cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


class Memory:
    """Reads and writes cells for the active lanes, and notifies observers.

    Its methods take the address of an lvalue of a C type, and the slot of Group.memo that keeps
    the last pattern of this access. Lanes outside the array or not aligned fault: a load gives 0
    for them, a store or atomic leaves them out.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._on_access = callbacks(observers, "on_access")
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
    ) -> Any:
        """The values at an address: an array [lanes], one number, or a tuple of components."""
        element = element_of(ctype)
        in_range = mask
        if address.is_far:
            address, in_range = self._bring_near(
                group, mask, address, ctype, lvalue, AccessKind.LOAD
            )
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(
            group, in_range, pattern, address.base, ctype, lvalue, AccessKind.LOAD
        )
        cells = pattern.buffer.view(element.dtype)
        index = _index(pattern, address.base // element.size)
        values: Any
        if isinstance(ctype, Vector):
            values = tuple(
                _gather(cells, index, i * pattern.step, pattern) for i in range(ctype.length)
            )
        else:
            values = _gather(cells, index, 0, pattern)
        if allowed is not mask:
            values = _zero_outside(group, allowed, values)
        if allowed is not NONE:
            for notify in self._on_access:
                notify(
                    Access(
                        kind=AccessKind.LOAD,
                        group=group,
                        pattern=pattern,
                        base=address.base,
                        mask=allowed,
                        width=size_of(ctype),
                        component_size=element.size,
                        index=index,
                        values=values,
                        lvalue=lvalue,
                    )
                )
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
        element = element_of(ctype)
        if address.is_far:
            address, mask = self._bring_near(group, mask, address, ctype, lvalue, AccessKind.STORE)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, mask, pattern, address.base, ctype, lvalue, AccessKind.STORE)
        if allowed is NONE:
            return
        cells = pattern.buffer.view(element.dtype)
        index = _index(pattern, address.base // element.size)
        if isinstance(ctype, Vector):
            for i, component in enumerate(values):
                _scatter(group, cells, index, i * pattern.step, pattern, allowed, component)
        else:
            _scatter(group, cells, index, 0, pattern, allowed, values)
        for notify in self._on_access:
            notify(
                Access(
                    kind=AccessKind.STORE,
                    group=group,
                    pattern=pattern,
                    base=address.base,
                    mask=allowed,
                    width=size_of(ctype),
                    component_size=element.size,
                    index=index,
                    values=values,
                    lvalue=lvalue,
                )
            )

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
        element = element_of(ctype)
        if address.is_far:
            address, mask = self._bring_near(group, mask, address, ctype, lvalue, None)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, mask, pattern, address.base, ctype, lvalue, None)
        if allowed is NONE:
            return
        access = Access(
            kind=AccessKind.STORE,
            group=group,
            pattern=pattern,
            base=address.base,
            mask=allowed,
            width=size_of(ctype),
            component_size=element.size,
            index=_index(pattern, address.base // element.size),
            values=None,
            lvalue=lvalue,
        )
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
        if address.is_far:
            address, mask = self._bring_near(group, mask, address, ctype, lvalue, AccessKind.STORE)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, mask, pattern, address.base, ctype, lvalue, AccessKind.STORE)
        old = np.zeros(group.lanes, ctype.dtype)
        if allowed is NONE:
            return old
        cells = pattern.buffer.view(ctype.dtype)
        index = _index(pattern, address.base // ctype.size)
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
        for notify in self._on_access:
            notify(
                Access(
                    kind=AccessKind.ATOMIC,
                    group=group,
                    pattern=pattern,
                    base=address.base,
                    mask=allowed,
                    width=ctype.size,
                    component_size=ctype.size,
                    index=index,
                    values=old,
                    lvalue=lvalue,
                )
            )
        return old

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

    def _pattern(
        self, group: Group, address: Address, ctype: CType, lvalue: Expression, slot: int
    ) -> Pattern:
        """The pattern of an address: the last one of this access, if that still fits."""
        pattern: Pattern | None = group.memo[slot]
        if (
            pattern is None
            or pattern.lane_offsets is not address.lane_offsets
            or pattern.buffer is not address.buffer
        ):
            _refuse_reinterpretation(address.buffer, element_of(ctype), lvalue)
            pattern = _build_pattern(group, address, ctype)
            group.memo[slot] = pattern
        return pattern

    def _check(
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
        alignment, width = _alignment(ctype), size_of(ctype)
        last = pattern.buffer.size - width
        if (
            pattern.aligned
            and base % alignment == 0
            and base + pattern.low >= 0
            and base + pattern.high <= last
        ):
            return mask
        lane_offsets = pattern.lane_offsets
        offsets = group.spread(base if lane_offsets is None else lane_offsets + base)
        active = as_array(mask, group.lanes)
        outside = active & ((offsets < 0) | (offsets > last))
        misaligned = active & ~outside & (offsets % alignment != 0)
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


def _build_pattern(group: Group, address: Address, ctype: CType) -> Pattern:
    buffer, lane_offsets, size = address.buffer, address.lane_offsets, element_of(ctype).size
    index = None if lane_offsets is None else lane_offsets // size
    step = 1
    match buffer.space:
        case MemorySpace.LOCAL:  # element c of lane l is element c * lanes + l of the buffer
            step = group.lanes
            if index is not None:
                index = index * group.lanes + group.lane_numbers
        case MemorySpace.SHARED:  # each block has its own instance
            origin = group.block_indices * (buffer.stride // size)
            index = origin if index is None else index + origin
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


def _index(pattern: Pattern, shift: int) -> Any:
    """Each lane's first element in the buffer's view: [lanes], or one number if all agree.

    shift counts elements from the buffer's start to the access's base.
    """
    if pattern.index is None:
        return shift * pattern.step
    return pattern.index + shift * pattern.step


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
        cells[start] = group.spread(values)[as_array(mask, group.lanes)][-1]
        return
    index = index + shift if shift else index
    if mask is ALL:
        cells[index] = values
    else:
        cells[index[mask]] = values[mask] if isinstance(values, np.ndarray) else values


def _zero_outside(group: Group, allowed: Mask, values: Any) -> Any:
    """Loaded values, with 0 in the lanes whose access was dropped."""
    if isinstance(values, tuple):
        return tuple(_zero_outside(group, allowed, value) for value in values)
    zero = values.dtype.type(0)
    if allowed is NONE:
        return zero
    return np.where(as_array(allowed, group.lanes), values, zero)


def _refuse_reinterpretation(buffer: Buffer, element: Scalar, lvalue: Expression) -> None:
    """SourceError if a local array is accessed by elements of another size than its own.

    The bytes of a lane's neighbouring cells do not lie side by side there.
    """
    if buffer.space is MemorySpace.LOCAL and element.size != buffer.element.size:
        raise SourceError(
            f"{buffer.name} holds {buffer.element}; reading it as {element} in registers is not "
            "supported.",
            lvalue.span,
        )
