"""The machine code of each line as a page lists it, without Streamlit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compiler.changes import Change
from compiler.machine_code import Group, MachineCode
from compiler.opcodes import sentence
from compiler.terminal import summary


@dataclass(frozen=True, slots=True)
class OpcodeRow:
    """Instructions of a line that do the same."""

    opcode: str  # with its modifiers
    count: int
    group: Group
    says: str  # a sentence; "" for an unknown opcode


@dataclass(frozen=True, slots=True)
class LineRows:
    """What the compiler made of a line."""

    line: int | None  # from 1; None for the instructions that are of no line
    source: str
    opcodes: tuple[OpcodeRow, ...]  # in the order of their first instructions
    summary: str  # of them: "2 LDS, 1 FFMA"
    instructions: tuple[str, ...]  # in the order of the machine code
    changes: tuple[str, ...]  # sentences: what the compiler did to the line
    registers: int | None  # the most that are in use there, None where that is not known
    live: tuple[tuple[int, int], ...] = ()  # those that are live, as runs: the first and how many
    of_all: int = 0  # registers that a thread has


def line_rows(
    code: MachineCode, made: Mapping[int, tuple[Change, ...]], text: str
) -> tuple[LineRows, ...]:
    """The lines with instructions or changes in their order, those of no line at the end."""
    live, lines, written = code.live_by_line() or {}, code.lines, text.split("\n")
    registers = code.live_registers() or {}
    numbered: set[int] = {*made, *(line for line in lines if line is not None)}
    numbers: list[int | None] = [*sorted(numbered), *([None] if None in lines else [])]
    found = []
    for line in numbers:
        instructions = lines.get(line, ())
        alike: dict[tuple[str, Group, str], int] = {}
        for one in instructions:
            kind = one.opcode, one.group, sentence(one)
            alike[kind] = alike.get(kind, 0) + 1
        found.append(
            LineRows(
                line=line,
                source="" if line is None else written[line - 1].strip(),
                opcodes=tuple(
                    OpcodeRow(opcode, count, group, says)
                    for (opcode, group, says), count in alike.items()
                ),
                summary=summary(instructions),
                instructions=tuple(one.text for one in instructions),
                changes=() if line is None else tuple(one.sentence for one in made.get(line, ())),
                registers=None if line is None else live.get(line),
                live=() if line is None else tuple(_runs(registers.get(line, ()))),
                of_all=code.registers,
            )
        )
    return tuple(found)


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Numbers as runs.

    >>> list(_runs({7, 0, 1, 2}))
    [(0, 3), (7, 1)]
    """
    for _, run in itertools.groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        found = [number for _, number in run]
        yield found[0], len(found)
