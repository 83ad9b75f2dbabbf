"""Single launches that a verdict rests on: what each is called, and how a wrong cell came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from simulator import LaunchError, compile_kernel
from simulator.language.errors import SourceError, Span
from simulator.machine.budget import Progress
from simulator.machine.fragments import TileAlignmentError
from simulator.verdict import runs as runs_module
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.runs import DROPPED, Runs, _end_first_blocks
from simulator.verdict.sizes import Trial
from simulator.verdict.tasks import TASKS
from simulator.verdict.verdict import CheckState, SizeCheck, WrongCell

RIGHT, WRONG, UNCHECKED = CheckState.RIGHT, CheckState.WRONG, CheckState.UNCHECKED
STOPPED, SKIPPED = CheckState.STOPPED, CheckState.SKIPPED


def runs_of(
    parameters: str,
    body: str,
    task: str,
    shapes: Mapping[str, tuple[str, str]],
    block: tuple[str, str, str] = ("64", "1", "1"),
    grid: str = "1",
    contents: Contents = Contents.RANDOM,
) -> Runs:
    kernel = compile_kernel(f"__global__ void k({parameters}) {{\n{body}\n}}")
    arguments = tuple(
        ArrayArgument(one.name, *shapes[one.name], contents) if one.name in shapes
        else NumberArgument(one.name, "8")
        for one in kernel.parameters
    )  # fmt: skip
    roles = tuple((one.name, one.name) for one in kernel.parameters)
    form = LaunchForm((grid, "1", "1"), block, "0", arguments, task, roles)
    return Runs(kernel, form, TASKS.get(task))


def of_vectors(body: str, task: str = "copy", **options: Any) -> Runs:
    shapes = {"x": ("1", "n"), "y": ("1", "n")}
    return runs_of(
        "const float* x, float* y, int n", f"int i = threadIdx.x; {body}", task, shapes, **options
    )


def trial(n: int, **other: int) -> Trial:
    return Trial({"n": n}, {"n": n}, {"n": 8})


def run(found: Runs, n: int = 32, seconds: float = 60.0) -> SizeCheck:
    found.run(trial(n), seconds)
    return found.checks[-1]


COPY = "if (i < n) y[i] = x[i];"


@pytest.mark.parametrize(
    ("body", "task", "state", "sentence"),
    [
        (COPY, "copy", RIGHT, "y = x is right."),
        (COPY, "", UNCHECKED, "It ran to the end."),
        ("if (i < n) y[i] = 2;", "copy", WRONG,
         "y[0] is 2 but should be 9. 32 of 32 cells are wrong. Thread (0, 0) of block (0, 0) "
         "stores it on line 2. It reads nothing before that."),
        # Of two values that race for a cell, another order of the warps leaves the wrong one.
        ("if (i < 32) y[i] = 7; else y[i - 32] = x[i - 32];", "copy", WRONG,
         "y[0] is 7 but should be 9. 27 of 32 cells are wrong, with the warps in descending order."
         " Thread (0, 0) of block (0, 0) stores it on line 2, after 1 other thread. It reads "
         "nothing before that."),
        ("atomicExch(&y[i % 32], i < 32 ? 7.0f : x[i % 32]);", "copy", WRONG,
         "y[0] is 7 but should be 9. 27 of 32 cells are wrong, with the warps in descending order."
         " Thread (0, 0) of block (0, 0) stores it on line 2, after 1 other thread. It reads "
         "nothing before that."),
        ("if (i < n) y[i] = x[i] + (x[n + i] < -9);", "copy", WRONG,
         "y = x is right only because an access was dropped. Line 2: thread (0, 0) of block "
         "(0, 0) reads element 32 of x, an array of 32 (float x[32]); the access is dropped."),
        ("y[n - 1] = 1 / x[n - 1] / 0;", "copy", WRONG, "29 of 32 cells are wrong. No thread "),
        ("if (i != 2) y[i] = x[i]; y[2] = 1e38f * 1e38f;", "copy", WRONG, "y[2] is inf but should"),
    ],
)  # fmt: skip
def test_how_a_launch_ends(body: str, task: str, state: CheckState, sentence: str) -> None:
    found = run(of_vectors(body, task))
    assert found.state is state
    assert found.sentence.startswith(sentence) or sentence in found.sentence
    assert (found.sizes, found.numbers, found.is_ragged) == ((("n", 32),), (("n", 32),), False)


@pytest.mark.parametrize(
    ("error", "n", "is_own", "state", "start"),
    [
        (LaunchError("Too much."), 32, True, STOPPED, "Too much."),
        (LaunchError("Too much."), 32, False, SKIPPED, "Too much."),
        (TileAlignmentError("At 3.", Span(1, 1, 1, 1)), 32, True, STOPPED, "line 1, column 1: At"),
        (TileAlignmentError("At 3.", Span(1, 1, 1, 1)), 33, True, STOPPED, "line 1, column 1: At"),
        (TileAlignmentError("At 3.", Span(1, 1, 1, 1)), 32, False, STOPPED, "line 1, column 1: At"),
        (TileAlignmentError("At 3.", Span(1, 1, 1, 1)), 33, False, SKIPPED,
         "Not judged, because no GPU accepts such a tile: line 1, column 1: At 3."),
        (SourceError("It ends.", Span(1, 1, 1, 1)), 32, False, STOPPED, "line 1, column 1: It "),
    ],
)  # fmt: skip
def test_a_launch_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch, error: Exception, n: int, is_own: bool, state: CheckState,
    start: str,
) -> None:  # fmt: skip
    found = of_vectors(COPY)
    if not is_own:
        run(found, 8)

    def simulate(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(runs_module, "simulate", simulate)
    check = run(found, n)
    assert check.state is state
    assert check.sentence.startswith(start)
    assert 0 <= check.seconds < 9


def test_only_a_later_size_may_have_no_time_left() -> None:
    endless = of_vectors("while (n > 8) n = n % 7 + 9; " + COPY)
    assert run(endless, 8).state is RIGHT
    late = run(endless, 32, 0.0)
    assert (late.state, late.sentence) == (
        SKIPPED, "Not judged: the 3 seconds for further sizes were used up.",
    )  # fmt: skip
    own = run(of_vectors("while (n > 8) n = n % 7 + 9; " + COPY), 32, 0.0)
    assert own.state is STOPPED


def test_the_first_launch_is_the_one_that_is_kept() -> None:
    found = of_vectors("y[i] = 3; y[0] = 2;")
    run(found, 24)
    run(found, 16)
    assert found.launch is not None
    assert found.launch.arguments["n"] == 24
    assert found.report is not None
    assert found.report.arrays["y"].size == 24
    outside = next(one for one in found.hazards.values() if one.hazard.kind in DROPPED)
    assert (outside.launches, outside.sizes, outside.only_ragged) == (2, (("n", 24),), False)


@pytest.mark.parametrize(("sizes", "only"), [((12,), True), ((12, 8), False), ((8, 12), False)])
def test_a_hazard_of_whole_tiles_is_not_one_of_edges(sizes: tuple[int, ...], only: bool) -> None:
    found = of_vectors("y[i] = 3;")
    for n in sizes:
        run(found, n)
    (hazard,) = found.hazards.values()
    assert (hazard.only_ragged, hazard.launches) == (only, len(sizes))


def test_a_note_on_accesses_is_kept_once_with_its_size() -> None:
    found = of_vectors("y[i % 2] = 7;")
    for n in (32, 16):
        run(found, n)
    (note,) = found.notes.values()
    assert note.startswith("line 2: thread")
    assert note.endswith("Seen at n = 32.")


def test_only_the_first_wrong_cells_are_explained() -> None:
    found = of_vectors("if (i < n) y[i] = 2;")
    sentences = [run(found, n).sentence for n in (32, 16, 8)]
    assert ["Thread" in one for one in sentences] == [True, True, False]


@pytest.mark.parametrize(
    ("body", "contents", "sentence"),
    [
        (COPY, Contents.RANDOM, ""),
        ("if (i < n) y[i] = abs(x[i]);", Contents.RANDOM,
         "With fractions of both signs y[1] is 2 but should be −2."),
        ("if (i < n) y[i] = abs(x[i]);", Contents.COUNTING, ""),  # there is nothing to replace
        ("if (i < n) y[i] = x[i] < 0 ? y[i + n] : x[i] + (i < 0 ? 1 / n : 0);", Contents.RANDOM,
         "With fractions of both signs"),
    ],
)  # fmt: skip
def test_fractions_show_what_digits_hide(body: str, contents: Contents, sentence: str) -> None:
    found = of_vectors(body, contents=contents)
    form = found.form
    found.run_fractions(trial(32), 60.0)
    assert len(found.checks) == bool(sentence)
    assert all(one.has_fractions and one.state is WRONG for one in found.checks)
    assert all(one.sentence.startswith(sentence) for one in found.checks)
    assert found.form is form


def test_fractions_are_no_bins_and_are_left_out_where_they_do_not_end() -> None:
    counts = runs_of(
        "const int* x, int* counts, int n, int bins", "counts[0] = 0;", "histogram",
        {"x": ("1", "n"), "counts": ("1", "bins")},
    )  # fmt: skip
    counts.run_fractions(trial(8), 60.0)
    assert not counts.checks
    late = of_vectors("while (n > 8) n = n % 7 + 9; y[i] = 1;")
    late.run_fractions(trial(32), 0.0)
    assert not late.checks


def test_a_launch_without_a_finished_block_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "FIRST_SECONDS", 60.0)
    none, some = (Progress(2.4, done, 4, 7, (9,)) for done in (0, 1))
    _end_first_blocks()(none)
    monkeypatch.setattr(runs_module, "FIRST_SECONDS", -1.0)
    _end_first_blocks()(some)
    with pytest.raises(LaunchError, match=r"After 2 seconds 0 of 4 blocks .* Does that loop end"):
        _end_first_blocks()(none)
    with pytest.raises(LaunchError, match=r"0 of 4 blocks are done. Choose smaller sizes"):
        _end_first_blocks()(Progress(2.4, 0, 4, None, ()))


# How a wrong cell came about ----------------------------------------------------------------------

PLACE = "int x = threadIdx.x, y = threadIdx.y; if (x >= N || y >= M) return; float s = 0;"
EACH = "for (int k = 0; k < K; ++k)"
MULTIPLY = "s += A[y * K + k] * B[k * N + x];"
STORE = "C[y * N + x] = s;"


def of_product(lines: str, **sizes: int) -> SizeCheck:
    """The launch of a product whose first line sets x, y and s."""
    found = runs_of(
        "const float* A, const float* B, float* C, int M, int N, int K",
        f"{PLACE}\n{lines}",
        "product",
        {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")},
        ("8", "8", "1"),
    )
    known = {"M": 2, "N": 3, "K": 4} | sizes
    found.run(Trial(known, known, {}), 60.0)
    (check,) = found.checks
    return check


def wrong_product(lines: str, **sizes: int) -> WrongCell:
    """Its first wrong cell."""
    check = of_product(lines, **sizes)
    assert check.wrong is not None
    assert check.wrong.sentence == check.sentence
    return check.wrong


def test_sizes_that_are_too_large_to_compare_are_told_before_anything_runs() -> None:
    check = of_product("while (true) s += 1;", M=1025, N=1024, K=1024)
    assert check.state is STOPPED
    assert check.sentence.startswith("C = A · B is compared up to 1,073,741,824 operations.")


@pytest.mark.parametrize(
    ("lines", "K", "explanation"),
    [
        (f"{EACH}\ns += B[k * N] * A[y * K + k];\n{STORE}", 4,  # in the other order
         "For product 1 of 4 it reads B[0][0] = 7 on line 4, but needs B[0][1] = 9."),
        (f"{EACH}\ns += A[y * K + k / 2] * B[k * N + x];\n{STORE}", 4,
         "For product 2 of 4 it reads A[0][0] = 1 on line 4, but needs A[0][1] = 7."),
        (f"for (int k = 1; k < K; ++k)\n{MULTIPLY}\n{STORE}", 4,
         "It adds 3 products instead of 4. For product 1 of 4 it reads A[0][1] = 7 on line 4, but "
         "needs A[0][0] = 1."),
        (f"for (int k = 0; k < K - 1; ++k)\n{MULTIPLY}\n{STORE}", 4,
         "It adds 3 products instead of 4."),
        (f"for (int k = 0; k < K + 2; ++k)\ns += A[(y * K + k) % (M * K)] * B[k * N % (K * N) + x];"
         f"\n{STORE}", 4,
         "It adds more than the 4 products of this sum: after that it reads A[1][0] = 7 and "
         "B[0][0] = 7 on line 4."),
        (f"for (int k = K - 1; k >= 0; --k)\ns -= A[y * K + k] * B[k * N + x];\n{STORE}", 4,
         "It reads the right 4 pairs of factors: look at how it adds them, and at what its sum "
         "starts with."),
        (f"s = 1; {EACH}\n{MULTIPLY}\n{STORE}", 1,
         "It reads the right factors: look at how it adds them, and at what its sum starts with."),
        ("C[y * N + x] = 3;", 4, "It adds no products instead of 4."),
        (f"if (x > 0) s = A[0] * B[0];\n{STORE}", 4, "It adds no products instead of 4."),
        (f"{EACH}\ns += A[y * K + k] * B[k * N + x] * A[0];\n{STORE}", 2,
         "The last values that it reads: A[0][0] = 5, A[0][1] = 6, B[1][0] = 9, A[0][0] = 5."),
        (f"s = A[1] - B[1];\n{EACH}\n{MULTIPLY}\n{STORE}", 1,  # the last line that reads two
         "It reads the right factors: look at how it adds them"),
        (f"s = A[0];\ns += A[1] * B[0];\n{STORE}", 4,
         "For product 1 of 4 it reads A[0][1] = 7 on line 4, but needs A[0][0] = 1."),
        ("float4 a = *(const float4*)(A + 4 * y);\nC[y * N + x] = a.x + a.w + 1;", 4,
         "The last values that it reads: A[0][0] = 1, A[0][1] = 7, A[0][2] = 7, A[0][3] = 2."),
        (f"s = 1 + (*(const double*)(A + 4 * y) > 0);\n{STORE}", 4,
         "The last values that it reads: A[0] = "),
    ],
)  # fmt: skip
def test_what_the_thread_of_a_wrong_cell_read(lines: str, K: int, explanation: str) -> None:
    assert explanation in wrong_product(lines, K=K).sentence


def test_a_wrong_factor_is_the_one_read() -> None:
    wrong = wrong_product(f"{EACH}\ns += A[y * K + k / 2] * B[k * N + x];\n{STORE}")
    (read,) = wrong.reads
    assert (read.line, read.array, read.index, read.value) == (4, "A", (0, 0), 1.0)
    assert (read.iteration, read.needed, read.needed_value) == (1, "A[0][1]", 7.0)
    assert (wrong.block, wrong.thread, wrong.line) == ((0, 0, 0), (0, 0, 0), 5)
    assert (wrong.array, wrong.index, wrong.wrong, wrong.cells) == ("C", (0, 0), 6, 6)


def test_the_thread_of_another_block_is_named() -> None:
    body = "i += blockIdx.x * 16; if (i < n) y[i] = i < 20 ? x[i] : 1;"
    check = run(of_vectors(body, block=("16", "1", "1"), grid="3"), 40)
    assert "y[20] is 1 but should be " in check.sentence
    assert "Thread (4, 0) of block (1, 0) stores it on line 2." in check.sentence
    assert check.wrong is not None
    assert (check.wrong.block, check.wrong.thread) == ((1, 0, 0), (4, 0, 0))


def test_a_wrong_cell_that_takes_too_long_to_trace_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def end(*_: object, **__: object) -> None:
        raise LaunchError("The time is over.")

    monkeypatch.setattr("simulator.verdict.wrong_cell_trace.Machine", end)
    check = run(of_vectors("if (i < n) y[i] = 2;"))
    assert check.sentence == "y[0] is 2 but should be 9. 32 of 32 cells are wrong."
