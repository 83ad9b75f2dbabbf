"""Notes: what is worth a look and no fault, so that a run with notes alone ends well."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator import Report, simulate
from simulator.__main__ import main
from tests.simulator.launches import launch_text


def run(body: str, block: int = 64, schedule: str = "ascending", grid: int = 1) -> Report:
    """A kernel's body on lines 2 and on, with an array x of zeros."""
    text = f"__global__ void k(float* x) {{\n{body}\n}}"
    return simulate(
        *launch_text(text, grid=grid, block=block, x=np.zeros(256, np.float32)), schedule
    )


def test_an_update_that_is_lost_is_no_store_of_the_same_value() -> None:
    report = run("x[0] = x[0] + 1;", block=32)
    assert [hazard.kind.value for hazard in report.hazards] == ["write-after-read"]
    assert not report.notes


SAME_VALUE = {
    "all threads of a line": ("x[0] = 1;", 1),
    "two lines": ("if (threadIdx.x < 32) x[0] = 1;\nelse x[0] = 1;", 1),
    "shared memory": ("__shared__ int any; any = 1;\n__syncthreads();\nx[0] = any;", 1),
    "vectors": ("((float4*)x)[0] = make_float4(1, 2, 3, 4);", 1),
    "blocks": ("x[threadIdx.x] = 3;", 2),
}


@pytest.mark.parametrize("schedule", ["ascending", "descending", "random"])
@pytest.mark.parametrize("name", SAME_VALUE)
def test_one_value_from_all_threads_is_a_note(name: str, schedule: str) -> None:
    body, grid = SAME_VALUE[name]
    report = run(body, schedule=schedule, grid=grid)
    assert not report.hazards
    assert report.notes
    assert all("the same value" in note for note in report.notes)


@pytest.mark.parametrize(
    "body",
    [
        "x[0] = threadIdx.x;",
        "x[0] = threadIdx.x / 32;",  # the same within a warp
        "x[0] = 1;\nif (threadIdx.x == 5) x[0] = 2;",
        "if (threadIdx.x == 40) x[0] = -0.0f;\nelse x[0] = 0.0f;",
        "((float4*)x)[0] = make_float4(1, 2, 3, threadIdx.x);",
    ],
)
def test_different_values_are_a_hazard(body: str) -> None:
    assert "write-after-write" in {hazard.kind for hazard in run(body).hazards}


def test_a_thread_that_reads_one_value_from_all_is_in_a_race() -> None:
    report = run("x[0] = 1;\nx[threadIdx.x + 1] = x[0];")
    assert [(hazard.kind.value, hazard.lines) for hazard in report.hazards] == [
        ("read-after-write", (2, 3))
    ]


