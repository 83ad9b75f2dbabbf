"""A step for a class: the numbers of its line, and what a thread does in a spoken sentence.

Both are several wordings, the longest first, of which a picture takes the first that it has room
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from simulator.language.ctype import ArrayOf, Pointer, Scalar, Struct, Vector, parts
from simulator.language.functions import (
    ASYNC_COPY_FUNCTIONS,
    FRAGMENT_FUNCTIONS,
    PRINT,
    STOPS,
)
from simulator.language.tree import (
    Assign,
    Barrier,
    Binary,
    BlockVote,
    Break,
    Call,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expression,
    FieldOf,
    If,
    Increment,
    Index,
    Literal,
    Load,
    Loop,
    Member,
    MemorySpace,
    Name,
    Return,
)
from simulator.language.visit import strip_casts, subexpressions
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind, StepKind
from simulator.number_format import format_number
from simulator.recording.barriers import Absent, absent, arrived, describe_absent, describe_place
from simulator.recording.expression_text import ExpressionFormatter, join_stages, sign_of
from simulator.recording.narrate_fragments import fragment_spoken, fragment_values
from simulator.recording.narrate_warp import VERBS, counted
from simulator.recording.recording import Recording, Step, StepAccess
from simulator.recording.requests import Request, requests

SPACES = {
    MemorySpace.GLOBAL: "global memory",
    MemorySpace.SHARED: "shared memory",
    MemorySpace.LOCAL: "its registers",
    MemorySpace.CONSTANT: "constant memory",
}


COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
FARTHEST_FIRST = (
    MemorySpace.GLOBAL, MemorySpace.SHARED, MemorySpace.CONSTANT, MemorySpace.LOCAL
)  # fmt: skip
CALLS = {
    "__pipeline_commit": ("closes a group of copies, which it can wait for",),
    "__pipeline_wait_prior": ("waits until its copies have arrived",),
    "__syncwarp": ("waits for the other threads of its warp",),
    "__nanosleep": ("may sleep a while",),
}


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
        case Loop() | If() if step.kind is StepKind.TEST:
            condition = step.statement.condition
            assert condition is not None
            verdict = "true" if formatter.value(condition) else "false"
            return (f"{_condition(formatter, condition)} is {verdict}", verdict)
        case Barrier(vote=BlockVote(predicate=predicate)):
            verdict = "yes" if formatter.value(predicate) else "no"
            return (f"{_condition(formatter, predicate)} is a {verdict}", verdict)
        case Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return _expression_values(formatter, advance)
        case Declare(variable=variable, value=value) if value is not None:
            result = formatter.show(value)
            load, _ = _pair(step, formatter.thread)
            source = formatter.numeric(value)
            if load is not None and load.space is not MemorySpace.LOCAL and _is_read(value):
                source = cell_name(formatter.recording, load, formatter.thread)
            return (join_stages(variable.name, source, result), f"{variable.name} = {result}")
        case Evaluate(expression=expression):
            return _expression_values(formatter, expression)
        case _:
            return ()


def _expression_values(formatter: ExpressionFormatter, expression: Expression) -> tuple[str, ...]:
    match strip_casts(expression):
        case Assign(lvalue=lvalue, operator=operator, value=value) as assignment if operator:
            result, name, old = (
                formatter.show(assignment), formatter.lvalue(lvalue), formatter.old(lvalue)
            )  # fmt: skip
            short = f"{name} = {result}"
            if old == name:  # not recorded
                return (short,)
            _, store = _pair(formatter.step, formatter.thread)
            is_register = store is None or store.space is MemorySpace.LOCAL
            if not (is_register and _is_float(assignment)):
                numbers = f"{old} {sign_of(operator)} {formatter.numeric(value)}"
                return (join_stages(name, numbers, result), short)
            return (f"{result} = {old} {sign_of(operator)} {formatter.numeric(value)}", short)
        case Assign(lvalue=lvalue, value=value) as assignment:
            moved = _stored_by(formatter)
            if moved and (_is_read(value) or not _is_whole(formatter)):
                return (moved, formatter.show(assignment))
            target, result = formatter.lvalue(lvalue), formatter.show(assignment)
            return (join_stages(target, formatter.numeric(value), result), f"{target} = {result}")
        case Increment(lvalue=lvalue) as increment:
            return (f"{formatter.lvalue(lvalue)} = {formatter.show(increment)}",)
        case Call(function=function) as call if function in FRAGMENT_FUNCTIONS:
            return fragment_values(formatter, call)
        case Call():
            return (_stored_by(formatter),)
        case other:
            return (formatter.numeric(other),)


def _is_read(value: Expression) -> bool:
    """Whether a value is one that was read, or a constant in its place, with nothing done to it."""
    match strip_casts(value):
        case Load() | Literal():
            return True
        case Conditional(yes=yes, no=no):
            return _is_read(yes) and _is_read(no)
        case Assign(operator="", value=inner):
            return _is_read(inner)
        case _:
            return False


def _is_whole(formatter: ExpressionFormatter) -> bool:
    """Whether none of the thread's accesses was dropped."""
    return all(
        access.in_bounds[formatter.thread] for access in formatter.step.accesses
        if access.active[formatter.thread]
    )  # fmt: skip


