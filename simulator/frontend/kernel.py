"""Compiles a CUDA C text to the typed tree of one of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clang.cindex import CursorKind

from simulator.contraction.contract import contract
from simulator.frontend.clang import definitions, descendants, has_child, parse, span_of
from simulator.frontend.directives import check_length
from simulator.frontend.source import set_defines
from simulator.frontend.statements import Statements
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.template import instantiate
from simulator.language.ctype import ArrayOf, size_of
from simulator.language.errors import SourceError, list_names
from simulator.language.tree import Kernel, MemorySpace, Variable

MAX_STATIC_SHARED_BYTES = 48 * 1024  # of a kernel's __shared__ arrays, as ptxas takes them
USE = "tilewise_use"  # a function, added to the text, that names a template kernel's instance


def compile_kernel(
    text: str, name: str, defines: Mapping[str, str] | None = None, filename: str = "kernel.cu"
) -> Kernel:
    """The __global__ function `name` of a CUDA C text as a Kernel.

    defines gives macros their values: in the text's own #define lines where it has them, so that
    Kernel.text is what runs, else as the compiler's -D; and a template kernel's parameters
    theirs. filename is the text's name in messages. Raises SourceError for a text that is wrong or
    not supported.
    """
    check_length(text)
    text, macros = set_defines(text, defines or {})
    _, template, macros = instantiate(text, name, macros)
    arguments = tuple(value for _, value in template)
    unit, warnings = _parse_instance(text, name, arguments, macros, filename)
    functions = definitions(unit, filename)
    kernels = [f for f in functions if has_child(f, CursorKind.CUDAGLOBAL_ATTR)]
    cursor = next((cursor for cursor in kernels if cursor.spelling == name), None)
    if cursor is None:
        names = list_names([cursor.spelling for cursor in kernels])
        raise SourceError(
            f"There is no kernel named {name} in {filename}; "
            + (f"it has {names}." if names else "it has no __global__ function.")
        )
    if template:
        cursor = _instance(functions, name)
    return _lower(cursor, text, filename, arguments, tuple(warnings))


def _parse_instance(
    text: str, name: str, arguments: tuple[str, ...], macros: Mapping[str, str], filename: str
) -> tuple[Any, list[str]]:
    """The text's cursor and warnings; clang is made to instantiate a template by a use of it."""
    if not arguments:
        return parse(text, filename, macros)
    instance = f"{name}<{', '.join(arguments)}>"
    try:
        return parse(f"{text}\nvoid {USE}() {{ (void)&{instance}; }}", filename, macros)
    except SourceError as error:
        if error.span is None or error.span.line <= text.count("\n") + 1:
            raise
        raise SourceError(f"{instance} does not fit its template: {error.message}") from None


def _instance(functions: list[Any], name: str) -> Any:
    """The definition of the template kernel's instance that the function USE names."""
    for function in functions:
        if function.spelling == USE:
            for cursor in descendants(function):
                if cursor.kind == CursorKind.DECL_REF_EXPR and cursor.spelling == name:
                    return cursor.referenced.get_definition()
    raise SourceError(f"The template {name} cannot be made into a kernel.")


def _lower(
    cursor: Any, text: str, filename: str, template: tuple[str, ...], warnings: tuple[str, ...]
) -> Kernel:
    """The kernel of a function's cursor."""
    if cursor.kind == CursorKind.FUNCTION_TEMPLATE:
        raise SourceError("This form of template is not supported.", span_of(cursor))
    symbols = SymbolTable(text)
    statements = Statements(text, filename, symbols)
    parameters = []
    body = None
    for child in cursor.get_children():
        if child.kind == CursorKind.PARM_DECL:
            parameters.append(symbols.declare(child, MemorySpace.PARAMETER))
        elif child.kind == CursorKind.ANNOTATE_ATTR:  # the prelude's, a sentence on what it is
            raise SourceError(child.spelling, span_of(cursor))
        elif child.kind == CursorKind.COMPOUND_STMT:
            body = statements.body(child, None)
    if body is None:
        raise SourceError(f"The kernel {cursor.spelling} has no body.", span_of(cursor))
    _check_static_shared(symbols.shared)
    contractions, doubts = contract(body)
    return Kernel(
        name=cursor.spelling,
        text=text,
        parameters=tuple(parameters),
        shared=symbols.shared,
        globals=symbols.globals,
        body=body,
        template=template,
        contractions=contractions,
        warnings=warnings + doubts,
    )


def _check_static_shared(arrays: tuple[Variable, ...]) -> None:
    """Raise SourceError for more static shared memory than nvcc's assembler takes."""
    static = [array for array in arrays if not array.dynamic]
    total = sum(size_of(array.ctype) for array in static)
    if total > MAX_STATIC_SHARED_BYTES:
        largest = max(static, key=lambda array: size_of(array.ctype))
        assert isinstance(largest.ctype, ArrayOf)
        raise SourceError(
            f"The kernel uses too much shared data: its shared memory arrays take {total:,} bytes, "
            f"and nvcc takes {MAX_STATIC_SHARED_BYTES:,} (48 KB). Make {largest.name} smaller, or "
            f"declare it as extern __shared__ {largest.ctype.innermost} {largest.name}[] and give "
            "its bytes at the launch.",
            largest.span,
        )
