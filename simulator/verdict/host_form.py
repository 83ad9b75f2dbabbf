"""The launch in a file's host code, as expressions over the kernel's parameters and macros."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from simulator.frontend.device_code import SourceFile
from simulator.frontend.expression_values import SIZES, Definition, Evaluator
from simulator.frontend.host.launches import (
    HostArgument,
    HostLaunch,
    find_launches,
    returning_functions,
)
from simulator.frontend.host.values import AXES
from simulator.frontend.scanner import TokenKind
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.launch import Dim3
from simulator.size_expression import as_factor, evaluate
from simulator.verdict.form import Sizes3
from simulator.verdict.launches import macro_values

MAX_WORDS = 60  # of an expression
MAX_DEPTH = 5  # of variables that stand for expressions
NUMBER = re.compile(r"(\d+)[uUlL]*")


@dataclass(frozen=True, slots=True)
class HostForm:
    """A launch in the text; each part None where it is not known."""

    grid: Sizes3 | None
    block: Sizes3 | None
    shared_bytes: str | None
    arguments: Mapping[str, HostArgument]  # by parameter; without the members of structs


@functools.lru_cache(1)  # a verdict asks again, of the file whose form was guessed
def host_form(text: str, kernel: Kernel) -> HostForm:
    """The first launch of a kernel in its file's host code; nothing is known without one."""
    found = next((one for one in find_launches(text) if one.kernel == kernel.name), None)
    if found is None:
        return HostForm(None, None, None, {})
    arguments = _arguments(kernel, found)
    reader = _Expressions(text, found, arguments)
    return HostForm(
        grid=reader.sizes(0, found.grid),
        block=reader.sizes(1, found.block),
        shared_bytes=reader.shared_bytes(found.shared),
        arguments=arguments,
    )


def _arguments(kernel: Kernel, launch: HostLaunch) -> dict[str, HostArgument]:
    """What a launch passes, by parameter."""
    parameters = iter(kernel.parameters)
    found: dict[str, HostArgument] = {}
    for count, given in zip(kernel.counts, launch.arguments, strict=False):
        taken = [next(parameters, None) for _ in range(count)]
        if count == 1 and taken[0] is not None:
            found[taken[0].name] = given
    return found


