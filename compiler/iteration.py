"""What one iteration of an innermost loop of the machine code takes, and what rate that allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.loops import Loop, find_loops
from compiler.machine_code import Group, MachineCode
from compiler.occupancy import multiprocessor
from simulator.launch import WARP_SIZE

MULTIPLY_ADD = "FFMA"
# Warp instructions that a multiprocessor issues in a cycle: one a scheduler, of which there are
# four (CUDA Programming Guide, streaming multiprocessor; all compute capabilities since 7.0).
ISSUED = 4
# What passes the path between the registers and L1 or shared memory: at least a cycle each, for it
# moves 128 bytes in one (the tuning guides of the architectures).
MOVES = (Group.LOAD, Group.STORE, Group.SHARED_LOAD, Group.SHARED_STORE, Group.COPY, Group.LOCAL)
SHARED = (Group.SHARED_LOAD, Group.SHARED_STORE)
OFF_CHIP = (Group.LOAD, Group.STORE, Group.COPY)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of a warp through an innermost loop: upper bounds, for it waits for nothing."""

    loop: Loop
    lines: tuple[int, ...]  # of the kernel's source, whose instructions are in it
    slots: Mapping[Group, int]  # instructions by what they do: each takes an issue slot
    multiply_adds: int  # FFMA, each a product and a sum of 32 threads
    global_bytes: int  # loaded and stored by a thread
    shared_bytes: int
    cycles: Mapping[str, float]  # busy at least, for each part of a multiprocessor

    @property
    def instructions(self) -> int:
        """All issue slots."""
        return sum(self.slots.values())

    @property
    def multiply_add_share(self) -> float:
        """FFMA among all instructions, 0 to 1."""
        return self.multiply_adds / self.instructions

    @property
    def limit(self) -> str:
        """The part that is busy longest: "issue", "arithmetic" or "loads and stores"."""
        return max(self.cycles, key=lambda part: self.cycles[part])

    @property
    def attainable(self) -> float:
        """The share of the peak of float32 that these instructions allow, 0 to 1."""
        return self.cycles["arithmetic"] / self.cycles[self.limit]


def iterations(code: MachineCode) -> tuple[Iteration, ...]:
    """Each innermost loop's iteration, that with most multiply-adds first."""
    loops = [loop for loop in find_loops(code.instructions) if loop.is_innermost]
    found = [_iteration(code, loop) for loop in loops]
    return tuple(sorted(found, key=lambda one: -one.multiply_adds))


def _iteration(code: MachineCode, loop: Loop) -> Iteration:
    inside = [code.instructions[number] for number in sorted(loop.body)]
    slots = Counter(one.group for one in inside)
    multiply_adds = sum(
        one.base == MULTIPLY_ADD and one.group is Group.ARITHMETIC for one in inside
    )

    def moved(groups: tuple[Group, ...]) -> int:
        return sum(one.width or 0 for one in inside if one.group in groups)

    on = multiprocessor(code)
    return Iteration(
        loop=loop,
        lines=tuple(sorted({one.line for one in inside if one.line is not None})),
        slots=dict(slots),
        multiply_adds=multiply_adds,
        global_bytes=moved(OFF_CHIP),
        shared_bytes=moved(SHARED),
        cycles={
            "issue": len(inside) / ISSUED,
            "arithmetic": multiply_adds * WARP_SIZE / on.float_lanes,
            "loads and stores": float(sum(slots[group] for group in MOVES)),
        },
    )
