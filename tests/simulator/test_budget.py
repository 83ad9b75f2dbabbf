"""The time that a run may take: finite loops end, and the message says what was done."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from simulator import Launch, LaunchError, SourceError, compile_kernel, simulate
from simulator.__main__ import main
from simulator.machine import budget
from simulator.machine.budget import Budget, Progress
from tests.simulator.launches import launch_text
from tools.benchmarks.simulator_speed import MANDELBROT

FOR_EVER = "for (int i = 0; i < n; --i) x[0] += 1;"


def test_a_loop_of_one_thread_over_many_elements_ends() -> None:
    count = 16_384
    text = """__global__ void k(const int* x, int* y, int n) {
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < n; ++i) sum += x[i];
            *y = sum;
        }
    }"""
    x = np.arange(count, dtype=np.int32) % 1000
    report = simulate(*launch_text(text, x=x, y=np.zeros(1, np.int32), n=count))
    assert report.arrays["y"][0] == x.sum()


def test_a_loop_without_a_counter_ends_after_many_iterations() -> None:
    text = """__global__ void k(int* x, unsigned n) {
        unsigned steps = 0;
        while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; }
        x[threadIdx.x] = steps;
    }"""
    steps, n = 0, 837_799
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    launch = launch_text(text, block=1, x=np.zeros(1, np.int32), n=837_799)
    assert simulate(*launch).arrays["x"][0] == steps == 524


def test_the_time_given_ends_short_loops_in_each_other() -> None:
    heads = "".join(f"for (int i{n} = 0; i{n} < 2; ++i{n}) " for n in range(40))
    text = f"__global__ void k(float* x) {{ {heads} x[0] += 1; }}"
    launch = launch_text(text, x=np.zeros(1, np.float32))
    with pytest.raises(SourceError, match=r"The time given to this run, 0\.2 seconds, has run out"):
        simulate(*launch, seconds=0.2)


@pytest.mark.deep
def test_mandelbrot_ends() -> None:
    w, limit = 64, 1000
    out = np.zeros((w, w), np.int32)
    launch = Launch((4, 4, 1), (16, 16, 1), {"out": out, "w": w, "limit": limit})
    counts = simulate(compile_kernel(MANDELBROT, "k"), launch).arrays["out"]
    at = -2 + 3 * np.arange(w) / w
    c = at[None, :] + 1j * (-1.5 + 3 * np.arange(w)[:, None] / w)
    z, expected = np.zeros_like(c), np.zeros((w, w), np.int32)
    for _ in range(limit):
        inside = np.abs(z) < 2
        expected[inside] += 1
        z[inside] = z[inside] ** 2 + c[inside]
    assert (counts == expected).mean() > 0.98  # the border depends on the rounding
    assert (counts == limit).sum() > 500


def test_the_message_says_what_was_done() -> None:
    text = f"__global__ void k(float* x, int n) {{\nif (blockIdx.x == 300)\n{FOR_EVER}\n}}"
    kernel, launch = launch_text(text, grid=400, x=np.zeros(1, np.float32), n=4)
    with pytest.raises(SourceError) as error:
        simulate(kernel, launch, seconds=0.3)
    message = error.value.message
    assert re.search(r"this run, 0\.3 seconds, has run out: 256 of 400 blocks are done; the loop "
                     r"of line 3 is in iteration [\d,]+\. Give it more time or a smaller launch\. "
                     r"Does the loop's condition ever fail\?$", message), message  # fmt: skip
    assert error.value.span is not None
    assert error.value.span.line == 3


def test_the_most_blocks_end_in_time_though_they_do_nothing() -> None:
    launch = launch_text("__global__ void k() {}", grid=67_000_000, block=1)
    with pytest.raises(
        LaunchError, match=r"0\.05 seconds, has run out: [\d,]+ of 67,000,000 blocks"
    ):
        simulate(*launch, seconds=0.05)


def test_nested_loops_share_the_time() -> None:
    text = """__global__ void k(float* x, int n) {
for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
        for (int c = 0; c < 10; ++c)
            x[threadIdx.x] += c;
}"""
    kernel, launch = launch_text(text, x=np.zeros(32, np.float32), n=10_000)
    with pytest.raises(SourceError) as error:
        simulate(kernel, launch, seconds=0.3)
    message = error.value.message
    assert "within iteration" in message
    assert "ever fail" not in message, "a counter ends each of them"


@pytest.mark.parametrize("barrier", ["", " __syncthreads();"])
def test_time_is_looked_at_between_statements_without_a_loop(barrier: str) -> None:
    statements = "\n".join(f"x[threadIdx.x] += {i};{barrier}" for i in range(40))
    launch = launch_text(
        f"__global__ void k(float* x) {{\n{statements}\n}}", x=np.zeros(32, np.float32)
    )
    with pytest.raises(LaunchError, match=r"0 seconds, has run out: 0 of 1 blocks"):
        simulate(*launch, seconds=0)


def test_time_is_looked_at_between_chunks_of_blocks() -> None:
    text = "__global__ void k(float* x) { x[blockIdx.x * 32 + threadIdx.x] = 1; }"
    kernel, launch = launch_text(text, grid=1000, x=np.zeros(32_000, np.float32))
    with pytest.raises(LaunchError, match=r"256 of 1,000 blocks are done\. Give it more time"):
        simulate(kernel, launch, seconds=1e-6)


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "REPORT_SECONDS", 0.0)
    seen: list[Progress] = []
    text = """__global__ void k(float* x) {
for (int i = 0; i < 100; ++i)
    x[blockIdx.x] += i;
}"""
    kernel, launch = launch_text(text, grid=400, x=np.zeros(400, np.float32))
    simulate(kernel, launch, on_progress=seen.append)
    assert {progress.blocks_done for progress in seen} == {0, 256}
    assert {progress.blocks for progress in seen} == {400}
    assert {progress.line for progress in seen} == {2, None}
    assert max(progress.iterations for progress in seen) == (96,)
    assert seen[0].sentence == "0 of 400 blocks are done; the loop of line 2 is in iteration 17"


def test_a_process_that_waits_for_a_processor_has_its_time_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "REPORT_SECONDS", 0.0)
    text = "__global__ void k(float* x) { for (int i = 0; i < 64; ++i) x[threadIdx.x] += i; }"
    kernel, launch = launch_text(text, x=np.zeros(32, np.float32))
    report = simulate(kernel, launch, seconds=0.5, on_progress=lambda _: time.sleep(0.3))
    assert report.seconds > 0.9


def test_a_run_that_only_waits_ends_too_and_says_that_the_machine_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "SLOWEST", 10.0)
    monkeypatch.setattr(budget, "REPORT_SECONDS", 0.0)
    text = "__global__ void k(float* x) { for (int i = 0; i < 99; ++i) x[threadIdx.x] += i; }"
    kernel, launch = launch_text(text, x=np.zeros(32, np.float32))
    with pytest.raises(SourceError, match="This machine is busy; try again in a moment") as error:
        simulate(kernel, launch, seconds=0.1, on_progress=lambda _: time.sleep(0.5))
    assert error.value.depends_on_machine


def test_no_report_in_the_first_second() -> None:
    seen: list[Progress] = []
    Budget(10, 1, seen.append).check()
    assert not seen


def test_progress_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "REPORT_SECONDS", 0.1)
    file = tmp_path / "k.cu"
    file.write_text(f"__global__ void k(float* x, int n) {{ {FOR_EVER} }}", encoding="utf-8")
    command = [str(file), "--kernel", "k", "--grid", "1", "--block", "32", "f32:4", "i32=4"]
    assert main([*command, "--seconds", "0.5"]) == 2
    lines = capsys.readouterr().err.splitlines()
    *progress, error = [line for line in lines if not line.startswith("    ")]
    assert progress
    assert all(re.match(r"\d+ s: 0 of 1 blocks", line) for line in progress)
    assert error.startswith(
        "line 1, column 38: The time given to this run, 0.5 seconds, has run out"
    )
