"""What kernels should compute: tasks with their arrays, their sizes and the right results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.language.ctype import Array
from simulator.verdict import right_results as right
from simulator.verdict.right_results import Expected, Sizes

LARGEST_WORK = 2**30  # the product of a task's sizes up to which its results are computed
PRODUCT = "product"
# Roles beside those of a product: alpha A B + beta C, as BLAS has it; the matrix that beta
# multiplies is START where it is not what C holds before.
ALPHA, BETA, START = "alpha", "beta", "start"
FACTOR = "a"  # the role of a float parameter that a task names in its title: z = a x + y
PRODUCT_BY_COLUMNS = "product_by_columns"  # as BLAS and Fortran have matrices
STEPS = 16.0  # roundings of a sum of n terms that are allowed for each of its sqrt(n)


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a kernel may compute, in terms of roles: what its arrays and sizes mean."""

    name: str
    title: str  # in a few letters, "C = A · B"
    # Rows and columns of each array: expressions over the sizes' roles.
    arrays: Mapping[str, tuple[str, str]]
    sizes: tuple[str, ...]  # the roles of its sizes
    results: tuple[str, ...]  # the arrays that the kernel must fill
    # The results, in the arrays' shapes, as float64; a cell that may hold anything is NaN.
    expected: Expected
    # That a cell of a result sums; 1 where nothing is added, and its value is exact.
    terms: str

    @property
    def has_factor(self) -> bool:
        """Whether a float parameter is one of its roles."""
        return f" {FACTOR} " in self.title

    @property
    def counts_numbers(self) -> bool:
        """Whether what an array holds are indices: digits, and no fractions."""
        return "bins" in self.sizes

    @property
    def in_place(self) -> bool:
        """Whether what its result holds before matters: it is an input, too."""
        return self.name in ("axpy", "added_to", "sort")

    def count_terms(self, sizes: Sizes) -> int:
        """How many terms a cell of a result has at some sizes."""
        return math.prod(sizes.get(one) or int(one) for one in self.terms.split())


def _task(name: str, title: str, arrays: str, expected: Expected, terms: str = "1") -> Task:
    """A task from its arrays, of which the last is its result: "A[M, K] B[K, N] C[M, N]"."""
    shapes: dict[str, tuple[str, str]] = {}
    for text in arrays.removesuffix("]").split("] "):
        role, _, shape = text.partition("[")
        *rows, columns = shape.split(", ")
        shapes[role] = (rows[0] if rows else "1", columns)
    words = " ".join(part for shape in shapes.values() for part in shape).split()
    sizes = tuple(dict.fromkeys(word for word in words if word.isidentifier()))
    in_order = tuple(sorted(sizes, key=lambda size: ("MNK".find(size), sizes.index(size))))
    return Task(name, title, shapes, in_order, (list(shapes)[-1],), expected, terms)


