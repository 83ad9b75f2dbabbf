"""The recordings that the tests of a scene look at."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from simulator import Recording, catalogue, compile_kernel, record
from ui.analysis.scene_model import SceneModel, build_scene_model

WARP_TILE = {"WARPS_DOWN": 1, "WARPS_ACROSS": 1, "ROWS": 4, "COLUMNS": 4, "DEPTH": 4}
SIZES = [  # kernel, M, N, K, block x and y, macros
    ("naive", 8, 32, 4, (0, 0), {}),
    ("uncoalesced", 32, 8, 3, (0, 0), {}),
    ("tiled", 4, 4, 4, (1, 1), {"TILE": 2}),
    ("tiled", 8, 8, 8, (1, 0), {"TILE": 4}),
    ("tiled", 5, 7, 3, (1, 1), {"TILE": 4}),
    ("tiled", 64, 64, 64, (1, 2), {"TILE": 16}),
    ("tiled_double", 10, 9, 7, (1, 1), {"TILE": 4}),
    ("transposed", 32, 32, 16, (0, 1), {"TILE": 16}),
    ("padded", 16, 16, 16, (1, 0), {"TILE": 8}),
    ("swizzled", 8, 8, 8, (0, 0), {"TILE": 8}),
    ("rows", 8, 8, 8, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("registers", 8, 8, 4, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 2}),
    ("vectors", 8, 8, 4, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("pipelined", 8, 8, 8, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("warptiles", 16, 32, 8, (0, 0), WARP_TILE),
    ("warptiles", 32, 32, 8, (0, 0), WARP_TILE | {"WARPS_DOWN": 2}),
]


@functools.cache
def recorded(number: int) -> Recording:
    name, M, N, K, (x, y), defines = SIZES[number]
    return run(name, M, N, K, (x, y, 0), defines)


def run(name, M, N, K, block=(0, 0, 0), defines=None, text=None, schedule="lockstep") -> Recording:
    kernel, launch = launched(name, M, N, K, defines, text)
    return record(kernel, launch, block, schedule)


def launched(name, M, N, K, defines=None, text=None):
    entry, random = catalogue()[name], np.random.default_rng((M, N, K))
    arguments = {
        "A": random.integers(1, 10, (M, K)), "B": random.integers(1, 10, (K, N)),
        "C": np.zeros((M, N)), "M": M, "N": N, "K": K,
    }  # fmt: skip
    text = text or entry.source(**(defines or {}))
    return compile_kernel(text, entry.kernel), entry.launch(arguments, **(defines or {}))


def scene_model(number: int) -> SceneModel:
    recording = recorded(number)
    return build_scene_model(recording, recording.launch.threads // 3)


EACH = pytest.mark.parametrize("number", range(len(SIZES)), ids=lambda i: f"{SIZES[i][0]}-{i}")


def boxes(path: str) -> list[tuple[float, ...]]:
    numbers = r"M([\d.]+),([\d.]+)H([\d.]+)V([\d.]+)H\1Z"
    assert re.fullmatch(
        f"(?:{numbers.replace('(', '(?:').replace(chr(92) + '1', '[0-9.]+')})*", path
    )
    return [tuple(map(float, found)) for found in re.findall(numbers, path)]
