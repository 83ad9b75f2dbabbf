"""Errors for a learner's mistakes: sentences, with the span of the text that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_NAMES = 12  # in a sentence


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of the kernel's text."""

    line: int  # of its first character, from 1
    column: int  # likewise, in bytes of UTF-8, as clang counts
    end_line: int  # of the character behind it
    end_column: int

    def __str__(self) -> str:
        """The start, as messages begin with it."""
        return f"line {self.line}, column {self.column}"


class SourceError(Exception):
    """A mistake in a kernel's text: a sentence, and the span that it is about, if known."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        self.message = message
        self.span = span
        super().__init__(f"{span}: {message}" if span else message)


class LaunchError(Exception):
    """A launch that no GPU accepts, or arguments that do not fit the kernel: a sentence."""


def list_names(names: Sequence[str]) -> str:
    """Names as a sentence lists them, the first MAX_NAMES and how many more there are.

    >>> list_names(["A", "B", "C"])
    'A, B, C'
    """
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
