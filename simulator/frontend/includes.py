"""The files of one text, as tokens, and where their #includes lead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from simulator.frontend.scanner import Token, scan
from simulator.language.errors import SourceError, Span
from simulator.language.files import TextFile, files_of, find_file

INCLUDE = re.compile(r"(?:#|%:)\s*include\b\s*(.*)", re.DOTALL)
HEADER = re.compile(r"""["<]([^">]+)[">]""")
MAX_DEPTH = 32  # files within files
MAX_INCLUSIONS = 300
MAX_CHARACTERS = 2**20  # of source with each file as often as it is included

Piece = tuple[int, int]  # characters of the text, from the first up to the second


class Files:
    """A text's files: the main one first, and those that #include may ask for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.all: Sequence[TextFile] = files_of(text)
        self.tokens: Mapping[TextFile, list[Token]] = {
            file: [
                replace(token, start=token.start + file.start, end=token.end + file.start)
                if file.start
                else token
                for token in scan(text[file.start : file.end])
            ]
            for file in self.all
        }
        self._by_name = {file.name: file for file in reversed(self.all[1:])}

    def included(self, directive: Token, beside: TextFile) -> TextFile | None:
        """The file that an #include in another asks for; None for one that is not here."""
        written = INCLUDE.match(directive.text)
        header = HEADER.match(written[1]) if written else None
        if header is None or not self._by_name:
            return None
        name = find_file(header[0], beside.name, self._by_name)
        return None if name is None else self._by_name[name]


class Inclusions:
    """What is read of a text's files, in the order in which a compiler reads it."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._open = [files.all[0]]
        self._resumed: list[int] = []  # where each open file but the last goes on
        self._start = 0  # of the piece that is being read
        self._once: set[TextFile] = set()
        self._characters = 0
        self.pieces: list[Piece] = []

    @property
    def file(self) -> TextFile:
        """The file that is being read."""
        return self._open[-1]

    def note_once(self) -> None:
        """Read the file that is being read no other time (#pragma once)."""
        self._once.add(self.file)

    def enter(self, directive: Token) -> TextFile | None:
        """The file to read at an #include; None for one that is not here, or not read again.

        Raises SourceError where files include each other without end.
        """
        file = self._files.included(directive, self.file)
        if file is None or file in self._once:
            return None
        self._characters += file.end - file.start
        if (
            len(self._open) >= MAX_DEPTH
            or len(self.pieces) >= 2 * MAX_INCLUSIONS
            or self._characters > MAX_CHARACTERS
        ):
            line = self._files.text.count("\n", 0, directive.start) + 1
            raise SourceError(
                f"{file.name} is included again and again here: begin it with #pragma once.",
                Span(line, 1, line, 1 + len(directive.text)),
            )
        end = self._files.text.find("\n", directive.end) + 1 or len(self._files.text)
        end = min(end, self.file.end)
        self.pieces.append((self._start, end))
        self._resumed.append(end)
        self._open.append(file)
        self._start = file.start
        return file

    def leave(self) -> None:
        """Go on after the #include of a file that has been read, if there is one."""
        self.pieces.append((self._start, self._open.pop().end))
        if self._resumed:
            self._start = self._resumed.pop()
