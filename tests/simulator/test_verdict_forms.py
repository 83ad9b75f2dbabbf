"""Parts of a guessed form: its sizes, its grid's names, the room and the places in its arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import Kernel, LaunchError, compile_kernel
from simulator.verdict import guess
from simulator.verdict.blocks import likely_blocks
from simulator.verdict.discovery import Discovery
from simulator.verdict.experiment import MayNeverEndError
from simulator.verdict.fit import Allocated, Fit
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.parameters import Argument
from simulator.verdict.tasks import TASKS

STORE = "x[threadIdx.x] = 1;"
SIGNS = {Contents.RANDOM: "", Contents.ZEROS: "*", Contents.ONES: "=1", Contents.SHUFFLED: "?",
         Contents.RISING: "/"}  # fmt: skip


@pytest.fixture(autouse=True)
def _small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make arrays with room in no time: what is touched here has thousands of cells at most."""
    monkeypatch.setattr("simulator.verdict.experiment.ROOM", 2**12)


def kernel_of(parameters: str, body: str = STORE, before: str = "", host: str = "") -> Kernel:
    return compile_kernel(f"{before}\n__global__ void k({parameters}) {{ {body} }}\n{host}", "k")


def three(sizes: str) -> Sizes3:
    x, y, z = (*sizes.split(", "), "1", "1")[:3]
    return x, y, z


def given(form: LaunchForm) -> str:
    """Grid, block, and what each parameter gets; ! where the size is what was touched."""
    words = [" ".join(form.grid), " ".join(form.block)]
    for one in form.arguments:
        if isinstance(one, NumberArgument):
            words.append(f"{one.name}={one.value}")
        else:
            rows = "" if one.rows == "1" else f"{one.rows}, "
            seen = "!" * one.is_seen
            words.append(f"{one.name}[{rows}{one.columns}]{seen}{SIGNS[one.contents]}")
    return "; ".join(words)


# A form for what was found out --------------------------------------------------------------------

COPY, COPIED = "const float* x, float* y, int n", "x=x y=y n=n"
PRODUCT = "const float* a, const float* b, float* c, int m, int n, int k, int p, float f"
MULTIPLIED = "A=a B=b C=c M=m N=n K=k"


@pytest.mark.parametrize(
    ("grid", "block", "macros", "found"),
    [
        ("(n + 31) / 32", "32", "", "(n + 31) / 32 1 1; 32 1 1; n=64"),
        ("(n + 3) / 4", "32", "", "(n + 3) / 4 1 1; 32 1 1; n=8"),
        ("(n + 767) / 768", "32, 8", "", "(n + 767) / 768 1 1; 32 8 1; n=64"),
        ("(n + 767) / 768", "32, 1, 8", "", "(n + 767) / 768 1 1; 32 1 8; n=64"),
        ("(n + 767) / 768", "256", "", "(n + 767) / 768 1 1; 256 1 1; n=1024"),
        ("1", "32", "", "1 1 1; 32 1 1; n=32"),
        ("1", "2, 16", "", "1 1 1; 2 16 1; n=32"),
        ("1", "4", "", "1 1 1; 4 1 1; n=8"),
        ("(n + 32 - 1) / 32", "TILE", "TILE 32", "(n + TILE - 1) / TILE 1 1; TILE 1 1; n=64"),
        ("(n + 32 - 1) / 32", "8 * 4", "", "(n + 8 * 4 - 1) / (8 * 4) 1 1; 8 * 4 1 1; n=64"),
        ("(n + 64 - 1) / 64", "32", "TILE 64", "(n + TILE - 1) / TILE 1 1; 32 1 1; n=128"),
        ("(n + 64 - 1) / 64", "32", "TILE 9", "(n + 64 - 1) / 64 1 1; 32 1 1; n=128"),
        ("n / 128", "32", "", "n / 128 1 1; 32 1 1; n=256"),
        ("n / 128", "32, 2", "", "n / 128 1 1; 32 2 1; n=128"),
        ("n / 256", "32, 2", "", "n / 256 1 1; 32 2 1; n=256"),
        ("n / 512", "32, 2", "", "n / 512 1 1; 32 2 1; n=512"),
        ("n / 4096", "32, 2", "", "n / 4096 1 1; 32 2 1; n=64"),
    ],
)  # fmt: skip
def test_sizes_follow_the_grid(grid: str, block: str, macros: str, found: str) -> None:
    kernel = kernel_of(COPY, "y[0] = x[0];", f"#define {macros}" if macros else "")
    grids, blocks, size = found.split("; ")
    form = formed(kernel, "copy", COPIED, grid, block, {"n": 7})
    assert given(form) == f"{grids}; {blocks}; x[n]; y[n]; {size}"
    fixed = formed(kernel, "copy", COPIED, grid, block, {"n": 7}, is_fixed=True)
    assert given(fixed) == f"{grids}; {blocks}; x[7]; y[7]; n=7"
    assert fixed.roles == (("x", "x"), ("y", "y"), ("n", "7"))


