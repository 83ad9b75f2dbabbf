"""In what cells a kernel's extern shared memory is kept: the narrowest that it is accessed by."""

from __future__ import annotations

from simulator.language.ctype import UCHAR, UINT, USHORT, ArrayOf, Pointer, Scalar, Vector
from simulator.language.tree import Cast, Expression, Kernel, Variable
from simulator.language.visit import expressions_within

CELLS = {1: UCHAR, 2: USHORT, 4: UINT}  # by their bytes


def extern_type(kernel: Kernel, array: Variable) -> ArrayOf:
    """The type of the memory that an extern shared array names.

    It is the array's, unless some pointer of the kernel is cast to narrower elements: what threads
    do to neighbouring bytes of one element must be distinguished.
    """
    assert isinstance(array.ctype, ArrayOf)
    declared = _component_bytes(array.ctype.innermost)
    narrow = [_cast_bytes(expression) for expression in expressions_within(kernel.body)]
    narrowest = min([size for size in narrow if size], default=declared)
    if not declared or narrowest >= declared:
        return array.ctype
    return ArrayOf(CELLS[narrowest], 0)


def _cast_bytes(expression: Expression) -> int:
    """The bytes of what a pointer is cast to point to; 0 for other expressions."""
    match expression:
        case Cast(ctype=Pointer(target=target)):
            return _component_bytes(target)
        case _:
            return 0


def _component_bytes(ctype: object) -> int:
    """The bytes of a number, or of a short vector's component; 0 for other types."""
    match ctype:
        case Scalar():
            return ctype.size
        case Vector():
            return ctype.element.size
        case _:
            return 0
