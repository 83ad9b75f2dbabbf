"""The counters of kernels with one access or two, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.language.tree import MemorySpace
from simulator.machine.machine import Machine
from simulator.machine.observer import AccessKind
from simulator.observers.counters import ArrayCounters
from tests.simulator.launches import launch_text, run_text

# Statements of a kernel of 64 threads (two warps) with an array x of 4096 floats, and what it adds
# up to: (requests, sectors) of global loads and stores, (requests, wavefronts, ideal wavefronts) of
# shared loads and stores.
TABLE = {
    "a load and a store": ("x[i] = x[i + 64];", (2, 8), (2, 8), (0, 0, 0), (0, 0, 0)),
    "part of a warp": ("if (i < 40) x[i] = 1;", (0, 0), (2, 5), (0, 0, 0), (0, 0, 0)),
    "one thread": ("if (i == 33) x[i] = 1;", (0, 0), (1, 1), (0, 0, 0), (0, 0, 0)),
    "atomics are counted apart": ("atomicAdd(&x[i], 1.0f);", (0, 0), (0, 0), (0, 0, 0), (0, 0, 0)),
    "shared atomics too": (
        "__shared__ int s[64]; s[i] = 0; __syncthreads(); atomicAdd(&s[i], 1);",
        (0, 0), (0, 0), (0, 0, 0), (2, 2, 2)),
    "local arrays cost nothing": (
        "float v[4]; for (int k = 0; k < 4; ++k) v[k] = k; x[i] = v[i % 4];",
        (0, 0), (2, 8), (0, 0, 0), (0, 0, 0)),
    # A loop's address moves by a word each time: 4 sectors a warp where it is aligned, 5 elsewhere.
    "a base that moves": (
        "float v = 0; for (int k = 0; k < 40; ++k) v += x[i + k]; x[i] = v;",
        (80, 2 * (5 * 4 + 35 * 5)), (2, 8), (0, 0, 0), (0, 0, 0)),
    "a base that moves by 33 words": (
        "float v = 0; for (int k = 0; k < 8; ++k) v += x[i + 33 * k]; x[i] = v;",
        (16, 2 * (4 + 7 * 5)), (2, 8), (0, 0, 0), (0, 0, 0)),
    "a mask that shrinks": (
        "float v = 0; for (int k = 0; k < 4; ++k) { if (i < 32 - 8 * k) v += x[i]; } x[i] = v;",
        (4, 4 + 3 + 2 + 1), (2, 8), (0, 0, 0), (0, 0, 0)),
    "16 bytes of one address": (
        "float4 v = reinterpret_cast<float4*>(x)[i / 64]; x[i] = v.y;",
        (2, 2), (2, 8), (0, 0, 0), (0, 0, 0)),
    "a copy of 16 bytes of one address": (
        "__shared__ float4 s[64]; __pipeline_memcpy_async(s + i, (float4*)x + i / 64, 16);"
        " __pipeline_commit(); __pipeline_wait_prior(0);",
        (2, 32), (0, 0), (0, 0, 0), (2, 8, 8)),
    # From the second round on, a pair of lanes writes to two lines of shared memory in each line.
    "copies of 16 bytes whose target moves within a line": (
        "__shared__ float4 s[72]; for (int k = 0; k < 3; ++k) {"
        " __pipeline_memcpy_async(s + i + k, (float4*)x + i, 16);"
        " __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); }",
        (6, 2 * (16 + 20 + 16)), (0, 0), (0, 0, 0), (6, 24, 24)),
    "a vector of three, by component": (
        "float3 v = reinterpret_cast<float3*>(x)[i]; reinterpret_cast<float3*>(x)[i + 64] = v;",
        (6, 72), (6, 72), (0, 0, 0), (0, 0, 0)),
    "the first vector of three": (
        "if (i == 0) reinterpret_cast<float3*>(x)[i].y = 1; if (i == 0) {"
        " float3 v = reinterpret_cast<float3*>(x)[i]; reinterpret_cast<float3*>(x)[i + 16] = v; }",
        (3, 3), (4, 4), (0, 0, 0), (0, 0, 0)),
    "shared vectors of three": (
        "__shared__ float3 s[64]; s[i] = make_float3(i, 1, 2); float3 v = s[i]; x[i] = v.x;",
        (0, 0), (2, 8), (6, 6, 6), (6, 6, 6)),
    "the first shared vector of three": (
        "__shared__ float3 s[64]; if (i == 0) { s[i] = make_float3(i, 1, 2); float3 v = s[i];"
        " x[i] = v.x; }",
        (0, 0), (1, 1), (3, 3, 3), (3, 3, 3)),
    "shared vectors of three, 48 bytes apart": (
        "__shared__ float3 s[256]; s[4 * i] = make_float3(i, 1, 2); float3 v = s[4 * i]; "
        "x[i] = v.x;",
        (0, 0), (2, 8), (6, 24, 6), (6, 24, 6)),
    "shared columns": (
        "__shared__ float s[64][32]; s[i][0] = i; __syncthreads(); x[i] = s[i % 32][i / 32];",
        (0, 0), (2, 8), (2, 64, 2), (2, 64, 2)),
    # 32 lanes at 127 bytes from each other: which banks they meet in depends on the first byte.
    "shared bytes": (
        "__shared__ char s[8192]; for (int k = 0; k < 8; ++k) s[127 * i + k] = 1;",
        (0, 0), (0, 0), (0, 0, 0), (16, None, 16)),
}  # fmt: skip
NAMES = (
    ("global_load_requests", "global_load_sectors"),
    ("global_store_requests", "global_store_sectors"),
    ("shared_load_requests", "shared_load_wavefronts", "shared_load_wavefronts_ideal"),
    ("shared_store_requests", "shared_store_wavefronts", "shared_store_wavefronts_ideal"),
)


def busiest_banks(stride: int, first: int) -> int:
    """Wavefronts of both warps whose lanes store a byte each, `stride` bytes apart."""
    total = 0
    for warp in range(2):
        words = {(stride * lane + first) // 4 for lane in range(32 * warp, 32 * warp + 32)}
        total += max(sum(word % 32 == bank for word in words) for bank in range(32))
    return total


@pytest.mark.parametrize("name", TABLE)
def test_counters(name: str) -> None:
    body, *expected = TABLE[name]
    if name == "shared bytes":
        expected[3] = (16, sum(busiest_banks(127, k) for k in range(8)), 16)
    text = f"__global__ void k(float* x) {{\nint i = threadIdx.x;\n{body}\n}}"
    report = run_text(text, block=64, x=np.zeros(4096, np.float32))
    lines = report.lines.values()
    found = [tuple(sum(line[name] for line in lines) for name in names) for names in NAMES]
    assert found == expected
    for name, total in report.counters.items():
        assert total == sum(line[name] for line in lines)


def test_an_arrays_counts_are_those_of_its_line() -> None:
    code = "__global__ void k(float* x, float* y) { int i = threadIdx.x; x[i] = y[2 * i] + y[0]; }"
    counters = ArrayCounters()
    arrays = {name: np.zeros(128, np.float32) for name in "xy"}
    Machine(*launch_text(code, block=64, **arrays), [counters]).run()
    assert counters.arrays == {
        (1, "x", AccessKind.STORE): (MemorySpace.GLOBAL, 2, 8),
        (1, "y", AccessKind.LOAD): (MemorySpace.GLOBAL, 2 + 2, 16 + 2),
    }
