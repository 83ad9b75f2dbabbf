"""What differs between two builds: two texts of a kernel, or one for two architectures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.hints import Launched
from compiler.iteration import iterations
from compiler.machine_code import MachineCode
from compiler.occupancy import card_occupancy


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of two builds."""

    name: str
    first: str
    second: str


def differences(
    first: MachineCode, second: MachineCode, launched: Launched, otherwise: Launched | None = None
) -> tuple[Figure, ...]:
    """The figures of two builds, those that agree too.

    launched is how the first is launched, and the second too, unless `otherwise` says how that is.
    """
    left = dict(_figures(first, launched))
    right = dict(_figures(second, otherwise or launched))
    return tuple(
        Figure(name, left.get(name, "none"), right.get(name, "none"))
        for name in dict.fromkeys((*left, *right))
    )


def _figures(code: MachineCode, launched: Launched) -> Iterator[tuple[str, str]]:
    yield "Instructions", f"{len(code.instructions):,}"
    yield "Registers of a thread", f"{code.registers}"
    yield "Bytes that a thread spills", f"{code.spill_stores:,} stored, {code.spill_loads:,} loaded"
    yield "Bytes of a thread's local memory", f"{code.stack_bytes:,}"
    full = card_occupancy(code, launched.threads, launched.dynamic_bytes)
    yield "Warps at once", f"{full.warps} of {full.warps_at_most}, limited by {full.limit}"
    inner = next((one for one in iterations(code) if one.multiply_adds), None)
    if inner is None:
        return
    adds = inner.multiply_adds
    yield "FFMA in the inner loop", f"{adds:,} of {inner.instructions:,} instructions"
    yield "Inner loop's instructions for each FFMA", f"{inner.instructions / adds:.2f}"
    yield "Bytes of shared memory for each FFMA", f"{inner.shared_bytes / adds:.2f}"
    yield "Share of float's peak", f"{inner.attainable:.0%}, limited by {inner.limit}"
