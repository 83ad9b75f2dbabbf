"""Global, shared and local arrays as bytes, and the pointers into them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.language.ctype import (
    ARRAY_ALIGNMENT,
    UCHAR,
    ULONG,
    Array,
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Vector,
    align_up,
    parts,
)
from simulator.language.tree import ArraySpace, MemorySpace

FAR = 2**40  # bytes; no array is as long
NULL_OFFSET = -(2**41)  # of lanes whose pointer is null while that of others is not
WIDE = 2**62  # int64 offsets are less than this, so that the sum of two of them does not overflow


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """One array: a launch's, a block's shared array, or a local array of each thread.

    An array in global or constant memory has one instance. A shared array has one for each block of
    the chunk, one after another. The instances of a local array, one for each lane, are
    interleaved: element c of lane l is element c * lanes + l of cells; those of structs with
    numbers of several sizes follow one another.
    """

    name: str
    space: ArraySpace
    element: Scalar  # of short vectors: their component; of structs: Struct.cell
    shape: tuple[int, ...]  # of an instance, in elements
    size: int  # bytes of an instance: what a thread may touch
    # Bytes from a shared array's instance to the next, or to that of the next lane of a local array
    # that is not interleaved; else 0.
    stride: int
    data: Array  # uint8, all instances
    offset: int = 0  # bytes, of a shared array in its block's shared memory
    members: tuple[str, ...] = ()  # of structs: the name of each cell of one, such as ".x"
    dynamic: bool = False  # whether its bytes are the launch's dynamic shared memory
    cells: Array = field(init=False)  # data as elements: the view that almost every access uses

    def __post_init__(self) -> None:
        """Compute cells."""
        object.__setattr__(self, "cells", self.data.view(self.element.cell_dtype))

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes of all instances as numbers of a dtype."""
        return self.cells if dtype == self.cells.dtype else self.data.view(dtype)

    def contents(self) -> Array:
        """A copy of its first instance in its shape; of a local array all: [*shape, lanes]."""
        if self.space is MemorySpace.LOCAL and self.stride:
            lanes = self.data.reshape(-1, self.stride)[:, : self.size].copy()
            cells = lanes.view(self.element.cell_dtype).T
            return cells.reshape(*self.shape, -1).copy()
        if self.space is MemorySpace.LOCAL:
            return self.cells.reshape(*self.shape, -1).copy()
        return self.data[: self.size].view(self.element.cell_dtype).reshape(self.shape).copy()


@dataclass(slots=True, eq=False)  # not frozen: one is made for every access, several times faster
class Address:
    """A pointer's value: an array, and for each lane the bytes from its start.

    What differs between lanes is separate from what is the same for all: while a loop advances the
    base, everything that depends on lane_offsets alone is computed once. Neither wraps at 64 bits.
    """

    buffer: Buffer
    lane_offsets: Array | None  # bytes [lanes], int64, or Python ints where that is too narrow
    base: int  # bytes, the same for all lanes

    @property
    def offset(self) -> Any:
        """Bytes from the array's start: one number, or [lanes]."""
        return self.base if self.lane_offsets is None else add_offsets(self.lane_offsets, self.base)

    def moved(self, count: int) -> Address:
        """The pointer that is a number of bytes further on, in all lanes."""
        return Address(self.buffer, self.lane_offsets, self.base + count)

    @property
    def is_far(self) -> bool:
        """Whether it may be too far from its array for 64-bit arithmetic."""
        if not -FAR < self.base < FAR:
            return True
        return self.lane_offsets is not None and self.lane_offsets.dtype.hasobject


NULL = Address(
    Buffer("nullptr", MemorySpace.GLOBAL, UCHAR, (0,), 0, 0, np.zeros(16, np.uint8)), None, 0
)


def in_buffer_of(pointer: Address, other: Address) -> Address:
    """A pointer, or for a null one that in the array of another pointer."""
    is_null = pointer.buffer is NULL.buffer and other.buffer is not NULL.buffer
    return Address(other.buffer, None, NULL_OFFSET) if is_null else pointer


def is_null(buffer: Buffer, offset: int) -> bool:
    """Whether an offset from an array's start, in bytes, follows from a null pointer."""
    return buffer is NULL.buffer or abs(offset - NULL_OFFSET) < FAR


def scale_index(index: Array, size: int) -> Array:
    """An index [lanes] of elements of size bytes as offsets [lanes] in bytes.

    An unsigned index of 64 bits is taken as a signed one.

    >>> scale_index(np.array([0, 1, -2], np.int32), 4)
    array([ 0,  4, -8])
    """
    wide = index.astype(np.int64)
    if index.dtype.itemsize < 8 and abs(size) < 2**30:
        return wide * size
    furthest = max(-int(wide.min()), int(wide.max()), 1) * abs(size)
    scaled: Array = wide * size if furthest < WIDE else wide.astype(object) * size
    return _as_int64(scaled)


def add_offsets(left: Array, right: Any) -> Array:
    """The sum, without overflow, of offsets [lanes] and other offsets [lanes] or one number."""
    fits = -WIDE <= right < WIDE if isinstance(right, int) else not right.dtype.hasobject
    if not fits or left.dtype.hasobject:
        return _as_int64(left.astype(object) + right)
    total: Array = left + right
    in_range = int(total.min()) >= -WIDE and int(total.max()) < WIDE
    return total if in_range else total.astype(object)