@pytest.mark.parametrize(
    ("task", "parameters", "roles", "values", "strides", "found"),
    [
        ("product", PRODUCT, MULTIPLIED, {"m": 7, "n": 9, "k": 11}, {"p": "n"},
         "a[m, k]; b[k, n]; c[m, n]*; m=64; n=32; k=32; p=n; f=2"),
        ("product", PRODUCT.replace("float f", "float beta"), MULTIPLIED + " beta=beta",
         {"m": 7, "n": 9, "k": 11, "p": 3}, {},
         "a[m, k]; b[k, n]; c[m, n]; m=64; n=32; k=32; p=3; beta=3"),
        ("product", PRODUCT, "A=a B=b C=c M=m N=n K=n", {"m": 7, "n": 9}, {"k": "n"},
         "a[m, n]; b[n, n]; c[m, n]*; m=64; n=64; k=n; p=1; f=2"),
        ("convolution", "const float* x, float* c, int n, int w, const float* a",
         "x=x w=a y=c n=n width=w", {"n": 9, "w": 3}, {},
         "x[n]; c[n]*; n=32; w=3; a[w]"),
        ("axpy", "const float* x, float* c, int n, float a", "x=x y=c n=n a=a", {"n": 9}, {},
         "x[n]; c[n]; n=32; a=2"),
    ],
)  # fmt: skip
def test_a_tasks_arrays_and_sizes(
    task: str, parameters: str, roles: str, values: dict[str, int], strides: dict[str, str],
    found: str,
) -> None:  # fmt: skip
    kernel = kernel_of(parameters, "c[0] += 1;")
    grid = "(n + 15) / 16, (m + 63) / 64" if "m" in values else "(n + 15) / 16"
    form = formed(kernel, task, roles, grid, "16, 16", values, strides)
    assert given(form).split("; ", 2)[2] == found


def formed(
    kernel: Kernel, task: str, roles: str, grid: str, block: str, values: dict[str, int],
    strides: dict[str, str] | None = None, is_fixed: bool = False,
) -> LaunchForm:  # fmt: skip
    pairs = [one.split("=") for one in roles.split()]
    fit = Fit(TASKS[task], tuple((role, what) for role, what in pairs), 1.0)
    found = Discovery(three(grid), three(block), values, {}, strides or {}, frozenset(), (),
                      is_fixed, has_faults=False)  # fmt: skip
    return guess.form_of(kernel, found, fit, "0")


# Room and places ----------------------------------------------------------------------------------


def form_of(arrays: str, size: str = "32", task: str = "") -> LaunchForm:
    arguments: list[Argument] = []
    for one in arrays.split("; "):
        name, _, sides = one.removesuffix("]").partition("[")
        rows, _, columns = sides.rpartition(", ")
        arguments.append(ArrayArgument(name, rows or "1", columns))
    roles = (("x", "x"), ("y", "x"), ("n", "n"))
    return LaunchForm(three("1"), three("32"), "0", (*arguments, NumberArgument("n", size)), task,
                      roles if task else ())  # fmt: skip


PICKED = "float* x, const int* p, int n"


