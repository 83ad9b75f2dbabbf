"""Caches of what a view is computed into: its kernel, recording, report and scene."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import streamlit as st
from plotly.io.json import to_json_plotly
from streamlit import runtime

from simulator import (
    Kernel,
    LaunchError,
    Recording,
    Report,
    SourceError,
    catalogue,
    compile_kernel,
    record,
    simulate,
)
from simulator.launch import ravel
from simulator.machine.schedule import Schedule
from ui import export, presets, scene
from ui.look import Look
from ui.packed_frames import pack_frames
from ui.pairs import Pair, align, pair_navigation, pair_of_step
from ui.partner import side_names, side_views
from ui.right_values import RightValues
from ui.scene_model import SceneModel, build_scene_model
from ui.view_url import DEFAULT, View
from ui.what_if import without_faults
from ui.wrong_access import find_wrong_access

# Animations are built in a single thread. Each occupies a processor for seconds, and the C library
# does not share freed memory between threads: each further thread would occupy tens of megabytes.
EXPORTER = ThreadPoolExecutor(1, "animation")
PENDING: dict[tuple[View, Look], Future[io.BytesIO]] = {}  # submitted and not yet delivered
PENDING_LOCK = threading.Lock()

SIMULATE_SECONDS = 10.0  # that a launch may take: a visitor waits no longer for its report


@st.cache_resource(max_entries=32, show_spinner=False)
def _cached_compile(text: str, name: str, file: str) -> Kernel:
    """Compile a kernel's source for the simulator."""
    return compile_kernel(text, name, filename=file)


def load_kernel(view: View) -> Kernel:
    """Compile the view's kernel, its macros defined and its edits applied."""
    entry = catalogue()[view.kernel]
    return _cached_compile(presets.source(view), entry.kernel, entry.file)


def recording_key(view: View) -> View:
    """The view with all fields reset that do not change its recording."""
    return replace(view, thread=(0, 0), step=0, sheet=DEFAULT.sheet, stage=None, partner=None)


def load_sides(view: View) -> tuple[View, ...]:
    """The views that a scene shows beside each other, none with a partner: one or two.

    Raises SourceError or LaunchError, as load_recording.
    """
    return (view,) if view.partner is None else _cached_sides(_figure_key(view))


@st.cache_resource(max_entries=32, show_spinner=False)
def _cached_sides(view: View) -> tuple[View, View]:
    return side_views(view, lambda side: load_recording(recording_key(side)))


