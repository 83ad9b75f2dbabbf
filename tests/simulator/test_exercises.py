"""Exercises: no start passes, every solution does, near misses get a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu import recorded
from simulator import catalogue
from simulator.broken_file import BrokenFileError
from simulator.exercises import run_exercise
from simulator.exercises.check_solution import (
    ExerciseResult,
    check,
    check_requirements,
    compile_solution,
)
from simulator.exercises.exercise import FOLDER, exercises, load
from simulator.exercises.ladder import SIZE, first_rung
from simulator.exercises.requirements.correctness import NoHazards, Right
from simulator.exercises.run_exercise import UncheckedError
from simulator.verdict.verdict import State

NAMES = list(exercises())


def checked(name: str, text: str) -> ExerciseResult:
    """A text checked as an exercise, without the verdict, which takes seconds."""
    exercise = exercises()[name]
    return check_requirements(exercise, compile_solution(exercise, text))


def unmet(result: ExerciseResult) -> list[str]:
    return [one.sentence for one in result.results if not one.met]


def test_there_are_exercises_from_easy_to_hard() -> None:
    found = list(exercises().values())
    assert len(found) >= 14
    levels = [exercise.level for exercise in found]
    assert levels == sorted(levels)
    assert levels[0] == 1


@pytest.mark.parametrize("name", NAMES)
def test_texts_and_hints_say_something(name: str) -> None:
    exercise = exercises()[name]
    assert 3 <= len(exercise.hints) <= 5
    assert len({hint.strip() for hint in exercise.hints}) == len(exercise.hints)
    sizes = [size for one in exercise.requirements for size in one.launch_sizes]
    assert exercise.workload.counted_at not in sizes, "checked there in any case"
    assert all(len(hint) > 20 for hint in exercise.hints)
    assert exercise.title
    assert exercise.teaches.endswith(".")
    assert len(exercise.text) > 100
    assert "TODO" not in exercise.solution
    kinds = {type(one) for one in exercise.requirements}
    assert {Right, NoHazards} <= kinds


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", NAMES)
def test_a_start_does_not_pass(name: str) -> None:
    result = checked(name, exercises()[name].start)
    assert not result.solved
    assert not result.problem
    assert unmet(result)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", NAMES)
def test_a_solution_passes(name: str) -> None:
    result = checked(name, exercises()[name].solution)
    assert result.solved, unmet(result)
    assert all(one.sentence and one.goal for one in result.results)


# Texts that are nearly right: the exercise, edits of its solution, and what is said of it.
NEAR_MISSES = {
    "x along the rows": (
        "one_element",
        [
            ("row = blockIdx.y * blockDim.y + threadIdx.y", "row = x"),
            ("col = blockIdx.x * blockDim.x + threadIdx.x", "col = blockIdx.y * 16 + threadIdx.y"),
            ("row = x", "row = blockIdx.x * 16 + threadIdx.x"),
        ],
        r"At M × N × K = 17 × 9 × 5, C\[16\]\[0\] is not written; .*Line 11 stores",
    ),
    "C is stored every time": (
        "keep_the_sum",
        [("            acc += A[row", "            C[row * N + col] = acc += A[row")],
        r"bytes of global memory per product\. Line 10 accounts",
    ),
    "each tile begins again": (
        "from_tile_to_tile",
        [("        int a_col = ", "        acc = 0.0f;\n        int a_col = ")],
        r"At M × N × K = 16 × 16 × 64, C\[0\]\[0\] is ",
    ),
    "the tile is overwritten": (
        "from_tile_to_tile",
        [("Bs[k][tx];\n        __syncthreads();", "Bs[k][tx];")],
        r"line \d+: .*on line \d+, with no __syncthreads",
    ),
    "one lane does all": (
        "coalesce",
        [
            ("    int col = blockIdx.x * 32 + threadIdx.x;", "    int first = blockIdx.x * 32;"),
            ("if (row < M && col < N)", "for (int col = first; LANE && col < first + 32; ++col)"),
            ("extern", "#define LANE threadIdx.x == 0 && row < M && col < N\nextern"),
        ],
        r"It takes 66 bytes of global memory per product\. Line 11 accounts for 97% of them",
    ),
    "the tile is not used": (
        "load_the_tile",
        [
            ("acc += As[ty][k] * Bs[k][tx]", "if (INSIDE) acc += A[row * K + i] * B[i * N + col]"),
            ("extern", "#define i (t * TILE + k)\nextern"),
            ("extern", "#define INSIDE row < M && col < N && i < K\nextern"),
        ],
        r"4.62\d bytes of global memory per product\. Line 24 accounts for 86% of them",
    ),
    "no barrier behind the products": (
        "barriers",
        [("Bs[k][tx];\n        __syncthreads();", "Bs[k][tx];")],
        r"line 2\d: .* reads .* writes it on line 18,",
    ),
    "three barriers": (
        "barriers",
        [("        int a_col", "        __syncthreads();\n        int a_col")],
        r"a thread passes 6 barriers\. Line 15 has 2 of them",
    ),
    "no barrier at all": (
        "barriers",
        [("#define TILE 16", "#define TILE 16\n#define __syncthreads()")],
        r"line 19: .*on line 23, with no __syncthreads\(\) between them",
    ),
    "the barrier is gone": (
        "one_barrier_too_many",
        [("Bs[k][tx];\n        __syncthreads();", "Bs[k][tx];")],
        r"line \d+: .*on line \d+, with no __syncthreads",
    ),
    "the tile keeps old values": (
        "ragged_edge",
        [
            ("As[ty][tx] = row < M", "if (row < M"),
            (
                "a_col < K ? A[row * K + a_col] : 0.0f;",
                "a_col < K) As[ty][tx] = A[row * K + a_col];",
            ),
        ],
        r"line 22: .*reads As.* a shared cell that has no value yet",
    ),
    "threads outside leave before a barrier": (
        "ragged_edge",
        [
            (
                "float acc = 0.0f;",
                "float acc = 0.0f;\n    if (row >= M || col >= N)\n        return;",
            )
        ],
        r"C\[16\]\[0\] is 0 but should be \d+.*a shared cell that has no value yet",
    ),
    "a barrier within a warp": (
        "right_by_luck",
        [("__syncthreads", "__syncwarp")],
        r"line 11: .*on line 14,",
    ),
    "x is read twice": (
        "right_by_luck",
        [("float sum = part[t]", "float sum = (i > 1 && i < n + 2 ? x[i - 2] : 0)")],
        r"13\.\d+ bytes of global memory per element\. Line 14 accounts",
    ),
    "padded by two": (
        "bank_conflict",
        [("TILE + 1", "TILE + 2")],
        r"Line 21 takes 3,072 wavefronts of shared memory; without bank conflicts .* 2,048",
    ),
    "a transpose without padding": (
        "transpose",
        [("TILE + 1", "TILE")],
        r"Line 18 takes 6,144 wavefronts",
    ),
    "only the writes are swizzled": (
        "swizzle",
        [("ty ^ tx", "ty")],
        r"At M × N = 64 × 32, B\[\d+\]\[\d+\] is \d+ but should be \d+. ",
    ),
    "half a swizzle": (
        "swizzle",
        [("tx ^ ty", "tx ^ (ty & 15)"), ("ty ^ tx", "ty ^ (tx & 15)")],
        r"Line 18 takes .* wavefronts",
    ),
    "B is read four times": (
        "column_of_four",
        [("[k] * b;", "[k] * Bs[k][tx];")],
        r"wavefronts of shared memory per product\. Line 28 accounts",
    ),
    "one lane after another": (
        "sum_of_a_row",
        [
            (
                "for (int d = 16; d > 0; d /= 2)",
                "float own = sum;\n    for (int d = 1; d < 32; ++d)",
            ),
            ("sum, d);", "own, d);"),
        ],
        r"a thread takes part in 31 shuffles\. Line 14 has 31",
    ),
    "half of the lanes call": (
        "sum_of_a_row",
        [("d /= 2)", "d /= 2)\n        if (lane < d)")],
        r"line 14: .*mask",
    ),
    "no end that is not whole": (
        "four_at_once",
        [("if (first + 3 < n)", "if (first < n)")],
        r"At n = 1021: line 6: .*reads elements 1020 to 1023 of x, an array of 1021",
    ),
    "one tile takes no turns": (
        "double_buffer",
        [("int now = t % 2", "int now = 0")],
        r"line \d+: .*on line \d+, with no __syncthreads",
    ),
    "both columns are read apart": (
        "halve_the_loads",
        [("float2 b = Bs[k][tx];", "float2 b = make_float2(Bs[k][tx].x, Bs[k][tx].y);")],
        r"loads of shared memory by a warp per product\. Line 23 accounts",
    ),
    "a smaller tile": (
        "a_quarter_of_cublas",
        [("#define COLUMNS 64", "#define COLUMNS 32")],
        r"0\.3125 bytes of global memory per product\. .* The kernel `rows`, .* takes 0\.25 bytes",
    ),
}


@pytest.mark.sample(24)
@pytest.mark.parametrize("miss", NEAR_MISSES)
def test_a_near_miss_does_not_pass(miss: str) -> None:
    name, edits, sentence = NEAR_MISSES[miss]
    text = exercises()[name].solution
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    result = checked(name, text)
    assert not result.solved
    assert re.search(sentence, " ".join(unmet(result))), unmet(result)
    for one in result.results:
        assert one.line is None or f"ine {one.line}" in one.sentence


def test_every_exercise_has_a_near_miss() -> None:
    assert {name for name, _, _ in NEAR_MISSES.values()} == set(NAMES)


def test_atomics_do_not_hide_traffic() -> None:
    text = exercises()["coalesce"].start.replace(
        "A[row * K + k]", "atomicAdd(const_cast<float*>(&A[row * K + k]), 0.0f)"
    )
    result = checked("coalesce", text)
    assert any("Line 10 calls atomicAdd" in sentence for sentence in unmet(result))


def test_a_text_cannot_hold_its_own_results() -> None:
    """The inputs change with the text: what was right for one text is not for the next."""
    exercise = exercises()["sum_of_a_row"]

    def first_sum(text: str) -> float:
        runs = run_exercise.gather(exercise, compile_solution(exercise, text)).runs
        return float(runs[0].report.arrays["sums"][0])

    before = first_sum(exercise.solution)
    text = exercise.solution.replace("sums[row] = sum", f"sums[row] = {before}f")
    assert "sums[0]" in unmet(checked("sum_of_a_row", text))[0]
    assert first_sum(exercise.solution + "// another") != before


UNCHECKED = {
    "another parameter": (
        [("int M, int N)", "int M, int N, int K)")],
        r"parameters .* are \(.*K\)\. They must stay \(float\* A, float\* sums, int M, int N\)",
        None,
    ),
    "another type by a macro": ([("extern", "#define float double\nextern")], r"double\* A", None),
    "another name": ([("row_sums(", "sums_of_rows(")], r"row_sums", None),
    "no C": ([("float sum = 0.0f;", "float sum = 0.0f")], r"';'", 5),
    "an endless loop": (
        [("col < N;", "col >= 0;"), ("col += 32", "col = (col + 1) % 32")],
        r"At M × N = 4 × 64, the 0.2 seconds for all sizes ran out, on line 9\.",
        9,
    ),
}


@pytest.mark.parametrize("case", UNCHECKED)
def test_what_does_not_run_is_a_sentence(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_exercise, "SECONDS", 0.2)
    edits, sentence, line = UNCHECKED[case]
    text = exercises()["sum_of_a_row"].solution
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    result = check(exercises()["sum_of_a_row"], text)
    assert not result.solved
    assert re.search(sentence, result.problem), result.problem
    assert result.line == line
    assert all(not one.met and result.problem in one.sentence for one in result.results)


def test_a_check_has_the_verdict_with_it() -> None:
    exercise = exercises()["sum_of_a_row"]
    messages: list[str] = []
    result = check(exercise, exercise.solution, messages.append)
    assert result.solved
    assert result.verdict is not None
    assert result.verdict.state is State.RIGHT
    assert messages[0] == "Checking at M × N = 16 × 96."
    with pytest.raises(UncheckedError):
        compile_solution(exercise, "int x;")


def test_the_rung_is_the_first_that_a_gpu_measured_so() -> None:
    """Read here by the reader of recordings, there by the simulator, which must not know it."""
    (run,) = [run for run in recorded.recordings().runs if "H200" in run.device.name]
    (comparison,) = [one for one in run.comparisons if list(one.size) == SIZE]
    rungs = {
        entry.rung: name
        for name, entry in catalogue().items()
        for kernel in comparison.kernels
        if kernel.name.split(":")[0] == name and entry.rung
        if kernel.cublas_ratio is not None and kernel.cublas_ratio >= 0.25
    }
    assert first_rung(0.25).name == rungs[min(rungs)]


BROKEN = {
    "no title": ('title = "', 'titel = "', "titel"),
    "a limit of another type": ("at_most = 4", 'at_most = "4"', r"requirement.*at_most"),
    "an unknown kind": ('kind = "global-bytes"', 'kind = "bytes"', r"bytes.*requirement"),
    "an unknown key": ("at_most = 6", "at_least = 6", "at_least"),
    "an unknown task": ('task = "product"', 'task = "sorting"', "task is 'sorting'"),
    "an array that is no role": ('name = "C"', 'name = "D"', r"launch.arguments are A, B, D"),
    "a size too few": ("{ M = 33, N = 20, K = 5 }", "{ M = 33, N = 20 }", "sizes has M, N"),
    "work that cannot be counted": ('count = "M * N * K"', 'count = "M * L"', r"work\.count: .*L"),
    "no TOML": ("[launch]", "[launch", ""),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_names_itself_and_the_key(case: str, tmp_path: Path) -> None:
    old, new, key = BROKEN[case]
    text = (FOLDER / "03_coalesce.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "03_coalesce.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BrokenFileError, match=rf"^03_coalesce\.toml, line \d+: .*{key}") as caught:
        load(path)
    line = text[: text.index(old)].count("\n") + 1
    assert line - 3 <= caught.value.broken.line <= line  # of the key, or of its table
