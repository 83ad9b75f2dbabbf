"""What a scene is drawn on: a sheet of panels, each of which draws its share of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ui.drawing.canvas import Shape, Trace
from ui.drawing.hit import Hit
from ui.drawing.look import Held, Stage
from ui.drawing.motions import Motion


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle on the sheet, in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From the left edge to the right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the upper edge to the lower."""
        return self.bottom - self.top

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is within the rectangle."""
        return self.left <= x < self.right and self.top <= y < self.bottom


@dataclass(frozen=True, slots=True)
class Heading:
    """Where the title is."""

    left: float  # pixels, where its text begins
    middle: float  # pixels, its middle from above
    size: float  # pixels, of its letters


class Numbered(Protocol):
    """What a scene shows one after another: the steps of a recording, or pairs of steps of two."""

    @property
    def number(self) -> int:
        """From 0."""


Shown = TypeVar("Shown", bound=Numbered, contravariant=True)


class Panel(Protocol[Shown]):
    """A panel of the scene: static traces, traces whose texts change, and shapes that change.

    changing and shapes return the same number of entries, in the same order, at every step.
    """

    def static(self) -> list[Trace]:
        """Traces drawn once; a stage has none: its words are empty where another is shown."""
        return []

    def changing(self, step: Shown) -> list[Trace]:
        """Traces whose texts change from step to step; their coordinates and style do not."""
        return []

    def shapes(self, step: Shown) -> list[Shape]:
        """Fills and highlights."""
        return []

    def hit(self, step: Shown, x: float, y: float) -> Hit | None:
        """What is under a point of the sheet, in pixels; None if nothing can be clicked there."""
        return None


class Sheet(Protocol[Shown]):
    """All that is drawn of a recording, or of two beside each other."""

    size: tuple[float, float]  # pixels across and down
    heading: Heading
    timeline: Rectangle  # of all steps
    tall: bool  # whether it is fitted to its room's width alone
    far_share: float  # of the width of global memory and the chip, the former's; 0 without both
    has_clock: bool  # whether a GPU's clock was recorded of it
    clock_height: float  # pixels of what is said of it under the timeline; 0 for nothing
    warps: int  # how many have a row at the foot of the chip
    near: Rectangle  # around the stage, of two scenes around both

    @property
    def panels(self) -> Sequence[Panel[Shown]]:
        """In the order in which they are drawn."""

    def title(self, step: Shown) -> str:
        """Where the step is: its number, loops and line."""

    def motions(self, step: Shown) -> list[Motion]:
        """What moves when the step is played."""

    def stage_of(self, step: Shown) -> Stage:
        """The stage that a step is shown on; of two scenes the left one's."""

    def level_of(self, step: Shown) -> Held:
        """The one of LEVELS that a step is seen at; of two scenes the left one's."""
