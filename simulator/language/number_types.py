"""The number types that CUDA adds to C's: an entry each, from which all else takes what it needs.

A new one is an entry here and, if it has an encoding, its struct in simulator/frontend/WORD.cuh.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language import ctype
from simulator.language.ctype import Array, ArrayOf, CType, Scalar, Struct, Vector


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a type that NumPy lacks is held: a kernel's text has a struct, whose only member is bits.

    The functions take and give arrays of the same shape.
    """

    header: str  # CUDA's, which declares the struct
    names: str  # a pattern of all names that CUDA has about the type
    to_float: str  # CUDA's function that converts to float
    encode: Callable[[Array], Array]  # finite float32 numbers to cells
    decode: Callable[[Array], Array]  # cells to float32 numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberType:
    """A type of numbers."""

    name: str  # as CUDA has it, without its namespace
    word: str  # what people call it
    cell: Scalar  # what memory holds of a number
    from_float: str  # CUDA's function that converts from float
    encoding: Encoding | None = None  # None where cells are numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand(NumberType):
    """A type of numbers that tensor cores multiply."""

    scope: str = ""  # its namespace within nvcuda::wmma
    clang_name: str = ""  # how clang spells it, if not by its name
    fraction_bits: int  # of a number; the bits of a cell after them are not looked at
    least_exponent: int  # of a subnormal number
    depth: int  # the k of one instruction, which is the compiler's choice
    has_copies: bool = False  # whether a lane of any shape has 16 elements, some of them copies
    rounding: Callable[[Any], Any] | None = None  # from_float, where cells are floats


def _encode_bfloat16(values: Array) -> Array:
    """Rounded to nearest, halves to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded: Array = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> 16
    return rounded.astype(np.uint16)


def _decode_bfloat16(cells: Array) -> Array:
    return (cells.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _round_to_tf32(value: Any) -> Any:
    """To 10 fraction bits, halves away from zero; NaN and infinity are cut."""
    bits = np.asarray(value, np.float32).view(np.uint32)
    finite = (bits & np.uint32(0x7F800000)) != np.uint32(0x7F800000)
    rounded = bits + np.where(finite, np.uint32(0x1000), np.uint32(0))
    return (rounded & np.uint32(0xFFFFE000)).view(np.float32)[()]


NUMBER_TYPES: Mapping[str, NumberType] = {
    each.name: each
    for each in (
        Operand(
            name="half",
            word="half",
            cell=ctype.HALF,
            from_float="__float2half",
            clang_name="_Float16",
            fraction_bits=10,
            least_exponent=-14,
            depth=16,
            has_copies=True,
        ),
        Operand(
            name="__nv_bfloat16",
            word="bfloat16",
            cell=Scalar("__nv_bfloat16", ctype.USHORT.dtype, ctype.USHORT.rank),
            from_float="__float2bfloat16",
            encoding=Encoding(
                header="cuda_bf16.h",
                names=r"__nv_bfloat\w*|\w*(?:bfloat16|bf16)\w*",
                to_float="__bfloat162float",
                encode=_encode_bfloat16,
                decode=_decode_bfloat16,
            ),
            fraction_bits=7,
            least_exponent=-126,
            depth=16,
        ),
        Operand(
            name="tf32",
            word="tf32",
            cell=ctype.FLOAT,
            from_float="__float_to_tf32",
            scope="precision::",
            fraction_bits=10,
            least_exponent=-126,
            # In gpu/cuda/mma.cuh (HMMA.1688), by which the app's GPU multiplies; in NVIDIA's mma.h
            # (HMMA.1684) it is 4.
            depth=8,
            rounding=_round_to_tf32,
        ),
    )
}
# Names of CUDA's for types that have no entry, and what a sentence says of them.
OTHER_NAMES, OTHERS = r"__nv_fp\w*", "formats of 8 bits are left out"

OPERANDS: Mapping[str, Operand] = {
    name: each for name, each in NUMBER_TYPES.items() if isinstance(each, Operand)
}
ENCODINGS: Mapping[str, Encoding] = {
    name: each.encoding for name, each in NUMBER_TYPES.items() if each.encoding
}
ROUNDINGS: Mapping[str, Callable[[Any], Any]] = {
    each.from_float: each.rounding for each in OPERANDS.values() if each.rounding
}


def encoding_of(element: CType | None) -> Encoding | None:
    """How the struct that holds a number's bits, or the type of these, is numbers; None for others.

    >>> encoding = encoding_of(OPERANDS["__nv_bfloat16"].cell)
    >>> [hex(cell) for cell in encoding.encode(np.array([1.0, -2.0], np.float32))]
    ['0x3f80', '0xc000']
    """
    return ENCODINGS.get(element.name) if isinstance(element, Scalar | Struct) else None


def numbers_held(element: CType | None, cells: Array) -> Array:
    """What an array of a type holds, in its shape: float32 numbers for bits, else itself.

    The type is that of its elements, or its own.

    >>> cells = np.array([0x3f80, 0xc000], np.uint16)
    >>> numbers_held(OPERANDS["__nv_bfloat16"].cell, cells).tolist()
    [1.0, -2.0]
    """
    if isinstance(element, ArrayOf):
        element = element.innermost
    elif isinstance(element, Vector):
        element = element.element
    encoding = encoding_of(element)
    return cells if encoding is None else encoding.decode(cells)
