"""How long one thread waits for a value: registers, shared memory, L1, L2 and DRAM, in cycles.

A pointer chase: each load gives the address of the next, so that none starts before the one before
it has ended, and the clock is read before the first and after the last.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu.cuda.compile import Loaded, compile_text, load
from gpu.cuda.device import Device
from gpu.progress import Progress, portion
from simulator.language.ctype import Array
from simulator.launch import dim3

STEPS = 4096  # timed loads: what happens at either end of them counts for nothing
REPEATS = 5
NODE_BYTES = 128  # an L1 line
NODES = {"shared": 1024, "l1": 128, "l2": 16384}  # of the chain: 16 KB fit in L1, 2 MB in L2
DRAM_NODE_BYTES = 1024
FLUSH = 2  # times the L2 that is written over to empty it

# One text for each memory: how a step follows from `at`, and what is set up before. The loads are
# written in PTX so that the compiler can neither merge them nor choose another cache for them
# (PTX ISA, cache operators: .ca caches in L1 and L2, .cg in L2 alone).
CHASE = """
extern "C" __global__ void chase(const unsigned long long* memory, int warm, int steps,
                                 long long* out)
{
    %(setup)s
    #pragma unroll 64
    for (int i = 0; i < warm; ++i)
        %(step)s
    long long begin = clock64();
    #pragma unroll 64
    for (int i = 0; i < steps; ++i)
        %(step)s
    long long end = clock64();
    out[0] = end - begin;
    out[1] = static_cast<long long>(at); // a result that is used keeps the chain alive
}
"""
SHARED_SETUP = """
    __shared__ unsigned places[1024];
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(places));
    for (int i = 0; i < 1024; ++i)
        places[i] = at + 4 * static_cast<unsigned>(memory[i]);
"""
POINTER = "unsigned long long at = memory[0];"
LOAD = 'asm volatile("ld.global.{}.u64 %0, [%0];" : "+l"(at) :: "memory");'
TEXTS: Mapping[str, str] = {
    "register": CHASE % {
        "setup": "float at = 1.0f, by = 0.5f + memory[0];",
        "step": 'asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(at) : "f"(by));',
    },
    "shared": CHASE % {
        "setup": SHARED_SETUP,
        "step": 'asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at) :: "memory");',
    },
    "l1": CHASE % {"setup": POINTER, "step": LOAD.format("ca")},
    "l2": CHASE % {"setup": POINTER, "step": LOAD.format("cg")},
    "dram": CHASE % {"setup": POINTER, "step": LOAD.format("cg")},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles of the multiprocessor's clock from one dependent operation to the next."""

    register: float  # from one multiply-add to one that uses its result
    shared: float  # of a load from shared memory
    l1: float  # of a load that hits the L1
    l2: float  # of a load that hits the L2
    dram: float  # of a load that misses both caches


def cycle(nodes: int, rng: np.random.Generator) -> Array:
    """The successor of each of `nodes` nodes on a random cycle through all of them, int [nodes].

    Sattolo's algorithm: a plain random permutation would have several shorter cycles.
    """
    follower = np.arange(nodes)
    for last in range(nodes - 1, 0, -1):
        other = int(rng.integers(last))
        follower[last], follower[other] = follower[other], follower[last]
    return follower


def chain(start: int, follower: Array, node_bytes: int) -> Array:
    """The words (uint64) of a region at address `start` whose nodes point to their followers.

    A node takes node_bytes, of which the first eight hold its pointer.
    """
    words = np.zeros((len(follower), node_bytes // 8), np.uint64)
    words[:, 0] = np.uint64(start) + follower.astype(np.uint64) * np.uint64(node_bytes)
    return words.reshape(-1)


def region_bytes(device: Device) -> int:
    """Bytes of the chain whose loads must reach DRAM: four times the L2, if memory has room."""
    wanted = max(4 * device.l2_bytes, 2**28)
    return min(wanted, device.memory_bytes // 8) // DRAM_NODE_BYTES * DRAM_NODE_BYTES


def measure(device: Device, progress: Progress) -> Latency:
    """Chase pointers on the current device, which must be the one described."""
    rng = np.random.default_rng()
    found: dict[str, float] = {}
    for index, (name, text) in enumerate(TEXTS.items()):
        report = portion(progress, index / len(TEXTS), (index + 1) / len(TEXTS))
        report(f"Compiling the chase through {name}", 0.0)
        binary = compile_text(text, "chase", device.architecture)
        loaded = load(binary, dim3(1), device.threads_per_multiprocessor)
        report(f"Running the chase through {name}", 0.5)
        found[name] = _cycles(name, loaded, device, rng)
    return Latency(**found)


def _cycles(name: str, loaded: Loaded, device: Device, rng: np.random.Generator) -> float:
    import cupy

    out = cupy.zeros(2, dtype=cupy.int64)
    stream = cupy.cuda.get_current_stream()

    def timed(memory: Any, warm: int) -> float:
        arguments = (memory, np.int32(warm), np.int32(STEPS), out)
        loaded.function(dim3(1), dim3(1), arguments)
        stream.synchronize()
        return float(out[0].item()) / STEPS

    if name == "register":
        memory = cupy.zeros(1, dtype=cupy.uint64)
        return statistics.median(timed(memory, STEPS) for _ in range(REPEATS))
    if name == "shared":
        memory = cupy.asarray(cycle(NODES["shared"], rng).astype(np.uint64))
        return statistics.median(timed(memory, STEPS) for _ in range(REPEATS))
    if name != "dram":
        memory = cupy.empty(NODES[name] * NODE_BYTES // 8, dtype=cupy.uint64)
        memory.set(chain(memory.data.ptr, cycle(NODES[name], rng), NODE_BYTES))
        return statistics.median(timed(memory, 2 * NODES[name]) for _ in range(REPEATS))
    nodes = region_bytes(device) // DRAM_NODE_BYTES
    memory = cupy.empty(nodes * DRAM_NODE_BYTES // 8, dtype=cupy.uint64)
    memory.set(chain(memory.data.ptr, cycle(nodes, rng), DRAM_NODE_BYTES))
    scratch = cupy.empty(FLUSH * max(device.l2_bytes, 2**27), dtype=cupy.uint8)
    samples = []
    timed(memory, 0)  # the pages' addresses are known from now on; the lines leave the L2 again
    for _ in range(REPEATS):
        scratch.data.memset(0, scratch.nbytes)
        samples.append(timed(memory, 0))
    return statistics.median(samples)
