"""Finds the local arrays whose bytes a kernel reads as elements of another size.

Such an array is stored lane by lane; all others cell by cell over the lanes, which is faster.
"""

from __future__ import annotations

from simulator.language.ctype import CType, Pointer, Scalar, Struct, Vector
from simulator.language.tree import (
    AddressOf,
    Cast,
    Expression,
    MemorySpace,
    Name,
    Statement,
    Variable,
)
from simulator.language.visit import expressions_within, operands


def reinterpreted_arrays(body: Statement) -> frozenset[Variable]:
    """The local arrays of a kernel that a pointer to elements of another size may point into.

    Where such a pointer is made from a pointer variable, these are all the local arrays whose
    address is taken.
    """
    addressed: set[Variable] = set()
    found: set[Variable] = set()
    from_pointer = False
    for expression in expressions_within(body):
        if isinstance(expression, AddressOf):
            root = _root(expression.lvalue)
            addressed |= {root} if root is not None else set()
        if isinstance(expression, Cast) and _changes_element_size(expression):
            root = _root(expression.operand)
            if root is not None and root.space is MemorySpace.REGISTER:
                from_pointer = True
            elif root is not None:
                found.add(root)
    candidates = found | addressed if from_pointer else found
    return frozenset(each for each in candidates if each.space is MemorySpace.LOCAL)


def _changes_element_size(cast: Cast) -> bool:
    """Whether a conversion of pointers changes the size of what memory is divided into."""
    source, target = cast.operand.ctype, cast.ctype
    if not isinstance(source, Pointer) or not isinstance(target, Pointer):
        return False
    sizes = _cell_size(source.target), _cell_size(target.target)
    return None not in sizes and sizes[0] != sizes[1]


def _cell_size(ctype: CType) -> int | None:
    """Bytes of a number, of a short vector's component or a struct's cell; None for others."""
    match ctype:
        case Scalar():
            return ctype.size
        case Vector():
            return ctype.element.size
        case Struct():
            return ctype.cell.size
        case _:
            return None


def _root(expression: Expression) -> Variable | None:
    """The variable that an address starts from, None where it is computed."""
    while not isinstance(expression, Name):
        inside = operands(expression)
        if not inside:
            return None
        expression = inside[0]
    return expression.variable
