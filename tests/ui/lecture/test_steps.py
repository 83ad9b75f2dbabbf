"""From step to step nothing of a sheet changes but texts, paths and colours; clicks find cells."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import numpy as np
import pytest

from simulator import Step
from simulator.number_format import format_short
from tests.ui.lecture.lectures import Lecture, numbers, of_query, of_size, spread
from tests.ui.scene_models import EACH, SIZES
from ui.drawing.canvas import SPACE
from ui.drawing.hit import Hit
from ui.drawing.look import Look, Stage
from ui.drawing.sheet import Panel
from ui.lecture.buffers_stage import BuffersStage
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.lecture_sheet import OnStage
from ui.lecture.source_window import SourceWindow
from ui.lecture.threads_stage import ThreadsStage
from ui.lecture.timeline import LectureTimeline
from ui.lecture.warp_rows import WarpRows

FOLLOWING: list[Any] = [
    pytest.param(stage, n, marks=() if stage is None or n in (3, 10) else pytest.mark.deep)
    for stage in (None, *Stage)
    for n in range(len(SIZES))
]


def fixed(panel: Panel, step: Step) -> str:
    """What of a panel no step may change."""
    traces = [{**trace, "text": len(trace["text"])} for trace in panel.changing(step)]
    shapes = [
        {k: v for k, v in shape.items() if k not in ("path", "line", "fillcolor")}
        | {"width": shape["line"]["width"], "dash": shape["line"]["dash"]}
        for shape in panel.shapes(step)
    ]
    return json.dumps([traces, shapes])


def check_steady(panels: list[Panel], steps: list[Step]) -> None:
    for panel in panels:
        assert len({fixed(panel, step) for step in steps}) == 1, panel
        for step in steps:
            for trace in panel.changing(step):
                assert np.isfinite([*trace["x"], *trace["y"]]).all()
                assert len(trace["x"]) == len(trace["y"]) == len(trace["text"])
                assert all(text and isinstance(text, str) for text in trace["text"])
            assert all(re.fullmatch(r"[MLHVCZ\d.,-]+", s["path"]) for s in panel.shapes(step))


@pytest.mark.sample(5)
@pytest.mark.parametrize(("stage", "number"), FOLLOWING)
def test_a_lectures_panels_draw_the_same_traces_and_shapes_at_every_step(
    stage: Stage | None, number: int
) -> None:
    lecture = of_size(number, Look(stage=stage))
    check_steady(lecture.sheet.panels, spread(lecture.steps, 16))


@EACH
@pytest.mark.deep
@pytest.mark.parametrize("room", [(390, 844), (1920, 1080)])
def test_at_every_single_step_and_in_other_rooms(number: int, room: tuple[int, int]) -> None:
    lecture = of_size(number, Look(width=room[0], height=room[1]))
    check_steady(lecture.sheet.panels, list(lecture.steps))


@EACH
@pytest.mark.sample(3)
def test_only_one_stage_is_on_the_sheet(number: int) -> None:
    lecture = of_size(number)
    for step in spread(lecture.steps, 12):
        shown = 0
        for panel in lecture.sheet.panels:
            beside = (WarpRows, BuffersStage)
            if isinstance(panel, OnStage) and not isinstance(panel.panel, beside):
                texts = {text for trace in panel.changing(step) for text in trace["text"]}
                paths = {shape["path"] for shape in panel.shapes(step)}
                is_empty = texts == {SPACE} and paths == {"M0,0Z"}
                assert is_empty != panel.is_shown(step)
                shown += not is_empty
        assert shown == 1, step.number


# Clicks -------------------------------------------------------------------------------------

COUNTING = {"inputs": "counting"}  # each value of A is in one cell only, and of B
CLICKED = [
    {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4, "bx": 1},
    {"kernel": "tiled", "M": 64, "N": 64, "K": 64, "TILE": 16, "bx": 1, "by": 2, "tx": 9, "ty": 13},
    {"kernel": "tiled", "M": 5, "N": 7, "K": 3, "TILE": 4, "bx": 1, "by": 1},
    {"kernel": "naive", "M": 8, "N": 32, "K": 12, "tx": 17, "ty": 3},
    {"kernel": "transposed", "M": 16, "N": 16, "K": 16, "TILE": 16, "tx": 10, "ty": 5},
    {"kernel": "rows"},
    {"kernel": "vectors"},
    {"kernel": "pipelined"},
]


def value_at(lecture: Lecture, step: Step, hit: Hit) -> float | None:
    """The value that a step has in what was clicked; None for a cell of C that is not stored."""
    arguments = lecture.recording.arguments
    if hit.name.startswith("shared:"):
        name = hit.name.removeprefix("shared:")
        if not step.written[name].reshape(-1)[hit.index]:
            return None
        return float(step.shared[name].reshape(-1)[hit.index])
    if hit.name == "global:C":
        stored = step.stored.get("C")
        if stored is None or not stored.reshape(-1)[hit.index]:
            return None
        return float(step.outputs["C"].reshape(-1)[hit.index])
    return float(np.asarray(arguments[hit.name.removeprefix("global:")]).reshape(-1)[hit.index])


@pytest.mark.sample(5)
@pytest.mark.parametrize("query", CLICKED, ids=lambda query: f"{query['kernel']}-{len(query)}")
@pytest.mark.parametrize("stage", [None, Stage.COPY, Stage.PRODUCT])
def test_a_click_on_a_number_finds_the_cell_that_holds_it(
    query: dict[str, Any], stage: Stage | None
) -> None:
    lecture = of_query(Look(stage=stage), **query, **COUNTING)
    found: dict[str, set[int]] = {}
    moving = [step for step in lecture.steps if any(a.space == "global" for a in step.accesses)]
    for step in [*spread(lecture.steps, 25), *spread(moving, 8)]:
        for x, y, text in numbers(lecture.drawn_stage(step)[0]):
            hit = lecture.hit(step, x, y)
            if hit is None:
                continue  # a thread's own registers
            found.setdefault(hit.name, set()).add(hit.index)
            if hit.name == "thread":
                values = [array for array in step.registers.values() if array.ndim == 1]
                assert text in {format_short(array[hit.index]) for array in values}
                continue
            value = value_at(lecture, step, hit)
            assert value is not None or hit.name == "global:C"
            if value is not None:
                assert text == format_short(value), (step.number, hit)
    kernel = query["kernel"]
    if stage is Stage.PRODUCT:
        own = kernel in ("vectors", "pipelined")  # whose factors and sums are a thread's own
        expected = {"shared:As", "shared:Bs", "thread"}
        if kernel in ("naive", "rows"):
            expected = {"thread"} if kernel == "naive" else {"shared:As"}
        assert set(found) == (set() if own else expected)
    elif stage is Stage.COPY:
        shared = set() if kernel == "naive" else {"shared:As", "shared:Bs"}
        assert set(found) >= {"global:A", "global:C", *shared}
    assert all(len(cells) > 1 for cells in found.values())


@pytest.mark.parametrize("query", CLICKED, ids=lambda query: f"{query['kernel']}-{len(query)}")
@pytest.mark.sample(3)
def test_the_maps_find_every_cell_of_every_matrix(query: dict[str, Any]) -> None:
    lecture = of_query(**query)
    panel, step = lecture.panel(GlobalMemoryPanel), lecture.steps[-1]
    for name, cells in panel._maps.items():
        assert (cells.rows, cells.columns) == lecture.model.shapes[name]
        hits = [lecture.hit(step, x, y) for x, y in cells.centres()]
        assert hits == [Hit(f"global:{name}", i) for i in range(cells.rows * cells.columns)]
        for x, y in ((cells.left - 0.5, cells.top + 1), (cells.left + 1, cells.top - 0.5)):
            assert panel.hit(step, x, y) is None


def source_rows(lecture: Lecture, step: Step) -> list[tuple[float, str, str]]:
    """The rows of the source's window: y, the source's text, the values' text."""
    *layers, _, values = lecture.panel(SourceWindow).changing(step)
    found = []
    for i, y in enumerate(layers[0]["y"]):
        texts = [html.unescape(layer["text"][i]).replace(SPACE, " ") for layer in layers]
        width = max(map(len, texts))
        columns = zip(*(text.ljust(width) for text in texts), strict=True)
        text = "".join(next((c for c in column if c != " "), " ") for column in columns)
        found.append((y, text.strip(), re.sub("</?b>", "", values["text"][i]).strip(SPACE)))
    return found


