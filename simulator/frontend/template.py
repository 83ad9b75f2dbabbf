"""Template kernels in the text: their parameters, and the text as a plain kernel's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from simulator.frontend.lexer import blank_comments
from simulator.language.errors import SourceError, Span


def instantiate(
    text: str, name: str, defines: Mapping[str, str]
) -> tuple[str, list[tuple[str, str]], dict[str, str]]:
    """A template kernel as a plain one, for a compiler that gets its parameters as macros.

    Returns the text with the kernel's `template <…>` blanked, the template's parameters with their
    values in order, and the defines that are no parameters. A kernel that is no template stays as
    it is. Raises SourceError for a parameter without a value.

    >>> instantiate("template <int T> __global__ void k() {}", "k", {"T": "4", "N": "2"})
    ('                 __global__ void k() {}', [('T', '4')], {'N': '2'})
    """
    plain = blank_comments(text)
    header = next((header for header, _ in kernel_declarations(plain, name) if header), None)
    macros = dict(defines)
    if header is None:
        return text, [], macros
    values = []
    for parameter in header["parameters"].split(","):
        declared, _, default = parameter.partition("=")
        parameter_name = declared.split()[-1] if declared.split() else ""
        value = macros.pop(parameter_name, default.strip())
        if not value:
            line = text.count("\n", 0, header.start()) + 1
            column = header.start() - text.rfind("\n", 0, header.start())
            raise SourceError(
                f"The template parameter {parameter_name or '?'} has no value: give it one with "
                f"-D {parameter_name}=… or in the catalogue.",
                Span(line, column, line, column + 8),
            )
        values.append((parameter_name, value))
    blank = re.sub(r"[^\n]", " ", header[0])
    return text[: header.start()] + blank + text[header.end() :], values, macros


def kernel_declarations(plain: str, name: str) -> Iterator[tuple[re.Match[str] | None, int]]:
    """The declarations of __global__ functions of a name, in a text without comments.

    Yields for each the match of the `template <…>` before it, or None, whose group "parameters" is
    the text between < and >; and the position behind the "(" of the function's parameters.
    """
    landmarks = re.compile(
        rf"(?P<template>\btemplate\s*<(?P<parameters>[^<>]*)>)|(?P<end>[;{{}}])"
        rf"|(?P<name>\b{re.escape(name)}\s*\()|(?P<kernel>__global__)"
    )
    header: re.Match[str] | None = None  # the first `template <…>` since the last ; { or }
    is_kernel, kernel_header = False, header  # whether __global__ was found since, and its template
    for landmark in landmarks.finditer(plain):
        match landmark.lastgroup:
            case "template":
                if any(end in landmark[0] for end in ";{}"):
                    header, is_kernel, kernel_header = None, False, None
                header = header or landmark
            case "end":
                header, is_kernel, kernel_header = None, False, None
            case "kernel":
                is_kernel, kernel_header = True, header
            case _ if is_kernel:
                yield kernel_header, landmark.end()
