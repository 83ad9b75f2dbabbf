"""Indices too large for their type in a launch that is larger than what was run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simulator.language.ctype import INT, Scalar
from simulator.language.errors import Span
from simulator.language.tree import (
    Binary,
    Builtin,
    Cast,
    Declare,
    Expression,
    Index,
    Kernel,
    Literal,
    Load,
    Name,
)
from simulator.language.visit import expressions_within, strip_casts, subexpressions, walk
from simulator.observers.written_parameters import root_variable
from simulator.sentences import verdicts
from simulator.verdict.host_form import host_form
from simulator.verdict.parameters import is_whole

MOST = 2**31  # one more than the largest int


def overflow(kernel: Kernel) -> str:
    """A sentence on the first product of an index that passes the largest int; "" for none.

    That is where the file's host code allocates an array of that many elements.
    """
    given = host_form(kernel.text, kernel).arguments
    large = {name for name, one in given.items() if (one.elements or 0) > MOST}
    known = {name: int(one.value) for name, one in given.items() if one.value is not None}
    for array, product in _products(kernel) if large else ():
        for factor, by in ((product.left, product.right), (product.right, product.left)):
            size = _value(by, known)
            if array in large and size > 1:
                one, other = (text_at(kernel, each.span) for each in (factor, by))
                line, first = product.span.line, first_too_large(size)
                return verdicts.too_large(one, other, size, line, first)
    return ""


def narrow_indices(kernel: Kernel) -> Iterator[str]:
    """A sentence on each variable of a short type that grows with the number of blocks."""
    for one in walk(kernel.body):
        if not isinstance(one, Declare) or one.value is None:
            continue
        ctype, parts = one.variable.ctype, list(subexpressions(one.value))
        if not isinstance(ctype, Scalar):
            continue
        is_sum = all(
            isinstance(part, Builtin | Literal | Cast)
            or (isinstance(part, Binary) and part.operator in "+*")
            for part in parts
        )
        blocks = [part for part in parts if isinstance(part, Builtin) and part.name == "blockIdx"]
        is_short = is_whole(ctype) and ctype.size < INT.size
        if is_sum and blocks and is_short:
            most = int(np.iinfo(ctype.dtype).max)
            yield verdicts.narrow(one.variable.name, str(ctype), one.span.line, most)


def first_too_large(factor: int) -> int:
    """The first whole number whose product with a factor is too large for an int."""
    return -(-MOST // factor)


def text_at(kernel: Kernel, span: Span) -> str:
    """What is in a kernel's source at a span of one line; "" at one of several."""
    if span.line != span.end_line:
        return ""
    line = kernel.text.split("\n")[span.line - 1].encode()
    return line[span.column - 1 : span.end_column - 1].decode(errors="ignore")


def _products(kernel: Kernel) -> Iterator[tuple[str, Binary]]:
    """The products of ints in indices, each with the name of the array."""
    indices = (one for one in expressions_within(kernel.body) if isinstance(one, Index))
    for index in indices:
        variable = root_variable(index)
        for one in subexpressions(index.index):
            if variable and isinstance(one, Binary) and one.operator == "*" and is_int(one):
                yield variable.name, one


def is_int(one: Binary) -> bool:
    """Whether a product is computed with 32 bits."""
    return isinstance(one.ctype, Scalar) and not one.ctype.is_float and one.ctype.size == 4


def _value(factor: Expression, known: dict[str, int]) -> int:
    """The value of a factor that is a parameter or a number; 0 for any other."""
    factor = strip_casts(factor)
    if isinstance(factor, Load):
        factor = factor.lvalue
    if isinstance(factor, Literal):
        return int(factor.value)
    return known.get(factor.variable.name, 0) if isinstance(factor, Name) else 0
