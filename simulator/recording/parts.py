"""A step opened into its parts, in the order in which they happen: values, addresses, accesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.contraction.rules import product_of
from simulator.language.ctype import Pointer, Void
from simulator.language.errors import Span
from simulator.language.tree import (
    AddressOf,
    Assign,
    Binary,
    Builtin,
    Call,
    Cast,
    Declare,
    Dereference,
    Expression,
    Increment,
    Literal,
    Load,
    Loop,
    MemorySpace,
    Name,
)
from simulator.language.visit import expressions_of, in_register, strip_casts, subexpressions
from simulator.machine.observer import AccessKind, StepKind
from simulator.observers.transactions import BANK_BYTES, BANKS, SECTOR_BYTES
from simulator.recording.narrate import SIGNS, Reader
from simulator.recording.recording import Recording, Step, StepAccess
from simulator.recording.requests import LINE_BYTES


@dataclass(frozen=True, slots=True)
class Cell:
    """Where one thread's access goes: from the index to the address to the bank or sector.

    index counts within the array's shape, row first (one number where it is outside). byte counts
    from the array's start; address from the start of the block's shared memory for a shared
    array, else it equals byte. bank is None but in shared memory, sector (of 32 bytes) and line
    (of 128) but in global memory, both counted from the array's start.
    """

    array: str
    space: MemorySpace
    index: tuple[int, ...]
    byte: int
    address: int
    width: int
    bank: int | None
    sector: int | None
    line: int | None
    in_bounds: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a thread did within a step.

    kind is "variable" (a register or builtin is read), "value" (an operator or call has its
    result), "assign" (a register gets its value), "load", "store" or "atomic" (cell tells where).
    span and text are the source's; value is a NumPy number, or an array of a short vector's
    components; summary is all of it in a short line.
    """

    kind: str
    span: Span
    text: str
    value: Any
    summary: str
    cell: Cell | None = None


def parts(recording: Recording, step: Step, thread: int) -> tuple[Part, ...]:
    """What thread number `thread` of the block did at a step, in order; () where it was idle."""
    if not step.active[thread]:
        return ()
    return tuple(_Opener(recording, step, thread).pieces())


