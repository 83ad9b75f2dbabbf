"""What the profiler prints, as counters; and how they are written beside the simulator's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import profile_cases
from gpu.microbenchmarks import patterns
from gpu.profile import METRICS, launches, report, simulated_counters, write

OUTPUT = """==PROF== Connected to process 584 (/tmp/p)
"ID","Kernel Name","Block Size","{metrics}"
"","","","{units}"
"0","shared_load_4(char *)","(32, 1, 1)","{first}"
"1","case_1::kernel_1(float *, int)","(32, 1, 1)","{second}"
==PROF== Disconnected from process 584
"""


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


def test_the_file_has_a_row_a_line(tmp_path: Path) -> None:
    result = {"what": "x", "cases": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]}
    write(tmp_path / "x.json", result)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(text) == result
    assert sum('"name"' in line for line in text.splitlines()) == 2


def test_a_difference_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "a", "form": "plain", "simulated": {"n": 1}, "measured": {"n": 1}}
    assert report([row]) == 0
    assert report([row, {**row, "name": "b", "measured": {"n": 2000}}]) == 1
    assert "b (plain): n 1 simulated, 2,000 measured" in capsys.readouterr().out


def test_patterns_are_the_same_every_time_and_within_reach() -> None:
    chosen = patterns.patterns()
    assert chosen == patterns.patterns()
    assert len(chosen) > 500
    assert len({(p.name, p.space, p.kind, p.width) for p in chosen}) == len(chosen)
    for pattern in chosen:
        assert min(pattern.offsets) >= 0
        assert max(pattern.offsets) + pattern.width <= patterns.REACH
        assert all(offset % pattern.width == 0 for offset in pattern.offsets)
        assert len(pattern.offsets) == 32
        assert 0 < pattern.mask < 2**32


def test_the_patterns_program_has_a_row_each() -> None:
    chosen = patterns.patterns()[:40]
    text = patterns.source(chosen)
    assert text.count("__global__") == len({(p.space, p.kind, p.width) for p in chosen})
    assert text.count("{shared_load_4, {") == sum(p.width == 4 for p in chosen) > 0


def test_every_case_has_a_name_and_counters() -> None:
    cases = profile_cases.cases()
    assert len({(case.name, case.form) for case in cases}) == len(cases)
    copy = next(case for case in cases if case.name == "copy from 0, 48 threads")
    counted = simulated_counters(copy)
    assert counted["global_load_requests"] == counted["global_store_requests"] == 6
    assert counted["global_load_sectors"] == 6 * 3
