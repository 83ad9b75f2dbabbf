"""The lecture's sheet: its panels, of which one stage is shown at each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from simulator import Step
from simulator.language.files import with_file_names
from simulator.language.tree import Barrier, MemorySpace
from simulator.launch import WARP_SIZE
from simulator.recording.barriers import absent
from ui.analysis.divergence import has_divergence
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
from ui.drawing.look import Held, Level, Look, Stage
from ui.drawing.motions import Motion
from ui.drawing.palette import PALETTES
from ui.drawing.sheet import Heading, Panel
from ui.lecture.arrays import ArrayName
from ui.lecture.arrays_panel import ArraysPanel
from ui.lecture.banks_stage import BanksStage
from ui.lecture.buffers_stage import BuffersStage, tiles_in_turns
from ui.lecture.clock_stage import ClockStage
from ui.lecture.clock_strip import ClockStrip
from ui.lecture.copy_stage import CopyStage
from ui.lecture.costs_stage import CostsStage
from ui.lecture.crossings import CrossingsPanel
from ui.lecture.fragments_stage import FragmentsStage
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.grid_stage import GridStage
from ui.lecture.layout import (
    FAR_SHARE,
    FAR_SHARE_OF_TENSOR_CORE,
    SOURCE_SHARE,
    SOURCE_SHARE_OF_TENSOR_CORE,
    LectureAreas,
    areas_for,
    with_buffers,
)
from ui.lecture.ledger import LedgerPanel
from ui.lecture.letters import Letters, letters_for, text_width
from ui.lecture.panel_context import PanelContext, context_for
from ui.lecture.places import PlacesPanel
from ui.lecture.product_stage import ProductStage
from ui.lecture.registers_stage import RegistersStage
from ui.lecture.sentences.sentence import SentencePanel
from ui.lecture.source_window import SourceWindow
from ui.lecture.stage_panel import StagePanel
from ui.lecture.stages import Stages
from ui.lecture.tensor_stage import TensorStage
from ui.lecture.threads_stage import ThreadsStage
from ui.lecture.timeline import LectureTimeline, key_width
from ui.lecture.warp_rows import WarpRows
from ui.lecture.window import Windows

# What the board of a product is shown at, where global memory has a place of its own.
BOARD_STAGES = (Stage.PRODUCT, Stage.COPY, Stage.STORE, Stage.REGISTERS)
# What needs no rows of warps under it, where it is held.
WITHOUT_WARPS = (Stage.THREADS, Stage.GRID, Stage.CLOCK, Level.WARP)


class OnStage:
    """A stage that is empty at the steps that another is shown at."""

    def __init__(
        self, stages: Stages, kinds: tuple[Stage, ...], panel: StagePanel,
        is_left_out: Callable[[Step], bool] = lambda _: False,
    ) -> None:  # fmt: skip
        self._stages, self._kinds, self.panel = stages, kinds, panel
        self._is_left_out = is_left_out
        self._empty: tuple[list[Trace], list[Shape]] | None = None

    def static(self) -> list[Trace]:
        """Nothing."""
        return self.panel.static()

    def changing(self, step: Step) -> list[Trace]:
        """The stage's texts, or empty ones."""
        return self.panel.changing(step) if self.is_shown(step) else self._emptied(step)[0]

    def shapes(self, step: Step) -> list[Shape]:
        """The stage's shapes, or empty ones."""
        return self.panel.shapes(step) if self.is_shown(step) else self._emptied(step)[1]

    def windows(self, step: Step) -> Windows:
        """The stage's windows, if it is shown."""
        return self.panel.windows(step) if self.is_shown(step) else ()

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """What is under a point, if the stage is shown."""
        return self.panel.hit(step, x, y) if self.is_shown(step) else None

    def motions(self, step: Step) -> list[Motion]:
        """What moves on the stage, if it is shown."""
        return self.panel.motions(step) if self.is_shown(step) else []

    def is_shown(self, step: Step) -> bool:
        """Whether the stage is the one of a step."""
        is_of_kind = self._stages.of(step) in self._kinds
        return is_of_kind and self.panel.matches(step) and not self._is_left_out(step)

    def _emptied(self, step: Step) -> tuple[list[Trace], list[Shape]]:
        """The same traces and shapes with nothing in them; any step has as many."""
        if self._empty is None:
            self._empty = (
                [trace | {"text": [SPACE] * len(trace["text"])}
                 for trace in self.panel.changing(step)],
                [shape | {"path": "M0,0Z"} for shape in self.panel.shapes(step)],
            )  # fmt: skip
        return self._empty


