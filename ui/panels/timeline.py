"""The timeline: for each step its phase and outer iteration; marks for hazards and the step."""

from __future__ import annotations

import numpy as np

from simulator import Step
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.scene_model import Phase, SceneModel, multiplied_tile
from ui.drawing.canvas import SANS, Shape, Trace, colour_scale, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, hover, px

LEFT, RIGHT, TOP, BOTTOM = 28, 1580, 852, 880

PHASES = tuple(Phase)
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
        self._hazards = self._marks(steps_with_hazards(model))

    def _marks(self, hazards: list[bool]) -> str:
        """A triangle above each step that has a hazard."""
        path = ""
        for i, has_hazard in enumerate(hazards):
            if has_hazard:
                x = LEFT + (i + 0.5) * self._width
                path += f"M{px(x - 5)},{TOP - 16}H{px(x + 5)}L{px(x)},{TOP - 8}Z"
        return path

    def static(self) -> list[Trace]:
        """Both rows and the key to their colours."""
        palette, model = self._palette, self._model
        phases = [[PHASES.index(phase) for phase in model.phases]]
        edges = [palette.paper, *palette.tile_edges]
        rows = [multiplied_tile(model, step) for step in model.recording.steps]
        colours = [[0 if t is None else t % len(palette.tile_edges) + 1 for t in rows]]
        traces = [
            self._row(phases, [palette.phases[phase] for phase in PHASES], TOP, BOTTOM)
            | {"hoverinfo": "none"},
            self._row(colours, edges, TOP - 9, TOP - 3),
        ]
        used = [phase for phase in PHASES if phase in model.phases and phase is not Phase.OTHER]
        x, points, texts = LEFT, [], []
        for phase in used:
            points.append((x, TOP - 22))
            texts.append(_key("■", palette.phases[phase], phase))
            x += 36 + 9 * len(phase)
        if self._hazards:
            points.append((x, TOP - 22))
            texts.append(_key("▼", palette.focus, HAZARD))
        traces.append(
            words(points, texts, 14, palette.ink, "middle right", SANS, hoverinfo="text",
                  hovertext=[hover(HOVER)] * len(points))
        )  # fmt: skip
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: the marker is a shape."""
        return []

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """Nothing: the page itself handles a click on the timeline."""
        return None

    def shapes(self, step: Step) -> list[Shape]:
        """The marker, and the steps with hazards."""
        palette = self._palette
        x = LEFT + (step.number + 0.5) * self._width
        marker = box(x - 2, TOP - 12, x + 2, BOTTOM + 6)
        return [
            outline(self._hazards, palette.paper, 0.5, palette.focus),
            outline(marker, palette.paper, 1, palette.focus),
        ]

    def _row(self, values: list[list[int]], colours: list[str], top: float, low: float) -> Trace:
        return {
            "type": "heatmap", "z": np.array(values, np.int8),
            "x0": LEFT + self._width / 2, "dx": self._width, "y": [top, low],
            **colour_scale(colours),
            "hoverinfo": "skip", "xgap": 0.5 if self._width > 3 else 0,
        }  # fmt: skip


def _key(mark: str, colour: str, name: str) -> str:
    return f"<span style='color:{colour}'>{mark}</span> {name}"
