"""The lecture's sheet: its panels, of which one stage is shown at each step."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from simulator import Step
from simulator.language.tree import MemorySpace
from ui.analysis.products import has_tensor_core
from ui.analysis.scene_model import (
    SceneModel,
    follows_products,
    iteration,
    iteration_noun,
    loaded_tile,
    multiplied_tile,
    warp_alone,
)
from ui.drawing.canvas import SPACE, Shape, Trace
from ui.drawing.hit import Hit
from ui.drawing.look import Look, Stage
from ui.drawing.motions import Motion
from ui.drawing.palette import PALETTES, Palette
from ui.drawing.sheet import Heading, Panel
from ui.lecture.arrays import ArrayReader
from ui.lecture.arrays_panel import ArraysPanel
from ui.lecture.banks_stage import BanksStage
from ui.lecture.board import Boards
from ui.lecture.copy_stage import CopyStage
from ui.lecture.costs_stage import CostsStage
from ui.lecture.layout import Areas, LectureAreas, areas_for
from ui.lecture.ledger import LedgerPanel
from ui.lecture.letters import Letters, letters_for, text_width
from ui.lecture.maps import MapsPanel
from ui.lecture.product_stage import ProductStage
from ui.lecture.registers_stage import RegistersStage
from ui.lecture.sentence import SentencePanel
from ui.lecture.source_window import SourceWindow
from ui.lecture.stages import Stages
from ui.lecture.tensor_stage import TensorStage
from ui.lecture.threads_stage import ThreadsStage
from ui.lecture.timeline import LectureTimeline, key_width
from ui.lecture.window import Windows


class StagePanel(Protocol):
    """A stage: a panel of fixed places that is shown at some steps."""

    def matches(self, step: Step) -> bool:
        """Whether it can show a step."""

    def static(self) -> list[Trace]:
        """Traces that are drawn once; a stage has none."""

    def changing(self, step: Step) -> list[Trace]:
        """Traces whose texts change."""

    def shapes(self, step: Step) -> list[Shape]:
        """Fills and outlines."""

    def motions(self, step: Step) -> list[Motion]:
        """What moves when the step is played."""

    def windows(self, step: Step) -> Windows:
        """The windows of arrays that it shows."""

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """What is under a point."""


class OnStage:
    """A stage that is empty at the steps that another is shown at."""

    def __init__(self, stages: Stages, kinds: tuple[Stage, ...], panel: StagePanel) -> None:
        self._stages, self._kinds, self._panel = stages, kinds, panel
        self._empty: tuple[list[Trace], list[Shape]] | None = None

    def static(self) -> list[Trace]:
        """Nothing."""
        return self._panel.static()

    def changing(self, step: Step) -> list[Trace]:
        """The stage's texts, or empty ones."""
        return self._panel.changing(step) if self._is_shown(step) else self._emptied(step)[0]

    def shapes(self, step: Step) -> list[Shape]:
        """The stage's shapes, or empty ones."""
        return self._panel.shapes(step) if self._is_shown(step) else self._emptied(step)[1]

    def windows(self, step: Step) -> Windows:
        """The stage's windows, if it is shown."""
        return self._panel.windows(step) if self._is_shown(step) else ()

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """What is under a point, if the stage is shown."""
        return self._panel.hit(step, x, y) if self._is_shown(step) else None

    def motions(self, step: Step) -> list[Motion]:
        """What moves on the stage, if it is shown."""
        return self._panel.motions(step) if self._is_shown(step) else []

    def _is_shown(self, step: Step) -> bool:
        return self._stages.of(step) in self._kinds and self._panel.matches(step)

    def _emptied(self, step: Step) -> tuple[list[Trace], list[Shape]]:
        """The same traces and shapes with nothing in them; any step has as many."""
        if self._empty is None:
            self._empty = (
                [trace | {"text": [SPACE] * len(trace["text"])}
                 for trace in self._panel.changing(step)],
                [shape | {"path": "M0,0Z"} for shape in self._panel.shapes(step)],
            )  # fmt: skip
        return self._empty


def stage_panels(
    model: SceneModel, palette: Palette, letters: Letters, areas: Areas, reader: ArrayReader,
    boards: Boards, stages: Stages, pinned: Stage | None,
) -> list[OnStage]:  # fmt: skip
    """Every stage of a recording, of which one is shown at each step: the pinned one, if any.

    Without a product there are no matrices' maps: the arrays stand in the place of both.
    """
    with_maps = areas
    if model.product is None:
        maps = replace(areas.maps, right=areas.stage.left - 1.5 * letters.name)
        areas = replace(areas, maps=maps)
        arrays = ArraysPanel(
            model,
            palette,
            letters,
            areas.stage,
            reader,
            (MemorySpace.GLOBAL, MemorySpace.CONSTANT, MemorySpace.SHARED),
        )
        first = [OnStage(stages, (Stage.COPY, Stage.STORE, Stage.PRODUCT), arrays)]
    else:
        first = [
            OnStage(stages, (Stage.PRODUCT,),
                    ProductStage(model, palette, letters, areas, reader, boards, board))
            for board in boards
        ]  # fmt: skip
        copy = CopyStage(model, model.product, palette, letters, areas, reader, stages)
        first.append(OnStage(stages, (Stage.COPY, Stage.STORE), copy))
    return [
        *first,
        OnStage(stages, (Stage.BANKS,),
                BanksStage(model, palette, letters, areas, reader, stages)),
        OnStage(stages, (Stage.THREADS,), ThreadsStage(model, palette, letters, areas)),
        OnStage(stages, (Stage.REGISTERS,), RegistersStage(model, palette, letters, areas)),
        *(
            # Only where it is used: other figures need not carry it.
            [OnStage(stages, (Stage.TENSOR,), TensorStage(model, palette, letters, with_maps))]
            if pinned is Stage.TENSOR or has_tensor_core(model.recording) else []
        ),
        *(
            # Only pinned: other figures need not carry it.
            [OnStage(stages, (Stage.COSTS,), CostsStage(model, palette, letters, areas))]
            if pinned is Stage.COSTS else []
        ),
    ]  # fmt: skip


