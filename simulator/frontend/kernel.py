"""Compiles a CUDA C text to the typed tree of one of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clang.cindex import CursorKind

from simulator.contraction.contract import contract
from simulator.frontend.clang import (
    definitions,
    descendants,
    has_child,
    is_specialization,
    parse,
    span_of,
)
from simulator.frontend.device_code import DeviceCode, SourceFile
from simulator.frontend.diagnostics import ClangErrors, errors, warnings
from simulator.frontend.directives import check_length, check_macros
from simulator.frontend.host.launch_mistakes import launch_warnings
from simulator.frontend.host.launches import launched_arguments
from simulator.frontend.kernel_name import (
    KernelName,
    candidates,
    choose_kernel,
    no_kernel,
    plain_types,
    template_values,
)
from simulator.frontend.lexer import in_one_spelling
from simulator.frontend.meetings import separate_calls
from simulator.frontend.mistakes import Mistakes
from simulator.frontend.parameters import declare_parameter
from simulator.frontend.source import set_defines
from simulator.frontend.statements import Statements
from simulator.frontend.symbols import SymbolTable
from simulator.language.ctype import ArrayOf, size_of
from simulator.language.errors import SourceError, list_names, shorten
from simulator.language.tree import Kernel, Sequence, Statement, Variable

MAX_STATIC_SHARED_BYTES = 48 * 1024  # of a kernel's __shared__ arrays, as ptxas takes them
USE = "tilewise_use"  # a function, added to the text, that names a template kernel's instance
MAX_DROPPED = 5  # times that the text is parsed again, without what turned out to be host code


def compile_kernel(
    text: str,
    name: str | None = None,
    defines: Mapping[str, str] | None = None,
    filename: str = "kernel.cu",
) -> Kernel:
    """The __global__ function `name` of a CUDA C text as a Kernel; its only one without a name.

    The text is a whole file: host code and headers are skipped, which Kernel.notes say. The name
    may give namespaces, a template's arguments or the parameters' types: "ns::scale<float, 16>",
    "scale(float*, int)". Files that the text includes come after it (simulator.language.files).
    defines gives macros their values: in the text's own #define lines where
    it has them, so that Kernel.text is what runs, else as the compiler's -D; and a template
    kernel's parameters theirs. filename is the text's name in messages. Raises SourceError for a
    text that is wrong or not supported.
    """
    text = in_one_spelling(text)
    check_length(text)
    check_macros(defines or {})
    text, macros = set_defines(text, defines or {})
    try:
        return _compile_text(text, name, macros, filename)
    except SourceError as error:
        raise error.in_files(text) from None


def _compile_text(text: str, name: str | None, macros: Mapping[str, str], filename: str) -> Kernel:
    """The kernel of a name of source whose #define lines are set; macros are the compiler's -D."""
    source = SourceFile(text, macros)
    asked = choose_kernel(source, name, filename)
    launched = launched_arguments(source, asked.name)
    template = template_values(source, asked, macros, launched)
    try:
        parsed = parse_code(source, asked, template.arguments, template.macros, filename)
        kernel = _compile(parsed, source, asked, template.arguments, filename)
    except SourceError as error:
        if template.doubt is None:
            raise
        # What is wrong may be so for other arguments, too.
        found = () if isinstance(error, TemplateError) else error.errors
        raise SourceError.of((*found, *template.doubt.errors), error.warnings) from None
    notes = (template.note, *parsed.code.notes)
    return replace(kernel, text=text, notes=tuple(shorten(note) for note in notes if note))


class TemplateError(SourceError):
    """Arguments do not fit a template."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What clang makes of a file's device code."""

    unit: Any  # the translation unit's cursor
    code: DeviceCode
    errors: ClangErrors
    warnings: tuple[str, ...]


def parse_code(
    source: SourceFile,
    asked: KernelName,
    arguments: tuple[str, ...],
    macros: Mapping[str, str],
    filename: str,
) -> Parsed:
    """A file's device code as clang reads it; clang instantiates a template by a use of it.

    What is kept beside the kernel is found by its name alone, so that it may be host code, which
    clang does not understand: it is dropped then, unless the kernel turns out to need it. Raises
    SourceError for arguments that do not fit the template.
    """
    dropped: set[int] = set()
    needed: set[int] = set()
    names: dict[int, set[str]] = {}  # of what was kept, by its first line
    for last_try in (*[False] * MAX_DROPPED, True):
        code = source.device_code(asked.name, arguments, dropped)
        scope = next((one.scope for one in candidates(source, asked)), ())
        instance = f"{'::'.join((*scope, asked.name))}<{', '.join(arguments)}>"
        use = f"\nvoid {USE}() {{ (void)&{instance}; }}" if arguments else ""
        unit, diagnostics = parse(code, filename, macros, use)
        reported = errors(diagnostics, filename, code, source)
        if not reported.found:
            break
        for kept in code.kept:
            names.setdefault(kept.first_line, set()).update(kept.names)
        lines = [error.span.line for error in reported.found if error.span is not None]
        wanted = {line for line in dropped if names[line] & reported.unknown}
        erring = [code.kept_at(line) for line in lines]
        doubtful = {one.first_line for one in erring if one is not None} - needed
        if last_try or not (wanted or doubtful - dropped):
            break
        needed |= wanted
        dropped = (dropped | doubtful) - needed
    place = reported.found[0].span if reported.found else None
    if arguments and place is not None and place.line > code.line(code.text.count("\n") + 1):
        raise TemplateError(f"{instance} does not fit its template: {reported.found[0].message}")
    doubts = tuple(map(shorten, (*launch_warnings(source), *warnings(diagnostics, filename, code))))
    return Parsed(unit, code, reported, doubts)


