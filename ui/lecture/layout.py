"""Where the lecture's areas are, computed for the room."""

from __future__ import annotations

from dataclasses import dataclass

from ui.drawing.look import Look
from ui.drawing.sheet import Rectangle
from ui.lecture.letters import TALL_WIDTH, Letters, letters_for

SOURCE_SHARE = 0.5  # of the width
LINE = 1.42  # of a letter's height, from one line of the source to the next
TALL_SOURCE_LINES = 13
BUTTON = 52  # pixels in the corner, for the button that ends a presentation


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of one scene."""

    source: Rectangle
    stage: Rectangle
    maps: Rectangle  # the stage's upper left corner
    sentence: Rectangle
    ledger: Rectangle
    sentence_lines: int  # at most, of the focused thread
    warp_lines: int  # likewise of its warp


@dataclass(frozen=True, slots=True)
class LectureAreas(Areas):
    """The areas of a room's sheet with one scene."""

    width: float
    height: float
    tall: bool  # whether the areas are one under another, as on a phone
    heading: tuple[float, float]  # x of the text's start and y of its middle
    timeline: Rectangle


def areas_for(look: Look) -> LectureAreas:
    """Divide a room into its areas."""
    letters = letters_for(look)
    return _tall(look, letters) if look.width < TALL_WIDTH else _wide(look, letters)


def _wide(look: Look, letters: Letters) -> LectureAreas:
    """Source beside the stage, sentence beside the ledger, the timeline under all."""
    width, height = float(look.width), float(look.height)
    edge = 0.9 * letters.source
    top = 1.9 * letters.heading
    timeline = Rectangle(
        edge, height - 2.9 * letters.small, width - edge, height - 0.5 * letters.small
    )
    above = timeline.top - 1.75 * letters.small  # the iterations' labels stand between
    # The sentence: thread, two lines, two of the warp.
    sentence_top = above - 1.45 * 3 * letters.sentence - 1.35 * 2 * letters.small
    middle = edge + SOURCE_SHARE * (width - 2 * edge)
    source = Rectangle(edge, top, middle - edge, sentence_top - 0.4 * letters.sentence)
    stage = Rectangle(middle + edge, top, width - edge, sentence_top - 0.4 * letters.sentence)
    split = edge + 0.66 * (width - 2 * edge)
    side = min(0.36 * stage.width, 0.36 * stage.height)
    return LectureAreas(
        source, stage, Rectangle(stage.left, stage.top, stage.left + side, stage.top + side),
        Rectangle(edge, sentence_top, split - edge, above),
        Rectangle(split, sentence_top, width - edge, above), 2, 2,
        width, height, False, (edge, 0.95 * letters.heading), timeline,
    )  # fmt: skip


def _tall(look: Look, letters: Letters) -> LectureAreas:
    """One area under another, as high as they need."""
    width, edge = float(look.width), 8.0
    right = width - edge
    sentence_top = 2.2 * letters.heading
    sentence = Rectangle(
        edge, sentence_top, right,
        sentence_top + 1.42 * 4 * letters.sentence + 1.35 * 3 * letters.small,
    )  # fmt: skip
    stage = Rectangle(edge, sentence.bottom + 10, right, sentence.bottom + 10 + 1.12 * width)
    ledger = Rectangle(edge, stage.bottom + 8, right, stage.bottom + 8 + 1.5 * 5 * letters.small)
    source = Rectangle(
        edge, ledger.bottom + 12, right,
        ledger.bottom + 12 + TALL_SOURCE_LINES * LINE * letters.source,
    )  # fmt: skip
    timeline_top = source.bottom + 3.4 * letters.small
    timeline = Rectangle(edge, timeline_top, right, timeline_top + 2.4 * letters.small)
    side = 0.36 * stage.width
    return LectureAreas(
        source, stage, Rectangle(stage.left, stage.top, stage.left + side, stage.top + side),
        sentence, ledger, 3, 3,
        width, round(timeline.bottom + 10), True, (edge, 0.9 * letters.heading), timeline,
    )  # fmt: skip
