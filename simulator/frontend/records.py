"""Structs of a thread's own: one variable for each member, or an lvalue in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.frontend.types import zero
from simulator.language import ctype, tree
from simulator.language.ctype import ArrayOf, Pointer, Struct
from simulator.language.errors import Span
from simulator.language.tree import Sequence as Block
from simulator.language.visit import in_register, subexpressions


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A struct: where each of its members is.

    A struct whose address nothing takes is no variable of its own: each of its members is one
    (compilers call that scalar replacement). One in memory has members at its own address.
    """

    ctype: Struct
    span: Span
    members: Mapping[str, Place]
    setup: tuple[tree.Statement, ...] = ()  # run once, before any member is read
    lvalue: tree.Expression | None = None  # its place in memory; None for one in registers


# Where a value is: an lvalue, or the members of a struct.
Place = tree.Expression | Record


def in_memory(lvalue: tree.Expression) -> Record:
    """The struct that an lvalue in memory is."""
    struct = lvalue.ctype
    assert isinstance(struct, Struct)
    members: dict[str, Place] = {}
    for field in struct.fields:
        member = tree.FieldOf(field.ctype, lvalue.span, lvalue, field.name, field.offset)
        members[field.name] = in_memory(member) if isinstance(field.ctype, Struct) else member
    return Record(struct, lvalue.span, members, lvalue=lvalue)


def as_record(place: Place) -> Record:
    """A place that holds a struct, as the members of that struct."""
    return place if isinstance(place, Record) else in_memory(place)


def declare(name: str, struct: Struct, span: Span) -> tuple[Record, list[tree.Declare]]:
    """A new struct in registers, and the declarations of its members: name.x, name.y.

    One of which members overlap, as a union's do, is in local memory.
    """
    if struct.is_union:
        variable = tree.Variable(name, ArrayOf(struct, 1), tree.MemorySpace.LOCAL, span)
        whole = element(tree.Name(variable.ctype, span, variable), 0)
        return in_memory(whole), [tree.Declare(span, variable)]
    members: dict[str, Place] = {}
    declarations: list[tree.Declare] = []
    for field in struct.fields:
        full = f"{name}.{field.name}"
        if isinstance(field.ctype, Struct):
            members[field.name], inner = declare(full, field.ctype, span)
            declarations += inner
            continue
        is_array = isinstance(field.ctype, ArrayOf)
        space = tree.MemorySpace.LOCAL if is_array else tree.MemorySpace.REGISTER
        variable = tree.Variable(full, field.ctype, space, span)
        members[field.name] = tree.Name(field.ctype, span, variable)
        declarations.append(tree.Declare(span, variable))
    return Record(struct, span, members), declarations


def as_base(record: Record, base: Struct) -> Record:
    """The part of a struct that its base declares."""
    members = {field.name: record.members[field.name] for field in base.fields}
    return replace(record, ctype=base, members=members, lvalue=None)


def leaves(place: Place) -> Iterator[tree.Expression]:
    """The lvalues of all numbers, short vectors and pointers of a place, in the order of memory."""
    if isinstance(place, Record):
        for field in place.ctype.stored:
            yield from leaves(place.members[field.name])
        return
    match place.ctype:
        case ArrayOf(length=length):
            for i in range(length):
                yield from leaves(element(place, i))
        case Struct():
            yield from leaves(in_memory(place))
        case _:
            yield place


def elements(array: tree.Expression) -> list[tree.Expression]:
    """The lvalues of an array's elements, those of an array of arrays row by row."""
    if not isinstance(array.ctype, ArrayOf):
        return [array]
    found = []
    for number in range(array.ctype.length):
        found += elements(element(array, number))
    return found


def element(array: tree.Expression, number: int) -> tree.Expression:
    """The lvalue of an array's element of a number."""
    assert isinstance(array.ctype, ArrayOf)
    index = tree.Literal(ctype.INT, array.span, ctype.INT.dtype.type(number))
    return tree.Index(array.ctype.element, array.span, array, index)