def select_offsets(mask: Array, left: Any, right: Any) -> Array:
    """Offsets [lanes]: left where the mask [lanes] is set, else right."""
    if any(isinstance(side, int) and not -WIDE <= side < WIDE for side in (left, right)):
        left, right = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
    selected: Array = np.where(mask, left, right)
    return selected


def wrap_offsets(offsets: Any) -> Any:
    """Python ints [lanes], or one, as int64; what 64 bits cannot hold wraps, as on a GPU."""
    if isinstance(offsets, int):
        return np.int64((offsets + 2**63) % 2**64 - 2**63)
    return ((offsets + 2**63) % 2**64 - 2**63).astype(np.int64)


def clip_offsets(offsets: Any) -> Array:
    """Offsets, [lanes] or one, as int64; what 64 bits cannot hold becomes the nearest limit."""
    if not isinstance(offsets, int) and not offsets.dtype.hasobject:
        return np.asarray(offsets)
    limits = np.iinfo(np.int64)
    clipped = np.clip(np.asarray(offsets, dtype=object), limits.min, limits.max)
    return np.asarray(clipped, dtype=np.int64)


def _as_int64(offsets: Array) -> Array:
    """Offsets as int64 if all of them fit, else unchanged."""
    fits = offsets.min() >= -WIDE and offsets.max() < WIDE
    return offsets.astype(np.int64) if fits else offsets


def global_buffer(
    name: str, array: Array, target: CType, space: ArraySpace = MemorySpace.GLOBAL
) -> Buffer:
    """A copy of an argument's array as global or constant memory; target is its elements' type."""
    size, element = array.nbytes, element_of(target)
    data = np.empty(max(ARRAY_ALIGNMENT, align_up(size)), np.uint8)
    data[:size] = array.reshape(-1).view(np.uint8)
    data[size:] = 0
    shape, members = array.shape, member_names(target)
    if array.dtype.names is not None:
        shape = (*shape, len(members))
    return Buffer(name, space, element, shape, size, 0, data, members=members)


def pointer_buffer(
    name: str, shape: tuple[int, ...], space: ArraySpace = MemorySpace.GLOBAL
) -> Buffer:
    """An array of pointers in global or constant memory, all of them null."""
    size = math.prod(shape) * ULONG.size
    return Buffer(name, space, ULONG, shape, size, 0, np.zeros(size, np.uint8))


def member_names(ctype: CType) -> tuple[str, ...]:
    """The name of each cell of a struct (".x"; "" for padding); () for a type of another kind."""
    if isinstance(ctype, ArrayOf):
        return member_names(ctype.innermost)
    if not isinstance(ctype, Struct):
        return ()
    cell_size = ctype.cell.size  # computed from every member
    names = [""] * (ctype.size // cell_size)
    for part in parts(ctype):
        first = part.offset // cell_size
        count = max(1, part.scalar.size // cell_size)
        names[first : first + count] = [part.name] * count
    return tuple(names)


def shared_buffer(
    name: str, ctype: ArrayOf, offset: int, blocks: int, dynamic_bytes: int | None
) -> Buffer:
    """A shared array of every block of a chunk, all zeros.

    offset is its first byte in the block's shared memory. dynamic_bytes, None unless the array is
    extern, is how much the launch gives it.
    """
    element = element_of(ctype.innermost)
    shape = ctype.shape
    if dynamic_bytes is not None:
        inner = int(np.prod(shape[1:], dtype=np.int64)) * ctype.innermost.size
        shape = (dynamic_bytes // inner, *shape[1:])
    if isinstance(ctype.innermost, (Vector, Struct)):
        shape = (*shape, ctype.innermost.size // element.size)
    size = int(np.prod(shape, dtype=np.int64)) * element.size
    stride = max(ARRAY_ALIGNMENT, align_up(size))
    data = np.zeros(stride * blocks, np.uint8)
    members = member_names(ctype)
    return Buffer(
        name, MemorySpace.SHARED, element, shape, size, stride, data, offset, members,
        dynamic=dynamic_bytes is not None,
    )  # fmt: skip


def local_buffer(name: str, ctype: ArrayOf, lanes: int, by_lane: bool = False) -> Buffer:
    """A local array of each of `lanes` threads, all zeros.

    by_lane stores a lane's bytes side by side, so that they can be read as other elements.
    """
    element = element_of(ctype.innermost)
    shape = ctype.shape
    members = member_names(ctype)
    if isinstance(ctype.innermost, (Vector, Struct)):
        shape = (*shape, ctype.innermost.size // element.size)
    stride = align_up(ctype.size) if by_lane else 0
    if isinstance(ctype.innermost, Struct):
        mixed = any(part.scalar.size != element.size for part in parts(ctype.innermost))
        by_lane = by_lane or mixed or ctype.innermost.overlaps
        stride = align_up(ctype.size) if by_lane else 0
    data = np.zeros((stride or ctype.size) * lanes, np.uint8)
    return Buffer(
        name=name,
        space=MemorySpace.LOCAL,
        element=element,
        shape=shape,
        size=ctype.size,
        stride=stride,
        data=data,
        members=members,
    )


def element_of(ctype: CType) -> Scalar:
    """The arithmetic type of the cells that memory of this type is divided into."""
    match ctype:
        case Scalar():
            return ctype
        case Vector():
            return ctype.element
        case ArrayOf():
            return element_of(ctype.innermost)
        case Struct():
            return ctype.cell
        case Pointer():
            return ULONG
        case _:
            raise TypeError(f"{ctype} has no elements")
