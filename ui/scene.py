"""Plotly figures of a recording: a frame for each step, with only what changes in that step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from simulator import Recording, Step
from simulator.observers.findings import Hazard
from simulator.recording.navigation import Granularity, boundaries, positions
from ui.hit import Hit
from ui.lecture.sheet import LectureSheet
from ui.look import Look, Stage
from ui.look import Sheet as SheetKind
from ui.overview import OverviewSheet
from ui.palette import PALETTES, Palette
from ui.panels.canvas import SANS, Shape, Trace
from ui.scene_model import SceneModel, build_scene_model
from ui.sheet import Sheet

PAGE = 180  # steps of a figure: two tiles of 16 at 64x64, and well under a megabyte
SHAPE_ATTRIBUTES = ("path", "line", "fillcolor")  # those that may change between steps


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
    look: Look = Look(),  # noqa: B008  # frozen
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> Scene:
    """Draw the scene of a recorded block with a focused thread, at the first of some steps.

    thread is linear in the block, tile and hazards as for the scene model. steps are those of a
    page, or None for the whole recording. Each has a frame, named by the step's number from 0, with
    the step's title, changed shapes and changed traces. The first frame has everything that may
    change. layout.meta's "first" is the number of the first frame's step, its "timeline" the
    pixels that the timeline of all steps covers.
    """
    return Scene(plain(recording, thread, look, tile, hazards, steps))


def plain(
    recording: Recording,
    thread: int,
    look: Look = Look(),  # noqa: B008  # frozen
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> dict[str, Any]:
    """Draw the same figure as plain data: "data", "layout", "frames"."""
    drawing = Drawing.build(recording, thread, look, tile, hazards, steps)
    shapes = [drawing.shapes(step) for step in drawing.steps]
    return drawing.first_picture() | {
        "frames": list(drawing.frames(shapes, _varying_attributes(shapes)))
    }


def streamed(
    recording: Recording,
    thread: int,
    look: Look = Look(),  # noqa: B008  # frozen
    tile: tuple[int, int, int] | None = None,
    hazards: tuple[Hazard, ...] = (),
    steps: range | None = None,
) -> Scene:
    """Draw the same figure, its frames an iterator that builds each frame when it is requested.

    All frames of a long recording would occupy hundreds of megabytes. Shapes are drawn twice,
    because the first frame needs to know which attributes change in any frame.
    """
    drawing = Drawing.build(recording, thread, look, tile, hazards, steps)
    varying = _varying_attributes(map(drawing.shapes, drawing.steps))
    frames = drawing.frames(map(drawing.shapes, drawing.steps), varying)
    return Scene(drawing.first_picture() | {"frames": frames})


def hit(
    recording: Recording,
    thread: int,
    look: Look,
    tile: tuple[int, int, int] | None,
    step_number: int,
    x: float,
    y: float,
) -> Hit | None:
    """What stands at a place of the figure, in pixels, at a step; None where nothing is to click.

    The other arguments are figure()'s.
    """
    steps = range(step_number, step_number + 1)
    drawing = Drawing.build(recording, thread, look, tile, (), steps)
    found = (panel.hit(drawing.steps[0], x, y) for panel in drawing.sheet.panels)
    return next((one for one in found if one is not None), None)


def stage_at(recording: Recording, thread: int, look: Look, step_number: int) -> Stage | None:
    """The stage that the lecture shows at a step; None in the overview, which has none."""
    steps = range(step_number, step_number + 1)
    drawing = Drawing.build(recording, thread, look, None, (), steps)
    sheet = drawing.sheet
    return sheet.stage_of(drawing.steps[0]) if isinstance(sheet, LectureSheet) else None


@dataclass(frozen=True, slots=True)
class Drawing:
    """The data from which the frames of some steps are drawn."""

    model: SceneModel
    palette: Palette
    sheet: Sheet
    steps: tuple[Step, ...]

    @classmethod
    def build(
        cls,
        recording: Recording,
        thread: int,
        look: Look,
        tile: tuple[int, int, int] | None,
        hazards: tuple[Hazard, ...],
        steps: range | None,
    ) -> Drawing:
        """Read a recording and build its panels; the arguments are those of figure()."""
        palette = PALETTES[look.theme]
        model = build_scene_model(recording, thread, tile, hazards)
        numbers = range(len(recording.steps)) if steps is None else steps
        drawn_steps = recording.steps[numbers.start : numbers.stop]
        kind = LectureSheet if look.sheet is SheetKind.LECTURE else OverviewSheet
        return cls(model, palette, kind(model, look), drawn_steps)

    def static(self) -> list[Trace]:
        """The traces that are the same at every step."""
        return [trace for panel in self.sheet.panels for trace in panel.static()]

    def changing(self, step: Step) -> list[Trace]:
        """The traces whose texts change from step to step."""
        return [trace for panel in self.sheet.panels for trace in panel.changing(step)]

    def shapes(self, step: Step) -> list[Shape]:
        """All shapes at a step."""
        return [shape for panel in self.sheet.panels for shape in panel.shapes(step)]

    def first_picture(self) -> dict[str, Any]:
        """Draw the first step: "data" and "layout"."""
        first = self.steps[0]
        layout = _layout(self.sheet, self.palette, self.sheet.title(first), self.shapes(first))
        area = self.sheet.timeline
        meta = {
            "first": first.number,
            "timeline": {
                "left": area.left, "right": area.right, "top": area.top, "bottom": area.bottom,
            },
            "tall": self.sheet.tall,
        }  # fmt: skip
        return {"data": self.static() + self.changing(first), "layout": layout | {"meta": meta}}

    def frames(
        self, shapes: Iterable[list[Shape]], varying: list[tuple[str, ...]]
    ) -> Iterator[dict[str, Any]]:
        """Build the frame of each step, in order.

        shapes has the shapes of each step; varying has, for each shape, the attributes that change.
        """
        offset, previous = len(self.static()), None
        for step, step_shapes in zip(self.steps, shapes, strict=True):
            traces = self.changing(step)
            changed = [
                i
                for i, trace in enumerate(traces)
                if previous is None or trace["text"] != previous[i]["text"]
            ]
            yield {
                "name": str(step.number),
                "data": [{"type": "scatter", "text": traces[i]["text"]} for i in changed],
                "traces": [offset + i for i in changed],
                "layout": {
                    "title": {"text": self.sheet.title(step)},
                    "shapes": [
                        {
                            key: shape[key]
                            for key in (SHAPE_ATTRIBUTES if previous is None else keys)
                        }
                        for shape, keys in zip(step_shapes, varying, strict=True)
                    ],
                },
            }
            previous = traces


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


def _layout(sheet: Sheet, palette: Palette, heading: str, shapes: list[Shape]) -> dict[str, Any]:
    width, height = sheet.size
    hidden = {
        "visible": False, "fixedrange": True, "showgrid": False, "zeroline": False,
    }  # fmt: skip
    font = {"family": SANS, "color": palette.ink, "size": 13}
    return {
        "width": width,
        "height": height,
        "autosize": False,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
        "paper_bgcolor": palette.paper,
        "plot_bgcolor": palette.paper,
        "font": font,
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "uirevision": "scene",
        "xaxis": {**hidden, "range": [0, width]},
        "yaxis": {**hidden, "range": [height, 0]},
        "title": {
            "text": heading,
            "x": sheet.heading.left / width,
            "y": 1 - sheet.heading.middle / height,
            "xanchor": "left",
            "yanchor": "middle",
            "font": {**font, "size": sheet.heading.size},
        },
        "shapes": shapes,
    }
