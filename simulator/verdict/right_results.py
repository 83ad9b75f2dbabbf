"""The right results of tasks, computed by NumPy in float64 from what the arrays held before.

Each function gets arrays of any shape and the sizes, by the task's roles; it reads the first cells
of an array, as many as its sizes say. What it returns is in the shape of the task's array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from simulator.language.ctype import Array

Arrays = Mapping[str, Array]  # by role; a number is an array of no dimension
Sizes = Mapping[str, int]  # by role
Expected = Callable[[Arrays, Sizes], Arrays]


def _matrix(arrays: Arrays, name: str, *shape: int) -> Array:
    """The first cells of an array in a shape, in float64."""
    cells: Array = arrays[name].reshape(-1)[: int(np.prod(shape))].astype(np.float64)
    return cells.reshape(shape)


def _vector(arrays: Arrays, sizes: Sizes, name: str = "x") -> Array:
    return _matrix(arrays, name, sizes["n"])


# Products of matrices -----------------------------------------------------------------------------


def product(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C = A B."""
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", M, K) @ _matrix(arrays, "B", K, N)}


def product_of_rows(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C = A B^T."""
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", M, K) @ _matrix(arrays, "B", N, K).T}


def product_of_columns(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C = A^T B."""
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "A", K, M).T @ _matrix(arrays, "B", K, N)}


