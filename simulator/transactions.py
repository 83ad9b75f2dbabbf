"""What one warp instruction costs: 32-byte sectors in global memory, wavefronts in shared memory.

Rules and figures are as an NVIDIA H200's own counters showed them (tests hold the comparison).
"""

from __future__ import annotations

import numpy as np

from simulator.ctype import Array

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


def wavefronts(addresses: Array, active: Array, width: int) -> Array:
    """Passes through shared memory that each warp's instruction takes: [warps].

    A pass serves one word from each bank, to any number of lanes. Accesses of 8 bytes go half a
    warp at a time, of 16 bytes a quarter at a time.
    """
    lanes = WARP * BANK_BYTES // max(width, BANK_BYTES)
    phases = WARP // lanes
    words = max(1, width // BANK_BYTES)
    warps = addresses.shape[0]
    first = (addresses // BANK_BYTES).reshape(warps * phases, lanes, 1)
    touched = (first + np.arange(words)).reshape(warps * phases, lanes * words)
    live = np.repeat(active.reshape(warps * phases, lanes), words, axis=1)
    passes: Array = _busiest_bank(touched, live).reshape(warps, phases).sum(axis=1)
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


def ideal_wavefronts(active: Array, width: int) -> Array:
    """Wavefronts of each warp if no two words met in a bank: [warps], from its active lanes."""
    lanes = WARP * BANK_BYTES // max(width, BANK_BYTES)
    count: Array = active.reshape(active.shape[0], -1, lanes).any(axis=2).sum(axis=1)
    return count
