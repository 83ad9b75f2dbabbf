"""The number types that CUDA adds to C's: an entry each, from which all else takes what it needs.

A new one is an entry here and, where its names come with a header, their declarations in
simulator/frontend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language import ctype
from simulator.language.ctype import Array, ArrayOf, CType, Scalar, Vector
from simulator.language.encodings import Encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberType:
    """A type of numbers."""

    name: str  # as CUDA has it, without its namespace
    word: str  # what people call it, and CUDA's functions
    ctype: Scalar
    argument: str  # what the command line calls it
    clang_name: str = ""  # how clang spells it, if not by its name
    header: str = ""  # CUDA's, which declares it; "" for one that is there without
    names: str = ""  # a pattern of all names that the header has; "" without one
    conversions: tuple[str, str] = ("", "")  # CUDA's functions from float and to float
    pair: str = ""  # its short vector, of those that are computed with


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand(NumberType):
    """A type of numbers that tensor cores multiply."""

    scope: str = ""  # its namespace within nvcuda::wmma
    fraction_bits: int  # of a number; the bits of a cell after them are not looked at
    least_exponent: int  # of a subnormal number
    depth: int  # the k of one instruction, which is the compiler's choice
    has_copies: bool = False  # whether a lane of any shape has 16 elements, some of them copies
    rounding: Callable[[Any], Any] | None = None  # the conversion from float, of cells that are one


def _encoded(name: str, encoding: Encoding) -> Scalar:
    """A type whose values are floats and whose cells are bits."""
    return Scalar(name, np.dtype(np.float32), ctype.HALF.rank, encoding)


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
            ctype=ctype.HALF,
            argument="f16",
            clang_name="_Float16",
            conversions=("__float2half", "__half2float"),
            pair="half2",
            fraction_bits=10,
            least_exponent=-14,
            depth=16,
            has_copies=True,
        ),
        Operand(
            name="__nv_bfloat16",
            word="bfloat16",
            ctype=_encoded("__nv_bfloat16", Encoding(8, 7)),
            argument="bf16",
            clang_name="__bf16",
            header="cuda_bf16.h",
            names=r"\w*(?:bfloat16|bf16)\w*",
            conversions=("__float2bfloat16", "__bfloat162float"),
            pair="__nv_bfloat162",
            fraction_bits=7,
            least_exponent=-126,
            depth=16,
        ),
        Operand(
            name="tf32",
            word="tf32",
            ctype=ctype.FLOAT,
            argument="f32",
            conversions=("__float_to_tf32", ""),
            scope="precision::",
            fraction_bits=10,
            least_exponent=-126,
            # In compiler/mma.cuh (HMMA.1688), by which the app's GPU multiplies; in NVIDIA's mma.h
            # (HMMA.1684) it is 4.
            depth=8,
            rounding=_round_to_tf32,
        ),
        NumberType(
            name="__nv_fp8_e4m3",
            word="e4m3",
            ctype=_encoded("__nv_fp8_e4m3", Encoding(4, 3, has_infinity=False, saturates=True)),
            argument="e4m3",
            header="cuda_fp8.h",
            names=r"\w*e4m3\w*|__nv_\w*fp8\w*",
        ),
        NumberType(
            name="__nv_fp8_e5m2",
            word="e5m2",
            ctype=_encoded("__nv_fp8_e5m2", Encoding(5, 2, saturates=True)),
            argument="e5m2",
            header="cuda_fp8.h",
            names=r"\w*e5m2\w*",
        ),
    )
}

OPERANDS: Mapping[str, Operand] = {
    name: each for name, each in NUMBER_TYPES.items() if isinstance(each, Operand)
}
ROUNDINGS: Mapping[str, Callable[[Any], Any]] = {
    each.conversions[0]: each.rounding for each in OPERANDS.values() if each.rounding
}
# Those that clang has itself, or that are a class of its text, by the name that it gives them.
BY_CLANG_NAME: Mapping[str, Scalar] = {
    each.clang_name or name: each.ctype
    for name, each in NUMBER_TYPES.items()
    if each.clang_name or each.header
}
# Those of 8 bits, in the order of CUDA's __nv_fp8_interpretation_t.
FP8_ENCODINGS = tuple(
    each.ctype.encoding
    for each in NUMBER_TYPES.values()
    if each.ctype.encoding is not None and each.ctype.size == 1
)
# Those of fewer bits than float that are computed with, each operation rounded once.
SHORT_FLOATS: Mapping[Scalar, NumberType] = {
    each.ctype: each for each in NUMBER_TYPES.values() if each.pair
}
SHORT_VECTORS: Mapping[str, Vector] = {
    **ctype.VECTORS,
    **{each.pair: Vector(each.pair, each.ctype, 2) for each in SHORT_FLOATS.values()},
}
# CUDA's functions that make a short vector of its components.
MAKERS: Mapping[str, Vector] = {
    **{f"make_{name}": vector for name, vector in SHORT_VECTORS.items()},
    **{f"make_{each.word}2": SHORT_VECTORS[each.pair] for each in SHORT_FLOATS.values()},
}


def short_float(kind: CType) -> NumberType | None:
    """The type of few bits that a number, or a short vector's components, are; None for others.

    >>> short_float(SHORT_VECTORS["half2"]).word
    'half'
    """
    element = kind.element if isinstance(kind, Vector) else kind
    return SHORT_FLOATS.get(element) if isinstance(element, Scalar) else None


def numbers_held(element: CType | None, cells: Array) -> Array:
    """What an array of a type holds, in its shape: float32 numbers for bits, else itself.

    The type is its elements', or its own.

    >>> cells = np.array([0x3f80, 0xc000], np.uint16)
    >>> numbers_held(OPERANDS["__nv_bfloat16"].ctype, cells).tolist()
    [1.0, -2.0]
    """
    if isinstance(element, ArrayOf):
        element = element.innermost
    elif isinstance(element, Vector):
        element = element.element
    return element.values_of(cells) if isinstance(element, Scalar) else cells
