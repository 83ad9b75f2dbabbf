"""What an opcode does: its group, its sentence, and how many bytes a thread moves by it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compiler.machine_code import Group, Instruction

FILE = Path(__file__).resolve().parent.parent / "assets" / "opcodes.toml"
MEMORY = (
    Group.LOAD, Group.STORE, Group.SHARED_LOAD, Group.SHARED_STORE, Group.COPY, Group.LOCAL,
    Group.CONSTANT, Group.ATOMIC,
)  # fmt: skip
WIDTH = re.compile(r"\.(?:[US]?)(8|16|32|64|128|256)\b")  # bits, among an opcode's modifiers
MATRICES = re.compile(r"\.M\w+\.(2|4)$")  # of LDSM: small matrices, each a register of a thread
REGISTER_BYTES = 4
# A product with the zero register is none: the compiler moves a constant or a register so, by
# whatever unit is free.
MULTIPLY_ADDS = ("IMAD", "HFMA2", "FFMA")
ZERO = re.compile(r"[-|~]*RZ\b.*")


@dataclass(frozen=True, slots=True)
class Opcode:
    """An entry of assets/opcodes.toml."""

    group: Group
    says: str  # a sentence


@functools.cache
def opcodes() -> Mapping[str, Opcode]:
    """All known opcodes, by name without modifiers."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: Opcode(Group(one["group"]), one["says"]) for name, one in tables.items()}


def sentence(instruction: Instruction) -> str:
    """What an instruction does, in a plain sentence; empty for an unknown one.

    >>> from compiler.opcodes import classify
    >>> sentence(classify("FFMA", "FFMA R8, R26, R8, R23", 26))
    'Multiplies two floats and adds a third, rounded once.'
    >>> sentence(classify("IMAD.MOV.U32", "IMAD.MOV.U32 R16, RZ, RZ, R4", 18))
    'Copies a register or a constant to a register.'
    """
    is_move = instruction.group is Group.MOVE and instruction.base in MULTIPLY_ADDS
    known = opcodes().get("MOV" if is_move else instruction.base)
    return "" if known is None else known.says


def classify(opcode: str, text: str, line: int | None) -> Instruction:
    """An instruction with its group and its width.

    >>> classify("LDS.128", "LDS.128 R8, [R18]", 26).width
    16
    """
    known = opcodes().get(opcode.partition(".")[0])
    group = Group.OTHER if known is None else known.group
    plain = Instruction(opcode, text, line, group, None)
    if plain.base in MULTIPLY_ADDS and any(ZERO.fullmatch(one) for one in plain.operands[1:3]):
        return Instruction(opcode, text, line, Group.MOVE, None)
    if group not in MEMORY:
        return plain
    return Instruction(opcode, text, line, group, _width(opcode))


def opcode_of(text: str) -> str:
    """The opcode of an instruction's text, which a predicate may come before.

    >>> opcode_of("@!P0 LDS.128 R8, [R18]")
    'LDS.128'
    """
    words = text.split(" ", 2)
    return words[1] if words[0].startswith("@") else words[0]


def _width(opcode: str) -> int:
    matrices = MATRICES.search(opcode)
    if matrices:
        return REGISTER_BYTES * int(matrices[1])
    if opcode.startswith(("LDSM", "STSM")):
        return REGISTER_BYTES
    bits = [int(found) for found in WIDTH.findall(opcode)]
    return bits[-1] // 8 if bits else REGISTER_BYTES