# In the order in which they are tried: what two of them explain is the first one.
TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        _task(PRODUCT, "C = A · B", "A[M, K] B[K, N] C[M, N]", right.product, "K"),
        _task("transpose", "B = A transposed", "A[M, N] B[N, M]", right.transpose),
        _task("product_of_rows", "C = A · B transposed", "A[M, K] B[N, K] C[M, N]",
              right.product_of_rows, "K"),
        _task("product_of_columns", "C = A transposed · B", "A[K, M] B[K, N] C[M, N]",
              right.product_of_columns, "K"),
        _task(PRODUCT_BY_COLUMNS, "C = A · B, column by column", "A[K, M] B[N, K] C[N, M]",
              right.product_by_columns, "K"),
        _task("batched_product", "C[b] = A[b] · B[b]",
              "A[batches * M, K] B[batches * K, N] C[batches * M, N]", right.batched_product, "K"),
        _task("matrix_vector", "y = A · x", "A[M, N] x[N] y[M]", right.matrix_vector, "N"),
        _task("vector_matrix", "y = A transposed · x", "A[M, N] x[M] y[N]",
              right.vector_matrix, "M"),
        _task("outer_product", "C = x · y transposed", "x[M] y[N] C[M, N]", right.outer_product),
        _task("row_sums", "sums = the sums of A's rows", "A[M, N] sums[M]", right.row_sums, "N"),
        _task("column_sums", "sums = the sums of A's columns", "A[M, N] sums[N]",
              right.column_sums, "M"),
        _task("softmax", "B = softmax of A's rows", "A[M, N] B[M, N]", right.softmax, "N"),
        _task("copy", "y = x", "x[n] y[n]", right.copy),
        _task("scaled", "y = a · x", "x[n] y[n]", right.scaled),
        _task("sum", "z = x + y", "x[n] y[n] z[n]", right.added, "2"),
        _task("difference", "z = x - y", "x[n] y[n] z[n]", right.difference, "2"),
        _task("elementwise_product", "z = x · y, element by element", "x[n] y[n] z[n]",
              right.elementwise_product),
        _task("scaled_sum", "z = a · x + y", "x[n] y[n] z[n]", right.scaled_sum, "2"),
        _task("axpy", "y = a · x + y", "x[n] y[n]", right.axpy, "2"),
        _task("added_to", "y = x + y", "x[n] y[n]", right.added_to, "2"),
        _task("relu", "y = the larger of x and 0", "x[n] y[n]", right.relu),
        _task("square", "y = x · x", "x[n] y[n]", right.square),
        _task("reverse", "y = x reversed", "x[n] y[n]", right.reverse),
        _task("total", "total = the sum of x", "x[n] total[1]", right.total, "n"),
        _task("dot", "total = x · y", "x[n] y[n] total[1]", right.dot, "n"),
        _task("largest", "top = the largest of x", "x[n] top[1]", right.largest),
        _task("scan", "y = the sums of x up to each element", "x[n] y[n]", right.scan, "n"),
        _task("exclusive_scan", "y = the sums of x before each element", "x[n] y[n]",
              right.exclusive_scan, "n"),
        _task("sort", "x in order", "x[n]", right.sort),
        _task("histogram", "counts = how often each number is in x", "x[n] counts[bins]",
              right.histogram),
        _task("three_neighbours", "y[i] = x[i - 2] + x[i - 1] + x[i]", "x[n] y[n]",
              right.three_neighbours, "3"),
        _task("neighbours", "y[i] = x[i - 1] + x[i] + x[i + 1]", "x[n] y[n]",
              right.neighbours, "3"),
        _task("mean_of_neighbours", "y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3", "x[n] y[n]",
              right.mean_of_neighbours, "3"),
        _task("convolution", "y = x convolved with w, 0 beyond its ends", "x[n] w[width] y[n]",
              right.convolution, "width"),
        _task("valid_convolution", "y = x convolved with w, where w fits",
              "x[n + width - 1] w[width] y[n]", right.valid_convolution, "width"),
        _task("convolution_2d", "B = A convolved with w, 0 beyond its edges",
              "A[M, N] w[width, width] B[M, N]", right.convolution_2d, "width width"),
        _task("mean_of_four", "B = the mean of the four cells around each cell of A",
              "A[M, N] B[M, N]", right.mean_of_four, "4"),
        _task("mean_of_five", "B = the mean of each cell of A and the four around it",
              "A[M, N] B[M, N]", right.mean_of_five, "5"),
        _task("laplacian", "B = the sum of the four cells around each of A, minus four times that",
              "A[M, N] B[M, N]", right.laplacian, "5"),
    )
}  # fmt: skip


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
    largest = float(np.nanmax(np.abs(expected), initial=0.0))
    if result.dtype.kind != "f":
        return 0.0
    bits = np.finfo(result.dtype).nmant + 1
    is_whole = bool(np.all(np.isnan(expected) | (expected == np.rint(expected))))
    if terms == 1 or (is_whole and largest <= 2.0**bits):
        return 0.0
    return STEPS * math.sqrt(terms) * largest * 2.0**-bits


def wrong_cells(result: Array, expected: Array, terms: int) -> Array:
    """Where a result differs from what is expected, bool in the expected shape; NaN differs.

    Where NaN is expected anything is right.
    """
    cells = result.reshape(-1)[: expected.size].reshape(expected.shape).astype(np.float64)
    error: Array = np.abs(cells - expected)
    wrong: Array = ~(error <= tolerance(result, expected, terms)) & ~np.isnan(expected)
    return wrong
