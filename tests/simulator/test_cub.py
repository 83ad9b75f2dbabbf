"""CUB's reductions and scans of blocks and warps: in its order, with its races and its limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Report, SourceError, compile_kernel, record, simulate

Array = np.ndarray[Any, Any]
ITEMS = 3  # of a thread
BLOCKS = (16, 32, 48, 100, 128, 256, 1024)


def run(body: str, threads: int, ctype: str = "float", before: str = "") -> tuple[Array, Report]:
    """x, ITEMS numbers a thread, and what a body makes of it with threads i."""
    text = (
        f"#include <cub/cub.cuh>\n{before}\n"
        f"__global__ void k(const {ctype}* x, {ctype}* y, {ctype}* z) {{"
        f" const int i = threadIdx.x; {body} }}"
    )
    x = np.random.default_rng(threads).standard_normal(ITEMS * threads).astype(np.float32)
    if ctype == "int":
        x = (x * 2**28).astype(np.int32)
    arrays = {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)}
    return x, simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (threads, 1, 1), arrays))


# CUB's order, a lane after another --------------------------------------------------------------


def reduce_in_order(x: Array, operation: Any = np.add) -> Any:
    """Each warp joins lanes a power of two apart; then the warps' results, one after another."""
    results = []
    for first in range(0, len(x), 32):
        warp = list(x[first : first + 32])
        distance = 1
        while distance < 32:
            warp = [
                operation(each, warp[lane + distance]) if lane + distance < len(warp) else each
                for lane, each in enumerate(warp)
            ]
            distance *= 2
        results.append(warp[0])
    total = results[0]
    for result in results[1:]:
        total = operation(total, result)
    return total


