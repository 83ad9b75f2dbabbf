"""Prints how many new views a second worker processes open, by their number.

Run it as `python -m tools.benchmarks.cores [most]`. Each view is another size of the tiled kernel,
run, recorded and drawn as for a visitor; none is opened twice. Needs no Streamlit.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from simulator.split.processes import processor_count
from ui.drawing.look import Look
from ui.jobs.workers import Workers
from ui.run.compute import open_scene, place
from ui.view.view_url import DEFAULT, View

VIEWS = 24  # for each process
SIZES = [(M, N, K) for K in (32, 40, 48, 56) for M in range(17, 49) for N in (24, 40, 56)]


def view(number: int) -> View:
    """One of many views, each new to every process."""
    M, N, K = SIZES[number]
    return replace(DEFAULT, kernel="tiled", M=M, N=N, K=K)


def opened(count: int) -> float:
    """New views that a number of processes open in a second."""
    workers = Workers(count, place)
    numbers = iter(range(len(SIZES)))

    def start(jobs: int) -> list[Future[Any]]:
        return [workers.submit(open_scene, view(next(numbers)), Look()) for _ in range(jobs)]

    for job in start(4 * count):  # until every process has imported what it needs
        job.result()
    begun = time.perf_counter()
    for job in start(VIEWS * count):
        job.result()
    seconds = time.perf_counter() - begun
    workers.shutdown()
    return VIEWS * count / seconds


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else min(processor_count(), 8)
    counts = [count for count in (1, 2, 4, 8) if count <= most]
    rates = {count: opened(count) for count in counts}
    for count, rate in rates.items():
        print(f"{count:3} processes: {rate:6.1f} views/s, {rate / rates[1]:.2f} times one")
    for count, rate in rates.items():
        if count // 4 in rates:
            print(
                f"{count} processes give {rate / rates[count // 4]:.2f} times as much as a quarter"
            )


if __name__ == "__main__":
    main()
