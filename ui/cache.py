"""What a view is computed into: its kernel, recording, counters and scene, kept between runs."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st
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
from ui.view_url import View

# Animations are built one at a time, each takes a processor for seconds, and in one thread: the C
# library keeps the freed memory of each thread apart, tens of megabytes for every one that built.
EXPORTER = ThreadPoolExecutor(1, "animation")
COMING: dict[tuple[View, str], Future[io.BytesIO]] = {}  # asked for and not yet there
COMING_LOCK = threading.Lock()


@st.cache_resource(max_entries=32, show_spinner=False)
def compiled(text: str, name: str, file: str) -> Kernel:
    """A kernel's text as the simulator runs it."""
    return compile_kernel(text, name, filename=file)


def kernel_of(view: View) -> Kernel:
    """The view's kernel with its macros set and its edits made."""
    entry = catalogue()[view.kernel]
    return compiled(presets.source(view), entry.kernel, entry.file)


def ran(view: View) -> View:
    """The part of a view that decides what is recorded."""
    return replace(view, thread=(0, 0), step=0)


def recorded(view: View) -> Recording:
    """The chosen block, every step of it. SourceError and LaunchError are for the page to say."""
    found = tried(view)
    if isinstance(found, Recording):
        return found
    raise found.with_traceback(None)  # or each time would add to the last one's


@st.cache_resource(max_entries=16, show_spinner="Running the kernel…")
def tried(view: View) -> Recording | SourceError | LaunchError:
    """The same, or why there is none: what failed once would fail again, and as late."""
    try:
        return record(kernel_of(view), presets.launch(view), (*view.block, 0), view.schedule)
    except (SourceError, LaunchError) as error:
        return error.with_traceback(None)  # which holds all that was recorded so far


@st.cache_resource(max_entries=16, show_spinner=False)
def reported(view: View) -> Report:
    """Counters and hazards of the whole launch, for report_of."""
    return simulate(kernel_of(view), presets.launch(view))


def report_of(view: View) -> Report:
    """Counters and hazards of a view's launch, one for all its blocks and schedules."""
    return reported(replace(ran(view), block=(0, 0), schedule=Schedule.LOCKSTEP))


@st.cache_resource(max_entries=16, show_spinner=False)
def navigated(view: View) -> Mapping[str, Any]:
    """What the keys need to know of a recording."""
    return scene.navigation(recorded(view))


@st.cache_resource(max_entries=16, show_spinner=False)
def drawn(view: View, theme: str, first: int, end: int) -> go.Figure:
    """The scene from one step to before another, for figure_of."""
    recording = recorded(ran(view))
    tile = catalogue()[view.kernel].tile(**dict(view.defines))
    hazards = report_of(view).hazards
    thread = ravel((*view.thread, 0), recording.launch.block)
    figure = scene.figure(recording, thread, theme, tile, hazards, range(first, end))
    figure.layout.meta |= {"scene": named(view, theme)}
    return figure


def figure_of(view: View, theme: str, steps: range) -> go.Figure:
    """The scene of a view at some steps, one for all steps at which it may stand."""
    return drawn(replace(view, step=0), theme, steps.start, steps.stop)


def animation(view: View, theme: str) -> io.BytesIO:
    """The scene of a view, every step of it, as one HTML file in UTF-8.

    It is written frame by frame, one file at a time, and no cache holds it. Visitors who ask for
    the same one while it is on its way share it: a browser gives up after three minutes.
    """
    wanted = (replace(view, step=0), theme)
    with COMING_LOCK:
        file = COMING.get(wanted)
        if file is None:
            file = COMING[wanted] = EXPORTER.submit(_animation, *wanted)
    try:
        return file.result()
    finally:
        with COMING_LOCK:
            if COMING.get(wanted) is file:
                del COMING[wanted]


def _animation(view: View, theme: str) -> io.BytesIO:
    free_downloads()
    recording, entry = recorded(ran(view)), catalogue()[view.kernel]
    figure = scene.streamed(
        recording, ravel((*view.thread, 0), recording.launch.block), theme,
        entry.tile(**dict(view.defines)), report_of(view).hazards,
    )  # fmt: skip
    figure.layout.meta |= {"scene": named(view, theme)}
    file = io.BytesIO()
    for piece in export.html(figure, navigated(ran(view)), entry.title):
        file.write(piece.encode())
    return file


def free_downloads() -> None:
    """Let go of files that were downloaded before.

    Streamlit holds a file that was made on demand until scripts have ended twice after it, which
    they do not while visitors only download. It asks at each end, as here, what nobody needs.
    """
    if runtime.exists():
        runtime.get_instance().media_file_mgr.remove_orphaned_files()


def named(view: View, theme: str) -> str:
    """What tells one figure from another."""
    return hashlib.sha256(repr((replace(view, step=0), theme)).encode()).hexdigest()[:16]
