"""Numbers of recorded machine code that lessons ask for."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping

from compiler.hints import HINTS, Launched, hinted_sources
from compiler.iteration import Iteration, iterations
from compiler.machine_code import Group, MachineCode
from compiler.occupancy import card_occupancy
from compiler.recorded import recorded
from simulator import compile_kernel
from simulator.catalogue import Entry, whole_catalogue
from ui.gpu_charts.instruction_mix import ARCHITECTURE

OF_CODE: Mapping[str, Callable[[MachineCode], float]] = {
    "instructions": lambda code: len(code.instructions),
    "registers": lambda code: code.registers,
    "spill-stores": lambda code: code.spill_stores,  # bytes of a thread
    "stack": lambda code: code.stack_bytes,
}
# Of one iteration of the innermost loop with most multiply-adds.
OF_LOOP: Mapping[str, Callable[[Iteration], float]] = {
    "loop": lambda loop: loop.instructions,
    "adds": lambda loop: loop.multiply_adds,
    "loads": lambda loop: loop.slots.get(Group.SHARED_LOAD, 0),
    "each": lambda loop: loop.instructions / loop.multiply_adds,
    "share": lambda loop: 100 * loop.multiply_add_share,
    "allowed": lambda loop: 100 * loop.attainable,
    "issue": lambda loop: loop.cycles["issue"],  # cycles of a multiprocessor, at least
    "arithmetic": lambda loop: loop.cycles["arithmetic"],
    "port": lambda loop: loop.cycles["loads and stores"],
}


def machine_code_number(of: str) -> float:
    """A number of a kernel's recorded machine code for sm_90.

    of is a kernel, what is asked of the compiler if anything, and what is asked for: "tiled loads",
    "tiled:TILE=32 unroll-1 loop", or an opcode of the loop, "tiled LDS.128". "blocks" and "warps"
    are those that a multiprocessor holds at once. Raises ValueError, a sentence.
    """
    name, *asked, field = of.split()
    entry, setting = _kernel(name)
    code = _code(name, asked[0] if asked else "")
    if field in OF_CODE:
        return OF_CODE[field](code)
    if field in ("blocks", "warps"):
        threads = math.prod(entry.shape(1, 1, **setting)[1])
        return float(getattr(card_occupancy(code, threads, entry.shared_bytes(**setting)), field))
    loop = next(iter(iterations(code)), None)
    if loop is None:
        raise ValueError(f"The machine code of {name} has no loop.")
    if field in OF_LOOP:
        return OF_LOOP[field](loop)
    if not field.isupper():
        known = ", ".join((*OF_CODE, *OF_LOOP, "blocks", "warps"))
        raise ValueError(f"No {field} of machine code, only {known} and opcodes.")
    return sum(code.instructions[number].opcode == field for number in loop.loop.body)


def _kernel(name: str) -> tuple[Entry, Mapping[str, int]]:
    """A kernel of the catalogue and its macros, of "tiled:TILE=32"."""
    kernel, _, macros = name.partition(":")
    if kernel not in whole_catalogue():
        raise ValueError(f"No kernel of the catalogue is named {kernel}.")
    pairs = (macro.split("=") for macro in macros.split(",") if macro)
    return whole_catalogue()[kernel], {macro: int(value) for macro, value in pairs}


@functools.cache
def _code(name: str, asked: str) -> MachineCode:
    entry, setting = _kernel(name)
    text = entry.source(**setting)
    if asked:
        kernel = compile_kernel(text, entry.kernel)
        threads = math.prod(entry.shape(1, 1, **setting)[1])
        launched = Launched(threads, entry.shared_bytes(**setting), ARCHITECTURE)
        texts = {one.key: edited for one, edited in hinted_sources(kernel, launched).items()}
        if asked not in texts:
            keys = ", ".join(one.key for one in HINTS)
            raise ValueError(f"No variant {asked} of {name} can be compiled, only {keys}.")
        text = texts[asked]
    code = recorded(text, ARCHITECTURE)
    if code is None:
        raise ValueError(f"No machine code was recorded for {name} {asked}.".replace(" .", "."))
    return code
