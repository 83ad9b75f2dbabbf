"""The loops of machine code: of a few instructions by hand, and of the catalogue's kernels."""

from __future__ import annotations

import pytest

from compiler.loops import find_loops, innermost, successors
from compiler.machine_code import Instruction
from compiler.opcodes import classify
from compiler.recorded import recorded
from simulator.catalogue import catalogue


def _code(*texts: str) -> tuple[Instruction, ...]:
    return tuple(
        classify(text.split(" ")[1 if text.startswith("@") else 0], text, 1) for text in texts
    )


NEST = _code(
    "MOV R0, RZ",
    "MOV R1, RZ",  # 0x10: the outer loop's head
    "FFMA R2, R3, R4, R2",  # 0x20: the inner one's
    "@P0 BRA 0x20",
    "@!P1 BRA 0x60",
    "@P2 BRA 0x10",
    "EXIT",
)


def test_a_loop_in_a_loop() -> None:
    outer, inner = find_loops(NEST)
    assert (outer.head, sorted(outer.body), outer.is_innermost) == (1, [1, 2, 3, 4, 5], False)
    assert (inner.head, sorted(inner.body), inner.is_innermost) == (2, [2, 3], True)
    assert innermost((outer, inner), 2) == inner
    assert innermost((outer, inner), 5) == outer
    assert innermost((outer, inner), 6) is None


@pytest.mark.parametrize(
    ("text", "nexts"),
    [
        ("BRA 0x20", (2,)),
        ("@P0 BRA 0x20", (2, 1)),
        ("BRA !P2, 0x20", (2, 1)),
        ("EXIT", ()),
        ("@P0 EXIT", (1,)),
        ("RET.REL.NODEC R2, 0x0", ()),
        ("CALL.REL.NOINC, 0x20", (1,)),
        ("BRA 0x900", ()),
    ],
)
def test_what_may_come_next(text: str, nexts: tuple[int, ...]) -> None:
    assert successors((*_code(text), *_code("NOP", "NOP")))[0] == nexts


def test_code_that_is_moved_out_of_the_way_is_no_loop() -> None:
    """It comes back to where it left, which other ways lead to as well."""
    code = _code("@P0 BRA 0x30", "MOV R1, RZ", "EXIT", "MOV R2, RZ", "BRA 0x10")
    assert find_loops(code) == ()


@pytest.mark.parametrize(
    ("name", "loops", "arithmetic"),
    [("naive", 3, 16), ("tiled", 1, 16), ("rows", 1, 64), ("vectors", 1, 512)],
)
def test_loops_of_the_catalogue(name: str, loops: int, arithmetic: int) -> None:
    code = recorded(catalogue()[name].source(), "sm_90")
    assert code is not None
    found = [one for one in find_loops(code.instructions) if one.is_innermost]
    assert len(found) == loops
    most = max(
        sum(code.instructions[number].opcode == "FFMA" for number in one.body) for one in found
    )
    assert most == arithmetic
