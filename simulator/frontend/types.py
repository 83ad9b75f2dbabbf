"""Lowers clang's types and constants to the tree's, and converts between types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import body_of, child_expressions, constant, span_of
from simulator.language import ctype
from simulator.language.ctype import ArrayOf, CType, Field, Pointer, Scalar, Struct, Vector, Void
from simulator.language.errors import SourceError, Span
from simulator.language.number_types import BY_CLANG_NAME, SHORT_VECTORS
from simulator.language.thread_groups import ThreadGroup, group_of, group_type, parse_group
from simulator.language.tree import Binary, Call, Cast, Expression, Literal

MAX_STRUCT_BYTES = 2**20  # of one struct
MAX_MEMBERS = 256  # of one struct, those of the structs within it counted, an array as one
METHODS = (CursorKind.CXX_METHOD, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION)

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
NO_FUNCTION_POINTER = (
    "A pointer to a function is not supported; pass a lambda, or a struct with an operator(), to a "
    "template function."
)
OTHER_TYPES = {"long double": "; use double", "__int128": "; use two long long"}


def lower_type(clang_type: Any, span: Span, within: tuple[str, ...] = ()) -> CType:
    """A clang type as a CType; raises SourceError, at `span`, for an unsupported one.

    within are the names of the structs of which it is a member's type, outermost first.
    """
    canonical = clang_type.get_canonical()
    kind = canonical.kind
    if kind in SCALAR_KINDS:
        return SCALAR_KINDS[kind]
    match kind:
        case TypeKind.VOID:
            return ctype.VOID
        case TypeKind.POINTER:
            return Pointer(lower_type(canonical.get_pointee(), span, within))
        case TypeKind.CONSTANTARRAY:
            element = lower_type(canonical.element_type, span, within)
            return ArrayOf(element, int(canonical.element_count))
        case TypeKind.INCOMPLETEARRAY:
            return ArrayOf(lower_type(canonical.element_type, span, within), 0)
        case TypeKind.RECORD if canonical.get_declaration().spelling in SHORT_VECTORS:
            return SHORT_VECTORS[canonical.get_declaration().spelling]
        case _ if _unqualified(canonical) in BY_CLANG_NAME:
            return BY_CLANG_NAME[_unqualified(canonical)]
        case TypeKind.RECORD if (group := _group(canonical)) is not None:
            return group_type(group)
        case TypeKind.RECORD:
            return lower_struct(canonical, span, within)
        case TypeKind.ENUM:
            return lower_type(canonical.get_declaration().enum_type, span)
        case TypeKind.FUNCTIONPROTO | TypeKind.FUNCTIONNOPROTO:
            raise SourceError(NO_FUNCTION_POINTER, span)
        case TypeKind.MEMBERPOINTER:
            raise SourceError(
                "A pointer to a member is not supported; use an array, and an index into it.", span
            )
        case TypeKind.LVALUEREFERENCE | TypeKind.RVALUEREFERENCE:
            raise SourceError("A reference as a member is not supported; use a pointer.", span)
        case _:
            instead = OTHER_TYPES.get(canonical.spelling, "")
            raise SourceError(f"The type {clang_type.spelling} is not supported{instead}.", span)


def lower_struct(canonical: Any, span: Span, within: tuple[str, ...] = ()) -> Struct:
    """A struct's or class's clang type as a Struct; raises SourceError for an unsupported one."""
    declaration = canonical.get_declaration()
    name = canonical.spelling.removeprefix("const ")
    if name in within:  # what a member points to; its fields are found where it is dereferenced
        return Struct(name, (), canonical.get_size(), canonical.get_align())
    if is_lambda(canonical):
        raise SourceError("A lambda is called here, or passed to a template function.", span)
    size = canonical.get_size()
    if size < 0:
        raise SourceError(f"The type {name} is only declared: define it before this line.", span)
    if size > MAX_STRUCT_BYTES:
        raise SourceError(
            f"{name} has {size:,} bytes; a struct of more than {MAX_STRUCT_BYTES:,} is not "
            "supported: make its arrays parameters.",
            span,
        )
    base = _base_of(declaration, span)
    fields: list[Field] = []
    members = 0
    if base is not None:
        fields += lower_struct(base.type.get_canonical(), span, within).fields
    for field in canonical.get_fields():
        if field.is_bitfield():
            raise SourceError(
                f"A bit-field (of {name}) is not supported; use shifts and masks of an unsigned "
                "int.",
                span,
            )
        member = lower_type(field.type, span, (*within, name))
        members += _members(member)
        if members > MAX_MEMBERS:
            raise SourceError(
                f"{name} has more than {MAX_MEMBERS} members, those of its members counted, which "
                "is not supported.",
                span,
            )
        offset = field.get_field_offsetof() // 8
        if isinstance(member, Struct) and field.is_anonymous():  # its members are this one's
            fields += [Field(one.name, one.ctype, offset + one.offset) for one in member.fields]
        else:
            fields.append(Field(field.spelling, member, offset))
    return Struct(name, tuple(fields), size, canonical.get_align())


def pointed_type(target: CType, clang_type: Any, span: Span) -> CType:
    """The type, clang_type, of what a pointer to `target` points to: with all fields of a struct.

    A struct that points to its own kind is known there by its name and size alone.
    """
    is_known = not isinstance(target, Struct) or target.fields
    return target if is_known else lower_type(clang_type, span)


def named_fields(clang_type: Any) -> Iterator[Any]:
    """A struct's fields, those of its members without a name in their places."""
    for field in clang_type.get_canonical().get_fields():
        if field.is_anonymous():
            yield from named_fields(field.type)
        else:
            yield field


