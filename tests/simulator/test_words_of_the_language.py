"""Words around a kernel's arithmetic: those that are taken, and those that a sentence refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, Report, SourceError, compile_kernel, record, simulate
from tests.simulator.launches import launch_text, run_text


def run(body: str, before: str = "", threads: int = 1) -> Report:
    text = f"{before}\n__global__ void k(double* o) {{ {body} }}"
    return run_text(text, block=threads, o=np.zeros(4))


TAKEN: dict[str, tuple[str, str, Any]] = {
    "enum": ("enum E : unsigned char { A = 7, B };", "E e = B; switch (e) { case A: o[0] = 1;"
             " break; case B: o[0] = e; }", 8),
    "memset": ("struct P { int a; float b[2]; };",
               "int v[3] = {1, 2, 3}; P p = {1, {2, 3}}; double d = 5; __shared__ float s[2][2];"
               " s[1][1] = 9; memset(v, 0, sizeof(v)); memset(&p, 0, sizeof(P)); memset(&d, 0, 8);"
               " memset(s, 0, sizeof s); o[0] = 1 + v[0] + v[2] + p.a + p.b[1] + d + s[1][1];", 1),
    "memset of a part": ("", "int n = 2; int v[3] = {1, 2, 3}; memset(v, 0xff, n * sizeof(int));"
                         " memset(o, 0, 8); memset((char*)o + 14, 0x40, 2);"
                         " o[2] = v[1]; o[3] = v[2];",
                         [0, np.array([0, 0, 0, 0x4040], np.uint16).view(float)[0], -1, 3]),
    "memcpy": ("struct P { int a; float b[2]; };",
               "P p = {1, {2, 3}}, q; memcpy(&q, &p, sizeof(P)); float f = q.b[1]; unsigned u;"
               " memcpy(&u, &f, sizeof(u)); __shared__ double s[3]; int n = 3; s[0] = 8; s[2] = 9;"
               " s[1] = 7; std::memcpy(o, s, n * sizeof(double)); o[3] = u; o[1] += q.a;",
               [8, 8, 9, np.float32(3).view(np.uint32)]),
    "enum class": ("enum class M { X = 7, Y };", "M m = M::Y; o[0] = m == M::Y;"
                   " o[1] = static_cast<int>(M::X); o[2] = (int)M::Y;", [1, 7, 8]),
    "casts of constants": ("enum { A = 3 }; const int B = 4; template <int N> __device__ float f()"
                           " { return (float)N + (float)A + float(B) + static_cast<float>(N); }",
                           "o[0] = f<5>() + (double)A + (int)sizeof(int);", 24),
    "static_assert": ("static_assert(sizeof(int) == 4, \"x\");", "static_assert(true); o[0] = 1;",
                      1),
    "aligned struct": ("struct __align__(16) P { float a, b; };",
                       "P p; p.b = 2; o[0] = p.b; o[1] = sizeof(P); o[2] = alignof(P);",
                       [2, 16, 16]),
    "aligned array": ("", "__shared__ __align__(16) float s[4]; alignas(8) float t[2];"
                      " s[1] = 2; t[1] = 3; o[0] = s[1] + t[1];", 5),
    "aligned extern": ("", "extern __shared__ __align__(sizeof(float4)) unsigned char bytes[];"
                       " o[0] = 1;", 1),
    "void": ("", "int x = 3, y; (void)o; (void)y; (void)x++; static_cast<void>(x); o[0] = x;", 4),
    "builtins as values": ("", "uint3 t = threadIdx; auto b = blockDim; const dim3& g = gridDim;"
                           " o[0] = t.x + 10 * b.x + 100 * g.z;", 110),
    "constants": ("constexpr int N = 3; const float F = 1.5f; static const unsigned M = ~0u;",
                  "int a[N] = {1, 2, 3}; o[0] = a[2] * F; o[1] = M;", [4.5, 2**32 - 1]),
    "qualifiers": ("__device__ __noinline__ float f(float x) { return x + 1; }\n"
                   "static __device__ __forceinline__ float g(float x) { return 2 * x; }",
                   "register int r = 1; volatile double* __restrict__ p = o;"
                   " [[maybe_unused]] int u = 0; p[0] = f(r) + g(r);", 4),
    "unroll": ("#define U 2\nconstexpr int V = 3;", "\n#pragma unroll U\n"
               "for (int i = 0; i < 3; ++i) o[i] = i;\n"
               "#pragma unroll (V + 1)\nfor (int i = 0; i < 3; ++i) o[i] += i;\n"
               "#pragma unroll 1\nfor (int i = 0; i < 3; ++i) o[i] += i;", [0, 3, 6]),
    "hints": ("", "__builtin_assume(threadIdx.x < 9);"
              " double* p = (double*)__builtin_assume_aligned(o, 16);"
              " if (__builtin_expect(p[0] == 0, 1)) p[0] = 3;", 3),
    "cache hints": ("", "__stcs(o + 1, 5); o[0] = __ldcs(o + 1) + __ldcg(o + 1) + __ldca(&o[1]);",
                    [15, 5]),
    "static const array": ("", "static const int t[2][2] = {{1, 2}, {3, 4}}; o[0] = t[1][0];", 3),
    "function as a template's argument": (
        "__device__ int twice(int n) { return 2 * n; }\n"
        "template <int (*F)(int)> __device__ int apply(int n) { return F(n) + 1; }",
        "o[0] = apply<twice>(4) + apply<&twice>(5);", 20),
    "asserted with a text": ("", 'assert(o[0] == 0 && "not zero"); o[0] = 1;', 1),
    "traits": ("template <typename T> __device__"
               " std::enable_if_t<std::is_integral<T>::value, T> f(T a) { return a << 1; }\n"
               "template <typename T> __device__"
               " std::enable_if_t<std::is_floating_point_v<T>, T> f(T a) { return a * 3; }",
               "std::conditional_t<std::is_same<int, float>::value, int, double> d = 1.5;"
               " o[0] = f(2); o[1] = f(2.0f); o[2] = d;", [4, 6, 1.5]),
    "widths in std": ("", "std::uint8_t a = 257; std::int64_t b = 1l << 40; o[0] = a; o[1] = b;",
                      [1, 2**40]),
    "compound literals": ("struct P { int a, b; };", "P p = (P){1, 2}; p = (P){.a = 3, .b = p.b};"
                          " float2 v = (float2){4, 5}; o[0] = p.a + p.b; o[1] = v.x + v.y;",
                          [5, 9]),
    "structured bindings": (
        "struct P { int a; float b[2]; }; __device__ P f() { return {1, {2, 3}}; }",
        "auto [a, b] = f(); a += 4; int v[2] = {5, 6}; auto [c, d] = v; v[0] = 9;"
        " auto& [e, g] = v; g = 7; const auto [x, y] = make_float2(.5f, .25f); int* p = &c;"
        " *p += 1; o[0] = a + b[1]; o[1] = c + d; o[2] = v[0] + v[1]; o[3] = x + y;",
        [8, 12, 16, .75]),
    "bindings to memory": ("struct P { double a, b; }; __device__ P g = {1, 2};",
                           "__shared__ P s[2]; s[1] = {3, 4}; auto& [a, b] = s[1]; auto [c, d] = g;"
                           " a = b + d; b = c; o[0] = s[1].a; o[1] = s[1].b;", [6, 1]),
    "address of a struct given by value": (
        "struct P { int a; float b[2]; }; __device__ void put(P* p) { p->a += 1; p->b[1] = 5; }"
        " __device__ float f(P p) { put(&p); return p.a + p.b[0] + p.b[1]; }",
        "P p = {1, {2, 3}}; o[0] = f(p); o[1] = p.a + p.b[1];", [9, 4]),
    "union": ("union U { float f; unsigned u; unsigned char b[4]; };",
              "U x; x.f = -1.5f; U y = x; y.b[3] = 0; U z = {2}; z.b[0] += 1; U zeros = {};"
              " o[0] = x.u; o[1] = y.u; o[2] = z.u; o[3] = zeros.u;",
              [*(np.array([-1.5, 1.5], np.float32).view(np.uint32) & [2**32 - 1, 2**24 - 1]),
               np.float32(2).view(np.uint32) + 1, 0]),
    "union of a vector": ("union V { float4 v; float f[4]; };",
                          "V a; a.v = make_float4(1, 2, 3, 4); for (int i = 0; i < 4; i++)"
                          " o[i] = a.f[i] * a.f[3 - i];", [4, 6, 6, 4]),
    "union without a name": ("struct S { char t; union { double d; int i[2]; }; };"
                             " __device__ S f(double d) { S s; s.t = 1; s.d = d; return s; }",
                             "S s = f(-2); union { short h; struct { char lo, hi; }; };"
                             " h = 0x1234; o[0] = s.i[1]; o[1] = s.i[0]; o[2] = lo; o[3] = hi;",
                             [*np.array([-2.0]).view(np.int32)[::-1], 0x34, 0x12]),
    "unions in memory": ("union U { double d; long n; }; __device__ U g = {2.0};"
                         " __constant__ U c[2] = {{1.0}, {5.0}};",
                         "__shared__ U s[2]; s[0].n = 7; s[1] = g; U* p = &s[1]; p->d *= 2;"
                         " o[0] = s[0].n; o[1] = s[1].d; o[2] = c[1].d; o[3] = c[0].n >> 52;",
                         [7, 4, 5, 1023]),
    "own complex": ("struct cuComplex { float r, i; __device__ cuComplex operator*(cuComplex b) {"
                    " return {r * b.r - i * b.i, i * b.r + r * b.i}; } };",
                    "cuComplex a = {1, 2}, b = a * a; o[0] = b.r; o[1] = b.i;", [-3, 4]),
    "lambda's copies": (
        "struct P { int a, b; };", "int a = 1, *p = &a, r[2] = {4, 5}, &c = r[1]; P s = {2, 3};"
        " P* q = &s; auto f = [=](int n) { return a + 10 * s.b + n * c; }; *p = 7; q->b = 9;"
        " r[1] = 0; o[0] = f(100); o[1] = a + s.b + c;", [531, 16]),
    "suffixes": ("", "o[0] = 1u + 2ul + 3ull + 4ll + 0x10u + 0b11 + 1'000;", 1029),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.sample(3)
def test_what_is_taken(name: str) -> None:
    before, body, expected = TAKEN[name]
    report = run(body, before)
    wanted = np.atleast_1d(expected)
    assert report.arrays["o"][: wanted.size].tolist() == wanted.tolist()
    assert report.hazards == ()


def test_complex_numbers_are_those_of_numpy() -> None:
    text = """#include <cuComplex.h>
    __global__ void k(const float2* v, float* o) {
        cuComplex a = v[2 * threadIdx.x], b = v[2 * threadIdx.x + 1];
        cuDoubleComplex c = cuCmul(cuComplexFloatToDouble(a), make_cuDoubleComplex(0, 1));
        cuFloatComplex r[6] = {cuCaddf(a, b), cuCsubf(a, cuConjf(b)), cuCmulf(a, b), cuCdivf(a, b),
                               cuCfmaf(a, b, a), make_cuFloatComplex(cuCabsf(a), cuCimag(c))};
        for (int i = 0; i < 6; i++) {
            o[12 * threadIdx.x + 2 * i] = cuCrealf(r[i]);
            o[12 * threadIdx.x + 2 * i + 1] = cuCimagf(r[i]);
        }
    }"""
    v = np.random.default_rng(3).standard_normal((32, 2, 2)).astype(np.float32)
    a, b = (v[:, which, 0] + 1j * v[:, which, 1] for which in (0, 1))
    kernel = compile_kernel(text, "k")
    launch = Launch((1, 1, 1), (32, 1, 1), {"v": v, "o": np.zeros(32 * 12, np.float32)})
    report = simulate(kernel, launch)
    found = report.arrays["o"].reshape(32, 6, 2)
    expected = [a + b, a - b.conj(), a * b, a / b, a * b + a, abs(a) + 1j * a.real]
    for number, wanted in enumerate(expected):
        assert np.allclose(found[:, number] @ [1, 1j], wanted, rtol=1e-5, atol=1e-6)
    assert report.hazards == ()
    lines = {step.statement.span.line for step in record(kernel, launch).steps}
    assert lines <= set(range(3, 11))


def test_launch_bounds_and_restrict_stand_before_a_kernel() -> None:
    text = """
    __global__ void __launch_bounds__(256, 2)
    k(const float* __restrict__ a, float* __restrict__ b, const __grid_constant__ int n) {
        b[threadIdx.x] = a[threadIdx.x] * n;
    }"""
    a = np.arange(8, dtype=np.float32)
    assert (
        run_text(text, block=8, a=a, b=np.zeros_like(a), n=3).arrays["b"].tolist()
        == (3 * a).tolist()
    )


def test_a_shuffle_moves_both_components_of_half2() -> None:
    text = """
    __global__ void k(half2* o) {
        half2 v(threadIdx.x, 2 * threadIdx.x);
        v += __shfl_xor_sync(0xffffffff, v, 1);
        half h = __shfl_down_sync(0xffffffff, v.x, 1);
        o[threadIdx.x] = half2(h, v.y);
    }"""
    found = run_text(text, o=np.zeros(64, np.float16)).arrays["o"].reshape(32, 2)
    lanes = np.arange(32)
    assert found[:, 1].tolist() == (2 * (lanes + (lanes ^ 1))).tolist()
    assert found[:31, 0].tolist() == (lanes[1:] + (lanes[1:] ^ 1)).tolist()


def test_an_atomic_adds_half() -> None:
    text = "__global__ void k(half* o) { atomicAdd(o, __float2half(0.5f)); }"
    report = run_text(text, block=64, o=np.ones(1, np.float16))
    assert report.arrays["o"].tolist() == [33]
    assert report.hazards == ()


def test_an_atomic_adds_pairs_of_halves() -> None:
    text = """__global__ void k(half2* o) {
        half2 v(threadIdx.x, 0.5f);
        half2 old = atomicAdd(o + threadIdx.x % 2, v);
        if (threadIdx.x == 2) o[2] = old;
    }"""
    start = np.array([1, 2, 3, 4, 0, 0], np.float16)
    report = run_text(text, o=start)
    lanes = np.arange(32)
    sums = [1 + lanes[::2].sum(), 2 + 8, 3 + lanes[1::2].sum(), 4 + 8]
    assert report.arrays["o"].tolist() == [*sums, 1, 2.5]
    assert report.hazards == ()


def test_a_step_shows_a_load_with_a_cache_hint() -> None:
    text = "__global__ void k(int* o) {\n  __stcg(o + threadIdx.x, __ldcs(o + threadIdx.x) + 1);\n}"
    (step,) = record(*launch_text(text, block=4, o=np.arange(4, dtype=np.int32))).steps
    assert step.outputs["o"].tolist() == [1, 2, 3, 4]
    assert [str(access.kind) for access in step.accesses] == ["load", "store"]


REFUSED: dict[str, tuple[str, str, str]] = {
    "texture": ("texture<float, 1> t;", "o[0] = tex1Dfetch(t, 0);",
                "textures and surfaces are not supported; read the array"),
    "texture object": ("", "float v = tex2D<float>(0, 1, 2);", "read the array itself"),
    "surface": ("", "surf2Dwrite(1.f, 0, 0, 0);", "textures and surfaces"),
    "dynamic parallelism": ("__global__ void child(double* o) {}", "child<<<1, 1>>>(o);",
                            "dynamic parallelism"),
    "libcu++": ("", "cuda::barrier<cuda::thread_scope_block> b;", "__syncthreads"),
    "libcu++'s array": ("", "cuda::std::array<int, 3> a;", "nothing of cuda:: is supported"),
    "tma": ("", "cuda::ptx::cp_async_bulk(0);", "the tensor memory accelerator is not supported"),
    "tensor map": ("__device__ int f(CUtensorMap m);", "f(CUtensorMap());", "memory accelerator"),
    "std::atomic": ("", "std::atomic<int> n;", "std::atomic is not supported: use atomicAdd"),
    "std::make_tuple": ("", "auto t = std::make_tuple(1, 2);", "of the C++ library only the"),
    "std::swap": ("", "int a, b; std::swap(a, b);", "with a third variable"),
    "complex": ("", "thrust::complex<float> c(1, 2); o[0] = c.real();", "or float2, with x and y"),
    "cuComplex": ("", "cuComplex c;", "it comes with #include <cuComplex.h>"),
    "cub": ("", "typedef cub::BlockLoad<float, 32, 4> R; R::Storage t;", "write what the"),
    "placement new": ("", "int b; int* p = new (&b) int(3);", "new is not supported"),
    "malloc": ("", "int* p = (int*)malloc(8);", "a kernel gets its memory as arrays"),
    "throw": ("", "throw 1;", "A GPU has no exceptions: store the number of an error in an array"),
    "try": ("", "try { o[0] = 1; } catch (...) {}", "A GPU has no exceptions: store the"),
    "virtual function": ("struct A { __device__ virtual int f() { return 1; } };",
                         "A a; o[0] = a.f();",
                         "make the function a template over the class instead"),
    "function pointer": ("", "int (*p)(int) = nullptr; o[0] = p(1);", "pass a lambda, or a struct"),
    "function pointers in an array": ("__device__ int f(int n) { return n; }",
                                      "int (*p[1])(int) = {f}; o[0] = p[0](1);",
                                      "pass a lambda, or a struct with an"),
    "function as an argument": (
        "__device__ int f(int n) { return n; } typedef int (*Op)(int);"
        "__device__ int g(Op p) { return p(1); }", "o[0] = g(f);", "pass a lambda, or a struct"),
    "function pointer variable": (
        "typedef int (*Op)(int); __device__ int f(int n) { return n; } __device__ Op chosen = f;",
        "o[0] = chosen(1);", "pass a lambda, or a struct with an operator()"),
    "pointer to a member": ("struct P { int a, b; };", "int P::*m = &P::b; o[0] = m == nullptr;",
                            "A pointer to a member is not supported; use an array"),
    "bit-field": ("struct P { unsigned a : 3; };", "P p; p.a = 1;", "use shifts and masks"),
    "long double": ("", "long double d = 1; o[0] = d;", "long double is not supported; use double"),
    "typeid": ("", "o[0] = typeid(int) == typeid(char);", "a GPU has no types at run time"),
    "list of a loop": ("", "for (int v : {1, 2}) o[0] = v;", "declare an array of these values"),
    "built-in of the compiler": ("", "__builtin_prefetch(o);", "prefetch is not supported"),
    "sum of short vectors": ("", "float4 a = {}, b = a + a;", "compute with its members"),
    "sum into a short vector": ("", "float4 a = {}, b = a; a += b;", "compute with its members"),
    "element of a short vector": ("", "int4 a = {}; o[0] = a[1];", "compute with its members"),
    "number for a short vector": ("", "float2 a = 0.0f;", "do not convert into each other: read"),
    "short vector for a number": ("", "o[0] = make_int2(1, 2);", "do not convert into each other"),
    "wmma": ("", "nvcuda::wmma::fill_fragment(o, 0);", "write #include <mma.h>"),
    "time": ("", "o[0] = __globaltimer();", "clock64() counts the steps of a thread"),
    "goto": ("", "goto end; end: o[0] = 1;", "goto is not supported"),
    "new": ("", "int* p = new int[3];", "new"),
    "std::move": ("", "o[0] = std::move(o[1]);", "std::min, std::max, std::clamp"),
    "address as number": ("", "unsigned long a = __cvta_generic_to_global(o);",
                          "the pointer itself"),
    "host function": ("double f(double x) { return x; }", "o[0] = f(1);",
                      "write __device__ before its definition"),
    "host variable": ("int n;", "o[0] = n;", "variable of the host"),
    "list for a nameless member": ("struct P { struct { int a, b; }; int c; };",
                                   "P p = {{1, 2}, 3}; o[0] = p.a;", "has no name, one by one"),
    "size of warpSize": ("", "__shared__ int s[warpSize]; s[0] = 1;",
                         "An array's size must be a constant: a macro, const int or constexpr."),
    "size that is passed": ("", "int n = 3; float s[n]; s[0] = 1;", "size must be a constant"),
    "type of a function pointer": ("typedef double (*F)(double);"
                                   " __device__ double f(double a) { return a; }",
                                   "F g = f; o[0] = g(1);", "pointer to a function"),
    "table of functions": ("typedef double (*F)(double);"
                           " __device__ double f(double a) { return a; }"
                           " __device__ F table[1] = {f};", "o[0] = table[0](1);",
                           "A pointer to a function is not supported"),
    "block in an expression": ("", "o[0] = ({ int t = 3; t * 2; });", "write a function"),
    "bfloat16": ("", "__nv_bfloat16 b;", "write #include <cuda_bf16.h>"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.sample(3)
def test_what_is_refused_in_a_sentence(name: str) -> None:
    before, body, part = REFUSED[name]
    with pytest.raises(SourceError) as error:
        run(body, before)
    assert part in error.value.message
    assert error.value.span is not None
    assert error.value.span.line == (1 if not body else 2)


def test_clusters_are_refused() -> None:
    text = "__global__ void __cluster_dims__(2, 1, 1) k(int* o) { o[0] = 1; }"
    with pytest.raises(SourceError, match="Clusters of blocks are not supported"):
        compile_kernel(text, "k")
