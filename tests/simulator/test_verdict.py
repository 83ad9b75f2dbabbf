"""Verdicts: the state of right kernels and of faulty ones, and the sentence that says which."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from simulator import LaunchError, catalogue, compile_kernel
from simulator.exercises.exercise import exercises
from simulator.language.tree import MemorySpace
from simulator.observers.hazards.findings import Example, Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict.experiment import MayNeverEndError
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, UserKernel
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_launch
from simulator.verdict.repair import repairs, rounded_down
from simulator.verdict.runs import Runs
from simulator.verdict.sizes import Trial, trials
from simulator.verdict.tasks import PRODUCT, TASKS, Task
from simulator.verdict.verdict import CheckState, FoundHazard, State, Verdict

TILED = catalogue()["tiled"].source(TILE=4)
NAIVE = catalogue()["naive"].source()
pytestmark = pytest.mark.usefixtures("_time_for_all_sizes")


def user_kernel_of(text: str, task: str | None = None) -> UserKernel:
    kernel = compile_kernel(text)
    return UserKernel(text, kernel.name, guess_form(text, kernel, task))


def judged(text: str, task: str | None = None) -> Verdict:
    """The verdict on a text's kernel, launched as it is guessed."""
    return judge(user_kernel_of(text, task), compile_kernel(text))


def test_hazards_of_one_cause_are_told_once() -> None:
    race, other_order = HazardKind.READ_AFTER_WRITE, HazardKind.WRITE_AFTER_READ
    unset, twice = HazardKind.UNINITIALIZED_READ, HazardKind.WRITE_AFTER_WRITE
    hazards = [
        (twice, (5, 5), "s"),  # of lines that race with others
        (race, (5, 9), "s"),
        (other_order, (9, 5), "s"),  # the same lines
        (race, (5, 12), "s"),
        (unset, (9,), "s"),  # it was read too soon
        (unset, (7,), "s"),
        (race, (5, 9), "t"),
    ]  # fmt: skip
    example = Example((0, 0, 0), (0, 0, 0), None, None, (0,), ())
    found = tuple(
        FoundHazard(Hazard(kind, lines, name, MemorySpace.SHARED, "", 1, example), (), (), 1, False)
        for kind, lines, name in hazards
    )
    verdict = judged("__global__ void k(float* x) { x[threadIdx.x] = 1; }")
    causes = [one.hazard for one in replace(verdict, hazards=found).causes]
    assert [(one.kind, one.lines, one.array) for one in causes] == [
        (race, (5, 9), "s"), (race, (5, 12), "s"), (race, (5, 9), "t"), (unset, (7,), "s"),
    ]  # fmt: skip


@pytest.mark.parametrize("extra", ["", " + 1.0f"])
@pytest.mark.deep
def test_a_product_of_bfloat16_is_held_to_its_numbers(extra: str) -> None:
    text = f"""#include <mma.h>
using namespace nvcuda;
typedef const __nv_bfloat16 number;
__global__ void gemm(number* A, number* B, float* C, int M, int N, int K) {{
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f{extra});
    for (int k = 0; k < K; k += 16) {{
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + col, N);
        wmma::mma_sync(c, a, b, c);
    }}
    wmma::store_matrix_sync(C + row * N + col, c, N, wmma::mem_row_major);
}}"""
    verdict = judged(text, "product")
    whole = [check for check in verdict.checks if not check.is_ragged]
    assert {check.state for check in whole} == {CheckState.WRONG if extra else CheckState.RIGHT}


# For those with large tiles, whose blocks take seconds, test_verdict_guess tries a block.
@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("uncoalesced", "On line 15 neighbouring threads read A 128 bytes apart: 16 sectors"),
        ("naive", "share tiles of A and B in shared memory"),
        ("tiled", "C = A · B: right at 8 sizes, no hazards."),
        ("tiled_double", "right at 8 sizes, no hazards."),
        ("transposed", "Line 27 reads Bs with bank conflicts: 8 wavefronts a request where 1"),
        ("padded", "right at 8 sizes, no hazards."),
        ("swizzled", "right at 8 sizes, no hazards."),
    ],
)
def test_the_catalogues_kernels_are_right_from_their_text_alone(name: str, advice: str) -> None:
    verdict = judged(catalogue()[name].source())
    assert verdict.state is State.RIGHT, verdict.next_step
    assert advice in verdict.next_step
    assert {check.state for check in verdict.checks} <= {CheckState.RIGHT, CheckState.SKIPPED}
    sizes = [dict(check.sizes) for check in verdict.checks]
    assert any(len(set(size.values())) == 3 for size in sizes)
    assert {"M": 1, "N": 1, "K": 1} in sizes
    assert any(check.is_ragged for check in verdict.checks)


