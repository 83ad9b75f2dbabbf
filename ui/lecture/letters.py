"""Sizes of letters for a room, the width of a text, and its lines."""

from __future__ import annotations

import functools
import html
from dataclasses import dataclass

from ui.drawing.look import Look

MONO_WIDTH = 0.605  # of a letter's height, in DejaVu Sans Mono; others are narrower
# Widths of letters in DejaVu Sans, of a letter's height, rounded up; those of other fonts are less.
LETTER_WIDTHS = {
    letter: width
    for width, letters in (
        (0.29, "ijl'|"), (0.32, " \u00a0.,·I"), (0.36, ":;f-!/"), (0.42, "()[]rt"), (0.53, "szJ–"),
        (0.6, "ckvxyFL"), (0.64, "abdeghnopquEPSTYZ0123456789"), (0.7, "ABCKRVX"),
        (0.79, "DGHNOQU"), (0.84, "w+=<>×−≤≥≠"), (1.0, "mMW%@—…"),
    )
    for letter in letters
}  # fmt: skip
WIDEST_LETTER = 1.0  # of all others
TALL_WIDTH = 700  # CSS pixels; a narrower room is a phone's
PRESENTED = (1280, 720)  # the room for which the letters of a presentation are stated
ORDINARY = (1240, 560)  # the room that the page leaves on a screen of 1280 x 720


@dataclass(frozen=True, slots=True)
class Letters:
    """Heights of letters in CSS pixels."""

    heading: float  # where we are
    source: float
    values: float  # the line's values, under it
    number: float  # the smallest of a stage's cells
    name: float  # of an array, above it
    sentence: float
    small: float  # all else


PRESENTING = Letters(26, 17, 20, 20, 18, 22, 15)
PAGE = Letters(19, 14, 15.5, 15, 15, 17, 13)
PHONE = Letters(16, 12, 13, 14, 13, 16, 12)
# Of two scenes beside each other:
PAIR_PRESENTING = Letters(20, 15, 16, 18, 16, 19, 14)
PAIR_PAGE = Letters(16, 13, 13.5, 16, 14, 16, 12)


def letters_for(look: Look) -> Letters:
    """The heights for a room: those of a screen of 1280 x 720, larger in proportion."""
    return _in_proportion(look, PRESENTING, PAGE)


def letters_for_pair(look: Look) -> Letters:
    """The heights for a room that two scenes share."""
    return _in_proportion(look, PAIR_PRESENTING, PAIR_PAGE)


def _in_proportion(look: Look, presenting: Letters, page: Letters) -> Letters:
    if look.width < TALL_WIDTH:
        return PHONE
    base, (width, height) = (presenting, PRESENTED) if look.presenting else (page, ORDINARY)
    factor = max(1.0, min(look.width / width, look.height / height))
    return Letters(
        *(
            round(getattr(base, name) * factor, 2)
            for name in ("heading", "source", "values", "number", "name", "sentence", "small")
        )
    )


@functools.lru_cache(maxsize=8192)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """At most how many pixels a text in a proportional font takes, as DejaVu Sans, a wide one.

    >>> text_width("ill", 10) < text_width("MWm", 10)
    True
    """
    width = sum(LETTER_WIDTHS.get(letter, WIDEST_LETTER) for letter in text)
    return width * size * (1.13 if bold else 1.0)


def cut_name(name: str, height: float, width: float) -> str:
    """A name in bold, cut where it is wider than its room."""
    shown = name
    while text_width(shown, height, True) > width and len(shown) > 1:
        shown = f"{shown.removesuffix('…')[:-1]}…"
    return f"<b>{shown}</b>"


def mono_width(count: int, size: float) -> float:
    """How many pixels some letters of the source's font take."""
    return count * size * MONO_WIDTH


@functools.lru_cache(maxsize=8192)
def wrap(text: str, size: float, width: float, most: int) -> tuple[str, ...] | None:
    """A proportional text as lines of at most `room` pixels; None if it needs more than `most`."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(longer, size) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most or any(text_width(line, size) > width for line in lines):
        return None
    return tuple(lines)


def fit(texts: tuple[str, ...], size: float, width: float, most: int) -> tuple[str, ...]:
    """The lines of the first of several wordings that fits; none if no wording does."""
    for text in texts:
        lines = wrap(text, size, width, most)
        if lines is not None:
            return lines
    return ()


def markup(text: str) -> str:
    """A text as Plotly draws it: nothing in it is a tag, and spaces in a row stay."""
    return html.escape(text, quote=False).replace("  ", "\u00a0 ")
