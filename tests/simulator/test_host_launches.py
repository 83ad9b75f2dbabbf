"""Launches in host code: what of their sizes and arguments can be known, and the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from simulator import SourceError, compile_kernel
from simulator.__main__ import main
from simulator.command_line import kernel_name
from simulator.frontend.host.launches import HostLaunch, find_launches

KERNEL = "__global__ void k(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }\n"


def launch(body: str, before: str = "") -> HostLaunch:
    (found,) = find_launches(f"{before}\n{KERNEL}int main(int argc, char **argv) {{ {body} }}")
    return found


# Host code before k<<<G, B>>>(x, n), and the grid and block that follow.
SIZES = {
    "numbers": ("k<<<4, 256>>>(x, n);", (4, 1, 1), (256, 1, 1)),
    "rounded up": ("int n = 1000, b = 256; k<<<(n + b - 1) / b, b>>>(x, n);", (4, 1, 1),
                   (256, 1, 1)),
    "dim3": ("const dim3 b(16, 8); dim3 g = dim3(1 << 3, 2, 3); k<<<g, b>>>(x, n);", (8, 2, 3),
             (16, 8, 1)),
    "in place": ("k<<<dim3(2, 3), dim3(4, 5, 6)>>>(x, n);", (2, 3, 1), (4, 5, 6)),
    "braces": ("dim3 g{2, 3}; k<<<g, {32}>>>(x, n);", (2, 3, 1), (32, 1, 1)),
    "ceil": ("int n = 100; k<<<ceil(n / 16.0), 16>>>(x, n);", (7, 1, 1), (16, 1, 1)),
    "members": ("dim3 g, b; g.x = 5; g.y = 6; b.x = 32; k<<<g, b>>>(x, n);", (5, 6, 1), (32, 1, 1)),
    "of a member": ("int n = 64; dim3 b(16, 16); dim3 g(n / b.x, n / b.y); k<<<g, b>>>(x, n);",
                    (4, 4, 1), (16, 16, 1)),
    "a macro": ("k<<<DIV(N, T), T>>>(x, n);", (63, 1, 1), (16, 1, 1)),
    "a function": ("k<<<div_up(N, 8), 8>>>(x, n);", (125, 1, 1), (8, 1, 1)),
    "reassigned": ("int n = 10; n = n * 2; n += 12; n <<= 1; k<<<n, n--> 0>>>(x, n);", (64, 1, 1),
                   None),
    "a branch not taken": ("int n = 8; if (argc > 1) n = atoi(argv[1]); k<<<n, 32>>>(x, n);",
                           (8, 1, 1), (32, 1, 1)),
    "an argument not given": (
        "int n = argc > 1 ? std::stoi(argv[1]) : 1 << 3; k<<<n, 32>>>(x, n);", (8, 1, 1),
        (32, 1, 1)),
    "an option not given": (
        'int n = argc > 2 && !strcmp(argv[1], "-n") ? strtol(argv[2], NULL, 10) : 8;'
        " k<<<n, 32>>>(x, n);", (8, 1, 1), (32, 1, 1)),
    "an element not known": ("int n = sizes[0][1] + 3; k<<<n, 32>>>(x, n);", None, (32, 1, 1)),
    "what is tried": ("try { int n = 8; k<<<n, 32>>>(x, n); } catch (E& e) { k<<<9, 9>>>(x, n); }",
                      (8, 1, 1), (32, 1, 1)),
    "a branch not known": ("int n = 8; if (rand()) { n = 4; } k<<<n, 32>>>(x, n);", None,
                           (32, 1, 1)),
    "a loop": ("for (int n = 8; n > 1; n /= 2) { k<<<n, 32>>>(x, n); }", None, (32, 1, 1)),
    "behind a loop": ("int n = 8; while (n > 1) n /= 2; k<<<n, 32>>>(x, n);", None, (32, 1, 1)),
    "input": ("int n; std::cin >> n; k<<<n, 32>>>(x, n);", None, (32, 1, 1)),
    "casts": ("k<<<static_cast<int>(9 / 2.0f), (unsigned int)3.9>>>(x, n);", (4, 1, 1), (3, 1, 1)),
    "no size": ("k<<<0, 1 / 0>>>(x, n);", None, None),
    "too large": ("k<<<1 << 70, 99999999999999999999>>>(x, n);", None, None),
}  # fmt: skip
BEFORE = (
    "#define N 1000\n#define DIV(a, b) (((a) + (b) - 1) / (b))\nconst int T = 16;\n"
    "int div_up(int a, int b) { return (a + b - 1) / b; }\n"
)


@pytest.mark.parametrize("case", SIZES)
def test_grid_and_block(case: str) -> None:
    body, grid, block = SIZES[case]
    found = launch(body, BEFORE)
    assert (found.grid, found.block) == (grid, block)


# How an array gets its size, and how many elements it has.
ARRAYS = {
    "cudaMalloc": ("float *x; cudaMalloc((void **)&x, n * sizeof(float));", 50),
    "checked": ("float *x; CHECK(cudaMalloc(&x, sizeof(*x) * n));", 50),
    "bytes": ("size_t bytes = n * sizeof(float); float *y, *x; cudaMalloc(&y, 4); "
              "cudaMalloc(&x, bytes);", 50),
    "managed": ("float *x; cudaMallocManaged(&x, 4 * n);", 50),
    "malloc": ("float *x = (float *)malloc(n * sizeof(float));", 50),
    "new": ("float *x = new float[n];", 50),
    "vector": ("thrust::device_vector<float> x(n);", 50),
    "array": ("float x[N];", 1000),
    "not known": ("float *x = input(n);", None),
}  # fmt: skip


@pytest.mark.parametrize("case", ARRAYS)
def test_elements_of_arrays(case: str) -> None:
    body, elements = ARRAYS[case]
    found = launch(f"int n = 50; {body} k<<<1, 32>>>(x, n);", BEFORE)
    assert [one.text for one in found.arguments] == ["x", "n"]
    assert (found.arguments[0].elements, found.arguments[1].value) == (elements, 50)


def test_a_function_may_be_a_try_block() -> None:
    (found,) = find_launches(
        f"{KERNEL}int main() try {{ int n = 8; k<<<n, 32>>>(0, n); }}\ncatch (...) {{ return 1; }}"
    )
    assert found.grid == (8, 1, 1)


def test_a_called_function_gets_its_arguments() -> None:
    text = (
        KERNEL + "void run(float *data, int n, dim3 b) { k<<<n / b.x, b, n * sizeof(float)>>>"
        "(data, n); }\nvoid never(int n) { k<<<n, 1>>>(0, n); }\n"
        "int main() { float *x; cudaMalloc(&x, 400); run(x, 128, dim3(32)); run(x, 64, 16); }"
    )
    found = find_launches(text)
    assert [(one.grid, one.shared) for one in found] == [
        ((4, 1, 1), 512), ((4, 1, 1), 256), (None, 0)
    ]  # fmt: skip
    assert found[0].arguments[0].elements == 100


def test_a_template_and_defines() -> None:
    text = "template <typename T, int B> __global__ void k(T *x) {}\n#define N 4\n" \
           "int main() { const int b = 8; k<float, b * 2><<<N, b>>>(x); }"  # fmt: skip
    (found,) = find_launches(text)
    assert (found.kernel, found.template, found.grid) == ("k", ("float", "16"), (4, 1, 1))


def test_the_terminal_prints_a_command_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.cu"
    main_function = (
        "int main() {\n  int n = 100; float *x; cudaMalloc(&x, n * sizeof(float));\n"
        "  k<<<(n + 31) / 32, 32>>>(x, n);\n}\n"
    )
    file.write_text(KERNEL + main_function, encoding="utf-8")
    assert main([str(file), "--launch"]) == 0
    comment, command = capsys.readouterr().out.splitlines()
    assert comment == "# line 4"
    python, *words = shlex.split(command)
    assert (python, words[:2]) == ("python", ["-m", "simulator"])
    assert words[3:] == ["--kernel", "k", "--grid", "4", "--block", "32", "f32:100", "i32=100"]
    assert main(words[2:]) in (0, 1)
    capsys.readouterr()
    assert main([str(file), "f32:100", "i32=100"]) == 2
    assert "Line 4 launches k with --grid 4 --block 32; --launch prints" in capsys.readouterr().err


def test_the_terminal_says_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.cu"
    file.write_text(KERNEL + "void f(float *x, int n) { k<<<n, 32>>>(x, n); }", encoding="utf-8")
    assert main([str(file), "--launch"]) == 0
    out = capsys.readouterr().out
    assert "fill in: X,Y,Z of --grid, the number of elements of x (x), the value of n (n)." in out
    assert out.endswith("--kernel k --grid X,Y,Z --block 32 f32:N i32=VALUE\n")
    file.write_text(KERNEL, encoding="utf-8")
    assert main([str(file), "--launch"]) == 2
    assert "launches no kernel" in capsys.readouterr().err


HOSTILE = ["(", "{", "k<<<", "if (1) ", "for (;;) {", "a = a + a;", "k<<<1, 1>>>(x);", "else ",
           "do ", "f();", "int a = ", "k<k<", ">>>", "#define A A A\nint b = A;\n", "a,", "dim3 a(",
           "if (a) {} else "]  # fmt: skip


@pytest.mark.sample(20)
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_host_code_is_read_to_its_end(piece: str) -> None:
    many = piece * (40_000 // len(piece))
    for text in (many, f"void f() {{ {many} }}\nint main() {{ {many} }}"):
        assert len(find_launches(text)) <= 50


# A template kernel's head, its host code, and the launched kernel with its deduced arguments.
DEDUCED = {
    "pointers of one declaration": (
        "template <typename T> __global__ void k(const T* __restrict__ x, T* y, int n)",
        "double *dX = nullptr, *dY; int n = 4; k<<<1, n>>>(dX, dY, n);", "k<double>"),
    "a number": ("template <typename T> __global__ void k(T* x, T f)",
                 "float* d; k<<<1, 4>>>(d, 2.0f);", "k<float>"),
    "two parameters": ("template <class A, class B> __global__ void k(A* x, B* y)",
                       "float* a; unsigned int *b; k<<<1, 4>>>(a, b + 2);",
                       "k<float, unsigned int>"),
    "behind a named one": ("template <int N, typename T> __global__ void k(T* x)",
                           "int* d; k<8><<<1, 4>>>(d);", "k<8, int>"),
    "before a default": ("template <typename T, int N = 3> __global__ void k(T* x)",
                         "short* d; k<<<1, 4>>>(d);", "k<short, 3>"),
    "a struct": ("struct P { float x; };\ntemplate <typename T> __global__ void k(T* x)",
                 "P* d; k<<<1, 4>>>(d);", "k<P>"),
    "a cast": ("template <typename T> __global__ void k(T* x)",
               "void* d; k<<<1, 4>>>((const float*)d);", "k<float>"),
    "a named cast": ("template <typename T> __global__ void k(T* x)",
                     "void* d; k<<<1, 4>>>(static_cast<int*>(d));", "k<int>"),
    "thrust": ("template <typename T> __global__ void k(T* x)",
               "thrust::device_vector<float> d(9);\n"
               "k<<<1, 4>>>(thrust::raw_pointer_cast(d.data()));", "k<float>"),
    "a constant of the host": ("template <int N> __global__ void k(float* x)",
                               "constexpr unsigned int B = 1 << 4; float* d; k<B><<<1, B>>>(d);",
                               "k<16>"),
    "a struct's argument": ("template <typename T> struct M { T* p; int n; };\n"
                            "template <typename T> __global__ void k(M<T> m)",
                            "M<double> d; k<<<1, 4>>>(d);", "k<double>"),
}  # fmt: skip


@pytest.mark.parametrize("case", DEDUCED)
def test_a_templates_arguments_are_deduced(case: str) -> None:
    head, body, name = DEDUCED[case]
    text = f"{head} {{}}\nint main() {{ {body} }}\n"
    [launch] = find_launches(text)
    assert kernel_name(launch) == name
    kernel = compile_kernel(text, "k")
    assert f"k<{', '.join(kernel.template)}>" == name


def test_a_kernel_named_beside_launches_gives_its_arguments() -> None:
    text = (
        "template <int N> __global__ void k(float* x) {}\n"
        "int main() { constexpr int B = 64; void (*kernels[])(float*) { k<B>, k<B> };\n"
        "float* d; for (auto f : kernels) f<<<1, 4>>>(d); }"
    )
    assert compile_kernel(text, "k").template == ("64",)


def test_the_parameter_of_a_template_around_the_launch_is_no_argument() -> None:
    text = (
        "template <typename T, int N> __global__ void k(T* x) {}\n"
        "template <typename T> void run(T* d) { k<T, 8><<<1, 4>>>(d); }"
    )
    kernel = compile_kernel(text)
    assert kernel.template == ("float", "16")
    assert kernel.notes[0].startswith("This code does not say what T, N of k are: k<float, 16> is")


def test_a_host_functions_template_passes_its_type_on() -> None:
    text = (
        "template <typename T> __global__ void k(T* x) {}\n"
        "template <typename T> void run(T* d) { k<<<1, 4>>>(d); }\n"
        "int main() { float* d; run(d); }"
    )
    assert compile_kernel(text).template == ("float",)


@pytest.mark.parametrize(
    "body",
    [
        "float* a; double* b; k<<<1, 4>>>(a, b);",  # no compiler takes it
        "auto a = f(); k<<<1, 4>>>(a, a);",
        "k<<<1, 4>>>(unknown, unknown);",
    ],
)
def test_what_cannot_be_deduced_is_as_usual(body: str) -> None:
    text = f"template <typename T> __global__ void k(T* x, T* y) {{}}\nint main() {{ {body} }}"
    kernel = compile_kernel(text)
    assert kernel.template == ("float",)
    assert "what T of k is: k<float> is assumed" in kernel.notes[0]


def test_launches_that_differ_are_asked_for() -> None:
    text = "template <typename T> __global__ void k(T* x, T* y) {}\nint main() { float* a; "
    launches = "k<<<1, 4>>>(a, a); double* b; k<<<1, 4>>>(b, b); }"
    with pytest.raises(SourceError, match="The template parameter T of k has no value: name it"):
        compile_kernel(text + launches)


# Host functions that launch a kernel that they get, and the call of one.
POINTERS = {
    "a template's type": ("template <typename K> void run(K f, int b) { f<<<4, b>>>(x, 9); }",
                          "run(k, 64);"),
    "a function pointer": ("void run(void (*f)(float*, int), dim3 b) { f<<<4, b>>>(x, 9); }",
                           "run(&k, dim3(64));"),
    "a typedef": ("typedef void (*F)(float*, int);\nvoid run(F f) { f<<<4, 64>>>(x, 9); }",
                  "run(k);"),
    "a template's value": (
        "template <void (*F)(float*, int), int B> void run() { F<<<4, B>>>(x, 9); }",
        "run<k, 64>();"),
    "a pack": ("template <class F, class... A> void run(F f, int b, A... a) { f<<<4, b>>>(a...); }",
               "run(k, 64, x, 9);"),
    "one function through another": (
        "template <class F> void inner(F f) { f<<<4, 64>>>(x, 9); }\n"
        "template <class F> void outer(F g) { inner(g); }", "outer(k);"),
    "a variable": ("", "auto f = k; f<<<4, 64>>>(x, 9);"),
    "a pointer's variable": ("", "void (*f)(float*, int) = &k; f<<<4, 64>>>(x, 9);"),
}  # fmt: skip


@pytest.mark.parametrize("case", POINTERS)
def test_a_kernel_is_passed_to_a_host_function(case: str) -> None:
    before, body = POINTERS[case]
    found = launch(f"{body}", f"float* x;\n{before}")
    assert kernel_name(found) == "k"
    assert found.grid == (4, 1, 1)
    assert found.block == (64, 1, 1)


def test_instances_of_a_template_kernel_are_passed_to_a_host_function() -> None:
    text = (
        "template <int B> __global__ void k(float* x) { x[threadIdx.x] = B; }\n"
        "template <class F> void run(F f, int b) { f<<<1, b>>>(0); }\n"
        "int main() { run(k<16>, 16); run(&k<32>, 32); auto f = k<8>; f<<<1, 8>>>(0); }"
    )
    found = find_launches(text)
    assert [kernel_name(one) for one in found] == ["k<16>", "k<32>", "k<8>"]
    assert [one.block for one in found] == [(16, 1, 1), (32, 1, 1), (8, 1, 1)]


@pytest.mark.parametrize(
    ("size", "elements"),
    [
        ("9 * sizeof(Cell)", 9),
        ("sizeof(Cell) * 3 * n", 12),
        ("(n + 1) * sizeof(Cell)", 5),
        ("sizeof(Cell)", None),
        ("n + 1 * sizeof(Cell)", None),
        ("sizeof(Cell) * n + 1", None),
        ("9 * (sizeof(Cell))", None),
        ("sizeof(Cell) * m", None),
    ],
)
def test_the_elements_of_an_array_of_structs(size: str, elements: int | None) -> None:
    before = (
        "struct Cell { int a; };\n__global__ void k(Cell* x) {}\nint main() { int n = 4; Cell* x;"
    )
    text = f"{before} cudaMalloc(&x, {size}); k<<<1, 1>>>(x); }}"
    [launch] = find_launches(text)
    assert launch.arguments[0].elements == elements


def test_structs_take_their_places_among_the_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.cu"
    file.write_text(
        "struct Cell { int a; float b; };\nstruct None {};\n"
        "__global__ void k(int* out, None none, Cell one, Cell* all, int n) { *out = n + one.a; }\n"
        "int main() { int* out; cudaMalloc(&out, 4); None none; Cell one; Cell* all;\n"
        "  cudaMalloc(&all, 9 * sizeof(Cell)); k<<<1, 32>>>(out, none, one, all, 7); }"
    )
    assert main([str(file), "--launch"]) == 0
    out = capsys.readouterr().out
    assert "fill in: the value of one.a (one), the value of one.b (one)." in out
    assert out.endswith("--block 32 i32:1 i32=VALUE f32=VALUE struct:9 i32=7\n")
    words = ["--grid", "1", "--block", "32", "i32:1", "i32=3", "f32=1"]
    assert main([str(file), *words, "struct:9", "i32=7"]) == 0
    capsys.readouterr()
    assert main([str(file), *words, "Cell:9", "i32=7"]) == 2
    assert "'Cell:9' for all: this parameter points to structs Cell; give their number, like " \
           "struct:64." in capsys.readouterr().err  # fmt: skip


def test_an_argument_that_a_pack_hides_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.cu"
    before, body = POINTERS["a pack"]
    file.write_text(f"{KERNEL}{before}\nint main() {{ float* x; {body} }}")
    assert main([str(file), "--launch"]) == 0
    out = capsys.readouterr().out
    assert "fill in: the number of elements of x (a...), the value of n (…)." in out
    assert out.endswith("--kernel k --grid 4 --block 64 f32:N i32=VALUE\n")


def test_a_parameter_hides_the_variable_outside() -> None:
    text = f"int n = 7, b = 64;\n{KERNEL}void run(float* x, int n) {{ k<<<2, b>>>(x, n); }}"
    [launch] = find_launches(text)
    assert launch.block == (64, 1, 1)
    assert launch.arguments[1].value is None


@pytest.mark.parametrize("function", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel"])
def test_a_launch_by_a_function(function: str) -> None:
    found = launch(
        "float *d; int n = 100; cudaMalloc(&d, n * sizeof(float)); void *given[] = {&d, (void*)&n};"
        f" {function}((void*)k, dim3(2), 64, given, 4 * n, 0);"
    )
    assert (found.kernel, found.grid, found.block, found.shared) == (
        "k",
        (2, 1, 1),
        (64, 1, 1),
        400,
    )
    x, n = found.arguments
    assert (x.text, x.elements, n.text, n.value) == ("d", 100, "n", 100)
