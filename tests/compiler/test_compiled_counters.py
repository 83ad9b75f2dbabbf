"""Kernels that the prediction was not made for, compiled here, beside what an H200 counted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compiler.compile import compile_kernel
from compiler.compiled_counters import CompiledCounters
from compiler.toolchain import Toolchain
from simulator import compile_kernel as compile_for_simulator
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.counters import FIELDS
from tools.profile_cases import cases
from tools.program import Case, launch

PROFILE = Path(__file__).parents[1] / "simulator" / "h200_profile.json"
MEASURED = {
    one["name"]: one["measured"]
    for one in json.loads(PROFILE.read_text(encoding="utf-8"))["cases"]
    if one["form"] == "volatile"  # the others are not optimised
}
CASES = [case for case in cases() if case.name in MEASURED]
WITHIN = 0.01
# The compiler makes one load and one store of those of two branches.
UNKNOWN = {"two branches": {"global_load", "global_store"}}


def test_all_of_them_are_measured() -> None:
    assert len(CASES) == len(MEASURED) == 100


@pytest.mark.sample(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_counter_is_what_the_gpu_counted(toolchain: Toolchain, case: Case) -> None:
    text = re.sub(r"__shared__\s+(?!volatile)", "__shared__ volatile ", case.text)
    kernel = compile_for_simulator(text, case.kernel)
    counters = CompiledCounters(compile_kernel(toolchain, kernel, "sm_90"))
    Machine(kernel, launch(case, kernel), [counters], Schedule.LOCKSTEP).run()
    unknown = {f"{space}_{kind}" for _, space, kind in counters.unknown}
    assert unknown == UNKNOWN.get(case.name, set())
    for field in FIELDS:
        if field.rpartition("_")[0] not in unknown:
            predicted = sum(line.get(field, 0) for line in counters.lines.values())
            assert predicted == pytest.approx(MEASURED[case.name][field], rel=WITHIN), field
