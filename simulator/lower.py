"""Clang's cursors -> the typed tree of one kernel; what we do not support is a SourceError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clang.cindex import CursorKind, StorageClass

from simulator import ctype
from simulator.clang import parse, span_of
from simulator.ctype import ArrayOf, CType, Pointer, Scalar, Vector
from simulator.lower_expressions import Expressions, convert, lower_type
from simulator.source import set_defines, strip_comments
from simulator.tree import (
    Barrier,
    Break,
    Call,
    Continue,
    Declare,
    Evaluate,
    Expression,
    If,
    Kernel,
    Literal,
    Loop,
    Return,
    Sequence,
    SourceError,
    Span,
    Statement,
    Variable,
)

MAX_DEPTH = 200  # nested statements; a kernel beyond it would exhaust Python's stack


def compile_kernel(
    text: str, name: str, defines: Mapping[str, str] | None = None, filename: str = "kernel.cu"
) -> Kernel:
    """The __global__ function `name` of a CUDA C text as a Kernel.

    defines gives macros their values: in the text's own #define lines where it has them, so that
    Kernel.text is what runs, else as the compiler's -D. Raises SourceError.
    """
    text, left = set_defines(text, defines or {})
    unit, warnings = parse(text, filename, left)
    functions = [
        cursor
        for cursor in unit.walk_preorder()
        if cursor.kind in (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE)
        and cursor.is_definition()
        and any(child.kind == CursorKind.CUDAGLOBAL_ATTR for child in cursor.get_children())
    ]
    for cursor in functions:
        if cursor.spelling == name:
            return _Lowering(text).kernel(cursor, filename, left, tuple(warnings))
    names = ", ".join(cursor.spelling for cursor in functions)
    raise SourceError(
        f"There is no kernel named {name} in {filename}; "
        + (f"it has {names}." if names else "it has no __global__ function.")
    )


class _Lowering:
    """The statements of one function."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables: dict[int, Variable] = {}
        self.shared: list[Variable] = []
        self.expressions = Expressions(self.variables)
        self.depth = 0

    def kernel(
        self, cursor: Any, filename: str, defines: dict[str, str], warnings: tuple[str, ...]
    ) -> Kernel:
        if cursor.kind == CursorKind.FUNCTION_TEMPLATE:
            raise SourceError("Template kernels are not supported.", span_of(cursor))
        parameters = []
        body = None
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                parameters.append(self.declare(child, "parameter"))
            elif child.kind == CursorKind.COMPOUND_STMT:
                body = self.sequence(child)
        if body is None:
            raise SourceError(f"The kernel {cursor.spelling} has no body.", span_of(cursor))
        return Kernel(
            name=cursor.spelling,
            text=self.text,
            filename=filename,
            parameters=tuple(parameters),
            shared=tuple(self.shared),
            body=body,
            span=span_of(cursor),
            defines=defines,
            warnings=warnings,
        )

    def declare(self, cursor: Any, space: str) -> Variable:
        span = span_of(cursor)
        variable = Variable(
            name=cursor.spelling,
            ctype=lower_type(cursor.type, span),
            space=space,
            span=span,
            dynamic=cursor.storage_class == StorageClass.EXTERN,
        )
        self.variables[cursor.hash] = variable
        return variable

    def statement(self, cursor: Any) -> Statement:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SourceError(f"Statements nest more than {MAX_DEPTH} deep here.", span_of(cursor))
        try:
            return self._statement(cursor, span_of(cursor))
        finally:
            self.depth -= 1

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
                    raise SourceError("A declaration inside if (…) is not supported.", span)
                no = self.statement(children[2]) if len(children) == 3 else None
                return If(span, self.condition(children[0]), self.statement(children[1]), no)
            case CursorKind.FOR_STMT:
                return self._for(cursor, children, span)
            case CursorKind.WHILE_STMT:
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
            case CursorKind.RETURN_STMT:
                return Return(span)
            case CursorKind.NULL_STMT:
                return Sequence(span, ())
            case CursorKind.UNEXPOSED_STMT if len(children) == 1:
                return self.statement(children[0])  # #pragma unroll around a loop
            case CursorKind.CALL_EXPR if cursor.spelling == "__syncthreads":
                return Barrier(span)
            case kind if kind.is_expression():
                return Evaluate(span, self.expressions.value(cursor))
            case kind:
                what = kind.name.removesuffix("_STMT").replace("_", " ").lower()
                raise SourceError(f"This kind of statement ({what}) is not supported.", span)

    def sequence(self, cursor: Any) -> Sequence:
        statements = tuple(self.statement(child) for child in cursor.get_children())
        return Sequence(span_of(cursor), statements)

    def condition(self, cursor: Any) -> Expression:
        value = self.expressions.value(cursor)
        return convert(value, ctype.BOOL, value.span)

    def declaration(self, cursor: Any) -> Statement:
        span = span_of(cursor)
        if cursor.kind != CursorKind.VAR_DECL:
            raise SourceError("Only variables can be declared inside a kernel.", span)
        kinds = {child.kind for child in cursor.get_children()}
        if CursorKind.CUDASHARED_ATTR in kinds:
            variable = self.declare(cursor, "shared")
            if not isinstance(variable.ctype, ArrayOf):
                raise SourceError("A shared variable must be an array here.", span)
            self.shared.append(variable)
            return Declare(span, variable)
        lowered = lower_type(cursor.type, span)
        if isinstance(lowered, ArrayOf):
            variable = self.declare(cursor, "local")
            lists = [c for c in cursor.get_children() if c.kind == CursorKind.INIT_LIST_EXPR]
            cells = tuple(self._cells(lists[0], lowered)) if lists else None
            return Declare(span, variable, cells=cells)
        if not isinstance(lowered, (Scalar, Vector, Pointer)):
            raise SourceError(f"A variable of type {lowered} is not supported.", span)
        values = [
            child
            for child in cursor.get_children()
            if child.kind.is_expression()
            and not (child.kind == CursorKind.CALL_EXPR and not list(child.get_children()))
        ]
        value = self.expressions.value(values[-1]) if values else None
        return Declare(span, self.declare(cursor, "register"), value)

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
        return cells + [_zero(target.innermost, span)] * missing

    def _for(self, cursor: Any, children: list[Any], span: Span) -> Statement:
        *head, body = children
        parts = dict(zip(_for_parts(self.text, cursor, head), head, strict=True))
        start = self.statement(parts["start"]) if "start" in parts else None
        condition = self.condition(parts["test"]) if "test" in parts else None
        advance = self.expressions.value(parts["advance"]) if "advance" in parts else None
        return Loop(span, start, condition, advance, self.statement(body))


