"""The scene as a figure: its frames, replayed, against what its panels say of each step."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from simulator import Recording, catalogue, compile_kernel, simulate
from simulator.recording.navigation import Granularity, boundaries
from tests.ui.lecture.lectures import record_view
from ui.analysis.scene_model import SceneModel, build_scene_model
from ui.drawing.look import Look
from ui.drawing.sheet import Panel
from ui.lecture.lecture_sheet import LectureSheet
from ui.scene import scene
from ui.view.presets import launch, source
from ui.view.view_url import View

MEGABYTE = 10**6
VIEWS = {
    "tiled": View(),
    "64x64": View(M=64, N=64, K=64, defines=(("TILE", 16),), block=(1, 2)),
    "long": View(M=64, N=64, K=64, defines=(("TILE", 2),)),
    "naive": View("naive", 8, 32, 4, ()),
    "ragged": View("tiled_double", 6, 7, 5, (("TILE", 4),), block=(1, 1), thread=(2, 1)),
    "no barrier": View(M=16, N=16, K=16, defines=(("TILE", 8),), edits=("first-barrier",),
                       schedule="ascending"),
    "4x4": View(M=4, N=4, K=4, defines=(("TILE", 2),)),
    "steps of 4": View("rows", K=11, defines=(("TILE", 8), ("DEPTH", 4), ("EACH", 4))),
    "registers": View("registers", K=4, defines=(("TILE", 8), ("DEPTH", 4), ("EACH", 2))),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", VIEWS)


def recorded(name: str) -> Recording:
    return record_view(VIEWS[name])


def focus(name: str) -> int:
    x, y = VIEWS[name].thread
    return x + y * recorded(name).launch.block[0]


def model(name: str) -> SceneModel:
    return build_scene_model(recorded(name), focus(name))


@functools.cache
def plain(name: str, steps: range | None = None) -> dict[str, Any]:
    return scene.arrange(model(name), Look()).plain(steps)


def panels(name: str) -> list[Panel]:
    return LectureSheet(model(name), Look()).panels


def pages(name: str) -> list[range]:
    """All pages of a recording, found from any of their steps."""
    ways, found = scene.navigation(recorded(name)), []
    while not found or found[-1].stop < ways["steps"]:
        found.append(scene.page(ways, found[-1].stop if found else 0))
    return found


def still(trace: dict[str, Any]) -> dict[str, Any]:
    """What of a trace no step changes."""
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in trace.items()
        if key != "text"
    }


def visible(shape: dict[str, Any]) -> dict[str, Any] | None:
    """What of a shape is to be seen: nothing where its path is empty, whatever its colour."""
    return None if shape["path"] == "M0,0Z" else shape


def replayed(figure: dict[str, Any]) -> list[list[list[str] | None]]:
    """The texts of every trace at each frame, the frames applied from the first one on."""
    texts = [trace.get("text") for trace in figure["data"]]
    states = []
    for frame in figure["frames"]:
        for trace, update in zip(frame["traces"], frame["data"], strict=True):
            texts[trace] = update["text"]
        states.append(list(texts))
    return states


@EACH
@pytest.mark.sample(4)
def test_a_title_begins_with_its_step(name: str) -> None:
    figure, steps = plain(name), recorded(name).steps
    frames = figure["frames"]
    assert [frame["name"] for frame in frames] == [str(n) for n in range(len(steps))]
    for step, frame in zip(steps, frames, strict=True):
        title = re.sub("</?b>", "", frame["layout"]["title"]["text"])
        assert title.startswith(f"Step {step.number + 1} of {len(steps)} · ")
        assert f"line {step.line}" in title
    assert figure["layout"]["title"]["text"] == frames[0]["layout"]["title"]["text"]


@EACH
@pytest.mark.sample(4)
def test_the_frames_one_after_another_say_what_the_panels_say(name: str) -> None:
    parts = panels(name)
    static = sum(len(part.static()) for part in parts)
    for step, texts in zip(recorded(name).steps, replayed(plain(name)), strict=True):
        expected = [trace["text"] for part in parts for trace in part.changing(step)]
        assert texts[static:] == expected, step.number


@EACH
@pytest.mark.sample(4)
def test_a_frames_shapes_are_those_of_the_panels(name: str) -> None:
    parts, figure = panels(name), plain(name)
    for step, frame in zip(recorded(name).steps, figure["frames"], strict=True):
        moved = zip(figure["layout"]["shapes"], frame["layout"]["shapes"], strict=True)
        drawn = [{**base, **change} for base, change in moved]
        assert drawn == [shape for part in parts for shape in part.shapes(step)], step.number


@EACH
@pytest.mark.sample(4)
def test_only_the_first_frame_is_whole(name: str) -> None:
    for steps in pages(name):
        figure = plain(name, steps)
        first, *others = figure["frames"]
        changing = {trace for frame in figure["frames"] for trace in frame["traces"]}
        assert set(first["traces"]) >= changing
        assert all(set(shape) == set(scene.SHAPE_ATTRIBUTES) for shape in first["layout"]["shapes"])
        before = first["layout"]["shapes"]
        texts = {trace: data["text"] for trace, data in
                 zip(first["traces"], first["data"], strict=True)}  # fmt: skip
        for frame in others:
            for trace, data in zip(frame["traces"], frame["data"], strict=True):
                assert data["text"] != texts[trace], "a text that does not change is not sent"
                texts[trace] = data["text"]
        moves = [
            {key for frame in others for key in frame["layout"]["shapes"][i]}
            for i in range(len(before))
        ]
        for i, keys in enumerate(moves):
            for key in keys:
                values = [before[i][key], *(one["layout"]["shapes"][i][key] for one in others)]
                assert any(value != values[0] for value in values), (i, key)


# The titles' segments after the step: the loops, then the line. An inner loop's k is of `inner`.
@pytest.mark.parametrize(
    ("name", "outer", "inner"),
    [
        ("tiled", {"", *(f"tile {t + 1} of 2 · t = {t}" for t in range(2))}, 4),
        ("registers", {"", "tile 1 of 1 · start = 0"}, 4),
        ("naive", {"", *(f"iteration {k + 1} of 4 · k = {k}" for k in range(4))}, 0),
        ("steps of 4", {"", *(f"tile {t + 1} of 3 · start = {4 * t}" for t in range(3))}, 4),
    ],
)
def test_a_title_counts_tiles_and_has_the_loops_variables(
    name: str, outer: set[str], inner: int
) -> None:
    frames = plain(name)["frames"]
    found = [frame["layout"]["title"]["text"].split(" · ")[1:-1] for frame in frames]
    assert {" · ".join(parts[:2]) for parts in found} == outer
    assert {parts[2] for parts in found if len(parts) > 2} == {f"k = {k}" for k in range(inner)}


@EACH
def test_navigation_is_the_steps_where_each_unit_begins(name: str) -> None:
    ways = scene.navigation(recorded(name))
    for way in set(Granularity) - {Granularity.STATEMENT}:
        assert tuple(ways[way]) == boundaries(recorded(name), way)
    assert ways["steps"] == len(recorded(name).steps)


@EACH
def test_pages_hold_each_step_once_and_are_neither_long_nor_many(name: str) -> None:
    found, steps = pages(name), len(recorded(name).steps)
    assert [n for page in found for n in page] == list(range(steps))
    assert all(len(page) <= scene.PAGE for page in found)
    assert all(len(page) >= scene.PAGE // 2 for page in found[:-1])
    ways = scene.navigation(recorded(name))
    assert all(scene.page(ways, n) == page for page in found for n in page)
    assert (len(found) > 1) == (steps > scene.PAGE)


def test_a_long_recordings_pages_begin_with_outer_iterations() -> None:
    outer = boundaries(recorded("long"), "outer")
    assert len(pages("long")) > 2
    assert all(page.start in outer for page in pages("long"))


def test_a_page_of_two_scenes_has_half_as_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "PAGE", 400)
    stops = {"steps": 500, "outer": [0], "inner": [0, 150]}
    assert [scene.page(stops, step, 2) for step in (0, 150, 499)] == [
        range(150), range(150, 350), range(350, 500),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stops", "expected"),
    [
        ({"steps": 1000, "outer": [0], "inner": [0]}, [0, 400, 800]),
        ({"steps": 1000, "outer": [0, 390, 410], "inner": [0, 395]}, [0, 390, 790]),
        ({"steps": 1000, "outer": [0, 100], "inner": [0, 100, 300, 650]}, [0, 300, 650]),
        ({"steps": 400, "outer": [0, 200], "inner": [0]}, [0]),
        ({"steps": 401, "outer": [0, 400], "inner": [0]}, [0, 400]),
        ({"steps": 0, "outer": [], "inner": []}, [0]),
    ],
)
def test_a_page_is_cut_where_the_largest_unit_begins_that_half_fills_it(
    stops: dict[str, Any], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene, "PAGE", 400)
    found = [scene.page(stops, start) for start in expected]
    assert [page.start for page in found] == expected
    assert [page.stop for page in found] == [*expected[1:], stops["steps"]]


@pytest.mark.parametrize(
    ("count", "step", "expected"),
    [
        (30, 29, range(30)),
        (31, 0, range(13)),
        (31, 9, range(6, 22)),
        (200, 62, range(59, 75)),
        (200, 199, range(196, 200)),
    ],
)
def test_a_figure_is_opened_with_some_steps_around_its_own(
    count: int, step: int, expected: range
) -> None:
    assert scene.first_steps({"steps": count, "outer": [0], "inner": [0]}, step) == expected


def test_a_page_shows_what_the_whole_recording_shows() -> None:
    whole = plain("long")
    states = replayed(whole)
    for page in pages("long"):
        figure = plain("long", page)
        assert figure["layout"]["meta"] == {**whole["layout"]["meta"], "first": page.start}
        assert figure["layout"]["title"] == {
            **whole["layout"]["title"],
            **whole["frames"][page.start]["layout"]["title"],
        }
        assert replayed(figure) == states[page.start : page.stop]
        assert [trace.get("text") for trace in figure["data"]] == states[page.start]
        for mine, theirs in zip(figure["frames"], whole["frames"][page.start :], strict=False):
            assert mine["name"] == theirs["name"]
            assert mine["layout"]["title"] == theirs["layout"]["title"]
            for pair in zip(
                figure["layout"]["shapes"], mine["layout"]["shapes"],
                whole["layout"]["shapes"], theirs["layout"]["shapes"], strict=True,
            ):  # fmt: skip
                assert visible(pair[0] | pair[1]) == visible(pair[2] | pair[3])


@EACH
@pytest.mark.sample(4)
def test_a_figure_can_show_another_pages_frames(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "PAGE", len(recorded(name).steps) // 2)
    first_page, *others = pages(name)
    assert others
    here = plain(name, first_page)
    for page in others:
        there = plain(name, page)
        assert [still(trace) for trace in here["data"]] == [still(one) for one in there["data"]]
        first = there["frames"][0]
        assert len(first["traces"]) == len(there["data"]) - first["traces"][0]
        for frame in there["frames"]:
            for one, other, whole, moved in zip(
                here["layout"]["shapes"], there["layout"]["shapes"],
                first["layout"]["shapes"], frame["layout"]["shapes"], strict=True,
            ):  # fmt: skip
                assert one | whole | moved == other | moved


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["ragged", "no barrier"])
@pytest.mark.sample(4)
def test_plotly_takes_every_frame_as_it_is(name: str, theme: str) -> None:
    view = VIEWS[name]
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    hazards = simulate(kernel, launch(view)).hazards
    tile = catalogue()[view.kernel].tile(**dict(view.defines))
    asked = build_scene_model(recorded(name), focus(name), tile, hazards), Look(theme)
    checked = json.loads(go.Figure(scene.arrange(*asked).plain(), skip_invalid=False).to_json())
    for frame in checked["frames"]:  # Plotly leaves out what is empty
        frame.setdefault("data", [])
        frame.setdefault("traces", [])
    sent = scene.Scene(scene.arrange(*asked).plain()).to_json()
    assert json.loads(sent) == checked
    assert any("⚠" in frame["layout"]["title"]["text"] for frame in checked["frames"]) == bool(
        hazards
    )


@EACH
@pytest.mark.sample(4)
def test_the_timeline_of_the_figure_covers_every_step(name: str) -> None:
    figure, count = plain(name), len(recorded(name).steps)
    area = figure["layout"]["meta"]["timeline"]
    for step, frame in zip(recorded(name).steps, figure["frames"], strict=True):
        mark = frame["layout"]["shapes"][-1]["path"]
        x = [float(text) for text in re.findall(r"[MH]([\d.]+)", mark)]
        middle = (min(x) + max(x)) / 2
        assert (middle - area["left"]) / (area["right"] - area["left"]) * count == pytest.approx(
            step.number + 0.5, abs=0.1
        )
        assert figure["layout"]["meta"]["tall"] is False
