"""libclang: parses CUDA C, and adds to its bindings."""

from __future__ import annotations

import ctypes
import functools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import clang.cindex as cindex
from clang.cindex import CursorKind, TypeKind

from simulator.frontend.device_code import DeviceCode, original_line
from simulator.frontend.directives import check_directives
from simulator.language.errors import SourceError, Span
from simulator.language.number_types import NUMBER_TYPES, OPERANDS

PRELUDE = Path(__file__).with_name("prelude.cuh")
MATH = Path(__file__).with_name("math.cuh")
STANDARD = Path(__file__).with_name("standard.cuh")  # what <algorithm> and <limits> have in std
HALF = Path(__file__).with_name("half.cuh")
COOPERATION = Path(__file__).with_name("cooperation.cuh")
GROUPS = Path(__file__).with_name("cooperative_groups.cuh")
OPEN_FILES = Path("/proc/self/fd")  # of this process, by their numbers: on Linux
MACROS = Path(__file__).with_name("macros.cuh")  # no file: what a caller defines
ASKED_FOR = ("NDEBUG",)  # what headers of ours test
# What else a text gets if it includes a header: many have a type of their own by the same name.
COMPLEX = Path(__file__).with_name("complex.cuh")
WMMA = Path(__file__).with_name("wmma.cuh")
CUB, CUB_FOLDER = Path(__file__).with_name("cub.cuh"), "cub/"
CURAND = Path(__file__).with_name("curand.cuh")
# What the headers of number types include themselves.
OF_TYPES = tuple(Path(__file__).with_name(name) for name in ("short_float.cuh", "fp8_vectors.cuh"))


def _of_type(header: str) -> Path:
    """The file for a header of CUDA's that declares a number type."""
    return Path(__file__).with_name(header).with_suffix(".cuh")


# The headers of number types, in an order in which each needs none but those before it.
TYPE_HEADERS = tuple(dict.fromkeys(each.header for each in NUMBER_TYPES.values() if each.header))
HEADERS = {
    "cuComplex.h": (COMPLEX,),
    "curand_kernel.h": (CURAND,),
    CUB_FOLDER: (CUB,),  # any of its files
    "mma.h": (*(_of_type(each.header) for each in OPERANDS.values() if each.header), WMMA),
    **{
        header: tuple(map(_of_type, TYPE_HEADERS[: number + 1]))
        for number, header in enumerate(TYPE_HEADERS)
    },
}
# The files whose functions have bodies, which a kernel's calls are replaced by.
WITH_BODIES = frozenset(
    (STANDARD, *OF_TYPES, *(path for paths in HEADERS.values() for path in paths))
)

# The target is Linux on every platform, where nvcc's long has 64 bits.
# With -nostdinc and the two -nocuda flags the parser never opens a file of the host.
ARGUMENTS = (
    "-x", "cuda", "--target=x86_64-unknown-linux-gnu", "--cuda-device-only",
    "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
    "-nostdinc", "-std=c++17", "-Wno-register", "-Wno-unknown-cuda-version",
    "-fspell-checking", "-Wall",
    "-Wno-vla-cxx-extension", "-Wno-unused-but-set-variable", "-Wno-unused-variable",
    "-ferror-limit=20",
    "-Xclang", "-fno-recovery-ast-type",  # is_unread() finds what clang could not read
    "-fbracket-depth=256", "-ftemplate-depth=64", "-fconstexpr-depth=64",
    "-fconstexpr-steps=100000",
    # However a text comes to these names, by ## too, they read no file and change no macro.
    "-Wno-builtin-macro-redefined", "-D_Pragma(...)=", "-D__has_include(...)=0",
    "-D__has_include_next(...)=0", "-D__has_embed(...)=0",
)  # fmt: skip
# What every text gets.
ALWAYS = tuple(
    word
    for path in (PRELUDE, MATH, STANDARD, HALF, COOPERATION, GROUPS)
    for word in ("-include", str(path))
)

# CXUnaryOperatorKind, from clang-c/Index.h; the Python bindings have no enumeration of it.
UNARY_OPERATORS = {
    1: "post++", 2: "post--", 3: "pre++", 4: "pre--", 5: "&", 6: "*", 7: "+", 8: "-", 9: "~",
    10: "!",
}  # fmt: skip

