"""The stage of the GPU's clock: every warp of a block through one tile, in measured cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu.trace.counts import Counted, count_phases
from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from ui.analysis.clock import TracedTile, typical_tile
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.lecture.clock_strip import LEAST_LIT, LIT, format_share
from ui.lecture.colours import contrast
from ui.lecture.letters import fit, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

UNTRACED = "This kernel's clock was not recorded on a GPU.", "No clock was recorded."
TITLE_LINES = 2
LINE = 1.45  # of a small letter, a line of words
ROW = 1.8  # of a small letter, a warp's row at most
BAR = 0.8  # of a row's height
COLUMNS_APART = 0.7  # of a small letter, between two columns of the table
LEAST_ROWS = 0.5  # of what the title leaves: with less there is no table
TICKS = 4  # of the axis, at most


class ClockStage(StagePanel):
    """The phases of a tile in words, then a row for each warp over an axis of cycles."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._clock, self._palette, self._letters = model.clock, context.palette, letters
        self._tile = None if model.clock is None else typical_tile(model.clock.trace)
        self._warp = model.thread // WARP_SIZE
        stage, corner = areas.stage, areas.corner
        left = max(stage.left, corner.right + letters.name)
        self._words = Rectangle(left, stage.top, stage.right, stage.bottom)
        self._title, self._table = self._heads(), self._columns()
        low = stage.top + 1.4 * letters.name * len(self._title)
        table = LINE * letters.small * len(self._table[0]) if self._table else 0.0
        if self._tile is not None and table > (1 - LEAST_ROWS) * (stage.bottom - low):
            self._table, table = [], 0.0  # the strip says it too
        top = max(low + table, corner.bottom if left > stage.left else 0)
        name = text_width("warp 00", letters.small) + 0.5 * letters.small
        self._rows = Rectangle(
            stage.left + name, top + 0.6 * letters.small, stage.right,
            stage.bottom - 1.6 * letters.small,
        )  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """Which tile it is, what its phases take, the warps' names, cycles and the axis."""
        letters, palette = self._letters, self._palette
        heads, left, top = self._title, self._words.left, self._words.top
        low = top + 1.4 * letters.name * len(heads)
        points = [(left, top + 1.4 * letters.name * (i + 0.5)) for i in range(len(heads))]
        traces = [
            labels(points, [f"<b>{line}</b>" for line in heads], letters.name, palette.ink),
            *self._draw_table(low),
        ]
        if self._tile is not None and self._clock is not None:
            traces += [*self._names(self._tile), self._axis(self._tile)]
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """The bars, and outlines of the phase that the step is of."""
        palette = self._palette
        paths = dict.fromkeys(palette.phases, "")
        lit: list[Rectangle] = []
        if self._tile is not None and self._clock is not None:
            now = self._clock.phase_of[step.number]
            for phase, area in self._bars(self._tile):
                kind = self._clock.trace.phases[phase].kind
                paths[kind] += box(area.left, area.top, area.right, area.bottom)
                if phase == now:
                    lit.append(area)
        return [
            *(outline(path, palette.near, 0.5, palette.phases[kind], "below")
              for kind, path in paths.items()),
            outline(self._around(lit), palette.focus, LIT),
        ]  # fmt: skip

    def _around(self, lit: list[Rectangle]) -> str:
        """The outline of each warp's phase; where rows are low, one of all of them."""
        if lit and not self._is_high():
            lit = [
                Rectangle(min(one.left for one in lit), lit[0].top,
                          max(one.right for one in lit), lit[-1].bottom)
            ]  # fmt: skip
        path = ""
        for area in lit:
            missing = max(0.0, LEAST_LIT - area.width) / 2
            path += box(area.left - missing, area.top, area.right + missing, area.bottom)
        return path

    def _heads(self) -> tuple[str, ...]:
        """The title."""
        if self._clock is None:
            titles: tuple[str, ...] = UNTRACED
        else:
            what = "One tile" if self._clock.has_tiles else "The whole life"
            setting = self._clock.setting.short
            where = "" if self._tile is None else (
                f" of block ({self._tile.block.x}, {self._tile.block.y})"
            )  # fmt: skip
            titles = (f"{what}{where}, in cycles: {setting}", f"In cycles: {setting}", "In cycles")
        return fit(titles, 1.13 * self._letters.name, self._words.width, TITLE_LINES)

    def _columns(self) -> list[tuple[str, ...]]:
        """The table, column by column: a head, then an entry for each phase of a tile.

        The phase's name, its cycles, its share of the block's time, and what the simulator counts
        of a warp for a tile, in a kernel with tiles; as many columns as have room.
        """
        clock = self._clock
        if clock is None:
            return []
        phases = [clock.trace.phases[number] for number in clock.in_tile]
        counts = [count_phases(clock.trace, [phase]) if clock.has_tiles else () for phase in phases]
        columns = [
            ("", *(phase.name for phase in phases)),
            ("cycles", *(f"{phase.cycles:,.0f}" for phase in phases)),
            ("share", *(format_share(phase.share) for phase in phases)),
            ("wavefronts", *(_count(one, MemorySpace.SHARED) for one in counts)),
            ("sectors", *(_count(one, MemorySpace.GLOBAL) for one in counts)),
        ]
        columns = [column for column in columns if any(column[1:])]
        while sum(map(self._width, columns)) > self._words.width and len(columns) > 1:
            columns.pop()
        return columns

    def _width(self, column: tuple[str, ...]) -> float:
        """Pixels of a column, with the room after it; of the first with the marks before it."""
        small = self._letters.small
        texts = column if column[0] else tuple(f"m {text}" for text in column)
        return max(text_width(text, small) for text in texts) + COLUMNS_APART * small

    def _draw_table(self, top: float) -> list[Trace]:
        """The table, a trace for each column."""
        small, palette, clock = self._letters.small, self._palette, self._clock
        if clock is None:
            return []
        x, traces = self._words.left, []
        for column in self._table:
            texts = list(column)
            if not column[0]:
                texts[1:] = [
                    f"<span style='color:{palette.phases[clock.trace.phases[number].kind]}'>■"
                    f"</span> {text}"
                    for number, text in zip(clock.in_tile, column[1:], strict=True)
                ]
            inks = [palette.faint, *[palette.ink] * (len(column) - 1)]
            points = [(x, top + LINE * small * (i + 0.5)) for i in range(len(column))]
            traces.append(labels(points, texts, small, inks))
            x += self._width(column)
        return traces

    def _scale(self, tile: TracedTile) -> float:
        """Pixels of a cycle."""
        assert self._clock is not None
        return self._rows.width / max(1.0, self._clock.scale or tile.end - tile.begin)

    def _row(self, tile: TracedTile) -> float:
        """A row's height in pixels."""
        return min(ROW * self._letters.small, self._rows.height / len(tile.warps))

    def _is_high(self) -> bool:
        """Whether a row has room for a line of small letters."""
        return self._tile is not None and BAR * self._row(self._tile) >= self._letters.small

    def _bars(self, tile: TracedTile) -> Iterator[tuple[int, Rectangle]]:
        """Each interval's phase and place."""
        scale, height, rows = self._scale(tile), self._row(tile), self._rows
        for warp, intervals in enumerate(tile.warps):
            top = rows.top + warp * height
            for phase, begin, end in intervals:
                left, right = (rows.left + (at - tile.begin) * scale for at in (begin, end))
                yield phase, Rectangle(left, top, right, top + BAR * height)

    def _names(self, tile: TracedTile) -> list[Trace]:
        """The warps' names where rows are high enough, else some; cycles in bars that have room."""
        small, height, palette = self._letters.small, self._row(tile), self._palette
        step = max(1, -int(-1.2 * small // height))
        numbers = range(0, len(tile.warps), step)
        points = [
            (self._rows.left - 0.5 * small, self._rows.top + (i + BAR / 2) * height)
            for i in numbers
        ]
        names = [f"<b>warp {i}</b>" if i == self._warp else f"warp {i}" for i in numbers]
        cells, texts, colours = [], [], []
        assert self._clock is not None
        for phase, area in self._bars(tile):
            cycles = f"{area.width / self._scale(tile):,.0f}"
            if self._is_high() and text_width(cycles, small) + 6 <= area.width:
                fill = palette.phases[self._clock.trace.phases[phase].kind]
                cells.append(((area.left + area.right) / 2, (area.top + area.bottom) / 2))
                texts.append(cycles)
                colours.append(max(palette.ink, palette.paper, key=lambda one: contrast(one, fill)))
        return [
            labels(points, names, small, palette.ink, "middle left"),
            labels(cells or [(0, 0)], texts or [""], small, colours or palette.ink,
                   "middle center"),
        ]  # fmt: skip

    def _axis(self, tile: TracedTile) -> Trace:
        """Round numbers of cycles under the rows."""
        small, scale = self._letters.small, self._scale(tile)
        span = self._rows.width / scale
        each = round_step(span, TICKS)
        y = self._rows.top + self._row(tile) * len(tile.warps) + 0.8 * small
        numbers = [number * each for number in range(int(span / each) + 1)]
        texts = [f"{number:,}" for number in numbers]
        points = [(self._rows.left + number * scale, y) for number in numbers]
        reach = points[-1][0] + text_width(texts[-1], small) / 2
        if reach > self._rows.right + 0.5 * small:
            points, texts = points[:-1], texts[:-1]
        return labels(points, texts, small, self._palette.faint, "middle center")


def _count(counted: Iterable[Counted], space: MemorySpace) -> str:
    """What a phase costs a warp for a tile in a memory; "" for nothing."""
    number = sum(one.transactions for one in counted if one.space is space)
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}" if number else ""


def round_step(span: float, most: int) -> int:
    """The least of 1, 2, 5, 10, 20, … of which at most so many are in a span.

    >>> round_step(10182, 4), round_step(3, 4)
    (5000, 1)
    """
    each = 1
    while span / each > most:
        first = int(str(each)[0])
        each = each * 5 // 2 if first == 2 else each * 2
    return each
