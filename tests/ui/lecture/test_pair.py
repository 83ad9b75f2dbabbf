"""Two scenes beside each other: what each side shows, what is marked, and what can be clicked."""

from __future__ import annotations

import functools
import html
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from simulator import Recording, catalogue, narrate
from simulator.launch import ravel
from tests.ui.lecture.lectures import record_view
from tests.ui.scene_models import boxes
from ui.analysis.costs import add_up_costs
from ui.analysis.loads import global_loads
from ui.analysis.pairs import Pair, align
from ui.analysis.scene_model import SceneModel, build_scene_model, stored_cell
from ui.drawing.look import Look
from ui.drawing.palette import LIGHT
from ui.lecture.counts import NAMES
from ui.lecture.letters import letters_for_pair, text_width
from ui.lecture.pair_layout import areas_for_pair
from ui.lecture.pair_sheet import OfSide, PairSheet
from ui.lecture.places import PlacesPanel
from ui.run.side_by_side import side_names, side_views
from ui.scene import scene
from ui.view.presets import changes, presets
from ui.view.view_url import View, from_query

PRESETS = {preset.name: preset.view for preset in presets() if preset.view.comparison is not None}
LOOKS = {"page": Look(width=1240, height=560), "phone": Look(width=374, height=700)}


def record_side(side: View) -> Recording:
    return record_view(replace(side, step=0, thread=(0, 0)))


def model_of(side: View) -> SceneModel:
    recording = record_side(side)
    thread = ravel((*side.thread, 0), recording.launch.block)
    tile = catalogue()[side.kernel].tile(**dict(side.defines))
    return build_scene_model(recording, thread, tile, (), changes(side))


@functools.cache
def drawn(view: View, look: Look = LOOKS["page"]) -> tuple[Any, tuple[SceneModel, SceneModel]]:
    left, right = side_views(view, record_side)
    models = model_of(left), model_of(right)
    pairs = align(*(model.recording for model in models))
    return scene.arrange_pair(models, side_names(left, right), pairs, look), models


def texts(drawing: Any, pair: Pair, meta: str) -> list[list[str]]:
    """The texts of each trace with a meta."""
    return [
        [text for text in trace["text"] if text.strip()]
        for trace in drawing.changing(pair)
        if trace.get("meta") == meta
    ]


def plain(text: str) -> str:
    return html.unescape(text.replace("<b>", "").replace("</b>", ""))


def some(pairs: tuple[Pair, ...], count: int = 12) -> list[Pair]:
    return [pairs[i] for i in np.linspace(0, len(pairs) - 1, count).astype(int)]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.sample(2)
def test_each_side_says_what_its_own_thread_does(name: str) -> None:
    drawing, models = drawn(PRESETS[name])
    for pair in some(drawing.steps):
        said = texts(drawing, pair, "sentence")
        values = texts(drawing, pair, "values")
        for side, model in enumerate(models):
            wordings = narrate.spoken(model.recording, pair.sides[side], model.thread)
            spoken = plain(" ".join(said[side][1:]))
            is_unordered = "⚠" in spoken
            assert spoken in wordings or is_unordered
            of_line = narrate.values(model.recording, pair.sides[side], model.thread)
            shown = plain(" ".join(values[side]))
            assert any(shown.replace(" ", "") == one.replace(" ", "") for one in (*of_line, ""))
            assert len(said[side]) > 1, "no sentence is left out"


@pytest.mark.parametrize("name", PRESETS)
def test_the_focused_threads_are_those_of_one_cell(name: str) -> None:
    _, models = drawn(PRESETS[name])
    left, right = (stored_cell(model.recording, model.thread) for model in models)
    assert left == right is not None


@pytest.mark.parametrize("name", PRESETS)
def test_counts_are_the_blocks_and_those_that_differ_are_marked(name: str) -> None:
    drawing, models = drawn(PRESETS[name])
    counts = [add_up_costs(model.recording) for model in models]
    loads = [global_loads(model, model.thread) for model in models]
    for pair in some(drawing.steps):
        expected = []
        for side, step in enumerate(pair.sides):
            costs, n = counts[side], step.number
            columns = (costs.multiply_adds, costs.sectors, costs.wavefronts, costs.waits)
            expected.append((*(int(column[n]) for column in columns), loads[side][n]))
        shown = [plain(text) for text in texts(drawing, pair, "numbers")[-1]]
        rows = shown[: len(NAMES)], shown[len(NAMES) :]
        for row, own, other in zip(rows, expected, expected[::-1], strict=True):
            assert row == [
                f"{'≠ ' if mine != its else ''}{mine:,}"
                for mine, its in zip(own, other, strict=True)
            ]


