"""Kernels broken one way each, and the finding that must come out."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, compile_kernel, simulate
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import MOST_HAZARDS
from tests.simulator.launches import launch_text, matmul, run_text


def without_barrier(number: int) -> tuple[tuple[str, str], ...]:
    after = ("__syncthreads();\n\n", ";\n\n") if number == 1 else ("__syncthreads();\n    }", ";}")
    return (after,)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("number", "kind", "pairs"),
    [(1, "read-after-write", {(21, 26), (22, 26)}), (2, "write-after-read", {(26, 21), (26, 22)})],
)
@pytest.mark.parametrize("schedule", ["ascending", "descending", "random"])
def test_missing_barrier(
    number: int, kind: str, pairs: set[tuple[int, int]], schedule: str
) -> None:
    kernel, launch = matmul("tiled", 32, 32, 64, without_barrier(number))
    found = simulate(kernel, launch, schedule).hazards
    races = {hazard.lines for hazard in found if hazard.kind == kind}
    assert races == pairs
    for hazard in found:
        assert hazard.count > 0
        assert f"line {hazard.lines[0]}" in hazard.message


# What hazard_table.toml has not: text, block, then the (kind, lines) found; x is float[32].
TABLE = {
    "clean": ("x[threadIdx.x] = 1;", 32, set()),
    "before the start": ("x[(int)threadIdx.x - 1] = 1;", 32, {("out-of-bounds", (2,))}),
    "guarded": ("x[threadIdx.x / 2] = 1;", 64, set()),
    "unset shared, read twice": (
        "__shared__ float s[32];\nfloat v = s[threadIdx.x];\nx[threadIdx.x] = v + s[threadIdx.x];",
        32, {("uninitialized-read", (3,)), ("uninitialized-read", (4,))}),
    "unset shared, set by the atomic that reads it": (
        "__shared__ int s[32];\natomicAdd(&s[threadIdx.x], 1);\nx[threadIdx.x] = s[threadIdx.x];",
        32, {("uninitialized-read", (3,))}),
    "set in both branches": (
        "float v; if (threadIdx.x > 5) v = 1; else v = 2;\nx[threadIdx.x] = v;", 32, set()),
    **{
        f"an unset variable, {name}": (
            "__shared__ float s[32]; float v; if (threadIdx.x > 5) v = 1;\n" + rest, 32,
            {("uninitialized-read", (line,))} if line else set())
        for name, rest, line in (
            ("copied where nobody reads it",
             "s[threadIdx.x] = v;\nif (threadIdx.x > 5) x[threadIdx.x] = s[threadIdx.x];", 0),
            ("copied and replaced",
             "s[threadIdx.x] = v;\ns[threadIdx.x] = 2;\nx[threadIdx.x] = s[threadIdx.x];", 0),
            ("copied and read", "s[threadIdx.x] = v;\nx[threadIdx.x] = s[threadIdx.x];", 4),
            ("copied and read by another thread", "s[threadIdx.x] = v;\n__syncwarp();\n"
             "if (threadIdx.x > 20) x[threadIdx.x] = s[31 - threadIdx.x];", 5),
            ("copied over what was read before",
             "s[threadIdx.x] = 1;\nfor (int i = 0; i < 2; ++i) {\nx[threadIdx.x] += "
             "s[threadIdx.x];\ns[threadIdx.x] = v;\n}", 5),
            ("copied and summed up", "s[threadIdx.x] = v;\n__syncwarp();\nfloat sum = 0;\n"
             "for (int k = 0; k < 32; ++k) sum += s[k];\nx[threadIdx.x] = sum;", 6),
            ("copied by one thread", "if (threadIdx.x == 3) s[3] = v;\n__syncwarp();\n"
             "if (threadIdx.x == 9) x[9] = s[3];", 5),
            ("copied by one thread over what was read before",
             "s[threadIdx.x] = 1;\nfor (int i = 0; i < 2; ++i) {\nx[threadIdx.x] += "
             "s[threadIdx.x];\nif (threadIdx.x == 3) s[3] = v;\n}", 5),
            ("copied to an array of a thread's own",
             "float a[2]; a[1] = v;\nx[threadIdx.x] = a[1];", 4),
            ("computed with", "s[threadIdx.x] = v + 1;", 3),
            ("that is an index", "int i = v;\ns[i] = 1;", 4),
            ("that is a condition", "if (v > 0) s[threadIdx.x] = 1;", 3),
        )
    },
    "neighbours without a barrier": (
        "__shared__ float s[64];\ns[threadIdx.x] = 1;\n"
        "if (threadIdx.x < 32)\nx[threadIdx.x] = s[threadIdx.x + 32];", 64,
        {("read-after-write", (3, 5)), ("uninitialized-read", (5,))}),
    "two warps store to the same row": (
        "__shared__ float s[32];\ns[threadIdx.x % 32] = threadIdx.x;", 64,
        {("write-after-write", (3, 3))}),
    "neighbours with a barrier": (
        "__shared__ float s[64];\ns[threadIdx.x] = 1;\n__syncthreads();\n"
        "if (threadIdx.x < 32)\nx[threadIdx.x] = s[threadIdx.x + 32];", 64, set()),
    "a store over atomics of an earlier interval, then an atomic": (
        "__shared__ int s[64];\ns[threadIdx.x] = 0;\n__syncthreads();\n"
        "atomicAdd(&s[threadIdx.x ^ 32], 1);\n__syncthreads();\ns[threadIdx.x] = 1;\n"
        "if (threadIdx.x >= 32)\natomicAdd(&s[threadIdx.x ^ 32], 1);", 64,
        {("write-after-write", (7, 9))}),
    "a volatile number between warps": (
        "__shared__ volatile int s;\nif (threadIdx.x == 0)\ns = 1;\n"
        "if (threadIdx.x == 32)\nx[0] = s;", 64, {("read-after-write", (4, 6))}),
    "divergent within a warp": ("if (threadIdx.x < 7)\n__syncthreads();\nx[threadIdx.x] = 1;",
                                32, {("divergent-barrier", (3,))}),
    "a barrier at the end": ("if (threadIdx.x < 7)\n__syncthreads();", 32, set()),
    "barrier by all": ("if (blockIdx.x == 0)\n__syncthreads();", 64, set()),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_finding(case: str) -> None:
    body, block, expected = TABLE[case]
    text = f"__global__ void k(float* x) {{\n{body}\n}}"
    kernel, launch = launch_text(text, block=block, x=np.zeros(32, np.float32))
    found = {(hazard.kind, hazard.lines) for hazard in simulate(kernel, launch).hazards}
    assert found == expected


def test_blocks_that_wait_for_each_other_end_the_intervals_of_their_own_reads() -> None:
    """What a block read is compared with its writes as it comes to a barrier, not as others do."""
    text = """__global__ void k(float* x, int* flag) {
        __shared__ float s[64];
        int i = threadIdx.x;
        s[i] = i;
        __syncthreads();
        for (int k = 0; k < 2; ++k) {
            if (k && blockIdx.x == 0 && i >= 32) while (!atomicAdd(flag, 0));
            if (i < 32) x[i] = s[63 - i];
            else if (k) s[i] = 1;
            __syncthreads();
        }
        if (blockIdx.x == 1 && i == 0) atomicExch(flag, 1);
    }"""
    arrays = {"x": np.zeros(32, np.float32), "flag": np.zeros(1, np.int32)}
    kernel, launch = launch_text(text, grid=2, block=64, **arrays)
    found = [one for one in simulate(kernel, launch).hazards if one.array == "s"]
    assert [(one.kind, one.lines, one.count) for one in found] == [("write-after-read", (8, 9), 64)]


def test_a_barrier_of_another_block_leaves_the_order_of_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They decide, not how many accesses each warp had made: the writer made many."""
    text = """__global__ void k(float* x, int* flag) {
        __shared__ float s[32];
        int i = threadIdx.x, own[2];
        if (i < 32) s[i] = i;
        __syncthreads();
        if (i >= 32) for (int k = 0; k < 99; ++k) own[k % 2] = k;
        if (i >= 32) s[i - 32] = own[0];
        if (blockIdx.x == 0 && i < 32) while (!atomicAdd(flag, 0));
        if (i < 32) x[i] = s[i];
        __syncthreads();
        if (blockIdx.x == 1 && i == 0) atomicExch(flag, 1);
    }"""
    arrays = {"x": np.zeros(32, np.float32), "flag": np.zeros(1, np.int32)}
    monkeypatch.setattr("simulator.observers.hazards.witness.MAX_SECONDS", 0.0)
    kernel, launch = launch_text(text, grid=2, block=64, **arrays)
    found = [one for one in simulate(kernel, launch).hazards if one.array == "s"]
    assert [(one.kind, one.lines, one.count) for one in found] == [("read-after-write", (7, 9), 64)]


