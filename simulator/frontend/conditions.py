"""Which tokens of a file #if, #ifdef and #else leave in it, and the macros that it defines."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from simulator.frontend.expression_values import Definition, Evaluator, Value, expression_tokens
from simulator.frontend.includes import Files, Inclusions, Piece
from simulator.frontend.lexer import tokens as split_tokens
from simulator.frontend.scanner import Token, TokenKind

DIRECTIVE = re.compile(r"(?:#|%:)\s*(\w*)\s*(.*)", re.DOTALL)
DEFINE = re.compile(r"([^\W\d]\w*)(\(([^()]*)\))?(.*)", re.DOTALL)
KERNEL_WORD = "__global__"
# What clang defines itself for the target of simulator/frontend/clang.py.
COMPILER_MACROS: Mapping[str, str] = {
    "__cplusplus": "201703", "__CUDA_ARCH__": "800", "__CUDACC__": "1", "__CUDA__": "1",
    "__clang__": "1", "__GNUC__": "4", "__linux__": "1", "__linux": "1", "__unix__": "1",
    "__x86_64__": "1", "__LP64__": "1",
}  # fmt: skip
OTHER_SYSTEMS = re.compile(
    r"_WIN32|_WIN64|_MSC_VER|__APPLE__|__MACOSX|__HIP\w*|__HIPCC__|__CUDACC_RTC__|__QNX\w*|"
    r"_DEBUG|__MINGW32__|__arm__|__aarch64__|__INTEL_COMPILER|__PGI|_OPENMP|__NVCC__|"
    r"__CUDACC_DEBUG__|__DRIVER_TYPES_H__|__\w+_H(?:__|_)?|_\w+_H_?"
)


COMPARISON = re.compile(r"\b([^\W\d]\w*)\s*(==|>=|>)\s*(\d+)")
MAX_DECIDED = 16  # kernels that are skipped, and #errors, of which anything is said


@dataclass(frozen=True, slots=True)
class Decided:
    """A token that is skipped, or a #error that is not, by macros that are not defined."""

    token: Token
    macros: Mapping[str, str]  # of the conditions around it, each with a value to try; "" for any


@dataclass(slots=True)
class Preprocessed:
    """A file's tokens as its conditions leave them."""

    tokens: list[Token] = field(default_factory=list)  # without directives and comments
    macros: dict[str, Definition] = field(default_factory=dict)  # as they are at the file's end
    skipped: list[Decided] = field(default_factory=list)  # __global__ where nothing is compiled
    errors: list[Decided] = field(default_factory=list)  # #error where it is
    # The parts of the text that a compiler reads, in that order; a file may be read several times.
    pieces: list[Piece] = field(default_factory=list)


