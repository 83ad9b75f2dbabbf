"""Structs: in registers and in memory, with constructors, methods and operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, LaunchError, compile_kernel, narrate, record, simulate
from simulator.__main__ import main
from simulator.language.ctype import Pointer, Struct, parts
from tests.programs.table import PROGRAMS
from tests.simulator.launches import launch_text, run_text

I = np.arange(32)  # noqa: E741  # threadIdx.x of the one warp

BEFORE = """
struct Pair { int a; int b; };
struct Complex {
    float r, i;
    __device__ Complex(float x, float y = 1.0f) : r(x), i(y) {}
    __device__ float norm() const { return r * r + this->i * i; }
    __device__ Complex operator*(const Complex& o) const {
        return Complex(r * o.r - i * o.i, i * o.r + r * o.i);
    }
    __device__ Complex& operator+=(const Complex& o) { r += o.r; i += o.i; return *this; }
};
__device__ Complex operator+(Complex a, const Complex& b) { return Complex(a.r + b.r, a.i + b.i); }
struct Box { Pair low = {1, 2}; Pair high; int size[3] = {7, 8}; bool open{true}; };
struct Line { Pair end; int size[3]; };
struct Wide { char tag; double weight; short step; };
class Counter {
public:
    __device__ Counter() : count(5) {}
    __device__ explicit Counter(int start) { count = start; }
    __device__ int next() { return count++; }
    __device__ int& value() { return count; }
    __device__ operator int() const { return count; }
    static constexpr int step = 4;
    enum { FIRST = 9 };
private:
    int count;
};
template <class T, int N> struct Stack {
    T cells[N];
    int top = 0;
    __device__ void push(T value) { cells[top++] = value; }
    __device__ T pop() { return cells[--top]; }
    __device__ T& operator[](int k) { return cells[k]; }
    __device__ const T& operator[](int k) const { return cells[k]; }
};
template <typename T, int N> struct alignas(sizeof(T) * N) Pack {
    __device__ Pack() {}
    __device__ Pack(T value) { for (int i = 0; i < N; ++i) cells[i] = value; }
    union { T cells[N]; };
};
union Word { unsigned long long bits; };
struct Placed { int id; struct { int column, row; }; __device__ int sum() { return row + id; } };
struct Framed { Stack<int, 2> inner; int edge; };
template <typename T> struct SharedMemory {
    __device__ inline operator T*() { extern __shared__ int words[]; return (T*)words; }
    __device__ inline operator const T*() const { extern __shared__ int words[]; return (T*)words; }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double*() {
        extern __shared__ double doubles[]; return (double*)doubles;
    }
};
struct Plus { __device__ int operator()(int a, int b) const { return a + b; } };
struct Scale { int by; __device__ int operator()(int a) const { return a * by; } };
template <class Op> __device__ int fold(const int* x, int n, Op op) {
    int s = x[0];
    for (int k = 1; k < n; ++k) s = op(s, x[k]);
    return s;
}
struct Animal { int legs; __device__ int feet() const { return legs; } };
struct Dog : Animal { int tail; __device__ int ends() const { return feet() + tail; } };
__device__ Pair swapped(Pair p) { return {p.b, p.a}; }
__device__ void bump(Pair& p) { p.a += 10; p.b = p.a; }
__device__ void bump_all(Pair* p, int n) { for (int k = 0; k < n; ++k) p[k].a += k; }
__device__ Pair either(bool first, Pair p, const Pair& q) { return first ? p : q; }
__device__ Pair early(int v) {
    Pair p;
    p.b = 1;
    if (v < 5) { p.a = v; return p; }
    p.a = 50;
    return p;
}
__device__ Pair reversed(Pair p, int* s) {
    s[threadIdx.x] = p.a; __syncthreads(); Pair q = {s[31 - threadIdx.x], p.b}; return q;
}
struct Noted {
    int v;
    __device__ Noted(int a) : v(a) {}
    __device__ Noted(const Noted& o) : v(o.v + 1) {}
    __device__ Noted& operator=(const Noted& o) { v = o.v * 2; return *this; }
    friend __device__ int operator-(const Noted& a, const Noted& b) { return a.v - b.v; }
};
__device__ int plain(Noted n) { return n.v; }
struct Steps {
    int at;
    __device__ Steps& operator++() { ++at; return *this; }
    __device__ Steps operator++(int) { Steps old = *this; ++at; return old; }
    __device__ int operator*() const { return at * 10; }
    __device__ explicit operator bool() const { return at > 2; }
    static __device__ int twice(int v) { return 2 * v; }
};
struct Span { int* cells; int count; __device__ int& operator[](int k) { return cells[k]; } };
struct Axes {
    int x, y, z;
    __device__ int& operator[](int k) { return k == 0 ? x : k == 1 ? y : z; }
    __device__ int at(int k) { return (&x)[k]; }
};
struct Empty {};
namespace geometry { struct Point { int x, y; }; __device__ int sum(Point p) { return p.x + p.y; } }
"""

# body, then x after it (x starts as 0 to 31 in int); `i` is threadIdx.x.
TABLE: dict[str, tuple[str, Any]] = {
    "members": ("Pair p; p.a = i; p.b = 2; p.a += p.b; x[i] = p.a * 10 + p.b;", (I + 2) * 10 + 2),
    "list": ("Pair p = {i, 3}; Pair q{4}; Pair z = {}; x[i] = p.a + p.b + q.a + q.b + z.a;", I + 7),
    "designated": ("Pair p = {.a = 1, .b = i}; x[i] = p.a + p.b;", I + 1),
    "copy": ("Pair p = {i, 1}; Pair q = p; q.a++; p = q; q.b = 9; x[i] = p.a * 10 + p.b;",
             (I + 1) * 10 + 1),
    "chained copy": ("Pair p, q, r = {i, 2}; p = q = r; x[i] = p.a + q.b;", I + 2),
    "function": ("Pair p = swapped({i, 5}); x[i] = p.a * 100 + p.b;", 500 + I),
    "function of itself": ("Pair p = {i, 5}; p = swapped(p); p = {p.b, p.a + 1}; "
                           "x[i] = p.a * 100 + p.b;", I * 100 + 6),
    "member of a call": ("x[i] = swapped(swapped({i, 5})).a;", I),
    "reference": ("Pair p = {i, 0}; bump(p); x[i] = p.b; Pair& q = p; q.a = 1; x[i] += p.a;",
                  I + 11),
    "address": ("Pair p = {i, 0}; Pair* q = &p; q->a += 3; (*q).b = 4; x[i] = p.a + p.b;", I + 7),
    "address of a member": ("Pair p = {i, 7}; int* q = &p.b; *q += p.a; x[i] = p.b;", I + 7),
    "conditional": ("Pair p = {i, 1}, q = {2, 3}; Pair r = i < 5 ? p : q; r = i > 7 ? r : q;"
                    " x[i] = r.a + either(i > 20, p, r).b;",
                    [2 + (1 if n > 20 else 3) for n in I]),
    "early return": ("Pair p = early(i); x[i] = p.a + p.b;", np.where(I < 5, I, 50) + 1),
    "barrier": ("__shared__ int s[32]; Pair p = reversed({i, 2}, s); x[i] = p.a + p.b;", 33 - I),
    "array": ("Pair p[3] = {{i, 1}, {2}, 3}; p[1].b = 5; int s = 0;"
              " for (int k = 0; k < 3; ++k) s += p[k].a * 10 + p[k].b; x[i] = s;",
              I * 10 + 1 + 25 + 30),
    "array without braces": ("Pair p[2] = {i, 1, 2, 3}; x[i] = p[0].a + p[1].b + p[i % 2].b;",
                             I + 3 + np.where(I % 2, 3, 1)),
    "array through a pointer": ("Pair p[4] = {}; bump_all(p, 4); bump(p[2]);"
                                " x[i] = p[3].a + p[2].b;", np.full(32, 15)),
    "sizes": ("Wide w[2]; w[1].weight = i + 0.5; w[1].tag = 'a'; w[1].step = -3; w[0] = w[1];"
              " x[i] = (int)w[0].weight + w[0].tag + w[0].step + sizeof(Wide);", I + 97 - 3 + 24),
    "shared": ("__shared__ Pair s[32]; s[i].a = i; s[i].b = 2 * i; __syncthreads();"
               " Pair p = s[31 - i]; x[i] = p.a + p.b;", 3 * (31 - I)),
    "shared struct": ("__shared__ Line s; if (i == 0) { s.size[1] = 4; s.end.b = 5; }"
                      " __syncthreads(); x[i] = s.size[1] + s.end.b;", np.full(32, 9)),
    "shared copy": ("__shared__ Pair s[33]; s[i + 1] = swapped({i, 1}); Pair& q = s[i + 1];"
                    " q.a += 1; s[i + 1].b *= 2; __syncthreads(); x[i] = s[i + 1].a + q.b;",
                    2 + 2 * I),
    "nested": ("Box b; b.high = {i, 3}; b.low.a += 5; Box c = b; c.size[2] = c.high.a;"
               " x[i] = c.low.a * 1000 + c.size[0] * 100 + c.size[2] + c.open + b.size[2];",
               6000 + 700 + I + 1),
    "nested list": ("Box b = {{i, 2}, {3, 4}, {5, 6, 7}, false}; Box c = {i, 2, 3, 4, 5};"
                    " x[i] = b.low.a + b.size[2] + c.high.b + c.size[0] + c.open;", I + 7 + 10),
    "constructor": ("Complex c(i, 2); Complex d = Complex(3.f); Complex e{1, 1};"
                    " x[i] = (int)(c.r + c.i * 10 + d.i + e.r);", I + 22),
    "operators": ("Complex c(i, 1), d(2, 3); c += d * d + Complex(1, 1); x[i] = c.r * 100 + c.i;",
                  (I - 4) * 100 + 14),
    "method of a value": ("Complex c(i, 1); x[i] = (c * c).norm();", (I * I - 1) ** 2 + 4 * I * I),
    "object": ("Counter c; Counter d(i); c.next(); d.value() += 2; d.value()++;"
               " x[i] = c + d + Counter::step + Counter::FIRST + c.step;", 6 + I + 3 + 17),
    "default members": ("Box b; Box c{}; x[i] = b.low.b + c.size[1] + b.size[2] + c.open;",
                        np.full(32, 2 + 8 + 1)),
    "template": ("Stack<int, 4> s; s.push(i); s.push(3); s[0] += 5; const Stack<int, 4>& t = s;"
                 " x[i] = s.pop() * 100 + t[0];", 300 + I + 5),
    "shared memory of a type": (
        "int* s = SharedMemory<int>(); s[i] = i; __syncthreads(); x[i] = s[31 - i];", 31 - I),
    "shared memory, specialized": (
        "double* s = SharedMemory<double>(); s[i] = i; __syncthreads(); x[i] = s[31 - i];", 31 - I),
    "function object": ("Scale s{3}; int t[4] = {0, 1, 2, 3};"
                        " x[i] = fold(t, 4, Plus()) + s(i) + Scale{2}(1) + Plus{}(1, 1);",
                        3 * I + 10),
    "base": ("Dog d; d.legs = i; d.tail = 1; Dog e = d; Animal& a = e; a.legs++;"
             " x[i] = e.ends() + d.feet();", 2 * I + 2),
    "struct in the kernel": ("struct Local { int v; } a = {i}; Local b[2] = {a, a};"
                             " x[i] = b[1].v;", I),
    "namespace": ("geometry::Point p{i, 2}; x[i] = geometry::sum(p) + geometry::sum({1, 1});",
                  I + 4),
    "passed in a loop": ("Pair p = {0, 0}; for (int k = 0; k < i; ++k) { bump(p); p = swapped(p); }"
                         " x[i] = p.a;", 10 * I),
    "copy constructor": ("Noted n(i); Noted m = n; m = n; Noted o(m); x[i] = o - n + plain(n);",
                         2 * I + 1 - I + I + 1),
    "counting operators": ("Steps s{0}; ++s; Steps t = s++; ++++s; int on = s ? 1 : 0;"
                           " if (!t) on += 2; x[i] = s.at * 1000 + *t + on + Steps::twice(i);",
                           4000 + 10 + 3 + 2 * I),
    "pointers in structs": ("int a[3] = {i, 1, 2}; Span s{a, 3}; Span t[2] = {s, {a + 1, 2}};"
                            " t[1][0] = 7; s[2] += t[0].count; x[i] = a[0] + a[1] + t[1].cells[1];",
                            I + 7 + 5),
    "member by number": ("Axes a = {i, 2, 3}; a[1] += 5; int s = 0;"
                         " for (int k = 0; k < 3; ++k) s = s * 10 + a[k]; x[i] = s + a.at(2);",
                         I * 100 + 73 + 3),
    "nothing inside": ("Empty e, f; e = f; Empty g[3]; x[i] = sizeof(e) + sizeof(g);",
                       np.full(32, 4)),
    "atomics": ("__shared__ Pair s; if (i == 0) s.b = 0; __syncthreads(); atomicAdd(&s.b, i);"
                " __syncthreads(); x[i] = s.b;", np.full(32, 496)),
    "members without a name": (
        "Placed p; p.id = 4; p.row = i; p.column = 2; Placed q = p; q.id = 5; Pack<int, 2> k(3);"
        " k.cells[1] = q.sum() + p.column; Word w; w.bits = 1ull << 33;"
        " x[i] = k.cells[0] + k.cells[1] + (int)(w.bits >> 33) + sizeof(Placed);", I + 23),
    "an operator of a member": ("Framed f; f.edge = 9; f.inner.push(4); f.inner[0] = i;"
                                " Framed* p = &f; x[i] = p->inner[0] + f.inner.pop();", 2 * I),
    "in a branch": ("Pair p = {1, 2}; if (i % 2) { p = {i, 0}; Pair q = p; p.b = q.a; }"
                    " x[i] = p.a + p.b;", np.where(I % 2, 2 * I, 3)),
}  # fmt: skip


def run(body: str) -> np.ndarray[Any, Any]:
    text = f"{BEFORE}\n__global__ void k(int* x) {{ int i = threadIdx.x;\n{body}\n}}"
    arguments = {"x": np.arange(32, dtype=np.int32)}
    report = run_text(text, shared=256, **arguments)
    assert not report.hazards, report.hazards[0].message
    return report.arrays["x"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", TABLE)
def test_value(case: str) -> None:
    body, expected = TABLE[case]
    found = run(body)
    assert found.tolist() == np.asarray(expected).tolist()


PARTICLE = np.dtype([("x", "f4"), ("y", "f4"), ("mass", "f8"), ("kind", "i4")], align=True)
MOVE = """
struct Particle { float x, y; double mass; int kind; };
__global__ void k(Particle* p, const Particle* from, float dt) {
    int i = threadIdx.x;
    Particle mine = from[i];
    mine.x = mine.x + dt * mine.y;
    mine.kind += 1;
    p[i] = mine;
    p[i].mass *= 2;
}
"""


def particles() -> np.ndarray[Any, Any]:
    random = np.random.default_rng(3)
    found = np.zeros(32, PARTICLE)
    for name in ("x", "y", "mass"):
        found[name] = random.standard_normal(32)
    found["kind"] = np.arange(32)
    return found


def test_arrays_of_structs_are_structured_arrays() -> None:
    given = particles()
    kernel, launch = launch_text(MOVE, p=np.zeros(32, PARTICLE), **{"from": given}, dt=0.5)
    report = simulate(kernel, launch)
    after = report.arrays["p"]
    assert after.dtype == PARTICLE
    fused = given["y"].astype(np.float64) * 0.5 + given["x"]
    assert after["x"].tolist() == fused.astype(np.float32).tolist()
    assert after["mass"].tolist() == (2 * given["mass"]).tolist()
    assert after["kind"].tolist() == (given["kind"] + 1).tolist()
    assert not report.hazards


def test_another_layout_is_refused_with_the_struct_s_own() -> None:
    packed = np.zeros(32, np.dtype(PARTICLE.descr[:2]))
    kernel, launch = launch_text(MOVE, p=packed, **{"from": particles()}, dt=1.0)
    with pytest.raises(LaunchError, match=r"24 bytes with float32 at byte 0 \(x\), .*align=True"):
        simulate(kernel, launch)


ARRAYS = """
struct Point { float x, y, z, w; };
__global__ void array_of_structs(const Point* p, float* out) {
    out[threadIdx.x] = p[threadIdx.x].y;
}
struct Points { float x[32], y[32], z[32], w[32]; };
__global__ void struct_of_arrays(const Points* p, float* out) {
    out[threadIdx.x] = p->y[threadIdx.x];
}
"""


@pytest.mark.parametrize(("name", "sectors"), [("array_of_structs", 16), ("struct_of_arrays", 4)])
def test_layout_decides_sectors(name: str, sectors: int) -> None:
    values = np.arange(128, dtype=np.float32)
    kernel, launch = launch_text(ARRAYS, name, p=values, out=np.zeros(32, np.float32))
    report = simulate(kernel, launch)
    expected = values.reshape(32, 4)[:, 1] if name == "array_of_structs" else values[32:64]
    assert report.arrays["out"].tolist() == expected.tolist()
    assert report.counters["global_load_sectors"] == sectors


@pytest.mark.parametrize(("pad", "wavefronts"), [("", 4), ("float pad;", 1)])
def test_stride_of_shared_structs_decides_conflicts(pad: str, wavefronts: int) -> None:
    text = f"""struct Cell {{ float a, b, c, d; {pad} }};
    __global__ void k(float* out) {{ __shared__ Cell s[32]; s[threadIdx.x].b = 1;
        out[threadIdx.x] = s[threadIdx.x].b; }}"""
    report = simulate(*launch_text(text, out=np.zeros(32, np.float32)))
    assert report.counters["shared_load_wavefronts"] == wavefronts


def test_a_race_names_the_member() -> None:
    text = """struct Cell { float a, b; };
    __global__ void k(float* out) { __shared__ Cell s[32]; s[threadIdx.x].b = 1;
        out[threadIdx.x] = s[31 - threadIdx.x].b; }"""
    kernel, launch = launch_text(text, block=64, out=np.zeros(64, np.float32))
    with pytest.raises(AssertionError, match=r"s\[\d+\]\.b"):
        assert not [h.message for h in simulate(kernel, launch).hazards]


def test_products_fuse_through_members_and_operators() -> None:
    text = """struct V { float x, y; };
    __device__ V operator*(float s, V v) { return V{s * v.x, s * v.y}; }
    __device__ V operator+(V a, V b) { V c; c.x = a.x + b.x; c.y = a.y + b.y; return c; }
    __global__ void k(const float* a, float* out) {
        int i = threadIdx.x; V p = {a[i], a[i + 32]}, v = {a[i + 64], a[i + 96]};
        V q = p + a[0] * v; out[i] = q.x; out[i + 32] = q.y; }"""
    a = np.random.default_rng(8).standard_normal(128, dtype=np.float32)
    report = simulate(*launch_text(text, a=a, out=np.zeros(64, np.float32)))
    wide = a.astype(np.float64)
    fused = np.concatenate([wide[0] * wide[64:96] + wide[:32], wide[0] * wide[96:] + wide[32:64]])
    assert report.arrays["out"].tolist() == fused.astype(np.float32).tolist()


def test_steps_name_members() -> None:
    kernel, launch = launch_text(MOVE, p=np.zeros(32, PARTICLE), **{"from": particles()}, dt=0.5)
    recording = record(kernel, launch)
    values = [narrate.values(recording, step, 3) for step in recording.steps]
    shown = [wordings[-1] for wordings in values if wordings]
    assert "mine.kind = 3" in shown
    assert "mine.kind = 4" in shown
    assert "mine.x" in recording.steps[-1].registers
    stores = [step for step in recording.steps if step.line == 8]
    assert [access.expression.name for step in stores for access in step.accesses] == [
        "x…y", "mass", "kind",
    ]  # fmt: skip
    sentences = [narrate.spoken(recording, step, 3)[0] for step in stores]
    assert sentences[0].endswith(" in p[3].x, in global memory.")
    assert sentences[1] == "stores mine.mass = 1.1564 in p[3].mass, in global memory."
    assert shown[-4].startswith("p[3].x…y = ")


def test_a_struct_of_a_pointer_is_given_by_its_members() -> None:
    """As the CUDA C++ Programming Guide's matrices are; tests/programs holds their product."""
    [guide] = [one for one in PROGRAMS if one.kernel == "MatMulGuide"]
    kernel = compile_kernel(guide.text, guide.kernel)
    names = [parameter.name for parameter in kernel.parameters[:3]]
    assert names == ["A.width", "A.height", "A.elements"]
    with pytest.raises(LaunchError, match=r"missing: A\.elements, B\.width"):
        simulate(kernel, Launch((1, 1, 1), (16, 16, 1), {"A": {"width": 8, "height": 8}}))


