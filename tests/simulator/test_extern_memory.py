"""One extern shared array, cut into arrays of several types by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import simulate
from simulator.launch import Launch
from tests.simulator.launches import launch_text

CUT = """extern __shared__ int s[];
__global__ void k(int* out) {
    TYPE* narrow = (TYPE*)&s[blockDim.x];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = 1000 * t;
    narrow[t] = t % 100;
    BARRIER
    out[t] = s[n - 1 - t] + narrow[n - 1 - t];
}"""


@pytest.mark.parametrize(("narrow", "size"), [("char", 1), ("short", 2), ("float", 4)])
@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
def test_neighbours_in_one_int_do_not_race(narrow: str, size: int, barrier: str) -> None:
    text = CUT.replace("TYPE", narrow).replace("BARRIER", barrier)
    kernel, launch = launch_text(text, block=64, out=np.zeros(64, np.int32))
    launch = Launch(launch.grid, launch.block, launch.arguments, 64 * (4 + size))
    report = simulate(kernel, launch)
    kinds = {str(hazard.kind) for hazard in report.hazards}
    if barrier:
        assert not kinds
        turned = np.arange(63, -1, -1)
        assert report.arrays["out"].tolist() == (1000 * turned + turned % 100).tolist()
    else:
        assert kinds == {"read-after-write", "uninitialized-read"}
