"""Views at the edge of what can be asked for: every page of their figure is drawn."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from simulator import catalogue, compile_kernel, simulate
from simulator.machine.schedule import Schedule
from tests.ui.lecture.lectures import of_query, record_view
from ui.analysis.scene_model import build_scene_model
from ui.drawing.look import Look, Stage
from ui.scene import scene
from ui.view.presets import Preset, launch, presets, source
from ui.view.view_url import SCHEDULES, View, from_query
from ui.view.what_if import applicable_edits

PATH = re.compile(r"(?:[MLHVC]-?[\d.]+(?:,-?[\d.]+)*|Z)+")
SIZES = [(1, 1, 1), (5, 7, 1), (64, 1, 9), (1, 64, 3), (5, 7, 3), (2, 3, 16)]


def view_of(**query: Any) -> View:
    view, notices = from_query({name: str(value) for name, value in query.items()})
    assert not notices
    return view


def draw(view: View, look: Look) -> int:
    """Draw every page of a view's figure and check that it is one; returns the number of steps."""
    recording = record_view(view)
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    hazards = simulate(kernel, launch(view)).hazards if view.edits else ()
    tile = catalogue()[view.kernel].tile(**dict(view.defines))
    stops = scene.navigation(recording)
    thread = view.thread[0] + view.thread[1] * recording.launch.block[0]
    model = build_scene_model(recording, thread, tile, hazards)
    drawing, drawn = scene.arrange(model, look), 0
    while drawn < stops["steps"]:
        page = scene.page(stops, drawn)
        figure = drawing.plain(page)
        layout = figure["layout"]
        if look.width >= 700:
            assert (layout["width"], layout["height"]) == (look.width, look.height)
        assert len(figure["frames"]) == len(page)
        for frame in figure["frames"]:
            drawn += 1
            assert f"Step {drawn} of {stops['steps']}" in frame["layout"]["title"]["text"]
            assert frame["name"] == str(drawn - 1)
            for shape in frame["layout"]["shapes"]:
                assert PATH.fullmatch(shape.get("path", "Z")), shape
            for trace in frame["data"]:
                assert all(isinstance(text, str) and text for text in trace["text"])
                assert not any(re.search(r"\b(?:None|nan|inf)\b", text) for text in trace["text"])
        assert "NaN" not in json.dumps(layout)
    return drawn


def with_stages(cases: list[Any]) -> list[Any]:
    """Each case with a stage: none is pinned in every run, in a deep one they take turns."""
    pinned = itertools.cycle((None, *Stage))
    return [
        pytest.param(
            *case.values, next(pinned) if case.marks else None, id=case.id, marks=case.marks
        )
        for case in cases
    ]


def sizes() -> list[Any]:
    """Every kernel on matrices of odd sizes; a few of them in every run."""
    found = []
    for kernel, size in itertools.product(catalogue(), SIZES):
        few = kernel in ("naive", "tiled", "warptiles") and size in (SIZES[0], SIZES[1])
        found.append(pytest.param(
            kernel, *size, id=f"{kernel}-{'x'.join(map(str, size))}",
            marks=() if few else pytest.mark.deep,
        ))  # fmt: skip
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize(("kernel", "M", "N", "K", "stage"), with_stages(sizes()))
def test_every_kernel_on_matrices_of_odd_sizes(
    kernel: str, M: int, N: int, K: int, stage: Stage | None
) -> None:
    assert draw(view_of(kernel=kernel, M=M, N=N, K=K), Look(stage=stage)) > 0


CROWDED: list[dict[str, Any]] = [
    {"kernel": "tiled", "M": 5, "N": 7, "K": 3, "TILE": 32, "tx": 31, "ty": 31},
    {"kernel": "tiled_double", "M": 10, "N": 9, "K": 7, "TILE": 8, "bx": 1, "by": 1},
    {"kernel": "tiled", "M": 64, "N": 64, "K": 4, "TILE": 32, "inputs": "counting"},
    {"kernel": "naive", "M": 64, "N": 64, "K": 2, "inputs": "counting", "tx": 31, "ty": 7},
]
WINDOWS = [(1280, 720), (390, 844), (3840, 2160)]


def crowded() -> list[Any]:
    """Each view in each window, and with each stage pinned, in windows that take turns."""
    number = itertools.count()
    return [
        pytest.param(
            query, stage, *window,
            marks=() if stage is None and window == WINDOWS[0] else pytest.mark.deep,
            id=f"{query['kernel']}-{query['M']}-{stage}-{window[0]}",
        )
        for query in CROWDED
        for stage in (None, *Stage)
        for window in (WINDOWS if stage is None else [WINDOWS[next(number) % len(WINDOWS)]])
    ]  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize(("query", "stage", "width", "height"), crowded())
def test_large_tiles_double_and_long_numbers(
    query: dict[str, Any], stage: Stage | None, width: int, height: int
) -> None:
    assert draw(view_of(**query), Look(stage=stage, width=width, height=height)) > 0


def edited() -> list[Any]:
    """Every kernel with each of its edits; the first kernels in every run, the others if deep."""
    found = []
    for kernel, schedule in itertools.product(catalogue(), SCHEDULES):
        if kernel != "tiled" and schedule is not Schedule.ASCENDING:
            continue  # the order of warps shows in one kernel as in another
        view = view_of(kernel=kernel)
        for edit in ((), *((edit.key,) for edit in applicable_edits(source(view)))):
            few = kernel == "tiled" and schedule is not Schedule.DESCENDING
            key = "-".join((kernel, schedule, *edit))
            found.append(
                pytest.param(kernel, schedule, edit, id=key, marks=() if few else pytest.mark.deep)
            )
    return found


@pytest.mark.sample(5)
@pytest.mark.parametrize(("kernel", "schedule", "edits", "stage"), with_stages(edited()))
def test_every_edit_under_every_schedule(
    kernel: str, schedule: str, edits: tuple[str, ...], stage: Stage | None
) -> None:
    view = view_of(kernel=kernel, schedule=schedule, edits=".".join(edits) or "")
    assert draw(view, Look(stage=stage)) > 0


@pytest.mark.deep
@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
def test_every_preset(preset: Preset) -> None:
    assert draw(preset.view, Look(presenting=True)) > preset.view.step


def test_a_block_and_a_thread_beyond_the_matrices() -> None:
    lecture = of_query(kernel="tiled", M=5, N=5, K=5, TILE=4, bx=1, by=1, tx=3, ty=3)
    assert not lecture.steps[-1].active[lecture.model.thread]
    assert draw(view_of(kernel="tiled", M=5, N=5, K=5, TILE=4, bx=1, by=1, tx=3, ty=3), Look())


def test_a_thread_that_stores_beyond_c() -> None:
    query = {"kernel": "tiled", "M": 6, "N": 7, "K": 5, "TILE": 4, "edits": "bounds"}
    view = view_of(**query, bx=1, by=1, tx=3, ty=3)
    assert draw(view, Look(width=390, height=844)) > 0