def test_other_names_and_another_order_of_parameters() -> None:
    verdict = judged(
        """
        __global__ void mm(int height, int depth, float* out, const float* left,
                           const float* right, int width) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= height * width) return;
            float sum = 0;
            for (int k = 0; k < depth; ++k)
                sum += left[i / width * depth + k] * right[k * width + i % width];
            out[i] = sum;
        }"""
    )
    assert verdict.state is State.RIGHT, verdict.next_step


def test_what_a_kernel_of_whole_tiles_needs_for_other_sizes() -> None:
    """Guards alone are not enough: the last tile of K is left out."""
    verdict = judged(exercises()["ragged_edge"].start, "product")
    assert verdict.state is State.LIMITED
    assert verdict.next_step == (
        "Right where 16 divides M, N and K. For other sizes round K / TILE up on line 14, guard "
        "lines 15, 16 and 24, and let a tile hold 0 past the edges."
    )


BARRIER = "        __syncthreads();\n\n        for"
GUARD = "    if (row < M && col < N)\n"


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("old", "new", "state", "sentences"),
    [
        (BARRIER, "\n        for", State.HAZARD,
         ["Add `__syncthreads();` after line 22. Otherwise a thread may be at line 25"]),
        ("        __syncthreads();\n    }", "    }", State.HAZARD,
         ["Add `__syncthreads();` after the loop of line 25. Otherwise a thread may be at"]),
        (GUARD, "", State.HAZARD,
         ["Guard line 30: `if (row < M && col < N)`."]),
        ("a_col < K ?", "true ?", State.LIMITED,
         ["Right where 4 divides M, N and K. For other sizes guard line 21."]),
        ("Bs[k][tx]", "Bs[tx][k]", State.WRONG,
         ["Wrong at M = 8, N = 8, K = 8: C[0][0] is 107 but should be 178.",
          "63 of 64 cells are wrong.",
          "Thread (0, 0) of block (0, 0) stores it on line 31.",
          "For product 3 of 8 it reads Bs[0][2] = 4 on line 26, but needs B[2][0] = 0."]),
        ("k < TILE; ++k", "k < TILE - 1; ++k", State.WRONG, ["It adds 6 products instead of 8."]),
        ("C[row * N + col] = acc;", ";", State.WRONG,
         ["Wrong at M = 8", "64 of 64 cells are wrong", "No thread stores it."]),
        ("(K + TILE - 1) / TILE", "K / TILE", State.WRONG,
         ["Round up on line 18: `(K + TILE - 1) / TILE`."]),
        ("float acc = 0.0f", "float acc = 1.0f", State.WRONG,
         ["It reads the right 8 pairs of factors"]),
        ("A[row * K + a_col]", "A[row * N + a_col]", State.HAZARD,  # of A, at a later size
         ["Write K instead of N in `row * N` on line 21."]),
        ("        __syncthreads();\n\n", "        if (row < M) __syncthreads();\n\n", State.HAZARD,
         ["Let all threads of a block reach the barrier. Line 23"]),
    ],
)  # fmt: skip
def test_faulty_kernels(old: str, new: str, state: State, sentences: list[str]) -> None:
    assert old in TILED
    verdict = judged(TILED.replace(old, new), "product")
    assert verdict.state is state, verdict.next_step
    for sentence in sentences:
        assert sentence in verdict.next_step


@functools.cache
def product_of_tiles() -> tuple[LaunchForm, Task, Trial]:
    kernel, task = compile_kernel(TILED), TASKS[PRODUCT]
    form = guess_form(TILED, kernel, PRODUCT)
    return form, task, trials(kernel, form, task.sizes)[0]


