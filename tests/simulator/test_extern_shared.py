"""extern __shared__ arrays: all names are one memory. Static ones have nvcc's limit."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, Report, SourceError, compile_kernel, narrate, record, simulate
from tests.simulator.launches import launch_text, run_text

REVERSE = """
extern __shared__ float values[];
__global__ void k(float* x) {{
    extern __shared__ {other} bits[];
    values[threadIdx.x] = x[threadIdx.x];
    {barrier}
    x[threadIdx.x] = bits[{index}];
}}
"""


def run(text: str, x: np.ndarray, shared: int = 256) -> Report:
    return run_text(text, block=64, shared=shared, x=x)


def text(other: str, barrier: str = "__syncthreads();", index: str = "63 - threadIdx.x") -> str:
    return REVERSE.format(other=other, barrier=barrier, index=index)


@pytest.mark.parametrize("other", ["int", "unsigned int"])
def test_two_names_are_one_memory(other: str) -> None:
    x = np.arange(1, 65, dtype=np.float32)
    report = run(text(other), x)
    assert not report.hazards
    assert np.array_equal(report.arrays["x"], x.view(np.int32)[::-1].astype(np.float32))


def test_bytes_of_a_float() -> None:
    x = np.arange(1, 65, dtype=np.float32)
    report = run(text("unsigned char", index="4 * threadIdx.x + 3"), x)
    assert not report.hazards
    assert np.array_equal(report.arrays["x"], x.view(np.uint8)[3::4].astype(np.float32))


@pytest.mark.parametrize("other", ["int", "unsigned char", "double"])
def test_a_race_between_two_names(other: str) -> None:
    report = run(text(other, barrier="", index="8 - threadIdx.x / 8"), np.ones(64, np.float32), 512)
    kinds = {(hazard.kind.value, hazard.lines) for hazard in report.hazards}
    assert ("read-after-write", (5, 7)) in kinds


def test_names_in_functions_are_the_same_memory() -> None:
    source = """
    __device__ float get(int i) { extern __shared__ float inside[]; return inside[i]; }
    __global__ void k(float* x) {
        extern __shared__ float outside[];
        outside[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = get(63 - threadIdx.x);
    }"""
    x = np.arange(64, dtype=np.float32)
    report = run(source, x)
    assert not report.hazards
    assert np.array_equal(report.arrays["x"], x[::-1])


def test_dynamic_memory_lies_behind_the_static_arrays() -> None:
    source = """
    __global__ void k(float* x) {
        __shared__ float fixed[64];
        extern __shared__ float a[];
        extern __shared__ int b[];
        fixed[threadIdx.x] = 7;
        a[threadIdx.x] = 1;
        __syncthreads();
        x[threadIdx.x] = fixed[63 - threadIdx.x] + b[threadIdx.x];
    }"""
    report = run(source, np.zeros(64, np.float32))
    assert np.array_equal(report.arrays["x"], np.full(64, np.float32(7) + np.float32(0x3F800000)))


def test_a_recording_shows_one_memory() -> None:
    x = np.arange(64, dtype=np.float32)
    recording = record(*launch_text(text("int"), block=64, shared=256, x=x))
    [array] = recording.shared
    last = recording.steps[-1]
    assert list(last.shared) == [array.name]
    assert last.shared[array.name].view(np.float32).tolist() == x.tolist()
    assert "bits[63]" in narrate.spoken(recording, last, 0)[0]


def test_static_shared_memory_has_nvccs_limit() -> None:
    fits = "__global__ void k(float* x) {{ __shared__ float s[{n}]; s[0] = 1; x[0] = s[0]; }}"
    assert compile_kernel(fits.format(n=12 * 1024), "k").static_shared_bytes == 48 * 1024
    with pytest.raises(SourceError, match=r"too much shared data.*49,156 bytes.*extern __shared__"):
        compile_kernel(fits.format(n=12 * 1024 + 1), "k")


@pytest.mark.parametrize("given", [0, 64])
def test_too_little_dynamic_memory_is_named_with_what_the_launch_gives(given: int) -> None:
    source = """
    __global__ void k(float* x) {
        extern __shared__ float s[];
        s[threadIdx.x] = x[threadIdx.x];
    }"""
    launch = Launch((1, 1, 1), (64, 1, 1), {"x": np.zeros(64, np.float32)}, given)
    [hazard] = simulate(compile_kernel(source), launch).hazards
    assert f"The launch gives {given} bytes of dynamic shared memory: give what s needs" in (
        hazard.message
    )
    fixed = source.replace("extern __shared__ float s[]", "__shared__ float s[8]")
    [hazard] = simulate(compile_kernel(fixed), launch).hazards
    assert "The launch gives" not in hazard.message


# One array, cut into arrays of several types by hand.
CUT = """extern __shared__ int s[];
__global__ void k(int* out) {
    TYPE* narrow = (TYPE*)&s[blockDim.x];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = 1000 * t;
    narrow[t] = t % 100;
    BARRIER
    out[t] = s[n - 1 - t] + narrow[n - 1 - t];
}"""


@pytest.mark.parametrize(("narrow", "size"), [("char", 1), ("short", 2), ("float", 4)])
@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
def test_neighbours_in_one_int_do_not_race(narrow: str, size: int, barrier: str) -> None:
    text = CUT.replace("TYPE", narrow).replace("BARRIER", barrier)
    report = run_text(text, block=64, shared=64 * (4 + size), out=np.zeros(64, np.int32))
    kinds = {str(hazard.kind) for hazard in report.hazards}
    if barrier:
        assert not kinds
        turned = np.arange(63, -1, -1)
        assert report.arrays["out"].tolist() == (1000 * turned + turned % 100).tolist()
    else:
        assert kinds == {"read-after-write", "uninitialized-read"}
