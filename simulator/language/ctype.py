"""C's types with their NumPy dtypes: scalars, short vectors, pointers, arrays; conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simulator.language.encodings import Encoding

Array = np.ndarray[Any, Any]

WIDEST_ACCESS = 16  # bytes that one instruction moves a lane
ARRAY_ALIGNMENT = 16  # bytes: arrays start at multiples of it, enough for most vector types


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type."""

    name: str  # as C has it
    dtype: np.dtype[Any]  # of values
    rank: int  # C++17 [conv.rank]; half, float and double rank above all integers
    encoding: Encoding | None = None  # of what memory holds, where values are floats of few bits

    @property
    def cell_dtype(self) -> np.dtype[Any]:
        """NumPy's type of what memory holds."""
        return self.dtype if self.encoding is None else self.encoding.cell_dtype

    @property
    def size(self) -> int:
        """Bytes."""
        return self.cell_dtype.itemsize

    @property
    def is_float(self) -> bool:
        """Whether it is a type of floating-point numbers."""
        return self.dtype.kind == "f"

    def values_of(self, cells: Any) -> Any:
        """The values that memory's cells hold, in their shape."""
        return cells if self.encoding is None else self.encoding.decode(cells)

    def cells_of(self, values: Any) -> Any:
        """What memory holds of values, in their shape."""
        return values if self.encoding is None else self.encoding.cells(values)

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type; bool is one."""
        return self.dtype.kind in "iub"

    def __str__(self) -> str:
        """The C name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Vector:
    """A short vector such as float4: components x, y, z, w, one after another in memory.

    dim3 is one of them: uint3 with another name.
    """

    name: str  # as CUDA has it
    element: Scalar  # the type of a component
    length: int  # components, 1 to 4

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element.size * self.length

    @property
    def alignment(self) -> int:
        """Bytes an address must be a multiple of (CUDA C++ Programming Guide, built-in vectors).

        >>> VECTORS["short4"].alignment, VECTORS["double4"].alignment, VECTORS["char3"].alignment
        (8, 16, 1)
        """
        return self.element.size if self.length in (1, 3) else min(self.size, WIDEST_ACCESS)

    def __str__(self) -> str:
        """The C name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer."""

    target: CType  # the type of what it points to

    @property
    def size(self) -> int:
        """Bytes on a GPU."""
        return 8

    def __str__(self) -> str:
        """The type as C writes it."""
        return f"{self.target}*"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array; a 2-D array is an array of arrays."""

    element: CType
    length: int  # elements; 0 for an extern __shared__ array, whose length the launch gives

    @property
    def size(self) -> int:
        """Bytes."""
        return size_of(self.element) * self.length

    @property
    def shape(self) -> tuple[int, ...]:
        """All lengths, outermost first."""
        inner = self.element.shape if isinstance(self.element, ArrayOf) else ()
        return (self.length, *inner)

    @property
    def innermost(self) -> CType:
        """The element type of the innermost array: that of one cell."""
        return self.element.innermost if isinstance(self.element, ArrayOf) else self.element

    def __str__(self) -> str:
        """The type as C writes it."""
        return f"{self.innermost}" + "".join(f"[{n}]" for n in self.shape)


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct, of its base or of its own."""

    name: str
    ctype: CType
    offset: int  # bytes from the struct's start


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct or class: its fields lie as C lays them out, in the order of their offsets."""

    name: str
    fields: tuple[Field, ...]
    size: int  # bytes, with padding
    alignment: int  # bytes that an address is a multiple of

    @property
    def stored(self) -> tuple[Field, ...]:
        """The fields that hold all its values, each once: of those that overlap, the largest.

        >>> union = Struct("U", (Field("c", CHAR, 0), Field("f", FLOAT, 0)), 4, 4)
        >>> [field.name for field in union.stored]
        ['f']
        """
        if not self.is_union:
            return self.fields
        chosen: list[Field] = []
        for field in sorted(self.fields, key=lambda field: -size_of(field.ctype)):
            if not any(_overlap(field, other) for other in chosen):
                chosen.append(field)
        return tuple(field for field in self.fields if field in chosen)

    @property
    def is_union(self) -> bool:
        """Whether fields overlap: it is a union, or has the members of one without a name."""
        return any(_overlap(*pair) for pair in pairwise(self.fields))

    @property
    def overlaps(self) -> bool:
        """Whether it is a union, or has one within it."""
        return self.is_union or any(
            isinstance(inner, Struct) and inner.overlaps
            for inner in (innermost(field.ctype) for field in self.fields)
        )

    @property
    def cell(self) -> Scalar:
        """The type of the cells that memory of this struct is divided into.

        It is that of all its numbers, where they have one type; else an unsigned integer as small
        as the smallest of them.
        """
        scalars = {part.scalar for field in self.fields for part in parts(field.ctype)}
        if len(scalars) == 1:
            return scalars.pop()
        size = min((scalar.size for scalar in scalars), default=1)
        return {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}[size]

    def __str__(self) -> str:
        """The C++ name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Part:
    """One number within a value of some type."""

    name: str  # as C writes it after the value: ".position.x", "[1]"; "" for a number itself
    scalar: Scalar
    offset: int  # bytes from the value's start


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