def scan_in_order(x: Array, is_inclusive: bool) -> Array:
    """One warp: each lane adds up a part, lanes scan these, and go through their parts again."""
    part = -(-len(x) // 32)
    parts = [x[first : first + part] for first in range(0, len(x), part)]
    totals = []
    for each in parts:
        total = each[0]
        for value in each[1:]:
            total = total + value
        totals.append(total)
    distance = 1
    while distance < len(parts):
        totals = [
            totals[lane - distance] + each if lane >= distance else each
            for lane, each in enumerate(totals)
        ]
        distance *= 2
    if is_inclusive and part == 1:
        return np.array(totals)
    found = []
    for lane, each in enumerate(parts):
        total = totals[lane - 1] if lane else x.dtype.type(0)
        for value in each:
            found += [total] * (not is_inclusive)
            total = value if is_inclusive and not found else total + value
            found += [total] * is_inclusive
    return np.array(found)


@pytest.mark.parametrize("threads", BLOCKS)
@pytest.mark.sample(3)
def test_a_block_is_reduced_and_scanned_in_cubs_order(threads: int) -> None:
    x, report = run(
        f"using R = cub::BlockReduce<float, {threads}>; using S = cub::BlockScan<float, {threads}>;"
        " __shared__ union { typename R::TempStorage r; typename S::TempStorage s; } t;"
        " float a = R(t.r).Sum(x[i]); if (i == 0) y[blockDim.x] = a; __syncthreads();"
        " float m = R(t.r).Reduce(x[i], [](float a, float b) { return fmaxf(a, b); });"
        " if (i == 0) y[blockDim.x + 1] = m; __syncthreads();"
        " S(t.s).InclusiveSum(x[i], y[i]); __syncthreads();"
        " float b, total; S(t.s).ExclusiveSum(x[i], b, total); z[i] = b;"
        " z[i + blockDim.x] = total;",
        threads,
    )
    assert report.hazards == ()
    x, y, z = x[:threads], report.arrays["y"], report.arrays["z"]
    assert y[threads] == reduce_in_order(x)
    assert y[threads + 1] == x.max()
    assert (y[:threads] == scan_in_order(x, True)).all()
    assert (z[:threads] == scan_in_order(x, False)).all()
    np.testing.assert_allclose(z[threads : 2 * threads], x.sum(dtype=float), rtol=1e-3, atol=1e-4)
    assert len(set(z[threads : 2 * threads])) == 1


def test_products_are_not_fused_with_a_warps_sums() -> None:
    x, report = run(
        "using R = cub::BlockReduce<float, 64>; __shared__ R::TempStorage t;"
        " float s = R(t).Sum(x[i] * x[i + 64]); if (i == 0) y[0] = s;", 64,
    )  # fmt: skip
    assert report.arrays["y"][0] == reduce_in_order(x[:64] * x[64:128])


def test_a_threads_items_come_first() -> None:
    body = (
        "using R = cub::BlockReduce<{0}, 96>; using S = cub::BlockScan<{0}, 96>;"
        " __shared__ R::TempStorage r; __shared__ S::TempStorage s; {0} v[3], w[3];"
        " for (int k = 0; k < 3; k++) v[k] = x[3 * i + k];"
        " {0} a = R(r).Sum(v); S(s).InclusiveSum(v, w);"
        " for (int k = 0; k < 3; k++) y[3 * i + k] = w[k];"
        " __syncthreads(); S(s).ExclusiveSum(v, v);"
        " for (int k = 0; k < 3; k++) z[3 * i + k] = v[k]; if (i == 0) z[0] = a;"
    )
    x, report = run(body.format("int"), 96, "int")
    expected = np.cumsum(x, dtype=np.int32)
    assert report.hazards == ()
    assert (report.arrays["y"] == expected).all()
    assert (report.arrays["z"] == np.append(expected[-1], expected[:-1])).all()
    x, report = run(body.format("float"), 96)
    thirds = x.reshape(-1, 3)
    assert report.arrays["z"][0] == reduce_in_order((thirds[:, 0] + thirds[:, 1]) + thirds[:, 2])


def test_parts_of_a_block_and_of_a_warp() -> None:
    x, report = run(
        "struct Times { __device__ int operator()(int a, int b) const { return a * b; } };"
        " using R = cub::BlockReduce<int, 64>; __shared__ R::TempStorage t;"
        " using W = cub::WarpReduce<int>; __shared__ W::TempStorage w[2];"
        " using S = cub::WarpScan<int, 8>; __shared__ S::TempStorage s[8];"
        " int a = R(t).Sum(x[i], 40); if (i == 0) y[0] = a;"
        " a = W(w[i / 32]).Reduce(x[i], Times()); if (i % 32 == 0) y[1 + i / 32] = a;"
        " a = W(w[i / 32]).Reduce(x[i], cub::Max(), 5); if (i % 32 == 0) y[3 + i / 32] = a;"
        " int b, total; S(s[i / 8]).ExclusiveSum(x[i], b, total); z[i] = b; y[i + 64] = total;"
        " S(s[i / 8]).InclusiveScan(x[i], b, cuda::minimum<>()); z[i + 64] = b;",
        64, "int",
    )  # fmt: skip
    assert report.hazards == ()
    warps, eights = x[:64].reshape(2, 32), x[:64].reshape(8, 8)
    y, z = report.arrays["y"], report.arrays["z"]
    totals = eights.sum(1, dtype=np.int32)
    assert y[0] == x[:40].sum(dtype=np.int32)
    assert y[1:3].tolist() == warps.prod(1, dtype=np.int32).tolist()
    assert y[3:5].tolist() == warps[:, :5].max(1).tolist()
    assert (y[64:128].reshape(8, 8) == totals[:, None]).all()
    before = np.cumsum(eights, 1, dtype=np.int32) - eights
    assert (z[:64].reshape(8, 8) == before).all()
    assert (z[64:128].reshape(8, 8) == np.minimum.accumulate(eights, 1)).all()


def test_storage_that_is_used_again_without_a_barrier_is_a_race() -> None:
    twice = (
        "using R = cub::BlockReduce<float, 64>; __shared__ R::TempStorage t;"
        " float a = R(t).Sum(x[i]); {} float b = R(t).Sum(x[i + 64]); if (i == 0) y[0] = a + b;"
    )
    _, report = run(twice.format(""), 64)
    assert {hazard.array for hazard in report.hazards} == {"t"}
    assert run(twice.format("__syncthreads();"), 64)[1].hazards == ()


def test_other_threads_than_the_first_have_no_sum() -> None:
    x, report = run(
        "using R = cub::BlockReduce<float, 64>; __shared__ R::TempStorage t;"
        " y[i] = R(t).Sum(x[i]);", 64,
    )  # fmt: skip
    assert report.arrays["y"][0] == reduce_in_order(x[:64])
    assert (report.arrays["y"][1:64] != report.arrays["y"][0]).all()


def test_its_steps_are_of_the_texts_lines() -> None:
    text = (
        "#include <cub/cub.cuh>\n__global__ void k(float* x) {\n"
        "    using R = cub::BlockReduce<float, 32>; __shared__ R::TempStorage t;\n"
        "    float s = R(t).Sum(x[threadIdx.x]);\n    x[threadIdx.x] = s;\n}"
    )
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.ones(32, np.float32)})
    lines = {step.line for step in record(compile_kernel(text, "k"), launch).steps}
    assert lines == {4, 5}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("cub::BlockReduce<float, 64, cub::BLOCK_REDUCE_RAKING>", "only the default is supported"),
        ("cub::BlockScan<float, 64, cub::BLOCK_SCAN_WARP_SCANS>", "only the default is supported"),
        ("cub::WarpReduce<float, 12>", "1, 2, 4, 8, 16 or 32 threads"),
        ("cub::BlockReduce<float, 24>", "a power of two of threads"),
    ],
)
def test_what_is_not_taken_is_said(body: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        run(f"using R = {body}; __shared__ R::TempStorage t; R r(t);", 64)


def test_the_header_is_asked_for() -> None:
    with pytest.raises(SourceError, match=r"#include <cub/cub\.cuh>"):
        compile_kernel("__global__ void k(float* x) { cub::BlockReduce<float, 64> r; }", "k")


@pytest.mark.parametrize("threads", [16, 48, 100])
def test_every_bit_is_a_gpus(threads: int) -> None:
    here = Path(__file__)
    found = json.loads(here.with_name("cub_on_a_gpu.json").read_text())["results"][str(threads)]
    x, y, z = (np.array(found[name], np.uint32).view(np.float32) for name in "xyz")
    text = here.with_name("cub_on_a_gpu.cu").read_text()
    arrays = {"x": x, "y": np.zeros_like(y), "z": np.zeros_like(z)}
    kernel = compile_kernel(text, "k", {"BLOCK_OF_K": str(threads)})
    result = simulate(kernel, Launch((1, 1, 1), (threads, 1, 1), arrays)).arrays
    assert np.array_equal(result["y"], y)
    assert np.array_equal(result["z"], z)
