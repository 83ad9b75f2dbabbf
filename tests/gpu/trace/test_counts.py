"""What the simulator counts in traced phases, against what the kernels' text says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu.trace.counts import compare_counts, count_phases, count_tile, explain, phases_of
from gpu.trace.trace import Trace
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from tests.gpu.trace.traces import PADDED_32, TILED, TILED_32, TRANSPOSED_32


def shifted(trace: Trace) -> Trace:
    """The trace with the lines of a kernel whose first comment is one line longer."""
    return replace(
        trace,
        phases=tuple(
            replace(one, first_line=one.first_line + 1, last_line=one.last_line + 1)
            for one in trace.phases
        ),
    )  # fmt: skip


TRANSPOSED, PADDED = shifted(TRANSPOSED_32), shifted(PADDED_32)


def test_a_phase_has_the_requests_of_a_warp_in_a_tile() -> None:
    found = {
        one.array: one for one in count_phases(TRANSPOSED, phases_of(TRANSPOSED, "inner loop"))
    }
    assert {name: (one.requests, one.transactions) for name, one in found.items()} == {
        "As": (32, 32), "Bs": (32, 1024),
    }  # fmt: skip
    assert {one.space for one in found.values()} == {MemorySpace.SHARED}
    copied = {
        (one.array, one.kind): one.transactions
        for one in count_phases(TRANSPOSED, phases_of(TRANSPOSED, "copy"))
    }
    assert copied == {
        ("A", AccessKind.LOAD): 4, ("B", AccessKind.LOAD): 4,
        ("As", AccessKind.STORE): 1, ("Bs", AccessKind.STORE): 32,
    }  # fmt: skip
    assert count_phases(TRANSPOSED, phases_of(TRANSPOSED, "wait")) == ()


@pytest.mark.parametrize(
    ("trace", "base", "counted"),
    [
        (TRANSPOSED, PADDED,
         "The simulator counts 32 wavefronts instead of 1 for each read of Bs."),
        (PADDED, TRANSPOSED, "The simulator counts 1 wavefront instead of 32 for each read of Bs."),
        (TILED, TILED_32, "The simulator counts 0.5 sectors of global memory instead of 0.25 for "
                          "each multiply-add of a warp."),
        (PADDED, PADDED, ""),
    ],
)  # fmt: skip
def test_one_sentence_has_the_counts_that_differ(trace: Trace, base: Trace, counted: str) -> None:
    assert compare_counts(trace, base) == counted


def test_where_counts_and_clock_do_not_go_together_it_says_why() -> None:
    sentence = explain(TRANSPOSED, PADDED)  # counted 33 and 2 wavefronts for each k
    assert sentence.startswith(
        "The simulator's wavefronts differ by a factor of 16.5, the GPU's own by "
    )
    assert sentence.endswith(": the compiler merges loads of neighbouring words.")
    slower = replace(TRANSPOSED, phases=tuple(
        replace(one, cycles=16 * 2064.0) if one.name == "inner loop" else one
        for one in TRANSPOSED.phases
    ))  # fmt: skip
    assert explain(slower, PADDED) == ""
    same_counts = replace(PADDED, phases=tuple(
        replace(one, cycles=3 * one.cycles) for one in PADDED.phases
    ))  # fmt: skip
    assert explain(same_counts, PADDED) == "The counts do not explain all of it."
    # Without the GPU's own counters nobody knows what the compiler merged.
    unknown = replace(slower, kernel="transposed:TILE=16", phases=tuple(
        replace(one, cycles=1.4 * 2064) if one.name == "inner loop" else replace(one, cycles=100.0)
        for one in TRANSPOSED.phases
    ))  # fmt: skip
    assert explain(unknown, replace(PADDED, kernel="padded:TILE=16")) == (
        "The simulator's wavefronts differ by a factor of 4.5: while a warp waits for them, "
        "others compute, which hides a part of the wait."
    )


def test_what_the_simulator_does_not_execute_has_no_counts() -> None:
    assert count_tile("no_such_kernel") == {}
    assert count_tile("tensor") == {}
