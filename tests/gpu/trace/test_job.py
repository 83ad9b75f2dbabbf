"""A traced run on a stand-in device, whose clock is known: what it says must come out."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gpu.candidate import Candidate, choose
from gpu.comparison import comparison_from
from gpu.cuda.device import Device
from gpu.trace.job import MOST_READS, Whole, request, trace
from gpu.trace.perfetto import trace_events
from gpu.trace.summary import block_times
from gpu.trace.trace import NO_TILE, Kind, Level, Trace, trace_from
from simulator.language.errors import LaunchError
from tests.gpu.trace.fake_clock import MULTIPROCESSORS, READ, FakeClock, install

CANNED = json.loads((Path(__file__).parent.parent / "comparison.json").read_text(encoding="utf-8"))
TILE = [(1, 700), (2, 10), (3, 740), (4, 70)]
TILED = [(0, 100), *TILE * 4, (5, 200)]


def run(
    patch: pytest.MonkeyPatch,
    clock: FakeClock,
    candidate: Candidate | None = None,
    size: tuple[int, int, int] = (64, 64, 64),
    level: Level = Level.PHASES,
    blocks: Whole = Whole.WAVE,
    kept: int = 10_000,
) -> Trace:
    device: Device = comparison_from(CANNED).device
    install(patch, clock, dataclasses.replace(device, multiprocessors=MULTIPROCESSORS))
    job = request(size, candidate or choose("tiled", size), level, blocks, kept)
    heard: list[str] = []
    found = trace(json.loads(json.dumps(job)), lambda message, _=None, /: heard.append(message))
    assert heard[0] == "Looking at the GPU"
    return trace_from(json.loads(json.dumps(found)))


def test_the_cycles_of_the_clock_come_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock(TILED)
    found = run(monkeypatch, clock)
    assert [(one.name, one.cycles, one.visits) for one in found.phases] == [
        ("before the loop", 100, 1), ("copy", 700, 4), ("wait", 10, 4), ("inner loop", 740, 4),
        ("wait", 70, 4), ("store", 200, 1),
    ]  # fmt: skip
    assert found.phases[1].spread == (700, 700)
    assert (found.ratio, found.same_bits, found.empty_read_cycles) == (1.1, True, READ)
    assert abs(found.sum_error) < 0.01
    assert sum(one.share for one in found.phases) == pytest.approx(1, abs=0.01)
    assert found.left_out == ""
    assert len(found.blocks) == 16
    assert len(found.whole_blocks) == 8  # two on each of four multiprocessors
    assert [one.multiprocessor for one in found.blocks[:5]] == [0, 1, 2, 3, 0]
    life = sum(taken + READ for _, taken in TILED) / 2
    assert [round(one.start / life) for one in found.blocks] == [n // 4 for n in range(16)]
    assert clock.launched.count("tiled") == 2  # its bits and its time
    assert clock.launched.count("tiled with reads of the clock") == 3


def test_a_block_that_is_whole_has_each_warps_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, FakeClock(TILED))
    warps = found.blocks[0].warps
    assert len(warps) == 8
    assert [tuple(one) for one in warps[0][:3]] == [
        (0, NO_TILE, 0, 100), (1, 0, 120, 820), (2, 0, 840, 850),
    ]  # fmt: skip
    assert warps[3][0].begin == 3
    assert [one.tile for one in warps[0]] == [NO_TILE, *[n // 4 for n in range(16)], NO_TILE]


def test_few_intervals_are_kept_by_one_tile_of_each_block(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, FakeClock(TILED), kept=8 * 6 * 4 + 8 * 12)
    assert "For 3 of the 4 blocks whose warps are stored, only tile 2 is stored." in found.left_out
    assert "Of 8 whole blocks the warps of 4 are stored." in found.left_out
    assert sorted(one.multiprocessor for one in found.whole_blocks) == [0, 1, 2, 3]
    assert [len(one.warps[0]) for one in found.whole_blocks] == [18, 6, 6, 6]
    assert {one.tile for one in found.whole_blocks[1].warps[0]} == {NO_TILE, 2}


@pytest.mark.parametrize(("blocks", "whole"), [(Whole.FEW, 4), (Whole.WAVE, 8), (Whole.ALL, 16)])
def test_as_many_blocks_are_whole_as_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, blocks: Whole, whole: int
) -> None:
    assert len(run(monkeypatch, FakeClock(TILED), blocks=blocks).whole_blocks) == whole


def test_other_bits_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(monkeypatch, FakeClock(TILED, wrong=True)).same_bits


def test_a_read_that_was_moved_across_a_barrier_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tile = [(1, 700), (2, 260), (3, 740), (4, 70)]
    found = run(monkeypatch, FakeClock([(0, 100), *tile * 4, (5, 200)], early=3))
    assert found.left_out.startswith(
        "After the barrier in line 23 the warps of a block read clocks that are 25"
    )
    assert "line 27" not in found.left_out


def test_a_warp_has_bounded_room(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, FakeClock([(0, 5), *TILE * 1500, (5, 9)]), blocks=Whole.FEW)
    assert f"room for {MOST_READS:,} reads of its clock, and one read it 6,002" in found.left_out
    assert [one.name for one in found.phases] == [
        "before the loop", "copy", "wait", "inner loop", "wait",
    ]  # fmt: skip
    assert abs(found.sum_error) < 0.01


def test_one_block_and_many(monkeypatch: pytest.MonkeyPatch) -> None:
    one = run(monkeypatch, FakeClock(TILED), size=(16, 16, 64))
    assert (len(one.blocks), len(one.whole_blocks)) == (1, 1)
    many = choose("tiled:TILE=2", (512, 512, 4))
    found = run(monkeypatch, FakeClock(TILED), many, (512, 512, 4), blocks=Whole.FEW)
    assert len(found.blocks) == 65536
    assert (found.blocks[-1].x, found.blocks[-1].y) == (255, 255)


# Of statements: 3 and 4 of the tile are the loop over k and one iteration of it.
STATEMENTS = [(1, 300), (2, 400), (3, 10), (4, 0), *[(5, 50)] * 16, (6, 70)]


def test_each_k_of_the_middle_tile_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [(1, 300), (2, 400), (3, 10), (4, 800), (6, 70)]
    life = [(0, 100), *plain * 2, *STATEMENTS, *plain, (7, 200)]
    found = run(monkeypatch, FakeClock(life), level=Level.STATEMENTS)
    iterations = [one for one in found.phases if one.k is not None]
    assert [(one.k, one.cycles) for one in iterations] == [(k, 50) for k in range(16)]
    loop = next(one for one in found.phases if one.name.startswith("for (int k = 0;"))
    assert (loop.cycles, loop.visits, loop.kind) == (800, 4, Kind.COMPUTE)
    assert found.left_out == ""


def test_what_is_too_short_is_shown_together(monkeypatch: pytest.MonkeyPatch) -> None:
    each = [(1, 5), (2, 400), (3, 10), (4, 0), *[(5, 6)] * 16, (6, 70)]
    found = run(monkeypatch, FakeClock([(0, 100), *each, (7, 200)]), level=Level.STATEMENTS)
    assert "The iterations of lines 25 to 26 are shown together" in found.left_out
    assert "Lines 19 to 22 are shown together" in found.left_out
    assert [(one.name, one.cycles) for one in found.phases] == [
        ("before the loop", 100), ("lines 19 to 22", 405), ("wait", 10),
        ("for (int k = 0; k < TILE; ++k)", 96), ("wait", 70), ("store", 200),
    ]  # fmt: skip


def test_a_kernel_that_writes_nothing_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LaunchError, match="left no trace"):
        run(monkeypatch, FakeClock([]))


@pytest.mark.parametrize("step", [1, 32, 1024])
def test_blocks_are_placed_by_a_timer_that_goes_in_steps(step: int) -> None:
    rng = np.random.default_rng(7)
    start = np.sort(rng.integers(0, 200_000, 400))
    end = start + rng.integers(3_000, 9_000, 400)
    multiprocessor = rng.integers(0, 8, 400)
    zero = rng.integers(10**6, 10**12, 8)[multiprocessor]
    rate = 1.7
    drift = 0 if step > 100 else 1e-7  # where the steps are fine, the clock may slow down
    clock, clock_end = ((zero + at * (rate - drift * at)).astype(np.int64) for at in (start, end))
    timer, timer_end = ((at + 10**15) // step * step for at in (start, end))
    words = np.stack((multiprocessor, timer, clock, timer_end, clock_end, clock_end), axis=1)
    starts, ends = block_times(words.astype(np.uint64), 1000.0)
    assert np.abs(np.array(starts) - (start - start[0])).max() < 13 + step
    assert np.abs(np.array(ends) - (end - start[0])).max() < 13 + step


def test_perfetto_gets_blocks_by_multiprocessor_and_warps_by_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = run(monkeypatch, FakeClock(TILED), blocks=Whole.FEW)
    events = trace_events(found)["traceEvents"]
    blocks = [one for one in events if one["name"].startswith("block (") and one["ph"] == "X"]
    assert [one["tid"] for one in blocks] == [0] * 16
    assert sorted(one["pid"] for one in blocks) == sorted([0, 1, 2, 3] * 4)
    names = {one["args"]["name"] for one in events if one["ph"] == "M"}
    assert {"multiprocessor 3", "block (3, 0) by warps", "warp 7"} <= names
    loops = [one for one in events if one["name"] == "inner loop"]
    assert len(loops) == 4 * 8 * 4
    assert loops[0]["args"] == {"cycles": 740, "lines": "25 to 26", "tile": 0}
    assert loops[0]["dur"] == pytest.approx(0.37, rel=0.01)
