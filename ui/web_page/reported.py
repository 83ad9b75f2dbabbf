"""What a browser reports through a component: any JSON, for anybody may have written it."""

from __future__ import annotations

from typing import TypeVar, get_type_hints

LARGEST = 2**53  # a browser's whole numbers are no larger

Kind = TypeVar("Kind")


def parse(kind: type[Kind], reported: object) -> Kind | None:
    """A dataclass of numbers and texts from an object with their names; None for anything else.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> parse(Point, {"x": 3, "y": 4}), parse(Point, {"x": 3}), parse(Point, {"x": 3, "y": "4"})
    (Point(x=3, y=4), None, None)
    """
    types = get_type_hints(kind)
    if not isinstance(reported, dict) or reported.keys() != types.keys():
        return None
    is_right = all(_is(reported[name], type_) for name, type_ in types.items())
    return kind(**reported) if is_right else None


def whole_number(reported: object, end: int = LARGEST) -> int | None:
    """A whole number from 0 up to an end, without it; None for anything else.

    >>> whole_number(3, 4), whole_number(4, 4), whole_number(True), whole_number(3.5)
    (3, None, None, None)
    """
    return reported if _is(reported, int) and 0 <= reported < end else None  # type: ignore[operator,return-value]


def _is(value: object, kind: type) -> bool:
    """Whether a value is of a kind. True is no number here, nor is one that no browser has."""
    return type(value) is kind and (not isinstance(value, int) or abs(value) <= LARGEST)
