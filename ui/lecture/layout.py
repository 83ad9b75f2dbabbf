"""Where the lecture's areas are, computed for the room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from ui.drawing.look import Look
from ui.drawing.sheet import Rectangle
from ui.lecture.letters import TALL_WIDTH, Letters, letters_for

SOURCE_SHARE = 0.37  # of the width
SOURCE_SHARE_OF_TENSOR_CORE = 0.33  # of the width: its lines are long, and wrapped in any case
FAR_SHARE = 0.52  # of the room of both places' width: global memory's, the chip has the rest
FAR_SHARE_OF_TENSOR_CORE = 0.28  # the same where a tensor core's bits need more than half
TALL_FAR_SHARE = 0.44  # of the room's height, where the chip is below
PLACES_HEIGHT = 1.7  # of a phone's width, both places one below the other
TITLE = 1.9  # of a name's letter, the line with a place's name
BAR_ROW = 1.6  # of a small letter, a bar under global memory
HIGH_BAR_ROW = 2.7  # of a name's letter, one with its words above it
BARS = 2  # under global memory: the naive kernel's and this one's
WARP_ROW = 1.7  # of a small letter, a warp at the foot of the chip
BUFFERS_SHARE = 0.38  # of the stage's height, shared memory's tiles that take turns, at most
BUFFER_SHARE = 0.21  # of the stage's height, one of those tiles
LEAST_BOARD = 10.0  # of a number's letter, what they leave of it, at least
LEAST_BUFFERS = 3.0  # of a number's letter, their own height
WARPS_SHARE = 0.22  # of the chip's height, all of them at most
LEAST_WARP = 0.5  # of a small letter, a warp's row: with less there are none
TOP = 1.45  # of a heading's letter, the line above all else
LINE = 1.42  # of a letter's height, from one line of the source to the next
TALL_SOURCE_LINES = 13
LEAST_SOURCE_LINES = 6
STRIP = 3.2  # of a small letter, the clock's strip under the timeline
TALL_STRIP = 5.7  # of a small letter, the same on a phone, with more lines of words
LEAST_HEIGHT = 40  # of a small letter, the height of an area that has a strip
# Lines of the sentence, of the warp's and of the ledger: the first that leave the source enough.
TEXT_LINES = ((3, 2, 2), (2, 1, 1), (2, 1, 0), (1, 1, 0))
WITHOUT_ALGEBRA = ((4, 2, 1), *TEXT_LINES[1:])  # where no product has a line of the ledger
BUTTON = 52  # pixels in the corner, for the button that ends a presentation


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of one scene."""

    source: Rectangle
    stage: Rectangle
    maps: Rectangle  # of A, B and C
    corner: Rectangle  # the stage's upper left corner, which what is drawn on it leaves free
    sentence: Rectangle
    ledger: Rectangle
    sentence_lines: int  # at most, of the focused thread
    warp_lines: int  # at most, of its warp
    far: Rectangle | None = None  # the frame of global memory, around the maps
    chip: Rectangle | None = None  # the frame of the chip, around the stage
    warps: Rectangle | None = None  # the block's warps, at the foot of the chip
    buffers: Rectangle | None = None  # tiles of shared memory that take turns, above or below it

    @property
    def whole_stage(self) -> Rectangle:
        """The stage with the room of the warps, where it is about something else."""
        if self.warps is None:
            return self.stage
        return replace(self.stage, bottom=self.warps.bottom)


@dataclass(frozen=True, slots=True, kw_only=True)
class LectureAreas(Areas):
    """The areas of a room's sheet with one scene."""

    width: float
    height: float
    tall: bool  # whether the areas are one under another, as on a phone
    heading: tuple[float, float]  # x of the text's start and y of its middle
    timeline: Rectangle
    clock: Rectangle | None = None  # under the timeline, of what a GPU's clock said


AnyAreas = TypeVar("AnyAreas", bound=Areas)


