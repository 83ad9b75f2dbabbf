"""Reads a cubin by nvdisasm: instructions from its JSON, lines and live registers from its text.

The JSON has every instruction, and neither lines nor live registers (nvdisasm 13.5, -json). Its
text has both, each by an option of its own. Where they list different numbers of instructions,
nothing is guessed: that is an error.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiler.machine_code import INSTRUCTION_BYTES, Instruction, LiveRange
from compiler.opcodes import classify
from compiler.source import FILENAME
from compiler.toolchain import ToolchainError

SECONDS = 60.0  # for one of its runs, which take tenths: however busy the machine is
JSON = ("-json",)
LINES = ("-c", "-gi")  # with where a function of a header is inlined
LIVE = ("-c", "-plr", "-lrm", "narrow")
SECTION = re.compile(r"\t\.section\t\.text\.([^,]+),")
OFFSET = re.compile(r"\s+/\*([0-9a-f]{4,})\*/")
PLACE = re.compile(r'"([^"]+)", line (\d+)')
NOT_LIVE = " "  # in the column of a register; else it is written, read or kept
TRAP = "BRA"  # which goes to itself, after the last instruction that runs


def read_cubin(
    nvdisasm: Path, image: bytes, symbol: str
) -> tuple[tuple[Instruction, ...], int, tuple[LiveRange, ...] | None]:
    """A kernel's instructions, how many fill the code up after them, and its live registers.

    Lines are counted in the code that NVRTC got. Live registers are None where this nvdisasm does
    not tell them for such a file. Raises ToolchainError for what is not read whole.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(image)
        # At once: each takes a third of a second of a processor, however short the code.
        with ThreadPoolExecutor() as pool:
            as_json = pool.submit(_run, nvdisasm, JSON, path)
            with_lines = pool.submit(_run, nvdisasm, LINES, path)
            with_live = pool.submit(_run, nvdisasm, LIVE, path, may_fail=True)
        found = json.loads(as_json.result())
        lines = list(_lines(with_lines.result(), symbol))
        live = _live(with_live.result(), symbol)
    sections = [one for one in found[1] if one["function-name"] == symbol]
    if len(sections) != 1:
        raise ToolchainError(f"nvdisasm shows no function {symbol}.")
    raw = sections[0]["sass-instructions"]
    if len(raw) * INSTRUCTION_BYTES != sections[0]["length"] or len(lines) != len(raw):
        raise ToolchainError(
            f"nvdisasm lists {len(raw)} instructions of {symbol} and {len(lines)} places, for "
            f"{sections[0]['length']} bytes."
        )
    code = tuple(_instruction(one, line) for one, line in zip(raw, lines, strict=True))
    end = _end(code)
    # It leaves out what fills the code up.
    ranges = None if live is None or len(live) < end else tuple(_ranges(live[:end]))
    return code[:end], len(code) - end, ranges


def _run(nvdisasm: Path, options: Sequence[str], path: Path, may_fail: bool = False) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # our own command line, no shell
            [nvdisasm, *options, path], capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainError(f"nvdisasm does not run here: {error}.") from None
    if done.returncode and not may_fail:
        said = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise ToolchainError(f"nvdisasm cannot read the code: {said}")
    return done.stdout


def _instruction(raw: dict[str, str], line: int | None) -> Instruction:
    predicate, operands = raw.get("predicate", ""), raw.get("operands", "").split(",")
    if predicate and not predicate.startswith("@"):  # the second operand of P2R, which is none
        predicate, operands = "", [operands[0], predicate, *operands[1:]]
    words = (predicate, raw["opcode"], ", ".join(operands))
    return classify(raw["opcode"], " ".join(word for word in words if word), line)


def _end(code: Sequence[Instruction]) -> int:
    """How many instructions there are without those that fill the code up."""
    end = len(code)
    while end and code[end - 1].base == "NOP":
        end -= 1
    at = hex((end - 1) * INSTRUCTION_BYTES)
    if end and code[end - 1].base == TRAP and code[end - 1].operands[-1:] == (at,):
        end -= 1
    return end


def _of_function(text: str, symbol: str) -> Iterator[str]:
    """The lines of a listing that are of one function's code."""
    is_inside = False
    for line in text.splitlines():
        section = SECTION.match(line)
        if section:
            is_inside = section[1] == symbol
        elif line.startswith("\t.section\t"):
            is_inside = False
        elif is_inside:
            yield line


def _lines(text: str, symbol: str) -> Iterator[int | None]:
    """The line of each instruction.

    That is where the text has it, of what a header's function does the line that calls it. A line
    holds until the next is named; line 0 is none (DWARF 4, line number information).
    """
    named: list[tuple[str, int]] = []
    line: int | None = None
    for listed in _of_function(text, symbol):
        if "//## File" in listed:
            named += [(Path(file).name, int(number)) for file, number in PLACE.findall(listed)]
        elif OFFSET.match(listed):
            if named:
                line = next((number for file, number in named if file == FILENAME), line) or None
                named = []
            yield line


def _live(text: str, symbol: str) -> list[str] | None:
    """For each instruction a character a register, NOT_LIVE where it holds nothing."""
    rows = []
    first = width = 0
    for listed in _of_function(text, symbol):
        table = listed.partition("// |")[2]
        numbers = re.match(r"\s*#( [0-9]+)\s*\|", table)
        if numbers:
            first, width = numbers.start(1) + 1, len(numbers[1]) - 1
        elif table and OFFSET.match(listed):
            rows.append(table[first : first + width])
    return rows if width else None


def _ranges(rows: Sequence[str]) -> Iterator[LiveRange]:
    """The stretches in which each register is live."""
    for register in range(max(map(len, rows), default=0)):
        begun: int | None = None
        for number, row in enumerate([*rows, ""]):
            is_live = row[register : register + 1] not in ("", NOT_LIVE)
            if is_live and begun is None:
                begun = number
            elif not is_live and begun is not None:
                yield LiveRange(register, begun, number - 1)
                begun = None
