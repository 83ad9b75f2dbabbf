"""The parts of a step for one thread, in the order of execution: values, addresses, accesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from simulator.contraction.rules import product_of
from simulator.language import tree
from simulator.language.ctype import ArrayOf, Pointer, Void
from simulator.language.errors import Span
from simulator.language.visit import expressions_of, in_register, strip_casts, subexpressions
from simulator.launch import format_cell
from simulator.machine.observer import AccessKind, StepKind
from simulator.number_format import MINUS, format_number
from simulator.observers.transactions import BANK_BYTES, BANKS, SECTOR_BYTES
from simulator.recording.recording import Recording, Step, StepAccess
from simulator.sentences.expressions import ExpressionFormatter, join_stages, sign_of

UNKNOWN_SHAPE = (2**31,)  # one long row


@dataclass(frozen=True, slots=True)
class Cell:
    """Where one thread's access goes: from the index to the address to the bank or sector."""

    array: str
    index: tuple[int, ...]  # in the array's shape, row first; one number outside the array
    byte: int  # from the array's start
    bank: int | None  # in shared memory
    sector: int | None  # of 32 bytes, in global memory, counted from the array's start
    in_bounds: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a thread did within a step."""

    text: str  # its source, on one line
    summary: str  # all of the part in a short line
    cell: Cell | None = None  # of a load, store or atomic


def parts(recording: Recording, step: Step, thread: int) -> tuple[Part, ...]:
    """What thread number `thread` of the block did at a step, in order; () if it was idle.

    Plain reads of registers are left out.
    """
    if not step.active[thread]:
        return ()
    return tuple(_PartBuilder(recording, step, thread).build())


class _PartBuilder:
    """Builds the parts of a step for one thread, in the order in which values were computed."""

    def __init__(self, recording: Recording, step: Step, thread: int) -> None:
        self.recording = recording
        self.step = step
        self.thread = thread
        self.formatter = ExpressionFormatter(recording, step, thread)
        self.lines = recording.kernel.text.split("\n")
        self.shared_offsets = {
            array.name: offset for array, offset in recording.kernel.shared_offsets.items()
        }
        self.contracted = recording.kernel.contractions.sums
        # The thread's accesses that have no part yet.
        self.accesses = [access for access in step.accesses if access.active[thread]]

    def build(self) -> Iterator[Part]:
        """Every part: those of evaluations, then accesses without one, then a declaration."""
        expressions = {part for root in self._roots() for part in subexpressions(root)}
        for evaluation in self.step.evaluations:
            if evaluation.expression in expressions and evaluation.active[self.thread]:
                yield from self._build_expression(evaluation.expression)
        for access in list(self.accesses):
            yield self._build_access(access)
        statement = self.step.statement
        if isinstance(statement, tree.Declare) and statement.value is not None:
            name = statement.variable.name
            yield Part(name, f"{name} = {self.formatter.show(statement.value)}")

    def _roots(self) -> tuple[tree.Expression, ...]:
        """The whole expressions that the step evaluates."""
        statement = self.step.statement
        if isinstance(statement, tree.Loop):
            is_test = self.step.kind is StepKind.TEST
            expression = statement.condition if is_test else statement.advance
            return () if expression is None else (expression,)
        return expressions_of(statement)

    def _build_expression(self, expression: tree.Expression) -> Iterator[Part]:
        """The parts of one evaluated expression, without those of its operands."""
        formatter = self.formatter
        match expression:
            case tree.Literal() | tree.AddressOf() | tree.Builtin():
                return
            case tree.Cast(explicit=False):
                return  # the part of its operand has the value
            case _ if isinstance(expression.ctype, (Pointer, Void)):
                yield from self._build_accesses_of(expression)  # a cell shows where a pointer leads
            case tree.Load(lvalue=lvalue) if in_register(lvalue):
                return
            case tree.Load(lvalue=lvalue):
                yield from self._build_accesses_of(lvalue)
            case tree.Assign(lvalue=lvalue) | tree.Increment(lvalue=lvalue):
                is_stored = self._is_stored(lvalue)
                yield from self._build_accesses_of(lvalue)  # of memory the old value
                if not is_stored:
                    yield self._build_new_value(expression)
            case _:
                yield from self._build_accesses_of(expression)
                text = self._source(expression.span)
                summary = join_stages(
                    text, formatter.numeric(expression), formatter.show(expression)
                )
                yield Part(text, summary + self._rounding(expression))

    def _build_new_value(self, expression: tree.Assign | tree.Increment) -> Part:
        """What an assignment, ++ or -- gives a register."""
        value = self.formatter.value(expression)
        if isinstance(expression, tree.Assign):
            summary = self._assignment(expression, value)
        else:
            target = self.formatter.lvalue(expression.lvalue)
            after = self.step.registers.get(target)
            value = value if after is None else after[self.thread]
            sign = "+" if expression.delta > 0 else MINUS
            old = self.formatter.old(expression.lvalue)
            summary = f"{target} = {old} {sign} 1 = {format_number(value)}"
        return Part(self._source(expression.span), summary)

    def _assignment(self, expression: tree.Assign, value: Any) -> str:
        """Its summary: what is written, the numbers of an operation, and the new value."""
        formatter, lvalue = self.formatter, expression.lvalue
        numbers = ""
        if expression.operator:
            operand = formatter.numeric(expression.value)
            is_operation = isinstance(strip_casts(expression.value), tree.Binary)
            if is_operation and not product_of(expression.value) and " " in operand:
                operand = f"({operand})"
            numbers = f"{formatter.old(lvalue)} {sign_of(expression.operator)} {operand}"
        summary = join_stages(formatter.lvalue(lvalue), numbers, format_number(value))
        return summary + self._rounding(expression) if expression.operator else summary

    def _rounding(self, expression: tree.Expression) -> str:
        """A note if a product and its sum are rounded once, as nvcc contracts them."""
        return ", rounded once" if expression in self.contracted else ""

    def _is_stored(self, lvalue: tree.Expression) -> bool:
        """Whether an lvalue is written in memory, which a part of its own will show."""
        return any(
            access.expression is lvalue and access.kind is not AccessKind.LOAD
            for access in self.accesses
        )

    def _build_accesses_of(self, expression: tree.Expression) -> Iterator[Part]:
        """The accesses to an lvalue, or those that a call makes through its arguments."""
        pointers = expression.arguments if isinstance(expression, tree.Call) else ()
        for access in list(self.accesses):
            lvalue = access.expression
            through = lvalue.pointer if isinstance(lvalue, tree.Dereference) else None
            if lvalue is expression or any(
                through is pointer or through is strip_casts(pointer) for pointer in pointers
            ):
                self.accesses = [one for one in self.accesses if one is not access]
                yield self._build_access(access)

    def _build_access(self, access: StepAccess) -> Part:
        cell = self._cell(access)
        text = self._source(access.expression.span)
        number = format_number(access.values[self.thread])
        name = self._name(access, cell)
        address = f"byte {cell.byte} of {cell.array}"
        if cell.in_bounds and cell.bank is not None:
            address += f", bank {cell.bank}"
        if cell.in_bounds and cell.sector is not None:
            address += f", sector {cell.sector}"
        if not cell.in_bounds:
            summary = f"{text} is {address}: outside, dropped"
        else:
            match access.kind:
                case AccessKind.LOAD:
                    summary = f"{name} holds {number} ({address})"
                case AccessKind.STORE:
                    summary = f"{name} gets {number} ({address})"
                case AccessKind.ATOMIC:
                    summary = f"{name} held {number} before the update ({address})"
                case _:
                    assert_never(access.kind)
        return Part(text, summary, cell)

    def _name(self, access: StepAccess, cell: Cell) -> str:
        """What the sentences call a cell; a fragment by its own indices."""
        if access.space is tree.MemorySpace.LOCAL and isinstance(access.expression.ctype, ArrayOf):
            return self.formatter.lvalue(access.expression).removesuffix(".x")
        return format_cell(cell.array, cell.index)

    def _cell(self, access: StepAccess) -> Cell:
        byte = int(access.offsets[self.thread])
        in_bounds = bool(access.in_bounds[self.thread])
        element = byte // access.element_bytes
        shape = self._shape(access.name)
        has_index = in_bounds and 0 <= element < int(np.prod(shape))
        index = np.unravel_index(element, shape) if has_index else (element,)
        is_shared = access.space is tree.MemorySpace.SHARED
        is_global = access.space is tree.MemorySpace.GLOBAL
        address = byte + (self.shared_offsets.get(access.name, 0) if is_shared else 0)
        return Cell(
            array=access.name,
            index=tuple(int(i) for i in index),
            byte=byte,
            bank=address // BANK_BYTES % BANKS if is_shared else None,
            sector=byte // SECTOR_BYTES if is_global else None,
            in_bounds=in_bounds,
        )

    def _shape(self, name: str) -> tuple[int, ...]:
        """An array's dimensions, as the source or the launch has them."""
        step = self.step
        for arrays in (step.shared, self.recording.arguments):
            if name in arrays:
                return tuple(arrays[name].shape) or (1,)
        if name in step.registers:
            return tuple(step.registers[name].shape[1:]) or (1,)
        return UNKNOWN_SHAPE

    def _source(self, span: Span) -> str:
        """The source of a span, on one line."""
        lines = self.lines[span.line - 1 : span.end_line]
        if not lines:
            return ""
        if len(lines) == 1:
            return lines[0][span.column - 1 : span.end_column - 1].strip()
        first, *middle, last = lines
        fragments = [first[span.column - 1 :], *middle, last[: span.end_column - 1]]
        return " ".join(fragment.strip() for fragment in fragments)
