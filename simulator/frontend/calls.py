"""Lowers calls: CUDA's functions by name, and the text's __device__ functions by inlining them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import has_child, span_of
from simulator.frontend.expressions import LVALUES, Expressions
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.types import convert, literal, lower_type, parameter_type
from simulator.language import ctype
from simulator.language.errors import SourceError, Span
from simulator.language.functions import (
    ARITHMETIC_FUNCTIONS,
    INTRINSICS,
    OF_THE_RESULTS_TYPE,
)
from simulator.language.tree import (
    Assign,
    Barrier,
    Call,
    Cast,
    Declare,
    Dereference,
    Evaluate,
    Expression,
    Function,
    Inlined,
    Literal,
    Load,
    MemorySpace,
    Name,
    Sequence,
    Statement,
    Variable,
)
from simulator.language.visit import strip_casts, walk

MAX_CALLS = 32  # functions that call one another, one within the other


class StatementLowering(Protocol):
    """What a call needs of the lowering of statements, which itself lowers calls."""

    @property
    def expressions(self) -> Expressions:
        """Lowers a call's arguments."""
        ...

    def body(self, cursor: Any, result: Variable | None) -> Sequence:
        """A function's body; its return statements assign `result`."""
        ...


class Calls:
    """Lowers the calls of one kernel: of functions that the text `filename` defines, or CUDA."""

    def __init__(self, filename: str, symbols: SymbolTable, statements: StatementLowering) -> None:
        self._filename = filename
        self._symbols = symbols
        self._statements = statements
        self._running: list[int] = []  # hashes of the functions being inlined, outermost first

    def expression(self, cursor: Any, span: Span) -> Expression:
        """A call, as an expression."""
        values = self._statements.expressions
        children = list(cursor.get_children())
        name = cursor.spelling
        if name in ctype.VECTORS:
            return self._constructed(ctype.VECTORS[name], children, span)
        if name == "operator uint3" and children:  # of dim3
            (dimensions,) = children[0].get_children()
            return convert(values.value(dimensions), ctype.VECTORS["uint3"], span)
        if name == "operator=" and len(children) == 3:
            lvalue = values.lvalue(children[0])
            value = values.value(children[2])
            return Assign(lvalue.ctype, span, lvalue, "", value, lvalue.ctype)
        definition = self.definition(cursor)
        if definition is not None:
            function = self.function(cursor, definition, span)
            result = ctype.VOID if function.result is None else function.result.ctype
            return Inlined(result, span, function)
        if name.startswith("__builtin_"):
            return literal(cursor, span)  # INFINITY and NAN are calls that clang folds
        written = [argument for argument in cursor.get_arguments() if not _is_default(argument)]
        arguments = tuple(values.value(argument) for argument in written)
        result = lower_type(cursor.type, span)
        if name in OF_THE_RESULTS_TYPE:  # sqrt(2), max(1, 2u)
            arguments = tuple(convert(argument, result, argument.span) for argument in arguments)
        if name == "__ldg":
            return Load(result, span, Dereference(result, span, arguments[0]))
        makes_vector = name.startswith("make_") and name.removeprefix("make_") in ctype.VECTORS
        if makes_vector or name in INTRINSICS or name in ARITHMETIC_FUNCTIONS:
            return Call(result, span, name, arguments)
        raise SourceError(f"The function {name or 'called here'} is not supported.", span)

    def _constructed(self, vector: ctype.Vector, children: list[Any], span: Span) -> Expression:
        """A short vector that a constructor makes: a copy of another, or dim3(x, y, z)."""
        values = self._statements.expressions
        given = [values.value(child) for child in children if not _is_default(child)]
        if len(given) == 1 and isinstance(given[0].ctype, ctype.Vector):
            return convert(given[0], vector, span)
        components = [convert(value, vector.element, span) for value in given]
        first = ctype.UINT.dtype.type(1 if vector.name == "dim3" else 0)
        rest = convert(Literal(ctype.UINT, span, first), vector.element, span)
        components += [rest] * (vector.length - len(components))
        return Call(vector, span, f"make_{vector.name}", tuple(components))

    def definition(self, cursor: Any) -> Any:
        """The called function's definition in the text, or None for one of CUDA's own."""
        called = cursor.referenced
        if called is None or called.kind != CursorKind.FUNCTION_DECL:
            return None
        definition = called.get_definition()
        if definition is None or definition.location.file is None:
            return None
        return definition if definition.location.file.name == self._filename else None

    def function(self, cursor: Any, definition: Any, span: Span) -> Function:
        """The called function's body with its parameters bound to this call's arguments."""
        name = definition.spelling
        if definition.hash in self._running:
            raise SourceError(f"{name} calls itself: recursion is not supported.", span)
        if len(self._running) >= MAX_CALLS:
            raise SourceError(f"Calls nest more than {MAX_CALLS} deep here.", span)
        if has_child(definition, CursorKind.CUDAGLOBAL_ATTR):
            raise SourceError(f"{name} is a kernel: a kernel cannot call one here.", span)
        if not has_child(definition, CursorKind.CUDADEVICE_ATTR):
            raise SourceError(f"{name} is a host function; write __device__ before it.", span)
        parameters = [c for c in definition.get_children() if c.kind == CursorKind.PARM_DECL]
        bodies = [c for c in definition.get_children() if c.kind == CursorKind.COMPOUND_STMT]
        if not bodies:
            raise SourceError(f"{name} is not supported: it is a template or has no body.", span)
        # All arguments are lowered before any is bound: one may call this function itself.
        arguments = [
            (parameter, self._argument(parameter, argument))
            for parameter, argument in zip(parameters, cursor.get_arguments(), strict=False)
        ]
        declarations = [self._bind(parameter, argument) for parameter, argument in arguments]
        returned = lower_type(definition.result_type, span)
        result = None
        if not isinstance(returned, ctype.Void):
            result = Variable(name, returned, MemorySpace.REGISTER, span_of(definition))
        self._running.append(definition.hash)
        try:
            body = self._statements.body(bodies[0], result)
        finally:
            self._running.pop()
        declared = tuple(declare for declare in declarations if declare is not None)
        return Function(span, name, declared, body, result)

    def _argument(self, parameter: Any, argument: Any) -> Expression:
        """A call's argument, or the parameter's default: a value of the parameter's type.

        For a reference, it is the lvalue to bind it to.
        """
        values = self._statements.expressions
        if _is_default(argument):
            argument = [c for c in parameter.get_children() if c.kind.is_expression()][-1]
        span = span_of(argument)
        if parameter.type.get_canonical().kind != TypeKind.LVALUEREFERENCE:
            return convert(values.value(argument), parameter_type(parameter.type, span), span)
        lvalue = values.expression(argument)
        if isinstance(lvalue, LVALUES):
            return lvalue
        target = lower_type(parameter.type.get_canonical().get_pointee(), span)
        return convert(lvalue, target, span)

    def _bind(self, parameter: Any, argument: Expression) -> Declare | None:
        """Declare a parameter with its argument; None for a reference that needs no statement."""
        reference = parameter.type.get_canonical().kind == TypeKind.LVALUEREFERENCE
        if reference and isinstance(argument, LVALUES):
            return self._symbols.declare_reference(parameter, argument, argument.span)
        span = span_of(parameter)
        variable = Variable(parameter.spelling, argument.ctype, MemorySpace.REGISTER, span)
        self._symbols.bind(parameter, variable)
        return Declare(argument.span, variable, argument)


