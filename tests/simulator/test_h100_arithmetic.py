"""half, conversions, roundings and bits: the same as an H100 gave, bit for bit.

h100_arithmetic.json has the inputs' bits and, for each store of h100_arithmetic.cu, what the GPU
stored. Another program compared __hdiv with one rounding there: equal for all 2**32 pairs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, simulate

HERE = Path(__file__).parent
TEXT = (HERE / "h100_arithmetic.cu").read_text()
MEASURED = json.loads((HERE / "h100_arithmetic.json").read_text())
INPUTS = {
    name: np.array(MEASURED["inputs"][name], bits).view(dtype)
    for name, bits, dtype in (
        ("a", np.uint16, np.float16), ("b", np.uint16, np.float16), ("c", np.uint16, np.float16),
        ("f", np.uint32, np.float32), ("d", np.uint64, np.float64),
    )
}  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "inputs", "dtype"), [("half_ops", "abc", np.float16), ("words", "fd", np.int64)]
)
def test_every_result_is_the_gpus(kernel: str, inputs: str, dtype: Any) -> None:
    rows, lanes = len(MEASURED[kernel]), MEASURED["lanes"]
    n = lanes + 1  # the last lane reads its neighbour, which the GPU had elsewhere
    arguments = {name: INPUTS[name] for name in inputs}
    launch = Launch((1, 1, 1), (96, 1, 1), {**arguments, "o": np.zeros(rows * n, dtype), "n": n})
    found = simulate(compile_kernel(TEXT, kernel), launch).arrays["o"].reshape(rows, n)[:, :lanes]
    stores = [line for line in TEXT[TEXT.index(f"void {kernel}(") :].split(";") if "o[k] =" in line]
    for row, expected in enumerate(MEASURED[kernel]):
        ours = _numbers(found[row], stores[row])
        gpus = _numbers(
            np.array(expected, np.uint16 if dtype is np.float16 else np.int64), stores[row]
        )
        bits = f"u{ours.itemsize}"
        same = (ours.view(bits) == gpus.view(bits)) | (np.isnan(ours) & np.isnan(gpus))
        assert same.all(), (stores[row], np.flatnonzero(~same), ours[~same], gpus[~same])


def _numbers(stored: np.ndarray[Any, Any], store: str) -> np.ndarray[Any, Any]:
    """What a row is about: half, the float or double whose bits were stored, or whole numbers.

    NaNs of a row of floats are alike, whatever their other bits.
    """
    if stored.dtype.itemsize == 2:
        return stored.view(np.float16)
    if "__float_as_int" in store:
        return stored.astype(np.int32).view(np.float32)
    return stored.view(np.float64) if "__double_as_longlong" in store else stored
