"""What a browser reports through a component: any JSON, for anybody may have written it."""

from __future__ import annotations

from typing import Any

LARGEST = 2**53  # a browser's whole numbers are no larger


def row(reported: object, *kinds: type) -> list[Any] | None:
    """A list that has one value of each kind, in their order; None for anything else.

    >>> row(["tiled", 8], str, int), row(["tiled", "8"], str, int), row(8, int)
    (['tiled', 8], None, None)
    """
    if not isinstance(reported, list) or len(reported) != len(kinds):
        return None
    is_right = all(_is(value, kind) for value, kind in zip(reported, kinds, strict=True))
    return reported if is_right else None


def whole_number(reported: object, end: int = LARGEST) -> int | None:
    """A whole number from 0 up to an end, without it; None for anything else.

    >>> whole_number(3, 4), whole_number(4, 4), whole_number(True), whole_number(3.5)
    (3, None, None, None)
    """
    return reported if _is(reported, int) and 0 <= reported < end else None  # type: ignore[operator,return-value]


def _is(value: object, kind: type) -> bool:
    """Whether a value is of a kind. True is no number here, nor is one that no browser has."""
    return type(value) is kind and (not isinstance(value, int) or abs(value) <= LARGEST)
