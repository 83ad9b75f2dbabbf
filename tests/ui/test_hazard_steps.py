"""The steps that the timeline marks for each kind of hazard."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import compile_kernel, record, simulate
from simulator.launch import Launch
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict.form import LaunchForm
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.scene_model import build_scene_model

# Before a loop over i and within it: the kind of a hazard, and the iterations that are marked.
CASES = [
    ("float sum;", "x[t] = sum; sum = 1;", "uninitialized-read", [0]),
    ("", "x[32 * i + t] = 1;", "out-of-bounds", [1, 2]),
    ("", "*(float2*)(x + 1) = make_float2(1, 2);", "misaligned", [0, 1, 2]),
    ("", "if (t < i) __syncthreads();", "divergent-barrier", [1, 2]),
    ("__shared__ int s[33];", "s[t] = s[t + 1];", "write-after-read", [0, 1, 2]),
    ("", "if (t < 2 * i) __shfl_sync(15, t, 0);", "wrong-mask", [1]),
    ("", "if (t > i) __shfl_sync(__activemask(), t, 0);", "absent-lane", [0]),
    ("", "assert(t < 31 + i);", "failed-assertion", [0]),
    ("", "if (i == 1) __trap();", "trap", [1]),
]

FORM = LaunchForm(("1", "1", "1"), ("32", "1", "1"), "0", ())


@pytest.mark.parametrize(("before", "line", "kind", "marked"), CASES, ids=[c[2] for c in CASES])
def test_the_steps_of_a_hazard(before: str, line: str, kind: str, marked: list[int]) -> None:
    text = f"""#include <cassert>
        __global__ void k(float* x) {{ int t = threadIdx.x; {before}
        for (int i = 0; i < 3; ++i) {{
            {line} }} }}"""
    arguments = {"x": np.zeros(32, np.float32)}
    kernel, launch = compile_kernel(text), Launch((1, 1, 1), (32, 1, 1), arguments)
    hazards = simulate(kernel, launch).hazards
    assert HazardKind(kind) in {one.kind for one in hazards}
    model = build_scene_model(record(kernel, launch), 0, hazards=hazards, form=FORM)
    found = {
        step.loops[0].iteration
        for step, has_hazard in zip(model.recording.steps, steps_with_hazards(model), strict=True)
        if has_hazard
    }
    assert sorted(found) == marked
