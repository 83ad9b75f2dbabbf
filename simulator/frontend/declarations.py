"""Lowers declarations within a kernel: shared variables, references, arrays, structs, scalars."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from simulator.frontend.clang import has_child, initializer_of, span_of
from simulator.frontend.copies import copy
from simulator.frontend.expressions import LVALUES
from simulator.frontend.initializers import first_value
from simulator.frontend.lambdas import declare_closure
from simulator.frontend.records import (
    Place,
    Record,
    assign,
    declare,
    element,
    in_memory,
    leaves,
    merge,
)
from simulator.frontend.structs import Structs
from simulator.frontend.symbols import Closure, Symbol, SymbolTable
from simulator.frontend.types import (
    constructs_nothing,
    convert,
    is_lambda,
    is_struct,
    lower_struct,
    lower_type,
    referred_type,
)
from simulator.language import tree
from simulator.language.ctype import ArrayOf, Pointer, Scalar, Struct, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.thread_groups import group_of

# What declares no variable: clang has resolved the names and checked the assertions.
TYPES = frozenset(
    {
        CursorKind.TYPEDEF_DECL,
        CursorKind.TYPE_ALIAS_DECL,
        CursorKind.STATIC_ASSERT,
        CursorKind.ENUM_DECL,
        CursorKind.STRUCT_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.UNION_DECL,
        CursorKind.USING_DECLARATION,
        CursorKind.USING_DIRECTIVE,
        CursorKind.NAMESPACE_ALIAS,
    }
)

NAMELESS = "(anonymous "  # what clang calls a union of which no variable is declared


class Declarations:
    """Lowers the declarations of one kernel, whose initializers `structs` lowers."""

    def __init__(self, symbols: SymbolTable, structs: Structs) -> None:
        self._symbols = symbols
        self._structs = structs

    def lower(self, cursor: Any) -> tree.Statement:
        """The declaration of one variable or type."""
        span = span_of(cursor)
        if cursor.kind == CursorKind.UNION_DECL and cursor.spelling.startswith(NAMELESS):
            return self._nameless_union(cursor, span)
        if cursor.kind in TYPES:
            return tree.Sequence(span, ())
        if cursor.kind == CursorKind.UNEXPOSED_DECL and cursor.spelling.startswith("["):
            return self._bindings(cursor, span)
        if cursor.kind != CursorKind.VAR_DECL:
            what = cursor.kind.name.removesuffix("_DECL").replace("_", " ").lower()
            raise SourceError(f"This declaration ({what}) is not supported inside a kernel.", span)
        if has_child(cursor, CursorKind.CUDASHARED_ATTR):
            return self._symbols.declare_shared(cursor, span)
        _check_static(cursor, span)
        initializer = initializer_of(cursor)
        referred = referred_type(cursor.type)
        if is_lambda(referred or cursor.type):
            statements = declare_closure(self._symbols, cursor, span)
            return tree.Sequence(span, tuple(statements), opens_scope=False)
        if referred is not None:
            return self._reference(cursor, referred, initializer, span)
        if is_struct(cursor.type):
            return self._struct(cursor, initializer, span)
        match lower_type(cursor.type, span):
            case ArrayOf() as array:
                return self._array(cursor, array, initializer, span)
            case (Scalar() | Vector() | Pointer()) as lowered:
                return self._variable(cursor, lowered, initializer, span)
            case lowered:
                raise SourceError(f"A variable of type {lowered} is not supported.", span)

    def recover(self, cursor: Any) -> None:
        """Declare the variable of a declaration with an error, as the statements after it use it.

        It fails where its type is not known, or is none of a number, a pointer or an array.
        """
        self._symbols.fail(cursor)
        is_plain = cursor.kind == CursorKind.VAR_DECL and referred_type(cursor.type) is None
        if not is_plain or is_lambda(cursor.type) or is_struct(cursor.type):
            return
        with suppress(SourceError):
            lowered = lower_type(cursor.type, span_of(cursor))
            is_array = isinstance(lowered, ArrayOf)
            if is_array or (
                isinstance(lowered, (Scalar, Vector, Pointer)) and not group_of(lowered)
            ):
                space = tree.MemorySpace.LOCAL if is_array else tree.MemorySpace.REGISTER
                self._symbols.declare(cursor, space)

    def _reference(
        self, cursor: Any, referred: Any, initializer: Any, span: Span
    ) -> tree.Statement:
        """A reference: another name, or a pointer that is dereferenced at each use."""
        setup: tuple[tree.Statement, ...] = ()
        if is_struct(referred):
            record = self._structs.record(initializer)
            if record.lvalue is None:
                self._symbols.bind(cursor, record)
                return tree.Sequence(span, record.setup, opens_scope=False)
            lvalue, setup = record.lvalue, record.setup
        else:
            lowered = self._structs.expressions.expression(initializer)
            if not isinstance(lowered, LVALUES) and not referred.is_const_qualified():
                raise SourceError(
                    "A reference that may be to one of several variables is not supported; use an "
                    "if, or a pointer.",
                    span,
                )
            if not isinstance(lowered, LVALUES):  # const float& r = a + b;
                return self._temporary(cursor, referred, initializer, span)
            lvalue = lowered
        pointer = self._symbols.declare_reference(cursor, lvalue, span)
        declared = () if pointer is None else (pointer,)
        return tree.Sequence(span, (*setup, *declared), opens_scope=False)

    def _temporary(
        self, cursor: Any, referred: Any, initializer: Any, span: Span
    ) -> tree.Statement:
        """A reference to a value, which lives as long as the reference."""
        lowered = lower_type(referred, span)
        value = first_value(self._structs.expressions, lowered, initializer)
        variable = tree.Variable(cursor.spelling, lowered, tree.MemorySpace.REGISTER, span)
        self._symbols.bind(cursor, variable)
        return tree.Declare(span, variable, value)

    def element(self, cursor: Any, cell: tree.Expression) -> tree.Statement:
        """Declare the variable of a range-based for loop: a cell of the array, or its value."""
        span = span_of(cursor)
        if referred_type(cursor.type) is not None:
            pointer = self._symbols.declare_reference(cursor, cell, span)
            return tree.Sequence(span, () if pointer is None else (pointer,), opens_scope=False)
        if is_struct(cursor.type):
            struct = lower_struct(cursor.type.get_canonical(), span)
            record, declarations = declare(cursor.spelling, struct, span)
            self._symbols.bind(cursor, record)
            statements = merge(declarations, copy(record, cell, span))
            return tree.Sequence(span, tuple(statements), opens_scope=False)
        value = convert(tree.Load(cell.ctype, span, cell), lower_type(cursor.type, span), span)
        if self._symbols.is_addressed(cursor) and not isinstance(value.ctype, Pointer):
            memory = tree.MemorySpace.LOCAL
            return self._symbols.declare_in_memory(cursor, value.ctype, memory, value)
        return tree.Declare(span, self._symbols.declare(cursor, tree.MemorySpace.REGISTER), value)

    def _array(self, cursor: Any, array: ArrayOf, initializer: Any, span: Span) -> tree.Statement:
        """An array in local memory, with its cells' values if it has an initializer list."""
        if not array.size:
            raise SourceError(f"The array {cursor.spelling} has no cells.", span)
        declared = tree.Declare(span, self._symbols.declare(cursor, tree.MemorySpace.LOCAL))
        if initializer is None or constructs_nothing(initializer):
            return declared
        name = tree.Name(array, span, declared.variable)
        statements = self._structs.initialize(name, initializer)
        merged = merge([declared], statements)
        return (
            merged[0] if len(merged) == 1 else tree.Sequence(span, tuple(merged), opens_scope=False)
        )

    def _struct(self, cursor: Any, initializer: Any, span: Span) -> tree.Statement:
        """A struct: a variable for each member, or local memory if its address is taken."""
        struct = lower_struct(cursor.type.get_canonical(), span)
        if self._symbols.is_addressed(cursor):
            declared = self._symbols.declare_in_memory(cursor, struct, tree.MemorySpace.LOCAL, None)
            lvalue = self._symbols.find(cursor)
            assert isinstance(lvalue, tree.Index)
            record, declarations = in_memory(lvalue), [declared]
        else:
            record, declarations = declare(cursor.spelling, struct, span)
            self._symbols.bind(cursor, record)
        statements = [] if initializer is None else self._structs.initialize(record, initializer)
        return tree.Sequence(span, tuple(merge(declarations, statements)), opens_scope=False)

    def _bindings(self, cursor: Any, span: Span) -> tree.Statement:
        """auto [a, b] = value; names for the members of a struct, a vector or an array."""
        *names, initializer = cursor.get_children()
        if any(self._symbols.is_addressed(name) for name in names):
            self._symbols.note_addressed(cursor)
        if cursor.type.spelling.partition("[")[0].rstrip().endswith("&"):
            declared = self._reference(cursor, initializer.type, initializer, span)
        elif is_struct(cursor.type):
            declared = self._struct(cursor, initializer, span)
        else:
            match lower_type(cursor.type, span):
                case ArrayOf() as array:
                    declared = self._copied_array(cursor, array, initializer, span)
                case Vector() as vector:
                    declared = self._variable(cursor, vector, initializer, span)
                case lowered:
                    raise SourceError(f"A {lowered} has no parts to name.", span)
        whole = self._symbols.find(cursor)
        assert whole is not None
        for name, part in zip(names, _parts(whole, span), strict=True):
            self._symbols.bind(name, part)
        return declared

    def _copied_array(
        self, cursor: Any, array: ArrayOf, initializer: Any, span: Span
    ) -> tree.Statement:
        """An array that is given the cells of another; clang's copy shows that one first."""
        declared = tree.Declare(span, self._symbols.declare(cursor, tree.MemorySpace.LOCAL))
        source = self._structs.expressions.lvalue(next(initializer.get_children()))
        cells = zip(leaves(tree.Name(array, span, declared.variable)), leaves(source), strict=True)
        copies = [assign(cell, tree.Load(old.ctype, span, old), span) for cell, old in cells]
        return tree.Sequence(span, tuple(merge([declared], copies)), opens_scope=False)

    def _nameless_union(self, cursor: Any, span: Span) -> tree.Statement:
        """union { float f; int i; }; its members are used as if they were variables."""
        struct = lower_struct(cursor.type.get_canonical(), span)
        record, declarations = declare("union", struct, span)
        self._symbols.bind(cursor, record)
        return tree.Sequence(span, tuple(declarations), opens_scope=False)

    def _variable(
        self, cursor: Any, lowered: Scalar | Vector | Pointer, initializer: Any, span: Span
    ) -> tree.Statement:
        """A variable in a register, or in local memory if its address is taken."""
        value = None
        if initializer is not None and not constructs_nothing(initializer):
            value = first_value(self._structs.expressions, lowered, initializer)
        if self._symbols.is_addressed(cursor) and not isinstance(lowered, Pointer):
            return self._symbols.declare_in_memory(cursor, lowered, tree.MemorySpace.LOCAL, value)
        variable = self._symbols.declare(cursor, tree.MemorySpace.REGISTER)
        if group_of(lowered) and value is not None:  # a thread_group is the group it begins as
            variable = replace(variable, ctype=value.ctype)
            self._symbols.bind(cursor, variable)
        return tree.Declare(span, variable, value)


def _parts(whole: Symbol, span: Span) -> list[Place]:
    """The members, components or elements of a value, in their order."""
    match whole:
        case Record():
            return [whole.members[field.name] for field in whole.ctype.fields]
        case tree.Variable():
            return _parts(tree.Name(whole.ctype, span, whole), span)
        case Closure():
            raise SourceError("A lambda has no parts to name.", span)
    match whole.ctype:
        case ArrayOf(length=length):
            cells = [element(whole, number) for number in range(length)]
            return [in_memory(one) if isinstance(one.ctype, Struct) else one for one in cells]
        case Vector(element=component, length=length):
            return [tree.Member(component, span, whole, number) for number in range(length)]
        case Struct():
            return _parts(in_memory(whole), span)
        case other:
            raise SourceError(f"A {other} has no parts to name.", span)


def _check_static(cursor: Any, span: Span) -> None:
    held = cursor.type
    while held.kind == TypeKind.CONSTANTARRAY:
        held = held.element_type
    if cursor.storage_class == StorageClass.STATIC and not held.is_const_qualified():
        raise SourceError(
            f"A static variable ({cursor.spelling}) is not supported: it would be one for all "
            "threads of the grid. Pass an array as a parameter.",
            span,
        )
