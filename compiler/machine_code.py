"""A kernel's machine code: its instructions with their lines, and what it takes of the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

INSTRUCTION_BYTES = 16  # of each instruction, since compute capability 7.0


class Group(StrEnum):
    """What an instruction does."""

    LOAD = "load"  # from global memory
    STORE = "store"  # to global memory
    SHARED_LOAD = "shared load"
    SHARED_STORE = "shared store"
    COPY = "copy"  # from global to shared memory or back, past the registers
    LOCAL = "local"  # spilled registers and arrays of one thread
    CONSTANT = "constant"  # loads of parameters and constants
    ATOMIC = "atomic"
    ARITHMETIC = "arithmetic"  # of floating-point numbers
    TENSOR = "tensor"
    ADDRESS = "address"  # arithmetic of integers: addresses, indices, counts
    COMPARE = "compare"
    MOVE = "move"
    CONVERT = "convert"
    EXCHANGE = "exchange"  # between the lanes of a warp
    BRANCH = "branch"
    BARRIER = "barrier"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, in the order of the machine code."""

    opcode: str  # with its modifiers: "LDS.128"
    text: str  # with predicate and operands, as nvdisasm has it: "@!P0 LDS.128 R8, [R18+0x10]"
    line: int | None  # of the kernel's source, from 1; None where the compiler names none
    group: Group
    width: int | None  # bytes that each thread moves; None for one that accesses no memory

    @property
    def base(self) -> str:
        """The opcode without modifiers: "LDS"."""
        return self.opcode.partition(".")[0]

    @property
    def operands(self) -> tuple[str, ...]:
        """What the instruction reads and writes: ("R8", "[R18+0x10]")."""
        behind = self.text.partition(self.opcode)[2].strip()
        return tuple(behind.split(", ")) if behind else ()


@dataclass(frozen=True, slots=True)
class LiveRange:
    """A stretch of instructions in which a register holds a value that is still needed."""

    register: int
    first: int  # the number of an instruction, from 0
    last: int


@dataclass(frozen=True, slots=True)
class MachineCode:
    """What the compiler made of one kernel for one architecture."""

    kernel: str
    architecture: str  # "sm_90"
    compiler: str  # "NVRTC 13.0"
    options: tuple[str, ...]  # those that change the code
    instructions: tuple[Instruction, ...]
    padding: int  # instructions after the last that runs, which fill the code up to its end
    registers: int  # of a thread, 32 bits each
    shared_bytes: int  # of a block, without dynamic shared memory
    stack_bytes: int  # of a thread's local memory: arrays and spilled registers
    spill_stores: int  # bytes that a thread stores because registers do not suffice, in the text
    spill_loads: int  # and that it loads
    live: tuple[LiveRange, ...] | None  # None where the disassembler does not tell

    @property
    def lines(self) -> Mapping[int | None, tuple[Instruction, ...]]:
        """The instructions of each line in their order; those of no line under None, at the end."""
        numbers = {one.line for one in self.instructions}
        ordered: list[int | None] = [*sorted(number for number in numbers if number is not None)]
        if None in numbers:
            ordered.append(None)
        return {
            number: tuple(one for one in self.instructions if one.line == number)
            for number in ordered
        }

    def live_at(self) -> tuple[int, ...] | None:
        """How many registers hold a value that is needed, at each instruction."""
        if self.live is None:
            return None
        changes = [0] * (len(self.instructions) + 1)
        for one in self.live:
            changes[one.first] += 1
            changes[min(one.last, len(self.instructions) - 1) + 1] -= 1
        counts, now = [], 0
        for change in changes[:-1]:
            now += change
            counts.append(now)
        return tuple(counts)

    def live_by_line(self) -> Mapping[int, int] | None:
        """The most registers that are live at an instruction of each line."""
        counts = self.live_at()
        if counts is None:
            return None
        most: dict[int, int] = {}
        for one, count in zip(self.instructions, counts, strict=True):
            if one.line is not None:
                most[one.line] = max(count, most.get(one.line, 0))
        return dict(sorted(most.items()))

    def live_registers(self) -> Mapping[int, frozenset[int]] | None:
        """The registers that hold a value that is needed at some instruction of each line."""
        if self.live is None:
            return None
        found: dict[int, set[int]] = {}
        for one in self.live:
            for instruction in self.instructions[one.first : one.last + 1]:
                if instruction.line is not None:
                    found.setdefault(instruction.line, set()).add(one.register)
        return {line: frozenset(registers) for line, registers in sorted(found.items())}
