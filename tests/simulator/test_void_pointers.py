"""A kernel's parameter that is void*: the array decides what memory holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import LaunchError, narrate, record, simulate
from tests.simulator.launches import launch_text

ADD_ONE = """__global__ void k(void* data, const void* from) {
    float4* to = (float4*)data;
    float4 v = static_cast<const float4*>(from)[threadIdx.x];
    v.x += 1;
    to[threadIdx.x] = v;
}"""


def test_values_and_counters() -> None:
    given = np.arange(128, dtype=np.float32).reshape(32, 4)
    report = simulate(*launch_text(ADD_ONE, data=np.zeros_like(given), **{"from": given}))
    assert (report.arrays["data"] - given).tolist() == [[1, 0, 0, 0]] * 32
    assert not report.hazards
    assert report.counters["global_load_sectors"] == 16


def test_a_step_is_told() -> None:
    given = np.ones((32, 4), np.float32)
    recording = record(*launch_text(ADD_ONE, data=given, **{"from": given}))
    sentences = narrate.spoken(recording, recording.steps[-1], 0)
    assert "stores v = (2, 1, 1, 1) in data[0], in global memory." in sentences


def test_an_access_outside_is_found() -> None:
    text = "__global__ void k(void* x) { ((int*)x)[threadIdx.x] = 1; }"
    report = simulate(*launch_text(text, x=np.zeros(20, np.int32)))
    assert [str(hazard.kind) for hazard in report.hazards] == ["out-of-bounds"]


@pytest.mark.parametrize("value", [3, np.array(["a"])])
def test_what_is_no_array_of_numbers_is_refused(value: Any) -> None:
    text = "__global__ void k(void* x) { *(int*)x = 1; }"
    with pytest.raises(LaunchError, match=r"x is void\*: give an array of numbers of any type"):
        simulate(*launch_text(text, x=value))
