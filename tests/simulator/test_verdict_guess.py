"""Forms that are guessed: tasks, sizes, blocks and grids of kernels whose launch is not given."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from simulator import Kernel, catalogue, compile_kernel, simulate
from simulator.size_expression import evaluate
from simulator.verdict import blocks
from simulator.verdict.discovery import VALUES
from simulator.verdict.experiment import Experiment, Run, Sizes
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_launch
from simulator.verdict.parameters import recognise
from simulator.verdict.verdict import CheckState, State, Verdict

pytestmark = pytest.mark.usefixtures("_no_repairs")
NAIVE_BODY = """{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < ROWS && col < COLS) {
        float sum = 0;
        for (int i = 0; i < INNER; ++i) sum += x[row * INNER + i] * y[i * COLS + col];
        z[row * COLS + col] = sum;
    }
}
"""


def naive(parameters: str, rows: str, columns: str, inner: str, before: str = "") -> str:
    body = NAIVE_BODY.replace("ROWS", rows).replace("COLS", columns).replace("INNER", inner)
    return f"{before}__global__ void k({parameters}) {body}"


@functools.cache
def compiled(text: str) -> Kernel:
    return compile_kernel(text)


@functools.cache
def guessed(text: str, task: str | None = None) -> LaunchForm:
    return guess_form(text, compiled(text), task)


@pytest.mark.parametrize(
    ("name", "block", "grid"),
    [
        ("naive", ("16", "16"), ("(N + 16 - 1) / 16", "(M + 16 - 1) / 16")),
        pytest.param("uncoalesced", ("16", "16"), ("(N + 16 - 1) / 16", "(M + 16 - 1) / 16"),
                     marks=pytest.mark.deep),
        ("tiled", ("TILE", "TILE"), ("(N + TILE - 1) / TILE", "(M + TILE - 1) / TILE")),
        ("rows", ("TILE", "TILE / EACH"), ("(N + TILE - 1) / TILE", "(M + TILE - 1) / TILE")),
        ("registers", ("TILE / EACH",) * 2, ("(N + TILE - 1) / TILE", "(M + TILE - 1) / TILE")),
        pytest.param("vectors", ("TILE / EACH",) * 2,
                     ("(N + TILE - 1) / TILE", "(M + TILE - 1) / TILE"), marks=pytest.mark.deep),
        pytest.param("pipelined", ("TILE / EACH",) * 2,
                     ("(N + TILE - 1) / TILE", "(M + TILE - 1) / TILE"), marks=pytest.mark.deep),
        ("warptiles", ("THREADS", "1"),
         ("(N + TILE_COLUMNS - 1) / TILE_COLUMNS", "(M + TILE_ROWS - 1) / TILE_ROWS")),
    ],
)  # fmt: skip
def test_blocks_and_grids_of_the_catalogue(
    name: str, block: tuple[str, str], grid: tuple[str, str]
) -> None:
    form = guessed(catalogue()[name].source())
    assert (form.task, form.block[:2], form.grid[:2]) == ("product", block, grid)


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (naive("const float* x, const float* y, float* z, int height, int width, int depth",
               "height", "width", "depth"), "xyz height width depth"),
        (naive("float* z, const float* x, const float* y, int n", "n", "n", "n"), "xyz n n n"),
        (naive("int k, int n, int m, float* x, float* y, float* z", "m", "n", "k"), "xyz m n k"),
        (naive("float* x, float* y, float* z, int a, int b, int c", "a", "b", "c"), "xyz a b c"),
        (naive("float* x, float* y, float* z", "N", "N", "N", "#define N 24\n"), "xyz N N N"),
        (naive("float* x, float* y, float* z, int m, int n", "m", "n", "K",
               "const int K = 8;\n"), "xyz m n K"),
        (naive("int* x, int* y, int* z, unsigned m, unsigned n, size_t k", "m", "n", "k"),
         "xyz m n k"),
    ],
)  # fmt: skip
def test_a_product_is_known_by_its_signature(text: str, roles: str) -> None:
    form = guessed(text)
    arrays, *sizes = roles.split()
    assert form.task == "product"
    assert [value for _, value in form.roles] == [*arrays, *sizes]
    kernel = compile_kernel(text)
    launch = build_launch(kernel, form)
    product = launch.arguments["x"] @ launch.arguments["y"]
    assert (simulate(kernel, launch).arrays["z"] == product).all()


OTHERS = (
    "__global__ void last(const float* in, float* partial, float* out, int n)"
    "{ float s = 0; for (int i = threadIdx.x; i < n; i += blockDim.x * 4) s += in[i];"
    " partial[blockIdx.x * blockDim.x + threadIdx.x] = s;"
    " if (!threadIdx.x) out[blockIdx.x] = s; }",
    "__global__ void k(float* a, int* n) { a[threadIdx.x] = *n; }",
    "__global__ void k() { }",
    # Squares.
    "__global__ void k(const float* x, const float* y, float* z, int m, int n, int d)"
    "{ int j = blockIdx.x * blockDim.x + threadIdx.x; if (j >= n) return;"
    " for (int i = 0; i < m; ++i) { float s = 0; for (int k = 0; k < d; ++k)"
    " { float t = x[i * d + k] - y[j * d + k]; s += t * t; } z[i * n + j] = s; } }",
    # An average.
    "__global__ void k(const float* u, const float* f, float* out, int n)"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 1 || i >= n - 1) return;"
    " float s = 0; for (int d = -1; d <= 1; d += 2) s += 0.5f * (u[i + d] + u[i]);"
    " out[i] = s - f[i]; }",
    # A quotient.
    "__global__ void k(const float* pos, const float* mass, float* acc, int n)"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float a = 0;"
    " for (int j = 0; j < n; ++j) { float d = pos[j] - pos[i];"
    " a += mass[j] * d / (d * d + 1); } acc[i] = a; }",
    # Products that are not added up.
    "__global__ void k(const float* x, const float* y, float* z, int m, int n, int d)"
    "{ int j = blockIdx.x * blockDim.x + threadIdx.x; if (j < m)"
    " for (int i = 0; i < n; ++i) z[j * n + i] = x[j * d] * y[i]; }",
)


@pytest.mark.parametrize("text", OTHERS)
def test_no_product_is_recognised_in_another_kernel(text: str) -> None:
    assert recognise(compiled(text)) is None


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.sample(6)
def test_other_kernels_are_no_product(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.verdict.discovery.SECONDS", 0.5)
    form = guessed(text)
    assert form.task in ("", "outer_product")  # of every d-th cell, where d is a stride
    kernel = compile_kernel(text)
    assert not simulate(kernel, build_launch(kernel, form)).hazards


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("__global__ void gemm(const float* a, const float* b, float* c, int n)"
         "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }",
         "sum"),
        ("__global__ void mm(const float* a, const float* b, float* c, int n)"
         "{ float s = 0; for (int i = threadIdx.x; i < n; i += 256) s += a[i] * b[i];"
         " atomicAdd(c, s); }", "dot"),
    ],
)  # fmt: skip
def test_what_a_kernel_computes_is_found_out_whatever_its_name_is(text: str, task: str) -> None:
    form = guessed(text)
    assert form.task == task
    kernel = compile_kernel(text)
    assert judge(UserKernel(text, kernel.name, form), kernel).state is State.RIGHT


def test_a_grid_does_not_follow_from_which_values_are_stored() -> None:
    text = (
        "__global__ void positive(float* out, const float* in, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i < n && in[i] > 0) out[i] = in[i]; }"
    )
    assert guessed(text).grid == ("(n + 256 - 1) / 256", "1", "1")


def test_a_transposition() -> None:
    text = (
        "__global__ void transpose(const float* in, float* out, int width, int height)"
        "{ int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;"
        " if (x < width && y < height) out[x * height + y] = in[y * width + x]; }"
    )
    form = guessed(text)
    assert form.task == "transpose"
    assert dict(form.roles) == {"A": "in", "B": "out", "M": "height", "N": "width"}
    assert form.grid == ("(width + 16 - 1) / 16", "(height + 16 - 1) / 16", "1")


def test_a_transposition_of_a_square() -> None:
    text = (
        "__global__ void transpose(const float* in, float* out, int n)"
        "{ int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;"
        " if (x < n && y < n) out[x * n + y] = in[y * n + x]; }"
    )
    found = recognise(compiled(text))
    assert found is not None
    assert dict(found.roles) == {"A": "in", "B": "out", "M": "n", "N": "n"}


HOST = """
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
int over(int a, int b) { return (a + b - 1) / b; }
int main() {
    int rows = 1024, columns = 512, inner = 256;
    %s
    k<<<grid, block>>>(a, b, c, rows, columns, inner);
}
"""


@pytest.mark.parametrize(
    ("host", "grid", "block"),
    [
        ("dim3 block(32, 8); dim3 grid(CEIL_DIV(columns, 32), CEIL_DIV(rows, 8));",
         ("(n + 32 - 1) / 32", "(m + 8 - 1) / 8", "1"), ("32", "8", "1")),
        ("const int side = 16; dim3 block(side, side);\n"
         "dim3 grid((columns + side - 1) / side, (rows + side - 1) / side, 1);",
         ("(n + 16 - 1) / 16", "(m + 16 - 1) / 16", "1"), ("16", "16", "1")),
        ("dim3 block(8, 8); dim3 grid = dim3((columns + block.x - 1) / block.x, rows / 8);",
         ("(n + 8 - 1) / 8", "m / 8", "1"), ("8", "8", "1")),
        ("dim3 block(8, 4); dim3 grid(over(columns, block.x), over(rows, block.y));",
         ("(n + 8 - 1) / 8", "(m + 4 - 1) / 4", "1"), ("8", "4", "1")),
        ("dim3 block = {8, 4}; dim3 grid = {columns / 8, (rows + 3) / 4};",
         ("n / 8", "(m + 3) / 4", "1"), ("8", "4", "1")),
    ],
)  # fmt: skip
def test_the_texts_own_launch(
    host: str, grid: tuple[str, str, str], block: tuple[str, str, str]
) -> None:
    parameters = "const float* x, const float* y, float* z, int m, int n, int k"
    form = guessed(naive(parameters, "m", "n", "k") + HOST % host)
    assert (form.grid, form.block) == (grid, block)


def test_the_texts_own_shared_bytes() -> None:
    text = (
        "__global__ void k(const float* x, float* y, int n, int side) {"
        " extern __shared__ float tile[]; int i = blockIdx.x * side + threadIdx.x;"
        " tile[threadIdx.x + 1] = i < n ? x[i] : 0; __syncthreads();"
        " if (i < n) y[i] = tile[threadIdx.x + 1]; }\n"
        "void run(float* a, float* b, int count, int side) {"
        " size_t bytes = (side + 1) * sizeof(float);"
        " k<<<(count + side - 1) / side, side, bytes>>>(a, b, count, side); }"
    )
    assert guessed(text).shared_bytes == "(side + 1) * 4"


def test_a_launch_of_many_threads_is_made_smaller() -> None:
    form = guessed(
        "__global__ void scale(float* x, int n, float by)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }\n"
        "int main() { int n = 1 << 20; float* x; cudaMalloc(&x, n * sizeof(float));"
        " scale<<<(n + 255) / 256, 256>>>(x, n, 1.5f); }"
    )
    assert form.grid == ("(n + 255) / 256", "1", "1")
    assert form.arguments == (
        ArrayArgument("x", "1", "n"), NumberArgument("n", "512"), NumberArgument("by", "1.5"),
    )  # fmt: skip


def test_structs_of_the_programming_guide() -> None:
    text = """
    typedef struct { int width; int height; float* elements; } Matrix;
    __global__ void MatMulKernel(Matrix A, Matrix B, Matrix C) {
        float value = 0;
        int row = blockIdx.y * blockDim.y + threadIdx.y;
        int col = blockIdx.x * blockDim.x + threadIdx.x;
        if (row >= C.height || col >= C.width) return;
        for (int e = 0; e < A.width; ++e)
            value += A.elements[row * A.width + e] * B.elements[e * B.width + col];
        C.elements[row * C.width + col] = value;
    }"""
    form = guessed(text)
    assert form.task == "product"
    assert form.grid == ("(B.width + 16 - 1) / 16", "(A.height + 16 - 1) / 16", "1")
    kernel = compile_kernel(text)
    launch = build_launch(kernel, form)
    product = launch.arguments["A.elements"] @ launch.arguments["B.elements"]
    assert (simulate(kernel, launch).arrays["C.elements"] == product).all()


def test_a_result_that_is_added_to_starts_as_zeros() -> None:
    form = guessed(
        naive("const float* x, const float* y, float* z, int m, int n, int k", "m", "n", "k")
        .replace("] = sum", "] += sum")
    )  # fmt: skip
    contents = {one.name: one.contents for one in form.arrays}
    assert contents == {"x": Contents.RANDOM, "y": Contents.RANDOM, "z": Contents.ZEROS}


def test_a_size_that_is_a_macro_is_no_side_of_a_block() -> None:
    text = naive("const float* x, const float* y, float* z", "N", "N", "N", "#define N 32\n")
    form = guessed(text.replace("if (row < N && col < N)", ""))
    assert form.block == ("16", "16", "1")
    assert form.grid == ("(N + 16 - 1) / 16", "(N + 16 - 1) / 16", "1")


def test_dynamic_shared_memory_is_given() -> None:
    form = guessed(
        "#define BLOCK 64\n"
        "__global__ void k(float* x) { extern __shared__ float s[]; int t = threadIdx.x;"
        " s[t] = x[blockIdx.x * BLOCK + t]; __syncthreads();"
        " x[blockIdx.x * BLOCK + t] = s[BLOCK - 1 - t]; }"
    )
    assert form.shared_bytes == "8 * BLOCK"


def test_arrays_that_atomics_change_begin_with_zeros() -> None:
    form = guessed(
        "__device__ void lock(int* mutex) { while (atomicCAS(mutex, 0, 1) != 0) ; }\n"
        "__global__ void k(int* mutex, float* sum, const float* x) {"
        " if (threadIdx.x == 0) { lock(mutex); *sum += x[blockIdx.x]; atomicExch(mutex, 0); } }"
    )
    contents = {one.name: one.contents for one in form.arrays}
    assert contents == {
        "mutex": Contents.ZEROS, "sum": Contents.RANDOM, "x": Contents.RANDOM
    }  # fmt: skip


def test_a_kernel_that_no_launch_suits_has_the_hosts_sizes_and_zeros_for_its_atomics() -> None:
    form = guessed(
        "__global__ void k(int* count, float* x, int w, int h)"
        " { atomicAdd(&count[-1], 1); x[-1 - w * h] = 1; }\n"
        "int main() { int w = 6, h = 7; int* count; float* x; cudaMalloc(&count, 4);"
        " cudaMalloc(&x, w * h * sizeof(float)); k<<<1, 32>>>(count, x, w, h); }"
    )
    arrays = form.arrays
    assert [one.columns for one in arrays] == ["1", "w * h"]
    assert arrays[0].contents is Contents.ZEROS
    assert {NumberArgument("w", "6"), NumberArgument("h", "7")} < set(form.arguments)


@pytest.mark.parametrize(
    ("parameters", "body", "cells"),
    [
        ("const float* x, float* y, int n", "if (i < n - 3) y[i] = x[i] + 1;", ("n", "n")),
        ("float* x, int h, int w", "int j = blockIdx.y * blockDim.y + threadIdx.y;"
         "if (i < h && j < w) x[i * w + j] = i;", ("h * w",)),
    ],
)  # fmt: skip
def test_arrays_have_the_sizes_that_what_is_touched_follows(
    parameters: str, body: str, cells: tuple[str, ...]
) -> None:
    form = guessed(
        f"__global__ void k({parameters})"
        f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    )
    arrays = [one.columns for one in form.arrays]
    assert tuple(arrays) == cells


@pytest.mark.parametrize(
    ("value", "task"),
    [
        ("i % 7 == 3 ? x[i] + 1 : x[i]", "copy"),  # wrong at some places, whatever x holds
        ("x[i] > -1 ? x[i] : 5", ""),  # another function of x
    ],
)
def test_what_is_wrong_at_the_same_places_is_a_faulty_task(value: str, task: str) -> None:
    form = guessed(
        "__global__ void k(const float* x, float* y, int n)"
        f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {value}; }}"
    )
    assert form.task == task


PITCHED = """__global__ void add(const float* A, const float* B, float* C,
                    int w, int h, size_t pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float* a = (const float*)((const char*)A + y * pitch);
    const float* b = (const float*)((const char*)B + y * pitch);
    ((float*)((char*)C + y * pitch))[x] = a[x] + b[x];
}"""


def test_rows_that_are_bytes_apart_have_room() -> None:
    user_kernel = UserKernel(PITCHED, "add", guessed(PITCHED))
    verdict = judge(user_kernel, compiled(PITCHED))
    assert verdict.state is State.UNCHECKED, verdict.next_step
    assert "How many cells do A, B and C have?" in verdict.next_step
    known = tuple(replace(one, is_seen=False) if isinstance(one, ArrayArgument) else one
                  for one in user_kernel.form.arguments)  # fmt: skip
    verdict = judge(
        replace(user_kernel, form=replace(user_kernel.form, arguments=known)),
        compiled(PITCHED),
    )
    assert "How many" not in verdict.next_step


LARGE = """__global__ void twice(float* x, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < N && col < N) x[row * N + col] *= 2.0f;
}
int main() {
    const int N = 65536;
    float* x;
    cudaMalloc(&x, (size_t)N * N * sizeof(float));
    dim3 block(16, 16), grid(N / 16, N / 16);
    twice<<<grid, block>>>(x, N);
}"""


@pytest.mark.parametrize(("size", "index", "is_too_large"), [
    ("65536", "row * N", True), ("32768", "row * N", False), ("65536", "(size_t)row * N", False),
])  # fmt: skip
def test_an_index_that_is_too_large_for_an_int_in_the_files_own_launch(
    size: str, index: str, is_too_large: bool
) -> None:
    text = LARGE.replace("65536", size).replace("row * N", index)
    said = judge(UserKernel(text, "twice", guessed(text)), compile_kernel(text)).next_step
    assert ("row * N on line 3 exceeds 2^31 - 1, the largest int, at row = 32,768" in said) == (
        is_too_large
    )


def test_one_variable_of_the_host_for_three_sizes_does_not_say_which_is_meant() -> None:
    form = guessed(
        naive("const float* x, const float* y, float* z, int m, int n, int k", "m", "n", "k")
        + "int main() { int N = 64; dim3 grid(N / 8, N / 8), block(8, 8);"
        " k<<<grid, block>>>(a, b, c, N, N, N); }"
    )
    assert form.grid == ("(n + 8 - 1) / 8", "(m + 8 - 1) / 8", "1")


@pytest.mark.parametrize(
    ("tile_row", "tile_column", "threads", "side"),
    [("0", "0", "32", "16"), ("threadIdx.x / 64 * 16", "threadIdx.x / 32 % 2 * 16", "128", "32")],
)
def test_warps_that_multiply_tiles(
    tile_row: str, tile_column: str, threads: str, side: str
) -> None:
    form = guessed(f"""#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* A, const half* B, float* C, int M, int N, int K) {{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    int row = blockIdx.y * {side} + {tile_row}, col = blockIdx.x * {side} + {tile_column};
    for (int i = 0; i < K; i += 16) {{
        wmma::load_matrix_sync(a, A + row * K + i, K);
        wmma::load_matrix_sync(b, B + i * N + col, N);
        wmma::mma_sync(c, a, b, c);
    }}
    wmma::store_matrix_sync(C + row * N + col, c, N, wmma::mem_row_major);
}}""")
    assert form.task == "product"
    assert form.block == (threads, "1", "1")
    assert form.grid == (f"(N + {side} - 1) / {side}", f"(M + {side} - 1) / {side}", "1")
    sizes = {one.name: int(one.value) for one in form.numbers}
    assert all(size % 16 == 0 for size in sizes.values())


# As NVIDIA's own examples have it: each warp of a block of two dimensions computes a tile.
WARPS = """#include <mma.h>
using namespace nvcuda;
__global__ void multiply(half* a, half* b, float* c{start}, int M, int N, int K, float alpha, float beta) {{
    int warp_row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize * 16;
    int warp_col = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
    if (warp_row >= M || warp_col >= N) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::{left}> a_tile;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::{right}> b_tile;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums, before;
    wmma::fill_fragment(sums, 0.0f);
    for (int i = 0; i < K; i += 16) {{
        wmma::load_matrix_sync(a_tile, {a});
        wmma::load_matrix_sync(b_tile, {b});
        wmma::mma_sync(sums, a_tile, b_tile, sums);
    }}
    wmma::load_matrix_sync(before, {c}, wmma::mem_{whole});
    for (int i = 0; i < sums.num_elements; i++) sums.x[i] = alpha * sums.x[i] + beta * before.x[i];
    wmma::store_matrix_sync({d}, sums, {pitch}, wmma::mem_{whole});
}}
"""  # noqa: E501
ROWS, COLUMNS = "row_major", "col_major"
A_ROWS, A_COLUMNS = "a + warp_row * K + i, K", "a + warp_row + i * M, M"
B_ROWS, B_COLUMNS = "b + i * N + warp_col, N", "b + i + warp_col * K, K"
C_ROWS, C_COLUMNS = "{c} + warp_row * N + warp_col", "{c} + warp_row + warp_col * M"


LAYOUTS = (
    (ROWS, ROWS, ROWS, "product"),
    (ROWS, COLUMNS, ROWS, "product_of_rows"),
    (COLUMNS, ROWS, ROWS, "product_of_columns"),
    (COLUMNS, COLUMNS, COLUMNS, "product_by_columns"),
)


@pytest.mark.parametrize(
    ("left", "right", "whole", "task", "start"),
    [  # each layout and each start in turn, and then the others
        (*layout, ("", ", float* d")[(number + turn) % 2])
        for number, layout in enumerate(LAYOUTS) for turn in range(2)
    ],
)  # fmt: skip
@pytest.mark.sample(4)
def test_warps_that_multiply_tiles_of_any_layout(
    left: str, right: str, whole: str, task: str, start: str
) -> None:
    cell, pitch = (C_ROWS, "N") if whole == ROWS else (C_COLUMNS, "M")
    text = WARPS.format(
        left=left, right=right, whole=whole, start=start, pitch=pitch,
        a=A_ROWS if left == ROWS else A_COLUMNS, b=B_ROWS if right == ROWS else B_COLUMNS,
        c=f"{cell.format(c='c')}, {pitch}", d=cell.format(c="d" if start else "c"),
    )  # fmt: skip
    form = guessed(text)
    assert (form.task, form.block) == (task, ("32", "4", "1"))
    assert dict(form.roles) == {
        "A": "a", "B": "b", "C": "d" if start else "c", "M": "M", "N": "N", "K": "K",
        "alpha": "alpha", "beta": "beta", **({"start": "c"} if start else {}),
    }  # fmt: skip
    kernel = compile_kernel(text)
    verdict = judge(UserKernel(text, kernel.name, form), kernel)
    assert verdict.checks[0].state is CheckState.RIGHT
    assert not verdict.hazards


def test_a_tile_without_sizes_has_its_own() -> None:
    form = guessed("""#include <mma.h>
