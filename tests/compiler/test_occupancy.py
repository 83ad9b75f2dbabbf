"""The occupancy on each card, for which CUDA's own calculator gave an H200's."""

from __future__ import annotations

import dataclasses

import pytest

from compiler.compile import ARCHITECTURES
from compiler.machine_code import MachineCode
from compiler.occupancy import capability, card_occupancy, multiprocessor
from compiler.recorded import recorded
from simulator.catalogue import catalogue
from simulator.machine.occupancy import CAPABILITIES


def _tiled(architecture: str, **changes: int) -> MachineCode:
    code = recorded(catalogue()["tiled"].source(), "sm_90")
    assert code is not None
    return dataclasses.replace(code, architecture=architecture, **changes)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_is_of_a_card(architecture: str) -> None:
    assert multiprocessor(_tiled(architecture)).cards
    assert capability(architecture) in CAPABILITIES


@pytest.mark.parametrize(
    ("architecture", "registers", "threads", "dynamic", "blocks", "limit"),
    [
        ("sm_90", 32, 256, 0, 8, "threads"),
        ("sm_86", 32, 256, 0, 6, "threads"),
        ("sm_75", 32, 256, 0, 4, "threads"),
        ("sm_89", 32, 32, 0, 24, "blocks"),
        ("sm_90", 255, 256, 0, 1, "registers"),
        ("sm_80", 32, 256, 60 * 1024, 2, "shared memory"),
        ("sm_120", 32, 256, 60 * 1024, 1, "shared memory"),
        ("sm_120", 32, 256, 98 * 1024, 0, "shared memory"),
        ("sm_100", 32, 256, 98 * 1024, 2, "shared memory"),
    ],
)
def test_what_fits(
    architecture: str, registers: int, threads: int, dynamic: int, blocks: int, limit: str
) -> None:
    found = card_occupancy(_tiled(architecture, registers=registers), threads, dynamic)
    assert (found.blocks, found.limit) == (blocks, limit)
    assert found.share == blocks * -(-threads // 32) / found.warps_at_most
