"""__device__ and __constant__ variables: values, memory spaces, hazards, costs, messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Report, record
from simulator.__main__ import main
from simulator.language.errors import LaunchError, SourceError
from simulator.sentences.parts import parts
from tests.simulator.launches import launch_text, run_text

CONVOLUTION = """
#define R 2
__constant__ float filter[2 * R + 1];
__global__ void convolve(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -R; k <= R; ++k)
        if (i + k >= 0 && i + k < n) sum += in[i + k] * filter[k + R];
    out[i] = sum;
}
"""


def run(text: str, name: str, grid: int, block: int, **arguments: Any) -> Report:
    return run_text(text, name, grid=grid, block=block, **arguments)


def test_a_constant_array_is_set_by_its_name() -> None:
    given = np.arange(1, 6, dtype=np.float32)
    x = np.arange(100, dtype=np.float32)
    out = np.zeros(100, np.float32)
    report = run(CONVOLUTION, "convolve", 4, 32, out=out, n=100, filter=given, **{"in": x})
    assert report.arrays["out"].tolist() == np.convolve(x, given[::-1], "same").tolist()
    assert report.notes == ()
    assert report.hazards == ()
    assert "filter" not in report.arrays


def test_a_constant_array_that_was_never_set_is_zeros_and_noted() -> None:
    x = np.ones(32, np.float32)
    report = run(CONVOLUTION, "convolve", 1, 32, out=x, n=32, **{"in": x})
    assert not report.arrays["out"].any()
    assert "filter is __constant__ and was never set: it is read as zeros" in report.notes[0]


FIRST_VALUES = """
enum { SIX = 6 };
__device__ int table[2][3] = {{1, 2}, {3, 4, 5}};
__device__ int flat[2][3] = {1, 2, 3, 4, 5, SIX};
__constant__ float4 pairs[2] = {{1, 2, 3, 4}, {5.5f, 6}};
__device__ unsigned char bytes[3] = {255, 1 + 1, 'a'};
__device__ double half_of = 1.0 / 2;
__device__ long long wide = -5000000000LL;
__managed__ int managed = 7;
const float third = 3.f;
constexpr int four = 4;
__global__ void k(double* out) {
    int n = 0;
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) out[n++] = table[i][j];
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) out[n++] = flat[i][j];
    out[n++] = pairs[0].w; out[n++] = pairs[1].x; out[n++] = pairs[1].y; out[n++] = pairs[1].z;
    for (int i = 0; i < 3; ++i) out[n++] = bytes[i];
    out[n++] = half_of; out[n++] = wide; out[n++] = managed; out[n++] = third; out[n++] = four;
}
"""


def test_first_values_are_those_of_the_text() -> None:
    report = run(FIRST_VALUES, "k", 1, 1, out=np.zeros(24))
    assert report.arrays["out"].tolist() == [
        1, 2, 0, 3, 4, 5, 1, 2, 3, 4, 5, 6, 4, 5.5, 6, 0, 255, 2, 97, 0.5, -5e9, 7, 3, 4,
    ]  # fmt: skip


SPHERES = """
struct Sphere { float3 center; float radius; unsigned char kind; };
struct Camera { float2 eye[2]; int width; };
__constant__ Sphere spheres[3] = {{{1, 2, 3}, 4, 5}, {{6}, 7}};
__constant__ Camera camera = {1, 2, 3, 4, 5};
__device__ Camera last;
__constant__ half2 pair = {1, 2};
__constant__ dim3 size = {7, 8};
__global__ void k(double* out) {
    int n = 0;
    for (int i = 0; i < 3; ++i) {
        Sphere s = spheres[i];
        out[n++] = s.center.x; out[n++] = s.center.z; out[n++] = s.radius; out[n++] = s.kind;
    }
    out[n++] = camera.eye[1].x; out[n++] = camera.width;
    out[n++] = (float)pair.y; out[n++] = size.y;
    last = camera;
    last.width += 1;
}
"""


def test_structs_have_first_values_and_are_set_and_returned() -> None:
    report = run(SPHERES, "k", 1, 1, out=np.zeros(16))
    expected = [1, 3, 4, 5, 6, 0, 7, 0, 0, 0, 0, 0, 3, 5, 2, 8]
    assert report.arrays["out"].tolist() == expected
    assert report.arrays["last"]["width"].tolist() == [6]
    assert report.notes == ()
    sphere = np.dtype([("c", np.float32, 3), ("r", np.float32), ("k", np.uint8)], align=True)
    given = np.array([((9, 8, 7), 6, 5)] * 3, sphere)
    report = run(SPHERES, "k", 1, 1, out=np.zeros(16), spheres=given)
    assert report.arrays["out"][8:12].tolist() == [9, 7, 6, 5]
    with pytest.raises(LaunchError, match="takes 60 bytes; the array has 20"):
        run(SPHERES, "k", 1, 1, out=np.zeros(16), spheres=given[:1])


COUNTER = """
__device__ int counter = 0;
__device__ float last;
__device__ void note(float x) { last = x; }
__global__ void count(const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(&counter, 1);
    if (i == 3) note(x[i]);
}
"""


def test_a_device_variable_is_written_and_returned() -> None:
    x = np.array([1, -1] * 32, np.float32)
    report = run(COUNTER, "count", 2, 32, x=x, n=64)
    assert report.arrays["counter"].tolist() == [32]
    assert report.arrays["last"].tolist() == [-1]
    assert report.hazards == ()


def test_a_device_variable_begins_with_the_launchs_value() -> None:
    x = np.ones(32, np.float32)
    report = run(COUNTER, "count", 1, 32, x=x, n=32, counter=100)
    assert report.arrays["counter"].tolist() == [132]


def test_blocks_race_in_a_device_variable() -> None:
    text = "__device__ int total; __global__ void k() { total = total + 1; }"
    report = run(text, "k", 2, 32)
    found = {(str(hazard.kind), hazard.array) for hazard in report.hazards}
    assert ("write-after-read", "total") in found
    assert all(hazard.space == "global" for hazard in report.hazards)


def test_a_device_variable_is_global_memory_and_a_constant_one_costs_no_sector() -> None:
    text = """
    __device__ float table[64];
    __constant__ float fixed[64];
    __global__ void k(float* out) { out[threadIdx.x] = table[threadIdx.x * 2] + fixed[0]; }
    """
    counters = run(text, "k", 1, 32, out=np.zeros(32, np.float32)).counters
    assert counters["global_load_requests"] == 1
    assert counters["global_load_sectors"] == 8


def test_an_index_outside_a_variable_is_reported() -> None:
    text = "__constant__ int t[4]; __global__ void k(int* o) { o[0] = t[threadIdx.x]; }"
    report = run(text, "k", 1, 5, o=np.zeros(1, np.int32))
    assert "out-of-bounds" in [hazard.kind for hazard in report.hazards]


def test_the_parts_of_a_step_tell_what_constant_memory_holds() -> None:
    text = (
        "__constant__ float c[32] = {5};\n"
        "__global__ void k(float* o) {\n"
        "  float a = c[0];\n"
        "  float b = c[threadIdx.x / 8];\n"
        "  o[threadIdx.x] = a + b;\n"
        "}"
    )
    recording = record(*launch_text(text, o=np.zeros(32, np.float32)))
    one, *_ = recording.steps
    assert [part.summary for part in parts(recording, one, 3)] == [
        "c[0] holds 5 (byte 0 of c)",
        "a = 5",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__constant__ int c; __global__ void k() { c = 1; }", "only read"),
        ("__constant__ int c; __global__ void k() { atomicAdd(&c, 1); }", "only read"),
        ("__constant__ int c[9]; __global__ void k() { int* p = c; p[2]++; }", "only read"),
        ("int c; __global__ void k(int* o) { o[0] = c; }", "variable of the host"),
        ("const int c[2] = {1, 2}; __global__ void k(int* o, int i) { o[0] = c[i]; }", "host"),
        ("extern __constant__ int c[]; __global__ void k(int* o) { o[0] = c[0]; }", "no length"),
        ("__constant__ int c[16385]; __global__ void k(int* o) { o[0] = c[0]; }", "65,536"),
        ("__device__ int** p; __global__ void k(int* o) { o[0] = p[0][0]; }", "pass a parameter"),
        ("__device__ int d[1 << 30]; __global__ void k() { d[0] = 0; }", "bytes"),
        ('__device__ char c[5] = "abcd"; __global__ void k() { c[0] = 0; }', "string"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    out = np.zeros(1, np.int32)
    arguments: dict[str, Any] = {"o": out} if "* o" in text else {}
    arguments |= {"i": 1} if "int i" in text else {}
    with pytest.raises(SourceError, match=message):
        run(text, "k", 1, 1, **arguments)


@pytest.mark.parametrize(
    ("filter_", "message"),
    [
        (np.zeros(4, np.float32), "holds 5 numbers; the array has 4"),
        (np.zeros(5), "must hold float32"),
        (3.0, "give an array"),
    ],
)
def test_a_launch_must_fit_the_variable(filter_: Any, message: str) -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(LaunchError, match=message):
        run(CONVOLUTION, "convolve", 1, 4, out=x, n=4, filter=filter_, **{"in": x})


def test_a_variable_and_a_parameter_of_one_name_are_refused() -> None:
    text = """
    __device__ int x;
    __device__ int get() { return x; }
    __global__ void k(int* x) { x[0] = get(); }
    """
    with pytest.raises(LaunchError, match="name of a parameter and of a variable"):
        run(text, "k", 1, 1, x=np.zeros(1, np.int32))


def test_the_terminal_takes_and_gives_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, inputs, outputs = tmp_path / "k.cu", tmp_path / "in.npz", tmp_path / "out.npz"
    source.write_text(
        "__constant__ float scale[2]; __device__ int hits;\n"
        "__global__ void k(float* x) { x[threadIdx.x] *= scale[1]; atomicAdd(&hits, 1); }"
    )
    np.savez(inputs, scale=np.array([1, 4], np.float32), x=np.ones(8, np.float32))
    arguments = [str(source), "--kernel", "k", "--grid", "1", "--block", "8"]
    assert main([*arguments, "--inputs", str(inputs), "--outputs", str(outputs)]) == 0
    with np.load(outputs) as arrays:
        assert arrays["x"].tolist() == [4.0] * 8
        assert arrays["hits"].tolist() == [8]
        assert "scale" not in arrays
    capsys.readouterr()
    assert main([*arguments, "f32:8"]) == 0
    assert "note: scale is __constant__ and was never set" in capsys.readouterr().out
