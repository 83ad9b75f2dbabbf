"""Lowers printf and assert: the texts in quotes of a call become Call.texts."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from simulator.frontend.clang import quoted_text, span_of, unwrapped
from simulator.frontend.expressions import Expressions
from simulator.frontend.types import convert, lower_type
from simulator.language import ctype
from simulator.language.errors import SourceError, Span
from simulator.language.functions import PRINT
from simulator.language.print_format import parse_format
from simulator.language.tree import Call, Conditional, Expression, Literal

ASSERT = "tilewise_assert"  # what the macro assert becomes


def lower_print(cursor: Any, span: Span, expressions: Expressions) -> Call:
    """printf(format, ...); SourceError for a format that is not taken, or not in quotes."""
    first, *rest = cursor.get_arguments()
    text = quoted_text(first)
    if text is None:
        raise SourceError("Write printf's format in quotes, in its call.", span_of(first))
    try:
        parse_format(text)
    except ValueError as error:
        raise SourceError(str(error), span_of(first)) from None
    texts = [text]
    arguments = tuple(_argument(argument, texts, expressions) for argument in rest)
    return Call(ctype.INT, span, PRINT, arguments, tuple(texts))


def lower_assert(cursor: Any, span: Span, expressions: Expressions) -> Call:
    """assert(condition), whose macro passes the condition and its text."""
    condition, text = cursor.get_arguments()
    held = (expressions.value(condition),)
    return Call(ctype.VOID, span, "assert", held, (quoted_text(text) or "",))


def _argument(cursor: Any, texts: list[str], expressions: Expressions) -> Expression:
    """An argument of printf; a text in quotes, or one of two, becomes a number in texts."""
    text, span = quoted_text(cursor), span_of(cursor)
    if text is not None:
        texts.append(text)
        return Literal(ctype.TEXT, span, ctype.TEXT.dtype.type(len(texts) - 1))
    inner = unwrapped(cursor)
    if inner.kind == CursorKind.CONDITIONAL_OPERATOR:
        condition, yes, no = inner.get_children()
        if quoted_text(yes) is not None and quoted_text(no) is not None:
            chosen = convert(expressions.value(condition), ctype.BOOL, span)
            either = (_argument(side, texts, expressions) for side in (yes, no))
            return Conditional(ctype.TEXT, span, chosen, *either)
    kind = lower_type(cursor.type, span)
    if not isinstance(kind, ctype.Scalar | ctype.Pointer | ctype.ArrayOf):
        raise SourceError(
            f"printf takes numbers, pointers and strings: print the members of this {kind}, or "
            "what it is converted to.",
            span,
        )
    return expressions.value(cursor)