using namespace nvcuda;
__global__ void one_tile(half* a, half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> a_tile;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> b_tile;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sums;
    wmma::load_matrix_sync(sums, c, 8, wmma::mem_row_major);
    wmma::load_matrix_sync(a_tile, a, 16);
    wmma::load_matrix_sync(b_tile, b, 8);
    wmma::mma_sync(sums, a_tile, b_tile, sums);
    wmma::store_matrix_sync(c, sums, 8, wmma::mem_row_major);
}""")
    assert (form.task, form.grid, form.block) == ("product", ("1",) * 3, ("32", "1", "1"))
    assert form.arguments == (
        ArrayArgument("a", "32", "16"),
        ArrayArgument("b", "16", "8"),
        ArrayArgument("c", "32", "8", Contents.ZEROS),
    )


BY_COLUMNS = """__global__ void f(const float* x, const float* y, float* z, int m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int e = 0; e < k; ++e) sum += x[i + e * m] * y[e + j * k];
    z[i + j * m] = sum;
}
"""


def test_matrices_that_lie_column_by_column() -> None:
    form = guessed(BY_COLUMNS)
    assert form.task == "product_by_columns"
    shapes = [(one.rows, one.columns) for one in form.arrays]
    assert shapes == [("k", "m"), ("n", "k"), ("n", "m")]
    assert form.grid == ("(m + 16 - 1) / 16", "(n + 16 - 1) / 16", "1")


def test_a_square_kernel_that_exchanges_its_operands_is_no_other_product() -> None:
    square = naive("const float* x, const float* y, float* z, int n", "n", "n", "n")
    swapped = square.replace("x[row", "B[row").replace("y[i", "x[i").replace("B[row", "y[row")
    assert guessed(swapped).task == "product"


def test_a_negative_number_of_the_host() -> None:
    form = guessed(
        "__global__ void k(int* x, int by) { x[threadIdx.x] += by; }\n"
        "int main() { k<<<1, 32>>>(x, -10); }"
    )
    assert NumberArgument("by", "-10") in form.arguments


def test_a_block_that_the_text_has_only_as_numbers() -> None:
    form = guessed(
        """
        __global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B,
                              float beta, float* C) {
            int row = blockIdx.x * 32 + threadIdx.x / 32, col = blockIdx.y * 32 + threadIdx.x % 32;
            if (row < M && col < N) {
                float sum = 0;
                for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];
                C[row * N + col] = alpha * sum + beta * C[row * N + col];
            }
        }"""
    )
    assert form.block == ("1024", "1", "1")
    assert form.grid == ("(M + 32 - 1) / 32", "(N + 32 - 1) / 32", "1")
    assert {NumberArgument("alpha", "2"), NumberArgument("beta", "3")} < set(form.arguments)


@pytest.mark.parametrize("axes", ["threadIdx.x", "threadIdx.x + threadIdx.y"])
def test_a_thousand_macros_are_no_thousand_thousand_blocks(
    monkeypatch: pytest.MonkeyPatch, axes: str
) -> None:
    macros = "".join(f"#define D{i} {997 + i % 20}\n" for i in range(1000))
    words = " ".join(f"D{i}" for i in range(1000))
    kernel = compile_kernel(f"{macros}__global__ void k(float* x) {{ x[{axes}] = 1; // {words}\n}}")
    evaluated = []
    count = functools.partial(_evaluate_and_count, evaluated)
    monkeypatch.setattr(blocks, "evaluate", count)
    assert blocks.likely_blocks(kernel)
    assert len(evaluated) < 20_000


def _evaluate_and_count(evaluated: list[str], expression: str, values: Mapping[str, int]) -> int:
    evaluated.append(expression)
    return evaluate(expression, values)


def test_a_quotient_that_a_grid_is_divided_by_is_in_parentheses() -> None:
    form = guessed(
        "#define TILE 8\n#define EACH 2\n"
        + naive("const float* x, const float* y, float* z, int m, int n, int k", "m", "n", "k")
        .replace("z[row", "if (false) z[row").replace("sum = 0", "sum = TILE + EACH")
        + "int main() { k<<<1, dim3(TILE / EACH, TILE / EACH)>>>(a, b, c, 64, 64, 64); }",
        "product",
    )  # fmt: skip
    assert form.grid[0] == "(n + TILE / EACH - 1) / (TILE / EACH)"


# As students and tutorials have them: what is launched, and the verdict on it and on wrong ones.
ROW_COL = "int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;\n"
SUM = "float s = 0; for (int e = 0; e < INNER; ++e) s += LEFT * RIGHT;\n"


def product(parameters: str, m: str, n: str, k: str, left: str, right: str, store: str) -> str:
    total = SUM.replace("INNER", k).replace("LEFT", left).replace("RIGHT", right)
    body = f"{ROW_COL}if (i >= {m} || j >= {n}) return;\n{total}{store}"
    return f"__global__ void gemm({parameters}) {{\n{body}\n}}\n"


PLAIN = "const float* A, const float* B, float* C, int M, int N, int K"
USUAL = ("M", "N", "K", "A[i * K + e]", "B[e * N + j]")
BLAS = "int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, " \
       "float beta, float* C, int ldc"  # fmt: skip
LEADING = ("M", "N", "K", "A[i * lda + e]", "B[e * ldb + j]")
SCALED = "const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta"
OTHER_NAMES = "float* a, float* b, float* c, int m, int n, int k"  # a is m x n
SIX = "float* A, float* B, float* C, int numARows, int numACols, int numBRows, int numBCols, " \
      "int numCRows, int numCCols"  # fmt: skip
BLAS_STORE = "C[i * ldc + j] = alpha * s + beta * C[i * ldc + j];"
HEIGHTS = "float* C, float* A, float* B, int hA, int wA, int wB"
RIGHT_ONES = {
    "leading dimensions": product(BLAS, *LEADING, BLAS_STORE),
    "a is m x n": product(OTHER_NAMES, "m", "k", "n", "a[i * n + e]", "b[e * k + j]",
                          "c[i * k + j] = s;"),
    "six sizes": product(SIX, "numCRows", "numCCols", "numACols", "A[i * numACols + e]",
                         "B[e * numBCols + j]", "C[i * numCCols + j] = s;"),
    "heights and widths": product(HEIGHTS, "hA", "wB", "wA", "A[i * wA + e]", "B[e * wB + j]",
                                  "C[i * wB + j] = s;"),
    "the parameters the other way round": product(
        "float* C, float* B, float* A, int K, int N, int M", *USUAL, "C[i * N + j] = s;"),
    "factors": product(SCALED, *USUAL, "C[i * N + j] = alpha * s + beta * C[i * N + j];"),
    "a pointer": product(PLAIN, *USUAL, "float* to = C + i * N; to[j] = s;"),
    "a sum into what is there": product(PLAIN, *USUAL, "float* to = C + i * N + j; *to += s;"),
}  # fmt: skip
WRONG_ONES = {
    "A and B exchanged": product(PLAIN, "M", "N", "K", "B[i * K + e]", "A[e * N + j]",
                                 "C[i * N + j] = s;"),
    "a leading dimension": product(BLAS, "M", "N", "K", "A[i * ldb + e]", "B[e * ldb + j]",
                                   BLAS_STORE),
    "no alpha": product(SCALED, *USUAL, "C[i * N + j] = s + beta * C[i * N + j];"),
    "no beta": product(SCALED, *USUAL, "C[i * N + j] = alpha * s + C[i * N + j];"),
    "beta of another cell": product(SCALED, *USUAL, "C[i * N + j] = alpha * s + beta * C[0];"),
    "zeros through a pointer": product(PLAIN, *USUAL, "float* to = C + i * N; to[j] = 0;"),
    "another cell through a pointer": product(PLAIN, *USUAL, "float* to = C + j; to[i] = s;"),
    "a whole sum": product(PLAIN, *USUAL, "C[i * N + j] = (int)s;"),
    "without signs": product(PLAIN, *USUAL, "C[i * N + j] = fmaxf(s, 0.0f);"),
    "blocks that share C": product(
        PLAIN, "M", "N", "K", "A[i * K + e]", "(e % gridDim.z == blockIdx.z) * B[e * N + j]",
        "C[i * N + j] += s;")
    + "void run(float* a, float* b, float* c, int m, int n, int k)"
    "{ dim3 b(16, 16), g((n + 15) / 16, (m + 15) / 16, 4); gemm<<<g, b>>>(a, b, c, m, n, k); }",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT_ONES)
def test_a_right_product_is_right_whatever_its_parameters_are(name: str) -> None:
    verdict = judged(RIGHT_ONES[name])
    assert verdict.state is State.RIGHT, verdict.next_step


@pytest.mark.parametrize("name", WRONG_ONES)
@pytest.mark.sample(10)
def test_a_wrong_product_that_is_named_one_is_wrong(name: str) -> None:
    verdict = judged(WRONG_ONES[name], "product")
    assert verdict.state in (State.WRONG, State.HAZARD), verdict.next_step


@pytest.mark.parametrize("name", WRONG_ONES)
@pytest.mark.sample(10)  # each tries all tasks
def test_a_wrong_product_is_not_right(name: str) -> None:
    verdict = judged(WRONG_ONES[name])
    is_other = guessed(WRONG_ONES[name]).task not in ("", "product")
    assert is_other or verdict.state in (State.UNCHECKED, State.HAZARD), verdict.next_step


def judged(text: str, task: str | None = None) -> Verdict:
    kernel = compiled(text)
    return judge(UserKernel(text, kernel.name, guessed(text, task)), kernel)


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [
        ("A[i * K + e]", "B[j * K + e]", "product_of_rows"),
        ("A[e * M + i]", "B[e * N + j]", "product_of_columns"),
    ],
)
@pytest.mark.deep
def test_a_wrong_product_that_is_another_one_says_which(left: str, right: str, name: str) -> None:
    text = product(PLAIN, "M", "N", "K", left, right, "C[i * N + j] = s;")
    assert guessed(text).task == name
    verdict = judged(text, "product")
    assert verdict.state is State.WRONG
    assert verdict.next_step.endswith(f"or with --task {name}, if that is meant.")


def test_a_kernel_that_names_its_sizes_otherwise_is_told_so() -> None:
    assert judged(RIGHT_ONES["a is m x n"]).notes == (
        "The kernel has other names for the sizes: our M is its m, our N is its k, our K is its n. "
        "A is M x K, B is K x N.",
    )
    assert not [note for note in judged(RIGHT_ONES["factors"]).notes if "other names" in note]


TILES = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* A, const half* B, float* C, int M, int N, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp * 16, col = blockIdx.x * 16;
    if (row >= M) return;
    for (int i = 0; i < K; i += 16) {
        wmma::load_matrix_sync(a, A + row * K + i, K);
        wmma::load_matrix_sync(b, B + i * N + col, N);
        wmma::mma_sync(c, a, b, c);
    }
    wmma::store_matrix_sync(C + row * N + col, c, N, wmma::mem_row_major);
}
"""


