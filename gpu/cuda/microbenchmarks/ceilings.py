"""What this device reaches at most: multiply-adds a second, and bytes to DRAM and to its L2."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from compiler.source import TENSOR_CORES, WARP_GROUPS
from gpu.cuda.compile import Loaded, compile_text, load
from gpu.cuda.device import Device
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

# Operands stay in registers, as the sums do: what is left is what the tensor cores take.
TILES = """
using namespace nvcuda;
extern "C" __global__ __launch_bounds__(BLOCK) void multiply_tiles(float* out, int rounds)
{
    wmma::fragment<wmma::matrix_a, 16, 16, DEPTH, KIND, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, DEPTH, KIND, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, DEPTH, float> sum[CHAINS];
    wmma::fill_fragment(a, 0.0f);
    wmma::fill_fragment(b, 0.0f);
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j)
        wmma::fill_fragment(sum[j], 0.0f);
    #pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int j = 0; j < CHAINS; ++j)
            wmma::mma_sync(sum[j], a, b, sum[j]);
    }
    float total = 0.0f;
    #pragma unroll
    for (int j = 0; j < CHAINS; ++j)
        for (int i = 0; i < sum[j].num_elements; ++i)
            total += sum[j].x[i];
    out[blockIdx.x * BLOCK + threadIdx.x] = total;
}
"""
TILE_KINDS: Mapping[str, tuple[str, int]] = {  # what operands are, and k of an instruction
    "tf32": ("wmma::precision::tf32", 8),
    "half": ("half", 16),
}
TILE_ROUNDS = 4096

# A group of four warps gives an instruction together: 64 rows from registers times 256 columns that
# the tensor cores read from shared memory, in rows of 128 bytes with their k side by side.
IN_GROUPS = """
extern "C" __global__ __launch_bounds__(GROUP) void multiply_in_groups(float* out, int rounds)
{
    __shared__ alignas(1024) float columns[256 * 32];
    for (int i = threadIdx.x; i < 256 * 32; i += GROUP)
        columns[i] = 0.0f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long at = __cvta_generic_to_shared(columns) / 16 | 64ull << 32 | 1ull << 62;
    float sums[128] = {};
    #pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int i = 0; i < CHAINS; ++i)
            asm volatile(
                "{.reg .pred add; setp.ne.b32 add, %130, 0;"
                "wgmma.mma_async.sync.aligned.m64n256INSTRUCTION "
                "{REGISTERS}, {%128, %128, %128, %128}, %129, add, OPERANDS;}"
                : SUMS : "r"(0), "l"(at), "n"(1));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    float total = 0.0f;
    #pragma unroll
    for (int i = 0; i < 128; ++i)
        total += sums[i];
    out[blockIdx.x * GROUP + threadIdx.x] = total;
}
"""
GROUP = 128  # threads of four warps
GROUP_KINDS: Mapping[str, tuple[str, str]] = {  # of TILE_KINDS: k and types, how to take operands
    "tf32": ("k8.f32.tf32.tf32", "1, 1"),
    "half": ("k16.f32.f16.f16", "1, 1, 0"),
}

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
    # 10^12 operations a second of tensor cores, by instructions of one warp; None where there are
    # none that wmma can use, or in an older recording.
    tf32_tflops: float | None = None
    half_tflops: float | None = None
    # The same by instructions of four warps; None where there are none.
    tf32_group_tflops: float | None = None
    half_group_tflops: float | None = None

    @property
    def best_tf32_tflops(self) -> float | None:
        """TF32's by the instructions that give most; None where it is not known."""
        return self.tf32_group_tflops or self.tf32_tflops

    @property
    def best_half_tflops(self) -> float | None:
        """Half precision's by the instructions that give most; None where it is not known."""
        return self.half_group_tflops or self.half_tflops


