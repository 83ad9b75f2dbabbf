"""Medians, spreads and the number of rounds."""

from __future__ import annotations

import pytest

from gpu.timing import Timing, rounds, summarise


def test_the_median_and_its_spread() -> None:
    assert summarise([float(n) for n in range(101)]) == Timing(50.0, 20.0, 80.0, 101)


@pytest.mark.parametrize(
    ("slowest_ms", "count"), [(0.0, 200), (0.001, 200), (2.0, 100), (10.0, 20), (900.0, 20)]
)
def test_slow_kernels_run_twenty_times(slowest_ms: float, count: int) -> None:
    assert rounds(slowest_ms) == count
