"""What is said of phases, against traces whose cycles are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu.trace.phases import (
    compare,
    cycles_for_work,
    main_difference,
    multiply_adds,
    pair_phases,
    shares,
)
from gpu.trace.trace import Kind, Trace
from tests.gpu.trace.traces import PADDED_32, TILED, TILED_32, TRACES, TRANSPOSED_32


@pytest.mark.parametrize(
    ("trace", "base", "sentence"),
    [
        (
            TRANSPOSED_32, PADDED_32,
            "The inner loop takes 9,011 cycles instead of 2,064: 4.4 times as long. "
            "Copying is about the same.",
        ),
        (
            PADDED_32, TRANSPOSED_32,
            "The inner loop takes 2,064 cycles instead of 9,011: 4.4 times as fast. "
            "Copying is about the same.",
        ),
        (
            TILED, TILED_32,
            "Copying takes 43.9 cycles for each multiply-add instead of 22.9: 1.9 times as long.",
        ),
        (
            PADDED_32, TILED_32,
            "Copying, the inner loop and waiting are about the same.",
        ),
    ],
)  # fmt: skip
def test_one_sentence_says_how_two_kernels_differ(trace: Trace, base: Trace, sentence: str) -> None:
    assert compare(trace, base) == sentence


def test_phases_of_one_name_are_paired_in_their_order() -> None:
    pairs = pair_phases(TRANSPOSED_32, PADDED_32)
    waits = [(one.phase.cycles, one.base.cycles) for one in pairs if one.phase.kind is Kind.BARRIER]
    assert waits == [(7, 9), (171, 73)]
    without = replace(PADDED_32, phases=PADDED_32.phases[:2])
    assert [one.phase.name for one in pair_phases(TRANSPOSED_32, without)] == [
        "before the loop",
        "copy",
    ]
    assert main_difference(PADDED_32, PADDED_32) is None


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.kernel)
def test_shares_and_cycles_are_those_of_the_lifetime(trace: Trace) -> None:
    assert sum(shares(trace).values()) == pytest.approx(1)
    assert multiply_adds(trace) == 512  # a thread computes one element of C
    spent = sum(phase.cycles * phase.visits for phase in trace.phases)
    assert sum(cycles_for_work(trace).values()) == pytest.approx(spent / 512)


def test_sums_are_of_means_and_pairs_of_medians() -> None:
    """A copy that takes 500 or 1,500 cycles has a median of 500, and a mean that adds up."""
    phases = tuple(
        replace(phase, mean=2 * phase.cycles) if phase.name == "copy" else phase
        for phase in PADDED_32.phases
    )
    twice = replace(PADDED_32, phases=phases)
    found, before = cycles_for_work(twice), cycles_for_work(PADDED_32)
    assert found[Kind.LOAD] == pytest.approx(2 * before[Kind.LOAD])
    assert found[Kind.COMPUTE] == before[Kind.COMPUTE]
    assert all(pair.ratio == 1 for pair in pair_phases(twice, PADDED_32))


def test_waits_within_the_loop_are_no_others() -> None:
    """A wait before the loop over tiles is not the first one in it."""
    before = replace(PADDED_32.phases[2], visits=1.0, cycles=999.0)
    more = replace(PADDED_32, phases=(PADDED_32.phases[0], before, *PADDED_32.phases[1:]))
    waits = [
        (one.phase.cycles, one.base.cycles)
        for one in pair_phases(more, TRANSPOSED_32)
        if one.phase.kind is Kind.BARRIER
    ]
    assert waits == [(9, 7), (73, 171)]
