"""What a thread does at a step, as a sentence's predicate, in several wordings, the longest first.

A picture takes the first that it has room for.
"""

from __future__ import annotations

import functools
import re

from simulator.language import tree
from simulator.language.ctype import ArrayOf
from simulator.language.functions import (
    ASYNC_COPY_FUNCTIONS,
    FRAGMENT_FUNCTIONS,
    PRINT,
    RANDOM_FUNCTIONS,
    STOPS,
)
from simulator.language.visit import inner_statements, strip_casts, subexpressions
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind, StepKind
from simulator.number_format import format_number
from simulator.recording.barriers import arrived
from simulator.recording.recording import Recording, Step, StepAccess, farthest_of
from simulator.sentences.barriers import spoken_at_barrier, spoken_of_absent
from simulator.sentences.cells import cell_name, row_and_column
from simulator.sentences.expressions import ExpressionFormatter, join_stages, sign_of
from simulator.sentences.fragments import fragment_spoken
from simulator.sentences.line_values import (
    condition_values,
    expression_values,
    is_awaited_call,
    is_float,
    is_read,
    stored_by,
)
from simulator.sentences.matrix_instructions import MATRIX_INSTRUCTIONS, matrix_spoken
from simulator.sentences.random_numbers import random_spoken

SPACES = {
    tree.MemorySpace.GLOBAL: "global memory",
    tree.MemorySpace.SHARED: "shared memory",
    tree.MemorySpace.LOCAL: "its registers",
    tree.MemorySpace.CONSTANT: "constant memory",
}
CALLS = {
    "__pipeline_commit": ("closes a group of copies, which it can wait for",),
    "__pipeline_wait_prior": ("waits until its copies have arrived",),
    "__syncwarp": ("waits for the other threads of its warp",),
    "__nanosleep": ("may sleep for a while",),
}