STORE = "C[row * N + col] = acc;"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Bs[k][tx]", "Bs[tx][k]",
         "C[0][0] is 107 but should be 178. 63 of 64 cells are wrong. Thread (0, 0) of block "
         "(0, 0) stores it on line 31. For product 3 of 8 it reads Bs[0][2] = 4 on line 26, but "
         "needs B[2][0] = 0."),
        ("k < TILE; ++k", "k < TILE - 1; ++k",
         "It adds 6 products instead of 8. For product 4 of 8 it reads As[0][0] = 1 on line 26, "
         "but needs A[0][3] = 9."),
        ("row * K + a_col]", "row * K + a_col / 2]",
         "For product 2 of 8 it reads As[0][1] = 9 on line 26, but needs A[0][1] = 1."),
        ("Bs[k][tx];", "Bs[k][ty];",
         "For product 1 of 8 it reads Bs[0][0] = 9 on line 26, but needs B[0][1] = 1."),
        ("(K + TILE - 1) / TILE", "K / TILE - 1", "It adds 4 products instead of 8."),
        ("acc = 0.0f", "acc = 1.0f", "It reads the right 8 pairs of factors"),
        ("Bs[k][tx];", "Bs[k][tx] * As[ty][k];",
         "reads: As[0][2] = 3, As[0][3] = 3, Bs[3][0] = 9, As[0][3] = 3."),
        (STORE, "C[row * N + col / 2] = acc;",
         "Thread (1, 0) of block (0, 0) stores it on line 31, after 1 other thread."),
        (STORE, ";", "64 of 64 cells are wrong. No thread "),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_cell(old: str, new: str, sentence: str) -> None:
    assert old in TILED
    form, task, trial = product_of_tiles()
    runs = Runs(compile_kernel(TILED.replace(old, new)), form, task)
    runs.run(trial, 60.0)
    assert runs.checks[0].state is CheckState.WRONG
    assert sentence in runs.checks[0].sentence


def test_barriers_are_tried_outside_of_branches_and_beside_shared_memory() -> None:
    text = TILED.replace("        __syncthreads();\n", "").replace(STORE, f"{{\n{STORE}\n}}")
    for each, lines in ((text, [21, 22, 25, 26, 31]), (NAIVE, [])):
        kernel = compile_kernel(each)
        changes = repairs(kernel, guess_form(each, kernel, PRODUCT), [], is_ragged=False)
        assert [one.fixes[0].span.line for one in changes if "__sync" in one.sentence] == lines


RACE = """
__global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float row[64];
    int tx = threadIdx.x;
    row[tx] = 0;
    __syncthreads();
    row[tx % 32] = 1;                  // two warps store the same value
    row[32 + tx % 32] = row[tx % 32];
    int i = blockIdx.y, j = blockIdx.x * 64 + tx;
    if (i >= M || j >= N) return;
    float acc = 0;
    for (int k = 0; k < K; ++k) acc += A[i * K + k] * B[k * N + j] * row[tx];
    C[i * N + j] = acc;
}
int main() { mm<<<dim3((N + 63) / 64, M), 64>>>(A, B, C, M, N, K); }
"""


def test_a_race_that_gives_the_right_answer() -> None:
    verdict = judged(RACE)
    assert verdict.state is State.HAZARD
    assert verdict.checks[0].state is CheckState.RIGHT
    assert verdict.next_step.startswith("Add `__syncthreads();` after line 7.")


def test_a_race_between_blocks_is_mended_by_no_barrier() -> None:
    verdict = judged(
        "__global__ void k(float* a) { int t = threadIdx.x;\n"
        "float v = a[t + blockIdx.x]; __syncthreads();\n"
        "a[t] = 2 * v; }\n"
        "int main() { k<<<2, 32>>>(a); }"
    )
    assert verdict.state is State.HAZARD
    assert verdict.repair is None
    assert verdict.next_step.startswith("Let the blocks write to another array")
    assert "Line 2: another block reads a[1], and thread (1, 0)" in verdict.next_step