def load_pairs(view: View) -> tuple[Pair, ...]:
    """The pairs of steps of a view with a partner, which are its scene's steps."""
    return _cached_pairs(*map(recording_key, load_sides(view)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _cached_pairs(left: View, right: View) -> tuple[Pair, ...]:
    return align(load_recording(left), load_recording(right))


def step_of_side(view: View, side: int) -> int:
    """The step that a side, 0 or 1, is at, at the scene's step of a view, or at the last."""
    if view.partner is None:
        return min(view.step, len(load_recording(recording_key(view)).steps) - 1)
    pairs = load_pairs(view)
    return pairs[min(view.step, len(pairs) - 1)].sides[side].number


def scene_step(view: View, step: int, side: int = 0) -> int:
    """The scene's step at which a side of a view comes to a step of its own."""
    return step if view.partner is None else pair_of_step(load_pairs(view), side, step)


def load_recording(view: View) -> Recording:
    """Record every step of the view's block; the view is a recording_key.

    Raises SourceError or LaunchError, whose sentence the page shows.
    """
    result = _cached_record(view)
    if isinstance(result, Recording):
        return result
    raise result.with_traceback(None)  # else each raise would extend the traceback


@st.cache_resource(max_entries=16, show_spinner="Running the kernel…")
def _cached_record(view: View) -> Recording | SourceError | LaunchError:
    """Record, or return the error, so that a failed run is cached too."""
    try:
        return record(load_kernel(view), presets.launch(view), (*view.block, 0), view.schedule)
    except (SourceError, LaunchError) as error:
        return error.with_traceback(None)  # a traceback refers to all that was recorded


@st.cache_resource(max_entries=16, show_spinner=False)
def _cached_simulate(view: View) -> Report:
    """Simulate the whole launch, for load_report."""
    return simulate(load_kernel(view), presets.launch(view), seconds=SIMULATE_SECONDS)


def load_report(view: View) -> Report:
    """Counters and hazards of a view's launch, shared by all its blocks and schedules."""
    return _cached_simulate(replace(recording_key(view), block=(0, 0), schedule=Schedule.LOCKSTEP))


def load_navigation(view: View) -> Mapping[str, Any]:
    """The navigation of a view's scene, for the toolbar."""
    return _cached_navigation(*map(recording_key, load_sides(view)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _cached_navigation(*sides: View) -> Mapping[str, Any]:
    recordings = [load_recording(side) for side in sides]
    if len(sides) == 1:
        return scene.navigation(recordings[0])
    return pair_navigation(recordings[0], recordings[1], _cached_pairs(*sides))


@st.cache_resource(max_entries=32, show_spinner=False)
def _cached_figure(view: View, look: Look, first: int, end: int) -> bytes:
    """Draw the scene of steps first to end - 1, for load_figure: JSON, with its frames packed."""
    figure = _draw(view, look, range(first, end))
    picture = _to_json({name: figure[name] for name in ("data", "layout")})
    return picture[:-1] + b',"frames":' + pack_frames(figure["frames"]).encode() + b"}"


def _draw(view: View, look: Look, steps: range) -> dict[str, Any]:
    """Draw the scene of a view at some steps: "data", "layout", "frames"."""
    figure = load_drawing(view, look).plain(steps)
    figure["layout"]["meta"]["scene"] = figure_id(view, look)
    return figure


def load_drawing(view: View, look: Look) -> scene.Drawing[Any]:
    """Arrange the scene of a view, in the look that its page has."""
    return _cached_drawing(_figure_key(view), look)


@st.cache_resource(max_entries=16, show_spinner=False)
def _cached_drawing(view: View, look: Look) -> scene.Drawing[Any]:
    if view.partner is None:
        return scene.arrange(_build_model(view), look)
    left, right = load_sides(view)
    models = _build_model(left), _build_model(right)
    return scene.arrange_pair(models, side_names(left, right), load_pairs(view), look)


def _build_model(side: View) -> SceneModel:
    """The model of a view without a partner."""
    recording = load_recording(recording_key(side))
    tile = catalogue()[side.kernel].tile(**dict(side.defines))
    thread = ravel((*side.thread, 0), recording.launch.block)
    hazards = load_report(side).hazards
    return build_scene_model(
        recording, thread, tile, hazards, presets.changes(side), _load_right(side)
    )


def _load_right(view: View) -> Recording | None:
    """The recording of a view without the faults of its what-ifs; None if it has none."""
    edits = without_faults(view.edits)
    if edits == view.edits:
        return None
    try:
        return load_recording(recording_key(replace(view, edits=edits)))
    except (SourceError, LaunchError):
        return None


@st.cache_resource(max_entries=32, show_spinner=False)
def find_hazard(
    view: View, lines: tuple[int, ...], iterations: tuple[int, ...], is_shown: bool
) -> int:
    """The step at which the view's thread meets a hazard of some lines.

    Of one that is_shown by a witness it is the first at which the thread reads a wrong value, else
    the first in some iterations of its loops, else the first at all; 0 if there is none.
    """
    recording, right = load_recording(recording_key(view)), _load_right(view)
    thread = ravel((*view.thread, 0), recording.launch.block)
    met = [step for step in recording.steps if step.line in lines and step.active[thread]]
    if is_shown and right is not None:
        values = RightValues(recording, right)
        for step in met:
            wrong = find_wrong_access(recording, values, step, thread)
            if wrong is not None and not wrong.is_harmless:
                return step.number
    there = [step for step in met if tuple(one.iteration for one in step.loops) == iterations]
    return next((step.number for step in (*there, *met)), 0)


def load_figure(view: View, look: Look, steps: range) -> bytes:
    """Draw the scene of a view at some steps, as JSON; it does not depend on view.step.

    The look has the view's sheet and stage.
    """
    return _cached_figure(_figure_key(view), look, steps.start, steps.stop)


@st.cache_resource(max_entries=16, show_spinner=False)
def _cached_frames(view: View, look: Look, first: int, end: int) -> bytes:
    """Draw the frames of steps first to end - 1, for load_frames."""
    return pack_frames(_draw(view, look, range(first, end))["frames"]).encode()


def load_frames(view: View, look: Look, steps: range) -> bytes:
    """Draw the frames of a view's scene at some steps, as packed_frames has them."""
    return _cached_frames(_figure_key(view), look, steps.start, steps.stop)


def _to_json(plain: Any) -> bytes:
    text: str = to_json_plotly(plain, engine="json")
    return text.encode()


def _figure_key(view: View) -> View:
    """The view with all fields reset that do not change its figure, or that the look has."""
    return replace(view, step=0, sheet=DEFAULT.sheet, stage=None)


def build_animation(view: View, look: Look) -> io.BytesIO:
    """Build the scene of a view, with every step, as an HTML file in UTF-8.

    Files are built one at a time, frame by frame, and are not cached. Visitors who request the same
    file while it is being built share it: a browser gives up after three minutes.
    """
    request = (_figure_key(view), look)
    with PENDING_LOCK:
        future = PENDING.get(request)
        if future is None:
            future = PENDING[request] = EXPORTER.submit(_build_animation, *request)
    try:
        return future.result()
    finally:
        with PENDING_LOCK:
            if PENDING.get(request) is future:
                del PENDING[request]


def _build_animation(view: View, look: Look) -> io.BytesIO:
    release_downloads()
    title = " | ".join(catalogue()[side.kernel].title for side in load_sides(view))
    figure = load_drawing(view, look).streamed()
    figure.layout.meta |= {"scene": figure_id(view, look)}
    file = io.BytesIO()
    for piece in export.html(figure, load_navigation(view), title):
        file.write(piece.encode())
    return file


def release_downloads() -> None:
    """Free the memory of files that were downloaded before.

    Streamlit keeps a file that was made on demand until two script runs have ended after it, and
    downloads do not run the script. This calls what Streamlit calls when a script run ends.
    """
    if runtime.exists():
        runtime.get_instance().media_file_mgr.remove_orphaned_files()


def figure_id(view: View, look: Look) -> str:
    """An identifier of a view's figure: 16 hexadecimal digits, the same for all steps."""
    return hashlib.sha256(repr((_figure_key(view), look)).encode()).hexdigest()[:16]
