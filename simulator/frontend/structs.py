"""Lowers expressions of struct type: where their members are, and what gives these their values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from clang.cindex import CursorKind

from simulator.frontend import initializers
from simulator.frontend.clang import body_of, child_expressions, span_of
from simulator.frontend.copies import copy
from simulator.frontend.expressions import Expressions
from simulator.frontend.initializers import MAX_CELLS
from simulator.frontend.records import (
    Place,
    Record,
    as_base,
    as_expression,
    as_record,
    clear,
    declare,
    elements,
    in_memory,
    merge,
    point_to,
)
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.types import (
    cells_of,
    convert,
    innermost,
    is_struct,
    literal,
    lower_struct,
    lower_type,
    named_fields,
    pointed_type,
)
from simulator.language import ctype, tree
from simulator.language.ctype import ArrayOf, Pointer, Struct
from simulator.language.errors import SourceError, Span

MAX_COPIED = 10_000  # numbers of all structs and arrays that a kernel's source copies
CASTS = (
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
)


class StructCalls(Protocol):
    """What structs need of the lowering of calls, which itself needs structs."""

    def definition(self, cursor: Any) -> Any:
        """The called function's definition in the text."""
        ...

    def invoke(
        self, cursor: Any, definition: Any, span: Span, target: Record | None = None
    ) -> tuple[tree.Function, Place | None]:
        """A call, and where its result is; a struct's is `target` if that is given."""
        ...


