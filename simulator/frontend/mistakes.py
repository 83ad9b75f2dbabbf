"""The errors of one kernel's lowering: what is wrong in a statement does not hide the next ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from simulator.language.errors import MAX_ERRORS, Diagnostic, SourceError, Span, list_names


class ConsequenceError(SourceError):
    """What follows from an error that is noted already, such as the use of a failed declaration."""


class LimitError(SourceError):
    """An error behind which nothing more is lowered."""


class Mistakes:
    """The errors that are found in one kernel and in the functions that it calls."""

    def __init__(self) -> None:
        self._found: dict[str, Diagnostic] = {}  # by its message, the first of the text
        self._again: dict[str, set[int]] = {}  # the lines of others with the same message
        self._caught = 0  # errors, those that are found again or follow from others included

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the error that what is within raises, and go on behind it.

        It is no error of its own if others were noted since it began: it follows from them.
        Raises LimitError behind the last of MAX_ERRORS.
        """
        caught = self._caught
        try:
            yield
        except LimitError:
            raise
        except SourceError as error:
            if self._caught == caught and not isinstance(error, ConsequenceError):
                self.add(error)
            self._caught += 1
            if len(self._found) >= MAX_ERRORS:
                raise LimitError(error.message, error.span) from error

    def add(self, error: SourceError) -> None:
        """Note an error, if there are fewer than MAX_ERRORS; once if only its line differs."""
        for one in error.errors if len(self._found) < MAX_ERRORS else ():
            known = self._found.setdefault(one.message, one)
            first, second = sorted((known, one), key=_place)
            self._found[one.message] = first
            if first.span is not None and second.span is not None:
                self._again.setdefault(one.message, set()).add(second.span.line)

    def check(self, warnings: Sequence[str]) -> None:
        """Raise SourceError with all that was found, in the order of the text, and warnings."""
        found = sorted(self._found.values(), key=_place)
        if found:
            raise SourceError.of([self._with_lines(one) for one in found], warnings)

    def _with_lines(self, error: Diagnostic) -> Diagnostic:
        """An error, with the further lines that have the same one in its hint."""
        first = error.span.line if error.span is not None else 0
        lines = [str(line) for line in sorted(self._again.get(error.message, ())) if line > first]
        if not lines:
            return error
        word = "line" if len(lines) == 1 else "lines"
        hint = f"{error.hint} " if error.hint else ""
        return replace(error, hint=f"{hint}The same in {word} {list_names(lines)}.")


def _place(error: Diagnostic) -> Span:
    return error.span or Span(0, 0, 0, 0)
