"""What CUDA C++ has besides C: references, lambdas, lists of values, loops over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, narrate, record, simulate
from tests.simulator.launches import launch_text

I = np.arange(32)  # noqa: E741  # threadIdx.x of the one warp

BEFORE = """
#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)
enum Kind { FIRST, SECOND = 4, THIRD };
enum class Mode : unsigned char { OFF, ON = 7 };
__constant__ int table[4] = {3, 1, 4, 1};
template <int R, int C> __device__ int corner(int (&t)[R][C]) {
    t[0][0] += 1;
    return t[R - 1][C - 1];
}
__device__ int total(const int (&t)[4]) { int s = 0; for (int v : t) s += v; return s; }
__device__ void set(int& a, const int& b) { a = b; }
__device__ int& largest(int* a, int n) {
    int best = 0;
    for (int k = 1; k < n; ++k) if (a[k] > a[best]) best = k;
    return a[best];
}
template <typename F> __device__ int apply(F f, int v) { return f(v) + f(v + 1); }
template <typename F> __device__ void each(int n, const F& f) { for (int k = 0; k < n; ++k) f(k); }
template <typename T> __device__ T square(T v) { return v * v; }
template <> __device__ int square<int>(int v) { return v * v + 1; }
__device__ int pick(int v) { return v; }
__device__ int pick(float v) { return (int)(v * 10); }
__device__ int add(int a, int b = 5, int c = 2) { return a * 100 + b * 10 + c; }
__device__ int advanced(int c, int by) { int* p = &c; *p += by; return c; }
template <bool FLAG> __device__ int chosen(int v) {
    if constexpr (FLAG) { return v; } else { return -v; }
}
namespace tools { namespace inner { __host__ __device__ inline int half(int v) { return v / 2; } } }
using namespace tools;
"""

# body, then x after it (x starts as 0 to 31 in int); `i` is threadIdx.x.
TABLE: dict[str, tuple[str, Any]] = {
    "list of less": ("int a[4] = {i}; float b[3] = {1.5f};"
                     " x[i] = a[0] + a[3] + (int)(b[0] + b[2]);",
                     I + 1),
    "list without inner braces": ("int t[2][3] = {1, 2, i, 4};"
                                  " x[i] = t[0][2] + t[1][0] * 10 + t[1][1];",
                                  I + 40),
    "list of zeros": ("float a[4][4] = {{0}}; int b[3]{}; int c[2] = {};"
                      " x[i] = (int)a[3][3] + b[2] + c[1];",
                      0 * I),
    "list with designators": ("int a[5] = {[3] = i, 7, [0] = 1};"
                              " x[i] = a[0] + a[3] + a[4];", I + 8),
    "list mixed": ("int t[3][2] = {{1}, 2, 3, {i}}; x[i] = t[0][1] + t[1][1] + t[2][0];", I + 3),
    "string": ("char s[] = \"ab\\n\"; char t[8] = {\"xy\"};"
               " x[i] = s[1] + s[2] + t[1] + t[5] + sizeof(s);",
               np.full(32, 98 + 10 + 121 + 4)),
    "scalars in braces": ("int a{i}; int b = {3}; int c{}; float d(2); x[i] = a + b + c + (int)d;",
                          I + 5),
    "vectors in lists": ("float4 v = {0, 1}; float2 w[2] = {1, 2, 3, 4}; int2 u[2] = {{i, 1}, {2}};"
                         " x[i] = (int)(v.y + w[1].x) + u[0].x + u[1].y;", I + 4),
    "vector copies": ("uint3 t = threadIdx; dim3 d(2, 3); x[i] = t.x + d.y * 10 + d.z;", I + 31),
    "constant table": ("int s = 0; for (int v : table) s += v; x[i] = s + table[i % 4];",
                       9 + np.array([3, 1, 4, 1])[I % 4]),
    "reference to an array": ("int t[3][4] = {{i}}; t[2][3] = 5; int u[4] = {1, 2, 3, i};"
                              " int r = corner(t);"
                              " x[i] = r + t[0][0] + total(u);", 5 + I + 1 + 6 + I),
    "reference to a row": ("int t[2][3] = {}; int (&row)[3] = t[1]; row[2] = i;"
                           " auto& cell = t[1][2];"
                           " cell += 1; x[i] = t[1][2];", I + 1),
    "reference parameters": ("int a = 1, b[2] = {2, 3}; set(a, i); set(b[1], a + 1);"
                             " x[i] = a + b[1];",
                             2 * I + 1),
    "reference result": ("int a[3] = {1, i, 4}; largest(a, 3) = 0; ++largest(a, 3);"
                         " x[i] = a[0] + a[1] + a[2];",
                         np.where(I < 4, I + 2, 6)),
    "constant reference": ("const int& r = i * 2; const float& f = 1;"
                           " x[i] = r + (int)f;", 2 * I + 1),
    "lambda": ("auto f = [](int v) { return v * 2; }; x[i] = f(i) + f(1);", 2 * I + 2),
    "lambda by value": ("int a = 1; auto f = [=] __device__ (int v) { return v + a; }; a = 100;"
                        " x[i] = f(i) + a;", I + 101),
    "lambda by reference": ("int a = 1; auto f = [&](int v) { a += v; }; f(i); f(2);"
                            " x[i] = a;", I + 3),
    "lambda of both": ("int a = 1, b = 2; auto f = [&a, b](int v) { a = b + v; return a; }; b = 50;"
                       " int c = f(i); x[i] = a + c;", 2 * I + 4),
    "lambda passed": ("int n = 3; x[i] = apply([=](int v) { return v * n; }, i);"
                      " auto g = [&](int v)"
                      " { x[i] += v; }; each(3, g);", 3 * (2 * I + 1) + 3),
    "lambda, generic": ("auto f = [](auto v) { return v + 1; }; x[i] = f(i) + (int)(f(0.5f) * 2);",
                        I + 4),
    "lambda on shared memory": ("__shared__ int s[32]; auto put = [&](int k, int v) { s[k] = v; };"
                                " put(i, i * 3); __syncthreads(); x[i] = s[31 - i];", 3 * (31 - I)),
    "range of an array": ("int a[3] = {1, 2, i}; int s = 0; for (int v : a) { if (v == 2) continue;"
                          " s += v; } for (auto& v : a) v = 4; for (const auto v : a) s += v;"
                          " x[i] = s;", [1 + (n if n != 2 else 0) + 12 for n in I]),
    "range of rows": ("int t[2][2] = {1, 2, 3, i}; int s = 0; for (auto& row : t) for (int v : row)"
                      " s = s * 2 + v; x[i] = s;", 8 + 8 + 6 + I),
    "array of pointers": ("int a[2] = {1, 2}, b[2] = {i, 5}; int* p[2] = {a, b}; int s = 0;"
                          " for (int k = 0; k < 2; ++k) { s += p[k][1]; p[k][0] += 10; }"
                          " x[i] = s + a[0] + b[0];", 7 + 11 + I + 10),
    "swapped pointers": ("__shared__ int s[2][32]; int* buffers[2] = {s[0], s[1]}; int now = 0;"
                         " buffers[now][i] = i; __syncthreads(); for (int k = 0; k < 3; ++k) {"
                         " buffers[now ^ 1][i] = buffers[now][31 - i] + 1; now ^= 1;"
                         " __syncthreads(); } x[i] = buffers[now][i];", 31 - I + 3),
    "pointers in memory move": ("int* p[2] = {x, x + 4}; p[0] += i; p[1]++; ++p[1]; int* q = p[0];"
                                " int d = p[1] - x; *q = d + (p[0] == x);",
                                6 + (I == 0)),
    "pointer to rows": ("int t[3][4] = {{0}}; int (*row)[4] = &t[1]; row[1][2] = i; (*row)[0] = 3;"
                        " int (*first)[4] = t; x[i] = t[2][2] + first[1][0];", I + 3),
    "pointer to a pointer": ("int a = i; int* p = &a; int* list[1] = {p}; int** q = list; **q += 2;"
                             " x[i] = a;", I + 2),
    "null": ("int* q = nullptr; x[i] = (q ? 1 : 2) + (q == nullptr) + !q; q = x;"
             " x[i] += q != nullptr;",
             np.full(32, 5)),
    "shared pointer": ("__shared__ int s[32]; __shared__ int* base; if (i == 0) base = s;"
                       " __syncthreads(); base[i] = i; __syncthreads();"
                       " x[i] = base[31 - i];", 31 - I),
    "enumerations": ("Kind k = i > 3 ? THIRD : FIRST; Mode m = Mode::ON; enum { LOCAL = 2 };"
                     " x[i] = k + (int)m * 10 + LOCAL + (m == Mode::ON) + SECOND;",
                     np.where(I > 3, 5, 0) + 77),
    "assertion and alias": ("static_assert(sizeof(int) == 4, \"int\"); using T = int; typedef T U;"
                            " U v = i; (void)v; (void)x; x[i] = v + 1;", I + 1),
    "macro with a loop": ("int a = i, b = 2; SWAP(a, b); if (i > 5) SWAP(a, b); else a += 1;"
                          " x[i] = a * 100 + b;", np.where(I > 5, I * 100 + 2, 300 + I)),
    "comma": ("int a = 0, b = 0; for (int k = 0, m = 9; k < m; ++k, --m) a += (b = k, b + m);"
              " x[i] = a + b;", np.full(32, 45 + 4)),
    "choice as a target": ("int a = 1, b = 2; (i > 5 ? a : b) = 7; int c[2] = {0, 0};"
                           " (i & 1 ? c[0] : c[1]) += 3; x[i] = a * 100 + b * 10 + c[0];",
                           np.where(I > 5, 720, 170) + np.where(I & 1, 3, 0)),
    "if constexpr": ("x[i] = chosen<true>(i) * 2 + chosen<false>(1);", 2 * I - 1),
    "address of a parameter": ("int n = i; x[i] = advanced(n, 3) + advanced(i, n) - n;", 2 * I + 3),
    "switch falls through": ("int s = 0; switch (i & 3) { case 3: s += 1; case 2: { s += 10; }"
                             " case 1: s += 100; break; default: s = 7; } x[i] = s;",
                             np.array([7, 100, 110, 111])[I & 3]),
    "overloads": ("x[i] = pick(i) + pick(0.5f) + square(2) + (int)square(1.5f);", I + 5 + 5 + 2),
    "defaults": ("x[i] = add(i) + add(0, 1) + add(0, 0, 1);", 100 * I + 52 + 12 + 1),
    "namespaces": ("x[i] = tools::inner::half(i) + inner::half(4); namespace t = tools::inner;"
                   " using tools::inner::half; x[i] += t::half(8) + half(2);", I // 2 + 7),
}  # fmt: skip


def run(body: str) -> np.ndarray[Any, Any]:
    text = f"{BEFORE}\n__global__ void k(int* x) {{ int i = threadIdx.x;\n{body}\n}}"
    arguments = {"x": np.arange(32, dtype=np.int32)}
    report = simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (32, 1, 1), arguments))
    assert not report.hazards, report.hazards[0].message
    return report.arrays["x"]


@pytest.mark.parametrize("case", TABLE)
@pytest.mark.sample(2)
def test_value(case: str) -> None:
    body, expected = TABLE[case]
    assert run(body).tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("again: if (x[i] < 9) { x[i] += 1; goto again; }", "goto, which is not supported"),
        ("int* p = new int[4];", "new is not supported"),
        ("int* p = x; delete p;", "delete is not supported"),
        ("int a[3] = {}; auto f = [=] { return a[0]; }; x[i] = f();", "capture it by reference"),
        ("try { x[i] = 1; } catch (...) {}", "A GPU has no exceptions"),
        ("__shared__ int* p; int a[2]; p = a;", "each thread's own"),
        ("struct T { int v; __device__ ~T() { v = 0; } }; T t;", "T has a destructor"),
        ("int (*f)(int) = pick; x[i] = f(3);", "A pointer to a function"),
        ("struct T { int v[3000]; } t = {}; " + "{ T u = t; } " * 4, "more than 10,000 numbers"),
        ("int a = 1, b = 2; int& r = i > 3 ? a : b; r = 4;", "to one of several variables"),
        ("struct A { int v; }; struct B { int w; }; struct C : A, B { int u; }; C c;", "several"),
        ("int a[1], b[1]; int* p[2] = {a, b}; x[i] = *p[i % 2];", "different arrays (a and b)"),
    ],
)
def test_refusal(body: str, part: str) -> None:
    with pytest.raises(SourceError) as error:
        run(body)
    assert part in error.value.message
    assert error.value.span is not None
    assert error.value.message.endswith(".")


def test_a_null_pointer_is_a_hazard() -> None:
    text = "__global__ void k(int* x) { int* p = nullptr; x[threadIdx.x] = p[2]; }"
    report = simulate(*launch_text(text, x=np.zeros(32, np.int32)))
    assert [hazard.kind for hazard in report.hazards] == ["out-of-bounds"]
    assert "nullptr" in report.hazards[0].message


def test_pointers_in_memory_are_shown_as_places() -> None:
    text = """__global__ void k(int* x) {
        __shared__ int s[2][4];
        int* p[2] = {s[0], s[1]};
        p[1][threadIdx.x] = 7;
        int* q = p[1];
        x[threadIdx.x] = *q;
    }"""
    recording = record(*launch_text(text, block=4, x=np.zeros(4, np.int32)))
    values = {step.line: narrate.values(recording, step, 2) for step in recording.steps}
    assert values[5] == ("q = &s[4]",)
    assert values[6][0] == "x[2] = s[1][0] = 7"
