"""What steps cost, against the counters of the whole launch, and what they cost at least."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simulator import Launch, catalogue, compile_kernel, narrate, record, simulate
from simulator.recording.requests import requests
from tests.ui.scene_models import SIZES, launched, recorded
from ui.analysis.costs import add_up_costs

SHARED = ("shared_load_wavefronts", "shared_store_wavefronts")
GLOBAL = ("global_load_sectors", "global_store_sectors")
RAGGED = [
    (name, size, defines)
    for name, entry in catalogue().items()
    for defines in entry.teaching
    for size in ((1, 1, 1), (5, 7, 3), (8, 8, 8), (9, 6, 17))
    if np.prod(entry.shape(size[0], size[1], **defines)[0]) == 1
]


@pytest.mark.sample(35)
@pytest.mark.parametrize(("name", "size", "defines"), RAGGED)
def test_a_single_block_costs_what_the_launch_counts(name, size, defines) -> None:
    kernel, launch = launched(name, *size, defines)
    costs, report = add_up_costs(record(kernel, launch)), simulate(kernel, launch)
    counters = report.counters
    assert costs.sectors[-1] == sum(counters[field] for field in GLOBAL)
    assert costs.wavefronts[-1] == sum(counters[field] for field in SHARED)
    ideal = sum(line[f"{field}_ideal"] for line in report.lines.values() for field in SHARED)
    assert costs.conflicts[-1] == costs.wavefronts[-1] - ideal


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_costs_only_grow_and_multiply_adds_are_those_of_the_tiles(number: int) -> None:
    name, M, N, K, (x, y), defines = SIZES[number]
    recording = recorded(number)
    costs = add_up_costs(recording)
    for sums in (getattr(costs, field.name) for field in dataclasses.fields(costs)):
        assert (np.diff(sums) >= 0).all()
    entry = catalogue()[name]
    rows, columns = entry.produces(**defines)
    tile = entry.tile(**defines)
    if tile is None:
        cells = min(rows, M - y * rows) * min(columns, N - x * columns)
        assert costs.multiply_adds[-1] == cells * K
    else:  # zeros beyond the edges are multiplied too
        depth = -(-K // tile[2]) * tile[2]
        assert costs.multiply_adds[-1] == rows * columns * depth


def test_each_warp_that_comes_to_a_barrier_waits_once() -> None:
    kernel = compile_kernel(
        """
        __global__ void k(float* x) {
            __shared__ float s[96];
            s[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            x[threadIdx.x] = s[95 - threadIdx.x];
            __syncthreads();
        }
        """,
        "k",
    )
    launch = Launch((1, 1, 1), (96, 1, 1), {"x": np.zeros(96, np.float32)})
    for schedule in ("lockstep", "ascending"):
        recording = record(kernel, launch, schedule=schedule)
        costs = add_up_costs(recording)
        assert costs.waits[-1] == 2 * 3
        assert costs.multiply_adds[-1] == 0
        assert costs.sectors[-1] == 2 * 96 * 4 // 32
        assert costs.wavefronts[-1] == 2 * 3
        assert costs.conflicts[-1] == 0


def test_conflicts_are_those_beyond_one_wavefront_a_request() -> None:
    kernel = compile_kernel(
        """
        __global__ void k(float* x) {
            __shared__ float s[32][32];
            s[threadIdx.x][0] = x[threadIdx.x];
        }
        """,
        "k",
    )
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.zeros(32, np.float32)})
    costs = add_up_costs(record(kernel, launch))
    assert (costs.wavefronts[-1], costs.conflicts[-1]) == (32, 31)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "K", "products"), [
    ("tensor_tf32", 32, 1), ("tensor_half", 64, 1), ("tensor_fp32", 32, 3),
])  # fmt: skip
@pytest.mark.parametrize("at", [0, 1])  # of one warp, of two
def test_a_tensor_core_multiplies_every_element_of_its_tiles(
    name: str, K: int, products: int, at: int
) -> None:
    setting = catalogue()[name].teaching[at]
    rows, columns = catalogue()[name].produces(**setting)
    kernel, launch = launched(name, rows, columns, K, setting)
    assert add_up_costs(record(kernel, launch)).multiply_adds[-1] == rows * columns * K * products


def test_a_copy_to_padded_rows_moves_sectors_again() -> None:
    """Rows of 128 bytes, 144 apart: in every second one two lanes write to two lines."""
    text = (
        "#include <cuda_pipeline.h>\n"
        "__global__ void k(const float* x) {\n"
        "    __shared__ alignas(128) float s[4][36];\n"
        "    int t = threadIdx.x;\n"
        "    __pipeline_memcpy_async(&s[t / 8][t % 8 * 4], x + t * 4, 16);\n"
        "    __pipeline_commit();\n"
        "    __pipeline_wait_prior(0);\n"
        "}\n"
    )
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.zeros(128, np.float32)})
    kernel = compile_kernel(text, "k")
    assert simulate(kernel, launch).counters["global_load_sectors"] == 18
    recording = record(kernel, launch)
    [load] = [
        request
        for step in recording.steps
        for request in requests(recording, step, 0)
        if request.access.kind == "load"
    ]
    assert (load.moved_sectors, load.repeated_sectors, len(load.sectors)) == (18, 2, 16)
    said = " ".join(narrate.warp(recording, step, 0)[0] for step in recording.steps)
    assert "18 sectors, 2 of which it had already fetched" in said
    assert int(add_up_costs(recording).sectors[-1]) == 18


def test_an_access_outside_its_array_costs_nothing() -> None:
    kernel = compile_kernel("__global__ void k(float* x) { x[threadIdx.x * 8] = 1; }")
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.zeros(100, np.float32)})
    costs, report = add_up_costs(record(kernel, launch)), simulate(kernel, launch)
    assert costs.sectors[-1] == report.counters["global_store_sectors"] == 13
