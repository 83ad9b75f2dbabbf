"""Copies of structs: one load and one store a member, or one for several that lie aligned.

nvcc knows of an address what its type's alignment says. So a struct declared __align__(16) of four
floats moves in one access of 16 bytes, as float4 does, and one without moves float by float (seen
in nvcc 13's PTX). Here neighbours of one type move together where they fill an aligned 4, 8 or 16
bytes; nvcc joins numbers of one size also where their types differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from simulator.frontend.records import (
    Place,
    Record,
    as_record,
    assign,
    is_repeatable,
    leaves,
    point_to,
)
from simulator.language import tree
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Struct, Vector
from simulator.language.errors import Span
from simulator.language.number_types import SHORT_VECTORS

WIDEST = 16  # bytes of one load or store (PTX ISA, ld)
COUNTS = (4, 2)  # numbers of one access, the most first


@dataclass(frozen=True, slots=True)
class Chunk:
    """Neighbouring numbers of a struct that one access moves."""

    first: int  # the number of the first, among the struct's leaves
    count: int
    offset: int  # bytes from the struct's start
    ctype: CType  # of the access


def copy(target: Place, source: Place, span: Span) -> list[tree.Statement]:
    """The statements that copy a struct."""
    statements: list[tree.Statement] = [*source.setup] if isinstance(source, Record) else []
    ends: list[Record] = []
    for place in (source, target):
        lvalue = place.lvalue if isinstance(place, Record) else place
        if lvalue is None or is_repeatable(lvalue):
            ends.append(as_record(place))
            continue
        declared, stable = point_to(lvalue, "address")
        statements.append(declared)
        ends.append(as_record(stable))
    origin, destination = ends
    froms = [replace(leaf, span=span) for leaf in leaves(origin)]
    tos = [replace(leaf, span=span) for leaf in leaves(destination)]
    for chunk in _chunks(destination.ctype):
        stop = chunk.first + chunk.count
        statements += _move(
            destination, tos[chunk.first : stop], origin, froms[chunk.first : stop], chunk, span
        )
    return statements


def _move(
    target: Record,
    tos: list[tree.Expression],
    source: Record,
    froms: list[tree.Expression],
    chunk: Chunk,
    span: Span,
) -> list[tree.Statement]:
    """Copy one chunk: tos and froms are its numbers' lvalues."""
    in_memory = target.lvalue is not None or source.lvalue is not None
    if chunk.count == 1 or not in_memory:
        return [
            assign(to, tree.Load(origin.ctype, span, origin), span)
            for to, origin in zip(tos, froms, strict=True)
        ]
    vector = chunk.ctype
    assert isinstance(vector, Vector)
    statements: list[tree.Statement] = []
    if source.lvalue is None:
        values = tuple(tree.Load(origin.ctype, span, origin) for origin in froms)
        value: tree.Expression = tree.Call(vector, span, f"make_{vector.name}", values)
    else:
        value = tree.Load(vector, span, _whole(source.lvalue, chunk, froms, span))
    if target.lvalue is not None:
        return [assign(_whole(target.lvalue, chunk, tos, span), value, span)]
    loaded = tree.Variable(_name(tos), vector, tree.MemorySpace.REGISTER, span)
    statements.append(tree.Declare(span, loaded, value))
    for position, to in enumerate(tos):
        name = tree.Name(vector, span, loaded)
        component = tree.Member(vector.element, span, name, position)
        statements.append(assign(to, tree.Load(vector.element, span, component), span))
    return statements


def _name(variables: list[tree.Expression]) -> str:
    """What a vector of several members' values is called: body.x…w."""
    first, last = (
        variable.variable.name if isinstance(variable, tree.Name) else "value"
        for variable in (variables[0], variables[-1])
    )
    return f"{first}…{last.rpartition('.')[2]}"


def _whole(
    struct: tree.Expression, chunk: Chunk, parts: list[tree.Expression], span: Span
) -> tree.Expression:
    """The lvalue of a chunk of a struct in memory."""
    name = ""
    if chunk.ctype.size < struct.ctype.size:
        names = [part.name for part in (parts[0], parts[-1]) if isinstance(part, tree.FieldOf)]
        name = "…".join(names)
    return tree.FieldOf(chunk.ctype, span, struct, name, chunk.offset)


def _chunks(struct: Struct) -> Iterator[Chunk]:
    """What a struct moves in, in the order of its members."""
    numbers = list(_offsets(struct, 0))
    position = 0
    while position < len(numbers):
        offset, ctype = numbers[position]
        count = 1
        for wanted in COUNTS:
            vector = _vector(ctype, wanted)
            following = numbers[position : position + wanted]
            together = [(offset + i * ctype.size, ctype) for i in range(wanted)]
            if vector is None or following != together:
                continue
            if vector.size <= min(struct.alignment, WIDEST) and offset % vector.size == 0:
                ctype, count = vector, wanted
                break
        yield Chunk(position, count, offset, ctype)
        position += count


def _offsets(ctype: CType, offset: int) -> Iterator[tuple[int, CType]]:
    """The offset and type of each of a type's leaves, in their order."""
    match ctype:
        case Struct(stored=fields):
            for field in fields:
                yield from _offsets(field.ctype, offset + field.offset)
        case ArrayOf(element=element, length=length):
            for number in range(length):
                yield from _offsets(element, offset + number * element.size)
        case _:
            yield offset, ctype


def _vector(ctype: CType, count: int) -> Vector | None:
    """The short vector of numbers of a type."""
    if not isinstance(ctype, Scalar) or isinstance(ctype, Pointer):
        return None
    for vector in SHORT_VECTORS.values():
        if vector.element == ctype and vector.length == count and vector.size <= WIDEST:
            return vector
    return None