# What a warp does before its store, in the line in which another warp reads what it stores.
BEFORE = {
    "nothing": "",
    "an access of shared memory": "q[t] = 1;",
    "an access of a local array": "own[t % 2] = 1;",
    "the loads of a loop": "for (int k = 0; k < 8; ++k) v += q[k];",
    "a copy": "__pipeline_memcpy_async(&c[t], &y[t], 4);",
}


@pytest.mark.parametrize("name", BEFORE)
def test_of_two_accesses_in_a_line_the_warp_with_fewer_accesses_before_comes_first(
    name: str,
) -> None:
    text = f"""__global__ void k(int* x, const int* y) {{
        __shared__ int s[32], q[64], c[32];
        int t = threadIdx.x, v = 0, own[2];
        q[t] = 0;
        __syncthreads();
        if (t < 32) {{ {BEFORE[name]} s[t] = v; }} else x[t] = s[t - 32];
    }}"""
    zeros = np.zeros(64, np.int32)
    [race] = run_text(text, block=64, x=zeros, y=zeros).hazards
    assert race.lines == (6, 6)
    assert race.kind == ("write-after-read" if BEFORE[name] else "read-after-write")


def test_a_copy_after_a_read_is_a_race_for_want_of_a_barrier_not_of_a_wait() -> None:
    text = """__global__ void k(float* x, const float* y) {
        __shared__ float s[64];
        int i = threadIdx.x;
        s[i] = i;
        __syncthreads();
        x[i] = s[63 - i];
        __pipeline_memcpy_async(&s[i], &y[i], 4);
        __syncthreads();
        __pipeline_wait_prior(0);
    }"""
    zeros = np.zeros(64, np.float32)
    [race] = run_text(text, block=64, x=zeros, y=zeros).hazards
    assert race.message == (
        "line 6: thread (32, 0) of block (0, 0) reads s[31], and thread (31, 0) writes it on line "
        "7, with no __syncthreads() between them."
    )


