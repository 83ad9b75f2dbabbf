"""A kernel's statements as clang reads them: their places, what they nest, wait for and compute.

The typed tree says more, but not of every kernel: the outline also has those whose instructions the
simulator does not execute. A function that is called stays one, with the places of its calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.clang import (
    CLASSES,
    FUNCTIONS,
    assembly_of,
    body_of,
    definitions,
    descendants,
    has_child,
    span_of,
    unary_operator,
)
from simulator.frontend.device_code import SourceFile
from simulator.frontend.host.launches import launched_arguments
from simulator.frontend.kernel import find_kernel, parse_code
from simulator.frontend.kernel_name import choose_kernel, template_values
from simulator.frontend.lexer import blank_comments, in_one_spelling
from simulator.frontend.source import set_defines
from simulator.language.errors import Span

LOOPS = (
    CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.CXX_FOR_RANGE_STMT,
)  # fmt: skip
# Statements that end where their last part does.
ENDED_BY_LAST = (
    CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.CXX_FOR_RANGE_STMT, CursorKind.IF_STMT,
    CursorKind.SWITCH_STMT, CursorKind.UNEXPOSED_STMT,
)  # fmt: skip
FLOATS = (
    TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.HALF, TypeKind.RECORD, TypeKind.DEPENDENT,
)  # fmt: skip
# What a thread waits at for others, or for its own copies and products: names of functions, and
# words of PTX (PTX ISA: barrier, cp.async, mbarrier, wgmma).
WAITS = re.compile(r"__syncthreads(?:_and|_or|_count)?|__pipeline_wait_prior|sync|wait|wait_prior")
ASSEMBLY_WAITS = re.compile(r"\b(?:bar(?:rier)?(?:\.cta)?\.sync|cp\.async\.wait_|mbarrier\.\w*wait"
                            r"|wgmma\.wait_group)")  # fmt: skip
PRODUCTS = re.compile(r"_*h?fma\w*|mma_sync|__dp[24]a\w*")
ASSEMBLY_PRODUCTS = re.compile(r"\b(?:wg)?mma(?:\.mma_async|\.sync)|\bfma\.")
MEMORY = re.compile(r"__pipeline_memcpy_async|memcpy_async|atomic\w+|__ld\w+|__st\w+"
                    r"|(?:load|store)_matrix_sync")  # fmt: skip
ASSEMBLY_MEMORY = re.compile(r"\b(?:ld|st|ldmatrix|red|atom|cp\.async\.\w+)\.\w*(?:global|shared)")


class Form(StrEnum):
    """What a statement nests."""

    PLAIN = "plain"
    LOOP = "loop"
    BRANCH = "branch"
    BLOCK = "block"  # braces alone


class Work(StrEnum):
    """What a statement does, as far as it is known without running it."""

    WAITS = "waits"  # at a barrier, or for copies or products to arrive
    MULTIPLIES = "multiplies"  # adds a product of floats to a sum, or uses a tensor core
    MEMORY = "memory"  # reads or writes global or shared memory


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call of a __device__ function of the code."""

    function: str  # its key in Outline.functions
    closing: tuple[int, int]  # line and column of its closing parenthesis
    has_arguments: bool


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """What a function, loop or branch nests."""

    span: Span
    in_braces: bool
    statements: tuple[Outlined, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Outlined:
    """A statement; what is said of its work and calls leaves its bodies out."""

    span: Span  # with its semicolon, from a #pragma before it on
    form: Form
    work: frozenset[Work] = frozenset()
    calls: tuple[Call, ...] = ()
    bodies: tuple[Body, ...] = ()  # of a branch yes and no
    returns: bool = False  # whether it is a return


@dataclass(frozen=True, slots=True, eq=False)
class OutlinedFunction:
    """The kernel, or a __device__ function that it calls."""

    name: str
    behind_parameters: tuple[int, int]  # line and column where another one may be added
    has_parameters: bool
    body: Body
    is_declared_before: bool = False  # whether a prototype of it has parameters, too


@dataclass(frozen=True, slots=True)
class Outline:
    """A kernel and the functions that it calls."""

    text: str  # the code with its macros set, which has all places
    kernel: OutlinedFunction
    functions: Mapping[str, OutlinedFunction] = field(default_factory=dict)

    def work_of(self, statement: Outlined) -> frozenset[Work]:
        """What a statement, all that it nests and the functions that it calls do."""
        found = set(statement.work)
        for inner in self.nested(statement):
            found |= inner.work
        return frozenset(found)

    def nested(self, statement: Outlined) -> Iterator[Outlined]:
        """A statement, those in its bodies, and those of the functions that these call."""
        pending, seen = [statement], set[str]()
        while pending:
            current = pending.pop()
            yield current
            for body in current.bodies:
                pending += body.statements
            for call in current.calls:
                if call.function not in seen and call.function in self.functions:
                    seen.add(call.function)
                    pending += self.functions[call.function].body.statements


def outline(
    text: str, name: str, defines: Mapping[str, str] | None = None, filename: str = "kernel.cu"
) -> Outline:
    """The outline of a kernel, named and with macros as compile_kernel takes them.

    Raises SourceError where clang cannot read the kernel.
    """
    text, macros = set_defines(in_one_spelling(text), defines or {})
    source = SourceFile(text, macros)
    asked = choose_kernel(source, name, filename)
    launched = launched_arguments(source, asked.name)
    template = template_values(source, asked, macros, launched)
    parsed = parse_code(source, asked, template.arguments, template.macros, filename)
    cursor = find_kernel(parsed, source, asked, bool(template.arguments), filename)
    reader = _Reader(text)
    functions = {}
    for function in definitions(parsed.unit, filename):
        if body_of(function) is not None and not has_child(function, CursorKind.CUDAGLOBAL_ATTR):
            functions[_key(function)] = reader.function(function)
    return Outline(text, reader.function(cursor), functions)


def _key(function: Any) -> str:
    """What a function, and every instance of a template, is known by: its definition's place."""
    location = function.location
    return f"{function.spelling}@{location.line}:{location.column}"


class _Reader:
    """Reads cursors of one text."""

    def __init__(self, text: str) -> None:
        self._lines = [line.encode() for line in text.split("\n")]

    def function(self, cursor: Any) -> OutlinedFunction:
        written = body_of(cursor)
        parameters = [c for c in cursor.get_children() if c.kind == CursorKind.PARM_DECL]
        behind = span_of(parameters[-1]) if parameters else None
        canonical = cursor.canonical
        return OutlinedFunction(
            name=cursor.spelling,
            behind_parameters=(behind.end_line, behind.end_column) if behind else (0, 0),
            has_parameters=bool(parameters),
            body=self._body(written),
            is_declared_before=canonical is not None and _key(canonical) != _key(cursor),
        )

    def _body(self, cursor: Any) -> Body:
        span = span_of(cursor)
        if cursor.kind != CursorKind.COMPOUND_STMT:
            statement = self._statement(cursor)
            return Body(statement.span, False, (statement,))
        statements = [self._statement(child) for child in cursor.get_children()]
        # What a macro stands for has one place.
        ends = [(one.span.end_line, one.span.end_column) for one in statements]
        starts = [(one.span.line, one.span.column) for one in statements[1:]]
        is_written = (
            self._between(span)[:1] == b"{"
            and self._between(span)[-1:] == b"}"
            and all(end <= start for end, start in zip(ends, starts, strict=False))
        )
        return Body(span, is_written, tuple(statements) if is_written else ())

    def _statement(self, cursor: Any) -> Outlined:
        span = self._span(cursor)
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.UNEXPOSED_STMT and len(children) == 1:
            inner = self._statement(children[0])  # #pragma unroll around a loop
            span = Span(span.line, span.column, inner.span.end_line, inner.span.end_column)
            return Outlined(span, inner.form, inner.work, inner.calls, inner.bodies)
        form, nested = Form.PLAIN, []
        if cursor.kind == CursorKind.COMPOUND_STMT:
            form, nested = Form.BLOCK, [cursor]
        elif cursor.kind in LOOPS:
            form = Form.LOOP
            nested = [children[0 if cursor.kind == CursorKind.DO_STMT else -1]]
        elif cursor.kind == CursorKind.IF_STMT:
            form, nested = Form.BRANCH, self._branches(children)
        bodies = tuple(self._body(one) for one in nested)
        if not all(body.in_braces or body.statements for body in bodies):
            form, nested, bodies = Form.PLAIN, [], ()  # parts of it come from macros
        own = [cursor] if not nested else [one for one in children if one not in nested]
        if form is Form.BLOCK:
            own = []
        parts = [part for one in own for part in descendants(one)]
        return Outlined(
            span, form, frozenset(_work(parts)), tuple(self._calls(parts)), bodies,
            cursor.kind == CursorKind.RETURN_STMT,
        )  # fmt: skip

    def _branches(self, children: list[Any]) -> list[Any]:
        """The statements of an if, without its head."""
        if len(children) > 2:
            before, last = self._span(children[-2]), span_of(children[-1])
            between = Span(before.end_line, before.end_column, last.line, last.column)
            code = blank_comments(self._between(between).decode(errors="replace"))
            if code.strip() == "else":
                return children[-2:]
        return children[-1:]

    def _span(self, cursor: Any) -> Span:
        """The span of a statement with the semicolon that ends it."""
        span = span_of(cursor)
        if cursor.kind == CursorKind.DECL_STMT:  # which leaves out what is before alignas
            span = min([span, *map(span_of, cursor.get_children())])
            whole = span_of(cursor)
            return Span(span.line, span.column, whole.end_line, whole.end_column)
        if cursor.kind in ENDED_BY_LAST:
            last = self._span(list(cursor.get_children())[-1])
            return Span(span.line, span.column, last.end_line, last.end_column)
        if cursor.kind == CursorKind.COMPOUND_STMT:
            return span
        line, column = span.end_line, span.end_column
        while line <= len(self._lines):
            place = self._lines[line - 1].find(b";", column - 1)
            if place >= 0:
                return Span(span.line, span.column, line, place + 2)
            line, column = line + 1, 1
        return span

    def _between(self, span: Span) -> bytes:
        """The code of a span."""
        lines = self._lines[span.line - 1 : span.end_line]
        if not lines:
            return b""
        lines = [*lines[:-1], lines[-1][: span.end_column - 1]]
        return b"\n".join([lines[0][span.column - 1 :], *lines[1:]])

    def _calls(self, parts: list[Any]) -> Iterator[Call]:
        for part in parts:
            if part.kind != CursorKind.CALL_EXPR:
                continue
            called = part.referenced
            if called is None or called.kind not in FUNCTIONS:
                continue
            definition = called.get_definition()
            if definition is None or definition.semantic_parent.kind in CLASSES:
                continue
            span = span_of(part)
            if self._between(span)[-1:] == b")":
                closing = (span.end_line, span.end_column - 1)
                yield Call(_key(definition), closing, bool(list(part.get_arguments())))


def _work(parts: list[Any]) -> Iterator[Work]:
    for part in parts:
        match part.kind:
            case CursorKind.CALL_EXPR:
                name = part.spelling
                found = {Work.WAITS: WAITS, Work.MULTIPLIES: PRODUCTS, Work.MEMORY: MEMORY}
                yield from (work for work, names in found.items() if names.fullmatch(name))
            case CursorKind.ASM_STMT:
                text = assembly_of(part)[0]
                found = {
                    Work.WAITS: ASSEMBLY_WAITS,
                    Work.MULTIPLIES: ASSEMBLY_PRODUCTS,
                    Work.MEMORY: ASSEMBLY_MEMORY,
                }
                yield from (work for work, words in found.items() if words.search(text))
            case CursorKind.COMPOUND_ASSIGNMENT_OPERATOR | CursorKind.BINARY_OPERATOR:
                if _adds_product(part):
                    yield Work.MULTIPLIES
            case CursorKind.ARRAY_SUBSCRIPT_EXPR if _is_memory(part):
                yield Work.MEMORY
            case CursorKind.UNARY_OPERATOR if unary_operator(part) == "*":
                yield Work.MEMORY


def _adds_product(cursor: Any) -> bool:
    """Whether it is sum += a * b, sum -= a * b or sum = sum + a * b of floats."""
    if cursor.spelling not in ("+=", "-=", "=") or cursor.type.get_canonical().kind not in FLOATS:
        return False
    operators = [
        part.spelling
        for part in descendants(list(cursor.get_children())[-1])
        if part.kind == CursorKind.BINARY_OPERATOR and part.type.get_canonical().kind in FLOATS
    ]
    return "*" in operators and (cursor.spelling != "=" or "+" in operators or "-" in operators)


def _is_memory(subscript: Any) -> bool:
    """Whether what is subscripted is shared, or may be anywhere: a pointer."""
    base = subscript
    while base.kind in (CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.UNEXPOSED_EXPR,
                        CursorKind.PAREN_EXPR):  # fmt: skip
        children = list(base.get_children())
        if not children:
            break
        base = children[0]
    declared = base.referenced if base.kind == CursorKind.DECL_REF_EXPR else None
    if declared is None:
        return False
    is_pointer = declared.type.get_canonical().kind == TypeKind.POINTER
    return is_pointer or has_child(declared, CursorKind.CUDASHARED_ATTR)