CType = Scalar | Vector | Pointer | ArrayOf | Struct | Void

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
HALF = Scalar("half", np.dtype(np.float16), 6)
FLOAT = Scalar("float", np.dtype(np.float32), 7)
DOUBLE = Scalar("double", np.dtype(np.float64), 8)
NAN_OF_HALF = np.uint16(0x7FFF).view(np.float16)
NAN_OF_FLOAT = np.uint64(0x7FFFFFFFE0000000).view(np.float64)  # of any NaN of float, as a double
TEXT = Scalar("const char*", np.dtype(np.int32), 3)  # a text in quotes, as printf takes it

# What an array of the launch holds where its parameter, a void*, does not say.
OF_DTYPE: Mapping[np.dtype[Any], Scalar] = {
    scalar.dtype: scalar
    for scalar in (BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)
}

VECTORS: Mapping[str, Vector] = {
    f"{prefix}{n}": Vector(f"{prefix}{n}", element, n)
    for prefix, element in (
        ("float", FLOAT), ("double", DOUBLE), ("char", SCHAR), ("uchar", UCHAR), ("short", SHORT),
        ("ushort", USHORT), ("int", INT), ("uint", UINT), ("long", LONG), ("ulong", ULONG),
        ("longlong", LONGLONG), ("ulonglong", ULONGLONG),
    )
    for n in (1, 2, 3, 4)
} | {"dim3": Vector("dim3", UINT, 3)}  # fmt: skip


def size_of(ctype: CType) -> int:
    """Bytes of one value."""
    return ctype.size


def _overlap(left: Field, right: Field) -> bool:
    """Whether two fields share a byte."""
    return left.offset < right.offset + size_of(
        right.ctype
    ) and right.offset < left.offset + size_of(left.ctype)


def innermost(ctype: CType) -> CType:
    """The type of a variable, or of an array's elements."""
    return ctype.innermost if isinstance(ctype, ArrayOf) else ctype


def parts(ctype: CType, name: str = "", offset: int = 0) -> list[Part]:
    """All numbers within a value, in the order of their offsets; a pointer counts as one.

    Of a union they are its largest member's.

    >>> [(part.name, part.offset) for part in parts(VECTORS["float2"])]
    [('.x', 0), ('.y', 4)]
    """
    match ctype:
        case Scalar():
            return [Part(name, ctype, offset)]
        case Vector(element=element, length=length):
            axes = "xyzw"[:length]
            return [
                Part(f"{name}.{axis}", element, offset + i * element.size)
                for i, axis in enumerate(axes)
            ]
        case ArrayOf(element=element, length=length):
            found = []
            for i in range(length):
                found += parts(element, f"{name}[{i}]", offset + i * size_of(element))
            return found
        case Struct(stored=fields):
            found = []
            for field in fields:
                found += parts(field.ctype, f"{name}.{field.name}", offset + field.offset)
            return found
        case Pointer():
            return [Part(name, ULONG, offset)]
        case Void():
            return []


def struct_array(
    struct: Struct, shape: tuple[int, ...], cells: Callable[[Scalar, tuple[int, ...]], Array]
) -> Array:
    """An array of structs, each of whose numbers has the cells that a function gives for a type."""
    memory = np.zeros((math.prod(shape), struct.size), np.uint8)
    for part in parts(struct):
        numbers = cells(part.scalar, (len(memory), 1))
        memory[:, part.offset : part.offset + part.scalar.size] = numbers.view(np.uint8)
    return memory.reshape(-1).view(dtype_of(struct)).reshape(shape)


