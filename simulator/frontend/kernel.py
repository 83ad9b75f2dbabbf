"""Clang's cursors -> the typed tree of one kernel; what we do not support is a SourceError."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from simulator.contraction.contract import contract
from simulator.frontend.calls import Calls, called_first
from simulator.frontend.clang import constant, definitions, span_of, unary_operator
from simulator.frontend.expressions import Expressions
from simulator.frontend.lower_loops import for_parts
from simulator.frontend.source import check_length, instantiate, set_defines
from simulator.frontend.template import all_within, instance, parse_instance
from simulator.frontend.types import convert, lower_type, parameter_type, zero
from simulator.language import ctype
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.tree import (
    Assign,
    Barrier,
    Break,
    Continue,
    Declare,
    Evaluate,
    Expression,
    If,
    Index,
    Kernel,
    Loop,
    MemorySpace,
    Name,
    Return,
    Sequence,
    Statement,
    Switch,
    Variable,
)
from simulator.language.visit import walk
from simulator.launch import listed

ADDRESS_OF = re.compile(r"(?<!&)&(?!&)")  # may stand in the text where an address is taken
CASE_PARTS = 2  # children of a case: its value and what follows it
MAX_DEPTH = 80  # nested statements; a kernel beyond it would exhaust Python's stack
MAX_STATEMENTS = 3_000  # of a kernel, those of its functions counted at every call
MAX_CELLS = 4_096  # first values of an array


def compile_kernel(
    text: str, name: str, defines: Mapping[str, str] | None = None, filename: str = "kernel.cu"
) -> Kernel:
    """The __global__ function `name` of a CUDA C text as a Kernel.

    defines gives macros their values: in the text's own #define lines where it has them, so that
    Kernel.text is what runs, else as the compiler's -D; and a template kernel's parameters
    theirs. Raises SourceError.
    """
    check_length(text)
    text, left = set_defines(text, defines or {})
    _, template, left = instantiate(text, name, left)
    arguments = tuple(value for _, value in template)
    unit, warnings = parse_instance(text, name, arguments, left, filename)
    functions = definitions(unit, filename)
    kernels = [f for f in functions if _has(f, CursorKind.CUDAGLOBAL_ATTR)]
    for cursor in kernels:
        if cursor.spelling == name:
            chosen = instance(functions, name) if template else cursor
            lowering = Lowering(text, filename)
            return lowering.kernel(chosen, left, arguments, tuple(warnings))
    names = listed([cursor.spelling for cursor in kernels])
    raise SourceError(
        f"There is no kernel named {name} in {filename}; "
        + (f"it has {names}." if names else "it has no __global__ function.")
    )


def _has(cursor: Any, kind: Any) -> bool:
    return any(child.kind == kind for child in cursor.get_children())


class Lowering:
    """The statements of one kernel and of the functions it calls."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.filename = filename
        self.variables: dict[int, Variable | Expression] = {}
        self.shared: dict[int, Variable] = {}
        self.calls = Calls(self)
        self.expressions = Expressions(self.variables, self.calls.expression, self._shared)
        self._addressed: set[int] = set()
        self._result: Variable | None = None
        self._depth = 0
        self._count = 0

    def kernel(
        self,
        cursor: Any,
        defines: dict[str, str],
        template: tuple[str, ...],
        warnings: tuple[str, ...],
    ) -> Kernel:
        """The whole kernel, from the cursor of its function."""
        if cursor.kind == CursorKind.FUNCTION_TEMPLATE:
            raise SourceError("This form of template is not supported.", span_of(cursor))
        parameters = []
        body = None
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                parameters.append(self.declare(child, MemorySpace.PARAMETER))
            elif child.kind == CursorKind.COMPOUND_STMT:
                body = self.body(child, None)
        if body is None:
            raise SourceError(f"The kernel {cursor.spelling} has no body.", span_of(cursor))
        contractions, unknown = contract(body)
        return Kernel(
            name=cursor.spelling,
            text=self.text,
            filename=self.filename,
            parameters=tuple(parameters),
            shared=tuple(self.shared.values()),
            body=body,
            span=span_of(cursor),
            defines=defines,
            template=template,
            contractions=contractions,
            warnings=warnings + unknown,
        )

    def body(self, cursor: Any, result: Variable | None) -> Sequence:
        """A function's body; its return statements assign `result`."""
        self._addressed |= (
            set()
            if not ADDRESS_OF.search(self.text)
            else {
                child.referenced.hash
                for part in all_within(cursor)
                if part.kind == CursorKind.UNARY_OPERATOR and unary_operator(part) == "&"
                for child in part.get_children()
                if child.kind == CursorKind.DECL_REF_EXPR
            }
        )
        outer, self._result = self._result, result
        try:
            return self.sequence(cursor)
        finally:
            self._result = outer

    def declare(self, cursor: Any, space: MemorySpace) -> Variable:
        """A new variable, known from here on by the cursor that declares it."""
        span = span_of(cursor)
        variable = Variable(
            name=cursor.spelling,
            ctype=parameter_type(cursor.type, span)
            if cursor.kind == CursorKind.PARM_DECL
            else lower_type(cursor.type, span),
            space=space,
            span=span,
            dynamic=cursor.storage_class == StorageClass.EXTERN,
        )
        self.variables[cursor.hash] = variable
        return variable

    def statement(self, cursor: Any) -> Statement:
        """One statement."""
        self._depth += 1
        self._count += 1
        if self._count > MAX_STATEMENTS:
            raise SourceError(
                f"The kernel has more than {MAX_STATEMENTS:,} statements, counting those of its "
                "functions at every call.",
                span_of(cursor),
            )
        if self._depth > MAX_DEPTH:
            raise SourceError(f"Statements nest more than {MAX_DEPTH} deep here.", span_of(cursor))
        try:
            return self._statement(cursor, span_of(cursor))
        finally:
            self._depth -= 1

    def _statement(self, cursor: Any, span: Span) -> Statement:
        children = list(cursor.get_children())
        match cursor.kind:
            case CursorKind.COMPOUND_STMT:
                return self.sequence(cursor)
            case CursorKind.DECL_STMT:
                declared = [self.declaration(child) for child in children]
                return declared[0] if len(declared) == 1 else Sequence(span, tuple(declared))
            case CursorKind.IF_STMT:
                if len(children) not in (2, 3) or not children[0].kind.is_expression():
                    raise SourceError("Declare this variable before the if.", span)
                no = self.statement(children[2]) if len(children) == 3 else None
                return If(span, self.condition(children[0]), self.statement(children[1]), no)
            case CursorKind.FOR_STMT:
                return self._for(cursor, children, span)
            case CursorKind.WHILE_STMT:
                if len(children) != 2:
                    raise SourceError("Declare this variable before the while.", span)
                condition, body = children
                return Loop(span, None, self.condition(condition), None, self.statement(body))
            case CursorKind.DO_STMT:
                body, condition = children
                return Loop(
                    span, None, self.condition(condition), None, self.statement(body), False
                )
            case CursorKind.BREAK_STMT:
                return Break(span)
            case CursorKind.CONTINUE_STMT:
                return Continue(span)
            case CursorKind.SWITCH_STMT:
                return self._switch(children, span)
            case CursorKind.RETURN_STMT:
                return self._return(children, span)
            case CursorKind.NULL_STMT:
                return Sequence(span, ())
            case CursorKind.UNEXPOSED_STMT if len(children) == 1:
                return self.statement(children[0])  # #pragma unroll around a loop
            case CursorKind.CALL_EXPR if cursor.spelling == "__syncthreads":
                return Barrier(span)
            case CursorKind.CALL_EXPR if self.calls.definition(cursor) is not None:
                return self.calls.function(cursor, self.calls.definition(cursor), span)
            case kind if kind.is_expression():
                return called_first(Evaluate(span, self.expressions.value(cursor)))
            case kind:
                what = kind.name.removesuffix("_STMT").replace("_", " ").lower()
                raise SourceError(f"This kind of statement ({what}) is not supported.", span)

    def _return(self, children: list[Any], span: Span) -> Statement:
        if not children or self._result is None:
            return Return(span)
        result = self._result
        lvalue = Name(result.ctype, span, result)
        value = convert(self.expressions.value(children[0]), result.ctype, span)
        given = Evaluate(span, Assign(result.ctype, span, lvalue, "", value, result.ctype))
        return Sequence(span, (called_first(given), Return(span)))

    def _switch(self, children: list[Any], span: Span) -> Statement:
        """The labels, however they nest, beside the statements they stand before."""
        if len(children) != 2:
            raise SourceError("Declare this variable before the switch.", span)
        selector, block = children
        labels: list[tuple[int | None, int]] = []
        body: list[Statement] = []
        if block.kind != CursorKind.COMPOUND_STMT:
            raise SourceError("Write the switch's body in braces.", span)
        for child in block.get_children():
            inner = child
            while inner.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
                parts = list(inner.get_children())
                if inner.kind == CursorKind.CASE_STMT and len(parts) != CASE_PARTS:
                    raise SourceError("A range of cases is not supported.", span_of(inner))
                value = constant(parts[0]) if inner.kind == CursorKind.CASE_STMT else None
                if value is not None and not isinstance(value, int):
                    raise SourceError("A case needs a whole number.", span_of(inner))
                labels.append((value, len(body)))
                inner = parts[-1]
            body.append(self.statement(inner))
        return Switch(span, self.expressions.value(selector), tuple(labels), tuple(body))

    def sequence(self, cursor: Any) -> Sequence:
        """The statements of a block."""
        statements = tuple(self.statement(child) for child in cursor.get_children())
        return Sequence(span_of(cursor), statements)

    def condition(self, cursor: Any) -> Expression:
        """An expression as true or false."""
        value = self.expressions.value(cursor)
        return convert(value, ctype.BOOL, value.span)

    def declaration(self, cursor: Any) -> Statement:
        """One variable's declaration."""
        span = span_of(cursor)
        if cursor.kind in (CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL):
            return Sequence(span, ())
        if cursor.kind != CursorKind.VAR_DECL:
            raise SourceError("This kind of declaration is not supported inside a kernel.", span)
        children = list(cursor.get_children())
        if any(child.kind == CursorKind.CUDASHARED_ATTR for child in children):
            return self._shared(cursor, span)
        if cursor.storage_class == StorageClass.STATIC and not cursor.type.is_const_qualified():
            raise SourceError(
                f"A static variable ({cursor.spelling}) is not supported: it would be one for all "
                "threads of the grid. Pass an array as a parameter.",
                span,
            )
        values = [child for child in children if child.kind.is_expression()]
        if cursor.type.get_canonical().kind == TypeKind.LVALUEREFERENCE:
            lvalue = self.expressions.lvalue(values[-1])
            pointer = self.calls.refer(cursor, lvalue, span)
            return Sequence(span, ()) if pointer is None else pointer
        lowered = lower_type(cursor.type, span)
        if isinstance(lowered, ArrayOf):
            if isinstance(lowered.innermost, Pointer):
                raise SourceError("An array of pointers is not supported.", span)
            if not lowered.size:
                raise SourceError(f"The array {cursor.spelling} has no cells.", span)
            inner = [_without_cleanups(child) for child in values]
            lists = [child for child in inner if child.kind == CursorKind.INIT_LIST_EXPR]
            if any(child.kind == CursorKind.STRING_LITERAL for child in values):
                raise SourceError("A string is not supported; give the array numbers.", span)
            if lists and lowered.size > MAX_CELLS * lowered.innermost.size:
                raise SourceError(
                    f"An array with more than {MAX_CELLS:,} first values is not supported; give "
                    "them in a loop.",
                    span,
                )
            cells = tuple(self._cells(lists[0], lowered)) if lists else None
            return Declare(span, self.declare(cursor, MemorySpace.LOCAL), cells=cells)
        if not isinstance(lowered, (Scalar, Vector, Pointer)):
            raise SourceError(f"A variable of type {lowered} is not supported.", span)
        empty = [c for c in values if c.kind == CursorKind.CALL_EXPR and not list(c.get_children())]
        value = None
        if values and not empty:
            value = convert(self.expressions.value(values[-1]), lowered, span)
        if cursor.hash in self._addressed and not isinstance(lowered, Pointer):
            return self._cell(
                cursor, lowered, MemorySpace.LOCAL, None if value is None else (value,)
            )
        return called_first(Declare(span, self.declare(cursor, MemorySpace.REGISTER), value))

    def _shared(self, cursor: Any, span: Span) -> Statement:
        """A shared variable: one for the block, however often its function is called."""
        known = self.shared.get(cursor.hash)
        if known is not None:
            return Declare(span, known)
        lowered = lower_type(cursor.type, span)
        if isinstance(lowered, (Scalar, Vector)):
            declared = self._cell(cursor, lowered, MemorySpace.SHARED, None)
        elif isinstance(lowered, ArrayOf) and not isinstance(lowered.innermost, Pointer):
            if isinstance(lowered.element, ArrayOf) and not lowered.element.size:
                raise SourceError(f"The rows of {cursor.spelling} have no cells.", span)
            declared = Declare(span, self.declare(cursor, MemorySpace.SHARED))
        else:
            raise SourceError(f"A shared variable of type {lowered} is not supported.", span)
        self.shared[cursor.hash] = declared.variable
        return declared

    def _cell(
        self, cursor: Any, lowered: CType, space: MemorySpace, cells: tuple[Expression, ...] | None
    ) -> Declare:
        """A variable in memory that is no array: kept as an array of one, named by its cell."""
        span = span_of(cursor)
        variable = Variable(cursor.spelling, ArrayOf(lowered, 1), space, span)
        first = zero(ctype.INT, span)
        name = Name(variable.ctype, span, variable)
        self.variables[cursor.hash] = Index(lowered, span, name, first)
        return Declare(span, variable, cells=cells)

    def _cells(self, cursor: Any, target: ArrayOf) -> list[Expression]:
        """Every cell's value from an initialiser list, zero where the list has none."""
        span = span_of(cursor)
        inner = target.element
        cells: list[Expression] = []
        for child in cursor.get_children():
            if isinstance(inner, ArrayOf):
                if child.kind != CursorKind.INIT_LIST_EXPR:
                    raise SourceError("Write this row in braces of its own.", span_of(child))
                cells += self._cells(child, inner)
            else:
                cells.append(convert(self.expressions.value(child), inner, span))
        missing = target.size // target.innermost.size - len(cells)
        return cells + [zero(target.innermost, span)] * missing

    def _for(self, cursor: Any, children: list[Any], span: Span) -> Statement:
        *head, body = children
        names = for_parts(self.text, cursor, head)
        if len(set(names)) < len(names):
            raise SourceError("Declare the condition's variable before this for loop.", span)
        parts = dict(zip(names, head, strict=True))
        start = self.statement(parts["start"]) if "start" in parts else None
        if start is not None and any(isinstance(one, Barrier) for one in walk(start)):
            raise SourceError("Call a function with a barrier before the loop.", start.span)
        condition = self.condition(parts["test"]) if "test" in parts else None
        advance = self.expressions.value(parts["advance"]) if "advance" in parts else None
        return Loop(span, start, condition, advance, self.statement(body))


def _without_cleanups(cursor: Any) -> Any:
    """An initialiser within the node that ends the temporaries of a call."""
    while cursor.kind == CursorKind.UNEXPOSED_EXPR:
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        (cursor,) = children
    return cursor
