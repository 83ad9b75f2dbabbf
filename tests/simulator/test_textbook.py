"""Kernels from textbooks.cu, run unchanged: NumPy's result, and no hazard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, record, simulate
from simulator.launch import Dim3, dim3

TEXT = Path(__file__).with_name("textbook.cu").read_text(encoding="utf-8")
RANDOM = np.random.default_rng(7)
F = RANDOM.standard_normal(1000, dtype=np.float32)
G = RANDOM.standard_normal(1000, dtype=np.float32)
I = RANDOM.integers(-99, 99, 1000, dtype=np.int32)  # noqa: E741  # integers
U = RANDOM.integers(0, 2**32, 1000, dtype=np.uint32)
MATRIX = RANDOM.standard_normal((48, 80), dtype=np.float32)
LIFE = RANDOM.random((20, 30)) < 0.4

Case = tuple[
    str, Dim3, Dim3, int, dict[str, Any], Callable[[Mapping[str, Any]], tuple[Any, Any]], float
]


def zeros(shape: Any, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


def around(values: Any, weights: Any) -> Any:
    """Each element's neighbourhood, weighted, with zeros beyond the ends."""
    reach = len(weights) // 2
    padded = np.pad(values.astype(float), reach)
    return sum(padded[i : i + len(values)] * w for i, w in enumerate(weights))


def mandelbrot(width: int, height: int, limit: int) -> Any:
    c = -2 + 3 * np.arange(width) / width + 1j * (-1 + 2 * np.arange(height) / height)[:, None]
    z, count, alive = np.zeros_like(c), np.zeros(c.shape, int), np.ones(c.shape, bool)
    for _ in range(limit):
        z = np.where(alive, z * z + c, z)
        count += alive
        alive &= (z * z.conj()).real < 4
    return count


def life(now: Any) -> Any:
    alive = sum(
        np.roll(now, (dy, dx), (0, 1)).astype(int)
        for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy
    )  # fmt: skip
    return (alive == 3) | (now & (alive == 2))