def test_tiles_are_tried_at_sizes_that_a_gpu_takes() -> None:
    verdict = judged(TILES)
    assert verdict.state is State.RIGHT, verdict.next_step
    states = {
        all(size % 16 == 0 for _, size in check.sizes): check.state for check in verdict.checks
    }
    assert states == {True: CheckState.RIGHT, False: CheckState.SKIPPED}
    assert any(check.is_ragged and check.state is CheckState.RIGHT for check in verdict.checks)
    assert "(2 more could not be judged)" in verdict.next_step


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mma_sync(c, a, b, c)", "mma_sync(c, a, b, c); C += 0"),  # none of these: right
        ("A + row * K + i, K", "B + row * K + i, K"),
        ("B + i * N + col, N", "B + i * N + col, K"),
        ("i += 16", "i += 32"),
        ("warp * 16", "warp % 2 * 16"),
        ("C + row * N + col, c", "C + col * N + row, c"),
    ],
)
@pytest.mark.sample(3)
def test_wrong_tiles_are_wrong(old: str, new: str) -> None:
    assert old in TILES
    is_right = "C += 0" in new
    assert (judged(TILES.replace(old, new), "product").state is State.RIGHT) is is_right


@pytest.mark.deep
def test_operands_that_are_exchanged_are_no_other_layout() -> None:
    text = TILES.replace(", int M, int N, int K", ", int M").replace("* N", "* M")
    text = text.replace(", N", ", M").replace("* K", "* M").replace(", K", ", M")
    text = text.replace("< K", "< M")
    assert judged(text).state is State.RIGHT
    swapped = text.replace("A +", "X +").replace("B +", "A +").replace("X +", "B +")
    assert judged(swapped, "product").state is State.WRONG


