"""Which loops end: those that nothing leaves, and those that a counter ends."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import assert_never

from simulator.language import tree
from simulator.language.ctype import Scalar
from simulator.language.functions import STOPS
from simulator.language.visit import (
    calls,
    defined_variable,
    expressions_of,
    in_register,
    read_variable,
    strip_casts,
    subexpressions,
    walk,
)

# Toward which side a counter must move for a comparison to fail in the end: 1 up, -1 down.
FORWARD = {"<": 1, "<=": 1, ">": -1, ">=": -1}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}
# Expressions whose values follow from those of registers.
PLAIN = (
    tree.Literal, tree.Builtin, tree.Name, tree.Load, tree.Cast, tree.Unary, tree.Binary,
    tree.Logical, tree.Conditional, tree.Comma, tree.Assign, tree.Increment,
)  # fmt: skip
# In which direction a compound assignment of a positive amount moves a positive variable.
DIRECTIONS = {"+": 1, "*": 1, "<<": 1, "-": -1, "/": -1, ">>": -1}


def is_endless(loop: tree.Loop) -> bool:
    """Whether a loop cannot be left: its condition is constant, and it has no break or return.

    A break of a loop or switch within it does not count, nor does a return of a called function.
    """
    condition = None if loop.condition is None else strip_casts(loop.condition)
    holds = condition is None or (isinstance(condition, tree.Literal) and bool(condition.value))
    if not holds and not (condition is not None and is_never_negative(condition)):
        return False
    return not may_leave(loop.body)


def is_never_negative(condition: tree.Expression) -> bool:
    """Whether it is `i >= 0` of an unsigned i, which always holds."""
    if not isinstance(condition, tree.Binary) or condition.operator != ">=":
        return False
    left, right = condition.left, strip_casts(condition.right)
    is_unsigned = isinstance(left.ctype, Scalar) and left.ctype.dtype.kind == "u"
    return is_unsigned and isinstance(right, tree.Literal) and right.value == 0


@dataclass(frozen=True, slots=True)
class Deciding:
    """The registers that alone decide whether a loop goes on.

    Once an iteration leaves all of them as they are, so do all others, and the loop never ends.
    """

    variables: tuple[tree.Variable, ...]
    tested: tuple[tree.Variable, ...]  # of its condition: those that it assigns, or else should
    are_changed: bool  # whether it assigns them


def deciding_variables(loop: tree.Loop) -> Deciding | None:
    """What decides whether a loop goes on.

    None where that is not registers alone, where the loop can be left otherwise, and where it
    counts: an iteration then changes its counter.
    """
    if loop.condition is None or may_leave(loop.body) or calls(loop.body, STOPS):
        return None
    changes, unknown, conditions = _sources(loop)
    tested = dict.fromkeys(_variables(loop.condition))
    changed = [one for one in tested if one in changes]
    # What nothing changes needs no others; of that which changes, they say whether it does.
    waiting = [loop.condition, *(conditions if changed else ())]
    if any(_counts(change) for one in tested for change in changes.get(one, ())):
        return None
    found: dict[tree.Variable, None] = {}
    while waiting:
        for one in subexpressions(waiting.pop()):
            if not isinstance(one, PLAIN):
                return None
            if isinstance(one, tree.Name) and one.variable not in found:
                variable = one.variable
                if variable in unknown or not in_register(one) or not isinstance(one.ctype, Scalar):
                    return None
                found[variable] = None
                waiting += changes.get(variable, [])
    own = [one for one in tested if one.space is not tree.MemorySpace.PARAMETER]
    return Deciding(tuple(found), tuple(changed or own or tested), bool(changed))


def _sources(
    loop: tree.Loop,
) -> tuple[dict[tree.Variable, list[tree.Expression]], set[tree.Variable], list[tree.Expression]]:
    """The changes of each variable, those whose value is not followed, and the conditions in it."""
    changes: dict[tree.Variable, list[tree.Expression]] = {}
    unknown: set[tree.Variable] = set()
    conditions: list[tree.Expression] = []
    roots = [one for one in (loop.advance, loop.condition) if one is not None]
    for statement in (
        each for part in (loop.before_test, loop.body) if part for each in walk(part)
    ):
        roots += expressions_of(statement)
        match statement:
            case tree.Declare(variable=variable, value=value) if value is not None:
                changes.setdefault(variable, []).append(value)
            case tree.Barrier(vote=tree.BlockVote(result=variable)):
                unknown.add(variable)
            case tree.Function(result=result) if result is not None:
                unknown.add(result)
            case tree.If(condition=condition) | tree.Switch(selector=condition):
                conditions.append(condition)
            case tree.Loop(condition=inner) if inner is not None:
                conditions.append(inner)
            case _:
                pass
    for root in roots:
        for one in subexpressions(root):
            if isinstance(one, tree.Assign | tree.Increment) and isinstance(one.lvalue, tree.Name):
                changes.setdefault(one.lvalue.variable, []).append(one)
    return changes, unknown, conditions


def _counts(change: tree.Expression) -> bool:
    """Whether it moves a counter by a number that is not 0."""
    if isinstance(change, tree.Increment):
        return True
    if not isinstance(change, tree.Assign) or change.operator not in ("+", "-"):
        return False
    amount = strip_casts(change.value)
    return isinstance(amount, tree.Literal) and bool(amount.value)


def may_leave(body: tree.Statement) -> bool:
    """Whether the body of a loop can end it, by break or by return."""
    return _leaves(body, by_break=True)


def _leaves(statement: tree.Statement, by_break: bool) -> bool:
    """Whether a statement can end the loop around it, by break or by return."""
    match statement:
        case tree.Break():
            return by_break
        case tree.Return():
            return True
        case tree.Loop(body=body):
            return _leaves(body, by_break=False)
        case tree.Switch(body=statements):
            return any(_leaves(inner, by_break=False) for inner in statements)
        case tree.If(yes=yes, no=no):
            return _leaves(yes, by_break) or (no is not None and _leaves(no, by_break))
        case tree.Sequence(statements=statements):
            return any(_leaves(inner, by_break) for inner in statements)
        case tree.Declare() | tree.Evaluate() | tree.Barrier() | tree.Continue() | tree.Function():
            return False
        case _:
            assert_never(statement)


@functools.lru_cache(maxsize=256)  # each launch of a kernel asks for the same ones several times
def has_counter(loop: tree.Loop) -> bool:
    """Whether a counter ends the loop: a condition such as i < n, where i only grows."""
    if loop.condition is None:
        return False
    changes = _changes(loop)
    return any(_progresses(test, changes) for test in _tests(loop.condition))


def _tests(condition: tree.Expression) -> list[tree.Expression]:
    """The operands of a condition's &&: the loop ends when any of them fails."""
    match condition:
        case tree.Cast(operand=operand):
            return _tests(operand)
        case tree.Logical(operator="&&", left=left, right=right):
            return _tests(left) + _tests(right)
        case _:
            return [condition]