def _zero(target: CType, span: Span) -> Expression:
    match target:
        case Scalar():
            return Literal(target, span, target.dtype.type(0))
        case Vector():
            parts = (_zero(target.element, span),) * target.length
            return Call(target, span, f"make_{target.name}", parts)
        case _:
            raise SourceError(f"An array of {target} is not supported.", span)


def _for_parts(text: str, cursor: Any, head: list[Any]) -> list[str]:
    """Which of start, test and advance each child of a for loop's head is.

    Clang leaves parts that are not there out of its children without a mark, so the head's two
    semicolons are looked for in the text.
    """
    names = ["start", "test", "advance"]
    if len(head) == len(names):
        return names
    begin = cursor.extent.start.offset
    raw = text.encode()[begin : cursor.extent.end.offset].decode(errors="replace")
    code = strip_comments(raw)
    if len(code) != len(raw):  # a comment within: blank it out at its own length
        code = raw
    depth, semicolons = 0, []
    for position, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if character == ";" and depth == 1:
            semicolons.append(begin + len(code[:position].encode()))
        if depth == 0 and character == ")":
            break
    if len(semicolons) != 2:
        raise SourceError("Write all three parts of this for loop's head.", span_of(cursor))
    return [
        names[sum(child.extent.start.offset > semicolon for semicolon in semicolons)]
        for child in head
    ]
