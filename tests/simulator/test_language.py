"""What the language has, construct by construct: a kernel's body, and what x[32] then holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, record, simulate

I = np.arange(32)  # noqa: E741  # threadIdx.x of the one warp

# body, then x after it (x starts as 0 to 31 in int); `i` is threadIdx.x.
TABLE: dict[str, tuple[str, Any]] = {
    "for with break": ("int s = 0; for (int j = 0; ; ++j) { if (j > i) break; s += j; } x[i] = s;",
                       I * (I + 1) // 2),
    "while with continue": ("int j = 0, s = 0; while (j < i) { ++j; if (j % 2) continue; s += j; }"
                            " x[i] = s;", [sum(j for j in range(2, n + 1, 2)) for n in I]),
    "do": ("int j = i; do { j -= 3; } while (j > 0); x[i] = j;",
           [n - 3 * max(1, -(-n // 3)) for n in I]),
    "switch": ("switch (i % 4) { case 0: x[i] = 10; break; case 1: x[i] = 11; case 2: x[i] = 12;"
               " break; default: x[i] = 13; }", np.array([10, 12, 12, 13])[I % 4]),
    "switch in a loop": ("int s = 0; for (int j = 0; j < 6; ++j) switch (j) { case 1: continue;"
                         " case 3: s += 100; default: ++s; } x[i] = s + (i > 5);", 105 + (I > 5)),
    "return": ("if (i > 7) return; x[i] = -1;", np.where(I > 7, I, -1)),
    "return in a loop": ("for (int j = 0; j < 9; ++j) { if (j == i) return; x[i] = j + 50; }",
                         np.where(I == 0, 0, np.minimum(I - 1, 8) + 50)),
    "ternary": ("x[i] = i < 3 ? 1 : i < 6 ? 2 : 3;", np.where(I < 3, 1, np.where(I < 6, 2, 3))),
    "comma": ("int a = 1; x[i] = (a += 2, a * i);", 3 * I),
    "pre and post": ("int a = i; int b = a++; b += ++a; x[i] = a * 100 + b;",
                     (I + 2) * 100 + 2 * I + 2),
    "compound": ("int a = i; a <<= 2; a |= 1; a ^= 3; a -= 1; a %= 7; x[i] = a;",
                 (((I << 2 | 1) ^ 3) - 1) % 7),
    "wrap": ("int a = 2147483647; a += i; x[i] = a;", (2147483647 + I).astype(np.int32)),
    "unsigned wrap": ("unsigned a = 0; a -= i; x[i] = a >> 28;", (-I % 2**32) >> 28),
    "division": ("x[i] = (i - 16) / 5 * 100 + (i - 16) % 5;",
                 [int((n - 16) / 5) * 100 + int(np.fmod(n - 16, 5)) for n in I]),
    "shift of negatives": ("x[i] = (i - 16) >> 2;", (I - 16) >> 2),
    "char": ("char c = i * 20; x[i] = c;", (I * 20).astype(np.int8)),
    "bool": ("bool b = i & 6; x[i] = b + 1;", ((I & 6) != 0) + 1),
    "float to int": ("x[i] = (int)(i * 1.5f - 20.0f);", np.trunc(I * 1.5 - 20)),
    "size_t": ("size_t s = i; s *= 1000000007; x[i] = (int)(s >> 20);", (I * 1000000007) >> 20),
    "logical": ("int a[4] = {}; x[i] = (i < 4 && a[i] == 0) || i == 20;", (I < 4) | (I == 20)),
    "macros": ("x[i] = SQUARE(i + 1) + WIDTH;", (I + 1) ** 2 + 7),
    "constexpr": ("constexpr int W = 3; const int V = W * 2; x[i] = W + V + LATER;",
                  np.full(32, 3 + 6 + 5)),
    "array": ("int a[2][3] = {{1, 2}, {4}}; a[1][2] = i; int s = 0;\n#pragma unroll\n"
              "for (int j = 0; j < 6; ++j) s += a[j / 3][j % 3]; x[i] = s;", I + 7),
    "array by lane": ("int a[4] = {}; a[i % 4] = i; x[i] = a[0] + a[3];",
                      np.where((I % 4 == 0) | (I % 4 == 3), I, 0)),
    "pointer": ("int* p = x + i; *p = 5; p[0] += 1; *(x + i) *= 2; x[i] += (int)(p - x);", 12 + I),
    "pointer advanced": ("const int* p = x; p += i; int v = *p++; x[i] = v + (int)(p - x);",
                         2 * I + 1),
    "address of": ("int v = i; int* p = &v; *p += 3; x[i] = v;", I + 3),
    "address of a cell": ("int* p = &x[i]; *p = 9 - i;", 9 - I),
    "reference": ("int& r = x[i]; r += 2; int a = 1; int& q = a; q = 4; r += a;", I + 6),
    "shared": ("__shared__ int s[32]; s[i] = i; __syncthreads(); x[i] = s[31 - i];", 31 - I),
    "shared scalar": ("__shared__ int s; if (i == 3) s = 42; __syncthreads(); x[i] = s;",
                      np.full(32, 42)),
    "shared in three dimensions": ("__shared__ int s[2][4][5]; s[i / 16][i / 4 % 4][i % 4] = i;"
                                   " __syncthreads(); x[i] = s[i % 2][i / 2 % 4][i / 8];",
                                   [n % 2 * 16 + n // 2 % 4 * 4 + n // 8 for n in I]),
    "vector": ("int4 v = make_int4(i, 2, 3, 4); v.y += v.x; int4 w = v; w.z = 9; v = w;"
               " x[i] = v.x + v.y * 100 + v.z;", I + (2 + I) * 100 + 9),
    "vector list": ("int2 v = {i}; int2 w = {1, 2}; x[i] = v.x + v.y + w.y;", I + 2),
    "reinterpret": ("if (i < 8) { int4 v = reinterpret_cast<int4*>(x)[i];"
                    " *(int4*)&x[4 * i] = make_int4(v.w, v.z, v.y, v.x); }", I ^ 3),
    "device function": ("int out = 0; x[i] = twice(i, out) + out;", 2 * I + I + 1),
    "device function, early return": ("x[i] = clamp3(i) + clamp3(i - 2);",
                                      np.minimum(I, 3) + np.minimum(np.maximum(I - 2, 0), 3)),
    "device function with a barrier": ("mirror(x, i);", 31 - I),
    "device function with a barrier, for its value": (
        "x[i] = i; int v = swapped(x[i], i); x[i] = v; x[i] += (long)swapped(v, i);", I + (31 - I)),
    "device function with a barrier, in an expression": (
        "x[i] = 100 + 2 * swapped(swapped(i, i) + 1, i) - (swapped(i, i) > 30 ? i : 0);",
        100 + 2 * (I + 1)),
    "device function with a barrier in another": (
        "x[i] = twice_swapped(i, i);", I),
    "function templates": (
        "int w[3] = {i, 1, 2}; x[i] = plus<3>(i) + plus<4>(1.5f) + sum3(w);", 2 * I + 3 + 5 + 3),
    "device function in a loop": ("int s = 0; for (int j = 0; j < 3; ++j) s += clamp3(j + i);"
                                  " x[i] = s;", sum(np.minimum(I + j, 3) for j in range(3))),
    "shuffle": ("x[i] = __shfl_sync(0xffffffff, i * 2, (i + 1) % 32);", (I + 1) % 32 * 2),
    "shuffle down": ("int v = i; for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync("
                     "0xffffffff, v, o); if (i == 0) x[0] = v;", np.where(I == 0, 496, I)),
    "shuffle up": ("x[i] = __shfl_up_sync(0xffffffff, i, 1);", np.maximum(I - 1, 0)),
    "shuffle xor": ("x[i] = __shfl_xor_sync(0xffffffff, i, 5, 16);", I ^ 5),
    "vote": ("x[i] = __any_sync(0xffffffff, i == 3) + 2 * __all_sync(0xffffffff, i < 32)"
             " + (int)(__ballot_sync(0xffffffff, i > 29) >> 28);", np.full(32, 3 + 12)),
    "atomicAdd": ("int old = atomicAdd(&x[0], 1); __syncwarp(); x[i] = i ? old : x[0];",
                  np.where(I == 0, 32, I)),
    "atomicMax, shared": ("__shared__ int s; if (i == 0) s = 0; __syncthreads();"
                          " atomicMax(&s, i * 7 % 32); __syncthreads(); x[i] = s;",
                          np.full(32, 31)),
    "atomicCAS": ("atomicCAS(&x[i], 5, 99);", np.where(I == 5, 99, I)),
    "ldg": ("x[i] = __ldg(&x[i]) + __ldg(x + i);", 2 * I),
    "min and max": ("x[i] = max(3, min(i, 9)) + min(1u, 2u);", np.clip(I, 3, 9) + 1),
    "bits": ("x[i] = __popc(i) + 100 * __clz(i) + 10000 * __ffs(i);",
             [n.bit_count() + 100 * (32 - n.bit_length()) + 10000 * ((n & -n).bit_length())
              for n in range(32)]),
    "reinterpreted bits": ("x[i] = __float_as_int((float)i) >> 23;",
                           I.astype(np.float32).view(np.int32) >> 23),
    "asynchronous copy": ("__shared__ int s[32];"
                          " __pipeline_memcpy_async(&s[i], &x[i], sizeof(int));"
                          " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
                          " x[i] = s[i ^ 1];", I ^ 1),
    "asynchronous copy, two in flight": (
        "__shared__ int4 s[2][4]; if (i < 4) { for (int j = 0; j < 2; ++j) {"
        " __pipeline_memcpy_async(&s[j][i], reinterpret_cast<int4*>(x) + 4 * j + i, 16);"
        " __pipeline_commit(); } __syncwarp(0xf); __pipeline_wait_prior(1); x[i] = s[0][i].y;"
        " __pipeline_wait_prior(0); x[i] += s[1][i].z; }",
        np.where(I < 4, 4 * I + 1 + 16 + 4 * I + 2, I)),
    "asynchronous copy of eight halves, and a constant that is computed": (
        "const int KEPT = 2; __shared__ __align__(16) half s[32]; if (i < 2)"
        " __pipeline_memcpy_async(&s[8 * i], reinterpret_cast<half*>(x) + 16 * i, 4 * KEPT + 8);"
        " __pipeline_commit(); __pipeline_wait_prior(KEPT - 2); __syncthreads();"
        " if (i < 4) x[i] = reinterpret_cast<int*>(s)[i];", np.where(I < 4, I, I)),
    "asynchronous copy that fills with zeros": (
        "__shared__ int s[32]; __shared__ int4 v[32];"
        " __pipeline_memcpy_async(&s[i], &x[i < 20 ? i : 1 << 20], 4, i < 20 ? 0 : 4);"
        " __pipeline_memcpy_async(&v[i], reinterpret_cast<int4*>(x) + i % 8, 16, i % 2 * 16);"
        " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
        " x[i] = s[i] + 100 * v[i % 8].y;",
        np.where(I < 20, I, 0) + 100 * np.where(I % 2, 0, 4 * (I % 8) + 1)),
    "warpSize and gridDim": ("x[i] = warpSize + gridDim.x * 100 + blockDim.x;", np.full(32, 164)),
    "typedef": ("typedef int number; using other = number; other v = i; x[i] = v;", I),
    "if with a variable": (
        "if (const int v = i - 8; v < 0) x[i] = v; else x[i] = 100 + v; int v = 3; x[i] += v;",
        np.where(I < 8, I - 8, 92 + I) + 3),
    "if with a variable that is tested": (
        "if (int v = i % 3) x[i] = 10 * v; else x[i] = v - 1; if (int* p = x + i) *p += 1;",
        np.where(I % 3, I % 3 * 10, -1) + 1),
    "if with two declarations": (
        "if (int a = i, b = 20; int c = b - a) x[i] = c; else if (int d = a + b; d > 39 && c == 0)"
        " x[i] = d;", np.where(I == 20, 40, 20 - I)),
    "if with an effect": (
        "if (x[i]++; x[i] > 9) x[i] = 0; if (x[i] > 3; i > 30) x[i] = 5; if (; i == 1) x[i] = 7;"
        " if (bool b = i < 3; b) x[i] += 50; else x[i] = -x[i];",
        [57 if n == 1 else 51 + n if n < 3 else -5 if n > 30 else -(n + 1) if n < 9 else 0
         for n in I]),
    "if constexpr": ("if constexpr (constexpr int n = sizeof(int); n == 4) x[i] = n;",
                     np.full(32, 4)),
    "switch with a variable": (
        "switch (int v = i % 4) { case 0: x[i] = 9; break; case 1: case 2: x[i] = v * 5; }"
        " switch (int a = max(i, 30), b = a - 1 /* ; */; a + b) { case 59: x[i] += b; break;"
        " default: x[i] -= a; } switch (; i) { case 3: x[i] = 77; }",
        np.where(I == 3, 77, np.choose(I % 4, [9, 5, 10, I]) + np.where(I < 31, 29, -31))),
    "while with a variable": (
        "int n = 0; while (int left = i - n) { n++; if (left % 2) continue; x[i] += left; }",
        [n + sum(left for left in range(1, n + 1) if left % 2 == 0) for n in I]),
    "for with a variable": (
        "int s = 0; for (int j = 0; bool more = j < i; j++) s += j + more;"
        " for (; int left = i - s % 3; ) { x[i] = left; break; } x[i] += s;",
        [s + (n - s % 3 or n) for n in range(32) for s in [n * (n + 1) // 2]]),
    "nothing": (";;{ }", I),
    "static and volatile": ("volatile int v = i; static const int w = 4; x[i] = v + w;", I + 4),
    "sizeof": ("x[i] = (int)sizeof(float4) + (int)sizeof(double);", np.full(32, 24)),
}  # fmt: skip

TEXT = """#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#define SQUARE(v) ((v) * (v))
#define WIDTH 7 // columns
constexpr int LATER = 5;
__device__ int twice(int v, int& more) {{ more = v + 1; return 2 * v; }}
__device__ __forceinline__ int clamp3(int v) {{
    if (v < 0) return 0;
    for (int j = 0; j < 3; ++j)
        if (v == j) return j;
    return 3;
}}
__device__ void mirror(int* y, const int lane) {{
    __shared__ int s[32];
    s[lane] = y[lane];
    __syncthreads();
    y[lane] = s[31 - lane];
}}
__device__ int swapped(int v, int lane) {{
    __shared__ int s[32];
    s[lane] = v;
    __syncthreads();
    v = s[31 - lane];
    __syncthreads();
    return v;
}}
__device__ int twice_swapped(int v, int lane) {{ v = swapped(v, lane); return swapped(v, lane); }}
template <int N, typename T> __device__ T plus(T v) {{ T w[N]; w[N - 1] = v; return w[N - 1] + N; }}
template <typename T> __device__ T sum3(const T p[3]) {{ return p[0] + p[1] + p[2]; }}
__global__ void __launch_bounds__(32) k(int* __restrict__ x) {{
    const int i = threadIdx.x;
    {}
}}
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", TABLE)
@pytest.mark.parametrize("run", ["whole", "recorded"])
def test_construct(case: str, run: str) -> None:
    body, expected = TABLE[case]
    kernel = compile_kernel(TEXT.format(body), "k")
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.arange(32, dtype=np.int32)})
    if run == "whole":
        report = simulate(kernel, launch)
        found = report.arrays["x"]
        assert report.hazards == ()
    else:
        outputs = record(kernel, launch).steps[-1].outputs
        found = outputs.get("x", launch.arguments["x"])
    assert found.tolist() == np.asarray(expected).astype(np.int32).tolist()


