"""The least time that a kernel's counted work can take, by what a multiprocessor does in a cycle.

Each multiprocessor has one port to its L1 cache and shared memory, which are one memory, and four
quarters that each issue an instruction a cycle and read their registers from two banks. What the
hardware counted and the compiler wrote, over these rates, predicts a time; which of the rates is
near the measured time says what holds a kernel up, and what it lacks is waiting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.loops import find_loops
from compiler.machine_code import Instruction
from compiler.recorded import recorded
from gpu.comparison import Comparison, KernelResult
from simulator.launch import WARP_SIZE

QUARTERS = 4  # of a multiprocessor (CUDA C++ Programming Guide, compute capability 9.0)
# Sectors of global memory that the port hands on in a cycle. It is not documented: at four, a whole
# line, the naive kernel would take two thirds of what was measured.
SECTORS_A_CYCLE = 2
# A register bank, even or odd, gives one operand a cycle; an operand kept from the instruction
# before in the same place (.reuse) is not read. So long a queue evens out neighbours: loops of
# multiply-adds patched register by register took so many cycles (assets/kernels/NOTES.md).
BANKS, QUEUE = 2, 1
MULTIPLY_ADD = "FFMA"  # of float32
REGISTER = re.compile(r"[-|]*R(?P<number>\d+)(?P<reuse>\.reuse)?")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the work of a launch takes at least, in milliseconds, and the counts it follows from."""

    multiply_adds: int  # of warps
    shared_wavefronts: int  # of loads and stores
    port_ms: float  # at one wavefront a cycle, or SECTORS_A_CYCLE of global memory
    issue_ms: float  # the inner loop's instructions, one a cycle on each quarter
    register_ms: float  # the same, with the cycles that its register banks add
    shared_percent: float  # of the measured time in which the port serves shared memory
    predicted_ms: float  # the larger of the port's time and that of instructions and registers
    clock_percent: float  # the measured time, of the predicted one
    bank_percent: float  # what register banks add to the instructions' time, of that


def find_bounds(kernel: KernelResult, comparison: Comparison) -> Bounds | None:
    """The bounds of a float32 kernel of a comparison; None where it was not counted or timed.

    None also where its machine code was not recorded, or has no loop of multiply-adds.
    """
    counted, device = kernel.counters, comparison.device
    if not counted or not kernel.ms or not kernel.source or not device.sm_clock_mhz:
        return None
    code = recorded(kernel.source, f"sm_{device.compute_capability.replace('.', '')}")
    loop = main_loop(code.instructions) if code else ()
    if not loop:
        return None
    M, N, K = comparison.size
    multiply_adds = M * N * K // WARP_SIZE
    shared = counted["shared_load_wavefronts"] + counted["shared_store_wavefronts"]
    sectors = counted["global_load_sectors"] + counted["global_store_sectors"]
    cycles_a_ms = 1e3 * device.sm_clock_mhz * device.multiprocessors  # of all multiprocessors
    rounds_ms = multiply_adds / sum(map(is_multiply_add, loop)) / QUARTERS / cycles_a_ms
    port = (shared + sectors / SECTORS_A_CYCLE) / cycles_a_ms
    issue, registers = len(loop) * rounds_ms, count_cycles(loop) * rounds_ms
    predicted = max(port, registers)
    return Bounds(
        multiply_adds, shared, port, issue, registers,
        100 * shared / cycles_a_ms / kernel.ms,
        predicted, 100 * kernel.ms / predicted, 100 * (registers / issue - 1),
    )  # fmt: skip


def is_multiply_add(instruction: Instruction) -> bool:
    """Whether it multiplies and adds float32 numbers."""
    return instruction.base == MULTIPLY_ADD


def main_loop(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """The instructions of the loop with the largest share of multiply-adds; () without one."""
    loops = [tuple(code[i] for i in sorted(loop.body)) for loop in find_loops(code)]
    shares = [sum(map(is_multiply_add, loop)) / len(loop) for loop in loops]
    return loops[shares.index(max(shares))] if any(shares) else ()


def count_cycles(loop: Sequence[Instruction]) -> int:
    """Cycles of a quarter for one round of a loop that one warp after another issues.

    One for each instruction, and those in which a multiply-add waits for its operands' banks.
    """
    cycle, busy, kept = 0, [0] * BANKS, dict[int, int]()
    ends = []
    for _ in range(2):  # the second round begins as the first has left the banks
        for instruction in loop:
            cycle += 1
            if not is_multiply_add(instruction):
                kept = {}
                continue
            reads = list(operands(instruction))
            needs = [
                sum(number % BANKS == bank and kept.get(place) != number
                    for place, number, _ in reads)
                for bank in range(BANKS)
            ]  # fmt: skip
            cycle = max(cycle, *(busy[b] + needs[b] - QUEUE for b in range(BANKS) if needs[b]), 0)
            busy = [max(busy[b], cycle - 1 - QUEUE) + needs[b] for b in range(BANKS)]
            kept = {place: number for place, number, is_kept in reads if is_kept}
        ends.append(cycle)
    return ends[1] - ends[0]


def operands(instruction: Instruction) -> Iterator[tuple[int, int, bool]]:
    """The registers that an instruction reads: the place, the number, whether it is kept."""
    for place, text in enumerate(instruction.operands[1:]):
        found = REGISTER.match(text.strip())
        if found:
            yield place, int(found["number"]), found["reuse"] is not None
