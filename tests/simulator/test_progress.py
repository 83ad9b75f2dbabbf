"""Threads that wait for others in loops: they make progress in turns, and fences order them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Report, SourceError, compile_kernel, narrate, record, simulate
from simulator.language.tree import Loop
from simulator.language.visit import walk
from simulator.language.waiting import is_waiting
from tests.programs.table import PROGRAMS
from tests.simulator.launches import launch_text

SCHEDULES = ("ascending", "descending", "random")


@pytest.fixture(autouse=True)
def _short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look only shortly for an order that shows a race: many here never end."""
    monkeypatch.setattr("simulator.observers.hazards.witness.MAX_SECONDS", 0.1)


def run(text: str, schedule: str, grid: int, block: int, **arguments: Any) -> Report:
    kernel, launch = launch_text(text, grid=grid, block=block, **arguments)
    return simulate(kernel, launch, schedule, seconds=20)


def kinds(report: Report) -> set[tuple[str, str | None]]:
    return {(hazard.kind.value, hazard.array) for hazard in report.hazards}


# Locks -------------------------------------------------------------------------------------------

LOCKS = {
    "compare and swap": """__global__ void k(int* lock, int* total) {
        while (atomicCAS(lock, 0, 1) != 0) ;
        __threadfence();
        *total = *total + 1;
        __threadfence();
        atomicExch(lock, 0);
    }""",
    "functions": """
    __device__ void take(int* l) { while (atomicCAS(l, 0, 1) != 0) ; }
    __device__ void give(int* l) { __threadfence(); atomicExch(l, 0); }
    __global__ void k(int* lock, int* total) {
        take(lock);
        *total = *total + 1;
        give(lock);
    }""",
    "a return from the loop": """
    __device__ void take(int* l) { while (true) { if (atomicExch(l, 1) == 0) return; } }
    __global__ void k(int* lock, int* total) {
        take(lock);
        int old = *total;
        *total = old + 1;
        __threadfence();
        atomicExch(lock, 0);
    }""",
    "a break": """__global__ void k(int* lock, int* total) {
        for (;;) { if (atomicCAS(lock, 0, 1) == 0) break; }
        *total += 1;
        __threadfence();
        atomicExch(lock, 0);
    }""",
    "within the loop": """__global__ void k(int* lock, int* total) {
        bool done = false;
        while (!done) {
            if (atomicExch(lock, 1) == 0) {
                *total += 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }""",
    "given back by a volatile store": """__global__ void k(int* lock, int* total) {
        while (atomicCAS(lock, 0, 1) != 0) ;
        *total += 1;
        __threadfence();
        *(volatile int*)lock = 0;
    }""",
    "some threads, twice": """__global__ void k(int* lock, int* total) {
        for (int i = 0; i < 2; ++i) {
            if (threadIdx.x % 2 == 0) {
                while (atomicCAS(lock, 0, 1) != 0) ;
                int old = total[0];
                total[0] = old + 1;
                __threadfence();
                atomicExch(lock, 0);
            }
        }
    }""",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_taken_by_all_threads(name: str, schedule: str) -> None:
    zero = np.zeros(1, np.int32)
    report = run(LOCKS[name], schedule, 3, 40, lock=zero, total=zero)
    assert report.arrays["total"][0] == 120
    assert report.arrays["lock"][0] == 0
    assert not report.hazards


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_given_back_without_a_fence(name: str) -> None:
    zero = np.zeros(1, np.int32)
    report = run(
        LOCKS[name].replace("__threadfence();", ""), "ascending", 2, 40, lock=zero, total=zero
    )
    assert report.arrays["total"][0] in (40, 80)
    assert {hazard.array for hazard in report.hazards} == {"total"}


def test_a_fence_for_the_block_orders_no_other_block() -> None:
    text = LOCKS["compare and swap"].replace("__threadfence()", "__threadfence_block()")
    zero = np.zeros(1, np.int32)
    assert not run(text, "ascending", 1, 64, lock=zero, total=zero).hazards
    assert kinds(run(text, "ascending", 2, 64, lock=zero, total=zero))


def test_a_lock_in_shared_memory() -> None:
    text = """__global__ void k(int* out) {
        __shared__ int lock, total;
        if (threadIdx.x == 0) { lock = 0; total = 0; }
        __syncthreads();
        while (atomicCAS(&lock, 0, 1) != 0) ;
        total = total + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
        __syncthreads();
        out[threadIdx.x] = total;
    }"""
    for schedule in SCHEDULES:
        report = run(text, schedule, 1, 64, out=np.zeros(64, np.int32))
        assert (report.arrays["out"] == 64).all()
        assert not report.hazards


def test_a_lock_does_not_order_what_is_outside_it() -> None:
    text = LOCKS["compare and swap"].replace(
        "atomicExch(lock, 0);", "atomicExch(lock, 0); total[1] += 1;"
    )
    report = run(text, "ascending", 2, 32, lock=np.zeros(1, np.int32), total=np.zeros(2, np.int32))
    assert report.arrays["total"][0] == 64
    assert {hazard.example.cell for hazard in report.hazards} == {(1,)}


# Flags -------------------------------------------------------------------------------------------

FLAG = """__global__ void k({flag}* flag, int* data, int* out) {{
    if (blockIdx.x == gridDim.x - 1) {{
        data[threadIdx.x] = 42 + threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {{ {fence} {set} }}
    }} else {{
        if (threadIdx.x == 0) while ({get} == 0) ;
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
    }}
}}"""
FLAGS = {
    "volatile": ("volatile int", "*flag = 1;", "*flag"),
    "cast": ("int", "*(volatile int*)flag = 1;", "((volatile int*)flag)[0]"),
    "atomic": ("int", "atomicExch(flag, 1);", "atomicAdd(flag, 0)"),
    "both": ("int", "atomicExch(flag, 1);", "*(volatile int*)flag"),
}


@pytest.mark.sample(12)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", FLAGS)
def test_blocks_that_wait_for_a_flag_of_the_last(name: str, schedule: str) -> None:
    flag, set_, get = FLAGS[name]
    arrays = {n: np.zeros(size, np.int32) for n, size in (("flag", 1), ("data", 64), ("out", 128))}
    text = FLAG.format(flag=flag, set=set_, get=get, fence="__threadfence();")
    report = run(text, schedule, 3, 64, **arrays)
    assert report.arrays["out"].tolist() == [*range(42, 106)] * 2
    assert not report.hazards
    report = run(text.replace("__threadfence();", ""), schedule, 3, 64, **arrays)
    assert kinds(report) == {("read-after-write", "data")}


def test_a_fence_before_the_writes_orders_nothing() -> None:
    text = """__global__ void k(volatile int* flag, int* data, int* out) {
        if (blockIdx.x == 1) { __threadfence(); *data = 42; *flag = 1; }
        else { while (*flag == 0) ; *out = *data; }
    }"""
    zero = np.zeros(1, np.int32)
    assert kinds(run(text, "ascending", 2, 1, flag=zero, data=zero, out=zero)) == {
        ("read-after-write", "data")
    }


def test_warps_of_a_block_and_the_branches_of_an_if() -> None:
    text = """__global__ void k(int* out) {
        __shared__ volatile int ready;
        __shared__ int value;
        if (threadIdx.x == 0) ready = 0;
        __syncthreads();
        if (threadIdx.x < {waiting}) {{
            while (ready == 0) ;
            __threadfence_block();
            out[threadIdx.x] = value;
        }} else if (threadIdx.x == 63) {{
            value = 7;
            __threadfence_block();
            ready = 1;
        }}
    }""".replace("{{", "{").replace("}}", "}")
    for waiting in ("32", "40"):  # a warp waits for another, and lanes for one of their own warp
        for schedule in SCHEDULES:
            report = run(
                text.replace("{waiting}", waiting), schedule, 1, 64, out=np.zeros(64, np.int32)
            )
            assert report.arrays["out"].tolist()[:32] == [7] * 32
            assert not report.hazards


# Blocks ------------------------------------------------------------------------------------------

LAST_BLOCK = """
__device__ unsigned int count = 0;
__global__ void k(const float* x, {qualifier} float* partial, float* out) {{
    __shared__ float s[64];
    __shared__ bool last;
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {{
        if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];
        __syncthreads();
    }}
    if (threadIdx.x == 0) {{
        partial[blockIdx.x] = s[0];
        {fence}
        unsigned int ticket = {ticket};
        last = ticket == gridDim.x - 1;
    }}
    __syncthreads();
    if (last) {{
        s[threadIdx.x] = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f;
        __syncthreads();
        if (threadIdx.x == 0) {{
            float sum = 0;
            for (int i = 0; i < gridDim.x; ++i) sum += s[i];
            *out = sum;
            count = 0;
        }}
    }}
}}"""


@pytest.mark.parametrize("qualifier", ["", "volatile"])
@pytest.mark.parametrize("ticket", ["atomicAdd(&count, 1)", "atomicInc(&count, gridDim.x)"])
def test_the_last_block_sums_up(ticket: str, qualifier: str) -> None:
    x = np.arange(64 * 20, dtype=np.float32)
    arrays = {"x": x, "partial": np.zeros(20, np.float32), "out": np.zeros(1, np.float32)}
    for fence, found in (("__threadfence();", set()), ("", {("read-after-write", "partial")})):
        text = LAST_BLOCK.format(fence=fence, ticket=ticket, qualifier=qualifier)
        for schedule in SCHEDULES:
            report = run(text, schedule, 20, 64, **arrays)
            assert report.arrays["out"][0] == x.sum()
            assert report.arrays["count"] == 0
            assert kinds(report) == found


@pytest.mark.sample(3)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_decoupled_look_back_needs_its_fences(schedule: str) -> None:
    """As it is, tests/programs holds it to its values and to no hazard."""
    [program] = [one for one in PROGRAMS if one.kernel == "lookbackScan"]
    text = program.text.replace("__threadfence();", "")
    launched = launch_text(text, program.kernel, grid=5, block=64, **program.arguments())
    found = {hazard.array for hazard in simulate(*launched, schedule).hazards}
    assert found == {"aggregates", "prefixes"}


def test_blocks_wait_for_later_blocks() -> None:
    text = """__global__ void k(volatile int* flags) {
        if (blockIdx.x + 1 < gridDim.x) while (flags[blockIdx.x + 1] == 0) ;
        flags[blockIdx.x] = 1;
    }"""
    report = run(text, "ascending", 40, 1, flags=np.zeros(40, np.int32))
    assert (report.arrays["flags"] == 1).all()


GRID_BARRIER = """
__device__ unsigned int arrived = 0;
__global__ void k(int* x, int* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < gridDim.x) ;
    }
    __syncthreads();
    y[i] = x[gridDim.x * blockDim.x - 1 - i];
}"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_of_the_whole_grid(schedule: str) -> None:
    arrays = {"x": np.zeros(640, np.int32), "y": np.zeros(640, np.int32)}
    report = run(GRID_BARRIER, schedule, 10, 64, **arrays)
    assert report.arrays["y"].tolist() == list(range(639, -1, -1))
    assert not report.hazards
    # A write after it, of what other blocks have just read, is a race.
    text = GRID_BARRIER.replace("- 1 - i];", "- 1 - i]; x[i] = 0;")
    assert ("write-after-read", "x") in kinds(run(text, schedule, 10, 64, **arrays))


def test_fences_of_all_threads_before_a_barrier() -> None:
    text = GRID_BARRIER.replace("__threadfence();", "").replace(
        "x[i] = i;", "x[i] = i; __threadfence();"
    )
    arrays = {"x": np.zeros(640, np.int32), "y": np.zeros(640, np.int32)}
    assert not run(text, "ascending", 10, 64, **arrays).hazards


# What waits and what does not --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "waits"),
    [
        ("while (x[0] == 0) ;", False),  # read once by the compiler
        ("while (v[0] == 0) ;", True),
        ("while (atomicCAS(x, 0, 1)) ;", True),
        ("while (atomicExch(x, 1)) ;", True),
        ("while (atomicAdd(x, 0) < n) ;", True),
        ("while (atomicOr(x, 0) < n) ;", True),
        ("while (atomicAdd(x, 1) < n) ;", False),  # each turn changes what it reads
        ("for (int i = 0; i < n; ++i) x[i] += v[i];", False),
        ("for (int i = 0; i < n; ++i) { x[i] += v[i]; if (n == i * i) break; }", False),
        ("for (int i = 0; i < n; ++i) if (v[i]) break;", True),
        ("while (n > 1) { atomicExch(x, 0); n /= 2; }", False),
        ("int old = *x, seen; do { seen = old; old = atomicCAS(x, seen, seen + 1); } "
         "while (seen != old);", False),
    ],
)  # fmt: skip
def test_which_loops_wait(loop: str, waits: bool) -> None:
    text = f"__global__ void k(int* x, volatile int* v, int n) {{ {loop} }}"
    loops = [s for s in walk(compile_kernel(text, "k").body) if isinstance(s, Loop)]
    assert [is_waiting(found) for found in loops] == [waits]


def test_a_deadlock_ends_with_the_time_that_is_given() -> None:
    text = "__global__ void k(volatile int* flag) {\nwhile (*flag == 0) ;\n}"
    kernel, launch = launch_text(text, grid=2, flag=np.zeros(1, np.int32))
    with pytest.raises(SourceError, match=r"line 2.*0 of 2 blocks are done.*condition ever fail"):
        simulate(kernel, launch, seconds=0.3)


WAITING = """__device__ int wait(volatile int* f) { int v; while ((v = *f) == 0) ; return v; }
__global__ void k(volatile int* f, int* out) { %s }"""


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("int v = wait(f); *out = v;", 3),
        ("*out = 1 + wait(f);", 4),
        ("if (wait(f) == 3) *out = -wait(f) * 2;", -6),
        ("while (wait(f) + *out < 5) ++*out;", 2),
        ("*out = *f && wait(f);", 1),
    ],
)
def test_a_function_that_waits_in_an_expression(use: str, expected: int) -> None:
    f, out = np.full(1, 3, np.int32), np.zeros(1, np.int32)
    kernel, launch = launch_text(WAITING % use, block=1, f=f, out=out)
    assert simulate(kernel, launch).arrays["out"][0] == expected


def test_a_function_that_waits_for_ever_may_be_skipped() -> None:
    f, out = np.zeros(1, np.int32), np.ones(1, np.int32)
    kernel, launch = launch_text(WAITING % "*out = *f && wait(f);", block=1, f=f, out=out)
    assert simulate(kernel, launch).arrays["out"][0] == 0


def test_a_recording_of_a_lock() -> None:
    zero = np.zeros(1, np.int32)
    kernel, launch = launch_text(LOCKS["compare and swap"], block=4, lock=zero, total=zero)
    recording = record(kernel, launch)
    stores = [step for step in recording.steps if step.line == 4]
    assert [np.flatnonzero(step.active).tolist() for step in stores] == [[0], [1], [2], [3]]
    assert [int(step.outputs["total"][0]) for step in stores] == [1, 2, 3, 4]
    assert narrate.spoken(recording, stores[2], 2)[0] == "computes total[0] = 2 + 1 = 3."
