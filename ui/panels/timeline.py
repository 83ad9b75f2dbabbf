"""The whole recording as a strip: what each step is, whose outer iteration, and where we are."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.observers.findings import HazardKind
from ui.palette import Palette
from ui.panels.canvas import SANS, Shape, Trace, outline, words
from ui.panels.paths import box, hover, px
from ui.scene_model import SceneModel, outer_iteration

LEFT, RIGHT, TOP, BOTTOM = 28, 1580, 852, 880
NAMES = ("load", "compute", "barrier", "store", "other")
HAZARD = "hazard"
HOVER = (
    "All steps of the recorded block, one column each, by what the statement is for: a click jumps "
    "there. The thin row above has the colour of the outer iteration. A hazard is a step that no "
    "correct kernel has: an access to shared memory that no barrier orders or that reads what was "
    "never written, one outside its array or misaligned, a barrier that some miss. Simplified: "
    "a column is one statement, however long the hardware takes for it."
)


class TimelinePanel:
    """One column a step; the row above has the outer iterations' colours."""

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette
        self._width = (RIGHT - LEFT) / max(1, len(model.recording.steps))
        self._hazards = self._marks(troubled(model))

    def _marks(self, hazards: list[bool]) -> str:
        """A triangle above each step that is wrong."""
        path = ""
        for i, wrong in enumerate(hazards):
            if wrong:
                at = LEFT + (i + 0.5) * self._width
                path += f"M{px(at - 5)},{TOP - 16}H{px(at + 5)}L{px(at)},{TOP - 8}Z"
        return path

    def static(self) -> list[Trace]:
        """Both rows and the key to their colours."""
        palette, model = self._palette, self._model
        phases = [[NAMES.index(phase) for phase in model.phases]]
        edges = [palette.paper, *palette.tile_edges]
        rows = [outer_iteration(model, step) for step in model.recording.steps]
        colours = [[0 if t is None else t % len(palette.tile_edges) + 1 for t in rows]]
        traces = [
            self._row(phases, [palette.phases[name] for name in NAMES], TOP, BOTTOM)
            | {"name": "timeline", "hoverinfo": "none"},
            self._row(colours, edges, TOP - 9, TOP - 3),
        ]
        used = [name for name in NAMES[:-1] if name in model.phases]
        at, places, texts = LEFT, [], []
        for name in used:
            places.append((at, TOP - 22))
            texts.append(_key("■", palette.phases[name], name))
            at += 36 + 9 * len(name)
        if self._hazards:
            places.append((at, TOP - 22))
            texts.append(_key("▼", palette.focus, HAZARD))
        traces.append(
            words(places, texts, 14, palette.ink, "middle right", SANS, hoverinfo="text",
                  hovertext=[hover(HOVER)] * len(places))
        )  # fmt: skip
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: the marker is a shape."""
        return []

    def shapes(self, step: Step) -> list[Shape]:
        """The marker, and the steps with hazards."""
        palette = self._palette
        x = LEFT + (step.number + 0.5) * self._width
        here = box(x - 2, TOP - 12, x + 2, BOTTOM + 6)
        return [
            outline(self._hazards, palette.paper, 0.5, palette.focus),
            outline(here, palette.paper, 1, palette.focus),
        ]

    def _row(self, values: list[list[int]], colours: list[str], top: float, low: float) -> Trace:
        steps = len(colours)
        scale = []
        for i, colour in enumerate(colours):
            scale += [[i / steps, colour], [(i + 1) / steps, colour]]
        return {
            "type": "heatmap", "z": np.array(values, np.int8),
            "x0": LEFT + self._width / 2, "dx": self._width, "y": [top, low],
            "zmin": -0.5, "zmax": steps - 0.5, "colorscale": scale, "showscale": False,
            "hoverinfo": "skip", "xgap": 0.5 if self._width > 3 else 0,
        }  # fmt: skip


def troubled(model: SceneModel) -> list[bool]:
    """For each step, whether it does what no correct kernel does."""
    elsewhere = {
        (line, kind)
        for hazard in model.hazards
        for line in hazard.lines
        if (kind := hazard.kind) in (HazardKind.DIVERGENT_BARRIER, HazardKind.MISALIGNED)
    }
    return [
        bool(wrong)
        or any(bool((access.active & ~access.in_bounds).any()) for access in step.accesses)
        or (step.line, HazardKind.MISALIGNED) in elsewhere
        or ((step.line, HazardKind.DIVERGENT_BARRIER) in elsewhere and not step.active.all())
        for step, wrong in zip(model.recording.steps, model.unordered, strict=True)
    ]


def _key(mark: str, colour: str, name: str) -> str:
    return f"<span style='color:{colour}'>{mark}</span> {name}"