def assign(lvalue: tree.Expression, value: tree.Expression, span: Span) -> tree.Statement:
    """The statement lvalue = value."""
    return tree.Evaluate(span, tree.Assign(lvalue.ctype, span, lvalue, "", value, lvalue.ctype))


def clear(place: Place, span: Span) -> list[tree.Statement]:
    """The statements that set all numbers of a place to zero."""
    return [
        assign(replace(leaf, span=span), zero(leaf.ctype, span), span) for leaf in leaves(place)
    ]


def point_to(lvalue: tree.Expression, name: str) -> tuple[tree.Declare, tree.Expression]:
    """The declaration of a pointer to an lvalue in memory, and the lvalue through it."""
    pointer, span = Pointer(lvalue.ctype), lvalue.span
    variable = tree.Variable(name, pointer, tree.MemorySpace.REGISTER, span)
    through = tree.Dereference(
        lvalue.ctype, span, tree.Load(pointer, span, tree.Name(pointer, span, variable))
    )
    return tree.Declare(span, variable, tree.AddressOf(pointer, span, lvalue)), through


def is_repeatable(lvalue: tree.Expression) -> bool:
    """Whether to evaluate an lvalue's address for each member costs and changes nothing."""
    return not any(_changes(inner) or _reads_memory(inner) for inner in subexpressions(lvalue))


def _changes(expression: tree.Expression) -> bool:
    return isinstance(expression, (tree.Assign, tree.Call, tree.Increment, tree.Inlined))


def _reads_memory(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Load) and not in_register(expression.lvalue)


def as_expression(setup: Sequence[tree.Statement], name: str, span: Span) -> tree.Expression:
    """Statements as an expression without a value."""
    if len(setup) == 1 and isinstance(setup[0], tree.Function):
        return tree.Inlined(ctype.VOID, span, setup[0])
    return tree.Inlined(
        ctype.VOID, span, tree.Function(span, name, tuple(setup), Block(span, ()), None)
    )


def merge(
    declarations: Sequence[tree.Declare], statements: Sequence[tree.Statement]
) -> list[tree.Statement]:
    """Declarations and the statements after them, with first values made part of the former."""
    waiting = {declare.variable: declare for declare in declarations}
    merged: list[tree.Statement] = []
    position = 0
    while position < len(statements):
        before = statements[position]
        if isinstance(before, tree.Declare):
            merged.append(before)
            position += 1
            continue
        found = _first_values(statements, position, waiting)
        if found is None:
            break
        variable, values = found
        declaration = waiting.pop(variable)
        if isinstance(variable.ctype, ArrayOf):
            merged.append(replace(declaration, cells=values))
        else:
            merged.append(replace(declaration, value=values[0]))
        position += len(values)
    return [*merged, *waiting.values(), *statements[position:]]


def _first_values(
    statements: Sequence[tree.Statement],
    position: int,
    waiting: Mapping[tree.Variable, tree.Declare],
) -> tuple[tree.Variable, tuple[tree.Expression, ...]] | None:
    """The variable that statements from a position on give all its values, and these."""
    first = _assigned(statements[position])
    if first is None or first[0] not in waiting:
        return None
    variable = first[0]
    count = 1
    if isinstance(variable.ctype, ArrayOf):
        if isinstance(variable.ctype.innermost, Struct):
            return None
        count = variable.ctype.size // variable.ctype.innermost.size
    values = []
    for statement in statements[position : position + count]:
        found = _assigned(statement)
        if found is None or found[0] is not variable:
            return None
        values.append(found[1])
    return (variable, tuple(values)) if len(values) == count else None


def _assigned(statement: tree.Statement) -> tuple[tree.Variable, tree.Expression] | None:
    """The variable, or the array a cell of which, a statement assigns, and the value."""
    match statement:
        case tree.Evaluate(expression=tree.Assign(operator="", lvalue=lvalue, value=value)):
            while isinstance(lvalue, tree.Index) and isinstance(lvalue.index, tree.Literal):
                lvalue = lvalue.base
            return (lvalue.variable, value) if isinstance(lvalue, tree.Name) else None
        case _:
            return None
