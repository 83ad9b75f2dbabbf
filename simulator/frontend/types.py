"""Lowers clang's types and constants to the tree's, and converts between types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clang.cindex import TypeKind

from simulator.frontend.clang import constant, span_of
from simulator.language import ctype
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import Call, Cast, Expression, Literal

SCALAR_KINDS: Mapping[TypeKind, Scalar] = {
    TypeKind.BOOL: ctype.BOOL,
    TypeKind.CHAR_S: ctype.CHAR,
    TypeKind.SCHAR: ctype.SCHAR,
    TypeKind.UCHAR: ctype.UCHAR,
    TypeKind.SHORT: ctype.SHORT,
    TypeKind.USHORT: ctype.USHORT,
    TypeKind.INT: ctype.INT,
    TypeKind.UINT: ctype.UINT,
    TypeKind.LONG: ctype.LONG,
    TypeKind.ULONG: ctype.ULONG,
    TypeKind.LONGLONG: ctype.LONGLONG,
    TypeKind.ULONGLONG: ctype.ULONGLONG,
    TypeKind.FLOAT: ctype.FLOAT,
    TypeKind.DOUBLE: ctype.DOUBLE,
}


def lower_type(clang_type: Any, span: Span) -> CType:
    """A clang type as a CType; raises SourceError, at `span`, for an unsupported one."""
    canonical = clang_type.get_canonical()
    kind = canonical.kind
    if kind in SCALAR_KINDS:
        return SCALAR_KINDS[kind]
    match kind:
        case TypeKind.VOID:
            return ctype.VOID
        case TypeKind.POINTER:
            return Pointer(lower_type(canonical.get_pointee(), span))
        case TypeKind.CONSTANTARRAY:
            return ArrayOf(lower_type(canonical.element_type, span), int(canonical.element_count))
        case TypeKind.INCOMPLETEARRAY:
            return ArrayOf(lower_type(canonical.element_type, span), 0)
        case TypeKind.RECORD if canonical.get_declaration().spelling in ctype.VECTORS:
            return ctype.VECTORS[canonical.get_declaration().spelling]
        case TypeKind.ENUM:
            return ctype.INT
        case _:
            raise SourceError(f"The type {clang_type.spelling} is not supported.", span)


def parameter_type(clang_type: Any, span: Span) -> CType:
    """A function parameter's type: an array there is a pointer to its first element."""
    lowered = lower_type(clang_type, span)
    return Pointer(lowered.element) if isinstance(lowered, ArrayOf) else lowered


def convert(value: Expression, target: CType, span: Span, explicit: bool = False) -> Expression:
    """The value as another type: itself, or within a Cast; SourceError when C has no conversion."""
    if value.ctype == target:
        return value
    match value.ctype, target:
        case (Scalar(), Scalar()) | (Pointer(), Pointer()):
            return Cast(target, span, value, explicit)
        case Vector() as given, Vector() if given.length == target.length and (
            given.element == target.element
        ):
            return Cast(target, span, value, explicit)  # uint3 and dim3
        case Pointer(), Scalar(name="bool"):
            return Literal(ctype.BOOL, span, ctype.BOOL.dtype.type(True))
        case source, _:
            raise SourceError(f"A conversion from {source} to {target} is not supported.", span)


def literal(cursor: Any, span: Span) -> Literal:
    """A constant expression as the Literal that clang folds it to; else raises SourceError."""
    number = constant(cursor)
    target = lower_type(cursor.type, span)
    if number is None or not isinstance(target, Scalar):
        raise SourceError(f"'{cursor.spelling}' has no value known before the launch.", span)
    if isinstance(number, int) and target.is_integer and target is not ctype.BOOL:
        bits = 8 * target.size
        number &= (1 << bits) - 1
        if target.dtype.kind == "i" and number >> (bits - 1):
            number -= 1 << bits
    return Literal(target, span, target.dtype.type(number))


def only_child(cursor: Any) -> Any:
    """A cursor's only child that is an expression; raises SourceError unless there is just one."""
    children = list(cursor.get_children())
    if len(children) > 1:  # a type's name may be another child
        children = [child for child in children if child.kind.is_expression()]
    if len(children) != 1:
        raise SourceError("This kind of expression is not supported.", span_of(cursor))
    return children[0]


def zero(target: CType, span: Span) -> Expression:
    """The zero of a scalar or short vector type; raises SourceError for others."""
    match target:
        case Scalar():
            return Literal(target, span, target.dtype.type(0))
        case Vector():
            components = (zero(target.element, span),) * target.length
            return Call(target, span, f"make_{target.name}", components)
        case _:
            raise SourceError(f"An array of {target} is not supported.", span)
