"""simulator.machine.tensor_core against what tensor cores of GPUs gave, bit by bit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.language.ctype import FLOAT, Scalar
from simulator.language.number_types import OPERANDS, ROUNDINGS, Operand
from simulator.machine.tensor_core import (
    FRACTION_BITS,
    cut_to_float,
    explain,
    multiply_add,
    round_to_half,
)
from tests.tensor_tiles import kinds, tiles
from tools.measured import digest
from tools.tensor_core_bits import bits

RECORDED = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted(Path(__file__).with_name("tensor_core").glob("*.json"))
}
SHAPES = [
    (gpu, shape)
    for gpu, recorded in RECORDED.items()
    for shape in dict.fromkeys(row["shape"] for row in recorded["recorded"])
]
HALF = OPERANDS["half"]
FORMS = {each.word: each for each in OPERANDS.values()}


def shape_of(row: dict[str, Any]) -> tuple[Operand, tuple[int, int, int], Scalar]:
    name, sizes, *more = row["shape"].split()
    m, n, k = (int(size) for size in sizes.split("x"))
    form = FORMS[name]
    if name == "tf32" and not more:
        form = replace(form, depth=4)  # as NVIDIA's mma.h multiplies
    return form, (m, n, k), HALF.ctype if more == ["to", "half"] else FLOAT


@pytest.mark.parametrize(("gpu", "shape"), SHAPES)
def test_every_bit_of_the_hardware(gpu: str, shape: str) -> None:
    rows = [row for row in RECORDED[gpu]["recorded"] if row["shape"] == shape]
    assert {row["kind"] for row in rows} == set(kinds(shape_of(rows[0])[0]))
    for row in rows:
        form, sizes, sums = shape_of(row)
        a, b, c = tiles(form, row["kind"], sizes, RECORDED[gpu]["tiles"], 0, sums=sums)
        d = multiply_add(form.ctype.values_of(a), form.ctype.values_of(b), c, form)
        assert bits(d[0, 0, :1]) == [row["cell"]["d"]], row["kind"]
        assert digest(d.astype(np.float32)) == row["sha256"], row["kind"]


@pytest.mark.parametrize("gpu", RECORDED)
def test_the_recorded_operands_are_those_of_the_tiles(gpu: str) -> None:
    for row in RECORDED[gpu]["recorded"]:
        form, sizes, sums = shape_of(row)
        a, b, c = tiles(form, row["kind"], sizes, 1, 0, sums=sums)
        assert bits(a[0, 0]) == row["cell"]["a"]
        assert bits(b[0, :, 0]) == row["cell"]["b"]
        assert bits(c[0, 0, :1]) == [row["cell"]["c"]]


def test_addends_below_all_halves_are_cut_as_the_gpu_cuts_them() -> None:
    recorded = json.loads(Path(__file__).with_name("half_sums.json").read_text(encoding="utf-8"))
    a, b, c, d = (
        np.array([cell[name] for cell in recorded["cells"]], np.uint16).view(np.float16)
        for name in "abcd"
    )
    found = multiply_add(a[:, None], b[:, :, None], c[:, None, None], HALF)
    assert bits(found) == bits(d)


@pytest.mark.parametrize("gpu", ["nvidia-h100", "nvidia-h200"])
def test_millions_of_tiles_were_compared(gpu: str) -> None:
    compared = RECORDED[gpu]["compared"]
    assert {row["shape"] for row in compared} == {row["shape"] for row in RECORDED[gpu]["recorded"]}
    assert all(row["tiles"] >= 10_000_000 and not row["differ"] for row in compared)


@pytest.mark.parametrize(
    ("form", "sums"), [*((form, FLOAT) for form in FORMS.values()), (HALF, HALF.ctype)]
)
def test_the_steps_of_a_cell_end_in_its_value(form: Operand, sums: Scalar) -> None:
    *cells, c = tiles(form, "spread", (16, 16, 16), 1, 5, sums=sums)
    a, b = map(form.ctype.values_of, cells)
    expected = multiply_add(a, b, c, form)[0]
    for cell in ((0, 0), (3, 7), (15, 15)):
        steps = explain(a[0, cell[0]], b[0, :, cell[1]], c[0][cell], form)
        assert len(steps) == 16 // form.depth
        assert steps[-1].result == expected[cell]
        for step in steps:
            assert len(step.addends) == form.depth + 1
            assert step.total == sum(addend.aligned for addend in step.addends)
            for addend in step.addends:
                assert addend.value == addend.aligned * step.unit + addend.cut
                assert abs(addend.cut) < step.unit


def test_what_is_below_the_kept_bits_is_cut_and_not_rounded() -> None:
    a, b = np.zeros(16, np.float16), np.zeros(16, np.float16)
    a[:2], b[:2] = 1, 2.0**-13
    b[1] = 3 * 2.0**-14  # 2**-13 * 1.5
    (step,) = explain(a, b, np.float32(2.0**12), HALF)
    assert step.exponent == 12
    assert step.unit == 2.0 ** (12 - FRACTION_BITS)
    assert [addend.aligned for addend in step.addends[:3]] == [1 << FRACTION_BITS, 1, 1]
    assert step.addends[2].cut == 2.0**-14
    assert step.result == 2.0**12  # a float keeps 23 bits of the 25


def test_a_cell_with_an_infinity_has_no_steps() -> None:
    row = np.full(16, np.inf, np.float16)
    with pytest.raises(ValueError, match="finite"):
        explain(row, row, np.float32(0), HALF)


def test_leading_axes_are_warps() -> None:
    a, b, c = tiles(HALF, "near", (16, 16, 16), 6, 1)
    whole = multiply_add(a, b, c, HALF)
    split = multiply_add(*(each.reshape(2, 3, 16, 16) for each in (a, b, c)), HALF)
    assert bits(whole) == bits(split)


def test_a_float_is_rounded_to_tf32_halves_away_from_zero() -> None:
    given = np.array(
        [0x3F800FFF, 0x3F801000, 0xBF801000, 0x3F803000, 0x7F7FFFFF, 0x7F800001, 0x1, 0x80000001],
        np.uint32,
    )
    expected = [
        0x3F800000, 0x3F802000, 0xBF802000, 0x3F804000, 0x7F800000, 0x7F800000, 0, 0x80000000
    ]  # fmt: skip
    assert bits(ROUNDINGS["__float_to_tf32"](given.view(np.float32))) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.0**128, 0x7F800000),
        (2.0**128 - 2.0**80, 0x7F7FFFFF),
        (-(2.0**-149) * 1.9, 0x80000001),
        (-(2.0**-150), 0),
        (2.0**-126 - 2.0**-160, 0x007FFFFF),
        (-0.0, 0),
    ],
)
def test_sums_are_cut_at_the_ends_of_float(value: float, expected: int) -> None:
    assert bits(cut_to_float(np.array([value]))) == [expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.0**16 - 2.0**4, 0x7C00),
        (2.0**16 - 2.0**4 - 2.0**-9, 0x7BFF),
        (1 + 2.0**-11, 0x3C00),
        (1 + 2.0**-11 + 2.0**-25, 0x3C01),  # by way of a float it would be a tie
        (-(2.0**-24) * 1.5, 0x8002),
        (-(2.0**-25), 0),
        (np.nan, 0x7FFF),
        (-np.inf, 0xFC00),
    ],
)
def test_sums_of_half_are_rounded_once(value: float, expected: int) -> None:
    assert bits(round_to_half(np.array([value]))) == [expected]
