"""The results of tasks, computed by NumPy apart from the verdict, from arrays as vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.float64]


class Given:
    """Arrays by role as attributes, and matrices of them: `g("A", g.M, g.K)`."""

    def __init__(self, arrays: Mapping[str, Cells], sizes: Mapping[str, int]) -> None:
        self._arrays = arrays
        self._sizes = sizes

    def __getattr__(self, name: str) -> Any:
        if name in self._sizes:
            return self._sizes[name]
        if "n" in self._sizes and self._arrays[name].ndim:
            return self._arrays[name][: self._sizes["n"]]
        return self._arrays[name]

    def __call__(self, role: str, *shape: int) -> Cells:
        return self._arrays[role][: int(np.prod(shape))].reshape(shape)


def _softmax(A: Cells) -> Cells:
    e = np.exp(A - A.max(axis=1)[:, None])
    return np.asarray(e / e.sum(axis=1)[:, None])


def _inner(A: Cells, weights: Mapping[tuple[int, int], float]) -> Cells:
    """A sum of shifted matrices; NaN at the edge, which may hold anything."""
    found = sum((w * np.roll(A, shift, (0, 1)) for shift, w in weights.items()), np.zeros(A.shape))
    found[[0, -1]] = np.nan
    found[:, [0, -1]] = np.nan
    return found


def _beside(x: Cells, factor: float) -> Cells:
    weights = {(0, shift): factor for shift in (-1, 0, 1)}
    return np.asarray(_inner(np.tile(x, (3, 1)), weights)[1])


def _window(x: Cells, w: Cells) -> Cells:
    """Each place of w in x, of one or two dimensions, with zeros around x."""
    left = w.shape[0] // 2
    padded = np.pad(x, [(left, side - 1 - left) for side in w.shape])
    places = np.lib.stride_tricks.sliding_window_view(padded, w.shape)
    return np.asarray((places * w).sum(axis=tuple(range(x.ndim, 2 * x.ndim))))


AROUND = {(0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
RESULTS: Mapping[str, Callable[[Given], Cells]] = {
    "product": lambda g: g("A", g.M, g.K) @ g("B", g.K, g.N),
    "product_of_rows": lambda g: g("A", g.M, g.K) @ g("B", g.N, g.K).T,
    "product_of_columns": lambda g: g("A", g.K, g.M).T @ g("B", g.K, g.N),
    "product_by_columns": lambda g: g("B", g.N, g.K) @ g("A", g.K, g.M),
    "batched_product": lambda g: np.matmul(
        g("A", g.batches, g.M, g.K), g("B", g.batches, g.K, g.N)).reshape(-1, g.N),
    "matrix_vector": lambda g: g("A", g.M, g.N) @ g("x", g.N),
    "vector_matrix": lambda g: g("A", g.M, g.N).T @ g("x", g.M),
    "outer_product": lambda g: g("x", g.M, 1) * g("y", 1, g.N),
    "transpose": lambda g: g("A", g.M, g.N).T,
    "row_sums": lambda g: g("A", g.M, g.N).sum(1),
    "column_sums": lambda g: g("A", g.M, g.N).sum(0),
    "softmax": lambda g: _softmax(g("A", g.M, g.N)),
    "copy": lambda g: g.x,
    "scaled": lambda g: g.a * g.x,
    "sum": lambda g: g.x + g.y,
    "difference": lambda g: g.x - g.y,
    "elementwise_product": lambda g: g.x * g.y,
    "scaled_sum": lambda g: g.a * g.x + g.y,
    "axpy": lambda g: g.a * g.x + g.y,
    "added_to": lambda g: g.x + g.y,
    "relu": lambda g: g.x * (g.x > 0),
    "square": lambda g: g.x * g.x,
    "reverse": lambda g: np.flip(g.x),
    "total": lambda g: np.array([g.x.sum()]),
    "dot": lambda g: np.array([(g.x * g.y).sum()]),
    "largest": lambda g: np.array([g.x.max()]),
    "scan": lambda g: g.x.cumsum(),
    "exclusive_scan": lambda g: np.append(0, g.x.cumsum()[:-1]),
    "sort": lambda g: np.array(sorted(g.x)),
    "histogram": lambda g: np.array([(g.x % g.bins == one).sum() for one in range(g.bins)]),
    "three_neighbours": lambda g: np.convolve(g.x, np.ones(3))[: g.n],
    "neighbours": lambda g: _beside(g.x, 1),
    "mean_of_neighbours": lambda g: _beside(g.x, 1 / 3),
    "convolution": lambda g: _window(g.x, g("w", g.width)),
    "valid_convolution": lambda g: np.convolve(
        g("x", g.n + g.width - 1), g("w", g.width)[::-1], "valid"),
    "convolution_2d": lambda g: _window(g("A", g.M, g.N), g("w", g.width, g.width)),
    "mean_of_four": lambda g: _inner(g("A", g.M, g.N), AROUND) / 4,
    "mean_of_five": lambda g: _inner(g("A", g.M, g.N), AROUND | {(0, 0): 1.0}) / 5,
    "laplacian": lambda g: _inner(g("A", g.M, g.N), AROUND | {(0, 0): -4.0}),
}  # fmt: skip


def _escape(M: int, N: int) -> Cells:
    row, col = np.mgrid[:M, :N].astype(np.float32)
    re, im = -2 + 3 * col / np.float32(N), -1 + 2 * row / np.float32(M)
    u, t, steps = np.zeros_like(re), np.zeros_like(re), np.zeros(re.shape)
    for _ in range(20):
        inside = u * u + t * t < 4
        u, t = np.where(inside, u * u - t * t + re, u), np.where(inside, 2 * u * t + im, t)
        steps += inside
    return steps


def _sparse(start: Cells, g: Given) -> Cells:
    products = np.append(g.val * g.x[g.cell.astype(int)], 0)
    sums = np.append(0, products.cumsum())[start.astype(int)]
    return np.asarray(np.diff(sums))


def _jagged(g: Given) -> Cells:
    start = g("start", 4).astype(int)
    products = g("val", 2 * g.n) * g.x[g("cell", 2 * g.n).astype(int)]
    found = np.zeros(g.n)
    for first, end in itertools.pairwise(start):
        found[: end - first] += products[first:end]
    return found


# Kernels of no task, by their base's name.
UNTOLD: Mapping[str, Callable[[Given], Cells]] = {
    "bias_and_relu": lambda g: np.maximum(g("A", g.M, g.K) @ g("B", g.K, g.N) + g.bias, 0),
    "quantised": lambda g: g.scale_of * (g("A", g.M, g.K) @ g("B", g.K, g.N)),
    "sigmoid": lambda g: 1 / (1 + np.exp(-g.x)),
    "gather": lambda g: g.x[g.idx.astype(int)],
    "scatter": lambda g: g.x[np.argsort(g.perm)],
    "counting_sort": lambda g: np.sort(g.keys),
    "compressed_rows": lambda g: _sparse(g("start", g.n + 1), g),
    "jagged_rows": lambda g: _jagged(g)[np.argsort(g.perm)],
    "mandelbrot": lambda g: _escape(g.M, g.N),
    "saxpy_and_more": lambda g: g.a * g.x + g.more * g.y,
    "block_sums": lambda g: np.add.reduceat(g.x, np.arange(0, g.n, 256)),
    "grey": lambda g: g("x", g.M * g.N, 3) @ np.array([1, 2, 1]) // 4,
    "distances": lambda g: (
        (g("A", g.M, 1, g.K) - g("B", 1, g.N, g.K)) ** 2).sum(axis=2),
    "moving_window": lambda g: np.convolve(g.x, np.ones(7), "same"),
    "every_pair": lambda g: g("x", g.n, 2).prod(axis=1),
}  # fmt: skip


def reference(task: str, arrays: Mapping[str, Cells], sizes: Mapping[str, int]) -> Cells:
    """A task's result in its shape, NaN where anything is right.

    arrays are vectors by role, and further numbers: alpha and beta of a product, and start, to
    which beta belongs.
    """
    found = RESULTS[task](Given(arrays, sizes)).astype(np.float64)
    found = found * float(arrays.get("alpha", np.float64(1)))
    if "beta" in arrays:
        found = found + float(arrays["beta"]) * arrays["start"][: found.size].reshape(found.shape)
    return found
