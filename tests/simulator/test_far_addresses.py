"""Indices and pointers farther away than 64 bits of bytes reach: out of bounds, no overflow."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simulator import narrate, record, simulate
from simulator.recording.requests import requests
from simulator.sentences.parts import parts
from tests.simulator.launches import launch_text

TID = "(long long)threadIdx.x"

# body, then per hazard: line, array, the first thread that faults, its element, lanes.
# A is float[64], n is 61, u is 2**64 - 1.
FAR = {
    "read": ("A[0] = A[1ll << 61];", (2, "A", 0, 2**61, 32)),
    "write": ("A[1ll << 61] = 1;", (2, "A", 0, 2**61, 32)),
    "before the start": ("A[-(1ll << 61)] = 1;", (2, "A", 0, -(2**61), 32)),
    "the lowest index": ("A[-9223372036854775807ll - 1] = 1;", (2, "A", 0, -(2**63), 32)),
    "the highest index": ("A[9223372036854775807ll] = 1;", (2, "A", 0, 2**63 - 1, 32)),
    # In 64 bits of bytes this is A[0] again: still not a cell of A by its index.
    "all the way round": ("*(A + (1ll << 62)) = 1;", (2, "A", 0, 2**62, 32)),
    "read and written": ("A[1ll << 61] += 1;", (2, "A", 0, 2**61, 64)),
    "counted up": ("A[1ll << 61]++;", (2, "A", 0, 2**61, 64)),
    "shift by an argument": ("A[1ll << n] = 1;", (2, "A", 0, 2**61, 32)),
    "lanes apart": (f"A[{TID} << 58] = 1;", (2, "A", 1, 2**58, 31)),
    "lanes below": (f"A[-({TID} << 58)] = 1;", (2, "A", 1, -(2**58), 31)),
    "lanes of the highest": (f"A[9223372036854775807ll - {TID}] = 1;",
                             (2, "A", 0, 2**63 - 1, 32)),
    "lanes and a distance": (f"A[(1ll << 61) + {TID}] = 1;", (2, "A", 0, 2**61, 32)),
    "an unsigned one below zero": ("A[u] = 1;", (2, "A", 0, -1, 32)),
    "lanes unsigned below zero": ("A[u - threadIdx.x] = 1;", (2, "A", 0, -1, 32)),
    "unsigned half way": (f"A[{TID} * 0 + (1ull << 63)] = 1;", (2, "A", 0, -(2**63), 32)),
    "pointer, then pointer": ("float* p = A + (1ll << 61);\np += 1ll << 61;\np[1ll << 62] = 1;",
                              (4, "A", 0, 2**63, 32)),
    # Threads 0 and 16 stay at A[0]: 16 << 60 is 0 in 64 bits.
    "lanes, then lanes": (f"float* p = A + ({TID} << 60);\np[{TID} << 60] = 1;",
                          (3, "A", 1, 2**61, 30)),
    "chosen lane by lane": (
        "float* p = threadIdx.x < 8 ? A + threadIdx.x : A + (1ll << 62);\n*p = 1;",
        (3, "A", 8, 2**62, 24)),
    "shared": ("__shared__ float s[64];\ns[1ll << 61] = 1;", (3, "s", 0, 2**61, 32)),
    "shared, lanes apart": (f"__shared__ float s[64];\ns[{TID} << 58] = 1;",
                            (3, "s", 1, 2**58, 31)),
    "shared rows": (f"__shared__ float s[4][8];\ns[{TID} << 58][1] = 1;",
                    (3, "s", 1, 2**61 + 1, 31)),
    "local": ("float v[4];\nv[1ll << 61] = 1;", (3, "v", 0, 2**61, 32)),
    "local, lanes apart": (f"float v[4];\nv[{TID} << 58] = 1;", (3, "v", 1, 2**58, 31)),
    "float4": ("reinterpret_cast<float4*>(A)[1ll << 60] = make_float4(1, 2, 3, 4);",
               (2, "A", 0, 2**62, 32)),
    "float4's component": ("reinterpret_cast<float4*>(A)[1ll << 60].y = 1;",
                           (2, "A", 0, 2**62 + 1, 32)),
    "float4 read": ("float4 v = reinterpret_cast<float4*>(A)[1ll << 60];\nA[threadIdx.x] = v.x;",
                    (2, "A", 0, 2**62, 32)),
    "atomic": ("atomicAdd(A + (1ll << 62), 1.0f);", (2, "A", 0, 2**62, 32)),
    "atomic, lanes apart": (f"atomicAdd(&A[{TID} << 58], 1.0f);", (2, "A", 1, 2**58, 31)),
    "compare and swap": ("atomicCAS((int*)A + (1ll << 62), 0, 1);", (2, "A", 0, 2**62, 32)),
    "copied from": ("__shared__ float s[32];\n"
                    "__pipeline_memcpy_async(&s[threadIdx.x], &A[1ll << 61], 4);\n"
                    "__pipeline_commit();\n__pipeline_wait_prior(0);", (3, "A", 0, 2**61, 32)),
    "copied to": ("__shared__ float s[32];\n"
                  "__pipeline_memcpy_async(&s[1ll << 61], &A[threadIdx.x], 4);\n"
                  "__pipeline_commit();\n__pipeline_wait_prior(0);", (3, "s", 0, 2**61, 32)),
}  # fmt: skip


@pytest.mark.parametrize("case", FAR)
@pytest.mark.sample(4)
def test_far_access_is_out_of_bounds(case: str) -> None:
    body, expected = FAR[case]
    text = f"__global__ void k(float* A, int n, unsigned long long u) {{\n{body}\n}}"
    before = np.arange(64, dtype=np.float32)
    kernel, launch = launch_text(text, A=before, n=61, u=2**64 - 1)
    report = simulate(kernel, launch)
    line, array, thread, element, lanes = expected
    found = [hazard for hazard in report.hazards if hazard.kind == "out-of-bounds"]
    assert {hazard.lines for hazard in found} == {(line,)}
    assert sum(hazard.count for hazard in found) == lanes
    assert found[0].array == array
    assert found[0].example.thread == (thread, 0, 0)
    named = rf"element(s {element} to \d+| {element}) of {array},"
    assert re.search(named, found[0].message), found[0].message


@pytest.mark.parametrize("case", FAR)
@pytest.mark.sample(4)
def test_far_access_is_recorded_outside(case: str) -> None:
    body, (_, array, thread, _, _) = FAR[case]
    text = f"__global__ void k(float* A, int n, unsigned long long u) {{\n{body}\n}}"
    kernel, launch = launch_text(text, A=np.zeros(64, np.float32), n=61, u=2**64 - 1)
    recording = record(kernel, launch)
    dropped = 0
    for step in recording.steps:
        assert narrate.spoken(recording, step, thread)
        requests(recording, step, 0)
        parts(recording, step, thread)
        for access in step.accesses:
            outside = access.offsets[access.active & ~access.in_bounds]
            assert not ((outside >= 0) & (outside < 64 * 4)).any()
            dropped += outside.size if access.name == array else 0
    assert dropped


def test_lanes_that_come_back_are_inside() -> None:
    """Far away and back again is where it began, and a lane that is inside still has its effect."""
    body = (
        f"float* p = A + (({TID} & 1) << 61);\n"
        f"p = p - (({TID} & 1) << 61);\n*p = 1;\np[threadIdx.x] = 2;\n"
        "float* q = A + (1ll << 62) + threadIdx.x;\nq -= 1ll << 62;\nq[32] = 3;\n"
        f"A[({TID} & 1) << 61] = 7;"
    )
    text = f"__global__ void k(float* A) {{\n{body}\n}}"
    kernel, launch = launch_text(text, A=np.zeros(64, np.float32))
    report = simulate(kernel, launch)
    assert [h.lines for h in report.hazards if h.kind == "out-of-bounds"] == [(9,)]
    assert report.arrays["A"].tolist() == [7.0] + [2.0] * 31 + [3.0] * 32


def test_far_loads_give_zero_and_far_pointers_compare() -> None:
    body = (
        f"float* p = A + ({TID} << 61);\n"
        "int i = threadIdx.x;\n"
        "A[i] = 1 + *p;\n"
        "B[i] = (p >= A) + 2 * (p > A) + 4 * (p == A) + 8 * (A + (1ll << 62) > A);\n"
        "D[i] = p - A;"
    )
    text = f"__global__ void k(float* A, int* B, long long* D) {{\n{body}\n}}"
    kernel, launch = launch_text(
        text, A=np.zeros(64, np.float32), B=np.zeros(32, np.int32), D=np.zeros(32, np.int64)
    )
    arrays = simulate(kernel, launch).arrays
    assert arrays["A"].tolist() == [1.0] * 32 + [0.0] * 32
    numbers = np.arange(32, dtype=np.int64) << 61
    assert arrays["D"].tolist() == numbers.tolist()
    assert arrays["B"].tolist() == [
        8 + (number >= 0) + 2 * (number > 0) + 4 * (number == 0) for number in numbers
    ]