def _board_rule(context: PanelContext) -> Callable[[Step], bool]:
    """At which steps the board of the nearest product stays on the chip.

    Not where anything but the block is held, nor where the values of a run without the fault are
    shown, nor at a barrier to which threads never come: words say where they are.
    """
    model, areas, reader, stages = context.model, context.areas, context.reader, context.stages
    product, may_show = model.product, context.held in (None, Level.BLOCK)
    has_board = any(True for _ in context.boards) or has_tensor_core(model.recording)
    if product is None or areas.far is None or not may_show or not has_board:
        return lambda _: False
    result = ArrayName(product.C, MemorySpace.GLOBAL)

    def decide(step: Step) -> bool:
        stage = stages.of(step)
        if stage is Stage.THREADS:
            return areas.warps is not None and not absent(model.recording, step)
        return (
            stage in BOARD_STAGES and reader.wrong_access(step) is None
            and reader.right_texts(step, result) is None
        )  # fmt: skip

    decided: dict[int, bool] = {}  # by the step's number: every stage asks

    def is_on_board(step: Step) -> bool:
        if step.number not in decided:
            decided[step.number] = decide(step)
        return decided[step.number]

    return is_on_board


def _board_panels(context: PanelContext) -> list[StagePanel]:
    """The board of each product, and beside all of them the tiles that take turns, if any do.

    Of a tensor core's the fragments, where the chip has a place of its own.
    """
    has_tensor = has_tensor_core(context.model.recording)
    if has_tensor and context.areas.chip is None:
        return []
    boards = () if has_tensor else tuple(context.boards)
    turns = tiles_in_turns(context.model) if has_tensor or boards else ()
    if turns:
        areas = with_buffers(context.areas, context.letters, len(turns[0].cells))
        context = replace(context, areas=areas)
    panels: list[StagePanel] = (
        [FragmentsStage(context)] if has_tensor
        else [ProductStage(context, board) for board in boards]
    )  # fmt: skip
    if context.areas.buffers is not None:
        panels.append(BuffersStage(context, turns))
    return panels


def stage_panels(context: PanelContext) -> list[OnStage]:
    """Every stage of a recording, of which one is shown at each step.

    Without a product there are no matrices' maps: the arrays take the place of both.
    """
    with_maps, stages, areas = context, context.stages, context.areas
    model, letters = context.model, context.letters
    with_board = _board_rule(context)
    if model.product is None:
        corner = replace(areas.corner, right=areas.stage.left - 1.5 * letters.name)
        context = replace(context, areas=replace(areas, corner=corner))
        spaces = MemorySpace.GLOBAL, MemorySpace.CONSTANT, MemorySpace.SHARED
        arrays = ArraysPanel(model, context.palette, letters, areas.stage, context.reader, spaces)
        first = [OnStage(stages, (Stage.COPY, Stage.STORE, Stage.PRODUCT), arrays)]
    else:
        first = [
            OnStage(stages, (*BOARD_STAGES, Stage.THREADS), panel,
                    lambda step: stages.of(step) is not Stage.PRODUCT and not with_board(step))
            for panel in _board_panels(context)
        ]  # fmt: skip
        copy = CopyStage(context, model.product)
        first.append(OnStage(stages, (Stage.COPY, Stage.STORE), copy, with_board))
    gate = [] if areas.warps is None else [
        OnStage(stages, tuple(Stage), WarpRows(context, areas.warps),
                lambda step: stages.of(step) in (Stage.BANKS, Stage.TENSOR)
                or (stages.of(step) is Stage.THREADS and not with_board(step)))
    ]  # fmt: skip
    return [
        *first,
        *gate,
        OnStage(stages, (Stage.BANKS,), BanksStage(context)),
        OnStage(stages, (Stage.THREADS,), ThreadsStage(context), with_board),
        OnStage(stages, (Stage.REGISTERS,), RegistersStage(context), with_board),
        *_rare_panels(context, with_maps),
    ]