def _members(target: CType) -> int:
    """Members of a struct and of the structs within it; 1 for any other type."""
    match target:
        case ArrayOf(element=element):
            return _members(element)
        case Struct(fields=fields):
            return sum(_members(field.ctype) for field in fields)
        case _:
            return 1


def cells_of(target: CType) -> int:
    """Numbers, short vectors and pointers in a value of a type."""
    match target:
        case ArrayOf(element=element, length=length):
            return length * cells_of(element)
        case Struct(stored=fields):
            return sum(cells_of(field.ctype) for field in fields)
        case _:
            return 1


def _base_of(declaration: Any, span: Span) -> Any:
    """A struct's only base, None without one; raises SourceError for virtual or several bases."""
    pattern = declaration.specialized_template or declaration
    bases = []
    for child in pattern.get_children():
        if child.kind == CursorKind.CXX_BASE_SPECIFIER:
            bases.append(child)
        if child.kind == CursorKind.DESTRUCTOR and _does_something(child):
            raise SourceError(
                f"{declaration.spelling} has a destructor, which is not supported; call a method "
                "where it should run.",
                span,
            )
        if child.kind in METHODS and child.is_virtual_method():
            raise SourceError(
                f"{declaration.spelling} has a virtual function ({child.spelling}), which is not "
                "supported; make the function a template over the class instead.",
                span,
            )
    if len(bases) > 1 or any(base.is_virtual_base() for base in bases):
        raise SourceError(
            f"{declaration.spelling} has several bases or a virtual one, which is not supported; "
            "make them members.",
            span,
        )
    return bases[0] if bases else None


def _does_something(function: Any) -> bool:
    """Whether a function's body in the text has a statement."""
    definition = function.get_definition() or function
    body = body_of(definition)
    return body is not None and any(True for _ in body.get_children())


def is_struct(clang_type: Any) -> bool:
    """Whether a type is a struct or class of the text, no short vector, group or lambda."""
    canonical = clang_type.get_canonical()
    return (
        canonical.kind == TypeKind.RECORD
        and canonical.get_declaration().spelling not in SHORT_VECTORS
        and _unqualified(canonical) not in BY_CLANG_NAME
        and _group(canonical) is None
        and not is_lambda(canonical)
    )


def is_lambda(clang_type: Any) -> bool:
    """Whether a type is a lambda expression's."""
    canonical = clang_type.get_canonical()
    return canonical.kind == TypeKind.RECORD and "(lambda at " in canonical.spelling


def is_member_of_struct(cursor: Any) -> bool:
    """Whether a MEMBER_REF_EXPR is about a struct of the text, not a component of a vector."""
    children = child_expressions(cursor)
    if not children:
        return True  # a member of the method's own object
    base = children[0].type.get_canonical()
    return is_struct(base.get_pointee() if base.kind == TypeKind.POINTER else base)


def constructs_nothing(initializer: Any) -> bool:
    """Whether an initializer is the call that clang adds to float4 v;, which sets no value."""
    return (
        initializer.kind == CursorKind.CALL_EXPR
        and not list(initializer.get_children())
        and not is_struct(innermost(initializer.type))
    )


def innermost(clang_type: Any) -> Any:
    """The element type of an array of any dimensions, or a type that is no array, itself."""
    canonical = clang_type.get_canonical()
    while canonical.kind == TypeKind.CONSTANTARRAY:
        canonical = canonical.element_type.get_canonical()
    return canonical


def referred_type(clang_type: Any) -> Any:
    """The type that a reference refers to; None for a type that is no reference."""
    canonical = clang_type.get_canonical()
    if canonical.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        return canonical.get_pointee()
    return None


def _unqualified(canonical: Any) -> str:
    """A type's name without const and volatile."""
    name: str = canonical.spelling
    return name.removeprefix("const ").removeprefix("volatile ")


def _group(canonical: Any) -> ThreadGroup | None:
    """What a type of the namespace cooperative_groups says of a group; None for other types."""
    name = canonical.spelling.removeprefix("const ")
    return parse_group(name) if name.startswith("cooperative_groups::") else None


def parameter_type(clang_type: Any, span: Span) -> CType:
    """A function parameter's type: an array there is a pointer to its first element."""
    lowered = lower_type(clang_type, span)
    return Pointer(lowered.element) if isinstance(lowered, ArrayOf) else lowered


def convert(value: Expression, target: CType, span: Span, explicit: bool = False) -> Expression:
    """The value as another type: itself, or within a Cast; SourceError when C has no conversion."""
    if value.ctype == target or (group_of(value.ctype) and group_of(target)):
        return value  # of a group, which one it is stays known
    match value.ctype, target:
        case (Scalar(), Scalar()) | (Pointer(), Pointer()):
            return Cast(target, span, value, explicit)
        case Vector() as given, Vector() if given.length == target.length and (
            given.element == target.element
        ):
            return Cast(target, span, value, explicit)  # uint3 and dim3
        case Pointer(), Scalar(name="bool"):
            return Binary(ctype.BOOL, span, "!=", value, zero(value.ctype, span))
        case _, Void():
            return value  # (void)x: nothing takes it
        case Scalar(), Pointer() if isinstance(value, Literal) and not value.value:
            return zero(target, span)
        case source, _:
            raise SourceError(f"A conversion from {source} to {target} is not supported.", span)


def discarded(value: Expression | None, span: Span) -> Expression:
    """A value that nothing takes, as of (void)x: evaluated for its effects, if it is given."""
    nothing = Literal(ctype.INT, span, ctype.INT.dtype.type(0))
    return Cast(ctype.VOID, span, nothing if value is None else value, explicit=True)


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
    if target.is_float:
        return Literal(target, span, ctype.convert(np.float64(number), target))
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
        case Pointer():
            return Cast(target, span, zero(ctype.ULONG, span))
        case _:
            raise SourceError(f"An array of {target} is not supported.", span)
