"""How long kernels take: CUDA events, a cold L2, contestants in turn, and the spread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FLUSH_BYTES = 256 * 2**20  # larger than any GPU's L2
WARM_UP_SECONDS = 0.1  # clocks rise within it
FEWEST_ROUNDS = 20
MOST_ROUNDS = 200
TARGET_MS = 200.0


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one launch: the median, the 20th and 80th percentile, and of how many."""

    ms: float
    p20: float
    p80: float
    repeats: int


def summarise(samples: Sequence[float]) -> Timing:
    """The Timing of measured milliseconds, at least one."""
    low, middle, high = (float(value) for value in np.percentile(samples, (20, 50, 80)))
    return Timing(middle, low, high, len(samples))


def rounds(slowest_ms: float) -> int:
    """How often each contestant runs: 200 ms of the slowest, never under 20 times."""
    if slowest_ms <= 0:
        return MOST_ROUNDS
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(TARGET_MS / slowest_ms)))


def measure(
    launches: Mapping[str, Callable[[], object]], progress: Callable[[str], None]
) -> dict[str, Timing]:
    """Time each launch on the current device; the launches only queue work.

    All contestants run once a round, starting with another one each round, so that a drift of
    the clocks meets all alike. Before every run 256 MB are overwritten, which empties the L2 and
    keeps the GPU busy while the host queues what follows: the events then lie close around the
    kernel. Nothing waits for the GPU until everything is queued.
    """
    import cupy

    names = list(launches)
    scratch = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)

    def run(name: str) -> tuple[cupy.cuda.Event, cupy.cuda.Event]:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        scratch.data.memset_async(0, FLUSH_BYTES)
        start.record()
        launches[name]()
        end.record()
        return start, end

    def elapsed(pair: tuple[cupy.cuda.Event, cupy.cuda.Event]) -> float:
        return float(cupy.cuda.get_elapsed_time(*pair))

    estimates: dict[str, float] = {}
    began = time.perf_counter()
    while not estimates or time.perf_counter() - began < WARM_UP_SECONDS:
        for name in names:
            progress(f"Warming up {name}")
            pair = run(name)
            pair[1].synchronize()
            estimates[name] = elapsed(pair)
    count = rounds(max(estimates.values()))
    progress(f"Timing {', '.join(names)} in turn, {count} rounds")
    queued: dict[str, list[tuple[cupy.cuda.Event, cupy.cuda.Event]]] = {name: [] for name in names}
    for turn in range(count):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            queued[name].append(run(name))
    cupy.cuda.get_current_stream().synchronize()
    return {name: summarise([elapsed(pair) for pair in pairs]) for name, pairs in queued.items()}
