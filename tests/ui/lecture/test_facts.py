"""Small facts beside the picture: how often a line ran, which lanes go on, sectors, the sum."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from simulator import narrate, record
from simulator.language.tree import If, Loop
from simulator.launch import WARP_SIZE
from simulator.machine.observer import StepKind
from tests.simulator.launches import launch_text
from tests.ui.lecture.lectures import Lecture, of_query, seen
from ui.analysis.divergence import has_divergence, threads_that_take
from ui.drawing.canvas import SPACE
from ui.drawing.look import Look
from ui.drawing.palette import LIGHT
from ui.lecture.product_stage import ProductStage
from ui.lecture.sectors import WORDS
from ui.lecture.sentences.sentence import SentencePanel
from ui.lecture.source_window import SourceWindow
from ui.lecture.warp_rows import WarpRows

PRESENTED = Look(presenting=True)


def test_each_line_says_how_often_it_has_run() -> None:
    lecture = of_query(PRESENTED, kernel="tiled", M=8, N=8, K=8, TILE=4)
    window = lecture.panel(SourceWindow)
    found = 0
    for step in lecture.steps:
        [trace] = [one for one in window.changing(step) if one.get("meta") == "runs"]
        for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True):
            hit = window.hit(step, x, y)
            if text != SPACE:
                assert hit is not None
                parts = Counter(
                    (one.statement, one.kind) for one in lecture.steps[: step.number + 1]
                    if one.line == hit.index
                )  # fmt: skip
                assert text == f"{max(parts.values())}×"
                found += 1
    assert found > len(lecture.steps)


def test_lanes_for_which_a_condition_does_not_hold_are_hollow() -> None:
    lecture = of_query(kernel="tiled_double", M=6, N=7, K=5, TILE=4, bx=1, by=1)
    assert has_divergence(lecture.recording)
    [step] = [
        one for one in lecture.steps if isinstance(one.statement, If) and one.kind is StepKind.TEST
    ]
    taking = threads_that_take(step)
    assert taking is not None
    assert taking.sum() == 2 * 3, "the block's part of C"
    assert (taking == lecture.steps[step.number + 1].active).all()
    panel = lecture.panel(WarpRows)
    _, _, full, hollow, *_ = panel.shapes(step)
    assert (full["fillcolor"], hollow["line"]["color"]) == (LIGHT.number, LIGHT.number)
    assert len(seen(full)) == 6
    assert len(seen(hollow)) == step.active.sum() - 6
    said = " ".join(lecture.panel(SentencePanel).changing(step)[1]["text"])
    assert "the condition holds for 6 of 16 lanes" in said


def test_a_loop_that_some_lanes_leave_parts_a_warp_and_one_that_all_leave_does_not() -> None:
    def recorded(bound: str) -> Any:
        text = (
            "__global__ void k(int* x) { int i = threadIdx.x; int s = 0;\n"
            f"for (int j = 0; j < {bound}; ++j)\ns += j;\nx[i] = s; }}"
        )
        return record(*launch_text(text, x=np.zeros(32, np.int32)))

    assert not has_divergence(recorded("3"))
    parted = recorded("i % 3")
    assert has_divergence(parted)
    tests = [one for one in parted.steps
             if isinstance(one.statement, Loop) and one.kind is StepKind.TEST]  # fmt: skip
    counts = [int(threads_that_take(step).sum()) for step in tests]
    assert counts == [sum(i % 3 > j for i in range(32)) for j in range(3)]


@pytest.mark.parametrize(
    ("index", "passes"), [("0", 1), ("threadIdx.x", 32), ("threadIdx.x / 8", 4)]
)
def test_a_warp_says_what_constant_memory_costs_it(index: str, passes: int) -> None:
    text = (
        f"__constant__ float w[32];\n__global__ void k(float* x) {{ x[threadIdx.x] = w[{index}]; }}"
    )
    recording = record(*launch_text(text, x=np.zeros(32, np.float32)))
    [words] = {narrate.warp(recording, step, 0)[0] for step in recording.steps}
    assert f"{passes} pass" in words
    assert ("one value for all" in words) == (passes == 1)


@pytest.mark.parametrize("kernel", ["naive", "uncoalesced", "tiled"])
def test_the_sectors_show_each_word_and_whether_it_is_asked_for(kernel: str) -> None:
    lecture = of_query(PRESENTED, kernel=kernel, M=32, N=32, K=8, **_tile(kernel))
    panel = lecture.panel(ProductStage)._sectors
    assert panel is not None
    for place, other in itertools.pairwise(panel._places):
        assert place.right < other.left
    for step in lecture.steps:
        unused, hatch, used, own, *_ = panel.shapes(step)
        words = sum(len(seen(shape)) for shape in (unused, used, own))
        sectors = sum(request.moved_sectors for request in panel._of(step))
        said = [int(number) for text in panel.changing(step)[0]["text"]
                for number in re.findall(r"^\d+", text)]  # fmt: skip
        assert sum(said) == sectors
        assert ("L" in hatch["path"]) == bool(seen(unused)), "hatched however low the rows are"
        if words:
            assert words <= WORDS * sectors
    step = lecture.steps_of("acc +=" if kernel != "tiled" else "As[ty][tx] =")[0]
    [a] = [one for one in panel._of(step) if one.access.name == "A"]
    assert a.moved_sectors == {"naive": 1, "uncoalesced": 32, "tiled": 4}[kernel]


def _tile(kernel: str) -> dict[str, int]:
    return {"TILE": 8} if kernel == "tiled" else {}


@pytest.mark.parametrize("kernel", ["naive", "tiled"])
def test_the_focused_threads_product_and_sum_are_written_out(kernel: str) -> None:
    lecture = of_query(PRESENTED, kernel=kernel, M=8, N=8, K=8)
    panel = lecture.panel(ProductStage)
    for step in lecture.steps:
        [trace] = [one for one in panel.changing(step) if one.get("meta") == "written"]
        texts = [text.strip(SPACE) for text in trace["text"]]
        if "acc +=" not in lecture.line(step):
            assert not any(texts)
            continue
        left, top, before, after = (float(text.strip("×+= ")) for text in texts)
        assert left * top + before == after == step.registers["acc"][lecture.model.thread]


def test_every_warp_that_parts_has_a_row() -> None:
    lecture = of_query(kernel="naive", M=5, N=40, K=3, bx=1)
    rows = lecture.panel(WarpRows)
    assert rows.warps == -(-lecture.recording.launch.threads // WARP_SIZE)
    whole: Lecture = of_query(kernel="naive", M=32, N=32, K=3)
    assert has_divergence(whole.recording) == bool(list(whole.panels(WarpRows)))


def test_the_free_corner_says_what_the_thread_holds_where_nothing_else_stands_there() -> None:
    lecture = of_query(PRESENTED, kernel="tiled", M=8, N=8, K=8, TILE=4)
    panel, thread = lecture.panel(ProductStage), lecture.model.thread
    shown = 0
    for step in lecture.steps:
        by_meta = {one.get("meta"): one["text"] for one in panel.changing(step)}
        texts = [text for text in by_meta["registers"] if text != SPACE]
        is_taken = any(text != SPACE for text in by_meta["written"])
        is_taken |= any(seen(shape) for shape in panel._sectors.shapes(step))
        assert not (texts and is_taken)
        for text in texts:
            name, value = text.split(" = ")
            assert float(value) == step.registers[name][thread]
        shown += bool(texts)
    assert shown
