"""What an iteration takes, and that no GPU was faster than its instructions allow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compiler.iteration import iterations
from compiler.machine_code import Group
from compiler.recorded import recorded
from simulator.catalogue import catalogue

H200 = Path(__file__).resolve().parents[2] / "assets/recorded/nvidia-h200.json"
COMPARISONS = json.loads(H200.read_text(encoding="utf-8"))["comparisons"]


def test_an_iteration_of_the_tiled_kernel() -> None:
    code = recorded(catalogue()["tiled"].source(), "sm_90")
    assert code is not None
    (one,) = iterations(code)
    assert (one.slots[Group.ARITHMETIC], one.slots[Group.SHARED_LOAD]) == (16, 20)
    assert (one.slots[Group.BARRIER], one.slots[Group.BRANCH]) == (2, 1)
    assert sum(one.slots.values()) == one.instructions == len(one.loop.body)
    assert (one.global_bytes, one.shared_bytes) == (8, 4 * (16 + 4 * 4) + 8)
    assert one.cycles == {
        "issue": one.instructions / 4,
        "arithmetic": 4.0,
        "loads and stores": 24.0,
    }
    assert (one.limit, one.attainable) == ("loads and stores", 4 / 24)


def test_a_card_with_fewer_lanes_is_busier_with_arithmetic() -> None:
    shares = {}
    for architecture in ("sm_80", "sm_90"):
        code = recorded(catalogue()["warptiles"].source(), architecture)
        assert code is not None
        shares[architecture] = iterations(code)[0]
    assert (shares["sm_80"].limit, shares["sm_80"].attainable) == ("arithmetic", 1.0)
    assert shares["sm_90"].limit == "issue"


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: "x".join(map(str, one["size"])))
@pytest.mark.sample(3)
def test_no_kernel_was_faster_than_its_instructions_allow(comparison: dict[str, object]) -> None:
    kernels, seen = comparison["kernels"], 0
    assert isinstance(kernels, list)
    for one in kernels:
        code = one["source"] and recorded(one["source"], "sm_90")
        if not code or one["element"] != "float32" or not one["peak_share"]:
            continue
        loops = [each for each in iterations(code) if each.multiply_adds]
        if loops:
            assert one["peak_share"] <= max(each.attainable for each in loops), one["name"]
            seen += 1
    assert seen >= 5
