"""What a GPU's clock said of a kernel, beside the kernel's steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpu.trace.trace import Kind
from simulator import Step
from simulator.catalogue import catalogue
from tests.ui.lecture.lectures import Lecture, of_query, seen
from tests.ui.traced_kernels import RUN, SLOW, traced
from ui.analysis.clock import (
    Clock,
    Setting,
    find_clock,
    tile_cycles,
    tiles_of_same_work,
    typical_tile,
)
from ui.analysis.pairs import align
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import SPACE
from ui.drawing.look import Look, Stage
from ui.lecture.clock_stage import ClockStage
from ui.lecture.clock_strip import ClockStrip, format_share
from ui.lecture.layout import areas_for
from ui.lecture.letters import letters_for
from ui.lecture.pair_clock import PairClock
from ui.lecture.pair_layout import areas_for_pair
from ui.lecture.pair_sheet import PairSheet

PAGE = Look(width=1240, height=560)
LOOKS = [PAGE, Look(width=1280, height=720, presenting=True), Look(width=374, height=700)]


def clock_of(model: SceneModel) -> Clock | None:
    return find_clock(model.recording, model.phases, [RUN])


def lecture(look: Look = PAGE, **query: Any) -> Lecture:
    """A lecture with what the clock said of its kernel."""
    plain = of_query(look, **query)
    model = replace(plain.model, clock=clock_of(plain.model))
    return Lecture(model, look)


@pytest.mark.parametrize(
    ("query", "kernel"),
    [
        ({"kernel": "tiled"}, "tiled:TILE=32"),
        ({"kernel": "tiled", "TILE": 16, "M": 16, "N": 16, "K": 16}, "tiled"),
        ({"kernel": "tiled", "TILE": 32, "M": 32, "N": 32, "K": 32}, "tiled:TILE=32"),
        ({"kernel": "transposed"}, "transposed:TILE=32"),
        ({"kernel": "transposed", "edits": "pad"}, "padded:TILE=32"),
        ({"kernel": "transposed", "edits": "second-barrier"}, None),
        ({"kernel": "tiled", "edits": "double"}, None),
        ({"kernel": "naive"}, None),
    ],
)
def test_a_kernel_has_the_trace_of_its_code(query: dict[str, Any], kernel: str | None) -> None:
    """Comments, the kernel's name and the sizes of its tiles may be others, and nothing else."""
    found = clock_of(of_query(PAGE, **query).model)
    assert (found and found.trace.kernel) == kernel


def test_what_was_measured_is_told_and_never_what_is_stepped() -> None:
    found = clock_of(of_query(PAGE, kernel="transposed").model)
    assert found is not None
    assert found.setting.whole == (
        "H200 · 512³ · TILE 32 · 6% slower when traced · 4\u00a0Mar\u00a02026"
    )
    larger = replace(RUN, traces=(*RUN.traces, traced("tiled:TILE=32", 733, 9, 2064, 73,
                                                      size=1024, warps=1)))  # fmt: skip
    model = of_query(PAGE, kernel="tiled").model  # in tiles of 4
    again = find_clock(model.recording, model.phases, [larger])
    assert again is not None
    assert again.setting.short == "H200 · 1,024³ · TILE 32"
    wrong = replace(RUN, traces=tuple(replace(one, same_bits=False) for one in RUN.traces))
    assert find_clock(model.recording, model.phases, [wrong]) is None


@pytest.mark.parametrize("query", [{"kernel": "transposed"}, {"kernel": "transposed",
                                                             "edits": "pad"}])  # fmt: skip
def test_each_step_is_of_the_phase_with_its_line(query: dict[str, Any]) -> None:
    shown = lecture(**query)
    assert shown.model.clock is not None
    names = {
        fragment: {
            None if number is None else shown.model.clock.trace.phases[number].name
            for number in (shown.model.clock.phase_of[step.number] for step in steps)
        }
        for fragment in ("As[ty][tx] =", "Bs[tx][ty] =", "acc +=", "C[row")
        for steps in [shown.steps_of(fragment)]
    }
    assert names == {
        "As[ty][tx] =": {"copy"}, "Bs[tx][ty] =": {"copy"}, "acc +=": {"inner loop"},
        "C[row": {"store"},
    }  # fmt: skip
    waits = [shown.model.clock.phase_of[one.number] for one in shown.steps_of("__syncthreads")]
    assert waits == [2, 4] * shown.model.iterations


