"""How a scene is drawn, whatever it shows: colours, how near the eye is, and the room it has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What the lecture's stage shows."""

    COPY = "copy"  # from global memory: the matrix, its tile, sectors
    PRODUCT = "product"  # factors and sums, as on a blackboard
    BANKS = "banks"  # a warp's request, and the banks that serve it
    THREADS = "threads"  # those that run, and those at the barrier
    REGISTERS = "registers"  # what the focused thread holds
    STORE = "store"  # into C
    TENSOR = "tensor"  # how the tensor core adds up a cell
    GRID = "grid"  # the blocks and the tiles that each makes; shown only where it is held
    CLOCK = "clock"  # measured cycles of every warp of a block; shown only where it is held
    COSTS = "costs"  # what the steps have cost so far; shown only where it is held


class Level(StrEnum):
    """A level of the zoom that has several stages, of which each step is shown on its own."""

    BLOCK = "block"  # copies, products, stores, the gate
    WARP = "warp"  # sectors, banks, lanes, a tensor core


Held = Stage | Level  # what the lecture may be held at; StrEnums, none of which has another's text
LEVELS: tuple[Held, ...] = (Stage.GRID, Level.BLOCK, Level.WARP, Stage.REGISTERS)  # from far away


def parse_held(text: str) -> Held:
    """The stage or level of that name. Raises ValueError for another."""
    return Level(text) if text in tuple(Level) else Stage(text)


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw a scene."""

    theme: str = "light"  # a key of palette.PALETTES
    stage: Held | None = None  # what is held, or None where the stage follows the step
    width: int = 1280  # CSS pixels of the viewport
    height: int = 720  # CSS pixels of the viewport
    presenting: bool = False  # whether nothing else is on the screen, to be read from far away
