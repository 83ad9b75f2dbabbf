"""Declarations, assignments and allocations of host code: what they give a name to hold."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.frontend.expression_values import SIZES
from simulator.frontend.host.deduction import declared_type
from simulator.frontend.host.tokens import declared_name, split, until
from simulator.frontend.host.values import AXES, Values, bytes_of
from simulator.frontend.scanner import Token, TokenKind

ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "++", "--"})


def read_assignments(tokens: Sequence[Token], values: Values) -> None:
    """Follow the declarators and assignments between a statement's commas."""
    declared: list[str] = []
    for part in split(tokens):
        _read_part(part, declared, values)


def read_allocation(arguments: Sequence[Token], values: Values) -> None:
    """cudaMalloc and its kind: the elements of the array that it allocates."""
    first, *others = split(arguments) or [[]]
    pointers = [token.text for token in first if token.kind is TokenKind.NAME]
    if others and pointers:
        values.names.elements[pointers[-1]] = values.allocated(pointers[-1], others[0])


def forget(tokens: Sequence[Token], first: int, last: int, values: Values) -> None:
    """The variables that a range of tokens assigns have no known value any more."""
    names = values.names
    for index in range(first, last - 1):
        if tokens[index].kind is not TokenKind.NAME:
            continue
        before, after = tokens[index - 1].text, tokens[index + 1].text
        if after in ASSIGNMENTS or before in ("++", "--"):
            owner = tokens[index - 2].text if before == "." else tokens[index].text
            names.values[owner] = None
            if owner in names.sizes:
                names.sizes[owner] = None
            if owner in names.elements:
                names.elements[owner] = None


def _read_part(part: Sequence[Token], declared: list[str], values: Values) -> None:
    """One declarator or assignment; declared has its type's words, given by the first one."""
    names = values.names
    texts = [token.text for token in part]
    sign = next((i for i, text in enumerate(texts) if text in ASSIGNMENTS), None)
    head = texts if sign is None else texts[:sign]
    opening = next((i for i, text in enumerate(head) if text in ("(", "{", "[") and i), None)
    kernel = None if sign is None or texts[sign] != "=" else values.kernel(part[sign + 1 :])
    if kernel is not None:
        names.kernels[declared_name(part[:sign])] = kernel
        return
    place = len(head) if opening is None else opening
    if not place or part[place - 1].kind is not TokenKind.NAME:
        return
    name, words = texts[place - 1], texts[: place - 1]
    if words and words[-1] == "." and len(words) > 1 and sign is not None:
        _assign_component(words[-2], name, part[sign + 1 :], values)
        return
    stars = words.count("*") + (opening is not None and head[opening] == "[")
    if words and words != ["*"]:
        declared[:] = words
    elif not declared and sign is None:
        return
    if declared:
        base = [word for word in declared if word != "*"]
        names.types[name] = declared_type(base, stars)
    pointed = [word for word in declared if word in SIZES]
    if pointed and (declared or words):
        names.element_bytes[name] = bytes_of(pointed)
    if sign is not None and texts[sign] != "=":
        _step(name, texts, sign, values)
    elif sign is not None:
        _assign(name, part[sign + 1 :], declared, values)
    elif opening is not None:
        _construct(name, texts[opening], part[opening + 1 : -1], declared, values)


def _construct(
    name: str, bracket: str, inside: Sequence[Token], declared: Sequence[str], values: Values
) -> None:
    """A declaration like float x[64], dim3 grid(4), vector<float> v(64) or int n(64)."""
    names = values.names
    if bracket == "[":
        names.elements[name] = values.whole(until(inside, "]"))
    elif "dim3" in declared:
        names.sizes[name] = values.dim3(inside)
    elif declared and declared[-1] == ">":
        names.elements[name] = values.whole(next(iter(split(inside)), []))
    elif declared:
        names.values[name] = values.evaluate(inside)


def _step(name: str, texts: Sequence[str], sign: int, values: Values) -> None:
    """An assignment like n += 4, n <<= 1 or n++."""
    operand = ["1"] if texts[sign] in ("++", "--") else texts[sign + 1 :]
    step = [*texts[:sign], texts[sign][:-1], *operand]
    values.names.values[name] = values.evaluate_words(step)


def _assign(name: str, given: Sequence[Token], declared: Sequence[str], values: Values) -> None:
    """What a name holds after its initializer or assignment."""
    names = values.names
    words = [token.text for token in given]
    if "dim3" in declared or words[:1] == ["dim3"] or name in names.sizes:
        names.sizes[name] = values.size(given)
    elif "malloc" in words or "calloc" in words:
        start = words.index("malloc" if "malloc" in words else "calloc")
        names.elements[name] = values.allocated(name, given[start + 2 : -1])
    elif "new" in words and "[" in words:
        names.elements[name] = values.whole(until(given[words.index("[") + 1 :], "]"))
    else:
        names.values[name] = values.evaluate(given)


def _assign_component(name: str, axis: str, given: Sequence[Token], values: Values) -> None:
    """An assignment like grid.x = 4."""
    if axis in AXES:
        size = list(values.names.sizes.get(name) or (1, 1, 1))
        value = values.whole(given)
        size[AXES[axis]] = value or 1
        values.names.sizes[name] = (size[0], size[1], size[2]) if value else None
