"""Loads, stores and atomics: from an address, through bounds and alignment, to NumPy's cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, eq=False)
class MemoryOperand:
    """What the compiler knows of one load, store or atomic: all but its address."""

    lvalue: Expression
    ctype: CType  # of a lane's value
    slot: int  # of Group.memo, stores the last pattern of this access
    element: Scalar = field(init=False)  # the type of a lane's value, or of its components
    width: int = field(init=False)  # bytes of a lane's value
    alignment: int = field(init=False)  # bytes that its address must be a multiple of

    def __post_init__(self) -> None:
        """Compute what follows from the type, once for all executions."""
        width = size_of(self.ctype)
        alignment = self.ctype.alignment if isinstance(self.ctype, Vector) else width
        object.__setattr__(self, "element", element_of(self.ctype))
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "alignment", alignment)


class Memory:
    """Reads and writes cells for the active lanes, and notifies observers.

    Lanes outside the array or not aligned fault: a load gives 0 for them, a store or atomic leaves
    them out.
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
        operand: MemoryOperand,
        target: Address | None = None,
    ) -> Any:
        """The values at an address: an array [lanes], one number, or a tuple of components.

        target is where in shared memory an asynchronous copy writes them.
        """
        located = self._locate(group, mask, address, operand, AccessKind.LOAD)
        pattern, _, allowed, index = located
        cells = pattern.buffer.view(operand.element.cell_dtype)
        values: Any
        if isinstance(operand.ctype, Vector):
            values = tuple(
                _gather(cells, index, i * pattern.step, pattern)
                for i in range(operand.ctype.length)
            )
        else:
            values = _gather(cells, index, 0, pattern)
        if operand.element.encoding is not None:
            values = _each(operand.element.values_of, values)
        if allowed is not mask:
            values = zero_outside(group, allowed, values)
        if self._on_access and allowed is not NONE:
            access = _build_access(AccessKind.LOAD, group, located, operand, values)
            access.target = target
            for notify in self._on_access:
                notify(access)
        return values

    def store(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        operand: MemoryOperand,
        values: Any,
        unset: Array | None = None,
    ) -> None:
        """Write values at an address; where lanes share a cell, the last lane's value remains.

        unset says which lanes, bool [lanes], write a copy of a variable without a value.
        """
        located = self._locate(group, mask, address, operand, AccessKind.STORE)
        pattern, _, allowed, index = located
        if allowed is NONE:
            return
        access: Access | None = None
        if self._on_access or self._on_store:
            access = _build_access(AccessKind.STORE, group, located, operand, values)
            access.unset = unset
            for notify in self._on_store:
                notify(access)
        cells = pattern.buffer.view(operand.element.cell_dtype)
        if operand.element.encoding is not None:
            values = _each(operand.element.cells_of, values)
        if isinstance(operand.ctype, Vector):
            for i, component in enumerate(values):
                _scatter(group, cells, index, i * pattern.step, pattern, allowed, component)
        else:
            _scatter(group, cells, index, 0, pattern, allowed, values)
        if access is not None:
            for notify in self._on_access:
                notify(access)

    def begin_store(
        self, group: Group, mask: Mask, address: Address, operand: MemoryOperand
    ) -> None:
        """Notify observers that a later store may change its cells from now on.

        Lanes that will fault are left out; the store itself reports them.
        """
        if not self._on_copy:
            return
        located = self._locate(group, mask, address, operand, None)
        _, _, allowed, _ = located
        if allowed is NONE:
            return
        access = _build_access(AccessKind.STORE, group, located, operand, None)
        for notify in self._on_copy:
            notify(access)

    def update(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        operand: MemoryOperand,
        function: Any,
        value: Any,
    ) -> Any:
        """An atomic: write function(old, value) at an address; gives the old values [lanes].

        Lanes that share a cell update it one after another, in the order of their numbers.
        """
        located = self._locate(group, mask, address, operand, AccessKind.STORE)
        pattern, _, allowed, index = located
        old = np.zeros(group.lanes, operand.element.dtype)
        if allowed is NONE:
            return old
        cells = pattern.buffer.view(operand.element.cell_dtype)
        if pattern.buffer.space is MemorySpace.LOCAL:
            raise SourceError("An atomic needs shared or global memory.", operand.lvalue.span)
        cell_of = np.broadcast_to(index, (group.lanes,))
        values = np.broadcast_to(value, (group.lanes, *np.shape(value)[1:]))
        waiting = np.flatnonzero(as_array(allowed, group.lanes))
        while waiting.size:  # each round serves the first waiting lane of every cell
            _, first = np.unique(cell_of[waiting], return_index=True)
            lanes = waiting[first]
            element = operand.element
            old[lanes] = element.values_of(cells[cell_of[lanes]])
            cells[cell_of[lanes]] = element.cells_of(function(old[lanes], values[lanes]))
            waiting = np.delete(waiting, first)
        if self._on_access:
            access = _build_access(AccessKind.ATOMIC, group, located, operand, old)
            for notify in self._on_access:
                notify(access)
        return old

    # Bounds and alignment ------------------------------------------------------------------------

    def _locate(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        operand: MemoryOperand,
        kind: AccessKind | None,
    ) -> Located:
        """Where the active lanes access memory. The others fault, unless kind is None."""
        if address.is_far:
            address, mask = self._bring_near(group, mask, address, operand, kind)
        pattern, base = pattern_of(group, address, operand, kind)
        if not is_inside(pattern, base, operand):
            mask = self._drop_faults(group, mask, pattern, base, operand, kind)
        return pattern, base, mask, pattern.index_at(base // operand.element.size)

    def _bring_near(
        self,
        group: Group,
        mask: Mask,
        address: Address,
        operand: MemoryOperand,
        kind: AccessKind | None,
    ) -> tuple[Address, Mask]:
        """A far address and its mask without the lanes that are outside the array.

        Those lanes fault, unless kind is None.
        """
        buffer = address.buffer
        offsets = group.spread(np.asarray(address.offset, dtype=object))
        active = as_array(mask, group.lanes)
        inside = (offsets >= 0) & (offsets <= buffer.size - operand.width)
        if kind is not None:
            self._report(Fault(
                FaultReason.OUT_OF_BOUNDS, kind, group, buffer, offsets, active & ~inside,
                operand.width, operand.lvalue,
            ))  # fmt: skip
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
        operand: MemoryOperand,
        kind: AccessKind | None,
    ) -> Mask:
        """The active lanes whose address is inside the array and aligned.

        The others fault, unless kind is None.
        """
        buffer = pattern.buffer
        offsets = 0 if pattern.lane_offsets is None else pattern.lane_offsets
        active = as_array(mask, group.lanes)
        is_outside = (offsets < -base) | (offsets > buffer.size - operand.width - base)
        outside, misaligned = active & is_outside, np.zeros((), np.bool_)
        if not (pattern.aligned and base % operand.alignment == 0):
            misaligned = active & ~outside & ((offsets + base) % operand.alignment != 0)
        wrong = outside | misaligned
        if not wrong.any():
            return mask
        if kind is not None:
            spread = group.spread(offsets + base)
            for reason, lanes in (
                (FaultReason.OUT_OF_BOUNDS, outside),
                (FaultReason.MISALIGNED, misaligned),
            ):
                self._report(Fault(
                    reason, kind, group, buffer, spread, lanes, operand.width, operand.lvalue
                ))  # fmt: skip
        allowed = active & ~wrong
        return allowed if allowed.any() else NONE

    def _report(self, fault: Fault) -> None:
        """Notify observers of a fault, if it has any lanes."""
        if fault.lanes.any():
            for notify in self._on_fault:
                notify(fault)


