"""Template kernels: named once with their arguments, so that clang makes a plain function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clang.cindex import CursorKind

from simulator.frontend.clang import parse
from simulator.language.errors import SourceError

USE = "tilewise_use"  # the function that names a template kernel with its arguments


def parse_instance(
    text: str, name: str, arguments: tuple[str, ...], defines: Mapping[str, str], filename: str
) -> tuple[Any, list[str]]:
    """The text's cursor and warnings; a template kernel is named once, so that clang makes it."""
    if not arguments:
        return parse(text, filename, defines)
    use = f"\nvoid {USE}() {{ (void)&{name}<{', '.join(arguments)}>; }}"
    try:
        return parse(text + use, filename, defines)
    except SourceError as error:
        if error.span is None or error.span.line <= text.count("\n") + 1:
            raise
        given = f"{name}<{', '.join(arguments)}>"
        raise SourceError(f"{given} does not fit its template: {error.message}") from None


def instance(functions: list[Any], name: str) -> Any:
    """The kernel that a template becomes with its arguments."""
    for function in functions:
        if function.spelling == USE:
            for cursor in all_within(function):
                if cursor.kind == CursorKind.DECL_REF_EXPR and cursor.spelling == name:
                    return cursor.referenced.get_definition()
    raise SourceError(f"The template {name} cannot be made into a kernel.")


def all_within(cursor: Any) -> Iterator[Any]:
    """A cursor and all within it; a stack of our own, as texts may nest deep."""
    left = [cursor]
    while left:
        one = left.pop()
        yield one
        left += one.get_children()
