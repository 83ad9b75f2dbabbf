"""What a kernel's counted work takes at least, held against what an H200 took."""

from __future__ import annotations

import pytest

from compiler.machine_code import Group, Instruction
from gpu.bounds import Bounds, count_cycles, find_bounds
from gpu.comparison import KernelResult
from gpu.recorded import newest

SQUARE = next(one for one in newest().comparisons if one.size == (4096, 4096, 4096))


def timed(name: str) -> KernelResult:
    return next(one for one in SQUARE.kernels if one.name == name)


def bounds(name: str) -> Bounds:
    found = find_bounds(timed(name), SQUARE)
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("naive", 115, 120), ("tiled", 105, 115), ("tiled:TILE=32", 105, 115),
        ("transposed", 100, 105), ("transposed:TILE=32", 100, 102), ("padded", 105, 115),
        ("swizzled", 110, 115), ("pipelined", 97, 103), ("warptiles", 105, 115),
        ("anyshape", 110, 120),
        # These wait for a tile while nothing is computed, which is not counted.
        ("rows", 140, 150), ("registers", 130, 140), ("vectors", 150, 160),
    ],
)  # fmt: skip
def test_the_clock_is_near_the_prediction_unless_blocks_wait(
    name: str, least: float, most: float
) -> None:
    assert least < bounds(name).clock_percent < most


def test_what_shared_memory_holds_up_and_what_instructions_do() -> None:
    for name in ("naive", "tiled", "transposed", "padded", "rows"):
        assert bounds(name).predicted_ms == bounds(name).port_ms
    for name in ("registers", "vectors", "pipelined", "warptiles"):
        assert bounds(name).predicted_ms == bounds(name).register_ms > bounds(name).port_ms


def test_the_compiler_joins_reads_of_the_tiled_kernel() -> None:
    for tile in ("tiled", "tiled:TILE=32"):
        counted, adds = timed(tile).counters, bounds(tile).multiply_adds
        assert counted
        assert counted["shared_load_requests"] == 1.25 * adds, "as its comment says"
        assert counted["shared_load_wavefronts"] == pytest.approx(1.5 * adds, rel=0.001)


def test_there_are_no_bounds_without_counters() -> None:
    assert find_bounds(timed("cublas"), SQUARE) is None


def loop(*operands: str) -> list[Instruction]:
    return [
        Instruction("FFMA", f"FFMA {one.split(', ')[-1]}, {one}", 1, Group.ARITHMETIC, None)
        for one in operands
    ]


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        # Loops as they were patched and timed on an H200: assets/kernels/NOTES.md, by its lines.
        (["R2.reuse, R4.reuse, R7", "R2.reuse, R4.reuse, R9"] * 4, 8),
        (["R2.reuse, R5, R8"] * 7 + ["R2, R5, R8"], 9),
        (["R2.reuse, R4, R8"] * 8, 16),
        (["R2.reuse, R4, R8", "R2.reuse, R5, R9"] * 4, 8),
        (["R2, R5, R8"] * 8, 16),
        (["R2, R4, R8"] * 8, 24),
    ],
)
def test_a_loop_of_multiply_adds_takes_what_its_banks_give(text: list[str], cycles: int) -> None:
    assert count_cycles(loop(*text)) == pytest.approx(cycles, abs=1)
