"""Every kind of finding in full: kind, lines, array, count, first example and sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Launch, compile_kernel, simulate
from simulator.observers.hazards.findings import Hazard

FILE = Path(__file__).with_name("hazard_table.toml")
TABLE: dict[str, Any] = {
    case["name"]: case for case in tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]
}


def hazards(case: dict[str, Any], schedule: str) -> tuple[Hazard, ...]:
    kernel = compile_kernel(case["text"], "k")
    arguments = {"x": np.zeros(case["cells"], np.float32)}
    launch = Launch((*case["grid"], 1), (*case["block"], 1), arguments)
    return simulate(kernel, launch, schedule).hazards


def in_full(hazard: Hazard) -> dict[str, Any]:
    """A hazard as the table writes it: tuples as lists, and nothing for None."""
    example = hazard.example
    found = {
        "kind": hazard.kind,
        "lines": hazard.lines,
        "array": hazard.array,
        "space": hazard.space,
        "count": hazard.count,
        "block": example.block,
        "thread": example.thread,
        "other_block": example.other_block,
        "other": example.other_thread,
        "cell": example.cell,
        "iterations": example.iterations,
        "message": hazard.message,
    }
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in found.items()
        if value is not None
    }


@pytest.mark.parametrize("name", TABLE)
def test_findings_in_full(name: str) -> None:
    case = TABLE[name]
    assert [in_full(hazard) for hazard in hazards(case, "lockstep")] == case.get("found", [])


@pytest.mark.sample(10)
@pytest.mark.parametrize("schedule", ["ascending", "descending", "random"])
@pytest.mark.parametrize("name", TABLE)
def test_the_order_of_the_warps_hides_no_finding(name: str, schedule: str) -> None:
    expected = {(found["kind"], tuple(found["lines"])) for found in TABLE[name].get("found", [])}
    found = {(hazard.kind, hazard.lines) for hazard in hazards(TABLE[name], schedule)}
    assert expected <= found
    # A warp that runs ahead also reads cells that another has not written yet; then threads that
    # otherwise store the same value store different ones.
    assert {kind for kind, _ in found - expected} <= {"uninitialized-read", "write-after-write"}
