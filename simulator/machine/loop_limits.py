"""When a loop is stopped: how often it may go round, for how long, and which loops are counted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from simulator.language.errors import SourceError
from simulator.language.tree import (
    Assign,
    Binary,
    Break,
    Cast,
    Declare,
    Expression,
    Increment,
    Literal,
    Load,
    Logical,
    Loop,
    Name,
    Return,
    Statement,
    Switch,
    Variable,
)
from simulator.language.visit import expressions_of, strip_casts, subexpressions, walk

if TYPE_CHECKING:
    from simulator.machine.group import LoopState

MAX_ITERATIONS = 2**18  # of one loop; a matrix product's loops run a few thousand times
PATIENCE = 1.0  # seconds after which a loop that goes round too often is taken for endless
COUNTED_ITERATIONS = 5_000  # that a loop with a counter may have made by then
OTHER_ITERATIONS = 2**6  # that any other loop may have made
LOOK_EVERY = 16  # iterations between two looks at the clock

FORWARD = {"<": 1, "<=": 1, ">": -1, ">=": -1}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "==": "=="}
STEPS = {"+": 1, "*": 1, "<<": 1, "-": -1, "/": -1, ">>": -1}


def check_loop(state: LoopState, counted: bool, deadline: float | None) -> None:
    """SourceError where a loop has gone round for too long; deadline is the whole run's end.

    counted tells whether a counter leads the loop to its end: it may then run longer.
    """
    loop, done = state.loop, state.iteration
    if done > MAX_ITERATIONS:
        raise SourceError(
            f"This loop has run {MAX_ITERATIONS:,} times and is stopped here; "
            "does its condition ever fail?",
            loop.span,
        )
    if done % LOOK_EVERY:
        return
    now = time.perf_counter()
    most = COUNTED_ITERATIONS if counted else OTHER_ITERATIONS
    if done >= most and now - state.begun > PATIENCE:
        raise SourceError(
            f"This loop has run {done:,} times in {now - state.begun:.1f} seconds and is stopped "
            "here; does its condition ever fail?",
            loop.span,
        )
    if deadline is not None and now > deadline:
        raise SourceError(
            "The time given to this run is over in this loop; choose a smaller launch.", loop.span
        )


def endless(loop: Loop) -> bool:
    """Whether a loop that is entered cannot be left: its condition is a constant, with no way out.

    A break of a loop or switch within it does not count, a return of a called function neither.
    """
    condition = None if loop.condition is None else strip_casts(loop.condition)
    if condition is not None and not (isinstance(condition, Literal) and condition.value):
        return False
    return not _leaves(loop.body, by_break=True)


def _leaves(statement: Statement, by_break: bool) -> bool:
    """Whether a statement can end the loop around it, by break or by return."""
    match statement:
        case Break():
            return by_break
        case Return():
            return True
        case Loop(body=body):
            return _leaves(body, by_break=False)
        case Switch(body=body):
            return any(_leaves(one, by_break=False) for one in body)
        case _:
            inner = (getattr(statement, name, None) for name in ("yes", "no"))
            parts = [part for part in inner if part is not None]
            parts += getattr(statement, "statements", ())
            return any(_leaves(part, by_break) for part in parts)


def counted(loop: Loop) -> bool:
    """Whether a counter leads a loop to its end: a condition like i < n, and i only counts up."""
    if loop.condition is None:
        return False
    changes = _changes(loop)
    return any(_progresses(test, changes) for test in _tests(loop.condition))


def _tests(condition: Expression) -> list[Expression]:
    """The conditions that must all hold for a condition to hold."""
    match condition:
        case Cast(operand=operand):
            return _tests(operand)
        case Logical(operator="&&", left=left, right=right):
            return _tests(left) + _tests(right)
        case _:
            return [condition]


def _progresses(test: Expression, changes: dict[Variable, list[int | None]]) -> bool:
    """Whether one side of a comparison only counts toward the other, which stays as it is."""
    variable = _variable(test)
    if variable is not None:  # while (n), for n that is halved or counted down
        steps = changes.get(variable, [])
        return bool(steps) and all(step is not None for step in steps)
    if not isinstance(test, Binary) or test.operator not in MIRRORED:
        return False
    for one, other, operator in (
        (test.left, test.right, test.operator),
        (test.right, test.left, MIRRORED[test.operator]),
    ):
        steps = [s for v in _variables(one) for s in changes.get(v, [])]
        still = not any(v in changes for v in _variables(other))
        toward = FORWARD.get(operator)
        if steps and still and all(s is not None and s in (0, toward or s) for s in steps):
            return True
    return False


def _variable(expression: Expression) -> Variable | None:
    expression = strip_casts(expression)
    if isinstance(expression, Load) and isinstance(expression.lvalue, Name):
        return expression.lvalue.variable
    return None


def _variables(expression: Expression) -> list[Variable]:
    return [part.variable for part in subexpressions(expression) if isinstance(part, Name)]


def _changes(loop: Loop) -> dict[Variable, list[int | None]]:
    """How each variable changes within a loop: 1 up, -1 down, 0 either way, None in no order."""
    found: dict[Variable, list[int | None]] = {}
    roots = [] if loop.advance is None else [loop.advance]
    for statement in walk(loop.body):
        roots += expressions_of(statement)
        if isinstance(statement, Declare):
            found.setdefault(statement.variable, []).append(None)
    roots += [loop.condition] if loop.condition is not None else []
    for root in roots:
        for part in subexpressions(root):
            match part:
                case Increment(lvalue=Name(variable=variable), delta=delta):
                    found.setdefault(variable, []).append(delta)
                case Assign(lvalue=Name(variable=variable), operator=operator, value=value):
                    found.setdefault(variable, []).append(_step(operator, value))
    return found


def _step(operator: str, value: Expression) -> int | None:
    """The direction of a compound assignment; 0 where the amount's sign is not known."""
    value = strip_casts(value)
    direction = STEPS.get(operator)
    if direction is None:
        return None
    if operator in "+-" and isinstance(value, Literal):
        return direction if value.value > 0 else -direction if value.value < 0 else None
    return direction if operator not in "+-" else 0
