"""Which task a kernel likely computes, where its results match none."""

from __future__ import annotations

import pytest

from simulator import Kernel, compile_kernel
from simulator.language.errors import LaunchError
from simulator.sentences import verdicts
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.likely_task import find_likely_task
from simulator.verdict.repair import Repair
from simulator.verdict.runs import Runs
from simulator.verdict.sizes import Trial, trials

COPY = "__global__ void k(const float* x, {0}* y, int n) {{ int i = threadIdx.x; if (i < n) {1}; }}"
ENDS = "struct P {{ float of; }};\n" + COPY
PRODUCT = """__global__ void gemm(const float* A, const float* B, float* C, int n, float more) {
    int i = threadIdx.x / 8, j = threadIdx.x % 8;
    if (i < n && j < n) C[i * n + j] = A[i * n + j] * B[i * n + j] + more;
}"""


def runs_of(
    kernel: Kernel, numbers: dict[str, str], columns: str, contents: Contents = Contents.RANDOM
) -> tuple[Runs, Trial]:
    arguments = tuple(
        NumberArgument(one.name, numbers[one.name]) if one.name in numbers
        else ArrayArgument(one.name, "1", columns, contents)
        for one in kernel.parameters
    )  # fmt: skip
    form = LaunchForm(("1",) * 3, ("64", "1", "1"), "0", arguments)
    runs, (planned, *_) = Runs(kernel, form, None), trials(kernel, form, ())
    return runs, planned


@pytest.mark.parametrize(
    ("ctype", "statement", "sentence"),
    [
        ("float", "y[i] = x[i]", verdicts.holds("y = x")),
        (
            "float",
            "y[i] = i < 8 ? 50 : x[i]",
            verdicts.is_most_like(["y = x", "y = the larger of x and 0"]),
        ),
        ("float", "y[i] = i < 40 ? 50 : x[i]", ""),
        ("float", "y[i] = 100 + i", ""),
        ("P", "y[i].of = x[i]", ""),
    ],
)
def test_what_results_are_most_like(ctype: str, statement: str, sentence: str) -> None:
    kernel = compile_kernel(ENDS.format(ctype, statement))
    runs, planned = runs_of(kernel, {"n": "64"}, "n")
    assert find_likely_task(runs, planned) == ("", None)
    runs.run(planned, 1.0)
    assert find_likely_task(runs, planned) == (sentence, None)
    runs.report = None  # as of a launch that was stopped
    assert find_likely_task(runs, planned) == ("", None)


def test_two_tasks_at_most_are_named() -> None:
    kernel = compile_kernel(COPY.format("float", "y[i] = i % 5 ? 1 : 50"))
    runs, planned = runs_of(kernel, {"n": "64"}, "n", Contents.ONES)
    runs.run(planned, 1.0)
    sentence, _ = find_likely_task(runs, planned)
    assert "most like y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3 or B = the mean of" in sentence
    assert "but differ from both" in sentence
    assert sentence.count(" or ") == 1


def test_a_single_result_may_be_any_that_has_its_shape() -> None:
    kernel = compile_kernel(COPY.format("float", "if (i == 0) y[0] = -x[0]"))
    runs, planned = runs_of(kernel, {"n": "64"}, "n")
    one = tuple(ArrayArgument("y", "1", "1") if each.name == "y" else each
                for each in runs.form.arguments)  # fmt: skip
    runs = Runs(kernel, LaunchForm(runs.form.grid, runs.form.block, "0", one), None)
    runs.run(planned, 1.0)
    titles = ["total = the sum of x", "top = the largest of x"]
    assert find_likely_task(runs, planned) == (verdicts.is_most_like(titles), None)


def test_the_task_of_a_kernels_name_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compile_kernel(PRODUCT)
    runs, planned = runs_of(kernel, {"n": "8", "more": "3"}, "n * n")
    runs.run(planned, 1.0)
    change = Repair("Do this.", "", ())
    tried: list[tuple[Runs, list[Trial]]] = []

    def mends(again: Runs, given: list[Trial]) -> Repair | None:
        tried.append((again, given))
        return change if len(tried) == 1 else None

    monkeypatch.setattr("simulator.verdict.likely_task.mend", mends)
    sentence = verdicts.would_compute("C = A · B", "Do this.")
    assert find_likely_task(runs, planned) == (sentence, change)
    again, given = tried[0]
    assert [one.sizes for one in given] == [dict.fromkeys("MNK", size) for size in (8, 1, 64)]
    assert len(again.checks) == 3
    assert again.form.numbers == runs.form.numbers
    assert [(one.rows, one.columns) for one in again.form.arrays] == [("n", "n")] * 3
    sentence, repair = find_likely_task(runs, planned)
    assert sentence.startswith("It runs without hazards. Its results are most like C = A · B")
    assert repair is None

    def refuses(*_: object) -> list[Trial]:
        raise LaunchError("")

    monkeypatch.setattr("simulator.verdict.likely_task.trials", refuses)
    assert find_likely_task(runs, planned) == (sentence, None)
    assert len(tried) == 2
