"""How many of a kernel's blocks a multiprocessor holds at once."""

from __future__ import annotations

from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.occupancy import H200, resident_blocks
from simulator.sentences import verdicts
from simulator.verdict.verdict import Occupancy


def occupancy(kernel: Kernel, launch: Launch, registers: int | None) -> Occupancy:
    """The occupancy of a launch on compute capability 9.0; registers are a thread's, if known."""
    shared_bytes = kernel.static_shared_bytes + launch.shared_bytes
    blocks, limit = resident_blocks(launch.threads, shared_bytes, registers)
    warps = blocks * launch.warps
    return Occupancy(
        blocks=blocks,
        warps=warps,
        warps_at_most=H200.warps,
        limit=limit,
        registers=registers,
        sentence=verdicts.occupancy(blocks, warps, H200.warps, limit, registers),
    )
