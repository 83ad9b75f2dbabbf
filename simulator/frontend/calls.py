"""Lowers calls: CUDA's functions by name, and the text's __device__ functions by inlining them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from clang.cindex import CursorKind

from simulator.frontend.clang import (
    VARIABLES,
    WITH_BODIES,
    body_of,
    child_expressions,
    constant,
    has_child,
    span_of,
    unwrapped,
)
from simulator.frontend.cooperative_groups import GroupCalls
from simulator.frontend.copies import copy
from simulator.frontend.expressions import LVALUES, Expressions
from simulator.frontend.fragments import declares, lower_fragment_call
from simulator.frontend.hoisting import hoist, hoist_calls, relocate
from simulator.frontend.mistakes import UndefinedError
from simulator.frontend.printing import ASSERT, lower_assert, lower_print
from simulator.frontend.records import Place, Record, declare, in_memory, merge, point_to
from simulator.frontend.references import Reference
from simulator.frontend.short_float_operators import COMPOUND, compound_pair, lower_short_float
from simulator.frontend.structs import Structs
from simulator.frontend.symbols import Closure, Symbol, SymbolTable
from simulator.frontend.types import (
    NO_FUNCTION_POINTER,
    convert,
    discarded,
    is_lambda,
    is_struct,
    literal,
    lower_struct,
    lower_type,
    parameter_type,
    referred_type,
    zero,
)
from simulator.language import ctype, tree
from simulator.language.errors import SourceError, Span
from simulator.language.functions import (
    ARITHMETIC_FUNCTIONS,
    ASYNC_COPY_FUNCTIONS,
    CACHED_LOADS,
    CACHED_STORES,
    INTRINSICS,
    OF_THE_RESULTS_TYPE,
    PRINT,
)
from simulator.language.number_types import BY_CLANG_NAME, MAKERS, SHORT_VECTORS
from simulator.language.visit import in_register, walk

FUNCTIONS = (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION)

# What a function's return statements assign: a number, a struct, or what its reference refers to.
Result = tree.Variable | Record | Reference | None

Argument = tree.Expression | Record | Closure

# Hints of CUDA C++ to the compiler, and whether they give the value of their first argument.
HINTS = {"__builtin_expect": True, "__builtin_assume_aligned": True, "__builtin_assume": False}

MAX_CALLS = 32  # functions that call one another, one within the other


class StatementLowering(Protocol):
    """What a call needs of the lowering of statements, which itself lowers calls."""

    @property
    def expressions(self) -> Expressions:
        """Lowers a call's arguments."""
        ...

    @property
    def structs(self) -> Structs:
        """Lowers arguments and results of struct type."""
        ...

    def body(self, cursor: Any, result: Result) -> tree.Sequence:
        """A function's body; its return statements assign `result`."""
        ...


