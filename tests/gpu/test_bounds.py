"""What a kernel's counted work takes at least, held against what an H200 took."""

from __future__ import annotations

import pytest

from gpu.bounds import Bounds, find_bounds
from gpu.comparison import Comparison
from gpu.recorded import newest

SQUARE = next(one for one in newest().comparisons if one.size == (4096, 4096, 4096))


def bounds(name: str, comparison: Comparison = SQUARE) -> tuple[Bounds, float]:
    """A kernel's bounds and its measured milliseconds."""
    kernel = next(one for one in comparison.kernels if one.name == name)
    found = find_bounds(kernel, comparison)
    assert found
    assert kernel.ms
    return found, kernel.ms


@pytest.mark.parametrize(
    "name",
    ["naive", "tiled", "tiled:TILE=32", "transposed", "transposed:TILE=32", "padded",
     "padded:TILE=32", "swizzled"],
)  # fmt: skip
def test_shared_memory_kernels_take_what_their_port_takes(name: str) -> None:
    found, ms = bounds(name)
    assert found.port_ms > 2 * found.issue_ms
    assert found.least_ms == found.port_ms
    assert 0.84 * ms < found.port_ms < ms


@pytest.mark.parametrize("name", ["registers", "vectors", "pipelined", "warptiles"])
def test_kernels_with_many_sums_are_held_up_by_issue_and_by_register_banks(name: str) -> None:
    found, ms = bounds(name)
    assert found.least_ms < ms < 1.02 * found.most_ms


def test_the_compiler_joins_reads_of_the_tiled_kernel() -> None:
    for tile in ("tiled", "tiled:TILE=32"):
        counted = next(one for one in SQUARE.kernels if one.name == tile).counters
        assert counted
        adds = bounds(tile)[0].multiply_adds
        assert counted["shared_load_requests"] == 1.25 * adds, "as its comment says"
        assert counted["shared_load_wavefronts"] == pytest.approx(1.5 * adds, rel=0.001)


def test_there_are_no_bounds_without_counters() -> None:
    cublas = next(one for one in SQUARE.kernels if one.name == "cublas")
    assert find_bounds(cublas, SQUARE) is None
