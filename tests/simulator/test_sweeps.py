"""Loops whose loads are made ahead give the report that they give an iteration at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from simulator import Report, simulate
from simulator.machine.sweeps import SweptLoop
from tests.simulator.launches import launch_text

BLOCK = 48  # threads: a whole warp and a partial one
# Bodies of a kernel of x, y and n, with s shared; whether their loop's loads are made ahead.
BODIES: Mapping[str, tuple[str, bool]] = {
    "a product of a row and a column": (
        "float a = 0; for (int k = 0; k < n; ++k) a += x[t / 16 * n + k] * x[k * 16 + t % 16];"
        "y[t] = a;", True,
    ),
    "one thread": (
        "if (t == 3) { float a = 0; for (int k = 9; k >= 2; k -= 1) a -= x[k]; y[t] = a; }", True,
    ),
    "an edge": (
        "float a = 0; if (t < 40) for (int k = 0; k < n; ++k) a += x[472 + t + k]; y[t] = a;",
        False,
    ),
    "lanes beyond the edge are idle": (
        "float a = 0; if (t < 33) for (int k = 0; k < n; ++k) a += x[464 + t + k]; y[t] = a;", True,
    ),
    "a race with later stores": (
        "float a = 0; for (int k = 0; k < n; ++k) a += s[k]; s[t] = a; y[t] = a;", True,
    ),
    "a race with earlier stores": (
        "s[t] = t; float a = 0; for (int k = 0; k < n; ++k) a += s[k]; y[t] = a;", True,
    ),
    "set cells and unset ones": (
        "if (t < 8) s[t] = t; __syncthreads(); float a = 0;"
        "for (int k = 0; k < n; ++k) a += s[k]; y[t] = a;", True,
    ),
    "a variable without a value": (
        "float a; for (int k = 0; k < n; ++k) a += x[k]; y[t] = a;", False,
    ),
    "lanes that move by different amounts": (
        "float a = 0; for (int k = 0; k < n; ++k) a += x[t % 8 * k]; y[t] = a;", False,
    ),
    "a counter that is beyond its type's range": (
        "float a = 0; for (int k = 256; (unsigned char)k < 8; ++k) a += x[k]; y[t] = a;", False,
    ),
    "bounds that differ": ("float a = 0; for (int k = 0; k < t; ++k) a += x[k]; y[t] = a;", False),
    "vectors and choices": (
        "float a = 0; const float4* v = (const float4*)x; for (unsigned k = 1; k <= 8u; k += 2) {"
        "float4 w = v[k]; if (w.x > w.y) a += w.z; else a = a * w.w; } y[t] = a;", True,
    ),
}  # fmt: skip


def report(body: str) -> Report:
    text = (
        "__global__ void k(const float* x, float* y, int n) {"
        f"__shared__ float s[64]; int t = threadIdx.x; {body} }}"
    )
    x = np.random.default_rng(5).standard_normal(512, dtype=np.float32)
    return simulate(*launch_text(text, grid=3, block=BLOCK, x=x, y=np.zeros(BLOCK, "f4"), n=12))


@pytest.mark.parametrize("name", BODIES)
def test_report_is_that_of_one_iteration_at_a_time(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, is_swept = BODIES[name]
    run, taken = SweptLoop.run, []

    def noting(*given: object) -> bool:
        taken.append(run(*given))  # type: ignore[arg-type]
        return taken[-1]

    monkeypatch.setattr(SweptLoop, "run", noting)
    swept = report(body)
    assert any(taken) == is_swept
    monkeypatch.setattr(SweptLoop, "run", lambda *_: False)
    apart = report(body)
    assert (swept.lines, swept.hazards, swept.notes) == (apart.lines, apart.hazards, apart.notes)
    assert np.array_equal(swept.arrays["y"].view("i4"), apart.arrays["y"].view("i4"))
