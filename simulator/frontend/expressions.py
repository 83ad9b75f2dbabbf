"""Lowers clang's expression cursors to the tree's expressions, every conversion explicit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import (
    CASTS,
    FUNCTIONS,
    child_expressions,
    constant,
    has_child,
    is_reference_cast,
    span_of,
    unary_operator,
    unwrapped,
)
from simulator.frontend.globals import is_global
from simulator.frontend.lambdas import closure_of
from simulator.frontend.records import Place, Record, as_record
from simulator.frontend.short_float_operators import check_mixture, may_be_mixed
from simulator.frontend.symbols import Closure, SymbolTable
from simulator.frontend.types import (
    NO_FUNCTION_POINTER,
    convert,
    discarded,
    is_member_of_struct,
    literal,
    lower_type,
    only_child,
    parameter_type,
    pointed_type,
    zero,
)
from simulator.frontend.unsupported import unsupported_kind
from simulator.language import ctype, tree
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Vector, Void
from simulator.language.errors import SourceError, Span
from simulator.language.functions import BITS, FROM_BITS
from simulator.language.number_types import BY_CLANG_NAME, short_float
from simulator.language.visit import in_register

BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^"})
SHIFTS = frozenset({"<<", ">>"})
MAX_DEPTH = 150  # expressions within expressions; Python's stack takes no more
LVALUES = (tree.Name, tree.Index, tree.Dereference, tree.Member, tree.FieldOf)
CONSTANTS = frozenset(
    {
        CursorKind.INTEGER_LITERAL,
        CursorKind.FLOATING_LITERAL,
        CursorKind.CHARACTER_LITERAL,
        CursorKind.CXX_BOOL_LITERAL_EXPR,
        CursorKind.CXX_UNARY_EXPR,
    }
)


class Expressions:
    """Lowers the expressions of one kernel.

    symbols knows what names mean; lower_call lowers a call expression with its span, lower_member
    finds a struct's member.
    """

    def __init__(
        self,
        symbols: SymbolTable,
        lower_call: Callable[[Any, Span], tree.Expression],
        lower_member: Callable[[Any, Span], Place],
    ) -> None:
        self._symbols = symbols
        self._lower_member = lower_member
        self._depth = 0
        self._lower: Mapping[CursorKind, Callable[[Any, Span], tree.Expression]] = {
            CursorKind.DECL_REF_EXPR: self._name,
            CursorKind.MEMBER_REF_EXPR: self._member,
            CursorKind.ARRAY_SUBSCRIPT_EXPR: self._index,
            CursorKind.UNARY_OPERATOR: self._unary,
            CursorKind.BINARY_OPERATOR: self._binary,
            CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: self._compound_assignment,
            CursorKind.CONDITIONAL_OPERATOR: self._conditional,
            CursorKind.CALL_EXPR: lower_call,
            CursorKind.INIT_LIST_EXPR: self._initializer_list,
            CursorKind.COMPOUND_LITERAL_EXPR: self._compound_literal,
            CursorKind.CXX_THIS_EXPR: self._this,
            CursorKind.CXX_NULL_PTR_LITERAL_EXPR: _null,
            CursorKind.GNU_NULL_EXPR: _null,
        }

    def value(self, cursor: Any) -> tree.Expression:
        """An expression as a value: an lvalue is loaded, an array becomes a pointer."""
        return self._as_value(self.expression(cursor))

    def lvalue(self, cursor: Any) -> tree.Expression:
        """An expression as an lvalue; raises SourceError for one that is only a value."""
        choice = _choice(cursor)
        lvalue = self.expression(cursor) if choice is None else self._choose(choice)
        if isinstance(lvalue, LVALUES):
            return lvalue
        raise SourceError("Nothing can be stored here.", span_of(cursor))

    def _choose(self, choice: Any) -> tree.Expression:
        """condition ? a : b as an lvalue, or as a value if a or b is one or is in a register."""
        test, *sides = choice.get_children()
        yes, no = (self.lvalue(side) for side in sides)
        if in_register(yes) or in_register(no) or yes.ctype != no.ctype:
            return self.expression(choice)
        span, pointer = span_of(choice), Pointer(yes.ctype)
        addresses = [tree.AddressOf(pointer, side.span, side) for side in (yes, no)]
        chosen = tree.Conditional(pointer, span, self.value(test), *addresses)
        return tree.Dereference(yes.ctype, span, chosen)

    def closure(self, cursor: Any) -> Closure:
        """The lambda that an expression is."""
        return closure_of(self._symbols, cursor)

    def expression(self, cursor: Any) -> tree.Expression:
        """An expression as it is: an lvalue, or a value."""
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise SourceError(
                    "This expression is nested too deeply; split it into several statements.",
                    span_of(cursor),
                )
            return self._expression(cursor, span_of(cursor), cursor.kind)
        finally:
            self._depth -= 1

    def _expression(self, cursor: Any, span: Span, kind: CursorKind) -> tree.Expression:
        if kind == CursorKind.PAREN_EXPR:
            return self.expression(only_child(cursor))
        if kind == CursorKind.UNEXPOSED_EXPR:
            return self._implicit(cursor, span)
        if kind in CASTS:
            children = child_expressions(cursor)
            if isinstance(lower_type(cursor.type, span), Void):
                return self._discard(children[-1], span)
            if is_reference_cast(cursor, children[-1]):
                return self._reinterpreted(children[-1], lower_type(cursor.type, span), span)
            return convert(
                self.value(children[-1]), lower_type(cursor.type, span), span, explicit=True
            )
        if kind in CONSTANTS:
            return literal(cursor, span)
        if kind in self._lower:
            return self._lower[kind](cursor, span)
        raise SourceError(unsupported_kind(kind.name), span)

    def _as_value(self, lowered: tree.Expression) -> tree.Expression:
        if not isinstance(lowered, LVALUES):
            return lowered
        if isinstance(lowered.ctype, ArrayOf):
            return tree.AddressOf(Pointer(lowered.ctype.element), lowered.span, lowered)
        return tree.Load(lowered.ctype, lowered.span, lowered)

    def _reinterpreted(self, cursor: Any, target: CType, span: Span) -> tree.Expression:
        """reinterpret_cast<float4&>(x): the bytes of an lvalue as another type."""
        lvalue = self.lvalue(cursor)
        pointer = tree.AddressOf(Pointer(lvalue.ctype), span, lvalue)
        return tree.Dereference(
            target, span, tree.Cast(Pointer(target), span, pointer, explicit=True)
        )

    def _discard(self, cursor: Any, span: Span) -> tree.Expression:
        """(void)expression: an lvalue is not loaded (C++17 [expr.static.cast]/6)."""
        inner = self.expression(cursor)
        return discarded(None if isinstance(inner, (*LVALUES, Record)) else inner, span)

    def _implicit(self, cursor: Any, span: Span) -> tree.Expression:
        """A clang node without a kind of its own: mostly a conversion, or a load."""
        target = lower_type(cursor.type, span)
        if target == ctype.BOOL and _is_text(cursor):  # assert(i < n && "too large")
            return tree.Literal(ctype.BOOL, span, ctype.BOOL.dtype.type(True))
        inner = self.expression(only_child(cursor))
        if isinstance(target, ArrayOf) and isinstance(inner.ctype, Pointer):
            target = Pointer(target.element)  # a parameter written as an array
        if inner.ctype == target and isinstance(inner, LVALUES):
            return inner
        return convert(self._as_value(inner), target, span)

    def _compound_literal(self, cursor: Any, span: Span) -> tree.Expression:
        """A value of a type in parentheses: (float2){1, 2}."""
        if isinstance(lower_type(cursor.type, span), ArrayOf):
            raise SourceError("An array without a name is not supported; declare one.", span)
        return self.expression(child_expressions(cursor)[-1])

    def _name(self, cursor: Any, span: Span) -> tree.Expression:
        declaration = cursor.referenced
        if declaration is None:
            return self.expression(only_child(cursor))  # a template's argument
        symbol = self._symbols.find(declaration)
        if isinstance(symbol, tree.Variable):
            return tree.Name(symbol.ctype, span, symbol)
        if isinstance(symbol, Closure):
            raise SourceError("A lambda can be called, or passed to a template function.", span)
        if isinstance(symbol, Record):
            return _address_of_record(symbol, cursor.spelling, span)
        if symbol is not None:
            return replace(symbol, span=span)  # a node of its own for each use
        if has_child(declaration, CursorKind.CUDASHARED_ATTR):  # declared outside the kernel
            self._symbols.declare_shared(declaration, span)
            return self._name(cursor, span)
        if declaration.spelling in BUILTINS:  # the whole of it, as in uint3 t = threadIdx;
            return _whole_builtin(declaration.spelling, lower_type(cursor.type, span), span)
        if declaration.spelling == "warpSize":
            return tree.Builtin(ctype.INT, span, "warpSize", "")
        if declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
            return _enumerator(declaration, lower_type(cursor.type, span), span)
        is_constant = (
            declaration.kind == CursorKind.VAR_DECL and declaration.type.is_const_qualified()
        )
        if is_constant and constant(cursor) is not None:
            return literal(cursor, span)
        if is_global(declaration):
            self._symbols.declare_global(declaration, span)
            return self._name(cursor, span)
        if declaration.kind in FUNCTIONS:
            raise SourceError(NO_FUNCTION_POINTER, span)
        raise SourceError(
            f"'{cursor.spelling}' is a variable of the host: a kernel cannot read it. Write "
            "__device__ or __constant__ before it, or pass it as a parameter.",
            span,
        )

    def _this(self, cursor: Any, span: Span) -> tree.Expression:
        if self._symbols.this is None:
            raise SourceError("There is no object here.", span)
        lvalue = _address_of_record(as_record(self._symbols.this), "*this", span)
        return tree.AddressOf(Pointer(lvalue.ctype), span, lvalue)

    def _member(self, cursor: Any, span: Span) -> tree.Expression:
        if is_member_of_struct(cursor):
            place = self._lower_member(cursor, span)
            return _address_of_record(place, cursor.spelling, span)
        base = unwrapped(only_child(cursor))
        if base.kind == CursorKind.DECL_REF_EXPR and base.spelling in BUILTINS:
            return tree.Builtin(ctype.UINT, span, base.spelling, cursor.spelling)
        lowered = self.expression(only_child(cursor))
        if isinstance(lowered.ctype, Pointer):
            pointer = self._as_value(lowered)
            lowered = tree.Dereference(lowered.ctype.target, lowered.span, pointer)
        if cursor.spelling == BITS and isinstance(lowered.ctype, Scalar):
            return tree.Call(lower_type(cursor.type, span), span, BITS, (self._as_value(lowered),))
        if isinstance(lowered.ctype, Vector):
            return tree.Member(lowered.ctype.element, span, lowered, "xyzw".index(cursor.spelling))
        raise SourceError(f"The member '{cursor.spelling}' is not supported.", span)

    def _index(self, cursor: Any, span: Span) -> tree.Expression:
        base_cursor, index_cursor = cursor.get_children()
        base = self.expression(_without_decay(base_cursor))
        index = self.value(index_cursor)
        if not isinstance(base.ctype, ArrayOf):
            base = self._as_value(base)
        match base.ctype:
            case ArrayOf(element=element) | Pointer(target=element):
                element = pointed_type(element, cursor.type, span)
                return tree.Index(element, span, base, index, cursor.type.is_volatile_qualified())
            case _:
                raise SourceError("Write the array before the index in brackets.", span)

    def _unary(self, cursor: Any, span: Span) -> tree.Expression:
        operator = unary_operator(cursor)
        child = only_child(cursor)
        if operator.startswith(("post", "pre")):
            lvalue = self.lvalue(child)
            delta = 1 if operator.endswith("++") else -1
            increment = tree.Increment(
                lvalue.ctype, span, lvalue, delta, operator.startswith("post")
            )
            return increment if increment.postfix else as_sum(increment)
        if operator == "&":
            lvalue = self.lvalue(child)
            return tree.AddressOf(Pointer(lvalue.ctype), span, lvalue)
        operand = self.value(child)
        if operator == "*":
            if not isinstance(operand.ctype, Pointer):
                raise SourceError("Only a pointer can be dereferenced.", span)
            volatile = cursor.type.is_volatile_qualified()
            pointee = pointed_type(operand.ctype.target, cursor.type, span)
            return tree.Dereference(pointee, span, operand, volatile=volatile)
        target = lower_type(cursor.type, span)
        if operator in ("+", "-", "~", "!") and isinstance(target, Scalar):
            return tree.Unary(target, span, operator, operand)
        raise SourceError("This operator is not supported.", span)

    def _binary(self, cursor: Any, span: Span) -> tree.Expression:
        left_cursor, right_cursor = cursor.get_children()
        operator = cursor.spelling
        choice = _choice(left_cursor)
        if operator == "=" and choice is not None:
            return self._assign_to_choice(choice, right_cursor, self._assignment, span)
        if operator == "=":
            return self._assignment(left_cursor, right_cursor, span)
        left, right = self.value(left_cursor), self.value(right_cursor)
        target = parameter_type(cursor.type, span)  # p + 1 of a parameter int p[] is an array's
        if operator == ",":
            return tree.Comma(target, span, left, right)
        if operator in ("&&", "||"):
            return tree.Logical(ctype.BOOL, span, operator, left, right)
        if operator in ARITHMETIC | SHIFTS | tree.COMPARISONS:
            if may_be_mixed(left, right):
                check_mixture(operator, (left_cursor, right_cursor), span)
            return tree.Binary(target, span, operator, left, right)
        raise SourceError(f"The operator {operator} is not supported.", span)

    def _assignment(self, left: Any, right: Any, span: Span) -> tree.Expression:
        number = _number_of_bits(left)
        if number is not None:
            lvalue = self.lvalue(number)
            bits = convert(self.value(right), lower_type(left.type, span), span)
            found = tree.Call(lvalue.ctype, span, FROM_BITS, (bits,))
            return tree.Assign(lvalue.ctype, span, lvalue, "", found, lvalue.ctype)
        lvalue = self.lvalue(left)
        return tree.Assign(lvalue.ctype, span, lvalue, "", self.value(right), lvalue.ctype)

    def _assign_to_choice(
        self,
        choice: Any,
        right: Any,
        assign: Callable[[Any, Any, Span], tree.Expression],
        span: Span,
    ) -> tree.Expression:
        """(condition ? a : b) = value: condition ? a = value : b = value."""
        test, yes, no = choice.get_children()
        condition, first = self.value(test), assign(yes, right, span)
        return tree.Conditional(first.ctype, span, condition, first, assign(no, right, span))

    def _compound_assignment(self, cursor: Any, span: Span) -> tree.Expression:
        left_cursor, right_cursor = cursor.get_children()
        update = partial(self._update, cursor.spelling.removesuffix("="))
        choice = _choice(left_cursor)
        if choice is not None:
            return self._assign_to_choice(choice, right_cursor, update, span)
        return update(left_cursor, right_cursor, span)

    def _update(
        self, operator: str, left_cursor: Any, right_cursor: Any, span: Span
    ) -> tree.Expression:
        lvalue, value = self.lvalue(left_cursor), self.value(right_cursor)
        match lvalue.ctype, value.ctype:
            case Scalar() as left, Scalar() if short_float(left):
                compute: CType = left
                value = convert(value, left, value.span)
            case Scalar() as left, Scalar() as right:
                compute = ctype.promote(left) if operator in SHIFTS else ctype.common(left, right)
            case Pointer() as pointer, Scalar():
                compute = pointer
            case left, _:
                raise SourceError(f"{operator}= is not supported for {left}.", span)
        return tree.Assign(lvalue.ctype, span, lvalue, operator, value, compute)

    def _initializer_list(self, cursor: Any, span: Span) -> tree.Expression:
        """{x, y, z, w} for a short vector, {x} for a number."""
        target = lower_type(cursor.type, span)
        values = [self.value(child) for child in cursor.get_children()]
        if isinstance(target, Vector) and len(values) <= target.length:
            components = [convert(value, target.element, span) for value in values]
            components += [zero(target.element, span)] * (target.length - len(values))
            return tree.Call(target, span, f"make_{target.name}", tuple(components))
        if isinstance(target, Scalar) and len(values) <= 1:
            return convert(values[0], target, span) if values else zero(target, span)
        raise SourceError(f"A list of values for {target} is not supported here.", span)

    def _conditional(self, cursor: Any, span: Span) -> tree.Expression:
        children = list(cursor.get_children())
        condition, yes, no = (self.value(child) for child in children)
        if may_be_mixed(yes, no):
            check_mixture("?:", children[1:], span)
        return tree.Conditional(yes.ctype, span, condition, yes, no)


def _address_of_record(place: Place, name: str, span: Span) -> tree.Expression:
    """The lvalue of a struct, which must be in memory; or the place itself, if it is no struct."""
    if not isinstance(place, Record):
        return place
    if place.lvalue is None or place.setup:
        raise SourceError(
            f"{name} is in registers, a variable for each of its members, and has no address "
            "here; make it an array of one.",
            span,
        )
    return replace(place.lvalue, span=span)


def _number_of_bits(cursor: Any) -> Any:
    """The number whose bits an expression is, as v of v.__x; None for any other."""
    children = child_expressions(cursor)
    if cursor.kind != CursorKind.MEMBER_REF_EXPR or cursor.spelling != BITS or len(children) != 1:
        return None
    declared = children[0].type.get_canonical().get_declaration()
    return children[0] if declared.spelling in BY_CLANG_NAME else None


def _is_text(cursor: Any) -> bool:
    """Whether an expression is a string in quotes, after its conversions."""
    while cursor.kind == CursorKind.UNEXPOSED_EXPR:
        cursor = only_child(cursor)
    return bool(cursor.kind == CursorKind.STRING_LITERAL)


def _choice(cursor: Any) -> Any:
    """The ?: that an expression is, in parentheses; None for any other."""
    while cursor.kind == CursorKind.PAREN_EXPR:
        cursor = only_child(cursor)
    return cursor if cursor.kind == CursorKind.CONDITIONAL_OPERATOR else None


def _enumerator(declaration: Any, target: CType, span: Span) -> tree.Expression:
    """A name of an enum, in the type that holds its values: conversions start from that one."""
    assert isinstance(target, Scalar)
    return tree.Literal(target, span, target.dtype.type(declaration.enum_value))


def _null(cursor: Any, span: Span) -> tree.Expression:
    """nullptr and NULL: a zero, which becomes a pointer where one is wanted."""
    return zero(ctype.ULONG, span)


def as_sum(expression: tree.Expression) -> tree.Expression:
    """p += 1 for an increment of a floating-point p, whose old value nothing takes.

    A compiler makes the same of both, so that a product in p is contracted with this sum too.
    """
    match expression:
        case tree.Increment(ctype=Scalar(is_float=True) as number, span=span, lvalue=lvalue):
            one = tree.Literal(number, span, number.dtype.type(1))
            return tree.Assign(
                number, span, lvalue, "+" if expression.delta > 0 else "-", one, number
            )
        case _:
            return expression


def _whole_builtin(name: str, target: CType, span: Span) -> tree.Expression:
    """All three components of threadIdx, blockIdx, blockDim or gridDim as one value."""
    axes = tuple(tree.Builtin(ctype.UINT, span, name, axis) for axis in "xyz")
    return tree.Call(target, span, f"make_{target}", axes)


def _without_decay(cursor: Any) -> Any:
    """The array within clang's array-to-pointer conversion and parentheses."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        inner = only_child(cursor)
        decays = inner.type.get_canonical().kind in (
            TypeKind.CONSTANTARRAY,
            TypeKind.INCOMPLETEARRAY,
        )
        if cursor.kind == CursorKind.UNEXPOSED_EXPR and not decays:
            break
        cursor = inner
    return cursor
