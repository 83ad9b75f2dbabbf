"""The timeline of a lecture: every step of the recording, its iterations named."""

from __future__ import annotations

import itertools

import numpy as np

from simulator import Step
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.scene_model import Phase, SceneModel, iteration_noun, multiplied_tile, warp_alone
from ui.drawing.canvas import SANS, Shape, Trace, colour_scale, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, px
from ui.drawing.sheet import Rectangle
from ui.lecture.layout import LectureAreas
from ui.lecture.letters import Letters, text_width

PHASES = tuple(Phase)
BUTTON = 52  # pixels in the corner, for the button that ends a presentation
BAND = 0.28  # of a small letter: the row of the iterations' colours


class LectureTimeline:
    """One column a step, the iterations' colours above, and a mark at the step."""

    def __init__(
        self, model: SceneModel, palette: Palette, letters: Letters, areas: LectureAreas, key: float
    ) -> None:
        self._model, self._palette, self._letters = model, palette, letters
        self._box = areas.timeline
        self._count = max(1, len(model.recording.steps))
        self._width = self._box.width / self._count
        self._top = self._box.top + 2.2 * BAND * letters.small
        self._heading = areas.heading[1]
        self._key_left = None if areas.tall else areas.width - key
        self._hazards = self._marks(steps_with_hazards(model))  # once: a long recording has many

    def _marks(self, hazards: list[bool]) -> str:
        """A triangle above each step that has a hazard."""
        path, y = "", self._top
        for i, has_hazard in enumerate(hazards):
            if has_hazard:
                x = self._box.left + (i + 0.5) * self._width
                path += f"M{px(x - 5)},{px(y - 7)}H{px(x + 5)}L{px(x)},{px(y + 1)}Z"
        return path

    def static(self) -> list[Trace]:
        """The steps by phase, the iterations' colours and names."""
        model, palette = self._model, self._palette
        phases = [PHASES.index(phase) for phase in model.phases]
        turns = [multiplied_tile(model, step) for step in model.recording.steps]
        edges = [palette.paper, *palette.tile_edges]
        colours = [0 if t is None else t % len(palette.tile_edges) + 1 for t in turns]
        top = self._box.top
        points, names = self._names(turns)
        return [
            row_of_columns(self._box, phases, [palette.phases[phase] for phase in PHASES],
                           self._top, self._box.bottom),
            row_of_columns(self._box, colours, edges, top, top + BAND * self._letters.small),
            words(points, names, self._letters.small, palette.ink, "middle right", SANS),
            *self._key(),
        ]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: the mark is a shape."""
        return []

    def shapes(self, step: Step) -> list[Shape]:
        """The mark, and the steps with hazards."""
        palette, area, letters = self._palette, self._box, self._letters
        x = area.left + (step.number + 0.5) * self._width
        half = max(2.5, 0.16 * letters.small)
        mark = box(x - half, area.top - 3, x + half, area.bottom + 4)
        return [
            outline(self._hazards, palette.paper, 0.5, palette.focus),
            outline(mark, palette.paper, 1, palette.focus),
        ]

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """Nothing: a click on the timeline needs no server."""
        return None

    def _key(self) -> list[Trace]:
        """What the columns' colours mean, at the upper right of the sheet where it has room."""
        if self._key_left is None:
            return []
        x, points, texts = self._key_left, [], []
        for phase in self._shown_phases():
            points.append((x, self._heading))
            colour = self._palette.phases[phase]
            texts.append(f"<span style='color:{colour}'>■</span> {phase}")
            x += text_width(f"m {phase}", self._letters.small) + self._letters.small
        return [words(points, texts, self._letters.small, self._palette.ink, "middle right", SANS)]

    def _shown_phases(self) -> list[Phase]:
        """The phases that the recording has, without the unnamed one."""
        phases = set(self._model.phases)
        return [phase for phase in PHASES if phase in phases and phase is not Phase.OTHER]

    def _names(self, turns: list[int | None]) -> tuple[list[tuple[float, float]], list[str]]:
        """A name above each iteration, and its warp's if it runs alone; as many as have room.

        The longest come first, and a name does not reach into the next iteration: that one would
        seem to be its own.
        """
        small, model = self._letters.small, self._model
        noun = iteration_noun(model)
        runs = [
            (turn, warp_alone(model, step))
            for turn, step in zip(turns, model.recording.steps, strict=True)
        ]
        found = [
            (key, list(numbers))
            for key, numbers in itertools.groupby(range(len(runs)), key=runs.__getitem__)
        ]
        taken: list[tuple[float, float, str]] = []  # left, right, name
        for (turn, warp), steps in sorted(found, key=lambda run: -len(run[1])):
            if turn is None:
                continue
            name = f"{noun} {turn + 1}"
            wordings = [] if warp is None else [f"warp {warp}: {name}", f"warp {warp}"]
            room = len(steps) * self._width - 6
            x = self._box.left + steps[0] * self._width
            for text in (*wordings, name, str(turn + 1)):
                right = x + text_width(text, small)
                if right - x <= room or text == str(turn + 1):
                    break
            is_free = all(right + small <= left or end + small <= x for left, end, _ in taken)
            if is_free and right <= self._box.right:
                taken.append((x, right, text))
        taken.sort()
        points = [(x, self._box.top - 0.75 * small) for x, _, _ in taken]
        names = [name for *_, name in taken]
        return points, names


def row_of_columns(
    area: Rectangle, values: list[int], colours: list[str], top: float, low: float
) -> Trace:
    """A row from `top` to `low` of as many columns as there are values, which number colours."""
    width = area.width / max(1, len(values))
    return {
        "type": "heatmap", "z": np.array([values], np.int8),
        "x0": area.left + width / 2, "dx": width, "y": [top, low], **colour_scale(colours),
        "hoverinfo": "skip", "xgap": 1 if width > 6 else 0,
    }  # fmt: skip


def key_width(model: SceneModel, letters: Letters) -> float:
    """Pixels that the key to the columns' colours takes at the right of the heading."""
    phases = {phase for phase in model.phases if phase is not Phase.OTHER}
    widths = (text_width(f"m {phase}", letters.small) + letters.small for phase in phases)
    return sum(widths) + BUTTON
