"""The arguments that programs.toml describes: numbers, random arrays, and arrays MADE here."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

TYPES: Mapping[str, Any] = {
    "bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16,
    "f32": np.float32, "f64": np.float64,
}  # fmt: skip
UNSEEN = 2**32 - 1  # the level of a vertex that no search has reached

POINT = np.dtype([("x", "f4"), ("y", "f4")], align=True)
POINT_ARRAYS = np.dtype([("x", "f4", 256), ("y", "f4", 256)], align=True)
PARTICLE = np.dtype(
    [("position", "f4", 3), ("velocity", "f4", 3), ("mass", "f4"), ("alive", "i4")], align=True
)
SPHERE = np.dtype([(name, "f4") for name in ("r", "b", "g", "radius", "x", "y", "z")], align=True)


def make(case: str, description: Any) -> Any:
    """The argument of a description; case seeds its random numbers.

    >>> make("any", "i32 arange 2x3").tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    if isinstance(description, dict):  # a struct
        return {name: make(f"{case}.{name}", member) for name, member in description.items()}
    if not isinstance(description, str):
        return description
    if description.startswith("= "):
        value = MADE[description[2:]]
        return value.copy() if isinstance(value, np.ndarray) else value
    kind, fill, sizes = description.split()
    dtype = np.dtype(TYPES[kind])
    shape = tuple(int(size) for size in sizes.split("x"))
    name, *limits = re.split(r"[(),]", fill.rstrip(")"))
    random = np.random.default_rng(zlib.crc32(case.encode()))
    match name:
        case "zeros":
            return np.zeros(shape, dtype)
        case "full":
            return np.full(shape, float(limits[0]), dtype)
        case "arange":
            return np.arange(np.prod(shape), dtype=dtype).reshape(shape)
        case "normal":
            return random.standard_normal(shape).astype(dtype)
        case "uniform":
            return random.uniform(float(limits[0]), float(limits[1]), shape).astype(dtype)
        case "integers":
            return random.integers(int(limits[0]), int(limits[1]), shape, dtype, endpoint=True)
    raise ValueError(f"{description!r} fills an array in no known way.")


def letters(text: str) -> Any:
    """A text as C's chars, without a zero at its end."""
    return np.frombuffer(text.encode("ascii"), np.int8).copy()


def structs(dtype: np.dtype[Any], size: int, random: np.random.Generator) -> Any:
    """Structs whose floats are normal."""
    found = np.zeros(size, dtype)
    for name in dtype.names or ():
        found[name] = random.standard_normal(found[name].shape)
    return found


def _make_all() -> dict[str, Any]:
    random = np.random.default_rng(13)
    found: dict[str, Any] = {
        "first_flag": np.array([1, 0, 0, 0, 0, 0], np.int32),
        "text": letters(("The Quick Brown Fox Jumps over the lazy dog. " * 12)[:500]),
        "word": letters("th"),
        "hello": letters("Hello \0\0\0\0\0\0\0\0\0\0"),
        "hello_offsets": np.array([15, 10, 6, 0, -11, 1] + [0] * 10, np.int32),
        "sorted90": np.sort(random.integers(0, 99, 90, np.int32)),
        "sorted130": np.sort(random.integers(0, 99, 130, np.int32)),
        "ones_to_100": np.arange(1, 101, dtype=np.uint64),
        "votes": np.repeat([0, 1, 5, 0, 2, 3, 0, 8], 32).astype(np.int32),
        "walls": (np.arange(384).reshape(6, 64) % [[5], [17], [64], [23], [999], [31]] == 4).astype(
            np.int32
        ),
        "atomic_cells": np.array([0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0xFF, 0, 0], np.int32),
        "settings": {"operation": 1, "amount": 2.5, "limit": 3},
    }
    found["votes"][random.integers(0, 256, 40)] = 0
    found["votes"][64:96] = 5
    found |= _sparse_matrix(random) | _graph(random)
    dna = letters("ACGT")[random.integers(0, 4, 48)]
    found["dna1"] = dna
    found["dna2"] = np.where(random.random(48) < 0.3, np.roll(dna, 2), np.roll(dna, 1))
    found["composite"] = np.array(
        [any(n % p == 0 and n > p for p in (2, 3, 5, 7, 11, 13, 17, 19)) for n in range(401)],
        np.int8,
    )
    found["points"], found["no_points"] = structs(POINT, 256, random), np.zeros(256, POINT)
    found["point_arrays"] = structs(POINT_ARRAYS, 1, random)
    found["no_point_arrays"] = np.zeros(1, POINT_ARRAYS)
    found["particles"] = structs(PARTICLE, 40, random)
    found["particles"]["position"][:, 1] += 3
    found["particles"]["alive"] = np.arange(40) % 3 != 0
    found["spheres"] = structs(SPHERE, 5, random)
    for name, low, high in (
        ("r", 0, 1), ("g", 0, 1), ("b", 0, 1), ("radius", 4, 9), ("x", -12, 12), ("y", -12, 12),
        ("z", -12, 12),
    ):  # fmt: skip
        found["spheres"][name] = random.uniform(low, high, 5)
    return found


def _sparse_matrix(random: np.random.Generator) -> dict[str, Any]:
    """A matrix of 50 x 60 in which about one in eight is not 0, in three formats."""
    dense = random.standard_normal((50, 60)) * (random.random((50, 60)) < 0.125)
    dense[7] = 0
    rows, columns = np.nonzero(dense)
    each = np.bincount(rows, minlength=50)
    width = int(each.max())
    ell_columns, ell_values = np.full((width, 50), -1, np.int32), np.zeros((width, 50), np.float32)
    for row in range(50):
        mine = np.flatnonzero(dense[row])
        ell_columns[: mine.size, row] = mine
        ell_values[: mine.size, row] = dense[row, mine]
    return {
        "coo_rows": rows.astype(np.int32),
        "csr_starts": np.concatenate([[0], np.cumsum(each)]).astype(np.int32),
        "csr_columns": columns.astype(np.int32),
        "csr_values": dense[rows, columns].astype(np.float32),
        "csr_size": int(rows.size),
        "ell_columns": ell_columns,
        "ell_values": ell_values,
        "ell_width": width,
    }


def _graph(random: np.random.Generator) -> dict[str, Any]:
    """A graph of 70 vertices, both ways along each edge, and the levels one step from vertex 0."""
    linked = random.random((70, 70)) < 0.06
    linked |= linked.T
    np.fill_diagonal(linked, False)
    linked[0, [5, 9, 33]] = linked[[5, 9, 33], 0] = True
    levels = np.where(linked[0], 1, UNSEEN).astype(np.uint32)
    levels[0] = 0
    frontier = np.flatnonzero(levels == 1).astype(np.uint32)
    return {
        "graph_starts": np.concatenate([[0], np.cumsum(linked.sum(1))]).astype(np.uint32),
        "graph_edges": np.nonzero(linked)[1].astype(np.uint32),
        "levels": levels,
        "frontier": frontier,
        "frontier_size": int(frontier.size),
    }


MADE: Mapping[str, Any] = _make_all()
