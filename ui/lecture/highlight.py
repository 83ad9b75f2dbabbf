"""The colours of a kernel's source: each of its lines as pieces of one colour, by Pygments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pygments.lexers import get_lexer_by_name
from pygments.token import Token

LONGEST_LINE = 1000  # letters of a line that is coloured: Pygments may take minutes on a long one
# What Pygments calls a token, and the colour it is drawn in; the first that holds counts.
COLOURED = (
    (Token.Comment.Preproc, "keyword"),
    (Token.Comment, "comment"),
    (Token.Keyword, "keyword"),
    (Token.Name.Builtin, "keyword"),
    (Token.Name.Function, "keyword"),  # the lexer's word for CUDA's own functions
    (Token.Number, "number"),
)
DIRECTIVE = re.compile(r"(?P<name>#?\s*\w*)(?P<rest>.*)", re.DOTALL)
COLOURS = ("plain", "keyword", "number", "comment")


def highlight(lines: list[str]) -> list[list[tuple[str, str]]]:
    """Each line as pieces of one colour: its name, one of COLOURS, and the text.

    >>> highlight(["int x = 4;"])
    [[('keyword', 'int'), ('plain', ' x = '), ('number', '4'), ('plain', ';')]]
    """
    highlighted: list[list[tuple[str, str]]] = [[]]
    short = [line if len(line) <= LONGEST_LINE else "" for line in lines]
    for token, text in _tokens("\n".join(short)):
        # A kind's token is of it or of one below it: Number.Float is a Number.
        colour = next((of for kind, of in COLOURED if token[: len(kind)] == kind), "plain")
        first, *others = text.split("\n")
        _append(highlighted[-1], colour, first)
        for line in others:
            highlighted.append([])
            _append(highlighted[-1], colour, line)
    return [
        [("plain", line)] if len(line) > LONGEST_LINE else pieces
        for line, pieces in zip(lines, highlighted, strict=False)
    ]


def _tokens(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Pygments' tokens; of a directive, which is one token to it, the text after its name too."""
    lexer = get_lexer_by_name("cuda", stripnl=False, ensurenl=False)
    for token, part in lexer.get_tokens(text):
        directive = DIRECTIVE.fullmatch(part)
        if token is Token.Comment.Preproc and directive:
            yield token, directive["name"]
            yield from lexer.get_tokens(directive["rest"])
        else:
            yield token, part


def _append(pieces: list[tuple[str, str]], colour: str, text: str) -> None:
    """Add a text to a line's pieces, to the last one if that has its colour."""
    if pieces and pieces[-1][0] == colour:
        text = pieces.pop()[1] + text
    if text:
        pieces.append((colour, text))
