"""Limits how large a text may become when its macros are expanded, before a compiler expands them.

Forty lines of macros can expand to a billion tokens, for which a compiler in this process would
take all memory. Here macros are expanded only to count tokens, and only up to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.frontend.lexer import tokens
from simulator.language.errors import SourceError, Span

MAX_TOKENS = 30_000  # of a text with its macros expanded; a long kernel has a tenth of that
MAX_WORK = 100_000  # tokens read, with those of macros that expand to nothing
MAX_STATEMENT = 2_000  # tokens between ; { and }: a parser recurses as deep as a statement is long
MAX_BRACKETS = 120  # brackets open at once

DEFINE = re.compile(r"\s*(?:#|%:)\s*define\s+([A-Za-z_]\w*)(\(([^()]*)\))?(.*)", re.DOTALL)
UNDEF = re.compile(r"\s*(?:#|%:)\s*undef\s+(\w+)")
DIRECTIVE = re.compile(r"\s*(?:#|%:)\s*(\w*)(.*)", re.DOTALL)
NO_MACROS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro's definition."""

    parameters: tuple[str, ...] | None  # None for an object-like macro, without parentheses
    body: tuple[str, ...]  # the tokens that replace its name


Token = tuple[str, int, frozenset[str]]  # its text, its line, the macros it was expanded from


def check_expansion(lines: list[str], defines: Mapping[str, str]) -> None:
    """Raise SourceError for an expanded text beyond MAX_TOKENS, MAX_STATEMENT or MAX_BRACKETS.

    lines are the text's logical lines without comments, defines the compiler's -D macros.
    """
    macros = {name: Macro(None, tuple(tokens(value))) for name, value in defines.items()}
    counter = TokenCounter()
    code: list[Token] = []  # since the last directive
    for number, line in enumerate(lines, start=1):
        directive = DIRECTIVE.match(line)
        if directive is None:
            code += [(token, number, NO_MACROS) for token in tokens(line)]
            continue
        _expand(code, macros, counter)
        code = []
        _apply_directive(directive, number, macros, counter)
    _expand(code, macros, counter)


def _apply_directive(
    directive: re.Match[str], number: int, macros: dict[str, Macro], counter: TokenCounter
) -> None:
    """Define or undefine a macro, or count the tokens of a directive in which macros expand."""
    word, line = directive[1], directive[0]
    defined, undefined = DEFINE.match(line), UNDEF.match(line)
    if defined:
        names = defined[3]
        parameters = None
        if names is not None:
            parameters = tuple(
                "__VA_ARGS__" if name.strip() == "..." else name.strip().removesuffix("...")
                for name in names.split(",")
            )
        macros[defined[1]] = Macro(parameters, tuple(tokens(defined[4])))
    elif undefined:
        macros.pop(undefined[1], None)
    elif word in ("if", "elif", "pragma"):
        _expand([(token, number, NO_MACROS) for token in tokens(directive[2])], macros, counter)
        counter.statement = 0


class TokenCounter:
    """Counts the tokens that an expansion reads and those that it results in."""

    __slots__ = ("brackets", "statement", "tokens", "work")

    def __init__(self) -> None:
        self.work = 0  # tokens read
        self.tokens = 0  # tokens of the result
        self.statement = 0  # those of the current statement
        self.brackets = 0  # open ones

    def read(self, line: int, count: int = 1) -> None:
        """Count tokens that are read, or copied for a macro's parameter."""
        self.work += count
        if self.work > MAX_WORK:
            raise SourceError(
                f"The macros used here expand to more than {MAX_WORK:,} tokens.", _span(line)
            )

    def emit(self, text: str, line: int) -> None:
        """Count a token of the result."""
        self.tokens += 1
        self.statement += 1
        if text in "([{":
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                raise SourceError(
                    f"More than {MAX_BRACKETS} brackets are open here, one within the other.",
                    _span(line),
                )
        elif text in ")]}":
            self.brackets = max(0, self.brackets - 1)
        if text in ";{}":
            self.statement = 0
        if self.statement > MAX_STATEMENT:
            raise SourceError(
                f"A statement here has more than {MAX_STATEMENT:,} tokens, its macros expanded; "
                "make several of it.",
                _span(line),
            )
        if self.tokens > MAX_TOKENS:
            raise SourceError(
                f"The text has more than {MAX_TOKENS:,} tokens by here, its macros expanded; a "
                "kernel is shorter.",
                _span(line),
            )


def _expand(tokens: list[Token], macros: Mapping[str, Macro], counter: TokenCounter) -> None:
    """Count the tokens that these expand to.

    A macro's arguments are inserted unexpanded: all their copies expand in the same way.
    """
    pending = tokens[::-1]
    while pending:
        token, line, expanded_from = pending.pop()
        counter.read(line)
        macro = macros.get(token)
        if macro is None or token in expanded_from:
            counter.emit(token, line)
            continue
        arguments: Mapping[str, list[Token]] = {}
        if macro.parameters is not None:
            if not pending or pending[-1][0] != "(":
                counter.emit(token, line)
                continue
            arguments = _arguments(pending, macro.parameters, counter)
        for replacement in reversed(macro.body):
            if replacement in arguments:
                counter.read(line, len(arguments[replacement]))
                pending += arguments[replacement]
            else:
                pending.append((replacement, line, expanded_from | {token}))


def _arguments(
    pending: list[Token], parameters: tuple[str, ...], counter: TokenCounter
) -> dict[str, list[Token]]:
    """Remove a macro call's arguments from the end of the pending tokens, which are in reverse.

    Returns each argument's tokens by parameter, in reverse as well.
    """
    arguments: list[list[Token]] = [[]]
    depth = 0
    while pending:
        token = pending.pop()
        counter.read(token[1])
        text = token[0]
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            break
        if text == "," and depth == 1 and len(arguments) < len(parameters):
            arguments.append([])
        elif depth > 1 or text != "(":
            arguments[-1].append(token)
    return {name: found[::-1] for name, found in zip(parameters, arguments, strict=False)}


def _span(line: int) -> Span:
    return Span(line, 1, line, 1)
