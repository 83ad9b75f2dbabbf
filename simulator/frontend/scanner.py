"""A whole file's tokens with their places and brackets, as far as its host code needs reading.

Unlike clang, this reading fails on nothing: a student's file has types and headers that are not
here. Its time is linear in the text's length, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulator.frontend.lexer import QUOTED, Quotes, blank_comments

SPLICE = re.compile(r"\\[ \t]*\r?\n")
PIECE = re.compile(
    r"""(?P<space>(?:\s|\\[ \t]*\r?\n)++)
    |(?P<comment>//(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{0,16})\()
    |(?P<name>[^\W\d]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
    |(?P<quote>["'])
    |(?P<hash>\#|%:)
    |(?P<sign>::|->|<<<|>>>|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|<<|.)""",
    re.DOTALL | re.VERBOSE,
)
DIRECTIVE_PIECE = re.compile(
    r"""\\[ \t]*\r?\n|//(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z)|["']|\n""", re.DOTALL
)
CLOSING = {")": "(", "]": "[", "}": "{"}


class TokenKind(StrEnum):
    """What a token is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"  # or a character constant, with its quotes
    SIGN = "sign"
    DIRECTIVE = "directive"  # a whole logical line that begins with #
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its place: characters from `start` up to `end`, counted from 0."""

    kind: TokenKind
    text: str  # of a directive: its logical line, without comments and splices
    start: int
    end: int


def scan(text: str) -> list[Token]:
    """A text's tokens and comments; a directive is one token, up to its line's end.

    >>> [token.text for token in scan('#include <a>\\n// why\\nint i = f("x");')]
    ['#include <a>', '// why', 'int', 'i', '=', 'f', '(', '"x"', ')', ';']
    """
    found: list[Token] = []
    quotes, position, line_begins = Quotes(text), 0, True
    while piece := PIECE.match(text, position):
        start, position = piece.span()
        match piece.lastgroup:
            case "space":
                line_begins = line_begins or "\n" in SPLICE.sub("", piece[0])
                continue
            case "comment":
                found.append(Token(TokenKind.COMMENT, piece[0], start, position))
                continue
            case "hash" if line_begins:
                position = _directive_end(text, position, quotes)
                line = blank_comments(SPLICE.sub("", text[start:position]))
                line = line.replace("\n", " ").strip()  # those of its comments
                found.append(Token(TokenKind.DIRECTIVE, line, start, position))
                continue
            case "raw":
                end = text.find(f'){piece["delimiter"]}"', position)
                position = len(text) if end < 0 else end + len(piece["delimiter"]) + 2
                kind = TokenKind.STRING
            case "quote":
                position = quotes.end(start) or position
                kind = TokenKind.STRING
            case "name":
                kind = TokenKind.NAME
            case "number":
                kind = TokenKind.NUMBER
            case _:
                kind = TokenKind.SIGN
        line_begins = False
        found.append(Token(kind, text[start:position], start, position))
    return found


def _directive_end(text: str, position: int, quotes: Quotes) -> int:
    """The position of the line break that ends a directive's logical line."""
    while piece := DIRECTIVE_PIECE.search(text, position):
        if piece[0] == "\n":
            return piece.start()
        position = piece.end()
        if piece[0] in QUOTED:
            position = quotes.end(piece.start()) or position
    return len(text)


def match_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """The index of each bracket's matching bracket, both ways; unmatched ones are left out.

    A brace weighs more than the others: it closes what is open within its own.
    """
    matching: dict[int, int] = {}
    pending: list[int] = []
    open_braces = 0
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.SIGN:
            continue
        if token.text in ("(", "[", "{"):
            pending.append(index)
            open_braces += token.text == "{"
        elif opening := CLOSING.get(token.text):
            if token.text == "}" and open_braces:
                while tokens[pending[-1]].text != "{":
                    pending.pop()
            if pending and tokens[pending[-1]].text == opening:
                matching[index] = pending.pop()
                matching[matching[index]] = index
                open_braces -= token.text == "}"
    return matching


def blank(text: str) -> str:
    """A text's characters as spaces, one a byte of UTF-8; its line breaks stay.

    So clang's lines and columns, which count bytes, stay those of the text.
    """
    return re.sub(r"[^\n]", lambda found: " " * len(found[0].encode()), text)