class Calls:
    """Lowers the calls of one kernel: of functions that the text `filename` defines, or CUDA."""

    def __init__(self, filename: str, symbols: SymbolTable, statements: StatementLowering) -> None:
        self._filename = filename
        self._symbols = symbols
        self._statements = statements
        self._groups = GroupCalls(lambda: statements.expressions)
        self._running: list[int] = []  # hashes of the functions being inlined, outermost first

    def expression(self, cursor: Any, span: Span) -> tree.Expression:
        """A call, as an expression: a value, or an lvalue if it gives a reference.

        CUDA's classes come before the functions of the text, as headers define some of their
        methods; those come before CUDA's functions, whose names the text may use.
        """
        found = (
            self._of_class(cursor, span)
            or self._of_text(cursor, span)
            or self._as_written(cursor, span)
            or self._of_values(cursor, span)
        )
        if found is None:
            raise self._refusal(cursor, span)
        return found

    def _of_class(self, cursor: Any, span: Span) -> tree.Expression | None:
        """A call that cooperative groups, fragments or short vectors declare; None for others."""
        name, children = cursor.spelling, list(cursor.get_children())
        if self._groups.declares(cursor):
            return self._groups.lower(cursor, span)
        if declares(cursor):
            return lower_fragment_call(cursor, span, self._statements.structs)
        if name in SHORT_VECTORS:
            return self._constructed(SHORT_VECTORS[name], children, span)
        if name in BY_CLANG_NAME:
            return self._converted(BY_CLANG_NAME[name], children, span)
        if name.startswith("operator ") and children and _is_number_class(cursor):
            (number,) = children[0].get_children()
            value = self._statements.expressions.value(number)
            return convert(value, lower_type(cursor.type, span), span, explicit=True)
        if name == "operator uint3" and children:  # of dim3
            (dimensions,) = children[0].get_children()
            value = self._statements.expressions.value(dimensions)
            return convert(value, ctype.VECTORS["uint3"], span)
        return None

    def _of_text(self, cursor: Any, span: Span) -> tree.Expression | None:
        """A call of a function that the text defines; None for others."""
        definition = self.definition(cursor)
        if definition is None:
            return None
        function, place = self.invoke(cursor, definition, span)
        if isinstance(place, tree.Expression) and not in_register(place):
            return place
        if isinstance(place, tree.Expression):  # a reference to a variable in a register
            if not _has_effects(function):
                return replace(place, span=span)
            first = tree.Inlined(ctype.VOID, span, function)
            return tree.Comma(place.ctype, span, first, tree.Load(place.ctype, span, place))
        if function.result is None:
            return tree.Inlined(ctype.VOID, span, function)
        return tree.Inlined(function.result.ctype, span, function)

    def _as_written(self, cursor: Any, span: Span) -> tree.Expression | None:
        """A call of CUDA's that is not one of its arguments' values; None for others."""
        values = self._statements.expressions
        name, children = cursor.spelling, list(cursor.get_children())
        if name == "operator=" and len(children) == 3:
            lvalue = values.lvalue(children[0])
            value = values.value(children[2])
            return tree.Assign(lvalue.ctype, span, lvalue, "", value, lvalue.ctype)
        if name in COMPOUND and len(children) == 3:
            lvalue, value = values.lvalue(children[0]), values.value(children[2])
            return compound_pair(name, lvalue, value, span)
        if name in HINTS:
            return self._hint(name, cursor, span)
        if name == PRINT:
            return lower_print(cursor, span, values)
        if name == ASSERT:
            return lower_assert(cursor, span, values)
        if name.startswith("__builtin_") and constant(cursor) is not None:
            return literal(cursor, span)  # INFINITY and NAN are calls that clang folds
        return None

    def _of_values(self, cursor: Any, span: Span) -> tree.Expression | None:
        """A call of a function of CUDA's, by its arguments' values; None for what is not known."""
        name, values = cursor.spelling, self._statements.expressions
        written = [argument for argument in cursor.get_arguments() if not _is_default(argument)]
        arguments = tuple(values.value(argument) for argument in written)
        if name in ASYNC_COPY_FUNCTIONS:  # how much they copy, and what they leave, is a constant
            arguments = tuple(map(_folded, written, arguments))
        result = lower_type(cursor.type, span)
        if name in OF_THE_RESULTS_TYPE:  # sqrt(2), max(1, 2u)
            arguments = tuple(convert(argument, result, argument.span) for argument in arguments)
        of_short_float = lower_short_float(name, result, arguments, span)
        if of_short_float is not None:
            return of_short_float
        if name in CACHED_LOADS:
            return tree.Load(result, span, tree.Dereference(result, span, arguments[0]))
        if name in CACHED_STORES and isinstance(arguments[0].ctype, ctype.Pointer):
            target = arguments[0].ctype.target
            place = tree.Dereference(target, span, arguments[0])
            return tree.Assign(target, span, place, "", convert(arguments[1], target, span), target)
        if name in MAKERS or name in INTRINSICS or name in ARITHMETIC_FUNCTIONS:
            return tree.Call(result, span, name, arguments)
        return None

    def _refusal(self, cursor: Any, span: Span) -> SourceError:
        """Why a function cannot be called."""
        name, called = cursor.spelling, cursor.referenced
        if called is None or called.kind in VARIABLES:
            if called is not None:
                self._symbols.find(called)  # its declaration may have an error
            return SourceError(NO_FUNCTION_POINTER, span)
        if self._is_of_text(called) and not name.startswith("__builtin_"):
            return UndefinedError(f"{name} has no body in this code: write it.", span)
        return SourceError(f"The function {name} is not supported.", span)

    def _is_of_text(self, cursor: Any) -> bool:
        """Whether the text declares a function, and no header of CUDA's."""
        file = cursor.location.file
        return file is not None and file.name == self._filename

    def _hint(self, name: str, cursor: Any, span: Span) -> tree.Expression:
        """What a hint to the compiler gives: its first argument, which an assumption drops."""
        if HINTS[name]:
            first = self._statements.expressions.value(next(iter(cursor.get_arguments())))
            return convert(first, lower_type(cursor.type, span), span)
        return discarded(None, span)

    def _constructed(
        self, vector: ctype.Vector, children: list[Any], span: Span
    ) -> tree.Expression:
        """A short vector that a constructor makes: a copy of another, or dim3(x, y, z)."""
        values = self._statements.expressions
        written = [c for c in children if c.kind.is_expression() and not _is_default(c)]
        given = [values.value(child) for child in written]
        if len(given) == 1 and isinstance(given[0].ctype, ctype.Vector):
            return convert(given[0], vector, span)
        components = [convert(value, vector.element, span) for value in given]
        first = ctype.UINT.dtype.type(1 if vector.name == "dim3" else 0)
        rest = convert(tree.Literal(ctype.UINT, span, first), vector.element, span)
        components += [rest] * (vector.length - len(components))
        return tree.Call(vector, span, f"make_{vector.name}", tuple(components))

    def _converted(self, number: ctype.Scalar, children: list[Any], span: Span) -> tree.Expression:
        """What the constructor of a number's class makes: the number converted, or zero."""
        written = [c for c in children if c.kind.is_expression() and not _is_default(c)]
        if not written:
            return zero(number, span)
        value = self._statements.expressions.value(written[0])
        return convert(value, number, span, explicit=True)

    def barrier(self, cursor: Any, span: Span) -> tree.Barrier | None:
        """A call that waits for all threads of the block or of the grid; None for any other."""
        if cursor.kind == CursorKind.UNEXPOSED_EXPR:  # around a call of a group without a name
            cursor = next(iter(cursor.get_children()), cursor)
        if cursor.kind != CursorKind.CALL_EXPR:
            return None
        if cursor.spelling == "__syncthreads":
            return tree.Barrier(span)
        return self._groups.barrier(cursor, span)

    def definition(self, cursor: Any) -> Any:
        """The called function's definition in the text, or None for one of CUDA's own."""
        called = cursor.referenced or _template_argument(cursor)
        if called is None or called.kind not in FUNCTIONS:
            return None
        definition = called.get_definition()
        if definition is None or not (self._is_of_text(definition) or _is_of_header(definition)):
            return None
        if called.kind != CursorKind.FUNCTION_DECL and body_of(definition) is None:
            return None  # what the compiler makes
        return definition

    def invoke(
        self, cursor: Any, definition: Any, span: Span, target: Record | None = None
    ) -> tuple[tree.Function, Place | None]:
        """The called function's body with its parameters bound to this call's arguments.

        After it comes where its result is, if that is a struct or a reference. The struct is
        `target`, if that is given; so is the object of a constructor.
        """
        name = definition.spelling
        self._check_callable(definition, span)
        arguments, before, this = self._object(cursor, definition, target)
        # All arguments are lowered before any is bound: one may call this function itself.
        parameters = [c for c in definition.get_children() if c.kind == CursorKind.PARM_DECL]
        given = [
            (parameter, self._argument(parameter, argument))
            for parameter, argument in zip(parameters, arguments, strict=False)
        ]
        given += [
            (parameter, self._argument(parameter, None)) for parameter in parameters[len(given) :]
        ]
        self._symbols.find_addressed(body_of(definition))
        for parameter, argument in given:
            before += self._bind(parameter, argument)
        result, declarations = self._result(definition, target, span)
        outer_this, outer_captures = self._symbols.this, self._enter_lambda(cursor)
        if this is not None:
            self._symbols.this = this
        self._running.append(definition.hash)
        try:
            members: list[tree.Statement] = []
            if definition.kind == CursorKind.CONSTRUCTOR:
                assert target is not None
                members = self._statements.structs.member_initializers(definition, target, span)
            body = self._statements.body(body_of(definition), result)
        finally:
            self._running.pop()
            self._symbols.this = outer_this
            for declaration, symbol in outer_captures:
                self._symbols.restore(declaration, symbol)
        if members:
            body = tree.Sequence(body.span, (*members, *body.statements))
        if _is_of_header(definition):  # its lines are not the file's
            body = relocate(body, span)
            before = [replace(one, span=span) for one in before]
        variable = result if isinstance(result, tree.Variable) else None
        function = tree.Function(span, name, (*declarations, *before), body, variable)
        if isinstance(result, Record):
            return function, result
        if isinstance(result, Reference):
            return result.called(function, span)
        return function, None

    def _check_callable(self, definition: Any, span: Span) -> None:
        """Raise SourceError for a function that cannot be inlined here."""
        name = definition.spelling
        if definition.hash in self._running:
            raise SourceError(
                f"{name} calls itself: recursion is not supported; write a loop, with an array as "
                "its stack where a result is needed later, or a template that counts down: "
                f"{name}<N - 1>().",
                span,
            )
        if len(self._running) >= MAX_CALLS:
            raise SourceError(f"Calls are nested more than {MAX_CALLS} levels deep here.", span)
        if has_child(definition, CursorKind.CUDAGLOBAL_ATTR):
            raise SourceError(
                f"{name} is a kernel, and a kernel cannot call another one here.", span
            )
        is_free = definition.kind == CursorKind.FUNCTION_DECL
        if is_free and not has_child(definition, CursorKind.CUDADEVICE_ATTR):
            raise SourceError(f"{name} is a host function; write __device__ before it.", span)
        if body_of(definition) is None:
            raise SourceError(f"{name} is not supported: it is a template or has no body.", span)

    def _object(
        self, cursor: Any, definition: Any, target: Record | None
    ) -> tuple[list[Any], list[tree.Statement], Place | None]:
        """A call's arguments, and its object with the statements that come before the call."""
        arguments = list(cursor.get_arguments()) if cursor.kind == CursorKind.CALL_EXPR else []
        if definition.kind == CursorKind.CONSTRUCTOR:
            return arguments, [], target
        if definition.kind == CursorKind.FUNCTION_DECL or definition.is_static_method():
            return arguments, [], None
        structs = self._statements.structs
        callee = unwrapped(next(iter(cursor.get_children())))
        if callee.kind == CursorKind.MEMBER_REF_EXPR and callee.referenced.kind in FUNCTIONS:
            record = structs.object_of(callee, span_of(callee))
        else:  # an operator, whose object may itself be a member: p.velocity * t
            first = arguments.pop(0)
            if is_lambda(first.type):
                return arguments, [], None
            record = structs.record(first)
        before = list(record.setup)
        record = replace(record, setup=())
        if record.lvalue is None or isinstance(record.lvalue, tree.Name):
            return arguments, before, record
        declared, stable = point_to(record.lvalue, "this")
        return arguments, [*before, declared], in_memory(stable)

    def _argument(self, parameter: Any, argument: Any) -> Argument:
        """A call's argument, or the parameter's default: a value of the parameter's type.

        For a reference, it is the lvalue to bind it to; for a struct, where its members are.
        """
        values, structs = self._statements.expressions, self._statements.structs
        if argument is None or _is_default(argument):
            # The parameter of operator++(int) has none: clang's own 0 stands for it.
            given = child_expressions(parameter)
            argument = given[-1] if given else argument
        span = span_of(argument)
        referred = referred_type(parameter.type)
        if is_lambda(referred or parameter.type):
            return values.closure(argument)
        if is_struct(referred or parameter.type):
            if referred is not None:
                record = structs.record(argument)
                return record if record.lvalue is None or record.setup else record.lvalue
            struct = lower_struct(parameter.type.get_canonical(), span)
            record, declarations = declare(parameter.spelling, struct, span_of(parameter))
            setup = merge(declarations, structs.initialize(record, argument))
            return replace(record, setup=tuple(setup))
        if referred is None:
            return convert(values.value(argument), parameter_type(parameter.type, span), span)
        lvalue = values.expression(argument)
        if isinstance(lvalue, LVALUES):
            return lvalue
        return convert(lvalue, lower_type(referred, span), span)

    def _bind(self, parameter: Any, argument: Argument) -> list[tree.Statement]:
        """Bind a parameter to its argument: the statements that this takes."""
        if isinstance(argument, Closure):
            self._symbols.bind(parameter, argument)
            return []
        if isinstance(argument, Record):
            given = replace(argument, setup=())
            if self._symbols.is_addressed(parameter) and referred_type(parameter.type) is None:
                struct, memory = argument.ctype, tree.MemorySpace.LOCAL
                own = self._symbols.declare_in_memory(parameter, struct, memory, None)
                lvalue = self._symbols.find(parameter)
                assert isinstance(lvalue, tree.Index)
                copied = copy(in_memory(lvalue), given, lvalue.span)
                return [*argument.setup, own, *copied]
            self._symbols.bind(parameter, given)
            return list(argument.setup)
        if referred_type(parameter.type) is not None and isinstance(argument, LVALUES):
            declared = self._symbols.declare_reference(parameter, argument, argument.span)
            return [] if declared is None else [declared]
        span = span_of(parameter)
        if self._symbols.is_addressed(parameter) and not isinstance(argument.ctype, ctype.Pointer):
            memory = tree.MemorySpace.LOCAL
            declared = self._symbols.declare_in_memory(parameter, argument.ctype, memory, argument)
            return [hoist(declared)]
        variable = tree.Variable(
            parameter.spelling, argument.ctype, tree.MemorySpace.REGISTER, span
        )
        self._symbols.bind(parameter, variable)
        before, argument = hoist_calls(argument)
        return [*before, tree.Declare(argument.span, variable, argument)]

    def _result(
        self, definition: Any, target: Record | None, span: Span
    ) -> tuple[Result, list[tree.Declare]]:
        """What a function's return statements assign, and its declaration where it needs one."""
        if definition.kind == CursorKind.CONSTRUCTOR:
            return None, []
        returned, name = definition.result_type, definition.spelling
        referred = referred_type(returned)
        if referred is not None:
            return Reference(name, lower_type(referred, span), span_of(definition)), []
        if is_struct(returned):
            if target is not None:
                return target, []
            struct = lower_struct(returned.get_canonical(), span)
            return declare(name, struct, span_of(definition))
        lowered = lower_type(returned, span)
        if isinstance(lowered, ctype.Void):
            return None, []
        return tree.Variable(name, lowered, tree.MemorySpace.REGISTER, span_of(definition)), []

    def _enter_lambda(self, cursor: Any) -> list[tuple[Any, Symbol | None]]:
        """Bind what a called lambda has captured; gives what these names meant before."""
        arguments = list(cursor.get_arguments()) if cursor.kind == CursorKind.CALL_EXPR else []
        if not arguments or cursor.spelling != "operator()" or not is_lambda(arguments[0].type):
            return []
        closure = self._statements.expressions.closure(arguments[0])
        before = []
        for declaration, symbol in closure.captured:
            before.append((declaration, self._symbols.find(declaration)))
            self._symbols.bind(declaration, symbol)
        return before


