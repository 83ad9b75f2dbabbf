"""The charts of traces: what is drawn and said is what the traces have."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from gpu.candidate import choose
from gpu.comparison import Comparison, KernelResult
from gpu.predicted_counters import predict_lines
from gpu.recorded import recordings
from gpu.shapes.plan import Pace, Table, Tuned
from gpu.trace.trace import Block, Kind, Trace
from tests.gpu.trace.traces import PADDED_32, TILED, TILED_32, TRACES, TRANSPOSED_32, trace_of
from ui.drawing.palette import CHART_INKS, COMPARED_COLOUR, DARK, LIGHT
from ui.gpu_charts import traced_blocks, traced_counts, traced_phases
from ui.gpu_charts.traced_blocks import launched
from ui.gpu_charts.traced_counts import CountedLaunch, Unit

WAVES = trace_of("tiled:TILE=32", (2048,) * 3, [("inner loop", 2064, 25, 26)], 32, 2, ratio=1.19)


def counted(trace: Trace, load_share: float | None = None) -> CountedLaunch:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    chosen = choose(trace.kernel, trace.size)
    lines = predict_lines(trace.kernel, chosen.text, chosen.defines, trace.size)
    return CountedLaunch(launched(trace, 132), lines, load_share, (1024,) * 3)


def test_each_row_is_a_whole_life_in_the_colours_of_the_timeline() -> None:
    figure = traced_phases.draw_phases(TRACES)
    assert {bar.name: bar.marker.color for bar in figure.data} == {
        traced_phases.NAMES[kind]: LIGHT.phases[kind.value] for kind in Kind
    }
    dark = traced_phases.draw_phases(TRACES, CHART_INKS["dark"])
    assert DARK.phases["load"] in [bar.marker.color for bar in dark.data]
    for row, trace in enumerate(TRACES):
        pieces = sorted(
            (base, x)
            for bar in figure.data
            for y, base, x in zip(bar.y, bar.base, bar.x, strict=True)
            if y == row
        )
        assert len(pieces) == len(trace.phases)
        ends = [base + x for base, x in pieces]
        assert [base for base, _ in pieces] == pytest.approx([0, *ends[:-1]])  # no gap, no overlap
        assert ends[-1] == pytest.approx(100)
    names = [one.text for one in figure.layout.annotations]
    assert names[1] == "tiled, TILE 32: 72%, 1.06 ×"
    pointed_at = [sentence for bar in figure.data for sentence in bar.customdata]
    assert any("cycles, once<br>" in sentence for sentence in pointed_at)
    assert not any(" 1 times" in sentence for sentence in pointed_at)


def test_tiles_of_any_size_are_at_one_scale() -> None:
    figure = traced_phases.draw_work(TRACES)
    copying = next(one for one in figure.data if one.name == "copying")
    assert list(copying.x) == pytest.approx([702 / 16, 733 / 32, 847 / 32, 748 / 32])
    assert len({one.marker.symbol for one in figure.data}) == len(figure.data)
    sentence = traced_phases.summarize([TILED, TILED_32])
    assert sentence.startswith("**From tiled to tiled (TILE 32) what a warp spends")
    assert traced_phases.summarize([PADDED_32]) == ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, r"took 1.06 times as long .* has the same bits .* within 0.4%\."),
        ({"ratio": 1.31}, r"took 1.06 to 1.31 times .* For padded \(TILE 32\) it was more"),
        ({"same_bits": False}, r"C of padded \(TILE 32\) has different bits"),
        ({"sum_error": -0.041}, r"do not add up .*: padded \(TILE 32\) -4.1%\."),
    ],
)
def test_what_measuring_changed_is_said(changes: dict[str, object], sentence: str) -> None:
    changed = dataclasses.replace(PADDED_32, **changes)  # type: ignore[arg-type]
    assert re.search(sentence, traced_phases.explain_measuring([TILED, changed]))


def test_what_was_left_out_is_said_of_each() -> None:
    half = dataclasses.replace(PADDED_32, left_out="Half of it.")
    assert traced_phases.explain_left_out([TILED, half]) == "padded, TILE 32: Half of it."
    assert traced_phases.explain_left_out([half]) == "Half of it."
    assert traced_phases.explain_left_out([TILED]) == ""


def test_blocks_that_ran_unlike_the_others_are_told() -> None:
    blocks = tuple(
        block._replace(end=block.start + (block.end - block.start) // 2) if block.warps else block
        for block in TRANSPOSED_32.blocks
    )
    sentence = traced_phases.explain_sample(
        [PADDED_32, dataclasses.replace(TRANSPOSED_32, blocks=blocks)]
    )
    assert re.search(r"median block: transposed \(TILE 32\) \d+ µs instead of \d+ µs\.$", sentence)
    assert traced_phases.explain_sample([PADDED_32]) == ""


def test_a_kernel_without_tiles_waits_in_its_inner_loop() -> None:
    naive = trace_of("naive", (512,) * 3, [("inner loop", 110, 12, 14)], 1, 8)
    assert "inner loop in naive." in traced_phases.explain_loading([naive, TILED])
    assert traced_phases.explain_loading([TILED]) == ""


@pytest.mark.parametrize("trace", [TILED, WAVES], ids=["one wave", "waves"])
def test_every_block_is_a_bar_at_its_place_and_time(trace: Trace) -> None:
    launch = launched(trace, 132)
    figure = traced_blocks.draw_blocks(launch)
    bars = [
        (begin, int(place), end)
        for shape in figure.layout.shapes
        for begin, place, end in re.findall(r"M([\d.]+),(\d+)H([\d.]+)", shape.path)
    ]
    wanted = sorted(
        (f"{block.start / 1000:.2f}", block.multiprocessor, f"{block.end / 1000:.2f}")
        for block in trace.blocks
    )
    resident = launch.placed.resident
    assert sorted((begin, place // resident, end) for begin, place, end in bars) == wanted
    assert len({(begin, place) for begin, place, _ in bars}) == len(bars)
    last = [shape for shape in figure.layout.shapes if shape.fillcolor == COMPARED_COLOUR]
    assert len(last) == (launch.waves > 1)
    pointers = figure.data[0]
    hit = [tuple(row) for row in np.unique(np.asarray(pointers.customdata)[:, :2], axis=0)]
    assert hit == sorted((block.x, block.y) for block in trace.blocks)


def test_many_blocks_are_thinned_evenly_and_it_is_said() -> None:
    many = tuple(
        Block(number, 0, number % 132, 10 * (number // 132), 10 * (number // 132) + 10)
        for number in range(65_536)
    )
    launch = launched(dataclasses.replace(TILED, blocks=many), 132)
    figure = traced_blocks.draw_blocks(launch)
    drawn = sum(shape.path.count("M") for shape in figure.layout.shapes)
    assert 0 < drawn <= traced_blocks.MOST_BARS
    assert "those of one multiprocessor in 4 are drawn" in traced_blocks.caption_blocks(launch)
    assert len(figure.to_json()) < 2e6


def test_waves_and_tail_are_told() -> None:
    launch = launched(WAVES, 132)
    sentence = traced_blocks.explain_blocks(launch)
    assert (
        "4,096 blocks on 132 of 132 multiprocessors, up to 2 at once on each** (traced, 1.19"
        in sentence
    )
    assert (
        "A place, room for one block on a multiprocessor, had 15 to 16 blocks one after another."
        in sentence
    )
    assert "one wave" in traced_blocks.explain_blocks(launched(TILED, 132))


def test_the_choosers_waves_are_its_tables_or_its_rule() -> None:
    launch = launched(WAVES, 132)
    by_rule = traced_blocks.plan_waves(launch, None)
    life = launch.placed.median_life
    assert by_rule.waves == ((15, 264, life), (1, 136, life))
    assert not by_rule.is_measured
    pace = Pace((0.001, 0.001), (3e-5, 4e-5))
    tuned = Tuned("tiled:TILE=32", 32, 32, 32, pace, pace, None, None)
    table = Table(132, 0.003, 0.006, 0.004, 3e-9, (tuned,))
    planned = traced_blocks.plan_waves(launch, table)
    assert planned.waves == (
        (15, 264, pytest.approx(1e6 * pace.time(2, 2048))),
        (1, 136, pytest.approx(1e6 * pace.time(2, 2048))),
    )
    sentence = traced_blocks.explain_running(launch, planned)
    assert "16 waves of 264 places, the last one 52% full: 1,327 µs" in sentence
    assert "is the chooser's error" in sentence
    measured, chooser = traced_blocks.draw_running(launch, planned).data
    assert max(measured.y) == pytest.approx(264)
    assert max(chooser.x) == pytest.approx(16 * 1000 * pace.time(2, 2048))


def test_counts_and_cycles_stand_side_by_side_with_the_reason() -> None:
    one, base = counted(TRANSPOSED_32, 0.26), counted(PADDED_32, 0.75)
    found = traced_counts.compare_phases(one, base)
    assert [(phase.pair.phase.name, phase.unit) for phase in found] == [
        ("copy", Unit.SECTORS), ("copy", Unit.WAVEFRONTS), ("inner loop", Unit.WAVEFRONTS),
        ("store", Unit.SECTORS),
    ]  # fmt: skip
    inner = found[2]
    assert (inner.count, inner.base_count) == (32 * 33, 32 * 2)  # As[ty][k] is one word for all
    assert inner.counted == 16.5
    assert inner.clocked == pytest.approx(9011 / 2064)
    together, stores, merged, _ = traced_counts.explain(found, one, base)
    assert together.endswith("Counts and clock agree.")
    assert "a warp goes on as soon as it has asked for a store" in stores
    assert "merges a thread's loads" in merged
    # 32 warps, 26% of 1,056 wavefronts and 33 of the copy
    assert (
        "in the 10,036 cycles that a tile takes the 32 warps of a multiprocessor ask for" in merged
    )
    assert "about as many: 9,842." in merged
    ring = next(one for one in traced_counts.draw_compared(found).data if "simulator" in one.name)
    assert list(ring.x) == [phase.counted for phase in found]
    table = traced_counts.build_table(found, one, base)
    assert [row["Counted, for the same work"] for row in table][2] == "16.5 ×"
    assert traced_counts.explain_elsewhere(one) == ""


@pytest.mark.parametrize(
    ("cycles", "blocks", "sentence"),
    [
        (0.5, (1, 1), "while this one waits for its wavefronts, the other 31"),
        (0.5, (4, 1), "holds 4 of these blocks and 1 of the others"),
        (60.0, (1, 1), "Neither the simulator's counts nor the hardware's explain"),
    ],
)
def test_what_does_not_go_together_has_a_reason(
    cycles: float, blocks: tuple[int, int], sentence: str
) -> None:
    """Without the hardware's counters: the count says 16.5, the clock something else."""
    phases = tuple(
        dataclasses.replace(phase, cycles=cycles * 2064) if phase.name == "inner loop" else phase
        for phase in PADDED_32.phases
    )
    launches = [tuple(Block(place, 0, 0, 0, 100) for place in range(count)) for count in blocks]
    one = counted(dataclasses.replace(TRANSPOSED_32, phases=phases, blocks=launches[0]))
    base = counted(dataclasses.replace(PADDED_32, blocks=launches[1]))
    [reason] = [
        text
        for text in traced_counts.explain(traced_counts.compare_phases(one, base), one, base)
        if text.startswith("**Inner loop")
    ]
    assert sentence in reason


