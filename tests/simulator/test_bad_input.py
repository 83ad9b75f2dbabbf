"""What no GPU, compiler or patience takes: one sentence on stderr, exit 2, within 1 GB.

The cases run one after another in a process that does nothing else; two start one of their own,
as a visitor would. Times are not asserted: under TIMEOUT seconds is, where 2 are the aim.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.simulator.commands import Commands

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 20
MOST_MEMORY = 10**9  # bytes, of any process that a test here has started
LAUNCH = ["--grid", "1", "--block", "32"]
ARGUMENTS = ["f32:32", "i32=4"]


def kernel(body: str, before: str = "") -> str:
    return f"{before}__global__ void k(float* x, int n) {{\n{body}\n}}\n"


def doubling(levels: int, parameter: str = "") -> str:
    call = f"({parameter})" if parameter else ""
    first = f"#define D0{call} {parameter or 1}\n"
    rest = (f"#define D{i}{call} D{i - 1}{call} + D{i - 1}{call}\n" for i in range(1, levels))
    return first + "".join(rest)


def scanning(levels: int) -> str:
    rest = (f"#define E{i}(...) E{i - 1}(E{i - 1}(__VA_ARGS__))\n" for i in range(1, levels))
    return "#define E0(...) __VA_ARGS__\n" + "".join(rest)


def calling(levels: int) -> str:
    one = "__device__ int f{0}(int v) {{ " + "++v; " * 20 + "return f{1}(v) + f{1}(v); }}\n"
    rest = (one.format(i, i - 1) for i in range(1, levels))
    return "__device__ int f0(int v) { return v; }\n" + "".join(rest)


TEXTS = {
    # Clang's own words, with its fix-it.
    "empty": ("", "no kernel named k"),
    "no such kernel": ("__global__ void other(float* x, int n) {}", "it has other."),
    "misspelled": (kernel("float total = 0; totl += 1;"), "line 2, column 18: Use of undeclared "
                   "identifier 'totl'; did you mean 'total'?"),
    "no semicolon": (kernel("int i = 3"), "line 2, column 10: Expected ';' at end of declaration; "
                     "insert ';'."),
    "missing brace": ("__global__ void k(float* x, int n) {\n", "Expected '}'"),
    "not text": ("\0\1\2", "plain"),
    "too large a number": (kernel("x[0] = 99999999999999999999999;"), "too large"),
    "variable length": (kernel("float s[n];"), "size must be a constant"),
    "negative length": (kernel("float s[-1];"), "negative size"),
    # What is left out, by name.
    "recursion": (kernel("x[0] = f(n);", "__device__ int f(int v) { return v ? f(v - 1) : 0; }\n"),
                  "line 1, column 38: f calls itself: recursion is not supported; write a loop,"),
    "recursion of two": (kernel("x[0] = f(n);", "__device__ int g(int);\n__device__ int f(int v) "
                         "{ return g(v); }\n__device__ int g(int v) { return f(v); }\n"),
                         "calls itself: recursion"),
    "printf": (kernel('puts("n");'), "line 2, column 1: puts is not supported"),
    "malloc": (kernel("float* p = (float*)malloc(4);"), "malloc is not supported"),
    "a group of the grid": (kernel("cooperative_groups::this_grid().barrier_arrive();"),
                            "line 2, column 33: barrier_arrive is not supported"),
    "bfloat16": (kernel("__nv_bfloat16 h;"), "__nv_bfloat16 is not supported"),
    "static": (kernel("static int s; s += 1;"), "A static variable (s) is not supported"),
    "constant memory": (kernel("c[1] = x[0];", "__constant__ float c[4];\n"),
                        "line 3, column 1: c is in constant memory"),
    "texture": (kernel("texture<float> t;"), "texture is not supported"),
    "asm": (kernel('asm volatile("bar.sync 1;");'), "only bar.sync 0 is supported"),
    "new": (kernel("float* p = new float[4];"), "new is not supported: a kernel gets its memory"),
    "virtual function": (kernel("P p;", "struct P { __device__ virtual int f() { return 1; } };\n"),
                         "P has a virtual function (f)"),
    "bit-field": (kernel("P p;", "struct P { int a : 3; };\n"), "A bit-field (of P)"),
    "range of cases": (kernel("switch (n) { case 0 ... 2: x[0] = 1; }"), "A range of cases"),
    "host code": (kernel("float* d; cudaMalloc(&d, 4);"),
                  "cudaMalloc is not supported: that is host code"),
    # What grows without measure.
    "macros that double": (kernel("x[0] = D39;", doubling(40)), "line 42, column 1: A statement"),
    "macros with arguments": (kernel("x[0] = D39(n);", doubling(40, "x")), "macros expanded"),
    "macros in a condition": (doubling(40) + "#if D39\n#endif\n" + kernel(""), "macros expanded"),
    "macros within macros": (kernel("x[0] = " + "D1(" * 40 + "n" + ")" * 40 + ";",
                                    doubling(2, "x")), "macros used here expand"),
    "macros that only scan": (kernel("x[0] = E30(1);", scanning(31)), "expand to more than"),
    "macros by another name": (kernel("x[0] = D39;", doubling(40).replace("#", "%:")),
                               "macros expanded"),
    "calls that double": (kernel("x[0] = f29(n);", calling(30)), "more than 3,000 statements"),
    "templates without end": (kernel("x[0] = F<5>::v;", "template <int N> struct F { static const "
                              "int v = F<N + 1>::v; };\n"), "exceeded maximum depth"),
    "constants without end": (kernel("x[0] = X;", "constexpr int f(int n) { int s = 0; while (s < "
                              "2000000000) ++s; return s; }\nconstexpr int X = f(3);\n"), "onst"),
    "parentheses": (kernel("x[0] = " + "(" * 5000 + "1" + ")" * 5000 + ";"), "120 brackets"),
    "braces": (kernel("{" * 5000 + "}" * 5000), "120 brackets"),
    "signs": (kernel("x[0] = " + "- " * 1900 + "n;"), "nested too deeply"),
    "a long sum": (kernel("x[0] = n" + " + n" * 900 + ";"), "nested too deeply"),
    "ifs in ifs": (kernel("if (n) " * 300 + ";"), "nested more than 80 levels deep"),
    "stars": ("__global__ void k(float" + "*" * 10000 + " x, int n) {}", "2,000 tokens"),
    "a megabyte": (kernel("x[0] = n;\n" * 90_000), "bytes; a file may be at most 262,144"),
    "a long kernel": (kernel("x[0] = n;\n" * 9_000), "they may have up to 65,536"),
    "a statement too many": (kernel("x+=n;" * 9_000), "30,000 tokens"),
    # What never ends.
    "while (1)": (kernel("while (1) x[0] += 1;"), "line 2, column 1: This loop never ends"),
    "for (;;)": (kernel("n = 2;\nfor (;;) { n++; }"), "line 3, column 1: This loop never ends"),
    "barriers for ever": (kernel("while (true) __syncthreads();"), "This loop never ends"),
    "loops for ever": (kernel("while (true) { for (int i = 0; i < 10; ++i) x[0] += i; }"),
                       "This loop never ends"),
    "no step": (kernel("for (int i = 0; i < n;) x[0] += 1;"), "nothing in it changes i."),
    "no step up": (kernel("for (int i = 0; i < n; i += 0) x[0] += 1;"),
                   "after 1 iteration i no longer changes"),
    "halved to 0": (kernel("for (int i = 64; i >= 0; i /= 2) { if (i < n) x[i] += 1; }"),
                    "after 64 iterations i no longer changes"),
    "another counter": (kernel("int m = 0; for (int t = 0; t < n; ++m) x[0] += m;"),
                        "nothing in it changes t."),
    "backwards": (kernel("for (int i = 0; i < n; --i) x[0] += 1;"), "line 2, column 1: The time "
                  "given"),
    "a flag nobody sets": (kernel("while (x[0] < 1e30f) ;"), "line 2, column 1: The time given"),
    "a lock within a warp": (kernel("while (atomicCAS((int*)x, 0, 1) != 0) ;"), "The time given"),
    "a million, unrolled": (kernel("#pragma unroll\nfor (int i = 0; i < 1000000; ++i)\nx[0] += i;"),
                            "line 3, column 1: The time given"),
    # Gigabytes.
    "shared gigabyte": (kernel("__shared__ float s[1 << 28]; s[0] = 1; x[0] = s[0];"),
                        "1,073,741,824 bytes"),
    "shared terabytes": (kernel("__shared__ float s[1ll << 40]; s[0] = 1; x[0] = s[0];"),
                         "too much shared data"),
    "local gigabyte": (kernel("float s[1 << 28]; s[0] = 1; x[0] = s[0];"), "32,768 MiB"),
    "a list of a million": (kernel("float s[1000000] = {1}; x[0] = s[0];"), "4,096 initial values"),
}  # fmt: skip

GOOD = kernel("x[threadIdx.x] = n;")
LAUNCHES: dict[str, tuple[list[str], list[str], str]] = {
    "grid of two billion": (["--grid", "2147483647", "--block", "1"], ARGUMENTS, "2,147,483,647 b"),
    "grid beyond numbers": (["--grid", "2147483647,65535,65535", "--block", "1024"], ARGUMENTS,
                            "Make the grid smaller."),
    "grid of none": (["--grid", "1,0", "--block", "1"], ARGUMENTS, "The grid has 0 blocks in y"),
    "grid below none": (["--grid=-1", "--block", "1"], ARGUMENTS, "The grid has -1 blocks in x"),
    "grid too high": (["--grid", "1,70000", "--block", "1"], ARGUMENTS, "has 70,000 blocks in y"),
    "block too large": (["--grid", "1", "--block", "32,33"], ARGUMENTS, "1,056 threads"),
    "block too deep": (["--grid", "1", "--block", "1,1,65"], ARGUMENTS, "has 65 threads in z"),
    "shared memory": ([*LAUNCH, "--shared", "300000"], ARGUMENTS, "300,000 bytes of shared memory"),
    "less shared memory than none": ([*LAUNCH, "--shared", "-5"], ARGUMENTS, "give 0 or more"),
    "huge array": (LAUNCH, ["f32:100000x100000", "i32=4"], "38,147 MiB"),
    "array of too many dimensions": (LAUNCH, ["f32:" + "x".join("1" * 40), "i32=4"], "neither"),
    "empty array": (LAUNCH, ["f32:0", "i32=4"], "neither an array"),
    "half a gigabyte": (LAUNCH, ["f32:134217728", "i32=4"], "512 MiB"),
    "more than can be watched": (LAUNCH, ["f32:40000000", "i32=4"], "that the kernel may write"),
    "wrong type": (LAUNCH, ["f64:32", "i32=4"], "must hold float32, not float64"),
    "number for an array": (LAUNCH, ["i32=4", "i32=4"], "give an array"),
    "float for an int": (LAUNCH, ["f32:32", "f32=4"], "is not a value of that type"),
    "too large an int": (LAUNCH, ["f32:32", "i32=4000000000"], "is not a valid i32"),
    "too few": (LAUNCH, ["f32:32"], "needs 2 arguments (x, n); 1 is given."),
    "too many": (LAUNCH, [*ARGUMENTS, "i32=1"], "3 are given."),
}  # fmt: skip


COMMANDS = Commands()


@pytest.fixture(scope="module", autouse=True)
def _one_process() -> Iterator[None]:
    yield
    COMMANDS.close()


def run(file: Path, launch: Sequence[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    return COMMANDS.run([str(file), "--kernel", "k", *launch, *arguments], TIMEOUT)


def check(outcome: tuple[int, str, str], part: str) -> None:
    code, out, error = outcome
    assert part in error
    assert "Traceback" not in error
    assert "Exception" not in error
    # A busy machine shows how far it is before the processor time is over.
    sentences = [one for one in error.strip().split("\n") if not re.match(r"    |\d+ s: ", one)]
    assert 1 <= len(sentences) <= 10, "a line of the text is beneath its sentence"
    assert all(sentence.endswith((".", "?")) for sentence in sentences)
    assert (code, out) == (2, "")
    assert COMMANDS.peak_bytes < MOST_MEMORY


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        (GOOD, 0, ""),
        (kernel("float total = 0; totl += 1;"), 2, "line 2, column 18: Use of undeclared "
         "identifier 'totl'; did you mean 'total'?\n    float total = 0; totl += 1;\n" + 21 * " "
         + "^"),
    ],
    ids=["good", "misspelled"],
)  # fmt: skip
def test_a_process_of_its_own(text: str, code: int, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "own.cu"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "simulator", str(file), "--kernel", "k", *LAUNCH, *ARGUMENTS],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=60, encoding="utf-8",
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (code, sentence)
    assert ("no hazards" in done.stdout) == (code == 0)
    assert bool(done.stdout) == (code == 0)


@pytest.mark.parametrize("case", TEXTS)
def test_text(case: str, tmp_path: Path) -> None:
    text, part = TEXTS[case]
    file = tmp_path / "bad.cu"
    file.write_text(text, encoding="utf-8")
    check(run(file, [*LAUNCH, "--seconds", "0.3"], ARGUMENTS), part)


@pytest.mark.parametrize("case", LAUNCHES)
def test_launch(case: str, tmp_path: Path) -> None:
    launch, arguments, part = LAUNCHES[case]
    file = tmp_path / "good.cu"
    file.write_text(GOOD, encoding="utf-8")
    check(run(file, launch, arguments), part)


def test_arrays_that_are_packed_small(tmp_path: Path) -> None:
    file, packed = tmp_path / "good.cu", tmp_path / "in.npz"
    file.write_text(GOOD, encoding="utf-8")
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(300):
            entry.write(bytes(2**20))
    check(run(file, [*LAUNCH, "--inputs", str(packed)], ["i32=4"]), "take 300 MiB")


def test_time_that_is_given_ends_a_run(tmp_path: Path) -> None:
    file = tmp_path / "long.cu"
    loops = "for (int a = 0; a < 900; ++a) for (int b = 0; b < 900; ++b) x[threadIdx.x] += b;"
    file.write_text(kernel(loops), encoding="utf-8")
    check(run(file, [*LAUNCH, "--seconds", "0.3"], ARGUMENTS), "line 2, column 31: The time given")


@pytest.mark.deep
def test_good_input_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "good.cu"
    file.write_text(GOOD, encoding="utf-8")
    code, out, error = run(file, LAUNCH, ARGUMENTS)
    assert (code, error) == (0, "")
    assert "no hazards" in out
