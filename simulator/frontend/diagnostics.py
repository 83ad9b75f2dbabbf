"""Clang's diagnostics as sentences about the text, each with a hint where one is known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clang.cindex import Diagnostic as ClangDiagnostic

from simulator.frontend.clang import CUB_FOLDER
from simulator.frontend.device_code import DeviceCode, SourceFile
from simulator.frontend.unset_macros import silencing_macros
from simulator.frontend.unsupported import advice_on, unsupported_message
from simulator.language.errors import LONGEST_NAME, MAX_ERRORS, Diagnostic, Fix, Span
from simulator.language.number_types import NUMBER_TYPES

# Headers that declare for kernels only what is there without them.
KNOWN_HEADERS = frozenset(
    {
        "algorithm", "array", "assert.h", "bitset", "cassert", "cfloat", "chrono", "cinttypes",
        "climits", "cmath", "cooperative_groups.h", "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring",
        "ctime", "cuda.h", "cuda_fp16.h", "cuda_fp16.hpp", "cuda_pipeline.h",
        "cuda_pipeline_primitives.h", "cuda_runtime.h", "cuda_runtime_api.h", "curand.h",
        "curand_kernel.h",
        "device_launch_parameters.h", "errno.h", "exception", "fcntl.h", "float.h", "fstream",
        "functional", "getopt.h", "initializer_list", "inttypes.h", "iomanip", "iostream",
        "istream", "iterator", "limits", "limits.h", "map", "math.h", "math_constants.h",
        "memory", "mma.h", "mutex", "numeric", "omp.h", "ostream", "random", "set", "sstream",
        "stdexcept", "stdint.h", "stdio.h", "stdlib.h", "string", "string.h", "sys/stat.h",
        "sys/time.h",
        "sys/types.h", "thread", "time.h", "tuple", "type_traits", "unistd.h", "unordered_map",
        "utility", "vector", "vector_functions.h", "vector_types.h",
        *filter(None, (each.header for each in NUMBER_TYPES.values())),
    }
)  # fmt: skip
UNKNOWN_NAME = re.compile(
    r"(?:use of undeclared identifier|unknown type name|expected namespace name|"
    r"no template named|no member named|no type named) *(?:'(?P<name>[^']+)')?"
)
# A name as it is written, that of a library's namespace with what it names of it.
WRITTEN = re.compile(rb"(?:cuda|nv|std|thrust|cub|cutlass|cute|nvcuda|wmma)(?:::\w+)+|\w+")
CONTAINERS = frozenset(
    {"vector", "string", "array", "map", "unordered_map", "deque", "list", "set", "valarray",
     "unique_ptr", "shared_ptr", "host_vector", "device_vector"}
)  # fmt: skip
TYPE_NEEDED = re.compile(
    r"unknown type name|no template named|no type named|no member .* in namespace"
)
OTHER_KIND = re.compile(
    r"does not have the same type as the corresponding template parameter "
    r"\('(?P<needed>[^']+)' vs '(?P<written>[^']+)'\)"
)
IN_NAMESPACE = re.compile(r" in namespace '(?P<name>std|cub|nvcuda|cuda)")
STANDS_FOR_INT = re.compile(r"'(?P<name>\w+)' \(aka 'int'\)")  # what clang takes a lost type for
SUGGESTION = re.compile(r"; did you mean (?:simply )?'(?P<other>[^']+)'\?")
ERROR_DIRECTIVE = re.compile(r"\s*(?:#|%:)\s*error\b")
# Names that many give macros alone, short enough to be typed.
MACRO_LIKE = re.compile(rf"[A-Z][A-Z\d_]{{1,{LONGEST_NAME - 1}}}")
NO_ERRORS = re.compile(r"too many errors emitted")
NUMBER = r"(?:float|double|(?:unsigned )?(?:int|char|short|long|long long))"
# Before a variable's name where it is declared.
DECLARED = (
    r"\b(?:auto|bool|char|double|float|half|int|long|short|size_t|unsigned|\w+[2-4])\b[\s*&]+"
)
# What may mend an error, by what clang says.
HINTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"kernel function type .* must have void return type",
         "Write void before the kernel's name."),
        (r"a type specifier is required|requires a type specifier",
         "Is a type missing before the name, or the '{' of the function before this line?"),
        (r"expected ';' after top level declarator",
         "Is the '{' that begins the function's body missing?"),
        (r"extraneous closing brace", "It closes nothing: is a '{' missing before it?"),
        (r"function definition is not allowed here", "Is a '}' missing before this line?"),
        (r"expected unqualified-id|expected expression|expected external declaration",
         "Is the line before it complete?"),
        (r"reference to __host__ function '(\w+)", "Write __device__ before that function."),
        (r"no matching function for call to",
         "Do the number and the types of the arguments fit the function?"),
        (r"cannot be used in type name|array size is not|"
         r"not an integral constant expression",
         "An array's size must be a constant: a macro, const int or constexpr."),
        (r"read-only|const-qualified", "It is const: leave out const, or store somewhere else."),
        (r"use of overloaded operator", "The operands' types have no such operator."),
        (r"initialization is not supported for __shared__",
         "Let threads store the initial values, and wait with __syncthreads() before they are "
         "read."),
        (r"subscripted value is not an array", "Only arrays and pointers take an index."),
        (r"called object type", "An array's element is written with brackets, as in x[i]."),
        (r"builtin functions must be directly called", "Write () after its name."),
        (r"array initializer must be", "Write = {} for zeros, or the values in braces."),
        (r"'const (?:uint3|dim3)'", "It has three numbers: write .x, .y or .z after its name."),
        (r"void function .* should not return a value", "Write return; alone."),
        (rf"to binary expression \('{NUMBER}' and '{NUMBER}'\)",
         "%, &, |, ^ and shifts take whole numbers; for a remainder of floats write fmodf(a, b)."),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClangErrors:
    """What clang finds wrong with a text."""

    found: tuple[Diagnostic, ...]  # as far as MAX_ERRORS, each unknown name once
    unknown: frozenset[str]  # names
    lines: frozenset[int]  # with an error, those included that follow from one that was found


def errors(
    diagnostics: Sequence[Any], filename: str, code: DeviceCode, source: SourceFile
) -> ClangErrors:
    """Clang's errors among what it says about the device code of a file."""
    found: list[Diagnostic] = []
    unknown: set[str] = set()
    lines: set[int] = set()
    lost = LostDeclarations(code.text)
    for diagnostic in diagnostics:
        if diagnostic.severity < ClangDiagnostic.Error or NO_ERRORS.search(diagnostic.spelling):
            continue
        lines.add(code.line(diagnostic.location.line))
        name = _unknown_name(diagnostic, code.text)
        if (name is not None and name in unknown) or lost.explain(diagnostic, name):
            continue
        if name is not None:
            unknown.add(name)
            if TYPE_NEEDED.match(diagnostic.spelling) or "::" in name:
                lost.lines.add(diagnostic.location.line)
        found.append(_error(diagnostic, filename, code, source, name))
    # Clang may say the same of one line twice.
    distinct = {(one.message, one.span.line if one.span else 0): one for one in reversed(found)}
    kept = tuple(reversed(distinct.values()))[:MAX_ERRORS]
    return ClangErrors(kept, frozenset(unknown), frozenset(lines))


