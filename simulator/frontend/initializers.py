"""Initializer lists: which of their values goes where, with C++'s rules for missing braces.

See C++17 [dcl.init.aggr]: an aggregate without braces of its own takes as many values from the list
around it as it has elements; what the list does not reach is zero, or has its default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import constant, span_of, unwrapped
from simulator.frontend.expressions import Expressions
from simulator.frontend.records import Place, Record, assign, clear, element, in_memory
from simulator.frontend.types import cells_of, convert, lower_type, zero
from simulator.language.ctype import ArrayOf, CType, Scalar, Struct, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import Call, Expression, Literal, Statement

MAX_CELLS = 4_096  # of an array or struct with an initializer list


class Initialize(Protocol):
    """What initializes a place from an expression."""

    @property
    def expressions(self) -> Expressions:
        """Lowers the values."""
        ...

    def initialize(self, target: Place, cursor: Any) -> list[Statement]:
        """The statements that give a new place its first value."""
        ...

    def construct_elements(self, array: Expression, cursor: Any) -> list[Statement]:
        """The constructor's call for each element of an array."""
        ...

    def default_member(self, target: Place, field: Any, span: Span) -> list[Statement]:
        """What a member's declaration gives it."""
        ...


class Items:
    """The values of one pair of braces, which are taken one after the other."""

    def __init__(self, cursor: Any) -> None:
        self._children = list(cursor.get_children())
        self._next = 0

    def peek(self) -> Any:
        """The next value, None after the last."""
        return self._children[self._next] if self._next < len(self._children) else None

    def take(self) -> Any:
        """The next value, which then has been taken."""
        self._next += 1
        return self._children[self._next - 1]


def fill(lowering: Initialize, target: Place, cursor: Any) -> list[Statement]:
    """The statements that initialize an array or struct from a list in braces, or a string."""
    span = span_of(cursor)
    if cells_of(target.ctype) > MAX_CELLS:
        raise SourceError(
            f"An array with more than {MAX_CELLS:,} initial values is not supported; give them in "
            "a loop.",
            span,
        )
    cursor = _without_cleanups(cursor)
    if cursor.kind == CursorKind.STRING_LITERAL:
        assert not isinstance(target, Record)
        return _characters(target, cursor, span)
    if cursor.kind == CursorKind.CALL_EXPR and not isinstance(target, Record):
        return lowering.construct_elements(target, cursor)
    if cursor.kind != CursorKind.INIT_LIST_EXPR:
        raise SourceError("An array is given its initial values in braces.", span)
    only = [_without_cleanups(child) for child in cursor.get_children()]
    if len(only) == 1 and only[0].kind == CursorKind.STRING_LITERAL:
        return fill(lowering, target, only[0])
    if len(only) == 1 and _fits(only[0], target.ctype):
        return lowering.initialize(target, only[0])  # T{value of type T}
    return _aggregate(lowering, target, Items(cursor), cursor.type.get_canonical(), span)


def _aggregate(
    lowering: Initialize, target: Place, items: Items, clang_type: Any, span: Span
) -> list[Statement]:
    """Initialize the elements or members of a place in turn, each from as many items as it takes.

    clang_type is the target's, which has a struct's fields with their defaults.
    """
    statements: list[list[Statement]] = []
    places = list(_elements(target))
    fields = list(clang_type.get_fields()) if isinstance(target, Record) else []
    is_flat = len(fields) == len(places) and not any(field.is_anonymous() for field in fields)
    if isinstance(target, Record) and not is_flat:
        raise SourceError(
            "Give the members of a derived class, or of a struct within it that has no name, one "
            "by one.",
            span,
        )
    position = 0
    given: dict[int, list[Statement]] = {}
    is_union = isinstance(target, Record) and target.ctype.is_union
    end = 1 if is_union else len(places)
    while items.peek() is not None and (position < end or _designator(items.peek())):
        designator = _designator(items.peek())
        if designator is not None:
            position, value = _designated(designator, fields, items.take())
            given[position] = _braced(lowering, places[position], value)
        else:
            inner = fields[position].type if fields else clang_type.element_type
            canonical = inner.get_canonical()
            given[position] = _element(lowering, places[position], items, canonical, span)
        position += 1
    if is_union and not given:
        return clear(target, span)
    for number, place in enumerate(places):
        if number in given or is_union:
            statements.append(given.get(number, []))
            continue
        default = lowering.default_member(place, fields[number], span) if fields else []
        statements.append(default or clear(place, span))
    return [statement for group in statements for statement in group]


def _braced(lowering: Initialize, place: Place, value: Any) -> list[Statement]:
    if isinstance(place, Record) or isinstance(place.ctype, ArrayOf):
        return lowering.initialize(place, value)
    return assign_value(lowering.expressions, place, value)


