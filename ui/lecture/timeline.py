"""The timeline: one column for each step, of one recording or of two beside each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.recording.navigation import beats
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.pairs import Pair
from ui.analysis.scene_model import Phase, SceneModel, iteration_noun, multiplied_tile, warp_alone
from ui.drawing.canvas import Shape, Trace, colour_scale, labels, outline
from ui.drawing.palette import Palette
from ui.drawing.paths import box, px
from ui.drawing.sheet import Numbered, Panel, Rectangle
from ui.lecture.layout import BUTTON, LectureAreas
from ui.lecture.letters import Letters, text_width
from ui.lecture.pair_layout import PairAreas

PHASES = tuple(Phase)
MARK, LEAST_MARK = 0.16, 2.5  # half the mark's width: of a small letter, and pixels
ABOVE = 3  # pixels of the mark above the columns
BELOW = 4  # pixels of it below the columns of one recording
HAZARD, PAIR_HAZARD = 5, 4  # pixels, half the width of a hazard's triangle
TICK = 3  # pixels, the height of a beat's bar below the columns
NARROW = 3  # pixels, columns under which beats that follow one another have one bar
BAND = 0.28  # of a small letter: the row of the iterations' colours
PHASES_BELOW = 2.2 * BAND  # of a small letter: from the timeline's top to the row of the phases
PAIR_BAND = 0.3  # of a row's height: the same where there are two rows
GAP = 0.2  # of a row's height, under each of two
INDENT = 6  # pixels beside the name of one of two rows


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of one recording: its phases, and above them its iterations' colours."""

    model: SceneModel
    steps: Sequence[Step | None]  # of each column; None where the recording waits for another
    may_wait: bool  # whether any may be None
    band: Rectangle  # of the iterations' colours
    area: Rectangle  # of the phases
    hazard: float  # pixels, half the width of a hazard's triangle

    @property
    def width(self) -> float:
        """Pixels of a column."""
        return self.area.width / max(1, len(self.steps))

    def phases(self, palette: Palette) -> Trace:
        """The steps by what they are for."""
        first = int(self.may_wait)
        numbers = [
            0 if step is None else first + PHASES.index(self.model.phases[step.number])
            for step in self.steps
        ]
        colours = [palette.phases[phase] for phase in PHASES]
        return self._columns(self.area, numbers, [palette.paper] * first + colours)

    def iterations(self, palette: Palette) -> Trace:
        """The colours of the outer loop's iterations."""
        edges = palette.tile_edges
        tiles = [None if step is None else multiplied_tile(self.model, step) for step in self.steps]
        numbers = [0 if tile is None else tile % len(edges) + 1 for tile in tiles]
        return self._columns(self.band, numbers, [palette.paper, *edges])

    def hazards(self) -> str:
        """A triangle above each step that has a hazard."""
        has_hazard = steps_with_hazards(self.model)
        path, y = "", self.area.top
        for column, step in enumerate(self.steps):
            if step is not None and has_hazard[step.number]:
                x = self.area.left + (column + 0.5) * self.width
                left, right, top = x - self.hazard, x + self.hazard, y - self.hazard - 2
                path += f"M{px(left)},{px(top)}H{px(right)}L{px(x)},{px(y + 1)}Z"
        return path

    def _columns(self, area: Rectangle, numbers: list[int], colours: list[str]) -> Trace:
        """As many columns as there are numbers, each of which is a colour's."""
        return {
            "type": "heatmap", "z": np.array([numbers], np.int8),
            "x0": area.left + self.width / 2, "dx": self.width, "y": [area.top, area.bottom],
            **colour_scale(colours), "hoverinfo": "skip", "xgap": 1 if self.width > 6 else 0,
        }  # fmt: skip


class Timeline(Panel[Numbered]):
    """Rows of columns, and one mark over all of them at the step that is shown."""

    def __init__(
        self, palette: Palette, letters: Letters, area: Rectangle, rows: Sequence[Row], below: float
    ) -> None:
        self._palette, self._letters, self._box, self._rows = palette, letters, area, rows
        self._below = below
        self._beats = ""  # of a recording of its own
        # Once: a long recording has many.
        self._hazards = "".join(row.hazards() for row in rows)

    def shapes(self, step: Numbered) -> list[Shape]:
        """The steps with hazards, and the mark."""
        palette, area = self._palette, self._box
        x = area.left + (step.number + 0.5) * self._rows[0].width
        half = max(LEAST_MARK, MARK * self._letters.small)
        mark = box(x - half, area.top - ABOVE, x + half, area.bottom + self._below)
        return [
            outline(self._beats, palette.faint, 0, palette.faint),
            outline(self._hazards, palette.paper, 0.5, palette.focus),
            outline(mark, palette.paper, 1, palette.focus),
        ]