def test_template_kernel_gets_its_parameters_by_value() -> None:
    text = (
        "template <int N, typename T, bool B = true>\n"
        "__global__ void k(T* x) { x[threadIdx.x] = B ? N : 0; }"
    )
    kernel = compile_kernel(text, "k", {"N": "3", "T": "double"})
    assert kernel.text == text
    assert kernel.template == ("3", "double", "true")
    launch = Launch((1, 1, 1), (2, 1, 1), {"x": np.zeros(2)})
    assert simulate(kernel, launch).arrays["x"].tolist() == [3, 3]
    assert compile_kernel(text, "k", {"T": "double"}).template == ("16", "double", "true")


def test_dynamic_shared_memory() -> None:
    text = """extern __shared__ float tile[];
__global__ void k(float* x, int n) {
    float* second = tile + n;
    tile[threadIdx.x] = x[threadIdx.x];
    second[threadIdx.x] = 2 * x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[n - 1 - threadIdx.x] + second[threadIdx.x];
}"""
    kernel = compile_kernel(text, "k")
    arguments = {"x": np.arange(8, dtype=np.float32), "n": 8}
    report = simulate(kernel, Launch((1, 1, 1), (8, 1, 1), arguments, shared_bytes=64))
    assert report.arrays["x"].tolist() == [7 + i for i in range(8)]
    assert report.hazards == ()
    short = simulate(kernel, Launch((1, 1, 1), (8, 1, 1), arguments, shared_bytes=60))
    assert {hazard.kind for hazard in short.hazards} == {"out-of-bounds"}