@pytest.mark.parametrize(
    ("parameters", "body", "arrays", "size", "found"),
    [
        ("float* x, int n", STORE, "x[n]", "32", "x[n]"),
        ("float* x, int n", STORE, "x[n]", "31", "x[32]!"),
        ("float* x, float* y, int n", STORE, "x[2, n]; y[n]", "15", "x[32]!; y[n]"),
        ("float2* x, int n", "x[threadIdx.x].x = 1;", "x[n]", "31", "x[(63 + 1) / 2]!"),
        (PICKED, "x[p[threadIdx.x]] = 1;", "x[10]; p[n]", "32", "x[10]; p[n]"),
        (PICKED, "x[-p[threadIdx.x]] = 1;", "x[n]; p[n]", "32", "x[n]=1; p[n]=1"),
        (PICKED, "x[p[threadIdx.x] * 3000000] = 1;", "x[n]; p[n]", "31", "x[n]=1; p[32]!=1"),
        ("float* x, int n", STORE, "x[q]", "31", "x[q]"),
        ("float* x, int n", STORE + "assert(n > 40);", "x[n]", "31", "x[32]!"),
    ],
)  # fmt: skip
def test_arrays_get_room_for_what_is_touched(
    parameters: str, body: str, arrays: str, size: str, found: str
) -> None:
    kernel = kernel_of(parameters, body)
    form = guess.roomy(kernel, form_of(arrays, size))
    assert given(form) == f"1 1 1; 32 1 1; {found}; n={size}"


@pytest.mark.parametrize(("size", "task"), [("31", "copy"), ("29", "")])
def test_an_access_or_two_beyond_an_array_is_the_kernels(size: str, task: str) -> None:
    form = form_of("x[n]", size, "copy")
    found = guess.roomy(kernel_of("float* x, int n"), form)
    assert (found.task, found.roles) == (task, form.roles if task else ())
    assert (found == form) is bool(task)


LOOP = "for (int i = p[threadIdx.x]; i < p[threadIdx.x + 1]; ++i)"
TWO = "float* x, const int* p, const int* q, int n"


@pytest.mark.parametrize(
    ("parameters", "body", "arrays", "found"),
    [
        (PICKED, "x[p[threadIdx.x]] = threadIdx.x;", "x[n]; p[n]", "x[n]; p[n]?"),
        (PICKED, "x[p[threadIdx.x]] = threadIdx.x;", "x[10]; p[n]", "x[n]; p[n]?"),
        (PICKED, "x[p[threadIdx.x]] = threadIdx.x; x[n] = 1;", "x[n]; p[n]", "x[33]!; p[n]?"),
        (PICKED, f"{LOOP} x[i] = threadIdx.x;", "x[n]; p[n + 1]", "x[n]; p[n + 1]/"),
        (TWO, f"{LOOP} x[q[i]] = threadIdx.x;", "x[n]; p[n + 1]; q[n]", "x[n]; p[n + 1]/; q[n]?"),
        (TWO, "x[p[threadIdx.x] + q[threadIdx.x]] = threadIdx.x;", "x[n]; p[n]; q[n]",
         "x[63]!; p[n]/; q[n]/"),
        (PICKED, "x[p[threadIdx.x] / 2] = threadIdx.x;", "x[n]; p[n]", "x[n]; p[n]"),
        (PICKED, "x[p[threadIdx.x]] = threadIdx.x;", "x[q]; p[n]", "x[q]; p[n]"),
        ("float* x, int n", "x[threadIdx.x / 2] = threadIdx.x;", "x[n]", "x[n]"),
    ],
)  # fmt: skip
def test_arrays_hold_places_where_random_digits_race(
    parameters: str, body: str, arrays: str, found: str
) -> None:
    kernel = kernel_of(parameters, body)
    assert given(guess.with_places(kernel, form_of(arrays))) == f"1 1 1; 32 1 1; {found}; n=32"
    of_task = form_of(arrays, task="copy")
    assert guess.with_places(kernel, of_task) is of_task


# Where no block may be run ------------------------------------------------------------------------


def run(launch: str) -> str:
    return f"void run(float* x, int n, float f) {{ k<<<{launch}>>>(x, n, f); }}"


def main(n: str, m: int, launch: str, **cells: str) -> str:
    """A main whose arrays have so many cells; k is launched with what follows a semicolon."""
    room = "".join(f"cudaMalloc(&{name}, ({count}) * 4);" for name, count in cells.items())
    sizes, _, passed = launch.partition("; ")
    return (
        f"int main() {{ float *x, *y; int n = {n}, m = {m}, l = 8, h = 8; {room}"
        f" k<<<{sizes}>>>({passed}); }}"
    )


