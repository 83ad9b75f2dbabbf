"""The frames of a lesson's stops: around what is drawn at their place, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ui.drawing.look import Look
from ui.drawing.palette import LIGHT
from ui.drawing.sheet import Rectangle
from ui.drawing.viewport import PHONE, USUAL
from ui.lecture.layout import areas_for
from ui.lessons.frame import EDGE, find_frames
from ui.lessons.lesson import Mark
from ui.run.compute import load_drawing
from ui.run.standalone import parse_address

ONE = "kernel=tiled&M=4&N=4&K=4&TILE=2&step=18"
TWO = "kernel=naive&M=8&N=8&K=16&with=tiled,TILE:8&step=30"
BANKS = "kernel=transposed&M=16&N=16&K=16&TILE=16&stage=banks&step=15"
OF_TWO = {Mark.LEFT, Mark.RIGHT, Mark.COUNTS}


def frames(query: str, mark: Mark, viewport: Look = USUAL) -> list[Rectangle]:
    view = parse_address(query)
    look = replace(viewport, stage=view.stage)
    figure = load_drawing(view, look).plain(range(view.step, view.step + 1))
    return find_frames(figure, look, mark, is_pair=view.comparison is not None)


@pytest.mark.parametrize("viewport", [USUAL, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("mark", Mark)
@pytest.mark.sample(3)
def test_a_frame_is_on_the_sheet(mark: Mark, viewport: Look) -> None:
    found = frames(TWO if mark in OF_TWO else ONE, mark, viewport)
    assert len(found) == (2 if mark is Mark.COUNTS else 1)
    for frame in found:
        assert frame.left >= EDGE
        assert frame.top >= EDGE
        assert frame.width > 20
        assert frame.height > 10


def test_a_frame_is_as_small_as_what_stands_in_its_place() -> None:
    areas = areas_for(USUAL)
    [stage] = frames(ONE, Mark.STAGE)
    assert stage.bottom < areas.stage.bottom - 30, "a tile of 2 x 2 does not fill the stage"
    [ledger] = frames(ONE, Mark.LEDGER)
    assert ledger.bottom <= areas.timeline.top
    [larger] = frames(ONE.replace("=4", "=16").replace("TILE=2", "TILE=8"), Mark.STAGE)
    assert larger.width >= stage.width


def test_banks_are_framed_down_to_the_last_wavefront() -> None:
    [frame] = frames(BANKS, Mark.STAGE)
    [warps] = frames(BANKS.replace("&stage=banks", ""), Mark.WARPS)
    assert frame.bottom > warps.top + 30, "8 wavefronts reach where other stages have the warps"


def test_the_current_line_is_framed_with_its_values_and_no_other() -> None:
    view = parse_address(ONE)
    figure = load_drawing(view, USUAL).plain(range(view.step, view.step + 1))
    [path] = [
        shape["path"]
        for shape in figure["layout"]["shapes"]
        if shape["fillcolor"] == LIGHT.current_line
    ]
    top = float(path[1:].split(",")[1].split("H")[0])
    row = USUAL.height / 28  # a row of the source, about
    [frame] = frames(ONE, Mark.LINE)
    assert frame.top < top < frame.top + row
    assert row < frame.height < 3 * row
