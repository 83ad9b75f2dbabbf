"""The least time that a kernel's counted work can take, by what a multiprocessor does in a cycle.

Each multiprocessor has one port to its L1 cache and shared memory, which are one memory, and four
quarters that each issue an instruction a cycle. What the hardware counted, over these rates, is a
time that no kernel can beat; which of them is near the measured time says what holds a kernel up.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu.comparison import Comparison, KernelResult
from simulator.launch import WARP_SIZE
from simulator.observers.transactions import SECTOR_BYTES

QUARTERS = 4  # of a multiprocessor (CUDA C++ Programming Guide, compute capability 9.0)
# Sectors of global memory that the port hands on in a cycle. It is not documented: at four, a whole
# line, the naive kernel would take two thirds of what was measured.
SECTORS_A_CYCLE = 2
# Cycles of a multiply-add that shares no operand with the one before it: a register bank gives one
# operand a cycle, and there are two (measured; assets/kernels/NOTES.md).
UNSHARED_CYCLES = 2


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the work of a launch takes at least, in milliseconds, and the counts it follows from."""

    multiply_adds: int  # of warps
    shared_wavefronts: int  # of loads and stores
    port_ms: float  # at one wavefront a cycle, or SECTORS_A_CYCLE of global memory
    issue_ms: float  # multiply-adds, loads and stores, an instruction a cycle on each quarter
    register_ms: float  # the same, where no multiply-add shares an operand with the one before
    shared_percent: float  # of the measured time in which the port serves shared memory
    fetched_gb_s: float  # 10^9 bytes a second: sectors that loads ask of L1, in the measured time

    @property
    def least_ms(self) -> float:
        """The prediction for multiply-adds that share operands."""
        return max(self.port_ms, self.issue_ms)

    @property
    def most_ms(self) -> float:
        """The prediction for multiply-adds that share none."""
        return max(self.port_ms, self.register_ms)


def find_bounds(kernel: KernelResult, comparison: Comparison) -> Bounds | None:
    """The bounds of a float32 kernel of a comparison; None where it was not counted or timed."""
    counted, device = kernel.counters, comparison.device
    if not counted or not kernel.ms or not device.sm_clock_mhz:
        return None
    M, N, K = comparison.size
    multiply_adds = M * N * K // WARP_SIZE
    shared = counted["shared_load_wavefronts"] + counted["shared_store_wavefronts"]
    sectors = counted["global_load_sectors"] + counted["global_store_sectors"]
    requests = sum(number for name, number in counted.items() if name.endswith("_requests"))
    cycles_a_ms = 1e3 * device.sm_clock_mhz * device.multiprocessors  # of all multiprocessors
    return Bounds(
        multiply_adds, shared,
        (shared + sectors / SECTORS_A_CYCLE) / cycles_a_ms,
        (multiply_adds + requests) / QUARTERS / cycles_a_ms,
        (UNSHARED_CYCLES * multiply_adds + requests) / QUARTERS / cycles_a_ms,
        100 * shared / cycles_a_ms / kernel.ms,
        counted["global_load_sectors"] * SECTOR_BYTES / kernel.ms / 1e6,
    )  # fmt: skip
