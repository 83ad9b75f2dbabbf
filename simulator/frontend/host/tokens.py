"""Statements, and lists between commas, among the tokens of host code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.frontend.expression_values import SIZES
from simulator.frontend.scanner import Token, TokenKind

WITH_HEADS = frozenset({"if", "for", "while", "switch", "catch"})  # words before "(…)"
BELOW_A_PRODUCT = frozenset(
    ["+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", ":"]
)


class Statements:
    """Where statements end."""

    def __init__(self, tokens: Sequence[Token], matching: Mapping[int, int]) -> None:
        self._tokens, self._matching = tokens, matching

    def end(self, index: int) -> int:
        """The index after the statement that begins at an index.

        A while after a block belongs to it, as in do { … } while (…).
        """
        ifs = 0  # those that may have an else yet
        while True:
            index, more = self._after_heads(index)
            ifs += more
            is_block = self._text(index) == "{"
            index = self._matching.get(index, index) + 1 if is_block else self._simple_end(index)
            follows = self._text(index)
            if ifs and follows == "else":
                ifs -= 1
            elif not (is_block and follows == "while"):
                return index

    def _after_heads(self, index: int) -> tuple[int, int]:
        """The index after what comes before a statement's body, and how many if are among it."""
        ifs = 0
        while True:
            text = self._text(index)
            if text in WITH_HEADS and index + 1 in self._matching:
                ifs += text == "if"
                index = self._matching[index + 1] + 1
            elif text in ("do", "else"):
                index += 1
            else:
                return index, ifs

    def _simple_end(self, index: int) -> int:
        """The index after a semicolon, or of the brace that closes the block around it."""
        while (text := self._text(index)) not in (";", "}", ""):
            inside = text in ("(", "[", "{")
            index = self._matching.get(index, index) + 1 if inside else index + 1
        return index + 1 if text == ";" else index

    def _text(self, index: int) -> str:
        """A token's text; "" after the last."""
        return self._tokens[index].text if index < len(self._tokens) else ""


def declared_name(declared: Sequence[Token]) -> str:
    """The name that a declaration such as void (*name)(int) or auto name declares; "" for none."""
    names = [token.text for token in declared if token.kind is TokenKind.NAME]
    for before, star, name in zip(declared, declared[1:], declared[2:], strict=False):
        if before.text == "(" and star.text == "*":
            return name.text
    return names[-1] if names else ""


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens between the commas that are in no bracket; the last part has some."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        depth += _angle(tokens, index)
        if token.text == "," and depth <= 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts[-1] else parts[:-1]


def _angle(tokens: Sequence[Token], index: int) -> int:
    """1 or -1 for the < or > of a template like vector<float>: after a name, before a type."""
    text = tokens[index].text
    if text == "<" and index + 2 < len(tokens):
        return int(tokens[index + 1].text in SIZES and tokens[index + 2].text in (">", ",", "*"))
    if text == ">" and index > 1:
        return -int(tokens[index - 1].text in SIZES and tokens[index - 2].text in ("<", ","))
    return 0


def until(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """The tokens before the first of a text."""
    end = next((index for index, token in enumerate(tokens) if token.text == text), len(tokens))
    return tokens[:end]


def factor_of_sizeof(tokens: Sequence[Token]) -> Sequence[Token]:
    """What sizeof(NAME) is multiplied by in a product, none in another expression."""
    words = [token.text for token in tokens]
    if len(words) > 5 and words[-5:-2] == ["*", "sizeof", "("]:
        return _single_product(tokens[:-5])
    if words[:2] == ["sizeof", "("] and words[3:5] == [")", "*"]:
        return _single_product(tokens[5:])
    return ()


def _single_product(tokens: Sequence[Token]) -> Sequence[Token]:
    """An expression of names, numbers, products and parentheses; none for another."""
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0 or (depth == 0 and token.text in BELOW_A_PRODUCT):
            return ()
    return tokens
