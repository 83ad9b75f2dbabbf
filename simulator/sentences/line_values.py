"""The numbers of a step's line for one thread, in several wordings, the longest first."""

from __future__ import annotations

from simulator.language import tree
from simulator.language.ctype import Scalar
from simulator.language.functions import FRAGMENT_FUNCTIONS, RANDOM_FUNCTIONS
from simulator.language.visit import strip_casts
from simulator.machine.observer import AccessKind, StepKind
from simulator.number_format import format_number
from simulator.recording.recording import Recording, Step, farthest_of
from simulator.sentences.cells import cell_name
from simulator.sentences.expressions import ExpressionFormatter, join_stages, sign_of
from simulator.sentences.fragments import fragment_values
from simulator.sentences.matrix_instructions import MATRIX_INSTRUCTIONS, matrix_values


def values(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    """The line of a step with one thread's numbers, such as "119 = 105 + 7 × 2".

    () for a thread that is not active, and where a line has no numbers.
    """
    if not step.active[thread]:
        return ()
    formatter = ExpressionFormatter(recording, step, thread)
    wordings = [
        wording.strip() for wording in _describe_values(formatter, step) if "=" in wording
        or " " in wording.strip()
    ]  # fmt: skip
    return tuple(dict.fromkeys(wordings))


def _describe_values(formatter: ExpressionFormatter, step: Step) -> tuple[str, ...]:
    match step.statement:
        case tree.Loop() | tree.If() if step.kind is StepKind.TEST:
            condition = step.statement.condition
            assert condition is not None
            verdict = "true" if formatter.value(condition) else "false"
            return (f"{condition_values(formatter, condition)} is {verdict}", verdict)
        case tree.Switch(selector=selector) if formatter.value(selector) is not None:
            return (join_stages(formatter.numeric(selector), formatter.show(selector)),)
        case tree.Barrier(vote=tree.BlockVote(predicate=predicate)):
            verdict = "yes" if formatter.value(predicate) else "no"
            return (f"{condition_values(formatter, predicate)} is a {verdict}", verdict)
        case tree.Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return expression_values(formatter, advance)
        case tree.Declare(variable=variable, value=value) if value is not None:
            called = strip_casts(value)
            if isinstance(called, tree.Call) and called.function in MATRIX_INSTRUCTIONS:
                return matrix_values(formatter, called)
            if is_awaited_call(value, variable.name):
                return (formatter.numeric(value),)
            result = formatter.show(value)
            load, _ = farthest_of(step, formatter.thread)
            source = formatter.numeric(value)
            if load is not None and load.space is not tree.MemorySpace.LOCAL and is_read(value):
                source = cell_name(formatter.recording, load, formatter.thread)
            return (join_stages(variable.name, source, result), f"{variable.name} = {result}")
        case tree.Evaluate(expression=expression):
            return expression_values(formatter, expression)
        case _:
            return ()


def expression_values(
    formatter: ExpressionFormatter, expression: tree.Expression
) -> tuple[str, ...]:
    """The numbers of an expression that is a statement; wordings may be empty."""
    match strip_casts(expression):
        case tree.Assign(lvalue=lvalue, operator=operator, value=value) as assignment if operator:
            result, name, old = (
                formatter.show(assignment), formatter.lvalue(lvalue), formatter.old(lvalue)
            )  # fmt: skip
            short = f"{name} = {result}"
            if old == name:  # not recorded
                return (short,)
            _, store = farthest_of(formatter.step, formatter.thread)
            is_register = store is None or store.space is tree.MemorySpace.LOCAL
            if not (is_register and is_float(assignment)):
                numbers = f"{old} {sign_of(operator)} {formatter.numeric(value)}"
                return (join_stages(name, numbers, result), short)
            return (f"{result} = {old} {sign_of(operator)} {formatter.numeric(value)}", short)
        case tree.Assign(lvalue=lvalue, value=value) as assignment:
            moved = stored_by(formatter)
            if moved and (is_read(value) or not _is_whole(formatter)):
                return (moved, formatter.show(assignment))
            target, result = formatter.lvalue(lvalue), formatter.show(assignment)
            return (join_stages(target, formatter.numeric(value), result), f"{target} = {result}")
        case tree.Increment(lvalue=lvalue) as increment:
            return (f"{formatter.lvalue(lvalue)} = {formatter.show(increment)}",)
        case tree.Call(function=function) as call if function in FRAGMENT_FUNCTIONS:
            return fragment_values(formatter, call)
        case tree.Call(function=function) as call if function in RANDOM_FUNCTIONS:
            return (join_stages(formatter.numeric(call), formatter.show(call)),)
        case tree.Call():
            return (stored_by(formatter),)
        case other:
            return (formatter.numeric(other),)


def is_read(value: tree.Expression) -> bool:
    """Whether a value is one that was read, or a constant in its place, with nothing done to it."""
    match strip_casts(value):
        case tree.Load() | tree.Literal():
            return True
        case tree.Conditional(yes=yes, no=no):
            return is_read(yes) and is_read(no)
        case tree.Assign(operator="", value=inner):
            return is_read(inner)
        case _:
            return False


def is_awaited_call(value: tree.Expression, name: str) -> bool:
    """Whether a value is a warp function's, which its lanes wait for.

    The text has no variable for it: it is named after the function.
    """
    called = strip_casts(value)
    return isinstance(called, tree.Call) and called.function == name


def _is_whole(formatter: ExpressionFormatter) -> bool:
    """Whether none of the thread's accesses was dropped."""
    return all(
        access.in_bounds[formatter.thread] for access in formatter.step.accesses
        if access.active[formatter.thread]
    )  # fmt: skip


def stored_by(formatter: ExpressionFormatter) -> str:
    """What a step's accesses moved: As[0][1][2] = A[9] = 7; "" if it made none."""
    load, store = farthest_of(formatter.step, formatter.thread)
    names = [cell_name(formatter.recording, access, formatter.thread) for access in (store, load)
             if access is not None]  # fmt: skip
    if store is not None and store.kind is AccessKind.ATOMIC and store.in_bounds[formatter.thread]:
        return f"{names[0]} held {format_number(store.values[formatter.thread])}"
    moved = load or store
    if moved is None:
        return ""
    number = format_number(moved.values[formatter.thread])
    inside = [bool(access.in_bounds[formatter.thread]) for access in (load, store) if access]
    if inside == [False, True]:
        return f"{names[0]} = {number}, since {names[1]} is out of bounds"
    if not all(inside):
        return "out of bounds: nothing is moved"
    if moved.kind is AccessKind.ATOMIC:
        return f"{names[0]} held {number}"
    return " = ".join([*names, number])


def condition_values(formatter: ExpressionFormatter, condition: tree.Expression) -> str:
    """A condition with its numbers; a comparison's right side also as one number.

    A bool has its name, as what it is follows.
    """
    numeric, bare = formatter.numeric(condition), strip_casts(condition)
    if isinstance(bare, tree.Load) and numeric in ("true", "false"):
        return formatter.lvalue(bare)
    if isinstance(bare, tree.Binary) and bare.operator in tree.COMPARISONS:
        right, value = formatter.numeric(bare.right), formatter.show(bare.right)
        if value and right != value and numeric.endswith(right):
            return f"{numeric} = {value}"
    return numeric


def is_float(expression: tree.Expression) -> bool:
    """Whether an expression's value is one floating-point number."""
    return isinstance(expression.ctype, Scalar) and expression.ctype.is_float
