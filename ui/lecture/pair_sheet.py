"""The sheet of two scenes in lockstep: two lectures beside each other, and what differs."""

from __future__ import annotations

from dataclasses import replace

from simulator import Step
from ui.analysis.clock import tiles_of_same_work, typical_tile
from ui.analysis.loads import global_loads
from ui.analysis.pairs import Pair, differing_lines
from ui.analysis.products import has_tensor_core
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.hit import Hit
from ui.drawing.look import Held, Look, Stage
from ui.drawing.motions import Motion
from ui.drawing.palette import PALETTES, Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Heading, Panel, Rectangle
from ui.lecture.counts import CountsPanel
from ui.lecture.crossings import CrossingsPanel
from ui.lecture.layout import Areas, with_places
from ui.lecture.lecture_sheet import (
    OnStage,
    crossings_panels,
    fit_title,
    global_memory_panels,
    motions_of,
    place_words,
    shown_warps,
    shows_board,
    stage_panels,
    zoom_words,
)
from ui.lecture.ledger import LedgerPanel
from ui.lecture.letters import TALL_WIDTH, Letters, letters_for_pair, text_width
from ui.lecture.pair_clock import PairClock, say_clocks
from ui.lecture.pair_layout import PairAreas, areas_for_pair, edge_of_pair
from ui.lecture.panel_context import context_for
from ui.lecture.sentences.sentence import SentencePanel
from ui.lecture.source_window import SourceWindow
from ui.lecture.stages import Stages
from ui.lecture.timeline import PairTimeline

WAITS = "waits"
FAR_SHARE = 0.42  # of a side's width, global memory's
LOWER = 0.1  # of a letter: Plotly sets a title so much lower than a text at the same height


class OfSide:
    """A panel of one recording, in the scene of two."""

    def __init__(self, panel: Panel[Step], side: int) -> None:
        self._panel, self._side = panel, side

    def static(self) -> list[Trace]:
        """The panel's."""
        return self._panel.static()

    def changing(self, step: Pair) -> list[Trace]:
        """The panel's, at its side's step."""
        return self._panel.changing(step.sides[self._side])

    def shapes(self, step: Pair) -> list[Shape]:
        """Likewise."""
        return self._panel.shapes(step.sides[self._side])

    def hit(self, step: Pair, x: float, y: float) -> Hit | None:
        """Likewise, with the side."""
        found = self._panel.hit(step.sides[self._side], x, y)
        return None if found is None else replace(found, side=self._side)


class Headings(Panel[Pair]):
    """Where the right side is, beside the sheet's title; on a phone where each side is."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], names: tuple[str, str], palette: Palette,
        letters: Letters, areas: PairAreas,
    ) -> None:  # fmt: skip
        self._models, self._names, self._areas = models, names, areas
        self._palette, self._letters = palette, letters
        self._sides = (0, 1) if areas.tall else (1,)

    def changing(self, step: Pair) -> list[Trace]:
        """A line for each side that has no title."""
        points, texts = [], []
        for side in self._sides:
            area = self._areas.headings[side]
            low = LOWER * self._letters.heading
            points.append((area.left, area.top + self._areas.heading[1] + low))
            texts.append(self.title(step, side, [], area.width))
        return [labels(points, texts, self._letters.heading, self._palette.ink)]

    def title(self, step: Pair, side: int, before: list[str], width: float) -> str:
        """Which scene it is, whether it waits for the other, and where it is, after some texts.

        The first text is bold. As much as there are pixels for: of a long name only the kernel's.
        """
        size, name = self._letters.heading, self._names[side]
        place = place_words(self._models[side], step.sides[side])
        rest = place if step.moves[side] else [WAITS, *place]
        if text_width(" · ".join([*before, name]), size, bold=True) > width:
            name = name.partition(",")[0]
        texts = [*before, name, *rest]
        wider = text_width(texts[0], size, bold=True) - text_width(texts[0], size)
        return fit_title(texts, size, width - wider)

    def shapes(self, step: Pair) -> list[Shape]:
        """The line between the sides."""
        areas = self._areas
        left, right = (one.stage for one in areas.sides)
        if areas.tall:
            y = areas.headings[1].top
            path = box(left.left, y, left.right, y)
        else:
            x = (left.right + right.left) / 2
            path = box(x, areas.headings[1].bottom, x, areas.counts[1].bottom)
        return [outline(path, self._palette.line, 1)]


class Differences(Panel[Pair]):
    """A bar under each value on a stage that is another one on the other side's."""

    def __init__(self, stages: tuple[list[OnStage], list[OnStage]], palette: Palette) -> None:
        self._stages, self._palette = stages, palette

    def shapes(self, step: Pair) -> list[Shape]:
        """The bars of both sides."""
        left, right = (
            [
                (window, content)
                for panel in panels
                for window, content in panel.windows(one)
                if content is not None
            ]
            for panels, one in zip(self._stages, step.sides, strict=True)
        )
        path = ""
        for mine, others in ((left, right), (right, left)):
            for window, content in mine:
                for _, other in others:
                    if (other.array, other.upright) == (content.array, content.upright):
                        path += window.cells.feet(window.differing(content, other))
                        break
        return [outline(path, self._palette.paper, 1, self._palette.keyword)]


