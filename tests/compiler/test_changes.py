"""What the compiler did to lines of the catalogue, and to a few instructions by hand."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import pytest

from compiler.changes import Change, ChangeKind, changes
from compiler.hints import Launched, hinted_sources
from compiler.machine_code import Group, MachineCode
from compiler.opcodes import classify
from compiler.recorded import recorded
from simulator import compile_kernel
from simulator.catalogue import catalogue

pytest.importorskip("clang.cindex", reason="libclang is not installed")
# Kernel, the line's beginning, what was done to it, and how often.
TABLE = [
    ("tiled", "acc +=", ChangeKind.UNROLLED, 16),
    ("tiled", "acc +=", ChangeKind.MERGED, 4),
    ("tiled", "acc +=", ChangeKind.FUSED, 16),
    ("tiled", "for (int k", ChangeKind.DELETED, 1),
    ("tiled", "int a_col", ChangeKind.DELETED, 1),
    ("tiled", "As[ty][tx] =", ChangeKind.HOISTED, 9),
    ("transposed", "acc +=", ChangeKind.MERGED, 8),
    ("swizzled", "acc +=", ChangeKind.MERGED, 4),
    ("naive", "acc +=", ChangeKind.UNROLLED, 16),
    ("naive", "acc +=", ChangeKind.FUSED, 16),
    ("rows", "acc[i] +=", ChangeKind.UNROLLED, 64),
    ("rows", "acc[i] +=", ChangeKind.MERGED, 16),
    ("rows", "float b =", ChangeKind.UNROLLED, 8),
    ("vectors", "acc[i][j] +=", ChangeKind.UNROLLED, 512),
    ("vectors", "*reinterpret_cast<float4*>(&Bs[k][col])", ChangeKind.WIDE, 1),
]
NOT_DONE = [
    ("naive", "acc +=", ChangeKind.MERGED),
    ("vectors", "acc[i][j] +=", ChangeKind.MERGED),
    ("tiled", "__syncthreads()", ChangeKind.DELETED),
    ("tiled", "C[row", ChangeKind.UNROLLED),
    ("tiled_double", "C[row", ChangeKind.WIDE),
]
MOVED = """extern "C" __global__ void k(float* x, const float* y, int n)
{
    __shared__ float s[32];
    for (int i = 0; i < n; ++i) {
        s[threadIdx.x] = x[i];
        float next = y[i];
        __syncthreads();
        x[i] = s[31 - threadIdx.x] + next;
    }
}
"""


@functools.cache
def _changes(name: str) -> Mapping[int, tuple[Change, ...]]:
    text = catalogue()[name].source()
    code = recorded(text, "sm_90")
    assert code is not None
    return changes(code, compile_kernel(text, catalogue()[name].kernel))


def _of(name: str, begins: str) -> dict[ChangeKind, int]:
    lines = catalogue()[name].source().splitlines()
    (line,) = [n for n, each in enumerate(lines, start=1) if each.strip().startswith(begins)][:1]
    return {one.kind: one.count for one in _changes(name).get(line, ())}


@pytest.mark.parametrize(("name", "begins", "kind", "count"), TABLE)
def test_what_was_done(name: str, begins: str, kind: ChangeKind, count: int) -> None:
    assert _of(name, begins)[kind] == count


@pytest.mark.parametrize(("name", "begins", "kind"), NOT_DONE)
def test_what_was_not_done(name: str, begins: str, kind: ChangeKind) -> None:
    assert kind not in _of(name, begins)


def test_every_change_is_a_sentence() -> None:
    for name in {name for name, *_ in TABLE}:
        for each in _changes(name).values():
            assert all(one.sentence.endswith(".") and one.count > 0 for one in each), name


def test_what_crosses_a_barrier() -> None:
    """y's load comes after the barrier, and the index of the last line before it."""
    listed = [
        (4, "MOV R0, RZ"), (5, "LDG.E R1, [R2.64]"), (5, "STS [R4], R1"),
        (8, "IADD3 R6, R5, 0x7c, RZ"), (7, "BAR.SYNC.DEFER_BLOCKING 0x0"),
        (6, "LDG.E R7, [R8.64]"), (8, "LDS R9, [R6]"),
        (8, "FADD R9, R9, R7"), (8, "STG.E [R2.64], R9"), (4, "@P0 BRA 0x10"), (10, "EXIT"),
    ]  # fmt: skip
    code = tuple(
        classify(text.split(" ")[text.startswith("@")], text, line) for line, text in listed
    )
    whole = MachineCode("k", "sm_90", "", (), code, 0, 10, 128, 0, 0, 0, None)
    found = changes(whole, compile_kernel(MOVED))
    assert [one.kind for one in found[6]] == [ChangeKind.AFTER_BARRIER]
    assert [one.kind for one in found[8]] == [ChangeKind.BEFORE_BARRIER]
    assert 5 not in found
    assert "after the barrier of line 7" in found[6][0].sentence


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ("launch-bounds", ChangeKind.SPILLED, "values for which no register was left."),
        ("unroll-1", ChangeKind.LOCAL, "no instruction can choose a register that way."),
    ],
)
def test_what_is_in_local_memory_is_said_as_what_it_is(
    asked: str, kind: ChangeKind, said: str
) -> None:
    """A spill is one, and an array that a loop goes through is none."""
    kernel = compile_kernel(catalogue()["registers"].source())
    edits = hinted_sources(kernel, Launched(256, 0, "sm_90"))
    (text,) = [edited for one, edited in edits.items() if one.key == asked]
    code = recorded(text, "sm_90")
    assert code is not None
    found = [
        one
        for each in changes(code, compile_kernel(text)).values()
        for one in each
        if one.kind in (ChangeKind.SPILLED, ChangeKind.LOCAL)
    ]
    assert {one.kind for one in found} == {kind}
    assert all(one.sentence.endswith(said) for one in found)
    placed = sum(one.group is Group.LOCAL for one in code.instructions)
    assert 0.9 * placed < sum(one.count for one in found) <= placed  # some are of a line's braces
