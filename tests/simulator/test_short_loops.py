"""Loops of two iterations, one in the other: the time given ends them as it ends a long loop."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Launch, SourceError, compile_kernel, simulate


def test_the_time_given_ends_short_loops_in_each_other() -> None:
    heads = "".join(f"for (int i{n} = 0; i{n} < 2; ++i{n}) " for n in range(40))
    kernel = compile_kernel(f"__global__ void k(float* x) {{ {heads} x[0] += 1; }}", "k")
    launch = Launch((1, 1, 1), (32, 1, 1), {"x": np.zeros(1, np.float32)})
    with pytest.raises(SourceError, match=r"The time given to this run, 0\.2 seconds, is over"):
        simulate(kernel, launch, seconds=0.2)
