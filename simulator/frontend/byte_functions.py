"""Lowers memcpy and memset: loops over the largest numbers that fill all their bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import CASTS, child_expressions, constant
from simulator.frontend.copies import copy
from simulator.frontend.expressions import Expressions
from simulator.frontend.records import assign
from simulator.frontend.types import convert, zero
from simulator.language import ctype, tree
from simulator.language.ctype import CType, Pointer, Scalar, Struct, Vector
from simulator.language.errors import Span

BYTE_FUNCTIONS = frozenset({"memcpy", "memset"})
NUMBERS: Mapping[int, Scalar] = {
    number.size: number for number in (ctype.UCHAR, ctype.USHORT, ctype.UINT, ctype.ULONG)
}


def lower_byte_function(cursor: Any, span: Span, expressions: Expressions) -> tree.Statement:
    """A call of memcpy or memset as a statement: a loop, or the assignment of one number."""
    first, second, size = cursor.get_arguments()
    target = _pointer(first, expressions)
    source = _pointer(second, expressions) if cursor.spelling == "memcpy" else None
    ends = (target,) if source is None else (target, source)
    width = math.gcd(_factor(size), *(_width(end.ctype) for end in ends))
    moved: CType = NUMBERS[width]
    whole = _common_target(ends)
    if source is not None and whole is not None and _factor(size) % whole.size == 0:
        moved, width = whole, whole.size  # of a struct its members, without what pads them
    is_one = constant(size) == width
    index = tree.Variable(f"{cursor.spelling} index", ctype.ULONG, tree.MemorySpace.REGISTER, span)

    def position() -> tree.Expression:
        if is_one:
            return zero(ctype.ULONG, span)
        return tree.Load(ctype.ULONG, span, tree.Name(ctype.ULONG, span, index))

    def cell(pointer: tree.Expression) -> tree.Expression:
        return tree.Index(moved, span, convert(pointer, Pointer(moved), span), position())

    if source is None:
        assert isinstance(moved, Scalar)
        value = _repeated(convert(expressions.value(second), ctype.UCHAR, span), moved, span)
        moves = [assign(cell(target), value, span)]
    elif isinstance(moved, Struct):
        moves = copy(cell(target), cell(source), span)
    else:
        moves = [assign(cell(target), tree.Load(moved, span, cell(source)), span)]
    move = tree.Sequence(span, tuple(moves))
    if is_one:
        return move
    bytes_each = tree.Literal(ctype.ULONG, span, ctype.ULONG.dtype.type(width))
    count = convert(expressions.value(size), ctype.ULONG, span)
    numbers = tree.Binary(ctype.ULONG, span, "/", count, bytes_each)
    return tree.Loop(
        span,
        tree.Declare(span, index, zero(ctype.ULONG, span)),
        tree.Binary(ctype.BOOL, span, "<", position(), numbers),
        tree.Increment(ctype.ULONG, span, tree.Name(ctype.ULONG, span, index), 1, postfix=False),
        move,
    )


def _pointer(cursor: Any, expressions: Expressions) -> tree.Expression:
    """An argument as a pointer to what it points to before it becomes a void*."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, *CASTS):
        pointee = cursor.type.get_canonical().get_pointee()
        if cursor.kind != CursorKind.PAREN_EXPR and pointee.kind != TypeKind.VOID:
            break
        cursor = child_expressions(cursor)[-1]
    return expressions.value(cursor)


def _common_target(pointers: Iterable[tree.Expression]) -> CType | None:
    """What all of some pointers point to, if that is one type of number, vector or struct."""
    targets = {end.ctype.target for end in pointers if isinstance(end.ctype, Pointer)}
    only = targets.pop()
    return only if not targets and isinstance(only, (Scalar, Vector, Struct)) else None


def _width(pointer: CType) -> int:
    """Bytes of the smallest numbers that memory of a pointer's kind is divided into."""
    assert isinstance(pointer, Pointer)
    return min((part.scalar.size for part in ctype.parts(pointer.target)), default=1)


def _factor(size: Any) -> int:
    """A number that a size in bytes is a multiple of, as the text shows: 4 for n * sizeof(int)."""
    number = constant(size)
    if isinstance(number, int):
        return number
    children = child_expressions(size)
    if size.kind == CursorKind.BINARY_OPERATOR and size.spelling == "*":
        return math.prod(map(_factor, children))
    if size.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR) and len(children) == 1:
        return _factor(children[0])
    return 1


def _repeated(byte: tree.Expression, number: Scalar, span: Span) -> tree.Expression:
    """A number each byte of which is the given one."""
    ones = number.dtype.type(int.from_bytes(b"\1" * number.size, "little"))
    compute = ctype.promote(number)
    factor = convert(tree.Literal(number, span, ones), compute, span)
    return convert(
        tree.Binary(compute, span, "*", convert(byte, compute, span), factor), number, span
    )
