"""A file's declarations outside functions, found by their brackets: kernels, functions, types.

A tolerant reading: it needs no type to be known and fails on nothing.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulator.frontend.conditions import KERNEL_WORD, Preprocessed
from simulator.frontend.expression_values import Definition
from simulator.frontend.scanner import Token, TokenKind, match_brackets

DEVICE_WORDS = frozenset({"__device__", "__constant__", "__shared__", "__managed__"})
ATTRIBUTES = frozenset(
    {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__declspec", "__maxnreg__",
     "__cluster_dims__", "__block_size__", "noexcept", "throw", "decltype", "explicit"}
)  # fmt: skip
ACCESS = frozenset({"public", "private", "protected"})
TYPE_WORDS = frozenset({"struct", "class", "union", "enum"})
# A line that begins with one of these begins a declaration, where a brace before it is missing.
BEGINNINGS = DEVICE_WORDS | TYPE_WORDS | {
    KERNEL_WORD, "__host__", "template", "typedef", "using", "namespace", "static", "extern",
    "inline", "const", "constexpr", "void", "int", "float", "double", "bool", "unsigned",
}  # fmt: skip
MAX_MACRO_DEPTH = 8  # macros within macros that stand for __global__ and its kind


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declaration outside functions: its tokens' range, what it declares and what it is."""

    first: int  # index of its first token
    last: int  # index after its last token
    names: tuple[str, ...]  # what it declares; for a member function its class's, too
    scope: tuple[str, ...]  # the named namespaces around it, outermost first
    is_kernel: bool
    is_device: bool  # __device__, __constant__ and their kind, also by a macro
    parenthesis: int | None  # index of the "(" before a function's parameters
    is_type: bool  # a class, enum, typedef or alias
    body: tuple[int, int] | None  # indices of its braces; None without them

    @property
    def is_function(self) -> bool:
        """Whether it is a function, defined or only declared."""
        return self.parenthesis is not None

    @property
    def name(self) -> str:
        """The first name that it declares; "" without one."""
        return self.names[0] if self.names else ""