def _progresses(test: tree.Expression, changes: dict[tree.Variable, list[int | None]]) -> bool:
    """Whether one side of a comparison only moves toward the other, which does not change."""
    variable = read_variable(test)
    if variable is not None:  # while (n), where n is halved or counted down
        steps = changes.get(variable, [])
        return bool(steps) and all(step is not None for step in steps)
    if not isinstance(test, tree.Binary) or test.operator not in MIRRORED:
        return False
    for counter, limit, operator in (
        (test.left, test.right, test.operator),
        (test.right, test.left, MIRRORED[test.operator]),
    ):
        steps = [s for v in _variables(counter) for s in changes.get(v, [])]
        is_fixed = not any(v in changes for v in _variables(limit))
        toward = FORWARD.get(operator)
        if steps and is_fixed and all(s is not None and s in (0, toward or s) for s in steps):
            return True
    return False


def _variables(expression: tree.Expression) -> list[tree.Variable]:
    """The variables that occur in an expression."""
    return [e.variable for e in subexpressions(expression) if isinstance(e, tree.Name)]


def _changes(loop: tree.Loop) -> dict[tree.Variable, list[int | None]]:
    """Each change of a variable in a loop: 1 up, -1 down, 0 one of both, None any other."""
    found: dict[tree.Variable, list[int | None]] = {}
    roots = [e for e in (loop.advance, loop.condition) if e is not None]
    for part in (loop.before_test, loop.body):
        for statement in () if part is None else walk(part):
            roots += expressions_of(statement)
            variable = defined_variable(statement)
            if variable is not None:
                found.setdefault(variable, []).append(None)
    for root in roots:
        for expression in subexpressions(root):
            match expression:
                case tree.Increment(lvalue=tree.Name(variable=variable), delta=delta):
                    found.setdefault(variable, []).append(delta)
                case tree.Assign(
                    lvalue=tree.Name(variable=variable), operator=operator, value=value
                ):
                    found.setdefault(variable, []).append(_direction(operator, value))
    return found


def _direction(operator: str, value: tree.Expression) -> int | None:
    """The direction of an assignment: 1 up, -1 down, 0 if it depends on the value, else None."""
    value = strip_casts(value)
    direction = DIRECTIONS.get(operator)
    if direction is None or operator not in "+-":
        return direction
    if not isinstance(value, tree.Literal):
        return 0
    if not value.value:
        return None
    return direction if value.value > 0 else -direction
