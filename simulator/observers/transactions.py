"""What one warp instruction costs: 32-byte sectors in global memory, wavefronts in shared memory.

Rules and figures are as an NVIDIA H200's own counters showed them (tests hold the comparison).
"""

from __future__ import annotations

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.observer import AccessKind

SECTOR_BYTES = 32  # the unit that global memory moves (CUDA C++ Best Practices Guide, coalescing)
BANKS = 32  # shared memory's banks, each BANK_BYTES wide (CUDA C++ Programming Guide)
BANK_BYTES = 4
WARP = 32


def instructions(width: int, size: int) -> tuple[tuple[int, int], ...]:
    """The instructions that move `width` bytes of elements of `size`: (first byte, bytes) of each.

    One, unless it is a vector of three: there is none of 12 or 24 bytes (PTX ISA, ld), so that
    each component is moved on its own.
    """
    if width & (width - 1):
        return tuple((first, size) for first in range(0, width, size))
    return ((0, width),)


def sectors(addresses: Array, active: Array, width: int) -> Array:
    """Distinct 32-byte sectors that each warp touches: [warps].

    addresses [warps, 32] in bytes, active [warps, 32], width in bytes a lane, aligned to it.
    """
    numbers = np.where(active, addresses // SECTOR_BYTES, -1)
    return _distinct(numbers)


def copied_sectors(addresses: Array, active: Array, width: int) -> Array:
    """The same for an asynchronous copy to shared memory, which bypasses L1 at 16 bytes a lane.

    Then only the two lanes of a pair share a sector, as an H200's counters showed.
    """
    if width < 16:
        return sectors(addresses, active, width)
    pairs = sectors(addresses.reshape(-1, 2), active.reshape(-1, 2), width)
    total: Array = pairs.reshape(len(addresses), -1).sum(axis=1)
    return total


def phases(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """Which lanes of an access to shared memory go together: a phase's number each, [warps, 32].

    A warp's 4 bytes a lane go in one phase, 8 bytes half a warp at a time, 16 bytes a quarter at a
    time. A load whose lanes agree in pairs, every lane and the next or every lane and
    the next but one, takes two such phases as one; a lane that is not active agrees with any. So
    did an H200 in each of the single loads and stores that its counters were read for.
    """
    lanes = WARP * BANK_BYTES // max(width, BANK_BYTES)
    numbers = np.broadcast_to(np.arange(WARP) // lanes, addresses.shape)
    if kind == AccessKind.LOAD and width > BANK_BYTES:
        together = np.zeros(len(addresses), np.bool_)
        for bit in (1, 2):
            other = np.arange(WARP) ^ bit
            same = (addresses == addresses[:, other]) | ~active | ~active[:, other]
            together |= same.all(axis=1)
        numbers = numbers // np.where(together, 2, 1)[:, None]
    return numbers


def wavefronts(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """Passes through shared memory that each warp's load or store takes: [warps].

    A pass serves one word from each bank, to any number of lanes of one phase.
    """
    count = max(1, width // BANK_BYTES)
    words = (addresses // BANK_BYTES)[:, :, None] + np.arange(count)
    numbers = phases(addresses, active, width, kind)
    passes = np.zeros(len(addresses), np.int64)
    for phase in range(count):
        live = np.repeat(active & (numbers == phase), count, axis=1)
        passes += _busiest_bank(words.reshape(len(addresses), -1), live)
    return passes


def _busiest_bank(words: Array, live: Array) -> Array:
    """The largest number of distinct words that fall in one bank, in each row."""
    rows = words.shape[0]
    ordered = np.sort(np.where(live, words, -1), axis=1)
    fresh = np.ones(ordered.shape, np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    fresh &= ordered >= 0
    banks = ordered % BANKS + BANKS * np.arange(rows)[:, None]
    counts = np.bincount(banks[fresh], minlength=rows * BANKS).reshape(rows, BANKS)
    busiest: Array = counts.max(axis=1)
    return busiest


def _distinct(numbers: Array) -> Array:
    """Distinct non-negative numbers in each row."""
    ordered = np.sort(numbers, axis=1)
    fresh = np.ones(ordered.shape, np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    count: Array = (fresh & (ordered >= 0)).sum(axis=1)
    return count


def ideal_wavefronts(addresses: Array, active: Array, width: int, kind: AccessKind) -> Array:
    """Wavefronts of each warp if no two words met in a bank, its phases that is: [warps]."""
    numbers = phases(addresses, active, width, kind)
    count = np.zeros(len(addresses), np.int64)
    for phase in range(max(1, width // BANK_BYTES)):
        count += (active & (numbers == phase)).any(axis=1)
    return count
