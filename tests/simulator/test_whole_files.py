"""Whole files as students have them: headers, host code and several kernels around the one."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, record, simulate
from simulator.__main__ import main
from simulator.frontend.device_code import SourceFile

VECTOR_ADD = """/* Vektoraddition, größer */
#include <stdio.h> // printf
# include "helper_cuda.h"
#pragma once
#define CHECK(x) do { cudaError_t e = x; if (e) { fprintf(stderr, "%s {", #x); exit(1); } } \\
    while (0)
#define CAT(a, b) a ## b
using namespace std;
using std::vector;
static const int N = 1 << 20;
std::vector<float> data;
enum class Mode { fast, slow };
class Timer { cudaEvent_t start_, stop_; public: Timer() : start_(0), stop_{0} {} ~Timer() {} };
namespace detail { template <typename T> T square(T x) { return x * x; } }
struct Pair { float a, b; };
__device__ float add(float a, float b) { return a + b; }
extern "C" {
__global__ void vectorAdd(const float *A, const float *B, float *C, int n)
{
    int data = blockDim.x * blockIdx.x + threadIdx.x; /* Länge */ if (data < n)
        C[data] = add(A[data], B[data]);
}
}
__global__ void other(cudaTextureObject_t t) { tex2D<float>(t, 1, 2); }
std::ostream& operator<<(std::ostream& s, const Pair& p) { return s << p.a; }
void check(cudaError_t e) { if (e != cudaSuccess) { std::cerr << "err {" << e; } }
int main(int argc, char** argv) {
  auto f = [&](int i) { return i + '{' + R"(})"[0]; };
  float *d_A; CHECK(cudaMalloc(&d_A, N * sizeof(float)));
  vectorAdd<<<(N + 255) / 256, 256>>>(d_A, d_A, d_A, N);
}
"""


def test_a_file_runs_as_it_is() -> None:
    kernel = compile_kernel(VECTOR_ADD, "vectorAdd")
    A, B = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    arguments = {"A": A, "B": B, "C": np.zeros(40, np.float32), "n": 40}
    report = simulate(kernel, Launch((2, 1, 1), (32, 1, 1), arguments))
    assert np.array_equal(report.arrays["C"], A + B)
    assert not report.hazards
    assert kernel.text == VECTOR_ADD
    assert kernel.warnings == ()
    headers, host = kernel.notes
    assert headers.startswith("Skipped #include of stdio.h, helper_cuda.h: no file is opened")
    assert host == (
        "Skipped host code: Mode, Timer, square, Pair, operator, check, main (lines 8–15, 25–31)."
    )
    steps = record(kernel, Launch((2, 1, 1), (32, 1, 1), arguments), (0, 0, 0)).steps
    assert {step.line for step in steps} >= {16, 20, 21}


def test_host_code_does_not_count_as_a_kernels() -> None:
    host = "".join(f'void host_{number}() {{ puts("{"-" * 60}"); }}\n' for number in range(2000))
    kernel = compile_kernel(host + "__global__ void k(int* x) { x[0] = 1; }")
    assert kernel.body.span.line == 2001


def test_lines_and_columns_stay() -> None:
    left = SourceFile(VECTOR_ADD).device_code("vectorAdd").text
    before, after = VECTOR_ADD.split("\n"), left.split("\n")
    assert [len(line.encode()) for line in before] == [len(line.encode()) for line in after]
    for line, text in enumerate(after):
        assert all(
            now in (" ", then)
            for now, then in zip(text.encode().decode("latin-1"),
                                 before[line].encode().decode("latin-1"), strict=True)
        )  # fmt: skip
    assert "data = blockDim.x" in after[19]
    assert "other" not in left
    assert "std::" not in left


INCLUDES = [
    "#include <stdio.h>",
    "  #  include   <stdio.h>   // why",
    '#include"a b.h"',
    "#include <stdio.h> /* over\nlines */",
    "#inc\\\nlude <stdio.h>",
    "#include \\\n  <stdio.h>",
    "%:include <stdio.h>",
    "/* first */ #include <stdio.h>",
    "#include MACRO",
    "#include",
    "#if 1\n#include <stdio.h>\n#else\n#include <nothing.h>\n#endif",
    "\ufeff#include <stdio.h>",
    "#pragma once\n#include <stdio.h>\r",
    "// #include <stdio.h>",
    '#ifdef __CUDACC__\n#include "x.h"\n#endif',
    "#pragma GCC dependency <stdio.h>",
]


@pytest.mark.parametrize("include", INCLUDES)
def test_every_include_is_skipped(include: str) -> None:
    kernel = compile_kernel(f"{include}\n__global__ void k(float* x) {{ x[0] = 1; }}")
    assert kernel.name == "k"
    assert bool(kernel.notes) == ("lude" in include and "//" not in include.split("#")[0])


KERNELS = {
    "in a namespace": ("namespace a { namespace b { KERNEL } }", "k"),
    "named with it": ("namespace a { KERNEL } namespace b { __global__ void k(int* y) {} }",
                      "a::k"),
    "in C++17's": ("namespace a::b { KERNEL }", "b::k"),
    "without a name": ("namespace { KERNEL }", "k"),
    "static": ("static KERNEL", "k"),
    "C": ('extern "C" KERNEL', "k"),
    "C without a space": ('extern "C"KERNEL', "k"),
    "C in braces": ('#ifdef __cplusplus\nextern "C" {\n#endif\nKERNEL\n'
                    "#ifdef __cplusplus\n}\n#endif", "k"),
    "C++": ('extern "C++" { KERNEL }', "k"),
    "attributes": ("__attribute__((unused)) __launch_bounds__(32, 2) KERNEL", "k"),
    "a condition": ("#ifdef __CUDACC__\nKERNEL\n#else\nvoid k(float* x) {\n#endif", "k"),
    "a false one": ("#if defined(_WIN32) && N > 2\nvoid k() {{{\n#endif\nKERNEL", "k"),
    "declared first": ("__global__ void k(float* x);\nint main() { k<<<1, 1>>>(0); }\nKERNEL", "k"),
    "a macro": ("#define KERNEL_FUNCTION __global__ void\nvoid host() {}\n"
                "KERNEL_FUNCTION k(float* x) { x[threadIdx.x] = 3; }", "k"),
    "explicit": ("template <typename T, int N = (1 < 2)> __global__ void k(T* x) "
                 "{ x[threadIdx.x] = N + 2; }\ntemplate __global__ void k<float>(float*);",
                 "k<float>"),
    "a template of defines": ("template <typename T> __global__ void k(T* x) "
                              "{ x[threadIdx.x] = 3; }\nint main() { k<float><<<1, 2>>>(p); }",
                              "k"),
    "overloads": ("__global__ void k(int* x) {} KERNEL", "k(float *)"),
    "without a semicolon": ("struct A { int a; }; struct B { int b; }\n;KERNEL", "k"),
}  # fmt: skip


@pytest.mark.parametrize("case", KERNELS)
def test_kernels_are_found(case: str) -> None:
    text, name = KERNELS[case]
    text = text.replace("KERNEL\n", "__global__ void k(float* x) { x[threadIdx.x] = 3; }\n")
    text = text.replace("KERNEL", "__global__ void k(float* x) { x[threadIdx.x] = 3; }")
    if case == "a macro":
        text = KERNELS[case][0]
    kernel = compile_kernel(text, name)
    report = simulate(kernel, Launch((1, 1, 1), (4, 1, 1), {"x": np.zeros(4, np.float32)}))
    assert report.arrays["x"].tolist() == [3] * 4


# What a kernel uses of the text around it, and host code of the same names.
USES = {
    "a constant": ("const int N = 3, M = 4;", "N"),
    "an enum": ("enum { A = 1, B, C };", "C"),
    "a macro of macros": ("#define A 1\n#define B (A + 2)", "B"),
    "an alias": ("typedef float real; using number = real;", "number(3)"),
    "a constexpr": ("namespace n { constexpr int a = 2; constexpr int b = a + 1; }", "n::b"),
    "a function of functions": ("__device__ float f(float a) { return a; }\n__host__ __device__ "
                                "inline float g() { return f(3); }", "g()"),
    "a function by a macro": ("#define HD __host__ __device__\nHD float g() { return 3; }", "g()"),
    "a function template": ("template <typename T> __device__ T f(T a) { return a; }", "f(3.0f)"),
    "two of one name": ("float f(std::string s) { return s.size(); }\n__device__ float f(int i) "
                        "{ return i; }", "f(3)"),
    "a host class's name": ("struct i { std::string s; };", "(2 + 1)"),
    "a host constant's name": ("const std::vector<int> x0 = {1};", "3"),
    "an array's size": ("constexpr int div_up(int a, int b) { return (a + b - 1) / b; }",
                        "sizeof(char[div_up(9, 4)])"),
    "a class with host members": ("struct V { float a; V(float b) : a(b) { std::cout << b; } "
                                  "__device__ V() {} void save(std::string s) { a = 1; } friend "
                                  "std::ostream& operator<<(std::ostream& s, V v) { return s; } "
                                  "__device__ float twice() { a = 1.5f; return 2 * a; } };\n"
                                  "__device__ float f() { V v; return v.twice(); }", "f()"),
    "a class with an assignment": (
        "struct V { char* t; V& operator=(const char* s) { t = strdup(s); return *this; }\n"
        "V(const char* s) { t = strdup(s); } __device__ V() {} __device__ float f() { return 3; } "
        "};\n__device__ float f() { V v; return v.f(); }", "f()"),
    "using a library": ("using namespace thrust; namespace po = boost::program_options;", "3"),
    "an unfinished class": ("class Nothing;\nint main()\n{\n    if (1) {\n}\n", "3"),
}  # fmt: skip


@pytest.mark.parametrize("case", USES)
def test_what_a_kernel_uses_is_left(case: str) -> None:
    before, value = USES[case]
    kernel = compile_kernel(
        f"{before}\n__global__ void k(float* x) {{ int i = 0; x[i] = {value}; }}"
    )
    report = simulate(kernel, Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(1, np.float32)}))
    assert report.arrays["x"].tolist() == [3]


def test_a_pragma_of_another_kernel_is_skipped_with_it() -> None:
    other = "__global__ void other(T* t) {\n#pragma unroll 4\n    for (;;) {}\n}\n"
    assert compile_kernel(other + "__global__ void k(float* x) { x[0] = 3; }", "k").name == "k"


MISTAKES = {
    "a host function": ("float f(float a) { return a; }", "x[0] = f(1);",
                        r"f is a host function; write __device__ before its definition \(line 1\)"),
    "a host variable": ("float scale = 2;", "x[0] = scale;",
                        r"'scale' is a variable of the host: a kernel cannot read it"),
    "an own header": ('#include "common.h"', "x[0] = common(1);",
                      r"undeclared identifier 'common'.*If it comes from common\.h \(line 1\)"),
    "a mistake in a used function": ("__device__ int f() { return oops; }", "x[0] = f();",
                                     r"line 1, .*undeclared identifier 'oops'"),
    "a probe in a macro": ("#define P __has_include(<a>)", "x[0] = P;", r"__has_include is not"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_around_a_kernel(case: str) -> None:
    before, body, message = MISTAKES[case]
    with pytest.raises(SourceError, match=message):
        compile_kernel(f"{before}\n__global__ void k(float* x) {{ {body} }}", "k")


def test_several_kernels_are_listed() -> None:
    text = "__global__ void a() {} namespace n { __global__ void b() {} }"
    with pytest.raises(SourceError, match=r"has 2 kernels: a, n::b\. Choose one .*--kernel a"):
        compile_kernel(text)
    with pytest.raises(SourceError, match=r"kernel\.cu has no kernel"):
        compile_kernel("int main() {}")
    text = "__global__ void k(int* x) {} __global__ void k(float* x) {}"
    with pytest.raises(SourceError, match=r"2 kernels are named k: .*--kernel 'k\(int\*\)'"):
        compile_kernel(text)
    with pytest.raises(SourceError, match=r"No kernel k takes \(double\*\)"):
        compile_kernel(text, "k(double*)")
    with pytest.raises(SourceError, match="is not a kernel's name"):
        compile_kernel(text, "k<")


def test_templates_ask_for_what_they_need() -> None:
    text = "template <typename T, int N> __global__ void k(T* x) { x[0] = N; }\n"
    with pytest.raises(SourceError, match=r"2 template parameters; 3 arguments"):
        compile_kernel(text, "k<float, 2, 3>")
    launches = "void run() { k<float, 4><<<1, 1>>>(p); k<double, 8><<<1, 1>>>(q); }"
    with pytest.raises(
        SourceError, match=r"launches it: .*'k<float, 4>' or --kernel 'k<double, 8>'"
    ):
        compile_kernel(text + launches)
    assert compile_kernel(text + launches, "k<double, 2>").template == ("double", "2")
    assert compile_kernel(text, "k", {"T": "int", "N": "1"}).template == ("int", "1")
    with pytest.raises(SourceError, match="k is not a template"):
        compile_kernel("__global__ void k() {}", "k<int>")
    each = "template <typename... A> __global__ void k(A*... a) {}"
    with pytest.raises(SourceError, match=r"any number of parameters \(A\.\.\.\), .* each of them"):
        compile_kernel(each, "k<int, float>")
    text = "template <typename F> __global__ void k(float* x, F f) { x[0] = f(x[0]); }\n"
    launch = "int main() { k<<<1, 1>>>(p, [=] __device__ (float a) { return a; }); }"
    with pytest.raises(SourceError, match=r"lambda of host code has no name: make it a struct"):
        compile_kernel(text + launch)


FUNCTORS = {
    "made in place": "scale<<<1, 4>>>(p, Twice());",
    "made of numbers": "scale<<<1, 4>>>(p, Times<float>{2});",
    "a variable": "Twice f; scale<<<1, 4>>>(p, f);",
}


@pytest.mark.parametrize("case", FUNCTORS)
def test_the_type_of_a_functor_is_taken_from_the_launch(case: str) -> None:
    text = f"""
    struct Twice {{ __device__ float operator()(float a) const {{ return 2 * a; }} }};
    template <typename T> struct Times {{
        T by;
        __device__ T operator()(T a) const {{ return by * a; }}
    }};
    template <typename T, typename F> __global__ void scale(T* x, F f) {{
        x[threadIdx.x] = f(x[threadIdx.x]);
    }}
    int main() {{ float* p; {FUNCTORS[case]} }}"""
    kernel = compile_kernel(text)
    arguments = {"x": np.arange(4, dtype=np.float32), "f": {"by": 2.0}}
    if "Times" not in FUNCTORS[case]:
        del arguments["f"]
    report = simulate(kernel, Launch((1, 1, 1), (4, 1, 1), arguments))
    assert report.arrays["x"].tolist() == [0, 2, 4, 6]


def test_a_parameter_may_be_a_reference() -> None:
    text = """
    struct Total { int sum; float weights[3]; };
    __global__ void add(Total& total, const int& step, int (&cells)[4]) {
        Total* same = &total;
        atomicAdd(&same->sum, step + cells[threadIdx.x]);
        if (threadIdx.x == 0) total.weights[1] = 5;
    }"""
    total = np.zeros(1, np.dtype([("sum", "i4"), ("weights", "f4", 3)], align=True))
    arguments = {
        "total": total,
        "step": np.array([10], np.int32),
        "cells": np.arange(4, dtype="i4"),
    }
    report = simulate(compile_kernel(text), Launch((1, 1, 1), (4, 1, 1), arguments))
    assert report.arrays["total"]["sum"].tolist() == [46]
    assert report.arrays["total"]["weights"].tolist() == [[0, 5, 0]]
    assert not report.hazards


def test_all_errors_are_shown() -> None:
    text = "__global__ k(float* x)\n  int i = threadIdx.x;\n  x[i] = 1;\n}\n"
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    errors = caught.value.errors
    assert [error.span.line for error in errors if error.span] == [1, 1, 1, 4]
    assert "Write void before the kernel's name." in errors[1].hint
    assert "Is the '{' that begins" in errors[2].hint
    assert str(caught.value).count("\n") == 3
    assert "    __global__ k(float* x)\n               ^\n" in caught.value.with_lines(text)


def test_errors_end_at_ten_and_name_an_unknown_once() -> None:
    body = "".join(f"x[{i}] = a{i} + a{i};\n" for i in range(30))
    with pytest.raises(SourceError) as caught:
        compile_kernel(f"__global__ void k(float* x) {{\n{body}}}")
    assert [error.span.line for error in caught.value.errors if error.span] == list(range(2, 12))


def test_the_brace_that_is_missing_is_named() -> None:
    text = (
        "__global__ void k(float* x)\n{\n  if (x) {\n    x[0] = 1;\n}\nint main() { return 0; }\n"
    )
    with pytest.raises(SourceError, match=r"Expected '}'.* it should close is on line 2"):
        compile_kernel(text)


def test_the_terminal_shows_notes_and_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.cu"
    file.write_text("\ufeff#include <a.h>\n__global__ void k(float* x) { x[0] = 1; }\n",
                    encoding="utf-8")  # fmt: skip
    assert main([str(file), "--grid", "1", "--block", "1", "f32:4"]) == 0
    assert "note: Skipped #include of a.h: " in capsys.readouterr().out
    file.write_text("__global__ void k(float* x) {\n\tx[0] = y;\n}", encoding="utf-8")
    assert main([str(file), "--grid", "1", "--block", "1", "f32:4"]) == 2
    assert "'y'.\n    \tx[0] = y;\n    \t       ^\n" in capsys.readouterr().err


# Text that a careless reading takes for ever for, or nests too deep in.
HOSTILE = ["(", "{", "<", "/*", "[", "'", '"', 'R"(', "#if 1\n", "#else\n", "template<", "struct {",
           "namespace a{", "a<b<", "__global__ k(", "extern \"C\"{", "#define A A(\n", "}", ";",
           "operator", "a::", "\\\n", "#", "__device__ f(){", "int main(){", "template<a>", "=",
           "class a:", "#if A\n#define A (A)\n", "x = {", "void f() : a{", "k<1><<<",
           "\n{", "public:", "struct A{void f(){}};", "const int k=k;"]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.sample(10)
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    many = piece * (80_000 // len(piece))
    kernel = "__global__ void k(float* x) { x[0] = 1; }\n"
    for text in (many, kernel + many):
        with contextlib.suppress(SourceError):
            assert compile_kernel(text, "k").name == "k"


def test_an_empty_macro_and_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file.cu"
    text = "__global__ void k(float* x) { x[0] = 5 EMPTY; x[1] = ONE; }\n"
    file.write_text(text, encoding="utf-8")
    command = [str(file), "--grid", "1", "--block", "1", "-D", "EMPTY=", "-D", "ONE", "f32:4"]
    out = tmp_path / "out.npz"
    assert main([*command, "--outputs", str(out)]) == 0
    with np.load(out) as arrays:
        assert arrays["x"][:2].tolist() == [5, 1]
    for seconds in ("0", "-1", "nan", "inf", "soon"):
        assert main([*command, f"--seconds={seconds}"]) == 2
        assert "give a number of seconds above 0" in capsys.readouterr().err


NAMES = ["INT_MAX", "LONG_MAX", "FLT_MAX", "M_PI", "CUDART_INF_F", "CUDART_PI_F", "(ssize_t)1"]


@pytest.mark.parametrize("name", [*NAMES, "RAND_MAX", "UINT64_MAX", "CUDART_VERSION"])
def test_what_headers_define_is_there(name: str) -> None:
    text = f"#include <limits>\n__global__ void k(float* x) {{ x[0] = {name} > 0; }}"
    report = simulate(
        compile_kernel(text), Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(1, np.float32)})
    )
    assert report.arrays["x"][0] == 1
