"""Where two scenes beside each other are, computed for the room."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ui.drawing.look import Look
from ui.drawing.sheet import Rectangle
from ui.lecture.counts import NAMES, counts_height
from ui.lecture.layout import BUTTON, LINE, PLACES_HEIGHT, TITLE, TOP, Areas
from ui.lecture.letters import TALL_WIDTH, Letters, letters_for_pair, text_width

STRIP_ROWS = 3  # of the source: a line and its values
# Lines of the sentence and of the ledger: the first that leave the stage enough.
TEXT_LINES = ((2, 1), (1, 1), (1, 0))
NAME_LINE = 1.7  # of a name's letter, an array's name above its cells
CELL = 1.75  # of a number's height, a row of cells
LEAST_STAGE = 0.35  # of a scene's height
APART = 10  # pixels, at least, from a name of the counts to the next
BAR = 1.7  # of a small letter, a row of the timeline
TALL_EDGE = 8.0  # pixels
NAME = 7.0  # of a small letter, the names beside the timeline's rows


@dataclass(frozen=True, slots=True)
class PairAreas:
    """The areas of a room that two scenes share."""

    width: float
    height: float
    tall: bool  # whether the scenes are one under the other, as on a phone
    heading: tuple[float, float]  # x of the title's start and y of its middle
    headings: tuple[Rectangle, Rectangle]  # of each scene
    sides: tuple[Areas, Areas]
    counts: tuple[Rectangle, Rectangle]  # of each scene
    count_columns: int  # of the counts
    timeline: Rectangle  # both rows, without their names
    clock: Rectangle | None = None  # under the timeline; on a phone under the scenes


def edge_of_pair(look: Look) -> float:
    """Pixels at the left and the right of all, and on a phone between all that is there."""
    return TALL_EDGE if look.width < TALL_WIDTH else 0.9 * letters_for_pair(look).source


def areas_for_pair(look: Look, clock: float = 0.0) -> PairAreas:
    """Divide a room into the areas of two scenes.

    clock is how many pixels high it is what a GPU's clock said of both.
    """
    letters = letters_for_pair(look)
    if look.width < TALL_WIDTH:
        return _tall(look, letters, clock)
    areas = _wide(look, letters, clock)
    # The places' names, then a row of each factor and of sums, with their names; in a lower room
    # the picture is scaled.
    least = (TITLE + 1.4 + 2 * NAME_LINE) * letters.name + 2 * CELL * letters.number
    missing = math.ceil(least - areas.sides[0].stage.height)
    higher = replace(look, height=look.height + max(0, missing))
    return areas if missing <= 0 else _wide(higher, letters, clock)


def _wide(look: Look, letters: Letters, clock: float) -> PairAreas:
    """One beside the other, each from its heading down to its counts; the timeline under both."""
    width, height = float(look.width), float(look.height)
    edge = edge_of_pair(look)
    line = TOP * letters.heading
    bottom = height - clock
    timeline = _timeline(letters, edge, width - edge, bottom - 0.5 * letters.small)
    half = (width - 4 * edge) / 2
    sides = []
    for left in (edge, width - edge - half):
        right = left + half
        is_under_button = look.presenting and right > width / 2
        heading = Rectangle(left, 0, right - (BUTTON if is_under_button else 0), line)
        sides.append(
            _side(
                letters, heading, Rectangle(left, line, right, timeline.top - 0.7 * edge),
                TEXT_LINES[1:] if clock else TEXT_LINES,
            )
        )  # fmt: skip
    columns = _count_columns(letters, half)
    (left_heading, left_areas, left_counts), (right_heading, right_areas, right_counts) = sides
    return PairAreas(
        width, height, False, (edge, 0.5 * TOP * letters.heading), (left_heading, right_heading),
        (left_areas, right_areas), (left_counts, right_counts), columns, timeline,
        Rectangle(edge, bottom, width - edge, height) if clock else None,
    )  # fmt: skip


def _side(
    letters: Letters, heading: Rectangle, area: Rectangle,
    text_lines: tuple[tuple[int, int], ...],
) -> tuple[Rectangle, Areas, Rectangle]:  # fmt: skip
    """A scene's heading, areas and counts."""
    gap = 0.4 * letters.sentence
    left, right = area.left, area.right
    height = counts_height(letters, _count_columns(letters, area.width))
    counts = Rectangle(left, area.bottom - height, right, area.bottom)
    for sentence_lines, ledger_rows in text_lines:
        ledger_top = counts.top - ledger_rows * 1.35 * letters.name - 2
        sentence_top = (
            ledger_top - 1.42 * (1 + sentence_lines) * letters.sentence - 1.35 * letters.small
        )
        source_top = sentence_top - gap - STRIP_ROWS * LINE * letters.source - 1
        if source_top - gap - area.top >= LEAST_STAGE * area.height:
            break
    stage = Rectangle(left, area.top, right, source_top - gap)
    side = min(0.36 * stage.width, 0.36 * stage.height)
    maps = Rectangle(left, stage.top, left + side, stage.top + side)
    areas = Areas(
        Rectangle(left, source_top, right, sentence_top - gap), stage, maps, maps,
        Rectangle(left, sentence_top, right, ledger_top),
        Rectangle(left, ledger_top, right, counts.top), sentence_lines, 1,
    )  # fmt: skip
    return heading, areas, counts


