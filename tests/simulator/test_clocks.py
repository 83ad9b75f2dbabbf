"""clock(), clock64() and __nanosleep(): a thread's time is the number of its steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Report, narrate, record, simulate
from simulator.machine.schedule import Schedule
from tests.simulator.launches import launch_text


def run(body: str, before: str = "", block: int = 64, grid: int = 2, **keywords: Any) -> Report:
    """A kernel of threads i, and what it leaves in t[g], one number for each thread."""
    text = f"""{before}
__global__ void k(long long* t) {{
    int i = threadIdx.x, g = blockIdx.x * blockDim.x + i;
    {body}
}}"""
    t = np.zeros(grid * block, np.int64)
    return simulate(*launch_text(text, grid=grid, block=block, t=t), **keywords)


I = np.tile(np.arange(64), 2)  # noqa: E741  # threadIdx.x
WORK = """__device__ int work(int n) { int s = 0; for (int j = 0; j < n; ++j) s += j; return s; }"""

# body, and t after it: the steps between are those that a recording shows
VALUES: dict[str, tuple[str, Any]] = {
    "nothing between": ("long long a = clock64(), b = clock64(); t[g] = b - a;", 1 + 0 * I),
    "statements": ("clock_t a = clock(); int x = i; x += 2; x *= 3; t[g] = clock() - a;",
                   4 + 0 * I),
    # the start, then for each round its test, body and advance, and the last test
    "a loop": ("long long a = clock64(); int s = 0; for (int j = 0; j < i; ++j) s += j;"
               " t[g] = clock64() - a;", 4 + 3 * I),
    "a branch that some take": ("clock_t a = clock(); if (i % 2) { i *= 2; i += 1; }"
                                " t[g] = clock() - a;", 2 + 2 * (I % 2)),
    "a function": ("long long a = clock64(); int s = work(2 + i % 3); t[g] = clock64() - a;",
                   8 + 3 * (2 + I % 3)),  # with its parameter, its result and its return
    "a barrier": ("clock_t a = clock(); __syncthreads(); t[g] = clock() - a;", 2 + 0 * I),
    "a sleep": ("clock_t a = clock(); __nanosleep(1000 * i); t[g] = clock() - a;", 2 + 0 * I),
    "a wait for the clock": ("long long a = clock64(); while (clock64() - a < 50 + i) ;"
                             " t[g] = clock64() - a;", 51 + I),
}  # fmt: skip


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.sample(4)
def test_steps_between_two_readings(name: str, schedule: Schedule) -> None:
    """They are the thread's own, so that the order of warps does not change them."""
    body, expected = VALUES[name]
    report = run(body, WORK, schedule=schedule)
    assert report.arrays["t"].tolist() == expected.tolist()


def test_a_thread_never_reads_an_earlier_time() -> None:
    body = """long long last = clock64(), bad = 0;
    for (int j = 0; j < 3 + i % 5; ++j) {
        if (i % 7 == j) continue;
        long long now = clock64();
        bad += now <= last;
        last = now;
        if (j == 2) __syncwarp(__activemask());
    }
    t[g] = bad;"""
    for schedule in Schedule:
        assert not run(body, schedule=schedule).arrays["t"].any()


def test_a_lock_with_a_sleep() -> None:
    text = """__global__ void k(int* lock, int* total) {
        unsigned int ns = 8;
        while (atomicCAS(lock, 0, 1) != 0) {
            __nanosleep(ns);
            if (ns < 256) ns *= 2;
        }
        __threadfence();
        *total += 1;
        __threadfence();
        atomicExch(lock, 0);
    }"""
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    report = simulate(*launch_text(text, grid=3, block=4, lock=lock, total=total))
    assert report.arrays["total"][0] == 12
    assert not report.hazards
    assert ["waits for a lock" in note for note in report.notes] == [True]


@pytest.mark.parametrize("function", ["clock", "clock64"])
def test_a_note_says_what_is_counted(function: str) -> None:
    [note] = run(f"t[g] = {function}();").notes
    assert "count the steps that a thread has executed" in note
    assert "nothing about the time on a GPU" in note
    assert not run("t[g] = i;").notes


def test_the_count_is_that_of_the_steps_of_a_recording() -> None:
    text = """__global__ void k(long long* t) {
    int s = 0;
    for (int j = 0; j < 3; ++j)
        s += j;
    __nanosleep(5);
    t[0] = clock64();
}"""
    recording = record(*launch_text(text, block=1, t=np.zeros(1, np.int64)))
    last = recording.steps[-1]
    assert int(last.outputs["t"][0]) == last.number
    assert narrate.spoken(recording, recording.steps[-2], 0) == ("may sleep for a while.",)
    assert narrate.values(recording, last, 0)[0] == f"t[0] = clock64() = {last.number}"
