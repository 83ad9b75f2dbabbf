"""The sentences about hazards, whole."""

from __future__ import annotations

import pytest

from simulator.launch import Launch, format_index
from simulator.observers.hazards.findings import Number, Witness
from simulator.observers.hazards.messages import witness_sentence

READ = ((3, 1, 0), 8, 1)  # a thread, what it reads, and what it reads in the reference order
OUTPUT = ("C[0][3]", -2.5, 7.0)  # a cell, how it ends, and how in the reference order
NONE = (None, None, None)


@pytest.mark.parametrize(
    ("order", "against", "read", "output", "sentence"),
    [
        ("ascending", "lockstep", READ, OUTPUT,
         "With the warps in ascending order, thread (3, 1) reads 8 instead of 1 at line 9, and "
         "C[0][3] becomes -2.5 instead of 7."),
        ("descending", "lockstep", READ, NONE,
         "With the warps in descending order, thread (3, 1) reads 8 instead of 1 at line 9."),
        ("random, seed 3", "lockstep", NONE, OUTPUT,
         "With the warps in random order (seed 3), C[0][3] becomes -2.5 instead of 7."),
        ("block (1, 0) before block (0, 0)", "block (0, 0) before block (1, 0)", NONE,
         ("x[0]", "nan", 1234567.0),
         "With block (1, 0) before block (0, 0), x[0] becomes nan instead of 1.23457e+06, which "
         "it has in the opposite order."),
    ],
)  # fmt: skip
def test_a_witness_in_a_sentence(
    order: str,
    against: str,
    read: tuple[tuple[int, int, int] | None, Number | None, Number | None],
    output: tuple[str | None, Number | None, Number | None],
    sentence: str,
) -> None:
    witness = Witness(order, against, *read, *output, "")
    launch = Launch((2, 1, 1), (4, 4, 1), {})
    assert witness_sentence(witness, launch, 9 if read != NONE else None) == sentence


def test_an_index_has_a_z_where_there_is_depth() -> None:
    assert format_index(None, (4, 4, 1)) == "(?)"
    assert format_index((1, 0, 0), (4, 1, 1)) == "(1, 0)"
    assert format_index((1, 2, 0), (4, 4, 2)) == "(1, 2, 0)"