def test_a_grid_of_the_host_that_rounds_down_has_blocks() -> None:
    host = (
        "void run(half* a, half* b, float* c, int m, int n, int k)"
        "{ dim3 g(n / 64, m / 256); k<<<g, 128>>>(a, b, c, m, n, k); }"
    )
    launch = build_launch(compile_kernel(TILES), guessed(TILES + host))
    assert (launch.grid, launch.arguments["M"]) == ((4, 1, 1), 256)


def test_large_sizes_are_tried_only_where_small_ones_give_the_hosts_grid_no_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They take all of the time, and a wrong product of squares would not be tried."""
    host = (
        "void run(float* x, float* y, float* z, int M, int N, int K)"
        "{ k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(x, y, z, M, N, K); }"
    )
    wrong = naive("const float* x, const float* y, float* z, int M, int N, int K", "M", "N", "K")
    wrong = wrong.replace("y[i * N + col]", "y[col * N + i]")
    tried: list[int] = []
    run = Experiment.run

    def noted(experiment: Experiment, sizes: Sizes, *others: Any) -> Run:
        tried.extend(sizes.values())
        return run(experiment, sizes, *others)

    monkeypatch.setattr(Experiment, "run", noted)
    assert guess_form(wrong + host, compile_kernel(wrong)).task == "product_of_rows"
    assert max(tried) <= max(map(max, VALUES))


def test_warps_with_numbers_are_several() -> None:
    wrong = TILES.replace("i += 16", "i += 32")
    assert guessed(wrong).block == ("128", "1", "1")


# Without a guard, so that a launch whose tiles do not divide its sizes is none of theirs.
ODD_TILES = """#define SIDE 12
__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = (blockIdx.y * SIDE + threadIdx.y) * 4, col = (blockIdx.x * SIDE + threadIdx.x) * 4;
    for (int i = row; i < row + 4; ++i)
        for (int j = col; j < col + 4; ++j) {
            float sum = 0;
            for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
"""
FOURS = """__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.y, col = (blockIdx.x * 16 + threadIdx.x) * 4;
    float4 sum = make_float4(0, 0, 0, 0);
    float left = A[row * K];
    for (int k = 1; k <= K; ++k) {
        float4 right = *(const float4*)&B[(k - 1) * N + col];
        sum.x += left * right.x; sum.y += left * right.y;
        sum.z += left * right.z; sum.w += left * right.w;
        if (k < K) left = A[row * K + k];
    }
    *(float4*)&C[row * N + col] = sum;
}
"""


@pytest.mark.parametrize(
    ("text", "faulty", "sizes"),
    [
        (ODD_TILES, ("k = 0;", "k = 1;"), "48 divides M and N"),
        (FOURS, ("A[row * K + k]", "A[row * K + k - 1]"), "16 divides M and K, and 64 divides N"),
    ],
)
def test_a_kernel_without_a_guard_is_launched_by_whole_tiles(
    text: str, faulty: tuple[str, str], sizes: str
) -> None:
    verdict = judged(text)
    assert verdict.state is State.LIMITED, verdict.next_step
    assert sizes in verdict.next_step
    wrong = compiled(text.replace(*faulty))
    found = judge(UserKernel(wrong.text, "f", guessed(text)), wrong)
    assert found.checks[0].state is CheckState.WRONG
    assert found.state is State.HAZARD