SCOPES = (CursorKind.LINKAGE_SPEC, CursorKind.NAMESPACE)
FUNCTIONS = (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE)

CLASSES = (
    CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.UNION_DECL,
)  # fmt: skip

CASTS = frozenset(
    {
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    }
)
NAMES = (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR)
VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL)
LVALUE_KINDS = (
    CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR,
    CursorKind.UNARY_OPERATOR,
)  # fmt: skip

INTEGER_RESULT, FLOAT_RESULT, TEXT_RESULT = 1, 2, 4  # CXEvalResultKind, from clang-c/Index.h

# The bindings ask libclang before every property of a cursor whether the cursor is null. Its kind
# says the same (CXCursor_InvalidFile, from clang-c/Index.h), in an eighth of a compilation less.
NULL_KIND = 70
cindex.Cursor.is_null = lambda cursor: cursor._kind_id == NULL_KIND


class Unit(cindex.TranslationUnit):  # type: ignore[misc]  # the bindings have no types
    """A translation unit that knows of which lines of a file its own are, where they differ."""

    lines: Sequence[int] = ()  # as DeviceCode has them


def parse(
    code: DeviceCode, filename: str, defines: Mapping[str, str], appended: str = ""
) -> tuple[cindex.Cursor, list[cindex.Diagnostic]]:
    """The translation unit's cursor, and what clang says about it.

    defines are the compiler's -D macros, appended is code after the device code. Raises
    SourceError for source that no compiler may get.
    """
    text = code.text + appended
    try:
        check_directives(text, defines, takes_pasting=True)
    except SourceError as error:
        raise SourceError(error.message, error.span and _original(error.span, code.lines)) from None
    named = (CUB_FOLDER if header.startswith(CUB_FOLDER) else header for header in code.headers)
    known = dict.fromkeys(path for header in named for path in HEADERS.get(header, ()))
    # The macros come last, so that none changes what a header says, but those that it asks for.
    included = [word for path in (*known, MACROS) for word in ("-include", str(path))]
    asked = [f"-D{name}={value}" for name, value in defines.items() if name in ASKED_FOR]
    macros = "".join(
        f"#define {name} {value}\n" for name, value in defines.items() if name not in ASKED_FOR
    )
    index = cindex.Index.create(excludeDecls=True)  # of what is precompiled
    try:
        unit = Unit.from_source(
            filename,
            [*asked, *ARGUMENTS, *(ALWAYS if asked else _always()), *included],
            unsaved_files=[(filename, text), (str(MACROS), macros)],
            index=index,
        )
    except cindex.TranslationUnitLoadError as error:
        raise SourceError("clang could not read this code as CUDA C.") from error
    unit.lines = code.lines
    return unit.cursor, list(unit.diagnostics)


