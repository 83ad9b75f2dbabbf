"""The instrumented code itself, run by g++ a thread at a time: what it writes is what is read."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpu.candidate import choose
from gpu.trace.instrument import instrument
from gpu.trace.summary import Reads, summarise
from gpu.trace.trace import Level
from tests.gpu.trace.fake_clock import BUFFERS

TICK = 7  # cycles from one look at the clock to the next
# Threads run one after another, and barriers do nothing: C is wrong, but every read is made.
STUBS = """
#include <algorithm>
using std::min;
#define __device__
#define __global__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
struct Three { unsigned x, y, z; };
static Three threadIdx, blockIdx, blockDim, gridDim;
static unsigned long long ticks = 1ull << 40;
static unsigned long long clock64() { return ticks += TICK; }
static unsigned long long globaltimer() { return ticks; }
static unsigned smid() { return 3; }
static void __syncthreads() {}
static void atomicMax(unsigned long long* at, unsigned long long value)
{
    *at = std::max(*at, value);
}
"""
MAIN = """
extern "C" void run(const TilewiseBuffers* buffers, Three grid, Three block, const float* A,
                    const float* B, float* C, int M, int N, int K)
{
    tilewise_buffers = *buffers;
    gridDim = grid;
    blockDim = block;
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
                for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x)
                    KERNEL(A, B, C, M, N, K);
}
"""


class Three(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]


def run(
    name: str, size: tuple[int, int, int], level: Level, tmp_path: Path, whole: int, capacity: int
) -> tuple[Reads, list[str]]:
    """What the instrumented code of a kernel writes, and the names of its places."""
    candidate = choose(name, size)
    code = instrument(candidate.text, candidate.kernel, candidate.defines, level)
    text = re.sub(
        r'asm volatile\("mov\.u\d\d %0, %%(\w+);" : "=[lr]"\((\w+)\)[^;]*;',
        r"\2 = \1();",
        code.text,
    )
    main = MAIN.replace("KERNEL", candidate.kernel)
    source, library = tmp_path / "kernel.cpp", tmp_path / "kernel.so"
    source.write_text(STUBS.replace("TICK", str(TICK)) + text + main, encoding="utf-8")
    command = ["g++", "-O1", "-w", "-shared", "-fPIC", "-std=c++17", source, "-o", library]
    subprocess.run(command, check=True)
    warps = int(np.prod(candidate.block)) // 32
    blocks = int(np.prod(candidate.grid))
    reads, ends = (
        np.zeros((whole * warps, capacity), np.uint64),
        np.zeros((whole * warps, 2), np.uint64),
    )
    times = np.zeros((blocks, 6), np.uint64)
    given = (reads.ctypes.data, ends.ctypes.data, times.ctypes.data, whole, blocks, capacity, 1)
    struct = np.array([given], BUFFERS)
    M, N, K = size
    A, B, C = np.ones((M, K), "f4"), np.ones((K, N), "f4"), np.zeros((M, N), "f4")
    ctypes.CDLL(str(library)).run(
        ctypes.c_void_p(struct.ctypes.data), Three(*candidate.grid), Three(*candidate.block),
        *(ctypes.c_void_p(each.ctypes.data) for each in (A, B, C)), M, N, K,
    )  # fmt: skip
    found = Reads(np.arange(whole), reads, ends, times, candidate.grid, warps, 0.0, 1000.0)
    summary = summarise(code, found, level, 10_000)
    phases = [f"{one.name[:8]} {one.cycles:g} x {one.visits:g}" for one in summary.phases]
    # Warps run one after another here, and leave no barrier together.
    left_out = [one for one in summary.left_out if not one.startswith("After the barrier")]
    return found, [*phases, *left_out]


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("name", "level", "found"),
    [
        ("tiled:TILE=8", Level.PHASES,
         ["copy 7 x 3", "wait 7 x 3", "inner lo 7 x 3", "wait 7 x 3"]),
        ("naive", Level.PHASES, ["inner lo 7 x 1"]),
        ("padded:TILE=8", Level.STATEMENTS,
         ["As[ty][t 7 x 3", "Bs[tx][t 7 x 3", "wait 7 x 3", "for (int 7 x 3",
          *["iteratio 7 x 1"] * 8, "wait 7 x 3"]),
    ],
)  # fmt: skip
def test_the_code_writes_what_is_read(
    name: str, level: Level, found: list[str], tmp_path: Path
) -> None:
    reads, phases = run(name, (16, 32, 24), level, tmp_path, 2, 64)
    assert phases == ["before t 7 x 1", *found, "store 7 x 1"]
    assert (reads.blocks[:, 0] == 3).all()
    assert (reads.blocks[:, 2] < reads.blocks[:, 4]).all()
    assert (reads.blocks[:, 4] <= reads.blocks[:, 5]).all()


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_full_buffer_is_not_overrun(tmp_path: Path) -> None:
    reads, phases = run("tiled:TILE=8", (16, 32, 24), Level.PHASES, tmp_path, 2, 6)
    assert (reads.ends[:, 1] == 14).all()
    assert phases[-1].startswith(
        "A warp has room for 6 reads of its clock, and one read it 14 times"
    )
    assert phases[:2] == ["before t 7 x 1", "copy 7 x 1"]
