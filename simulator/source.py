"""The kernel's text: its #define lines set to chosen values, so that what is shown is what runs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from simulator.tree import SourceError, Span


def set_defines(text: str, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with each macro's #define line set to its value, and the macros it does not define.

    Only object-like macros on one line are set; the rest is for the compiler's -D.
    """
    left: dict[str, str] = {}
    for name, value in values.items():
        line = re.compile(
            rf"^([ \t]*#[ \t]*define[ \t]+{re.escape(name)}[ \t]+)[^\s].*?(?=[ \t]*(?://.*|/\*.*)?$)",
            re.MULTILINE,
        )
        text, count = line.subn(functools.partial(_replaced, value), text)
        if not count:
            left[name] = value
    return text, left


def _replaced(value: str, found: re.Match[str]) -> str:
    return found[1] + value


ALLOWED_DIRECTIVES = frozenset(
    {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error"}
)


def strip_comments(text: str) -> str:
    """The text without line splices and comments, as a compiler sees it (C++17 [lex.phases]).

    Lines keep their numbers; strings and character constants are kept.
    """
    # A splice joins two lines; its line break goes behind the joined line, so that numbers hold.
    spliced = ""
    missing = 0
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.rstrip(" \t").endswith("\\"):
            spliced += line.rstrip(" \t")[:-1]
            missing += 1
        else:
            spliced += line + "\n" * (missing + 1)
            missing = 0
    pattern = re.compile(
        r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
    )

    def keep(found: re.Match[str]) -> str:
        token = found[0]
        return " " + "\n" * token.count("\n") if token.startswith("/") else token

    return pattern.sub(keep, spliced)


def check_directives(text: str) -> None:
    """SourceError where the text asks a compiler for more than macros and conditions.

    An #include of any file of the host would show its first line in the compiler's log, and
    __has_include tells whether it exists: neither is for a visitor's kernel.
    """
    stripped = strip_comments(text)
    for number, line in enumerate(stripped.split("\n"), start=1):
        found = re.match(r"\s*(?:#|%:|\?\?=)\s*(\w*)", line)
        if found and found[1] and found[1] not in ALLOWED_DIRECTIVES:
            column = line.index(found[1]) + 1
            span = Span(number, column, number, column + len(found[1]))
            raise SourceError(
                f"#{found[1]} is not taken here: a kernel brings its own text and needs no header.",
                span,
            )
        for word in ("__has_include", "__has_embed", "_Pragma"):
            if word in line:
                column = line.index(word) + 1
                raise SourceError(
                    f"{word} is not taken here.", Span(number, column, number, column + len(word))
                )
