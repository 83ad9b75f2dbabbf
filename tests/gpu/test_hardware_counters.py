"""What the profiler prints, as counters, matched with the kernels they are of."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from gpu.candidate import Candidate, choose
from gpu.comparison import Comparison, comparison_from
from gpu.cuda import hardware_counters
from gpu.cuda.hardware_counters import METRICS, launches
from gpu.cuda.run_tool import ToolError

CANNED = json.loads(Path(__file__).with_name("comparison.json").read_text(encoding="utf-8"))
PROFILE = Path(__file__).parents[1] / "simulator" / "h200_profile.json"
SIZE = (96, 64, 80)
OUTPUT = """==PROF== Connected to process 584 (/tmp/p)
"ID","Kernel Name","Block Size","{metrics}"
"","","","{units}"
"0","shared_load_4(char *)","(32, 1, 1)","{first}"
"1","case_1::kernel_1(float *, int)","(32, 1, 1)","{second}"
==PROF== Disconnected from process 584
"""


def candidates(*names: str) -> list[Candidate]:
    return [choose(name, SIZE) for name in names]


def counted(name: str) -> dict[str, int]:
    """What an H200 counted of a kernel at SIZE."""
    cases = json.loads(PROFILE.read_text(encoding="utf-8"))["cases"]
    found: dict[str, int] = next(case["measured"] for case in cases if case["name"] == name)
    return found


def test_launches_of_the_profilers_csv() -> None:
    text = OUTPUT.format(
        metrics='","'.join(METRICS.values()),
        units='","'.join([""] * len(METRICS)),
        first='","'.join(str(n) for n in range(len(METRICS))),
        second='","'.join(["1,048,576"] * len(METRICS)),
    )
    assert launches(text) == [
        ("shared_load_4", dict(zip(METRICS, range(len(METRICS)), strict=True))),
        ("case_1::kernel_1", dict.fromkeys(METRICS, 1048576)),
    ]


def test_no_launches_in_a_complaint() -> None:
    assert launches("==ERROR== no permission to access the performance counters") == []


def test_rows_are_of_the_kernels_in_order() -> None:
    chosen = candidates("naive", "tiled", "tiled:TILE=32")
    rows = [
        ("naive", counted("naive, 96x64x80")),
        ("tiled", counted("tiled TILE=16, 96x64x80")),
        ("tiled", counted("tiled TILE=32, 96x64x80")),
    ]
    found = hardware_counters.match_rows(chosen, rows)
    assert found["tiled:TILE=32"] == counted("tiled TILE=32, 96x64x80")
    assert found["tiled"] != found["tiled:TILE=32"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "saw nothing, not naive"),
        ([("tiled", {})], "saw tiled, not naive"),
        ([("naive", dict.fromkeys(METRICS, 1)), ("fill", {})], "saw naive, fill"),
        ([("naive", {"global_load_sectors": 1})], "did not count global_load_requests"),
    ],
)
def test_rows_of_something_else_are_refused(
    rows: list[tuple[str, dict[str, int]]], sentence: str
) -> None:
    with pytest.raises(ToolError, match=sentence):
        hardware_counters.match_rows(candidates("naive"), rows)


def test_only_kernels_that_ran_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison: Comparison = comparison_from(CANNED)
    broken = dataclasses.replace(comparison.kernels[0], ms=None, error="no")
    comparison = dataclasses.replace(comparison, kernels=(broken, *comparison.kernels[1:]))
    asked: list[str] = []

    def count(chosen: list[Candidate], _size: object, _gpu: int) -> dict[str, dict[str, int]]:
        asked.extend(one.name for one in chosen)
        return {one.name: dict.fromkeys(METRICS, 5) for one in chosen}

    monkeypatch.setattr(hardware_counters, "count", count)
    found = hardware_counters.with_counters(comparison, candidates("naive", "tiled"))
    assert asked == ["tiled"]
    assert [kernel.counters is not None for kernel in found.kernels] == [False, True, False]
    assert comparison_from(json.loads(json.dumps(found.to_json()))) == found


def test_a_missing_profiler_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not hardware_counters.available()
    with pytest.raises(ToolError, match="ncu is not here"):
        hardware_counters.count(candidates("naive"), SIZE, 0)


@pytest.mark.gpu
def test_the_hardware_counts_the_sectors_that_the_simulator_predicts() -> None:
    if not hardware_counters.available():
        pytest.skip("ncu is not installed")
    from gpu.predicted_counters import predict

    chosen = candidates("naive", "tiled", "registers")
    try:
        found = hardware_counters.count(chosen, SIZE, 0)
    except ToolError as error:
        pytest.skip(f"ncu may not count here: {error}")
    for one in chosen:
        expected = predict(one.name, one.text, one.defines, SIZE)
        for name in ("global_load_sectors", "global_store_sectors"):
            assert found[one.name][name] == expected[name], (one.name, name)
