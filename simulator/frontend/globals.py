"""Lowers __device__ and __constant__ variables outside the kernel, with their first values."""

from __future__ import annotations

from typing import Any

import numpy as np
from clang.cindex import CursorKind, StorageClass

from simulator.frontend.clang import constant, has_child, initializer_of, span_of
from simulator.frontend.types import lower_type
from simulator.language.ctype import Array, ArrayOf, CType, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import GlobalVariable, MemorySpace, Variable

CONSTANT_BYTES = 65_536  # of all __constant__ variables (CUDA C++ Programming Guide, table of
# technical specifications)
MAX_BYTES = 2**28  # of one variable; the launch's own budget is less
MAX_FIRST_VALUES = 16_384  # that a list in the text may give


def is_global(declaration: Any) -> bool:
    """Whether a declaration outside the kernel is a __device__ or __constant__ variable."""
    return declaration.kind == CursorKind.VAR_DECL and (
        has_child(declaration, CursorKind.CUDACONSTANT_ATTR)
        or has_child(declaration, CursorKind.CUDADEVICE_ATTR)
    )


def lower_global(cursor: Any, span: Span) -> GlobalVariable:
    """The variable of a declaration, used at `span`; SourceError for one that is not supported."""
    name = cursor.spelling
    lowered = lower_type(cursor.type, span)
    is_array = isinstance(lowered, ArrayOf)
    array = lowered if isinstance(lowered, ArrayOf) else ArrayOf(lowered, 1)
    in_constant = has_child(cursor, CursorKind.CUDACONSTANT_ATTR)
    qualifier = "__constant__" if in_constant else "__device__"
    if not isinstance(array.innermost, (Scalar, Vector)):
        raise SourceError(
            f"{name} is a {qualifier} variable of type {lowered}, which is not supported; pass a "
            "parameter in its place.",
            span,
        )
    if not array.size:
        raise SourceError(
            f"{name} has no length in this text: write its number of elements in the brackets.",
            span,
        )
    limit = CONSTANT_BYTES if in_constant else MAX_BYTES
    if array.size > limit:
        raise SourceError(
            f"{name} takes {array.size:,} bytes; {qualifier} variables may take {limit:,}.", span
        )
    space = MemorySpace.CONSTANT if in_constant else MemorySpace.GLOBAL
    variable = Variable(name, array, space, span_of(cursor))
    if cursor.storage_class == StorageClass.EXTERN:
        return GlobalVariable(variable, is_array, _zeros(array), has_first=False)
    initializer = initializer_of(cursor)
    if initializer is None or not _is_value(initializer):
        return GlobalVariable(variable, is_array, _zeros(array), has_first=False)
    first = _zeros(array)
    target = first.reshape(-1)
    leaves = _leaves(initializer, lowered, name)
    for position, leaf in leaves.items():
        number = constant(leaf)
        if number is None:
            raise SourceError(
                f"The first value of {name} must be known to the compiler.", span_of(leaf)
            )
        target[position] = _number(number, target.dtype)
    return GlobalVariable(variable, is_array, first, has_first=True)


def _zeros(array: ArrayOf) -> Array:
    """Zeros in the shape of an array's cells; a short vector's components are the last axis."""
    innermost = array.innermost
    if isinstance(innermost, Vector):
        return np.zeros((*array.shape, innermost.length), innermost.element.dtype)
    assert isinstance(innermost, Scalar)
    return np.zeros(array.shape, innermost.dtype)


def _is_value(cursor: Any) -> bool:
    """Whether an initializer gives values: clang adds a call without arguments to float4 v;."""
    return cursor.kind != CursorKind.CALL_EXPR or bool(list(cursor.get_children()))


def _leaves(initializer: Any, lowered: CType, name: str) -> dict[int, Any]:
    """The expressions that give cells their first values, by the number of the cell."""
    found: dict[int, Any] = {}
    _fill(_without_wrapping(initializer), lowered, 0, found, name)
    return found


def _fill(cursor: Any, ctype: CType, start: int, found: dict[int, Any], name: str) -> None:
    """Note the values that a braced list, or one expression, gives to the cells from `start`."""
    if cursor.kind == CursorKind.STRING_LITERAL:
        raise SourceError(f"{name} is given a string; give it numbers.", span_of(cursor))
    length, inner = _parts(ctype)
    if cursor.kind != CursorKind.INIT_LIST_EXPR:
        if inner is not None:
            raise SourceError(f"The first values of {name} must stand in braces.", span_of(cursor))
        found[start] = cursor
        if len(found) > MAX_FIRST_VALUES:
            raise SourceError(
                f"{name} has more than {MAX_FIRST_VALUES:,} first values in the text; set it by "
                "the launch.",
                span_of(cursor),
            )
        return
    pending = [_without_wrapping(child) for child in cursor.get_children()]
    if inner is None:
        for child in pending[:1]:
            _fill(child, ctype, start, found, name)
        return
    _consume(pending, length, inner, start, found, name)


def _consume(
    pending: list[Any], length: int, inner: CType, start: int, found: dict[int, Any], name: str
) -> None:
    """Give an array's elements the next values of a list; braces within may be left out.

    (C++17 [dcl.init.aggr]/15, brace elision.)
    """
    width = _cells(inner)
    for position in range(length):
        if not pending:
            return
        deeper, innermost = _parts(inner)
        if pending[0].kind == CursorKind.INIT_LIST_EXPR or innermost is None:
            _fill(pending.pop(0), inner, start + position * width, found, name)
        else:
            _consume(pending, deeper, innermost, start + position * width, found, name)


def _parts(ctype: CType) -> tuple[int, CType | None]:
    """How many elements or components a type has, and their type; 1 and None for a number."""
    match ctype:
        case ArrayOf(element=element, length=length):
            return length, element
        case Vector(element=element, length=length):
            return length, element
        case _:
            return 1, None


def _cells(ctype: CType) -> int:
    """The numbers that a value of a type consists of."""
    match ctype:
        case ArrayOf(element=element, length=length):
            return length * _cells(element)
        case Vector(length=length):
            return length
        case _:
            return 1


def _number(number: int | float, dtype: np.dtype[Any]) -> Any:
    """A number that clang has folded, as a cell holds it."""
    if isinstance(number, float):
        return dtype.type(number)
    return np.array([number % 2**64], np.uint64).astype(dtype)[0]


def _without_wrapping(cursor: Any) -> Any:
    """An initializer without the conversions and temporaries that clang puts around a list."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        inner = children[0]
        if inner.kind.is_expression() and _holds_list(inner):
            cursor = inner
        else:
            break
    return cursor


def _holds_list(cursor: Any) -> bool:
    """Whether an expression is a braced list, within any wrapping."""
    return bool(_without_wrapping(cursor).kind == CursorKind.INIT_LIST_EXPR)
