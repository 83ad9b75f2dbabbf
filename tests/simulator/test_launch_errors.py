"""Launches that no GPU takes, and arguments that do not fit: each a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import Launch, LaunchError, compile_kernel, record, simulate

TEXT = "__global__ void k(float* x, int n) { __shared__ float s[64]; s[0] = n; x[0] = s[0]; }"
GOOD: dict[str, Any] = {"x": np.zeros(4, np.float32), "n": 1}

TABLE = {
    "too many threads": ((1, 1, 1), (64, 32, 1), 0, GOOD, "2,048 threads"),
    "zero dimension": ((1, 0, 1), (1, 1, 1), 0, GOOD, "has 0 blocks in y"),
    "grid too large": ((1, 70000, 1), (1, 1, 1), 0, GOOD, "has 70,000 blocks in y"),
    "shared memory": ((1, 1, 1), (1, 1, 1), 10**6, GOOD, "1,000,256 bytes of shared memory"),
    "missing": ((1, 1, 1), (1, 1, 1), 0, {"n": 1}, "missing: x"),
    "extra": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"y": 1}, "not among them: y"),
    "wrong type": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"x": np.zeros(4)}, "must hold float32"),
    "number for array": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"x": 3}, "give an array"),
    "array for number": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"n": np.ones(3)}, "give a number"),
    "float for int": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"n": 1.5}, "not a value of that type"),
    "too large a number": ((1, 1, 1), (1, 1, 1), 0, GOOD | {"n": 2**40}, "does not fit"),
}


@pytest.mark.parametrize("case", TABLE)
def test_sentence(case: str) -> None:
    grid, block, shared, arguments, part = TABLE[case]
    kernel = compile_kernel(TEXT, "k")
    with pytest.raises(LaunchError) as error:
        simulate(kernel, Launch(grid, block, arguments, shared))
    assert part in str(error.value)
    assert str(error.value).endswith(".")


def test_block_outside_the_grid() -> None:
    kernel = compile_kernel(TEXT, "k")
    with pytest.raises(LaunchError, match="Block 3 in x is not in the grid"):
        record(kernel, Launch((2, 1, 1), (1, 1, 1), GOOD), (3, 0, 0))
