"""Plotly figures of a recording: a frame for each step, with only what changes in that step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import plotly.graph_objects as go

from simulator import Recording, Step
from simulator.observers.findings import Hazard
from simulator.recording.navigation import Granularity, boundaries, positions
from ui.palette import PALETTES, Palette
from ui.panels.canvas import HEIGHT, SANS, WIDTH, Shape, Trace
from ui.panels.matrices import MatricesPanel
from ui.panels.requests import RequestsPanel
from ui.panels.sentence import WordsPanel
from ui.panels.shared import SharedPanel
from ui.panels.source import SourcePanel
from ui.panels.threads import ThreadsPanel
from ui.panels.timeline import TimelinePanel
from ui.scene_model import SceneModel, build_scene_model, iteration

PAGE = 180  # steps of a figure: two tiles of 16 at 64x64, and well under a megabyte
SHAPE_ATTRIBUTES = ("path", "line", "fillcolor")  # those that may change between steps
MIN_STOPS = 2  # a page with no more outer iterations gets evenly spaced stops
SLIDER_STOPS = 24  # the most of them; each stop of Plotly's slider slows every step
PLAY_MS = 400  # milliseconds per step, while Plotly plays
CONTROLS_HEIGHT = 58  # pixels below the scene, for Plotly's play, pause and slider


class Panel(Protocol):
    """A panel of the scene: static traces, traces whose texts change, and shapes that change.

    changing and shapes return the same number of entries, in the same order, at every step.
    """

    def static(self) -> list[Trace]:
        """Traces drawn once."""

    def changing(self, step: Step) -> list[Trace]:
        """Traces whose texts change from step to step; their coordinates and style do not."""

    def shapes(self, step: Step) -> list[Shape]:
        """Fills and highlights."""


def panels(model: SceneModel, palette: Palette) -> list[Panel]:
    """Build all panels of the scene, in drawing order."""
    return [
        SourcePanel(model, palette),
        MatricesPanel(model, palette),
        SharedPanel(model, palette),
        RequestsPanel(model, palette),
        ThreadsPanel(model, palette),
        WordsPanel(model, palette),
        TimelinePanel(model, palette),
    ]


class Scene(go.Figure):  # type: ignore[misc]  # Plotly has no types
    """A figure whose frames are plain data, not validated by Plotly.

    Plotly needs longer to validate a frame than it takes to build it. A test validates them.
    """

    def __init__(self, plain: dict[str, Any]) -> None:
        super().__init__(plain["data"], plain["layout"], skip_invalid=False)
        self._frames = plain["frames"]

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain data: "data", "layout", "frames"."""
        return {**super().to_dict(), "frames": self._frames}


