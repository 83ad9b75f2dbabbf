"""The profiler's counters, written beside the simulator's, and what is profiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import patterns, profile_cases
from tools.measured import write
from tools.profile import report, simulated_counters


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
