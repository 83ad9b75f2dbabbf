"""Tokens, strings and comments of a kernel's source, found as a C++ lexer finds them."""

from __future__ import annotations

import re

# A string or character constant is one token too, whose end class Quotes finds.
TOKEN = re.compile(r"""[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|##|%:(?:%:)?|\S""")
QUOTED = {  # by quote: what may be after it, up to the end of a line without a splice
    quote: re.compile(rf"(?:\\.|[^{quote}\\\n])*+", re.DOTALL) for quote in "\"'"
}
COMMENT_OR_QUOTE = re.compile(r"""//(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z)|["']""", re.DOTALL)

ENDS_OF_LINES = re.compile(r"\r\n?")
WIDE_SPACES = re.compile(r"[\v\f]")


def in_one_spelling(text: str) -> str:
    r"""The text as all of this reads it, whatever wrote it: its lines end with \n alone.

    To clang a lone \r ends a line too, also after a backslash, and to NVRTC it does not: a line
    that one of them takes for a directive would be none to the other. Form feeds and vertical tabs
    become spaces, and a byte-order mark goes.

    >>> in_one_spelling("#in\\\rclude\f<a>\r\n")
    '#in\\\nclude <a>\n'
    """
    return WIDE_SPACES.sub(" ", ENDS_OF_LINES.sub("\n", text.removeprefix("\ufeff")))


class Quotes:
    """Finds the ends of a text's strings and character constants, in time linear in its length.

    The search for a closing quote that does not exist is done once: up to the end of its line, all
    other quotes of its kind are escaped, and a search from any of them would fail as well.
    """

    __slots__ = ("_open_until", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._open_until = dict.fromkeys(QUOTED, 0)  # quotes before this have no end

    def end(self, start: int) -> int | None:
        """The position after the string whose first quote is at `start`; None without an end."""
        quote = self._text[start]
        if start < self._open_until[quote]:
            return None
        content = QUOTED[quote].match(self._text, start + 1)
        assert content is not None, "the pattern matches an empty string, too"
        if self._text[content.end() : content.end() + 1] == quote:
            return content.end() + 1
        self._open_until[quote] = content.end()
        return None


def tokens(text: str) -> list[str]:
    """The tokens of a line without comments."""
    if not any(quote in text for quote in QUOTED):
        return TOKEN.findall(text)
    found: list[str] = []
    quotes, position = Quotes(text), 0
    while token := TOKEN.search(text, position):
        start, position = token.span()
        if token[0] in QUOTED:
            position = quotes.end(start) or position
        found.append(text[start:position])
    return found


def blank_comments(text: str) -> str:
    """The text with its comments turned to spaces: all other characters stay where they are.

    A // comment goes on after a line splice (C++17 [lex.phases]); strings are not comments.

    >>> blank_comments("int i; // why")
    'int i;       '
    """
    blanked: list[str] = []
    quotes, copied, position = Quotes(text), 0, 0
    while token := COMMENT_OR_QUOTE.search(text, position):
        start, position = token.span()
        if token[0] in QUOTED:
            position = quotes.end(start) or position
        else:
            blanked += (text[copied:start], re.sub(r"[^\n]", " ", token[0]))
            copied = position
    return "".join((*blanked, text[copied:]))


def logical_lines(text: str) -> list[str]:
    r"""The text's lines without comments, each spliced line joined at its first line's number.

    The lines that were joined to it are empty, so that numbers stay those of the text. The last
    line is empty, too.

    >>> logical_lines("#define A \\\n 1\nint i;")
    ['#define A  1', '', 'int i;', '']
    """
    lines: list[str] = []
    joined, splices = "", 0
    for line in text.replace("\r\n", "\n").split("\n"):
        stripped = line.rstrip(" \t")
        if stripped.endswith("\\"):
            joined += stripped[:-1]
            splices += 1
        else:
            lines += [joined + line] + [""] * splices
            joined, splices = "", 0
    return blank_comments("\n".join([*lines, joined])).split("\n")