FILTER = np.dtype([("taps", "f4", (3,)), ("bias", "f4"), ("start", [("at", "i4")])], align=True)


@pytest.mark.parametrize("address", ["", "Filter* g = &f; g->bias += 1;"])
def test_a_struct_of_numbers_is_given_as_a_scalar(address: str) -> None:
    text = f"""struct Start {{ int at; }};
    struct Filter {{ float taps[3]; float bias; Start start; }};
    __global__ void k(const float* x, float* y, Filter f) {{
        int i = threadIdx.x; {address} f.bias += 0.5f;
        float sum = f.bias;
        for (int t = 0; t < 3; ++t) sum += f.taps[t] * x[i + t + f.start.at];
        y[i] = sum; }}"""
    x = np.arange(40, dtype=np.float32)
    given = np.array(([1, 2, 4], 3, (2,)), FILTER)[()]
    kernel, launch = launch_text(text, x=x, y=np.zeros(32, np.float32), f=given)
    report = simulate(kernel, launch)
    expected = x[2:34] + 2 * x[3:35] + 4 * x[4:36] + 3.5 + bool(address)
    assert report.arrays["y"].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("qualifier", "members", "requests"),
    [
        ("", "float x, y, z, w;", 4),
        ("__align__(16)", "float x, y, z, w;", 1),
        ("__align__(8)", "float x, y, z, w;", 2),
        ("alignas(16)", "float x, y, z;", 2),
        ("__align__(16)", "double d; int i, j;", 2),
        ("", "float4 p; float m;", 2),
        ("__align__(16)", "float a[8];", 2),
    ],
)
def test_alignment_decides_how_a_struct_is_copied(
    qualifier: str, members: str, requests: int
) -> None:
    """The loads of nvcc 13's PTX for sm_80; see simulator/frontend/copies.py."""
    text = f"""struct {qualifier} S {{ {members} }};
    __global__ void k(const S* a, S* b, S* c, float* d) {{
        S s = a[threadIdx.x]; b[threadIdx.x] = s; c[threadIdx.x] = a[threadIdx.x];
        d[threadIdx.x] = *(float*)&c[31 - threadIdx.x]; }}"""
    kernel = compile_kernel(text, "k")
    pointer = kernel.parameters[0].ctype
    assert isinstance(pointer, Pointer)
    struct = pointer.target
    assert isinstance(struct, Struct)
    names = [f"f{i}" for i in range(len(parts(struct)))]
    layout = np.dtype({
        "names": names, "formats": [part.scalar.dtype for part in parts(struct)],
        "offsets": [part.offset for part in parts(struct)], "itemsize": struct.size,
    })  # fmt: skip
    given = np.zeros(32, layout)
    for number, name in enumerate(names):
        given[name] = np.arange(32) + 100 * number
    zeros = np.zeros(32, layout)
    arguments = {"a": given, "b": zeros, "c": zeros, "d": np.zeros(32, np.float32)}
    report = simulate(kernel, Launch((1, 1, 1), (32, 1, 1), arguments))
    for name in names:
        assert report.arrays["b"][name].tolist() == given[name].tolist()
        assert report.arrays["c"][name].tolist() == given[name].tolist()
    assert report.counters["global_load_requests"] == 2 * requests + 1
    assert report.counters["global_store_requests"] == 2 * requests + 1


