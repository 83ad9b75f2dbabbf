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
    "begin": Kind.OTHER,
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
    ratio: float = 1.06,
) -> Trace:
    """A trace whose tiles have these phases: name, cycles, first and last line.

    Every warp takes the same time, but each tenth block a tenth longer; depth is a tile's of K.
    """
    tiles = math.ceil(size[2] / depth)
    life = BEFORE + tiles * sum(cycles for _, cycles, _, _ in tile) + AFTER
    outside = [("begin", BEFORE, 1, tile[0][2] - 1), ("store", AFTER, *(tile[-1][3] + 2,) * 2)]
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
    seen: set[int] = set()
    blocks = []
    for number in range(across * down):
        start, where = heapq.heappop(free)
        end = start + round(life / GHZ * (1.1 if number % 10 == 0 else 1))
        heapq.heappush(free, (end, where))
        traced = () if where in seen else (warp,) * traced_warps
        seen.add(where)
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


def copied(copy: int, wait: int, inner: int, last: int) -> list[tuple[str, int, int, int]]:
    """The phases of a tile of the kernels from tiled to swizzled, with their lines."""
    return [
        ("copy", copy, 19, 22), ("wait", wait, 23, 23), ("inner loop", inner, 25, 26),
        ("wait", last, 27, 27),
    ]  # fmt: skip


def square(kernel: str, tile: list[tuple[str, int, int, int]], depth: int, resident: int) -> Trace:
    """A trace at 512 x 512 x 512."""
    return trace_of(kernel, (512, 512, 512), tile, depth, resident)


# Cycles of the first table that was measured, on an H100 at 2048^3.
TILED = square("tiled", copied(702, 12, 744, 73), 16, 8)
TILED_32 = square("tiled:TILE=32", copied(733, 9, 2064, 73), 32, 2)
TRANSPOSED_32 = square("transposed:TILE=32", copied(847, 7, 9011, 171), 32, 1)
PADDED_32 = square("padded:TILE=32", copied(748, 9, 2064, 73), 32, 1)
TRACES = (TILED, TILED_32, TRANSPOSED_32, PADDED_32)
