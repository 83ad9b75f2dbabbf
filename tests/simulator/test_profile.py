"""Whole kernels' counters beside what Nsight Compute counted on an H200."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpu.cuda.hardware_counters import METRICS
from tools.profile import simulated_counters
from tools.profile_cases import EXPLAINED, cases, explained

# What is compared; `python -m tools.profile` writes it, on a GPU.
FILE = Path(__file__).with_name("h200_profile.json")
MEASURED: dict[tuple[str, str], Any] = {
    (row["name"], row["form"]): row for row in json.loads(FILE.read_text(encoding="utf-8"))["cases"]
}
# The larger size, and the largest settings of the kernels on top of the ladder; each kernel is
# measured with smaller ones too.
LARGE = re.compile("TILE=(64|128) |WARPS_ACROSS=4 |, 96x64x80$")
CASES = {(case.name, case.form): case for case in cases()}


def test_every_case_was_measured() -> None:
    assert MEASURED.keys() == CASES.keys(), "run python -m tools.profile again"


@pytest.mark.sample(21)
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(
            key, marks=[pytest.mark.deep] if LARGE.search(key[0]) else [], id=" ".join(key)
        )
        for key in MEASURED
    ],
)
def test_counters_equal_the_hardwares_or_are_explained(key: tuple[str, str]) -> None:
    row = MEASURED[key]
    counted = simulated_counters(CASES[key])
    assert counted == row["simulated"]
    assert counted.keys() == row["measured"].keys() == METRICS.keys()
    differing = [name for name in METRICS if counted[name] != row["measured"][name]]
    assert [name for name in differing if explained(*key, name) is None] == []


def test_every_explanation_is_needed() -> None:
    for part, form, prefix, why in EXPLAINED:
        assert why.endswith(".")
        assert any(
            part in name and form == built and counter.startswith(prefix)
            and row["simulated"][counter] != row["measured"][counter]
            for (name, built), row in MEASURED.items()
            for counter in METRICS
        )  # fmt: skip
