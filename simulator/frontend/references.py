"""What a function that gives a reference refers to."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.frontend.records import Place, Record
from simulator.language import tree
from simulator.language.ctype import CType, Pointer
from simulator.language.errors import SourceError, Span
from simulator.language.visit import in_register


@dataclass(slots=True)
class Reference:
    """The result of a function that returns T&.

    It is a pointer where the function refers to memory; what is in registers has no address, and
    must be the same at every return.
    """

    name: str  # of the function
    ctype: CType  # of what it refers to
    span: Span
    registers: Place | None = None  # what a return refers to that is in registers
    pointer: tree.Variable | None = None
    _returns: list[Span] = field(default_factory=list)

    def give(self, place: Place, span: Span) -> list[tree.Statement]:
        """The statements of `return place`, but for the return itself."""
        self._returns.append(span)
        if isinstance(place, Record) and place.lvalue is not None and not place.setup:
            place = place.lvalue
        if isinstance(place, Record) or in_register(place):
            setup = list(place.setup) if isinstance(place, Record) else []
            if self.pointer is not None or not self._is_known(place):
                raise SourceError(
                    f"{self.name} refers to different variables in registers, which is not "
                    "supported; give it the cells of an array.",
                    span,
                )
            self.registers = place
            return setup
        if self.registers is not None:
            raise SourceError(
                f"{self.name} refers to memory or to registers, depending on the case, which is "
                "not supported.",
                span,
            )
        if self.pointer is None:
            kind = Pointer(self.ctype)
            self.pointer = tree.Variable(self.name, kind, tree.MemorySpace.REGISTER, self.span)
        pointer = self.pointer.ctype
        target = tree.Name(pointer, span, self.pointer)
        address = tree.AddressOf(pointer, span, place)
        return [tree.Evaluate(span, tree.Assign(pointer, span, target, "", address, pointer))]

    def called(self, function: tree.Function, span: Span) -> tuple[tree.Function, Place]:
        """The function, with its result, and where a call's result is."""
        if self.registers is not None:
            return function, self.registers
        if self.pointer is None:
            raise SourceError(f"{self.name} returns nothing.", span)
        function = tree.Function(
            function.span, function.name, function.parameters, function.body, self.pointer
        )
        value = tree.Inlined(self.pointer.ctype, span, function)
        return function, tree.Dereference(self.ctype, span, value)

    def _is_known(self, place: Place) -> bool:
        """Whether earlier returns refer to the same variables."""
        known = self.registers
        if known is None:
            return True
        if isinstance(place, Record):
            return isinstance(known, Record) and known.members == place.members
        return _variable(known) is _variable(place)


def _variable(place: Place) -> tree.Expression | tree.Variable:
    if isinstance(place, tree.Name):
        return place.variable
    assert not isinstance(place, Record)
    return place
