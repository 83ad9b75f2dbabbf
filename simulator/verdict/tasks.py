"""What kernels should compute: tasks with their arrays, their sizes and the right results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array

Arrays = Mapping[str, Array]  # by role
Sizes = Mapping[str, int]  # by role
LARGEST_WORK = 2**30  # the product of a task's sizes up to which its results are computed
PRODUCT = "product"
# Roles beside those of a product: alpha A B + beta C, as BLAS has it; the matrix that beta
# multiplies is START where it is not what C holds before.
ALPHA, BETA, START = "alpha", "beta", "start"
PRODUCT_BY_COLUMNS = "product_by_columns"  # as BLAS and Fortran have matrices
STEPS = 16.0  # roundings of a sum of n terms that are allowed for each of its sqrt(n)


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a kernel may compute, in terms of roles: what its arrays and sizes mean."""

    name: str
    title: str  # in a few letters, "C = A · B"
    arrays: Mapping[str, tuple[str, str]]  # rows and columns of each, by the sizes' roles, or "1"
    sizes: tuple[str, ...]  # the roles of its sizes
    results: tuple[str, ...]  # the arrays that the kernel must fill
    expected: Callable[[Arrays, Sizes], Arrays]  # the results, in the arrays' shapes, as float64
    terms: Callable[[Sizes], int]  # that a cell of a result sums; 1 where nothing is added


def _matrix(arrays: Arrays, name: str, rows: int, columns: int) -> Array:
    """The first cells of an array as a matrix, in float64."""
    cells: Array = arrays[name].reshape(-1)[: rows * columns].astype(np.float64)
    return cells.reshape(rows, columns)


def _product(arrays: Arrays, sizes: Sizes) -> Arrays:
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", M, K) @ _matrix(arrays, "B", K, N)}


def _transpose(arrays: Arrays, sizes: Sizes) -> Arrays:
    return {"B": _matrix(arrays, "A", sizes["M"], sizes["N"]).T}


def _product_of_rows(arrays: Arrays, sizes: Sizes) -> Arrays:
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", M, K) @ _matrix(arrays, "B", N, K).T}


def _product_of_columns(arrays: Arrays, sizes: Sizes) -> Arrays:
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", K, M).T @ _matrix(arrays, "B", K, N)}


def _product_by_columns(arrays: Arrays, sizes: Sizes) -> Arrays:
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "B", N, K) @ _matrix(arrays, "A", K, M)}


def _row_sums(arrays: Arrays, sizes: Sizes) -> Arrays:
    return {"sums": _matrix(arrays, "A", sizes["M"], sizes["N"]).sum(axis=1)}


def _sum(arrays: Arrays, sizes: Sizes) -> Arrays:
    return {"z": (_matrix(arrays, "x", 1, sizes["n"]) + _matrix(arrays, "y", 1, sizes["n"]))[0]}


def _three_neighbours(arrays: Arrays, sizes: Sizes) -> Arrays:
    x = np.pad(_matrix(arrays, "x", 1, sizes["n"])[0], (2, 0))
    return {"y": x[:-2] + x[1:-1] + x[2:]}


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task(
            name=PRODUCT,
            title="C = A · B",
            arrays={"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")},
            sizes=("M", "N", "K"),
            results=("C",),
            expected=_product,
            terms=lambda sizes: sizes["K"],
        ),
        Task(
            name="transpose",
            title="B = A transposed",
            arrays={"A": ("M", "N"), "B": ("N", "M")},
            sizes=("M", "N"),
            results=("B",),
            expected=_transpose,
            terms=lambda sizes: 1,
        ),
        Task(
            name="product_of_rows",
            title="C = A · B transposed",
            arrays={"A": ("M", "K"), "B": ("N", "K"), "C": ("M", "N")},
            sizes=("M", "N", "K"),
            results=("C",),
            expected=_product_of_rows,
            terms=lambda sizes: sizes["K"],
        ),
        Task(
            name="product_of_columns",
            title="C = A transposed · B",
            arrays={"A": ("K", "M"), "B": ("K", "N"), "C": ("M", "N")},
            sizes=("M", "N", "K"),
            results=("C",),
            expected=_product_of_columns,
            terms=lambda sizes: sizes["K"],
        ),
        Task(
            name=PRODUCT_BY_COLUMNS,
            title="C = A · B, column by column",
            arrays={"A": ("K", "M"), "B": ("N", "K"), "C": ("N", "M")},
            sizes=("M", "N", "K"),
            results=("C",),
            expected=_product_by_columns,
            terms=lambda sizes: sizes["K"],
        ),
        Task(
            name="row_sums",
            title="sums = the sums of A's rows",
            arrays={"A": ("M", "N"), "sums": ("1", "M")},
            sizes=("M", "N"),
            results=("sums",),
            expected=_row_sums,
            terms=lambda sizes: sizes["N"],
        ),
        Task(
            name="sum",
            title="z = x + y",
            arrays={"x": ("1", "n"), "y": ("1", "n"), "z": ("1", "n")},
            sizes=("n",),
            results=("z",),
            expected=_sum,
            terms=lambda sizes: 2,
        ),
        Task(
            name="three_neighbours",
            title="y[i] = x[i - 2] + x[i - 1] + x[i]",
            arrays={"x": ("1", "n"), "y": ("1", "n")},
            sizes=("n",),
            results=("y",),
            expected=_three_neighbours,
            terms=lambda sizes: 3,
        ),
    )
}


OTHER_PRODUCTS = ("product_of_rows", "product_of_columns", PRODUCT_BY_COLUMNS)
# Which roles of a task are those of C = A B with matrices row by row. Row by row, matrices that lie
# column by column are transposed, and so C's is B's times A's.
PRODUCT_ROLES: Mapping[str, Mapping[str, str]] = {
    PRODUCT: {role: role for role in "ABCMNK"},
    PRODUCT_BY_COLUMNS: dict(zip("ABCMNK", "BACNMK", strict=True)),
}


def tolerance(result: Array, expected: Array, terms: int) -> float:
    """How far a right result's cells may be from the expected ones; 0 where all must be equal.

    Whole numbers are exact as long as the element's type holds every sum of them; any other sum
    of n terms may be off by 16 sqrt(n) roundings of its typical size.
    """
    largest = float(np.max(np.abs(expected), initial=0.0))
    if result.dtype.kind != "f":
        return 0.0
    bits = np.finfo(result.dtype).nmant + 1
    is_whole = bool(np.all(expected == np.rint(expected)))
    if terms == 1 or (is_whole and largest <= 2.0**bits):
        return 0.0
    return STEPS * math.sqrt(terms) * largest * 2.0**-bits


def wrong_cells(result: Array, expected: Array, terms: int) -> Array:
    """Where a result differs from what is expected, bool in the expected shape; NaN differs."""
    cells = result.reshape(-1)[: expected.size].reshape(expected.shape).astype(np.float64)
    error: Array = np.abs(cells - expected)
    wrong: Array = ~(error <= tolerance(result, expected, terms))
    return wrong
