"""Moves over a recording, a step's parts, and a warp's requests against the counters."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from simulator import Recording, narrate, record, simulate
from simulator.language.tree import Barrier, Kernel
from simulator.number_format import format_number
from simulator.observers.counters import FIELDS
from simulator.observers.transactions import IDLE
from simulator.recording.navigation import Granularity, boundaries, positions
from simulator.recording.requests import Request, requests
from simulator.sentences.parts import parts
from tests.simulator.launches import Launch, launch_text, matmul
from tests.simulator.test_counters import PADDED, TRANSPOSED
from tests.simulator.test_record import numeric_example


@pytest.fixture(scope="module")
def example() -> Recording:
    return record(*numeric_example())


def test_boundaries_of_the_numeric_example(example: Recording) -> None:
    lines = {
        name: [(example.steps[i].line, example.steps[i].kind) for i in boundaries(example, name)]
        for name in Granularity
    }
    assert len(lines["statement"]) == len(example.steps)
    before, outside = (12, "run"), (30, "test")
    assert lines["outer"] == [before, (18, "run"), (18, "advance"), (18, "advance")]
    tile = [(25, "run"), (25, "advance"), (25, "advance")]
    assert lines["inner"] == [before, (18, "run"), *tile, (18, "advance"), *tile, (18, "advance")]
    assert lines["barrier"] == [before, *[(23, "barrier"), (27, "barrier")] * 2]
    assert outside in lines["statement"]


def test_positions_of_the_numeric_example(example: Recording) -> None:
    at = [tuple(iteration for _, iteration in position) for position in positions(example)]
    sentences = [
        (step.line, step.kind, where)
        for step, where in zip(example.steps, at, strict=True)
        if step.line in (18, 25)
    ]
    tile = [(25, "run", 0), (25, "test", 0), (25, "advance", 1), (25, "test", 1)]
    ended = [(25, "advance"), (25, "test")]
    assert sentences == [
        (18, "run", (0,)), (18, "test", (0,)),
        *((line, kind, (0, k)) for line, kind, k in tile), *((*one, (0,)) for one in ended),
        (18, "advance", (1,)), (18, "test", (1,)),
        *((line, kind, (1, k)) for line, kind, k in tile), *((*one, (1,)) for one in ended),
        (18, "advance", ()), (18, "test", ()),
    ]  # fmt: skip


def test_a_barrier_stops_at_each_step_with_which_warps_come_to_it() -> None:
    recording = record(*matmul("tiled", 16, 16, 20, TILE=8), schedule="descending")
    stops = boundaries(recording, "barrier")
    assert [recording.steps[i].interval for i in stops] == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert all(isinstance(recording.steps[i].statement, Barrier) for i in stops[1:])


def test_a_barrier_with_which_a_kernel_begins_or_ends_is_a_stop() -> None:
    text = "__global__ void k(float* a) { __syncthreads(); a[threadIdx.x] = 1; __syncthreads(); }"
    recording = record(*launch_text(text, block=4, a=np.zeros(4, np.float32)))
    last = len(recording.steps) - 1
    assert boundaries(recording, "barrier") == (0, last)


def test_parts_of_the_inner_product(example: Recording) -> None:
    step = next(s for s in example.steps if s.line == 26)
    pieces = parts(example, step, thread=1)
    assert [piece.text for piece in pieces] == [
        "As[ty][k]", "Bs[k][tx]", "acc += As[ty][k] * Bs[k][tx]",
    ]  # fmt: skip
    cell = pieces[1].cell
    assert cell is not None
    assert (cell.array, cell.index, cell.byte, cell.bank) == ("Bs", (0, 1), 4, 5)
    assert cell.sector is None
    assert pieces[-1].summary == "acc = 0 + 1 × 15 = 15, rounded once"


def test_parts_of_a_guarded_load() -> None:
    recording = record(*matmul("tiled", 3, 3, 3, TILE=4))
    step = next(s for s in recording.steps if s.line == 21)
    inside, outside = parts(recording, step, 6), parts(recording, step, 7)
    load = next(piece for piece in inside if " holds " in piece.summary)
    assert load.cell is not None
    assert (load.cell.array, load.cell.index, load.cell.byte) == ("A", (1, 2), 20)
    assert load.cell.sector == 0
    assert f" holds {format_number(recording.arguments['A'][1, 2])} " in load.summary
    assert not any(" holds " in one.summary for one in outside), "the guard keeps thread (3, 1) out"
    assert " gets 0 " in outside[-1].summary
    idle = recording.steps[-1]
    assert parts(recording, idle, 3) == ()


LANGUAGE = """
__device__ int twice(int v, int& more) { more = v + 1; return 2 * v; }
__global__ void k(int* x, float4* y) {
    int i = threadIdx.x;
    int n = 0;
    x[i] += x[i + 30] + 1;
    x[i] = n + twice(i, n);
    y[i].z = 3;
    int* p = x + i;
    *p = 7;
    atomicAdd(&x[0], 5);
}
"""


def test_parts_of_other_statements() -> None:
    arguments = {"x": np.arange(32, dtype=np.int32), "y": np.zeros((32, 4), np.float32)}
    recording = record(*launch_text(LANGUAGE, **arguments))

    def opened(line: int, thread: int) -> list[tuple[str, str]]:
        steps = [s for s in recording.steps if s.line == line]
        return [p.summary for p in parts(recording, steps[-1], thread)]

    assert opened(6, 1)[-2:] == [
        "x[1] holds 1 (byte 4 of x, sector 0)",
        "x[1] gets 33 (byte 4 of x, sector 0)",
    ]
    assert "x[i + 30] is byte 128 of x: outside, dropped" in opened(6, 2)
    assert opened(7, 3)[-1] == "x[3] gets 6 (byte 12 of x, sector 0)"
    assert opened(8, 2)[-1] == "y[2][2] gets 3 (byte 40 of y, sector 1)"
    assert opened(9, 2)[-1] == "p = &x[2]"
    assert opened(10, 2) == ["x[2] gets 7 (byte 8 of x, sector 0)"]
    assert opened(11, 1)[0] == "x[0] held 12 before the update (byte 0 of x, sector 0)"


def body(text: str, block: int = 32) -> tuple[Kernel, Launch]:
    random = np.random.default_rng(3)
    given: dict[str, Any] = {
        "f": random.standard_normal(1024, dtype=np.float32),
        "d": random.standard_normal(1024),
        "c": np.arange(1024).astype(np.int8),
    }
    return launch_text(
        f"__global__ void k(float* f, double* d, char* c) {{ int i = threadIdx.x; {text} }}",
        block=block, **given,
    )  # fmt: skip


ALL: dict[str, tuple[Kernel, Launch]] = {
    "tiled": matmul("tiled", 20, 20, 20),
    "transposed": matmul("tiled", 16, 16, 32, TRANSPOSED),
    "padded": matmul("tiled", 16, 16, 32, PADDED),
    "tile of 32": matmul("tiled", 32, 32, 32, TRANSPOSED, TILE=32),
    "tile of 4": matmul("tiled", 4, 4, 4, TILE=4),
    "naive": matmul("naive", 8, 32, 5),
    "stride": body("f[i * 7 % 64] = f[i * 3] + d[i * 2] + c[i * 5];", 100),
    "float4": body("__shared__ float4 s[64]; s[i] = reinterpret_cast<float4*>(f)[i];"
                   " __syncthreads(); float4 v = s[i * 5 % 64]; f[i] = v.x + s[i / 3].y;", 64),
    "float2 and double": body("__shared__ float2 s[64]; __shared__ double t[64];"
                              " if (i % 3) s[i] = make_float2(i, 1); t[i * 2 % 64] = i;"
                              " __syncthreads(); if (i % 3) f[i] = s[i].x; d[i] = t[i / 2];", 50),
    "float3": body("__shared__ float3 s[32]; s[i].x = 1; s[i] = ((float3*)f)[i];"
                   " ((float3*)f)[31 - i] = s[i];"),
    "bytes": body("__shared__ char s[64]; s[i] = c[i]; s[63 - i] = 2;"),
    "ragged and divergent": body("__shared__ float s[2048]; if (i > 3) s[i * 32 % 1024] = f[i];"
                                 " if (i % 2) f[i + 1000] = s[i * 33]; else f[i] = s[0];", 77),
    "dynamic": body("__shared__ float pad[5]; extern __shared__ float s[]; pad[i % 5] = 1;"
                    " s[i % 8 * 32] = 1;"),
    "copies of 16 bytes": body("__shared__ float4 s[32]; __pipeline_memcpy_async(s + i,"
                               " (float4*)f + i / 3 % 8, 16); __pipeline_commit();"
                               " __pipeline_wait_prior(0); s[i].x = 1;"),
}  # fmt: skip


SLOW = (("tile of 32", "descending"), ("transposed", "descending"))


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("case", "schedule"),
    [
        pytest.param(case, schedule, marks=[pytest.mark.deep] if (case, schedule) in SLOW else [])
        for case in ALL
        for schedule in ("lockstep", "descending")
    ],
)
def test_requests_add_up_to_the_counters(case: str, schedule: str) -> None:
    kernel, launch = ALL[case]
    launch = Launch((1, 1, 1), launch.block, launch.arguments, 2048 if case == "dynamic" else 0)
    recording = record(kernel, launch, schedule=schedule)
    found = dict.fromkeys(FIELDS, 0)
    for step in recording.steps:
        for warp in range(launch.warps):
            for request in requests(recording, step, warp):
                name = f"{request.access.space}_{request.access.kind}"
                found[f"{name}_requests"] += 1
                if request.access.space == "global":
                    found[f"{name}_sectors"] += request.moved_sectors
                else:
                    found[f"{name}_wavefronts"] += request.wavefront_count
                check(request)
    assert found == dict(simulate(kernel, launch).counters)
    assert sum(found.values()) > 0


def check(request: Request) -> None:
    """What a picture relies on: each wavefront serves one word a bank, and all are used."""
    live = request.active
    assert ((request.words == IDLE).all(axis=1) == ~live).all()
    assert request.useful_bytes <= max(request.fetched_bytes, 32 * request.width)
    if request.access.space == "global":
        assert len(request.lines) <= len(request.sectors) <= 4 * len(request.lines)
        return
    assert sorted(set(request.wavefront_numbers[live].tolist())) == list(
        range(request.wavefront_count)
    )
    for turn in range(request.wavefront_count):
        lanes = request.wavefront_numbers == turn
        assert len(set(request.phases[lanes].tolist())) == 1
        words = np.unique(request.words[lanes])
        assert np.unique(words % 32).size == words.size
    assert request.ideal == len(set(request.phases[live].tolist()))


def test_wavefronts_lane_by_lane() -> None:
    recording = record(*ALL["transposed"])
    step = next(s for s in recording.steps if s.line == 26)
    a, b = requests(recording, step, 1)
    assert (a.wavefront_count, a.degree, len(a.lanes_by_word)) == (1, 1, 2)
    assert (b.wavefront_count, b.degree, b.ideal) == (8, 8, 1)
    assert b.wavefront_numbers.tolist() == [i // 2 for i in range(16)] * 2
    assert b.lanes_by_word[int(b.words[3, 0])] == (3, 19), "threads of one column read one word"


def test_half_and_quarter_warps() -> None:
    recording = record(*ALL["float4"])
    step = next(s for s in recording.steps if any(a.space == "shared" for a in s.accesses))
    store = next(r for r in requests(recording, step, 0) if r.access.kind == "store")
    assert store.phases.tolist() == [i // 8 for i in range(32)]
    assert (store.wavefront_count, store.degree, store.ideal) == (4, 1, 4)
    assert (store.words[9] % 32).tolist() == [4, 5, 6, 7]


CONFLICTS = {
    ("tiled", 8): lambda tx, k: k * 8 + tx,
    ("tiled", 16): lambda tx, k: k * 16 + tx,
    ("transposed", 8): lambda tx, k: tx * 8 + k,
    ("transposed", 16): lambda tx, k: tx * 16 + k,
    ("transposed", 32): lambda tx, k: tx * 32 + k,
    ("padded", 16): lambda tx, k: tx * 17 + k,
    ("padded", 32): lambda tx, k: tx * 33 + k,
    ("swizzled", 16): lambda tx, k: tx * 16 + (k ^ tx),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_conflict_is_that_of_the_closed_form(case: tuple[str, int]) -> None:
    name, tile = case
    recording = record(*matmul(name, tile, tile, tile, TILE=tile))
    step = next(s for s in recording.steps if {a.name for a in s.accesses} == {"As", "Bs"})
    request = next(r for r in requests(recording, step, 0) if r.access.name == "Bs")
    banks = defaultdict(set)
    for lane in range(32):
        word = CONFLICTS[case](lane % tile, 0)
        banks[word % 32].add(word)
    ways = max(map(len, banks.values()))
    assert (request.degree, request.wavefront_count) == (ways, ways)


SENTENCES = {
    ("transposed", 14, "run", 1): "Warp 1: all 32 lanes active.",
    ("transposed", 22, "run", 0): "Warp 0, all 32 lanes: writes Bs: 8-way bank conflict, 8 "
    "wavefronts; reads B: 4 sectors, 128 of 128 bytes used.",
    ("transposed", 23, "barrier", 0): "Warp 0: all 32 lanes are at the barrier.",
    ("transposed", 26, "run", 0): "Warp 0, all 32 lanes: reads Bs: 8-way bank conflict, 8 "
    "wavefronts; reads As: no conflict, 1 wavefront.",
    ("ragged and divergent", 1, "run", 2): "Warp 2: all 13 lanes active.",
}  # fmt: skip


@pytest.mark.parametrize("case", SENTENCES)
def test_warp_sentence(case: tuple[str, int, str, int]) -> None:
    name, line, kind, warp = case
    recording = record(*ALL[name])
    step = next(s for s in recording.steps if (s.line, s.kind) == (line, kind))
    assert narrate.warp(recording, step, warp)[0] == SENTENCES[case]
