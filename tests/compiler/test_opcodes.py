"""What an instruction does, and how wide it is: a table."""

from __future__ import annotations

import pytest

from compiler.machine_code import Group
from compiler.opcodes import classify, sentence

CASES = [
    ("LDG.E", "@!P1 LDG.E R22, desc[UR6][R4.64]", Group.LOAD, 4),
    ("LDG.E.128.CONSTANT", "LDG.E.128.CONSTANT R4, desc[UR6][R4.64]", Group.LOAD, 16),
    ("LDG.E.U16", "LDG.E.U16 R4, desc[UR6][R4.64]", Group.LOAD, 2),
    ("LDG.E.S8", "LDG.E.S8 R4, [R4.64]", Group.LOAD, 1),
    ("STG.E.64", "STG.E.64 [R2.64], R8", Group.STORE, 8),
    ("LDS.128", "LDS.128 R8, [R18+0x10]", Group.SHARED_LOAD, 16),
    ("LDSM.16.M88.4", "LDSM.16.M88.4 R8, [R18]", Group.SHARED_LOAD, 16),
    ("LDSM.16.MT88.2", "LDSM.16.MT88.2 R8, [R18]", Group.SHARED_LOAD, 8),
    ("LDSM.16.M88", "LDSM.16.M88 R8, [R18]", Group.SHARED_LOAD, 4),
    ("LDGSTS.E.BYPASS.LTC128B.128", "LDGSTS.E.BYPASS.LTC128B.128 [R7], [R2.64]", Group.COPY, 16),
    ("LDGSTS.E", "LDGSTS.E [R7], [R2.64]", Group.COPY, 4),
    ("ATOMG.E.ADD.STRONG.GPU", "ATOMG.E.ADD.STRONG.GPU PT, R3, [R2], R5", Group.ATOMIC, 4),
    ("STL.64", "STL.64 [R1], R4", Group.LOCAL, 8),
    ("LDC.64", "LDC.64 R4, c[0x0][0x210]", Group.CONSTANT, 8),
    ("FFMA", "FFMA R8, R26, R8, R23", Group.ARITHMETIC, None),
    ("FFMA", "FFMA R6, R0, R3, RZ", Group.ARITHMETIC, None),
    ("HFMA2.MMA", "HFMA2.MMA R23, -RZ, RZ, 0, 0", Group.MOVE, None),
    ("IMAD.MOV.U32", "IMAD.MOV.U32 R16, RZ, RZ, R4", Group.MOVE, None),
    ("IMAD.WIDE", "@!P0 IMAD.WIDE R6, R17, 0x4, R6", Group.ADDRESS, None),
    ("IMAD.SHL.U32", "IMAD.SHL.U32 R6, R17, 0x4, RZ", Group.ADDRESS, None),
    ("BAR.SYNC.DEFER_BLOCKING", "BAR.SYNC.DEFER_BLOCKING 0x0", Group.BARRIER, None),
    ("HMMA.16816.F32", "HMMA.16816.F32 R4, R8, R12, R4", Group.TENSOR, None),
    ("EXIT", "@P0 EXIT", Group.BRANCH, None),
]


@pytest.mark.parametrize(("opcode", "text", "group", "width"), CASES)
def test_group_and_width(opcode: str, text: str, group: Group, width: int | None) -> None:
    found = classify(opcode, text, 1)
    assert (found.group, found.width) == (group, width)
    assert sentence(found)


def test_an_unknown_opcode_has_no_sentence() -> None:
    found = classify("FROB.X", "FROB.X R1, R2", 1)
    assert (found.group, found.width, sentence(found)) == (Group.OTHER, None, "")