Check = Callable[[np.ndarray], np.ndarray]
FLOATS: dict[str, tuple[str, Check]] = {
    "contracted": ("a * b + c", lambda v: fused(v[0], v[1], v[2])),
    "negated product": ("-(a * b) + c", lambda v: fused(-v[0], v[1], v[2])),
    "subtracted product": ("c - a * b", lambda v: fused(-v[0], v[1], v[2])),
    "left product fuses": ("a * b - b * c", lambda v: fused(v[0], v[1], -(v[1] * v[2]))),
    "kept apart": ("__fadd_rn(__fmul_rn(a, b), c)", lambda v: v[0] * v[1] + v[2]),
    "double product": ("(double)a * b + c", lambda v: v[0].astype(float) * v[1] + v[2]),
    "root": ("sqrtf(a * a)", lambda v: np.sqrt(v[0] * v[0])),
    "minimum": ("fminf(a, fmaxf(b, c))", lambda v: np.fmin(v[0], np.fmax(v[1], v[2]))),
    "mixed with int": ("a * 3 + 1 / 2", lambda v: v[0] * np.float32(3)),
    "double literal": ("a + 0.1", lambda v: (v[0].astype(float) + 0.1).astype(np.float32)),
}


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.float32(a.astype(np.float64) * b + c)