@pytest.mark.parametrize("look", LOOKS)
def test_the_strip_has_each_phase_to_scale(look: Look) -> None:
    shown = lecture(look, kernel="transposed")
    [step, *_] = shown.steps_of("acc +=")
    area = shown.sheet.areas.clock
    assert area is not None
    traces, shapes = shown.drawn(step, ClockStrip)
    widths = {
        kind: sum(box[2] - box[0] for box in seen(shape))
        for kind, shape in zip(Kind, shapes[:-1], strict=True)
    }
    total = sum(widths.values())
    assert "M0,0Z" not in {shape["path"] for shape in shapes}  # all are shorter than a tile
    spent = {Kind.LOAD: 847, Kind.COMPUTE: 9011, Kind.BARRIER: 178, Kind.STORE: 40, Kind.OTHER: 60}
    for kind, cycles in spent.items():
        assert widths[kind] / total == pytest.approx(cycles / sum(spent.values()), abs=0.002)
    assert all(
        area.left <= box[0] < box[2] <= area.right + 0.1 for one in shapes[:-1] for box in seen(one)
    )
    [lit] = seen(shapes[-1])
    [loop] = seen(shapes[list(Kind).index(Kind.COMPUTE)])
    assert (lit[0], lit[2]) == (loop[0], loop[2])
    text = " ".join(text for trace in traces for text in trace["text"])
    assert "inner loop" in text
    cycles = "9,011 cycles a tile, 90%"
    if look.width > 1000:
        cycles = "9,011 of 10,036 cycles a tile"
        assert "on average 90% of the block's time" in text
    assert cycles in text
    assert "H200 · 512³ · TILE 32 · 6% slower when traced" in text


def test_a_strip_takes_little_room_and_leaves_letters_as_they_are() -> None:
    for look in LOOKS[:2]:
        with_strip, plain = areas_for(look, has_clock=True), areas_for(look)
        assert with_strip.clock is not None
        assert with_strip.clock.bottom == plain.height == with_strip.height
        assert with_strip.timeline.bottom <= with_strip.clock.top
        assert with_strip.stage.height >= 0.9 * plain.stage.height
    low = Look(width=820, height=320)
    assert areas_for(low, has_clock=True) == areas_for(low)
    assert letters_for(PAGE) == lecture(kernel="transposed").sheet.letters


def test_what_a_warp_does_once_leaves_a_tile_its_room() -> None:
    shown = lecture(kernel="transposed")
    assert shown.model.clock is not None
    phases = shown.model.clock.trace.phases
    long = replace(phases[-1], cycles=3000.0)
    trace = replace(shown.model.clock.trace, phases=(*phases[:-1], long))
    model = replace(shown.model, clock=replace(shown.model.clock, trace=trace))
    again = Lecture(model, PAGE)
    [step] = again.steps_of("C[row")
    traces, shapes = again.drawn(step, ClockStrip)
    assert seen(shapes[list(Kind).index(Kind.STORE)]) == []
    assert seen(shapes[-1]) == []
    texts = [text for trace in traces for text in trace["text"]]
    assert any("store: 3,000 cycles, once a block (median)" in text for text in texts)


def test_a_step_of_a_function_is_of_the_phase_of_the_loop_that_calls_it() -> None:
    model = of_query(PAGE, kernel="warptiles", M=16, N=32, K=8).model
    lines = [line.strip() for line in model.recording.kernel.text.split("\n")]
    loop = model.outer.span if model.outer is not None else None
    assert loop is not None
    made = traced("tiled:TILE=32", 733, 9, 2064, 73, warps=32)
    inside = replace(made.phases[3], first_line=loop.line, last_line=loop.end_line)
    waits = next(i for i, line in enumerate(lines, 1) if line.startswith("__syncthreads"))
    wait = replace(made.phases[2], first_line=waits, last_line=waits)
    store = replace(made.phases[-1], first_line=len(lines), last_line=len(lines))
    trace = replace(made, kernel="warptiles", phases=(wait, inside, store))
    clock = find_clock(model.recording, model.phases, [replace(RUN, traces=(trace,))])
    assert clock is not None
    found = {
        kind: {clock.phase_of[i] for i, one in enumerate(model.phases) if one == kind}
        for kind in (Kind.COMPUTE, Kind.STORE)
    }
    assert found == {Kind.COMPUTE: {1}, Kind.STORE: {2}}