def _stored_by(formatter: ExpressionFormatter) -> str:
    """What a step's accesses moved: As[0][1][2] = A[9] = 7; "" if it made none."""
    load, store = _pair(formatter.step, formatter.thread)
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
        return f"{names[0]} = {number}, for {names[1]} is out of bounds"
    if not all(inside):
        return "out of bounds: nothing is moved"
    if moved.kind is AccessKind.ATOMIC:
        return f"{names[0]} held {number}"
    return " = ".join([*names, number])


def warp(recording: Recording, step: Step, number: int) -> tuple[str, ...]:
    """What warp `number` asks of memory at a step, the dearest request first."""
    size = min(WARP_SIZE, recording.launch.threads - number * WARP_SIZE)
    count = int(step.active[number * WARP_SIZE : number * WARP_SIZE + size].sum())
    if not count:
        return (f"Warp {number}: none of its {size} lanes is active here.",)
    lanes = f"all {size} lanes" if count == size else f"{count} of {size} lanes"
    if isinstance(step.statement, Barrier):
        return (f"Warp {number}: {lanes} are at the barrier.",)
    found = sorted(
        requests(recording, step, number), key=lambda one: (one.degree, one.wavefront_count),
        reverse=True,
    )  # fmt: skip
    if not found:
        return (f"Warp {number}: {lanes} active.",)
    costs = counted([_cost(request) for request in found])
    return tuple(
        f"Warp {number}, {lanes}: {'; '.join(costs[:shown])}." for shown in range(len(costs), 0, -1)
    )


