"""Pieces of SVG paths, in pixels of the sheet."""

from __future__ import annotations


def px(value: float) -> str:
    """A length on the sheet, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def box(left: float, top: float, right: float, bottom: float) -> str:
    """A rectangle."""
    return f"M{px(left)},{px(top)}H{px(right)}V{px(bottom)}H{px(left)}Z"
