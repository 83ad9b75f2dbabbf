"""Stores to rows of a shared array, noted at once: races are those of the same array with a gap."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Report, simulate
from tests.simulator.launches import launch_text

# What comes after the store to a thread's own cell, which all lanes make: with and without races.
AFTER = {
    "a barrier": "__syncthreads(); x[i] = tile[y ^ 1][31 - t];",
    "none": "x[i] = tile[y ^ 1][31 - t];",
    "none before a second store": "__syncthreads(); x[i] = tile[3 - y][t]; tile[y][t] = 1;",
    "a second store elsewhere": "tile[3 - y][t] = 2; __syncthreads(); x[i] = tile[y][t];",
    "a second store of one lane": "if (t == 3) tile[3 - y][5] = 2; __syncthreads();",
    "an atomic": "atomicAdd(&tile[3 - y][t], 2); __syncthreads(); x[i] = tile[y][t];",
    "again in a loop": "for (int k = 0; k < 3; ++k) { x[i] += tile[3 - y][t]; tile[y][t] = k; }",
}


def run(after: str, columns: int, schedule: str) -> Report:
    kernel, launch = launch_text(
        f"__global__ void k(int* x) {{ __shared__ int tile[4][{columns}];"
        " int t = threadIdx.x % 32, y = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;"
        f" tile[y][t] = i; {after} }}",
        grid=3,
        block=128,
        x=np.zeros(384, np.int32),
    )
    return simulate(kernel, launch, schedule)


@pytest.mark.parametrize("schedule", ["lockstep", "ascending", "descending"])
@pytest.mark.parametrize("name", AFTER)
@pytest.mark.sample(4)
def test_rows_have_the_races_of_an_array_with_a_gap(name: str, schedule: str) -> None:
    dense, padded = (run(AFTER[name], columns, schedule) for columns in (32, 33))
    assert bool(dense.hazards) == (name != "a barrier")
    for one, other in zip(dense.hazards, padded.hazards, strict=True):
        assert (one.kind, one.lines, one.count) == (other.kind, other.lines, other.count)
        assert (one.message, one.example) == (other.message, other.example)
