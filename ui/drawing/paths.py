"""Pieces of SVG paths, in pixels of the sheet."""

from __future__ import annotations

import math

HALF_HEAD = 0.6  # of an arrow's head, half its width by its length


def px(value: float) -> str:
    """A length on the sheet, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def box(left: float, top: float, right: float, bottom: float) -> str:
    """A rectangle."""
    return f"M{px(left)},{px(top)}H{px(right)}V{px(bottom)}H{px(left)}Z"


def head(x: float, y: float, end_x: float, end_y: float, length: float) -> str:
    """The head of an arrow, of `length`, at the end of a line that comes from (x, y)."""
    way = max(1.0, math.hypot(end_x - x, end_y - y))
    along_x, along_y = (end_x - x) / way * length, (end_y - y) / way * length
    left, top = end_x - along_x, end_y - along_y
    aside_x, aside_y = HALF_HEAD * along_y, HALF_HEAD * along_x
    return (
        f"M{px(left - aside_x)},{px(top + aside_y)}L{px(end_x)},{px(end_y)}"
        f"L{px(left + aside_x)},{px(top - aside_y)}"
    )