@pytest.mark.parametrize("look", LOOKS)
def test_a_scene_beside_itself_has_no_difference(look: str) -> None:
    view, _ = from_query({"with": "tiled"})
    drawing, _ = drawn(view, LOOKS[look])
    for pair in drawing.steps:
        assert pair.moves == (True, True)
        every = [text for trace in drawing.changing(pair) for text in trace["text"]]
        assert not any("≠" in text for text in every)
        assert marked(drawing, pair) == 0


def marked(drawing: Any, pair: Pair) -> int:
    """How many values are marked as others than the other side's."""
    bars = [shape for shape in drawing.shapes(pair) if shape["fillcolor"] == LIGHT.keyword]
    return sum(len(boxes(shape["path"])) for shape in bars if shape["path"] != "M0,0Z")


def test_a_value_that_differs_is_marked_on_both_sides() -> None:
    view = PRESETS["With | without the second barrier"]
    drawing, models = drawn(view)
    pair = drawing.steps[view.step]
    numbers = texts(drawing, pair, "numbers")
    assert "35" in numbers[2]  # the left thread's sum
    sums = [step.registers["acc"][model.thread] for step, model in
            zip(pair.sides, models, strict=True)]  # fmt: skip
    assert sums == [35, 14]
    acc = [step.registers["acc"].reshape(8, 8) for step in pair.sides]
    values = {name: [step.shared[name] for step in pair.sides] for name in ("As", "Bs")}
    differ = 0
    board = next(one for one in drawing.sheet._on_stage[0] if one.is_shown(pair.sides[0]))
    for window, content in board.windows(pair.sides[0]):
        (row, column), (left, right) = content.start, values.get(content.array.name, acc)
        rows, columns = slice(row, row + window.cells.rows), slice(
            column, column + window.cells.columns
        )  # fmt: skip
        differ += int((left != right)[rows, columns].sum())
    assert marked(drawing, pair) == 2 * differ > 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", PRESETS)
def test_a_side_that_waits_says_so(name: str) -> None:
    drawing, _ = drawn(PRESETS[name])
    left, right = side_names(*side_views(PRESETS[name], record_side))
    for pair in drawing.steps:
        title = plain(drawing.sheet.title(pair))
        headings = [
            plain(text) for trace in drawing.changing(pair) for text in trace["text"]
            if text.startswith(f"<b>{right}</b>")
        ]  # fmt: skip
        assert title.startswith(f"Step {pair.number + 1} of {len(drawing.steps)} · {left}")
        assert [" · waits" in text for text in (title, *headings[-1:])] == [
            not moves for moves in pair.moves
        ]


@pytest.mark.parametrize("name", ["Naive | tiled", "A race in both orders of its warps"])
def test_the_timeline_has_a_column_for_each_pair_and_paper_where_a_side_waits(name: str) -> None:
    drawing, models = drawn(PRESETS[name])
    rows = [trace for trace in drawing.static() if trace["type"] == "heatmap"]
    assert len(rows) == 4, "the iterations and the phases of both sides"
    for side, row in enumerate(rows[1::2]):
        (columns,) = row["z"].tolist()
        waits = [column == 0 for column in columns]
        assert waits == [not pair.moves[side] for pair in drawing.steps]
        assert len({column for column in columns if column}) == len({*models[side].phases})


@pytest.mark.parametrize("look", LOOKS)
def test_the_figure_is_one_that_plotly_draws(look: str) -> None:
    drawing, _ = drawn(PRESETS["Naive | tiled"], LOOKS[look])
    figure = drawing.plain(range(20, 30))
    assert [frame["name"] for frame in figure["frames"]] == [str(n) for n in range(20, 30)]
    count = len(figure["layout"]["shapes"])
    assert all(len(frame["layout"]["shapes"]) == count for frame in figure["frames"])
    go.Figure(figure, skip_invalid=False)


def test_a_click_says_on_which_side_it_is() -> None:
    drawing, _ = drawn(PRESETS["Naive | tiled"])
    view, sheet = PRESETS["Naive | tiled"], drawing.sheet
    assert isinstance(sheet, PairSheet)
    for side, areas in enumerate(sheet.areas.sides):
        hit = drawing.hit(view.step, areas.source.left + 40, areas.source.top + 4)
        assert (hit.name, hit.side) == ("line", side)
        assert hit.index == drawing.steps[view.step].sides[side].line