def test_a_race_of_one_store_is_mended_by_no_barrier() -> None:
    verdict = judged(
        "__global__ void k(float* a) { __shared__ float s; int t = threadIdx.x;\n"
        "s = t; __syncthreads();\n"
        "a[t] = s; }\n"
        "int main() { k<<<1, 64>>>(a); }"
    )
    assert verdict.state is State.HAZARD
    assert verdict.next_step.startswith("Let one thread write this cell, or combine")


@pytest.mark.usefixtures("_no_repairs")
def test_a_hazard_names_a_launch_that_shows_it() -> None:
    text = TILED.replace(GUARD, "")
    kernel = compile_kernel(text)
    user_kernel = user_kernel_of(text)
    found = judge(user_kernel, kernel).hazards[0]
    launch = build_launch(kernel, user_kernel.form, dict(found.numbers))
    assert launch.arguments["M"] == dict(found.sizes)["M"] == 5
    assert found.only_ragged


def test_numbers_of_the_launch_by_the_forms_own_size() -> None:
    verdict = judged(TILED)
    user_kernel, *others = verdict.neighbours
    assert (user_kernel.name, user_kernel.conflicts, user_kernel.bytes_per_flop) == ("", 0, 2.5)
    assert [row.name for row in others] == ["naive", "tiled", "transposed", "padded", "registers"]
    assert others[1].bytes_per_flop == 2.5  # the tiled kernel with tiles of the same size
    assert verdict.counters["global_load_sectors"] == 64
    assert set(verdict.lines) == {21, 22, 26, 31}
    assert verdict.occupancy is not None
    assert (verdict.occupancy.blocks, verdict.occupancy.warps) == (32, 32)
    assert "requirements-compiler.txt` adds it" in verdict.occupancy.sentence


def test_registers_are_part_of_the_occupancy() -> None:
    text = catalogue()["tiled"].source(TILE=16)
    found = judge(user_kernel_of(text), compile_kernel(text), registers=128).occupancy
    assert found is not None
    assert (found.blocks, found.warps, found.limit) == (2, 16, "registers")
    assert "with 128 registers a thread" in found.sentence


@pytest.mark.parametrize("change", ["+= n", "= 1"])  # of which single cells are like a task's
def test_without_a_task_hazards_are_all_that_is_said(change: str) -> None:
    verdict = judged(f"__global__ void add(float* x, int n) {{ x[threadIdx.x] {change}; }}")
    assert verdict.state is State.UNCHECKED
    assert [check.state for check in verdict.checks] == [CheckState.UNCHECKED]
    assert "Say what it should compute" in verdict.next_step
    assert verdict.neighbours == ()


def test_a_kernel_that_is_like_a_task_is_not_accused() -> None:
    verdict = judged(by_element("float* x, float* y, int shift", "y[i + shift] = x[i + shift];"))
    assert verdict.state is State.UNCHECKED
    assert verdict.next_step.startswith("It runs without hazards. Its results are most like y = x")
    assert "as they should if it computes something else" in verdict.next_step


def test_a_launch_that_is_refused_is_told() -> None:
    user_kernel = user_kernel_of(TILED)
    large = replace(user_kernel, form=replace(user_kernel.form, block=("64", "64", "1")))
    verdict = judge(large, compile_kernel(TILED))
    assert verdict.state is State.STOPPED
    assert verdict.next_step.startswith("It does not run: A block of 64 x 64 x 1 has 4,096 threads")


def test_sizes_for_which_the_form_has_no_arrays_or_blocks_are_not_judged() -> None:
    user_kernel = user_kernel_of(TILED)
    arrays = tuple(
        replace(one, rows="8", columns="8") if isinstance(one, ArrayArgument) else one
        for one in user_kernel.form.arguments
    )
    verdict = judge(
        replace(user_kernel, form=replace(user_kernel.form, arguments=arrays)),
        compile_kernel(TILED),
    )
    assert verdict.state is State.RIGHT
    assert verdict.checks[-1].state is CheckState.SKIPPED
    assert "A has 64 elements; as A of C = A · B it needs" in verdict.checks[-1].sentence
    fixed = replace(user_kernel.form, grid=("2", "2", "1"))
    verdict = judge(replace(user_kernel, form=fixed), compile_kernel(TILED))
    assert verdict.state is State.RIGHT
    assert all(size <= 8 for check in verdict.checks for _, size in check.sizes)


