"""Lowers declarations within a kernel: shared variables, references, arrays and scalars."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from simulator.frontend.calls import hoist_call
from simulator.frontend.clang import has_child, span_of
from simulator.frontend.expressions import Expressions
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.types import convert, lower_type, zero
from simulator.language.ctype import ArrayOf, Pointer, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import Declare, Expression, MemorySpace, Sequence, Statement

MAX_CELLS = 4_096  # of an array with an initializer list


class Declarations:
    """Lowers the declarations of one kernel, whose initializers `expressions` lowers."""

    def __init__(self, symbols: SymbolTable, expressions: Expressions) -> None:
        self._symbols = symbols
        self._expressions = expressions

    def lower(self, cursor: Any) -> Statement:
        """The declaration of one variable or type."""
        span = span_of(cursor)
        if cursor.kind in (CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL):
            return Sequence(span, ())  # clang resolves the types
        if cursor.kind != CursorKind.VAR_DECL:
            raise SourceError("This kind of declaration is not supported inside a kernel.", span)
        if has_child(cursor, CursorKind.CUDASHARED_ATTR):
            return self._symbols.declare_shared(cursor, span)
        _check_static(cursor, span)
        initializers = [child for child in cursor.get_children() if child.kind.is_expression()]
        if cursor.type.get_canonical().kind == TypeKind.LVALUEREFERENCE:
            return self._reference(cursor, initializers[-1], span)
        match lower_type(cursor.type, span):
            case ArrayOf() as array:
                return self._array(cursor, array, initializers, span)
            case (Scalar() | Vector() | Pointer()) as lowered:
                return self._variable(cursor, lowered, initializers, span)
            case lowered:
                raise SourceError(f"A variable of type {lowered} is not supported.", span)

    def _reference(self, cursor: Any, initializer: Any, span: Span) -> Statement:
        lvalue = self._expressions.lvalue(initializer)
        pointer = self._symbols.declare_reference(cursor, lvalue, span)
        return Sequence(span, ()) if pointer is None else pointer

    def _array(self, cursor: Any, array: ArrayOf, initializers: list[Any], span: Span) -> Statement:
        """An array in local memory, with its cells' values if it has an initializer list."""
        if isinstance(array.innermost, Pointer):
            raise SourceError("An array of pointers is not supported.", span)
        if not array.size:
            raise SourceError(f"The array {cursor.spelling} has no cells.", span)
        if any(child.kind == CursorKind.STRING_LITERAL for child in initializers):
            raise SourceError("A string is not supported; give the array numbers.", span)
        inner = [_without_cleanups(child) for child in initializers]
        lists = [child for child in inner if child.kind == CursorKind.INIT_LIST_EXPR]
        if lists and array.size > MAX_CELLS * array.innermost.size:
            raise SourceError(
                f"An array with more than {MAX_CELLS:,} first values is not supported; give "
                "them in a loop.",
                span,
            )
        cells = tuple(self._cells(lists[0], array)) if lists else None
        return Declare(span, self._symbols.declare(cursor, MemorySpace.LOCAL), cells=cells)

    def _cells(self, initializer_list: Any, array: ArrayOf) -> list[Expression]:
        """The values of all cells, row by row, zero where the initializer list has none."""
        span = span_of(initializer_list)
        cells: list[Expression] = []
        for child in initializer_list.get_children():
            if isinstance(array.element, ArrayOf):
                if child.kind != CursorKind.INIT_LIST_EXPR:
                    raise SourceError("Write this row in braces of its own.", span_of(child))
                cells += self._cells(child, array.element)
            else:
                cells.append(convert(self._expressions.value(child), array.element, span))
        missing = array.size // array.innermost.size - len(cells)
        return cells + [zero(array.innermost, span)] * missing

    def _variable(
        self,
        cursor: Any,
        lowered: Scalar | Vector | Pointer,
        initializers: list[Any],
        span: Span,
    ) -> Statement:
        """A variable in a register, or in local memory if its address is taken."""
        value = None
        if initializers and not any(_is_default_constructor(child) for child in initializers):
            value = convert(self._expressions.value(initializers[-1]), lowered, span)
        if self._symbols.is_addressed(cursor) and not isinstance(lowered, Pointer):
            return self._symbols.declare_in_memory(cursor, lowered, MemorySpace.LOCAL, value)
        variable = self._symbols.declare(cursor, MemorySpace.REGISTER)
        return hoist_call(Declare(span, variable, value))


def _check_static(cursor: Any, span: Span) -> None:
    if cursor.storage_class == StorageClass.STATIC and not cursor.type.is_const_qualified():
        raise SourceError(
            f"A static variable ({cursor.spelling}) is not supported: it would be one for all "
            "threads of the grid. Pass an array as a parameter.",
            span,
        )


def _is_default_constructor(initializer: Any) -> bool:
    """Whether an initializer is the call that clang adds to float4 v;, which sets no value."""
    return initializer.kind == CursorKind.CALL_EXPR and not list(initializer.get_children())


def _without_cleanups(cursor: Any) -> Any:
    """The initializer within the node that clang puts around one with temporaries."""
    while cursor.kind == CursorKind.UNEXPOSED_EXPR:
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        (cursor,) = children
    return cursor
