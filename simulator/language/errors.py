"""The learner's mistakes: sentences, and the place in the text that they are about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where a construct stands in the text: lines and columns from 1, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        """The form in which messages lead with it."""
        return f"line {self.line}, column {self.column}"


class SourceError(Exception):
    """The learner's mistake in a kernel: a sentence with the place it speaks of."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        self.message = message
        self.span = span
        super().__init__(f"{span}: {message}" if span else message)


class LaunchError(Exception):
    """A launch that no GPU takes, or arguments that do not fit the kernel: a sentence."""
