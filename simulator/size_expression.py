"""Sizes as expressions over named whole numbers, such as "(N + TILE - 1) / TILE"."""

from __future__ import annotations

import ast
import functools
import operator
import re
import threading
from collections.abc import Callable, Mapping

from simulator.language.errors import LaunchError, list_names, shorten

LONGEST = 200  # letters of an expression
WORD = re.compile(r"[A-Za-z_][\w.]*")  # a name, or a struct's member
LARGEST = 2**63  # of a value on the way

# Threads that call ast.parse together may get a SystemError (issue 106905 of python/cpython).
PARSING = threading.Lock()

OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


def evaluate(expression: int | str, values: Mapping[str, int]) -> int:
    """The value of a number, or of an expression over named values with +, -, * and whole /.

    Raises LaunchError for any other expression, and where it has no value.

    >>> evaluate("TILE / EACH", {"TILE": 64, "EACH": 8}), evaluate("A.width", {"A.width": 4})
    (8, 4)
    """
    text = str(expression).strip()
    if len(text) > LONGEST:
        raise LaunchError(f"A size has {len(text):,} characters; at most {LONGEST} are allowed.")
    try:
        found = _value(_parse(text), values)
    except ZeroDivisionError:
        raise LaunchError(f"{shorten(text)!r} divides by 0.") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    if found is None:
        known = list_names(list(values)) if values else "macros"
        raise LaunchError(
            f"{shorten(text)!r} is not a sum, difference, product or whole quotient of numbers "
            f"and {known}."
        )
    return found


def rounded_up(size: str, tile: object) -> str:
    """A quotient of two sizes, rounded up, as an expression.

    >>> rounded_up("N", "TILE / EACH"), rounded_up("N", 1)
    ('(N + TILE / EACH - 1) / (TILE / EACH)', 'N')
    """
    return size if str(tile) == "1" else f"({size} + {tile} - 1) / {as_factor(str(tile))}"


def as_factor(size: str) -> str:
    """A size as a factor of another: in brackets, unless it is a name or a number."""
    return size if size.isidentifier() or size.isdigit() else f"({size})"


def substitute(expression: str, names: Mapping[str, str]) -> str:
    """An expression in which some names stand for other expressions.

    >>> substitute("n + 2", {"n": "rows * cols"}), substitute("M", {"M": "B * T"})
    ('(rows * cols) + 2', 'B * T')
    """
    if expression in names:
        return names[expression]

    def meant(name: re.Match[str]) -> str:
        found = names.get(name[0], name[0])
        return found if WORD.fullmatch(found) or found.isdigit() else f"({found})"

    return WORD.sub(meant, expression)


@functools.lru_cache(512)  # a guess computes the same sizes for many launches
def _parse(text: str) -> ast.expr:
    with PARSING:
        return ast.parse(text, mode="eval").body


def _value(node: ast.expr, values: Mapping[str, int]) -> int | None:
    """The value of a part of an expression; None where it is something else, or too large."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            found = number
        case ast.Name(id=name) if name in values:
            found = values[name]
        case ast.Attribute() if ast.unparse(node) in values:  # a struct's member
            found = values[ast.unparse(node)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _value(operand, values)
            if value is None:
                return None
            found = -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            first, second = _value(left, values), _value(right, values)
            if first is None or second is None:
                return None
            found = OPERATORS[type(op)](first, second)
        case _:
            return None
    return found if abs(found) < LARGEST else None
