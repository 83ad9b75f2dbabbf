"""Bytes read as another type: through pointers, through references, in registers and in memory."""

from __future__ import annotations

import numpy as np

from simulator import Launch, Report, compile_kernel, record, simulate


def launched(text: str, block: int = 32, **arguments: np.ndarray) -> Report:
    return simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (block, 1, 1), arguments))


def test_a_vector_load_is_read_as_half() -> None:
    text = """
    __global__ void k(const half* a, float* o) {
        float4 v = *(const float4*)&a[threadIdx.x * 8];
        half2* h = reinterpret_cast<half2*>(&v);
        float sum = 0;
        for (int i = 0; i < 4; ++i) sum += __low2float(h[i]) + __high2float(h[i]);
        half* single = (half*)h;
        single[threadIdx.x % 8] = 0;
        o[threadIdx.x] = sum + 100 * __half2float(single[0]);
    }"""
    a = (np.arange(256) % 11).astype(np.float16)
    report = launched(text, a=a, o=np.zeros(32, np.float32))
    rows = a.reshape(32, 8).astype(np.float64)
    first = np.where(np.arange(32) % 8 == 0, 0, rows[:, 0])
    assert report.arrays["o"].tolist() == (rows.sum(axis=1) + 100 * first).tolist()
    assert report.counters["global_load_requests"] == 1
    assert report.counters["global_load_sectors"] == 16
    assert report.hazards == ()


def test_a_register_is_read_through_a_reference_of_another_type() -> None:
    text = """
    __global__ void k(unsigned* o, float* f) {
        unsigned u = 0x04030201u * (threadIdx.x + 1);
        uchar4 bytes = reinterpret_cast<uchar4&>(u);
        reinterpret_cast<uchar4&>(u).x = 9;
        o[threadIdx.x] = bytes.y * 1000 + (u & 0xff);
        f[threadIdx.x] = (float)threadIdx.x;
        o[threadIdx.x] += (unsigned&)f[threadIdx.x] == __float_as_uint((float)threadIdx.x);
    }"""
    report = launched(text, o=np.zeros(32, np.uint32), f=np.zeros(32, np.float32))
    numbers = 0x04030201 * (np.arange(32) + 1)
    assert report.arrays["o"].tolist() == ((numbers >> 8 & 255) * 1000 + 9 + 1).tolist()


def test_a_reference_of_a_vector_type_moves_16_bytes_at_once() -> None:
    text = """
    #define FLOAT4(x) (reinterpret_cast<float4&>(x))
    __global__ void k(float* a, float* b) {
        int i = 4 * threadIdx.x;
        float4 v = FLOAT4(a[i]);
        v.x += 1;
        FLOAT4(b[i]) = v;
    }"""
    a = np.arange(128, dtype=np.float32)
    report = launched(text, a=a, b=np.zeros_like(a))
    assert report.arrays["b"].tolist() == (a + (np.arange(128) % 4 == 0)).tolist()
    counters = report.counters
    assert counters["global_load_requests"] == counters["global_store_requests"] == 1
    assert counters["global_load_sectors"] == 16


def test_the_words_of_a_double_are_read() -> None:
    text = """
    __global__ void k(int* o) {
        double d = threadIdx.x;
        int* words = (int*)&d;
        o[2 * threadIdx.x] = words[0];
        o[2 * threadIdx.x + 1] = words[1];
    }"""
    report = launched(text, o=np.zeros(64, np.int32))
    assert report.arrays["o"].view(np.float64).tolist() == list(range(32))


def test_bytes_that_were_never_set_are_reported() -> None:
    text = """
    __global__ void k(half* o) {
        float4 v;
        v.x = 1;
        o[threadIdx.x] = ((half*)&v)[threadIdx.x];
    }"""
    hazards = launched(text, block=4, o=np.zeros(4, np.float16)).hazards
    assert any(str(hazard.kind) == "uninitialized-read" for hazard in hazards)


def test_a_step_shows_the_bytes_read_as_half() -> None:
    text = (
        "__global__ void k(float* o) {\n"
        "  float f = o[threadIdx.x];\n"
        "  half2* h = (half2*)&f;\n"
        "  o[threadIdx.x] = __high2float(*h);\n"
        "}"
    )
    launch = Launch((1, 1, 1), (2, 1, 1), {"o": np.array([1, 2], np.float32)})
    last = record(compile_kernel(text, "k"), launch).steps[-1]
    assert last.outputs["o"].tolist() == [1.875, 2.0]
