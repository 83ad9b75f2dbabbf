"""Prints what whole grids take of a processor, beside the estimate that the GPU page gives.

Run it as `python -m tools.benchmarks.grid_estimates [SIZE]`: M, N and K, 256 without a number. Each
kernel runs in each setting that the page offers, with counters and hazards.
"""

from __future__ import annotations

import math
import sys
import time

from gpu.candidate import split_variant, variants
from simulator import catalogue, simulate
from ui.gpu.grid_jobs import Grid, build_grid
from ui.run import click_cost

SECONDS = 600.0  # of one launch


def main(size: int) -> None:
    """Measure and print."""
    for name in variants(catalogue()):
        kernel, launch = build_grid(Grid(name, (size, size, size), 1))
        begun = time.process_time()
        simulate(kernel, launch, seconds=SECONDS)
        taken = time.process_time() - begun
        estimate = click_cost.grid(
            split_variant(name)[0], math.prod(launch.grid), launch.threads, (size,) * 3
        ).seconds
        print(
            f"{name:40} {taken:7.2f} s, estimated {estimate:7.2f} s: {taken / estimate:.2f} times"
        )


if __name__ == "__main__":
    main(int(next(iter(sys.argv[1:]), "256")))