def dtype_of(ctype: CType) -> np.dtype[Any]:
    """The NumPy type whose values lie as a C type's: structured for a struct.

    >>> dtype_of(ArrayOf(INT, 3))
    dtype(('<i4', (3,)))
    """
    match ctype:
        case Scalar(cell_dtype=dtype):
            return dtype
        case Vector(element=element, length=length):
            return np.dtype((element.cell_dtype, (length,)))
        case ArrayOf(element=element, length=length):
            return np.dtype((dtype_of(element), (length,)))
        case Struct(stored=fields, size=size):
            layout = {
                "names": [field.name for field in fields],
                "formats": [dtype_of(field.ctype) for field in fields],
                "offsets": [field.offset for field in fields],
                "itemsize": size,
            }
            structured: np.dtype[Any] = np.dtype(layout)  # type: ignore[call-overload]
            return structured
        case Pointer():
            return ULONG.dtype
        case _:
            raise TypeError(f"{ctype} has no values")


def align_up(size: int) -> int:
    """A size in bytes, rounded up to a multiple of ARRAY_ALIGNMENT.

    >>> align_up(20)
    32
    """
    return -(-size // ARRAY_ALIGNMENT) * ARRAY_ALIGNMENT


def promote(ctype: Scalar) -> Scalar:
    """Integer promotion: an integer type that ranks below int becomes int (C++17 [conv.prom])."""
    return INT if ctype.is_integer and ctype.rank < INT.rank else ctype


def common(left: Scalar, right: Scalar) -> Scalar:
    """The type in which two operands are computed: usual arithmetic conversions (C++17 [expr]/11).

    >>> str(common(CHAR, SHORT)), str(common(INT, UINT)), str(common(UINT, LONG))
    ('int', 'unsigned int', 'long')
    >>> str(common(ULONGLONG, FLOAT))
    'float'
    """
    if left.is_float or right.is_float:
        return max(left, right, key=lambda scalar: scalar.rank)
    left, right = promote(left), promote(right)
    if (left.dtype.kind == right.dtype.kind) or left.rank == right.rank:
        by_rank = max(left, right, key=lambda scalar: scalar.rank)
        unsigned = [s for s in (left, right) if s.dtype.kind == "u" and s.rank == by_rank.rank]
        return unsigned[0] if unsigned else by_rank
    unsigned_type, signed_type = (left, right) if left.dtype.kind == "u" else (right, left)
    if unsigned_type.rank > signed_type.rank:
        return unsigned_type
    if signed_type.size > unsigned_type.size:
        return signed_type
    return ULONGLONG if signed_type is LONGLONG else ULONG


def convert(value: Any, target: Scalar) -> Any:
    """A NumPy scalar or array, of any shape, as another arithmetic type.

    Integers wrap at the target's width. A float out of an integer's range saturates; NaN gives
    zero, or the highest bit alone where either side has 64 bits. So does the GPU's cvt instruction
    (PTX ISA, cvt); C leaves both undefined. A float's NaN as a double, and any as a half, is one
    number, as an H200 gave it: a float's 0x7fffffff, widened, and 0x7fff.

    >>> convert(np.array([3.9, -3.9, 1e10, np.nan], np.float32), INT).tolist()
    [3, -3, 2147483647, 0]
    >>> convert(np.array([300, -1], np.int32), UCHAR).tolist()
    [44, 255]
    """
    dtype = value.dtype
    if target.encoding is not None:
        return target.encoding.round(value)
    if dtype == target.dtype:
        return value
    if dtype.kind == "f" and target.dtype.kind in "iu":
        return _float_to_integer(value, target)
    if target.dtype.kind == "b":
        return value != 0
    if dtype == FLOAT.dtype and target.dtype == DOUBLE.dtype:
        is_nan, wide = np.isnan(value), value.astype(target.dtype)
        return np.where(is_nan, NAN_OF_FLOAT, wide)[()] if is_nan.any() else wide
    if dtype.kind == "f" and target.dtype == HALF.dtype:
        is_nan, narrow = np.isnan(value), value.astype(target.dtype)
        return np.where(is_nan, NAN_OF_HALF, narrow)[()] if is_nan.any() else narrow
    return value.astype(target.dtype)


def _float_to_integer(value: Any, target: Scalar) -> Any:
    limits = np.iinfo(target.dtype)
    wide = np.trunc(np.asarray(value, dtype=np.float64))
    high = wide >= float(limits.max)
    low = wide <= float(limits.min)
    safe = np.where(high | low | np.isnan(wide), 0.0, wide).astype(target.dtype)
    result = np.where(high, limits.max, np.where(low, limits.min, safe)).astype(target.dtype)
    if target.size == 8 or value.dtype.itemsize == 8:
        highest_bit = limits.min if target.dtype.kind == "i" else limits.max // 2 + 1
        result = np.where(np.isnan(wide), target.dtype.type(highest_bit), result)
    return result if np.ndim(value) else target.dtype.type(result)