# kernel, grid, block, shared bytes, arguments, (found, expected), tolerance
CASES: dict[str, Case] = {
    "saxpy": ("saxpy", dim3(3), dim3(128), 0, {"n": 1000, "a": 2.5, "x": F, "y": G},
              lambda r: (r["y"], np.float32(2.5) * F + G), 1e-5),
    "reduction": ("reduceInterleaved", dim3(8), dim3(128), 512,
                  {"in": I, "out": zeros(8, np.int32), "n": 1000},
                  lambda r: (r["out"], np.pad(I, (0, 24)).reshape(8, 128).sum(1)), 0),
    "reduction, unrolled": ("reduceUnrolled", dim3(2), dim3(128), 0,
                            {"g_idata": I, "g_odata": zeros(1, np.int32), "n": 1000},
                            lambda r: (r["g_odata"][0], I.sum()), 0),
    "dot": ("dot", dim3(2), dim3(96), 0, {"a": F, "b": G, "result": zeros(2), "n": 1000},
            lambda r: (r["result"].sum(), F.astype(float) @ G), 1e-3),
    "transpose": ("transposePadded", dim3(3, 2), dim3(32, 8), 0,
                  {"odata": zeros((80, 48)), "idata": MATRIX, "width": 80, "height": 48},
                  lambda r: (r["odata"], MATRIX.T), 0),
    "scan": ("scanDoubleBuffered", dim3(1), dim3(256), 2048,
             {"g_odata": zeros(256, np.int32), "g_idata": I[:256].copy(), "n": 256},
             lambda r: (r["g_odata"][1:], np.cumsum(I[:255])), 0),
    "scan in place": ("scanBlelloch", dim3(1), dim3(128), 1024,
                      {"g_odata": zeros(256, np.int32), "g_idata": I[:256].copy(), "n": 256},
                      lambda r: (r["g_odata"][1:], np.cumsum(I[:255])), 0),
    "histogram": ("histogram", dim3(3), dim3(64), 0,
                  {"data": U, "bins": zeros(16, np.uint32), "n": 1000},
                  lambda r: (r["bins"], np.bincount(U % 16, minlength=16)), 0),
    "stencil": ("stencil1d", dim3(8), dim3(128), 0,
                {"in": I, "out": zeros(1000, np.int32), "n": 1000},
                lambda r: (r["out"], around(I, [1] * 7)), 0),
    "convolution": ("convolution1d", dim3(8), dim3(128), 0,
                    {"N": F, "mask": G[:5].copy(), "P": zeros(1000), "width": 1000},
                    lambda r: (r["P"], around(F, G[:5])), 1e-5),
    "matrix and vector": ("matvec", dim3(13), dim3(128), 0,
                          {"A": MATRIX, "x": F[:80].copy(), "y": zeros(48), "rows": 48,
                           "cols": 80}, lambda r: (r["y"], MATRIX @ F[:80]), 1e-4),
    "matrix product": ("matrixMul", dim3(5, 3), dim3(16, 16), 0,
                       {"C": zeros((48, 80)), "A": MATRIX[:, :48].copy(),
                        "B": MATRIX, "wA": 48, "wB": 80},
                       lambda r: (r["C"], MATRIX[:, :48] @ MATRIX), 1e-4),
    "softmax": ("softmax", dim3(48), dim3(128), 0,
                {"in": MATRIX, "out": zeros((48, 80)), "cols": 80},
                lambda r: (r["out"], np.exp(MATRIX) / np.exp(MATRIX).sum(1, keepdims=True)), 1e-5),
    "bitonic sort": ("bitonicSort", dim3(1), dim3(256), 1024, {"values": I[:256].copy()},
                     lambda r: (r["values"], np.sort(I[:256])), 0),
    "Mandelbrot": ("mandelbrot", dim3(3, 3), dim3(16, 8), 0,
                   {"image": zeros((20, 40), np.uint8), "width": 40, "height": 20, "limit": 50},
                   lambda r: (r["image"], mandelbrot(40, 20, 50)), 0),
    "vector copy": ("copyVectorized", dim3(2), dim3(64), 0,
                    {"out": zeros(400), "in": F[:400].copy(), "n4": 100, "tail": zeros(3),
                     "rest": G[:3].copy(), "left": 3},
                    lambda r: (np.r_[r["out"], r["tail"]], np.r_[F[:400], G[:3]] * 2), 0),
    "life": ("gameOfLife", dim3(4, 3), dim3(8, 8), 0,
             {"now": LIFE, "next": zeros((20, 30), np.bool_), "w": 30, "h": 20},
             lambda r: (r["next"], life(LIFE)), 0),
}  # fmt: skip
TEMPLATES = {
    "reduceUnrolled": {"blockSize": "128"},
    "matrixMul": {"T": "float", "BLOCK_SIZE": "16"},
}


@pytest.mark.sample(16)
@pytest.mark.parametrize("schedule", ["ascending", "descending", "random"])
@pytest.mark.parametrize("case", CASES)
def test_kernel(case: str, schedule: str) -> None:
    name, grid, block, shared, arguments, compare, tolerance = CASES[case]
    kernel = compile_kernel(TEXT, name, TEMPLATES.get(name), "textbook.cu")
    report = simulate(kernel, Launch(grid, block, arguments, shared), schedule)
    assert report.hazards == ()
    found, expected = compare(report.arrays)
    assert np.abs(np.asarray(found, float) - expected).max() <= tolerance
    assert np.abs(np.asarray(expected, float)).max() > 0


# These add to one cell from every block; a recording is of one block.
SUMMED_BY_ALL_BLOCKS = ("reduction, unrolled", "histogram")


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", [case for case in CASES if case not in SUMMED_BY_ALL_BLOCKS])
def test_recording_ends_alike(case: str) -> None:
    name, grid, block, shared, arguments, _, _ = CASES[case]
    kernel = compile_kernel(TEXT, name, TEMPLATES.get(name), "textbook.cu")
    launch = Launch(grid, block, arguments, shared)
    last = record(kernel, launch).steps[-1]
    arrays = simulate(kernel, launch).arrays
    assert last.outputs
    for array, found in last.outputs.items():
        written = last.stored[array]
        assert written.any()
        assert np.array_equal(found[written], arrays[array][written])