def maps_panels(
    model: SceneModel, palette: Palette, letters: Letters, areas: Areas, boards: Boards
) -> list[MapsPanel]:
    """The maps of A, B and C, where a kernel multiplies matrices."""
    if model.product is None:
        return []
    return [MapsPanel(model, model.product, palette, letters, areas, boards)]


class LectureSheet:
    """Where everything of a lecture is, for one recording, thread and room."""

    def __init__(self, model: SceneModel, look: Look) -> None:
        palette = PALETTES[look.theme]
        self.letters: Letters = letters_for(look)
        self.areas: LectureAreas = areas_for(look)
        letters, areas = self.letters, self.areas
        reader = ArrayReader(model)
        boards = Boards(model, reader)
        stages = Stages(model, boards, look.stage)
        self._key_width = key = key_width(model, letters)
        self.panels: list[Panel[Step]] = [
            SourceWindow(model, palette, letters, areas),
            *maps_panels(model, palette, letters, areas, boards),
            *stage_panels(model, palette, letters, areas, reader, boards, stages, look.stage),
            SentencePanel(model, palette, letters, areas, reader),
            LedgerPanel(model, palette, letters, areas),
            LectureTimeline(model, palette, letters, areas, key),
        ]
        self._model, self._stages = model, stages
        self.size = (areas.width, areas.height)
        self.heading = Heading(*areas.heading, letters.heading)
        self.timeline = areas.timeline
        self.tall = areas.tall

    def stage_of(self, step: Step) -> Stage:
        """The stage that a step is shown on."""
        return self._stages.of(step)

    def motions(self, step: Step) -> list[Motion]:
        """What moves when the step is played."""
        return [
            motion for panel in self.panels if isinstance(panel, OnStage)
            for motion in panel.motions(step)
        ]  # fmt: skip

    def title(self, step: Step) -> str:
        """Where we are: step, tile, k, line, hazards; as much as has room."""
        model = self._model
        texts = [f"Step {step.number + 1} of {len(model.recording.steps)}"]
        texts += place_words(model, step)
        room = self.areas.width - 2 * self.areas.heading[0]
        if not self.areas.tall:
            room -= self._key_width
        return fit_title(texts, self.letters.heading, room)


def fit_title(texts: list[str], size: float, room: float) -> str:
    """The first text in bold, and as many of the others as there are pixels for."""
    shown = list(texts)
    while text_width(" · ".join(shown), size) > room and len(shown) > 1:
        shown.pop()
    return " · ".join([f"<b>{shown[0]}</b>", *shown[1:]])


def place_words(model: SceneModel, step: Step) -> list[str]:
    """Where a step is: its hazard, warp, tile, loops and line; the last matters least."""
    texts = []
    hazards = [hazard.kind for hazard in model.hazards if step.line in hazard.lines]
    if hazards:
        texts.append(f"⚠ {hazards[0]}")
    warp = warp_alone(model, step)
    texts += [] if warp is None else [f"warp {warp}"]
    texts += _tile_words(model, step)
    values = {entry.loop: entry for entry in step.loops}
    for loop in (model.outer, model.inner):
        entry = None if loop is None else values.get(loop)
        is_within = iteration(model, step, loop) is not None
        if is_within and entry is not None and entry.value is not None:
            texts.append(f"{entry.variable} = {entry.value}")
    return [*texts, f"line {step.line}"]


def _tile_words(model: SceneModel, step: Step) -> list[str]:
    """Which tile is multiplied, and which other one the step loads."""
    count = iteration(model, step, model.outer)
    if model.tiles_of_k is None:
        noun = iteration_noun(model)
        return [] if count is None else [f"{noun} {count[0] + 1} of {count[1]}"]
    texts = []
    tile, loaded = multiplied_tile(model, step), loaded_tile(model, step)
    if tile is not None:
        texts.append(f"tile {tile + 1} of {model.tile_count}")
    elif count is not None:
        where = "after the last" if follows_products(model, step) else "before the first"
        texts.append(f"{where} tile")
    if loaded is not None and loaded != tile:
        texts.append(f"loads tile {loaded + 1}")
    return texts
