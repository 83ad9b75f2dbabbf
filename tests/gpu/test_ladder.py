"""The ladder on a real GPU: verified at any size, and equal to the simulator in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu.candidate import Candidate, choose
from gpu.compare import request
from gpu.comparison import comparison_from
from gpu.precision import PRECISIONS
from gpu.worker import Worker
from simulator.catalogue import catalogue, whole_catalogue
from simulator.language.ctype import Array

pytestmark = pytest.mark.gpu

NAMES = {
    ":".join([entry.name, *(f"{macro}={value}" for macro, value in chosen.items())]): (
        chosen in entry.speed
    )
    for entry in catalogue().values()
    for chosen in entry.settings()
}  # whether a setting is for speed
GPU_ALONE = [entry.name for entry in whole_catalogue().values() if not entry.simulated]
SIZES = [(1, 1, 1), (33, 47, 29), (130, 129, 515), (256, 512, 64), (300, 260, 72), (257, 96, 1023)]
SIMULATED = [(1, 1, 1), (33, 47, 29), (64, 64, 64), (100, 72, 36), (130, 260, 21)]


@pytest.mark.parametrize("size", SIZES)
def test_every_kernel_is_verified(worker: Worker, size: tuple[int, int, int]) -> None:
    job = worker.submit(request(size, [choose(name, size) for name in [*NAMES, *GPU_ALONE]]), 240)
    found = comparison_from(dict(job.wait()))
    assert [kernel.verdict for kernel in found.kernels if not kernel.verified] == []
    # On a screen's settings the compiler may hand a function an argument by way of memory.
    for_speed = [kernel for kernel in found.kernels if NAMES.get(kernel.name, True)]
    assert [kernel.name for kernel in for_speed if kernel.local_bytes] == []


def on_gpu(candidate: Candidate, A: Array, B: Array, size: tuple[int, int, int]) -> Array:
    """C as the GPU computes it, poisoned with NaN before."""
    import cupy

    from gpu.cuda.compile import compile_text, load

    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    binary = compile_text(
        candidate.text, candidate.kernel, architecture, candidate.defines
    )  # fmt: skip
    loaded = load(binary, candidate.block, 2048, candidate.shared_bytes)
    C = cupy.full(size[:2], np.nan, dtype=PRECISIONS[candidate.multiplies()].results)
    arguments = (cupy.asarray(A), cupy.asarray(B), C, *(np.int32(value) for value in size))
    loaded.function(candidate.grid, candidate.block, arguments, shared_mem=candidate.shared_bytes)
    result: Array = cupy.asnumpy(C)
    return result


def in_simulator(candidate: Candidate, A: Array, B: Array, size: tuple[int, int, int]) -> Array:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    from simulator import Launch, compile_kernel, simulate

    M, N, K = size
    C = np.full((M, N), np.nan, dtype=PRECISIONS[candidate.multiplies()].results)
    arguments: dict[str, Any] = {"A": A, "B": B, "C": C, "M": M, "N": N, "K": K}
    kernel = compile_kernel(candidate.text, candidate.kernel)
    report = simulate(
        kernel, Launch(candidate.grid, candidate.block, arguments, candidate.shared_bytes)
    )
    result: Array = report.arrays["C"]
    return result


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIMULATED)
def test_the_simulator_equals_the_gpu_in_every_bit(name: str, size: tuple[int, int, int]) -> None:
    M, N, K = size
    candidate = choose(name, size)
    element = PRECISIONS[candidate.multiplies()].operands
    rng = np.random.default_rng()
    A = (rng.standard_normal((M, K)) * 10.0 ** rng.integers(-3, 4, (M, K))).astype(element)
    B = (rng.standard_normal((K, N)) * 10.0 ** rng.integers(-3, 4, (K, N))).astype(element)
    simulated, real = in_simulator(candidate, A, B, size), on_gpu(candidate, A, B, size)
    bits = f"u{simulated.dtype.itemsize}"
    differ = np.argwhere(simulated.view(bits) != real.view(bits))
    assert differ.size == 0, f"{len(differ)} of {M * N} differ, first at {differ[0]}"


@pytest.mark.parametrize("name", GPU_ALONE)
@pytest.mark.parametrize("size", [(64, 64, 64), (65, 67, 69)])
def test_special_values_come_through_groups_of_warps(name: str, size: tuple[int, int, int]) -> None:
    """Infinities and NaN spread along their row or column; by parts, infinities become NaN."""
    M, N, K = size
    candidate = choose(name, size)
    element = PRECISIONS[candidate.multiplies()].operands
    A, B = np.ones((M, K), element), np.ones((K, N), element)
    A[3, 5], A[4, 6], B[7, 9] = np.inf, -np.inf, np.nan
    B[8, 10] = np.frombuffer(b"\xff" * 8, element)[0]  # NaN, all bits ones
    A[5, 0], B[0, 11] = np.float16(1e-4), np.float16(-2)
    C = on_gpu(candidate, A, B, size)
    by_parts = candidate.multiplies() == "float32"
    expected = A.astype(np.float64) @ B.astype(np.float64)
    if by_parts:
        expected[[3, 4]] = np.nan
    assert np.isnan(C[np.isnan(expected)]).all()
    assert np.allclose(C, expected, rtol=1e-3, equal_nan=True)