def _element(
    lowering: Initialize, place: Place, items: Items, clang_type: Any, span: Span
) -> list[Statement]:
    """Initialize one element from the next item, or from the next items without their braces."""
    item = _without_cleanups(items.peek())
    target = place.ctype
    if item.kind in (CursorKind.INIT_LIST_EXPR, CursorKind.STRING_LITERAL) or _fits(item, target):
        return _braced(lowering, place, items.take())
    if isinstance(target, Vector):
        assert not isinstance(place, Record)
        values: list[Expression] = []
        while len(values) < target.length and items.peek() is not None:
            value = lowering.expressions.value(items.take())
            values.append(convert(value, target.element, span))
        values += [zero(target.element, span)] * (target.length - len(values))
        return [assign(place, Call(target, span, f"make_{target.name}", tuple(values)), span)]
    if isinstance(target, (ArrayOf, Struct)):
        return _aggregate(lowering, place, items, clang_type, span)
    return _braced(lowering, place, items.take())


def _fits(cursor: Any, target: CType) -> bool:
    """Whether an expression is a value of the very type that it initializes."""
    if not isinstance(target, (Struct, Vector)) or cursor.kind == CursorKind.INIT_LIST_EXPR:
        return False
    kind = cursor.type.get_canonical().kind
    return kind == TypeKind.RECORD and lower_type(cursor.type, span_of(cursor)) == target


def _elements(target: Place) -> Iterator[Place]:
    """The elements of an array, or the members of a struct."""
    if isinstance(target, Record):
        yield from (target.members[field.name] for field in target.ctype.fields)
        return
    match target.ctype:
        case ArrayOf(length=length):
            for number in range(length):
                inner = element(target, number)
                yield in_memory(inner) if isinstance(inner.ctype, Struct) else inner
        case Struct():
            yield from _elements(in_memory(target))
        case _:
            yield target


def _designator(cursor: Any) -> Any:
    """The designator of a value such as .x = 1 or [2] = 3; None for a value without one."""
    if cursor is None or cursor.kind != CursorKind.UNEXPOSED_EXPR:
        return None
    if cursor.type.kind != TypeKind.VOID:
        return None
    children = list(cursor.get_children())
    return children[0] if len(children) == 2 else None


def _designated(designator: Any, fields: list[Any], cursor: Any) -> tuple[int, Any]:
    """The number of the element that a designator names, and its value."""
    value = list(cursor.get_children())[-1]
    if designator.kind == CursorKind.MEMBER_REF:
        names = [field.spelling for field in fields]
        return names.index(designator.spelling), value
    number = constant(designator)
    if not isinstance(number, int):
        raise SourceError("This designator is not supported.", span_of(cursor))
    return number, value


def _characters(target: Expression, cursor: Any, span: Span) -> list[Statement]:
    """Initialize an array of characters from a string."""
    array = target.ctype
    if not isinstance(array, ArrayOf) or not isinstance(array.element, Scalar):
        raise SourceError("A string initializes an array of characters.", span)
    text = cursor.spelling[1:-1].encode().decode("unicode_escape").encode("latin-1", "replace")
    statements: list[Statement] = []
    for number in range(array.length):
        code = text[number] if number < len(text) else 0
        value = array.element.dtype.type(code if code < 128 else code - 256)
        statements.append(
            assign(element(target, number), Literal(array.element, span, value), span)
        )
    return statements


def assign_value(expressions: Expressions, target: Expression, cursor: Any) -> list[Statement]:
    """Initialize a number, short vector or pointer."""
    span = span_of(cursor)
    return [assign(target, first_value(expressions, target.ctype, cursor), span)]


def first_value(expressions: Expressions, target: CType, cursor: Any) -> Expression:
    """The value, of a number, short vector or pointer, that an initializer gives."""
    span = span_of(cursor)
    cursor = _without_cleanups(cursor)
    children = list(cursor.get_children())
    if cursor.kind == CursorKind.UNEXPOSED_EXPR and not children:
        return zero(target, span)  # member()
    if cursor.kind == CursorKind.INIT_LIST_EXPR and not isinstance(target, Vector):
        if not children:
            return zero(target, span)
        cursor = children[0]
    return convert(expressions.value(cursor), target, span)


def _without_cleanups(cursor: Any) -> Any:
    """The initializer within the node that clang puts around one with temporaries."""
    inner = unwrapped(cursor)
    is_list = inner.kind in (CursorKind.INIT_LIST_EXPR, CursorKind.STRING_LITERAL)
    return inner if is_list else cursor
