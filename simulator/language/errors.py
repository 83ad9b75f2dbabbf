"""Errors for a learner's mistakes: sentences, with the span of the text that they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.language.files import file_at, files_of
from simulator.language.printable import printable

MAX_NAMES = 12  # in a sentence
MAX_ERRORS = 10  # the most shown of one text
LONGEST_NAME = 80  # letters of a name in a sentence
LONGEST_SENTENCE = 1_000  # letters
MAX_LINE = 400  # bytes of a line of the text that is shown with its error


def shorten(text: str) -> str:
    """A sentence, printable, with names cut at LONGEST_NAME letters, itself at LONGEST_SENTENCE.

    >>> shorten("No " + "a" * 90 + " here.").count("a")
    80
    """
    cut = re.sub(rf"(\w{{{LONGEST_NAME}}})\w+", r"\1…", printable(text))
    return cut if len(cut) <= LONGEST_SENTENCE else f"{cut[:LONGEST_SENTENCE]}…."


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of the kernel's source."""

    line: int  # of its first character, from 1
    column: int  # of its first character, from 1, in bytes of UTF-8 as clang counts
    end_line: int  # of the character after it
    end_column: int

    def __str__(self) -> str:
        """The start, as messages begin with it."""
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of a kernel's source that mends a mistake."""

    span: Span  # what is replaced; with equal ends nothing is, and the text is inserted there
    text: str  # what takes its place


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake in a kernel's source."""

    message: str  # a sentence
    span: Span | None = None  # what it is about, if known
    hint: str = ""  # a sentence on what may mend it, where there is one
    fix: Fix | None = None  # where the compiler knows one
    # Macros that mend it, as NAME, NAME=4 or, with any value, NAME=…: all of one tuple together.
    macros: tuple[tuple[str, ...], ...] = ()
    headers: tuple[str, ...] = ()  # missing ones that may have it, such as "a.h (line 3)"
    file: tuple[str, int] | None = None  # the included file that it is in, and its line there

    def __str__(self) -> str:
        """The place, the sentence and the hints, on one line, in a terminal's words."""
        place = f"{self.place}, column {self.span.column}: " if self.span else ""
        wanted = [" ".join(f"-D {macro}" for macro in together) for together in self.macros]
        parts = (
            f"{place}{self.message}",
            self.hint,
            f"If it comes from {list_names(self.headers)}: give that file's folder with -I FOLDER."
            if self.headers
            else "",
            f"Give {' or '.join(wanted)}." if wanted else "",
        )
        return " ".join(part for part in parts if part)

    @property
    def place(self) -> str:
        """Its line, and the included file that it is in; "" where it has none."""
        if self.file is not None:
            return f"{self.file[0]}, line {self.file[1]}"
        return f"line {self.span.line}" if self.span else ""

    @property
    def hint_for_editor(self) -> str:
        """The hints, in words for somebody who edits the text; "" without any.

        >>> Diagnostic("No TILE.", macros=(("TILE=…",), ("FAST", "WIDTH=4"))).hint_for_editor
        'Write #define TILE … above it, or #define FAST and #define WIDTH 4.'
        """
        wanted = [
            " and ".join(f"#define {macro.replace('=', ' ')}" for macro in together)
            for together in self.macros
        ]
        parts = (
            self.hint,
            f"If it comes from {list_names(self.headers)}: open that file together with this one, "
            "or write what the kernel uses of it into the code."
            if self.headers
            else "",
            f"Write {wanted[0]} above it{''.join(f', or {one}' for one in wanted[1:])}."
            if wanted
            else "",
        )
        return " ".join(part for part in parts if part)


class SourceError(Exception):
    """A mistake in a kernel's source: a sentence, and the span that it is about, if known.

    others are further mistakes, found at the same time; as a text, each is on a line of its own.
    warnings are sentences about what is allowed, but may be meant otherwise.
    """

    depends_on_machine = False  # whether another run may end otherwise: the time was over
    may_never_end = False  # whether it was over in a loop that no counter seems to end

    def __init__(self, message: str, span: Span | None = None) -> None:
        self._keep((Diagnostic(message, span),), ())

    def _keep(self, found: Sequence[Diagnostic], warnings: Sequence[str]) -> None:
        self.errors = tuple(
            replace(one, message=shorten(one.message), hint=shorten(one.hint)) for one in found
        )
        self.message, self.span = self.errors[0].message, self.errors[0].span
        self.warnings = tuple(map(shorten, warnings))
        self.args = ("\n".join(map(str, self.errors)),)

    @classmethod
    def of(cls, found: Sequence[Diagnostic], warnings: Sequence[str] = ()) -> SourceError:
        """The mistakes, of which there is at least one, as one error, with warnings."""
        error = cls(found[0].message)
        error._keep(found, warnings)
        return error

    def in_files(self, text: str) -> SourceError:
        """The error of source that has several files, with the file of each mistake."""
        if len(files_of(text)) == 1:
            return self
        found = [
            (one, file_at(text, one.span.line) if one.span else ("", 0)) for one in self.errors
        ]
        return SourceError.of(
            [replace(one, file=file if file[0] else None) for one, file in found], self.warnings
        )

    def with_lines(self, text: str) -> str:
        """The errors, each with its line of the kernel's source beneath, and a mark at its column.

        The warnings follow.
        """
        lines = text.split("\n")
        found: list[str] = []
        for error in self.errors:
            found.append(str(error))
            if error.span is not None and 0 < error.span.line <= len(lines):
                line = lines[error.span.line - 1].rstrip().encode()
                if line and len(line) <= MAX_LINE:
                    before = line[: error.span.column - 1].decode(errors="replace")
                    mark = "".join("\t" if letter == "\t" else " " for letter in before)
                    found += (f"    {line.decode(errors='replace')}", f"    {mark}^")
        return "\n".join((*found, *(f"warning: {one}" for one in self.warnings[:MAX_ERRORS])))


class LaunchError(Exception):
    """A launch that no GPU accepts, or arguments that do not fit the kernel: a sentence."""

    depends_on_machine = False  # as SourceError's

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


def list_names(names: Sequence[str]) -> str:
    """Names as a sentence lists them, the first MAX_NAMES and how many more there are.

    >>> list_names(["A", "B", "C"])
    'A, B, C'
    """
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