def _tall(look: Look, letters: Letters, clock: float) -> PairAreas:
    """One under the other, each as high as it needs; the timeline between title and scenes."""
    width, edge = float(look.width), edge_of_pair(look)
    right = width - edge
    line = 1.9 * letters.heading
    timeline = _timeline(letters, edge, right, line + (2 * BAR + 0.5) * letters.small)
    top = timeline.bottom + 0.6 * letters.small
    sides = []
    for _ in range(2):
        heading = Rectangle(edge, top, right, top + line)
        sentence = Rectangle(
            edge, heading.bottom, right,
            heading.bottom + 1.42 * 4 * letters.sentence + 1.35 * 2 * letters.small,
        )  # fmt: skip
        source = Rectangle(
            edge, sentence.bottom + 8, right, sentence.bottom + 8 + 6 * LINE * letters.source
        )
        stage_top = source.bottom + 8
        stage = Rectangle(edge, stage_top, right, stage_top + PLACES_HEIGHT * width)
        ledger_top = stage.bottom + 8
        ledger = Rectangle(edge, ledger_top, right, ledger_top + 3 * 1.5 * letters.name)
        columns = _count_columns(letters, right - edge)
        below = ledger.bottom + counts_height(letters, columns)
        counts = Rectangle(edge, ledger.bottom, right, below)
        side = 0.36 * stage.width
        maps = Rectangle(edge, stage.top, edge + side, stage.top + side)
        areas = Areas(source, stage, maps, maps, sentence, ledger, 3, 2)
        sides.append((heading, areas, counts))
        top = counts.bottom + 2 * letters.small
    (left_heading, left_areas, left_counts), (right_heading, right_areas, right_counts) = sides
    return PairAreas(
        width, round(top + clock), True, (edge, 0.9 * letters.heading),
        (left_heading, right_heading), (left_areas, right_areas), (left_counts, right_counts),
        columns, timeline, Rectangle(edge, top, right, top + clock) if clock else None,
    )  # fmt: skip


def _count_columns(letters: Letters, width: float) -> int:
    """In how many columns the counts' names have room beside each other."""
    each = max(text_width(name, letters.small) for name in NAMES) + APART
    return max(1, min(len(NAMES), int(width / each)))


def _timeline(letters: Letters, left: float, right: float, bottom: float) -> Rectangle:
    return Rectangle(left + NAME * letters.small, bottom - 2 * BAR * letters.small, right, bottom)
