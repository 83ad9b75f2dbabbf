"""How long kernels take: CUDA events, a cold L2, candidates in turn, and the spread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpu.progress import Progress

FLUSH_BYTES = 256 * 2**20  # larger than any GPU's L2
WARM_UP_SECONDS = 0.1  # clocks rise within it
FEWEST_ROUNDS = 20
MOST_ROUNDS = 200
QUEUED = 200  # launches of four commands each, of which a GPU's queue has 1,024
TARGET_MS = 200.0
REPORT_SECONDS = 0.1
STEADY = 0.05  # of the median, between the 20th and the 80th percentile of steady samples
MOST_RUNS = 3
AGAIN_SECONDS = 100.0  # after which a run is not repeated


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of one launch."""

    ms: float  # the median
    p20: float  # the 20th percentile, milliseconds
    p80: float  # the 80th percentile, milliseconds
    repeats: int  # launches that were measured
    # Microseconds of the call that queues a launch, by the host's clock: the median. None where the
    # call waits for the launch's end.
    call_us: float | None = None

    @property
    def spread(self) -> float:
        """From the 20th to the 80th percentile, as a share of the median."""
        return (self.p80 - self.p20) / self.ms if self.ms else 0.0


def summarise(samples: Sequence[float]) -> Timing:
    """The Timing of measured milliseconds, at least one."""
    low, middle, high = (float(value) for value in np.percentile(samples, (20, 50, 80)))
    return Timing(middle, low, high, len(samples))


def rounds(slowest_ms: float) -> int:
    """How often each candidate runs: 200 ms of the slowest, never under 20 times."""
    if slowest_ms <= 0:
        return MOST_ROUNDS
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(TARGET_MS / slowest_ms)))


def measure(launches: Mapping[str, Callable[[], object]], progress: Progress) -> dict[str, Timing]:
    """Time each launch on the current device; the launches only queue work.

    All candidates run once a round, and each round starts with the next candidate, so that a drift
    of the clocks affects all alike. Before every run 256 MB are overwritten, which empties the L2
    and keeps the GPU busy while the host queues the next commands: the events are then close
    around the kernel. Nothing waits for the GPU until everything is queued.
    """
    import cupy

    names = list(launches)
    scratch = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)
    calls: dict[str, list[float]] = {name: [] for name in names}  # microseconds

    def run(name: str) -> tuple[cupy.cuda.Event, cupy.cuda.Event]:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        scratch.data.memset_async(0, FLUSH_BYTES)
        start.record()
        began = time.perf_counter()
        launches[name]()
        calls[name].append((time.perf_counter() - began) * 1e6)
        end.record()
        return start, end

    def elapsed(pair: tuple[cupy.cuda.Event, cupy.cuda.Event]) -> float:
        return float(cupy.cuda.get_elapsed_time(*pair))

    estimates: dict[str, float] = {}
    began = time.perf_counter()
    while not estimates or time.perf_counter() - began < WARM_UP_SECONDS:
        for name in names:
            progress(f"Warming up {name}", 0.0)
            pair = run(name)
            pair[1].synchronize()
            estimates[name] = elapsed(pair)
    count = rounds(max(estimates.values()))
    calls = {name: [] for name in names}  # without the first launch's, which loads the program
    queued: list[tuple[str, tuple[cupy.cuda.Event, cupy.cuda.Event]]] = []
    reports = RunProgress(progress, len(names), count)
    for name in round_robin(names, count):
        queued.append((name, run(name)))
        while reports.ended < len(queued) and queued[reports.ended][1][1].done:
            reports.next(queued[reports.ended][0])
    for name, pair in queued[reports.ended :]:
        pair[1].synchronize()
        reports.next(name)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for name, pair in queued:
        samples[name].append(elapsed(pair))
    first = max(1, QUEUED // len(names))  # rounds; later calls wait while the GPU's queue is full
    return {
        name: replace(summarise(taken), call_us=float(np.median(calls[name][:first])))
        for name, taken in samples.items()
    }


def measure_steadily(
    launches: Mapping[str, Callable[[], object]], progress: Progress
) -> tuple[dict[str, Timing], int]:
    """`measure`, again while the samples of a launch are not steady; and how many runs were made.

    The timings are from one run, in which the widest spread is the least: a ratio of two of
    them is of launches in turn. A GPU at its power limit, or one that others use, stays unsteady,
    so that there are MOST_RUNS at most.
    """
    began, runs = time.perf_counter(), list[dict[str, Timing]]()
    while not runs or (
        _widest(runs[-1]) > STEADY
        and len(runs) < MOST_RUNS
        and time.perf_counter() - began < AGAIN_SECONDS
    ):
        runs.append(measure(launches, progress))
    return min(runs, key=_widest), len(runs)


def _widest(run: Mapping[str, Timing]) -> float:
    return max(timing.spread for timing in run.values())


def measure_calls(
    calls: Mapping[str, Callable[[], object]], progress: Progress
) -> dict[str, Timing]:
    """Time each call by the host's clock; a call returns when its work on all GPUs has ended.

    As in `measure`, all run once a round in turn; the L2 is not emptied.
    """

    def run(name: str) -> float:
        began = time.perf_counter()
        calls[name]()
        return (time.perf_counter() - began) * 1e3

    estimates: dict[str, float] = {}
    began = time.perf_counter()
    while not estimates or time.perf_counter() - began < WARM_UP_SECONDS:
        for name in calls:
            progress(f"Warming up {name}", 0.0)
            estimates[name] = run(name)
    count = rounds(max(estimates.values()))
    reports = RunProgress(progress, len(calls), count)
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for name in round_robin(list(calls), count):
        samples[name].append(run(name))
        reports.next(name)
    return {name: summarise(taken) for name, taken in samples.items()}


def round_robin(names: Sequence[str], count: int) -> Iterator[str]:
    """Each name once in each of `count` rounds, every round starting with the next one."""
    for turn in range(count):
        for index in range(len(names)):
            yield names[(turn + index) % len(names)]


class RunProgress:
    """Reports the runs that have ended, at most ten times a second."""

    def __init__(self, progress: Progress, candidates: int, count: int) -> None:
        self.ended = 0
        self._progress = progress
        self._candidates = candidates
        self._count = count
        self._next = 0.0

    def next(self, name: str) -> None:
        """Count a run of the kernel `name` that has ended, and report it if it is time."""
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + REPORT_SECONDS
            turn = self.ended // self._candidates + 1
            share = self.ended / (self._candidates * self._count)
            self._progress(f"Timing {name}, round {turn} of {self._count}", share)
        self.ended += 1
