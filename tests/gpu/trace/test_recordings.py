"""The traces that come along: of every kernel, whole, and in agreement with themselves."""

from __future__ import annotations

import itertools
import statistics

import pytest

from gpu.__main__ import RECORDED_INTERVALS, TRACED_SIZES
from gpu.candidate import choose, is_meant_for, variants
from gpu.trace.recorded import FOLDER, SUFFIX, RecordedTraces, recorded_traces
from gpu.trace.trace import NO_TILE, Kind
from simulator.catalogue import whole_catalogue

RUNS = recorded_traces()
MOST_BYTES = 3 * 2**20  # of all files together


def test_every_file_is_read_and_all_are_small() -> None:
    files = list(FOLDER.glob(f"*{SUFFIX}"))
    assert len(RUNS) == len(files) > 0
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.device.name)
def test_every_kernel_is_there_and_says_where_its_time_goes(run: RecordedTraces) -> None:
    names = variants(whole_catalogue())
    assert [(one.kernel, one.size) for one in run.traces] == [
        case for case in itertools.product(names, TRACED_SIZES) if is_meant_for(*case)
    ]
    for trace in run.traces:
        assert trace.same_bits
        assert trace.tells_all
        assert sum(phase.share for phase in trace.phases) == pytest.approx(1, abs=0.04)
        assert {Kind.COMPUTE, Kind.STORE} <= {phase.kind for phase in trace.phases}
        for phase in trace.phases:
            assert phase.spread[0] <= phase.cycles <= phase.spread[1]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.device.name)
def test_every_block_has_its_place_and_its_time(run: RecordedTraces) -> None:
    for trace in run.traces:
        width, height, _ = choose(trace.kernel, trace.size).grid
        cells = [(block.x, block.y) for block in trace.blocks]
        assert cells == [(x, y) for y in range(height) for x in range(width)]
        assert {block.multiprocessor for block in trace.blocks} <= set(
            range(run.device.multiprocessors)
        )
        assert min(block.start for block in trace.blocks) == 0
        assert all(block.start < block.end for block in trace.blocks)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.device.name)
def test_a_block_of_each_multiprocessor_is_whole_as_far_as_there_is_room(
    run: RecordedTraces,
) -> None:
    for trace in run.traces:
        blocks = trace.whole_blocks
        places = {block.multiprocessor for block in blocks}
        kept = sum(len(warp) for block in blocks for warp in block.warps)
        assert kept <= RECORDED_INTERVALS
        assert places == {one.multiprocessor for one in trace.blocks} or (
            len(places) == len(blocks) and "whole blocks the warps of" in trace.left_out
        )
        for warp in itertools.chain.from_iterable(block.warps for block in blocks):
            assert all(a.end <= b.begin for a, b in itertools.pairwise(warp))
            assert {NO_TILE} <= {one.tile for one in warp}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.device.name)
def test_the_warps_of_a_block_leave_a_barrier_together(run: RecordedTraces) -> None:
    trace = run.find("padded", (2048, 2048, 2048))
    assert trace is not None
    waits = [place for place, one in enumerate(trace.phases) if one.kind is Kind.BARRIER]
    apart = []
    for block in trace.whole_blocks:
        tiles = {one.tile for one in block.warps[0] if one.tile != NO_TILE}
        for wait, tile in itertools.product(waits, tiles):
            ends = [one.end for warp in block.warps for one in warp if one[:2] == (wait, tile)]
            assert len(ends) == len(block.warps)
            apart.append(max(ends) - min(ends))
    assert statistics.median(apart) < 40
    assert statistics.quantiles(apart, n=20)[-1] < trace.phases[waits[0]].cycles
