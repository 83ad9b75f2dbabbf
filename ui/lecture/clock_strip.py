"""The strip of the GPU's clock: a tile's phases to the scale of their measured cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator import Step
from simulator.launch import WARP_SIZE
from ui.analysis.clock import Clock, tile_cycles
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Panel, Rectangle
from ui.lecture.letters import Letters, fit, text_width

BAR = 1.5  # of a small letter, the bar's height
LINE = 1.4  # of a small letter, a line of words under the bar
TALL_LINES = 2  # of what was measured, on a phone
ONCE = 0.2  # of a tile's time, what a warp does once before or after: longer is left out
APART = 0.6  # of a small letter, between a tile and what a warp does once
LIT = 2  # pixels, the outline of the phase that a step is of
LEAST_LIT = 4  # pixels, how wide it is at least


@dataclass(frozen=True, slots=True)
class Piece:
    """A phase on a bar."""

    phase: int  # its index in the trace
    left: float  # pixels
    right: float  # pixels


def groups_of(clock: Clock, cycles: Mapping[int, float]) -> list[list[int]]:
    """The phases of a bar: those of a tile, and before and after them what a warp does once.

    The latter are left out where they are so long that a tile would have little room.
    """
    tile = list(clock.in_tile)
    most = ONCE * sum(cycles[number] for number in tile)
    before = [number for number in cycles if number < tile[0]]
    after = [number for number in cycles if number > tile[0] and number not in tile]
    return [
        group
        for group in (before, tile, after)
        if group and (group is tile or sum(cycles[number] for number in group) <= most)
    ]


def bar_cycles(clock: Clock, cycles: Mapping[int, float]) -> float:
    """How many cycles a bar stands for."""
    return sum(cycles[number] for group in groups_of(clock, cycles) for number in group)


class ClockBar:
    """The phases of one warp: those of a tile, between what it does once before and after them."""

    def __init__(
        self, clock: Clock, cycles: Mapping[int, float], letters: Letters, area: Rectangle,
        scale: float | None = None,
    ) -> None:  # fmt: skip
        """cycles has each phase's; scale is how many the whole width stands for."""
        self._phases, self._area = clock.trace.phases, area
        groups = groups_of(clock, cycles)
        apart = APART * letters.small
        width = area.width - apart * (len(groups) - 1)
        scale = width / max(1.0, scale or bar_cycles(clock, cycles))
        self.pieces: list[Piece] = []
        x = area.left
        for group in groups:
            for number in group:
                right = x + scale * cycles[number]
                self.pieces.append(Piece(number, x, right))
                x = right
            x += apart

    def shapes(self, palette: Palette) -> list[Shape]:
        """The pieces, by their colours."""
        paths = dict.fromkeys(palette.phases, "")
        for piece in self.pieces:
            kind = self._phases[piece.phase].kind
            paths[kind] += box(piece.left, self._area.top, piece.right, self._area.bottom)
        return [
            outline(path, palette.paper, 0.5, palette.phases[kind], "below")
            for kind, path in paths.items()
        ]

    def lit(self, phase: int | None, palette: Palette) -> Shape:
        """An outline of a phase; an empty one where a step is of none."""
        path = ""
        for piece in self.pieces:
            if piece.phase == phase:
                missing = max(0.0, LEAST_LIT - (piece.right - piece.left)) / 2
                path = box(
                    piece.left - missing, self._area.top - 1, piece.right + missing,
                    self._area.bottom + 1,
                )  # fmt: skip
        return outline(path, palette.focus, LIT)


class ClockStrip(Panel[Step]):
    """One warp's bar, in words the phase that the step is of, and what was measured where."""

    def __init__(
        self, clock: Clock, thread: int, palette: Palette, letters: Letters, area: Rectangle,
        tall: bool,
    ) -> None:  # fmt: skip
        self._clock, self._palette, self._letters = clock, palette, letters
        self._area, self._tall = area, tall
        self._warp = thread // WARP_SIZE
        self._cycles = tile_cycles(clock, self._warp)
        bar = Rectangle(area.left, area.top, area.right, area.top + BAR * letters.small)
        self._bar = ClockBar(clock, self._cycles, letters, bar)

    def static(self) -> list[Trace]:
        """What was measured, where and when."""
        setting = (self._clock.setting.whole,)
        if self._tall:
            lines = fit(setting, self._letters.small, self._area.width, TALL_LINES)
            points = [(self._area.left, self._row(i + 1)) for i in range(len(lines))]
            align = "middle right"
        else:
            lines = setting
            points, align = [(self._area.right, self._row(0))] * len(lines), "middle left"
        return [labels(points, lines, self._letters.small, self._palette.faint, align)]

    def changing(self, step: Step) -> list[Trace]:
        """The phase's cycles and its share."""
        small, area = self._letters.small, self._area
        taken = 0.0 if self._tall else text_width(self._clock.setting.whole, small) + 2 * small
        text = next(iter(fit(self._describe(step), small, area.width - taken, 1)), "")
        return [labels([(area.left, self._row(0))], [text], small, self._palette.ink)]

    def shapes(self, step: Step) -> list[Shape]:
        """The bar, and the phase's outline."""
        lit = self._bar.lit(self._clock.phase_of[step.number], self._palette)
        return [*self._bar.shapes(self._palette), lit]

    def _describe(self, step: Step) -> tuple[str, ...]:
        """Wordings of what the clock said of a step's phase, the longest first."""
        total = sum(self._cycles[number] for number in self._clock.in_tile)
        number = self._clock.phase_of[step.number]
        unit = "a tile" if self._clock.has_tiles else "in all"
        if number is None:
            return (f"Measured: warp {self._warp}, {total:,.0f} cycles {unit}.",
                    f"{total:,.0f} cycles {unit}")  # fmt: skip
        phase, cycles = self._clock.trace.phases[number], f"{self._cycles[number]:,.0f}"
        share = format_share(phase.share)
        if number not in self._clock.in_tile:
            return (
                f"Measured: warp {self._warp}, {phase.name}: {cycles} cycles, once a block "
                f"(median); on average {share} of the block's time.",
                f"{phase.name}: {cycles} cycles, {share}",
            )
        return (
            f"Measured: warp {self._warp}, {phase.name}: {cycles} of {total:,.0f} cycles "
            f"{unit} (medians); on average {share} of the block's time.",
            f"{phase.name}: {cycles} of {total:,.0f} cycles {unit}, on average {share} of "
            "the block's time",
            f"{phase.name}: {cycles} cycles {unit}, {share}",
            f"{phase.name}: {cycles} cycles, {share}",
        )

    def _row(self, number: int) -> float:
        """The middle of a line under the bar."""
        small = self._letters.small
        return self._area.top + BAR * small + 0.2 * small + (number + 0.5) * LINE * small


def format_share(share: float) -> str:
    """A share in percent.

    >>> format_share(0.904), format_share(0.0004)
    ('90%', '0.04%')
    """
    return f"{share:.2%}" if share < 0.001 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
