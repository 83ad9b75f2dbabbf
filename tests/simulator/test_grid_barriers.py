"""sync() of the whole grid: all blocks wait for each other, as in a cooperative launch."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, LaunchError, Report, compile_kernel, record, simulate
from simulator.machine.schedule import SCHEDULES, Schedule
from simulator.sentences.steps import spoken
from simulator.split.part import NotSplitError, check_split

BLOCKS, THREADS = 6, 48
N = BLOCKS * THREADS
HEAD = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
"""
SCAN = (
    "for (int s = 1; s < n; s *= 2) { int v = i >= s ? x[i - s] : 0; grid.sync();"
    " x[i] += v; cg::sync(grid); }"
)


def text(body: str) -> str:
    return f"""{HEAD}__global__ void k(int* x, int* y) {{
        cg::grid_group grid = cg::this_grid();
        int i = grid.thread_rank(), n = grid.size();
        {body}
    }}"""


def launch(blocks: int = BLOCKS) -> Launch:
    x = np.arange(blocks * THREADS, dtype=np.int32)
    return Launch((blocks, 1, 1), (THREADS, 1, 1), {"x": x, "y": np.zeros_like(x)})


def run(body: str, schedule: Schedule = Schedule.ASCENDING) -> Report:
    return simulate(compile_kernel(text(body), "k"), launch(), schedule)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_scan_over_all_blocks(schedule: Schedule) -> None:
    report = run(SCAN, schedule)
    assert report.arrays["x"].tolist() == np.cumsum(np.arange(N)).tolist()
    assert report.hazards == ()


EXCHANGE = "y[i] = x[i]; {} x[i] = y[n - 1 - i];"


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        (EXCHANGE.format("grid.sync();"), set()),
        ("if (blockIdx.x == 0) __syncthreads(); " + EXCHANGE.format("grid.sync();"), set()),
        (EXCHANGE.format("__syncthreads();"), {"read-after-write"}),
        ("y[i] = x[i]; grid.sync(); x[i] = y[n - 1 - i]; y[i] = 0;",
         {"read-after-write", "write-after-read"}),
        ("if (blockIdx.x == 2) return; grid.sync(); x[i] = 0;", {"divergent-barrier"}),
        ("if (threadIdx.x < 40) grid.sync(); x[i] = 0;", {"divergent-barrier"}),
        ("if (threadIdx.x >= 40) return; grid.sync(); x[i] = 0;", set()),
        ("__shared__ int s[48]; s[threadIdx.x] = i; grid.sync(); x[i] = s[47 - threadIdx.x];",
         set()),
    ],
)  # fmt: skip
def test_what_blocks_do_before_and_after_it(body: str, kinds: set[str]) -> None:
    found = {str(hazard.kind) for hazard in run(body).hazards}
    assert found <= kinds
    assert bool(found) == bool(kinds)


def test_a_block_that_ends_without_it_is_named() -> None:
    (hazard,) = run("if (blockIdx.x == 2) return; grid.sync();").hazards
    assert "block (2, 0) ends without reaching the grid's sync()" in hazard.message


def test_blocks_meet_at_two_places_and_at_barriers_of_their_own() -> None:
    report = run(
        "if (blockIdx.x == 0) { y[i] = 5; __syncthreads(); grid.sync(); x[i] = y[i + 48]; }"
        " else { y[i] = 7; grid.sync(); x[i] = y[threadIdx.x]; }"
    )
    assert report.hazards == ()
    assert report.arrays["x"].tolist() == [7] * THREADS + [5] * (N - THREADS)


def test_a_grid_that_does_not_run_at_once_is_refused() -> None:
    kernel = compile_kernel(text("grid.sync();"), "k")
    with pytest.raises(LaunchError, match=r"up to 4,224 blocks .* the grid has 5,000"):
        simulate(kernel, launch(5000))


def test_a_launch_that_waits_for_all_its_blocks_is_not_split() -> None:
    with pytest.raises(NotSplitError, match="its blocks wait for each other"):
        check_split(compile_kernel(text("grid.sync();"), "k"), Schedule.ASCENDING)


def test_a_recorded_block_reads_what_the_others_have_written() -> None:
    kernel = compile_kernel(text("y[i] = 3 * i; grid.sync(); int v = y[n - 1 - i];"), "k")
    recording = record(kernel, launch(), block=(BLOCKS - 1, 0, 0))
    *_, wait, read = recording.steps
    assert read.registers["v"].tolist() == [3 * i for i in range(THREADS)][::-1]
    assert read.outputs["y"].tolist() == [3 * i for i in range(N)]
    assert spoken(recording, wait, 0)[1] == (
        f"reaches the grid's barrier, where all {BLOCKS} blocks wait for each other."
    )


def test_a_grid_without_a_name_is_waited_for_too() -> None:
    assert run(EXCHANGE.format("cg::this_grid().sync();")).hazards == ()


def test_the_grid_of_a_cooperative_launch_is_valid() -> None:
    assert run("x[i] = grid.is_valid();").arrays["x"].tolist() == [1] * N