@pytest.mark.parametrize("case", FLOATS)
def test_float_arithmetic(case: str) -> None:
    expression, check = FLOATS[case]
    text = (
        "__global__ void k(const float* p, float* x) { int i = threadIdx.x;"
        f" float a = p[i], b = p[i + 32], c = p[i + 64]; x[i] = {expression}; }}"
    )
    given = np.random.default_rng(5).standard_normal((3, 32), dtype=np.float32)
    arguments = {"p": given, "x": np.zeros(32, np.float32)}
    report = simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (32, 1, 1), arguments))
    assert np.array_equal(report.arrays["x"], check(given).astype(np.float32))


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("x[0] = rec(3);", "recursion"),
        ("x[0] = host(3);", "host"),
        ('puts("a");', "only with printf"),
        ("asm(\"bar.arrive 0, 64;\");", "not supported"),
        ("k(x);", "Call to global function 'k' not configured"),
        ("long double d = 1;", "long double"),
        ("int v = clamp(1);", "Use of undeclared identifier 'clamp'"),
        ("for (int i = wait(1); i < 2; ++i);", "before the loop"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_refused_by_name(body: str, part: str) -> None:
    text = f"""__device__ int rec(int v) {{ return v ? rec(v - 1) : 0; }}
int host(int v) {{ return v; }}
__device__ int wait(int v) {{ __syncthreads(); return v; }}
__global__ void k(int* x) {{
{body}
}}"""

    def run() -> None:
        arguments = {"x": np.zeros(4, np.int32)}
        simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (1, 1, 1), arguments))

    with pytest.raises(SourceError) as error:
        run()
    assert part in error.value.message, error.value
    assert error.value.span is None or error.value.span.line in (1, 3, 5)
