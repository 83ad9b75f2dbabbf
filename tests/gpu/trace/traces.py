"""Traces as a GPU might have given them: blocks go to the first free place of a multiprocessor."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from gpu.candidate import choose
from gpu.trace.trace import NO_TILE, Block, Interval, Kind, Level, Trace, TracedPhase

GHZ = 1.98  # cycles in a nanosecond
KINDS = {
    "copy": Kind.LOAD, "wait": Kind.BARRIER, "inner loop": Kind.COMPUTE, "store": Kind.STORE,
    "before the loop": Kind.OTHER,
}  # fmt: skip
BEFORE, AFTER = 60, 40  # cycles before and after the loop over tiles


def trace_of(
    kernel: str,
    size: tuple[int, int, int],
    tile: Sequence[tuple[str, int, int, int]],
    depth: int,
    resident: int,
    multiprocessors: int = 132,
    traced_warps: int = 2,
    whole: int = 4,
    ratio: float = 1.06,
) -> Trace:
    """A trace whose tiles have these phases: name, cycles, first and last line.

    Every warp takes the same time, but each tenth block a tenth longer; depth is a tile's of K. The
    first `whole` blocks have the intervals of some warps.
    """
    tiles = math.ceil(size[2] / depth)
    life = BEFORE + tiles * sum(cycles for _, cycles, _, _ in tile) + AFTER
    outside = [
        ("before the loop", BEFORE, 1, tile[0][2] - 1),
        ("store", AFTER, tile[-1][3] + 3, tile[-1][3] + 4),
    ]
    phases = tuple(
        TracedPhase(
            name, KINDS[name], first, last, float(cycles), (0.9 * cycles, 1.2 * cycles), visits,
            cycles * visits / life,
        )
        for name, cycles, first, last, visits in [
            (*outside[0], 1.0), *((*one, float(tiles)) for one in tile), (*outside[1], 1.0),
        ]
    )  # fmt: skip
    warp = _warp([cycles for _, cycles, _, _ in tile], tiles, life)
    across, down, _ = choose(kernel, size).grid
    free = [(0, number % multiprocessors) for number in range(multiprocessors * resident)]
    heapq.heapify(free)
    blocks = []
    for number in range(across * down):
        start, where = heapq.heappop(free)
        end = start + round(life / GHZ * (1.1 if number % 10 == 0 else 1))
        heapq.heappush(free, (end, where))
        traced = (warp,) * traced_warps if number < whole else ()
        blocks.append(Block(number % across, number // across, where, start, end, traced))
    return Trace(
        kernel, size, Level.PHASES, ratio, True, phases, -0.004, tuple(blocks), 21.0
    )  # fmt: skip


def _warp(tile: Sequence[int], tiles: int, life: int) -> tuple[Interval, ...]:
    found, at = [Interval(0, NO_TILE, 0, BEFORE)], BEFORE
    for number in range(tiles):
        for phase, cycles in enumerate(tile, 1):
            found.append(Interval(phase, number, at, at + cycles))
            at += cycles
    return (*found, Interval(len(tile) + 1, NO_TILE, at, life))


def square(kernel: str, cycles: tuple[int, int, int, int], depth: int, resident: int) -> Trace:
    """A trace at 512 x 512 x 512 of a kernel from tiled to swizzled.

    cycles are those of copying, waiting, the inner loop and waiting again.
    """
    text = choose(kernel, (512, 512, 512)).text.splitlines()
    first, last = (number for number, line in enumerate(text, 1) if "__syncthreads" in line)
    begin = next(number for number, line in enumerate(text, 1) if "int a_col" in line)
    lines = [(begin, first - 1), (first, first), (first + 2, last - 1), (last, last)]
    tile = [
        (name, number, *where)
        for name, number, where in zip(
            ("copy", "wait", "inner loop", "wait"), cycles, lines, strict=True
        )
    ]
    return trace_of(kernel, (512, 512, 512), tile, depth, resident)


# Cycles of the first table that was measured, on an H100 at 2048^3.
TILED = square("tiled", (702, 12, 744, 73), 16, 8)
TILED_32 = square("tiled:TILE=32", (733, 9, 2064, 73), 32, 2)
TRANSPOSED_32 = square("transposed:TILE=32", (847, 7, 9011, 171), 32, 1)
PADDED_32 = square("padded:TILE=32", (748, 9, 2064, 73), 32, 1)
TRACES = (TILED, TILED_32, TRANSPOSED_32, PADDED_32)
