"""Reads a cubin: instructions and live registers by nvdisasm, lines by the cubin's own table.

A run of nvdisasm takes a quarter of a second of a processor, however short the code is, and its
text alone has live registers (13.5). Its JSON lists the same instructions: tests hold what is read
here to that. What is not read whole is an error; nothing is guessed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from compiler.line_table import instruction_lines
from compiler.machine_code import INSTRUCTION_BYTES, Instruction, LiveRange
from compiler.opcodes import classify, opcode_of
from compiler.source import FILENAME
from compiler.toolchain import ToolchainError

SECONDS = 60.0  # for one of its runs, which take tenths: however busy the machine is
LIVE = ("-c", "-plr", "-lrm", "narrow")
PLAIN = ("-c",)  # for code whose live registers it does not tell, such as that of NVRTC 12
SECTION = re.compile(r"\t\.section\t\.text\.([^,]+),")
# An instruction, and what is noted of some: `(*"SpillRefill"*)`.
LISTED = re.compile(
    r"\s+/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;]+?)\s*(?:\(\*[^;]*\*\))?\s*;"
)
LABEL = re.compile(r"(\.L_\w+):")
TO_LABEL = re.compile(r"`\((\.L_\w+)\)")
NOT_LIVE = " "  # in the column of a register; else it is written, read or kept
TRAP = "BRA"  # one to itself, after the last instruction that runs


def read_cubin(
    nvdisasm: Path, image: bytes, symbol: str
) -> tuple[tuple[Instruction, ...], int, tuple[LiveRange, ...] | None]:
    """A kernel's instructions, how many fill the code up after them, and its live registers.

    Lines are counted in the code that NVRTC got. Live registers are None where this nvdisasm does
    not tell them for such a file. Raises ToolchainError for what is not read whole.
    """
    lines = instruction_lines(image, symbol, FILENAME)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(image)
        printed = _run(nvdisasm, LIVE, path, may_fail=True) or _run(nvdisasm, PLAIN, path)
    listed = list(_of_function(printed, symbol))
    texts = _texts(listed)
    code = tuple(
        classify(opcode_of(text), text, line) for text, line in zip(texts, lines, strict=False)
    )
    end = _end(code)
    # A listing with live registers leaves out what comes after the trap.
    if len(texts) != len(lines) and not end < len(texts) < len(lines):
        raise ToolchainError(
            f"nvdisasm lists {len(texts)} of {len(lines)} instructions of {symbol}."
        )
    live = _live(listed)
    return code[:end], len(lines) - end, None if live is None else tuple(_ranges(live[:end]))


def _run(nvdisasm: Path, options: Sequence[str], path: Path, may_fail: bool = False) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # our own command line, no shell
            [nvdisasm, *options, path], capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainError(f"nvdisasm does not run here: {error}.") from None
    if done.returncode and may_fail:
        return ""
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise ToolchainError(f"nvdisasm cannot read the code: {reason}")
    return done.stdout


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


def _texts(listed: Sequence[str]) -> list[str]:
    """A function's instructions in their order, with addresses instead of labels."""
    texts: list[str] = []
    labels: dict[str, str] = {}
    for line in listed:
        label, found = LABEL.match(line), LISTED.match(line)
        if label:
            labels[label[1]] = hex(len(texts) * INSTRUCTION_BYTES)
        elif found:
            if int(found["address"], 16) != len(texts) * INSTRUCTION_BYTES:
                raise ToolchainError(f"nvdisasm leaves out code before {found['address']}.")
            texts.append(found["text"])
    return [TO_LABEL.sub(lambda one: labels.get(one[1], one[0]), text) for text in texts]


def _end(code: Sequence[Instruction]) -> int:
    """How many instructions there are without those that fill the code up."""
    end = len(code)
    while end and code[end - 1].base == "NOP":
        end -= 1
    at = hex((end - 1) * INSTRUCTION_BYTES)
    if end and code[end - 1].base == TRAP and code[end - 1].operands[-1:] == (at,):
        end -= 1
    return end


def _live(listed: Sequence[str]) -> list[str] | None:
    """For each instruction a character a register, NOT_LIVE where it holds nothing."""
    rows = []
    first = width = 0
    for line in listed:
        table = line.partition("// |")[2]
        numbers = re.match(r"\s*#( [0-9]+)\s*\|", table)
        if numbers:
            first, width = numbers.start(1) + 1, len(numbers[1]) - 1
        elif table and LISTED.match(line):
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
