"""Blocks of a multiprocessor, beside what CUDA's own calculator gave on an H200."""

from __future__ import annotations

import json
import math
from pathlib import Path

from simulator.machine.occupancy import H200, resident_blocks

RECORDED = Path(__file__).resolve().parents[2] / "assets/recorded/nvidia-h200.json"


def test_occupancy_is_cudas_own() -> None:
    comparisons = json.loads(RECORDED.read_text(encoding="utf-8"))["comparisons"]
    kernels = [one for each in comparisons for one in each["kernels"] if one["registers"]]
    assert len(kernels) > 10
    for one in kernels:
        threads = math.prod(one["block"])
        blocks, _ = resident_blocks(threads, one["shared_bytes"], one["registers"])
        assert blocks * -(-threads // 32) / H200.warps == one["occupancy"], one["name"]


def test_what_allows_no_more() -> None:
    assert resident_blocks(32, 0) == (32, "blocks")
    assert resident_blocks(1024, 0) == (2, "threads")
    assert resident_blocks(64, 227 * 1024) == (1, "shared memory")
    assert resident_blocks(1024, 0, 64) == (1, "registers")
    assert resident_blocks(1024, 0, 65) == (0, "registers")
