"""Wrong and unsupported texts: where the error is, and what its sentence says."""

from __future__ import annotations

import contextlib
import random
import re

import numpy as np
import pytest

from simulator import SourceError, compile_kernel, simulate
from tests.programs.table import PROGRAMS
from tests.simulator.launches import launch_text

# The body of a kernel, then line and column in the text and a part of the sentence.
TABLE = {
    "misspelled": ("float total = 0; totl += 1;", 2, 18, "did you mean 'total'"),
    "no semicolon": ("int i = 3", 2, 10, "Expected ';' at end of declaration; insert ';'"),
    "unknown name": ("x[0] = y;", 2, 8, "undeclared identifier 'y'"),
    "wrong member": ("int i = threadIdx.w;", 2, 19, "No member named 'w'"),
    "unknown function": ("x[0] = tanh_fast(1);", 2, 8, "undeclared identifier"),
    "include_next": ("#include_next <a>", 2, 2, "#include_next is not allowed"),
    "include by a trigraph": ("??=include </etc/passwd>", 2, 4, "#include is not allowed"),
    "pasted": ("#define P(a, b) a ## b\nint i = P(x, 2);", 3, 9, "undeclared identifier 'x2'"),
    "pasted beside an option": ("#define P(a, ...) a##__VA_OPT__(b)\nint i = P(1, 2);", 2, 20,
                                "__VA_OPT__"),
    "probe": ("#if __has_include(</etc/passwd>)\n#endif", 2, 5, "is not allowed"),
    "output stream": ('std::cout << "x";', 2, 6, "cout is not supported: a kernel can print"),
    "vector": ("std::vector<float> v; v.push_back(1);", 2, 6, "vector is not supported: of the"),
    "of a library": ("typedef cub::BlockRadixSort<int, 128, 4> Sort;\n__shared__ typename "
                     "Sort::TempStorage t; int keys[4]; Sort(t).Sort(keys);", 2, 9,
                     "cub::BlockRadixSort is not supported: of CUB only these are supported"),
    "letters of another case": ("atomicadd(x, 1.0f);", 2, 1, "did you mean 'atomicAdd'"),
    "random": ("x[0] = rand() % 10;", 2, 8, "pass random numbers in an array"),
    "exit": ("if (!x) exit(1);", 2, 9, "a thread ends with return"),
    "atomic": ("cuda::std::atomic<int> n; n++;", 2, 1, "cuda::std::atomic is not "
               "supported: declare a plain number, and use atomicAdd"),
    "atomic reference": ("cuda::atomic_ref<float, cuda::thread_scope_device> n(x[0]);\n"
                         "n.fetch_add(1);", 2, 1, "cuda::atomic_ref is not supported: declare a "),
    "barrier": ("__shared__ cuda::barrier<cuda::thread_scope_block> b;", 2, 12, "cuda::barrier is "
                "not supported: use __syncthreads() for the block"),
    "fence": ("cuda::atomic_thread_fence(cuda::memory_order_seq_cst);", 2, 1,
              "use __threadfence()"),
    "pipeline": ("auto p = cuda::make_pipeline();", 2, 10, "use __pipeline_memcpy_async"),
    "goto": ("again: x[0] = 1;", 2, 1, "A label is for goto, which is not supported"),
    "new": ("float* p = new float[3];", 2, 12, "not supported"),
    "switch with an effect": ("switch (x[0]++; 1) { case 1: ; }", 2, 1, "before this switch"),
    "switch with an unused variable": ("switch (int q = 1, p = 2; q) { case 1: ; }", 2, 1,
                                       "Write what comes before the ;"),
    "array of none": ("float v[2][0]; x[0] = v[1][0];", 2, 1, "The array v has no cells"),
    "rows of none": ("extern __shared__ float s[][0];", 2, 1, "The rows of s have no cells"),
    "string": ('const char* s = "abc";', 2, 17, "initial values of an array, as in char s[] = "),
}  # fmt: skip