def _is_number_class(cursor: Any) -> bool:
    """Whether a call is of a method of a class that is a number here."""
    called = cursor.referenced
    return called is not None and called.semantic_parent.spelling in BY_CLANG_NAME


def _template_argument(cursor: Any) -> Any:
    """The function that a call names by a template's parameter; None for any other."""
    callee = next(iter(cursor.get_children()), None)
    while callee is not None and callee.referenced is None:
        children = list(callee.get_children())
        callee = children[0] if len(children) == 1 else None
    return None if callee is None else callee.referenced


def _folded(cursor: Any, value: tree.Expression) -> tree.Expression:
    """A value as its literal, where it is a whole number that is known before the launch."""
    if isinstance(value.ctype, ctype.Scalar) and constant(cursor) is not None:
        return literal(cursor, value.span)
    return value


def _has_effects(function: tree.Function) -> bool:
    """Whether a call does anything but declare its parameters and return."""
    return any(
        not isinstance(inner, (tree.Function, tree.Sequence, tree.Declare, tree.Return))
        for inner in walk(function)
    )


def _is_of_header(cursor: Any) -> bool:
    """Whether a function is one of CUDA's that a header of ours gives a body."""
    file = cursor.location.file
    return file is not None and Path(file.name) in WITH_BODIES


def _is_default(argument: Any) -> bool:
    """Whether a call's argument is the parameter's default: it has no position in the text."""
    return bool(argument.extent.start.line == 0)
