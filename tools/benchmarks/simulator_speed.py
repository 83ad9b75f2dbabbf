"""Prints how fast the simulator is, beside other simulators where they are installed.

Run it as `python -m tools.benchmarks.simulator_speed`. Rates are inner-product steps a second:
M * N * K over the time of a launch, the best of a few, on one processor unless it says more. Peers
run in the same minute on the same machine: numba's CUDA simulator (pip install numba) and oclgrind
(Debian's oclgrind).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from simulator import Launch, compile_kernel, record, simulate
from simulator.catalogue import catalogue
from simulator.machine.machine import Machine
from simulator.observers.counters import Counters
from simulator.observers.hazards.findings import Findings
from simulator.observers.hazards.observers import hazard_observers
from simulator.split.processes import simulate_in_processes
from tests.simulator.launches import matmul

LONG = 600.0  # seconds of processors that the longest launch may take, also on a busy machine

NUMBA = """
import os, time
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda, float32
@cuda.jit
def tiled(A, B, C, K):
    As = cuda.shared.array((16, 16), float32)
    Bs = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    acc = float32(0)
    for t in range(K // 16):
        As[ty, tx] = A[row, t * 16 + tx]
        Bs[ty, tx] = B[t * 16 + ty, col]
        cuda.syncthreads()
        for k in range(16):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    C[row, col] = acc
n = SIZE
A = np.ones((n, n), np.float32)
C = np.zeros_like(A)
start = time.perf_counter()
tiled[(n // 16, n // 16), (16, 16)](A, A, C, n)
print(time.perf_counter() - start)
"""

OPENCL = """
kernel void tiled(global const float* A, global const float* B, global float* C, int n) {
    local float As[16][16], Bs[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_global_id(1), col = get_global_id(0);
    float acc = 0;
    for (int t = 0; t < n / 16; ++t) {
        As[ty][tx] = A[row * n + t * 16 + tx];
        Bs[ty][tx] = B[(t * 16 + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * n + col] = acc;
}
"""


ONE_THREAD = """
__global__ void k(const float* x, float* y, int n) {
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += x[i];
        *y = sum;
    }
}
"""

MANDELBROT = """
__global__ void k(int* out, int w, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = -2.0f + 3.0f * x / w, ci = -1.5f + 3.0f * y / w, zr = 0, zi = 0;
    int n = 0;
    while (n < limit && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    out[y * w + x] = n;
}
"""


def best(run: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of some runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Measure and print, each figure with its goal."""
    size = 256
    steps = size**3
    kernel, launch = matmul("tiled", size, size, size, TILE=16)

    def watched() -> None:
        Machine(kernel, launch, [Counters(), *hazard_observers(Findings())]).run()
        record(kernel, launch)

    plain = steps / best(lambda: Machine(kernel, launch).run())
    full = steps / best(watched)
    print(f"tiled 16x16 at {size}^3, no observers        {plain:10.3g} steps/s   (goal 1.5e8)")
    print(f"  with counters, hazards, a block recorded {full:10.3g} steps/s   (goal 1.5e8)")
    large, large_launch = matmul("tiled", 1024, 1024, 1024, TILE=16)
    large_rate = 1024**3 / best(lambda: simulate(large, large_launch, seconds=LONG), 1)
    print(f"tiled 16x16 at 1024^3, counters, hazards   {large_rate:10.3g} steps/s   (goal 1.5e8)")
    seconds = best(lambda: simulate_in_processes(large, large_launch, 2, seconds=LONG), 1)
    print(f"  in two processes, with their start       {seconds:10.1f} s        (goal 5)")
    small, small_launch = matmul("tiled", 64, 64, 64, TILE=16)
    seconds = best(lambda: record(small, small_launch))
    print(f"record a 16x16 block at K = 64             {seconds * 1e3:10.1f} ms       (goal 150)")
    one_thread, mandelbrot = loops()
    each = best(one_thread, 3) / 16_384 * 1e6
    print(f"one thread loops over 16,384 elements  {each:14.1f} us/step  (goal 2)")
    print(
        f"Mandelbrot, 512 x 512, 1,000 iterations    {best(mandelbrot, 1):10.1f} s        (goal 10)"
    )
    text = long_text()
    compile_kernel(text, "tiled")
    seconds = best(lambda: compile_kernel(text, "tiled"), 20)
    lines = len(text.splitlines())
    print(
        f"compile {lines} lines, warm                    {seconds * 1e3:10.1f} ms       (goal 20)"
    )
    print(f"memory at 512^3                            {memory():10.0f} MB       (goal 300)")
    for name, rate in (("numba's CUDA simulator", numba()), ("oclgrind with checks", oclgrind())):
        if rate is None:
            print(f"{name}: not installed")
        else:
            print(f"{name:<42} {rate:10.3g} steps/s   (ours is {full / rate:,.0f} times that)")


def loops() -> tuple[Callable[[], object], Callable[[], object]]:
    """Launches that loop for long, with counters and hazards: one thread, and Mandelbrot's set."""
    n, w = 16_384, 512
    x, y = np.ones(n, np.float32), np.zeros(1, np.float32)
    sum_ = compile_kernel(ONE_THREAD, "k"), Launch((1, 1, 1), (32, 1, 1), {"x": x, "y": y, "n": n})
    arguments = {"out": np.zeros((w, w), np.int32), "w": w, "limit": 1000}
    set_ = compile_kernel(MANDELBROT, "k"), Launch((w // 16, w // 16, 1), (16, 16, 1), arguments)
    return lambda: simulate(*sum_), lambda: simulate(*set_)


def long_text() -> str:
    """The tiled kernel with its inner statement repeated, to 60 lines."""
    text = catalogue()["tiled"].source()
    inner = "            acc += As[ty][k] * Bs[k][tx];\n"
    many = "{\n" + inner * (60 - len(text.splitlines())) + "}\n"
    return text.replace(inner, many)


def memory() -> float:
    """Peak megabytes of a process that simulates 512^3 with counters and hazards."""
    code = (
        "from simulator import simulate; from tests.simulator.launches import matmul;"
        "import resource; simulate(*matmul('tiled', 512, 512, 512, TILE=16));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def numba() -> float | None:
    """Steps a second of numba's CUDA simulator on the same kernel."""
    code = NUMBA.replace("SIZE", "32")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return 32**3 / float(done.stdout) if done.returncode == 0 else None


def oclgrind() -> float | None:
    """Steps a second of oclgrind with its race and memory checks, its start taken off."""
    program = shutil.which("oclgrind-kernel")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiled.cl").write_text(OPENCL, encoding="utf-8")
        seconds = []
        for size in (16, 96):
            array = f"<size={4 * size * size} float fill=1>\n"
            (folder / "tiled.sim").write_text(
                f"tiled.cl\ntiled\n{size} {size} 1\n16 16 1\n{array * 3}<size=4 int fill={size}>\n",
                encoding="utf-8",
            )
            start = time.perf_counter()
            subprocess.run(
                [program, "--data-races", "--uninitialized", "tiled.sim"],
                cwd=folder, capture_output=True, check=True, env=os.environ,
            )  # fmt: skip
            seconds.append(time.perf_counter() - start)
    return float((96**3 - 16**3) / (seconds[1] - seconds[0]))


if __name__ == "__main__":
    main()