@pytest.mark.parametrize(
    ("parameters", "body", "host", "found"),
    [
        ("float* x, int n, float a, unsigned m", STORE, "",
         "1 1 1; 256 1 1; x[256]; n=16; a=1; m=16"),
        ("float* x, int n, float a", STORE, "", "1 1 1; 256 1 1; x[256]; n=256; a=1"),
        ("float* x, int n", "x[0] = 1;", "", "1 1 1; 1 1 1; x[1]; n=1"),
        ("float* x, int n", "x[blockIdx.x] = 1;", "", "2 1 1; 1 1 1; x[2]; n=2"),
        ("float* x, int n", "x[blockIdx.y] = 1;", "", "1 2 1; 1 1 1; x[2]; n=2"),
        ("float* x, int n", "x[blockIdx.x + blockIdx.y] = threadIdx.y;", "",
         "2 2 1; 16 16 1; x[1024]; n=32"),
        ("float* x, int n", "x[threadIdx.x] = threadIdx.z;", "", "1 1 1; 16 16 1; x[256]; n=16"),
        ("float** x, float (*y)[3], float (*z)[4][5], int* c",
         "x[threadIdx.x][0] = atomicAdd(c, 1);", "",
         "1 1 1; 256 1 1; x[16, 16]; y[86, 3]; z[13, 20]; c[256]*"),
        ("float** x", "x[0][0] = 1;", "", "1 1 1; 1 1 1; x[8, 8]"),
        ("float* x, int n, float f", STORE, run("n, 32"),
         "n 1 1; 32 1 1; x[1024]; n=1024; f=1"),
        ("float* x, int n, float f", STORE, run("f, 32"), "1 1 1; 32 1 1; x[32]; n=32; f=1"),
        ("float* x, int n, int m, float f", STORE,
         main("64", 9, "4, 32; x, n, m, 2.5f", x="n * m"),
         "4 1 1; 32 1 1; x[n * m]; n=64; m=9; f=2.5"),
        ("int* x, float* y, int n, int m", "atomicAdd(x, 1);",
         main("64", 1, "4, 32; x, y, n, m", x="n * m", y="m"),
         "4 1 1; 32 1 1; x[n]*; y[m]; n=64; m=1"),
        ("float* x, float* y, int n, int m", STORE,
         main("64", 2, "4, 32; x, y, n, m", x="5", y="n * n"),
         "4 1 1; 32 1 1; x[5]; y[n * n]; n=64; m=2"),
        ("float* x, int n", STORE, main("1 << 17", 1, "n / 256, 256; x, n", x="n"),
         "n / 256 1 1; 256 1 1; x[n]; n=1000"),
        ("float* x, int n", STORE, main("1 << 16", 1, "n / 256, 256; x, n", x="n"),
         "n / 256 1 1; 256 1 1; x[n]; n=65536"),
        ("float* x, int n, int m", STORE,
         main("1 << 10", 512, "dim3(n, m), 16; x, n, m", x="n * m"),
         "n m 1; 16 1 1; x[n * m]; n=40; m=40"),
        ("float* x, int n, int m, int l, int h", STORE,
         main("1 << 10", 512, "dim3(n, m, l * h), 16; x, n, m, l, h", x="n * m"),
         "n m l * h; 16 1 1; x[n * m]; n=10; m=10; l=10; h=10"),
        ("float* x, int n", STORE, main("1024", 1, "65536, 256; x, n"),
         "65536 1 1; 256 1 1; x[16777216]; n=1024"),
    ],
)  # fmt: skip
def test_a_form_from_the_text_alone(
    monkeypatch: pytest.MonkeyPatch, parameters: str, body: str, host: str, found: str
) -> None:
    assert given(from_text(monkeypatch, kernel_of(parameters, body, host=host))) == found


def test_a_block_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    form = from_text(monkeypatch, kernel_of("float* x"), ("8", "4", "1"))
    assert given(form) == "1 1 1; 8 4 1; x[32]"


TILES = """nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> s;
    nvcuda::wmma::fill_fragment(s, 0.0f);
    nvcuda::wmma::store_matrix_sync(x, s, 16, nvcuda::wmma::mem_row_major);"""


def test_sides_of_whole_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of("float* x, float** y, int n, int m", TILES, "#include <mma.h>")
    form = from_text(monkeypatch, kernel)
    assert given(form) == "1 1 1; 32 1 1; x[32]; y[16, 16]; n=16; m=16"


