"""What one warp instruction costs, in tables small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.observers.transactions import (
    copied_sectors,
    ideal_wavefronts,
    instructions,
    phases,
    sectors,
    wavefronts,
)

LANES = np.arange(32)
ALL = np.ones((1, 32), np.bool_)


@pytest.mark.parametrize(
    ("width", "size", "expected"),
    [
        (1, 1, ((0, 1),)),
        (4, 4, ((0, 4),)),
        (8, 4, ((0, 8),)),
        (16, 4, ((0, 16),)),
        (16, 8, ((0, 16),)),
        (3, 1, ((0, 1), (1, 1), (2, 1))),
        (12, 4, ((0, 4), (4, 4), (8, 4))),
        (24, 8, ((0, 8), (8, 8), (16, 8))),
    ],
)
def test_only_a_vector_of_three_is_moved_by_component(
    width: int, size: int, expected: tuple[tuple[int, int], ...]
) -> None:
    assert instructions(width, size) == expected


# Byte addresses of the 32 lanes, the lanes that are active, sectors of an ordinary access, and of
# an asynchronous copy of 16 bytes, which shares a sector only within a pair of lanes.
SECTORS = {
    "next to each other": (16 * LANES, LANES >= 0, 16, 16),
    "one address": (0 * LANES, LANES >= 0, 1, 16),
    "every other lane": (16 * LANES, LANES % 2 == 0, 16, 16),
    "one lane": (16 * LANES, LANES == 5, 1, 1),
    "the first sector": (0 * LANES, LANES == 0, 1, 1),
    "none": (16 * LANES, LANES < 0, 0, 0),
    "a sector a lane": (32 * LANES, LANES >= 0, 32, 32),
    "pairs turned": (16 * (LANES ^ 1), LANES >= 0, 16, 16),
    "pairs apart": (16 * (LANES ^ 2), LANES >= 0, 16, 16),
    "shifted by half a sector": (16 * LANES + 16, LANES >= 0, 17, 32),
}  # fmt: skip


@pytest.mark.parametrize("name", SECTORS)
def test_sectors_of_an_access_and_of_a_copy(name: str) -> None:
    addresses, active, ordinary, copied = SECTORS[name]
    addresses, active = np.stack([addresses, addresses * 0]), np.stack([active, LANES == 1])
    assert sectors(addresses, active, 16).tolist() == [ordinary, 1]
    assert copied_sectors(addresses, active, 16).tolist() == [copied, 1]
    assert copied_sectors(addresses, active, 8).tolist() == [ordinary, 1]


# Bytes from one row of a tile in shared memory to the next, a row's bytes, and how many sectors
# more than it reads a warp's copy takes, as an H200 counted them in kernels on tensor cores.
PADDED_ROWS = {"144 apart": (144, 128, 2), "128 apart": (128, 128, 0), "1056 apart": (1056, 512, 0)}


@pytest.mark.parametrize("name", PADDED_ROWS)
def test_a_copy_to_two_lines_takes_its_sector_twice(name: str) -> None:
    pitch, row, more = PADDED_ROWS[name]
    bytes_ = 16 * LANES
    targets = (bytes_ // row * pitch + bytes_ % row)[None]
    assert copied_sectors(bytes_[None], ALL, 16, targets).tolist() == [16 + more]
    half_row = copied_sectors(bytes_[None], ALL, 16, targets + 528)
    assert half_row.tolist() == [16 + (4 if pitch != 144 else 2)]
    one_of_each_pair = (LANES % 2 == 0)[None]
    assert copied_sectors(bytes_[None], one_of_each_pair, 16, targets).tolist() == [16]
    assert copied_sectors(bytes_[None], ALL, 8, targets + 16).tolist() == [16]


# Width, lanes' addresses, active lanes, then the wavefronts of a load, those of a store, and of
# each those without bank conflicts.
WAVEFRONTS = {
    "a word each": (4, 4 * LANES, LANES >= 0, (1, 1), (1, 1)),
    "one word": (4, 0 * LANES, LANES >= 0, (1, 1), (1, 1)),
    "two words of a bank": (4, 128 * (LANES % 2), LANES >= 0, (2, 2), (1, 1)),
    "a column": (4, 128 * LANES, LANES >= 0, (32, 32), (1, 1)),
    "half a column": (4, 128 * LANES, LANES % 2 == 0, (16, 16), (1, 1)),
    "a padded column": (4, 132 * LANES, LANES >= 0, (1, 1), (1, 1)),
    "no lane": (4, 4 * LANES, LANES < 0, (0, 0), (0, 0)),
    "one lane": (16, 16 * LANES, LANES == 9, (1, 1), (1, 1)),
    "the first lane": (16, 16 * LANES, LANES == 0, (1, 1), (1, 1)),
    "8 bytes each": (8, 8 * LANES, LANES >= 0, (2, 2), (2, 2)),
    "8 bytes of the first half": (8, 8 * LANES, LANES < 16, (1, 1), (1, 1)),
    "8 bytes in pairs": (8, 8 * (LANES // 2), LANES >= 0, (1, 2), (1, 2)),
    "8 bytes with the next but one": (
        8, 8 * (LANES // 4 * 2 + LANES % 2), LANES >= 0, (1, 2), (1, 2)),
    "8 bytes in fours apart": (8, 8 * (LANES % 4), LANES >= 0, (2, 2), (2, 2)),
    "8 bytes, 128 apart": (8, 128 * LANES, LANES >= 0, (32, 32), (2, 2)),
    "16 bytes each": (16, 16 * LANES, LANES >= 0, (4, 4), (4, 4)),
    "16 bytes in pairs": (16, 16 * (LANES // 2), LANES >= 0, (2, 4), (2, 4)),
    "16 bytes, all alike": (16, 0 * LANES, LANES >= 0, (2, 4), (2, 4)),
    "16 bytes, pairs by the inactive": (16, 16 * LANES, LANES % 2 == 0, (4, 4), (2, 4)),
    "16 bytes, one lane spoils the pairs": (
        16, np.where(LANES == 7, 624, 16 * (LANES // 2)), LANES >= 0, (4, 4), (4, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", WAVEFRONTS)
def test_wavefronts_and_the_ideal(name: str) -> None:
    width, addresses, active, expected, ideal = WAVEFRONTS[name]
    addresses, active = np.stack([addresses, addresses]), np.stack([active, LANES < 0])
    for kind, passes, least in zip(("load", "store"), expected, ideal, strict=True):
        assert wavefronts(addresses, active, width, kind).tolist() == [passes, 0]
        assert ideal_wavefronts(addresses, active, width, kind).tolist() == [least, 0]


@pytest.mark.parametrize(("width", "lanes"), [(1, 32), (4, 32), (8, 16), (16, 8)])
def test_a_phase_moves_128_bytes(width: int, lanes: int) -> None:
    found = phases(width * LANES[None], ALL, width, "store")
    assert found.tolist() == [(LANES // lanes).tolist()]


def test_counts_are_whole_numbers() -> None:
    addresses = 16 * LANES[None]
    for counts in (
        sectors(addresses, ALL, 16),
        copied_sectors(addresses, ALL, 16),
        wavefronts(addresses, ALL, 16, "load"),
        ideal_wavefronts(addresses, ALL, 16, "load"),
    ):
        assert counts.dtype.kind == "i"
