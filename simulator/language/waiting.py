"""Where threads wait for others: at barriers, and in loops that read what another thread writes."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from simulator.language import tree
from simulator.language.functions import (
    ATOMIC_SCOPES,
    GROUP_FUNCTIONS,
    GROUP_NUMBERS,
    WARP_FUNCTIONS,
)
from simulator.language.loop_ends import has_counter, may_leave
from simulator.language.visit import (
    AssignedVariables,
    calls,
    defined_variable,
    expressions_of,
    inner_statements,
    strip_casts,
    subexpressions,
    walk,
)

JOINING_FUNCTIONS = (WARP_FUNCTIONS | GROUP_FUNCTIONS) - GROUP_NUMBERS

# Atomics that leave a cell as it is when their operand is this number: a way to read it.
READING_OPERANDS = {"atomicAdd": (0,), "atomicSub": (0,), "atomicXor": (0,), "atomicOr": (0,)}


def waits(statement: tree.Statement) -> bool:
    """Whether threads may wait for others in a statement, or in a function that it calls."""
    return any(
        isinstance(inner, tree.Barrier) or (isinstance(inner, tree.Loop) and is_waiting(inner))
        for inner in walk(statement)
    )


def spins(statement: tree.Statement) -> bool:
    """Whether a statement, or a function that it calls, has a loop that waits for other threads."""
    return any(isinstance(inner, tree.Loop) and is_waiting(inner) for inner in walk(statement))


def waits_for_grid(statement: tree.Statement) -> bool:
    """Whether the blocks of a grid wait for each other in a statement: a cooperative launch."""
    return any(isinstance(inner, tree.Barrier) and inner.of_grid for inner in walk(statement))


def has_grid_barrier_of_choice(body: tree.Statement) -> bool:
    """Whether blocks may wait for each other at two places: in branches of an if or a switch."""
    for inner in walk(body):
        match inner:
            case tree.If(yes=yes, no=no) if no is not None:
                branches: tuple[tree.Statement, ...] = (yes, no)
            case tree.Switch(body=branches):
                pass
            case _:
                continue
        if sum(map(waits_for_grid, branches)) > 1:
            return True
    return False


def needs_all_lanes(statement: tree.Statement) -> bool:
    """Whether a statement joins lanes or threads: lanes then wait for each other in front of it."""
    has_barrier = any(isinstance(inner, tree.Barrier) for inner in walk(statement))
    return has_barrier or calls(statement, JOINING_FUNCTIONS)


@functools.lru_cache(maxsize=256)  # each launch of a kernel asks for the same ones several times
def is_waiting(loop: tree.Loop) -> bool:
    """Whether a loop goes on until another thread has written something.

    It reads a volatile cell, or by an atomic that tells whether a lock is free; a counter alone
    does not end it. A loop that tries an atomicCAS again with what it has read (as an atomic
    maximum of float does) waits for nobody: if it fails, another thread has succeeded.
    """
    if has_counter(loop) and not may_leave(loop.body):
        return False
    return any(True for _ in polls(loop))


def polls(loop: tree.Loop) -> Iterator[tree.Expression]:
    """The reads on which it depends whether a loop ends, and which see what others write.

    They are Load and Call nodes: in the conditions under which it ends, and in what is assigned,
    within the loop, to variables that these conditions use.
    """
    assigned = AssignedVariables().in_statement(loop)
    parts = [part for part in (loop.before_test, loop.body) if part is not None]
    definitions = [d for part in parts for d in _definitions(part, (), AssignedVariables())]
    waiting = [] if loop.condition is None else [loop.condition]
    for variables, expressions in definitions:
        waiting += [] if variables else expressions  # a break or return
    seen: set[tree.Expression] = set()
    known: set[tree.Variable] = set()
    while waiting:
        root = waiting.pop()
        if root in seen:
            continue
        seen.add(root)
        for expression in subexpressions(root):
            if _is_poll(expression, assigned):
                yield expression
            for variable in _variables(expression) - known:
                known.add(variable)
                for variables, expressions in definitions:
                    if variable in variables:
                        waiting += expressions


def _definitions(
    statement: tree.Statement, conditions: tuple[tree.Expression, ...], assigned: AssignedVariables
) -> Iterator[tuple[set[tree.Variable], list[tree.Expression]]]:
    """The variables that each statement assigns, and the expressions that decide of their values.

    The set is empty for a break or return. Conditions around a statement are among its expressions.
    """
    roots = list(expressions_of(statement))
    match statement:
        case tree.Break() | tree.Return():
            yield set(), list(conditions)
        case tree.If() | tree.Loop() | tree.Switch():
            conditions = (*conditions, *roots)
        case _:
            pass
    for root in roots:
        dropped = isinstance(statement, tree.Evaluate) and isinstance(root, tree.Call)
        variables = assigned.in_expression(root)
        defined = defined_variable(statement)
        variables |= set() if defined is None else {defined}
        if variables and not dropped:
            yield variables, [root, *conditions]
    for inner in inner_statements(statement):
        yield from _definitions(inner, conditions, assigned)


def _variables(expression: tree.Expression) -> set[tree.Variable]:
    """The variable that an expression names, or that holds the result of the call that it is."""
    match expression:
        case tree.Name(variable=variable):
            return {variable}
        case tree.Inlined(function=tree.Function(result=result)) if result is not None:
            return {result}
        case _:
            return set()


def _is_poll(expression: tree.Expression, assigned: frozenset[tree.Variable]) -> bool:
    match expression:
        case tree.Load(lvalue=tree.Index(volatile=True) | tree.Dereference(volatile=True)):
            return True
        case tree.Call(function=function, arguments=arguments):
            for scope in filter(None, ATOMIC_SCOPES):
                function = function.removesuffix(scope)
            if function == "atomicCAS":
                read = [
                    e.variable for e in subexpressions(arguments[1]) if isinstance(e, tree.Name)
                ]
                return not any(variable in assigned for variable in read)
            operand = strip_casts(arguments[1]) if len(arguments) == 2 else None
            if function == "atomicExch":
                return True
            return isinstance(operand, tree.Literal) and operand.value in READING_OPERANDS.get(
                function, ()
            )
        case _:
            return False


def locks(body: tree.Statement) -> Iterator[tree.Loop]:
    """The loops in which the threads of a warp may wait for a lock that one of them holds.

    Such a loop waits until an atomic has taken the lock. One after a comparison by ==, which a
    thread of a block passes alone, does not count.
    """
    if isinstance(body, tree.If) and any(
        isinstance(one, tree.Binary) and one.operator == "=="
        for one in subexpressions(body.condition)
    ):
        return
    if isinstance(body, tree.Loop) and any(
        isinstance(poll, tree.Call) and poll.function.startswith(("atomicCAS", "atomicExch"))
        for poll in (polls(body) if is_waiting(body) else ())
    ):
        yield body
        return
    for inner in inner_statements(body):
        yield from locks(inner)


def barriers_at_the_end(body: tree.Statement) -> frozenset[tree.Barrier]:
    """The barriers of a kernel whose threads all do nothing more if they do not reach them.

    They are under conditions that nothing comes after, and no other barriers are in the kernel. For
    such threads a GPU does not wait, as if they had returned before; compute-sanitizer's synccheck
    finds nothing in either form.
    """
    found = frozenset(_at_the_end(body))
    if not found:  # as most have none there, their statements are not walked for it
        return found
    every = {one for one in walk(body) if isinstance(one, tree.Barrier)}
    return found if found == every else frozenset()


def _at_the_end(statement: tree.Statement) -> Iterator[tree.Barrier]:
    match statement:
        case tree.Barrier():
            yield statement
        case tree.Sequence(statements=statements):
            yield from (one for one in statements[:-1] if isinstance(one, tree.Barrier))
            for last in statements[-1:]:
                yield from _at_the_end(last)
        case tree.If(yes=yes, no=None):
            yield from _at_the_end(yes)
        case _:
            pass


def polled_lvalues(statement: tree.Statement) -> set[tree.Expression]:
    """The volatile lvalues that loops read while they wait."""
    return {
        poll.lvalue
        for loop in walk(statement)
        if isinstance(loop, tree.Loop) and is_waiting(loop)
        for poll in polls(loop)
        if isinstance(poll, tree.Load)
    }
