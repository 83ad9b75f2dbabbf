"""Expressions as text, with the values that one thread had: names of cells, numbers, signs."""

from __future__ import annotations

from typing import Any

from simulator.language import tree
from simulator.language.ctype import ArrayOf, Pointer, Void
from simulator.language.functions import BITS, PRINT, WARP_FUNCTIONS
from simulator.language.thread_groups import GroupKind, group_of
from simulator.language.visit import strip_casts
from simulator.machine.observer import AccessKind
from simulator.machine.printing import pointer_text, printer
from simulator.number_format import MINUS, format_number
from simulator.recording.recording import Recording, Step

SIGNS = {"*": "×", "-": MINUS, "<=": "≤", ">=": "≥", "!=": "≠"}
# Calls whose value is a mask: a bit for each lane of a warp.
MASKS = frozenset({"__ballot_sync", "__match_any_sync", "__activemask"})
# How strongly an operator binds, as in C.
UNARY_PRECEDENCE = 11
PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7,
    ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip


def sign_of(operator: str) -> str:
    """A C operator as mathematics writes it, or as it is."""
    return SIGNS.get(operator, operator)


def join_stages(*stages: str) -> str:
    """The stages of a computation, without empty ones and those equal to the one before.

    >>> join_stages("acc", "1 + 2", "3", "3")
    'acc = 1 + 2 = 3'
    """
    different: list[str] = []
    for stage in stages:
        if stage and (not different or different[-1] != stage):
            different.append(stage)
    return " = ".join(different)


