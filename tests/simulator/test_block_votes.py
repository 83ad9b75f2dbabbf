"""__syncthreads_and, _or and _count: values, the rules of a barrier, and how steps show a vote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Report, SourceError, compile_kernel, narrate, record, simulate
from simulator.language.tree import Barrier
from simulator.machine.schedule import Schedule
from tests.simulator.launches import launch_text

THREADS, BLOCKS = 96, 3
I = np.tile(np.arange(THREADS), BLOCKS)  # noqa: E741  # threadIdx.x
B = np.repeat(np.arange(BLOCKS), THREADS)  # blockIdx.x


def run(body: str, before: str = "", schedule: str = "ascending") -> Report:
    """A kernel with thread i of block b, and x[g] for each thread of the grid."""
    text = f"""{before}
__global__ void k(int* x) {{
    int i = threadIdx.x, b = blockIdx.x, g = b * {THREADS} + i;
    {body}
}}"""
    x = np.zeros(THREADS * BLOCKS, np.int32)
    kernel, launch = launch_text(text, grid=BLOCKS, block=THREADS, x=x)
    return simulate(kernel, launch, Schedule(schedule))


WAITING = """
__device__ int sum(int* s, int v) {
    atomicAdd(s, v);
    __syncthreads();
    int total = *s;
    __syncthreads();
    return total;
}
__device__ int both(int v) { return __syncthreads_and(v) + __syncthreads_or(v); }
"""

# body, and x after it
VALUES: dict[str, tuple[str, Any]] = {
    "count": ("x[g] = __syncthreads_count(i % 5 == b);", 20 - (B > 0)),
    "and": ("x[g] = 5 + __syncthreads_and(i < 95 + b);", 5 + (B > 0)),
    "or": ("x[g] = 5 + __syncthreads_or(i == 95 && b == 2);", 5 + (B == 2)),
    "any number but 0 is a yes": ("x[g] = __syncthreads_count(i % 4 - 2) + 1000 *"
                                  " __syncthreads_or(i << 8);", np.full(I.size, 72 + 1000)),
    "alone": ("__syncthreads_or(i); (void)__syncthreads_count(i); x[g] = 1;", np.ones(I.size)),
    "in one expression": ("x[g] = __syncthreads_count(i > b) * 100 - __syncthreads_count(i < b);",
                          (95 - B) * 100 - B),
    "within another": ("x[g] = !__syncthreads_or(__syncthreads_count(i > 90) != 5);",
                       np.ones(I.size)),
    "if": ("if (__syncthreads_or(i == 7 && b == 1)) x[g] = 1; else x[g] = 2;", 2 - (B == 1)),
    "switch": ("switch (__syncthreads_count(i == 0 || i <= b)) { case 2: x[g] = 20; break;"
               " default: x[g] = 3; }", np.where(B == 1, 20, 3)),
    "ternary": ("x[g] = __syncthreads_and(b) ? i : -i;", np.where(B > 0, I, -I)),
    "while": ("int n = 0; while (__syncthreads_or(n < i / 40 + b)) { ++n; if (i % 2) continue;"
              " x[g] = n; }", np.where(I % 2, 0, 2 + B)),
    "do": ("int n = 0; do { if (++n > i % 7 + b) continue; x[g] = n; }"
           " while (__syncthreads_count(n < i % 7 + b) > 0);", I % 7 + B),
    "for": ("for (int n = 0; __syncthreads_or(n < b); n++) x[g] += n;", B * (B - 1) // 2),
    "a loop that only some leave": ("int n = 0; while (__syncthreads_or(n < i)) { if (n++ == b + i"
                                    " % 2) return; x[g]++; }", np.where(I % 2, B + 1, B)),
    "of shared cells": ("__shared__ int s[96]; s[i] = i;"
                        " x[g] = __syncthreads_or(i == 0) * s[95 - i];", 95 - I),
    "returned": ("x[g] = both(i < 95 + b);", np.where(B > 0, 2, 1)),
    "as an argument": ("x[g] = both(__syncthreads_count(i < 30 * b) > 50);", (B == 2) * 2),
    "in an array's first values": ("int a[2] = {1, __syncthreads_count(i < 3)}; x[g] = a[1];",
                                   np.full(I.size, 3)),
    "in a struct's first values": ("struct P { int a, b; }; P p = {1, __syncthreads_count(i < 3)};"
                                   " x[g] = p.b;", np.full(I.size, 3)),
    "of a variable with an address": ("int n = __syncthreads_count(i < 3), *p = &n; *p += 1; x[g]"
                                      " = n;", np.full(I.size, 4)),
    "behind &&": ("x[g] = b > 0 && __syncthreads_or(i == 7 && b == 2);", B == 2),
    "behind ||": ("if (b == 2 || both(i < 95) > 1) x[g] = 1;", B == 2),
    "behind ?:": ("x[g] = b ? i : i + __syncthreads_count(i < 9);", I + 9 * (B == 0)),
    "behind a comma": ("x[g] = (i += b, __syncthreads_count(i > 94));", 1 + B),
    "compound": ("x[g] = i; x[g] += __syncthreads_count(i == b);", I + 1),
    "a function with a barrier in a condition": (
        "__shared__ int s; if (!i) s = b; __syncthreads(); if (sum(&s, i == 3) == 2) x[g] = 1;"
        " int n = 0; while (sum(&s, 1) < 300) n++; x[g] += n * 10;",
        (B == 1) + 30),
}  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, schedule: Schedule) -> None:
    body, expected = VALUES[name]
    report = run(body, WAITING, schedule)
    assert report.arrays["x"].tolist() == np.asarray(expected).astype(int).tolist()
    assert not report.hazards


def test_ended_threads_have_no_vote() -> None:
    report = run(
        "if (i >= 50) return;\nx[g] = __syncthreads_count(1) + 100 * __syncthreads_and(1);"
    )
    assert report.arrays["x"].tolist() == np.where(I < 50, 150, 0).tolist()


@pytest.mark.parametrize("schedule", list(Schedule))
def test_a_vote_orders_accesses_as_a_barrier_does(schedule: Schedule) -> None:
    body = "__shared__ int s[96]; s[i] = i; {vote} x[g] = s[95 - i];"
    clean = run(body.format(vote="int n = __syncthreads_count(s[i] == i);"), schedule=schedule)
    assert not clean.hazards
    assert clean.arrays["x"].tolist() == (95 - I).tolist()
    if schedule is not Schedule.LOCKSTEP:
        kinds = {str(h.kind) for h in run(body.format(vote=""), schedule=schedule).hazards}
        assert "uninitialized-read" in kinds or "read-after-write" in kinds


def test_what_a_thread_votes_by_is_read_before_the_barrier() -> None:
    body = "__shared__ int s[96]; s[i] = i; int n = __syncthreads_or(s[95 - i] == 3); x[g] = n;"
    [hazard, *_] = run(body).hazards
    assert hazard.array == "s"
    assert hazard.lines == (4,)


def test_a_vote_that_only_some_threads_reach_is_divergent() -> None:
    report = run("int n = 0;\nif (i < 40) n = __syncthreads_count(i < 30);\nx[g] = n;")
    assert [str(hazard.kind) for hazard in report.hazards] == ["divergent-barrier"]
    assert report.hazards[0].message.startswith(
        "line 5: __syncthreads_count() is reached by only 40 of the 96 threads of block (0, 0); "
    )
    assert report.arrays["x"].tolist() == np.where(I < 40, 30, 0).tolist()


def test_a_vote_that_some_threads_skip_is_a_divergent_barrier() -> None:
    [hazard] = run("x[g] = i < 40 && __syncthreads_or(1);").hazards
    assert str(hazard.kind) == "divergent-barrier"


def test_ended_threads_are_noted() -> None:
    [note] = run("if (i >= 50) return; x[g] = __syncthreads_or(i == 3);").notes
    assert "end without reaching this __syncthreads_or(). " in note


REFUSED = {
    "for (int n = 0; n < 3; n += __syncthreads_or(i)) x[g]++;": "a statement of its own",
    "for (int n = __syncthreads_or(i); n < 3; n++) x[g]++;": "before the loop",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused_where_not_all_threads_may_come(body: str) -> None:
    with pytest.raises(SourceError) as error:
        run(body, WAITING)
    assert REFUSED[body] in error.value.message
    assert error.value.span is not None


def test_a_step_says_how_a_thread_votes() -> None:
    text = """__global__ void k(int* x) {
    int i = threadIdx.x, n;
    while (__syncthreads_or(x[i] < 3))
        x[i]++;
    n = __syncthreads_count(x[i] > 3);
    x[i] = n;
}"""
    recording = record(*launch_text(text, block=4, x=np.array([2, 3, 4, 5], np.int32)))
    votes = [step for step in recording.steps if isinstance(step.statement, Barrier)]
    assert [step.line for step in votes] == [3, 3, 5]
    assert [step.interval for step in votes] == [0, 1, 2]
    assert narrate.values(recording, votes[0], 0) == ("2 < 3 is a yes",)
    assert narrate.values(recording, votes[0], 1) == ("3 < 3 is a no",)
    assert narrate.spoken(recording, votes[2], 1) == (
        "votes yes and reaches the barrier: all 4 threads of the block are there and go on.",
        "votes yes and reaches the barrier: all are there and go on.",
    )
    tests = [step for step in recording.steps if str(step.kind) == "test"]
    assert [narrate.spoken(recording, step, 0)[0] for step in tests] == [
        "tests 1: true, so the loop goes on.",
        "tests 0: false, so the loop ends.",
    ]
    assert recording.steps[-1].outputs["x"].tolist() == [3] * 4


@pytest.mark.parametrize(("predicate", "fused"), [("p > 1.0f", 0), ("threadIdx.x > 3", 1)])
def test_a_product_fuses_over_a_vote_that_does_not_use_it(predicate: str, fused: int) -> None:
    """As nvcc 13 has it: mul and add for a product with two uses, else fma."""
    text = f"""__global__ void k(float* x) {{
    float p = x[threadIdx.x] * x[threadIdx.x];
    float n = __syncthreads_count({predicate});
    x[threadIdx.x] = p + n;
}}"""
    assert len(compile_kernel(text, "k").contractions.sums) == fused
