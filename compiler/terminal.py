"""Machine code by line, as a terminal prints it: `python -m simulator FILE --machine-code`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from compiler.changes import changes
from compiler.iteration import Iteration, iterations
from compiler.machine_code import Instruction, MachineCode
from compiler.occupancy import CardOccupancy, card_occupancy
from simulator.frontend.host.launches import find_launches
from simulator.language.files import with_file_names
from simulator.language.tree import Kernel
from simulator.launch import Dim3
from simulator.terminal.report_text import files_as_json, place_as_json

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


def as_json(
    code: MachineCode, kernel: Kernel | None, text: str, found: Sequence[CardOccupancy]
) -> dict[str, Any]:
    """What --json prints; docs/terminal.md names its keys.

    kernel is the same as the simulator has it, None where that does not execute it.
    """
    live = code.live_by_line() or {}
    made = {} if kernel is None else changes(code, kernel)
    return {
        "kernel": code.kernel,
        "architecture": code.architecture,
        "compiler": code.compiler,
        "options": list(code.options),
        "files": files_as_json(text),
        "lines": [
            {
                "line": line,
                "place": None if line is None else place_as_json(text, line),
                "live": None if line is None else live.get(line),
                "instructions": [
                    {"opcode": one.opcode, "text": one.text, "width": one.width, "group": one.group}
                    for one in instructions
                ],
            }
            for line, instructions in code.lines.items()
        ],
        "changes": {
            str(line): [
                asdict(one) | {"in_files": with_file_names(one.sentence, text)} for one in each
            ]
            for line, each in made.items()
        },
        "loops": [_loop_as_json(one, text) for one in iterations(code)],
        "registers": code.registers,
        "spills": {"stores": code.spill_stores, "loads": code.spill_loads},
        "stack": code.stack_bytes,
        "shared": code.shared_bytes,
        "occupancy": [asdict(one) | {"share": one.share} for one in found],
    }


def _loop_as_json(one: Iteration, text: str) -> dict[str, Any]:
    """An iteration of an innermost loop of the machine code."""
    return {
        "lines": list(one.lines),
        "places": [place_as_json(text, line) for line in one.lines],
        "instructions": one.instructions,
        "slots": dict(one.slots),
        "multiply_adds": one.multiply_adds,
        "multiply_add_share": one.multiply_add_share,
        "global_bytes": one.global_bytes,
        "shared_bytes": one.shared_bytes,
        "cycles": dict(one.cycles),
        "limit": one.limit,
        "attainable": one.attainable,
    }


def as_text(
    code: MachineCode, kernel: Kernel | None, text: str, found: Sequence[CardOccupancy]
) -> str:
    """What is printed without --json; see as_json."""
    written = text.splitlines()
    listed = [heading(code)]
    made = {} if kernel is None else changes(code, kernel)
    numbers = [*sorted({*made, *(line for line in code.lines if line is not None)}), None]
    for line in numbers:
        instructions = code.lines.get(line, ())
        if line is None and not instructions:
            continue
        place = (
            "no line"
            if line is None
            else f"{with_file_names(f'line {line}', text)}: {written[line - 1].strip()}"
        )
        listed += ["", place]
        listed += [f"  {summary(instructions)}"] if instructions else []
        said = [one.sentence for one in (made.get(line, ()) if line else ())]
        listed += [f"  {with_file_names(one, text)}" for one in said]
        listed += [f"    {one.group:<13}{one.text}" for one in instructions]
    loops = [with_file_names(one, text) for one in loop_sentences(iterations(code))]
    return "\n".join([*listed, "", *loops, *(occupancy_sentence(one) for one in found)])


def loop_sentences(found: Sequence[Iteration]) -> list[str]:
    """An iteration of each innermost loop, a sentence each.

    The compiler may make several loops of one, such as an unrolled one and one for the rest.
    """
    places = [
        f"lines {one.lines[0]} to {one.lines[-1]}" if one.lines else "no line" for one in found
    ]
    return [
        f"{'another ' if place in places[:number] else ''}loop of {place}: {_takes(one)}"
        for number, (place, one) in enumerate(zip(places, found, strict=True))
    ]


def _takes(one: Iteration) -> str:
    slots = ", ".join(f"{count} {group}" for group, count in one.slots.items())
    rate = (
        f"; FFMA takes {one.multiply_add_share:.0%} of its issue slots, and its instructions allow "
        f"at most {one.attainable:.0%} of float's peak, limited by {one.limit}"
        if one.multiply_adds
        else ""
    )
    return f"{one.instructions} instructions an iteration ({slots}){rate}"


def summary(instructions: Sequence[Instruction]) -> str:
    """How often each opcode occurs among instructions.

    >>> from compiler.opcodes import classify
    >>> loads = [classify("LDS", "LDS R1, [R2]", 1)] * 2
    >>> summary([*loads, classify("FFMA", "FFMA R4, R1, R3, R4", 1)])
    '2 LDS, 1 FFMA'
    """
    counts = Counter(one.opcode for one in instructions)
    return ", ".join(f"{count} {opcode}" for opcode, count in counts.items())


def heading(code: MachineCode) -> str:
    """What a kernel is compiled by and for, and what it takes, in a line."""
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


def occupancy_sentence(one: CardOccupancy) -> str:
    """How full a kernel makes a multiprocessor, and what allows no more, in a line."""
    return (
        f"{one.cards}: {one.blocks} blocks of {one.threads} threads at once, {one.warps} of "
        f"{one.warps_at_most} warps, limited by {one.limit}"
    )
