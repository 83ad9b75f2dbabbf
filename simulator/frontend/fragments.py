"""Lowers the calls of nvcuda::wmma: what a warp does with fragments, tiles of matrices."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from simulator.frontend.clang import constant, span_of
from simulator.frontend.records import Record
from simulator.frontend.structs import Structs
from simulator.frontend.types import convert
from simulator.language import ctype
from simulator.language.ctype import Pointer
from simulator.language.errors import SourceError, Span
from simulator.language.fragments import Fragment, Use, parse_fragment
from simulator.language.number_types import ROUNDINGS
from simulator.language.tree import AddressOf, Call, Expression

NAMESPACE = "wmma"
LAYOUTS = ("mem_row_major", "mem_col_major")  # of layout_t, in the order of its numbers


def declares(cursor: Any) -> bool:
    """Whether a call is of a function of nvcuda::wmma."""
    called = cursor.referenced
    if called is None or called.kind == CursorKind.CONSTRUCTOR:
        return False
    parent = called.semantic_parent
    return bool(parent and parent.kind == CursorKind.NAMESPACE and parent.spelling == NAMESPACE)


def lower_fragment_call(cursor: Any, span: Span, structs: Structs) -> Expression:
    """A call of wmma's functions; the fragments are pointers to their elements."""
    name, arguments = cursor.spelling, list(cursor.get_arguments())
    values = structs.expressions
    if name in ROUNDINGS:
        value = convert(values.value(arguments[0]), ctype.FLOAT, span)
        return Call(ctype.FLOAT, span, name, (value,))
    function = f"wmma::{name}"
    match name:
        case "fill_fragment":
            fragment, elements = _fragment(arguments[0], structs)
            value = convert(values.value(arguments[1]), fragment.element, span)
            return Call(ctype.VOID, span, function, (elements, value), (str(fragment),))
        case "mma_sync":
            if len(arguments) > 4 and arguments[4].extent.start.line and constant(arguments[4]):
                raise SourceError("satf of mma_sync is for whole numbers: leave it out.", span)
            given = [_fragment(argument, structs) for argument in arguments[:4]]
            names = tuple(str(fragment) for fragment, _ in given)
            return Call(ctype.VOID, span, function, tuple(each for _, each in given), names)
        case "load_matrix_sync" | "store_matrix_sync":
            pointer, target = arguments[1], arguments[0]
            if name == "store_matrix_sync":
                pointer, target = target, pointer
            fragment, elements = _fragment(target, structs)
            layout = _layout(fragment, arguments[3:], span)
            address = values.value(pointer)
            distance = convert(values.value(arguments[2]), ctype.UINT, span)
            texts = (str(fragment), layout)
            return Call(ctype.VOID, span, function, (elements, address, distance), texts)
        case _:
            raise SourceError(f"{name} of wmma is not supported.", span)


def _fragment(cursor: Any, structs: Structs) -> tuple[Fragment, Expression]:
    """What fragment an argument is, and the pointer to its elements."""
    span = span_of(cursor)
    record: Record = structs.record(cursor)
    fragment = parse_fragment(record.ctype.name)
    if fragment is None or record.setup:
        raise SourceError("Give this fragment a name before it is used.", span)
    elements = record.members["x"]
    assert not isinstance(elements, Record)
    return fragment, AddressOf(Pointer(fragment.element), span, elements)


def _layout(fragment: Fragment, arguments: list[Any], span: Span) -> str:
    """How the tile lies in memory: of an accumulator a call says it, of an operand its type."""
    if fragment.use is not Use.ACCUMULATOR:
        return f"mem_{fragment.layout}"
    number = constant(arguments[0]) if arguments else None
    if number is None:
        raise SourceError(
            "Say with wmma::mem_row_major or wmma::mem_col_major how the tile lies in memory.", span
        )
    return LAYOUTS[int(number)]