COPIES = {
    "a declaration": ("float a; float b = a;", "copies a", 2),
    "an assignment": ("float a; float b;\nb = a;", "copies a", 3),
    "a conversion": ("int a; float b = a;", "copies a", 2),
    "a vector": ("float4 a; float4 b = a;", "copies a", 2),
    "some threads": ("float a; if (threadIdx.x > 3) a = 1;\nfloat b = a;", "copies a", 3),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_without_a_value_is_a_note(name: str) -> None:
    body, part, line = COPIES[name]
    report = run(body)
    assert not report.hazards
    [note] = report.notes
    assert note.startswith(f"line {line}: thread (0, 0) of block (0, 0) {part}")


USES = {
    "stored": "x[0] = b;",
    "added to": "b += 1;",
    "a condition": "if (b > 0) x[0] = 1;",
    "an index": "x[(int)b] = 1;",
    "copied once more": "float c = b;\nx[threadIdx.x] = c;",
}


@pytest.mark.parametrize("name", USES)
def test_the_use_of_a_copy_without_a_value_is_a_hazard(name: str) -> None:
    report = run(f"float a; float b = a;\n{USES[name]}")
    assert {hazard.kind.value for hazard in report.hazards} >= {"uninitialized-read"}
    first = next(h for h in report.hazards if h.kind.value == "uninitialized-read")
    assert first.array in ("b", "c")


def test_a_copy_has_a_value_in_the_threads_that_set_it() -> None:
    body = "float a; if (threadIdx.x > 3) a = 1;\nfloat b = a;\n{use} x[threadIdx.x] = b;"
    assert not run(body.format(use="if (threadIdx.x > 3)")).hazards
    [hazard] = run(body.format(use="")).hazards
    assert (hazard.array, hazard.count, hazard.lines) == ("b", 4, (4,))


def test_a_function_must_return_a_value() -> None:
    text = """__device__ float f() { float r; return r; }
    __global__ void k(float* x) { float a = f(); }"""
    report = simulate(*launch_text(text, x=np.zeros(4, np.float32)))
    assert [hazard.array for hazard in report.hazards] == ["r"]


BODY_AFTER_RETURN = "if (threadIdx.x >= {n}) return;\n__syncthreads();\nx[threadIdx.x] = 1;"


@pytest.mark.parametrize("n", [1, 40, 64])
def test_a_barrier_does_not_wait_for_ended_threads(n: int) -> None:
    report = run(BODY_AFTER_RETURN.format(n=n), block=96)
    assert not report.hazards
    [note] = report.notes
    assert note.startswith(
        f"line 3: {96 - n} of the 96 threads of block (0, 0) end without reaching this"
    )


def test_no_note_where_all_threads_arrive() -> None:
    assert run(BODY_AFTER_RETURN.format(n=96), block=96).notes == ()


def test_values_go_over_the_barrier_that_fewer_threads_reach() -> None:
    body = """__shared__ float s[64];
    if (threadIdx.x >= 50) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[49 - threadIdx.x];"""
    for schedule in ("ascending", "descending", "random"):
        report = run(body, schedule=schedule)
        assert not report.hazards
        assert report.arrays["x"][:50].tolist() == list(range(49, -1, -1))


TWO_BARRIERS = """__shared__ float s[64];
if (threadIdx.x < 32) {
    s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + 32];
} else {
    s[threadIdx.x] = 2;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x - 32];
}"""


@pytest.mark.parametrize("schedule", ["ascending", "descending"])
def test_arrivals_at_two_barriers_are_counted_together(schedule: str) -> None:
    report = run(TWO_BARRIERS, schedule=schedule)
    assert report.arrays["x"][:64].tolist() == [2.0] * 32 + [1.0] * 32
    # compute-sanitizer's synccheck finds both barriers divergent, and no access races.
    assert {(hazard.kind.value, hazard.lines) for hazard in report.hazards} == {
        ("divergent-barrier", (5,)),
        ("divergent-barrier", (9,)),
    }


def test_lanes_of_a_warp_that_go_on_are_still_missing() -> None:
    report = run("if (threadIdx.x < 7) __syncthreads();\nx[threadIdx.x] = 1;")
    assert [hazard.kind.value for hazard in report.hazards] == ["divergent-barrier"]


LOCK = """while (atomicCAS((int*)x, 0, 1) != 0) {}
x[1] += 1;
__threadfence();
atomicExch((int*)x, 0);"""


@pytest.mark.parametrize("alone", ["if (threadIdx.x == 0) ", "if (0 == threadIdx.x) "])
def test_a_lock_within_a_warp_ends_since_volta(alone: str) -> None:
    report = run(LOCK)
    assert report.arrays["x"][1] == 64
    assert not report.hazards
    assert any("Line 2 waits for a lock" in note and "Volta" in note for note in report.notes)
    assert not any("Volta" in note for note in run(f"{alone}{{ {LOCK} }}").notes)


def test_notes_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.cu"
    file.write_text("__global__ void k(float* x) { x[0] = 1; }", encoding="utf-8")
    command = [str(file), "--kernel", "k", "--grid", "1", "--block", "32", "f32:4"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "note: line 1: thread " in output
    assert "no hazards" in output
    assert main([*command, "--json"]) == 0
    [note] = json.loads(capsys.readouterr().out)["notes"]
    assert "store the same value in x[0]" in note
