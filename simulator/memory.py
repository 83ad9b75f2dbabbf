"""Global, shared and local memory as bytes: what a thread's address names, and what is outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.ctype import Array, ArrayOf, CType, Pointer, Scalar, Vector
from simulator.tree import SourceError, Span

ALIGNMENT = 16  # arrays start at multiples of it, enough for every vector type


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """One array: a kernel's argument, a block's shared array, or an array every thread has.

    A shared array has one instance a block of the chunk, `stride` bytes apart; a global one has
    one. A local array keeps the same cell of all lanes side by side: cell c of lane l is element
    c * lanes + l. size is the bytes that a thread may touch.
    """

    name: str
    space: str
    element: Scalar
    shape: tuple[int, ...]
    size: int
    stride: int
    data: Array
    offset: int = 0  # of a shared array in its block's shared memory, in bytes

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as numbers of a dtype."""
        return self.data.view(dtype)

    def contents(self, instance: int = 0) -> Array:
        """A copy of one instance in its shape."""
        start = instance * self.stride
        cells = self.data[start : start + self.size].view(self.element.dtype)
        return cells.reshape(self.shape).copy()


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer's value: the array it points into and the bytes from its start, one a lane."""

    buffer: Buffer
    offset: Any


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def global_buffer(name: str, array: Array, element: Scalar) -> Buffer:
    """An argument's array as global memory; `array` is copied."""
    size = array.nbytes
    data = np.zeros(max(ALIGNMENT, _round_up(size)), np.uint8)
    data[:size] = array.reshape(-1).view(np.uint8)
    return Buffer(name, "global", element, array.shape, size, 0, data)


def shared_buffer(
    name: str, ctype: ArrayOf, offset: int, blocks: int, dynamic_bytes: int | None
) -> Buffer:
    """A shared array of every block of a chunk; dynamic_bytes is the launch's, for extern ones."""
    element = element_of(ctype.innermost)
    shape = ctype.shape
    if dynamic_bytes is not None:
        shape = (dynamic_bytes // element.size,)
    elif isinstance(ctype.innermost, Vector):
        shape = (*shape, ctype.innermost.length)
    size = int(np.prod(shape, dtype=np.int64)) * element.size
    stride = max(ALIGNMENT, _round_up(size))
    data = np.zeros(stride * blocks, np.uint8)
    return Buffer(name, "shared", element, shape, size, stride, data, offset)


def local_buffer(name: str, ctype: ArrayOf, lanes: int) -> Buffer:
    """An array that each of `lanes` threads has of its own."""
    element = element_of(ctype.innermost)
    shape = ctype.shape
    if isinstance(ctype.innermost, Vector):
        shape = (*shape, ctype.innermost.length)
    data = np.zeros(ctype.size * lanes, np.uint8)
    return Buffer(name, "local", element, shape, ctype.size, 0, data)


def element_of(ctype: CType) -> Scalar:
    """The arithmetic type that memory of this type is made of."""
    match ctype:
        case Scalar():
            return ctype
        case Vector():
            return ctype.element
        case Pointer():
            raise TypeError("pointers are not kept in memory")
        case ArrayOf():
            return element_of(ctype.innermost)
        case _:
            raise TypeError(f"{ctype} has no elements")


def indices(buffer: Buffer, offsets: Any, ctype: CType, lanes: Array, slots: Array) -> Any:
    """Where in buffer.view(element) each lane's value starts.

    offsets [n] or one number for all, bytes, in bounds and aligned; lanes [n] number the group's
    threads and slots [n] their block within the chunk.
    """
    element = element_of(ctype)
    if buffer.space == "local":
        return offsets // element.size * (buffer.data.size // buffer.size) + lanes
    if buffer.space == "shared":
        return (offsets + slots * buffer.stride) // element.size
    return offsets // element.size


def component_step(buffer: Buffer) -> int:
    """Elements between the components of a short vector in buffer.view(element)."""
    return buffer.data.size // buffer.size if buffer.space == "local" else 1


def refuse_reinterpretation(buffer: Buffer, ctype: CType, span: Span) -> None:
    """SourceError for an array in registers that is read in cells of another size."""
    if buffer.space == "local" and element_of(ctype).size != buffer.element.size:
        raise SourceError(
            f"{buffer.name} holds {buffer.element}; reading it as {ctype} in registers is not "
            "supported.",
            span,
        )
