"""The catalogue's kernels against NumPy: near the exact product, and bit for bit one rounding."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import catalogue, simulate
from simulator.machine.schedule import SCHEDULES
from tests.simulator.launches import matmul

SIZES = [(1, 1, 1), (4, 4, 4), (5, 7, 3), (16, 16, 16), (33, 17, 40), (64, 48, 32), (1, 70, 9)]
CASES = [
    (name, tile)
    for name in ("naive", "tiled")
    for tile in catalogue()[name].defines.get("TILE", (None,))
]


def fused_chain(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Each acc + a * b rounded once: exact in float64 but for double rounding, rare and benign."""
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for k in range(A.shape[1]):
        product = A[:, k, None].astype(np.float64) * B[None, k].astype(np.float64)
        C = (product + C).astype(np.float32)
    return C


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "tile"), CASES)
@pytest.mark.parametrize("size", SIZES)
def test_product_is_right_and_clean(
    name: str, tile: int | None, size: tuple[int, int, int]
) -> None:
    chosen = {} if tile is None else {"TILE": tile}
    kernel, launch = matmul(name, *size, **chosen)
    report = simulate(kernel, launch)
    A, B = launch.arguments["A"], launch.arguments["B"]
    exact = A.astype(np.float64) @ B.astype(np.float64)
    bound = size[2] * 2**-24 * (np.abs(A).astype(np.float64) @ np.abs(B)) + 1e-30
    assert (np.abs(report.arrays["C"] - exact) <= bound).all()
    assert np.array_equal(report.arrays["C"], fused_chain(A, B))
    assert report.hazards == ()
    assert np.isnan(launch.arguments["C"]).all(), "the caller's array is not written"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_order_of_warps_changes_nothing_in_a_correct_kernel(schedule: str) -> None:
    kernel, launch = matmul("tiled", 33, 20, 37)
    report = simulate(kernel, launch, schedule, seed=3)
    assert np.array_equal(
        report.arrays["C"], fused_chain(launch.arguments["A"], launch.arguments["B"])
    )


def test_order_of_warps_shows_without_barriers() -> None:
    kernel, launch = matmul("tiled", 64, 64, 64, (("__syncthreads();", ";"),))
    good = fused_chain(launch.arguments["A"], launch.arguments["B"])
    wrong = (simulate(kernel, launch).arrays["C"] != good).mean()
    assert wrong > 0.5
