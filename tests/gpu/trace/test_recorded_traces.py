"""Traces in JSON and in files: what is written is read back, and what is broken is named."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gpu.comparison import comparison_from
from gpu.trace.recorded import read, recorded_traces, write
from gpu.trace.trace import NO_TILE, Block, Interval, Kind, Level, Trace, TracedPhase, trace_from
from simulator.broken_file import BrokenFileError

CANNED = json.loads((Path(__file__).parent.parent / "comparison.json").read_text(encoding="utf-8"))
DEVICE = comparison_from(CANNED).device
WARP = (Interval(0, 0, 10, 710), Interval(1, 0, 710, 724), Interval(0, NO_TILE, 724, 800))
TRACE = Trace(
    "tiled:TILE=32", (512, 512, 512), Level.PHASES, 1.06, True,
    (
        TracedPhase("copy", Kind.LOAD, 18, 21, 733.0, (700.0, 800.0), 16.0, 0.26),
        TracedPhase("wait", Kind.BARRIER, 22, 22, 9.0, (8.0, 31.5), 16.0, 0.003),
    ),
    -0.012, (Block(0, 0, 17, 0, 5120, (WARP, WARP)), Block(1, 0, 3, 32, 5184)), 21.0,
)  # fmt: skip


def test_a_trace_survives_json() -> None:
    found = json.loads(json.dumps(TRACE.to_json()))
    assert list(found) == [
        "kernel", "size", "level", "ratio", "same_bits", "phases", "sum_error", "blocks",
        "empty_read_cycles", "left_out",
    ]  # fmt: skip
    assert found["blocks"][1] == [1, 0, 3, 32, 5184, []]
    assert trace_from(found) == TRACE
    assert TRACE.whole_blocks == (TRACE.blocks[0],)
    with pytest.raises(ValueError, match=r"^A trace's phases is wrong"):
        trace_from(found | {"phases": []})


def test_recorded_traces_are_found_by_kernel_size_and_level(tmp_path: Path) -> None:
    other = replace(TRACE, kernel="padded", left_out="Half of it.")
    early, late = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)
    write([TRACE], replace(DEVICE, name="NVIDIA Other 1"), tmp_path, early)
    path = write([TRACE, other], DEVICE, tmp_path, late)
    first = path.read_bytes()
    assert write([TRACE, other], DEVICE, tmp_path, late).read_bytes() == first
    assert path.name == "test-gpu.json.xz"
    run, _ = recorded_traces(tmp_path)
    assert (run.device, run.when) == (DEVICE, late)
    assert run.find("padded", TRACE.size) == other
    assert run.find("padded", TRACE.size, Level.STATEMENTS) is None
    assert run.find("padded", (8, 8, 8)) is None


def packed(**keys: Any) -> bytes:
    """A file of a device with these keys."""
    date = {"format": 1, "recorded": "2026-01-02T00:00:00+00:00", "device": CANNED["device"]}
    return lzma.compress(json.dumps(date | keys).encode())


REST = replace(TRACE, blocks=()).to_json()
NAMES = ("x", "y", "multiprocessor", "start", "life", "whole", "warps", "phase", "tile", "gap",
         "cycles")  # fmt: skip
COLUMNS = {name: [1] if NAMES.index(name) < 5 else [] for name in NAMES}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{}", "cannot be unpacked"),
        (lzma.compress(b"{"), "This is not JSON"),
        (lzma.compress(b'{"format": 2}'), "not a recording of format 1"),
        (lzma.compress(b'{"format": 1, "recorded": "2026-01-02T00:00:00+00:00"}'), "lacks device"),
        (packed(traces=[{"blocks": {}}]), "blocks lacks x"),
        (packed(traces=[{"blocks": COLUMNS | {"life": []}}]), "lacks kernel"),
        (packed(traces=[REST | {"blocks": COLUMNS | {"life": []}}]), "not of one length"),
    ],
)
def test_what_is_no_recording_is_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "some.json.xz"
    path.write_bytes(content)
    with pytest.raises(BrokenFileError, match=sentence):
        read(path)
    assert recorded_traces(tmp_path) == ()
