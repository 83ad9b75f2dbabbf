"""The timeline of two scenes in lockstep: a row for each, one column a pair."""

from __future__ import annotations

from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.pairs import Pair
from ui.analysis.scene_model import SceneModel, multiplied_tile
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, px
from ui.lecture.letters import Letters, text_width
from ui.lecture.pair_layout import PairAreas
from ui.lecture.timeline import PHASES, row_of_columns

BAND = 0.3  # of a row's height: the colours of the iterations
GAP = 0.2  # likewise, under a row
INDENT = 6  # pixels beside a name


class PairTimeline:
    """Each side's steps by phase, paper where it waits, and one mark over both rows."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], names: tuple[str, str],
        pairs: tuple[Pair, ...], palette: Palette, letters: Letters, areas: PairAreas,
    ) -> None:  # fmt: skip
        self._models, self._pairs = models, pairs
        self._palette, self._letters = palette, letters
        self._box = areas.timeline
        self._names = _short_names(names, letters.small, self._box.left - 2 * INDENT)
        self._width = self._box.width / len(pairs)
        self._height = self._box.height / 2
        self._hazards = self._mark_hazards()

    def static(self) -> list[Trace]:
        """The rows and their names."""
        palette, area = self._palette, self._box
        traces = []
        for side, model in enumerate(self._models):
            phases, turns = [0] * len(self._pairs), [0] * len(self._pairs)
            for pair in self._pairs:
                if pair.moves[side]:
                    step = pair.sides[side]
                    turn = multiplied_tile(model, step)
                    phases[pair.number] = 1 + PHASES.index(model.phases[step.number])
                    turns[pair.number] = 0 if turn is None else turn % len(palette.tile_edges) + 1
            top = area.top + side * self._height
            middle, low = top + BAND * self._height, top + (1 - GAP) * self._height
            colours = [palette.paper, *(palette.phases[phase] for phase in PHASES)]
            traces += [
                row_of_columns(area, turns, [palette.paper, *palette.tile_edges], top, middle - 1),
                row_of_columns(area, phases, colours, middle, low),
                words([(area.left - INDENT, (middle + low) / 2)], [self._names[side]],
                      self._letters.small, palette.ink, "middle left", SANS),
            ]  # fmt: skip
        return traces

    def changing(self, step: Pair) -> list[Trace]:
        """Nothing: the mark is a shape."""
        return []

    def shapes(self, step: Pair) -> list[Shape]:
        """The mark, and the steps with hazards."""
        palette, area = self._palette, self._box
        x = area.left + (step.number + 0.5) * self._width
        half = max(2.5, 0.16 * self._letters.small)
        mark = box(x - half, area.top - 3, x + half, area.bottom)
        return [
            outline(self._hazards, palette.paper, 0.5, palette.focus),
            outline(mark, palette.paper, 1, palette.focus),
        ]

    def hit(self, step: Pair, x: float, y: float) -> Hit | None:
        """Nothing: a click on the timeline needs no server."""
        return None

    def _mark_hazards(self) -> str:
        """A triangle above each step that has a hazard."""
        path = ""
        for side, model in enumerate(self._models):
            bad = steps_with_hazards(model)
            y = self._box.top + (side + BAND) * self._height
            for pair in self._pairs:
                if pair.moves[side] and bad[pair.sides[side].number]:
                    x = self._box.left + (pair.number + 0.5) * self._width
                    path += f"M{px(x - 4)},{px(y - 6)}H{px(x + 4)}L{px(x)},{px(y + 1)}Z"
        return path


def _short_names(names: tuple[str, str], size: float, room: float) -> tuple[str, str]:
    """Names that have room and tell the sides apart: as they are, the kernels', else the places."""
    kernels = names[0].partition(",")[0], names[1].partition(",")[0]
    for pair in (names, kernels):
        if pair[0] != pair[1] and all(text_width(name, size) <= room for name in pair):
            return pair
    return "left", "right"
