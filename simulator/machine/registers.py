"""Variables as closures: what a register holds, for each lane, and how it gets a new value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import CType, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import Expression, Member, Name, Variable
from simulator.language.visit import in_register
from simulator.machine.addresses import Closure
from simulator.machine.buffers import Address, select_offsets
from simulator.machine.group import ALL, NONE, Group, Mask, as_array, union
from simulator.machine.observer import Observer, overrides


class Registers:
    """Compiles reads and writes of variables; slots numbers them in a frame."""

    def __init__(
        self,
        slots: Mapping[Variable, int],
        observers: list[Observer],
        compile_value: Callable[[Expression], Closure],
    ) -> None:
        self.slots = slots
        self._unset = [o.on_unset for o in observers if overrides(o, "on_unset")]
        self._compile = compile_value

    def read(self, lvalue: Expression) -> Closure:
        """The value of a variable, or of a short vector's component, in registers."""
        match lvalue:
            case Name(variable=variable):
                slot, span, ctype = self.slots[variable], lvalue.span, variable.ctype

                def read(group: Group, mask: Mask) -> Any:
                    if group.given[slot] is not ALL:
                        self._check_given(group, mask, slot, variable, span)
                    value = group.frame[slot]
                    return _zero(ctype, span) if value is None else value

                return read
            case Member(base=base, position=position):
                whole = self.read(base) if in_register(base) else self._compile(base)
                return lambda group, mask: whole(group, mask)[position]
            case _:
                return self._compile(lvalue)  # a component of a value that is no place

    def _check_given(
        self, group: Group, mask: Mask, slot: int, variable: Variable, span: Span
    ) -> None:
        """Tell of lanes that read a variable nobody gave a value."""
        given = group.given[slot]
        if given is mask:
            return
        lanes = as_array(mask, group.lanes) & ~as_array(given, group.lanes)
        if lanes.any():
            for tell in self._unset:
                tell(group, variable.name, np.flatnonzero(lanes), span)

    def write(self, lvalue: Expression) -> Callable[[Group, Mask, Any], None]:
        """The closure that gives a place in registers its value."""
        match lvalue:
            case Name(variable=variable):
                slot, span = self.slots[variable], lvalue.span

                def write(group: Group, mask: Mask, value: Any) -> None:
                    old, declared = group.frame[slot], group.declared[slot]
                    if mask is ALL or mask is declared or old is None:
                        group.frame[slot] = value
                    else:
                        group.frame[slot] = blend(mask, value, old, span)
                    if group.given[slot] is not ALL:
                        whole = mask is declared and group.given[slot] is NONE
                        group.given[slot] = mask if whole else union(group.given[slot], mask)

                return write
            case Member(base=base, position=position):
                read, write_whole, span = self.read(base), self.write(base), lvalue.span
                variable = _root(base)
                slot = self.slots[variable]

                def write_component(group: Group, mask: Mask, value: Any) -> None:
                    given = group.frame[slot]
                    old = _zero(base.ctype, span) if given is None else given
                    if group.given[slot] is ALL:
                        old = read(group, mask)
                    parts = list(old)
                    parts[position] = value
                    write_whole(group, mask, tuple(parts))

                return write_component
            case _:
                raise SourceError("This is no place to store to.", lvalue.span)


def _root(lvalue: Expression) -> Variable:
    match lvalue:
        case Name(variable=variable):
            return variable
        case Member(base=base):
            return _root(base)
        case _:
            raise SourceError("This is no place to store to.", lvalue.span)


def blend(mask: Any, new: Any, old: Any, span: Span) -> Any:
    """new where the mask [lanes] is set, else old."""
    if isinstance(new, tuple):
        return tuple(blend(mask, a, b, span) for a, b in zip(new, old, strict=True))
    if isinstance(new, Address):
        if new.buffer is not old.buffer:
            raise SourceError(
                f"Here threads point into different arrays ({new.buffer.name} and "
                f"{old.buffer.name}), which is not supported.",
                span,
            )
        return Address(new.buffer, select_offsets(mask, new.offset, old.offset), 0)
    return np.where(mask, new, old)


def _zero(ctype: CType, span: Span) -> Any:
    """What a variable without a value reads as."""
    match ctype:
        case Scalar():
            return ctype.dtype.type(0)
        case Vector():
            return (ctype.element.dtype.type(0),) * ctype.length
        case _:
            raise SourceError("A pointer is used here before it has a value.", span)
