"""Compiles reads and writes of variables in registers to closures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import Array, CType, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import Expression, Member, Name, Variable
from simulator.language.visit import in_register
from simulator.machine.buffers import Address, in_buffer_of, select_offsets
from simulator.machine.closures import Closure, ExpressionCompiler
from simulator.machine.group import Group
from simulator.machine.masks import ALL, NONE, Mask, as_array, union
from simulator.machine.observer import Observer, callbacks

# What follows a copy of one variable to another, for the lanes of a mask.
PassOn = Callable[[Group, Mask], None]


class Registers:
    """Compiles reads and writes of variables, and of short vectors' components, in registers."""

    def __init__(
        self,
        frame_slots: Mapping[Variable, int],
        observers: Sequence[Observer],
        compiler: ExpressionCompiler,
    ) -> None:
        """frame_slots numbers the variables of a frame."""
        self._frame_slots = frame_slots
        self._on_unset = callbacks(observers, "on_unset")
        self._on_unset_copy = callbacks(observers, "on_unset_copy")
        self._compiler = compiler

    def read(self, lvalue: Expression) -> Closure:
        """The closure that gives the value of an lvalue in registers."""
        match lvalue:
            case Name(variable=variable):
                slot, span, ctype = self._frame_slots[variable], lvalue.span, variable.ctype

                def read(group: Group, mask: Mask) -> Any:
                    if group.assigned_mask[slot] is not ALL:
                        self._check_assigned(group, mask, slot, variable, span)
                    value = group.frame[slot]
                    return _zero(ctype, span) if value is None else value

                return read
            case Member(base=base, position=position):
                vector = self.read(base) if in_register(base) else self._compiler.compile(base)
                return lambda group, mask: vector(group, mask)[position]
            case _:
                return self._compiler.compile(lvalue)  # of f().x, the vector that f returns

    def _check_assigned(
        self, group: Group, mask: Mask, slot: int, variable: Variable, span: Span
    ) -> None:
        """Notify observers of lanes that read a variable before it has a value."""
        assigned = group.assigned_mask[slot]
        if assigned is mask:
            return
        lanes = as_array(mask, group.lanes) & ~as_array(assigned, group.lanes)
        if lanes.any():
            for notify in self._on_unset:
                notify(group, variable.name, np.flatnonzero(lanes), span)

    def read_copied(self, source: Name) -> Closure:
        """The closure that gives a variable's value to another; `pass_on_unset` follows."""
        slot, ctype, span = self._frame_slots[source.variable], source.ctype, source.span

        def read(group: Group, mask: Mask) -> Any:
            value = group.frame[slot]
            return _zero(ctype, span) if value is None else value

        return read

    def pass_on_unset(self, source: Name, target: Variable) -> PassOn:
        """The closure that leaves a variable unset where what was copied to it has no value.

        A copy decides nothing: it is when the copy is used that a missing value is a fault.
        """
        unset_copies, target_slot = self.unset_copies(source), self._frame_slots[target]

        def pass_on(group: Group, mask: Mask) -> None:
            lanes = unset_copies(group, mask)
            if lanes is not None:
                set_before = as_array(group.assigned_mask[target_slot], group.lanes)
                group.assigned_mask[target_slot] = set_before & ~lanes

        return pass_on

    def unset_copies(self, source: Name) -> Callable[[Group, Mask], Array | None]:
        """The closure that gives the lanes, bool [lanes], that copy a variable without a value.

        It gives None if there are none, and notifies observers of them.
        """
        slot, name, span = self._frame_slots[source.variable], source.variable.name, source.span

        def unset(group: Group, mask: Mask) -> Array | None:
            assigned = group.assigned_mask[slot]
            if assigned is ALL or assigned is mask:
                return None
            lanes: Array = as_array(mask, group.lanes) & ~as_array(assigned, group.lanes)
            if not lanes.any():
                return None
            for notify in self._on_unset_copy:
                notify(group, name, np.flatnonzero(lanes), span)
            return lanes

        return unset

    def write(self, lvalue: Expression) -> Callable[[Group, Mask, Any], None]:
        """The closure that gives an lvalue in registers a new value. SourceError if it is none."""
        match lvalue:
            case Name():
                return self._write_variable(lvalue)
            case Member():
                return self._write_component(lvalue)
            case _:
                raise SourceError("This is no place to store to.", lvalue.span)

    def _write_variable(self, lvalue: Name) -> Callable[[Group, Mask, Any], None]:
        slot, span = self._frame_slots[lvalue.variable], lvalue.span

        def write(group: Group, mask: Mask, value: Any) -> None:
            old, declared = group.frame[slot], group.declared_mask[slot]
            if mask is ALL or mask is declared or old is None:
                group.frame[slot] = value
            else:
                group.frame[slot] = blend(mask, value, old, span)
            assigned = group.assigned_mask[slot]
            if assigned is not ALL:
                first = mask is declared and assigned is NONE
                group.assigned_mask[slot] = mask if first else union(assigned, mask)

        return write

    def _write_component(self, lvalue: Member) -> Callable[[Group, Mask, Any], None]:
        base, position, span = lvalue.base, lvalue.position, lvalue.span
        read, write = self.read(base), self.write(base)
        slot = self._frame_slots[_root(base)]

        def write_component(group: Group, mask: Mask, value: Any) -> None:
            if group.assigned_mask[slot] is ALL:
                old = read(group, mask)
            else:  # the other components may be unset, which is no fault
                frame_value = group.frame[slot]
                old = _zero(base.ctype, span) if frame_value is None else frame_value
            components = list(old)
            components[position] = value
            write(group, mask, tuple(components))

        return write_component


def _root(lvalue: Expression) -> Variable:
    """The variable that an lvalue in registers is, or is a component of."""
    match lvalue:
        case Name(variable=variable):
            return variable
        case Member(base=base):
            return _root(base)
        case _:
            raise SourceError("This is no place to store to.", lvalue.span)


def blend(mask: Any, new: Any, old: Any, span: Span) -> Any:
    """A value that is new where the mask [lanes] is set, else old.

    SourceError for pointers into different arrays.
    """
    if isinstance(new, tuple):
        return tuple(blend(mask, a, b, span) for a, b in zip(new, old, strict=True))
    if isinstance(new, Address):
        new, old = in_buffer_of(new, old), in_buffer_of(old, new)
        if new.buffer is not old.buffer:
            raise SourceError(
                f"Here threads point into different arrays ({new.buffer.name} and "
                f"{old.buffer.name}), which is not supported.",
                span,
            )
        return Address(new.buffer, select_offsets(mask, new.offset, old.offset), 0)
    return np.where(mask, new, old)


def _zero(ctype: CType, span: Span) -> Any:
    """The value that is read from a variable that has none."""
    match ctype:
        case Scalar():
            return ctype.dtype.type(0)
        case Vector():
            return (ctype.element.dtype.type(0),) * ctype.length
        case _:
            raise SourceError("A pointer is used here before it has a value.", span)