class _Expressions:
    """Reads grid and block of one launch as expressions."""

    def __init__(
        self, text: str, launch: HostLaunch, arguments: Mapping[str, HostArgument]
    ) -> None:
        source = SourceFile(text)
        self._tokens = source.top.tokens
        self._matching = source.top.matching_bracket
        self._opened = {end: begin for begin, end in self._matching.items() if end > begin}
        self._macros = macro_values(text)
        # Macros with parameters, such as CEIL_DIV(N, 16), are expanded, and so are functions of one
        # return; the other macros keep their name.
        with_parameters = {
            name: _as_macro(one) for name, one in returning_functions(source).items()
        } | {name: macro for name, macro in source.macros.items() if macro.parameters is not None}
        self._evaluator = Evaluator(lambda name: None, with_parameters)
        passed = [given.text for given in arguments.values()]
        self._names = {  # of what is passed once: else it is not known which parameter is meant
            given.text: name
            for name, given in arguments.items()
            if given.text.isidentifier() and passed.count(given.text) == 1
        }
        self._values = self._macros | {
            name: int(given.value) for name, given in arguments.items() if given.value is not None
        }
        self._opening = next(
            (
                index
                for index, token in enumerate(self._tokens)
                if token.text == "<<<" and source.line(token.start) >= launch.line
            ),
            None,
        )

    def sizes(self, position: int, known: Dim3 | None) -> Sizes3 | None:
        """The grid (0) or the block (1) of the launch: expressions that agree with what is known.

        Else the numbers that are known; None without them.
        """
        written = self._written(position)
        if written is not None and self._agrees(written, known):
            return written
        if known is None:
            return None
        x, y, z = map(str, known)
        return x, y, z

    def shared_bytes(self, known: int | None) -> str | None:
        """The launch's bytes of dynamic shared memory: an expression where they are not known."""
        return self._expression(self._part(2), MAX_DEPTH) if known is None else str(known)

    def _agrees(self, sizes: Sizes3, known: Dim3 | None) -> bool:
        if known is None:
            return True
        try:
            return tuple(evaluate(size, self._values) for size in sizes) == known
        except LaunchError:
            return False

    def _part(self, position: int) -> list[str]:
        """What the launch has between <<< and >>> at a position, or what a variable there holds."""
        if self._opening is None:
            return []
        closing = self._until(self._opening, ">>>")
        parts = _split([token.text for token in self._tokens[self._opening + 1 : closing]])
        words = parts[position] if position < len(parts) else []
        if len(words) == 1 and words[0] not in self._macros:
            return self._definition(words[0], self._opening) or words
        return words

    def _written(self, position: int) -> Sizes3 | None:
        """The expressions as the text has them; None where they are of another kind."""
        if self._opening is None:
            return None
        words = self._part(position)
        if words[:1] == ["dim3"]:
            words = words[1:]
            if words[:1] == ["("] or words[:1] == ["{"]:
                words = words[1:-1]
        elif words[:1] == ["{"]:
            words = words[1:-1]
        found = [self._expression(part, MAX_DEPTH) for part in _split(words)]
        known = [one for one in found if one is not None]
        if not 1 <= len(known) <= 3 or len(known) != len(found):
            return None
        x, y, z = (*known, "1", "1")[:3]
        return x, y, z

    def _definition(self, name: str, before: int) -> list[str] | None:
        """What the last declaration of a variable before a place gives it, in words."""
        tokens = self._tokens
        for index in range(before - 1, 0, -1):
            if tokens[index].text != name or tokens[index].kind is not TokenKind.NAME:
                continue
            follows = tokens[index + 1].text
            if follows in ("(", "{") and self._declares_dim3(index):
                end = self._matching.get(index + 1)
                return None if end is None else [t.text for t in tokens[index + 2 : end]]
            if follows == "=":
                end = self._until(index, ";")
                return _split([token.text for token in tokens[index + 2 : end]])[0]
        return None

    def _declares_dim3(self, index: int) -> bool:
        """Whether a name is in a declaration of dim3, after other names with values or not."""
        at = index - 1
        while at >= 0 and self._tokens[at].text not in (";", "{", "}"):
            if self._tokens[at].text == "dim3":
                return True
            # What is in brackets is another name's value.
            at = self._opened.get(at, at) - 1
        return False

    def _until(self, index: int, text: str) -> int:
        reach = range(index, min(len(self._tokens), index + 4 * MAX_WORDS))
        return next((at for at in reach if self._tokens[at].text == text), index)

    def _expression(self, words: Sequence[str], depth: int) -> str | None:
        """Words as an expression over parameters and macros; None where they are no such."""
        if not depth or not words:
            return None
        found: list[str] = []
        for word in _without_sizes(self._evaluator.expand(words)):
            number = NUMBER.fullmatch(word)
            owner, _, axis = word.partition(".")
            if word in "+-*/()":
                found.append(word)
            elif number:
                found.append(number[1])
            elif word in self._names:
                found.append(self._names[word])
            elif word in self._macros:
                found.append(word)
            else:
                inner = self._definition(owner, self._opening or 0)
                if axis in AXES and inner is not None:
                    inner = [*_split(inner), ["1"], ["1"]][AXES[axis]]
                meant = None if inner is None else self._expression(inner, depth - 1)
                if meant is None:
                    return None
                found.append(as_factor(meant))
            if len(found) > MAX_WORDS:
                return None
        return " ".join(_without_brackets(found)).replace("( ", "(").replace(" )", ")")


def _as_macro(function: Definition) -> Definition:
    """A function of one return as a macro: its parameters and its value in parentheses."""
    parameters = function.parameters or ()
    parts = [("(", word, ")") if word in parameters else (word,) for word in function.body]
    return Definition(parameters, ("(", *(word for part in parts for word in part), ")"))


def _without_sizes(words: Sequence[str]) -> list[str]:
    """Words with sizeof(float), and the like, as numbers, and with members of dim3 as one word.

    >>> _without_sizes(["2", "*", "sizeof", "(", "float", ")", "*", "block", ".", "x"])
    ['2', '*', '4', '*', 'block.x']
    """
    text = " ".join(words)
    text = re.sub(r"\bsizeof \( (\w+) \)", lambda m: str(SIZES.get(m[1], m[0])), text)
    return re.sub(r" \. ([xyz])\b", r".\1", text).split()


def _without_brackets(words: Sequence[str]) -> list[str]:
    """Words without brackets around one word, or around all.

    >>> _without_brackets("( ( N ) + ( T ) - 1 )".split())
    ['N', '+', 'T', '-', '1']
    """
    text = re.sub(r"\( (\w+) \)", r"\1", " ".join(words))
    inner = text[2:-2] if text.startswith("( ") and text.endswith(" )") else ""
    depths = accumulate((word == "(") - (word == ")") for word in inner.split())
    return (inner if inner and min(depths) >= 0 else text).split()


def _split(words: Sequence[str]) -> list[list[str]]:
    """The words between the commas that are in no bracket."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if word == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