class LostDeclarations:
    """The declarations that clang does not read, since it does not know their type."""

    def __init__(self, text: str) -> None:
        self._text = text.split("\n")
        self.lines: set[int] = set()  # of the text, from 1

    def explain(self, diagnostic: Any, name: str | None) -> bool:
        """Whether an error follows from such a declaration: it is after it, or its name's use."""
        if name is None and (stand_in := STANDS_FOR_INT.search(diagnostic.spelling)):
            name = stand_in["name"]
        if name is None:
            return diagnostic.location.line in self.lines
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(word.search(self._text[line - 1]) for line in self.lines)


def warnings(diagnostics: Sequence[Any], filename: str, code: DeviceCode) -> Iterator[str]:
    """Clang's warnings as sentences with their places."""
    for diagnostic in diagnostics:
        if diagnostic.severity == ClangDiagnostic.Warning:
            message, span = _sentence(diagnostic, filename, code)
            yield f"{span}: {message}" if span else message


def _unknown_name(diagnostic: Any, text: str) -> str | None:
    """The name that clang does not know, if that is the error."""
    found = UNKNOWN_NAME.match(diagnostic.spelling)
    if found is None:
        return None
    lines = text.split("\n")
    line, column = diagnostic.location.line, diagnostic.location.column
    if 0 < line <= len(lines):
        written = WRITTEN.match(lines[line - 1].encode(), column - 1)
        if written:
            return written[0].decode()
    return found["name"]


