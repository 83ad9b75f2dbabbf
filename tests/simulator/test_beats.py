"""Which steps are beats: what a teacher would point at, and no bookkeeping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import catalogue, compile_kernel, record
from simulator.language.tree import Loop
from simulator.machine.observer import StepKind
from simulator.recording.navigation import boundaries
from simulator.recording.recording import Recording
from tests.simulator.launches import launch_text, matmul

MANDELBROT = """__global__ void k(int* out, int width, int most) {
    int x = threadIdx.x, y = blockIdx.x;
    float cr = x * 0.1f - 2, ci = y * 0.1f;
    float zr = 0, zi = 0;
    int n = 0;
    while (n < most && zr * zr + zi * zi < 4) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        ++n;
    }
    out[y * width + x] = n;
}"""
SUMS = """__global__ void k(float* a) {
    float x = a[threadIdx.x];
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
        float y = x + i;
        sum += x * y;
        sum = sum + y * y;
        sum = fmaf(x, y, sum);
    }
    a[threadIdx.x] = sum;
}"""
WARP = """__global__ void k(float* a) {
    float sum = a[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (__any_sync(0xffffffff, sum > 3))
        __syncwarp();
    if (threadIdx.x == 0)
        a[0] = sum;
}"""
GROUPS = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* a) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int lane = tile.thread_rank();
    float x = a[lane];
    tile.sync();
    x = tile.shfl_down(x, 1);
    block.sync();
    a[lane] = x;
}"""
ADDRESSES = """__global__ void k(float* a, int n) {
    const float* from[2];
    int at = threadIdx.x;
    at += 2 * blockDim.x;
    while (at >= 32)
        at -= 32;
    for (int i = 0; i < 2; ++i)
        from[i] = a + i * at;
    float sum = 0;
    for (int i = 0; i < 3; ++i)
        if (i == n)
            sum += *from[i];
    a[at] = sum;
}"""
CONSTANT = """__constant__ int first[1] = {3};
__global__ void k(int n) {
    int x = threadIdx.x;
    x = x + first[0];
    x = x + n;
}"""
NO_MEMORY = """__global__ void k() {
    int i = threadIdx.x;
    float x = i * 0.5f;
    for (int n = 0; n < 3; ++n)
        x = x * x + 1;
    x = sqrtf(x);
}"""
NESTED = """__global__ void k(float* a) {
    float x = 1;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < i; ++j)
            x = x * 0.5f + 1;
        x = x - 1;
    }
    a[threadIdx.x] = x;
}"""
DECLARATIONS = """__global__ void k() {
    int i = threadIdx.x;
    int j = 2 * i;
}"""
HELLO = """__global__ void k() {
    int i = threadIdx.x;
    if (i < 2)
        printf("%d", i);
}"""
FLOATS = np.ones(64, np.float32)

# The kernel, its arguments, and the line of each beat.
USER_KERNELS: dict[str, tuple[str, dict[str, Any], list[int]]] = {
    "a loop that computes in registers, an iteration at a time": (
        MANDELBROT, {"out": np.zeros(32, np.int32), "width": 32, "most": 4}, [10] * 4 + [12]
    ),
    "a product, however it is added": (SUMS, {"a": FLOATS}, [2, *[6, 7, 8] * 2, 10]),
    "what a warp exchanges": (WARP, {"a": FLOATS}, [2, *[4] * 5, 5, 6, 8]),
    "what cooperative groups exchange and wait at": (GROUPS, {"a": FLOATS}, [7, 8, 9, 10, 11]),
    "no arithmetic of addresses, and no guard": (ADDRESSES, {"a": FLOATS, "n": 1}, [12, 13]),
    "a read of constant memory": (CONSTANT, {"n": 1}, [4]),
    "without memory, what is computed": (NO_MEMORY, {}, [5, 5, 5, 6]),
    "an outer iteration whose inner loop has none": (NESTED, {"a": FLOATS}, [6, 5, 5, 5, 8]),
    "declarations alone, each": (DECLARATIONS, {}, [2, 3]),
    "what is printed": (HELLO, {}, [4]),
}  # fmt: skip


def lines_of_beats(recording: Recording) -> list[int]:
    return [recording.steps[number].line for number in boundaries(recording, "beat")]


@pytest.mark.parametrize(("text", "arguments", "lines"), USER_KERNELS.values(), ids=USER_KERNELS)
def test_beats_of_a_kernel_of_ones_own(
    text: str, arguments: dict[str, Any], lines: list[int]
) -> None:
    assert lines_of_beats(record(*launch_text(text, **arguments))) == lines


def test_beats_of_tiled() -> None:
    recording = record(*matmul("tiled", 8, 8, 8, TILE=4))
    tile = [21, 22, 23, 26, 26, 26, 26, 27]  # A's, B's, a wait, four products, a wait
    assert len(recording.steps) == 53
    assert lines_of_beats(recording) == [*tile, *tile, 31]
    assert boundaries(recording, "beat")[:4] == (9, 10, 11, 14)


def test_beats_of_naive() -> None:
    assert lines_of_beats(record(*matmul("naive", 4, 4, 4))) == [*[15] * 4, 16]


def test_beats_of_asynchronous_copies() -> None:
    recording = record(*matmul("pipelined", 8, 8, 8, TILE=8, DEPTH=4, EACH=4))
    lines = lines_of_beats(recording)
    assert lines[:6] == [18, 18, 18, 18, 106, 107], "copies, then a wait and a barrier"
    texts = recording.kernel.text.split("\n")
    pointed_at = {texts[line - 1].strip() for line in lines[6:]}
    assert "acc[i][j] += a[i][kk] * b[j];" in pointed_at
    assert not [text for text in pointed_at if text.startswith(("int ", "for ", "if "))]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", catalogue())
def test_no_beat_of_the_catalogue_is_a_loops_own_step(name: str) -> None:
    entry = catalogue()[name]
    opens = entry.opens
    recording = record(*matmul(name, opens["M"], opens["N"], opens["K"], **entry.teaching[0]))
    found = [recording.steps[number] for number in boundaries(recording, "beat")]
    assert 5 <= len(found) < len(recording.steps) / 2
    assert not [s for s in found if isinstance(s.statement, Loop) or s.kind is StepKind.TEST]


def test_beats_of_warps_one_after_another() -> None:
    recording = record(*matmul("tiled", 16, 16, 16, TILE=8), schedule="ascending")
    together = record(*matmul("tiled", 16, 16, 16, TILE=8))
    assert sorted(lines_of_beats(recording)) == sorted(lines_of_beats(together) * 2)


def test_a_launch_without_a_step_has_no_beat() -> None:
    kernel = compile_kernel("__global__ void k() {}", "k")
    recording = record(*launch_text(kernel.text))
    assert boundaries(recording, "beat") == ()