def _cost(request: Request) -> str:
    """What a request costs, in a few words."""
    access = request.access
    text = f"{VERBS[access.kind]} {access.name}: "
    if access.space is MemorySpace.GLOBAL:
        sectors = f"{request.moved_sectors} sector" + ("s" if request.moved_sectors != 1 else "")
        if request.repeated_sectors:
            sectors += f", {request.repeated_sectors} of them again"
        return f"{text}{sectors}, {request.useful_bytes} of {request.fetched_bytes} bytes used"
    waves = f"{request.wavefront_count} wavefront" + ("s" if request.wavefront_count != 1 else "")
    if request.degree > 1:
        return f"{text}{request.degree}-way bank conflict, {waves}"
    if len(request.lanes_by_word) == 1 < int(request.active.sum()):
        return f"{text}one word for all (broadcast), {waves}"
    return f"{text}no conflict, {waves}"


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
        case Barrier(vote=vote):
            recording, total = formatter.recording, step.active.size
            count = int(arrived(recording, step).sum())
            votes = ""
            if vote is not None:
                votes = f"votes {'yes' if formatter.value(vote.predicate) else 'no'} and "
            missing = absent(recording, step)
            if missing:
                come = total - sum(len(group.threads) for group in missing)
                only = f"{votes}waits at a barrier that only {come} of the block's {total} threads"
                where = [describe_absent(recording, group) for group in missing]
                return (f"{only} reach: {'; '.join(where)}", f"{only} reach: {where[0]}",
                        f"{only} reach")  # fmt: skip
            if count == total:
                return (
                    f"{votes}reaches the barrier: all {total} threads of the block are there and "
                    "go on",
                    f"{votes}reaches the barrier: all are there and go on",
                )
            return (
                f"{votes}waits at the barrier: {count} of the block's {total} threads have come",
                f"{votes}waits at the barrier",
            )
        case Loop(condition=condition) if step.kind is StepKind.TEST and condition is not None:
            holds = bool(formatter.value(condition))
            return (
                f"asks whether {_condition(formatter, condition)}: "
                + ("yes, so the loop goes on" if holds else "no, so the loop ends"),
                "goes on with the loop" if holds else "ends the loop",
            )
        case If(condition=condition, no=no) if step.kind is StepKind.TEST:
            if formatter.value(condition):
                answer = "yes"
            else:
                answer = "no, so it skips what follows" if no is None else "no: it takes the else"
            return (f"asks whether {_condition(formatter, condition)}: {answer}", answer)
        case Loop(advance=advance) if step.kind is StepKind.ADVANCE and advance is not None:
            return _describe_advance(formatter, strip_casts(advance))
        case Declare(variable=variable, value=None, cells=None):
            if variable.space is MemorySpace.SHARED:
                return (f"sees {variable.name}, which the whole block shares",)
            if isinstance(variable.ctype, ArrayOf):
                return (f"gets registers for the array {variable.name}, without values yet",)
            return (f"gets a register for {variable.name}, without a value yet",)
        case Declare(variable=variable, value=None):
            return (f"gets registers for {variable.name}, with their first values",)
        case Declare(variable=variable, value=value) if value is not None:
            return _describe_register(formatter, variable.name, value)
        case Evaluate(expression=expression):
            return _describe_expression(formatter, strip_casts(expression))
        case Break():
            return ("leaves the loop",)
        case Continue():
            return ("goes on with the loop's next iteration",)
        case Return():
            return ("has finished",)
        case _:
            return ("goes on",)


def _condition(formatter: ExpressionFormatter, condition: Expression) -> str:
    """A condition with its numbers; a comparison's right side also as one number."""
    numeric = formatter.numeric(condition)
    bare = strip_casts(condition)
    if isinstance(bare, Binary) and bare.operator in COMPARISONS:
        right, value = formatter.numeric(bare.right), formatter.show(bare.right)
        if value and right != value and numeric.endswith(right):
            return f"{numeric} = {value}"
    return numeric


def _describe_advance(formatter: ExpressionFormatter, advance: Expression) -> tuple[str, ...]:
    """What a for loop does before its next test."""
    match advance:
        case Increment(lvalue=lvalue, delta=delta):
            step = "adds 1 to" if delta > 0 else "takes 1 from"
            name = formatter.lvalue(lvalue)
            after = formatter.step.registers.get(name)
            now = "" if after is None else f", now {format_number(after[formatter.thread])}"
            return (f"{step} {name}{now}",)
        case Assign(lvalue=lvalue, operator="+", value=value):
            now = formatter.show(advance)
            return (f"adds {formatter.numeric(value)} to {formatter.lvalue(lvalue)}, now {now}",)
        case _:
            return (f"sets {_expression_values(formatter, advance)[0]}",)


