"""A step in a sentence: what a thread did, from the statement itself with the thread's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.language.ctype import Pointer, Void
from simulator.language.tree import (
    AddressOf,
    Assign,
    Barrier,
    Binary,
    Break,
    Builtin,
    Call,
    Cast,
    Comma,
    Conditional,
    Continue,
    Declare,
    Dereference,
    Evaluate,
    Expression,
    If,
    Increment,
    Index,
    Literal,
    Load,
    Logical,
    Loop,
    Member,
    MemorySpace,
    Name,
    Return,
    Unary,
)
from simulator.language.visit import strip_casts
from simulator.launch import unravel
from simulator.machine.observer import AccessKind, StepKind
from simulator.recording.narrate_warp import (
    warp_sentence as warp_sentence,  # narrate is the face of both
)
from simulator.recording.recording import Recording, Step

SIGNS = {"*": "×", "-": "−", "<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
    ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip


def sentence(recording: Recording, step: Step, thread: int) -> str:
    """What thread number `thread` of the block did at a step, with its real numbers."""
    here = _point(recording, thread)
    if not step.active[thread]:
        return f"{here} is not active here: it waits while others run this line."
    dropped = _dropped(step, thread)
    if dropped:
        return f"{here} {dropped}"
    said = _said(recording, step, thread)
    return f"{here}: {said}."


def _said(recording: Recording, step: Step, thread: int) -> str:
    reader = Reader(recording, step, thread)
    match step.statement:
        case Barrier():
            count = int(step.active.sum())
            total = step.active.size
            if count == total:
                return f"waits at the barrier until all {total} threads of the block are there"
            return f"waits at a barrier that only {count} of the block's {total} threads reach"
        case Loop() | If() if step.kind is StepKind.TEST:
            condition = step.statement.condition
            assert condition is not None
            holds = bool(reader.value(condition))
            return f"{reader.symbolic(condition)} {_is(reader, condition, holds)}" + (
                _consequence(step, holds)
            )
        case Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return _evaluated(reader, advance)
        case Declare(variable=variable, value=value, cells=cells):
            if value is not None:
                return _chain(variable.name, [reader.symbolic(value), reader.numeric(value)],
                              reader.show(value))  # fmt: skip
            if cells is not None:
                return f"{variable.name} gets its first values"
            return f"{variable.name} comes into being, without a value"
        case Evaluate(expression=expression):
            return _evaluated(reader, expression)
        case Break():
            return "leaves the loop"
        case Continue():
            return "goes on with the loop's next iteration"
        case Return():
            return "is done"
        case _:
            return "goes on"


def _is(reader: Reader, condition: Expression, holds: bool) -> str:
    word = "holds" if holds else "does not hold"
    numeric = reader.numeric(condition)
    return word if numeric == reader.symbolic(condition) else f"({numeric}) {word}"


def _consequence(step: Step, holds: bool) -> str:
    match step.statement:
        case Loop():
            return ", so the loop goes on" if holds else ", so the loop ends"
        case If(no=no):
            if holds:
                return ""
            return ", so it takes the else" if no is not None else ", so it skips what follows"
        case _:
            return ""


def _evaluated(reader: Reader, expression: Expression) -> str:
    match expression:
        case Assign(lvalue=lvalue, operator=operator, value=value):
            target = reader.lvalue(lvalue)
            result = reader.show(expression)
            symbolic, numeric = reader.symbolic(value), reader.numeric(value)
            if operator:
                old = reader.old(lvalue)
                sign = SIGNS.get(operator, operator)
                wrap = not isinstance(strip_casts(value), (Load, Literal, Builtin, Call)) and (
                    PRECEDENCE.get(getattr(strip_casts(value), "operator", ""), 99)
                    <= PRECEDENCE[operator]
                )
                symbolic, numeric = (
                    f"{old} {sign} ({part})" if wrap else f"{old} {sign} {part}"
                    for part in (symbolic, numeric)
                )
            return _chain(target, [symbolic, numeric], result)
        case Increment(lvalue=lvalue, delta=delta):
            old = reader.old(lvalue)
            sign = "+" if delta > 0 else "−"
            new = reader.number(reader.value(expression))
            if expression.postfix:
                return f"{reader.lvalue(lvalue)} = {new} {sign} 1"
            return f"{reader.lvalue(lvalue)} = {old} {sign} 1 = {new}"
        case Comma(first=first, second=second):
            return f"{_evaluated(reader, first)}; {_evaluated(reader, second)}"
        case Cast(operand=operand):
            return _evaluated(reader, operand)
        case _:
            return _chain("", [reader.symbolic(expression), reader.numeric(expression)],
                          reader.show(expression))  # fmt: skip


def _chain(target: str, stages: list[str], result: str) -> str:
    """target = stage = stage = result, without what only repeats the stage before."""
    kept = [target] if target else []
    for stage in [*stages, result]:
        if stage and (not kept or kept[-1] != stage):
            kept.append(stage)
    return " = ".join(kept)


class Reader:
    """Writes expressions with the numbers that one thread had at one step."""

    def __init__(self, recording: Recording, step: Step, thread: int) -> None:
        self.recording = recording
        self.step = step
        self.thread = thread
        self.evaluations = {part.expression: part for part in step.evaluations}

    def value(self, expression: Expression) -> Any:
        """The thread's value of an expression, or None where it did not evaluate it."""
        part = self.evaluations.get(expression)
        if part is None or not part.active[self.thread]:
            return expression.value if isinstance(expression, Literal) else None
        return part.values[self.thread]

    def number(self, value: Any) -> str:
        """A number as a reader writes it."""
        if value is None:
            return "…"
        if isinstance(value, np.ndarray) and value.ndim:
            return "(" + ", ".join(self.number(part) for part in value) + ")"
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if np.asarray(value).dtype.kind == "f":
            return f"{float(value):.6g}".replace("-", "−")
        return str(int(value)).replace("-", "−")

    def show(self, expression: Expression) -> str:
        """An expression's value."""
        value = self.value(expression)
        part = self.evaluations.get(expression)
        if value is None or isinstance(expression.ctype, Void):
            return ""
        if part is not None and part.array is not None and isinstance(expression.ctype, Pointer):
            return f"&{part.array}[{int(value) // max(1, expression.ctype.target.size)}]"
        return self.number(value)

    def lvalue(self, lvalue: Expression) -> str:
        """A place with its indices as numbers: As[1][3]."""
        match lvalue:
            case Name(variable=variable):
                return variable.name
            case Index(base=base, index=index):
                return f"{self.lvalue(base)}[{self.show(index) or self.numeric(index)}]"
            case Dereference(pointer=pointer):
                shown = self.show(pointer)
                return shown[1:] if shown.startswith("&") else f"*({self.lvalue(pointer)})"
            case Member(base=base, position=position):
                return f"{self.lvalue(base)}.{'xyzw'[position]}"
            case Load(lvalue=inner) | AddressOf(lvalue=inner):
                return self.lvalue(inner)
            case Cast(operand=operand):
                return self.lvalue(operand)
            case Binary(operator=operator, left=left, right=right):
                return f"{self.lvalue(left)} {operator} {self.numeric(right)}"
            case _:
                return self.numeric(lvalue)

    def old(self, lvalue: Expression) -> str:
        """What a place held before the step."""
        component: tuple[int, ...] = ()
        if isinstance(lvalue, Member):
            component = (lvalue.position,)
        whole = lvalue.base if isinstance(lvalue, Member) else lvalue
        if isinstance(whole, Name) and whole.variable.space in (
            MemorySpace.REGISTER,
            MemorySpace.PARAMETER,
        ):
            if self.step.number:
                before = self.recording.steps[self.step.number - 1].registers
                if whole.variable.name in before:
                    return self.number(before[whole.variable.name][(self.thread, *component)])
            return self.lvalue(lvalue)
        for access in self.step.accesses:
            if access.expression is lvalue and access.kind is AccessKind.LOAD:
                return self.number(access.values[self.thread])
        return self.lvalue(lvalue)

    def symbolic(self, expression: Expression) -> str:
        """The expression with cells of memory named and all else in numbers."""
        return self._text(expression, named=True)

    def numeric(self, expression: Expression) -> str:
        """The expression with every cell and variable as its number; a plain index as one."""
        return self._text(expression, named=False)

    def _text(self, expression: Expression, named: bool) -> str:
        match expression:
            case Load(lvalue=lvalue):
                if named and not isinstance(lvalue, Name):
                    return self.lvalue(lvalue)
                return self.show(expression) or self.lvalue(lvalue)
            case Cast(operand=operand):
                return self._text(operand, named)
            case Unary(operator=operator, operand=operand):
                return f"{SIGNS.get(operator, operator)}{self._inner(operand, 11, named)}"
            case (
                Binary(operator=operator, left=left, right=right)
                | Logical(operator=operator, left=left, right=right)
            ):
                rank = PRECEDENCE[operator]
                sign = SIGNS.get(operator, operator)
                first = self._inner(left, rank, named)
                if isinstance(expression, Logical) and self.value(right) is None:
                    return first  # settled by its left side
                second = self._inner(right, rank + 1, named)
                if second.startswith("−"):
                    second = f"({second})"
                return f"{first} {sign} {second}"
            case Conditional(yes=yes, no=no):
                return self._text(yes if self.value(yes) is not None else no, named)
            case Comma(second=second):
                return self._text(second, named)
            case Call(function=function, arguments=arguments):
                inside = ", ".join(self._text(argument, named) for argument in arguments)
                return f"{function}({inside})"
            case AddressOf(lvalue=lvalue):
                return f"&{self.lvalue(lvalue)}"
            case Assign(lvalue=lvalue):
                return self.lvalue(lvalue)
            case _:
                return self.show(expression)

    def _inner(self, expression: Expression, rank: int, named: bool) -> str:
        """A part of an operator's text, in parentheses where it binds less."""
        bare = strip_casts(expression)
        text = self._text(expression, named)
        operator = getattr(bare, "operator", "")
        weaker = isinstance(bare, (Binary, Logical)) and PRECEDENCE[operator] < rank
        return f"({text})" if weaker and " " in text else text


def _dropped(step: Step, thread: int) -> str:
    for access in step.accesses:
        if access.active[thread] and not access.in_bounds[thread]:
            verb = "reads" if access.kind is AccessKind.LOAD else "writes"
            return (
                f"{verb} outside {access.name} (byte {int(access.offsets[thread])} from its "
                "start); the access is dropped."
            )
    return ""


def _point(recording: Recording, thread: int) -> str:
    block = recording.launch.block
    index = unravel(thread, block)[: 3 if block[2] > 1 else 2]
    return f"Thread ({', '.join(map(str, index))})"