@pytest.mark.parametrize(
    ("shared", "launch", "found"),
    [
        ("", "", "0"),
        ("extern __shared__ double s[]; s[0] = 1;", "", "16"),
        ("extern __shared__ double s[]; s[threadIdx.x] = 1;", "", "16 * 256"),
        ("extern __shared__ float2 s[]; s[threadIdx.x + threadIdx.y].x = 1;", "", "16 * 16 * 16"),
        ("extern __shared__ char s[]; s[threadIdx.x] = 1;", "1, TILE, 64", "64"),
        ("extern __shared__ char s[]; s[threadIdx.x] = 1;", "1, TILE + 1", "2 * (TILE + 1)"),
        ("__shared__ float s[4]; s[threadIdx.x] = 1;", "", "0"),
    ],
)
def test_dynamic_shared_memory(
    monkeypatch: pytest.MonkeyPatch, shared: str, launch: str, found: str
) -> None:
    host = f"void run() {{ k<<<{launch}>>>(0); }}" if launch else ""
    kernel = kernel_of("float* x", shared, "#define TILE 9", host)
    assert from_text(monkeypatch, kernel).shared_bytes == found


def from_text(
    monkeypatch: pytest.MonkeyPatch, kernel: Kernel, block: Sizes3 | None = None
) -> LaunchForm:
    """What a kernel is given whose first block does not seem to end."""

    def never_ends(*_: object) -> LaunchForm:
        raise MayNeverEndError

    monkeypatch.setattr(guess, "_guessed_form", never_ends)
    return guess.guess_form(kernel.text, kernel, block=block)


# A task that is known, or that was found out ------------------------------------------------------

X_LINE = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
M_LINE = X_LINE.replace("i < n", "i < m")
FLAT = "int at = blockIdx.x * blockDim.x + threadIdx.x, i = at / n, j = at % n; if (i < m) "
SQUARE = "int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;"
INSIDE = SQUARE + "if (i < m && j < n) "
TURNED = INSIDE.replace("int i", "int J").replace(" j =", " i =").replace("J", "j")
ABC = "const float* a, const float* b, float* c, int m, int n, int k"
CELL = (
    "{ float s = 0; for (int e = 0; e < k; ++e) s += a[i * k + e] * b[e * n + j];"
    " c[i * n + j] = s; }"
)
SEVERAL = (
    "int top = (blockIdx.y * 16 + threadIdx.y) * {0}, left = (blockIdx.x * 16 + threadIdx.x) * {1};"
    " for (int i = top; i < top + {0}; ++i) for (int j = left; j < left + {1}; ++j)"
    " if (i < m && j < n) "
)
STRIDED = (
    SQUARE + "for (; i < m; i += gridDim.y * 16)"
    " for (int l = j; l < n; l += gridDim.x * 16) " + CELL.replace("j", "l")
)
CONVOLVED = (
    "{ float s = 0; for (int j = 0; j < width; ++j) { int at = i + j - width / 2;"
    " if (at >= 0 && at < n) s += x[at] * w[j]; } y[i] = s; }"
)
SUMMED = "{ float s = 0; for (int j = 0; j < n; ++j) s += x[i * n + j]; y[i] = s; }"
TWO_SIZES = "const float* x, float* y, int m, int n"
SQUARES = "(n + 16 - 1) / 16 (m + 16 - 1) / 16 1"
BOTH = (
    "void run(float* a, float* b, float* c, int m, int n, int l) {{ k<<<{}>>>(a, b, c, m, n, l); }}"
)
OTHERS = BOTH.replace("int m, int n,", "int p, int q,").replace("m, n,", "p, p,")