class Structs:
    """Lowers the expressions of one kernel that are structs, or members of one."""

    def __init__(self, symbols: SymbolTable, expressions: Expressions, calls: StructCalls) -> None:
        self._symbols = symbols
        self.expressions = expressions
        self._calls = calls
        self._copied = 0  # numbers in all structs and arrays that are copied

    # Where a struct is -----------------------------------------------------------------------

    def record(self, cursor: Any) -> Record:
        """An expression of struct type as its members; what computes them is in `setup`."""
        cursor, span = _peel(cursor), span_of(cursor)
        lowered = lower_type(cursor.type, span)
        assert isinstance(lowered, Struct)
        found = self._record(cursor, span, lowered)
        return found if found.ctype == lowered else as_base(found, lowered)

    def _record(self, cursor: Any, span: Span, struct: Struct) -> Record:
        match cursor.kind:
            case CursorKind.UNEXPOSED_EXPR:  # a struct as its base
                return self.record(_only_expression(cursor))
            case CursorKind.DECL_REF_EXPR:
                symbol = self._symbols.find(cursor.referenced)
                if isinstance(symbol, Record):
                    return symbol
                return in_memory(self.expressions.lvalue(cursor))
            case CursorKind.MEMBER_REF_EXPR:
                return as_record(self.member(cursor, span))
            case CursorKind.UNARY_OPERATOR if is_this(_peel(_only_expression(cursor))):
                return self.this(span)
            case CursorKind.CALL_EXPR if self._is_trivial_assignment(cursor):
                target, source = list(cursor.get_arguments())
                record = self.record(target)
                setup = (*record.setup, *self._assign(replace(record, setup=()), source, span))
                return replace(record, setup=setup)
            case CursorKind.CALL_EXPR if _is_reference_call(cursor):
                definition = self._calls.definition(cursor)
                if definition is None:
                    raise SourceError(f"{cursor.spelling} has no body here.", span)
                function, place = self._calls.invoke(cursor, definition, span)
                if isinstance(place, Record):
                    return replace(place, setup=(*place.setup, function))
                assert place is not None
                declared, stable = point_to(place, cursor.spelling)
                return replace(in_memory(stable), setup=(declared,))
            case CursorKind.BINARY_OPERATOR if cursor.spelling == ",":
                first, second = cursor.get_children()
                record = self.record(second)
                before = tree.Evaluate(span, self.expressions.value(first))
                return replace(record, setup=(before, *record.setup))
            case CursorKind.CALL_EXPR | CursorKind.INIT_LIST_EXPR | CursorKind.CONDITIONAL_OPERATOR:
                return self.temporary(cursor, span, struct)
            case kind if kind in CASTS or kind == CursorKind.COMPOUND_LITERAL_EXPR:
                return self.temporary(cursor, span, struct)
            case _:
                lvalue = self.expressions.lvalue(cursor)
                return in_memory(lvalue)

    def this(self, span: Span) -> Record:
        """The object of the method that is being lowered."""
        this = self._symbols.this
        if this is None:
            raise SourceError("There is no object here.", span)
        return as_record(this)

    def object_of(self, cursor: Any, span: Span) -> Record:
        """The struct of which a MEMBER_REF_EXPR names a member or a method."""
        children = child_expressions(cursor)
        if not children or is_this(_peel(children[0])):
            return self.this(span)
        if is_struct(children[0].type):
            return self.record(children[0])
        pointer = self.expressions.value(children[0])
        if not isinstance(pointer.ctype, Pointer):
            raise SourceError(f"The member '{cursor.spelling}' is not supported.", span)
        pointee = children[0].type.get_canonical().get_pointee()
        target = pointed_type(pointer.ctype.target, pointee, span)
        return in_memory(tree.Dereference(target, pointer.span, pointer))

    def member(self, cursor: Any, span: Span) -> Place:
        """What a MEMBER_REF_EXPR refers to: a lvalue, or a struct within a struct."""
        if cursor.referenced is not None and cursor.referenced.kind == CursorKind.VAR_DECL:
            return literal(cursor, span)  # a static member
        record = self.object_of(cursor, span)
        member = record.members.get(cursor.spelling)
        if member is None:
            raise SourceError(f"The member '{cursor.spelling}' is not supported here.", span)
        if isinstance(member, Record):
            return replace(member, setup=(*record.setup, *member.setup))
        member = replace(member, span=span)
        if not record.setup:
            return member
        if isinstance(member.ctype, ArrayOf):
            raise SourceError("Give this struct a name before its array is used.", span)
        setup = as_expression(record.setup, cursor.spelling, span)
        return tree.Comma(member.ctype, span, setup, tree.Load(member.ctype, span, member))

    # What gives a struct its value -------------------------------------------------------------

    def temporary(self, cursor: Any, span: Span, struct: Struct) -> Record:
        """A struct without a name, for the value of an expression."""
        name = cursor.spelling or struct.name
        record, declarations = declare(name, struct, span)
        statements = self.initialize(record, cursor)
        if len(statements) == 1 and isinstance(statements[0], tree.Function):
            called = statements[0]
            called = replace(called, parameters=(*declarations, *called.parameters))
            return replace(record, setup=(called,))
        setup = merge(declarations, statements)
        return replace(
            record, setup=(tree.Function(span, name, tuple(setup), tree.Sequence(span, ()), None),)
        )

    def initialize(self, target: Place, cursor: Any) -> list[tree.Statement]:
        """The statements that give a new place its first value."""
        span = span_of(cursor)
        too_long = isinstance(target.ctype, ArrayOf) and cells_of(target.ctype) > MAX_CELLS
        if not too_long:  # a list for more is refused below
            self._spend(target, span)
        if not isinstance(target, Record):
            match target.ctype:
                case Struct():
                    target = in_memory(target)
                case ArrayOf():
                    return initializers.fill(self, target, cursor)
                case _:
                    return initializers.assign_value(self.expressions, target, cursor)
        cursor = _peel(cursor)
        match cursor.kind:
            case CursorKind.INIT_LIST_EXPR:
                return initializers.fill(self, target, cursor)
            case kind if kind in CASTS or kind == CursorKind.COMPOUND_LITERAL_EXPR:
                return self.initialize(target, _only_expression(cursor))
            case CursorKind.CONDITIONAL_OPERATOR:
                test, yes, no = cursor.get_children()
                condition = convert(self.expressions.value(test), ctype.BOOL, span)
                sides = [
                    tree.Sequence(span, tuple(self.initialize(target, side))) for side in (yes, no)
                ]
                return [tree.If(span, condition, *sides)]
            case CursorKind.CALL_EXPR if _is_constructor(cursor):
                return self._construct(target, cursor, span)
            case CursorKind.CALL_EXPR if not _is_reference_call(cursor):
                definition = self._calls.definition(cursor)
                if definition is None:
                    raise SourceError(f"The function {cursor.spelling} is not supported.", span)
                function, _ = self._calls.invoke(cursor, definition, span, target)
                return [function]
            case _:
                return copy(target, self.record(cursor), span)

    def construct_elements(self, array: tree.Expression, cursor: Any) -> list[tree.Statement]:
        """The constructor's call for each element of an array."""
        return [
            statement
            for inner in elements(array)
            for statement in self._construct(in_memory(inner), cursor, span_of(cursor))
        ]

    def _construct(self, target: Record, cursor: Any, span: Span) -> list[tree.Statement]:
        """A constructor's call."""
        constructor = cursor.referenced
        definition = constructor.get_definition()
        arguments = list(cursor.get_arguments())
        if definition is not None and body_of(definition) is not None:
            function, _ = self._calls.invoke(cursor, definition, span, target)
            return [function]
        if len(arguments) == 1 and is_struct(arguments[0].type):
            return self.initialize(target, arguments[0])  # a copy
        if arguments:
            raise SourceError(f"This constructor of {cursor.spelling} has no body here.", span)
        explicit = any(child.kind == CursorKind.TYPE_REF for child in cursor.get_children())
        zeros = clear(target, span) if explicit else []
        return zeros + self.default_members(target, innermost(cursor.type), span)

    def default_members(self, target: Record, clang_type: Any, span: Span) -> list[tree.Statement]:
        """The default member initializers of a struct."""
        statements: list[tree.Statement] = []
        for field in named_fields(clang_type):
            statements += self.default_member(target.members[field.spelling], field, span)
        return statements

    def default_member(self, target: Place, field: Any, span: Span) -> list[tree.Statement]:
        """What a member's declaration gives it: its default initializer, or that of its members."""
        values = [
            child for child in field.get_children()
            if child.kind.is_expression()
            and child.extent.start.offset > field.location.offset  # no template's argument
        ]  # fmt: skip
        if isinstance(target, Record):
            if values:
                return self.initialize(target, values[-1])
            constructor = _default_constructor(field.type)
            if constructor is None:
                return self.default_members(target, field.type, span)
            function, _ = self._calls.invoke(field, constructor, span, target)
            return [function]
        if isinstance(target.ctype, ArrayOf):  # a dimension is another child
            values = [v for v in values if v.kind == CursorKind.INIT_LIST_EXPR]
        return self.initialize(target, values[-1]) if values else []

    def member_initializers(
        self, definition: Any, target: Record, span: Span
    ) -> list[tree.Statement]:
        """What a constructor's initializer list, and its class, give the members."""
        statements: list[tree.Statement] = []
        given: dict[str, Any] = {}
        member, names_base = "", False
        for child in definition.get_children():
            if child.kind == CursorKind.MEMBER_REF:
                member = child.spelling
            elif child.kind in (CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF):
                names_base = True
            elif child.kind.is_expression() and member:
                given[member], member = child, ""
            elif child.kind.is_expression() and names_base:
                base = lower_struct(child.type.get_canonical(), span)
                if base == target.ctype:
                    return self.initialize(target, child)  # another constructor does it all
                statements += self.initialize(as_base(target, base), child)
        for field in named_fields(definition.semantic_parent.type):
            place = target.members[field.spelling]
            if field.spelling in given:
                statements += self.initialize(place, given[field.spelling])
            else:
                statements += self.default_member(place, field, span)
        return statements

    def clear(self, place: Place, span: Span) -> list[tree.Statement]:
        """The statements that set all numbers of an array, a struct or a variable to zero."""
        self._spend(place, span)
        return clear(place, span)

    def _spend(self, target: Place, span: Span) -> None:
        """Count what a copy of a struct or array becomes; SourceError if it is too much."""
        self._copied += cells_of(target.ctype) if isinstance(target.ctype, (ArrayOf, Struct)) else 0
        if self._copied > MAX_COPIED:
            raise SourceError(
                f"The kernel copies structs and arrays of more than {MAX_COPIED:,} numbers, "
                "counting those of its functions at every call; copy them in a loop, or pass "
                "references.",
                span,
            )

    # Statements ----------------------------------------------------------------------------------

    def statement(self, cursor: Any, span: Span) -> tree.Statement:
        """An expression of struct type as a statement, for its side effects."""
        return tree.Sequence(span, self.record(cursor).setup)

    def _is_trivial_assignment(self, cursor: Any) -> bool:
        return cursor.spelling == "operator=" and self._calls.definition(cursor) is None

    def _assign(self, target: Record, source: Any, span: Span) -> list[tree.Statement]:
        """target = source, member by member; only the address of one in memory is taken twice."""
        self._spend(target, span)
        record = self.record(source)
        end: Place = target if target.lvalue is None else target.lvalue
        if record.lvalue is None or record.setup:
            return copy(end, record, span)
        return copy(end, record.lvalue, span)