def areas_for(
    look: Look, far_share: float = FAR_SHARE, warps: int = 0, has_clock: bool = False,
    source_share: float = SOURCE_SHARE, has_long_ledger: bool = True,
) -> LectureAreas:  # fmt: skip
    """Divide a room into its areas, with places for global memory and the chip or one stage.

    far_share is global memory's share of the width of both places, 0 for one stage; warps is how
    many have a row at the foot of the chip; has_clock is whether a strip of what a GPU's clock said
    has room under the timeline, if there is any; source_share is the source's share of the width,
    where it is beside the stage; has_long_ledger is whether the ledger may need two lines there.
    """
    letters = letters_for(look)
    is_tall = look.width < TALL_WIDTH
    has_places = far_share > 0
    if is_tall:
        areas = _tall(look, letters, has_places, has_clock)
    else:
        areas = _wide(look, letters, has_places, has_clock, source_share, has_long_ledger)
    if has_places:
        return with_places(areas, letters, is_tall, warps, far_share=far_share)
    return _with_warps(areas, letters, warps)


def _wide(
    look: Look, letters: Letters, has_places: bool, has_clock: bool, source_share: float,
    has_long_ledger: bool,
) -> LectureAreas:  # fmt: skip
    """Source and sentence at the left, then the stage; the timeline under all."""
    width, height = float(look.width), float(look.height)
    edge = 0.9 * letters.source
    top = TOP * letters.heading
    strip = STRIP * letters.small
    has_strip = has_clock and height >= LEAST_HEIGHT * letters.small
    bottom = height - strip if has_strip else height
    timeline = Rectangle(
        edge, bottom - 2.9 * letters.small, width - edge, bottom - 0.5 * letters.small
    )
    above = timeline.top - 1.75 * letters.small  # the iterations' labels are between
    middle = edge + source_share * (width - 2 * edge)
    gap = 0.4 * letters.sentence
    for sentence_lines, warp_lines, ledger_lines in TEXT_LINES if has_places else WITHOUT_ALGEBRA:
        ledger_lines = ledger_lines if has_long_ledger else min(ledger_lines, 1)
        ledger_top = above - ledger_lines * 1.35 * letters.name
        sentence_top = (
            ledger_top - gap - 1.45 * (1 + sentence_lines) * letters.sentence
            - 1.35 * warp_lines * letters.small
        )  # fmt: skip
        if sentence_top - gap - top >= LEAST_SOURCE_LINES * LINE * letters.source:
            break
    inset = 0.0 if has_places else 0.7 * letters.name  # without frames
    stage = Rectangle(middle + 0.3 * edge + inset, top, width - edge, above)
    side = min(0.36 * stage.width, 0.36 * stage.height)
    maps = Rectangle(stage.left, stage.top, stage.left + side, stage.top + side)
    source_bottom = max(sentence_top - gap, top + letters.source)
    return LectureAreas(
        source=Rectangle(edge, top, middle - edge, source_bottom), stage=stage, maps=maps,
        corner=maps, sentence=Rectangle(edge, sentence_top, middle - edge, ledger_top - gap),
        ledger=Rectangle(edge, ledger_top, middle - edge, above), sentence_lines=sentence_lines,
        warp_lines=warp_lines, width=width, height=height, tall=False,
        heading=(edge, 0.5 * TOP * letters.heading), timeline=timeline,
        clock=Rectangle(edge, bottom, width - edge, height) if has_strip else None,
    )  # fmt: skip


def with_places(
    areas: AnyAreas, letters: Letters, tall: bool, warps: int, bars: int = BARS,
    far_share: float = FAR_SHARE,
) -> AnyAreas:  # fmt: skip
    """The areas with global memory and the chip in the stage's room.

    tall is whether the chip is below global memory, not beside it; warps is how many have a row at
    the foot of the chip; bars is how many are under global memory, which has far_share of the
    width beside the chip.
    """
    area, gap = areas.stage, 0.6 * letters.name
    if tall:
        border = area.top + TALL_FAR_SHARE * area.height
        far = replace(area, bottom=border - gap / 2)
        chip = replace(area, top=border + gap / 2)
    else:
        border = area.left + far_share * area.width
        far = replace(area, right=border - gap / 2)
        chip = replace(area, left=border + gap / 2)
    inset, title = 0.7 * letters.name, TITLE * letters.name
    stage = Rectangle(chip.left + inset, chip.top + title, chip.right - inset, chip.bottom - inset)
    maps = Rectangle(
        far.left + inset, far.top + title, far.right - inset - 0.6 * letters.small,
        far.bottom - (bars * BAR_ROW + 1.2) * letters.small,
    )  # fmt: skip
    above_bars = far.bottom - bars * HIGH_BAR_ROW * letters.name - 1.4 * letters.small
    if above_bars - maps.top >= maps.width:
        maps = replace(maps, bottom=above_bars)
    corner = Rectangle(
        stage.left, stage.top, stage.left - 1.44 * letters.name, stage.top + 0.3 * stage.height
    )
    divided = replace(areas, stage=stage, maps=maps, corner=corner, far=far, chip=chip)
    return _with_warps(divided, letters, warps)


