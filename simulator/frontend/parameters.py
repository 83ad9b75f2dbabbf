"""A kernel's parameters: a struct among them is a parameter for each of its numbers."""

from __future__ import annotations

from typing import Any

from simulator.frontend.clang import span_of
from simulator.frontend.copies import copy
from simulator.frontend.records import Place, Record, assign, elements, in_memory, merge
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.types import cells_of, is_struct, lower_struct, lower_type, referred_type
from simulator.language import tree
from simulator.language.ctype import ArrayOf, CType, Pointer, Struct
from simulator.language.errors import SourceError, Span

MAX_NUMBERS = 512  # of one struct: the launch gives each of them
MAX_BYTES = 4_096  # of all parameters (CUDA C++ Programming Guide, __global__ parameters)


def declare_parameter(
    symbols: SymbolTable, cursor: Any
) -> tuple[list[tree.Variable], list[tree.Statement]]:
    """The variables of a kernel's parameter, and the statements that the kernel begins with.

    A struct's numbers are variables named as C writes them: `A.width`, `filter.taps[0]`. An array
    in a struct is copied to local memory, where it can be indexed.
    """
    span = span_of(cursor)
    referred = referred_type(cursor.type)
    if referred is not None:  # what it refers to is given as a pointer to it is
        target = lower_type(referred, span)
        variable = tree.Variable(cursor.spelling, Pointer(target), tree.MemorySpace.PARAMETER, span)
        address = tree.Load(variable.ctype, span, tree.Name(variable.ctype, span, variable))
        symbols.bind(cursor, tree.Dereference(target, span, address))
        return [variable], []
    if not is_struct(cursor.type):
        return [symbols.declare(cursor, tree.MemorySpace.PARAMETER)], []
    struct = lower_struct(cursor.type.get_canonical(), span)
    if struct.size > MAX_BYTES or cells_of(struct) > MAX_NUMBERS:
        raise SourceError(
            f"{cursor.spelling} is a parameter of {cells_of(struct):,} numbers; pass a pointer to "
            "it.",
            span,
        )
    variables: list[tree.Variable] = []
    before: list[tree.Statement] = []
    record = _record(cursor.spelling, struct, span, variables, before)
    if symbols.is_addressed(cursor) or struct.overlaps:
        declared = symbols.declare_in_memory(cursor, struct, tree.MemorySpace.LOCAL, None)
        lvalue = symbols.find(cursor)
        assert isinstance(lvalue, tree.Index)
        before += [declared, *copy(in_memory(lvalue), record, span)]
    else:
        symbols.bind(cursor, record)
    return variables, before


def _record(
    name: str,
    struct: Struct,
    span: Span,
    variables: list[tree.Variable],
    before: list[tree.Statement],
) -> Record:
    """A struct whose members are parameters, which are added to `variables`."""
    members: dict[str, Place] = {}
    for field in struct.stored:
        full = f"{name}.{field.name}"
        match field.ctype:
            case Struct() as inner:
                members[field.name] = _record(full, inner, span, variables, before)
            case ArrayOf() as array:
                members[field.name] = _array(full, array, span, variables, before)
            case lowered:
                members[field.name] = _number(full, lowered, span, variables)
    return Record(struct, span, members)


def _number(name: str, lowered: CType, span: Span, variables: list[tree.Variable]) -> tree.Name:
    variables.append(tree.Variable(name, lowered, tree.MemorySpace.PARAMETER, span))
    return tree.Name(lowered, span, variables[-1])


def _array(
    name: str,
    array: ArrayOf,
    span: Span,
    variables: list[tree.Variable],
    before: list[tree.Statement],
) -> tree.Name:
    """An array of a struct: its elements are parameters, which are copied to local memory."""
    if isinstance(array.innermost, Struct):
        raise SourceError(
            f"{name} is an array of structs within a parameter; pass a pointer to one.", span
        )
    declared = tree.Declare(span, tree.Variable(name, array, tree.MemorySpace.LOCAL, span))
    local = tree.Name(array, span, declared.variable)
    statements = []
    for number, cell in enumerate(elements(local)):
        full = name + _indices(array, number)
        given = _number(full, cell.ctype, span, variables)
        statements.append(assign(cell, tree.Load(cell.ctype, span, given), span))
    before += merge([declared], statements)
    return local


def _indices(array: ArrayOf, number: int) -> str:
    """The indices, as C writes them, of an array's cell of a number, counted row by row."""
    text = ""
    for length in reversed(array.shape):
        number, index = divmod(number, length)
        text = f"[{index}]{text}"
    return text