@functools.cache
def prelude_macros() -> frozenset[str]:
    """The names of the macros that every text begins with."""
    return frozenset(
        name
        for path in Path(__file__).parent.glob("*.cuh")
        for name in re.findall(r"^#define (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


def preprocess(files: Files, defines: Mapping[str, str]) -> Preprocessed:
    """The tokens that a compiler would see, those of included files too; defines are -D macros.

    Where a condition's value is not known, its first branch is taken: what reads the result is
    tolerant, and clang, which knows all values, gets every branch. Raises SourceError where files
    include each other without end.
    """
    result = Preprocessed()
    macros = result.macros
    for name, text in {**COMPILER_MACROS, **defines}.items():
        macros[name] = Definition(None, tuple(expression_tokens(text)))
    conditions, inclusions = Conditions(macros), Inclusions(files)
    result.pieces = inclusions.pieces
    pending = [iter(files.tokens[inclusions.file])]  # of each open file
    while pending:
        token = next(pending[-1], None)
        if token is None:
            inclusions.leave()
            pending.pop()
            continue
        if token.kind is not TokenKind.DIRECTIVE:
            if conditions.active and token.kind is not TokenKind.COMMENT:
                result.tokens.append(token)
            elif token.text == KERNEL_WORD and len(result.skipped) < MAX_DECIDED:
                result.skipped.append(conditions.decided(token))
            continue
        directive = DIRECTIVE.match(token.text)
        if directive is None:
            continue
        word, rest = directive.groups()
        if conditions.read(word, rest) or not conditions.active:
            continue
        if word == "error" and len(result.errors) < MAX_DECIDED:
            result.errors.append(conditions.decided(token))
        elif word == "include":
            file = inclusions.enter(token)
            if file is not None:
                pending.append(iter(files.tokens[file]))
        elif word == "pragma" and rest.split()[:1] == ["once"]:
            inclusions.note_once()
        else:
            _define(word, rest, macros)
    return result


class Conditions:
    """The conditions that are open where source is read, by the macros that are defined there."""

    def __init__(self, macros: dict[str, Definition]) -> None:
        # One evaluator for all conditions: its limit holds for them together.
        self._evaluator = Evaluator(lambda name: _undefined(name, macros), macros)
        self._macros = macros
        # Of each open #if: whether around it all is active, and whether a branch was taken.
        self._outer: list[tuple[bool, bool]] = []
        self._unset: list[dict[str, str]] = []  # of each, the macros that its conditions lack
        self.active = True

    def read(self, word: str, rest: str) -> bool:
        """Apply a directive; return whether it is one of a condition."""
        if word in ("if", "ifdef", "ifndef"):
            self._unset.append(_unset_macros(rest, self._macros))
            taken = self.active and _holds(word, rest, self._evaluator)
            self._outer.append((self.active, taken))
            self.active = taken
        elif word in ("elif", "else") and self._outer:
            if word == "elif":
                self._unset[-1] |= _unset_macros(rest, self._macros)
            around, taken = self._outer[-1]
            self.active = (
                around and not taken and (word == "else" or _holds("if", rest, self._evaluator))
            )
            self._outer[-1] = (around, taken or self.active)
        elif word == "endif" and self._outer:
            self.active, _ = self._outer.pop()
            self._unset.pop()
        else:
            return False
        return True

    def decided(self, token: Token) -> Decided:
        """A token, with the macros that the conditions around it lack."""
        return Decided(
            token, {name: value for level in self._unset for name, value in level.items()}
        )


def _unset_macros(condition: str, macros: Mapping[str, Definition]) -> dict[str, str]:
    """The macros that a condition asks for and a text does not define, with values to try.

    >>> _unset_macros("defined(FAST) && VERSION >= 2", {})
    {'FAST': '', 'VERSION': '2'}
    """
    names = [word for word in split_tokens(condition) if word[0] == "_" or word[0].isalpha()]
    found = {
        name: "" for name in names
        if name not in ("defined", "true", "false") and _is_defined(name, macros) == 0
        and not OTHER_SYSTEMS.fullmatch(name)
    }  # fmt: skip
    for name, operator, number in COMPARISON.findall(condition):
        if name in found:
            found[name] = str(int(number[:9]) + (operator == ">"))
    return found


def _define(word: str, rest: str, macros: dict[str, Definition]) -> None:
    """Apply a #define or #undef."""
    defined = DEFINE.match(rest)
    if defined is None:
        return
    if word == "define":
        names = None if defined[3] is None else tuple(n.strip() for n in defined[3].split(","))
        macros[defined[1]] = Definition(names, tuple(expression_tokens(defined[4])))
    elif word == "undef":
        macros.pop(defined[1], None)


def _holds(word: str, rest: str, evaluator: Evaluator) -> bool:
    """Whether a condition holds; True where it is not known."""
    macros = evaluator.macros
    if word != "if":
        name = rest.split()[0] if rest.split() else ""
        is_defined = _is_defined(name, macros)
        return is_defined is None or bool(is_defined) == (word == "ifdef")
    expression: list[str] = []
    pending = split_tokens(rest)[::-1]
    while pending:
        word = pending.pop()
        if word != "defined":
            expression.append(word)
            continue
        in_parentheses = bool(pending) and pending[-1] == "("
        if in_parentheses:
            pending.pop()
        value = _is_defined(pending.pop(), macros) if pending else None
        expression.append("defined?" if value is None else str(value))
        if in_parentheses and pending:
            pending.pop()
    joined = expression_tokens(" ".join(expression).replace("defined?", "__unknown__"))
    value = evaluator.evaluate(joined)
    return value is None or bool(value)


def _is_defined(name: str, macros: Mapping[str, Definition]) -> Value:
    """1 or 0; None where only clang knows."""
    if name in macros or name in prelude_macros():
        return 1
    return 0 if not name.startswith("_") or OTHER_SYSTEMS.fullmatch(name) else None


def _undefined(name: str, macros: Mapping[str, Definition]) -> Value:
    """The value of a name in #if that is no macro of the text: 0, as in C, unless it is clang's."""
    return None if _is_defined(name, macros) != 0 else 0