def _with_warps(areas: AnyAreas, letters: Letters, warps: int) -> AnyAreas:
    """The areas with rows of warps under the stage, where they leave the board enough."""
    stage, small = areas.stage, letters.small
    free = stage.height - LEAST_BOARD * letters.number - 1.6 * small
    rows = min(warps * WARP_ROW * small, WARPS_SHARE * stage.height, free)
    if not warps or rows < warps * LEAST_WARP * small:
        return areas
    height = rows + small
    above = replace(stage, bottom=stage.bottom - height - 0.6 * small)
    return replace(areas, stage=above, warps=replace(stage, top=stage.bottom - height))


def with_buffers(areas: Areas, letters: Letters, turns: int) -> Areas:
    """The areas with a strip for tiles that take turns, where the stage is high enough for it.

    turns is how many rows it has.

    It is above the stage, between global memory and the registers; below it where the maps are in
    the stage's corner.
    """
    stage = areas.stage
    share = BUFFERS_SHARE if turns > 1 else BUFFER_SHARE
    height = min(share * stage.height, stage.height - LEAST_BOARD * letters.number)
    if height < LEAST_BUFFERS * letters.number:
        return areas
    if areas.far is None:
        top = stage.bottom - height
        return replace(areas, stage=replace(stage, bottom=top), buffers=replace(stage, top=top))
    top = stage.top + height
    corner = replace(areas.corner, top=top, bottom=top + 0.3 * (stage.height - height))
    return replace(
        areas, stage=replace(stage, top=top), corner=corner, buffers=replace(stage, bottom=top)
    )


def _tall(look: Look, letters: Letters, has_places: bool, has_clock: bool) -> LectureAreas:
    """One area under another, as high as they need."""
    width, edge = float(look.width), 8.0
    right = width - edge
    sentence_top = 2.2 * letters.heading
    sentence = Rectangle(
        edge, sentence_top, right,
        sentence_top + 1.42 * 4 * letters.sentence + 1.35 * 3 * letters.small,
    )  # fmt: skip
    stage_top = sentence.bottom + 10
    stage_height = (PLACES_HEIGHT if has_places else 1.12) * width
    stage = Rectangle(edge, stage_top, right, stage_top + stage_height)
    lines = 3 if has_places else 5  # of the ledger: loads are under global memory
    ledger = Rectangle(
        edge, stage.bottom + 8, right, stage.bottom + 8 + 1.5 * lines * letters.small
    )
    source = Rectangle(
        edge, ledger.bottom + 12, right,
        ledger.bottom + 12 + TALL_SOURCE_LINES * LINE * letters.source,
    )  # fmt: skip
    timeline_top = source.bottom + 3.4 * letters.small
    timeline = Rectangle(edge, timeline_top, right, timeline_top + 2.4 * letters.small)
    bottom = timeline.bottom + 10
    clock = Rectangle(edge, bottom, right, bottom + TALL_STRIP * letters.small)
    side = 0.36 * stage.width
    maps = Rectangle(stage.left, stage.top, stage.left + side, stage.top + side)
    return LectureAreas(
        source=source, stage=stage, maps=maps, corner=maps, sentence=sentence, ledger=ledger,
        sentence_lines=3, warp_lines=3, width=width,
        height=round(clock.bottom if has_clock else bottom), tall=True,
        heading=(edge, 0.9 * letters.heading), timeline=timeline,
        clock=clock if has_clock else None,
    )  # fmt: skip
