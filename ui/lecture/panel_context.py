"""What the panels of a recording have in common."""

from __future__ import annotations

from dataclasses import dataclass

from ui.analysis.scene_model import SceneModel
from ui.drawing.look import Held, Look
from ui.drawing.palette import PALETTES, Palette
from ui.lecture.arrays import ArrayReader
from ui.lecture.board import Boards
from ui.lecture.layout import Areas
from ui.lecture.letters import Letters
from ui.lecture.stages import Stages


@dataclass(frozen=True, slots=True)
class PanelContext:
    """What a panel is drawn from, and where it may draw."""

    model: SceneModel
    palette: Palette
    letters: Letters
    areas: Areas
    reader: ArrayReader
    boards: Boards
    stages: Stages
    held: Held | None  # the stage or level at which a visitor holds the picture


def context_for(model: SceneModel, look: Look, letters: Letters, areas: Areas) -> PanelContext:
    """The context of a recording's panels."""
    reader = ArrayReader(model)
    boards = Boards(model, reader)
    stages = Stages(model, boards, look.stage)
    return PanelContext(
        model, PALETTES[look.theme], letters, areas, reader, boards, stages, look.stage
    )
