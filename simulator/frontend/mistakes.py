"""The errors of one kernel's source: what is wrong in a statement does not hide the next ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from simulator.frontend.clang import is_unread
from simulator.frontend.diagnostics import ClangErrors
from simulator.language.errors import MAX_ERRORS, Diagnostic, SourceError, Span, list_names


class ConsequenceError(SourceError):
    """What follows from an error that is noted already, such as the use of a failed declaration."""


class UndefinedError(SourceError):
    """A call of a function without a body; one with errors of clang's has none for it."""


class LimitError(SourceError):
    """An error after which nothing more is lowered."""


class Mistakes:
    """The errors that are found in one kernel and in the functions that it calls.

    Clang's come first: what lowering says of a line with one of these, or of what clang could not
    read, follows from it.
    """

    def __init__(self, of_clang: ClangErrors) -> None:
        self._of_clang = of_clang
        self._found: dict[str, Diagnostic] = {}  # by its message, the first of the text
        self._again: dict[str, set[int]] = {}  # the lines of others with the same message
        self._caught = 0  # errors, those that are found again or follow from others included

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the error that what is within raises, and go on after it.

        It is no error of its own if others were noted since it began: it follows from them.
        Raises LimitError after the last of MAX_ERRORS.
        """
        caught = self._caught
        try:
            yield
        except LimitError:
            raise
        except SourceError as error:
            if self._caught == caught and not self._follows(error):
                self.add(error)
            self._caught += 1
            if self._count >= MAX_ERRORS:
                raise LimitError(error.message, error.span) from error

    def add(self, error: SourceError) -> None:
        """Note an error, if there are fewer than MAX_ERRORS; once if only its line differs."""
        for one in error.errors:
            if self._count >= MAX_ERRORS:
                return
            if one.span is not None and one.span.line in self._of_clang.lines:
                continue
            known = self._found.setdefault(one.message, one)
            first, second = sorted((known, one), key=_place)
            self._found[one.message] = first
            if first.span is not None and second.span is not None:
                self._again.setdefault(one.message, set()).add(second.span.line)

    def _follows(self, error: SourceError) -> bool:
        """Whether an error follows from one that is known already."""
        is_clangs = isinstance(error, UndefinedError) and self.has_clangs
        return is_clangs or isinstance(error, ConsequenceError)

    @property
    def _count(self) -> int:
        return len(self._found) + len(self._of_clang.found)

    @property
    def has_clangs(self) -> bool:
        """Whether clang has found errors."""
        return bool(self._of_clang.found)

    def check_read(self, cursor: Any) -> None:
        """Raise ConsequenceError for an expression or declaration that clang could not read."""
        if self.has_clangs and is_unread(cursor):
            raise ConsequenceError("This has an error.")

    def has_torn_head(self, span: Span, blocks: Sequence[Span]) -> bool:
        """Whether clang has an error in a statement, but not within the blocks that it contains."""
        lines = [line for line in self._of_clang.lines if span.line <= line <= span.end_line]
        return any(
            not any(block.line < line < block.end_line for block in blocks) for line in lines
        )

    def check(self, warnings: Sequence[str]) -> None:
        """Raise SourceError with all that was found, in the order of the text, and warnings."""
        found = [*self._of_clang.found, *map(self._with_lines, self._found.values())]
        assert found or not self._caught
        if found:
            raise SourceError.of(sorted(found, key=_place), warnings)

    def _with_lines(self, error: Diagnostic) -> Diagnostic:
        """An error, with the further lines that have the same one in its hint."""
        first = error.span.line if error.span is not None else 0
        lines = [str(line) for line in sorted(self._again.get(error.message, ())) if line > first]
        if not lines:
            return error
        word = "line" if len(lines) == 1 else "lines"
        hint = f"{error.hint} " if error.hint else ""
        return replace(error, hint=f"{hint}The same on {word} {list_names(lines)}.")


def _place(error: Diagnostic) -> Span:
    return error.span or Span(0, 0, 0, 0)
