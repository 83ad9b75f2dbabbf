"""The sentences about hazards, whole."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.launch import format_index
from simulator.sentences.hazards import other_read, other_result, witness
from tests.simulator.launches import run_text

READ = other_read("(3, 1)", "As[1][3]", 8, 1, 9)
OUTPUT = other_result("C[0][3]", -2.5, 7.0)


@pytest.mark.parametrize(
    ("order", "against", "differences", "sentence"),
    [
        ("ascending", "lockstep", [READ, OUTPUT],
         "With the warps in ascending order, thread (3, 1) reads 8 from As[1][3] instead of 1 on "
         "line 9, and C[0][3] becomes -2.5 instead of 7."),
        ("descending", "lockstep", [READ],
         "With the warps in descending order, thread (3, 1) reads 8 from As[1][3] instead of 1 on "
         "line 9."),
        ("random, seed 3", "lockstep", [OUTPUT],
         "With the warps in random order (seed 3), C[0][3] becomes -2.5 instead of 7."),
        ("block (1, 0) before block (0, 0)", "block (0, 0) before block (1, 0)",
         [other_result("x[0]", "nan", 1234567.0)],
         "With block (1, 0) before block (0, 0) rather than the other way round, x[0] becomes nan "
         "instead of 1.23457e+06."),
    ],
)  # fmt: skip
def test_a_witness_in_a_sentence(
    order: str, against: str, differences: list[str], sentence: str
) -> None:
    assert witness(order, against, differences) == sentence


def test_an_index_has_a_z_where_there_is_depth() -> None:
    assert format_index(None, (4, 4, 1)) == "(?)"
    assert format_index((1, 0, 0), (4, 1, 1)) == "(1, 0)"
    assert format_index((1, 2, 0), (4, 4, 2)) == "(1, 2, 0)"


def test_a_wide_access_across_the_end_of_its_array_is_said_whole() -> None:
    text = """__global__ void k(const float* in, float4* out) {
        out[threadIdx.x] = ((const float4*)in)[threadIdx.x];
    }"""
    arrays = {"in": np.zeros(126, np.float32), "out": np.zeros((32, 4), np.float32)}
    [hazard] = run_text(text, **arrays).hazards
    assert "reads elements 124 to 127 of in, an array of 126 (float in[126])" in hazard.message