def _error(
    diagnostic: Any, filename: str, code: DeviceCode, source: SourceFile, name: str | None
) -> Diagnostic:
    message, span = _sentence(diagnostic, filename, code)
    lines, number = code.text.split("\n"), diagnostic.location.line
    # The use of a template's instance is after the last line.
    written = lines[number - 1] if span is not None and number <= len(lines) else ""
    if ERROR_DIRECTIVE.match(written):
        stopped = f"An #error stops the compiler here: {diagnostic.spelling.strip(chr(34))}"
        macros = silencing_macros(source, code.line(number))
        return Diagnostic(f"{stopped.rstrip('.!?')}.", span, macros=macros)
    advice = advice_on(diagnostic.spelling, [each.spelling for each in diagnostic.children])
    if advice is not None:
        return Diagnostic(advice, span)
    if name is not None:
        unsupported = unsupported_message(name)
        namespace = IN_NAMESPACE.search(diagnostic.spelling)
        if unsupported is None and namespace is not None:
            unsupported = unsupported_message(f"{namespace['name']}::{name}")
        if name in code.host and "no member" not in diagnostic.spelling:
            return Diagnostic(_host_message(name, code), span)
        suggested = SUGGESTION.search(message)
        is_case = suggested is not None and suggested["other"].lower() == name.lower()
        if unsupported is not None and not is_case:
            if span is not None:
                span = Span(span.line, span.column, span.line, span.column + len(name))
            return Diagnostic(unsupported, span)
        headers = tuple(
            f"{header} (line {line})"
            for header, line in code.headers.items()
            if header not in KNOWN_HEADERS and not header.startswith(CUB_FOLDER)
        )
        if suggested is not None:
            if not headers or _is_misspelling(name, suggested["other"]):
                return Diagnostic(message, span, fix=_fix(diagnostic, filename, code))
            message = f"{SUGGESTION.sub('', message)}."
        macros = ((f"{name}=…",),) if MACRO_LIKE.fullmatch(name) else ()
        hint = _declaration_that_ended(name, lines[: number - 1], code)
        return Diagnostic(message, span, hint, macros=macros, headers=headers)
    declared = _macro_at(written, span, code) if message.startswith("Expected") else None
    if declared is not None:
        return Diagnostic(declared, span)
    hint = next((hint for pattern, hint in HINTS if pattern.search(diagnostic.spelling)), "")
    for note in diagnostic.children:
        kinds = OTHER_KIND.search(note.spelling)
        if kinds is not None:
            hint = (
                f"The function's template parameter is {kinds['written']}, and the argument's type "
                f"has {kinds['needed']} there: write {kinds['needed']}."
            )
        if note.spelling.startswith("to match this") and note.location.line:
            hint = f"The one that it should close is on line {code.line(note.location.line)}."
    return Diagnostic(message, span, hint, _fix(diagnostic, filename, code))


def _declaration_that_ended(name: str, before: Sequence[str], code: DeviceCode) -> str:
    """A hint on a variable that is declared in these lines, but in another block; else ""."""
    declaration = re.compile(rf"{DECLARED}{re.escape(name)}\s*[=;\[]")
    found = [at for at, line in enumerate(before, 1) if declaration.search(line)]
    if not found:
        return ""
    return (
        f"It is declared on line {code.line(found[-1])}, in a block or loop that has ended: "
        "declare it before that."
    )