# The body of a kernel, and what the error's hint says.
HINTS = {
    "after its block": (
        "{ float sum = 1; }\nx[0] = sum;",
        "declared on line 2, in a block or loop",
    ),
    "after its loop": ("for (int i = 0; i < 2; ++i) ;\nx[i] = 0;", "declare it before that."),
    "declared later": ("x[0] = sum;\nfloat sum = 1;", ""),
    "declared nowhere": ("float total = 1;\nx[0] = sum;", ""),
    "barrier without ()": ("__syncthreads;", "Write () after its name."),
    "element in round brackets": ("x[0] = x(1);", "with brackets, as in x[i]."),
    "array of one value": ("float v[4] = 0;\nx[0] = v[0];", "Write = {} for zeros"),
    "index without .x": ("x[0] = threadIdx;", "write .x, .y or .z"),
    "a value of a kernel": ("return 0;", "Write return; alone."),
    "remainder of a float": ("x[0] = x[1] % 2;", "write fmodf(a, b)"),
    "power of a float": ("x[0] = x[1] ^ 2;", "take whole numbers"),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_hint_says_what_may_mend_it(case: str) -> None:
    body, part = HINTS[case]
    with pytest.raises(SourceError) as error:
        compile_kernel(f"__global__ void k(float* x) {{\n{body}\n}}", "k")
    hint = error.value.errors[0].hint
    assert part in hint
    assert bool(part) == bool(hint)


@pytest.mark.parametrize("case", TABLE)
def test_sentence_and_place(case: str) -> None:
    body, line, column, part = TABLE[case]
    with pytest.raises(SourceError) as error:
        compile_kernel(f"__global__ void k(float* x) {{\n{body}\n}}", "k")
    span = error.value.span
    assert span is not None
    assert (span.line, span.column) == (line, column), error.value
    assert part in error.value.message
    assert len(error.value.errors) == 1, "what follows from it is no error of its own"
    assert error.value.message.endswith((".", "?"))
    assert str(error.value).startswith(f"line {line}, column {column}: ")


def test_no_such_kernel() -> None:
    with pytest.raises(SourceError, match=r"no kernel named q in kernel\.cu; it has k"):
        compile_kernel("__global__ void k(float* x) {}", "q")


def test_endless_loop_is_stopped() -> None:
    kernel, launch = launch_text("__global__ void k(int n) {\nwhile (n < 3) { n = 1 - n; }\n}", n=1)
    with pytest.raises(SourceError, match=r"line 2, .*Does the loop's condition ever fail"):
        simulate(kernel, launch, seconds=0.2)


def test_copy_into_a_threads_own_array_is_refused() -> None:
    body = "float v[4];\n__pipeline_memcpy_async(v, x, 4);\n__pipeline_commit();"
    kernel, launch = launch_text(
        f"__global__ void k(float* x) {{\n{body}\n__pipeline_wait_prior(0);\n}}",
        x=np.zeros(4, np.float32),
    )
    with pytest.raises(SourceError, match=r"line 3, .*v is an array of each thread's own"):
        simulate(kernel, launch)


def test_text_that_is_not_cuda() -> None:
    texts = ("", "\x00\x01", "int main() { return 0; }", "}" * 100, "(" * 5000, "é" * 100, "\udc80")
    for text in texts:
        with pytest.raises(SourceError):
            compile_kernel(text, "k")


@pytest.mark.parametrize(
    ("value", "reason"),
    [("\udcff", "code is plain"), ("1\0", "code is plain"), ("1" * 300_000, "300,000 bytes")],
)
def test_macro_that_is_no_text(value: str, reason: str) -> None:
    for text in ("#define N 1\n", ""):
        with pytest.raises(SourceError, match=reason):
            compile_kernel(f"{text}__global__ void k(float* x) {{ x[0] = 1; }}", "k", {"N": value})


MANY = """__device__ int twice(int n) {
  asm("nop;");
  return 2 * n;
}
__device__ float& chosen(float* v) {
  static float z;
  return z;
}
struct Pair { int a, b; };
__global__ void k(float* x, int n) {
  int* p = new int[4];
  float s = 0;
  for (int i = 0; i < n; i++) { delete p; }
  Pair q; q.a = q.b = 1;
  static int kept = q.a;
  x[0] = kept + p[0];
  x[1] = twice(n) + twice(3);
  chosen(x) = 3;
  if (new int) {
    asm("nop;");
  }
  static int total;
  x[2] = total + s;
}
"""


def test_every_statement_with_an_error_is_named_in_the_texts_order() -> None:
    with pytest.raises(SourceError) as caught:
        compile_kernel(MANY)
    found = [(error.span.line, error.message.split()[0]) for error in caught.value.errors
             if error.span is not None]  # fmt: skip
    assert found == [(2, "nop"), (6, "A"), (11, "new"), (13, "delete"), (15, "A"), (22, "A")]
    assert caught.value.errors[0].hint == "The same on line 20."
    assert caught.value.errors[2].hint == "The same on line 19."


BOTH = """__device__ int twice(int n) { return 2 * n; }
__global__ void k(float* x, int n) {
  static int total;
  int i = first + 1;
  asm("nop;");
  if (n == second) {
    asm("nop;");
    x[i] = total;
  }
  for (int j = 0 j < n; j++) {
    asm("nop;");
  }
  switch (fourth) {
    case 1: delete x;
  }
  x[1] = twice(1, 2);
  float* p = new float[2];
  x[0] = p[1] + (int)twice(fifth);
  x[2] = i;
}
"""


def test_errors_of_clang_and_of_lowering_stand_together_in_the_texts_order() -> None:
    with pytest.raises(SourceError) as caught:
        compile_kernel(BOTH)
    found = [(error.span.line, error.message.split()[0]) for error in caught.value.errors
             if error.span is not None]  # fmt: skip
    assert found == [
        (3, "A"), (4, "Use"), (5, "nop"), (6, "Use"), (10, "Expected"), (13, "Use"),
        (14, "delete"), (16, "No"), (17, "new"), (18, "Use"),
    ]  # fmt: skip
    assert caught.value.errors[2].hint == "The same on lines 7, 11."


WORD = re.compile(r"[A-Za-z_]\w*|[^\s\w]")


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(40))
def test_lowering_adds_nothing_to_an_error_of_clangs(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # for a table, not for secrets
    program = chance.choice(PROGRAMS)
    begin = re.search(r"__(?:global|device)__", program.text)
    assert begin is not None
    word = chance.choice(list(WORD.finditer(program.text, begin.start())))
    text = f"{program.text[: word.start()]} {chance.choice(('undefined', ''))} "
    with contextlib.suppress(SourceError):
        try:
            compile_kernel(text + program.text[word.end() :], program.kernel, program.defines)
        except SourceError as error:
            sentences = [one.message for one in error.errors]
            assert not any("not supported" in one or "of the host" in one for one in sentences)
            raise


def test_a_function_without_a_body_is_named() -> None:
    text = "__device__ float f(float);\n__global__ void k(float* x) {\nx[0] = f(x[1]);\n}"
    with pytest.raises(SourceError, match=r"line 3, .*f has no body in this code: write it"):
        compile_kernel(text)


def test_a_failed_parameter_and_a_failed_variable_are_named_once() -> None:
    text = (
        "struct Many { float v[600]; };\n__device__ float** table;\n"
        "__global__ void k(Many m, float* x) {\n"
        '  x[0] = m.v[0];\n  x[1] = *table[1];\n  x[2] = m.v[1] + *table[2];\n  asm("nop;");\n}'
    )
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    assert [error.span.line for error in caught.value.errors if error.span] == [3, 5, 7]


def test_lowering_ends_behind_ten_errors() -> None:
    body = "".join(f"static int s{i};\n" for i in range(30))
    with pytest.raises(SourceError) as caught:
        compile_kernel(f"__global__ void k(float* x) {{\n{body}}}")
    assert [error.span.line for error in caught.value.errors if error.span] == list(range(2, 12))


@pytest.mark.deep
def test_the_limit_of_statements_is_named_once_beside_the_errors_before_it() -> None:
    body = 'asm("nop;");' + "x[0] = 1;" * 4000
    with pytest.raises(SourceError) as caught:
        compile_kernel(f"__global__ void k(float* x) {{\n{body}}}")
    assert [error.message.split()[0] for error in caught.value.errors] == ["nop", "The"]


@pytest.mark.parametrize("value", ["{0}", "{}", "n"])
def test_a_shared_array_has_no_initializer(value: str) -> None:
    text = f"__global__ void k(float* x, int n) {{\n__shared__ float s[4] = {value};\n}}"
    if value == "n":
        text = text.replace("[4]", "")
    with pytest.raises(
        SourceError, match=r"line 2, .*Let threads store the initial values, and wait"
    ):
        compile_kernel(text)


def test_a_vector_of_the_host_is_no_function() -> None:
    for declared in ("std::vector<float> data(100);", "const int n = 9;\nstd::vector<int> data(n);",
                     "using namespace std;\nvector<float> data;"):  # fmt: skip
        text = f"{declared}\n__global__ void k(float* x) {{ x[0] = data[0]; }}"
        with pytest.raises(SourceError, match=r"'data' is a vector of the host's C\+\+ library"):
            compile_kernel(text)
    text = "float scale(float);\n__global__ void k(float* x) { x[0] = scale(2); }"
    with pytest.raises(SourceError, match="scale is a host function"):
        compile_kernel(text)


@pytest.mark.parametrize(
    ("before", "launch", "sentence"),
    [
        ("void", "k<<<1, 32>>>(x);", "line 1, column 1: k, which line 3 launches, is not a kernel: "
         "write __global__ before it."),
        ("void", "k<<1, 32>>(x);", "line 1, column 1: k, which line 3 launches, is not a kernel: "
         "write __global__ before it."),
        ("static __device__ void", "k<<<1, 32>>>(x);", "line 1, column 1: k, which line 3 "
         "launches, is not a kernel: write __global__ instead of __device__."),
        ("template <int N> void", "k<4><<<1, 32>>>(x);", "line 1, column 1: k, which line 3 "
         "launches, is not a kernel: write __global__ before it."),
    ],
)  # fmt: skip
def test_a_function_that_is_launched_needs_global(before: str, launch: str, sentence: str) -> None:
    text = f"{before} k(float* x) {{ x[0] = 1; }}\nint main() {{ float* x;\n{launch} }}"
    other = "\n__global__ void other() {}"
    for whole, name in ((text, None), (text, "k"), (text + other, "k")):
        with pytest.raises(SourceError) as caught:
            compile_kernel(whole, name)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("launch", "sentence"),
    [
        (
            "k<<n / 256, 256>>(x, n);",
            "line 3, column 1: k<<…>> is not a launch: a launch has three ",
        ),
        ("k(x, n);", "line 3, column 1: k is called without its blocks and threads: launch "),
    ],
)
def test_what_is_no_launch_is_a_warning(launch: str, sentence: str) -> None:
    text = f"__global__ void k(float* x, int n) {{ x[0] = n; }}\nint main() {{\n{launch}\n}}"
    [warning] = compile_kernel(text).warnings
    assert warning.startswith(sentence)
    assert not compile_kernel(text.replace(launch, "k<<<1, 1>>>(x, n);")).warnings


def test_warnings_stand_behind_the_errors() -> None:
    text = "__global__ void k(float* x, int n) {\nif (n = 3) x[0] = 1;\n%s\n}"
    for error in ("x[1] = y;", 'asm("nop;");'):
        with pytest.raises(SourceError) as caught:
            compile_kernel(text % error)
        [warning] = caught.value.warnings
        assert warning.startswith("line 2, column 7: Using the result of an assignment")
        assert caught.value.with_lines(text).endswith(f"\nwarning: {warning}")
