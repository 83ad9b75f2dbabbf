"""Lowers __device__ and __constant__ variables outside the kernel, with their first values."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from clang.cindex import CursorKind, StorageClass

from simulator.frontend.clang import (
    child_expressions,
    constant,
    descendants,
    has_child,
    initializer_of,
    span_of,
    unwrapped,
)
from simulator.frontend.types import lower_type
from simulator.language.ctype import (
    Array,
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Vector,
    convert,
    dtype_of,
    parts,
)
from simulator.language.errors import SourceError, Span
from simulator.language.number_types import SHORT_VECTORS
from simulator.language.tree import GlobalVariable, MemorySpace, Variable

CONSTANT_BYTES = 65_536  # of all __constant__ variables (CUDA C++ Programming Guide, table of
# technical specifications)
MAX_BYTES = 2**26  # of one variable: its first values are part of the kernel
NULLS = frozenset(
    {
        CursorKind.CXX_NULL_PTR_LITERAL_EXPR,
        CursorKind.GNU_NULL_EXPR,
        CursorKind.INTEGER_LITERAL,
        CursorKind.INIT_LIST_EXPR,
    }
)
MAX_FIRST_VALUES = 16_384  # the most that a list in the text may give


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
    innermost = array.innermost
    is_pointer = isinstance(innermost, Pointer) and not isinstance(innermost.target, Pointer)
    if not isinstance(innermost, (Scalar, Vector, Struct)) and not is_pointer:
        raise SourceError(
            f"{name} is a {qualifier} variable of type {lowered}, which is not supported; pass a "
            "parameter instead.",
            span,
        )
    if not array.size:
        raise SourceError(
            f"{name} has no length in this code: write its number of elements in the brackets.",
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
        return GlobalVariable(variable, is_array, _zeros(array, innermost), has_first=False)
    initializer = initializer_of(cursor)
    if is_pointer and initializer is not None:
        _check_null(name, initializer)
    if initializer is None or not _is_value(initializer) or is_pointer:
        return GlobalVariable(variable, is_array, _zeros(array, innermost), has_first=False)
    data = np.zeros(array.size, np.uint8)
    found = FirstValues(name)
    found.fill(initializer, lowered, 0)
    for offset, (leaf, scalar) in found.leaves.items():
        number = constant(leaf)
        if number is None:
            raise SourceError(
                f"The initial value of {name} must be known to the compiler.", span_of(leaf)
            )
        data[offset : offset + scalar.size] = _cell(number, scalar).view(np.uint8)
    first = data.view(_dtype(innermost)).reshape(_zeros(array, innermost).shape)
    return GlobalVariable(variable, is_array, first, has_first=True)


def _zeros(array: ArrayOf, innermost: CType) -> Array:
    """Zeros in the shape of an array's cells; a short vector's components are the last axis."""
    inside = (innermost.length,) if isinstance(innermost, Vector) else ()
    return np.zeros((*array.shape, *inside), _dtype(innermost))


def _dtype(innermost: CType) -> np.dtype[Any]:
    """NumPy's type of an array's elements, or of their components; a struct's has its members."""
    if not isinstance(innermost, Struct):
        return dtype_of(innermost.element if isinstance(innermost, Vector) else innermost)
    members = parts(innermost)
    return np.dtype(
        {
            "names": [part.name[1:] for part in members],
            "formats": [part.scalar.cell_dtype for part in members],
            "offsets": [part.offset for part in members],
            "itemsize": innermost.size,
        }
    )


def _check_null(name: str, initializer: Any) -> None:
    """Raise SourceError for a pointer whose first value is any but nullptr."""
    leaves = [part for part in descendants(initializer) if not list(part.get_children())]
    if any(leaf.kind not in NULLS for leaf in leaves):
        raise SourceError(
            f"{name} is a pointer, which the code can set only to nullptr; the launch gives it an "
            "array by its name, or the kernel an address.",
            span_of(initializer),
        )


def _is_value(cursor: Any) -> bool:
    """Whether an initializer gives values: clang adds a call without arguments to float4 v;."""
    return cursor.kind != CursorKind.CALL_EXPR or bool(list(cursor.get_children()))


class FirstValues:
    """The expressions that give the numbers of one variable their first values."""

    def __init__(self, name: str) -> None:
        self.name = name
        # By the number's offset in bytes: the expression, and the number's type.
        self.leaves: dict[int, tuple[Any, Scalar]] = {}

    def fill(self, cursor: Any, ctype: CType, offset: int) -> None:
        """Note what a braced list, or one expression, gives to a value that starts at `offset`."""
        cursor = _without_wrapping(cursor)
        if cursor.kind == CursorKind.STRING_LITERAL:
            raise SourceError(
                f"{self.name} is initialized with a string; give it numbers.", span_of(cursor)
            )
        pending = _listed(cursor)
        if isinstance(ctype, Scalar):
            self._note(cursor if pending is None else next(iter(pending), None), ctype, offset)
        elif pending is None:
            raise SourceError(
                f"The initial values of {self.name} must be in braces.", span_of(cursor)
            )
        else:
            self._consume(deque(pending), ctype, offset)

    def _note(self, leaf: Any, scalar: Scalar, offset: int) -> None:
        if leaf is None:
            return
        self.leaves[offset] = (leaf, scalar)
        if len(self.leaves) > MAX_FIRST_VALUES:
            raise SourceError(
                f"{self.name} has more than {MAX_FIRST_VALUES:,} initial values in the code; set "
                "it by the launch.",
                span_of(leaf),
            )

    def _consume(self, pending: deque[Any], ctype: CType, offset: int) -> None:
        """Give the parts of a value the next expressions; braces within may be left out.

        (C++17 [dcl.init.aggr]/15, brace elision.)
        """
        for inner, place in _direct_parts(ctype, offset):
            if not pending:
                return
            if isinstance(inner, Scalar) or _listed(_without_wrapping(pending[0])) is not None:
                self.fill(pending.popleft(), inner, place)
            else:
                self._consume(pending, inner, place)


def _listed(cursor: Any) -> list[Any] | None:
    """The expressions of a braced list, or of the constructor of a short vector; else None."""
    children = child_expressions(cursor)
    if cursor.kind == CursorKind.INIT_LIST_EXPR:
        return children
    constructs = cursor.kind == CursorKind.CALL_EXPR and cursor.spelling in SHORT_VECTORS
    return children if constructs and len(children) > 1 else None


def _direct_parts(ctype: CType, offset: int) -> Iterator[tuple[CType, int]]:
    """The elements, components or members of a value that starts at `offset`, each with its own."""
    match ctype:
        case ArrayOf(element=element, length=length) | Vector(element=element, length=length):
            for position in range(length):
                yield element, offset + position * element.size
        case Struct(fields=fields):
            for field in fields[:1] if ctype.is_union else fields:
                yield field.ctype, offset + field.offset


def _cell(number: int | float, scalar: Scalar) -> Array:
    """A number that clang has folded, as the one cell of an array."""
    if scalar.is_float:
        return np.asarray(scalar.cells_of(convert(np.array([number], np.float64), scalar)))
    return np.array([int(number) % 2**64], np.uint64).astype(scalar.dtype)


def _without_wrapping(cursor: Any) -> Any:
    """An initializer without the conversions and temporaries that clang puts around a list."""
    inner = unwrapped(cursor)
    return inner if inner.kind == CursorKind.INIT_LIST_EXPR else cursor