@EACH
@pytest.mark.parametrize("room", [(1280, 720), (390, 844)])
@pytest.mark.sample(4)
def test_a_row_of_the_source_is_its_line_also_under_the_values(
    number: int, room: tuple[int, int]
) -> None:
    lecture = of_size(number, Look(width=room[0], height=room[1]))
    panel = lecture.panel(SourceWindow)
    text = lecture.recording.kernel.text.replace("\t", "    ").split("\n")
    under = 0
    for step in spread(lecture.steps, 12):
        area = lecture.sheet.areas.source
        x, last, current = area.left + 30, 0, False
        pieces: dict[int, str] = {}
        for y, row, values in source_rows(lecture, step):
            hit = panel.hit(step, x, y)
            if values:
                assert not row
                assert hit == Hit("line", step.line)
                current = True
                continue
            if hit is None:
                assert not row
                continue
            assert hit.name == "line"
            assert (
                hit.index == last
                or last == 0
                or not any(line.strip() for line in text[last : hit.index - 1])
            ), "the next line that is not empty"
            last = hit.index
            under += current
            pieces[hit.index] = pieces.get(hit.index, "") + row
        assert step.line in pieces
        for line, joined in pieces.items():
            whole = re.sub(r"\s", "", text[line - 1])
            shown = re.sub(r"\s", "", joined)
            is_edge = line in (min(pieces), max(pieces))  # a line that the window's edge may cut
            assert shown == whole or (is_edge and shown in whole), line
        assert panel.hit(step, area.left - 3, area.top + 3) is None
        assert panel.hit(step, area.left + 3, area.bottom + 3) is None
    assert under