def product_by_columns(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C = A B of matrices that lie column by column."""
    M, N, K = sizes["M"], sizes["N"], sizes["K"]
    return {"C": _matrix(arrays, "B", N, K) @ _matrix(arrays, "A", K, M)}


def batched_product(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C[b] = A[b] B[b]."""
    b, M, N, K = (sizes[one] for one in ("batches", "M", "N", "K"))
    found = _matrix(arrays, "A", b, M, K) @ _matrix(arrays, "B", b, K, N)
    return {"C": found.reshape(b * M, N)}


def matrix_vector(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = A x."""
    M, N = sizes["M"], sizes["N"]
    return {"y": _matrix(arrays, "A", M, N) @ _matrix(arrays, "x", N)}


def vector_matrix(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = A^T x."""
    M, N = sizes["M"], sizes["N"]
    return {"y": _matrix(arrays, "x", M) @ _matrix(arrays, "A", M, N)}


def outer_product(arrays: Arrays, sizes: Sizes) -> Arrays:
    """C = x y^T."""
    M, N = sizes["M"], sizes["N"]
    return {"C": np.outer(_matrix(arrays, "x", M), _matrix(arrays, "y", N))}


# Matrices -----------------------------------------------------------------------------------------


def transpose(arrays: Arrays, sizes: Sizes) -> Arrays:
    """B = A^T."""
    return {"B": _matrix(arrays, "A", sizes["M"], sizes["N"]).T}


def row_sums(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of each row."""
    return {"sums": _matrix(arrays, "A", sizes["M"], sizes["N"]).sum(axis=1)}


def column_sums(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of each column."""
    return {"sums": _matrix(arrays, "A", sizes["M"], sizes["N"]).sum(axis=0)}


def softmax(arrays: Arrays, sizes: Sizes) -> Arrays:
    """Each row's exponentials, divided by their sum."""
    A = _matrix(arrays, "A", sizes["M"], sizes["N"])
    powers = np.exp(A - A.max(axis=1, keepdims=True))
    return {"B": powers / powers.sum(axis=1, keepdims=True)}


def convolution_2d(arrays: Arrays, sizes: Sizes) -> Arrays:
    """Each cell's neighbourhood times w, which is not turned, with zeros around A."""
    M, N, width = sizes["M"], sizes["N"], sizes["width"]
    before = width // 2
    A = np.pad(_matrix(arrays, "A", M, N), (before, width - 1 - before))
    w = _matrix(arrays, "w", width, width)
    terms = (w[i, j] * A[i : i + M, j : j + N] for i in range(width) for j in range(width))
    return {"B": sum(terms, np.zeros((M, N)))}


def _inner(arrays: Arrays, sizes: Sizes, centre: float, around: float) -> Arrays:
    """A weighted sum of a cell and the four around it; the edge may hold anything."""
    A = _matrix(arrays, "A", sizes["M"], sizes["N"])
    found = np.full(A.shape, np.nan)
    four = A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]
    found[1:-1, 1:-1] = around * four + centre * A[1:-1, 1:-1]
    return {"B": found}


def mean_of_four(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The mean of the four cells around each, but at the edge."""
    return _inner(arrays, sizes, 0.0, 0.25)


def mean_of_five(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The mean of each cell and the four around it, but at the edge."""
    return _inner(arrays, sizes, 0.2, 0.2)


def laplacian(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The four cells around each, less four times it, but at the edge."""
    return _inner(arrays, sizes, -4.0, 1.0)


# Vectors ------------------------------------------------------------------------------------------


def copy(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = x."""
    return {"y": _vector(arrays, sizes)}


def scaled(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = a x."""
    return {"y": float(arrays["a"]) * _vector(arrays, sizes)}


def added(arrays: Arrays, sizes: Sizes) -> Arrays:
    """z = x + y."""
    return {"z": _vector(arrays, sizes) + _vector(arrays, sizes, "y")}


def difference(arrays: Arrays, sizes: Sizes) -> Arrays:
    """z = x - y."""
    return {"z": _vector(arrays, sizes) - _vector(arrays, sizes, "y")}


def elementwise_product(arrays: Arrays, sizes: Sizes) -> Arrays:
    """z = x y, element by element."""
    return {"z": _vector(arrays, sizes) * _vector(arrays, sizes, "y")}


def scaled_sum(arrays: Arrays, sizes: Sizes) -> Arrays:
    """z = a x + y."""
    return {"z": float(arrays["a"]) * _vector(arrays, sizes) + _vector(arrays, sizes, "y")}


def axpy(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = a x + y."""
    return {"y": scaled_sum(arrays, sizes)["z"]}


def added_to(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = x + y."""
    return {"y": added(arrays, sizes)["z"]}


def relu(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The larger of x and 0."""
    return {"y": np.maximum(_vector(arrays, sizes), 0.0)}


def square(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = x x."""
    return {"y": _vector(arrays, sizes) ** 2}


def reverse(arrays: Arrays, sizes: Sizes) -> Arrays:
    """y = x from its end."""
    return {"y": _vector(arrays, sizes)[::-1]}


def total(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of x."""
    return {"total": _vector(arrays, sizes).sum(keepdims=True)}


def dot(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of x y."""
    return {"total": np.array([_vector(arrays, sizes) @ _vector(arrays, sizes, "y")])}


def largest(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The largest of x."""
    return {"top": _vector(arrays, sizes).max(keepdims=True)}


def scan(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sums of x up to each element."""
    return {"y": np.cumsum(_vector(arrays, sizes))}


def exclusive_scan(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sums of x before each element."""
    x = _vector(arrays, sizes)
    return {"y": np.cumsum(x) - x}


def sort(arrays: Arrays, sizes: Sizes) -> Arrays:
    """X, the smallest first."""
    return {"x": np.sort(_vector(arrays, sizes))}


def histogram(arrays: Arrays, sizes: Sizes) -> Arrays:
    """How often each number is in x; numbers beyond the bins begin again at the first."""
    bins = sizes["bins"]
    numbers = _vector(arrays, sizes).astype(np.int64) % bins
    return {"counts": np.bincount(numbers, minlength=bins).astype(np.float64)}


def three_neighbours(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of an element and the two before it, 0 before the first."""
    x = np.pad(_vector(arrays, sizes), (2, 0))
    return {"y": x[:-2] + x[1:-1] + x[2:]}


def neighbours(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The sum of an element and those beside it; the ends may hold anything."""
    x = _vector(arrays, sizes)
    found = np.full(x.shape, np.nan)
    found[1:-1] = x[:-2] + x[1:-1] + x[2:]
    return {"y": found}


def mean_of_neighbours(arrays: Arrays, sizes: Sizes) -> Arrays:
    """The mean of an element and those beside it; the ends may hold anything."""
    return {"y": neighbours(arrays, sizes)["y"] / 3.0}


def convolution(arrays: Arrays, sizes: Sizes) -> Arrays:
    """Each element's neighbourhood times w, which is not turned, with zeros around x."""
    width = sizes["width"]
    before = width // 2
    x = np.pad(_vector(arrays, sizes), (before, width - 1 - before))
    return {"y": np.correlate(x, _matrix(arrays, "w", width), "valid")}


def valid_convolution(arrays: Arrays, sizes: Sizes) -> Arrays:
    """w times each of its places in x, which has width - 1 elements more than y."""
    n, width = sizes["n"], sizes["width"]
    x = _matrix(arrays, "x", n + width - 1)
    return {"y": np.correlate(x, _matrix(arrays, "w", width), "valid")}