@pytest.mark.usefixtures("_no_repairs")
def test_a_grid_without_a_block_for_the_last_tile_is_tried_at_whole_tiles_too() -> None:
    user_kernel = user_kernel_of(TILED)
    form = replace(user_kernel.form, grid=("N / TILE", "M / TILE", "1"))
    verdict = judge(replace(user_kernel, form=form), compile_kernel(TILED))
    right = [dict(one.sizes) for one in verdict.checks if one.state is CheckState.RIGHT]
    assert {"M": 8, "N": 4, "K": 20} in right
    assert "Right where its tile divides M, N and K; wrong at M = 11" in verdict.next_step
    assert "No thread stores it." in verdict.next_step


def test_an_endless_kernel_ends_with_the_time_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.verdict.judge.OWN_SECONDS", 0.1)
    user_kernel = user_kernel_of(TILED)
    kernel = compile_kernel(TILED.replace("t < (K + TILE - 1) / TILE", "t >= 0"))
    verdict = judge(replace(user_kernel, text=kernel.text), kernel)
    assert verdict.state is State.STOPPED
    assert "0.1 seconds, has run out" in verdict.next_step


def test_a_kernel_whose_first_block_does_not_end_is_told_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simulator.verdict.runs.FIRST_SECONDS", 0.1)
    user_kernel = user_kernel_of(TILED)
    kernel = compile_kernel(TILED.replace("t < (K + TILE - 1) / TILE", "t >= 0"))
    verdict = judge(replace(user_kernel, text=kernel.text), kernel)
    assert verdict.state is State.STOPPED
    assert " 0 of " in verdict.next_step
    assert "Does that loop end? Choose smaller sizes." in verdict.next_step


def test_a_form_without_a_value_raises() -> None:
    user_kernel = user_kernel_of(TILED)
    arguments = tuple(
        replace(one, value="many") if isinstance(one, NumberArgument) else one
        for one in user_kernel.form.arguments
    )
    with pytest.raises(LaunchError, match="M, 'many'"):
        judge(
            replace(user_kernel, form=replace(user_kernel.form, arguments=arguments)),
            compile_kernel(TILED),
        )


def test_a_task_needs_its_roles() -> None:
    user_kernel = user_kernel_of(TILED)
    form = replace(user_kernel.form, roles=user_kernel.form.roles[:-1])
    with pytest.raises(LaunchError, match="needs to know what K is"):
        judge(replace(user_kernel, form=form), compile_kernel(TILED))


@pytest.mark.parametrize(
    ("block", "M", "sentence"),
    [("0", "M", "The block has 0 threads in x"), ("-1", "M", "The block has -1 threads in x"),
     ("4", "0", "M, '0', is 0; give 1 or more."), ("4", "-3", "M, '-3', is -3; give 1 or more.")],
)  # fmt: skip
def test_a_form_that_no_gpu_takes_is_told(block: str, M: str, sentence: str) -> None:
    user_kernel = user_kernel_of(TILED)
    roles = tuple((role, M if role == "M" else what) for role, what in user_kernel.form.roles)
    form = replace(user_kernel.form, block=(block, "4", "1"), roles=roles)
    verdict = judge(replace(user_kernel, form=form), compile_kernel(TILED))
    assert verdict.state is State.STOPPED
    assert sentence in verdict.next_step
    assert verdict.occupancy is None


def by_element(parameters: str, statements: str) -> str:
    """A kernel whose threads take an element each, number i of n."""
    return (
        f"__global__ void k({parameters}, int n) {{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"    if (i < n) {{ {statements} }}\n}}"
    )


