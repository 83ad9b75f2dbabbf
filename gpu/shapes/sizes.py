"""The shapes that are measured: drawn at random, so that no kernel is made for them."""

from __future__ import annotations

import math
import random

from simulator.catalogue import FEW

SEED = 20261123
COUNT = 60
FEW_COUNT = 20
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
# Of few rows and of few columns, where the other matrix is read once, as fast as memory gives it.
FEW_KNOWN = tuple(
    size
    for side in (4096, 8192)
    for few in (1, 2, 4, 8)
    for size in ((few, side, side), (side, few, side))
)

Size = tuple[int, int, int]  # M, N, K


def random_sizes(count: int = COUNT) -> tuple[Size, ...]:
    """Shapes whose sides are spread evenly over the logarithm, from SHORTEST to LONGEST.

    In turn the sides of one are multiples of 128, multiples of 4, and odd.

    >>> random_sizes(3)
    ((2432, 4992, 1536), (140, 3304, 100), (4017, 421, 157))
    """
    generator = random.Random(SEED)  # noqa: S311  # nothing secret
    return tuple(
        (_side(generator, i % 3), _side(generator, i % 3), _side(generator, i % 3))
        for i in range(count)
    )


def few_sizes(count: int = FEW_COUNT) -> tuple[Size, ...]:
    """Shapes with few rows and with few columns in turn, 1 to FEW; so are the other sides.

    >>> few_sizes(3)
    ((14, 4992, 1536), (3304, 2, 100), (19, 421, 157))
    """
    generator = random.Random(SEED)  # noqa: S311  # nothing secret
    sizes: list[Size] = []
    for i in range(count):
        few = round(math.exp(generator.uniform(0, math.log(FEW))))
        long, K = _side(generator, i % 3), _side(generator, i % 3)
        sizes.append((long, few, K) if i % 2 else (few, long, K))
    return tuple(sizes)


def _side(generator: random.Random, kind: int) -> int:
    """A side: a multiple of 128, a multiple of 4, or odd, for kind 0, 1 and 2."""
    drawn = math.exp(generator.uniform(math.log(SHORTEST), math.log(LONGEST)))
    if kind == 0:
        return max(128, round(drawn / 128) * 128)
    return max(SHORTEST, round(drawn / 4) * 4) if kind == 1 else int(drawn) | 1
