"""A stage: a panel of fixed places on the chip that is shown at some steps."""

from __future__ import annotations

from typing import Protocol

from simulator import Step
from ui.drawing.motions import Motion
from ui.drawing.sheet import Panel
from ui.lecture.window import Windows


class StagePanel(Panel[Step], Protocol):
    """A panel that other stages take turns with."""

    def matches(self, step: Step) -> bool:
        """Whether it can show a step."""
        return True

    def motions(self, step: Step) -> list[Motion]:
        """What moves when the step is played."""
        return []

    def windows(self, step: Step) -> Windows:
        """The windows of arrays that it shows."""
        return ()