def test_a_busy_port_holds_up_global_memory_too() -> None:
    slower = tuple(
        dataclasses.replace(phase, cycles=3 * phase.cycles)
        if phase.name in ("copy", "store")
        else phase
        for phase in TRANSPOSED_32.phases
    )
    one, base = counted(dataclasses.replace(TRANSPOSED_32, phases=slower)), counted(PADDED_32)
    sentence = traced_counts.explain(traced_counts.compare_phases(one, base), one, base)
    copy, _, _, store = sentence
    for sentence in (copy, store):
        assert "through the same port as shared memory" in sentence
        assert "16.5 × as many wavefronts" in sentence  # (1,056 + 33) of (64 + 2)
    same = counted(dataclasses.replace(PADDED_32, phases=slower))
    _, _, _, store = traced_counts.explain(traced_counts.compare_phases(same, base), same, base)
    assert "how long a warp waits until it can" in store


def test_the_hardwares_counters_are_those_of_the_same_kernel() -> None:
    launch = launched(TILED_32, 132)
    counts = {"shared_load_wavefronts": 100}
    kernel = KernelResult(
        "tiled:TILE=32", True, "", simulated=counts, counters={"shared_load_wavefronts": 75}
    )
    device = recordings().runs[0].device
    other = dataclasses.replace(kernel, name="padded", counters=counts)
    comparison = Comparison(device, (1024,) * 3, (other, kernel))
    found = traced_counts.with_counts(launch, {}, [comparison])
    assert (found.load_share, found.share_size) == (0.75, (1024, 1024, 1024))
    assert traced_counts.with_counts(launched(TILED, 132), {}, [comparison]).load_share is None
