"""Loops that never end are told from those that do by what their registers do."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import SourceError, compile_kernel, simulate
from simulator.verdict import experiment
from simulator.verdict.guess import guess_form
from tests.simulator.launches import launch_text

ENDS = (
    "for (int i = 0, j = 0; i < n; i += j) j = 1;",
    "for (int i = 0; i < n; ) { for (int j = 0; j < 2; ++j) i += j; }",
    "int i = 0; do { i = i < 70 ? 70 : i + 1; } while (i < n + 100);",
    "for (int i = 0; i < n; ) { if (x[i] == 0) x[i] = 1; else ++i; }",
    "for (int i = 0; i < n; ) { int j = (int)x[0]; x[0] += 1; if (j > 80) i = n; }",
    "int i = 0, wait = 0; while (i < n) { wait = wait + 1; if (wait > 70) i = n; }",
    "for (int i = 0; i < n; ) { x[0] += 1; if (x[0] > 80) break; }",
    "for (float d = 1; d > 0; d /= 2) x[0] += 1;",
    "int i = 0; while (i < n) { int m = i; m = m + 1; i = m; }",
)


@pytest.mark.parametrize("loop", ENDS)
def test_a_loop_that_ends_is_not_refused(loop: str) -> None:
    kernel, launch = launch_text(f"__global__ void k(float* x, int n) {{ {loop} }}",
                                 x=np.zeros(64, np.float32), n=9)  # fmt: skip
    simulate(kernel, launch, seconds=5)


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("for (int i = 0; i < n; ) x[0] += 1;", "since nothing in it changes i."),
        ("while (n > 0) x[0] += 1;", "since nothing in it changes n."),
        ("int i = 0; do x[0] += 1; while (i < n);", "since nothing in it changes i."),
        ("for (int i = 0; i < n; i *= 2) x[i] += 1;", "after 1 iteration i no longer changes"),
        ("for (int d = 64; d >= 0; d /= 2) x[d % 64] += 1;", "after 64 iterations d no longer"),
        ("for (int i = 0; i < n; ) { int j = i; for (int k = 0; k < 3; ++k) j = i; i = j; }",
         "after 1 iteration i no longer changes"),
    ],
)  # fmt: skip
def test_a_loop_whose_registers_no_longer_change_is_refused(loop: str, why: str) -> None:
    kernel, launch = launch_text(f"__global__ void k(float* x, int n) {{ {loop} }}",
                                 x=np.zeros(64, np.float32), n=9)  # fmt: skip
    with pytest.raises(SourceError, match="This loop never ends") as error:
        simulate(kernel, launch, seconds=60)
    assert why in error.value.message


def test_a_guess_ends_with_the_first_block_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = experiment.Machine.run

    def counting(self: experiment.Machine, blocks: np.ndarray | None = None) -> None:
        runs.append(blocks)
        run(self, blocks)

    monkeypatch.setattr(experiment.Machine, "run", counting)
    for module in ("probe", "experiment"):
        monkeypatch.setattr(f"simulator.verdict.{module}.BLOCK_SECONDS", 0.05)
    text = """__global__ void product(const float* A, const float* B, float* C, int n) {
        int row = blockIdx.y * blockDim.y + threadIdx.y;
        int col = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0;
        for (int k = 0; k < n; --k) sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
    }"""
    form = guess_form(text, compile_kernel(text))
    assert form.task == ""
    assert len(runs) == 1
