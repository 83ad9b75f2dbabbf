"""The machine code of each line as a page lists it."""

from __future__ import annotations

from compiler.changes import changes
from compiler.machine_code import Group
from compiler.recorded import recorded
from simulator import compile_kernel
from simulator.catalogue import catalogue
from ui.machine_code.rows import LineRows, OpcodeRow, line_rows


def rows(name: str) -> tuple[LineRows, ...]:
    text = catalogue()[name].source()
    code = recorded(text, "sm_90")
    assert code is not None
    found = line_rows(code, changes(code, compile_kernel(text, code.kernel)), text)
    assert sum(one.count for line in found for one in line.opcodes) == len(code.instructions)
    assert sum(len(line.instructions) for line in found) == len(code.instructions)
    return found


def test_a_line_has_its_opcodes_with_their_sentences_and_what_was_done_to_it() -> None:
    [line] = [one for one in rows("tiled") if one.source.startswith("acc +=")]
    assert line.summary == "16 LDS, 4 LDS.128, 16 FFMA"
    assert line.opcodes[0] == OpcodeRow(
        "LDS", 16, Group.SHARED_LOAD, "Loads from shared memory into registers."
    )
    assert sum(one.startswith("FFMA ") for one in line.instructions) == 16
    assert [one.partition(":")[0] for one in line.changes] == ["Unrolled", "Fused", "Merged"]
    assert line.registers is not None


def test_a_line_of_which_nothing_is_left_says_so() -> None:
    [line] = [one for one in rows("tiled") if one.source.startswith("for (int k")]
    assert line.changes == ("No instruction of this line remains.",)
    assert (line.opcodes, line.instructions, line.summary) == ((), (), "")


def test_lines_are_in_order_and_what_is_of_no_line_is_last() -> None:
    found = [one.line for one in rows("naive")]
    numbers = [one for one in found if one is not None]
    assert numbers == sorted(set(numbers))
    assert None not in found[:-1]
