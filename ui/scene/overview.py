"""The overview: every panel of a step on one sheet of 1600 x 900, for a large screen."""

from __future__ import annotations

from simulator import Step
from simulator.language.tree import MemorySpace
from ui.analysis.scene_model import (
    SceneModel,
    follows_products,
    iteration,
    iteration_noun,
    multiplied_tile,
)
from ui.drawing.canvas import HEIGHT, WIDTH
from ui.drawing.look import Look, Stage
from ui.drawing.motions import Motion
from ui.drawing.palette import PALETTES, Palette
from ui.drawing.sheet import Heading, Panel, Rectangle
from ui.lecture.arrays import ArrayReader
from ui.lecture.arrays_panel import ArraysPanel
from ui.lecture.letters import Letters
from ui.panels import matrices, shared, timeline
from ui.panels.matrices import MatricesPanel
from ui.panels.requests import RequestsPanel
from ui.panels.sentence import WordsPanel
from ui.panels.shared import SharedPanel
from ui.panels.source import SourcePanel
from ui.panels.threads import ThreadsPanel
from ui.panels.timeline import TimelinePanel

LETTERS = Letters(20, 14, 14, 14, 16, 17, 13)  # of arrays that are no matrices
LONGEST_ROW = 32  # cells of a shared array beside each other; more are too small to read


def _global_panel(model: SceneModel, palette: Palette) -> Panel[Step]:
    """A, B and C as a class knows them, or the arrays of a kernel with other ones."""
    if model.product is not None:
        return MatricesPanel(model, model.product, palette)
    room = Rectangle(matrices.LEFT + 14, matrices.TOP, matrices.RIGHT, matrices.BOTTOM)
    spaces = (MemorySpace.GLOBAL, MemorySpace.CONSTANT)
    return ArraysPanel(model, palette, LETTERS, room, ArrayReader(model), spaces)


def _shared_panel(model: SceneModel, palette: Palette) -> Panel[Step]:
    """The shared arrays as they are declared, unless a row is too long for that."""
    rows = [shape[-1] for shape in model.shared_shapes.values()]
    if not model.is_own or max(rows, default=0) <= LONGEST_ROW:
        return SharedPanel(model, palette)
    room = Rectangle(shared.LEFT, shared.TOP, shared.RIGHT, shared.BOTTOM)
    return ArraysPanel(model, palette, LETTERS, room, ArrayReader(model), (MemorySpace.SHARED,))


class OverviewSheet:
    """Every panel, in drawing order; it is drawn for one size and scaled to its room."""

    size = (float(WIDTH), float(HEIGHT))
    heading = Heading(28, 30, 20)
    timeline = Rectangle(timeline.LEFT, timeline.TOP - 16, timeline.RIGHT, timeline.BOTTOM + 8)
    tall = False

    def __init__(self, model: SceneModel, look: Look) -> None:
        palette = PALETTES[look.theme]
        self._model = model
        self.panels: list[Panel[Step]] = [
            SourcePanel(model, palette),
            _global_panel(model, palette),
            _shared_panel(model, palette),
            RequestsPanel(model, palette),
            ThreadsPanel(model, palette),
            WordsPanel(model, palette),
            TimelinePanel(model, palette),
        ]

    def stage_of(self, step: Step) -> Stage | None:
        """None: every panel is there at every step."""
        return None

    def title(self, step: Step) -> str:
        """The title of a step: "Step N of M", then the loops' iterations, the line and a hazard."""
        model = self._model
        segments = [f"<b>Step {step.number + 1} of {len(model.recording.steps)}</b>"]
        values = {entry.loop: entry for entry in step.loops}
        outer = f"outer {iteration_noun(model)}" if model.inner else "loop"
        for name, loop in ((outer, model.outer), ("inner", model.inner)):
            count = iteration(model, step, loop)
            if loop is not None and count is not None:
                entry = values.get(loop)
                text = f"{name} {count[0] + 1} of {count[1]}"
                if loop is model.outer and model.tiles_of_k is not None:
                    text = self._tile_words(step)
                suffix = ""
                if entry is not None and entry.value is not None:
                    suffix = f" ({entry.variable} = {entry.value})"
                segments.append(f"{text}{suffix}")
        segments.append(f"line {step.line}")
        hazards = [hazard.kind for hazard in model.hazards if step.line in hazard.lines]
        if hazards:
            segments.append(f"⚠ {hazards[0]}")
        return " · ".join(segments)

    def motions(self, step: Step) -> list[Motion]:
        """Nothing: it shows too much at once."""
        return []

    def _tile_words(self, step: Step) -> str:
        """Which tile is multiplied in the outer loop."""
        tile = multiplied_tile(self._model, step)
        if tile is not None:
            return f"outer tile {tile + 1} of {self._model.tile_count}"
        follows = follows_products(self._model, step)
        return "after the last tile" if follows else "before the first tile"
