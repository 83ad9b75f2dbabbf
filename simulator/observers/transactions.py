"""What one warp instruction costs: 32-byte sectors in global memory, wavefronts in shared memory.

Rules and figures are as an NVIDIA H200's own counters showed them (tests hold the comparison).
"""

from __future__ import annotations

import numpy as np

from simulator.language.ctype import WIDEST_ACCESS, Array
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind

SECTOR_BYTES = 32  # the unit that global memory moves (CUDA C++ Best Practices Guide, coalescing)
BANKS = 32  # shared memory's banks, each BANK_BYTES wide (CUDA C++ Programming Guide)
BANK_BYTES = 4
LINE_BYTES = 128  # what the L1 cache holds together, and a word of each bank
IDLE = -1  # the sector or word of a lane that takes no part


def instructions(width: int, size: int) -> tuple[tuple[int, int], ...]:
    """The instructions that move `width` bytes of elements of `size`: (first byte, bytes) of each.

    It is one, except for a vector of three: no instruction moves 12 or 24 bytes (PTX ISA, ld), so
    that each component has its own; and for 32 bytes, which are two of 16.

    >>> instructions(16, 4), instructions(12, 4), instructions(32, 8)
    (((0, 16),), ((0, 4), (4, 4), (8, 4)), ((0, 16), (16, 16)))
    """
    if width & (width - 1):
        return tuple((first, size) for first in range(0, width, size))
    if width > WIDEST_ACCESS:
        return tuple((first, WIDEST_ACCESS) for first in range(0, width, WIDEST_ACCESS))
    return ((0, width),)


def sectors(addresses: Array, active: Array, width: int) -> Array:
    """Distinct 32-byte sectors that each warp touches: int [warps].

    addresses int [warps, 32] in bytes, each a multiple of width; active bool [warps, 32]; width in
    bytes a lane.

    >>> lanes = np.arange(32).reshape(1, 32)
    >>> everyone = np.ones((1, 32), np.bool_)
    >>> sectors(lanes * 4, everyone, 4), sectors(lanes * 4 * 64, everyone, 4)
    (array([4]), array([32]))
    """
    ordered = np.sort(np.where(active, addresses // SECTOR_BYTES, IDLE), axis=1)
    count: Array = _first_of_equals(ordered).sum(axis=1)
    return count


def copied_sectors(
    addresses: Array, active: Array, width: int, targets: Array | None = None
) -> Array:
    """The sectors that an asynchronous copy to shared memory moves: int [warps]; see sectors().

    targets int [warps, 32] are the bytes of shared memory, from its start, that the lanes write to.
    At 16 bytes a lane a copy bypasses L1. Then only the two lanes of a pair share a sector, and
    not where they write to two lines of shared memory. So an H200's counters showed: a kernel's
    tiles of 128 bytes a row, their rows 144 bytes apart, take one sector more in every second row.

    >>> lanes = np.arange(32).reshape(1, 32)
    >>> everyone = np.ones((1, 32), np.bool_)
    >>> copied_sectors(lanes * 16, everyone, 16, lanes * 16)
    array([16])
    >>> copied_sectors(lanes * 16, everyone, 16, lanes * 16 + 16)
    array([20])
    """
    if width < 16:
        return sectors(addresses, active, width)
    numbers = np.where(active, addresses // SECTOR_BYTES, IDLE).reshape(len(addresses), -1, 2)
    shared = numbers[:, :, 0] == numbers[:, :, 1]
    if targets is not None:
        lines = (targets // LINE_BYTES).reshape(len(targets), -1, 2)
        shared &= lines[:, :, 0] == lines[:, :, 1]
    shared &= active.reshape(len(active), -1, 2).all(axis=2)
    count: Array = active.sum(axis=1) - shared.sum(axis=1)
    return count


def phases(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """The phase in which shared memory serves each lane, counted from 0: int [warps, 32].

    Accesses of 4 bytes a lane take one phase, of 8 bytes one for each half of a warp, of 16 bytes
    one for each quarter. A load whose lanes have equal addresses in pairs, every lane and the next
    or every lane and the next but one, takes two such phases as one; a lane that is not active
    fits any other. So did an H200 in each single load and store whose counters were read.
    """
    lanes = WARP_SIZE * BANK_BYTES // max(width, BANK_BYTES)
    numbers = np.broadcast_to(np.arange(WARP_SIZE) // lanes, addresses.shape)
    if kind == AccessKind.LOAD and width > BANK_BYTES:
        merged = np.zeros(len(addresses), np.bool_)
        for bit in (1, 2):
            other = np.arange(WARP_SIZE) ^ bit
            same = (addresses == addresses[:, other]) | ~active | ~active[:, other]
            merged |= same.all(axis=1)
        numbers = numbers // np.where(merged, 2, 1)[:, None]
    return numbers


def wavefronts(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """Wavefronts that each warp's load or store takes: int [warps]; arguments as of sectors().

    A wavefront serves one word from each bank, to any number of lanes of one phase.

    >>> lanes = np.arange(32).reshape(1, 32)
    >>> everyone = np.ones((1, 32), np.bool_)
    >>> wavefronts(lanes * 4, everyone, 4, AccessKind.LOAD)  # a word of each bank
    array([1])
    >>> wavefronts(lanes * 4 * 32, everyone, 4, AccessKind.LOAD)  # a column: all in bank 0
    array([32])
    """
    words_per_lane = max(1, width // BANK_BYTES)  # also the most phases that there can be
    words = (addresses // BANK_BYTES)[:, :, None] + np.arange(words_per_lane)
    words = words.reshape(len(addresses), -1)
    numbers = phases(addresses, active, width, kind)
    count = np.zeros(len(addresses), np.int64)
    for phase in range(words_per_lane):
        in_phase = np.repeat(active & (numbers == phase), words_per_lane, axis=1)
        count += _busiest_bank(words, in_phase)
    return count


def _busiest_bank(words: Array, active: Array) -> Array:
    """The largest number of distinct active words that fall in one bank, in each row."""
    rows = words.shape[0]
    ordered = np.sort(np.where(active, words, IDLE), axis=1)
    fresh = _first_of_equals(ordered)
    banks = ordered % BANKS + BANKS * np.arange(rows)[:, None]
    counts = np.bincount(banks[fresh], minlength=rows * BANKS).reshape(rows, BANKS)
    busiest: Array = counts.max(axis=1)
    return busiest


def _first_of_equals(ordered: Array) -> Array:
    """Where a sorted row has a number for the first time, IDLE apart: bool, of the same shape."""
    first = np.ones(ordered.shape, np.bool_)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first &= ordered >= 0
    return first


def ideal_wavefronts(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """Wavefronts of each warp if no two words met in a bank, one a phase: int [warps]."""
    numbers = phases(addresses, active, width, kind)
    count = np.zeros(len(addresses), np.int64)
    for phase in range(max(1, width // BANK_BYTES)):
        count += (active & (numbers == phase)).any(axis=1)
    return count