def _rare_panels(context: PanelContext, with_maps: PanelContext) -> list[OnStage]:
    """The stages that are shown only where they are held, or a tensor core is used.

    Other figures need not carry them.
    """
    held, has_tensor = context.held, has_tensor_core(context.model.recording)
    rare: list[tuple[Stage, StagePanel]] = []
    if held is Stage.TENSOR or has_tensor:
        rare.append((Stage.TENSOR, TensorStage(with_maps)))
    match held:
        case Stage.GRID:
            rare.append((Stage.GRID, GridStage(with_maps)))
        case Stage.COSTS:
            rare.append((Stage.COSTS, CostsStage(context)))
        case Stage.CLOCK:
            rare.append((Stage.CLOCK, ClockStage(context)))
    return [OnStage(context.stages, (stage,), panel) for stage, panel in rare]


def global_memory_panels(
    context: PanelContext, has_grid: bool, most: int | None = None
) -> list[Panel[Step]]:
    """The frames of global memory and the chip, and A, B and C, if matrices are multiplied.

    has_grid is whether the whole grid is in the chip's place; most is of a pair what the bars
    of loads are at most.
    """
    if context.model.product is None:
        return []
    matrices = GlobalMemoryPanel(context, context.model.product)
    if context.areas.far is None:
        return [matrices]
    return [PlacesPanel(context, matrices.bars, has_grid, most), matrices]


def crossings_panels(
    context: PanelContext, far: Sequence[Panel[Step]], on_stage: Sequence[OnStage]
) -> list[CrossingsPanel]:
    """What moves between global memory and the chip, where both have a place of their own."""
    areas = context.areas
    if areas.far is None or areas.chip is None:
        return []
    is_below = areas.chip.top >= areas.far.bottom
    boards = {
        one.panel: one.is_shown
        for one in on_stage
        if isinstance(one.panel, ProductStage | FragmentsStage)
    }
    gate = next((one.panel for one in on_stage if isinstance(one.panel, WarpRows)), None)
    buffers = next((one.panel for one in on_stage if isinstance(one.panel, BuffersStage)), None)
    return [
        CrossingsPanel(context.model, context.palette, panel, boards, gate, buffers, is_below)
        for panel in far if isinstance(panel, GlobalMemoryPanel) and boards
    ]  # fmt: skip


