"""What may be asked of the compiler: edits that change no result, and what they change."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from compiler.difference import differences
from compiler.find import find_machine_code
from compiler.hints import HINTS, RECORDED, Launched, hinted_catalogue, hinted_sources, same_lines
from compiler.opcodes import sentence
from compiler.recorded import ARCHITECTURES, recorded
from compiler.toolchain import Toolchain
from simulator import compile_kernel
from simulator.catalogue import catalogue, whole_catalogue

KEYS = {one.key: one for one in HINTS}


def edited(text: str, key: str, threads: int = 256, architecture: str = "sm_90") -> str | None:
    return KEYS[key].apply(compile_kernel(text), Launched(threads, 0, architecture))


def figures(name: str, key: str) -> Mapping[str, tuple[str, str]]:
    """Both builds' figures of a kernel of the catalogue, as recorded for sm_90."""
    entry = catalogue()[name]
    kernel = compile_kernel(entry.source(), entry.kernel)
    launched = Launched(math.prod(entry.shape(1, 1)[1]), entry.shared_bytes(), "sm_90")
    texts = {one.key: text for one, text in hinted_sources(kernel, launched).items()}
    first, second = recorded(kernel.text, "sm_90"), recorded(texts[key], "sm_90")
    assert first is not None
    assert second is not None
    found = differences(first, second, launched)
    return {one.name: (one.first, one.second) for one in found}


HEAD = "void f(const float* x, float *y, int n)"
RESTRICTED = "void f(const float* __restrict__ x, float * __restrict__ y, int n)"
LOOPS = f"""__global__ {HEAD}
{{
    __shared__ float s[32];
    for (int i = 0; i < n; ++i) {{  // for (;;)
        #pragma unroll
        for (int k = 0; k < 4; ++k)
            y[k] += x[i];
    }}
    for (int i = 0; i < n; ++i) s[i] = 0;
}}
"""


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("unroll-8", {5: "        #pragma unroll 8", 9: "    #pragma unroll 8"}),
        ("restrict", {1: f"__global__ {RESTRICTED}"}),
        ("volatile", {3: "    __shared__ volatile float s[32];"}),
        ("launch-bounds", {1: f"__global__ __launch_bounds__(256, 8) {HEAD}"}),
    ],
)  # fmt: skip
def test_an_edit_changes_these_lines_and_no_other(key: str, changed: Mapping[int, str]) -> None:
    text = edited(LOOPS, key)
    assert text is not None
    lines = text.split("\n")
    assert {number: lines[number - 1] for number in changed} == changed
    assert len([one for one in lines if one not in LOOPS.split("\n")]) == len(changed)
    compile_kernel(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("__global__ void f(float* x) { x[0] = 1; }", "unroll-1"),
        ("__global__ void f(float* __restrict__ x) { x[0] = 1; }", "restrict"),
        ("__global__ void f(int n) { }", "restrict"),
        ("__global__ void f(float* x) { x[0] = 1; }", "volatile"),
        ("#define LIST float* x\n__global__ void f(LIST) { x[0] = 1; }", "restrict"),
    ],
)
def test_an_edit_that_finds_nothing_is_not_offered(text: str, key: str) -> None:
    assert edited(text, key) is None


def test_launch_bounds_take_the_place_of_others_and_depend_on_the_card() -> None:
    text = "__global__ void __launch_bounds__(128 * (1 + 1)) f(float* x) { x[0] = 1; }"
    assert edited(text, "launch-bounds") == (
        "__global__ __launch_bounds__(256, 8) void f(float* x) { x[0] = 1; }"
    )
    assert "(256, 6)" in str(edited(text, "launch-bounds", architecture="sm_120"))


def test_a_line_of_an_edited_text_is_that_which_it_was() -> None:
    text = edited(LOOPS, "unroll-1")
    assert text is not None
    lines, same = text.split("\n"), same_lines(LOOPS, text)
    kept = [number for number, line in enumerate(lines, 1) if line.strip() != "#pragma unroll 1"]
    assert [LOOPS.split("\n")[same[number] - 1] for number in kept] == [
        lines[number - 1] for number in kept
    ]
    restricted = edited(LOOPS, "restrict")
    assert restricted is not None
    assert same_lines(LOOPS, restricted)[1] == 1


def test_lines_of_two_kernels_are_beside_those_that_they_are_like() -> None:
    naive, tiled = (catalogue()[name].source() for name in ("naive", "tiled"))
    lines, earlier = ([line.strip() for line in text.split("\n")] for text in (tiled, naive))
    beside = {
        lines[number - 1]: earlier[other - 1] for number, other in same_lines(naive, tiled).items()
    }
    assert beside["int row = blockIdx.y * TILE + ty;"].startswith("int row = blockIdx.y *")
    assert beside["for (int k = 0; k < TILE; ++k)"] == "for (int k = 0; k < K; ++k)"
    assert beside["acc += As[ty][k] * Bs[k][tx];"].startswith("acc += A[row * K + k] *")
    assert "__syncthreads();" not in beside
    assert same_lines(naive, tiled)[len(tiled.rstrip().split("\n"))] == len(
        naive.rstrip().split("\n")
    )  # the braces at the end, of which there are others


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.sample(3)
def test_all_hints_of_some_kernels_are_recorded(architecture: str) -> None:
    found = [
        (kernel, recorded(text, architecture)) for kernel, text in hinted_catalogue(architecture)
    ]
    assert all(code and code.kernel == kernel for kernel, code in found), (
        "python -m compiler record"
    )
    for _, code in found:
        assert code is not None
        assert all(sentence(one) for one in code.instructions)
        assert sum(map(len, code.lines.values())) == len(code.instructions)
    assert {kernel for kernel, _ in found} == {whole_catalogue()[name].kernel for name in RECORDED}


@pytest.mark.parametrize(
    ("name", "key", "figure", "grows"),
    [
        ("tiled", "unroll-1", "Inner loop's instructions for each FFMA", True),
        ("naive", "unroll-8", "Instructions", False),
        ("tiled", "volatile", "Inner loop's instructions for each FFMA", True),
        ("registers", "launch-bounds", "Bytes that a thread spills", True),
        ("registers", "launch-bounds", "Registers of a thread", False),
        ("registers", "launch-bounds", "Warps at once", True),
        ("registers", "unroll-1", "Bytes of a thread's local memory", True),
    ],
)
def test_what_the_compiler_makes_of_an_edit(name: str, key: str, figure: str, grows: bool) -> None:
    first, second = (
        float(one.split(" ")[0].replace(",", "")) for one in figures(name, key)[figure]
    )
    assert (second > first) is grows
    assert first != second


def test_restrict_changes_no_figure_where_no_store_comes_before_a_load() -> None:
    assert all(first == second for first, second in figures("tiled", "restrict").values())


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("key", KEYS)
def test_the_compiler_takes_each_edit(toolchain: Toolchain, key: str) -> None:
    text = edited(LOOPS, key)
    assert text is not None
    assert find_machine_code(text, "f", "sm_90").instructions