@pytest.mark.parametrize(
    ("task", "parameters", "body", "host", "found"),
    [
        ("copy", COPY, X_LINE + "y[i] = x[i];", "", "(n + 256 - 1) / 256 1 1; 256 1 1; n=64"),
        ("copy", COPY, X_LINE + "y[i] = 1;", "", "(n + 256 - 1) / 256 1 1; 256 1 1; n=64"),
        ("copy", COPY, "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;"
         " i += gridDim.x * blockDim.x) y[i] = x[i];", "",
         "(n + 512 - 1) / 512 1 1; 256 1 1; n=64"),
        ("convolution", "const float* x, const float* w, float* y, int n, int width",
         X_LINE + CONVOLVED, "", "(n + 256 - 1) / 256 1 1; 256 1 1; n=64; width=5"),
        ("transpose", TWO_SIZES, INSIDE + "y[j * m + i] = x[i * n + j];", "",
         f"{SQUARES}; 16 16 1; m=32; n=32"),
        ("row_sums", TWO_SIZES, M_LINE + SUMMED, "",
         "(m + 256 - 1) / 256 1 1; 256 1 1; m=64; n=64"),
        ("row_sums", TWO_SIZES, "int i = blockIdx.x; if (threadIdx.x == 0 && i < m) " + SUMMED, "",
         "m 1 1; 256 1 1; m=8; n=8"),
        ("product", ABC, INSIDE + CELL, "", f"{SQUARES}; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC, TURNED + CELL, "",
         "(m + 16 - 1) / 16 (n + 16 - 1) / 16 1; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC, INSIDE.replace("16", "32") + CELL, "",
         "(n + 32 - 1) / 32 (m + 32 - 1) / 32 1; 32 32 1; m=64; n=64; k=64"),
        ("product", ABC, FLAT + CELL, "",
         "(m * n + 256 - 1) / 256 1 1; 256 1 1; m=8; n=8; k=8"),
        ("product", ABC, SEVERAL.format(4, 2) + CELL, "",
         "(n + 32 - 1) / 32 (m + 64 - 1) / 64 1; 16 16 1; m=64; n=64; k=16"),
        ("product", ABC, SEVERAL.format(2, 2) + CELL, "",
         "(n + 32 - 1) / 32 (m + 32 - 1) / 32 1; 16 16 1; m=64; n=64; k=64"),
        ("product", ABC, STRIDED, "",
         "(n + 32 - 1) / 32 (m + 32 - 1) / 32 1; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC, INSIDE + CELL, BOTH.format("dim3(n / 64, m / 16), dim3(16, 16)"),
         "n / 64 m / 16 1; 16 16 1; m=64; n=64; k=64"),
        ("product", ABC, INSIDE + CELL, BOTH.format("dim3(n / 512, m / 16), dim3(16, 16)"),
         "n / 512 m / 16 1; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC, INSIDE + CELL, BOTH.format("dim3(4, 4), dim3(16, 16)"),
         f"{SQUARES}; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC, "if (n < 0) c[blockIdx.x + threadIdx.x] = a[0] * b[0];", "",
         "(n + 256 - 1) / 256 1 1; 256 1 1; m=8; n=8; k=8"),
        ("product", ABC, "if (n < 0) c[blockIdx.y + threadIdx.y] = a[0] * b[0];", "",
         "1 (m + 16 - 1) / 16 1; 16 16 1; m=8; n=8; k=8"),
        ("product", ABC, INSIDE.replace("16", "8") + CELL,
         OTHERS.format("dim3(p / 8, p / 8), dim3(8, 8)"),
         "(n + 8 - 1) / 8 (m + 8 - 1) / 8 1; 8 8 1; m=8; n=8; k=8"),
        ("product", ABC, INSIDE + CELL, OTHERS.format("dim3(p / 16, p / 16), dim3(16, 16)"),
         f"{SQUARES}; 16 16 1; m=32; n=32; k=32"),
        ("product", ABC.replace("int m, int n, int k", "float more"),
         "const int m = N, n = N, k = N; " + INSIDE + CELL,
         "void run(float* a, float* b, float* c) { k<<<dim3(3, 2), dim3(16, 16)>>>(a, b, c, 1); }",
         "3 2 1; 16 16 1; more=2"),
    ],
)  # fmt: skip
def test_a_form_of_a_task_that_is_known(
    monkeypatch: pytest.MonkeyPatch, task: str, parameters: str, body: str, host: str, found: str
) -> None:
    monkeypatch.setattr(guess, "_discover", lambda *_: None)
    kernel = kernel_of(parameters, body, "#define N 24", host)
    form = guess.guess_form(kernel.text, kernel, task)
    assert "; ".join(one for one in given(form).split("; ") if "[" not in one) == found
    assert form.task == task


