"""Numbers as people read them: one format for sentences, parts of a step, cells and messages."""

from __future__ import annotations

from typing import Any

import numpy as np

MINUS = "−"  # the sign that is as wide as a plus; a hyphen is shorter
DIGITS = 6  # that a number with a fraction has in a sentence


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
