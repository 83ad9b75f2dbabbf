"""Where the clock is read: found in the code of every kernel, and nothing else is changed in it."""

from __future__ import annotations

import re

import pytest
from clang.cindex import CursorKind

from gpu.candidate import choose, variants
from gpu.trace.instrument import Instrumented, clock_code, instrument
from gpu.trace.trace import Level
from simulator.catalogue import whole_catalogue
from simulator.frontend.clang import descendants, parse
from simulator.frontend.device_code import SourceFile

SIZE = (512, 512, 512)
HEAD = "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K)\n"
TILES = ["before the loop", "copy", "wait", "inner loop", "wait", "store"]


def phases(code: Instrumented, last_line: int = 10**6) -> list[str]:
    return [place.name for place in code.places if place.last_line <= last_line]


def of_catalogue(name: str, level: Level = Level.PHASES) -> Instrumented:
    one = choose(name, SIZE)
    return instrument(one.text, one.kernel, one.defines, level)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("naive", ["before the loop", "inner loop", "store"]),
        ("tiled", TILES),
        ("rows", TILES),
        ("vectors", TILES),
        ("pipelined", ["before the loop", "copy", "inner loop", "wait", "store"]),
        (
            "anyshape",
            ["before the loop", "wait", "before the loop", "inner loop", "wait", "wait", "store"],
        ),
        ("tensor_half", ["before the loop", "wait", "before the loop", "inner loop", "wait",
                         "store", "copy", "wait", "inner loop", "wait", "store"]),
    ],
)  # fmt: skip
def test_a_kernel_has_its_phases(name: str, found: list[str]) -> None:
    code = of_catalogue(name)
    assert (phases(code), code.notes) == (found, ())


def test_lines_are_the_kernels_own() -> None:
    places = of_catalogue("tiled").places
    assert [(one.first_line, one.last_line) for one in places] == [
        (10, 16), (19, 22), (23, 23), (25, 26), (27, 27), (30, 31),
    ]  # fmt: skip
    assert [one.in_tile for one in places] == [False, True, True, True, True, False]


def without_reads(code: Instrumented) -> str:
    """The instrumented code with all that mentions the trace taken out."""
    text = code.text.removeprefix(clock_code())
    text = re.sub(r"\n *TilewiseTrace tilewise_trace\(0\);", "", text)
    text = re.sub(r"^ *tilewise_trace\.\w+\(\d+\); //.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"tilewise_trace\.\w+\(\d+\); ", "", text)
    return tight(re.sub(r"(, )?(TilewiseTrace& )?tilewise_trace(?=\))", "", text))


def tight(text: str) -> str:
    """A text without braces, which a single statement gets, and without spaces."""
    assert text.count("{") == text.count("}")
    return re.sub(r"[{}\s]", "", text)


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", variants(whole_catalogue()))
@pytest.mark.parametrize("level", list(Level))
def test_only_reads_are_added_and_clang_reads_them(name: str, level: Level) -> None:
    code = of_catalogue(name, level)
    assert without_reads(code) == tight(code.original)
    source = SourceFile(code.text)
    cursor, said = parse(source.device_code(choose(name, SIZE).kernel), "kernel.cu", {})
    assert not [one.spelling for one in said if one.severity >= 3]
    calls = {
        one.spelling for one in descendants(cursor)
        if one.kind == CursorKind.CALL_EXPR and one.spelling in ("enter", "begin_tile", "each")
    }  # fmt: skip
    tiled = {"enter"} if name in ("naive", "uncoalesced") else {"enter", "begin_tile"}
    assert calls == (tiled | {"each"} if level is Level.STATEMENTS and len(tiled) > 1
                     and not name.startswith("warpgroup") else tiled)  # fmt: skip


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("{}", ["whole kernel"]),
        ("{ C[0] = A[0]; }", ["whole kernel"]),
        ("{ if (M) return;\n for (int k = 0; k < K; ++k) C[k] += A[k] * B[k]; }",
         ["before the loop", "inner loop"]),
        ("{ for (int t = 0; t < M; ++t) for (int k = 0; k < K; ++k) C[t] += A[k] * B[k]; }",
         ["before the loop", "inner loop"]),
        ("{ __shared__ float s[9]; for (int t = 0; t < M; ++t) { s[t] = A[t]; __syncthreads(); } }",
         ["before the loop", "copy", "wait"]),
        ("{ __shared__ float s[9]; s[threadIdx.x] = A[0]; __syncthreads(); C[0] = s[1]; }",
         ["whole kernel", "wait", "whole kernel"]),
        ("{ for (int k = 0; k < K; ++k) C[k] = A[k]; C[0] = 1; }",
         ["before the loop", "inner loop", "store"]),
    ],
)  # fmt: skip
def test_kernels_without_a_loop_over_tiles(body: str, found: list[str]) -> None:
    code = instrument(HEAD + body, "f", {})
    assert phases(code) == found
    assert without_reads(code) == tight(code.original)


SWEEP = """
__device__ void sweep(float& sum, const float* s{more})
{
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum += s[k] * s[k];
    __syncthreads();
}
"""
KERNEL = """{
    __shared__ float s[4]; float sum = 0;
    for (int t = 0; t < K; t += 4) {
        s[threadIdx.x] = A[t + threadIdx.x];
        sweep(sum, s);
    }
    C[threadIdx.x] = sum;
}"""


def test_a_trace_is_passed_through_functions_that_wait() -> None:
    text = SWEEP.replace("{more}", "") + HEAD + KERNEL
    code = instrument(text, "f", {})
    assert sorted(phases(code)) == sorted(TILES)
    assert "sweep(sum, s, tilewise_trace);" in code.text
    assert "const float* s, TilewiseTrace& tilewise_trace)" in code.text


def test_a_function_that_is_declared_before_stays_as_it_is() -> None:
    declared = "__device__ void sweep(float& sum, const float* s);\n"
    code = instrument(declared + SWEEP.replace("{more}", "") + HEAD + KERNEL, "f", {})
    assert "sweep(sum, s);" in code.text
    assert phases(code) == ["before the loop", "copy", "inner loop", "store"]
    (note,) = code.notes
    assert note.startswith("Waits in sweep count as part of what calls it")


def test_a_macro_stays_in_one_piece() -> None:
    macro = "#define STEP { s[0] = A[t]; __syncthreads(); sum += s[0] * s[0]; __syncthreads(); }\n"
    body = (
        "{ __shared__ float s[1]; float sum = 0;\n for (int t = 0; t < K; ++t) STEP C[0] = sum; }"
    )
    code = instrument(macro + HEAD + body, "f", {})
    assert macro in code.text
    assert "STEP" in code.text


def test_the_diff_shows_what_is_added_alone() -> None:
    lines = of_catalogue("warptiles").diff().split("\n")[2:]
    changed = [line for line in lines if line[:1] in "+-"]
    assert len(changed) == 13
    assert all(line.startswith("+") and "tilewise_trace" in line for line in changed)
