"""bfloat16 and the types of 8 bits: the bits that an H100 gave, of every number and many pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.launches import run_text
from tools.short_float_bits import COUNT, GROUPS, THREADS, short_digest

MEASURED = json.loads(Path(__file__).with_name("short_float_bits.json").read_text(encoding="utf-8"))
FLUSHED = "__nv_bfloat16 to double"  # of which CuPy's -ftz=true makes subnormal floats 0


def test_every_expression_was_measured() -> None:
    measured = {name: tuple(rows) for name, rows in MEASURED["digests"].items()}
    assert measured == {name: group.expressions for name, group in GROUPS.items()}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", GROUPS)
def test_every_bit_is_the_gpus(name: str) -> None:
    group = GROUPS[name]
    report = run_text(group.text, grid=COUNT // THREADS, block=THREADS, **group.arguments())
    assert not report.hazards
    results = report.arrays["o"].reshape(-1, COUNT)
    if name == FLUSHED:
        is_small = np.abs(results) < np.finfo(np.float32).smallest_normal
        results = np.where(is_small, np.copysign(0.0, results), results)
    found = dict(zip(group.expressions, map(short_digest, results), strict=True))
    differ = [one for one, value in found.items() if value != MEASURED["digests"][name][one]]
    assert not differ
