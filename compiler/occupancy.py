"""How full a kernel makes a multiprocessor of a card, from its machine code, without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.machine_code import MachineCode
from simulator.launch import WARP_SIZE
from simulator.machine.occupancy import CAPABILITIES, Multiprocessor, block_takes, resident_blocks


@dataclass(frozen=True, slots=True)
class CardOccupancy:
    """What a multiprocessor of some cards holds of a kernel's blocks at once."""

    cards: str
    threads: int  # of a block
    blocks: int  # 0 where not even one fits
    warps: int
    warps_at_most: int  # how many there is room for
    limit: str  # what allows no more: "threads", "shared memory", "registers" or "blocks"
    # What a block takes and how much there is, by the names of limits: warps, bytes, registers.
    takes: Mapping[str, tuple[int, int]]

    @property
    def share(self) -> float:
        """The occupancy, from 0 to 1."""
        return self.warps / self.warps_at_most


def capability(architecture: str) -> str:
    """The compute capability of an architecture.

    >>> capability("sm_90"), capability("sm_120")
    ('9.0', '12.0')
    """
    number = architecture.removeprefix("sm_")
    return f"{number[:-1]}.{number[-1]}"


def multiprocessor(code: MachineCode) -> Multiprocessor:
    """The multiprocessor for which code was made."""
    return CAPABILITIES[capability(code.architecture)]


def card_occupancy(code: MachineCode, threads: int, dynamic_bytes: int = 0) -> CardOccupancy:
    """The occupancy of a launch with blocks of so many threads.

    dynamic_bytes is the shared memory that the launch gives each block. A multiprocessor of another
    compute capability has machine code of its own: compile for its architecture.
    """
    on = multiprocessor(code)
    shared = code.shared_bytes + dynamic_bytes
    blocks, limit = resident_blocks(threads, shared, code.registers, on)
    if shared > on.block_shared_bytes:
        blocks, limit = 0, "shared memory"
    warps = blocks * -(-threads // WARP_SIZE)
    takes = block_takes(threads, shared, code.registers, on)
    return CardOccupancy(on.cards, threads, blocks, warps, on.warps, limit, takes)
