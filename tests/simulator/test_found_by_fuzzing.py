"""Kernels on which random testing once found the simulator wrong, made as small as they go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import compile_kernel, record, simulate
from simulator.launch import Launch

I = np.arange(32)  # noqa: E741  # threadIdx.x of the one warp

# What comes before the kernel, its body, and what x[32] of int then holds; x starts as 0 to 31.
WHOLE: dict[str, tuple[str, str, Any]] = {
    "an index of chars is summed as int": (
        "", "x[i] = x[(char)(i + 70) + (char)(100 - i) - 170 + i] * 3;", I * 3
    ),
    "24-bit products ignore the upper bits": (
        "", "x[i] = __mul24(i | 0x7f000000, 3) + (int)__umul24(i | 0xff000000u, 2u);", I * 5
    ),
    "24-bit products have a sign": ("", "x[i] = __mul24(0x00ffffff, i);", -I),
    "a function with a shared array called twice": (
        "__device__ void turn(int& v, int i) { __shared__ int s[32]; s[i] = v; __syncthreads();"
        " v = s[31 - i]; __syncthreads(); }\n",
        "int a = i, b = 2 * i; turn(a, i); turn(b, i); int c = a + b; x[i] = c;",
        3 * (31 - I),
    ),
    "a function called within its own arguments": (
        "__device__ int less(int a, int b) { return 10 * a - b; }\n",
        "x[i] = less(i, less(1, less(2, 3)));", I * 10 - (10 - (20 - 3)),
    ),
    "a list whose values need temporaries": (
        "__device__ int first(const int2& p) { return p.x; }\n",
        "int a[2][4] = {{7, first(make_int2(i, 0))}}; x[i] = a[0][0] + a[0][1] + a[1][1];", I + 7,
    ),
    "a bit function's one value as an index": (
        "", "if (i == 3) x[__ffs(8)] = 7; if (i == 5) x[__clz(1)] = 8;",
        np.where(I == 4, 7, np.where(I == 31, 8, I)),
    ),
    "a product of some threads, summed by all": (
        "", "float s = i; i < 3 && (s *= 2); i < 0 ? (s *= 9) : 1; s += 3; x[i] = s;",
        np.where(I < 3, 2 * I, I) + 3,
    ),
    "a lambda that names a template's argument": (
        "template <int W> __device__ int add(int i) { auto f = [=](int v) { return v + i + W; };"
        " return f(1); }\n",
        "x[i] = add<4>(i);", I + 5,
    ),
    "a lambda's copy of a kernel's parameter": (
        "", "auto f = [=](int v) { return x[v]; }; ++x; int own = f(i); --x; x[i] = own + 5;",
        I + 5,
    ),
    "a comma before a name of an enum": (
        "enum { ZERO, EIGHT = 8 };\n", "x[i] = (long)((i, ZERO) - 65535u) == 4294901761;",
        np.ones(32, np.int32),
    ),
    "a name of an enum of long": (
        "enum : long long { LARGE = 1ll << 40 };\n", "x[i] = (LARGE + i) >> 36;",
        np.full(32, 16),
    ),
}  # fmt: skip

# An expression of a, b and c, and what it is for their values.
REAL: dict[str, tuple[str, tuple[float, float, float], float]] = {
    "a fused sum of zeros keeps their sign": ("a * b + c", (2.0, -0.0, -0.0), -0.0),
    "a fused sum that cancels is +0": ("a * b + c", (2.0, 3.0, -6.0), 0.0),
    "fdim of a NaN": ("fdim(a, b)", (1.0, np.nan, 0.0), np.nan),
    "fdim of infinities": ("fdim(a, b)", (np.inf, np.inf, 0.0), 0.0),
    "the smaller zero": ("fmin(a, b)", (0.0, -0.0, 0.0), -0.0),
    "the larger zero": ("max(b, a)", (0.0, -0.0, 0.0), 0.0),
    "fdim": ("fdim(a, b) + fdim(b, a)", (5.0, 3.0, 0.0), 2.0),
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("run", ["whole", "recorded"])
def test_whole_numbers(case: str, run: str) -> None:
    before, body, expected = WHOLE[case]
    text = f"{before}__global__ void k(int* x) {{ const int i = threadIdx.x; {body} }}"
    kernel = compile_kernel(text, "k")
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.arange(32, dtype=np.int32)})
    if run == "whole":
        report = simulate(kernel, launch)
        found = report.arrays["x"]
        assert report.hazards == ()
    else:
        found = record(kernel, launch).steps[-1].outputs["x"]
    assert found.tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize("case", REAL)
@pytest.mark.parametrize("ctype", ["float", "double"])
def test_real_numbers(case: str, ctype: str) -> None:
    expression, given, expected = REAL[case]
    text = (
        f"__global__ void k(const {ctype}* p, {ctype}* x) {{"
        f" {ctype} a = p[0], b = p[1], c = p[2]; x[threadIdx.x] = {expression}; }}"
    )
    dtype = np.float32 if ctype == "float" else np.float64
    arguments = {"p": np.array(given, dtype), "x": np.ones(2, dtype)}
    report = simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (2, 1, 1), arguments))
    for found in report.arrays["x"]:
        assert repr(found) == repr(dtype(expected))


def test_a_product_that_a_loop_advances_by_comes_after_its_body() -> None:
    text = """
    __global__ void k(float* x) {
        float v = x[threadIdx.x];
        for (int j = 0; j < 3; ++j, v *= 0.5f) v += 1.0f;
        x[threadIdx.x] = v;
    }
    """
    given = np.arange(32, dtype=np.float32)
    expected = given.copy()
    for _ in range(3):
        expected = (expected + np.float32(1)) * np.float32(0.5)
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": given})
    assert simulate(compile_kernel(text, "k"), launch).arrays["x"].tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fused_product_may_leave_the_range(dtype: type) -> None:
    """It is rounded once, with the sum: only what is beyond the range then is infinite."""
    ctype = "float" if dtype is np.float32 else "double"
    largest = np.finfo(dtype).max
    text = f"__global__ void k({ctype}* x) {{ x[0] = x[1] * x[2] + x[3]; }}"
    kernel = compile_kernel(text, "k")
    for a, b, c, expected in (
        (largest, largest, -np.inf, -np.inf),
        (largest, -largest, np.inf, np.inf),
        (largest, 2, -largest, largest),
        (largest, 2, 0, np.inf),
        (np.inf, 2, -np.inf, np.nan),
        (np.inf, 0, np.inf, np.nan),
    ):
        given = {"x": np.array([0, a, b, c], dtype)}
        found = simulate(kernel, Launch((1, 1, 1), (1, 1, 1), given)).arrays["x"][0]
        np.testing.assert_equal(found, dtype(expected))
