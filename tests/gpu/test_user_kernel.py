"""User kernels as candidates of a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpu.candidate import Candidate
from gpu.compare import compare, request
from gpu.comparison import comparison_from
from gpu.user_kernel import user_candidate
from simulator import LaunchError, compile_kernel
from simulator.verdict.form import UserKernel
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
# As cuBLAS has matrices, each column by column; what C held counts, unless beta is 0.
BY_COLUMNS = """
__global__ void by_columns(int m, int n, int k, float alpha, const float* x, const float* y,
                           float beta, float* z)
{
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int e = 0; e < k; ++e) sum += x[i + e * m] * y[e + j * k];
    z[i + j * m] = alpha * sum + beta * z[i + j * m];
}
"""
TILES = """
#include <mma.h>
using namespace nvcuda;
__global__ void tiles(const OPERAND* a, const OPERAND* b, float* c, int M, int N, int K)
{
    int row = blockIdx.y * 64 + threadIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, DEPTH, TYPE, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, DEPTH, TYPE, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, DEPTH, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int i = 0; i < K; i += DEPTH) {
        wmma::load_matrix_sync(left, a + row * K + i, K);
        wmma::load_matrix_sync(right, b + i * N + col, N);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c + row * N + col, sums, N, wmma::mem_row_major);
}
"""
HALF = TILES.replace("OPERAND", "half").replace("TYPE", "half").replace("DEPTH", "16")
TF32 = (
    TILES.replace("OPERAND", "float").replace("TYPE", "wmma::precision::tf32").replace("DEPTH", "8")
)


def user_kernel_of(text: str, name: str, shared: str = "0", **roles: str) -> UserKernel:
    form = guess_form(text, compile_kernel(text, name))
    known = dict(form.roles) | roles
    return UserKernel(text, name, replace(form, shared_bytes=shared, roles=tuple(known.items())))


def test_arguments_come_in_the_order_of_the_parameters() -> None:
    candidate = user_candidate(user_kernel_of(GEMM, "gemm", "2 * T * T * 4"), (64, 80, 96))
    assert candidate.arguments == (
        "i32=64", "i32=80", "i32=96", "f32=1.0", "A", "B", "f32=0.0", "C",
    )  # fmt: skip
    assert candidate.grid == (5, 4, 1)
    assert candidate.shared_bytes == 2048
    assert candidate.precision == "float32"


def test_one_number_gives_a_square_its_size() -> None:
    candidate = user_candidate(user_kernel_of(SQUARE, "square"), (64, 64, 64))
    assert candidate.arguments == ("A", "B", "C", "u64=64")
    assert candidate.precision == "float64"


def test_a_product_column_by_column_gets_b_where_it_names_a() -> None:
    candidate = user_candidate(user_kernel_of(BY_COLUMNS, "by_columns"), (64, 80, 96))
    assert candidate.arguments == (
        "i32=80", "i32=64", "i32=96", "f32=1.0", "B", "A", "f32=0.0", "C",
    )  # fmt: skip
    assert candidate.grid == (5, 4, 1)


def test_a_c_that_is_read_holds_zeros_before() -> None:
    assert user_candidate(user_kernel_of(BY_COLUMNS, "by_columns"), (64, 64, 64)).c_holds_zeros
    assert user_candidate(user_kernel_of(GEMM, "gemm", "2048"), (64, 64, 64)).c_holds_zeros
    assert not user_candidate(user_kernel_of(SQUARE, "square"), (64, 64, 64)).c_holds_zeros


def test_the_matrix_that_beta_leaves_out_is_c() -> None:
    four = BY_COLUMNS.replace("float* z)", "const float* w, float* z)").replace(
        "beta * z", "beta * w"
    )
    candidate = user_candidate(user_kernel_of(four, "by_columns"), (64, 80, 96))
    assert candidate.arguments[-4:] == ("A", "f32=0.0", "C", "C")
    assert candidate.c_holds_zeros


@pytest.mark.parametrize(("text", "precision"), [(HALF, "float16"), (TF32, "tf32")])
def test_tiles_on_tensor_cores_are_compared_in_their_own_type(text: str, precision: str) -> None:
    candidate = user_candidate(user_kernel_of(text, "tiles"), (512, 512, 512))
    assert (candidate.precision, candidate.block) == (precision, (32, 4, 1))


@pytest.mark.parametrize(
    ("text", "name", "size", "sentence"),
    [
        (SQUARE, "square", (64, 64, 32), "size is one number here: choose a square size"),
        (
            SQUARE.replace("unsigned long size)", ")").replace("{", "{ const int size = 32;", 1)
            .replace("__global__", "#define N 32\n__global__", 1),
            "square", (64, 64, 64), "is 32 in this code, and cannot be 64",
        ),
        ("__global__ void f(float* a) { a[threadIdx.x] = 1; }", "f", (8, 8, 8), "Only a product"),
        (SQUARE.replace("double", "int"), "square", (64, 64, 64), "or whose A and B are half"),
    ],
)  # fmt: skip
def test_what_cannot_be_timed_so_is_a_sentence(
    text: str, name: str, size: tuple[int, int, int], sentence: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(sentence)):
        user_candidate(user_kernel_of(text.replace(", )", ")"), name), size)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("text", "name", "shared"),
    [
        (GEMM, "gemm", "2 * T * T * 4"),
        (GEMM, "gemm", "100000"),
        (SQUARE, "square", "0"),
        (BY_COLUMNS, "by_columns", "0"),
        (HALF, "tiles", "0"),
        (TF32, "tiles", "0"),
    ],
)
def test_it_is_verified_and_timed_on_a_gpu(text: str, name: str, shared: str) -> None:
    candidate = user_candidate(user_kernel_of(text, name, shared), (512, 512, 512))
    result = run([candidate])
    assert result["yours"].verified, result["yours"].verdict
    assert result["yours"].ms
    assert result["yours"].registers


@pytest.mark.gpu
def test_a_wrong_one_is_named_on_a_gpu() -> None:
    wrong = user_candidate(
        user_kernel_of(GEMM.replace("e < T", "e < T - 1"), "gemm", "2048"), (512,) * 3
    )
    assert not run([wrong])["yours"].verified


def run(candidates: list[Candidate]) -> Mapping[str, object]:
    job = request((512, 512, 512), candidates)
    comparison = comparison_from(compare(job, lambda *_: None))
    return {kernel.name: kernel for kernel in comparison.kernels}