@pytest.mark.parametrize(
    ("size", "name"),
    [("64", "TILE_ROW"), ("32", "TILE"), ("16", "THREADS"), ("8", "8")],
)
def test_a_tile_has_the_name_of_a_macro(
    monkeypatch: pytest.MonkeyPatch, size: str, name: str
) -> None:
    monkeypatch.setattr(guess, "_discover", lambda *_: None)
    macros = {"OTHER": 64, "TILE_COL": 64, "TILE_ROW": 64, "LONG": 32, "TILE": 32,
              "LANES": 16, "THREADS": 16}  # fmt: skip
    defined = "".join(f"#define {one} {value}\n" for one, value in macros.items())
    body = (
        f"int i = blockIdx.y * {size} + threadIdx.y, l = blockIdx.x * {size} + threadIdx.x;"
        f" for (int at = i; at < i + {size}; at += 8) for (int j = l; j < l + {size}; j += 8)"
        " if (at < m && j < n) " + CELL.replace("i *", "at *")
    )
    host = f"int main() {{ k<<<1, dim3({'THREADS / 2' if name == 'THREADS' else 8}, 8)>>>(0); }}"
    kernel = kernel_of(ABC, body, defined, host)
    assert guess.guess_form(kernel.text, kernel, "product").grid[1] == f"(m + {name} - 1) / {name}"


def test_a_first_block_that_promises_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "_discover", lambda *_: None)
    kernel = kernel_of(ABC, INSIDE + CELL.replace("s = 0", "s = blockIdx.x"))
    form = guess.guess_form(kernel.text, kernel, "product")
    assert (form.task, form.grid) == ("product", three("(n + 16 - 1) / 16, (m + 16 - 1) / 16"))
    assert guess.guess_form(kernel.text, kernel).task == ""
    anything = guess.guess_form(kernel.text, kernel, "")
    assert (anything.task, anything.roles, anything.grid) == ("", (), form.grid)
    odd = kernel_of(ABC, SEVERAL.format(3, 3) + CELL.replace("s = 0", "s = blockIdx.x"))
    assert given(guess.guess_form(odd.text, odd, "product")).endswith("; m=64; n=64; k=16")
    monkeypatch.setattr(guess, "HOLDING_SECONDS", 0.0)  # so that the first block is enough
    assert guess.guess_form(kernel.text, kernel).task == "product"
    wrong = kernel_of(ABC, INSIDE + CELL.replace("s = 0", "s = 1"))
    assert guess.guess_form(wrong.text, wrong, "").grid == three("2, 2")


FOUND = Discovery(three("(n + 31) / 32"), three("32"), {"n": 20}, {"x": "n", "y": "n"}, {},
                  frozenset(), (), is_fixed=False, has_faults=False)  # fmt: skip
SCALE = "const float* x, float* y, int n, float f"
SCALED = "x=x y=y n=n a=f"


def launch_of(n: str, launch: str) -> str:
    return f"int main() {{ float *x, *y; int n = {n}; k<<<{launch}); }}"


@pytest.mark.parametrize(
    ("host", "of_task", "without"),
    [
        ("", "(n + 31) / 32; n=64; f=2", "(n + 31) / 32; n=20; f=1"),
        (launch_of("100", "4, 32>>>(x, y, n, 2.5f"), "4; n=100; f=2.5", "4; n=100; f=2.5"),
        (launch_of("100", "4, 32>>>(x, y, n, 3"), "4; n=100; f=3", "4; n=100; f=3"),
        (launch_of("100", "2, 32>>>(x, y, n, 3"), "(n + 31) / 32; n=64; f=2", "2; n=100; f=3"),
        (launch_of("100", "4, 32>>>(x, y, n, unknown"), "(n + 31) / 32; n=64; f=2",
         "(n + 31) / 32; n=100; f=1"),
        (launch_of("100", "0, 32>>>(x, y, n, 3"), "0; n=64; f=2", "0; n=100; f=3"),
        (launch_of("100", "(n + 31) / 32, 32>>>(x, y, n, 3"), "(n + 31) / 32; n=64; f=2",
         "(n + 31) / 32; n=100; f=3"),
        (launch_of("100", "(n + 31) / 32, 32>>>(x, y, n + 0, 3"), "(100 + 31) / 32; n=100; f=3",
         "(100 + 31) / 32; n=100; f=3"),
        (launch_of("1 << 20", "32768, 32>>>(x, y, n, 3"), "(n + 31) / 32; n=64; f=2",
         "(n + 31) / 32; n=20; f=3"),
    ],
)  # fmt: skip
def test_the_numbers_of_the_files_launch(
    monkeypatch: pytest.MonkeyPatch, host: str, of_task: str, without: str
) -> None:
    kernel = kernel_of(SCALE, X_LINE + "y[i] = f * x[i];", host=host)
    pairs = [one.split("=") for one in SCALED.split()]
    fit = Fit(TASKS["scaled"], tuple((role, what) for role, what in pairs), 1.0)
    for fits, task, expected in (((fit,), "scaled", of_task), ((), "", without)):
        found = replace(FOUND, fits=fits)
        monkeypatch.setattr(guess, "_discover", lambda *_, found=found: found)
        form = guess.guess_form(kernel.text, kernel)
        grid, *sizes = expected.split("; ")
        assert given(form) == f"{grid} 1 1; 32 1 1; x[n]; y[n]; {'; '.join(sizes)}"
        assert form.task == task


