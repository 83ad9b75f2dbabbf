"""Machine code by line, as a terminal prints it: `python -m simulator FILE --machine-code`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from compiler.machine_code import Instruction, MachineCode
from compiler.occupancy import CardOccupancy, card_occupancy
from simulator.frontend.host.launches import find_launches
from simulator.launch import Dim3

BLOCKS = (64, 128, 256, 512, 1024)  # threads, where neither the command nor the file says


def occupancies(
    code: MachineCode, text: str, defines: Mapping[str, str], block: Dim3 | None, shared: int
) -> tuple[CardOccupancy, ...]:
    """The occupancy with the block that is given, else the file's own, else with usual ones."""
    if block is not None:
        return (card_occupancy(code, math.prod(block), shared),)
    launches = [one for one in find_launches(text, defines) if one.kernel == code.kernel]
    own = {
        (math.prod(one.block), one.shared or 0): None for one in launches if one.block is not None
    }
    sizes = list(own) or [(threads, shared) for threads in BLOCKS]
    return tuple(card_occupancy(code, *size) for size in sizes)


def as_json(code: MachineCode, found: Sequence[CardOccupancy]) -> dict[str, Any]:
    """What --json prints; docs/terminal.md names its keys."""
    live = code.live_by_line() or {}
    return {
        "kernel": code.kernel,
        "architecture": code.architecture,
        "compiler": code.compiler,
        "options": list(code.options),
        "lines": [
            {
                "line": line,
                "live": None if line is None else live.get(line),
                "instructions": [
                    {"opcode": one.opcode, "text": one.text, "width": one.width, "group": one.group}
                    for one in instructions
                ],
            }
            for line, instructions in code.lines.items()
        ],
        "registers": code.registers,
        "spills": {"stores": code.spill_stores, "loads": code.spill_loads},
        "stack": code.stack_bytes,
        "shared": code.shared_bytes,
        "occupancy": [asdict(one) | {"share": one.share} for one in found],
    }


def as_text(code: MachineCode, text: str, found: Sequence[CardOccupancy]) -> str:
    """What is printed without --json."""
    written = text.splitlines()
    listed = [_heading(code)]
    for line, instructions in code.lines.items():
        place = "no line" if line is None else f"line {line}: {written[line - 1].strip()}"
        listed += ["", place, f"  {summary(instructions)}"]
        listed += [f"    {one.group:<13}{one.text}" for one in instructions]
    return "\n".join([*listed, "", *(_occupancy(one) for one in found)])


def summary(instructions: Sequence[Instruction]) -> str:
    """How often each opcode stands among instructions.

    >>> from compiler.opcodes import classify
    >>> loads = [classify("LDS", "LDS R1, [R2]", 1)] * 2
    >>> summary([*loads, classify("FFMA", "FFMA R4, R1, R3, R4", 1)])
    '2 LDS, 1 FFMA'
    """
    counts = Counter(one.opcode for one in instructions)
    return ", ".join(f"{count} {opcode}" for opcode, count in counts.items())


def _heading(code: MachineCode) -> str:
    spilled = (
        f"{code.spill_stores} bytes spilled"
        if code.spill_stores or code.spill_loads
        else "none spilled"
    )
    return (
        f"{code.kernel} for {code.architecture} by {code.compiler}: {len(code.instructions):,} "
        f"instructions, {code.registers} registers a thread, {spilled}, {code.shared_bytes:,} "
        "bytes of shared memory a block"
    )


def _occupancy(one: CardOccupancy) -> str:
    return (
        f"{one.cards}: {one.blocks} blocks of {one.threads} threads at once, {one.warps} of "
        f"{one.warps_at_most} warps, limited by {one.limit}"
    )
