"""How many of a kernel's blocks a multiprocessor holds at once, in a sentence."""

from __future__ import annotations

from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.occupancy import SM_WARPS, resident_blocks
from simulator.verdict.verdict import Occupancy

MENDS = {
    "threads": "the threads of its blocks fill it",
    "blocks": "it takes no more blocks, however small: give each more threads",
    "shared memory": "their shared memory fills it: smaller tiles leave room for more",
    "registers": "their registers fill it: fewer values a thread leave room for more",
}
UNKNOWN = (
    "from shared memory and threads alone; the compiler's registers are known only with a GPU's "
    "toolkit"
)


def occupancy(kernel: Kernel, launch: Launch, registers: int | None) -> Occupancy:
    """The occupancy of a launch on compute capability 9.0; registers are a thread's, if known."""
    shared_bytes = kernel.static_shared_bytes + launch.shared_bytes
    blocks, limit = resident_blocks(launch.threads, shared_bytes, registers)
    warps = blocks * launch.warps
    source = f"with {registers} registers a thread" if registers else UNKNOWN
    return Occupancy(
        blocks=blocks,
        warps=warps,
        warps_at_most=SM_WARPS,
        limit=limit,
        registers=registers,
        sentence=f"A multiprocessor holds {blocks} blocks at once, {warps} of {SM_WARPS} warps "
        f"({source}): {MENDS[limit]}.",
    )
