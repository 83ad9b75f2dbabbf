"""What is wrong with a text that is being written, and where."""

from __future__ import annotations

import pytest

from simulator.catalogue import catalogue
from ui.user_kernel.examine import examine
from ui.user_kernel.problems import Problem, mark_line, text_between


def only(text: str) -> Problem:
    [problem] = examine(text, "").problems
    return problem


def mended(text: str, problem: Problem) -> str:
    """The text after a click on a problem's button."""
    assert problem.fix is not None
    units = text.encode("utf-16-le")
    for change in reversed(problem.fix.changes):
        before, after = units[: 2 * change.start], units[2 * change.end :]
        units = before + change.text.encode("utf-16-le") + after
    return units.decode("utf-16-le")


@pytest.mark.parametrize("name", catalogue())
@pytest.mark.sample(3)
def test_a_kernel_of_the_catalogue_has_none(name: str) -> None:
    assert examine(catalogue()[name].source(), "").problems == ()


@pytest.mark.parametrize(
    ("wrong", "right", "label"),
    [
        ("int i = threadIdx.x", "int i = threadIdx.x;", "insert ;"),
        ("int i = threadldx.x;", "int i = threadIdx.x;", "write threadIdx"),
        ("int i = 0; __syncthread();", "int i = 0; __syncthreads();", "write __syncthreads"),
        ("int i = x->;", None, None),
    ],
)
@pytest.mark.parametrize("before", ["", "// 𝛼 × β\n", "/* 😀 */ "])
def test_a_fix_mends_the_text(
    wrong: str, right: str | None, label: str | None, before: str
) -> None:
    text = f"{before}__global__ void k(float* x) {{\n  /* 😀 é */ {wrong}\n  x[0] = 1;\n}}\n"
    problem = examine(text, "").problems[0]
    assert problem.severity == "error"
    assert problem.line == text[: text.index(wrong)].count("\n") + 1
    if right is None:
        assert problem.fix is None
        return
    assert problem.fix is not None
    assert problem.fix.label == label
    assert mended(text, problem) == text.replace(wrong, right)
    assert examine(mended(text, problem), "").problems == ()


def test_a_problem_is_where_the_text_says_it_is() -> None:
    text = "__global__ void k(float* x) {\n  /* 😀 */ x[oops] = 1;\n}\n"
    problem = only(text)
    assert text_between(text, problem.start, problem.end) == "oops"
    assert problem.line == 2


def test_a_marked_line_begins_with_its_first_letter() -> None:
    text = "// 😀\n    x[0] = 1;\n"
    marked = mark_line(text, 2, "")
    assert text_between(text, marked.start, marked.end) == "x[0] = 1;"


def test_a_text_without_a_kernel_has_one_problem() -> None:
    for text in ("", "int main() {}", "\n\n"):
        problem = only(text)
        assert "no kernel" in problem.message
        assert (problem.start, problem.line) == (0, 1)
