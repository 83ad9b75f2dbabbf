"""The errors of one kernel's lowering: what is wrong in a statement does not hide the next ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from simulator.language.errors import MAX_ERRORS, Diagnostic, SourceError, Span


class ConsequenceError(SourceError):
    """What follows from an error that is noted already, such as the use of a failed declaration."""


class LimitError(SourceError):
    """An error behind which nothing more is lowered."""


class Mistakes:
    """The errors that are found in one kernel and in the functions that it calls."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}
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
        """Note an error, if there are fewer than MAX_ERRORS."""
        if len(self._found) < MAX_ERRORS:
            self._found.update(dict.fromkeys(error.errors))

    def check(self, warnings: Sequence[str]) -> None:
        """Raise SourceError with all that was found, in the order of the text, and warnings."""
        nowhere = Span(0, 0, 0, 0)
        found = sorted(self._found, key=lambda error: error.span or nowhere)
        if found:
            raise SourceError.of(found, warnings)