@pytest.mark.parametrize("number", [0, 4, 7, 15])
def test_the_threads_stage_finds_every_thread(number: int) -> None:
    lecture = of_size(number, Look(stage=Stage.THREADS))
    panel, threads = lecture.panel(ThreadsStage), lecture.recording.launch.threads
    hits = [panel.hit(lecture.steps[0], x, y) for x, y in panel.rows.cells.centres()]
    assert [hit for hit in hits if hit is not None] == [Hit("thread", t) for t in range(threads)]


def test_the_sentence_the_ledger_and_the_timeline_are_no_hits() -> None:
    lecture = of_query(kernel="tiled")
    areas = lecture.sheet.areas
    for area in (areas.sentence, areas.ledger, areas.timeline):
        for x in np.linspace(area.left, area.right - 1, 20):
            for y in np.linspace(area.top, area.bottom - 1, 5):
                assert lecture.hit(lecture.steps[14], float(x), float(y)) is None


def test_a_warp_that_runs_alone_is_named() -> None:
    lecture = of_query(M=16, N=16, K=16, TILE=8, schedule="ascending", edits="first-barrier")
    names = [
        text
        for trace in lecture.panel(LectureTimeline).static()
        for text in trace.get("text", ())
        if "tile" in text
    ]
    assert names == ["warp 0: tile 1", "warp 1: tile 1", "warp 0: tile 2", "warp 1: tile 2"]
    for step in lecture.steps:
        warps = {int(thread) // 32 for thread in np.flatnonzero(step.active)}
        named = re.findall(r" · warp (\d+)", lecture.sheet.title(step))
        assert named == [str(warp) for warp in warps if len(warps) == 1], step.number


def test_warps_that_go_together_are_not_named() -> None:
    lecture = of_query(M=16, N=16, K=16, TILE=8)
    assert not any("warp" in lecture.sheet.title(step) for step in lecture.steps)