def measure(device: Device, progress: Progress) -> Ceilings:
    """Run a chain of multiply-adds and two copies on the current device, the one described."""
    import cupy

    blocks = device.multiprocessors * max(1, device.threads_per_multiprocessor // BLOCK)
    grid, block = dim3(blocks), dim3(BLOCK)
    progress("Running multiply-adds alone", 0.0)
    out = cupy.empty(blocks * BLOCK, dtype=cupy.float32)
    chain = _loaded(FMA, "multiply_add", block, device)
    numbers = (np.float32(0.999), np.float32(0.001))
    seconds = _seconds(lambda: chain.function(grid, block, (out, *numbers)))
    operations = 2 * CHAINS * STEPS * ROUNDS * blocks * BLOCK
    copy = _loaded(COPY, "copy", block, device)

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
    progress("Running products of tensor cores", 0.8)
    tf32, half = (_tile_tflops(kind, device) for kind in TILE_KINDS)
    tf32_group, half_group = (_group_tflops(kind, device) for kind in TILE_KINDS)
    return Ceilings(operations / seconds / 1e12, dram, l2, tf32, half, tf32_group, half_group)


def tile_text(kind: str) -> str:
    """The kernel of TILES for operands of a kind."""
    operand, depth = TILE_KINDS[kind]
    macros = {"BLOCK": BLOCK, "CHAINS": CHAINS, "KIND": operand, "DEPTH": depth}
    return "".join(f"#define {name} {value}\n" for name, value in macros.items()) + TILES


def _tile_tflops(kind: str, device: Device) -> float | None:
    """TFLOP/s of products of 16 x 16 tiles alone; None on a GPU without such tensor cores."""
    import cupy

    if int(device.architecture.removeprefix("sm_")) < TENSOR_CORES:
        return None
    grid, block = dim3(2 * device.multiprocessors), dim3(BLOCK)
    binary = compile_text(tile_text(kind), "multiply_tiles", device.architecture)
    tiles = load(binary, block, device.threads_per_multiprocessor)
    out = cupy.empty(grid[0] * BLOCK, dtype=cupy.float32)
    seconds = _seconds(lambda: tiles.function(grid, block, (out, np.int32(TILE_ROUNDS))))
    warps = grid[0] * BLOCK // 32
    operations = 2 * 16 * 16 * TILE_KINDS[kind][1] * CHAINS * TILE_ROUNDS * warps
    return operations / seconds / 1e12


def group_text(kind: str) -> str:
    """The kernel of IN_GROUPS for operands of a kind."""
    instruction, operands = GROUP_KINDS[kind]
    parts = {
        "GROUP": f"{GROUP}",
        "CHAINS": f"{CHAINS}",
        "INSTRUCTION": instruction,
        "OPERANDS": operands,
        "REGISTERS": ", ".join(f"%{i}" for i in range(128)),
        "SUMS": ", ".join(f'"+f"(sums[{i}])' for i in range(128)),
    }
    text = IN_GROUPS
    for name, value in parts.items():
        text = text.replace(name, value)
    return text


def _group_tflops(kind: str, device: Device) -> float | None:
    """TFLOP/s of products of 64 x 256 sums alone; None on a GPU without such instructions."""
    import cupy

    if device.architecture != WARP_GROUPS:
        return None
    grid, block = dim3(2 * device.multiprocessors), dim3(GROUP)
    binary = compile_text(group_text(kind), "multiply_in_groups", device.architecture)
    groups = load(binary, block, device.threads_per_multiprocessor)
    out = cupy.empty(grid[0] * GROUP, dtype=cupy.float32)
    seconds = _seconds(lambda: groups.function(grid, block, (out, np.int32(TILE_ROUNDS))))
    operations = 2 * 64 * 256 * TILE_KINDS[kind][1] * CHAINS * TILE_ROUNDS * grid[0]
    return operations / seconds / 1e12


def _loaded(text: str, kernel: str, block: Dim3, device: Device) -> Loaded:
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
