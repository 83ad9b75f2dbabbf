"""Tiles of shared memory that take turns, and copies that are on their way into them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Step
from simulator.machine.observer import AccessKind
from tests.ui.lecture.lectures import of_query
from tests.ui.scene_models import boxes
from tests.ui.user_kernels import array, user_kernel
from ui.analysis.async_copies import copies_under_way
from ui.analysis.tiles_of_k import copied_cells, waits_for_copies
from ui.drawing.look import Look
from ui.drawing.motions import Flight, Light
from ui.drawing.palette import LIGHT
from ui.lecture.buffers_stage import BuffersStage
from ui.lecture.crossings import CrossingsPanel
from ui.lecture.lecture_sheet import LectureSheet
from ui.lecture.product_stage import ProductStage
from ui.run.compute import load_drawing
from ui.view.view_url import View

PIPELINED: dict[str, Any] = {"kernel": "pipelined", "M": 16, "N": 16, "K": 16}
COPYING = [PIPELINED, {"kernel": "pipelined", "M": 9, "N": 10, "K": 7},
           {"kernel": "warptiles", "M": 16, "N": 16, "K": 16},
           {"kernel": "anyshape", "M": 16, "N": 16, "K": 16}]  # fmt: skip
ROOMS = [Look(), Look(width=1280, height=720, presenting=True, theme="dark"),
         Look(width=853, height=480, presenting=True), Look(width=390, height=844)]  # fmt: skip


def words_of(panel: BuffersStage, step: Step) -> list[str]:
    """What is said of each row: a tile and what becomes of it."""
    texts = [text.strip("\xa0") for text in panel.changing(step)[0]["text"]]
    return [" ".join(pair).strip() for pair in zip(texts[::2], texts[1::2], strict=True)]


@pytest.mark.parametrize("query", COPYING, ids=lambda query: f"{query['kernel']}-{query['K']}")
@pytest.mark.sample(2)
def test_a_copy_is_under_way_from_its_step_until_it_is_waited_for(query: dict[str, Any]) -> None:
    lecture = of_query(**query)
    recording, by_step = lecture.recording, copies_under_way(lecture.model)
    begun: set[tuple[str, int]] = set()
    seen = 0
    for step, found in zip(lecture.steps, by_step, strict=True):
        for access in step.accesses:
            if access.targets is not None:
                name, cells, sources, _ = copied_cells(recording, access)
                begun |= {(name, cell) for cell in cells.tolist()}
                tiles = lecture.model.tiles[access.name][sources]
                assert (found[name][cells] == tiles).all()
            elif access.kind is AccessKind.STORE and waits_for_copies(step.statement):
                arrived = set(access.touched_cells()[0].tolist())
                begun -= {(access.name, cell) for cell in arrived}
        drawn = {(name, cell) for name in found for cell in np.flatnonzero(found[name] >= 0)}
        assert drawn == begun, step.number
        seen += bool(begun)
    assert seen
    assert not begun


def test_what_arrives_is_what_the_copy_has_read() -> None:
    lecture = of_query(**PIPELINED)
    values: dict[tuple[str, int], float] = {}
    for step in lecture.steps:
        for access in step.accesses:
            if access.targets is not None:
                name, cells, sources, _ = copied_cells(lecture.recording, access)
                matrix = lecture.recording.arguments[access.name].reshape(-1)
                values |= {
                    (name, cell): matrix[source]
                    for cell, source in zip(cells.tolist(), sources.tolist(), strict=True)
                }
        if waits_for_copies(step.statement):
            for (name, cell), value in values.items():
                assert step.shared[name].reshape(-1)[cell] == value
            values = {}


@pytest.mark.parametrize("look", ROOMS[:2], ids=["page", "classroom"])
def test_one_tile_is_multiplied_while_the_next_is_on_its_way(look: Look) -> None:
    lecture = of_query(look, **PIPELINED)
    panel, areas = lecture.panel(BuffersStage), lecture.sheet.areas
    assert areas.far is not None
    assert areas.chip is not None
    seen = set()
    for step in lecture.steps_of("acc[i][j] +="):
        [tile] = {entry.value for entry in step.loops if entry.variable == "t"}
        assert tile is not None
        other = f"tile {tile + 2} on its way" if tile < 3 else f"tile {tile} used"
        expected = [f"tile {tile + 1} multiplied", other]
        assert words_of(panel, step) == (expected if tile % 2 == 0 else expected[::-1])
        on_border = [one for row in panel.under_way(step) for one in row]
        assert [(one.matrix, one.tile) for one in on_border] == (
            [("A", tile + 1), ("B", tile + 1)] if tile < 3 else []
        )
        for one in on_border:
            assert one.box[0] < areas.far.right < areas.chip.left < one.box[2]
        seen.add(tile)
    assert seen == {0, 1, 2, 3}


def test_what_is_on_its_way_is_not_yet_in_its_row() -> None:
    lecture = of_query(**PIPELINED)
    panel = lecture.panel(BuffersStage)
    step = lecture.steps_of("acc[i][j] +=")[0]
    filled = [
        box for shape in panel.shapes(step)
        if shape["fillcolor"] in LIGHT.tiles and shape["path"] != "M0,0Z"
        for box in boxes(shape["path"])
    ]  # fmt: skip
    for name, size in (("As", 32), ("Bs", 32)):
        for cell in range(2 * size):
            box = panel.cell_box(name, cell)
            assert box is not None
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            is_filled = any(left < x < right and top < y < bottom
                            for left, top, right, bottom in filled)  # fmt: skip
            assert is_filled == (cell < size), (name, cell)


def test_a_copy_flies_to_the_border_and_lights_up_its_row_when_it_arrives() -> None:
    lecture = of_query(**PIPELINED)
    panel, crossings = lecture.panel(BuffersStage), lecture.panel(CrossingsPanel)
    for step in lecture.steps_of("__pipeline_memcpy_async(to, row"):
        [access] = [one for one in step.accesses if one.targets is not None]
        name, cells, _, _ = copied_cells(lecture.recording, access)
        flights = [one for one in crossings.motions(step) if isinstance(one, Flight)]
        assert {one.cell for one in flights} == {
            panel.border_box(name, cell) for cell in cells.tolist()
        }
    waits = [step for step in lecture.steps_of("__pipeline_wait_prior") if step.accesses]
    for step in waits:
        lights = [one for one in lecture.sheet.motions(step) if isinstance(one, Light)]
        assert len(lights) == 2  # a tile of A and one of B
    assert len(waits) == 4


def test_dotted_arrows_lead_from_the_matrices_to_the_border_meanwhile() -> None:
    lecture = of_query(**PIPELINED)
    crossings = lecture.panel(CrossingsPanel)
    for step in lecture.steps_of("acc[i][j] +="):
        dotted = [one for one in crossings.shapes(step)
                  if one["line"]["dash"] == "dot" and one["path"] != "M0,0Z"]  # fmt: skip
        [tile] = {entry.value for entry in step.loops if entry.variable == "t"}
        assert tile is not None
        edges = [LIGHT.tile_edge(tile + 1)] if tile < 3 else []
        assert [one["line"]["color"] for one in dotted] == edges


@pytest.mark.parametrize("look", ROOMS, ids=lambda look: f"{look.width}x{look.height}")
@pytest.mark.parametrize("query", COPYING[::2], ids=lambda query: query["kernel"])
@pytest.mark.sample(3)
def test_rows_and_board_have_room_of_their_own(query: dict[str, Any], look: Look) -> None:
    lecture = of_query(look, **query)
    stage = lecture.sheet.areas.stage
    for step in lecture.steps_of("acc[i][j] +=")[:3]:
        tops, bottoms = [], []
        for window, content in lecture.panel(ProductStage).windows(step):
            if content is not None:
                tops.append(window.cells.top)
                bottoms.append(window.cells.bottom)
        for name in ("As", "Bs"):
            for cell in (0, lecture.model.shared_shapes[name][-1] - 1):
                box = lecture.panel(BuffersStage).cell_box(name, cell)
                assert box is not None
                assert stage.left <= box[0] < box[2] <= stage.right
                assert stage.top <= box[1]
                assert box[3] <= min(tops) or box[1] >= max(bottoms)


@pytest.mark.parametrize("kernel", ["pipelined", "warptiles"])
def test_the_arrays_are_named_above_the_rows(kernel: str) -> None:
    look = Look(width=1264, height=640, presenting=True)
    lecture = of_query(look, kernel=kernel, M=8, N=8, K=8)
    texts = [text for trace in lecture.panel(BuffersStage).changing(lecture.steps[0])
             for text in trace["text"]]  # fmt: skip
    assert "<b>As</b> × <b>Bs</b> shared memory" in texts


@pytest.mark.parametrize("kernel", ["naive", "tiled", "vectors"])
def test_a_kernel_whose_tiles_take_no_turns_has_no_rows(kernel: str) -> None:
    assert not list(of_query(kernel=kernel, M=16, N=16, K=16).panels(BuffersStage))


@pytest.mark.parametrize("look", [Look(presenting=True), Look(width=390, height=844)])
@pytest.mark.parametrize(("kernel", "K", "turns"), [("tensor_tf32", 64, 3), ("tensor_half", 32, 1)])
@pytest.mark.sample(3)
def test_a_tensor_cores_tiles_stand_where_their_copies_lie_in_one_array(
    kernel: str, K: int, turns: int, look: Look
) -> None:
    lecture = of_query(look, kernel=kernel, K=K)
    assert lecture.drawn_stage(lecture.steps[-1])
    panel, product = lecture.panel(BuffersStage), lecture.model.product
    assert product is not None
    assert [len(cells) for cells in panel._cells_of] == [turns] * 2
    held = lecture.steps[-1].shared["tiles"].reshape(-1)
    arguments = lecture.recording.arguments
    found = set()
    for matrix, places in zip(panel._sources, panel._cells_of, strict=True):
        rows, columns = places.shape[1:]
        whole = arguments[matrix].reshape(product.shapes[matrix])
        for turn in places:
            tile = held[turn]
            at = [(t, matrix) for t in range(lecture.model.tile_count) if (tile == (
                whole[:rows, t * columns : (t + 1) * columns] if matrix == product.A
                else whole[t * rows : (t + 1) * rows, :columns]
            )).all()]  # fmt: skip
            assert len(at) == 1, "the tile that was copied there last"
            found.add(at[0])
    assert len(found) == 2 * turns


def test_tiles_that_take_turns_without_asynchronous_copies_are_rows_too() -> None:
    """The solution of the exercise on them."""
    file = Path("assets/exercises/16_double_buffer.toml")
    text = tomllib.loads(file.read_text())["solution"].replace("TILE 16", "TILE 4")
    matrices = (array(name, "64") for name in "ABC")
    kernel = user_kernel(text, "2,2", "4,4", *matrices, ("M", "8"), ("N", "8"), ("K", "8"),
                 roles="A=A B=B C=C M=M N=N K=K")  # fmt: skip
    drawing = load_drawing(View(user_kernel=kernel), Look())
    assert isinstance(drawing.sheet, LectureSheet)
    panel = next(one.panel for one in drawing.sheet.panels
                 if isinstance(getattr(one, "panel", None), BuffersStage))  # fmt: skip
    found = []
    for step in drawing.steps:
        said = words_of(panel, step)
        if not found or said != found[-1]:
            found.append(said)
    assert found == [
        ["", ""], ["tile 1 being filled", ""], ["tile 1 multiplied", ""],
        ["tile 1 used", ""], ["tile 1 used", "tile 2 being filled"],
        ["tile 1 used", "tile 2 multiplied"], ["tile 1 used", "tile 2 used"],
    ]  # fmt: skip
