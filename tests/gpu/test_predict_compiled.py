"""The optimised build's counters, predicted from machine code, beside what an H200 counted."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from compiler.machine_code import MachineCode
from compiler.opcodes import classify
from compiler.recorded import recorded
from gpu.predicted_counters import RETRIED, RETRIES, predict_compiled
from simulator.catalogue import catalogue
from simulator.observers.counters import FIELDS

pytest.importorskip("clang.cindex", reason="libclang is not installed")
H200 = Path(__file__).resolve().parents[2] / "assets/recorded/nvidia-h200.json"
SIZE = (1024, 1024, 1024)
COMPARISONS = json.loads(H200.read_text(encoding="utf-8"))["comparisons"]
MEASURED: dict[str, dict[str, Any]] = {
    one["name"]: one for one in COMPARISONS[1]["kernels"] if one["counters"]
}
PREDICTED = [
    name
    for name in MEASURED
    if name.split(":")[0]
    in ("uncoalesced", "naive", "tiled", "tiled_double", "transposed", "padded", "swizzled",
        "rows", "registers", "vectors", "pipelined", "warptiles")
]  # fmt: skip
WITHIN = 0.005  # of every counter
# What the source asks of shared memory, over what the H200 counted: that the compiler matters here.
OF_THE_SOURCE = {"tiled": 0.625, "transposed": 0.25, "rows": 1 / 3, "pipelined": 1.1875}


def _code(name: str) -> MachineCode:
    code = recorded(MEASURED[name]["source"], "sm_90")
    assert code is not None
    return code


def test_all_of_them_are_measured() -> None:
    assert len(PREDICTED) == 17


@pytest.mark.parametrize("name", PREDICTED)
@pytest.mark.sample(3)
def test_each_counter_is_what_the_gpu_counted(name: str) -> None:
    one = MEASURED[name]
    found = predict_compiled(_code(name), name, one["source"], one["defines"], SIZE)
    stores = one["counters"]["shared_store_requests"]
    assert found.reasons == ((RETRIES,) if stores else ())
    for field in FIELDS:
        predicted, counted = found.counters[field], one["counters"][field]
        if field == RETRIED and stores:
            assert predicted is None
            assert stores <= found.at_least[field] <= counted
        else:
            assert predicted == pytest.approx(counted, rel=WITHIN), field


def test_retries_of_stores_are_no_property_of_the_code() -> None:
    """The same stores of each block, and other shares of them again, at two sizes."""
    small, large = (
        {one["name"]: one["counters"] for one in COMPARISONS[number]["kernels"]}
        for number in (1, 3)
    )
    again = [
        [at[name][RETRIED] / at[name]["shared_store_requests"] for at in (small, large)]
        for name in ("tiled:TILE=32", "swizzled:TILE=32", "rows")
    ]
    assert all(abs(one - other) > 0.02 for one, other in again)


@pytest.mark.deep
def test_what_is_not_known_is_left_out_with_a_reason() -> None:
    """The copies at the start and those of ragged tiles are of one line, and are not alike."""
    one = MEASURED["anyshape"]
    found = predict_compiled(_code("anyshape"), "anyshape", one["source"], one["defines"], SIZE)
    lost = {"shared_load_requests", "shared_load_wavefronts", *found.at_least}
    assert {field for field, count in found.counters.items() if count is None} == lost
    reason, *_ = found.reasons
    assert "copies come with loads that no lane executes" in reason
    for field in set(FIELDS) - lost:
        assert found.counters[field] == one["counters"][field]


def test_other_widths_are_not_known() -> None:
    """Of eight neighbours no four can be loaded by one instruction of 8 bytes."""
    text, code = catalogue()["tiled"].source(), _code("tiled")
    narrow = tuple(
        classify("LDS.64", one.text.replace("LDS.128", "LDS.64"), one.line)
        if one.opcode == "LDS.128"
        else one
        for one in code.instructions
    )
    changed = dataclasses.replace(code, instructions=narrow)
    found = predict_compiled(changed, "tiled", text, {}, (64, 64, 64))
    assert found.counters["shared_load_requests"] is None
    assert found.counters["global_load_requests"] is not None
    assert found.reasons == (
        "Line 26's shared loads in the source do not fit the machine code's instructions there.",
        RETRIES,
    )


@pytest.mark.parametrize(("name", "share"), OF_THE_SOURCE.items())
@pytest.mark.sample(2)
def test_the_source_s_requests_are_others(name: str, share: float) -> None:
    from gpu.predicted_counters import predict

    one = MEASURED[name]
    source = predict(name, one["source"], one["defines"], SIZE)
    found = predict_compiled(_code(name), name, one["source"], one["defines"], SIZE)
    compiled = found.counters["shared_load_requests"]
    assert compiled == pytest.approx(share * source["shared_load_requests"])


@pytest.mark.parametrize("size", [(100, 72, 40), (64, 96, 33)])
@pytest.mark.sample(2)
def test_ragged_sizes_are_counted_or_left_out(size: tuple[int, int, int]) -> None:
    """An edge changes which loads a lane makes, and never more than the source's are counted."""
    from gpu.predicted_counters import predict

    for name in ("naive", "tiled", "rows"):
        one = MEASURED[name]
        source = predict(name, one["source"], one["defines"], size)
        found = predict_compiled(_code(name), name, one["source"], one["defines"], size)
        for field, count in found.counters.items():
            assert count is None or count <= source[field], (name, field)
