"""Refuses texts that ask a compiler for more than a kernel needs, or more than it can bear."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping

from simulator.frontend.lexer import in_one_spelling, logical_lines
from simulator.frontend.macro_limits import check_expansion
from simulator.language.errors import SourceError, Span, list_names, shorten
from simulator.language.files import MAX_BYTES, MAX_FILE_BYTES, MAX_FILES, files_of

MAX_TEXT_BYTES = 64 * 2**10  # of what a compiler gets of a file, without blank lines
ALLOWED_DIRECTIVES = frozenset(
    {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error"}
)
ALLOWED_PRAGMAS = ("unroll", "nounroll", "pack")  # others change nothing here, or name files
PASTE = re.compile(r"##|%:%:")
HASH = re.compile(r"#|%:|\?\?=")
MACRO_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
ONE_LINE = re.compile(r"[^\n\r\v\f]*")
SPLICE = re.compile(r"\\[ \t]*\n")
SPACE = re.compile(r"[\s\u180e]*")  # what clang takes for spaces, and Python
# After a #: what asks for a file, or says that the lines after it are of one.
FORBIDDEN_NAME = re.compile(
    r"(?:include\w*|__include_macros|import|embed|using|line)\b|\d+[ \t]*\""
)
PRAGMA = re.compile(r"pragma\b")
ALLOWED_PRAGMA = re.compile(rf"[ \t]+(?:{'|'.join(ALLOWED_PRAGMAS)})\b")
FORBIDDEN_WORDS = ("__has_include", "__has_embed")
PRAGMA_WORD = "_Pragma"
NO_FILES = (
    "A kernel must contain all its code: #include and its kind, and the pasting of tokens (##), "
    "are not allowed, not even in a comment."
)
NO_PRAGMAS = (
    f"Only the pragmas {list_names(ALLOWED_PRAGMAS)} are allowed here, written with #pragma."
)


def check_length(text: str) -> None:
    """Raise SourceError for source whose files are too long, or that is none: see check_plain."""
    check_plain(text)
    if len(files_of(text)) > MAX_FILES:
        raise SourceError(f"This code has more than {MAX_FILES} files.")
    for file in files_of(text):
        length = len(text[file.start : file.end].encode())
        if length > MAX_FILE_BYTES:
            name = file.name or "This code"
            raise SourceError(
                f"{name} has {length:,} bytes; a file may be at most {MAX_FILE_BYTES:,} (256 KB)."
            )


def check_plain(text: str) -> None:
    """Raise SourceError for source with parts of letters, or too long with all its files."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in set(text)):
        raise SourceError(
            "A kernel's code is plain text: it has no zero bytes and no incomplete characters."
        )
    length = len(text.encode())
    if length > MAX_BYTES:
        raise SourceError(
            f"This code has {length:,} bytes with all its files; at most {MAX_BYTES:,} (1 MB) are "
            "allowed."
        )


def check_macros(defines: Mapping[str, str]) -> None:
    """Raise SourceError for a macro whose name or value would be more than that to a compiler."""
    for name, value in defines.items():
        check_length(value)
        if not MACRO_NAME.fullmatch(name):
            raise SourceError(f"{shorten(repr(name))} is not a name for a macro.")
        if not ONE_LINE.fullmatch(value):
            raise SourceError(f"The value of macro {name} must be one line.")


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
    if text != in_one_spelling(text):
        raise ValueError("A text comes to a compiler in one spelling.")
    check_plain(text)
    written = sum(len(line) + 1 for line in text.encode().splitlines() if line.strip())
    if written > MAX_TEXT_BYTES:
        raise SourceError(
            f"The kernel and what it uses have {written:,} bytes; they may have up to "
            f"{MAX_TEXT_BYTES:,} (64 KB). Other functions and host code do not count."
        )
    check_macros(defines or {})
    lines = logical_lines(text)
    for number, line in enumerate(lines, start=1):
        found = re.match(r"\s*(?:#|%:|\?\?=)\s*(\w*)", line)
        if found and found[1] and found[1] not in ALLOWED_DIRECTIVES:
            column = line.index(found[1]) + 1
            span = Span(number, column, number, column + len(found[1]))
            raise SourceError(
                f"#{found[1]} is not allowed here: a kernel must contain all its code, and needs "
                "no header.",
                span,
            )
    _check_spliced(text, takes_pasting)
    check_expansion(lines, defines or {})


def _check_spliced(text: str, takes_pasting: bool) -> None:
    """Raise SourceError for what no compiler may get, wherever it is.

    Strings and comments do not count as such: a raw string or a digit separator would make this
    lexer see a string or comment where a compiler sees a directive.
    """
    spliced = SPLICE.sub("", text)
    found: list[tuple[int, str]] = []  # where, and a sentence
    for sign, name in directives(spliced):
        if FORBIDDEN_NAME.match(spliced, name):
            found.append((sign, NO_FILES))
            break
        if (pragma := PRAGMA.match(spliced, name)) and not ALLOWED_PRAGMA.match(
            spliced, pragma.end()
        ):
            found.append((sign, NO_PRAGMAS))
            break
    words = FORBIDDEN_WORDS if takes_pasting else (*FORBIDDEN_WORDS, PRAGMA_WORD)
    found += [(spliced.index(w), f"{w} is not allowed here.") for w in words if w in spliced]
    if pasted := PASTE.search(spliced):
        if not takes_pasting:
            found.append((pasted.start(), NO_FILES))
        elif "__VA_OPT__" in spliced:
            found.append((pasted.start(), "Code with __VA_OPT__ pastes no tokens (##) here."))
    if found:
        position, sentence = min(found)
        raise SourceError(sentence, _span(text, position))


def directives(spliced: str) -> Iterator[tuple[int, int]]:
    """Where directives may be in a text without splices: each one's sign, and the name after it.

    Between them are spaces and comments. No position is visited twice, so that the time is linear.
    """
    ends = [end.end() for end in re.finditer(r"\*/", spliced)]
    visited: set[int] = set()
    for sign in HASH.finditer(spliced):
        position = sign.end()
        while position not in visited:
            visited.add(position)
            position = SPACE.match(spliced, position).end()  # type: ignore[union-attr]  # it matches an empty string
            if not spliced.startswith("/*", position):
                yield sign.start(), position
                break
            next_end = bisect.bisect_left(ends, position + 4)
            if next_end == len(ends):
                break
            position = ends[next_end]


def _span(text: str, position: int) -> Span:
    """The place of a character in a text, by its number in the text without splices."""
    for splice in SPLICE.finditer(text):
        if splice.start() > position:
            break
        position += len(splice[0])
    line, line_start = text.count("\n", 0, position) + 1, text.rfind("\n", 0, position) + 1
    column = len(text[line_start:position].encode()) + 1
    return Span(line, column, line, column)