def _compile(
    parsed: Parsed, source: SourceFile, asked: KernelName, template: tuple[str, ...], filename: str
) -> Kernel:
    """The kernel that is asked for, of source that clang has read."""
    try:
        cursor = find_kernel(parsed, source, asked, bool(template), filename)
    except SourceError as error:
        found = parsed.errors.found
        raise SourceError.of(found, parsed.warnings) if found else error from None
    return _lower(cursor, parsed, filename, template)


def find_kernel(
    parsed: Parsed, source: SourceFile, asked: KernelName, is_instance: bool, filename: str
) -> Any:
    """The cursor of the kernel's definition; SourceError if there is none, or several."""
    functions = definitions(parsed.unit, filename)
    kernels = [f for f in functions if has_child(f, CursorKind.CUDAGLOBAL_ATTR)]
    cursor = _choose([one for one in kernels if one.spelling == asked.name], asked)
    if cursor is None:
        raise no_kernel(source, asked.name, filename)
    if is_instance:
        cursor = _instance(functions, asked.name)
    if cursor.kind == CursorKind.FUNCTION_TEMPLATE:
        raise SourceError("This form of template is not supported.", span_of(cursor))
    if not has_child(cursor, CursorKind.COMPOUND_STMT):
        raise SourceError(f"The kernel {cursor.spelling} has no body.", span_of(cursor))
    return cursor


def _choose(kernels: list[Any], asked: KernelName) -> Any:
    """The kernel's cursor among those of its name; None without any.

    Raises SourceError where several have the name, and nothing says which is asked for.
    """
    found = [one for one in kernels if not is_specialization(one)]
    if asked.scope:
        found = [one for one in found if _namespaces(one)[-len(asked.scope) :] == asked.scope]
    if asked.parameters is not None:
        types = [one.displayname.removeprefix(one.spelling) for one in found]
        found = [
            one for one, written in zip(found, types, strict=True)
            if plain_types(written) == asked.parameters
        ]  # fmt: skip
        if kernels and not found:
            raise SourceError(
                f"No kernel {asked.name} takes {asked.parameters}; there is "
                f"{list_names([one.displayname for one in kernels])}."
            )
    if len(found) > 1:
        names = ["::".join((*_namespaces(one), one.displayname)) for one in found]
        raise SourceError(
            f"{len(found)} kernels are named {asked.name}: {list_names(names)}. Choose one by its "
            f"parameters' types: --kernel '{plain_types(names[0])}'."
        )
    return found[0] if found else None


def _namespaces(cursor: Any) -> tuple[str, ...]:
    """The named namespaces around a function, outermost first."""
    names: list[str] = []
    parent = cursor.semantic_parent
    while parent is not None and parent.kind == CursorKind.NAMESPACE:
        if parent.spelling and not parent.spelling.startswith("("):
            names.insert(0, parent.spelling)
        parent = parent.semantic_parent
    return tuple(names)


def _instance(functions: list[Any], name: str) -> Any:
    """The definition of the template kernel's instance that the function USE names."""
    for function in functions:
        if function.spelling == USE:
            for cursor in descendants(function):
                if cursor.kind == CursorKind.DECL_REF_EXPR and cursor.spelling == name:
                    definition = cursor.referenced.get_definition()
                    if definition is not None:
                        return definition
    raise SourceError(f"The template {name} cannot be made into a kernel.")


def _lower(cursor: Any, parsed: Parsed, filename: str, template: tuple[str, ...]) -> Kernel:
    """The kernel of a function's cursor; SourceError with the errors of clang and of lowering."""
    text = parsed.code.text
    mistakes, symbols = Mistakes(parsed.errors), SymbolTable(text)
    statements = Statements(text, filename, symbols, mistakes)
    (written,) = [c for c in cursor.get_children() if c.kind == CursorKind.COMPOUND_STMT]
    symbols.find_addressed(written)
    parameters: list[Variable] = []
    counts: list[int] = []
    before: list[Statement] = []
    body = Sequence(span_of(written), ())
    try:
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                symbols.fail(child)  # unless it is declared below
                with mistakes.noted():
                    declared, copies = declare_parameter(symbols, child)
                    parameters += declared
                    counts.append(len(declared))
                    before += copies
            elif child.kind == CursorKind.ANNOTATE_ATTR:  # the prelude's, a sentence on what it is
                mistakes.add(SourceError(child.spelling, span_of(cursor)))
        body = statements.body(written, None)
        _check_static_shared(symbols.shared)
    except SourceError as error:
        mistakes.add(error)
    mistakes.check(parsed.warnings)
    body = separate_calls(replace(body, statements=(*before, *body.statements)))
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
        warnings=parsed.warnings + doubts,
        counts=tuple(counts),
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
            f"and nvcc allows {MAX_STATIC_SHARED_BYTES:,} (48 KB). Make {largest.name} smaller, or "
            f"declare it as extern __shared__ {largest.ctype.innermost} {largest.name}[] and give "
            "its bytes at the launch.",
            largest.span,
        )