def test_a_phase_that_goes_on_after_a_wait_within_it_is_one() -> None:
    def split(warp: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            piece
            for one in warp
            for piece in (
                (one._replace(end=one.begin + 11), one._replace(begin=one.begin + 11))
                if one.phase == 3
                else (one,)
            )
        )

    block = SLOW.whole_blocks[0]
    halves = block._replace(warps=tuple(map(split, block.warps)))
    clock = Clock(replace(SLOW, blocks=(halves,)), Setting("", "", "", "", ""), ())
    assert tile_cycles(clock, 0)[3] == 9011


@pytest.mark.parametrize("look", LOOKS)
def test_the_stage_has_every_warp_of_a_block(look: Look) -> None:
    shown = lecture(replace(look, stage=Stage.CLOCK), kernel="transposed")
    [step, *_] = shown.steps_of("acc +=")
    traces, shapes = shown.drawn(step, ClockStage)
    stage = shown.panel(ClockStage)
    assert stage._tile is not None
    loops = seen(shapes[list(Kind).index(Kind.COMPUTE)])
    assert len(loops) == 32
    [lit] = seen(shapes[len(Kind)])  # around all of them, whose rows are low
    assert (lit[0], lit[1]) == loops[0][:2]
    assert (lit[2], lit[3]) == loops[-1][2:]
    frame = shown.sheet.areas.chip
    assert frame is not None
    for left, top, right, bottom in loops:
        assert frame.left < left < right < frame.right
        assert frame.top < top < bottom < frame.bottom
    text = " ".join(text for trace in traces for text in trace["text"] if text != SPACE)
    table = [trace["text"] for trace in traces if len(trace["text"]) == 5]
    assert [text.partition("</span> ")[2] for text in table[0][1:]] == [
        "copy", "wait", "inner loop", "wait",
    ]  # fmt: skip
    assert table[1] == ["cycles", "847", "7", "9,011", "171"]
    assert table[2][3] == "90%"
    # A warp stores once to As and in 32 wavefronts to Bs; it reads As 32 times, and Bs in 32 each.
    assert table[3] == ["wavefronts", "33", SPACE, "1,056", SPACE]
    assert "<b>warp 0</b>" in text


def test_a_whole_life_has_no_counts_of_a_tile_beside_it() -> None:
    look = replace(PAGE, stage=Stage.CLOCK)
    shown = lecture(look, kernel="transposed")
    assert shown.model.clock is not None
    once = tuple(replace(phase, visits=1) for phase in SLOW.phases)
    clock = replace(shown.model.clock, trace=replace(SLOW, phases=once))
    stage = Lecture(replace(shown.model, clock=clock), look).panel(ClockStage)
    assert [column[0] for column in stage._columns()] == ["", "cycles", "share"]


def test_a_kernel_that_was_not_traced_says_so_where_its_clock_is_held() -> None:
    shown = lecture(replace(PAGE, stage=Stage.CLOCK), kernel="naive")
    assert shown.sheet.areas.clock is None
    texts = [text for trace in shown.drawn_stage(shown.steps[0])[0] for text in trace["text"]]
    assert any("clock was not recorded" in text for text in texts)


def test_a_warp_has_its_own_cycles_and_a_tile_is_a_usual_one() -> None:
    def slower(warp: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            one._replace(end=one.end + 100 * (one.tile + 1)) if one.phase == 1 else one
            for one in warp
        )

    block = SLOW.whole_blocks[0]
    changed = block._replace(warps=(block.warps[0], slower(block.warps[1])))
    trace = replace(SLOW, blocks=(changed,))
    clock = Clock(trace, Setting("", "", "", "", ""), ())
    assert [tile_cycles(clock, warp)[1] for warp in (0, 1, 2)] == [847, 847 + 850, 847]
    tile = typical_tile(trace)
    assert tile is not None
    assert tile.end - tile.begin == 10036
    assert typical_tile(replace(SLOW, blocks=())) is None
    assert format_share(0.0004) == "0.04%"


def beside(look: Look, left: dict[str, Any], right: dict[str, Any]) -> tuple[PairSheet, Any]:
    """The sheet of two lectures with what the clock said of both."""
    models = [lecture(PAGE, **query).model for query in (left, right)]
    pairs = align(models[0].recording, models[1].recording)
    names = left["kernel"], right["kernel"]
    return PairSheet((models[0], models[1]), names, pairs, look), pairs


