"""Refuses texts that ask a compiler for more than a kernel needs, or more than it can bear."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

from simulator.frontend.lexer import logical_lines
from simulator.frontend.macro_limits import check_expansion
from simulator.language.errors import SourceError, Span

MAX_TEXT_BYTES = 64 * 2**10  # of a text in UTF-8
ALLOWED_DIRECTIVES = frozenset(
    {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error"}
)
PASTE = re.compile(r"##|%:%:")
FORBIDDEN_TOKEN = re.compile(r"__has_(?:include|embed)")
HASH = re.compile(r"#|%:|\?\?=")
SPACE = re.compile(r"\s*")
FORBIDDEN_NAME = re.compile(r"(?:include\w*|import|embed|line)\b")


def check_length(text: str) -> None:
    """Raise SourceError for a text that is too long, or is no text: with parts of letters."""
    not_text = "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in set(text))
    if not_text or len(text.encode()) > MAX_TEXT_BYTES:
        raise SourceError(
            f"A kernel's text is plain and has up to {MAX_TEXT_BYTES:,} bytes (64 KB)."
        )


def check_directives(
    text: str, defines: Mapping[str, str] | None = None, takes_pasting: bool = False
) -> None:
    """Raise SourceError for directives other than macros, conditions, #pragma and #error.

    defines are the compiler's -D macros. Macros that expand to too many tokens raise it, too.

    An #include of a file of the host would show its first line in the compiler's log, and
    __has_include shows whether it exists: a visitor's kernel must do neither. The pasting of tokens
    could make its name, and _Pragma a directive; they are only for a compiler that has both names
    as macros that do nothing.
    """
    for given in (text, *(defines or {}).values()):
        check_length(given)
    lines = logical_lines(text)
    for number, line in enumerate(lines, start=1):
        found = re.match(r"\s*(?:#|%:|\?\?=)\s*(\w*)", line)
        if found and found[1] and found[1] not in ALLOWED_DIRECTIVES:
            column = line.index(found[1]) + 1
            span = Span(number, column, number, column + len(found[1]))
            raise SourceError(
                f"#{found[1]} is not taken here: a kernel brings its own text and needs no header.",
                span,
            )
        for word in ("__has_include", "__has_embed", *(() if takes_pasting else ("_Pragma",))):
            if word in line:
                column = line.index(word) + 1
                raise SourceError(
                    f"{word} is not taken here.", Span(number, column, number, column + len(word))
                )
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    pasted = PASTE.search(spliced)
    forbidden = _forbidden_directive(spliced)
    if pasted is not None and takes_pasting and "__VA_OPT__" in spliced:
        line_number = spliced.count("\n", 0, pasted.start()) + 1
        raise SourceError(
            "A text with __VA_OPT__ pastes no tokens (##) here.",
            Span(line_number, 1, line_number, 1),
        )
    if pasted is not None and not takes_pasting:
        forbidden = min(pasted.start(), len(spliced) if forbidden is None else forbidden)
    if forbidden is not None:
        line_number = spliced.count("\n", 0, forbidden) + 1
        raise SourceError(
            "A kernel brings its own text: #include and its kind, and the pasting of tokens (##), "
            "are not taken, not even in a comment.",
            Span(line_number, 1, line_number, 1),
        )
    check_expansion(lines, defines or {})


def _forbidden_directive(text: str) -> int | None:
    """The position of the first forbidden directive in a text without line splices, or None.

    Strings and comments do not count as such: a raw string or a digit separator would make this
    lexer see a string or comment where a compiler sees a directive. From each # spaces and
    comments are skipped up to a name; no position is visited twice, so that the time is linear.
    """
    found = FORBIDDEN_TOKEN.search(text)
    ends = [end.end() for end in re.finditer(r"\*/", text)]
    visited: set[int] = set()
    for sign in HASH.finditer(text, 0, found.start() if found else len(text)):
        position = sign.end()
        while position not in visited:
            visited.add(position)
            position = SPACE.match(text, position).end()  # type: ignore[union-attr]  # it matches an empty string
            if text.startswith("/*", position):
                next_end = bisect.bisect_left(ends, position + 4)
                if next_end == len(ends):
                    break
                position = ends[next_end]
            elif FORBIDDEN_NAME.match(text, position):
                return sign.start()
    return found.start() if found else None
