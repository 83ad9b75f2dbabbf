"""Wording that the sentences of exercises share."""

from __future__ import annotations

from collections.abc import Mapping


def plural(count: float, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "barrier"), plural(0, "barrier")
    ('1 barrier', '0 barriers')
    """
    return f"{count:,.4g} {noun}" + ("" if count == 1 else "s")


def size_text(*sizes: Mapping[str, int]) -> str:
    """Launches' numbers, by parameter, as sentences have them.

    >>> size_text({"M": 17, "N": 9}), size_text({"n": 300}, {"n": 1})
    ('M × N = 17 × 9', 'n = 300, 1')
    """
    values = [" × ".join(str(value) for value in size.values()) for size in sizes]
    return f"{' × '.join(sizes[0])} = {', '.join(values)}"