@pytest.mark.parametrize("look", LOOKS)
def test_two_kernels_have_one_scale_and_the_sentence_that_matters(look: Look) -> None:
    sheet, pairs = beside(look, {"kernel": "transposed"}, {"kernel": "padded"})
    [panel] = [one for one in sheet.panels if isinstance(one, PairClock)]
    pair = next(one for one in pairs if "acc +=" in line_of(one.sides[0], "transposed"))
    shapes = panel.shapes(pair)
    loops = [
        seen(shapes[side * (len(Kind) + 1) + list(Kind).index(Kind.COMPUTE)])[0] for side in (0, 1)
    ]
    widths = [box[2] - box[0] for box in loops]
    assert widths[0] / widths[1] == pytest.approx(9011 / 2064, rel=0.01)
    lit = [seen(shapes[(side + 1) * (len(Kind) + 1) - 1])[0] for side in (0, 1)]
    assert [box[0] for box in lit] == [box[0] for box in loops]
    area = sheet.areas.clock
    assert area is not None
    assert round(area.bottom) <= sheet.size[1]
    texts = [text for trace in [*panel.static(), *panel.changing(pair)] for text in trace["text"]]
    said = " ".join(texts)
    assert "The inner loop takes 9,011 cycles instead of 2,064: 4.4 times as long." in said
    assert "32 wavefronts instead of 1 for each read of Bs." in said
    assert "inner loop: 9,011 cycles a tile, 90%" in texts
    assert "inner loop: 2,064 cycles a tile, 71%" in texts
    assert ("the compiler merges loads" in said) == (look is not PAGE)
    lowest = max(y for trace in panel.static() for y in trace["y"])
    assert lowest + 0.5 * sheet.letters.small <= area.bottom


@pytest.mark.parametrize("look", LOOKS)
def test_a_figure_says_how_much_room_its_clock_takes(look: Look) -> None:
    """By which a lesson's marks are placed."""
    one = lecture(look, kernel="transposed").sheet
    assert areas_for(look, far_share=one.far_share, warps=one.warps, has_clock=True) == one.areas
    two, _ = beside(look, {"kernel": "transposed"}, {"kernel": "padded"})
    assert areas_for_pair(look, two.clock_height) == two.areas
    plain = of_query(look, kernel="naive").sheet
    assert (plain.has_clock, plain.clock_height) == (False, 0.0)


def test_one_kernel_of_two_may_lack_a_clock_and_a_low_room_has_none() -> None:
    sheet, pairs = beside(PAGE, {"kernel": "naive"}, {"kernel": "tiled"})
    [panel] = [one for one in sheet.panels if isinstance(one, PairClock)]
    assert panel.changing(pairs[0])[0]["text"][0] == "not recorded"
    assert len(panel.shapes(pairs[0])) == len(Kind) + 1
    low, _ = beside(Look(width=820, height=320), {"kernel": "tiled"}, {"kernel": "padded"})
    assert not [one for one in low.panels if isinstance(one, PairClock)]
    assert low.has_clock


def line_of(step: Step, kernel: str) -> str:
    return catalogue()[kernel].source().split("\n")[step.line - 1]


def test_tiles_of_other_sizes_are_compared_by_their_work() -> None:
    """Four tiles of 16 are a fourth as deep each: two of them are as deep as one of 32."""
    small, large = (
        lecture(kernel="tiled", TILE=tile, M=tile, N=tile, K=tile).model for tile in (16, 32)
    )
    assert small.clock is not None
    assert large.clock is not None
    assert tiles_of_same_work(large.clock, small.clock) == 2
    pairs = align(large.recording, small.recording)
    sheet = PairSheet((large, small), ("large", "small"), pairs, PAGE)
    [panel] = [one for one in sheet.panels if isinstance(one, PairClock)]
    shapes = panel.shapes(pairs[0])
    loops = [
        sum(box[2] - box[0] for box in seen(shapes[side * (len(Kind) + 1) + 1])) for side in (0, 1)
    ]
    assert loops[0] / loops[1] == pytest.approx(2064 / (2 * 744), rel=0.01)
    texts = [text for trace in panel.static() for text in trace["text"]]
    assert any(text.startswith("bars show the same amount of work") for text in texts)