def figure(
    recording: Recording,
    thread: int,
    theme: str = "light",
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> Scene:
    """Draw the scene of a recorded block with a focused thread, at the first of some steps.

    thread is linear in the block, theme a key of PALETTES, tile and hazards as for the scene model.
    steps are those of a page, or None for the whole recording. Each has a frame, named by the
    step's number from 0, with the step's title, changed shapes and changed traces. The frames of
    the first step and of the slider's stops have everything that may change, so that a jump to them
    is right, from another page too. layout.meta's "first" is the number of the first frame's step.
    """
    return Scene(plain(recording, thread, theme, tile, hazards, steps))


def plain(
    recording: Recording,
    thread: int,
    theme: str = "light",
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> dict[str, Any]:
    """Draw the same figure as plain data: "data", "layout", "frames"."""
    drawing = Drawing.build(recording, thread, theme, tile, hazards, steps)
    shapes = [drawing.shapes(step) for step in drawing.steps]
    return drawing.first_picture() | {
        "frames": list(drawing.frames(shapes, _varying_attributes(shapes)))
    }


def streamed(
    recording: Recording,
    thread: int,
    theme: str = "light",
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> Scene:
    """Draw the same figure, its frames an iterator that builds each frame when it is requested.

    All frames of a long recording would occupy hundreds of megabytes. Shapes are drawn twice,
    because the first frame needs to know which attributes change in any frame.
    """
    drawing = Drawing.build(recording, thread, theme, tile, hazards, steps)
    varying = _varying_attributes(map(drawing.shapes, drawing.steps))
    frames = drawing.frames(map(drawing.shapes, drawing.steps), varying)
    return Scene(drawing.first_picture() | {"frames": frames})


@dataclass(frozen=True, slots=True)
class Drawing:
    """The data from which the frames of some steps are drawn."""

    model: SceneModel
    palette: Palette
    panels: list[Panel]
    steps: tuple[Step, ...]
    stops: list[int]  # numbers of the steps whose frames have everything that may change

    @classmethod
    def build(
        cls,
        recording: Recording,
        thread: int,
        theme: str,
        tile: tuple[int, int, int] | None,
        hazards: tuple[Hazard, ...],
        steps: range | None,
    ) -> Drawing:
        """Read a recording and build its panels; the arguments are those of figure()."""
        palette = PALETTES[theme]
        model = build_scene_model(recording, thread, tile, hazards)
        numbers = range(len(recording.steps)) if steps is None else steps
        stops = slider_stops(boundaries(recording, "outer", model.positions), numbers)
        drawn_steps = recording.steps[numbers.start : numbers.stop]
        return cls(model, palette, panels(model, palette), drawn_steps, stops)

    def static(self) -> list[Trace]:
        """The traces that are the same at every step."""
        return [trace for panel in self.panels for trace in panel.static()]

    def changing(self, step: Step) -> list[Trace]:
        """The traces whose texts change from step to step."""
        return [trace for panel in self.panels for trace in panel.changing(step)]

    def shapes(self, step: Step) -> list[Shape]:
        """All shapes at a step."""
        return [shape for panel in self.panels for shape in panel.shapes(step)]

    def first_picture(self) -> dict[str, Any]:
        """Draw the first step: "data" and "layout"."""
        first = self.steps[0]
        heading = title(self.model, first)
        layout = _layout(self.palette, heading, self.shapes(first), self.stops)
        return {
            "data": self.static() + self.changing(first),
            "layout": layout | {"meta": {"first": first.number}},
        }

    def frames(
        self, shapes: Iterable[list[Shape]], varying: list[tuple[str, ...]]
    ) -> Iterator[dict[str, Any]]:
        """Build the frame of each step, in order.

        shapes has the shapes of each step; varying has, for each shape, the attributes that change.
        """
        offset, previous = len(self.static()), None
        for step, step_shapes in zip(self.steps, shapes, strict=True):
            traces = self.changing(step)
            reference = None if step.number in self.stops else previous
            changed = [
                i
                for i, trace in enumerate(traces)
                if reference is None or trace["text"] != reference[i]["text"]
            ]
            yield {
                "name": str(step.number),
                "data": [{"type": "scatter", "text": traces[i]["text"]} for i in changed],
                "traces": [offset + i for i in changed],
                "layout": {
                    "title": {"text": title(self.model, step)},
                    "shapes": [
                        {
                            key: shape[key]
                            for key in (SHAPE_ATTRIBUTES if reference is None else keys)
                        }
                        for shape, keys in zip(step_shapes, varying, strict=True)
                    ],
                },
            }
            previous = traces


def title(model: SceneModel, step: Step) -> str:
    """The title of a step: "Step N of M", then the loops' iterations, the line and a hazard."""
    segments = [f"<b>Step {step.number + 1} of {len(model.recording.steps)}</b>"]
    values = {entry.loop: entry for entry in step.loops}
    for name, loop in (
        ("outer tile" if model.inner else "loop", model.outer), ("inner", model.inner),
    ):  # fmt: skip
        count = iteration(model, step, loop)
        if loop is not None and count is not None:
            entry = values.get(loop)
            suffix = ""
            if entry is not None and entry.value is not None:
                suffix = f" ({entry.variable} = {entry.value})"
            segments.append(f"{name} {count[0] + 1} of {count[1]}{suffix}")
    segments.append(f"line {step.line}")
    hazards = [hazard.kind for hazard in model.hazards if step.line in hazard.lines]
    if hazards:
        segments.append(f"⚠ {hazards[0]}")
    return " · ".join(segments)


def navigation(recording: Recording) -> dict[str, Any]:
    """The number of "steps", and for each granularity the steps at which a unit begins."""
    step_positions = positions(recording)
    starts = {
        granularity.value: list(boundaries(recording, granularity, step_positions))
        for granularity in Granularity
        if granularity is not Granularity.STATEMENT
    }
    return {"steps": len(recording.steps), **starts}


def page(stops: Mapping[str, Any], step: int) -> range:
    """The steps of the page that contains a step; stops is the recording's navigation.

    A page has at most PAGE steps: whole outer iterations; whole inner iterations if outer
    iterations would fill less than half a page; PAGE steps if inner iterations would too.
    """
    starts, end = [0], stops["steps"]
    while end - starts[-1] > PAGE:
        least, most = starts[-1] + PAGE // 2, starts[-1] + PAGE
        cuts = [
            stops[granularity][bisect_right(stops[granularity], most) - 1]
            for granularity in ("outer", "inner")
        ]
        starts.append(next((cut for cut in cuts if cut >= least), most))
    index = bisect_right(starts, step) - 1
    return range(starts[index], [*starts, end][index + 1])


def slider_stops(outer: Iterable[int], steps: range) -> list[int]:
    """Choose the slider's stops among some steps: outer iterations, or evenly spaced steps."""
    starts = sorted({steps.start, *(stop for stop in outer if stop in steps)})
    if MIN_STOPS < len(starts) <= SLIDER_STOPS:
        return starts
    last, count = len(steps) - 1, min(len(starts) * 4, SLIDER_STOPS)
    return sorted({steps[round(i * last / (count - 1))] for i in range(count)})


def _varying_attributes(steps: Iterable[list[Shape]]) -> list[tuple[str, ...]]:
    """For each shape, the attributes that are not the same at every step."""
    others = iter(steps)
    first = next(others)
    same = {(i, key) for i in range(len(first)) for key in SHAPE_ATTRIBUTES}
    for shapes in others:
        same -= {(i, key) for i, key in same if shapes[i][key] != first[i][key]}
    return [
        tuple(key for key in SHAPE_ATTRIBUTES if (i, key) not in same) for i in range(len(first))
    ]


def _layout(
    palette: Palette, heading: str, shapes: list[Shape], stops: list[int]
) -> dict[str, Any]:
    hidden = {
        "visible": False, "fixedrange": True, "showgrid": False, "zeroline": False,
    }  # fmt: skip
    jump = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate",
            "transition": {"duration": 0}}  # fmt: skip
    play = {"frame": {"duration": PLAY_MS, "redraw": True}, "fromcurrent": True,
            "transition": {"duration": 0}}  # fmt: skip
    font = {"family": SANS, "color": palette.ink, "size": 13}
    return {
        "width": WIDTH,
        "height": HEIGHT + CONTROLS_HEIGHT,
        "autosize": False,
        "margin": {"l": 0, "r": 0, "t": 0, "b": CONTROLS_HEIGHT, "pad": 0},
        "paper_bgcolor": palette.paper,
        "plot_bgcolor": palette.paper,
        "font": font,
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "uirevision": "scene",
        "xaxis": {**hidden, "range": [0, WIDTH]},
        "yaxis": {**hidden, "range": [HEIGHT, 0]},
        "title": {
            "text": heading,
            "x": 28 / WIDTH, "y": 1 - 30 / (HEIGHT + CONTROLS_HEIGHT),
            "xanchor": "left", "yanchor": "middle",
            "font": {**font, "size": 20},
        },
        "shapes": shapes,
        "updatemenus": [
            {
                "type": "buttons", "direction": "left", "x": 28 / WIDTH, "y": -4 / HEIGHT,
                "xanchor": "left", "yanchor": "top", "showactive": False, "pad": {"t": 0, "r": 0},
                "bgcolor": palette.cell, "bordercolor": palette.line, "font": {**font, "size": 13},
                "buttons": [
                    {"label": "▶ Play", "method": "animate", "args": [None, play]},
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], jump]},
                ],
            }
        ],
        "sliders": [
            {
                "active": 0, "x": 190 / WIDTH, "len": 1 - 220 / WIDTH, "y": -2 / HEIGHT,
                "yanchor": "top", "pad": {"t": 6, "b": 0}, "ticklen": 4, "minorticklen": 0,
                "tickcolor": palette.line, "bgcolor": palette.cell, "bordercolor": palette.line,
                "activebgcolor": palette.focus, "font": {**font, "size": 11},
                "currentvalue": {"visible": False},
                "steps": [
                    {"label": str(stop + 1), "method": "animate", "args": [[str(stop)], jump]}
                    for stop in stops
                ],
            }
        ],
    }  # fmt: skip
