"""A process's cache of results: bounded in bytes, keeps the latest, evicts subjects whole."""

from __future__ import annotations

import numpy as np

from gpu.trace.recorded import traces_of_one_gpu_first
from simulator import Kernel, Launch, Recording, compile_kernel, record
from simulator.language.ctype import Array
from ui.jobs.result_cache import ResultCache, bytes_of

TEXT = """
__global__ void running(float* y, int n) {
    for (int i = 0; i < n; ++i) y[threadIdx.x] += i;
}
"""
NUMBERS = 2**16  # bytes of an array below


class Counted:
    """Functions of a subject, which count how often they run."""

    def __init__(self, cache: ResultCache) -> None:
        self.cache = cache
        self.runs: list[tuple[str, int]] = []

    def make(self, subject: int, size: int = NUMBERS) -> Array:
        self.runs.append(("make", subject))
        return np.zeros(size, np.uint8)

    def derive(self, subject: int) -> tuple[Array, Array]:
        self.runs.append(("derive", subject))
        return self.cache.get_or_compute(subject, self.make, subject), np.zeros(NUMBERS, np.uint8)


def test_the_sum_stays_under_the_limit_and_the_latest_stays() -> None:
    cache = ResultCache(7 * NUMBERS // 2)  # three, with their headers
    counted = Counted(cache)
    arrays = []
    for subject in range(6):
        arrays.append(cache.get_or_compute(subject, counted.make, subject))
        assert cache.bytes <= 7 * NUMBERS // 2
    assert cache.get_or_compute(5, counted.make, 5) is arrays[5]
    assert cache.get_or_compute(4, counted.make, 4) is arrays[4]
    assert len(counted.runs) == 6
    cache.get_or_compute(0, counted.make, 0)  # dropped long ago
    assert counted.runs[-1] == ("make", 0)
    cache.get_or_compute(4, counted.make, 4)  # asked for again after 5
    assert len(counted.runs) == 7


def test_one_that_is_larger_than_the_limit_is_computed_once() -> None:
    cache = ResultCache(NUMBERS)
    counted = Counted(cache)
    cache.get_or_compute(1, counted.make, 1)
    for _ in range(3):
        cache.get_or_compute(2, counted.make, 2, 5 * NUMBERS)
        cache.get_or_compute(2, counted.derive, 2)
    assert counted.runs == [("make", 1), ("make", 2), ("derive", 2), ("make", 2)]


def test_what_is_derived_goes_with_what_it_is_derived_from() -> None:
    cache = ResultCache(5 * NUMBERS // 2)
    counted = Counted(cache)
    cache.get_or_compute(1, counted.derive, 1)
    assert counted.runs == [("derive", 1), ("make", 1)]
    assert 2 * NUMBERS < cache.bytes < 5 * NUMBERS // 2  # the array within the tuple counts once
    cache.get_or_compute(2, counted.make, 2)
    assert NUMBERS < cache.bytes < 3 * NUMBERS // 2
    cache.get_or_compute(1, counted.make, 1)
    assert counted.runs[2:] == [("make", 2), ("make", 1)]


def test_recordings_are_bounded_by_bytes() -> None:
    kernel = compile_kernel(TEXT, "running")

    def run(kernel: Kernel, iterations: int) -> Recording:
        arrays = {"y": np.zeros(64, np.float32)}
        return record(kernel, Launch((1, 1, 1), (32, 1, 1), arrays | {"n": iterations}))

    one = bytes_of(run(kernel, 100))
    cache = ResultCache(3 * one)
    for iterations in range(100, 107):
        latest = cache.get_or_compute(iterations, run, kernel, iterations)
        assert one <= cache.bytes <= 3 * one
        assert cache.get_or_compute(iterations, run, kernel, iterations) is latest
    assert cache.bytes > 2 * one


def test_bytes_count_each_object_once() -> None:
    array = np.zeros(NUMBERS, np.uint8)
    both = bytes_of([array, array[10:], {"again": array}])
    assert NUMBERS < both < NUMBERS + 2000


def test_a_recorded_trace_is_nobodys_own() -> None:
    trace = traces_of_one_gpu_first()[0].traces[0]
    assert len(trace.blocks) > 10
    assert bytes_of([trace]) < 1000