SCATTER = by_element("const float* x, const int* perm, float* y", "y[perm[i]] = x[i];")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (SCATTER,
         "perm was filled with the numbers from 0 on, each once, since its values are "
         "indices into y."),
        (by_element("const int* x, const int* flags, const int* before, int* y",
                    "int place = before[i]; if (flags[i]) *(y + place) = x[i];"),
         "before was filled with the numbers from 0 on, each once, since its values are "
         "indices into y."),
        (by_element("const int* keys, int* starts, int* y",
                    "y[atomicAdd(&starts[keys[i]], 1)] = keys[i];"),
         "starts was filled with 0, 1, 2, …, since its values are indices into y."),
        (by_element("const int* start, const int* cell, float* y",
                    "for (int e = start[i]; e < start[i + 1]; ++e) y[cell[e]] = i;"),
         "start was filled with 0, 1, 2, …, since its values are indices into cell and y."),
    ],
    ids=["scatter", "compaction", "counting-sort", "sparse-rows"],
)  # fmt: skip
@pytest.mark.sample(2)
def test_arrays_of_places_hold_places(text: str, note: str) -> None:
    verdict = judged(text)
    assert verdict.state is State.UNCHECKED, verdict.next_step
    assert not verdict.hazards
    assert note in verdict.notes


def test_places_that_no_drawing_makes_right_are_no_fault() -> None:
    text = by_element(
        "const unsigned* x, const unsigned* starts, unsigned* y",
        "y[starts[x[i] & 1] + i / 2] = x[i];",
    )
    verdict = judged(text)
    assert verdict.state is State.UNCHECKED
    assert not verdict.hazards
    assert verdict.next_step.startswith(
        "The values of starts and x decide which cell of y is accessed on line 3, and "
        "here starts and x were filled at random"
    )


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (by_element("const int* keys, int* counts", "counts[keys[i]] += 1;"), "atomicAdd"),
        (by_element("const int* perm, float* y", "y[perm[i]] = y[i];"), "reads y["),
        (by_element("const int* perm, const float* x, float* y", "y[0] = x[perm[i]];"),
         "writes y[0]"),
        ("__global__ void k(const int* keys, int* counts) { __shared__ int part[16];\n"
         "atomicAdd(&part[keys[threadIdx.x] & 15], 1); __syncthreads();\n"
         "if (threadIdx.x < 16) counts[threadIdx.x] = part[threadIdx.x]; }", "part["),
    ],
    ids=["histogram-without-atomics", "permuted-in-place", "one-cell", "histogram-not-set"],
)  # fmt: skip
@pytest.mark.sample(2)
def test_what_any_drawing_shows_is_a_fault(text: str, cause: str) -> None:
    verdict = judged(text)
    assert verdict.state is State.HAZARD, verdict.next_step
    assert cause in verdict.next_step


def test_a_scatter_without_a_guard_is_told() -> None:
    text = SCATTER.replace("if (i < n) ", "")
    user_kernel = user_kernel_of(text)
    arguments = tuple(
        replace(one, columns="n", is_seen=False) if isinstance(one, ArrayArgument)
        else replace(one, value="1000")
        for one in user_kernel.form.arguments
    )  # fmt: skip
    assert Contents.SHUFFLED in {
        one.contents for one in arguments if isinstance(one, ArrayArgument)
    }
    form = replace(user_kernel.form, arguments=arguments)
    verdict = judge(replace(user_kernel, form=form), compile_kernel(text))
    assert verdict.state is State.HAZARD
    assert "reads element 1000 of x" in verdict.next_step


WHOLE_TILES = """#define T 8
__global__ void multiply(float* a, float* b, float* c, int width) {
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int t = 0; t < width / T; ++t) {
        as[y][x] = a[row * width + t * T + x];
        bs[y][x] = b[(t * T + y) * width + col];
        for (int k = 0; k < T; ++k)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * width + col] = sum;
}"""


@pytest.mark.usefixtures("_no_repairs")
def test_a_wrong_product_that_is_tried_as_another_may_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = TILED.replace("acc = 0.0f", "acc = 1.0f")
    kernel = compile_kernel(text)
    form = guess_form(text, kernel, PRODUCT)

    def never_ends(*_: object) -> None:
        raise MayNeverEndError

    monkeypatch.setattr("simulator.verdict.probe.run_to_end", never_ends)
    assert judge(UserKernel(text, kernel.name, form), kernel).state is State.WRONG


