"""Global, shared and local memory as bytes: what a thread's address names, and what is outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.language.ctype import (
    ARRAY_ALIGNMENT,
    Array,
    ArrayOf,
    CType,
    Scalar,
    Vector,
    align_up,
)
from simulator.language.tree import MemorySpace

FAR = 2**40  # bytes: farther from its array's start than any array here is long
WIDE = 2**62  # offsets in an int64 array are less than this, so that two of them can be added


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """One array: a kernel's argument, a block's shared array, or an array every thread has.

    A shared array has one instance a block of the chunk, `stride` bytes apart; a global one has
    one. A local array keeps the same cell of all lanes side by side: cell c of lane l is element
    c * lanes + l. size is the bytes that a thread may touch. cells is `data` as its elements.
    """

    name: str
    space: MemorySpace
    element: Scalar
    shape: tuple[int, ...]
    size: int
    stride: int
    data: Array
    offset: int = 0  # of a shared array in its block's shared memory, in bytes
    cells: Array = field(init=False)

    def __post_init__(self) -> None:
        """Keep the view that almost every access uses."""
        object.__setattr__(self, "cells", self.data.view(self.element.dtype))

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as numbers of a dtype."""
        return self.cells if dtype == self.cells.dtype else self.data.view(dtype)

    def contents(self, instance: int = 0) -> Array:
        """A copy of one instance in its shape; of a local array, [*shape, lanes]."""
        if self.space is MemorySpace.LOCAL:
            return self.cells.reshape(*self.shape, -1).copy()
        start = instance * self.stride
        cells = self.data[start : start + self.size].view(self.element.dtype)
        return cells.reshape(self.shape).copy()


class Address:
    """A pointer's value: an array, and the bytes from its start: lanes [lanes] or None, plus base.

    The part that differs between lanes is kept apart from the part that is the same for all:
    while a loop advances the second, everything that depends on the first alone can be kept.
    Neither wraps: base is a Python int, and lanes holds Python ints where int64 is too narrow.
    """

    __slots__ = ("base", "buffer", "lanes")

    def __init__(self, buffer: Buffer, lanes: Array | None, base: int) -> None:
        self.buffer = buffer
        self.lanes = lanes
        self.base = base

    @property
    def offset(self) -> Any:
        """Bytes from the array's start: one number, or one a lane."""
        return self.base if self.lanes is None else add_offsets(self.lanes, self.base)

    @property
    def is_far(self) -> bool:
        """Whether it may be too far from its array for the arithmetic of 64 bits."""
        if not -FAR < self.base < FAR:
            return True
        return self.lanes is not None and self.lanes.dtype.hasobject


def scale_index(index: Array, size: int) -> Array:
    """index * size as offsets [lanes]; an unsigned index of 64 bits counts as a signed one."""
    wide = index.astype(np.int64)
    if index.dtype.itemsize < 8 and abs(size) < 2**30:
        return wide * size
    furthest = max(-int(wide.min()), int(wide.max()), 1) * abs(size)
    scaled: Array = wide * size if furthest < WIDE else wide.astype(object) * size
    return _narrowed(scaled)


def add_offsets(left: Array, right: Any) -> Array:
    """The sum of offsets [lanes] and of others [lanes] or one number for all, without overflow."""
    fits = -WIDE <= right < WIDE if isinstance(right, int) else not right.dtype.hasobject
    if not fits or left.dtype.hasobject:
        return _narrowed(left.astype(object) + right)
    total: Array = left + right
    in_range = int(total.min()) >= -WIDE and int(total.max()) < WIDE
    return total if in_range else total.astype(object)


def select_offsets(mask: Array, left: Any, right: Any) -> Array:
    """Offsets [lanes]: the left ones where the mask is set, else the right ones."""
    if any(isinstance(one, int) and not -WIDE <= one < WIDE for one in (left, right)):
        left, right = np.asarray(left, dtype=object), np.asarray(right, dtype=object)
    selected: Array = np.where(mask, left, right)
    return selected


def wrap_offsets(offsets: Any) -> Any:
    """Python ints [lanes], or one, as int64: those that 64 bits cannot hold wrap, as on a GPU."""
    if isinstance(offsets, int):
        return np.int64((offsets + 2**63) % 2**64 - 2**63)
    return ((offsets + 2**63) % 2**64 - 2**63).astype(np.int64)


def clip_offsets(offsets: Any) -> Array:
    """Offsets, or one, as int64 [lanes] or []: those that 64 bits cannot hold become the limits."""
    if not isinstance(offsets, int) and not offsets.dtype.hasobject:
        return np.asarray(offsets)
    limits = np.iinfo(np.int64)
    clipped = np.clip(np.asarray(offsets, dtype=object), limits.min, limits.max)
    return np.asarray(clipped, dtype=np.int64)


def _narrowed(offsets: Array) -> Array:
    """Offsets as int64 where all of them fit, else as they are."""
    fits = offsets.min() >= -WIDE and offsets.max() < WIDE
    return offsets.astype(np.int64) if fits else offsets


def global_buffer(name: str, array: Array, element: Scalar) -> Buffer:
    """An argument's array as global memory; `array` is copied."""
    size = array.nbytes
    data = np.zeros(max(ARRAY_ALIGNMENT, align_up(size)), np.uint8)
    data[:size] = array.reshape(-1).view(np.uint8)
    return Buffer(name, MemorySpace.GLOBAL, element, array.shape, size, 0, data)


def shared_buffer(
    name: str, ctype: ArrayOf, offset: int, blocks: int, dynamic_bytes: int | None
) -> Buffer:
    """A shared array of every block of a chunk; dynamic_bytes is the launch's, for extern ones."""
    element = element_of(ctype.innermost)
    shape = ctype.shape
    if dynamic_bytes is not None:
        inner = int(np.prod(shape[1:], dtype=np.int64)) * ctype.innermost.size
        shape = (dynamic_bytes // inner, *shape[1:])
    if isinstance(ctype.innermost, Vector):
        shape = (*shape, ctype.innermost.length)
    size = int(np.prod(shape, dtype=np.int64)) * element.size
    stride = max(ARRAY_ALIGNMENT, align_up(size))
    data = np.zeros(stride * blocks, np.uint8)
    return Buffer(name, MemorySpace.SHARED, element, shape, size, stride, data, offset)


def local_buffer(name: str, ctype: ArrayOf, lanes: int) -> Buffer:
    """An array that each of `lanes` threads has of its own."""
    element = element_of(ctype.innermost)
    shape = ctype.shape
    if isinstance(ctype.innermost, Vector):
        shape = (*shape, ctype.innermost.length)
    data = np.zeros(ctype.size * lanes, np.uint8)
    return Buffer(name, MemorySpace.LOCAL, element, shape, ctype.size, 0, data)


def element_of(ctype: CType) -> Scalar:
    """The arithmetic type that memory of this type is made of."""
    match ctype:
        case Scalar():
            return ctype
        case Vector():
            return ctype.element
        case ArrayOf():
            return element_of(ctype.innermost)
        case _:
            raise TypeError(f"{ctype} has no elements")