class LectureSheet:
    """Where everything of a lecture is, for one recording, thread and room."""

    def __init__(self, model: SceneModel, look: Look) -> None:
        palette = PALETTES[look.theme]
        self.letters: Letters = letters_for(look)
        source_share, self.far_share = _shares(model)
        # What threads share is not told of a tensor core: its lanes read nothing alone.
        has_long_ledger = not has_tensor_core(model.recording)
        self.warps = shown_warps(model, look)
        self.areas: LectureAreas = areas_for(
            look, self.far_share, self.warps, model.clock is not None, source_share, has_long_ledger
        )
        letters, areas = self.letters, self.areas
        context = context_for(model, look, letters, areas)
        self._key_width = key = key_width(model, letters)
        far = global_memory_panels(context, look.stage is Stage.GRID)
        on_stage = stage_panels(context)
        self._crossings = crossings_panels(context, far, on_stage)
        self.panels: list[Panel[Step]] = [
            SourceWindow(context, pinned=_pinned_lines(model, look)),
            *far,
            *on_stage,
            *self._crossings,
            SentencePanel(context),
            LedgerPanel(context),
            LectureTimeline(model, palette, letters, areas, key),
        ]
        if model.clock is not None and areas.clock is not None:
            self.panels.append(
                ClockStrip(model.clock, model.thread, palette, letters, areas.clock, areas.tall)
            )
        self._model, self._stages = model, context.stages
        self.size = (areas.width, areas.height)
        self.heading = Heading(*areas.heading, letters.heading)
        self.timeline = areas.timeline
        self.tall, self.has_clock = areas.tall, model.clock is not None
        self.clock_height = 0.0 if areas.clock is None else areas.clock.height
        self.near = areas.chip or areas.stage
        self._held, self._on_stage = look.stage, on_stage

    def stage_of(self, step: Step) -> Stage:
        """The stage that a step is shown on."""
        return self._stages.of(step)

    def level_of(self, step: Step) -> Held:
        """The one of LEVELS that a step is seen at."""
        return self._stages.level_of(step, shows_board(self._on_stage, step))

    def motions(self, step: Step) -> list[Motion]:
        """What moves when the step is played."""
        return motions_of(self._crossings, self._on_stage, step)

    def title(self, step: Step) -> str:
        """Where we are: step, tile, k, line, hazards; as much as has room."""
        model = self._model
        texts = [f"Step {step.number + 1} of {len(model.recording.steps)}"]
        texts += [*zoom_words(self._held), *place_words(model, step)]
        width = self.areas.width - 2 * self.areas.heading[0]
        if not self.areas.tall:
            width -= self._key_width
        return fit_title(texts, self.letters.heading, width)


def _shares(model: SceneModel) -> tuple[float, float]:
    """The source's share of the width, and global memory's of the width of both places.

    The latter is 0 where no matrices are multiplied.
    """
    if model.product is None:
        return SOURCE_SHARE, 0.0
    if has_tensor_core(model.recording):
        return SOURCE_SHARE_OF_TENSOR_CORE, FAR_SHARE_OF_TENSOR_CORE
    return SOURCE_SHARE, FAR_SHARE


def _pinned_lines(model: SceneModel, look: Look) -> frozenset[int]:
    """Where the banks are held, the declarations of shared arrays: a padded row is seen there."""
    if look.stage not in (Stage.BANKS, Level.WARP):
        return frozenset()
    return frozenset(array.span.line for array in model.recording.shared)


def motions_of(
    crossings: Sequence[CrossingsPanel], on_stage: Sequence[OnStage], step: Step
) -> list[Motion]:
    """What moves at a step: between the places, or else on the stage."""
    crossing = [motion for panel in crossings for motion in panel.motions(step)]
    return crossing or [motion for panel in on_stage for motion in panel.motions(step)]


def shown_warps(model: SceneModel, look: Look) -> int:
    """How many warps have a row: of a block in which one waits for another, or lanes of one part.

    None where what is held has no need of them.
    """
    recording = model.recording
    if look.stage in WITHOUT_WARPS:
        return 0
    has_barrier = any(isinstance(step.statement, Barrier) for step in recording.steps)
    is_shown = has_barrier or has_divergence(recording)
    return -(-recording.launch.threads // WARP_SIZE) if is_shown else 0


def fit_title(texts: list[str], size: float, width: float) -> str:
    """The first text in bold, and as many of the others as there are pixels for."""
    shown = list(texts)
    while text_width(" · ".join(shown), size) > width and len(shown) > 1:
        shown.pop()
    return " · ".join([f"<b>{shown[0]}</b>", *shown[1:]])


def zoom_words(held: Held | None) -> list[str]:
    """What is held, in the title: the stage does not follow the step then."""
    return [] if held is None else [f"zoom: {held}"]


def shows_board(on_stage: Sequence[OnStage], step: Step) -> bool:
    """Whether one of some stages is a product's board, and is shown at a step."""
    return any(
        isinstance(one.panel, ProductStage | FragmentsStage) and one.is_shown(step)
        for one in on_stage
    )


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
    place = with_file_names(f"line {step.line}", model.recording.kernel.text, keeps_numbers=True)
    return [*texts, place]


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
