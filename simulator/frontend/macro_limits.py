"""How large a text becomes once its macros are expanded, found out before a compiler tries.

Forty lines of macros can ask for a billion tokens, and a compiler in this process would take all
memory for them. This counts tokens with a bounded expansion of its own; it compiles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.errors import SourceError, Span

MAX_TOKENS = 30_000  # of a text with its macros expanded; a long kernel has a tenth of it
MAX_WORK = 100_000  # tokens looked at, those of macros that expand to nothing among them
MAX_STATEMENT = 2_000  # tokens between ; { and }: parsers nest as deep as a statement is long
MAX_BRACKETS = 120  # brackets open at once

# A string or character is one token too; `tokens` finds its end.
TOKEN = re.compile(r"""[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|\S""")
QUOTED = {  # what stands between quotes, up to the end of a line that no splice lengthens
    quote: re.compile(rf"(?:\\.|[^{quote}\\\n])*+", re.DOTALL) for quote in "\"'"
}
DEFINE = re.compile(r"\s*(?:#|%:)\s*define\s+([A-Za-z_]\w*)(\(([^()]*)\))?(.*)", re.DOTALL)
UNDEF = re.compile(r"\s*(?:#|%:)\s*undef\s+(\w+)")
DIRECTIVE = re.compile(r"\s*(?:#|%:)\s*(\w*)(.*)", re.DOTALL)
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Macro:
    """What a name is replaced by; parameters is None for a macro without parentheses."""

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


class Quotes:
    """Finds where the strings and characters of a text end, in time linear in its length.

    A quote without an end is looked for once: until the end of its line, the later quotes of its
    kind stand behind a backslash, and from each of them the text reads as it did before.
    """

    __slots__ = ("_open_until", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._open_until = dict.fromkeys(QUOTED, 0)  # no quote before it has an end

    def end(self, start: int) -> int | None:
        """Where the string that begins with the quote at `start` ends; None where it does not."""
        quote = self._text[start]
        if start < self._open_until[quote]:
            return None
        within = QUOTED[quote].match(self._text, start + 1)
        assert within is not None, "it matches nothing, too"
        if self._text[within.end() : within.end() + 1] == quote:
            return within.end() + 1
        self._open_until[quote] = within.end()
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


Token = tuple[str, int, frozenset[str]]  # the text, its line, and the macros it came out of


def check_expansion(lines: list[str], defines: Mapping[str, str]) -> None:
    """SourceError where the text is too large, too long in one statement, or nests too deep.

    lines are the text's logical lines without comments, defines the macros given from outside.
    """
    macros = {name: Macro(None, tuple(tokens(value))) for name, value in defines.items()}
    meter = Meter()
    run: list[Token] = []
    for number, line in enumerate(lines, start=1):
        directive = DIRECTIVE.match(line)
        if directive is None:
            run += [(token, number, NOTHING) for token in tokens(line)]
            continue
        _expand(run, macros, meter)
        run = []
        _direct(directive, number, macros, meter)
    _expand(run, macros, meter)


def _direct(directive: re.Match[str], number: int, macros: dict[str, Macro], meter: Meter) -> None:
    """Follow a # line: it defines or forgets a macro, or has tokens that macros are put into."""
    word, line = directive[1], directive[0]
    defined, undefined = DEFINE.match(line), UNDEF.match(line)
    if defined:
        listed = defined[3]
        parameters = None
        if listed is not None:
            parameters = tuple(
                "__VA_ARGS__" if name.strip() == "..." else name.strip().removesuffix("...")
                for name in listed.split(",")
            )
        macros[defined[1]] = Macro(parameters, tuple(tokens(defined[4])))
    elif undefined:
        macros.pop(undefined[1], None)
    elif word in ("if", "elif", "pragma"):
        _expand([(token, number, NOTHING) for token in tokens(directive[2])], macros, meter)
        meter.statement = 0


class Meter:
    """Counts what an expansion costs and what comes out of it."""

    __slots__ = ("brackets", "statement", "tokens", "work")

    def __init__(self) -> None:
        self.work = 0
        self.tokens = 0
        self.statement = 0
        self.brackets = 0

    def look(self, line: int, count: int = 1) -> None:
        """So many tokens are looked at, or put in where they will be."""
        self.work += count
        if self.work > MAX_WORK:
            raise SourceError(
                f"The macros used here expand to more than {MAX_WORK:,} tokens.", _span(line)
            )

    def keep(self, sign: str, line: int) -> None:
        """A token comes out."""
        self.tokens += 1
        self.statement += 1
        if sign in "([{":
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                raise SourceError(
                    f"More than {MAX_BRACKETS} brackets are open here, one within the other.",
                    _span(line),
                )
        elif sign in ")]}":
            self.brackets = max(0, self.brackets - 1)
        if sign in ";{}":
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


def _expand(tokens: list[Token], macros: Mapping[str, Macro], meter: Meter) -> None:
    """Count what tokens become; arguments are put in unexpanded, as their copies expand alike."""
    left = tokens[::-1]
    while left:
        token, line, inside = left.pop()
        meter.look(line)
        macro = macros.get(token)
        if macro is None or token in inside:
            meter.keep(token, line)
            continue
        within = inside | {token}
        given: Mapping[str, list[Token]] = {}
        if macro.parameters is not None:
            if not left or left[-1][0] != "(":
                meter.keep(token, line)
                continue
            given = _arguments(left, macro.parameters, meter)
        for part in reversed(macro.body):
            if part in given:
                meter.look(line, len(given[part]))
                left += given[part]
            else:
                left.append((part, line, within))


def _arguments(
    left: list[Token], parameters: tuple[str, ...], meter: Meter
) -> dict[str, list[Token]]:
    """Take a call's arguments off the tokens that are left: each in reverse, as those are."""
    found: list[list[Token]] = [[]]
    depth = 0
    while left:
        token = left.pop()
        meter.look(token[1])
        text = token[0]
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            break
        if text == "," and depth == 1 and len(found) < len(parameters):
            found.append([])
        elif depth > 1 or text != "(":
            found[-1].append(token)
    return {name: one[::-1] for name, one in zip(parameters, found, strict=False)}


def _span(line: int) -> Span:
    return Span(line, 1, line, 1)