def test_a_read_is_compared_with_later_stores_though_it_is_made_again() -> None:
    text = """__global__ void k(float* x) {
        __shared__ float s[64];
        int i = threadIdx.x;
        s[i] = 1;
        __syncthreads();
        for (int n = 0; n < 2; ++n) {
            x[i] += s[i ^ 32];
            if (n == 0) s[i] = 5;
        }
    }"""
    kernel, launch = launch_text(text, block=64, x=np.zeros(64, np.float32))
    found = simulate(kernel, launch, Schedule.LOCKSTEP).hazards
    assert [(one.kind, one.lines) for one in found] == [
        ("read-after-write", (8, 7)), ("write-after-read", (7, 8))
    ]  # fmt: skip


def test_dropped_accesses_leave_the_rest_alone() -> None:
    text = "__global__ void k(float* x) {\nx[threadIdx.x * 8] = 1;\n}"
    kernel, launch = launch_text(text, x=np.zeros(32, np.float32))
    report = simulate(kernel, launch)
    assert np.flatnonzero(report.arrays["x"]).tolist() == [0, 8, 16, 24]
    (hazard,) = report.hazards
    assert hazard.count == 28
    assert "element 32 of x" in hazard.message


def test_a_race_on_a_shared_number_names_the_lines_that_use_it() -> None:
    text = "__global__ void k(int* x) {\n__shared__ int last;\nif (threadIdx.x == 0)\n"
    text += "last = 1;\nx[threadIdx.x] = last;\n}"
    kernel, launch = launch_text(text, block=64, x=np.zeros(64, np.int32))
    found = simulate(kernel, launch).hazards
    assert {hazard.lines for hazard in found if hazard.array == "last"} == {(4, 5)}


def test_a_report_has_so_many_hazards_and_no_more() -> None:
    """Races are those of pairs of lines: a text of 800 lines had 203,041."""
    lines = "".join(f"    s[(i + {n}) % 64] += {n};\n" for n in range(40))
    text = (
        f"__global__ void k() {{\n    __shared__ int s[64];\n    int i = threadIdx.x;\n{lines}}}\n"
    )
    report = simulate(compile_kernel(text, "k"), Launch((1, 1, 1), (256, 1, 1), {}))
    assert len(report.hazards) == MOST_HAZARDS
    assert f"Of the hazards the first {MOST_HAZARDS} are shown." in report.notes
