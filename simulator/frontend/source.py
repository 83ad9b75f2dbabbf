"""The kernel's text: its #define lines set to chosen values, so that what is shown is what runs."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Mapping

from simulator.frontend.macro_limits import QUOTED, Quotes, check_expansion
from simulator.language.errors import SourceError, Span


def set_defines(text: str, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with each macro's #define line set to its value, and the macros it does not define.

    Only object-like macros on one line are set; the rest is for the compiler's -D.
    """
    left: dict[str, str] = {}
    for name, value in values.items():
        line = re.compile(
            rf"^([ \t]*#[ \t]*define[ \t]+{re.escape(name)}[ \t]+)([^\s].*)", re.MULTILINE
        )
        text, count = line.subn(functools.partial(_replaced, value), text)
        if not count:
            left[name] = value
    return text, left


def _replaced(value: str, found: re.Match[str]) -> str:
    """A #define line with its value replaced; a comment behind it and the space before that stay.

    The value that was there has one character at least.
    """
    comment = re.search(r"//|/\*", found[2][1:])
    end = len(found[2]) if comment is None else comment.start() + 1
    return found[1] + value + found[2][len(found[2][:end].rstrip(" \t")) :]


LARGEST_TEXT = 200_000  # characters
ALLOWED_DIRECTIVES = frozenset(
    {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error"}
)


COMMENT_OR_QUOTE = re.compile(r"""//(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z)|["']""", re.DOTALL)


def blank_comments(text: str) -> str:
    """The text with comments turned to spaces: every character left stands where it stood.

    A comment that a line splice lengthens is blanked too (C++17 [lex.phases]); strings stay.
    """
    blanked: list[str] = []
    quotes, copied, position = Quotes(text), 0, 0
    while token := COMMENT_OR_QUOTE.search(text, position):
        start, position = token.span()
        if token[0] in QUOTED:
            position = quotes.end(start) or position
        else:
            blanked += (text[copied:start], re.sub(r"[^\n]", " ", token[0]))
            copied = position
    return "".join((*blanked, text[copied:]))


def declarations(plain: str, name: str) -> Iterator[tuple[re.Match[str] | None, int]]:
    """Where __global__ functions of a name are declared, in a text without comments.

    Gives the `template <…>` before each, whose group "parameters" has what stands between < and >,
    or None, and the position behind the "(" of the function's own parameters.
    """
    landmarks = re.compile(
        rf"(?P<template>\btemplate\s*<(?P<parameters>[^<>]*)>)|(?P<end>[;{{}}])"
        rf"|(?P<name>\b{re.escape(name)}\s*\()|(?P<kernel>__global__)"
    )
    header: re.Match[str] | None = None
    found: set[str] = set()  # since the last ; { or }: "kernel", and "template" before it
    for landmark in landmarks.finditer(plain):
        match landmark.lastgroup:
            case "template":
                if any(end in landmark[0] for end in ";{}"):
                    header, found = None, set()
                header = header or landmark
            case "end":
                header, found = None, set()
            case "kernel":
                found |= {"kernel"} | ({"template"} if header else set())
            case _ if "kernel" in found:
                yield (header if "template" in found else None), landmark.end()


def instantiate(
    text: str, name: str, defines: Mapping[str, str]
) -> tuple[str, list[tuple[str, str]], dict[str, str]]:
    """A template kernel as a plain one: its parameters become macros.

    Gives the text with the kernel's `template <…>` blanked, the parameters with their values in
    order, and the defines that are left. Raises SourceError for a parameter without a value.
    """
    plain = blank_comments(text)
    header = next((header for header, _ in declarations(plain, name) if header), None)
    left = dict(defines)
    if header is None:
        return text, [], left
    values = []
    for parameter in header["parameters"].split(","):
        declared, _, default = parameter.partition("=")
        word = declared.split()[-1] if declared.split() else ""
        value = left.pop(word, default.strip())
        if not value:
            line = text.count("\n", 0, header.start()) + 1
            column = header.start() - text.rfind("\n", 0, header.start())
            raise SourceError(
                f"The template parameter {word or '?'} has no value: give it one with "
                f"-D {word}=… or in the catalogue.",
                Span(line, column, line, column + 8),
            )
        values.append((word, value))
    blank = re.sub(r"[^\n]", " ", header[0])
    return text[: header.start()] + blank + text[header.end() :], values, left


# Headers that only declare what every kernel here already has: their lines are left out.
KNOWN_HEADERS = frozenset(
    {
        "assert.h", "cooperative_groups.h", "cuda.h", "cuda_pipeline.h",
        "cuda_pipeline_primitives.h", "cuda_runtime.h", "cuda_runtime_api.h",
        "device_launch_parameters.h", "math.h", "cmath", "stdint.h", "cstdint", "stdio.h",
        "cstdio", "stdlib.h", "cstdlib", "float.h", "cfloat", "limits.h", "climits",
    }
)  # fmt: skip


def without_headers(text: str) -> str:
    """The text as both compilers get it: #include lines of CUDA's own headers blanked."""
    names = "|".join(re.escape(name) for name in sorted(KNOWN_HEADERS))
    line = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*[<\"](?:{names})[>\"][ \t]*$", re.MULTILINE)
    return line.sub(lambda found: " " * len(found[0]), text)


def _logical_lines(text: str) -> list[str]:
    """Lines without comments; a spliced line whole at its first number, blank at the others."""
    lines: list[str] = []
    joined, missing = "", 0
    for line in text.replace("\r\n", "\n").split("\n"):
        stripped = line.rstrip(" \t")
        if stripped.endswith("\\"):
            joined += stripped[:-1]
            missing += 1
        else:
            lines += [joined + line] + [""] * missing
            joined, missing = "", 0
    return blank_comments("\n".join([*lines, joined])).split("\n")


NOT_TAKEN = re.compile(r"__has_(?:include|embed)|##|%:%:")
HASH = re.compile(r"#|%:|\?\?=")
SPACE = re.compile(r"\s*")
HIDDEN_NAME = re.compile(r"(?:include\w*|import|embed|line)\b")


def _hidden_directive(text: str) -> int | None:
    """Where the first directive of a kind that is not taken stands, in a text without splices.

    Found whatever a text's quotes and comments pretend: every directive of this kind counts, also
    one that a raw string or a digit's separator would hide. Reading on from one # may come upon
    what was read from another before; each position is passed once, so that the time is linear.
    """
    found = NOT_TAKEN.search(text)
    ends = [end.end() for end in re.finditer(r"\*/", text)]
    passed: set[int] = set()
    for sign in HASH.finditer(text, 0, found.start() if found else len(text)):
        position = sign.end()
        while position not in passed:
            passed.add(position)
            position = SPACE.match(text, position).end()  # type: ignore[union-attr]  # or nothing
            if text.startswith("/*", position):
                after = bisect.bisect_left(ends, position + 4)
                if after == len(ends):
                    break
                position = ends[after]
            elif HIDDEN_NAME.match(text, position):
                return sign.start()
    return found.start() if found else None


def check_length(text: str) -> None:
    """SourceError for a text that is too long, or not text at all."""
    if "\0" in text or len(text) > LARGEST_TEXT:
        raise SourceError(f"A kernel's text is plain and under {LARGEST_TEXT:,} characters.")


def check_directives(text: str, defines: Mapping[str, str] | None = None) -> None:
    """SourceError where the text asks a compiler for more than macros and conditions.

    defines are the macros given beside the text. Macros that would expand without measure are
    found here too.

    An #include of any file of the host would show its first line in the compiler's log, and
    __has_include tells whether it exists: neither is for a visitor's kernel.
    """
    check_length(text)
    lines = _logical_lines(text)
    for number, line in enumerate(lines, start=1):
        found = re.match(r"\s*(?:#|%:|\?\?=)\s*(\w*)", line)
        if found and found[1] and found[1] not in ALLOWED_DIRECTIVES:
            column = line.index(found[1]) + 1
            span = Span(number, column, number, column + len(found[1]))
            raise SourceError(
                f"#{found[1]} is not taken here: a kernel brings its own text and needs no header.",
                span,
            )
        for word in ("__has_include", "__has_embed", "_Pragma"):
            if word in line:
                column = line.index(word) + 1
                raise SourceError(
                    f"{word} is not taken here.", Span(number, column, number, column + len(word))
                )
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    hidden = _hidden_directive(spliced)
    if hidden is not None:
        line_number = spliced.count("\n", 0, hidden) + 1
        raise SourceError(
            "A kernel brings its own text: #include and its kind, and the pasting of tokens (##), "
            "are not taken, not even in a comment.",
            Span(line_number, 1, line_number, 1),
        )
    check_expansion(lines, defines or {})
