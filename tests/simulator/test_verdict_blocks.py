"""What threads a block of a kernel may have: which are tried, and in which order."""

from __future__ import annotations

import pytest

from simulator import Kernel, compile_kernel
from simulator.verdict.blocks import likely_blocks

X, XY = "int i = threadIdx.x;", "int i = threadIdx.x + threadIdx.y;"
LINES = "256, 1024, 512, 128, 64, 32"
SQUARES = "16 16, 32 32, 32 8, 8 8, 32 16, 32 4"
SHARED = "__shared__ float s[12], t[96], u[3], v[3][64], w[65], x[1056]; s[0] = t[0] + v[0][0];"


def kernel_of(body: str, before: str = "", attribute: str = "") -> Kernel:
    return compile_kernel(f"{before}\n__global__ void {attribute} k(float* p)\n{{ {body} }}")


def blocks_of(kernel: Kernel) -> list[str]:
    """Blocks as x and y where that is not 1; z is 1."""
    found = likely_blocks(kernel)
    assert all(z == "1" for _, _, z in found)
    return [x if y == "1" else f"{x} {y}" for x, y, _ in found]


@pytest.mark.parametrize(
    ("body", "before", "attribute", "expected"),
    [
        ("", "", "", f"1, {LINES}"),
        ("int i = blockIdx.x;", "", "", f"1, {LINES}"),
        ("int i = blockDim.x;", "", "", LINES),
        (X, "", "", LINES),
        (XY, "", "", SQUARES),
        ("int i = threadIdx.z;", "", "", SQUARES),
        (X, "", "__launch_bounds__(96)", f"96, {LINES}"),
        (X, "#define T 192", "__launch_bounds__((T), 2)", f"(T), {LINES}"),
        (X, "#define T(a, b) a", "__launch_bounds__(T(1, 2), 2)", LINES),
        (X, "", "__launch_bounds__(1025)", LINES),
        (XY, "", "__launch_bounds__(64)", "8 8, 16 16, 32 32, 32 8, 32 16, 32 4"),
        (XY, "", "__launch_bounds__(96)", SQUARES),
        (XY + "int j = W + V;", "#define V 7\n#define W 8", "__launch_bounds__(64)",
         "W W, 8 8, 16 16, V V, V W, W V, 32 32, 32 8, 32 16, 32 4"),
        (X + "int j = TILE;", "#define TILE 16\n#define OTHER 8\n#define THREADS 96", "",
         f"THREADS, TILE * TILE, TILE, {LINES}"),
        (X + "int j = K;", "#define K 2", "", f"K * K, K, {LINES}"),
        (X + "int j = L;", "#define L 1024", "", f"L, {LINES}"),
        (X, "#define THREADS 0", "", LINES),
        (X, "", "__launch_bounds__(1)", f"1, {LINES}"),
        (X, "", "__launch_bounds__(1024)", "1024, 256, 512"),
        (X + "__shared__ float s[64], t[12][12]; s[0] = t[0][0];", "", "", "64 * 12"),
        (X + "__shared__ float s[1], t[12][12]; s[0] = t[0][0];", "", "", "12 * 12"),
        (X + "__shared__ float s[32]; s[0] = 1;", "", "", "32 * 32"),
        (XY + "__shared__ float s[4]; s[0] = 1;", "", "", "4 4, 16 16"),
        (XY + "int j = P + Q;", "#define P 8\n#define Q 8", "", "16 16, P P, P Q, Q P, Q Q, 32 32"),
        (XY + "int j = WIDE;", "#define WIDE 8", "",
         "16 16, WIDE WIDE, 32 32, 32 8, 8 8, 32 16, 32 4"),
        (XY + "int j = WIDE + BLOCK + BK + ONE + BIG;",
         "#define WIDE 8\n#define BK 5\n#define ONE 1\n#define BIG 1025\n#define BLOCK 16", "",
         "BLOCK BLOCK, BLOCK / WIDE BLOCK / WIDE, BLOCK BLOCK / WIDE, BLOCK / WIDE BLOCK,"
         " BLOCK WIDE, BLOCK BK, WIDE BLOCK, WIDE WIDE, WIDE BK, BK BLOCK, BK WIDE, BK BK,"
         f" {SQUARES}"),
        (X + SHARED, "", "", "96, 384, 12 * 12, 12 * 64, 12 * 64 / (12 * 64)"),
        (X + "__shared__ float s[1024], t[64], u[32], v[2]; s[0] = t[0];", "", "", "1024, 64"),
        (XY + SHARED, "#define TILE 64", "", "12 12, 12 64, 64 12, 16 16"),
        (XY + SHARED + "int j = TILE;", "#define TILE 64", "", "12 12, TILE 12, 12 TILE"),
    ],
)  # fmt: skip
def test_likely_blocks(body: str, before: str, attribute: str, expected: str) -> None:
    found = blocks_of(kernel_of(body, before, attribute))
    assert found[: expected.count(",") + 1] == expected.split(", ")


def test_a_macro_with_a_long_name_is_no_side() -> None:
    name = "W" * 41
    kernel = kernel_of(
        f"{X} int j = {name} + {name[1:]};", f"#define {name} 8\n#define {name[1:]} 4"
    )
    words = " ".join(blocks_of(kernel)).split()
    assert name not in words
    assert name[1:] in words


TILES = """#include <mma.h>
{before}
__global__ void k(float* c) {{ int warp = {number};
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::store_matrix_sync(c + warp, sums, 16, nvcuda::wmma::mem_row_major); }}
{after}"""
WARPS, ONE = "128, 256, 64, 32", "32, 128, 64, 256"
OTHER = "__global__ void other(int* x) { x[threadIdx.x / 32] = 1; }"


@pytest.mark.parametrize(
    ("number", "before", "after", "expected"),
    [
        ("threadIdx.x / 32", "", "", WARPS),
        ("threadIdx.x / warpSize", "", "", WARPS),
        ("threadIdx.x >> 5", "", "", WARPS),
        ("threadIdx.x % 32", "", "", ONE),
        ("0", OTHER, "", ONE),
        ("0", "", OTHER, ONE),
        ("threadIdx.y", "", "", "32 4, 128 4, 32, 16 16"),
    ],
)
def test_blocks_of_warps_that_multiply_tiles(
    number: str, before: str, after: str, expected: str
) -> None:
    text = TILES.format(number=number, before=before, after=after)
    found = blocks_of(compile_kernel(text, "k"))
    assert found[: expected.count(",") + 1] == expected.split(", ")


def test_the_threads_of_a_reduction_by_cub() -> None:
    kernel = kernel_of(
        "typedef cub::BlockReduce<float, 96> Reduce; __shared__ float other[2]; other[0] = 0;"
        " __shared__ typename Reduce::TempStorage room;"
        " p[threadIdx.x] = Reduce(room).Sum(p[threadIdx.x]);",
        "#include <cub/cub.cuh>",
    )
    assert blocks_of(kernel)[0] == "96"