@functools.cache
def _always() -> Sequence[str]:
    """The arguments that give a text ALWAYS, which is read once for this process.

    What clang makes of it is in an open file without a name: nothing is left of that, however the
    process ends. Where such a file cannot be opened again, clang reads ALWAYS for every text.
    """
    if not OPEN_FILES.exists():
        return ALWAYS
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "always.pch"
            _read_empty(ALWAYS).save(path)
            number = os.open(path, os.O_RDONLY)  # open for as long as the process
    except (OSError, cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return ALWAYS
    arguments = ("-include-pch", str(OPEN_FILES / str(number)), "-Xclang", "-fno-validate-pch")
    return ALWAYS if list(_read_empty(arguments).diagnostics) else arguments


def _read_empty(arguments: Sequence[str]) -> cindex.TranslationUnit:
    """The translation unit of an empty text."""
    text = ("empty.cu", "")
    return Unit.from_source(text[0], [*ARGUMENTS, *arguments], unsaved_files=[text])


def definitions(unit: Any, filename: str) -> list[Any]:
    """The cursors of the functions that the text defines, with those in namespaces."""
    found: list[Any] = []
    pending = [
        cursor
        for cursor in reversed(list(unit.get_children()))
        if cursor.location.file is not None and cursor.location.file.name == filename
    ]
    while pending:
        cursor = pending.pop()
        if cursor.kind in SCOPES:
            pending += reversed(list(cursor.get_children()))
        elif cursor.kind in FUNCTIONS and cursor.is_definition():
            found.append(cursor)
    return found


def descendants(cursor: Any) -> Iterator[Any]:
    """A cursor and all within it; without recursion, as texts may nest deep."""
    pending = [cursor]
    while pending:
        current = pending.pop()
        yield current
        pending += current.get_children()


def is_unread(cursor: Any) -> bool:
    """Whether clang could not read a part of an expression or declaration: it has no type then."""
    return any(
        part.kind.is_expression() and part.type.kind == TypeKind.DEPENDENT
        for part in descendants(cursor)
    )


def has_child(cursor: Any, kind: CursorKind) -> bool:
    """Whether a cursor has a direct child of a kind, such as the attribute __shared__."""
    return any(child.kind == kind for child in cursor.get_children())


def body_of(function: Any) -> Any:
    """The body that the text gives a function; None for one that the compiler makes."""
    parent = function.semantic_parent
    in_class = (
        parent is not None and parent.kind in CLASSES and "(lambda at " not in parent.type.spelling
    )
    if in_class and (
        function.is_default_method() or function.location.offset == parent.location.offset
    ):
        return None
    bodies = [c for c in function.get_children() if c.kind == CursorKind.COMPOUND_STMT]
    return bodies[-1] if bodies else None


def is_specialization(cursor: Any) -> bool:
    """Whether a function is an explicit specialization of a template."""
    template = cindex.conf.lib.clang_getSpecializedCursorTemplate(cursor)
    return not (template is None or cindex.conf.lib.clang_Cursor_isNull(template))


def span_of(cursor: Any) -> Span:
    """The span of a cursor's text; for a macro's expansion, that of the macro's use."""
    library = cindex.conf.lib  # called directly: the bindings' properties are slow
    extent = library.clang_getCursorExtent(cursor)
    line, column = ctypes.c_uint(), ctypes.c_uint()
    to_line, to_column = ctypes.byref(line), ctypes.byref(column)
    start, end = library.clang_getRangeStart(extent), library.clang_getRangeEnd(extent)
    library.clang_getInstantiationLocation(start, None, to_line, to_column, None)
    begin = (line.value, column.value)
    library.clang_getInstantiationLocation(end, None, to_line, to_column, None)
    span = Span(*begin, line.value, column.value)
    lines = cursor._tu.lines
    return _original(span, lines) if lines else span


def _original(span: Span, lines: Sequence[int]) -> Span:
    """A span of device code as one of the file's text."""
    line, end_line = (original_line(lines, number) for number in (span.line, span.end_line))
    return Span(line, span.column, end_line, span.end_column)


@functools.cache
def _library() -> Any:
    """libclang with the functions that its Python bindings do not declare."""
    library = cindex.conf.lib
    for name, result, arguments in (
        ("clang_Cursor_Evaluate", ctypes.c_void_p, [cindex.Cursor]),
        ("clang_EvalResult_getKind", ctypes.c_int, [ctypes.c_void_p]),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsDouble", ctypes.c_double, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsStr", ctypes.c_char_p, [ctypes.c_void_p]),
        ("clang_EvalResult_dispose", None, [ctypes.c_void_p]),
        ("clang_getCursorUnaryOperatorKind", ctypes.c_int, [cindex.Cursor]),
        ("clang_Cursor_getVarDeclInitializer", cindex.Cursor, [cindex.Cursor]),
        ("clang_Cursor_getGCCAssemblyTemplate", cindex._CXString, [cindex.Cursor]),
        ("clang_Cursor_getGCCAssemblyNumOutputs", ctypes.c_uint, [cindex.Cursor]),
        ("clang_Cursor_getGCCAssemblyNumInputs", ctypes.c_uint, [cindex.Cursor]),
        *(
            (
                f"clang_Cursor_getGCCAssembly{kind}",
                ctypes.c_uint,
                [
                    cindex.Cursor,
                    ctypes.c_uint,
                    ctypes.POINTER(cindex._CXString),
                    ctypes.POINTER(cindex.Cursor),
                ],
            )
            for kind in ("Output", "Input")
        ),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def unary_operator(cursor: Any) -> str:
    """The operator of a UNARY_OPERATOR cursor, as UNARY_OPERATORS names it."""
    return UNARY_OPERATORS.get(_library().clang_getCursorUnaryOperatorKind(cursor), "?")


def is_reference_cast(cast: Any, operand: Any) -> bool:
    """Whether a cast is one to a reference of another type, as reinterpret_cast<float4&>(x).

    Clang puts a load around the operand of any other cast of an lvalue.
    """
    while operand.kind == CursorKind.PAREN_EXPR:
        (operand,) = operand.get_children()
    if operand.kind not in LVALUE_KINDS or cast.type.get_canonical().kind == TypeKind.VOID:
        return False
    if operand.kind == CursorKind.UNARY_OPERATOR and unary_operator(operand) != "*":
        return False
    named = operand.referenced if operand.kind in NAMES else None
    if named is not None and named.kind not in VARIABLES:
        return False  # an enumerator, or a template's argument
    kinds = [each.type.get_canonical() for each in (cast, operand)]
    plain = [each.spelling.replace("const ", "").replace("volatile ", "") for each in kinds]
    return bool(plain[0] != plain[1])


def assembly_of(cursor: Any) -> tuple[str, list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The instructions of inline assembly, then its outputs and its inputs.

    Of each operand the constraint, such as "=r", and the expression's cursor.
    """
    library = _library()

    def operands(kind: str) -> list[tuple[str, Any]]:
        found = []
        for number in range(getattr(library, f"clang_Cursor_getGCCAssemblyNum{kind}s")(cursor)):
            constraint, expression = cindex._CXString(), cindex.Cursor()
            get = getattr(library, f"clang_Cursor_getGCCAssembly{kind}")
            get(cursor, number, ctypes.byref(constraint), ctypes.byref(expression))
            expression._tu = cursor._tu  # as the bindings' own functions do
            found.append((cindex._CXString.from_result(constraint), expression))
        return found

    template = library.clang_Cursor_getGCCAssemblyTemplate(cursor)
    text = cindex._CXString.from_result(template)
    return text, operands("Output"), operands("Input")


def initializer_of(cursor: Any) -> Any:
    """The initializer of a variable's declaration, or None."""
    found = _library().clang_Cursor_getVarDeclInitializer(cursor)
    if cindex.conf.lib.clang_Cursor_isNull(found):
        return None
    found._tu = cursor._tu  # as the bindings' own functions do: it keeps the text in memory
    return found


def constant(cursor: Any) -> int | float | None:
    """The value that clang folds an expression to; None for one that is not constant."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = library.clang_EvalResult_getKind(result)
        if kind == INTEGER_RESULT:
            if library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            return int(library.clang_EvalResult_getAsLongLong(result))
        if kind == FLOAT_RESULT:
            return float(library.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        library.clang_EvalResult_dispose(result)


def child_expressions(cursor: Any) -> list[Any]:
    """The children that are expressions: others may be the names of types."""
    return [child for child in cursor.get_children() if child.kind.is_expression()]


def unwrapped(cursor: Any) -> Any:
    """An expression without parentheses and the nodes that clang adds for what C implies."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        (cursor,) = children
    return cursor


def quoted_text(cursor: Any) -> str | None:
    """What a text in quotes says, its escapes resolved; None for any other expression."""
    around = cursor  # clang evaluates the literal's conversion to a pointer
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            return None
        around, (cursor,) = cursor, children
    if cursor.kind != CursorKind.STRING_LITERAL:
        return None
    library = _library()
    result = library.clang_Cursor_Evaluate(around)
    if not result:
        return None
    try:
        if library.clang_EvalResult_getKind(result) != TEXT_RESULT:
            return None
        return bytes(library.clang_EvalResult_getAsStr(result)).decode(errors="replace")
    finally:
        library.clang_EvalResult_dispose(result)
