"""Plotly figures of a recording: a frame for each step, with only what changes in that step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import plotly.graph_objects as go

from simulator import Recording, Step
from simulator.recording.navigation import Granularity, boundaries, positions
from ui.analysis.pairs import Pair
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import SANS, Shape, Trace
from ui.drawing.hit import Hit
from ui.drawing.look import LEVELS, Look, Stage
from ui.drawing.palette import PALETTES, Palette
from ui.drawing.sheet import Numbered, Sheet
from ui.lecture.lecture_sheet import LectureSheet
from ui.lecture.pair_sheet import PairSheet

PAGE = 90  # steps whose frames are drawn together: more are drawn while these are watched
BEFORE, AFTER = 3, 12  # steps around the opened one, of which a figure has frames at first
One = TypeVar("One", bound=Numbered)
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


def arrange(model: SceneModel, look: Look) -> Drawing[Step]:
    """Arrange the scene of a model."""
    return Drawing(model.recording.steps, PALETTES[look.theme], LectureSheet(model, look))


def arrange_pair(
    models: tuple[SceneModel, SceneModel],
    names: tuple[str, str],
    pairs: tuple[Pair, ...],
    look: Look,
) -> Drawing[Pair]:
    """Arrange the scenes of two models beside each other, in lockstep.

    pairs come from ui.analysis.pairs.align; names tell the two apart.
    """
    return Drawing(pairs, PALETTES[look.theme], PairSheet(models, names, pairs, look))


@dataclass(frozen=True, slots=True)
class Drawing(Generic[One]):
    """A scene that is arranged, of which any steps can be drawn, or pairs of steps of two.

    Each step has a frame, named by the step's number from 0, with the step's title, changed shapes
    and changed traces. The first frame has everything that may change. layout.meta's "first" is the
    number of the first frame's step, its "timeline" the pixels that the timeline of all steps
    covers, its "near" those around the stage, its "moving" the colours of what moves. A frame's
    own meta has the "level" that its step is seen at, an index of LEVELS, and the "motions" of its
    step, each as ui.drawing.motions sends it.
    """

    steps: tuple[One, ...]
    palette: Palette
    sheet: Sheet[One]

    def plain(self, steps: range | None = None) -> dict[str, Any]:
        """Draw some steps, or all, as plain data: "data", "layout", "frames"."""
        drawn = self._steps(steps)
        shapes = [self.shapes(step) for step in drawn]
        frames = self._frames(drawn, shapes, _varying_attributes(shapes))
        return self._first_picture(drawn[0]) | {"frames": list(frames)}

    def streamed(self) -> Scene:
        """Draw all steps as a figure whose frames are built when they are requested.

        All frames of a long recording would occupy hundreds of megabytes. Shapes are drawn twice,
        because the first frame needs to know which attributes change in any frame.
        """
        drawn = self._steps(None)
        varying = _varying_attributes(map(self.shapes, drawn))
        frames = self._frames(drawn, map(self.shapes, drawn), varying)
        return Scene(self._first_picture(drawn[0]) | {"frames": frames})

    def hit(self, step_number: int, x: float, y: float) -> Hit | None:
        """What is at a place of the figure, in pixels, at a step; None if nothing to click."""
        step = self.steps[step_number]
        found = (panel.hit(step, x, y) for panel in self.sheet.panels)
        return next((one for one in found if one is not None), None)

    def stage_at(self, step_number: int) -> Stage:
        """The stage that a step is shown on; of two scenes the left one's."""
        return self.sheet.stage_of(self.steps[step_number])

    def _steps(self, steps: range | None) -> tuple[One, ...]:
        return self.steps if steps is None else self.steps[steps.start : steps.stop]

    def static(self) -> list[Trace]:
        """The traces that are the same at every step."""
        return [trace for panel in self.sheet.panels for trace in panel.static()]

    def changing(self, step: One) -> list[Trace]:
        """The traces whose texts change from step to step."""
        return [trace for panel in self.sheet.panels for trace in panel.changing(step)]

    def shapes(self, step: One) -> list[Shape]:
        """All shapes at a step."""
        return [shape for panel in self.sheet.panels for shape in panel.shapes(step)]

    def _first_picture(self, first: One) -> dict[str, Any]:
        """Draw a step: "data" and "layout"."""
        layout = _layout(self.sheet, self.palette, self.sheet.title(first), self.shapes(first))
        meta = {
            "first": first.number,
            "timeline": asdict(self.sheet.timeline),
            "near": asdict(self.sheet.near),
            "tall": self.sheet.tall,
            "far_share": self.sheet.far_share,
            "warps": self.sheet.warps,
            "clock": self.sheet.has_clock,
            "clock_height": self.sheet.clock_height,
            "moving": {"ink": self.palette.focus, "paper": self.palette.focus_fill},
        }
        return {"data": self.static() + self.changing(first), "layout": layout | {"meta": meta}}

    def _frames(
        self, steps: Iterable[One], shapes: Iterable[list[Shape]], varying: list[tuple[str, ...]]
    ) -> Iterator[dict[str, Any]]:
        """Build the frame of each step, in order.

        shapes has the shapes of each step; varying has, for each shape, the attributes that change.
        """
        offset, previous = len(self.static()), None
        for step, step_shapes in zip(steps, shapes, strict=True):
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
                    "meta": {
                        "level": LEVELS.index(self.sheet.level_of(step)),
                        "motions": [one.plain() for one in self.sheet.motions(step)],
                    },
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


def page(stops: Mapping[str, Any], step: int, scenes: int = 1) -> range:
    """The steps of the page that contains a step; stops is the recording's navigation.

    A page has at most PAGE steps: whole outer iterations; whole inner iterations if outer
    iterations would fill less than half a page; PAGE steps if inner iterations would too. A step of
    several scenes takes so many times as long to draw, and a page has so many times fewer of them.
    """
    starts, end, size = [0], stops["steps"], PAGE // scenes
    while end - starts[-1] > size:
        least, most = starts[-1] + size // 2, starts[-1] + size
        cuts = [
            stops[granularity][bisect_right(stops[granularity], most) - 1]
            for granularity in ("outer", "inner")
        ]
        starts.append(next((cut for cut in cuts if cut >= least), most))
    index = bisect_right(starts, step) - 1
    return range(starts[index], [*starts, end][index + 1])


def first_steps(stops: Mapping[str, Any], step: int) -> range:
    """The steps that a figure is drawn with which is opened at a step: some around it.

    Those of a short recording are all. stops is the recording's navigation.
    """
    if stops["steps"] <= 2 * (BEFORE + AFTER):
        return range(stops["steps"])
    return range(max(0, step - BEFORE), min(stops["steps"], step + AFTER + 1))


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
    sheet: Sheet[One], palette: Palette, heading: str, shapes: list[Shape]
) -> dict[str, Any]:
    width, height = sheet.size
    hidden = {"visible": False, "fixedrange": True, "showgrid": False, "zeroline": False}
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
