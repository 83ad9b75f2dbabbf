"""What expressions in host code are, by what its names are known to hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simulator.frontend.device_code import SourceFile
from simulator.frontend.expression_values import (
    SIZES,
    Definition,
    Evaluator,
    Value,
    expression_tokens,
)
from simulator.frontend.host.deduction import Type, declared_type, literal_type
from simulator.frontend.host.tokens import factor_of_sizeof, split
from simulator.frontend.scanner import Token
from simulator.frontend.template import split_arguments
from simulator.launch import Dim3

AXES = {"x": 0, "y": 1, "z": 2}
WORDS = frozenset({"true", "false", "const", "void", "char", "signed", "sizeof"})


@dataclass(frozen=True, slots=True)
class NamedKernel:
    """A kernel as host code names it without launching it."""

    name: str
    template: tuple[str, ...]  # its template's arguments, as HostLaunch has them


@dataclass(slots=True)
class Names:
    """What the names of a function are known to hold."""

    values: dict[str, Value] = field(default_factory=dict)
    sizes: dict[str, Dim3 | None] = field(default_factory=dict)  # variables of type dim3
    elements: dict[str, int | None] = field(default_factory=dict)  # of arrays
    element_bytes: dict[str, int | None] = field(default_factory=dict)  # by a pointer's type
    types: dict[str, Type] = field(default_factory=dict)  # as they are declared
    kernels: dict[str, NamedKernel] = field(default_factory=dict)  # by the pointer to each

    def copy(self) -> Names:
        """One that changes by itself."""
        return Names(
            dict(self.values), dict(self.sizes), dict(self.elements), dict(self.element_bytes),
            dict(self.types), dict(self.kernels),
        )  # fmt: skip


class Values:
    """Evaluates expressions, given as tokens, by the names of the function that is read."""

    def __init__(self, source: SourceFile, functions: Mapping[str, Definition]) -> None:
        self.names = Names()
        self._kernels = {name for one in source.kernels for name in one.names}
        self.types = {name for one in source.declarations if one.is_type for name in one.names}
        self.types |= set(SIZES)
        self._evaluator = Evaluator(self._lookup, source.macros, functions, self._size_of)

    def evaluate(self, expression: Sequence[Token]) -> Value:
        """A number; None where it is not known."""
        return self.evaluate_words([token.text for token in expression])

    def evaluate_words(self, expression: Sequence[str]) -> Value:
        """The same of the tokens' texts."""
        return self._evaluator.evaluate(expression_tokens(" ".join(expression)))

    def whole(self, expression: Sequence[Token]) -> int | None:
        """A number of elements or blocks, as C converts it; None where it is not known."""
        value = self.evaluate(expression)
        return None if value is None else int(value)

    def size(self, expression: Sequence[Token]) -> Dim3 | None:
        """A grid or a block: a variable of type dim3, a dim3(…), or a number."""
        texts = [token.text for token in expression]
        if len(texts) == 1 and texts[0] in self.names.sizes:
            return self.names.sizes[texts[0]]
        if texts[:1] == ["dim3"] and len(texts) > 2:
            return self.dim3(expression[2:-1])
        if texts[:1] == ["{"]:
            return self.dim3(expression[1:-1])
        return self.dim3(expression)

    def dim3(self, expression: Sequence[Token]) -> Dim3 | None:
        """One to three sizes between commas."""
        sizes = [self.whole(part) for part in split(expression)]
        known = [size for size in sizes if size is not None and size > 0]
        if len(known) != len(sizes) or not 1 <= len(known) <= 3:
            return None
        x, y, z = (*known, 1, 1)[:3]
        return (x, y, z)

    def elements(self, expression: Sequence[Token]) -> int | None:
        """The elements of the first array that an expression names."""
        arrays = (self.names.elements.get(token.text) for token in expression)
        return next((count for count in arrays if count is not None), None)

    def allocated(self, name: str, expression: Sequence[Token]) -> int | None:
        """The elements of an array that takes the bytes of an expression, or those of calloc."""
        size = self.names.element_bytes.get(name)
        if not size:  # of a struct's, which is not known here, as many as its size is multiplied by
            return self.whole(factor_of_sizeof(expression))
        parts = [self.whole(part) for part in split(expression)]
        if len(parts) == 2 and parts[1] == size:
            return parts[0]
        return parts[0] // size if parts and parts[0] else None

    def kernel(self, expression: Sequence[Token]) -> NamedKernel | None:
        """The kernel that an expression such as &scale<16> is; None for any other."""
        named = [token for token in expression if token.text not in ("&", "(", ")")]
        if not named:
            return None
        name, inside = named[0].text, named[2:-1]
        if len(named) == 1 and name in self.names.kernels:
            return self.names.kernels[name]
        if name not in self._kernels or (len(named) > 1 and named[1].text != "<"):
            return None
        return NamedKernel(name, self.template_arguments(inside))

    def template_arguments(self, tokens: Sequence[Token]) -> tuple[str, ...]:
        """A template's arguments between < and >; numbers as their values where known."""
        return tuple(map(self._template_argument, split_arguments(tokens)))

    def _template_argument(self, text: str) -> str:
        value = self._evaluator.evaluate(expression_tokens(text))
        return text if value is None or text in ("true", "false") else str(value)

    def is_known(self, argument: str, outside: set[str]) -> bool:
        """Whether a template's argument means something to all functions, by the names outside."""
        words = [word for word in expression_tokens(argument) if re.match(r"[^\W\d]", word)]
        known = self.types | set(self._evaluator.macros) | outside | WORDS
        return all(word in known for word in words)

    def type(self, expression: Sequence[Token]) -> Type | None:
        """The type of an argument; None where the text does not show it."""
        texts = [token.text for token in expression]
        if not texts:
            return None
        kind = literal_type(texts[0]) if len(texts) == 1 else None
        if kind is None and texts[0] in ("static_cast", "reinterpret_cast") and "(" in texts:
            kind = declared_type(texts[2 : texts.index("(") - 1])
        elif kind is None and texts[0] in self.types and texts[-1] in (")", "}"):
            kind = declared_type(texts[: _constructed(expression)])  # Scale<float>{2}
        elif kind is None and texts[0] == "(" and ")" in texts[:-1]:
            kind = declared_type(texts[1 : texts.index(")")])
        elif kind is None and "raw_pointer_cast" in texts:
            vectors = [self.names.types.get(text, ()) for text in texts]
            vector = next((one for one in vectors if "device_vector" in one and "<" in one), ())
            kind = (*vector[vector.index("<") + 1 : -1], "*") if vector else None
        elif kind is None:
            kind = self.names.types.get(texts[0])
            is_offset = len(texts) > 1 and texts[1] in ("+", "-") and kind and kind[-1] == "*"
            kind = kind if len(texts) == 1 or is_offset else None
        return kind if kind and kind[0] in self.types else None

    def _lookup(self, name: str) -> Value:
        """The value of a variable, or of a dim3's component."""
        owner, _, axis = name.partition(".")
        size = self.names.sizes.get(owner)
        if axis in AXES and size is not None:
            return size[AXES[axis]]
        return self.names.values.get(name)

    def _size_of(self, name: str) -> Value:
        """sizeof of a variable, or of what a pointer points to."""
        size = self.names.element_bytes.get(name.lstrip("*"))
        count = self.names.elements.get(name)
        return size * count if size and count and not name.startswith("*") else size


def bytes_of(words: Sequence[str]) -> int:
    """The size of a type whose words SIZES has."""
    return next((SIZES[word] for word in words if word not in ("unsigned", "signed")), 4)


def _constructed(expression: Sequence[Token]) -> int:
    """The index of the bracket with a constructor's arguments, after the type's name."""
    depth = 0
    for index in reversed(range(len(expression))):
        text = expression[index].text
        depth += (text in (")", "}")) - (text in ("(", "{"))
        if not depth:
            return index
    return 0
