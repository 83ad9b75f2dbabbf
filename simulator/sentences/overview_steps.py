"""A step as the overview tells it: the statement itself, with a thread's numbers in it."""

from __future__ import annotations

from simulator.language.functions import FRAGMENT_FUNCTIONS, PRINT, STOPS
from simulator.language.tree import (
    Assign,
    Barrier,
    BlockVote,
    Break,
    Builtin,
    Call,
    Cast,
    Comma,
    Continue,
    Declare,
    Evaluate,
    Expression,
    If,
    Increment,
    Literal,
    Load,
    Loop,
    Return,
)
from simulator.language.visit import strip_casts
from simulator.launch import format_index, unravel
from simulator.machine.observer import AccessKind, StepKind
from simulator.number_format import MINUS, format_number
from simulator.recording.recording import Recording, Step
from simulator.sentences.expressions import (
    PRECEDENCE,
    ExpressionFormatter,
    join_stages,
    sign_of,
)
from simulator.sentences.fragments import fragment_spoken


def sentence(recording: Recording, step: Step, thread: int) -> str:
    """What thread number `thread` of the block did at a step, with its real numbers."""
    subject = _name_thread(recording, thread)
    if not step.active[thread]:
        return f"{subject} is not active here: it waits while others run this line."
    dropped = _describe_dropped_access(step, thread)
    if dropped is not None:
        return f"{subject} {dropped}"
    formatter = ExpressionFormatter(recording, step, thread)
    return f"{subject}: {_describe_statement(formatter, step)}."


def _describe_statement(formatter: ExpressionFormatter, step: Step) -> str:
    match step.statement:
        case Barrier(vote=vote):
            count = int(step.active.sum())
            total = step.active.size
            first = "" if vote is None else f"{_describe_vote(formatter, vote)} and "
            if count < total:
                reached = f"only {count} of the block's {total} threads reach"
                return f"{first}waits at a barrier that {reached}"
            return f"{first}waits at the barrier until all {total} threads of the block are there"
        case Loop() | If() if step.kind is StepKind.TEST:
            condition = step.statement.condition
            assert condition is not None
            holds = bool(formatter.value(condition))
            return _describe_condition(formatter, condition, holds) + _consequence(step, holds)
        case Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return _describe_expression(formatter, advance)
        case Declare(variable=variable, value=value, cells=cells):
            if value is not None:
                return join_stages(
                    variable.name,
                    formatter.symbolic(value),
                    formatter.numeric(value),
                    formatter.show(value),
                )
            if cells is not None:
                return f"{variable.name} gets its first values"
            return f"{variable.name} comes into being, without a value"
        case Evaluate(expression=expression):
            return _describe_expression(formatter, expression)
        case Break():
            return "leaves the loop"
        case Continue():
            return "goes on with the loop's next iteration"
        case Return():
            return "is done"
        case _:
            return "goes on"


def _describe_vote(formatter: ExpressionFormatter, vote: BlockVote) -> str:
    """How a thread votes, and why."""
    holds = bool(formatter.value(vote.predicate))
    condition = _describe_condition(formatter, vote.predicate, holds)
    return f"votes {'yes' if holds else 'no'}, since {condition},"


def _describe_condition(formatter: ExpressionFormatter, condition: Expression, holds: bool) -> str:
    """A condition, its numbers where they differ from it, and whether it holds."""
    symbolic, numeric = formatter.symbolic(condition), formatter.numeric(condition)
    numbers = "" if numeric == symbolic else f" ({numeric})"
    return f"{symbolic}{numbers} {'holds' if holds else 'does not hold'}"


def _consequence(step: Step, holds: bool) -> str:
    """What follows from a condition for the thread."""
    match step.statement:
        case Loop():
            return ", so the loop goes on" if holds else ", so the loop ends"
        case If(no=no):
            if holds:
                return ""
            return ", so it takes the else" if no is not None else ", so it skips what follows"
        case _:
            return ""


def _describe_expression(formatter: ExpressionFormatter, expression: Expression) -> str:
    """An expression statement: target = symbols = numbers = result."""
    match expression:
        case Assign():
            return _describe_assignment(formatter, expression)
        case Increment(lvalue=lvalue, delta=delta):
            old = formatter.old(lvalue)
            sign = "+" if delta > 0 else MINUS
            new = format_number(formatter.value(expression))
            if expression.postfix:
                return f"{formatter.lvalue(lvalue)} = {new} {sign} 1"
            return f"{formatter.lvalue(lvalue)} = {old} {sign} 1 = {new}"
        case Comma(first=first, second=second):
            return "; ".join(
                _describe_expression(formatter, operand) for operand in (first, second)
            )
        case Cast(operand=operand):
            return _describe_expression(formatter, operand)
        case Call(function=function) if function == PRINT:
            return f'prints "{formatter.printed(expression)}"'
        case Call(function="assert", arguments=(condition,), texts=texts):
            holds = bool(formatter.value(condition))
            return f"asserts that {texts[0]}: " + ("it holds" if holds else "it does not")
        case Call(function=function) if function in STOPS:
            return "ends the launch"
        case Call(function=function) if function in FRAGMENT_FUNCTIONS:
            return fragment_spoken(formatter, expression)[0]
        case _:
            return join_stages(
                formatter.symbolic(expression),
                formatter.numeric(expression),
                formatter.show(expression),
            )


def _describe_assignment(formatter: ExpressionFormatter, expression: Assign) -> str:
    """An assignment; a compound one (+=) begins its stages with the old value."""
    operator, value = expression.operator, expression.value
    stages = [formatter.symbolic(value), formatter.numeric(value)]
    if operator:
        old = formatter.old(expression.lvalue)
        if _needs_parentheses(value, operator):
            stages = [f"({stage})" for stage in stages]
        stages = [f"{old} {sign_of(operator)} {stage}" for stage in stages]
    return join_stages(formatter.lvalue(expression.lvalue), *stages, formatter.show(expression))


def _needs_parentheses(value: Expression, operator: str) -> bool:
    """Whether the right side of a compound assignment binds no more than its operator."""
    bare = strip_casts(value)
    if isinstance(bare, (Load, Literal, Builtin, Call)):
        return False
    rank = PRECEDENCE.get(getattr(bare, "operator", ""))
    return rank is not None and rank <= PRECEDENCE[operator]


def _describe_dropped_access(step: Step, thread: int) -> str | None:
    """The first access of a thread that was out of bounds; None if there is none."""
    for access in step.accesses:
        if access.active[thread] and not access.in_bounds[thread]:
            verb = "reads" if access.kind is AccessKind.LOAD else "writes"
            return (
                f"{verb} outside {access.name} (byte {int(access.offsets[thread])} from its "
                "start); the access is dropped."
            )
    return None


def _name_thread(recording: Recording, thread: int) -> str:
    """A thread as a sentence begins with it; z only for a block that has it."""
    block = recording.launch.block
    return f"Thread {format_index(unravel(thread, block), block)}"
