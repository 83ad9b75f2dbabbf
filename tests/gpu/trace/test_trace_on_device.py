"""On a real GPU: the clock read in every rung, and in kernels at the edges of what there is."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest

from gpu.candidate import Candidate, choose, variants
from gpu.trace.job import MOST_READS, Whole, request
from gpu.trace.trace import NO_TILE, Kind, Level, Trace, trace_from
from gpu.user_kernel import clean_candidate
from gpu.worker import Worker
from simulator.catalogue import catalogue, whole_catalogue

pytestmark = pytest.mark.gpu

SIZE = (512, 512, 512)
FEW = {"few_rows": (4, 4096, 4096), "few_columns": (4096, 4, 4096)}  # what these are meant for
HEAD = """\
__global__ void own(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
"""


def run(
    worker: Worker,
    candidate: Candidate,
    size: tuple[int, int, int] = SIZE,
    level: Level = Level.PHASES,
    blocks: Whole = Whole.WAVE,
) -> Trace:
    job = request(size, candidate, level, blocks)
    trace = trace_from(dict(worker.submit(job, 120).wait()))
    check(trace, candidate)
    return trace


def check(trace: Trace, candidate: Candidate) -> None:
    """What holds of every trace."""
    assert trace.same_bits
    width, height, _ = candidate.grid
    assert [(block.x, block.y) for block in trace.blocks] == [
        (x, y) for y in range(height) for x in range(width)
    ]
    assert min(block.start for block in trace.blocks) == 0
    assert all(block.start < block.end for block in trace.blocks)
    assert 5 < trace.empty_read_cycles < 100
    assert trace.ratio > 0.8
    assert trace.whole_blocks
    for block in trace.whole_blocks:
        for warp in block.warps:
            assert all(one.begin <= one.end for one in warp)
            assert all(a.end <= b.begin for a, b in pairwise(warp))


def own(body: str, grid: tuple[int, int], block: tuple[int, int] = (32, 8)) -> Candidate:
    return Candidate("own", HEAD + body + "\n}\n", "own", (*grid, 1), (*block, 1), {})


@pytest.mark.parametrize("name", variants(whole_catalogue()))
def test_every_rung_has_the_same_bits_and_says_where_its_time_goes(
    worker: Worker, name: str
) -> None:
    size = FEW.get(name, SIZE)
    trace = run(worker, choose(name, size), size)
    kinds = {phase.kind for phase in trace.phases}
    assert {Kind.COMPUTE, Kind.STORE} <= kinds
    assert Kind.BARRIER in kinds or name in ("naive", "uncoalesced")
    assert trace.tells_all
    device = dict(worker.status())["device"]
    numbers = {block.multiprocessor for block in trace.blocks}
    assert max(numbers) < device["multiprocessors"]
    assert len(numbers) >= min(len(trace.blocks), device["multiprocessors"]) // 2


def test_a_conflict_costs_what_padding_saves(worker: Worker) -> None:
    size = (1024, 1024, 1024)
    cycles = {}
    for name in ("transposed:TILE=32", "padded:TILE=32"):
        trace = run(worker, choose(name, size), size)
        assert trace.tells_all
        cycles[name] = {phase.name: phase.cycles for phase in trace.phases}
        assert trace.phases[1].visits == 32  # tiles
    loops = [one["inner loop"] for one in cycles.values()]
    assert 3 < loops[0] / loops[1] < 8
    copies = [one["copy"] for one in cycles.values()]
    assert 1 < copies[0] / copies[1] < 4  # the stores to the tile conflict, too


@pytest.mark.parametrize("name", ["tiled:TILE=32", "rows", "warptiles", "tensor_half"])
def test_statements_are_told_apart(worker: Worker, name: str) -> None:
    trace = run(worker, choose(name, SIZE), level=Level.STATEMENTS)
    assert len(trace.phases) >= 4
    iterations = [phase.k for phase in trace.phases if phase.k is not None]
    assert iterations == list(range(len(iterations)))
    assert iterations or "shown together" in trace.left_out


@pytest.mark.parametrize(
    ("body", "grid"),
    [
        ("if (row < M && col < N) C[row * N + col] = A[row * K] * B[col];", (16, 64)),
        ("if (row >= M || col >= N) return;\n"
         "float s = 0; for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];\n"
         "C[row * N + col] = s;", (20, 64)),
        ("if (row > 0 || col > 0) return; C[0] = A[0];", (1, 1)),
        ("C[row * N + col] = 1.0f;", (16, 64)),
    ],
)  # fmt: skip
def test_code_without_a_loop_and_code_that_returns_early(
    worker: Worker, body: str, grid: tuple[int, int]
) -> None:
    trace = run(worker, own(body, grid))
    assert trace.phases[0].visits == 1
    assert 0.05 < sum(phase.share for phase in trace.phases) < 1.05  # a read takes as long as it


def test_65536_blocks_have_a_place_and_a_time(worker: Worker) -> None:
    size = (2048, 2048, 8)
    candidate = choose("tiled:TILE=8", size)
    assert candidate.grid == (256, 256, 1)
    for blocks in (Whole.FEW, Whole.ALL):
        trace = run(worker, candidate, size, blocks=blocks)
        assert len(trace.blocks) == 65536
    assert "warps of" in trace.left_out or len(trace.whole_blocks) == 65536


def test_a_long_loop_has_bounded_room(worker: Worker) -> None:
    body = (
        "__shared__ float s[256]; int i = threadIdx.y * 32 + threadIdx.x; float sum = 0;\n"
        "for (int t = 0; t < 100000; ++t) { s[i] = A[i] + t; __syncthreads();\n"
        "    for (int k = 0; k < 4; ++k) sum += s[k] * s[i];\n    __syncthreads(); }\n"
        "C[row * N + col] = sum;"
    )
    trace = run(worker, own(body, (16, 64)), blocks=Whole.FEW)
    assert f"room for {MOST_READS:,} reads" in trace.left_out
    assert [phase.kind for phase in trace.phases][:3] == [Kind.OTHER, Kind.LOAD, Kind.BARRIER]
    tiles = [one.tile for block in trace.whole_blocks for warp in block.warps for one in warp]
    assert max(tiles) < MOST_READS
    assert NO_TILE in tiles


def test_a_user_kernel_is_traced_after_a_clean_run(worker: Worker, tmp_path: Path) -> None:
    text = catalogue()["tiled"].source(TILE=16)
    trace = run(worker, clean_candidate(text, SIZE))
    assert [phase.name for phase in trace.phases][1:5] == ["copy", "wait", "inner loop", "wait"]


def test_c_may_need_zeros_before(worker: Worker) -> None:
    adding = own("if (row < M && col < N) C[row * N + col] += A[row * K] * B[col];", (16, 64))
    run(worker, dataclasses.replace(adding, c_holds_zeros=True))
