"""The animation that the Step page offers: built in little memory, one at a time, not kept."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager

from simulator import compile_kernel, record
from tests.ui.apps import app_at, checked, visited
from tests.ui.caches import forget
from ui.analysis.scene_model import build_scene_model
from ui.drawing.look import Look
from ui.scene import export, scene
from ui.view.presets import launch, source
from ui.view.view_url import View, to_query

ROOT = Path(__file__).resolve().parents[2]
LONG = View("uncoalesced", 32, 8, 32, (), schedule="ascending")
LONG_STEPS = 824
MB = 1_000_000
PEAK = 32 * MB  # the file, Plotly's library as it is read, and what is known of all steps
KEPT = 4 * MB  # what warps request at each step, letters' widths; the file alone takes over 5
FRAMES_PEAK = 8 * MB  # all frames at once take 18

Build = Callable[[], Any]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[View], Build]]:
    """What the page gives the download button to call, by the view that is shown."""
    found: list[Build] = []

    def add(_: MediaFileManager, build: Build, media_type: str, *__: Any, **___: Any) -> str:
        if media_type == "text/html":
            found.append(build)
        return "file"

    def shown(view: View) -> Build:
        monkeypatch.setattr(MediaFileManager, "add_deferred", add)
        checked(visited(app_at("step"), to_query(view)))
        return found[-1]

    forget()
    yield shown
    forget()


def size(file: Any) -> int:
    content = file.getvalue() if isinstance(file, BytesIO) else file.encode()
    return len(content)


@pytest.mark.deep
def test_an_animation_takes_little_memory_and_leaves_none_behind(
    offered: Callable[[View], Build],
) -> None:
    offered(View())()  # so that all is imported
    build = offered(LONG)
    gc.collect()
    tracemalloc.start()
    try:
        file = build()
        _, peak = tracemalloc.get_traced_memory()
        assert size(file) > 5 * MB
        del file
        gc.collect()
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < PEAK
    assert left < KEPT


@pytest.mark.deep
def test_frames_come_one_after_another() -> None:
    kernel = compile_kernel(source(LONG), LONG.kernel)
    recording = record(kernel, launch(LONG), schedule=LONG.schedule)
    assert len(recording.steps) == LONG_STEPS
    tracemalloc.start()
    try:
        drawing = scene.arrange(build_scene_model(recording, 0), Look())
        count = sum(1 for _ in drawing.streamed().to_dict()["frames"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == LONG_STEPS
    assert peak < FRAMES_PEAK


class Building:
    """Stands for export.html: counts how many files are built, and how many at once."""

    def __init__(self) -> None:
        self.count = self.together = self.most = 0
        self._lock = threading.Lock()
        self._overlap = threading.Event()

    def html(self, *_: Any) -> Iterator[str]:
        with self._lock:
            self.count += 1
            self.together += 1
            self.most = max(self.most, self.together)
            if self.together > 1:
                self._overlap.set()
        self._overlap.wait(0.2)  # for another to come in between
        yield "a file"
        with self._lock:
            self.together -= 1


@pytest.mark.deep
@pytest.mark.parametrize(("alike", "built"), [(False, 4), (True, 1)])
def test_one_animation_is_built_at_a_time_and_the_same_one_once(
    offered: Callable[[View], Build], monkeypatch: pytest.MonkeyPatch, alike: bool, built: int
) -> None:
    builds = [offered(replace(View(), thread=(0 if alike else x, 0), step=x)) for x in range(4)]
    building = Building()
    monkeypatch.setattr(export, "html", building.html)
    start = threading.Barrier(len(builds))

    def visit(build: Build) -> Any:
        start.wait()
        return build()

    with ThreadPoolExecutor(len(builds)) as visitors:
        files = list(visitors.map(visit, builds))
    assert [size(file) for file in files] == [len("a file")] * len(builds)
    assert (building.most, building.count) == (1, built)
    builds[0]()
    assert building.count == built + 1, "a file that has been handed out is not kept"
