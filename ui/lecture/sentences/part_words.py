"""A statement's part in words: what it did, as long as a line has room for it."""

from __future__ import annotations

import textwrap

from simulator.sentences.parts import Part

PART_WIDTH = 52  # letters of a part's line that is shortened


def describe_part(piece: Part) -> str:
    """What a part did, after its text in the source where it is an access."""
    if piece.cell is None or piece.summary.startswith(piece.text):
        return piece.summary
    return f"{piece.text}: {_summary(piece)}"


def shorten_part(line: str) -> str:
    """A line that fits: without the stages between what is reckoned and what comes of it."""
    if len(line) <= PART_WIDTH:
        return line
    if " = " not in line:
        return textwrap.shorten(line, PART_WIDTH, placeholder=" …")
    first, *_, last = line.split(" = ")
    width = PART_WIDTH - len(f" = {last}")
    first = first if len(first) <= width else f"{first[: max(0, width - 2)].rstrip()} …"
    return f"{first} = {last}"


def _summary(piece: Part) -> str:
    """What a part did; the array that its cell names is not named again."""
    return (
        piece.summary
        if piece.cell is None
        else piece.summary.replace(f" of {piece.cell.array}", "")
    )
