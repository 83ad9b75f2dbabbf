"""Kernels for which one block is enough, or a whole grid's loop runs once, and what shows more."""

from __future__ import annotations

import pytest

from simulator import compile_kernel
from simulator.verdict.form import UserKernel
from simulator.verdict.grid_loops import rounds
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.verdict import State, Verdict

pytestmark = pytest.mark.usefixtures("_time_for_all_sizes", "_no_repairs")
SCALED = "float a, const float* x, float* y, int n"
STORE = "if (i < n) y[i] = a * x[i];"
MATRICES = "const float* A, const float* B, float* C, int M, int N, int K"
TOTAL = """__shared__ float s[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) { float all = 0; for (int t = 0; t < 256; ++t) all += s[t]; *y = all; }"""
SCAN = """__shared__ float s[256];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float before = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    if (t < n) y[t] = s[t];"""
PRODUCT = """int i = threadIdx.y, j = threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;"""
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = a * x[i];"


def judged(parameters: str, body: str, host: str = "", task: str | None = None) -> Verdict:
    text = f"__global__ void f({parameters}) {{\n    {body}\n}}\n{host}"
    kernel = compile_kernel(text)
    return judge(UserKernel(text, "f", guess_form(text, kernel, task)), kernel)


@pytest.mark.parametrize(
    ("parameters", "body", "sentence"),
    [
        (SCALED, f"int i = threadIdx.x; {STORE}",
         "Right as long as one block of 256 threads is enough, wrong at n = 520: without blockIdx "
         "more blocks would do the same again. For larger sizes use blockIdx.x * blockDim.x + "
         "threadIdx.x."),
        ("const float* x, float* y, int n", SCAN,
         "Right as long as one block of 256 threads is enough, wrong at n = 520: without blockIdx "
         "more blocks would do the same again."),
        (MATRICES, PRODUCT,
         "Right as long as one block of 16 x 16 threads is enough, wrong at M = 40, N = 8, K = 8: "
         "without blockIdx more blocks would do the same again. For larger sizes use blockIdx.x * "
         "blockDim.x + threadIdx.x and blockIdx.y * blockDim.y + threadIdx.y."),
    ],
)  # fmt: skip
def test_a_kernel_without_blockidx_is_right_as_far_as_its_block_goes(
    parameters: str, body: str, sentence: str
) -> None:
    verdict = judged(parameters, body)
    assert (verdict.state, verdict.next_step) == (State.LIMITED, sentence)


@pytest.mark.parametrize(
    ("host", "state"),
    [
        ("<<<1, 256>>>", State.RIGHT),  # its own launch says that one block is meant
        ("<<<(n + 127) / 128, 128>>>", State.WRONG),
    ],
)
def test_the_files_launch_says_whether_one_block_is_meant(host: str, state: State) -> None:
    run = f"void run(float* x, float* y, int n) {{ f{host}(2.0f, x, y, n); }}"
    verdict = judged(SCALED, f"int i = threadIdx.x; {STORE}", run, "scaled")
    assert verdict.state is state, verdict.next_step


@pytest.mark.parametrize(("old", "new", "state"), [
    ("", "", State.RIGHT), ("sum += x[i]", "sum = x[i]", State.WRONG),
])  # fmt: skip
def test_a_block_whose_threads_take_several_elements_is_tried_with_several(
    old: str, new: str, state: State
) -> None:
    verdict = judged("const float* x, float* y, int n", TOTAL.replace(old, new), task="total")
    assert verdict.state is state, verdict.next_step


@pytest.mark.parametrize(
    ("step", "state"),
    [
        ("gridDim.x * blockDim.x", State.RIGHT),
        ("2 * gridDim.x * blockDim.x", State.WRONG),
        ("gridDim.x * blockDim.x + 1", State.WRONG),
    ],
)
@pytest.mark.parametrize("before", ["", "int stride = STEP; "])
def test_a_loop_over_a_grid_runs_more_than_once(before: str, step: str, state: State) -> None:
    loop = LOOP if before else LOOP.replace("stride", step)
    verdict = judged(SCALED, before.replace("STEP", step) + loop, task="scaled")
    assert verdict.state is state, verdict.next_step


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x)", (2, 1, 1)),
        ("for (int i = threadIdx.x; i < n; i += step)", (1, 2, 1)),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j += gridDim.z)", (1, 1, 2)),
        ("int i = 0, j = 0; while (i < n) i += gridDim.x + gridDim.y;", (2, 2, 1)),
        ("for (int i = 0; i < n; i += blockDim.x)", (1, 1, 1)),
        ("for (int i = n; i > 0; i -= gridDim.x)", (1, 1, 1)),
        ("int j = 0; for (int i = 0; i < n; i++) j += gridDim.x;", (1, 1, 1)),
        ("for (int i = 0; ; i += gridDim.x)", (1, 1, 1)),
    ],
)
def test_how_often_a_block_takes_its_part(loop: str, expected: tuple[int, int, int]) -> None:
    body = f"int step = gridDim.y * 8; {loop} y[0] = step;"
    assert rounds(compile_kernel(f"__global__ void k(float* y, int n) {{ {body} }}")) == expected


@pytest.mark.parametrize(
    ("declared", "most"),
    [
        ("unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;", "65,535"),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; short b = blockIdx.x % 8;", ""),
    ],
)
def test_an_index_of_a_short_type_is_told(declared: str, most: str) -> None:
    verdict = judged(SCALED, f"{declared} {STORE}")
    notes = [one for one in verdict.notes if "holds at most" in one]
    assert verdict.state is State.RIGHT
    assert len(notes) == bool(most)
    assert all(f"short, which holds at most {most}:" in one for one in notes)
