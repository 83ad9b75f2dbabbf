"""Deduces a template kernel's arguments from the types of what a launch passes.

Host code is not compiled here: a type is known where the text shows it beside a variable's name, as
in `float* dA`, or in the argument itself, as in `2.0f` or `(float*)p`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

Type = tuple[str, ...]  # its words and signs, without qualifiers: ("unsigned", "int", "*")

QUALIFIERS = frozenset(
    {"const", "volatile", "static", "extern", "register", "constexpr", "struct", "typename",
     "__restrict__", "__restrict", "restrict", "&"}
)  # fmt: skip
LITERALS: tuple[tuple[re.Pattern[str], Type], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(?!0[xX])[\d.eE+-]+[fF]", ("float",)),
        (r"(?!0[xX])(?=.*[.eE])[\d.eE+-]+", ("double",)),
        (r"0[xX][\da-fA-F]+|\d+", ("int",)),
    )
)


def declared_type(words: Sequence[str], stars: int = 0) -> Type:
    """The type of a declaration's words, with as many * more.

    >>> declared_type(["const", "float", "*"])
    ('float', '*')
    """
    return (*(word for word in words if word not in QUALIFIERS), *"*" * stars)


def literal_type(text: str) -> Type | None:
    """The type of a number as C writes it; None for other texts.

    >>> literal_type("2.0f"), literal_type("1e3"), literal_type("7")
    (('float',), ('double',), ('int',))
    """
    return next((kind for form, kind in LITERALS if form.fullmatch(text)), None)


def parameter_type(words: Sequence[str]) -> Type:
    """The type of a function's parameter, whose name it drops.

    >>> parameter_type(["const", "T", "*", "x"]), parameter_type(["T", "v", "[", "]"])
    (('T', '*'), ('T', '*'))
    """
    kept = list(declared_type(words))
    if "=" in kept:
        kept = kept[: kept.index("=")]
    stars = 0
    if "[" in kept:
        kept, stars = kept[: kept.index("[")], 1
    if len(kept) > 1 and re.fullmatch(r"[^\W\d]\w*", kept[-1]):
        kept.pop()
    return (*kept, *"*" * stars)


def deduce(
    parameters: Sequence[Type], given: Sequence[Type | None], names: Collection[str]
) -> Mapping[str, str]:
    """What the types of a call's arguments make of a template's parameters of some names.

    A parameter that two arguments give different types has none.

    >>> deduce([("T", "*"), ("T",), ("U",)], [("float", "*"), ("float",), None], {"T", "U"})
    {'T': 'float'}
    """
    found: dict[str, Type] = {}
    for parameter, argument in zip(parameters, given, strict=False):
        matched = None if argument is None else match(parameter, argument, names)
        for name, kind in (matched or {}).items():
            if found.setdefault(name, kind) != kind:
                return {}
    return {name: " ".join(kind).replace(" *", "*") for name, kind in found.items()}


def match(pattern: Type, kind: Type, names: Collection[str]) -> dict[str, Type] | None:
    """What the names in a pattern stand for, so that it is a type; None if it cannot be."""
    if not pattern:
        return None if kind else {}
    if pattern[0] not in names:
        is_same = bool(kind) and pattern[0] == kind[0]
        return match(pattern[1:], kind[1:], names) if is_same else None
    for length in range(1, len(kind) + 1):
        rest = match(pattern[1:], kind[length:], names)
        if rest is not None and rest.get(pattern[0], kind[:length]) == kind[:length]:
            return {pattern[0]: kind[:length]} | rest
    return None
