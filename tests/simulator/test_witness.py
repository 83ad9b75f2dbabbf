"""A race's witness: the order it names gives the wrong value that it names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simulator import Report, simulate
from simulator.observers.hazards import witness
from simulator.observers.hazards.hazard_kind import RACES
from tests.simulator.launches import launch_text, matmul, run_text
from tests.simulator.test_hazards import without_barrier


@pytest.fixture(autouse=True)
def _time_for_every_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine would try fewer orders."""
    monkeypatch.setattr(witness, "MAX_SECONDS", 60.0)


@pytest.mark.parametrize("number", [1, 2])
def test_missing_barrier_names_an_order_and_its_wrong_value(number: int) -> None:
    kernel, launch = matmul("tiled", 16, 16, 64, without_barrier(number))
    (hazard,) = (h for h in simulate(kernel, launch).hazards if h.witness is not None)
    witness = hazard.witness
    assert witness is not None
    assert witness.order == "ascending"
    assert witness.against == "lockstep"
    assert witness.read != witness.read_against
    assert witness.output is not None
    replayed = simulate(kernel, launch, witness.order).arrays["C"]
    cell = tuple(int(i) for i in re.findall(r"\[(\d+)\]", witness.output))
    assert replayed[cell].item() == witness.value
    exact = launch.arguments["A"].astype(float) @ launch.arguments["B"]
    assert witness.value_against == pytest.approx(exact[cell], abs=1e-4), "lockstep is right here"
    assert witness.sentence.startswith("With the warps in ascending order, thread (")
    assert witness.output in witness.sentence


DESCENDING = """__global__ void k(float* x) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = i;
    x[63 - i] = i >= 32 ? s[i - 32] : 0.0f;
}"""
# In lockstep, ascending and descending order one of the other warps has come to its line before
# warp 1 reads; only in other orders are there two, or none.
RANDOM = """__global__ void k(float* x) {
    __shared__ int come[1];
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) come[0] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        if (warp == 0) come[0] += 1;
        if (warp == 1) x[0] = come[0];
        if (warp == 2) come[0] += 1;
    }
}"""


def hazards_of(text: str, block: int, grid: int = 1) -> Report:
    kernel, launch = launch_text(text, block=block, grid=grid, x=np.zeros(block, np.float32))
    return simulate(kernel, launch)


def test_right_in_ascending_order_is_still_a_race() -> None:
    report = hazards_of(DESCENDING, 64)
    assert report.arrays["x"].tolist() == [*range(31, -1, -1)] + [0.0] * 32
    (hazard,) = report.hazards
    assert hazard.kind == "read-after-write"
    assert hazard.witness is not None
    assert hazard.witness.order == "descending"
    assert hazard.witness.thread == (33, 0, 0)
    assert (hazard.witness.read, hazard.witness.read_against) == (0, 1)
    assert hazard.witness.output == "x[30]"
    assert hazard.witness.sentence == (
        "With the warps in descending order, thread (33, 0) reads 0 from s[1] instead of 1 on line "
        "5, and x[30] becomes 0 instead of 1."
    )


def test_a_result_that_another_thread_stores_is_not_the_readers() -> None:
    text = DESCENDING.replace("x[63 - i]", "__shared__ float r[64]; r[63 - i]")
    [hazard] = hazards_of(text[:-1] + "__syncthreads(); x[i] = r[i]; }", 64).hazards
    assert hazard.witness is not None
    assert hazard.witness.sentence == (
        "With the warps in descending order, thread (33, 0) reads 0 from s[1] instead of 1 on line "
        "5; among the results, x[0] becomes 0 instead of 31."
    )


def test_random_orders_are_tried() -> None:
    report = hazards_of(RANDOM, 96)
    kernel, launch = launch_text(RANDOM, block=96, x=np.zeros(96, np.float32))
    for schedule in ("lockstep", "ascending", "descending"):
        assert simulate(kernel, launch, schedule).arrays["x"][0] == 1
    [race] = (hazard for hazard in report.hazards if hazard.lines == (7, 8))
    assert race.kind == "read-after-write"
    assert race.witness is not None
    schedule, _, seed = race.witness.order.partition(", seed ")
    assert schedule == "random"
    assert simulate(kernel, launch, schedule, int(seed)).arrays["x"][0] in (0, 2)


