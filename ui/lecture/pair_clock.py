"""What a GPU's clock said of two kernels: a tile of each at one scale, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu.candidate import split_variant
from gpu.trace.counts import compare_counts, explain
from gpu.trace.phases import capitalized, compare
from ui.analysis.clock import Clock, tiles_of_same_work
from ui.analysis.pairs import Pair
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import Shape, Trace, labels
from ui.drawing.palette import Palette
from ui.drawing.sheet import Panel, Rectangle
from ui.lecture.clock_strip import ClockBar, bar_cycles, format_share
from ui.lecture.letters import Letters, text_width, wrap
from ui.lecture.pair_layout import PairAreas
from ui.lecture.timeline import INDENT, short_names

BAR, ROW = 1.2, 1.5  # of a small letter: a bar's height, and from one row to the next
LINE = 1.4  # of its letters, a line of words
ABOVE = 0.5  # of a small letter, over the first bar
MOST_LINES = 6  # of one sentence, on a phone
LEAST_HEIGHT = 40  # of a small letter, the height of an area that has the bars and sentences
WHOLE_HEIGHT = 50  # the same with the sentence on why counts and clock differ
WIDEST = "inner loop: 99,999 cycles a tile, 99.9%"  # beside a bar

Clocks = tuple[Clock | None, Clock | None]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of words under the bars."""

    text: str
    size: float  # pixels, of its letters
    top: float  # pixels under the last bar's row
    is_setting: bool = False  # of what was measured
    is_right: bool = False  # whether it ends at the right edge


@dataclass(frozen=True, slots=True)
class ClockWords:
    """What is said of two clocks, in lines, and how high all is with the bars above."""

    lines: tuple[Line, ...]
    height: float  # pixels; 0 where there is nothing to show


def say_clocks(clocks: Clocks, letters: Letters, width: float, height: float | None) -> ClockWords:
    """The sentences for a width; room is the height of the whole sheet, None on a phone."""
    known = [clock for clock in clocks if clock is not None]
    if not known or (height is not None and height < LEAST_HEIGHT * letters.small):
        return ClockWords((), 0.0)
    small, setting = letters.small, known[0].setting.beside(known[-1].setting).whole
    if tiles_of_same_work(known[0], known[-1]) != 1:
        setting = f"bars show the same amount of work · {setting}"
    sentences: list[tuple[str, float]] = []
    left, right = clocks
    if left is not None and right is not None and left.trace is not right.trace:
        kernels = [split_variant(one.trace.kernel)[0] for one in (left, right)]
        compared, difference = " compared with ".join(kernels), compare(left.trace, right.trace)
        named = f"{capitalized(compared)}. {difference}" if kernels[0] != kernels[1] else difference
        has_room = wrap(named, letters.name, width, MOST_LINES)
        sentences = [
            (named if has_room else difference, letters.name),
            (compare_counts(left.trace, right.trace), small),
        ]
        if height is None or height >= WHOLE_HEIGHT * small:
            sentences.append((explain(left.trace, right.trace), small))
    lines: list[Line] = []
    top = 0.2 * small
    for text, size in sentences:
        for line in (wrap(text, size, width, MOST_LINES) or ()) if text else ():
            lines.append(Line(line, size, top))
            top += LINE * size
    # The setting is at the right of a short line, else it has lines of its own.
    with_setting = [one for one in lines if text_width(one.text, one.size) + text_width(
        setting, small) + 2 * small <= width]  # fmt: skip
    if with_setting:
        lines.append(Line(setting, small, with_setting[-1].top, True, True))
    else:
        for line in wrap(setting, small, width, MOST_LINES) or ():
            lines.append(Line(line, small, top, True))
            top += LINE * small
    rows = ROW if height is not None else ROW + LINE
    return ClockWords(tuple(lines), (ABOVE + 2 * rows) * small + top + 0.4 * small)


def same_work(
    clocks: Clocks, cycles: Sequence[Mapping[int, float]]
) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """The cycles of two bars, of which the right one is of as much work as the left one's tile.

    Then it has what a warp does once only if a tile is the same work in both.
    """
    left, right = clocks
    ratio = 1.0 if left is None or right is None else tiles_of_same_work(left, right)
    if ratio == 1 or left is None or right is None:
        return cycles[0], cycles[1]
    return (
        {number: cycles[0][number] for number in left.in_tile},
        {number: ratio * cycles[1][number] for number in right.in_tile},
    )


