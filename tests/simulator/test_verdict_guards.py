"""Which comparisons with sizes guard edges, and which are the same in all threads."""

from __future__ import annotations

import pytest

from simulator import compile_kernel
from simulator.verdict.form import LaunchForm
from simulator.verdict.guards import has_guard
from simulator.verdict.tasks import PRODUCT

FORM = LaunchForm(("1",) * 3, ("1",) * 3, "0", (), PRODUCT, (("M", "M"), ("N", "N"), ("K", "K")))
KERNEL = """#define T 4
__device__ bool inside(int row, int height) { return row < height; }
__device__ int lane() { return threadIdx.x; }
__device__ int next_of(int t) { return (t + 1) * T; }
__global__ void multiply(const float* A, float* C, int M, int N, int K, int limit) {
    int x = threadIdx.x, row = blockIdx.y * T + threadIdx.y, tiles = K / T, now = 0;
    float sum = 0;
    for (int t = 0; t < tiles; ++t, now ^= 1) {
        BEFORE
        if (CONDITION) sum += A[row * K + (t + 1) * T + x];
    }
    C[row * N + x] = sum;
}"""


@pytest.mark.parametrize(
    ("before", "condition", "is_guard"),
    [
        ("", "t + 1 < K / T", False),
        ("", "(t + 1) * T < K", False),
        ("", "K - t * T > blockDim.x", False),
        ("", "t + 1 < tiles", False),
        ("bool more = t + 1 < tiles;", "more", False),
        ("const int next = t + 1;", "next < tiles", False),
        ("int next = t; ++next;", "next != max(K / T, 1)", False),
        ("", "next_of(t) < K && now == 0", False),
        ("", "x < 2 && next_of(t) < K", False),
        ("", "K % 4 == 0", False),
        ("", "sum > 0", False),
        ("int before = row * K;", "A[before] > 0", False),
        ("int end = row * K + K - 1;", "now + t * T <= end", False),
        ("", "max(t, 1) < K / T", False),
        ("", "x < limit", False),
        ("for (int i = x; i < K; i += 4) sum += 1;", "sum > 0", False),
        ("", "__shfl_sync(~0u, t, 0) < K", True),
        ("", "lane() < K", True),
        ("", "(t + 1) * T + x < K", True),
        ("", "t * T + threadIdx.x < K", True),
        ("", "t + 1 < K / T && row < M", True),
        ("", "K - x > (t + 1) * T", True),
        ("int rows = M;", "row < rows", True),
        ("", "inside(row, M)", True),
        ("bool in = row < M;", "in", True),
        ("int end = 0; if (blockIdx.z == 1) end = T;", "K > end", True),
    ],
)
def test_what_is_the_same_in_all_threads_guards_no_edge(
    before: str, condition: str, is_guard: bool
) -> None:
    text = KERNEL.replace("BEFORE", before).replace("CONDITION", condition)
    assert has_guard(compile_kernel(text), FORM) is is_guard
