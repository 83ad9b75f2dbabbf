"""The two places of the canvas: global memory, large and far, and the chip, small and near.

Under global memory two bars grow with every step: what the block has loaded from there, and what
the naive kernel would have loaded for the same products.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from gpu.recorded import recordings
from simulator import Step
from simulator.launch import format_index
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.scene_model import Phase
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.paths import box, px
from ui.drawing.sheet import Panel, Rectangle
from ui.lecture.layout import BARS, HIGH_BAR_ROW, TITLE
from ui.lecture.letters import markup, text_width
from ui.lecture.panel_context import PanelContext

BAR = 0.62  # of its letter's height, a bar with its words at its right
TALLEST = 5.0  # of its letter's height, one with its words above it, at most
TICKS = 4  # parts that a bar's scale has
TICK = 5.0  # pixels
WAIT = 0.45  # of a small letter, the height of a bar as long as the wait for a value
LEAST_WAIT = 4.0  # of a name's letter, the longer one's length at least


class PlacesPanel(Panel[Step]):
    """The frames of both places, their names, the wait for a value there, and the bars."""

    def __init__(
        self, context: PanelContext, area: Rectangle, has_grid: bool, most: int | None = None
    ) -> None:
        """area is for the bars.

        has_grid is whether the chip's place shows the whole grid instead. In a pair most is what a
        whole bar is on both sides, and there is no bar of the naive kernel.
        """
        model, letters, areas = context.model, context.letters, context.areas
        self._has_grid = has_grid
        self._model, self._palette, self._letters = model, context.palette, letters
        assert areas.far is not None
        assert areas.chip is not None
        self._far, self._chip = areas.far, areas.chip
        self._loads = global_loads(model)
        self._naive = naive_loads(model) if most is None else None
        self._most = most or max(self._loads[-1] if self._loads else 0,
                                 self._naive[-1] if self._naive else 0, 1)  # fmt: skip
        has_two = self._naive is not None and model.recording.kernel.name != "naive"
        self._rows = BARS if has_two else 1
        self._area = area
        each = area.height / self._rows
        size = min(each / HIGH_BAR_ROW, letters.name)
        self._has_words_above = size >= letters.small
        self._size = size if self._has_words_above else letters.small
        self._line = each if self._has_words_above else 1.35 * self._size
        self._top = area.bottom - self._rows * self._line
        self._waits = self._draw_waits()

    def _titles(self) -> list[tuple[Rectangle, str, str]]:
        """For each place the line of its name, the name, and how long a value takes from there."""
        letters, launch = self._letters, self._model.recording.launch
        far_wait, chip_wait = "large and far", "small and near"
        if (waits := latencies()) is not None:
            far_wait, chip_wait = f"far: {waits[0]} cycles", f"near: {waits[1]} cycles"
        name = f"On the chip: block {format_index(self._model.recording.block, launch.grid)}"
        if self._has_grid:
            name, chip_wait = "The grid and the GPU", ""
        found = []
        for frame, title, wait in (
            (self._far, "Global memory", far_wait), (self._chip, name, chip_wait)
        ):  # fmt: skip
            line = Rectangle(
                frame.left + 0.7 * letters.name, frame.top, frame.right - 0.7 * letters.name,
                frame.top + TITLE * letters.name,
            )  # fmt: skip
            if text_width(title, letters.name, True) > line.width:
                title = title.partition(":")[0]
            free = line.width - text_width(title, letters.name, True) - letters.name
            wordings = wait, wait.rpartition(": ")[2], ""
            wait = next(
                one for one in wordings if text_width(one, letters.small) <= free or not one
            )
            found.append((line, title, wait))
        return found

    def static(self) -> list[Trace]:
        """The names, how long a value takes from each place, and what a whole bar is."""
        palette, letters = self._palette, self._letters
        traces = []
        for line, title, wait in self._titles():
            y = (line.top + line.bottom) / 2
            traces += [
                labels([(line.left, y)], [f"<b>{title}</b>"], letters.name, palette.ink),
                labels([(line.right, y)], [wait], letters.small, palette.faint, "middle left"),
            ]
        return traces

    def _draw_waits(self) -> str:
        """Bars as long as a value takes from each place, at one scale; none without room."""
        letters, waits = self._letters, latencies()
        if waits is None or self._has_grid:
            return ""
        titles, gap = self._titles(), 0.6 * letters.name
        far, title, _ = titles[0]
        ends = [line.right - text_width(wait, letters.small) - gap for line, _, wait in titles]
        longest = ends[0] - far.left - text_width(title, letters.name, True) - gap
        if not all(wait for *_, wait in titles) or longest < LEAST_WAIT * letters.name:
            return ""
        y, half = (far.top + far.bottom) / 2, WAIT / 2 * letters.small
        tops = [line.top - far.top + y for line, *_ in titles]
        return "".join(
            box(end - longest * wait / max(waits), top - half, end, top + half)
            for end, wait, top in zip(ends, waits, tops, strict=True)
        )

    def changing(self, step: Step) -> list[Trace]:
        """The counts above the bars, or at their right: only texts change."""
        palette, bars = self._palette, self._bars(step)
        points = [
            (whole.left, whole.top - 0.75 * self._size) if self._has_words_above
            else (self._area.right, (whole.top + whole.bottom) / 2)
            for whole, *_ in bars
        ]  # fmt: skip
        return [
            labels(points, [text for *_, text in bars], self._size, palette.ink,
                   "middle right" if self._has_words_above else "middle left")
        ]  # fmt: skip

    def _bars(self, step: Step) -> list[tuple[Rectangle, Rectangle, str]]:
        """The most that a bar can be, the bar, and its words; the kernel's own is the last."""
        kernel = markup(self._model.recording.kernel.name)
        rows = [(kernel, self._loads[step.number])]
        if self._naive is not None and self._rows == BARS:
            rows.insert(0, ("naive", self._naive[step.number]))
        area, size, found = self._area, self._size, []
        longest = max(text_width(f"{name} loads {self._most:,}", size) for name, _ in rows)
        words_width = 0.0 if self._has_words_above else longest + 10
        for i, (name, count) in enumerate(rows):
            low = self._top + (i + 1) * self._line - 0.2 * size
            high = min(self._line - 1.7 * size, TALLEST * size) if self._has_words_above else (
                BAR * size
            )  # fmt: skip
            whole = Rectangle(
                area.left, low - high, max(area.left + 20, area.right - words_width), low
            )
            bar = replace(whole, right=whole.left + whole.width * count / self._most)
            short = f"{count:,} loads" if len(rows) == 1 else f"{name} {count:,}"
            wordings = f"{name} loads {count:,}", short, f"{count:,} loads"
            fits = (one for one in wordings if text_width(one, size) <= whole.width)
            text = next(fits, wordings[-1]) if self._has_words_above else wordings[0]
            found.append((whole, bar, text))
        return found

    def _draw_ticks(self, bars: list[Rectangle]) -> str:
        """The scale that all bars have, as ticks at their feet."""
        if not self._has_words_above:
            return ""
        return "".join(
            f"M{px(x)},{px(one.bottom)}V{px(one.bottom - TICK)}"
            for one in bars
            for x in (one.left + one.width * i / TICKS for i in range(1, TICKS))
        )

    def shapes(self, step: Step) -> list[Shape]:
        """Both frames, the bars with their scale, and the waits."""
        palette = self._palette
        bars = self._bars(step)
        first, second = (bars[0][1], bars[1][1]) if len(bars) == BARS else (None, bars[0][1])
        return [
            outline(_frame(self._far), palette.line, 1.5, palette.far, "below"),
            outline(_frame(self._chip), palette.line, 1.5, palette.near, "below"),
            outline("".join(_frame(whole) for whole, *_ in bars), palette.line, 1, palette.cell),
            outline("" if first is None else _frame(first), palette.faint, 0, palette.line),
            outline(_frame(second), palette.ink, 0, palette.phases[Phase.LOAD]),
            outline(self._draw_ticks([whole for whole, *_ in bars]), palette.ink, 1),
            outline(self._waits, palette.line, 0, palette.faint),
        ]


def _frame(area: Rectangle) -> str:
    return box(area.left, area.top, area.right, area.bottom)


@functools.cache
def latencies() -> tuple[int, int] | None:
    """Cycles until a value is there from DRAM and from shared memory, as a GPU measured them.

    Those of the newest recording that has them; None without one.
    """
    for run in recordings().runs:
        if run.limits is not None:
            return round(run.limits.latency.dram), round(run.limits.latency.shared)
    return None
