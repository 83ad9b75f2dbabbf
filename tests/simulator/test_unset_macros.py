"""Texts that need a macro: the refusal names it, to a terminal and to an editor."""

from __future__ import annotations

import pytest

from simulator import SourceError, compile_kernel
from ui.user_kernel.problems import find_problems

KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
# A text, the line of its first error, what a terminal shows, and what an editor shows.
TABLE = {
    "#error": (
        "#ifndef TILE\n#error set TILE\n#endif\n__global__ void k(float* x) { x[TILE] = 1; }", 2,
        "An #error stops the compiler here: set TILE. Give -D TILE=….",
        "Write #define TILE … above it.",
    ),
    "#error with a choice": (
        f"#if !defined(A) && !defined(B)\n#error A or B\n#endif\n{KERNEL}", 2,
        "Give -D A or -D B.", "Write #define A above it, or #define B.",
    ),
    "ifdef": (
        f"#ifdef FAST\n{KERNEL}#endif", 2, "a condition around it (#if or its kind) leaves it out. "
        "Give -D FAST.", "Write #define FAST above it.",
    ),
    "a version": (f"#if VERSION > 2\n{KERNEL}#endif", 2, "Give -D VERSION=3.",
                  "Write #define VERSION 3 above it."),
    "two together": (
        f"#ifdef A\n#if defined(B)\n{KERNEL}#endif\n#endif", 3, "Give -D A -D B.",
        "Write #define A and #define B above it.",
    ),
    "if 0": (f"#if 0\n{KERNEL}#endif", 2, "leaves it out.", ""),
    "an unknown name": (
        "__global__ void k(float* x) { x[BLOCK_SIZE] = 1; }", 1, "Give -D BLOCK_SIZE=….",
        "Write #define BLOCK_SIZE … above it.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_what_mends_it_is_named(name: str) -> None:
    text, line, terminal, editor = TABLE[name]
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    assert str(caught.value).split("\n")[0].endswith(terminal)
    problem = find_problems(text, caught.value)[0]
    assert (problem.line, "-D" in problem.hint) == (line, False)
    assert problem.hint.endswith(editor)


@pytest.mark.parametrize("name", ["#error", "ifdef", "a version", "two together"])
def test_it_does_mend_it(name: str) -> None:
    text, *_ = TABLE[name]
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    together = caught.value.errors[0].macros[0]
    defines = dict((macro.replace("…", "1") + "=").split("=")[:2] for macro in together)
    assert compile_kernel(text, defines=defines).name == "k"


def test_a_kernel_of_a_name_is_found_under_its_condition() -> None:
    text = f"#ifdef FAST\n{KERNEL}#endif\n__global__ void other(float* x) {{ x[0] = 2; }}"
    with pytest.raises(SourceError, match=r"The kernel k is in this code.*Give -D FAST\."):
        compile_kernel(text, "k")
    with pytest.raises(SourceError, match=r"no kernel named j in kernel\.cu; it has other\."):
        compile_kernel(text, "j")


def test_a_prototype_is_no_kernel() -> None:
    text = "__global__ void k(float* x);\n"
    with pytest.raises(SourceError, match=r"line 1.*k is only declared here: its body"):
        compile_kernel(f"{text}int main() {{ k<<<1, 1>>>(0); }}")
    assert compile_kernel(f"{text}__global__ void j(float* x) {{ x[0] = 1; }}").name == "j"


@pytest.mark.parametrize(
    "declared", ["float* x, int size", "float* x) { int size = 4; }  void f(int i"]
)
def test_a_name_that_is_a_macro_is_explained(declared: str) -> None:
    text = f"#define size 1024\n__global__ void k({declared}) {{}}"
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    assert "size is a macro here (line 1), so that a compiler reads '1024'" in str(caught.value)


def test_no_name_of_a_missing_header_is_guessed() -> None:
    text = (
        '#include "mine.h"\n__global__ void k(float* x) { x[0] = pwr(2.f, 2.f); atmicAdd(x, 1); }'
    )
    with pytest.raises(SourceError) as caught:
        compile_kernel(text)
    far, near = caught.value.errors
    assert "did you mean" not in str(far)
    assert far.fix is None
    assert "If it comes from mine.h (line 1): give that file's folder with -I FOLDER." in str(far)
    assert "open that file together with this one" in far.hint_for_editor
    assert near.message.endswith("did you mean 'atomicAdd'?")
