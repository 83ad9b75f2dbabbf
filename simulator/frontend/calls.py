"""Calls: CUDA's functions by name, and the text's own __device__ functions, put in their place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import span_of
from simulator.frontend.types import convert, literal, lower_type, parameter_type
from simulator.language import ctype
from simulator.language.ctype import Pointer
from simulator.language.errors import SourceError, Span
from simulator.language.functions import ARITHMETIC_FUNCTIONS, INTRINSICS
from simulator.language.tree import (
    AddressOf,
    Assign,
    Barrier,
    Call,
    Cast,
    Declare,
    Dereference,
    Evaluate,
    Expression,
    Function,
    Index,
    Inlined,
    Load,
    Member,
    MemorySpace,
    Name,
    Sequence,
    Statement,
    Variable,
)
from simulator.language.visit import in_register, strip_casts, walk

if TYPE_CHECKING:
    from simulator.frontend.kernel import Lowering

PLACES = (Name, Index, Dereference, Member)
MAX_CALLS = 32  # functions that call one another, one within the other


class Calls:
    """Lowers calls for one kernel; `lowering` lowers the bodies of its functions."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._running: list[int] = []

    def expression(self, cursor: Any, span: Span) -> Expression:
        """A call for its value."""
        values = self._lowering.expressions
        children = list(cursor.get_children())
        name = cursor.spelling
        if name in ctype.VECTORS and len(children) == 1:
            return values.value(children[0])  # a copy
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
        given = [argument for argument in cursor.get_arguments() if not _is_default(argument)]
        arguments = tuple(values.value(argument) for argument in given)
        result = lower_type(cursor.type, span)
        if name == "__ldg":
            return Load(result, span, Dereference(result, span, arguments[0]))
        made = name.startswith("make_") and name.removeprefix("make_") in ctype.VECTORS
        if made or name in INTRINSICS or name in ARITHMETIC_FUNCTIONS:
            return Call(result, span, name, arguments)
        raise SourceError(f"The function {name or 'called here'} is not supported.", span)

    def definition(self, cursor: Any) -> Any:
        """The called function's definition in the text, or None for one of CUDA's own."""
        called = cursor.referenced
        if called is None or called.kind != CursorKind.FUNCTION_DECL:
            return None
        definition = called.get_definition()
        if definition is None or definition.location.file is None:
            return None
        if definition.location.file.name == self._lowering.filename:
            return definition
        return None

    def function(self, cursor: Any, definition: Any, span: Span) -> Function:
        """The called function's body with its parameters bound to this call's arguments."""
        name = definition.spelling
        if definition.hash in self._running:
            raise SourceError(f"{name} calls itself: recursion is not supported.", span)
        if len(self._running) >= MAX_CALLS:
            raise SourceError(f"Calls nest more than {MAX_CALLS} deep here.", span)
        kinds = {child.kind for child in definition.get_children()}
        if CursorKind.CUDAGLOBAL_ATTR in kinds:
            raise SourceError(f"{name} is a kernel: a kernel cannot call one here.", span)
        if CursorKind.CUDADEVICE_ATTR not in kinds:
            raise SourceError(f"{name} is a host function; write __device__ before it.", span)
        arguments = list(cursor.get_arguments())
        parameters = [c for c in definition.get_children() if c.kind == CursorKind.PARM_DECL]
        bodies = [c for c in definition.get_children() if c.kind == CursorKind.COMPOUND_STMT]
        if not bodies:
            raise SourceError(f"{name} is not supported: it is a template or has no body.", span)
        # All are lowered before any is bound, as one may call this function itself.
        given = [
            self._argument(parameter, argument)
            for parameter, argument in zip(parameters, arguments, strict=False)
        ]
        declared = [
            self._bind(parameter, argument)
            for parameter, argument in zip(parameters, given, strict=False)
        ]
        returned = lower_type(definition.result_type, span)
        result = None
        if not isinstance(returned, ctype.Void):
            result = Variable(name, returned, MemorySpace.REGISTER, span_of(definition))
        self._running.append(definition.hash)
        try:
            body = self._lowering.body(bodies[0], result)
        finally:
            self._running.pop()
        bound = tuple(declare for declare in declared if declare is not None)
        return Function(span, name, bound, body, result)

    def _argument(self, parameter: Any, argument: Any) -> Expression:
        """What a call gives a parameter: a value of its type, or the place that a reference names.

        The function's default is taken where the call leaves it out.
        """
        values = self._lowering.expressions
        if _is_default(argument):
            argument = [c for c in parameter.get_children() if c.kind.is_expression()][-1]
        span = span_of(argument)
        if parameter.type.get_canonical().kind != TypeKind.LVALUEREFERENCE:
            return convert(values.value(argument), parameter_type(parameter.type, span), span)
        lvalue = values.expression(argument)
        if isinstance(lvalue, PLACES):
            return lvalue
        target = lower_type(parameter.type.get_canonical().get_pointee(), span)
        return convert(lvalue, target, span)

    def _bind(self, parameter: Any, given: Expression) -> Declare | None:
        """A parameter's declaration with its value; a reference becomes the place it names."""
        reference = parameter.type.get_canonical().kind == TypeKind.LVALUEREFERENCE
        if reference and isinstance(given, PLACES):
            return self.refer(parameter, given, given.span)
        variable = Variable(
            parameter.spelling, given.ctype, MemorySpace.REGISTER, span_of(parameter)
        )
        self._lowering.variables[parameter.hash] = variable
        return Declare(given.span, variable, given)

    def refer(self, cursor: Any, lvalue: Expression, span: Span) -> Declare | None:
        """Let a reference name a place: a register as itself, a cell through a pointer to it."""
        variables = self._lowering.variables
        if in_register(lvalue) or isinstance(lvalue, Name):
            variables[cursor.hash] = lvalue
            return None
        pointer = Pointer(lvalue.ctype)
        variable = Variable(cursor.spelling, pointer, MemorySpace.REGISTER, span)
        value = Load(pointer, span, Name(pointer, span, variable))
        variables[cursor.hash] = Dereference(lvalue.ctype, span, value)
        return Declare(span, variable, AddressOf(pointer, span, lvalue))


def _is_default(argument: Any) -> bool:
    """Whether the call leaves an argument to the function's default: it stands nowhere."""
    return bool(argument.extent.start.line == 0)


def called_first(statement: Statement) -> Statement:
    """v = f(…) with a barrier in f: the call as a statement of its own, then the assignment.

    C++17 evaluates an assignment's right side first ([expr.ass]/1), so that nothing changes.
    """
    match statement:
        case Declare(value=value) if value is not None and (call := _waiting(value)):
            after: Statement = replace(statement, value=_result(value))
        case Evaluate(expression=Assign(value=value) as assign) if call := _waiting(value):
            after = replace(statement, expression=replace(assign, value=_result(value)))
        case _:
            return statement
    return Sequence(statement.span, (call, after))


def _waiting(value: Expression) -> Function | None:
    """The function that a value is the result of, if it has a barrier."""
    value = strip_casts(value)
    if isinstance(value, Inlined) and value.function.result is not None:
        inside = walk(value.function)
        return value.function if any(isinstance(one, Barrier) for one in inside) else None
    return None


def _result(value: Expression) -> Expression:
    """The value with its call replaced by the variable that holds the call's result."""
    if isinstance(value, Cast):
        return replace(value, operand=_result(value.operand))
    assert isinstance(value, Inlined)
    assert value.function.result is not None
    name = Name(value.ctype, value.span, value.function.result)
    return Load(value.ctype, value.span, name)
