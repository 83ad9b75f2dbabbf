"""How many blocks a multiprocessor holds at once, and what allows no more."""

from __future__ import annotations

from simulator.launch import WARP_SIZE

# A multiprocessor of an H200 (CUDA C++ Programming Guide, technical specifications of compute
# capability 9.0).
MULTIPROCESSORS = 132  # of the GPU
SM_BLOCKS = 32  # resident blocks
SM_WARPS = 64  # resident warps
SM_SHARED_BYTES = 228 * 1024
SM_REGISTERS = 65_536
RESERVED_SHARED_BYTES = 1024  # of each block
# What is given out at a time (the occupancy calculator of Nsight Compute, the same capability).
SHARED_UNIT = 128  # bytes
REGISTER_UNIT = 256  # registers of a warp
WARP_UNIT = 4  # warps that share the registers evenly


def resident_blocks(
    threads: int, shared_bytes: int, registers: int | None = None
) -> tuple[int, str]:
    """The blocks that a multiprocessor holds, and what allows no more; 0 where none fits.

    threads and shared_bytes are of a block, registers of a thread, None where they are not known.
    What allows no more is "threads", "shared memory", "registers" or "blocks".

    >>> resident_blocks(256, 0), resident_blocks(256, 64 * 1024), resident_blocks(256, 0, 128)
    ((8, 'threads'), (3, 'shared memory'), (2, 'registers'))
    """
    warps = -(-threads // WARP_SIZE)
    given = -(-(shared_bytes + RESERVED_SHARED_BYTES) // SHARED_UNIT) * SHARED_UNIT
    limits = {
        "threads": SM_WARPS // warps,
        "blocks": SM_BLOCKS,
        "shared memory": SM_SHARED_BYTES // given,
    }
    if registers:
        of_warp = -(-registers * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
        limits["registers"] = SM_REGISTERS // of_warp // WARP_UNIT * WARP_UNIT // warps
    limit = min(limits, key=lambda name: limits[name])
    return limits[limit], limit
