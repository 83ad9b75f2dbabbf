"""A kernel's functions and those of cuRAND's normal numbers: the bits that an H100 gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, simulate
from simulator.language.ctype import Array
from simulator.machine.compiled_functions import exp, expf, log, logf, quick_expf
from simulator.machine.multifunction_unit import cosine, power_of_two, sine
from simulator.machine.random_numbers import normal_double_pair, normal_pair
from tools.function_bits import EVERY, FUNCTIONS, angles
from tools.short_float_bits import short_digest

MEASURED = json.loads(Path(__file__).with_name("function_bits.json").read_text(encoding="utf-8"))
WORDS = {"normal": 2, "normal_double": 4}  # for a pair of numbers


def of_words(pair: Any, count: int) -> Any:
    return lambda words: np.stack(pair(*(words[i::count] for i in range(count))), 1).reshape(-1)


OURS = {
    "normal": of_words(normal_pair, 2), "normal_double": of_words(normal_double_pair, 4),
    "logf": logf, "expf": expf, "log": log, "exp": exp, "ex2": power_of_two,
    "__expf": quick_expf, "__sinf": sine, "__cosf": cosine,
}  # fmt: skip


def numbers(name: str, bits: list[int], is_given: bool) -> Array:
    if is_given and name in WORDS:
        return np.array(bits, np.uint32)
    is_wide = FUNCTIONS.get(name) == "double" or name == "normal_double"
    return np.array(bits, np.uint64 if is_wide else np.uint32).view(
        np.float64 if is_wide else np.float32
    )


@pytest.mark.parametrize("name", OURS)
def test_every_result_is_the_gpus(name: str) -> None:
    measured = MEASURED["functions"][name]
    found = OURS[name](numbers(name, measured["given"], is_given=True))
    assert short_digest(found) == short_digest(numbers(name, measured["result"], is_given=False))


@pytest.mark.parametrize(("name", "function"), [("sin", sine), ("cos", cosine)])
def test_angles_of_a_turn_have_the_gpus_sine_and_cosine(name: str, function: Any) -> None:
    assert short_digest(function(angles()[name][::EVERY])) == MEASURED["turn"][name]


def test_one_number_is_one_of_many() -> None:
    """Words and exponents that all lanes have alike come as single numbers."""
    words = np.array([[7, 5], [1 << 31, 3 << 30]], np.uint32)
    pairs = np.array([normal_pair(*pair) for pair in words])
    assert np.array_equal(pairs, np.stack(normal_pair(*words.T), 1))
    assert pairs.dtype == np.float32
    with np.errstate(all="ignore"):
        ends = np.array([-np.inf, -1e30, 1e30, np.inf], np.float32)
        assert expf(ends).tolist() == [0, 0, np.inf, np.inf]
        assert exp(ends.astype(np.float64)).tolist() == [0, 0, np.inf, np.inf]


OTHERS = {"expf": np.exp, "logf": np.log, "__expf": np.exp, "__sinf": np.sin, "__cosf": np.cos}


@pytest.mark.parametrize("name", OTHERS)
def test_a_kernels_own_calls_are_the_gpus_where_these_are_known(name: str) -> None:
    """Beyond the measured operands NumPy's function is called, for the same lanes as well."""
    measured = MEASURED["functions"][name]
    given = numbers(name, measured["given"], is_given=True)
    beyond = np.array([np.inf, np.nan, *([-3, 1e-42] if name == "logf" else [])], np.float32)
    x = np.concatenate([given, beyond])
    n = x.size
    text = (
        f"__global__ void k(float* x, int n) {{ int i = blockIdx.x * 256 + threadIdx.x;"
        f" if (i < n) x[i] = {name}(x[i]); }}"
    )
    launch = Launch((-(-n // 256), 1, 1), (256, 1, 1), {"x": x, "n": n})
    found = simulate(compile_kernel(text), launch).arrays["x"]
    expected = numbers(name, measured["result"], is_given=False)
    assert np.array_equal(found[: given.size], expected)
    with np.errstate(all="ignore"):
        assert np.array_equal(found[given.size :], OTHERS[name](beyond), equal_nan=True)