def test_blocks_have_two_orders_and_neither_is_right() -> None:
    text = "__global__ void k(float* x) {\nx[0] = blockIdx.x;\n}"
    (hazard,) = hazards_of(text, 1, grid=2).hazards
    assert hazard.witness is not None
    assert hazard.witness.order == "block (1, 0) before block (0, 0)"
    assert hazard.witness.against == "block (0, 0) before block (1, 0)"
    assert (hazard.witness.value, hazard.witness.value_against) == (0, 1)


def test_an_order_that_makes_a_result_wrong_is_better_than_one_that_does_not() -> None:
    text = """__global__ void k(float* x) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = 0;
    __syncthreads();
    s[i] = 2;
    float v = s[i ^ 32];
    x[i] = i >= 32 ? v : 1;
}"""
    [hazard] = hazards_of(text, 64).hazards
    assert hazard.witness is not None
    # In ascending order warp 0 alone reads 0.
    assert (hazard.witness.order, hazard.witness.output) == ("descending", "x[32]")


HARMLESS = {
    "one warp": ("__shared__ float s[32]; s[threadIdx.x] = 2;\nx[threadIdx.x] = s[31 - "
                 "threadIdx.x];", 32),
    "cells that nobody reads": (
        "__shared__ float s[32]; s[threadIdx.x % 32] = threadIdx.x;\nx[threadIdx.x] = 1;", 64),
}  # fmt: skip


@pytest.mark.parametrize("case", HARMLESS)
def test_no_order_gives_a_wrong_value(case: str) -> None:
    body, block = HARMLESS[case]
    (hazard,) = hazards_of(f"__global__ void k(float* x) {{\n{body}\n}}", block).hazards
    assert hazard.kind in RACES
    assert hazard.witness is None


def test_an_order_that_never_ends_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "MAX_SECONDS", 1.0)
    text = """__global__ void k(int* x) {
        __shared__ volatile int go;
        if (threadIdx.x == 0) go = 0;
        __syncthreads();
        if (threadIdx.x == 0) go = 1;
        int n = 0;
        if (threadIdx.x == 32) { while (go == 0 && n < 3000000) ++n; x[0] = n; }
    }"""
    report = run_text(text, block=64, x=np.zeros(1, np.int32))
    assert report.hazards
    assert report.arrays["x"][0] == 0


HISTOGRAM = """__global__ void k(const int* in, int* bins) {
    bins[in[threadIdx.x]]++;
}"""


def test_a_result_beside_a_read_is_of_the_cell_that_was_read() -> None:
    digits = np.random.default_rng(3).integers(0, 8, 64, np.int32)
    report = run_text(HISTOGRAM, **{"in": digits}, block=64, bins=np.zeros(8, np.int32))
    races = [hazard for hazard in report.hazards if hazard.kind == "write-after-read"]
    [said] = [hazard.witness.sentence for hazard in races if hazard.witness is not None]
    found = re.search(r"reads \d+ from (bins\[\d\]) instead of \d+ on line 2, and (\S+)", said)
    assert found, said
    assert found[1] == found[2]
    assert f" reads {found[1]}," in races[0].message
    assert not report.notes, "an update is lost: that the values are the same says nothing"


def test_a_witness_is_of_its_own_race() -> None:
    text = """__global__ void k(float* x) {
    __shared__ float s[66];
    int t = threadIdx.x;
    if (t < 2) s[t] = 1;
    s[t + 2] = 2;
    x[t] = s[t] + s[t + 1] + s[t + 2];
}"""
    report = run_text(text, block=64, x=np.zeros(64, np.float32))
    shown = {hazard.lines: hazard.witness for hazard in report.hazards}
    assert shown.keys() == {(4, 6), (5, 6)}
    assert shown[4, 6] is None, "the race of lines 4 and 6 is within a warp"
    assert shown[5, 6] is not None
    assert re.search(r"thread \(32, 0\) reads 0 from s\[3[23]\] instead of 2", shown[5, 6].sentence)


def test_a_read_of_another_array_is_no_witness() -> None:
    text = """__global__ void k(float* x) {
    __shared__ float r[64], s[64];
    int i = threadIdx.x;
    r[i] = s[i] = 1;
    __syncthreads();
    r[i] = 1;
    s[i] = 2;
    x[i] = r[i ^ 32];
    x[i] += s[i ^ 32];
}"""
    shown = {hazard.array: hazard.witness for hazard in hazards_of(text, 64).hazards}
    assert shown.keys() == {"r", "s"}
    assert shown["r"] is None
    assert shown["s"] is not None