def at_one_scale(models: tuple[SceneModel, SceneModel]) -> tuple[SceneModel, SceneModel]:
    """Two models whose warps are drawn so that a cycle is as long in both, if their work is."""
    clocks = [one.clock for one in models if one.clock is not None]
    if len(clocks) < 2 or tiles_of_same_work(*clocks) != 1:
        return models  # a tile of one is other work than a tile of the other
    tiles = [typical_tile(clock.trace) for clock in clocks]
    span = max((tile.end - tile.begin for tile in tiles if tile is not None), default=0)
    left, right = (
        one if one.clock is None else replace(one, clock=replace(one.clock, scale=float(span)))
        for one in models
    )
    return left, right


class PairSheet:
    """Where everything of two lectures is, for two recordings, their threads and a room."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], names: tuple[str, str],
        pairs: tuple[Pair, ...], look: Look,
    ) -> None:  # fmt: skip
        palette = PALETTES[look.theme]
        self.letters = letters_for_pair(look)
        is_tall, width = look.width < TALL_WIDTH, look.width - 2 * edge_of_pair(look)
        models = at_one_scale(models)
        clocks = models[0].clock, models[1].clock
        clock_words = say_clocks(clocks, self.letters, width, None if is_tall else look.height)
        self.areas = areas = areas_for_pair(look, clock_words.height)
        self._count = len(pairs)
        self._headings = Headings(models, names, palette, self.letters, areas)
        lines = differing_lines(*(model.recording.kernel.text for model in models))
        panels: list[Panel[Pair]] = []
        stages: list[Stages] = []
        on_stage: list[list[OnStage]] = []
        crossings: list[list[CrossingsPanel]] = []
        most = max(1, *(loads[-1] for loads in map(global_loads, models) if loads))
        for side, model in enumerate(models):
            of_side = self._divide(areas.sides[side], model, look)
            context = context_for(model, look, self.letters, of_side)
            stages.append(context.stages)
            on_stage.append(stage_panels(context))
            has_grid = look.stage is Stage.GRID and of_side.far is not None
            far = global_memory_panels(context, has_grid, most)
            crossings.append(crossings_panels(context, far, on_stage[side]))
            # What a what-if changed is seen in the text beside it.
            unchanged = replace(context, model=replace(model, changes=()))
            own: list[Panel[Step]] = [
                SourceWindow(unchanged, lines[side]), SentencePanel(context), LedgerPanel(context),
                *far, *on_stage[side], *crossings[side],
            ]  # fmt: skip
            panels += [OfSide(panel, side) for panel in own]
        panels.append(Differences((on_stage[0], on_stage[1]), palette))
        self._stages = stages[0]
        self._on_stage, self._crossings = on_stage, crossings
        self.panels: list[Panel[Pair]] = [
            *panels, self._headings,
            CountsPanel(models, palette, self.letters, areas.counts, areas.count_columns),
            PairTimeline(models, names, pairs, palette, self.letters, areas),
        ]  # fmt: skip
        if clock_words.height:
            self.panels.append(PairClock(models, names, palette, self.letters, areas, clock_words))
        self.size = (areas.width, areas.height)
        self.heading = Heading(*areas.heading, self.letters.heading)
        self.timeline = areas.timeline
        self.tall, self.far_share, self.warps = areas.tall, 0.0, 0
        self.has_clock = any(clock is not None for clock in clocks)
        self.clock_height = clock_words.height
        left, right = (one.stage for one in areas.sides)
        self.near = Rectangle(left.left, left.top, right.right, right.bottom)
        self._held = look.stage

    def _divide(self, areas: Areas, model: SceneModel, look: Look) -> Areas:
        """The areas of a side with places for global memory and the chip, if it has both."""
        if model.product is None or has_tensor_core(model.recording) or look.stage is Stage.COSTS:
            return areas
        letters, tall = self.letters, self.areas.tall
        return with_places(areas, letters, tall, shown_warps(model, look), 1, FAR_SHARE)

    def stage_of(self, step: Pair) -> Stage:
        """The stage that the left step is shown on."""
        return self._stages.of(step.sides[0])

    def level_of(self, step: Pair) -> Held:
        """The one of LEVELS that the left step is seen at."""
        left = step.sides[0]
        return self._stages.level_of(left, shows_board(self._on_stage[0], left))

    def motions(self, step: Pair) -> list[Motion]:
        """What moves on both stages when the pair is played; nothing on the side that waits."""
        return [
            motion
            for crossings, panels, one, moves in zip(
                self._crossings, self._on_stage, step.sides, step.moves, strict=True
            )
            if moves
            for motion in motions_of(crossings, panels, one)
        ]

    def title(self, step: Pair) -> str:
        """The pair's number, and where the left side is, as much as has room."""
        number = f"Step {step.number + 1} of {self._count}"
        if self.areas.tall:
            return " · ".join([f"<b>{number}</b>", *zoom_words(self._held)])
        before = [number, *zoom_words(self._held)]
        return self._headings.title(step, 0, before, self.areas.headings[0].width)
