"""Limits how large a text may become when its macros are expanded, before a compiler expands them.

Forty lines of macros can expand to a billion tokens, for which a compiler in this process would
take all memory. Here macros are expanded only to count tokens, and only up to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulator.frontend.lexer import TOKEN, tokens
from simulator.language.errors import SourceError, Span

MAX_TOKENS = 30_000  # of source with its macros expanded; a long kernel has a tenth of that
MAX_WORK = 100_000  # tokens read, with those of macros that expand to nothing
MAX_STATEMENT = 2_000  # tokens between ; { and }: a parser recurses as deep as a statement is long
MAX_LETTERS = 1_000  # of a name or number; clang crashes at 50,000 digits after a point
MAX_BRACKETS = 120  # brackets open at once

DEFINE = re.compile(r"\s*(?:#|%:)\s*define\s+([A-Za-z_]\w*)(\(([^()]*)\))?(.*)", re.DOTALL)
UNDEF = re.compile(r"\s*(?:#|%:)\s*undef\s+(\w+)")
DIRECTIVE = re.compile(r"\s*(?:#|%:)\s*(\w*)(.*)", re.DOTALL)
NO_MACROS: frozenset[str] = frozenset()
PASTE = frozenset({"##", "%:%:"})
STRINGIZE = frozenset({"#", "%:"})
OPERATORS = PASTE | STRINGIZE


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro's definition."""

    parameters: tuple[str, ...] | None  # None for an object-like macro, without parentheses
    body: tuple[str, ...]  # the tokens that replace its name

    def operand(self, position: int) -> str:
        """The token at a position of the body; "" beyond its ends."""
        return self.body[position] if 0 <= position < len(self.body) else ""

    @property
    def expanding(self) -> frozenset[str]:
        """What of the body is no operand of # or ##: where it is a parameter, it is expanded."""
        return frozenset(
            piece
            for position, piece in enumerate(self.body)
            if self.operand(position - 1) not in OPERATORS
            and self.operand(position + 1) not in PASTE
        )


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
        _count(code, macros, counter)
        code = []
        _apply_directive(directive, number, macros, counter)
    _count(code, macros, counter)


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
        _count([(token, number, NO_MACROS) for token in tokens(directive[2])], macros, counter)
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
        if len(text) > MAX_LETTERS and text[0] not in "\"'":
            raise SourceError(
                f"A name or number here has more than {MAX_LETTERS:,} characters.", _span(line)
            )
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
                "split it into several.",
                _span(line),
            )
        if self.tokens > MAX_TOKENS:
            raise SourceError(
                f"The code has more than {MAX_TOKENS:,} tokens up to here, its macros expanded; "
                "make it shorter.",
                _span(line),
            )


def _count(tokens: list[Token], macros: Mapping[str, Macro], counter: TokenCounter) -> None:
    """Count the tokens that these expand to."""
    for token, line, _ in _expand(tokens, macros, counter):
        counter.emit(token, line)


def _expand(
    tokens: list[Token], macros: Mapping[str, Macro], counter: TokenCounter, depth: int = 0
) -> Iterator[Token]:
    """What tokens expand to (C++17 [cpp.replace]); depth is how many calls are around them."""
    if depth > MAX_BRACKETS:
        raise SourceError(
            f"More than {MAX_BRACKETS} macro calls are nested here.", _span(tokens[0][1])
        )
    pending = tokens[::-1]
    while pending:
        token, line, expanded_from = pending.pop()
        counter.read(line)
        macro = macros.get(token)
        if macro is None or token in expanded_from:
            yield token, line, expanded_from
            continue
        arguments: Mapping[str, list[Token]] = {}
        if macro.parameters is not None:
            if not pending or pending[-1][0] != "(":
                yield token, line, expanded_from
                continue
            arguments, closing = _arguments(pending, macro.parameters, counter)
            expanded_from &= closing  # an expansion in which the call does not end is after it
        expanding = macro.expanding if arguments else frozenset()
        expanded = {
            name: list(_expand(given, macros, counter, depth + 1))
            if name in expanding and any(one[0] in macros for one in given)
            else given
            for name, given in arguments.items()
        }
        origin = (line, expanded_from | {token})
        pending += reversed(_replacement(macro, origin, arguments, expanded, counter))


def _replacement(
    macro: Macro,
    origin: tuple[int, frozenset[str]],
    arguments: Mapping[str, list[Token]],
    expanded: Mapping[str, list[Token]],
    counter: TokenCounter,
) -> list[Token]:
    """A macro's body with its arguments: expanded ones, but beside # and ##.

    origin is the line and the macros that its tokens are expanded from.
    """
    result: list[Token] = []
    operand = 0  # tokens at the result's end that a ## pastes to
    pastes = False
    for position, piece in enumerate(macro.body):
        if piece in PASTE and 0 < position < len(macro.body) - 1:
            pastes = True
            continue
        if piece in STRINGIZE and macro.operand(position + 1) in arguments:
            continue
        if piece not in arguments:
            new: list[Token] = [(piece, *origin)]
        elif macro.operand(position - 1) in STRINGIZE:
            new = [('""', *origin)]
        elif pastes or macro.operand(position + 1) in PASTE:
            new = arguments[piece]
        else:
            new = expanded[piece]
        counter.read(origin[0], len(new) if piece in arguments else 0)
        if pastes and operand and new and TOKEN.fullmatch(result[-1][0] + new[0][0]):
            result[-1] = (result[-1][0] + new[0][0], *origin)
            new = new[1:]
        result += new
        operand = operand + len(new) if pastes else len(new)
        pastes = False
    return result


def _arguments(
    pending: list[Token], parameters: tuple[str, ...], counter: TokenCounter
) -> tuple[dict[str, list[Token]], frozenset[str]]:
    """Remove a macro call's arguments from the end of the pending tokens, which are in reverse.

    Returns each argument's tokens by parameter, and what the last parenthesis is expanded from.
    """
    arguments: list[list[Token]] = [[]]
    depth, closing = 0, NO_MACROS
    while pending:
        token = pending.pop()
        counter.read(token[1])
        text, _, closing = token
        depth += (text == "(") - (text == ")")
        if depth == 0:
            break
        if text == "," and depth == 1 and len(arguments) < len(parameters):
            arguments.append([])
        elif depth > 1 or text != "(":
            arguments[-1].append(token)
    arguments += [[] for _ in parameters[len(arguments) :]]
    return dict(zip(parameters, arguments, strict=False)), closing


def _span(line: int) -> Span:
    return Span(line, 1, line, 1)