class TopLevel:
    """Splits a file's tokens into its declarations."""

    def __init__(self, source: Preprocessed, text: str) -> None:
        self.tokens: Sequence[Token] = source.tokens
        self.matching_bracket: Mapping[int, int] = match_brackets(self.tokens)
        self._marks = marking_macros(source.macros)
        self._beginnings = [
            index
            for index, token in enumerate(self.tokens)
            if token.text in BEGINNINGS and (not token.start or text[token.start - 1] == "\n")
        ]

    def declarations(self) -> Iterator[Declaration]:
        """Every declaration, in the text's order; those within namespaces, not those in types."""
        return self._within(0, len(self.tokens))

    def members(self, of_class: Declaration) -> Iterator[Declaration]:
        """The declarations within a class's braces."""
        if of_class.body is not None:
            yield from self._within(of_class.body[0] + 1, of_class.body[1])

    def parameters(self, function: Declaration) -> Sequence[Token]:
        """The tokens between the parentheses of a function's parameters."""
        if function.parenthesis is None:
            return ()
        end = self.matching_bracket.get(function.parenthesis, function.last)
        return self.tokens[function.parenthesis + 1 : end]

    def _within(self, index: int, after: int) -> Iterator[Declaration]:
        """The declarations from one token up to another."""
        scopes = list[tuple[int, tuple[str, ...]]]()
        while index < after:
            text = self.tokens[index].text
            if text in ACCESS and index + 1 < after and self.tokens[index + 1].text == ":":
                index += 2
                continue
            if scopes and index == scopes[-1][0]:
                scopes.pop()
                index += 1
                continue
            opened = self._scope(index)
            if opened is not None:
                brace, names = opened
                outer = scopes[-1][1] if scopes else ()
                scopes.append((self.matching_bracket.get(brace, len(self.tokens)), outer + names))
                index = brace + 1
            elif text in (";", "}"):
                index += 1
            else:
                limit = scopes[-1][0] if scopes else after
                end = max(index + 1, min(limit, self._end(index)))
                yield self._declaration(index, end, scopes[-1][1] if scopes else ())
                index = end

    def _scope(self, index: int) -> tuple[int, tuple[str, ...]] | None:
        """The brace of the namespace or extern "C" that begins here, and its names; or None."""
        tokens = self.tokens
        names: list[str] = []
        if tokens[index].text == "inline" and index + 1 < len(tokens):
            index += tokens[index + 1].text == "namespace"
        word = tokens[index].text
        index += 1
        if word == "extern" and index < len(tokens) and tokens[index].kind is TokenKind.STRING:
            index += 1
        elif word == "namespace":
            while index < len(tokens) and (
                tokens[index].kind is TokenKind.NAME or tokens[index].text == "::"
            ):
                if tokens[index].text not in ("::", "inline"):
                    names.append(tokens[index].text)
                index += 1
        else:
            return None
        is_open = index < len(tokens) and tokens[index].text == "{"
        return (index, tuple(names)) if is_open else None

    def _end(self, first: int) -> int:
        """The index after the declaration that begins at `first`."""
        tokens, matching = self.tokens, self.matching_bracket
        index, is_function, has_value = self.after_template(first), False, False
        is_type = self._is_type(first)
        while index < len(tokens):
            text = tokens[index].text
            if text == ";":
                return index + 1
            if text == "}":
                return index  # of what is around it
            if text == "=" and tokens[index - 1].text != "operator":
                has_value = True
            if text in ("(", "[", "{"):
                end = matching.get(index)
                if end is None:
                    return self._next_beginning(index)
                if text == "(" and not has_value and index > first:
                    is_function = is_function or tokens[index - 1].text not in ATTRIBUTES
                index = end + 1
                if text == "{" and is_function and not has_value:
                    follows = tokens[index].text if index < len(tokens) else ""
                    if follows not in (",", "{", "catch"):
                        return index
                elif text == "{" and not is_type and not has_value and self._begins(index):
                    return index
                continue
            index += 1
        return index

    def _begins(self, index: int) -> bool:
        """Whether the line of a token begins a declaration."""
        place = bisect.bisect_left(self._beginnings, index)
        return place < len(self._beginnings) and self._beginnings[place] == index

    def _next_beginning(self, index: int) -> int:
        """The first declaration after a bracket that is never closed."""
        place = bisect.bisect_right(self._beginnings, index)
        return self._beginnings[place] if place < len(self._beginnings) else len(self.tokens)

    def _is_type(self, first: int) -> bool:
        """Whether a class, enum, typedef or alias begins here, after a template's parameters."""
        index = self.after_template(first)
        while index < len(self.tokens) and self.tokens[index].text in ("static", "const"):
            index += 1
        words = TYPE_WORDS | {"typedef", "using"}
        return index < len(self.tokens) and self.tokens[index].text in words

    def after_template(self, index: int) -> int:
        """The index after `template <…>`, if it begins here."""
        tokens = self.tokens
        while index + 1 < len(tokens) and tokens[index].text == "template":
            if tokens[index + 1].text != "<":
                return index + 1  # an explicit instantiation
            index = self.after_angles(index + 1)
        return index

    def after_angles(self, index: int) -> int:
        """The index after the > that closes the < at an index; up to ; or { where none does."""
        depth = 0
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text in (";", "{", "}"):
                break
            if text in ("(", "[") and index in self.matching_bracket:
                index = self.matching_bracket[index] + 1
                continue
            depth += {"<": 1, ">": -1, ">>": -2, "<<": 2, ">>>": -3}.get(text, 0)
            index += 1
            if depth <= 0:
                break
        return index

    def _declaration(self, first: int, last: int, scope: tuple[str, ...]) -> Declaration:
        tokens = self.tokens
        head = self._head(first, last)
        words = {tokens[index].text for index in head}
        marks = words | {mark for word in words for mark in self._marks.get(word, ())}
        braces = [
            index for index in head if tokens[index].text == "{" and index in self.matching_bracket
        ]
        if "try" in words:
            del braces[1:]  # int main() try { … } catch (…) { … }
        body = (braces[-1], self.matching_bracket[braces[-1]]) if braces else None
        is_type = self._is_type(first)
        function = self._function(head)
        if is_type and (function is None or "typedef" in words or "using" in words or
                        self._names_type_body(head)):  # fmt: skip
            function = None
        else:
            is_type = False
        names = self._function_names(function) if function is not None else self._names(head)
        return Declaration(
            first, last, names, scope,
            is_kernel=KERNEL_WORD in marks,
            is_device=bool(DEVICE_WORDS & marks),
            parenthesis=function,
            is_type=is_type,
            body=body,
        )  # fmt: skip

    def _head(self, first: int, last: int) -> list[int]:
        """The indices of a declaration's tokens that are in no bracket; brackets are among them."""
        found, index = [], first
        template_end = self.after_template(first)
        while index < last:
            found.append(index)
            if self.tokens[index].text in ("(", "[", "{") and index >= template_end:
                index = self.matching_bracket.get(index, last)
                if index < last:
                    found.append(index)
            index += 1
        return found

    def _names_type_body(self, head: Sequence[int]) -> bool:
        """Whether a class's braces follow its name, not a function's parameters."""
        for place, index in enumerate(head):
            if self.tokens[index].text == "{":
                return self.tokens[head[place - 1]].text != ")"
        return True

    def _function(self, head: Sequence[int]) -> int | None:
        """The index of the "(" before a function's parameters; None for what is no function."""
        found = None
        template_end = self.after_template(head[0])
        is_operator = False
        for index in head:
            text = self.tokens[index].text
            if index < max(template_end, head[0] + 1):
                continue
            if text == "(":
                before = self.tokens[index - 1].text
                following = self.tokens[index + 1 : index + 2]  # none at the end of a text
                is_pointer = [one.text for one in following] == ["*"]  # as in (*name)(…)
                if before not in ATTRIBUTES and before != ")" and not is_pointer:
                    found = index
                if is_operator and before != "operator":
                    return index
            elif text in (":", "{", ";") or (text == "=" and not is_operator):
                break
            is_operator = is_operator or text == "operator"
        return found

    def _function_names(self, parenthesis: int) -> tuple[str, ...]:
        """The name before a function's parameters, then that of its class, if it has one."""
        tokens, index = self.tokens, parenthesis - 1
        if tokens[index].text in (">", ">>"):  # a specialization's arguments
            depth = 0
            while index > 0:
                depth += {">": 1, ">>": 2, "<": -1, "<<": -2}.get(tokens[index].text, 0)
                index -= 1
                if depth <= 0 or tokens[index].text in (";", "{", "}"):
                    break
        if tokens[index].kind is not TokenKind.NAME or "operator" in {
            token.text for token in tokens[max(0, index - 3) : index]
        }:
            return ("operator",)
        names = [tokens[index].text]
        while index >= 2 and tokens[index - 1].text in ("::", "~"):
            index -= 1 if tokens[index - 1].text == "~" else 2
            if tokens[index].kind is TokenKind.NAME:
                names.append(tokens[index].text)
        return tuple(names)

    def _names(self, head: Sequence[int]) -> tuple[str, ...]:
        """What a type, alias or variables are called."""
        tokens = self.tokens
        template_end = self.after_template(head[0])
        head = [index for index in head if index >= template_end]
        names: list[str] = []
        for place, index in enumerate(head):
            token = tokens[index]
            if token.text == "(" and tokens[index + 1].text == "*":  # a pointer to a function
                names.append(tokens[index + 2].text)
            if token.text == "=" and tokens[head[0]].text in ("using", "namespace"):
                break
            if token.kind is not TokenKind.NAME or token.text in BEGINNINGS | ATTRIBUTES:
                continue
            follows = tokens[head[place + 1]].text if place + 1 < len(head) else ";"
            if follows in (";", "=", ",", "[", "{", ":", "("):
                names.append(token.text)
            if tokens[index - 1].text in TYPE_WORDS and token.text not in names:
                names.append(token.text)
        enumerators = [
            index for index in head if tokens[index].text == "{" and "enum" in
            {tokens[before].text for before in head[:3]}
        ]  # fmt: skip
        for brace in enumerators:
            for index in range(brace + 1, self.matching_bracket.get(brace, brace)):
                if tokens[index].kind is TokenKind.NAME and tokens[index - 1].text in ("{", ","):
                    names.append(tokens[index].text)
        return tuple(names)


def marking_macros(macros: Mapping[str, Definition]) -> dict[str, frozenset[str]]:
    """Which of __global__, __device__ and their kind a macro stands for, by the macro's name."""
    words = DEVICE_WORDS | {KERNEL_WORD}
    marks: dict[str, frozenset[str]] = {}
    for _ in range(MAX_MACRO_DEPTH):
        found = {
            name: here
            for name, macro in macros.items()
            if (here := _marks(macro.body, words, marks))
        }
        if found == marks:
            break
        marks = found
    return marks


def _marks(
    body: Sequence[str], words: Collection[str], marks: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    found = {word for word in body if word in words}
    for word in body:
        found |= set(marks.get(word, ()))
    return frozenset(found)
