"""Lectures of small recordings, and what can be read off their drawn figure."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from simulator import Launch, Recording, Step, catalogue, compile_kernel, record, simulate
from simulator.machine.schedule import Schedule
from tests.ui.scene_models import SIZES, boxes, recorded
from ui.analysis.scene_model import SceneModel, build_scene_model
from ui.drawing.canvas import SPACE, Shape
from ui.drawing.hit import Hit
from ui.drawing.look import Look
from ui.drawing.sheet import Panel as AnyPanel
from ui.lecture.lecture_sheet import LectureSheet, OnStage
from ui.view.presets import changes, launch, source
from ui.view.view_url import View, from_query

Panel = TypeVar("Panel")
Box = tuple[float, ...]  # left, top, right, bottom


Drawn = tuple[list[dict[str, Any]], list[Shape]]


def draw(step: Step, panels: list[AnyPanel]) -> Drawn:
    traces = [trace for panel in panels for trace in [*panel.static(), *panel.changing(step)]]
    return traces, [shape for panel in panels for shape in panel.shapes(step)]


@dataclass(frozen=True, slots=True)
class Lecture:
    """A recording and its sheet."""

    model: SceneModel
    look: Look = Look()  # noqa: RUF009
    sheet: LectureSheet = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sheet", LectureSheet(self.model, self.look))

    @property
    def recording(self) -> Recording:
        return self.model.recording

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.model.recording.steps

    def panel(self, kind: type[Panel]) -> Panel:
        """The only panel of a kind, or the first; a stage without its frame."""
        return next(self.panels(kind))

    def panels(self, kind: type[Panel]) -> Iterator[Panel]:
        for panel in self.sheet.panels:
            inner = panel.panel if isinstance(panel, OnStage) else panel
            if isinstance(inner, kind):
                yield inner

    def line(self, step: Step) -> str:
        """The source line of a step."""
        return self.recording.kernel.text.split("\n")[step.line - 1].strip()

    def steps_of(self, fragment: str) -> list[Step]:
        """The steps of the lines that contain a text."""
        return [step for step in self.steps if fragment in self.line(step)]

    def drawn(self, step: Step, kind: type[Any] = object) -> Drawn:
        """The traces and shapes of a step, of all panels or of one kind, as the sheet has them."""
        return draw(
            step,
            [
                panel for panel in self.sheet.panels
                if isinstance(panel.panel if isinstance(panel, OnStage) else panel, kind)
            ],
        )  # fmt: skip

    def drawn_stage(self, step: Step) -> Drawn:
        """Those of the stages, all but one of which are empty."""
        return draw(step, [panel for panel in self.sheet.panels if isinstance(panel, OnStage)])

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        found = (panel.hit(step, x, y) for panel in self.sheet.panels)
        return next((hit for hit in found if hit is not None), None)


def of_query(look: Look = Look(), thread: int | None = None, **query: Any) -> Lecture:  # noqa: B008
    """The lecture of an address's parameters."""
    view, notices = from_query({name: str(value) for name, value in query.items()})
    assert not notices
    return of_view(view, look, thread)


@functools.cache
def record_view(view: View) -> Recording:
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    return record(kernel, launch(view), view.block_index, view.schedule)


@functools.cache
def of_view(view: View, look: Look = Look(), thread: int | None = None) -> Lecture:  # noqa: B008
    recording = record_view(replace(view, thread=(0, 0), step=0))
    if thread is None:
        thread = view.thread[0] + view.thread[1] * recording.launch.block[0]
    tile = catalogue()[view.kernel].tile(**dict(view.defines))
    model = build_scene_model(recording, thread, tile, (), changes(view))
    return Lecture(model, look)


@functools.cache
def of_size(number: int, look: Look = Look(), thread: int | None = None) -> Lecture:  # noqa: B008
    """The lecture of an entry of SIZES; its thread is the one a third into the block."""
    recording = recorded(number)
    name, *_, defines = SIZES[number]
    if thread is None:
        thread = recording.launch.threads // 3
    model = build_scene_model(recording, thread, catalogue()[name].tile(**defines))
    return Lecture(model, look)


def of_code(
    code: str, threads: int, thread: int, schedule: Schedule = Schedule.LOCKSTEP
) -> Lecture:
    """The lecture of a kernel k of so many threads in a row; A, B and C are 8 x 8, all ones."""
    arguments = {name: np.ones((8, 8), np.float32) for name in "ABC"} | dict.fromkeys("MNK", 8)
    kernel, launch = compile_kernel(code, "k"), Launch((1, 1, 1), (threads, 1, 1), arguments)
    hazards = simulate(kernel, launch).hazards
    return Lecture(
        build_scene_model(record(kernel, launch, (0, 0, 0), schedule), thread, hazards=hazards)
    )


def seen(shape: Shape) -> list[Box]:
    """The rectangles of a shape; none if its path is empty."""
    return [] if shape["path"] == "M0,0Z" else boxes(shape["path"])


def centre(box: Box) -> tuple[float, float]:
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2


def numbers(traces: list[dict[str, Any]]) -> list[tuple[float, float, str]]:
    """The numbers that are in cells: x, y and text."""
    return [
        (x, y, text)
        for trace in traces
        if trace.get("meta") in ("numbers", "far numbers")
        for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True)
        if text != SPACE
    ]


def text_at(traces: list[dict[str, Any]], x: float, y: float) -> str:
    """The only number at a point."""
    [text] = [t for a, b, t in numbers(traces) if abs(a - x) < 0.2 and abs(b - y) < 0.2]
    return text


def spread(steps: list[Step] | tuple[Step, ...], count: int) -> list[Step]:
    """At most so many of some steps, the last among them."""
    steps = list(steps)
    if len(steps) <= count:
        return steps
    return [steps[i] for i in np.linspace(0, len(steps) - 1, count).astype(int)]