def spoken(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    """What a thread does at a step, as a sentence's predicate: "adds As[1][3] × … = 7 × 2 to …"."""
    if not step.active[thread]:
        return _describe_idle(recording, step, thread)
    for access in step.accesses:
        if access.active[thread] and not access.in_bounds[thread]:
            verb = "reads" if access.kind is AccessKind.LOAD else "writes"
            return (f"{verb} outside {access.name}; the access is dropped.",)
    formatter = ExpressionFormatter(recording, step, thread)
    wordings = _describe(formatter, step)
    return tuple(f"{wording}." for wording in dict.fromkeys(wordings))


def _describe(formatter: ExpressionFormatter, step: Step) -> tuple[str, ...]:
    match step.statement:
        case tree.Barrier() as barrier:
            return spoken_at_barrier(formatter, step, barrier)
        case tree.Loop(condition=condition) if step.kind is StepKind.TEST and condition is not None:
            holds = bool(formatter.value(condition))
            return (
                f"tests {condition_values(formatter, condition)}: "
                + ("true, so the loop goes on" if holds else "false, so the loop ends"),
                "goes on with the loop" if holds else "ends the loop",
            )
        case tree.If(condition=condition, no=no) if step.kind is StepKind.TEST:
            if formatter.value(condition):
                answer = "true"
            else:
                skips = "skips the body of the if" if no is None else "takes the else branch"
                answer = f"false, so it {skips}"
            return (f"tests {condition_values(formatter, condition)}: {answer}", answer)
        case tree.Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return _describe_advance(formatter, strip_casts(advance))
        case tree.Declare(variable=variable, value=None, cells=None):
            if variable.space is tree.MemorySpace.SHARED:
                return (f"sees {variable.name}, which the whole block shares",)
            if isinstance(variable.ctype, ArrayOf):
                return (f"gets registers for the array {variable.name}, which has no values yet",)
            return (f"gets a register for {variable.name}, which has no value yet",)
        case tree.Declare(variable=variable, value=None):
            return (f"gets registers for {variable.name}, with their initial values",)
        case tree.Declare(variable=variable, value=value) if value is not None:
            return _describe_register(formatter, variable.name, value)
        case tree.Evaluate(expression=expression):
            return _describe_expression(formatter, strip_casts(expression))
        case tree.Switch() as switch:
            return _describe_switch(formatter, switch)
        case tree.Break() as one:
            kernel = formatter.recording.kernel
            return (f"leaves the {'switch' if _is_of_switch(one, kernel.body) else 'loop'}",)
        case tree.Continue():
            return ("goes on with the loop's next iteration",)
        case tree.Return():
            return ("has finished",)
        case _:
            return ("goes on",)


def _describe_switch(formatter: ExpressionFormatter, switch: tree.Switch) -> tuple[str, ...]:
    """Where in a switch a thread goes on."""
    value = formatter.value(switch.selector)
    if value is None:
        return ("goes on",)
    labels = [label for label, _ in switch.labels]
    if int(value) in labels:
        goes = f"goes to case {format_number(value)}"
    elif None in labels:
        goes = "goes to the default"
    else:
        goes = "skips the switch"
    numbers = join_stages(formatter.numeric(switch.selector), formatter.show(switch.selector))
    return (f"finds {numbers} and {goes}", goes)


def _is_of_switch(one: tree.Break, statement: tree.Statement, is_inside: bool = False) -> bool:
    """Whether a break within a statement leaves a switch, not a loop.

    is_inside: the statement is in a switch, and in no loop within that.
    """
    if statement is one:
        return is_inside
    inside = isinstance(statement, tree.Switch) or (
        is_inside and not isinstance(statement, tree.Loop | tree.Function)
    )
    return any(_is_of_switch(one, inner, inside) for inner in inner_statements(statement))


def _describe_advance(formatter: ExpressionFormatter, advance: tree.Expression) -> tuple[str, ...]:
    """What a for loop does before its next test."""
    match advance:
        case tree.Increment(lvalue=lvalue, delta=delta):
            step = "adds 1 to" if delta > 0 else "takes 1 from"
            name = formatter.lvalue(lvalue)
            after = formatter.step.registers.get(name)
            now = "" if after is None else f", now {format_number(after[formatter.thread])}"
            return (f"{step} {name}{now}",)
        case tree.Assign(lvalue=lvalue, operator="+", value=value):
            now = formatter.show(advance)
            return (f"adds {formatter.numeric(value)} to {formatter.lvalue(lvalue)}, now {now}",)
        case _:
            return (f"sets {expression_values(formatter, advance)[0]}",)


def _describe_idle(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    """Why a thread does nothing at a step."""
    if isinstance(step.statement, tree.Barrier):
        never = spoken_of_absent(recording, step, thread)
        if never:
            return never
    earlier = reversed(recording.steps[: step.number])
    before = next((other for other in earlier if other.active[thread]), None)
    if before is not None and isinstance(before.statement, tree.Barrier) and (
        before.interval == step.interval
    ):  # fmt: skip
        total = step.active.size
        if isinstance(step.statement, tree.Barrier) and arrived(recording, step).all():
            return (
                f"has waited at the barrier: the last of the block's {total} threads has arrived, "
                "and all go on.",
                "has waited at the barrier: all go on.",
            )
        return ("waits at the barrier while others run this line.", "waits at the barrier.")
    if not any(other.active[thread] for other in recording.steps[step.number :]):
        return ("has finished; others run this line.", "has finished.")
    first = thread // WARP_SIZE * WARP_SIZE
    if step.active[first : first + WARP_SIZE].any():
        return (
            "does not take part in this line, while other threads of its warp do.",
            "does not take part in this line.",
        )
    return ("waits for its turn: another warp runs this line.", "waits for its turn.")


def _describe_register(
    formatter: ExpressionFormatter, name: str, value: tree.Expression
) -> tuple[str, ...]:
    """A variable gets its first value."""
    load, _ = farthest_of(formatter.step, formatter.thread)
    result, called = formatter.show(value), strip_casts(value)
    if isinstance(called, tree.Call) and called.function in RANDOM_FUNCTIONS:
        return random_spoken(formatter, called, name)
    if isinstance(called, tree.Call) and called.function in MATRIX_INSTRUCTIONS:
        return matrix_spoken(formatter, called)
    if is_awaited_call(value, name):
        return (
            f"calls {formatter.numeric(value)} and waits for the other lanes of its mask",
            f"waits in {name}",
        )
    if load is not None and is_read(value):
        cell = cell_name(formatter.recording, load, formatter.thread)
        return (
            f"reads {cell} = {format_number(load.values[formatter.thread])} from "
            f"{SPACES[load.space]} into {name}",
            f"reads {cell} into {name}",
        )
    return (
        f"sets {join_stages(name, formatter.numeric(value), result)}", f"sets {name} = {result}",
    )  # fmt: skip


def _describe_expression(
    formatter: ExpressionFormatter, expression: tree.Expression
) -> tuple[str, ...]:
    thread = formatter.thread
    load, store = farthest_of(formatter.step, thread)
    match expression:
        case tree.Call(function=function) if function == PRINT:
            text = formatter.printed(expression)
            return (f'prints "{text}"', f'prints "{text[:20]}…"', "prints a line")
        case tree.Call(function="assert", arguments=(condition,), texts=texts):
            answer = "holds" if formatter.value(condition) else "fails, which ends the launch"
            return (f"asserts that {texts[0]}: that {answer}", f"its assertion {answer}")
        case tree.Call(function=function) if function in STOPS:
            return ("ends the launch",)
        case tree.Call(function=function) if function in FRAGMENT_FUNCTIONS:
            return fragment_spoken(formatter, expression)
        case tree.Call(function=function) if function in RANDOM_FUNCTIONS:
            return random_spoken(formatter, expression)
        case tree.Call():
            return _describe_call(formatter, load, store)
        case tree.Assign(operator="+", lvalue=lvalue, value=value) if is_float(expression) and (
            store is None or store.space is tree.MemorySpace.LOCAL
        ):
            factors, numbers = formatter.symbolic(value), formatter.numeric(value)
            total = formatter.show(expression)
            name = formatter.lvalue(lvalue)
            own = f"its {name}" if is_called_sum(name) else f"its sum {name}"
            return (
                f"adds {join_stages(factors, numbers)} to {own}, now {total}",
                f"adds {numbers} to {own}, now {total}",
                f"adds {numbers}: {name} = {total}",
            )
        case tree.Assign(lvalue=lvalue, value=value) if store is not None and load is None:
            return _describe_store(formatter, value, store)
        case tree.Assign(operator="", value=value) if (
            store is not None
            and load is not None
            and (store.space is not load.space and is_read(value))
        ):
            return _describe_copy(formatter, load, store)
        case tree.Assign(lvalue=tree.Name(variable=variable), operator="", value=value) if (
            variable in _results(formatter.recording.kernel.body)
        ):
            returned = join_stages(formatter.numeric(value), formatter.show(value))
            return (f"returns {returned} from {variable.name}", f"returns {formatter.show(value)}")
        case tree.Assign(lvalue=lvalue, operator="", value=value) if isinstance(
            lvalue, tree.Name
        ) or (store is not None and store.space is tree.MemorySpace.LOCAL):
            return _describe_register(formatter, formatter.lvalue(lvalue), value)
        case tree.Assign(lvalue=lvalue, operator=operator, value=value) if operator:
            name, result = formatter.lvalue(lvalue), formatter.show(expression)
            old = formatter.old(lvalue)
            numbers = f"{old} {sign_of(operator)} {formatter.numeric(value)}"
            full = f"computes {join_stages(name, numbers, result)}"
            short = f"computes {name} = {result}"
            return (short,) if old == name else (full, short)
        case _:
            wordings = expression_values(formatter, expression)
            return tuple(f"computes {wording}" for wording in wordings)


@functools.lru_cache(16)
def _results(statement: tree.Statement) -> frozenset[tree.Variable]:
    """What the return statements of the functions in a statement assign."""
    found = frozenset().union(*map(_results, inner_statements(statement)))
    if isinstance(statement, tree.Function) and statement.result is not None:
        return found | {statement.result}
    return found


def _describe_call(
    formatter: ExpressionFormatter, load: StepAccess | None, store: StepAccess | None
) -> tuple[str, ...]:
    """An asynchronous copy begins or arrives, or a function is called for what it does."""
    statement = formatter.step.statement
    called = strip_casts(statement.expression) if isinstance(statement, tree.Evaluate) else None
    if (
        store is not None
        and isinstance(called, tree.Call)
        and called.function not in ASYNC_COPY_FUNCTIONS
    ):
        cell = cell_name(formatter.recording, store, formatter.thread)
        number = format_number(store.values[formatter.thread])
        if store.kind is AccessKind.ATOMIC:
            return (
                f"updates {cell} with {called.function}: it held {number}",
                f"updates {cell}, which held {number}",
            )
        return (
            f"stores {number} in {cell} through {called.function}",
            f"stores {number} in {cell}",
        )
    if store is not None and load is None:
        moved = stored_by(formatter)
        return (f"waits until its copy has arrived: {moved}", "waits until its copy has arrived")
    if load is not None and store is None:
        if load.space is tree.MemorySpace.LOCAL:  # only the address is read: the rest is zeros
            return ("starts to fill a part of the tile with zeros and does not wait for it",)
        cell = cell_name(formatter.recording, load, formatter.thread)
        number = format_number(load.values[formatter.thread])
        return (
            f"starts to copy {cell} = {number} to shared memory and does not wait for it",
            f"starts to copy {cell} and does not wait for it",
        )
    if load is not None and store is not None:
        return _describe_copy(formatter, load, store)
    return (
        CALLS.get(called.function, ("goes on",)) if isinstance(called, tree.Call) else ("goes on",)
    )


def _describe_store(
    formatter: ExpressionFormatter, value: tree.Expression, store: StepAccess
) -> tuple[str, ...]:
    """A value from registers goes to memory."""
    recording, thread = formatter.recording, formatter.thread
    cell, number = cell_name(recording, store, thread), format_number(store.values[thread])
    source = strip_casts(value)
    if isinstance(source, tree.Conditional) and formatter.value(source.yes) is None:
        skipped = _matrix_of(source.yes)
        return (
            f"writes {number} to {cell}: here the tile reaches past the edge of {skipped}",
            f"writes {number} to {cell}: past the edge of {skipped}",
            f"writes {number} to {cell}",
        )
    name = formatter.lvalue(source.lvalue) if isinstance(source, tree.Load) else ""
    what = f"{name} = {number}" if name else number
    where = row_and_column(recording, store, thread)
    return (
        f"stores {what} in {cell}{where}, in {SPACES[store.space]}",
        f"stores {what} in {cell}, in {SPACES[store.space]}",
        f"stores {number} in {cell}",
    )


def _describe_copy(
    formatter: ExpressionFormatter, load: StepAccess, store: StepAccess
) -> tuple[str, ...]:
    """A value goes from one memory to another."""
    recording, thread = formatter.recording, formatter.thread
    source, target = (cell_name(recording, access, thread) for access in (load, store))
    number = format_number(load.values[thread])
    if load.space is tree.MemorySpace.LOCAL:
        where = row_and_column(recording, store, thread)
        return (
            f"stores {source} = {number} in {target}{where}, in {SPACES[store.space]}",
            f"stores {source} = {number} in {target}", f"stores {number} in {target}",
        )  # fmt: skip
    where = row_and_column(recording, load, thread)
    return (
        f"copies {source} = {number}{where}{',' if where else ''} from {SPACES[load.space]} to "
        f"{target}",
        f"copies {source} = {number} from {SPACES[load.space]} to {target}",
        f"copies {source} = {number} to {target}",
        f"copies {source} to {target}",
    )


def is_called_sum(name: str) -> bool:
    """Whether a variable's name is the word that sentences have for it: sum, sums, sum[0]."""
    return re.fullmatch(r"sums?(\W.*)?", name) is not None


def _matrix_of(expression: tree.Expression) -> str:
    """The array that an expression would read."""
    for part in subexpressions(expression):
        if isinstance(part, tree.Name) and part.variable.space is tree.MemorySpace.PARAMETER:
            return part.variable.name
    return "its matrix"