def test_a_missing_barrier_comes_before_guards_for_the_edges() -> None:
    kernel = compile_kernel(WHOLE_TILES)
    form = guess_form(WHOLE_TILES, kernel)
    assert form.grid[0] == form.grid[1] == "(width + T - 1) / T"
    verdict = judge(UserKernel(WHOLE_TILES, kernel.name, form), kernel)
    assert verdict.next_step.startswith("Add `__syncthreads();` after line 8.")


@pytest.mark.usefixtures("_no_repairs")
def test_races_of_two_arrays_on_the_same_lines_are_mended_together() -> None:
    verdict = judged(WHOLE_TILES.replace("x];\n        bs", "x]; bs"))  # as is a warp's own
    assert verdict.next_step.startswith("Put a __syncthreads() between lines 7 and 9.")
    races = [one for one in verdict.hazards if one.hazard.lines == (7, 9)]
    assert [one.hazard.array for one in races] == ["as", "bs"]
    assert all(one.launches <= len(verdict.checks) for one in races)


TWO_BUFFERS = """#define T 4
__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    As[0][y][x] = A[row * K + x];
    Bs[0][y][x] = B[y * N + col];
    __syncthreads();
    for (int t = 0; t < K / T; ++t) {
        int now = t % 2;
        if (t + 1 < K / T) {
            As[1 - now][y][x] = A[row * K + (t + 1) * T + x];
            Bs[1 - now][y][x] = B[((t + 1) * T + y) * N + col];
        }
        for (int k = 0; k < T; ++k)
            sum += As[now][y][k] * Bs[now][k][x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}"""


@pytest.mark.parametrize(
    ("barrier", "state", "start"),
    [
        ("        __syncthreads();\n", State.LIMITED, "Right where 4 divides M, N and K."),
        ("", State.HAZARD, "Put a __syncthreads() between lines 12 and 16."),
    ],
)
@pytest.mark.usefixtures("_no_repairs")
def test_two_buffers_of_whole_tiles(barrier: str, state: State, start: str) -> None:
    verdict = judged(TWO_BUFFERS.replace("        __syncthreads();\n", barrier))
    assert verdict.state is state, verdict.next_step
    assert verdict.next_step.startswith(start)


def test_the_vectors_of_a_row_are_not_rounded_up() -> None:
    kernel = compile_kernel("""__global__ void sums(const float4* A, float* C, int K) {
        int vectors = K / 4;
        for (int t = 0; t < K / 8; ++t)
            C[threadIdx.x] += A[threadIdx.x * vectors + t].x;
    }""")
    form = LaunchForm(("1",) * 3, ("1",) * 3, "0", ())
    assert rounded_down(kernel, form) == [(3, "K / 8")]


PIPELINE = """#define T 4
__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[3][T][T], Bs[3][T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int t = -2; t < K / T; ++t) {
        int next = t + 2;
        if (next < K / T) {
            As[next % 3][y][x] = A[row * K + next * T + x];
            Bs[next % 3][y][x] = B[(next * T + y) * N + col];
        }
        __syncthreads();
        for (int k = 0; k < T && t >= 0; ++k)
            sum += As[t % 3][y][k] * Bs[t % 3][k][x];
    }
    C[row * N + col] = sum;
}"""


def test_a_barrier_that_only_a_fourth_tile_misses_is_told() -> None:
    verdict = judged(PIPELINE)
    assert verdict.state is State.HAZARD
    assert verdict.next_step.startswith("Add `__syncthreads();` after the loop of line 13.")


def test_a_copy_that_is_read_too_soon_is_to_be_waited_for() -> None:
    verdict = judged("""__global__ void turn(float* x, const float* y) {
        __shared__ float s[64];
        int i = threadIdx.x;
        __pipeline_memcpy_async(&s[i], &y[i], 4);
        __pipeline_commit();
        __syncthreads();
        x[i] = s[63 - i];
    }""")
    assert verdict.next_step.startswith(
        "Wait for the copy of line 4 before line 7, with __pipeline_wait_prior() and then a "
        "__syncthreads()."
    )
