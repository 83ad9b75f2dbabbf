"""Numbers as people read them: one format for sentences, parts of a step, cells and messages."""

from __future__ import annotations

from typing import Any

import numpy as np

MINUS = "−"  # the sign that is as wide as a plus; a hyphen is shorter
DIGITS = 6  # of a number with a fraction, in a sentence


def format_number(value: Any, digits: int = DIGITS, minus: str = MINUS) -> str:
    """A number with up to `digits` digits, a vector in parentheses, "…" for None.

    value is a Python or NumPy number, an array [n] of a short vector's components, or None.

    >>> format_number(np.float32(-0.1)), format_number(np.int32(12345678)), format_number(True)
    ('−0.1', '12345678', 'true')
    >>> format_number(np.array([1.0, 2.5]))
    '(1, 2.5)'
    """
    if value is None:
        return "…"
    if isinstance(value, np.ndarray) and value.ndim:
        return "(" + ", ".join(format_number(item, digits, minus) for item in value) + ")"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    is_float = isinstance(value, (float, np.floating)) or np.asarray(value).dtype.kind == "f"
    text = f"{float(value):.{digits}g}" if is_float else str(int(value))
    return text.replace("-", minus)


def format_short(value: Any) -> str:
    """A number in the room of a drawn cell: at most three digits of a fraction, "?" for NaN.

    >>> format_short(1234567.0), format_short(-12345), format_short(np.float32(0.123456))
    ('1.23e+06', '−12345', '0.123')
    >>> format_short(float("nan")), format_short(float("inf"))
    ('?', 'inf')
    """
    number = float(value)
    if number != number:
        return "?"
    if abs(number) < 1e6 and number == int(number):
        return str(int(number)).replace("-", MINUS)
    text = f"{number:.3g}" if abs(number) < 1e4 else f"{number:.2e}"
    return text.replace("-", MINUS)
