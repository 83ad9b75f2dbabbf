"""The names of the cells that threads access, and where in their matrices they are."""

from __future__ import annotations

from simulator.language.ctype import Pointer, Struct, Vector, parts
from simulator.language.tree import Expression, FieldOf, Index, Member, MemorySpace
from simulator.launch import format_cell
from simulator.recording.recording import Recording, StepAccess


def cell_name(recording: Recording, access: StepAccess, thread: int) -> str:
    """The cell that a thread accesses: As[1][3], or A[11] of a global array."""
    struct = _struct_around(access.expression)
    if struct is not None:
        number, offset = divmod(int(access.offsets[thread]), struct.size)
        if access.width == struct.size:
            return f"{access.name}[{number}]"
        names = {part.offset: part.name for part in reversed(parts(struct))}
        return f"{access.name}[{number}]{names.get(offset, '')}"
    index = int(access.offsets[thread]) // access.element_bytes
    length = _vector_length(recording, access)
    if length:
        index, part = divmod(index, length)
        return f"{access.name}[{index}]{'' if access.components == length else '.' + 'xyzw'[part]}"
    shape = _shape(recording, access)
    if shape is None:
        return f"{access.name}[{index}]"
    indices = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        indices.append(rest)
    return format_cell(access.name, reversed(indices))


def row_and_column(recording: Recording, access: StepAccess, thread: int) -> str:
    """Where in its matrix a cell of global memory is; "" for an array of one dimension."""
    array = recording.arguments.get(access.name)
    if access.space is not MemorySpace.GLOBAL or array is None or array.ndim != 2:
        return ""
    if "." in cell_name(recording, access, thread).removeprefix(access.name):  # a struct's member
        return ""
    row, column = divmod(int(access.offsets[thread]) // access.element_bytes, array.shape[1])
    return f", row {row} and column {column} of {access.name}"


def _vector_length(recording: Recording, access: StepAccess) -> int:
    """The numbers of each short vector that a parameter points to; 0 for other arrays."""
    if access.space is not MemorySpace.GLOBAL:
        return 0
    for parameter in recording.kernel.parameters:
        if parameter.name == access.name and isinstance(parameter.ctype, Pointer):
            target = parameter.ctype.target
            return target.length if isinstance(target, Vector) else 0
    return 0


def _struct_around(lvalue: Expression) -> Struct | None:
    """The struct of which an lvalue in memory is a member, or a part of one; None for others."""
    found = None
    while isinstance(lvalue, (FieldOf, Index, Member)):
        lvalue = lvalue.base
        if isinstance(lvalue.ctype, Struct):
            found = lvalue.ctype
    return found


def _shape(recording: Recording, access: StepAccess) -> tuple[int, ...] | None:
    """The dimensions of a shared array, or a thread's; None for others, named by one number."""
    if access.space is MemorySpace.LOCAL:
        held = (step.registers.get(access.name) for step in recording.steps)
        return next((values.shape[1:] for values in held if values is not None), None) or None
    if access.space is not MemorySpace.SHARED or not recording.steps:
        return None
    contents = recording.steps[0].shared.get(access.name)
    return None if contents is None else contents.shape