def _build_access(
    kind: AccessKind, group: Group, located: Located, operand: MemoryOperand, values: Any
) -> Access:
    pattern, base, mask, index = located
    return Access(
        kind=kind,
        group=group,
        pattern=pattern,
        base=base,
        mask=mask,
        width=operand.width,
        component_size=operand.element.size,
        index=index,
        values=values,
        lvalue=operand.lvalue,
    )


def pattern_of(
    group: Group, address: Address, operand: MemoryOperand, kind: AccessKind | None
) -> tuple[Pattern, int]:
    """The pattern of an access, the last one where all lanes only moved alike, and its base."""
    pattern: Pattern | None = group.memo[operand.slot]
    if pattern is not None and pattern.buffer is address.buffer:
        moved = _moved(pattern.lane_offsets, address.lane_offsets)
        if moved is not None:
            return pattern, address.base + moved
    _refuse_reinterpretation(address.buffer, operand)
    if kind is not AccessKind.LOAD:
        _refuse_constant(address.buffer, operand.lvalue)
    pattern = group.memo[operand.slot] = _build_pattern(group, address, operand)
    return pattern, address.base


def _moved(known: Array | None, offsets: Array | None) -> int | None:
    """By how many bytes all lanes' offsets are more than known ones; None if they differ."""
    if known is offsets:
        return 0
    if known is None or offsets is None:
        return None
    by = int(offsets[0]) - int(known[0])
    return by if int(offsets[-1]) - int(known[-1]) == by and (offsets - known == by).all() else None


def is_inside(pattern: Pattern, base: int, operand: MemoryOperand) -> bool:
    """Whether all lanes, also those that are not active, are inside the array and aligned."""
    return (
        pattern.aligned
        and base % operand.alignment == 0
        and base + pattern.low >= 0
        and base + pattern.high <= pattern.buffer.size - operand.width
    )


def _build_pattern(group: Group, address: Address, operand: MemoryOperand) -> Pattern:
    """What follows from the lanes' offsets, without the base."""
    buffer, lane_offsets, size = address.buffer, address.lane_offsets, operand.element.size
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
        aligned=lane_offsets is None or not (lane_offsets % operand.alignment).any(),
        step=step,
        index=index,
    )


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


def _each(function: Callable[[Any], Any], values: Any) -> Any:
    """A function of a value, or of each component of a short vector."""
    return tuple(map(function, values)) if isinstance(values, tuple) else function(values)


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


def _refuse_reinterpretation(buffer: Buffer, operand: MemoryOperand) -> None:
    """SourceError if a local array is accessed by elements of another size than its own.

    The bytes of a lane's neighbouring cells do not lie side by side there.
    """
    element, interleaved = operand.element, buffer.space is MemorySpace.LOCAL and not buffer.stride
    if interleaved and element.size != buffer.element.size:
        raise SourceError(
            f"{buffer.name} holds {buffer.element}; reading it as {element} in registers is not "
            "supported.",
            operand.lvalue.span,
        )