class ExpressionFormatter:
    """Formats expressions with the values that one thread had at one step."""

    def __init__(self, recording: Recording, step: Step, thread: int) -> None:
        self.recording = recording
        self.step = step
        self.thread = thread
        self.evaluations = {evaluation.expression: evaluation for evaluation in step.evaluations}

    def value(self, expression: tree.Expression) -> Any:
        """The thread's value of an expression: a number, or [components]; None if not evaluated."""
        evaluation = self.evaluations.get(expression)
        if evaluation is None or not evaluation.active[self.thread]:
            return expression.value if isinstance(expression, tree.Literal) else None
        return evaluation.values[self.thread]

    def show(self, expression: tree.Expression) -> str:
        """An expression's value, a pointer's as &As[3]; empty if it has none."""
        value = self.value(expression)
        if value is None or isinstance(expression.ctype, Void):
            return ""
        group = group_of(expression.ctype)
        if group is not None:
            whole = {GroupKind.BLOCK: "the block", GroupKind.GRID: "the grid"}
            return whole.get(group.kind, f"{int(value):#x}")
        evaluation = self.evaluations.get(expression)
        array = None if evaluation is None else evaluation.array
        if array is not None and isinstance(expression.ctype, Pointer):
            return f"&{array}[{int(value) // max(1, expression.ctype.target.size)}]"
        called = strip_casts(expression)
        if isinstance(called, tree.Call) and called.function in MASKS:
            return _mask(value)
        return format_number(value)

    def printed(self, call: tree.Call) -> str:
        """What the thread prints by a call of printf, its line's end as \\n."""
        values: list[Any] = []
        for argument in call.arguments:
            value, evaluation = self.value(argument), self.evaluations.get(argument)
            if value is not None and evaluation is not None and evaluation.array is not None:
                size = argument.ctype.target.size if isinstance(argument.ctype, Pointer) else 1
                value = pointer_text(evaluation.array, int(value), size)
            values.append("?" if value is None else value)
        return printer(call)(values).replace("\n", "\\n")

    def lvalue(self, lvalue: tree.Expression) -> str:
        """An lvalue with its indices as numbers: As[1][3]."""
        match lvalue:
            case tree.Name(variable=variable):
                return variable.name
            case tree.Index(base=base, index=index):
                return f"{self.lvalue(base)}[{self.show(index) or self.numeric(index)}]"
            case tree.Dereference(pointer=pointer):
                shown = self.show(pointer)
                return shown[1:] if shown.startswith("&") else f"*({self.lvalue(pointer)})"
            case tree.Member(base=base, position=position):
                return f"{self.lvalue(base)}.{'xyzw'[position]}"
            case tree.FieldOf(base=base, name=name):
                return f"{self.lvalue(base)}.{name}" if name else self.lvalue(base)
            case tree.Load(lvalue=inner) | tree.AddressOf(lvalue=inner):
                return self.lvalue(inner)
            case tree.Cast(operand=operand):
                return self.lvalue(operand)
            case tree.Binary(operator=operator, left=left, right=right):
                return f"{self.lvalue(left)} {operator} {self.numeric(right)}"
            case _:
                return self.numeric(lvalue)

    def old(self, lvalue: tree.Expression) -> str:
        """The value of an lvalue before the step; the lvalue itself if that is not recorded."""
        component: tuple[int, ...] = ()
        if isinstance(lvalue, tree.Member):
            component = (lvalue.position,)
        whole = lvalue.base if isinstance(lvalue, tree.Member) else lvalue
        if isinstance(whole, tree.Name) and whole.variable.space in (
            tree.MemorySpace.REGISTER,
            tree.MemorySpace.PARAMETER,
        ):
            if self.step.number:
                before = self.recording.steps[self.step.number - 1].registers
                if whole.variable.name in before:
                    return format_number(before[whole.variable.name][(self.thread, *component)])
            return self.lvalue(lvalue)
        for access in self.step.accesses:
            if access.expression is lvalue and access.kind is AccessKind.LOAD:
                return format_number(access.values[self.thread])
        return self.lvalue(lvalue)

    def symbolic(self, expression: tree.Expression) -> str:
        """The expression with names for cells of memory and numbers for all else."""
        return self._format(expression, name_cells=True)

    def numeric(self, expression: tree.Expression) -> str:
        """The expression with a number for every cell and variable."""
        return self._format(expression, name_cells=False)

    def _format(self, expression: tree.Expression, name_cells: bool) -> str:
        match expression:
            case tree.Load(lvalue=lvalue):
                if name_cells and not isinstance(lvalue, tree.Name):
                    return self.lvalue(lvalue)
                return self.show(expression) or self.lvalue(lvalue)
            case tree.Cast(operand=operand):
                return self._format(operand, name_cells)
            case tree.Unary(operator=operator, operand=operand):
                text = self._format_operand(operand, UNARY_PRECEDENCE, name_cells)
                return f"{sign_of(operator)}{text}"
            case (
                tree.Binary(operator=operator, left=left, right=right)
                | tree.Logical(operator=operator, left=left, right=right)
            ):
                rank = PRECEDENCE[operator]
                first = self._format_operand(left, rank, name_cells)
                if isinstance(expression, tree.Logical) and self.value(right) is None:
                    return first  # the left operand decides
                second = self._format_operand(right, rank + 1, name_cells)
                if second.startswith("−"):
                    second = f"({second})"
                return f"{first} {sign_of(operator)} {second}"
            case tree.Conditional(yes=yes, no=no):
                return self._format(yes if self.value(yes) is not None else no, name_cells)
            case tree.Comma(second=second):
                return self._format(second, name_cells)
            case tree.Call(function=function, arguments=(number,)) if function == BITS:
                return f"{self.lvalue(number)}.{BITS}"
            case tree.Call(function=function, arguments=arguments):
                if function == PRINT:
                    return f'printf("{self.printed(expression)}")'
                inside = [self._format(argument, name_cells) for argument in arguments]
                mask = self.value(arguments[0]) if arguments else None
                if function in WARP_FUNCTIONS and mask is not None:
                    inside[0] = _mask(mask)
                return f"{function}({', '.join(inside)})"
            case tree.AddressOf(lvalue=lvalue):
                is_array = isinstance(lvalue.ctype, ArrayOf)  # its name stands for its address
                return f"{'' if is_array else '&'}{self.lvalue(lvalue)}"
            case tree.Assign(lvalue=lvalue):
                return self.lvalue(lvalue)
            case _:
                return self.show(expression)

    def _format_operand(self, expression: tree.Expression, rank: int, name_cells: bool) -> str:
        """An operand, in parentheses if its operator binds less than one of this rank."""
        bare = strip_casts(expression)
        text = self._format(expression, name_cells)
        operator = getattr(bare, "operator", "")
        weaker = isinstance(bare, (tree.Binary, tree.Logical)) and PRECEDENCE[operator] < rank
        return f"({text})" if weaker and " " in text else text


def _mask(value: Any) -> str:
    """The lanes of a warp as C writes them: 0xffffffff."""
    return f"{int(value) & 0xFFFFFFFF:#x}"
