"""The shapes that are measured: drawn at random, so that no kernel is made for them."""

from __future__ import annotations

import math
import random

SEED = 20261123
COUNT = 60
SHORTEST, LONGEST = 64, 8192  # of a side
# Squares, and what the ladder's kernels fall behind on: few tiles, a long K, ragged rows.
KNOWN = (
    (512, 512, 512),
    (1000, 1000, 1000),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (3000, 3000, 3000),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (4095, 4097, 1023),
    (5120, 2560, 1280),
    (256, 256, 16384),
    (16384, 256, 256),
)

Size = tuple[int, int, int]  # M, N, K


def random_sizes(count: int = COUNT, seed: int = SEED) -> tuple[Size, ...]:
    """Shapes whose sides are spread evenly over the logarithm, from SHORTEST to LONGEST.

    In turn the sides of one are multiples of 128, multiples of 4, and odd.

    >>> random_sizes(3)
    ((2432, 4992, 1536), (140, 3304, 100), (4017, 421, 157))
    """
    generator = random.Random(seed)  # noqa: S311  # nothing secret

    def side(kind: int) -> int:
        drawn = math.exp(generator.uniform(math.log(SHORTEST), math.log(LONGEST)))
        if kind == 0:
            return max(128, round(drawn / 128) * 128)
        return max(SHORTEST, round(drawn / 4) * 4) if kind == 1 else int(drawn) | 1

    return tuple((side(i % 3), side(i % 3), side(i % 3)) for i in range(count))