def test_an_aligned_copy_is_shown_as_a_whole_and_by_its_members() -> None:
    text = """struct __align__(16) Body { float x, y, z, mass; };
    __global__ void k(const Body* a, float* x) {
        Body b = a[threadIdx.x];
        x[threadIdx.x] = b.mass; }"""
    values = np.arange(128, dtype=np.float32)
    recording = record(*launch_text(text, a=values, x=np.zeros(32, np.float32)))
    sentences = [narrate.spoken(recording, step, 3)[0] for step in recording.steps]
    assert sentences[0] == "reads a[3] = (12, 13, 14, 15) from global memory into b.x…mass."
    assert "sets b.mass = 15." in sentences
    assert recording.steps[-1].registers["b.mass"].tolist() == list(range(3, 128, 4))


SPHERES = """
struct Sphere { float x, y; int kind; };
__constant__ Sphere spheres[2] = {{1, 2, 3}, 4, 5};
__constant__ Sphere one;
__device__ Sphere last;
__global__ void k(float* out) {
    int i = threadIdx.x;
    const Sphere& s = spheres[i % 2];
    if (i == 0) last = one;
    out[i] = s.x + s.y * 10 + s.kind * 100 + one.kind;
}
"""


def test_structs_outside_the_kernel() -> None:
    out = np.zeros(32, np.float32)
    kernel, launch = launch_text(SPHERES, out=out, one={"kind": 1000, "x": 0.5})
    report = simulate(kernel, launch)
    assert report.arrays["out"].tolist() == [1321.0, 1054.0] * 16
    assert report.arrays["last"].tolist() == [(0.5, 0.0, 1000)]
    given = np.array([(1, 1, 1), (2, 2, 2)], [("x", "f4"), ("y", "f4"), ("kind", "i4")])
    kernel, launch = launch_text(SPHERES, out=out, spheres=given)
    assert simulate(kernel, launch).arrays["out"].tolist() == [111.0, 222.0] * 16
    kernel, launch = launch_text(SPHERES, out=out, one={"name": 1})
    with pytest.raises(LaunchError, match="it has x, y, kind"):
        simulate(kernel, launch)


def test_structs_from_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "move.cu", tmp_path / "out.npz"
    file.write_text(MOVE, encoding="utf-8")
    launch = [str(file), "--kernel", "k", "--grid", "1", "--block", "32", "--outputs", str(out)]
    assert main([*launch, "struct:32", "struct:4x8", "f32=0"]) == 0
    with np.load(out) as arrays:
        after, given = arrays["p"], arrays["from"].reshape(-1)
    assert after["mass"].tolist() == (2 * given["mass"]).tolist()
    assert len(set(given["x"].tolist())) == 32
    assert main([*launch, "struct:32", "struct:32", "struct:2"]) == 2
    assert "not a pointer to structs" in capsys.readouterr().err