def _describe_idle(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    """Why a thread does nothing at a step."""
    if isinstance(step.statement, Barrier):
        for group in absent(recording, step):
            if thread in group.threads:
                where = describe_place(Absent((thread,), group.line, group.waits))
                come = int(arrived(recording, step).sum())
                threads = f"{come} thread{'s wait' if come > 1 else ' waits'}"
                return (f"never comes to this barrier, where {threads}: it {where}.",)
    earlier = reversed(recording.steps[: step.number])
    before = next((other for other in earlier if other.active[thread]), None)
    if before is not None and isinstance(before.statement, Barrier) and (
        before.interval == step.interval
    ):  # fmt: skip
        total = step.active.size
        if isinstance(step.statement, Barrier) and arrived(recording, step).all():
            return (
                f"has waited at the barrier: the last of the block's {total} threads has come, and "
                "all go on.",
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
    formatter: ExpressionFormatter, name: str, value: Expression
) -> tuple[str, ...]:
    """A variable gets its first value."""
    load, _ = _pair(formatter.step, formatter.thread)
    result = formatter.show(value)
    if load is not None and _is_read(value):
        cell = cell_name(formatter.recording, load, formatter.thread)
        return (
            f"reads {cell} = {format_number(load.values[formatter.thread])} from "
            f"{SPACES[load.space]} into {name}",
            f"reads {cell} into {name}",
        )
    return (
        f"sets {join_stages(name, formatter.numeric(value), result)}", f"sets {name} = {result}",
    )  # fmt: skip


def _describe_expression(formatter: ExpressionFormatter, expression: Expression) -> tuple[str, ...]:
    thread = formatter.thread
    load, store = _pair(formatter.step, thread)
    match expression:
        case Call(function=function) if function == PRINT:
            text = formatter.printed(expression)
            return (f'prints "{text}"', f'prints "{text[:20]}…"', "prints a line")
        case Call(function="assert", arguments=(condition,), texts=texts):
            answer = "holds" if formatter.value(condition) else "fails, which ends the launch"
            return (f"asserts that {texts[0]}: that {answer}", f"its assertion {answer}")
        case Call(function=function) if function in STOPS:
            return ("ends the launch",)
        case Call(function=function) if function in FRAGMENT_FUNCTIONS:
            return fragment_spoken(formatter, expression)
        case Call():
            return _describe_call(formatter, load, store)
        case Assign(operator="+", lvalue=lvalue, value=value) if _is_float(expression) and (
            store is None or store.space is MemorySpace.LOCAL
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
        case Assign(lvalue=lvalue, value=value) if store is not None and load is None:
            return _describe_store(formatter, value, store)
        case Assign(operator="", value=value) if (
            store is not None
            and load is not None
            and (store.space is not load.space and _is_read(value))
        ):
            return _describe_copy(formatter, load, store)
        case Assign(lvalue=Name(variable=variable), operator="", value=value):
            return _describe_register(formatter, variable.name, value)
        case Assign(lvalue=lvalue, operator=operator, value=value) if operator:
            name, result = formatter.lvalue(lvalue), formatter.show(expression)
            old = formatter.old(lvalue)
            numbers = f"{old} {sign_of(operator)} {formatter.numeric(value)}"
            full = f"computes {join_stages(name, numbers, result)}"
            short = f"computes {name} = {result}"
            return (short,) if old == name else (full, short)
        case _:
            wordings = _expression_values(formatter, expression)
            return tuple(f"computes {wording}" for wording in wordings)


def _describe_call(
    formatter: ExpressionFormatter, load: StepAccess | None, store: StepAccess | None
) -> tuple[str, ...]:
    """An asynchronous copy begins or arrives, or a function is called for what it does."""
    statement = formatter.step.statement
    called = strip_casts(statement.expression) if isinstance(statement, Evaluate) else None
    if (
        store is not None
        and isinstance(called, Call)
        and called.function not in ASYNC_COPY_FUNCTIONS
    ):
        cell = cell_name(formatter.recording, store, formatter.thread)
        number = format_number(store.values[formatter.thread])
        if store.kind is AccessKind.ATOMIC:
            return (
                f"updates {cell} by {called.function}, in one piece: it held {number}",
                f"updates {cell} by {called.function}: it held {number}",
                f"updates {cell}, which held {number}",
            )
        return (f"stores {number} in {cell} by {called.function}", f"stores {number} in {cell}")
    if store is not None and load is None:
        moved = _stored_by(formatter)
        return (f"waits until its copy has arrived: {moved}", "waits until its copy has arrived")
    if load is not None and store is None:
        cell = cell_name(formatter.recording, load, formatter.thread)
        number = format_number(load.values[formatter.thread])
        return (
            f"begins to copy {cell} = {number} to shared memory, and does not wait for it",
            f"begins to copy {cell}, and does not wait for it",
        )
    if load is not None and store is not None:
        return _describe_copy(formatter, load, store)
    return CALLS.get(called.function, ("goes on",)) if isinstance(called, Call) else ("goes on",)


def _describe_store(
    formatter: ExpressionFormatter, value: Expression, store: StepAccess
) -> tuple[str, ...]:
    """A value from registers goes to memory."""
    recording, thread = formatter.recording, formatter.thread
    cell, number = cell_name(recording, store, thread), format_number(store.values[thread])
    source = strip_casts(value)
    if isinstance(source, Conditional) and formatter.value(source.yes) is None:
        skipped = _matrix_of(source.yes)
        return (
            f"writes {number} to {cell}: here the tile reaches past the edge of {skipped}",
            f"writes {number} to {cell}: past the edge of {skipped}",
            f"writes {number} to {cell}",
        )
    name = formatter.lvalue(source.lvalue) if isinstance(source, Load) else ""
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
    if load.space is MemorySpace.LOCAL:
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


def _is_float(expression: Expression) -> bool:
    return isinstance(expression.ctype, Scalar) and expression.ctype.is_float


def farthest(accesses: Iterable[StepAccess]) -> tuple[StepAccess | None, StepAccess | None]:
    """The load from the farthest memory, and the store to the farthest; None for neither."""
    found = sorted(accesses, key=lambda access: FARTHEST_FIRST.index(access.space))
    loads = (access for access in found if access.kind is AccessKind.LOAD)
    stores = (access for access in found if access.kind is not AccessKind.LOAD)
    return next(loads, None), next(stores, None)


def _pair(step: Step, thread: int) -> tuple[StepAccess | None, StepAccess | None]:
    """A thread's farthest load and store."""
    return farthest(access for access in step.accesses if access.active[thread])


def cell_name(recording: Recording, access: StepAccess, thread: int) -> str:
    """The cell that a thread accesses: As[1][3], or A[11] of a global array."""
    struct = _struct_around(access.expression)
    if struct is not None:
        number, offset = divmod(int(access.offsets[thread]), struct.size)
        if access.width == struct.size:
            return f"{access.name}[{number}]"
        names = {part.offset: part.name for part in reversed(parts(struct))}
        return f"{access.name}[{number}]{names.get(offset, '')}"
    index = int(access.offsets[thread]) // access.element_bytes
    length = _vector_length(recording, access)
    if length:
        index, part = divmod(index, length)
        return f"{access.name}[{index}]{'' if access.components == length else '.' + 'xyzw'[part]}"
    shape = _shape(recording, access)
    if shape is None:
        return f"{access.name}[{index}]"
    indices = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        indices.append(rest)
    return access.name + "".join(f"[{i}]" for i in reversed(indices))


def _vector_length(recording: Recording, access: StepAccess) -> int:
    """The numbers of each short vector that a parameter points to; 0 for other arrays."""
    if access.space is not MemorySpace.GLOBAL:
        return 0
    for parameter in recording.kernel.parameters:
        if parameter.name == access.name and isinstance(parameter.ctype, Pointer):
            target = parameter.ctype.target
            return target.length if isinstance(target, Vector) else 0
    return 0


def _struct_around(lvalue: Expression) -> Struct | None:
    """The struct of which an lvalue in memory is a member, or a part of one; None for others."""
    found = None
    while isinstance(lvalue, (FieldOf, Index, Member)):
        lvalue = lvalue.base
        if isinstance(lvalue.ctype, Struct):
            found = lvalue.ctype
    return found


def _shape(recording: Recording, access: StepAccess) -> tuple[int, ...] | None:
    """The dimensions of a shared array, or a thread's; None for others, named by one number."""
    if access.space is MemorySpace.LOCAL:
        held = (step.registers.get(access.name) for step in recording.steps)
        return next((values.shape[1:] for values in held if values is not None), None) or None
    if access.space is not MemorySpace.SHARED or not recording.steps:
        return None
    contents = recording.steps[0].shared.get(access.name)
    return None if contents is None else contents.shape


def row_and_column(recording: Recording, access: StepAccess, thread: int) -> str:
    """Where in its matrix a cell of global memory is; "" for an array of one dimension."""
    array = recording.arguments.get(access.name)
    if access.space is not MemorySpace.GLOBAL or array is None or array.ndim != 2:
        return ""
    if "." in cell_name(recording, access, thread).removeprefix(access.name):  # a struct's member
        return ""
    row, column = divmod(int(access.offsets[thread]) // access.element_bytes, array.shape[1])
    return f", row {row} and column {column} of {access.name}"


def _matrix_of(expression: Expression) -> str:
    """The array that an expression would read."""
    for part in subexpressions(expression):
        if isinstance(part, Name) and part.variable.space is MemorySpace.PARAMETER:
            return part.variable.name
    return "its matrix"
