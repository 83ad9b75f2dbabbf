"""What fences order: threads tell others by flags what they have done to x, or it is a race."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.machine.machine import Machine
from simulator.observers.hazards.findings import Findings, Hazard
from simulator.observers.hazards.observers import hazard_observers
from tests.simulator.launches import launch_text

FENCE = "__threadfence(); "
READS = "y[b] = x[0]; "
WRITES = "x[0] = 1; "
LATER = "__syncthreads(); x[0] = 1; "  # in another interval between barriers than what blocks read


def sets(flag: int) -> str:
    return f"atomicAdd(&flags[{flag}], 1); "


def waits(flag: int, value: int = 1) -> str:
    return f"while (atomicAdd(&flags[{flag}], 0) < {value}); "


# What each block of one thread does, in their order, and the races.
BLOCKS: dict[str, tuple[list[str], set[str]]] = {
    "a write, then a read": ([WRITES + FENCE + sets(0), waits(0) + READS], set()),
    "a read, then a write": ([READS + FENCE + sets(0), waits(0) + WRITES], set()),
    "a read, then a write without a fence": (
        [READS + sets(0), waits(0) + FENCE + LATER], {"write-after-read"}),
    "of two reads the second": (
        [READS + FENCE + sets(0), READS + FENCE, waits(0) + LATER], {"write-after-read"}),
    "of two reads the first": (
        [READS, READS + FENCE + sets(0), waits(0) + LATER], {"write-after-read"}),
    "two reads": (
        [READS + FENCE + sets(0), READS + FENCE + sets(0), waits(0, 2) + LATER], set()),
    "what is passed on by a fence": (
        [WRITES + FENCE + sets(0), waits(0) + FENCE + sets(1), waits(1) + READS], set()),
    "what is passed on without one": (
        [WRITES + FENCE + sets(0), waits(0) + sets(1), waits(1) + READS], {"read-after-write"}),
    "an atomic upon the flag": (
        [WRITES + FENCE + sets(0), waits(0) + sets(0), waits(0, 2) + READS], set()),
    "a store over the flag": (
        [WRITES + FENCE + sets(0), waits(0) + "*(volatile int*)flags = 2; ", waits(0, 2) + READS],
        {"read-after-write"}),
    "a store with a fence over the flag, which reads nothing": (
        [WRITES + FENCE + sets(0), FENCE + "*(volatile int*)flags = 2; ", waits(0, 2) + READS],
        {"read-after-write"}),
    "a plain store over the flag": (
        [FENCE + sets(0), "while (*(volatile int*)flags == 0); flags[0] = 0;"], set()),
    "a fence of the block alone": (
        [WRITES + "__threadfence_block(); " + sets(0), waits(0) + READS], {"read-after-write"}),
}  # fmt: skip
# The same of blocks of two warps.
WARPS: dict[str, tuple[list[str], set[str]]] = {
    "what a warp knows, after a barrier": (
        [f"if (t == 0) {{ {WRITES + FENCE + sets(0)}}}",
         f"if (t == 0) {waits(0)} __syncthreads(); if (t == 32) {READS}"], set()),
    "what a warp knows, before a barrier": (
        [f"if (t == 0) {{ {WRITES + FENCE + sets(0)}}}",
         f"if (t == 0) {{ {waits(0) + sets(1)}}} if (t == 32) {{ {waits(1) + READS}}}"],
        {"read-after-write"}),
    "what a warp knows, after a barrier of another block": (
        [f"if (t == 0) {{ {WRITES + FENCE + sets(0)}}}",
         f"if (t == 0) {{ {waits(0) + sets(1) + waits(2) + sets(3)}}}"
         f"if (t == 32) {{ {waits(3) + READS}}}",
         f"if (t == 0) {waits(1)} __syncthreads(); if (t == 0) {sets(2)}"],
        {"read-after-write"}),
    "a fence, after a barrier": (
        [f"if (t == 32) {WRITES} __syncthreads(); if (t == 0) {{ {FENCE + sets(0)}}}",
         f"if (t == 0) {{ {waits(0) + READS}}}"], set()),
    "a fence, after a barrier and another warp's read": (
        [f"__syncthreads(); if (t == 0) {READS} if (t == 32) {{ {FENCE + sets(0)}}}",
         f"__syncthreads(); if (t == 0) {waits(0)} {LATER}"], {"write-after-read"}),
    "a fence, before a barrier": (
        [f"if (t == 32) {WRITES} if (t == 0) {{ {FENCE + sets(0)}}} __syncthreads();",
         f"if (t == 0) {{ {waits(0) + READS}}}"], {"read-after-write"}),
}  # fmt: skip


def hazards(blocks: list[str], threads: int) -> list[Hazard]:
    """What is found without looking for witnesses: most orders never end here."""
    body = "\n".join(f"if (b == {number}) {{ {does}}}" for number, does in enumerate(blocks))
    text = (
        "__global__ void k(int* x, int* y, int* flags) {"
        f"int b = blockIdx.x, t = threadIdx.x;\n{body}\n}}"
    )
    arrays = {name: np.zeros(4, np.int32) for name in ("x", "y", "flags")}
    kernel, launch = launch_text(text, grid=len(blocks), block=threads, **arrays)
    findings = Findings()
    Machine(kernel, launch, hazard_observers(findings)).run()
    return list(findings.hazards.values())


@pytest.mark.parametrize(
    ("threads", "blocks", "races"),
    [
        pytest.param(threads, *case, id=name)
        for threads, table in ((1, BLOCKS), (64, WARPS))
        for name, case in table.items()
    ],
)
def test_what_fences_order(threads: int, blocks: list[str], races: set[str]) -> None:
    assert {hazard.kind.value for hazard in hazards(blocks, threads)} == races
