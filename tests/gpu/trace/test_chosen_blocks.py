"""Which of many traced blocks are summed up."""

from __future__ import annotations

import numpy as np
import pytest

from gpu.trace.summary import choose_blocks


@pytest.mark.parametrize(
    ("most", "numbers"),
    [
        (0, [0, 3, 5]),  # of multiprocessor 2 its first block, of 5 its second, of 9 its only one
        (5, [0, 1, 3, 4, 5]),
        (99, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_blocks_are_of_every_multiprocessor_and_of_all_its_places(
    most: int, numbers: list[int]
) -> None:
    multiprocessor = np.array([2, 5, 2, 5, 2, 9, 5])
    assert choose_blocks(multiprocessor, most).tolist() == numbers
