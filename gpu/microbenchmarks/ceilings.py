"""What this device reaches at most: multiply-adds a second, and bytes to DRAM and to its L2."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu.compile import Loaded, compile_text, load
from gpu.device import Device
from gpu.progress import Progress
from simulator.launch import Dim3, dim3

REPEATS = 20
BLOCK = 256
CHAINS = 8  # independent sums a thread: more than a multiply-add's four cycles need
STEPS = 16  # multiply-adds of each chain in one round
ROUNDS = 4096
VECTOR_BYTES = 16
DRAM_BYTES = 2**30  # of each array that is copied, where memory has room
L2_PASSES = 64
L2_SHARE = 8  # each of both arrays takes an eighth of the L2, so that they stay in it

FMA = """
extern "C" __global__ __launch_bounds__(BLOCK) void multiply_add(float* out, float x, float y)
{
    float sum[CHAINS];
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j)
        sum[j] = threadIdx.x + j;
    #pragma unroll 1
    for (int round = 0; round < ROUNDS; ++round) {
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            #pragma unroll
            for (int j = 0; j < CHAINS; ++j)
                sum[j] = fmaf(sum[j], x, y);
        }
    }
    float total = 0.0f;
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j)
        total += sum[j];
    out[blockIdx.x * BLOCK + threadIdx.x] = total;
}
"""
MACROS = {"BLOCK": f"{BLOCK}", "CHAINS": f"{CHAINS}", "ROUNDS": f"{ROUNDS}", "STEPS": f"{STEPS}"}

# __ldcg reads past the L1, which would otherwise answer every pass after the first.
COPY = """
extern "C" __global__ void copy(const float4* from, float4* to, long long count, int passes)
{
    long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (int pass = 0; pass < passes; ++pass)
        for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
             i < count; i += step)
            to[i] = __ldcg(from + i);
}
"""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Measured limits of throughput."""

    fp32_tflops: float  # 10^12 float32 operations a second
    dram_gb_s: float  # 10^9 bytes a second, read and written, through DRAM
    l2_gb_s: float  # 10^9 bytes a second, read and written, within the L2


def measure(device: Device, progress: Progress) -> Ceilings:
    """Run a chain of multiply-adds and two copies on the current device, the one described."""
    import cupy

    blocks = device.multiprocessors * max(1, device.threads_per_multiprocessor // BLOCK)
    grid, block = dim3(blocks), dim3(BLOCK)
    progress("Running multiply-adds alone", 0.0)
    out = cupy.empty(blocks * BLOCK, dtype=cupy.float32)
    chain = _loaded(FMA, "multiply_add", grid, block, device)
    numbers = (np.float32(0.999), np.float32(0.001))
    seconds = _seconds(lambda: chain.function(grid, block, (out, *numbers)))
    operations = 2 * CHAINS * STEPS * ROUNDS * blocks * BLOCK
    copy = _loaded(COPY, "copy", grid, block, device)

    def rate(size: int, passes: int) -> float:
        count = size // VECTOR_BYTES
        source, target = (cupy.zeros(count * 4, dtype=cupy.float32) for _ in range(2))
        arguments = (source, target, np.int64(count), np.int32(passes))
        taken = _seconds(lambda: copy.function(grid, block, arguments))
        return 2 * count * VECTOR_BYTES * passes / taken / 1e9

    progress("Running a copy within the L2", 0.3)
    l2 = rate(max(device.l2_bytes // L2_SHARE, 2**18), L2_PASSES)
    progress("Running a copy through DRAM", 0.6)
    dram = rate(min(DRAM_BYTES, device.memory_bytes // 8), 1)
    return Ceilings(operations / seconds / 1e12, dram, l2)


def _loaded(text: str, kernel: str, grid: Dim3, block: Dim3, device: Device) -> Loaded:
    binary = compile_text(text, kernel, device.architecture, MACROS)
    return load(binary, block, device.threads_per_multiprocessor)


def _seconds(launch: Callable[[], object]) -> float:
    """The median time of a launch, after two that warm the clocks up."""
    import cupy

    samples = []
    for _ in range(REPEATS + 2):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        samples.append(float(cupy.cuda.get_elapsed_time(start, end)))
    return statistics.median(samples[2:]) / 1e3
