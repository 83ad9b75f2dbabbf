"""The scene as a figure: its frames, replayed, against what its panels say of each step."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from simulator import Recording, catalogue, compile_kernel, record, simulate
from simulator.recording.navigation import Granularity, boundaries
from ui import scene
from ui.palette import PALETTES
from ui.presets import launch, source
from ui.scene_model import build_scene_model
from ui.view_url import View

MEGABYTE = 10**6
VIEWS = {
    "tiled": View(),
    "4x4": View(M=4, N=4, K=4, defines=(("TILE", 2),)),
    "ragged": View("tiled_double", 6, 7, 5, (("TILE", 4),), block=(1, 1), thread=(2, 1)),
    "64x64": View(M=64, N=64, K=64, defines=(("TILE", 16),), block=(1, 2)),
    "naive": View("naive", 8, 32, 4, ()),
    "no barrier": View(M=16, N=16, K=16, defines=(("TILE", 8),), edits=("first-barrier",),
                       schedule="ascending"),
    "registers": View("registers", K=4, defines=(("TILE", 8), ("DEPTH", 4), ("EACH", 2))),
    "steps of 4": View("rows", K=11, defines=(("TILE", 8), ("DEPTH", 4), ("EACH", 4))),
    "long": View(M=64, N=64, K=64, defines=(("TILE", 2),)),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", VIEWS)


@functools.cache
def recorded(name: str) -> Recording:
    view = VIEWS[name]
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    return record(kernel, launch(view), (*view.block, 0), view.schedule)


def focus(name: str) -> int:
    x, y = VIEWS[name].thread
    return x + y * recorded(name).launch.block[0]


@functools.cache
def plain(name: str, steps: range | None = None) -> dict[str, Any]:
    return scene.plain(recorded(name), focus(name), steps=steps)


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
def test_a_title_begins_with_its_step(name: str) -> None:
    frames, steps = plain(name)["frames"], recorded(name).steps
    assert [frame["name"] for frame in frames] == [str(n) for n in range(len(steps))]
    for step, frame in zip(steps, frames, strict=True):
        said = re.sub("</?b>", "", frame["layout"]["title"]["text"])
        assert said.startswith(f"Step {step.number + 1} of {len(steps)} · ")
        assert f"line {step.line}" in said
    assert plain(name)["layout"]["title"]["text"] == frames[0]["layout"]["title"]["text"]


@EACH
def test_the_frames_one_after_another_say_what_the_panels_say(name: str) -> None:
    model = build_scene_model(recorded(name), focus(name))
    parts = scene.panels(model, PALETTES["light"])
    static = sum(len(part.static()) for part in parts)
    for step, texts in zip(recorded(name).steps, replayed(plain(name)), strict=True):
        told = [trace["text"] for part in parts for trace in part.changing(step)]
        assert texts[static:] == told, step.number


@EACH
def test_a_frames_shapes_are_those_of_the_panels(name: str) -> None:
    parts = scene.panels(build_scene_model(recorded(name), focus(name)), PALETTES["light"])
    figure = plain(name)
    for step, frame in zip(recorded(name).steps, figure["frames"], strict=True):
        moved = zip(figure["layout"]["shapes"], frame["layout"]["shapes"], strict=True)
        drawn = [{**base, **change} for base, change in moved]
        assert drawn == [shape for part in parts for shape in part.shapes(step)], step.number


@EACH
def test_each_slider_stop_holds_every_trace_that_changes(name: str) -> None:
    for steps in (None, *pages(name)):
        figure = plain(name, steps)
        frames = {frame["name"]: frame for frame in figure["frames"]}
        changing = {trace for frame in figure["frames"] for trace in frame["traces"]}
        [slider] = figure["layout"]["sliders"]
        stops = [stop["args"][0][0] for stop in slider["steps"]]
        assert stops[0] == figure["frames"][0]["name"]
        assert 0 < len(stops) <= scene.SLIDER_STOPS
        assert [stop["label"] for stop in slider["steps"]] == [str(int(at) + 1) for at in stops]
        assert all(set(frames[at]["traces"]) == changing for at in stops)


def test_the_slider_stops_at_outer_iterations_if_they_are_few() -> None:
    [slider] = plain("64x64")["layout"]["sliders"]
    stops = tuple(int(stop["args"][0][0]) for stop in slider["steps"])
    assert stops == boundaries(recorded("64x64"), "outer")
    assert len(stops) == 6  # before, four tiles, after


def test_the_slider_of_a_page_within_one_outer_iteration_stops_evenly() -> None:
    assert scene.slider_stops([0, 600], range(250, 500)) == [250, 333, 416, 499]
    assert scene.slider_stops([0], range(1)) == [0]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("tiled", {"", "outer tile 1 of 2 (t = 0)", "outer tile 2 of 2 (t = 1)"}),
        ("registers", {"", "outer tile 1 of 1 (start = 0)"}),
        ("naive", {"", *(f"loop {k + 1} of 4 (k = {k})" for k in range(4))}),
        ("steps of 4", {"", *(f"outer tile {t + 1} of 3 (start = {4 * t})" for t in range(3))}),
    ],
)
def test_a_title_counts_iterations_and_tells_the_loops_variable(
    name: str, titles: set[str]
) -> None:
    found = [frame["layout"]["title"]["text"].split(" · ")[1:-1] for frame in plain(name)["frames"]]
    assert {parts[0] if parts else "" for parts in found} == titles
    inner = {parts[1] for parts in found if len(parts) > 1}
    expected = {"naive": 0, "registers": 4, "steps of 4": 4, "tiled": 4}[name]
    assert inner == {f"inner {k + 1} of {expected} (k = {k})" for k in range(expected)}


@EACH
def test_navigation_is_the_steps_where_each_unit_begins(name: str) -> None:
    ways = scene.navigation(recorded(name))
    for way in list(Granularity)[1:]:
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
    assert len(pages("long")) == 3
    assert all(page.start in outer for page in pages("long"))


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


def test_a_page_shows_what_the_whole_recording_shows() -> None:
    whole = plain("long")
    states = replayed(whole)
    for page in pages("long"):
        figure = plain("long", page)
        assert figure["layout"]["meta"] == {"first": page.start}
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
                assert pair[0] | pair[1] == pair[2] | pair[3]


@EACH
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


@EACH
def test_what_is_sent_is_under_a_megabyte(name: str) -> None:
    for page in pages(name):
        sent = scene.figure(recorded(name), focus(name), steps=page).to_json()
        assert len(sent.encode()) < MEGABYTE, page
        assert json.loads(sent)["frames"][0]["name"] == str(page.start)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["ragged", "no barrier"])
def test_plotly_takes_every_frame_as_it_is(name: str, theme: str) -> None:
    view = VIEWS[name]
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    hazards = simulate(kernel, launch(view)).hazards
    tile = catalogue()[view.kernel].tile(**dict(view.defines))
    asked = (recorded(name), focus(name), theme, tile, hazards)
    checked = json.loads(go.Figure(scene.plain(*asked), skip_invalid=False).to_json())
    for frame in checked["frames"]:  # Plotly leaves out what is empty
        frame.setdefault("data", [])
        frame.setdefault("traces", [])
    sent = scene.figure(*asked).to_json()
    assert json.loads(sent) == checked
    assert any("⚠" in frame["layout"]["title"]["text"] for frame in checked["frames"]) == bool(
        hazards
    )
