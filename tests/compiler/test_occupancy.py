"""The occupancy on each card, for which CUDA's own calculator gave an H200's."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from compiler.compile import ARCHITECTURES
from compiler.machine_code import MachineCode
from compiler.occupancy import capability, card_occupancy, multiprocessor
from compiler.recorded import recorded
from compiler.toolchain import Toolchain
from simulator.catalogue import catalogue
from simulator.machine.occupancy import CAPABILITIES, SM_REGISTERS, resident_blocks

CALCULATOR, LIMITS = (Path(__file__).with_name(name) for name in ("occupancy.cpp", "limits.cpp"))


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


def test_it_is_nvidias_own_calculator(toolchain: Toolchain, tmp_path: Path) -> None:
    """The same launches by cuda_occupancy.h, which has the limits on blocks and what is rounded."""
    include = toolchain.nvrtc.parent.parent / "include"
    program = _build(CALCULATOR, include, "cuda_occupancy.h", tmp_path)
    launches, found = [], []
    for name, on in CAPABILITIES.items():
        for threads, bytes_, registers in itertools.product(
            (16, 32, 96, 100, 256, 384, 1024), (0, 256, 5000, 20000, 60000), (16, 33, 64, 122, 255)
        ):
            fits = -(-threads // 32) * registers * 32 <= SM_REGISTERS
            if not fits or bytes_ > on.block_shared_bytes:
                continue
            device = (on.warps, on.shared_bytes, on.block_shared_bytes, on.reserved_bytes)
            launches.append((*name.split("."), *device, threads, bytes_, registers))
            found.append(resident_blocks(threads, bytes_, registers, on)[0])
    assert [[one] for one in found] == _answers(program, launches)
    assert len(found) > 1000


def test_the_limits_are_those_of_nvidias_headers(toolchain: Toolchain, tmp_path: Path) -> None:
    include = toolchain.nvrtc.parent.parent / "include" / "cccl"
    program = _build(LIMITS, include, "cuda/__device/arch_traits.h", tmp_path)
    assert _answers(program, [[name.replace(".", "")] for name in CAPABILITIES]) == [
        [one.blocks, one.warps, one.shared_bytes, one.block_shared_bytes, one.reserved_bytes,
         SM_REGISTERS]
        for one in CAPABILITIES.values()
    ]  # fmt: skip


def _build(source: Path, include: Path, header: str, folder: Path) -> Path:
    """A program that asks a header of the CUDA toolkit; skip where it cannot be built."""
    compiler = shutil.which("g++")
    if compiler is None or not (include / header).is_file():
        pytest.skip(f"g++ or {header} is not here")
    program = folder / source.stem
    command: list[str | Path] = [compiler, "-std=c++17", f"-I{include}", source, "-o", program]
    subprocess.run(command, check=True)
    return program


def _answers(program: Path, asked: Iterable[Iterable[object]]) -> list[list[int]]:
    given = "\n".join(" ".join(map(str, one)) for one in asked)
    done = subprocess.run([program], input=given, text=True, capture_output=True, check=True)
    return [[int(number) for number in line.split()] for line in done.stdout.splitlines()]
