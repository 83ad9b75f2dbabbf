"""A recording as Plotly figures: their frames are the steps, and only what changes is in them."""

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

PAGE = 180  # steps of one figure: two tiles of 16 at 64x64, and well under a megabyte
MOVES = ("path", "line", "fillcolor")  # what of a shape differs from step to step
FEWEST_STOPS = 2  # of a page within an outer iteration: then they are spread evenly
SLIDER_STOPS = 24  # each further stop of Plotly's slider makes every step slower
PLAY_MS = 400
FOOT = 58  # pixels under the sheet, for Plotly's own play, pause and slider


class Panel(Protocol):
    """A part of the scene: traces that stay, traces that change, and shapes that move.

    changing and shapes give the same number of entries, in the same order, at every step.
    """

    def static(self) -> list[Trace]:
        """Traces drawn once."""

    def changing(self, step: Step) -> list[Trace]:
        """Texts that differ from step to step; their places and looks do not."""

    def shapes(self, step: Step) -> list[Shape]:
        """Fills and highlights."""


def panels(model: SceneModel, palette: Palette) -> list[Panel]:
    """All parts of the scene, in the order they are drawn."""
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
    """A figure whose frames stay plain data.

    Plotly checks what it takes, and a frame takes longer to check than to make. A test checks them.
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
    """The scene of a recorded block with one thread in focus, at the first of some steps.

    steps are those of one page, or None for the whole recording. Each has a frame, named by the
    step's number from 0, with the title, the moved shapes and the changed traces of the step.
    The first and those at the slider's stops hold everything that changes, so that a jump there
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
    """The same as plain data: "data", "layout", "frames"."""
    drawing = Drawing.of(recording, thread, theme, tile, hazards, steps)
    shapes = [drawing.shapes(step) for step in drawing.steps]
    return drawing.still() | {"frames": list(drawing.frames(shapes, _varying(shapes)))}


