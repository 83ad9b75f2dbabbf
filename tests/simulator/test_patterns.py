"""The cost of single warp instructions beside what Nsight Compute counted on an H200."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.observers.transactions import sectors, wavefronts

# What is compared; `python -m tools.profile --patterns` writes it, on a GPU.
FILE = Path(__file__).with_name("h200_patterns.json")
GROUPS = [
    (space, kind, width)
    for space in ("shared", "global")
    for kind in ("load", "store")
    for width in (4, 8, 16)
]


def patterns(space: str, kind: str, width: int) -> list[Mapping[str, Any]]:
    rows = json.loads(FILE.read_text(encoding="utf-8"))["patterns"]
    return [r for r in rows if (r["space"], r["kind"], r["width"]) == (space, kind, width)]


@pytest.mark.parametrize(("space", "kind", "width"), GROUPS)
def test_every_pattern_costs_what_the_hardware_counted(space: str, kind: str, width: int) -> None:
    rows = patterns(space, kind, width)
    assert len(rows) >= 9
    addresses = np.array([row["offsets"] for row in rows])
    active = np.array([[row["mask"] >> lane & 1 for lane in range(32)] for row in rows], np.bool_)
    if space == "shared":
        unit, found = "wavefronts", wavefronts(addresses, active, width, kind)
    else:
        unit, found = "sectors", sectors(addresses, active, width)
    wrong = {
        row["name"]: (int(ours), row[unit])
        for row, ours in zip(rows, found, strict=True)
        if ours != row[unit]
    }
    assert wrong == {}
