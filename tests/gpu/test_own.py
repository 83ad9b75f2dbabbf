"""Kernels of one's own as candidates of a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpu.candidate import Candidate
from gpu.compare import compare, request
from gpu.own import own_candidate
from gpu.result import comparison_from
from simulator import LaunchError, compile_kernel
from simulator.verdict.form import OwnKernel
from simulator.verdict.guess import guess_form

# Another order of the parameters, factors as BLAS has them, and dynamic shared memory.
GEMM = """
#include <cuda_runtime.h>
#define T 16
__global__ void gemm(int m, int n, int k, float alpha, const float* x, const float* y, float beta,
                     float* z)
{
    extern __shared__ float tiles[];
    float* a = tiles;
    float* b = tiles + T * T;
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + T - 1) / T; ++t) {
        int i = t * T + threadIdx.x, j = t * T + threadIdx.y;
        a[threadIdx.y * T + threadIdx.x] = row < m && i < k ? x[row * k + i] : 0;
        b[threadIdx.y * T + threadIdx.x] = j < k && col < n ? y[j * n + col] : 0;
        __syncthreads();
        for (int e = 0; e < T; ++e) sum += a[threadIdx.y * T + e] * b[e * T + threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        z[row * n + col] = alpha * sum + (beta == 0 ? 0 : beta * z[row * n + col]);
}
int main() { return 0; }
"""
SQUARE = """
__global__ void square(const double* p, const double* q, double* r, unsigned long size)
{
    unsigned long row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= size || col >= size) return;
    double sum = 0;
    for (unsigned long i = 0; i < size; ++i) sum += p[row * size + i] * q[i * size + col];
    r[row * size + col] = sum;
}
"""


def own(text: str, name: str, shared: str = "0", **roles: str) -> OwnKernel:
    form = guess_form(text, compile_kernel(text, name))
    known = dict(form.roles) | roles
    return OwnKernel(text, name, replace(form, shared_bytes=shared, roles=tuple(known.items())))


def test_arguments_come_in_the_order_of_the_parameters() -> None:
    candidate = own_candidate(own(GEMM, "gemm", "2 * T * T * 4"), (64, 80, 96))
    assert candidate.arguments == (
        "i32=64", "i32=80", "i32=96", "f32=1.0", "A", "B", "f32=0.0", "C",
    )  # fmt: skip
    assert candidate.grid == (5, 4, 1)
    assert candidate.shared_bytes == 2048
    assert candidate.precision == "float32"


def test_one_number_gives_a_square_its_size() -> None:
    candidate = own_candidate(own(SQUARE, "square"), (64, 64, 64))
    assert candidate.arguments == ("A", "B", "C", "u64=64")
    assert candidate.precision == "float64"


@pytest.mark.parametrize(
    ("text", "name", "size", "sentence"),
    [
        (SQUARE, "square", (64, 64, 32), "size is one number here: choose a square size"),
        (
            SQUARE.replace("unsigned long size)", ")").replace("{", "{ const int size = 32;", 1)
            .replace("__global__", "#define N 32\n__global__", 1),
            "square", (64, 64, 64), "is 32 in this text, and cannot be 64",
        ),
        ("__global__ void f(float* a) { a[threadIdx.x] = 1; }", "f", (8, 8, 8), "Only a product"),
    ],
)  # fmt: skip
def test_what_cannot_be_timed_so_is_a_sentence(
    text: str, name: str, size: tuple[int, int, int], sentence: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(sentence)):
        own_candidate(own(text.replace(", )", ")"), name), size)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("text", "name", "shared"),
    [
        (GEMM, "gemm", "2 * T * T * 4"),
        (GEMM, "gemm", "100000"),
        (SQUARE, "square", "0"),
    ],
)
def test_it_is_verified_and_timed_on_a_gpu(text: str, name: str, shared: str) -> None:
    candidate = own_candidate(own(text, name, shared), (512, 512, 512))
    result = run([candidate])
    assert result["yours"].verified, result["yours"].verdict
    assert result["yours"].ms
    assert result["yours"].registers


@pytest.mark.gpu
def test_a_wrong_one_is_named_on_a_gpu() -> None:
    wrong = own_candidate(own(GEMM.replace("e < T", "e < T - 1"), "gemm", "2048"), (512,) * 3)
    assert not run([wrong])["yours"].verified


def run(candidates: list[Candidate]) -> Mapping[str, object]:
    job = request((512, 512, 512), candidates)
    comparison = comparison_from(compare(job, lambda *_: None))
    return {kernel.name: kernel for kernel in comparison.kernels}