class LectureTimeline(Timeline):
    """The steps of one recording, with the names of its iterations and a key to the colours."""

    def __init__(
        self, model: SceneModel, palette: Palette, letters: Letters, areas: LectureAreas, key: float
    ) -> None:
        area = areas.timeline
        low, middle = area.top + BAND * letters.small, area.top + PHASES_BELOW * letters.small
        row = Row(
            model, model.recording.steps, may_wait=False,
            band=Rectangle(area.left, area.top, area.right, low),
            area=Rectangle(area.left, middle, area.right, area.bottom), hazard=HAZARD,
        )  # fmt: skip
        super().__init__(palette, letters, area, [row], BELOW)
        self._model, self._row = model, row
        self._beats = self._draw_beats()
        self._heading = areas.heading[1]
        self._key_left = None if areas.tall else areas.width - key

    def static(self) -> list[Trace]:
        """The steps by phase, the iterations' colours and names, and the key."""
        palette = self._palette
        points, names = self._names()
        return [
            self._row.phases(palette), self._row.iterations(palette),
            labels(points, names, self._letters.small, palette.ink),
            *self._key(),
        ]  # fmt: skip

    def _draw_beats(self) -> str:
        """A bar under each beat; where columns are narrow, under each run of them."""
        area, width = self._box, self._row.width
        numbers = np.array(beats(self._model.recording, self._model.positions), np.int64)
        gap = min(1.0, 0.2 * width)
        path = ""
        for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
            pieces = [run] if width < NARROW else np.split(run, run.size) if run.size else []
            for piece in pieces:
                if piece.size:
                    left, right = area.left + piece[0] * width, area.left + (piece[-1] + 1) * width
                    path += box(left + gap, area.bottom + 2, right - gap, area.bottom + 2 + TICK)
        return path

    def _key(self) -> list[Trace]:
        """What the columns' colours mean, at the upper right of the sheet where it has room."""
        if self._key_left is None:
            return []
        x, points, texts = self._key_left, [], []
        for phase in _named_phases(self._model):
            points.append((x, self._heading))
            colour = self._palette.phases[phase]
            texts.append(f"<span style='color:{colour}'>■</span> {phase}")
            x += _key_entry_width(phase, self._letters)
        return [labels(points, texts, self._letters.small, self._palette.ink)]

    def _names(self) -> tuple[list[tuple[float, float]], list[str]]:
        """A name above each iteration, and its warp's if it runs alone; as many as have room.

        The longest come first, and a name does not reach into the next iteration: that one would
        seem to be its own.
        """
        small, model = self._letters.small, self._model
        noun = iteration_noun(model)
        runs = [
            (multiplied_tile(model, step), warp_alone(model, step))
            for step in model.recording.steps
        ]
        found = [
            (key, list(numbers))
            for key, numbers in itertools.groupby(range(len(runs)), key=runs.__getitem__)
        ]
        taken: list[tuple[float, float, str]] = []  # left, right, name
        for (tile, warp), steps in sorted(found, key=lambda run: -len(run[1])):
            if tile is None:
                continue
            name = f"{noun} {tile + 1}"
            wordings = [] if warp is None else [f"warp {warp}: {name}", f"warp {warp}"]
            width = len(steps) * self._row.width - 6
            x = self._box.left + steps[0] * self._row.width
            for text in (*wordings, name, str(tile + 1)):
                right = x + text_width(text, small)
                if right - x <= width or text == str(tile + 1):
                    break
            is_free = all(right + small <= left or end + small <= x for left, end, _ in taken)
            if is_free and right <= self._box.right:
                taken.append((x, right, text))
        taken.sort()
        points = [(x, self._box.top - 0.75 * small) for x, _, _ in taken]
        names = [name for *_, name in taken]
        return points, names


class PairTimeline(Timeline):
    """A row for each of two recordings in lockstep, a column for each pair of their steps."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], names: tuple[str, str],
        pairs: tuple[Pair, ...], palette: Palette, letters: Letters, areas: PairAreas,
    ) -> None:  # fmt: skip
        area = areas.timeline
        height = area.height / 2
        rows = []
        for side, model in enumerate(models):
            top = area.top + side * height
            middle = top + PAIR_BAND * height
            rows.append(
                Row(
                    model, [one.sides[side] if one.moves[side] else None for one in pairs],
                    may_wait=True,
                    band=Rectangle(area.left, top, area.right, middle - 1),
                    area=Rectangle(area.left, middle, area.right, top + (1 - GAP) * height),
                    hazard=PAIR_HAZARD,
                )
            )  # fmt: skip
        super().__init__(palette, letters, area, rows, 0)
        self._names = short_names(names, letters.small, area.left - 2 * INDENT)

    def static(self) -> list[Trace]:
        """The rows and their names."""
        palette, size = self._palette, self._letters.small
        traces = []
        for row, name in zip(self._rows, self._names, strict=True):
            point = row.area.left - INDENT, (row.area.top + row.area.bottom) / 2
            traces += [
                row.iterations(palette), row.phases(palette),
                labels([point], [name], size, palette.ink, "middle left"),
            ]  # fmt: skip
        return traces


def key_width(model: SceneModel, letters: Letters) -> float:
    """Pixels that the key to the columns' colours takes at the right of the heading."""
    return sum(_key_entry_width(phase, letters) for phase in _named_phases(model)) + BUTTON


def _key_entry_width(phase: Phase, letters: Letters) -> float:
    return text_width(f"m {phase}", letters.small) + letters.small


def _named_phases(model: SceneModel) -> list[Phase]:
    """The phases that a recording has, without the unnamed one."""
    return [phase for phase in PHASES if phase in model.phases and phase is not Phase.OTHER]


def short_names(names: tuple[str, str], size: float, width: float) -> tuple[str, str]:
    """Names that have room and tell the sides apart: as they are, the kernels', else the places."""
    kernels = names[0].partition(",")[0], names[1].partition(",")[0]
    for pair in (names, kernels):
        if pair[0] != pair[1] and all(text_width(name, size) <= width for name in pair):
            return pair
    return "left", "right"