def streamed(
    recording: Recording,
    thread: int,
    theme: str = "light",
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> Scene:
    """The same figure with frames that come one after another and can be gone through once.

    A frame is made when it is asked for and kept by nobody: all of a long recording's take hundreds
    of megabytes. Shapes are drawn twice for that, since those that move have to be known before the
    first frame.
    """
    drawing = Drawing.of(recording, thread, theme, tile, hazards, steps)
    varying = _varying(map(drawing.shapes, drawing.steps))
    frames = drawing.frames(map(drawing.shapes, drawing.steps), varying)
    return Scene(drawing.still() | {"frames": frames})


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the frames of some steps are drawn from.

    stops are the numbers of the steps whose frames hold everything that changes.
    """

    model: SceneModel
    palette: Palette
    panels: list[Panel]
    steps: tuple[Step, ...]
    stops: list[int]

    @classmethod
    def of(
        cls,
        recording: Recording,
        thread: int,
        theme: str,
        tile: tuple[int, int, int] | None,
        hazards: tuple[Hazard, ...],
        steps: range | None,
    ) -> Drawing:
        """Read a recording and lay the panels out; the arguments are figure's."""
        palette = PALETTES[theme]
        model = build_scene_model(recording, thread, tile, hazards)
        whole = range(len(recording.steps)) if steps is None else steps
        stops = slider_stops(boundaries(recording, "outer", model.positions), whole)
        shown = recording.steps[whole.start : whole.stop]
        return cls(model, palette, panels(model, palette), shown, stops)

    def static(self) -> list[Trace]:
        """The traces that are the same at every step."""
        return [trace for panel in self.panels for trace in panel.static()]

    def changing(self, step: Step) -> list[Trace]:
        """The traces whose texts differ from step to step."""
        return [trace for panel in self.panels for trace in panel.changing(step)]

    def shapes(self, step: Step) -> list[Shape]:
        """All shapes at a step."""
        return [shape for panel in self.panels for shape in panel.shapes(step)]

    def still(self) -> dict[str, Any]:
        """The first step's picture: "data" and "layout"."""
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
        """Each step's frame, one after another.

        shapes are the steps', varying the attributes of each shape that differ between them.
        """
        offset, before = len(self.static()), None
        for step, drawn in zip(self.steps, shapes, strict=True):
            now = self.changing(step)
            known = None if step.number in self.stops else before
            changed = [
                i
                for i, trace in enumerate(now)
                if known is None or trace["text"] != known[i]["text"]
            ]
            yield {
                "name": str(step.number),
                "data": [{"type": "scatter", "text": now[i]["text"]} for i in changed],
                "traces": [offset + i for i in changed],
                "layout": {
                    "title": {"text": title(self.model, step)},
                    "shapes": [
                        {key: shape[key] for key in (MOVES if known is None else keys)}
                        for shape, keys in zip(drawn, varying, strict=True)
                    ],
                },
            }
            before = now


def title(model: SceneModel, step: Step) -> str:
    """Where the recording stands: "Step N of M", then the loops' positions and the line."""
    parts = [f"<b>Step {step.number + 1} of {len(model.recording.steps)}</b>"]
    values = {one.loop: one for one in step.loops}
    for name, loop in (
        ("outer tile" if model.inner else "loop", model.outer), ("inner", model.inner),
    ):  # fmt: skip
        turn = iteration(model, step, loop)
        if loop is not None and turn is not None:
            at = values.get(loop)
            said = f" ({at.variable} = {at.value})" if at and at.value is not None else ""
            parts.append(f"{name} {turn[0] + 1} of {turn[1]}{said}")
    parts.append(f"line {step.line}")
    found = [hazard.kind for hazard in model.hazards if step.line in hazard.lines]
    if found:
        parts.append(f"⚠ {found[0]}")
    return " · ".join(parts)


def navigation(recording: Recording) -> dict[str, Any]:
    """What the keys need: the number of steps, and where each way of going on begins anew."""
    where = positions(recording)
    ways = {
        way.value: list(boundaries(recording, way, where))
        for way in Granularity
        if way is not Granularity.STATEMENT
    }
    return {"steps": len(recording.steps), **ways}


def page(stops: Mapping[str, Any], step: int) -> range:
    """The steps of the page that a step is on, of a recording with this navigation.

    A page holds whole outer iterations of at most PAGE steps; where those would fill less than
    half of it, whole inner iterations; where those would too, PAGE steps.
    """
    starts, end = [0], stops["steps"]
    while end - starts[-1] > PAGE:
        least, most = starts[-1] + PAGE // 2, starts[-1] + PAGE
        cuts = [stops[way][bisect_right(stops[way], most) - 1] for way in ("outer", "inner")]
        starts.append(next((cut for cut in cuts if cut >= least), most))
    at = bisect_right(starts, step) - 1
    return range(starts[at], [*starts, end][at + 1])


def slider_stops(outer: Iterable[int], steps: range) -> list[int]:
    """Those of some steps that the slider stops at: outer iterations, or as many evenly spread."""
    found = sorted({steps.start, *(stop for stop in outer if stop in steps)})
    if FEWEST_STOPS < len(found) <= SLIDER_STOPS:
        return found
    last, count = len(steps) - 1, min(len(found) * 4, SLIDER_STOPS)
    return sorted({steps[round(i * last / (count - 1))] for i in range(count)})


def _varying(steps: Iterable[list[Shape]]) -> list[tuple[str, ...]]:
    """For each shape the attributes that are not the same at every step."""
    rest = iter(steps)
    first = next(rest)
    same = {(i, key) for i in range(len(first)) for key in MOVES}
    for shapes in rest:
        same -= {(i, key) for i, key in same if shapes[i][key] != first[i][key]}
    return [tuple(key for key in MOVES if (i, key) not in same) for i in range(len(first))]


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
        "height": HEIGHT + FOOT,
        "autosize": False,
        "margin": {"l": 0, "r": 0, "t": 0, "b": FOOT, "pad": 0},
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
            "x": 28 / WIDTH, "y": 1 - 30 / (HEIGHT + FOOT), "xanchor": "left", "yanchor": "middle",
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
