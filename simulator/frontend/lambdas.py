"""Lambdas: what they capture, and which one an expression is. Their calls are inlined."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from simulator.frontend.clang import child_expressions, descendants, span_of
from simulator.frontend.copies import copy
from simulator.frontend.records import Record, declare, merge
from simulator.frontend.symbols import Closure, Symbol, SymbolTable
from simulator.language import tree
from simulator.language.ctype import ArrayOf, Struct
from simulator.language.errors import SourceError, Span
from simulator.language.visit import in_register

VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL)


def closure_of(symbols: SymbolTable, cursor: Any) -> Closure:
    """The lambda that an expression is: by its name, or written there."""
    while True:
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            symbol = symbols.find(cursor.referenced)
            if isinstance(symbol, Closure):
                return symbol
        if cursor.kind == CursorKind.LAMBDA_EXPR:
            return Closure(())
        children = child_expressions(cursor)
        if len(children) != 1:
            raise SourceError(
                "This lambda is not known here; call it by its name.", span_of(cursor)
            )
        (cursor,) = children


def declare_closure(symbols: SymbolTable, cursor: Any, span: Span) -> list[tree.Statement]:
    """Declare auto f = [=](…) {…}: the statements that copy what it captures by value."""
    lambdas = [c for c in descendants(cursor) if c.kind == CursorKind.LAMBDA_EXPR]
    if not lambdas:
        initializers = child_expressions(cursor)
        symbols.bind(cursor, closure_of(symbols, initializers[-1]))
        return []
    statements: list[tree.Statement] = []
    captured: list[tuple[Any, Symbol]] = []
    for declaration in _copied(lambdas[-1]):
        symbol = symbols.find(declaration)
        made = _copy(declaration.spelling, symbol, span)
        if made is not None:
            captured.append((declaration, made[0]))
            statements += made[1]
    symbols.bind(cursor, Closure(tuple(captured)))
    return statements


def _copied(cursor: Any) -> list[Any]:
    """The declarations of the variables that a lambda captures by value.

    Its body sees them as constants, which clang shows in their types there.
    """
    found: dict[int, Any] = {}
    (body,) = [c for c in cursor.get_children() if c.kind == CursorKind.COMPOUND_STMT]
    for inner in descendants(body):
        declaration = inner.referenced if inner.kind == CursorKind.DECL_REF_EXPR else None
        if declaration is None or declaration.kind not in VARIABLES:  # a template's argument
            continue
        if inner.type.is_const_qualified() and not declaration.type.is_const_qualified():
            found[declaration.hash] = declaration
    return list(found.values())


def _copy(
    name: str, symbol: Symbol | None, span: Span
) -> tuple[Symbol, list[tree.Statement]] | None:
    """A captured variable's copy, and its declaration; None for one that cannot change."""
    match symbol:
        case tree.Variable(space=tree.MemorySpace.REGISTER | tree.MemorySpace.PARAMETER):
            copied = tree.Variable(name, symbol.ctype, tree.MemorySpace.REGISTER, span)
            old = tree.Load(symbol.ctype, span, tree.Name(symbol.ctype, span, symbol))
            return copied, [tree.Declare(span, copied, old)]
        case Record(ctype=struct):
            record, declarations = declare(name, struct, span)
            return record, merge(declarations, copy(record, symbol, span))
        case (
            tree.Index(base=tree.Name(variable=tree.Variable(space=tree.MemorySpace.LOCAL)))
            | tree.Dereference()
        ):
            if isinstance(symbol.ctype, Struct):
                record, declarations = declare(name, symbol.ctype, span)
                return record, merge(declarations, copy(record, symbol, span))
            if not isinstance(symbol.ctype, ArrayOf):
                copied = tree.Variable(name, symbol.ctype, tree.MemorySpace.REGISTER, span)
                return copied, [tree.Declare(span, copied, tree.Load(symbol.ctype, span, symbol))]
            raise _no_copy(name, span)
        case tree.Name() if in_register(symbol):
            return _copy(name, symbol.variable, span)
        case tree.Variable(space=tree.MemorySpace.LOCAL):
            raise _no_copy(name, span)
        case _:
            return None


def _no_copy(name: str, span: Span) -> SourceError:
    return SourceError(
        f"A lambda that copies the array {name} is not supported; capture it by reference, with "
        "[&].",
        span,
    )