@pytest.mark.parametrize(("task", "expected"), [("scaled", "scaled"), (None, ""), ("", "")])
def test_the_likeliest_roles_do_for_a_task_that_is_known(
    monkeypatch: pytest.MonkeyPatch, task: str | None, expected: str
) -> None:
    kernel = kernel_of(SCALE, X_LINE + "y[i] = f;")
    fit = Fit(TASKS["scaled"], (("x", "x"), ("y", "y"), ("n", "n"), ("a", "f")), 0.3)
    monkeypatch.setattr(guess, "_discover", lambda *_: replace(FOUND, fits=(fit,)))
    form = guess.guess_form(kernel.text, kernel, task)
    assert (form.task, form.roles) == (expected, fit.roles if expected else ())
    assert form.grid == FOUND.grid


@pytest.mark.parametrize(
    ("parameters", "host", "grid", "blocks", "allocated"),
    [
        ("float* x, int n", "", None, None, None),
        ("float* x, int n, float f", run("n, 32"), ("n", "1", "1"), "32", None),
        ("float* x, int n, float f", run("4, 32"), None, "32", None),
        ("float* x, float f", "void run(float* x) { k<<<4, 32>>>(x, 1); }", ("4", "1", "1"), "32",
         None),
        ("float* x, int n", main("64", 1, "n / 32, 32; x, n", x="n"), ("n / 32", "1", "1"), "32",
         Allocated({"n": 64}, {"x": 64})),
        ("float* x, int n", main("64", 1, "4, 32; x, n"), None, "32", None),
        ("float* x, float f", main("64", 1, "4, 32; x, n", x="n"), ("4", "1", "1"), "32", None),
    ],
)  # fmt: skip
def test_what_the_text_says_before_a_kernel_is_tried(
    monkeypatch: pytest.MonkeyPatch, parameters: str, host: str, grid: Sizes3 | None,
    blocks: str | None, allocated: Allocated | None,
) -> None:  # fmt: skip
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(guess, "discover", lambda *given: asked.append(given))
    monkeypatch.setattr(guess, "MOST_BLOCKS", 3)
    kernel = kernel_of(parameters, host=host)
    guess.guess_form(kernel.text, kernel)
    tried = likely_blocks(kernel)[:3] if blocks is None else [three(blocks)]
    assert asked == [(kernel, tried, ["0"] * len(tried), grid, (), allocated)]


def test_a_task_that_is_none_is_refused_whatever_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = kernel_of("float* y, int n", "y[0] = 1;")
    fit = Fit(TASKS["sort"], (("x", "y"), ("n", "n")), 1.0)
    monkeypatch.setattr(guess, "_discover", lambda *_: replace(FOUND, fits=(fit,)))
    with pytest.raises(LaunchError, match="'sorted' is not a task"):
        guess.guess_form(kernel.text, kernel, "sorted")
    assert guess.guess_form(kernel.text, kernel, "sum").task == "sort"
    monkeypatch.setattr(guess, "_discover", lambda *_: None)
    with pytest.raises(LaunchError, match="needs 3 pointers"):
        guess.guess_form(kernel.text, kernel, "sum")