class _Opener:
    """Walks a step's recorded values in the order in which they came to be."""

    def __init__(self, recording: Recording, step: Step, thread: int) -> None:
        self.recording = recording
        self.step = step
        self.thread = thread
        self.reader = Reader(recording, step, thread)
        self.lines = recording.kernel.text.split("\n")
        self.starts = {
            array.name: start for array, start in recording.kernel.shared_offsets.items()
        }
        self.contracted = recording.kernel.contractions.sums
        self.left = [access for access in step.accesses if access.active[thread]]

    def pieces(self) -> Iterator[Part]:
        own = {part for root in self._roots() for part in subexpressions(root)}
        for part in self.step.evaluations:
            if part.expression in own and part.active[self.thread]:
                yield from self._piece(part.expression)
        for access in list(self.left):
            yield self._access(access)
        statement = self.step.statement
        if isinstance(statement, Declare) and statement.value is not None:
            value = self.reader.value(statement.value)
            said = f"{statement.variable.name} = {self.reader.show(statement.value)}"
            yield Part("assign", statement.span, statement.variable.name, value, said)

    def _roots(self) -> tuple[Expression, ...]:
        statement = self.step.statement
        if isinstance(statement, Loop):
            one = statement.condition if self.step.kind is StepKind.TEST else statement.advance
            return () if one is None else (one,)
        return expressions_of(statement)

    def _piece(self, expression: Expression) -> Iterator[Part]:
        value, reader = self.reader.value(expression), self.reader
        match expression:
            case Literal() | AddressOf():
                return
            case Cast(explicit=False):
                return  # its operand's piece says it
            case _ if isinstance(expression.ctype, (Pointer, Void)):
                yield from self._taken(expression)  # the access says where it leads
            case Load(lvalue=Name(variable=variable)):
                said = f"{variable.name} = {reader.number(value)}"
                yield Part("variable", expression.span, variable.name, value, said)
            case Builtin(name=name, axis=axis):
                text = f"{name}.{axis}" if axis else name
                said = f"{text} = {reader.number(value)}"
                yield Part("variable", expression.span, text, value, said)
            case Load(lvalue=lvalue) if in_register(lvalue):
                text = reader.lvalue(lvalue)
                yield Part(
                    "variable", expression.span, text, value, _joined(text, reader.number(value))
                )
            case Load(lvalue=lvalue):
                yield from self._taken(lvalue)
            case Assign(lvalue=lvalue) | Increment(lvalue=lvalue):
                yield from self._assigned(expression, lvalue)
            case _:
                yield from self._taken(expression)
                said = _joined(
                    self._text(expression.span), reader.numeric(expression), reader.show(expression)
                )
                said += ", rounded once" if expression in self.contracted else ""
                text = self._text(expression.span)
                yield Part("value", expression.span, text, value, said)

    def _assigned(self, expression: Assign | Increment, lvalue: Expression) -> Iterator[Part]:
        """The old value where it is read from memory, then the new one where it goes."""
        reader = self.reader
        value = reader.value(expression)
        stores = [a for a in self.left if a.expression is lvalue and a.kind is not AccessKind.LOAD]
        yield from self._taken(lvalue)
        if stores:
            return
        target = reader.lvalue(lvalue)
        if isinstance(expression, Increment):
            after = self.step.registers.get(target)
            value = value if after is None else after[self.thread]
            sign = "+" if expression.delta > 0 else "−"
            said = f"{target} = {reader.old(lvalue)} {sign} 1 = {reader.number(value)}"
        elif expression.operator:
            added = reader.numeric(expression.value)
            loose = isinstance(strip_casts(expression.value), Binary) and not product_of(
                expression.value
            )
            added = f"({added})" if loose and " " in added else added
            sign = SIGNS.get(expression.operator, expression.operator)
            numbers = f"{reader.old(lvalue)} {sign} {added}"
            said = _joined(target, numbers, reader.number(value))
            said += ", rounded once" if expression in self.contracted else ""
        else:
            said = f"{target} = {reader.number(value)}"
        yield Part("assign", expression.span, self._text(expression.span), value, said)

    def _taken(self, expression: Expression) -> Iterator[Part]:
        """The accesses that belong to an expression: its own, or those of a call's pointers."""
        pointers = expression.arguments if isinstance(expression, Call) else ()
        for access in list(self.left):
            lvalue = access.expression
            through = lvalue.pointer if isinstance(lvalue, Dereference) else None
            if lvalue is expression or any(
                through is pointer or through is strip_casts(pointer) for pointer in pointers
            ):
                self.left.remove(access)
                yield self._access(access)

    def _access(self, access: StepAccess) -> Part:
        cell = self._cell(access)
        value = access.values[self.thread]
        shown = self.reader.number(value)
        name = cell.array + "".join(f"[{i}]" for i in cell.index)
        where = f"byte {cell.byte} of {cell.array}"
        if cell.bank is not None:
            where += f", bank {cell.bank}"
        if cell.sector is not None:
            where += f", sector {cell.sector}"
        if not cell.in_bounds:
            where = f"byte {cell.byte} of {cell.array}"
            said = f"{self._text(access.expression.span)} is {where}: outside, dropped"
        elif access.kind is AccessKind.LOAD:
            said = f"{name} holds {shown} ({where})"
        elif access.kind is AccessKind.STORE:
            said = f"{name} gets {shown} ({where})"
        else:
            said = f"{name} held {shown} before the update ({where})"
        text = self._text(access.expression.span)
        return Part(access.kind, access.expression.span, text, value, said, cell)

    def _cell(self, access: StepAccess) -> Cell:
        byte = int(access.offsets[self.thread])
        shape = self._shape(access.name)
        flat = byte // access.element_bytes
        inside = 0 <= flat < int(np.prod(shape)) and bool(access.in_bounds[self.thread])
        index = np.unravel_index(flat, shape) if inside else (flat,)
        start = self.starts.get(access.name, 0) if access.space is MemorySpace.SHARED else 0
        shared, everywhere = access.space is MemorySpace.SHARED, access.space is MemorySpace.GLOBAL
        return Cell(
            array=access.name,
            space=access.space,
            index=tuple(int(i) for i in index),
            byte=byte,
            address=byte + start,
            width=access.width,
            bank=(byte + start) // BANK_BYTES % BANKS if shared else None,
            sector=byte // SECTOR_BYTES if everywhere else None,
            line=byte // LINE_BYTES if everywhere else None,
            in_bounds=bool(access.in_bounds[self.thread]),
        )

    def _shape(self, name: str) -> tuple[int, ...]:
        """An array's dimensions, as the source or the launch gave them."""
        step = self.step
        for known in (step.shared, self.recording.arguments):
            if name in known:
                return tuple(known[name].shape) or (1,)
        if name in step.registers:
            return tuple(step.registers[name].shape[1:]) or (1,)
        return (2**31,)  # one long row: the array has no shape to go by

    def _text(self, span: Span) -> str:
        """The source between two places, on one line."""
        chosen = self.lines[span.line - 1 : span.end_line]
        if not chosen:
            return ""
        if len(chosen) == 1:
            return chosen[0][span.column - 1 : span.end_column - 1].strip()
        first, *middle, last = chosen
        pieces = [first[span.column - 1 :], *middle, last[: span.end_column - 1]]
        return " ".join(piece.strip() for piece in pieces)


def _joined(*stages: str) -> str:
    """a = b = c without what only repeats the stage before."""
    kept: list[str] = []
    for stage in stages:
        if stage and (not kept or kept[-1] != stage):
            kept.append(stage)
    return " = ".join(kept)
