"""What running a kernel tells of its launch: its grid, its sizes, its arrays and its task."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from simulator import compile_kernel
from simulator.verdict.discovery import Discovery, discover
from simulator.verdict.fit import Fit
from simulator.verdict.form import Sizes3
from simulator.verdict.tasks import TASKS

pytestmark = pytest.mark.usefixtures("_less_room")
X = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
XY = "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
MATRIX = "const float* a, float* b, int h, int w"
VECTORS = "const float* x, float* y, int n"
ROUNDED_UP, CEIL = re.compile(r"\((\w+(?: \* \w+)?) \+ (\d+) - 1\) / \2"), r"ceil(\1 / \2)"
LINE, SQUARE = ("64", "1", "1"), ("16", "16", "1")


def discovered(
    text: str,
    blocks: Sequence[Sizes3] = (LINE,),
    grid: Sizes3 | None = None,
    tasks: Sequence[str] = ("copy",),
) -> Discovery:
    kernel = compile_kernel(f"__global__ void k({text}")
    found = discover(kernel, blocks, ["0"] * len(blocks), grid, tasks)
    assert found is not None
    return found


def told(found: Discovery) -> str:
    """A discovery in a line: the grid; its sizes; its arrays; its strides; its task."""
    grid = ROUNDED_UP.sub(CEIL, ", ".join(found.grid).removesuffix(", 1").removesuffix(", 1"))
    sizes = " ".join(f"{name}={value}" for name, value in found.values.items())
    cells = " ".join(
        f"{name}[{'seen ' * (name in found.seen)}{ROUNDED_UP.sub(CEIL, many)}]"
        for name, many in found.cells.items()
    )
    strides = "".join(f" {name}={value}" for name, value in found.strides.items())
    task = "".join(f"{one.task.name} {one.agreement:.2f}" for one in found.fits[:1])
    return f"{grid}; {sizes}; {cells}{strides}; {task}"


KERNELS: dict[str, tuple[str, str]] = {
    "nothing is loaded": (
        f"float* y, int n) {{ {X} if (i < n) y[i] = 1; }}",
        "ceil(n / 64); n=128; y[n]; ",
    ),
    "a guard": (
        f"{VECTORS}) {{ {X} if (i < n) y[i] = x[i]; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 1.00",
    ),
    "no guard": (
        f"{VECTORS}) {{ {X} y[i] = x[i]; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 1.00",
    ),
    "two each": (
        f"{VECTORS}) {{ {X} i *= 2; if (i + 1 < n) {{ y[i] = x[i]; y[i + 1] = x[i + 1]; }} }}",
        "ceil(n / 128); n=256; x[n] y[n]; copy 1.00",
    ),
    "blocks that only store": (
        f"{VECTORS}) {{ {X} float v = 0; if (i < n) v = x[i];"
        " if (threadIdx.x == 0) y[blockIdx.x] = v; }",
        "ceil(n / 64); n=128; x[n] y[ceil(n / 64)]; ",
    ),
    "one thread stores": (
        f"{VECTORS}) {{ int i = blockIdx.x; if (i < n && threadIdx.x == 0) y[i] = x[i]; }}",
        "n; n=64; x[n] y[n]; copy 1.00",
    ),
    "only some values": (
        f"{VECTORS}) {{ {X} if (i < n && x[i] > 0.5f) y[i] = x[i]; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 0.43",
    ),
    "a neighbour beyond": (
        f"{VECTORS}) {{ {X} if (i < n) y[i] = x[i + 1]; }}",
        "ceil(n / 64); n=128; x[n + 1] y[n]; copy 0.05",
    ),
    "without the end": (
        f"{VECTORS}) {{ int i = blockIdx.x; if (i < n - 2) y[i] = x[i]; }}",
        "n; n=64; x[n] y[n]; copy 0.50",
    ),
    "without a long end": (
        f"{VECTORS}) {{ int i = blockIdx.x; if (i < n - 9) y[i] = x[i]; }}",
        "n; n=64; x[seen 87] y[seen 87]; copy 0.85",
    ),
    "two blocks for each": (
        f"{VECTORS}) {{ int i = blockIdx.x / 2; if (i < n) y[i] = x[i]; }}",
        "n; n=64; x[seen 48] y[seen 48]; ",
    ),
    "a loop over the grid": (
        f"{VECTORS}) {{ {X} for (; i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; }}",
        "ceil(n / 128); n=256; x[n] y[n]; copy 1.00",
    ),
    "vectors of four": (
        f"const float4* x, float4* y, int n) {{ {X} if (i < n / 4) y[i] = x[i]; }}",
        "ceil(n / 256); n=512; x[n] y[n]; copy 1.00",
    ),
    "no size": (
        f"const float* x, float* y) {{ {X} y[i] = x[i]; }}",
        "2; ; x[128] y[128]; copy 1.00",
    ),
    "a size of its own": (
        f"const float* x, float* y) {{ {X} if (i < 100) y[i] = x[i]; }}",
        "2; ; x[100] y[100]; copy 1.00",
    ),
    "one more than the size": (
        f"{VECTORS}) {{ {X} if (i <= n) y[i] = x[i]; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 1.00",
    ),
    "half as many again": (
        f"{VECTORS}) {{ {X} if (i < n + n / 2) y[i] = x[i]; }}",
        "ceil(n / 42); n=84; x[seen 189] y[seen 189]; ",
    ),
    "one block": (
        f"{VECTORS}) {{ int i = threadIdx.x; if (i < n) y[i] = x[i]; }}",
        "1; n=64; x[n] y[n]; copy 1.00",
    ),
    "a product of sizes": (
        f"const float* a, float* b, int w, int h) {{ {X} if (i < w * h) b[i] = a[i]; }}",
        "ceil(w * h / 64); w=3 h=96; a[w * h] b[w * h]; copy 1.00",
    ),
    "a product without a guard": (
        f"{MATRIX}) {{ {X} b[i] = a[i]; }}",
        "ceil(h * w / 64); h=128 w=192; a[24576] b[24576]; copy 1.00",
    ),
    "three sizes": (
        f"{MATRIX}, int r) {{ {X} if (i < h && r > 0) for (int j = 0; j < w; ++j)"
        " b[i * w + j] = a[i * w + j]; }",
        "ceil(h / 64); h=128 w=3 r=8; a[h * w] b[h * w]; copy 1.00",
    ),
    "elements apart": (
        f"{VECTORS}, int step) {{ {X} if (i < n) y[i] = x[i * step]; }}",
        "ceil(n / 64); n=128; x[n] y[n] step=1; copy 1.00",
    ),
    "a batch": (
        f"{VECTORS}, int batch) {{ {X} i += n * blockIdx.y; y[i] = x[i]; }}",
        "ceil(n / 64), batch; n=128 batch=2; x[n * batch] y[n * batch]; copy 1.00",
    ),
    "a radius": (
        f"{VECTORS}, int radius) {{ {X} if (i < n) y[i] = x[i + radius]; }}",
        "ceil(n / 64); n=128 radius=2; x[seen 195] y[n]; copy 0.05",
    ),
    "wrong at a third": (
        f"{VECTORS}) {{ {X} if (i < n) y[i] = i % 3 ? x[i] : 70; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 0.65",
    ),
    "another function": (
        f"{VECTORS}) {{ {X} if (i < n) y[i] = x[i] > -1 ? x[i] : 5; }}",
        "ceil(n / 64); n=128; x[n] y[n]; copy 0.50",
    ),
    "sums of blocks": (
        f"{MATRIX}) {{ {X} for (int j = 0; j < h; ++j) if (i < w && threadIdx.x == 0)"
        " b[blockIdx.x * h + j] = a[j * w + i]; }",
        "ceil(w / 64); h=3 w=192; a[seen 577] b[(ceil(w / 64)) * h]; ",
    ),
    "an inner size": (
        f"{MATRIX}) {{ {X} if (i < h) for (int j = 0; j < w; ++j) b[i * w + j] = a[i * w + j]; }}",
        "ceil(h / 64); h=128 w=3; a[h * w] b[h * w]; copy 1.00",
    ),
}
OF_SQUARES: dict[str, tuple[str, str]] = {
    "both ways": (
        f"{MATRIX}) {{ {XY} if (x < w && y < h) b[y * w + x] = a[y * w + x]; }}",
        "ceil(w / 16), ceil(h / 16); h=64 w=96; a[h * w] b[h * w]; copy 1.00",
    ),
    "no guard": (
        f"{MATRIX}) {{ {XY} b[x * h + y] = a[y * w + x]; }}",
        "ceil(w / 16), ceil(h / 16); h=64 w=96; a[h * w] b[h * w]; transpose 1.00",
    ),
    "only of squares": (
        f"{MATRIX}) {{ {XY} if (x < w && y < h) b[y * w + x] = a[x * w + y]; }}",
        "ceil(w / 16), ceil(h / 16); h=64 w=64; a[h * h] b[h * h]; transpose 1.00",
    ),
    "of one size": (
        f"const float* a, float* b, int n) {{ {XY} b[x * n + y] = a[y * n + x]; }}",
        "ceil(n / 16), ceil(n / 16); n=64; a[n * n] b[n * n]; transpose 1.00",
    ),
    "two strides": (
        f"const float* a, float* b, int lda, int ldb, int w, int h) {{ {XY}"
        " if (x < w && y < h) b[x * ldb + y] = a[y * lda + x]; }",
        "ceil(w / 16), ceil(h / 16); w=64 h=96; a[w * h] b[w * h] lda=w ldb=h; transpose 1.00",
    ),
    "colours": (
        f"float* a, int pitch, int w, int h) {{ {XY} if (x < w && y < h)"
        " for (int c = 0; c < 3; ++c) a[y * pitch + 3 * x + c] = x; }",
        "ceil(w / 16), ceil(h / 16); w=64 h=96; a[seen 18432] pitch=3 * w; ",
    ),
    "a border": (
        f"float* a, int pitch, int w, int h) {{ {XY} if (x < w && y < h)"
        " { a[y * pitch + x] = 0; if (x < h) a[y * pitch + w + x] = x; } }",
        "ceil(w / 16), ceil(h / 16); w=64 h=96; a[seen 15328] pitch=w + h; ",
    ),
    "a fault in another block": (
        f"float* a, int pitch, int w, int h) {{ {XY} if (x < w && y < h)"
        " a[(y == 20 ? -1 : y) * pitch + x] = x; }",
        "ceil(w / 16), ceil(h / 16); w=64 h=96; a[seen 145984] pitch=1536; ",
    ),
    "blocks in diagonal order": (
        f"{MATRIX}) {{ int x = threadIdx.x + blockDim.x * ((blockIdx.x + blockIdx.y) % gridDim.x),"
        " y = threadIdx.y + blockDim.y * blockIdx.x;"
        " if (x < w && y < h) b[x * h + y] = a[y * w + x]; }",
        "ceil(h / 16), ceil(w / 16); h=64 w=64; a[h * h] b[h * h]; transpose 1.00",
    ),
    "three axes": (
        f"const float* a, float* b, int p, int q, int r) {{ {XY} int z = blockIdx.z;"
        " if (x < r && y < q && z < p) b[(z * q + y) * r + x] ="
        " a[(z * q + y) * r + x]; }",
        "ceil(r / 16), ceil(q / 16), p; p=64 q=96 r=32; a[p * q * r] b[p * q * r]; transpose 0.06",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_line_of_threads(name: str) -> None:
    text, expected = KERNELS[name]
    assert told(discovered(text)) == expected


def test_one_thread_has_few_elements() -> None:
    text = f"{VECTORS}) {{ for (int i = 0; i < n; ++i) y[i] = x[i]; }}"
    assert told(discovered(text, [("1", "1", "1")])) == "1; n=40; x[n] y[n]; copy 1.00"


@pytest.mark.parametrize("name", OF_SQUARES)
def test_a_square_of_threads(name: str) -> None:
    text, expected = OF_SQUARES[name]
    assert told(discovered(text, (SQUARE,), tasks=("copy", "transpose"))) == expected


STAGED = (
    f"{VECTORS}) {{ __shared__ float s[64]; {X} s[threadIdx.x] = i < n ? x[i] : 0; __syncthreads();"
    " if (i < n) y[i] = s[threadIdx.x]; }"
)
BY_64 = f"{VECTORS}) {{ int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i]; }}"


def test_a_block_is_found_that_runs_without_faults_and_explains_most() -> None:
    blocks = [("2048", "1", "1"), ("128", "1", "1"), LINE]  # too many threads, too many for s
    assert discovered(STAGED, blocks).block == LINE
    kernel = compile_kernel(f"__global__ void k({STAGED}")
    assert discover(kernel, blocks[:2], ["0", "0"]) is None
    assert discovered(BY_64, [("16", "1", "1"), LINE]).block == LINE
    assert discovered(BY_64, [("60", "1", "1"), LINE]).block == LINE
    assert discovered(BY_64, [LINE, ("16", "1", "1")]).block == LINE


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ("n / 64", "n / 64; n=128; x[n] y[n]; copy 1.00"),
        ("n / 32", "n / 32; n=64; x[n] y[n]; copy 1.00"),
        ("n / 512", "n / 512; n=1024; x[seen 192] y[seen 192]; "),  # none at the usual sizes
        ("3", "3; n=64; x[n] y[n]; copy 1.00"),
    ],
)
def test_a_grid_that_is_known(grid: str, expected: str) -> None:
    text, _ = KERNELS["a guard"]
    assert told(discovered(text, grid=(grid, "1", "1"))) == expected


def test_a_size_beside_a_grid_that_is_known_is_small() -> None:
    text, _ = KERNELS["an inner size"]
    expected = "h / 64; h=128 w=3; a[h * w] b[h * w]; copy 1.00"
    assert told(discovered(text, grid=("h / 64", "1", "1"))) == expected


@pytest.mark.parametrize(
    ("agreement", "has_faults", "is_explained", "is_known"),
    [
        (1.0, False, True, True),
        (0.999, False, False, True),
        (0.6, False, False, True),
        (0.59, False, False, False),
        (1.0, True, False, False),
        (None, False, False, False),
    ],
)
def test_what_a_task_explains(
    agreement: float | None, has_faults: bool, is_explained: bool, is_known: bool
) -> None:
    fits = () if agreement is None else (Fit(TASKS["copy"], (), agreement),)
    one = ("1", "1", "1")
    found = Discovery(one, LINE, {"n": 8}, {}, {}, frozenset(), fits, False, has_faults)
    assert (found.is_explained, found.task is not None) == (is_explained, is_known)
    assert found.sizes == ("n",)