def _is_misspelling(name: str, other: str) -> bool:
    """Whether a name of four letters or more is another but for one letter, or two exchanged.

    >>> _is_misspelling("atmicAdd", "atomicAdd"), _is_misspelling("pwr", "pow")
    (True, False)
    """
    start = _equal_letters(name, other)
    end = _equal_letters(name[start:][::-1], other[start:][::-1])
    left, right = name[start : len(name) - end], other[start : len(other) - end]
    is_one_letter = max(len(left), len(right)) == 1
    return len(name) >= 4 and (is_one_letter or (len(left) == 2 and left == right[::-1]))


def _equal_letters(name: str, other: str) -> int:
    """How many letters two names have in common at their beginning."""
    pairs = enumerate(zip(name, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(name), len(other)))


def _macro_at(line: str, span: Span | None, code: DeviceCode) -> str | None:
    """The sentence about a declared name that is a macro; None where none is at the span."""
    if span is None:
        return None
    name = re.compile(rb"[^\W\d]\w*", re.ASCII).match(line.encode(), span.column - 1)
    if name is None:
        return None
    word = name[0].decode()
    definition = re.compile(rf"\s*#\s*define\s+{word}\b\s*(?P<body>.*)")
    for number, defined in enumerate(code.text.split("\n"), start=1):
        found = definition.match(defined)
        if found:
            body = found["body"].strip()
            reads = f"'{body}' in its place" if body else "nothing in its place"
            return (
                f"{word} is a macro here (line {code.line(number)}), so that a compiler reads "
                f"{reads}: give what this declares another name."
            )
    return None


def _host_message(name: str, code: DeviceCode) -> str:
    """The sentence about a host function or variable that a kernel uses."""
    declared = code.host[name]
    if declared.is_function:
        return (
            f"{name} is a host function; write __device__ before its definition (line "
            f"{declared.line})."
        )
    container = next((word for word in declared.words if word in CONTAINERS), None)
    if container is not None:
        return (
            f"'{name}' is a {container} of the host's C++ library: a kernel cannot read it. Copy "
            "its elements to an array on the GPU (cudaMalloc, cudaMemcpy), and pass that as a "
            "parameter."
        )
    for word in declared.words:
        if (message := unsupported_message(word)) is not None:
            return message  # its type is a texture, or a library's
    return (
        f"'{name}' is a variable of the host: a kernel cannot read it. Write __device__ or "
        f"__constant__ before it (line {declared.line}), or pass it as a parameter."
    )


def _fix(diagnostic: Any, filename: str, code: DeviceCode) -> Fix | None:
    """Clang's change of the kernel's source, where it is a single one."""
    fixes = list(diagnostic.fixits)
    if len(fixes) != 1:
        return None
    start, end = fixes[0].range.start, fixes[0].range.end
    if start.file is None or start.file.name != filename:
        return None
    first, last = code.line(start.line), code.line(end.line)
    return Fix(Span(first, start.column, last, end.column), fixes[0].value)


def _sentence(diagnostic: Any, filename: str, code: DeviceCode) -> tuple[str, Span | None]:
    """Clang's message with its fix-it, and its span if it is in the kernel's source."""
    location = diagnostic.location
    message = diagnostic.spelling
    has_fixes = not re.search(r"did you mean|after top level declarator", message)
    for fix in diagnostic.fixits if has_fixes else ():
        replaced = fix.range.start.offset != fix.range.end.offset
        if fix.value:
            message += f"; {'write' if replaced else 'insert'} '{fix.value.strip()}'"
        elif replaced:
            message += "; leave it out"
    if location.file is None or location.file.name != filename:
        return message + ".", None
    line = code.line(location.line)
    span = Span(line, location.column, line, location.column + 1)
    end = "" if message.endswith("?") else "."
    return message[0].upper() + message[1:] + end, span
