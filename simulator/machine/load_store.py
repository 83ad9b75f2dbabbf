"""Loads and stores: from a place's address through bounds and alignment to NumPy's cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import CType, Scalar, Vector, size_of
from simulator.language.errors import SourceError
from simulator.language.tree import Expression, MemorySpace
from simulator.machine.buffers import Address, Buffer, element_of
from simulator.machine.group import NONE, Group, Mask, as_array
from simulator.machine.observer import (
    Access,
    AccessKind,
    Fault,
    FaultReason,
    Observer,
    Pattern,
    overrides,
)


class Memory:
    """Reads and writes cells for the active lanes, and tells observers of it."""

    def __init__(self, observers: list[Observer]) -> None:
        self.access = [o.on_access for o in observers if overrides(o, "on_access")]
        self.fault = [o.on_fault for o in observers if overrides(o, "on_fault")]
        self.copy = [o.on_copy for o in observers if overrides(o, "on_copy")]

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
        within = mask
        if address.is_far:
            address, within = self._near(group, mask, address, ctype, lvalue, AccessKind.LOAD)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, within, pattern, address.base, ctype, lvalue, AccessKind.LOAD)
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
            for tell in self.access:
                tell(
                    Access(
                        AccessKind.LOAD, group, pattern, address.base, allowed, size_of(ctype),
                        element.size, index, values, lvalue,
                    )
                )  # fmt: skip
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
        """Write values at an address; where lanes share a cell, the last lane's stays."""
        element = element_of(ctype)
        if address.is_far:
            address, mask = self._near(group, mask, address, ctype, lvalue, AccessKind.STORE)
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
        for tell in self.access:
            tell(
                Access(
                    AccessKind.STORE, group, pattern, address.base, allowed, size_of(ctype),
                    element.size, index, values, lvalue,
                )
            )  # fmt: skip

    def begin_store(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        slot: int,
    ) -> None:
        """Tell that a store, done later, may reach its cells from now on; faults are told then."""
        if not self.copy:
            return
        element = element_of(ctype)
        if address.is_far:
            address, mask = self._near(group, mask, address, ctype, lvalue, None)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, mask, pattern, address.base, ctype, lvalue, None)
        if allowed is NONE:
            return
        index = _index(pattern, address.base // element.size)
        for tell in self.copy:
            tell(
                Access(
                    AccessKind.STORE, group, pattern, address.base, allowed, size_of(ctype),
                    element.size, index, None, lvalue,
                )
            )  # fmt: skip

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
        """An atomic: function(old, operand) at an address; gives the old values [lanes].

        Lanes that share a cell take turns, in the order of their numbers: each round serves the
        first lane left at every cell.
        """
        if address.is_far:
            address, mask = self._near(group, mask, address, ctype, lvalue, AccessKind.STORE)
        pattern = self._pattern(group, address, ctype, lvalue, slot)
        allowed = self._check(group, mask, pattern, address.base, ctype, lvalue, AccessKind.STORE)
        old = np.zeros(group.lanes, ctype.dtype)
        if allowed is NONE:
            return old
        cells = pattern.buffer.view(ctype.dtype)
        index = _index(pattern, address.base // ctype.size)
        if pattern.buffer.space is MemorySpace.LOCAL:
            raise SourceError("An atomic needs shared or global memory.", lvalue.span)
        where = np.broadcast_to(index, (group.lanes,))
        left = np.flatnonzero(as_array(allowed, group.lanes))
        operands = np.broadcast_to(operand, (group.lanes, *np.shape(operand)[1:]))
        while left.size:
            _, first = np.unique(where[left], return_index=True)
            now = left[first]
            old[now] = cells[where[now]]
            cells[where[now]] = function(old[now], operands[now])
            left = np.delete(left, first)
        for tell in self.access:
            tell(
                Access(
                    AccessKind.ATOMIC, group, pattern, address.base, allowed, ctype.size,
                    ctype.size, index, old, lvalue,
                )
            )  # fmt: skip
        return old

    def _near(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        ctype: CType,
        lvalue: Expression,
        kind: AccessKind | None,
    ) -> tuple[Address, Mask]:
        """A far address and its mask without the lanes that are outside the array.

        Those fault, unless kind is None.
        """
        buffer = address.buffer
        offsets = group.spread(np.asarray(address.offset, dtype=object))
        active = as_array(mask, group.lanes)
        inside = (offsets >= 0) & (offsets <= buffer.size - size_of(ctype))
        outside = active & ~inside
        if kind is not None and outside.any():
            fault = Fault(
                FaultReason.OUT_OF_BOUNDS,
                kind,
                group,
                buffer,
                offsets,
                outside,
                size_of(ctype),
                lvalue,
            )
            for tell in self.fault:
                tell(fault)
        lanes = None if address.lanes is None else np.where(inside, offsets, 0).astype(np.int64)
        allowed = active & inside
        return Address(buffer, lanes, 0), allowed if allowed.any() else NONE

    def _pattern(
        self, group: Group, address: Address, ctype: CType, lvalue: Expression, slot: int
    ) -> Pattern:
        pattern: Pattern | None = group.memo[slot]
        if (
            pattern is None
            or pattern.lanes is not address.lanes
            or pattern.buffer is not address.buffer
        ):
            element = element_of(ctype)
            buffer = address.buffer
            _refuse_reinterpretation(buffer, element, lvalue)
            pattern = Pattern(group, buffer, address.lanes, _alignment(ctype), element.size)
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
        alignment = _alignment(ctype)
        last = pattern.buffer.size - size_of(ctype)
        if (
            pattern.aligned
            and base % alignment == 0
            and base + pattern.low >= 0
            and base + pattern.high <= last
        ):
            return mask
        offsets = group.spread(base if pattern.lanes is None else pattern.lanes + base)
        active = as_array(mask, group.lanes)
        outside = active & ((offsets < 0) | (offsets > last))
        misaligned = active & ~outside & (offsets % alignment != 0)
        for reason, lanes in (
            (FaultReason.OUT_OF_BOUNDS, outside),
            (FaultReason.MISALIGNED, misaligned),
        ):
            if kind is not None and lanes.any():
                fault = Fault(
                    reason, kind, group, pattern.buffer, offsets, lanes, size_of(ctype), lvalue
                )
                for tell in self.fault:
                    tell(fault)
        wrong = outside | misaligned
        if not wrong.any():
            return mask
        allowed = active & ~wrong
        return allowed if allowed.any() else NONE


def _alignment(ctype: CType) -> int:
    return ctype.alignment if isinstance(ctype, Vector) else size_of(ctype)


def _index(pattern: Pattern, shift: int) -> Any:
    """Where each lane's value starts, in elements; one number where it is the same for all."""
    if pattern.index is None:
        return shift * pattern.step
    return pattern.index + shift * pattern.step


def _gather(cells: Any, index: Any, shift: int, pattern: Pattern) -> Any:
    if isinstance(index, int):
        start = index + shift
        if pattern.buffer.space is MemorySpace.LOCAL:
            return cells[start : start + pattern.step].copy()
        return cells[min(max(start, 0), cells.size - 1)]
    return cells.take(index + shift if shift else index, mode="clip")


def _scatter(
    group: Group, cells: Any, index: Any, shift: int, pattern: Pattern, mask: Mask, values: Any
) -> None:
    if isinstance(index, int):
        start = index + shift
        if pattern.buffer.space is MemorySpace.LOCAL:
            part = cells[start : start + pattern.step]
            if mask is None:
                part[:] = values
            else:
                np.copyto(part, values, where=mask)
            return
        cells[start] = group.spread(values)[as_array(mask, group.lanes)][-1]
        return
    index = index + shift if shift else index
    if mask is None:
        cells[index] = values
    else:
        cells[index[mask]] = values[mask] if isinstance(values, np.ndarray) else values


def _zero_outside(group: Group, allowed: Mask, values: Any) -> Any:
    """What a dropped load gives: zero."""
    if isinstance(values, tuple):
        return tuple(_zero_outside(group, allowed, value) for value in values)
    zero = values.dtype.type(0)
    if allowed is NONE:
        return zero
    return np.where(as_array(allowed, group.lanes), values, zero)


def _refuse_reinterpretation(buffer: Buffer, element: Scalar, lvalue: Expression) -> None:
    """An array in registers is kept cell by cell: cells of another size are not there."""
    if buffer.space is MemorySpace.LOCAL and element.size != buffer.element.size:
        raise SourceError(
            f"{buffer.name} holds {buffer.element}; reading it as {element} in registers is not "
            "supported.",
            lvalue.span,
        )
