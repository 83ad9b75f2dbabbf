"""Short vectors of every type: layout, components, conversions, what their accesses cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, Report, compile_kernel, record, simulate
from simulator.language.ctype import VECTORS, Vector

TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
    "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "longlong": np.int64,
    "ulonglong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip
NAMES = [f"{prefix}{n}" for prefix in TYPES for n in (1, 2, 3, 4)]


def run(text: str, block: int = 32, **arguments: Any) -> Report:
    return simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (block, 1, 1), arguments))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sample(6)
def test_size_and_alignment_are_clangs(name: str) -> None:
    text = f"__global__ void k(int* o) {{ o[0] = sizeof({name}); o[1] = alignof({name}); }}"
    report = run(text, block=1, o=np.zeros(2, np.int32))
    assert report.arrays["o"].tolist() == [VECTORS[name].size, VECTORS[name].alignment]


def alignment_of_cuda(vector: Vector) -> int:
    """As vector_types.h has it: two and four are aligned as a whole, up to 16 bytes."""
    return vector.element.size if vector.length in (1, 3) else min(16, vector.size)


@pytest.mark.parametrize("name", NAMES)
def test_alignment_is_cudas(name: str) -> None:
    assert VECTORS[name].alignment == alignment_of_cuda(VECTORS[name])


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_moves_every_component_and_costs_its_sectors(name: str) -> None:
    prefix, length = name[:-1], int(name[-1])
    text = f"""
    __global__ void k(const {name}* a, {name}* b) {{
        {name} v = a[threadIdx.x];
        v.x = v.x + 1;
        b[threadIdx.x] = v;
    }}"""
    a = np.arange(32 * length).astype(TYPES[prefix])
    report = run(text, a=a, b=np.zeros_like(a))
    expected = a.reshape(32, length).copy()
    expected[:, 0] += 1
    assert (report.arrays["b"].reshape(32, length) == expected).all()
    size, width = a.itemsize * length, a.itemsize
    requests = length if length == 3 else max(1, size // 16)
    counters = report.counters
    assert counters["global_load_requests"] == counters["global_store_requests"] == requests
    stretch = 32 * size // 32  # sectors that the whole array takes
    each = 32 * min(size, 16 if length != 3 else width)  # bytes that one instruction moves
    if length == 3 or size > 16:  # each instruction touches nearly every sector
        assert counters["global_load_sectors"] == requests * stretch
    else:
        assert counters["global_load_sectors"] == max(1, each // 32)


def test_shared_vectors_of_bytes_take_a_wavefront() -> None:
    text = """
    __global__ void k(uchar4* o) {
        __shared__ uchar4 s[32];
        s[threadIdx.x] = make_uchar4(threadIdx.x, 1, 2, 255);
        __syncthreads();
        o[threadIdx.x] = s[31 - threadIdx.x];
    }"""
    report = run(text, o=np.zeros(128, np.uint8))
    assert report.arrays["o"].reshape(32, 4)[:, 0].tolist() == list(range(31, -1, -1))
    assert report.arrays["o"].reshape(32, 4)[:, 3].tolist() == [255] * 32
    assert report.counters["shared_load_wavefronts"] == 1
    assert report.counters["shared_store_wavefronts"] == 1


def test_components_wrap_and_convert_as_their_type() -> None:
    text = """
    __global__ void k(int* o) {
        char4 a = make_char4(1, -2, 200, 'a');
        ushort2 b = {65535, 2};
        b.x += 3;
        uchar1 c; c.x = 257;
        o[0] = a.z; o[1] = a.w; o[2] = b.x; o[3] = c.x; o[4] = a.x << 9;
    }"""
    report = run(text, block=1, o=np.zeros(5, np.int32))
    assert report.arrays["o"].tolist() == [-56, 97, 2, 1, 512]


def test_threadidx_and_dim3_are_values() -> None:
    text = """
    __device__ int flat(dim3 at, dim3 of) { return (at.z * of.y + at.y) * of.x + at.x; }
    __global__ void k(int* o) {
        uint3 t = threadIdx;
        const dim3 size = blockDim;
        dim3 one, two(2), copy = t;
        uint3 back = size;
        o[flat(threadIdx, blockDim)] = t.x + 10 * copy.y + 100 * back.z + 1000 * (one.x + one.z)
                                       + 10000 * two.x + 100000 * two.y;
    }"""
    launch = Launch((1, 1, 1), (3, 2, 1), {"o": np.zeros(6, np.int32)})
    report = simulate(compile_kernel(text, "k"), launch)
    base = 100 + 2000 + 20000 + 100000
    assert report.arrays["o"].tolist() == [base + x + 10 * y for y in (0, 1) for x in (0, 1, 2)]


def test_a_step_shows_a_whole_vector() -> None:
    text = "__global__ void k(int* o) {\nuint3 t = threadIdx;\no[t.x] = t.x;\n}"
    launch = Launch((1, 1, 1), (4, 1, 1), {"o": np.zeros(4, np.int32)})
    first, second = record(compile_kernel(text, "k"), launch).steps
    assert first.registers["t"].tolist() == [[n, 0, 0] for n in range(4)]
    assert second.outputs["o"].tolist() == [0, 1, 2, 3]