def is_this(cursor: Any) -> bool:
    """Whether an expression is the keyword this."""
    return bool(cursor.kind == CursorKind.CXX_THIS_EXPR)


def _peel(cursor: Any) -> Any:
    """An expression without parentheses and the nodes that clang adds around a struct."""
    while True:
        if cursor.kind not in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
            return cursor
        children = child_expressions(cursor)
        if len(children) != 1 or not _same_struct(cursor, children[0]):
            return cursor
        (cursor,) = children


def _same_struct(outer: Any, inner: Any) -> bool:
    return bool(
        outer.type.get_canonical().get_declaration() == inner.type.get_canonical().get_declaration()
    )


def _only_expression(cursor: Any) -> Any:
    children = child_expressions(cursor)
    if not children:
        raise SourceError("This kind of expression is not supported.", span_of(cursor))
    return children[-1]


def _is_constructor(cursor: Any) -> bool:
    return cursor.referenced is not None and cursor.referenced.kind == CursorKind.CONSTRUCTOR


def _is_reference_call(cursor: Any) -> bool:
    """Whether a call gives a reference."""
    called = cursor.referenced
    if called is None or called.kind == CursorKind.CONSTRUCTOR:
        return False
    return "&" in called.result_type.get_canonical().spelling[-2:]


def _default_constructor(clang_type: Any) -> Any:
    """A struct's default constructor, None for one that the compiler makes."""
    for child in clang_type.get_canonical().get_declaration().get_children():
        if child.kind == CursorKind.CONSTRUCTOR and child.is_default_constructor():
            definition = child.get_definition()
            if definition is not None and body_of(definition) is not None:
                return definition
    return None
