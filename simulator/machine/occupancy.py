"""How many blocks a multiprocessor holds at once, and what allows no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.launch import WARP_SIZE

MULTIPROCESSORS = 132  # of an H200
SM_REGISTERS = 65_536  # of every multiprocessor here
# What is given out at a time (the occupancy calculator of Nsight Compute, the same for all here).
REGISTER_UNIT = 256  # registers of a warp
WARP_UNIT = 4  # warps that share the registers evenly
KB = 1024


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """What a multiprocessor of a compute capability holds at once."""

    cards: str  # those that have it
    blocks: int
    warps: int
    shared_bytes: int
    block_shared_bytes: int  # at most for one block, if its launch asks for them
    float_lanes: int = 128  # products with a sum, of 32 bits, that it computes in a cycle
    reserved_bytes: int = KB  # of shared memory, for each block
    shared_unit: int = 128  # bytes of shared memory that are given out at a time


# By compute capability: NVIDIA's CUDA Core Compute Libraries 3.5, cuda/__device/arch_traits.h, and
# for the lanes the CUDA Programming Guide 13's table of arithmetic instructions.
# tests/compiler/test_occupancy.py holds it to that header, and what follows to NVIDIA's calculator.
CAPABILITIES: Mapping[str, Multiprocessor] = {
    "7.5": Multiprocessor("T4, RTX 20", 16, 32, 64 * KB, 64 * KB, 64, 0, 256),
    "8.0": Multiprocessor("A100", 32, 64, 164 * KB, 163 * KB, 64),
    "8.6": Multiprocessor("RTX 30", 16, 48, 100 * KB, 99 * KB),
    "8.7": Multiprocessor("Jetson Orin", 16, 48, 164 * KB, 163 * KB),
    "8.9": Multiprocessor("RTX 40, L4, L40", 24, 48, 100 * KB, 99 * KB),
    "9.0": Multiprocessor("H100, H200", 32, 64, 228 * KB, 227 * KB),
    "10.0": Multiprocessor("B200", 32, 64, 228 * KB, 227 * KB),
    "10.3": Multiprocessor("B300", 32, 64, 228 * KB, 227 * KB),
    "11.0": Multiprocessor("Jetson Thor", 24, 48, 228 * KB, 227 * KB),
    "12.0": Multiprocessor("RTX 50", 24, 48, 100 * KB, 99 * KB),
    "12.1": Multiprocessor("DGX Spark", 24, 48, 100 * KB, 99 * KB),
}
H200 = CAPABILITIES["9.0"]


def resident_blocks(
    threads: int, shared_bytes: int, registers: int | None = None, on: Multiprocessor = H200
) -> tuple[int, str]:
    """The blocks that a multiprocessor holds, and what allows no more; 0 where none fits.

    threads and shared_bytes are of a block, registers of a thread, None where they are not known.
    What allows no more is "threads", "shared memory", "registers" or "blocks".

    >>> resident_blocks(256, 0), resident_blocks(256, 64 * 1024), resident_blocks(256, 0, 128)
    ((8, 'threads'), (3, 'shared memory'), (2, 'registers'))
    >>> resident_blocks(256, 64 * 1024, on=CAPABILITIES["8.6"])
    (1, 'shared memory')
    """
    warps = -(-threads // WARP_SIZE)
    taken = block_takes(threads, shared_bytes, registers, on)
    limits = {name: of_all // of_block for name, (of_block, of_all) in taken.items() if of_block}
    if registers:
        of_warp = taken["registers"][0] // warps
        limits["registers"] = SM_REGISTERS // of_warp // WARP_UNIT * WARP_UNIT // warps
    limit = min(limits, key=lambda name: limits[name])
    return limits[limit], limit


def block_takes(
    threads: int, shared_bytes: int, registers: int | None = None, on: Multiprocessor = H200
) -> Mapping[str, tuple[int, int]]:
    """What a block takes of a multiprocessor and how much there is: warps, bytes, registers.

    The names are those that resident_blocks returns; without registers for unknown ones.

    >>> block_takes(256, 2048, 32)["registers"]
    (8192, 65536)
    """
    warps = -(-threads // WARP_SIZE)
    given = -(-(shared_bytes + on.reserved_bytes) // on.shared_unit) * on.shared_unit
    of_warp = -(-(registers or 0) * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
    return {
        "threads": (warps, on.warps),
        "blocks": (1, on.blocks),
        "shared memory": (given, on.shared_bytes),
    } | ({"registers": (warps * of_warp, SM_REGISTERS)} if registers else {})