class PairClock(Panel[Pair]):
    """A bar of each side at one scale, the phase of its step outlined, and the sentences."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], names: tuple[str, str], palette: Palette,
        letters: Letters, areas: PairAreas, clock_words: ClockWords,
    ) -> None:  # fmt: skip
        assert areas.clock is not None
        self._palette, self._letters, self._clock_words = palette, letters, clock_words
        self._area, self._tall = areas.clock, areas.tall
        small = letters.small
        self._row = (ROW + LINE if areas.tall else ROW) * small
        self._top = self._area.top + ABOVE * small
        self._clocks = [model.clock for model in models]
        self._left = areas.timeline.left
        right = self._area.right - (0 if areas.tall else text_width(WIDEST, small))
        self._names = short_names(names, small, self._left - 2 * INDENT)
        self._cycles = [
            {} if model.clock is None else model.clock.median_cycles for model in models
        ]
        drawn = same_work((models[0].clock, models[1].clock), self._cycles)
        scale = max(
            bar_cycles(clock, cycles)
            for clock, cycles in zip(self._clocks, drawn, strict=True)
            if clock is not None
        )
        self._bars = [
            None
            if clock is None
            else ClockBar(clock, cycles, letters, self._place(side, right), scale)
            for side, (clock, cycles) in enumerate(zip(self._clocks, drawn, strict=True))
        ]

    def static(self) -> list[Trace]:
        """The kernels' names and the sentences."""
        palette, area, small = self._palette, self._area, self._letters.small
        middles = [self._place(side, 0).top + BAR / 2 * small for side in (0, 1)]
        below = self._top + 2 * self._row
        traces = [
            labels([(self._left - INDENT, y) for y in middles], self._names, small, palette.ink,
                   "middle left")
        ]  # fmt: skip
        for one in self._clock_words.lines:
            x, align = (area.right, "middle left") if one.is_right else (area.left, "middle right")
            y = below + one.top + LINE / 2 * one.size
            colour = palette.faint if one.is_setting else palette.ink
            traces.append(labels([(x, y)], [one.text], one.size, colour, align))
        return traces

    def changing(self, step: Pair) -> list[Trace]:
        """The cycles of both sides' phases."""
        small, points, texts = self._letters.small, [], []
        for side, (clock, one) in enumerate(zip(self._clocks, step.sides, strict=True)):
            place = self._place(side, self._area.right)
            if self._tall:
                points.append((place.left, place.bottom + (0.1 + LINE / 2) * small))
            else:
                points.append((place.right, (place.top + place.bottom) / 2))
            texts.append(self._describe(side, clock, one.number))
        align = "middle right" if self._tall else "middle left"
        return [labels(points, texts, small, self._palette.ink, align)]

    def shapes(self, step: Pair) -> list[Shape]:
        """The bars, and the outlines of the steps' phases."""
        found: list[Shape] = []
        for bar, clock, one in zip(self._bars, self._clocks, step.sides, strict=True):
            if bar is not None and clock is not None:
                lit = bar.lit(clock.phase_of[one.number], self._palette)
                found += [*bar.shapes(self._palette), lit]
        return found

    def _describe(self, side: int, clock: Clock | None, step: int) -> str:
        """What the phase of a side's step took; for a step of none, what its tile took."""
        if clock is None:
            return "not recorded"
        number, cycles = clock.phase_of[step], self._cycles[side]
        unit = " a tile" if clock.has_tiles else ""
        if number is None:
            return f"{sum(cycles[one] for one in clock.in_tile):,.0f} cycles{unit}"
        phase = clock.trace.phases[number]
        unit = unit if number in clock.in_tile else ""
        return f"{phase.name}: {cycles[number]:,.0f} cycles{unit}, {format_share(phase.share)}"

    def _place(self, side: int, right: float) -> Rectangle:
        """Where a side's bar is, up to an x."""
        top = self._top + side * self._row
        return Rectangle(self._left, top, right, top + BAR * self._letters.small)
