"""What every text gets is read once for a process: kernels and errors are those of the headers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from simulator import SourceError, compile_kernel
from simulator.frontend import clang

HALVES = """
__global__ void k(half* a, float* x) {
    int i = threadIdx.x;
    a[i] = __hadd(a[i], __float2half(std::max(x[i], 1.0f)));
    x[i] = make_float2(x[i], sqrtf(x[i])).y;
}
"""
GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int* x) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    x[threadIdx.x] = cg::reduce(tile, x[threadIdx.x], cg::plus<int>());
}
"""
MISSPELT = "__global__ void k(float* x) { x[threadIdx.x] = sqrtt(x[0]) + __hadd(1.0f); }"
REDEFINED = "#define INFINITY 3\nstruct float2 { int x; };\n__global__ void k(float* x) { *x = 1; }"


def compiled(text: str) -> str:
    try:
        return repr(compile_kernel(text))
    except SourceError as error:
        return repr((error.errors, error.warnings))


@pytest.mark.parametrize("text", [HALVES, GROUPS, MISSPELT, REDEFINED])
def test_a_text_is_what_it_is_with_the_headers_themselves(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = compiled(text)
    monkeypatch.setattr(clang, "_always", lambda: clang.ALWAYS)
    assert found == compiled(text)


@pytest.mark.skipif(not clang.OPEN_FILES.exists(), reason="no names for open files")
def test_it_is_read_from_a_file_that_is_gone() -> None:
    kind, path, *_ = clang._always()
    assert kind == "-include-pch"
    assert Path(path).stat().st_nlink == 0


def test_without_a_place_for_it_the_headers_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert clang._always.__wrapped__() == clang.ALWAYS
    monkeypatch.undo()
    monkeypatch.setattr(clang, "OPEN_FILES", tmp_path / "missing")
    assert clang._always.__wrapped__() == clang.ALWAYS