def _is_default(argument: Any) -> bool:
    """Whether a call's argument is the parameter's default: it has no position in the text."""
    return bool(argument.extent.start.line == 0)


def hoist_call(statement: Statement) -> Statement:
    """v = f(…) with a barrier in f as two statements: the call, then the assignment of its result.

    Only a statement can wait at a barrier. The order stays: C++17 evaluates an assignment's right
    side first ([expr.ass]/1).
    """
    match statement:
        case Declare(value=value) if value is not None and (call := _called_with_barrier(value)):
            after: Statement = replace(statement, value=_with_result(value))
        case Evaluate(expression=Assign(value=value) as assign) if call := _called_with_barrier(
            value
        ):
            after = replace(statement, expression=replace(assign, value=_with_result(value)))
        case _:
            return statement
    return Sequence(statement.span, (call, after))


def _called_with_barrier(value: Expression) -> Function | None:
    """The function whose result a value is, if it has a barrier, else None."""
    value = strip_casts(value)
    if isinstance(value, Inlined) and value.function.result is not None:
        return value.function if has_barrier(value.function) else None
    return None


def has_barrier(statement: Statement) -> bool:
    """Whether a statement has a barrier, also in functions that it calls."""
    return any(isinstance(inner, Barrier) for inner in walk(statement))


def _with_result(value: Expression) -> Expression:
    """The value with its call replaced by the variable that holds the call's result."""
    if isinstance(value, Cast):
        return replace(value, operand=_with_result(value.operand))
    assert isinstance(value, Inlined)
    assert value.function.result is not None
    name = Name(value.ctype, value.span, value.function.result)
    return Load(value.ctype, value.span, name)
