"""Launches of the catalogue's kernels on random inputs, for the tables of tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator import Kernel, Launch, Report, catalogue, compile_kernel, simulate


def matmul(
    name: str, M: int, N: int, K: int, edit: tuple[tuple[str, str], ...] = (), **chosen: int
) -> tuple[Kernel, Launch]:
    """A catalogue kernel, its text edited, with random A and B and C full of NaN."""
    entry = catalogue()[name]
    text = entry.source(**chosen)
    for old, new in edit:
        assert old in text, old
        text = text.replace(old, new)
    kernel = compile_kernel(text, entry.kernel, filename=entry.file)
    random = np.random.default_rng(M * 10007 + N * 101 + K)
    arguments: dict[str, Any] = {
        "A": random.standard_normal((M, K), dtype=np.float32),
        "B": random.standard_normal((K, N), dtype=np.float32),
        "C": np.full((M, N), np.nan, np.float32),
        "M": M,
        "N": N,
        "K": K,
    }
    return kernel, entry.launch(arguments, **chosen)


def launch_text(
    text: str, name: str = "k", grid: int = 1, block: int = 32, shared: int = 0, **arguments: Any
) -> tuple[Kernel, Launch]:
    """A kernel from its text, on a line of blocks of a line of threads."""
    kernel = compile_kernel(text, name)
    return kernel, Launch((grid, 1, 1), (block, 1, 1), arguments, shared)


def run_text(text: str, name: str = "k", **launch: Any) -> Report:
    """The report of such a kernel; `launch` as launch_text takes it."""
    return simulate(*launch_text(text, name, **launch))
