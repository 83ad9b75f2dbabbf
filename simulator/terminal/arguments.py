"""The arguments of a launch from the command line: arrays from IN.npz, the rest from each ARG."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulator.archive import format_name, read_arrays
from simulator.language.ctype import Array, Pointer, Scalar, Struct, convert, dtype_of, struct_array
from simulator.language.errors import LaunchError, list_names
from simulator.language.number_types import NUMBER_TYPES
from simulator.language.tree import Kernel
from simulator.launch import BUDGET_BYTES
from simulator.terminal.options import UsageError

ARRAY_TYPES: Mapping[str, type[np.number[Any]]] = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "u32": np.uint32,
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i64": np.int64,
    "u64": np.uint64,
}  # fmt: skip
ENCODED: Mapping[str, Scalar] = {
    each.argument: each.ctype for each in NUMBER_TYPES.values() if each.ctype.encoding
}
TYPE_NAMES = "|".join([*ARRAY_TYPES, *ENCODED])


def build_arguments(kernel: Kernel, options: argparse.Namespace) -> dict[str, Any]:
    """The launch's arguments by parameter name: arrays from --inputs, the rest from ARG in order.

    With an ARG for each parameter, arrays from --inputs take precedence over theirs.
    """
    values: dict[str, Any] = dict(read_arrays(options.inputs)) if options.inputs else {}
    names = [parameter.name for parameter in kernel.parameters]
    known = [*names, *(each.variable.name for each in kernel.globals)]
    for name in values:
        if name not in known:
            raise UsageError(
                f"{options.inputs} holds {format_name(name)}, which is not a parameter of "
                f"{kernel.name} ({list_names(known)})."
            )
    texts = list(options.arguments)
    missing = names
    if len(texts) != len(names):
        missing = [name for name in names if name not in values]
    if len(texts) != len(missing):
        raise UsageError(wrong_count(kernel.name, missing, len(texts)))
    random = np.random.default_rng(max(0, options.seed))
    structs = {
        parameter.name: parameter.ctype.target
        for parameter in kernel.parameters
        if isinstance(parameter.ctype, Pointer) and isinstance(parameter.ctype.target, Struct)
    }
    for name, text in zip(missing, texts, strict=True):
        used_bytes = sum(getattr(value, "nbytes", 0) for value in values.values())
        value = build_argument(name, text, structs.get(name), random, used_bytes)
        values.setdefault(name, value)
    return values


def build_argument(
    name: str, text: str, struct: Struct | None, random: np.random.Generator, used_bytes: int
) -> Any:
    """One ARG: an array of random values, or a number of a C type.

    struct is what the parameter points to, if that is one; used_bytes is what the arrays before it
    take of the launch's memory.
    """
    array = parse_array(name, text, struct, used_bytes)
    if array is not None:
        dtype, shape = array
        if text.partition(":")[0] in ENCODED:
            return _random_cells(random, ENCODED[text.partition(":")[0]], shape)
        if dtype.names is None or struct is None:
            return random_numbers(random, dtype, shape)
        return struct_array(struct, shape, lambda kind, n: _random_cells(random, kind, n))
    number = re.fullmatch(rf"({TYPE_NAMES})=(\S+)", text)
    if number:
        kind = ENCODED.get(number[1])
        dtype = np.dtype(ARRAY_TYPES[number[1]] if kind is None else kind.dtype)
        try:
            value = float(number[2]) if dtype.kind == "f" else int(number[2], 0)
            with np.errstate(over="ignore"):  # too large a float is infinite, as in C
                return dtype.type(value)
        except (ValueError, OverflowError):
            said = f"{text} for {name}: {number[2]} is not a valid {number[1]}."
            raise UsageError(said) from None
    if struct is not None:
        raise UsageError(
            f"{text[:40]!r} for {name}: this parameter points to structs {struct.name}; give their "
            "number, like struct:64."
        )
    raise UsageError(
        f"{text[:40]!r} for {name} is neither an array like f32:64x64 nor a scalar like i32=64 "
        f"(types: {', '.join([*ARRAY_TYPES, *ENCODED])})."
    )


def _random_cells(random: np.random.Generator, kind: Scalar, shape: tuple[int, ...]) -> Array:
    """What memory holds of random numbers of a type."""
    return np.asarray(kind.cells_of(convert(random_numbers(random, kind.dtype, shape), kind)))


def random_numbers(
    random: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    """Normally distributed floats, or integers up to 100; bools are either."""
    if dtype.kind == "f":
        wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
        return random.standard_normal(shape, dtype=wide).astype(dtype, copy=False)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    low = 0 if dtype.kind == "u" else -100
    return random.integers(low, 101, shape, dtype=dtype)


def wrong_count(kernel: str, needed: Sequence[str], given: int) -> str:
    """A sentence on a kernel that is given more or fewer arguments than it needs."""
    return (
        f"Kernel {kernel} needs {len(needed)} argument{'s' * (len(needed) != 1)} "
        f"({list_names(needed)}); {given} {'is' if given == 1 else 'are'} given."
    )


def parse_array(
    name: str, text: str, struct: Struct | None, used_bytes: int
) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    """Type and shape of an ARG that asks for an array, None for another ARG."""
    array = re.fullmatch(rf"({TYPE_NAMES}|struct):([1-9]\d{{0,9}}(?:x[1-9]\d{{0,9}}){{0,7}})", text)
    if not array:
        return None
    if array[1] == "struct" and struct is None:
        raise UsageError(f"{text} for {name}: this parameter is not a pointer to structs.")
    if struct is not None and array[1] == "struct":
        dtype = dtype_of(struct)
    elif array[1] in ENCODED:
        dtype = ENCODED[array[1]].cell_dtype
    else:
        dtype = np.dtype(ARRAY_TYPES[array[1]])
    shape = tuple(int(size) for size in array[2].split("x"))
    size = math.prod(shape) * dtype.itemsize
    if used_bytes + size > BUDGET_BYTES:
        used = f" beside the arrays before it ({used_bytes / 2**20:,.0f} MiB)" if used_bytes else ""
        raise LaunchError(
            f"{text} for {name} takes {size / 2**20:,.0f} MiB{used}; the simulator takes up to "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB."
        )
    return dtype, shape
