"""The whole recording as a strip: what each step is, whose outer iteration, and where we are."""

from __future__ import annotations

from simulator import Step
from ui.palette import Palette
from ui.panels.canvas import SANS, Shape, Trace, outline, words
from ui.story import Story, outer_iteration

LEFT, RIGHT, TOP, BOTTOM = 28, 1580, 852, 880
NAMES = ("load", "compute", "barrier", "store", "other")


class TimelinePanel:
    """One column a step; the row above has the outer iterations' colours."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        self._width = (RIGHT - LEFT) / max(1, len(story.recording.steps))

    def static(self) -> list[Trace]:
        """Both rows and the key to their colours."""
        palette, story = self._palette, self._story
        phases = [[NAMES.index(phase) for phase in story.phases]]
        edges = [palette.paper, *palette.tile_edges]
        rows = [outer_iteration(story, step) for step in story.recording.steps]
        colours = [[0 if t is None else t % len(palette.tile_edges) + 1 for t in rows]]
        traces = [
            self._row(phases, [palette.phases[name] for name in NAMES], TOP, BOTTOM)
            | {"name": "timeline", "hoverinfo": "none"},
            self._row(colours, edges, TOP - 9, TOP - 3),
        ]
        used = [name for name in NAMES[:-1] if name in story.phases]
        at, places, texts, fills = LEFT, [], [], []
        for name in used:
            places.append((at, TOP - 22))
            texts.append(f"■ {name}")
            fills.append(palette.phases[name])
            at += 34 + 9 * len(name)
        traces.append(words(places, texts, 13, fills, "middle right", SANS))
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: the marker is a shape."""
        return []

    def shapes(self, step: Step) -> list[Shape]:
        """The marker."""
        x = LEFT + (step.number + 0.5) * self._width
        left, right, top, low = x - 2, x + 2, TOP - 12, BOTTOM + 6
        path = f"M{left:g},{top}L{right:g},{top}L{right:g},{low}L{left:g},{low}Z"
        return [outline(path, self._palette.paper, 1, self._palette.focus)]

    def _row(self, values: list[list[int]], colours: list[str], top: float, low: float) -> Trace:
        steps = len(colours)
        scale = []
        for i, colour in enumerate(colours):
            scale += [[i / steps, colour], [(i + 1) / steps, colour]]
        return {
            "type": "heatmap", "z": values, "x0": LEFT + self._width / 2, "dx": self._width,
            "y": [top, low], "zmin": -0.5, "zmax": steps - 0.5, "colorscale": scale,
            "showscale": False, "hoverinfo": "skip", "xgap": 0.5 if self._width > 3 else 0,
        }  # fmt: skip
