"""C's types over NumPy's: scalars, short vectors, pointers and arrays, and how they convert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ARRAY_ALIGNMENT = 16  # bytes: arrays start at multiples of it, enough for every vector type


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type: its C name, its NumPy dtype and its rank in integer conversions."""

    name: str
    dtype: np.dtype[Any]
    rank: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.dtype.itemsize

    @property
    def is_float(self) -> bool:
        """Whether it is float or double."""
        return self.dtype.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type, bool among them."""
        return self.dtype.kind in "iub"

    def __str__(self) -> str:
        """The C name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Vector:
    """float4 and its kind: 2 to 4 scalars x, y, z, w that lie one after another."""

    name: str
    element: Scalar
    length: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element.size * self.length

    @property
    def alignment(self) -> int:
        """Bytes an address must be a multiple of (CUDA C++ Programming Guide, built-in vectors)."""
        return self.element.size if self.length == 3 else self.size

    def __str__(self) -> str:
        """The C name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer to values of one type."""

    target: CType

    @property
    def size(self) -> int:
        """Bytes on a GPU."""
        return 8

    def __str__(self) -> str:
        """The type as C writes it."""
        return f"{self.target}*"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array of known length; a 2-D array is an array of arrays."""

    element: CType
    length: int

    @property
    def size(self) -> int:
        """Bytes."""
        return size_of(self.element) * self.length

    @property
    def shape(self) -> tuple[int, ...]:
        """All dimensions, outermost first."""
        inner = self.element.shape if isinstance(self.element, ArrayOf) else ()
        return (self.length, *inner)

    @property
    def innermost(self) -> CType:
        """The type of one cell."""
        return self.element.innermost if isinstance(self.element, ArrayOf) else self.element

    def __str__(self) -> str:
        """The type as C writes it."""
        return f"{self.innermost}" + "".join(f"[{n}]" for n in self.shape)


@dataclass(frozen=True, slots=True)
class Void:
    """No value."""

    @property
    def size(self) -> int:
        """Zero bytes."""
        return 0

    def __str__(self) -> str:
        """The C name."""
        return "void"


CType = Scalar | Vector | Pointer | ArrayOf | Void

VOID = Void()
BOOL = Scalar("bool", np.dtype(np.bool_), 0)
CHAR = Scalar("char", np.dtype(np.int8), 1)
SCHAR = Scalar("signed char", np.dtype(np.int8), 1)
UCHAR = Scalar("unsigned char", np.dtype(np.uint8), 1)
SHORT = Scalar("short", np.dtype(np.int16), 2)
USHORT = Scalar("unsigned short", np.dtype(np.uint16), 2)
INT = Scalar("int", np.dtype(np.int32), 3)
UINT = Scalar("unsigned int", np.dtype(np.uint32), 3)
LONG = Scalar("long", np.dtype(np.int64), 4)
ULONG = Scalar("unsigned long", np.dtype(np.uint64), 4)
LONGLONG = Scalar("long long", np.dtype(np.int64), 5)
ULONGLONG = Scalar("unsigned long long", np.dtype(np.uint64), 5)
FLOAT = Scalar("float", np.dtype(np.float32), 6)
DOUBLE = Scalar("double", np.dtype(np.float64), 7)


VECTORS: dict[str, Vector] = {
    f"{prefix}{n}": Vector(f"{prefix}{n}", element, n)
    for prefix, element in (("float", FLOAT), ("double", DOUBLE), ("int", INT), ("uint", UINT))
    for n in (2, 3, 4)
}


def size_of(ctype: CType) -> int:
    """Bytes of one value."""
    return ctype.size


def align_up(size: int, alignment: int = ARRAY_ALIGNMENT) -> int:
    """The next multiple of an alignment, in bytes."""
    return -(-size // alignment) * alignment


def promote(ctype: Scalar) -> Scalar:
    """Integer promotion: what is narrower than int becomes int (C++17 [conv.prom])."""
    return INT if ctype.is_integer and ctype.rank < INT.rank else ctype


def common(left: Scalar, right: Scalar) -> Scalar:
    """The usual arithmetic conversions of two operands (C++17 [expr]/11)."""
    if left.is_float or right.is_float:
        return max(left, right, key=lambda scalar: scalar.rank)
    left, right = promote(left), promote(right)
    if (left.dtype.kind == right.dtype.kind) or left.rank == right.rank:
        by_rank = max(left, right, key=lambda scalar: scalar.rank)
        unsigned = [s for s in (left, right) if s.dtype.kind == "u" and s.rank == by_rank.rank]
        return unsigned[0] if unsigned else by_rank
    unsigned_one, signed_one = (left, right) if left.dtype.kind == "u" else (right, left)
    if unsigned_one.rank > signed_one.rank:
        return unsigned_one
    if signed_one.size > unsigned_one.size:
        return signed_one
    return ULONGLONG if signed_one is LONGLONG else ULONG


def convert(value: Any, target: Scalar) -> Any:
    """A value, or an array of one a lane, as another arithmetic type.

    Integers wrap at the target's width. A float out of an integer's range saturates and NaN gives
    zero, as the GPU's cvt instruction does (PTX ISA, cvt); C leaves both undefined.
    """
    dtype = value.dtype
    if dtype == target.dtype:
        return value
    if dtype.kind == "f" and target.dtype.kind in "iu":
        return _float_to_integer(value, target)
    if target.dtype.kind == "b":
        return value != 0
    return value.astype(target.dtype)


def _float_to_integer(value: Any, target: Scalar) -> Any:
    limits = np.iinfo(target.dtype)
    wide = np.trunc(np.asarray(value, dtype=np.float64))
    high = wide >= float(limits.max)
    low = wide <= float(limits.min)
    safe = np.where(high | low | np.isnan(wide), 0.0, wide).astype(target.dtype)
    result = np.where(high, limits.max, np.where(low, limits.min, safe)).astype(target.dtype)
    return result if np.ndim(value) else target.dtype.type(result)
