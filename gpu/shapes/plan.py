"""Which kernel is the fastest for a shape: predicted from a few measured times, with the reason.

Blocks run in waves: a multiprocessor holds so many of a kernel's blocks, and when they end the next
come. The last wave may leave multiprocessors idle, and takes as long as one that does not. So the
time of a launch follows from how long the blocks of a wave take for each k, which is measured once
a kernel for each number of blocks on a multiprocessor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from simulator.catalogue import FEW

PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)  # of K, each with a block of its own
FEWEST_K = 64  # of a piece
MOST_WAVES = 6  # of a launch whose K is in pieces
WIDE = 4  # values in a copy of 16 bytes

Few = Literal["", "rows", "columns"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds of blocks with 1, 2, … of them on each multiprocessor, as many as it holds."""

    start_ms: tuple[float, ...]  # to begin and to end
    k_ms: tuple[float, ...]  # for each k

    def time(self, blocks: int, K: int) -> float:
        """Milliseconds of a wave with so many blocks on a multiprocessor, at least one."""
        return self.start_ms[blocks - 1] + self.k_ms[blocks - 1] * K


@dataclass(frozen=True, slots=True)
class Tuned:
    """One kernel in one setting, and how long its blocks take."""

    name: str  # as gpu.candidate.choose takes it
    rows: int  # of C that a block computes
    columns: int  # of C that a block computes
    depth: int  # columns of A in one tile of K
    wide: Pace  # where rows of B begin on 16 bytes
    # Where they do not, and of blocks that take a piece of K each and add their sums to C. None
    # for a kernel that also needs K to be a multiple of depth, in one piece.
    narrow: Pace | None
    wide_pieces: Pace | None
    narrow_pieces: Pace | None
    # "rows" or "columns" where C had those of one block, and the other matrix was read once: such a
    # kernel is offered where C has at most twice as many. "" where C had about as many of both.
    few: Few = ""

    def pace(self, is_narrow: bool, pieces: int) -> Pace | None:
        """How long its blocks take with K in so many pieces; None where it cannot run so."""
        if pieces == 1:
            return self.narrow if is_narrow else self.wide
        return self.narrow_pieces if is_narrow else self.wide_pieces


@dataclass(frozen=True, slots=True)
class Table:
    """What was measured on one GPU."""

    multiprocessors: int
    launch_ms: float  # of a launch that does nothing
    zero_ms: float  # to fill C with zeros, where blocks are to add to it
    pad_ms: float  # to begin copying B to rows of whole 16 bytes
    pad_value_ms: float  # for each value of B that is copied
    kernels: tuple[Tuned, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to compute a product of one shape."""

    kernel: str  # a Tuned's name
    pieces: int  # of K
    is_padded: bool  # B is first copied to rows of whole 16 bytes
    blocks: int
    resident: int  # the most of its blocks that a multiprocessor holds
    waves: int
    predicted_ms: float
    reason: str  # a sentence


def choose(table: Table, size: Sequence[int]) -> Plan:
    """The plan of the least predicted time for M, N, K."""
    return min(plans(table, size), key=lambda plan: plan.predicted_ms)


def offered(table: Table, size: Sequence[int]) -> tuple[Tuned, ...]:
    """The kernels for M, N, K: where C has few rows or columns, those measured with as few.

    Two blocks may share the large matrix: one reads what the other has just brought into the L2.
    """
    M, N, _ = size
    few = tuple(
        kernel for kernel in table.kernels
        if (kernel.few == "rows" and min(FEW, 2 * kernel.rows) >= M)
        or (kernel.few == "columns" and min(FEW, 2 * kernel.columns) >= N)
    )  # fmt: skip
    return few or tuple(kernel for kernel in table.kernels if not kernel.few)


def plans(table: Table, size: Sequence[int]) -> Iterator[Plan]:
    """Every way to compute a product of M, N, K that the table knows."""
    M, N, K = size
    is_ragged = N % WIDE != 0
    for kernel in offered(table, size):
        if kernel.narrow is None and (is_ragged or K % kernel.depth):
            continue
        tiles = math.ceil(M / kernel.rows) * math.ceil(N / kernel.columns)
        most = table.multiprocessors * len(kernel.wide.k_ms) * MOST_WAVES  # blocks
        for pieces in PIECES:
            if pieces == 1 or (tiles * pieces <= most and pieces * FEWEST_K <= K):
                # B is not copied where reading it once is all the work.
                for pads in (False, True) if is_ragged and kernel.few != "rows" else (False,):
                    pace = kernel.pace(is_ragged and not pads, pieces)
                    if pace is not None:
                        yield predict(table, kernel, pace, (M, N, K), pieces, pads)


def predict(
    table: Table, kernel: Tuned, pace: Pace, size: tuple[int, int, int], pieces: int, pads: bool
) -> Plan:
    """The plan of one kernel for M, N, K, with K in pieces and B copied first if `pads`."""
    M, N, K = size
    tiles = math.ceil(M / kernel.rows) * math.ceil(N / kernel.columns)
    blocks, held = tiles * pieces, len(pace.k_ms)
    length = math.ceil(K / (pieces * kernel.depth)) * kernel.depth  # of a piece, in whole tiles
    in_waves = waves_of(table.multiprocessors, pace, blocks, length)
    spent = table.launch_ms + sum(count * ms for count, _, ms in in_waves)
    if pieces > 1:
        spent += table.zero_ms
    if pads:
        spent += table.pad_ms + table.pad_value_ms * K * N
    waves = sum(count for count, _, _ in in_waves)
    reason = _reason(table.multiprocessors, kernel, tiles, pieces, pads, held, waves)
    return Plan(kernel.name, pieces, pads, blocks, held, waves, spent, reason)


def waves_of(
    multiprocessors: int, pace: Pace, blocks: int, length: int
) -> list[tuple[int, int, float]]:
    """The waves of a launch: how many, of how many blocks, for how many milliseconds each.

    All but the last have as many blocks as there are places; length is what each takes of K.
    """
    held = len(pace.k_ms)
    full, rest = divmod(blocks, multiprocessors * held)
    found = [(full, multiprocessors * held, pace.time(held, length))] if full else []
    if rest:
        found.append((1, rest, pace.time(math.ceil(rest / multiprocessors), length)))
    return found


def _reason(
    multiprocessors: int, kernel: Tuned, tiles: int, pieces: int, pads: bool, held: int, waves: int
) -> str:
    blocks, tile = tiles * pieces, f"{kernel.rows} x {kernel.columns}"
    counted = "1 tile" if tiles == 1 else f"{tiles:,} tiles"
    sentence = f"{multiprocessors} multiprocessors, {counted} of {tile}: "
    if pieces > 1:
        sentence += f"K in {pieces} pieces makes {blocks:,} blocks"
    else:
        sentence += "one block" if tiles == 1 else "a block for each"
    if waves > 1:
        sentence += f", {waves} waves of {held} on each multiprocessor."
    elif blocks > multiprocessors:
        sentence += f", up to {math.ceil(blocks / multiprocessors)} on each multiprocessor at once."
    else:
        sentence += ", all at once."
    if pads:
        sentence += " Rows of B do not begin at multiples of 16 bytes, so copies that do are made."
    return sentence
