"""The stage of fragments: who holds which element, since when, and what the focused lane has."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.language.fragments import parse_fragment
from simulator.machine.observer import AccessKind
from tests.ui.lecture.lectures import of_query, seen, spread
from ui.analysis.products import multiplication
from ui.drawing.canvas import SPACE, number
from ui.drawing.hit import Hit
from ui.drawing.look import Look, Stage
from ui.lecture.crossings import CrossingsPanel
from ui.lecture.fragments_stage import FragmentsStage

PRESENTED = Look(presenting=True)
KERNELS = ("tensor_tf32", "tensor_half", "tensor_fp32")


@pytest.mark.parametrize("kernel", ["tensor_tf32", "tensor_fp32"])  # of half they are too small
@pytest.mark.sample(2)
def test_each_element_has_the_number_of_its_lane_and_a_click_finds_it(kernel: str) -> None:
    lecture = of_query(PRESENTED, kernel=kernel, K=16)
    panel, step = lecture.panel(FragmentsStage), lecture.steps[40]
    [trace] = [one for one in panel.changing(step) if one.get("meta") == "lanes"]
    call = next(filter(None, map(multiplication, lecture.steps)))
    at = 0
    for text in call.texts[1:4]:
        fragment = parse_fragment(text)
        assert fragment is not None
        rows, columns = fragment.positions()
        for row, column in np.ndindex(fragment.rows, fragment.columns):
            [lane] = {*np.argwhere((rows == row) & (columns == column))[:, 0].tolist()}
            assert trace["text"][at] == str(lane)
            assert panel.hit(step, trace["x"][at], trace["y"][at]) == Hit("thread", lane)
            at += 1
    assert at == len(trace["text"])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.sample(3)
def test_a_fragment_is_filled_once_its_warp_has_stored_to_it(kernel: str) -> None:
    lecture = of_query(PRESENTED, kernel=kernel, K=16)
    panel = lecture.panel(FragmentsStage)
    for step in lecture.steps:
        three = panel._three(step)
        stored = [
            any(held.is_accessed(access, 0) and access.kind is not AccessKind.LOAD
                for one in lecture.steps[: step.number + 1] for access in one.accesses)
            for held in three
        ]  # fmt: skip
        _, filled, sums, *_ = panel.shapes(step)
        sizes = [held.fragment.rows * held.fragment.columns for held in three]
        assert len(seen(filled)) == sum(
            size for size, is_stored in zip(sizes[:2], stored[:2], strict=True) if is_stored
        )
        assert len(seen(sums)) == sizes[2] * stored[2]


def test_the_focused_lanes_values_are_those_that_it_multiplies() -> None:
    lecture = of_query(PRESENTED, kernel="tensor_tf32", K=16, inputs="fractions", tx=5)
    panel = lecture.panel(FragmentsStage)
    last = None
    for step in lecture.steps:
        if multiplication(step) is None:
            continue
        for access, held in zip(step.accesses, panel._three(step), strict=False):
            values = panel._values_of(held, lecture.steps[step.number - 1])
            assert values is not None
            assert values[5].tolist() == access.values[5].tolist()
        last = step
    assert last is not None
    after = lecture.steps[last.number + 1]
    [trace] = [one for one in panel.changing(after) if one.get("meta") == "lane"]
    texts = [text for text in trace["text"] if text != SPACE]
    sums = last.accesses[-1].values[5]
    every = ["lane 5 has", *(f"x[{i}] = {number(x)}" for i, x in enumerate(sums.tolist()))]
    assert texts == every[: len(texts)]
    assert len(texts) > 4


def test_the_fragments_stay_on_the_chip_and_copies_cross_to_it() -> None:
    lecture = of_query(PRESENTED, kernel="tensor_half", K=16)
    sheet, crossings = lecture.sheet, lecture.panel(CrossingsPanel)
    for step in spread(lecture.steps, 40):
        is_bits = sheet.stage_of(step) in (Stage.TENSOR, Stage.BANKS)
        shown = [one for one in lecture.drawn(step, FragmentsStage)[1] if one["path"] != "M0,0Z"]
        assert bool(shown) != is_bits
    stores = [
        step for step in lecture.steps
        if any((one.name, one.kind) == ("C", AccessKind.STORE) for one in step.accesses)
    ]  # fmt: skip
    assert stores
    assert all("C" in crossings.shapes(step)[-1]["path"] for step in stores)