def test_the_sources_mark_the_lines_that_the_other_does_not_have() -> None:
    view = PRESETS["With | without the second barrier"]
    drawing, models = drawn(view)
    kernel = models[0].recording.kernel.text.split("\n")
    pair = next(
        one for one in drawing.steps
        if one.sides[0].line - 1 > kernel.index("        __syncthreads();")
        and "__syncthreads();" in kernel[one.sides[0].line - 1]
    )  # fmt: skip
    lines = texts(drawing, pair, "source")
    signs = [[text for text in layer if text.startswith("≠")] for layer in lines]
    texts_of = [model.recording.kernel.text for model in models]
    assert [text.count("__syncthreads();\n") for text in texts_of] == [2, 1]
    assert sum(map(len, signs)) == 1, "the left side has one barrier more"
    assert not any(text.startswith(("-", "+")) for layer in lines for text in layer)


def test_what_a_gpu_took_is_not_said_of_a_kernel_with_a_what_if() -> None:
    view, _ = from_query({"edits": "pad", "with": "tiled", "stage": "costs"})
    drawing, _ = drawn(view, replace(LOOKS["page"], stage=view.stage))
    every = [text for trace in drawing.changing(drawing.steps[0]) for text in trace["text"]]
    assert sum("NVIDIA" in text for text in every) == 1, "of the right side's, which has none"


@pytest.mark.parametrize("room", [(840, 480), (853, 480), (1240, 560), (374, 700)])
def test_the_names_of_the_counts_do_not_run_into_each_other(room: tuple[int, int]) -> None:
    look = Look(width=room[0], height=room[1])
    drawing, _ = drawn(PRESETS["Naive | tiled"], look)
    small = letters_for_pair(look).small
    [names] = [trace for trace in drawing.static() if "multiply-adds" in trace.get("text", ())]
    places = sorted(zip(names["y"], names["x"], names["text"], strict=True))
    for (y, x, name), (after_y, after_x, _) in itertools.pairwise(places):
        assert after_y > y or after_x >= x + text_width(name, small)


@pytest.mark.parametrize("look", [*LOOKS.values(), Look(presenting=True)])
def test_both_sides_show_what_crosses_and_the_same_bar_for_as_many_loads(look: Look) -> None:
    view = PRESETS["Naive | tiled"]
    drawing, models = drawn(view, look)
    pair = drawing.steps[view.step]
    naive, tiled = drawing.sheet._crossings
    *_, far, _, loads, _ = naive[0].shapes(pair.sides[0])
    assert "C" in far["path"], "each reader goes to global memory"
    assert "C" in loads["path"]
    *_, far, _, loads, _ = tiled[0].shapes(pair.sides[1])
    assert far["path"] == loads["path"] == "M0,0Z"
    full = []
    for side, places in enumerate(places_of(drawing)):
        [(whole, bar, _)] = places._bars(pair.sides[side])
        loads = global_loads(models[side])[pair.sides[side].number]
        full.append(whole.width * loads / bar.width)
    assert full == pytest.approx([max(global_loads(model)[-1] for model in models)] * 2)


def places_of(drawing: Any) -> list[PlacesPanel]:
    panels = [one._panel for one in drawing.sheet.panels if isinstance(one, OfSide)]
    return [one for one in panels if isinstance(one, PlacesPanel)]


def test_the_words_above_a_bar_are_no_wider_than_it() -> None:
    """On a page of two scenes B's name begins right of them."""
    drawing, _ = drawn(from_query({"M": "9", "N": "9", "TILE": "8", "with": "uncoalesced"})[0])
    for pair in drawing.steps:
        for places, step in zip(places_of(drawing), pair.sides, strict=True):
            [(whole, _, text)] = places._bars(step)
            assert text_width(text, places._size) <= whole.width, text


@pytest.mark.parametrize("room", [(840, 340), (840, 480), (1000, 420), (1240, 560)])
def test_a_low_room_has_the_arrays_above_the_source(room: tuple[int, int]) -> None:
    look = Look(width=room[0], height=room[1])
    letters = letters_for_pair(look)
    for side in areas_for_pair(look).sides:
        assert side.stage.height >= 4 * 1.7 * letters.name, "two names, two rows"
        assert side.stage.bottom < side.source.top < side.sentence.top < side.ledger.top + 1
