"""Prints the memory that recordings take, as they count it and as the process grows.

Run it as `python -m tools.benchmarks.recording_memory`. Each row is of a process of its own. Then
many user kernels are opened in one process, as a worker process does.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np

from simulator import Kernel, Launch, compile_kernel, record
from simulator.guard import used_bytes
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument, UserKernel
from tests.simulator.launches import matmul
from ui.drawing.look import Look
from ui.jobs.process_memory import rarely_collect_garbage
from ui.jobs.result_cache import result_cache
from ui.run import compute
from ui.run.compute import open_scene
from ui.view.view_url import View

MB = 2**20
ITERATIONS = 2400
KERNELS = 16
# FACTOR makes another text of it.
WARP = """
__global__ void running(const float* x, float* y, int n, int cells) {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[(i * 32 + threadIdx.x) % cells];
        y[threadIdx.x] = sum * FACTOR;
        __syncthreads();
    }
}
"""


def warp(cells: int) -> tuple[Kernel, Launch]:
    """A loop of one warp with two accesses to global memory and a barrier."""
    arrays = {"x": np.ones(cells, np.float32), "y": np.zeros(cells, np.float32)}
    numbers = {"n": ITERATIONS, "cells": cells}
    kernel = compile_kernel(WARP.replace("FACTOR", "2"), "running")
    return kernel, Launch((1, 1, 1), (32, 1, 1), arrays | numbers)


def own(cells: int, factor: int) -> View:
    """The same as a user kernel."""
    form = LaunchForm(
        ("1", "1", "1"), ("32", "1", "1"), "0",
        (
            ArrayArgument("x", "1", "cells"), ArrayArgument("y", "1", "cells"),
            NumberArgument("n", str(ITERATIONS)), NumberArgument("cells", str(cells)),
        ),
    )  # fmt: skip
    return View(user_kernel=UserKernel(WARP.replace("FACTOR", str(factor)), "running", form))


def measure(build: Callable[[], tuple[Kernel, Launch]]) -> tuple[int, int, int, float]:
    """Steps of a recording, the bytes it counts, those the process grew by, processor seconds."""
    record(*matmul("tiled", 8, 8, 8, TILE=4))
    kernel, launch = build()
    rarely_collect_garbage()
    before, start = used_bytes(), time.process_time()
    recording = record(kernel, launch, seconds=600)
    seconds = time.process_time() - start
    gc.collect()
    return len(recording.steps), recording.bytes, used_bytes() - before, seconds


def open_kernels(cells: int) -> list[tuple[int, int]]:
    """The bytes of a process and of what it keeps, before and after each of many kernels."""
    rarely_collect_garbage()
    compute.SIMULATE_SECONDS = 600.0  # however busy the machine is
    open_scene(View(), Look())
    used = [(used_bytes(), result_cache().bytes)]
    for factor in range(KERNELS):
        open_scene(own(cells, factor), Look())
        used.append((used_bytes(), result_cache().bytes))
    return used


def main() -> None:
    """Measure and print."""
    rows = {
        "one warp, arrays of 1,024": partial(warp, 1024),
        "one warp, arrays of 16,384": partial(warp, 16_384),
        "naive, 64 x 64 x 64": partial(matmul, "naive", 64, 64, 64),
        "tiled, 64 x 64 x 64": partial(matmul, "tiled", 64, 64, 64, TILE=16),
        "tiled, 64 x 64 x 512": partial(matmul, "tiled", 64, 64, 512, TILE=16),
    }
    print(f"{'recording':28}{'steps':>8}{'MB':>8}{'bytes/step':>12}{'grown, MB':>11}{'CPU s':>8}")
    context = get_context("spawn")
    for name, build in rows.items():
        with ProcessPoolExecutor(1, context) as pool:
            steps, counted, grown, seconds = pool.submit(measure, build).result()
        print(
            f"{name:28}{steps:8,}{counted / MB:8.1f}{counted / steps:12,.0f}{grown / MB:11.1f}"
            f"{seconds:8.2f}"
        )
    for cells in (1024, 16_384):
        with ProcessPoolExecutor(1, context) as pool:
            used = pool.submit(open_kernels, cells).result()
        sizes = ", ".join(f"{size / MB:.0f} ({held / MB:.0f})" for size, held in used)
        print(f"{KERNELS} user kernels, arrays of {cells:,}: MB of the process (kept) {sizes}")


if __name__ == "__main__":
    main()
