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
from ui.analysis.scene_model import Phase, SceneModel
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Panel, Rectangle
from ui.lecture.layout import BARS, HIGH_BAR_ROW, TITLE, Areas
from ui.lecture.letters import Letters, markup, text_width

BAR = 0.62  # of its letter's height, a bar with its words at its right
TALLEST = 5.0  # of its letter's height, one with its words above it, at most


class PlacesPanel(Panel[Step]):
    """The frames of both places, their names, the wait for a value there, and the bars."""

    def __init__(
        self, model: SceneModel, palette: Palette, letters: Letters, areas: Areas, area: Rectangle,
        has_grid: bool, most: int | None = None,
    ) -> None:  # fmt: skip
        """area is for the bars.

        has_grid is whether the chip's place shows the whole grid instead. In a pair most is what a
        whole bar is on both sides, and there is no bar of the naive kernel.
        """
        self._has_grid = has_grid
        self._model, self._palette, self._letters = model, palette, letters
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

    def static(self) -> list[Trace]:
        """The names, and how long a value takes from each place."""
        palette, letters = self._palette, self._letters
        launch, block = self._model.recording.launch, self._model.recording.block
        waits = latencies()
        far_wait, chip_wait = "large and far", "small and near"
        if waits is not None:
            far_wait, chip_wait = (
                f"{text}: {cycles} cycles"
                for text, cycles in zip(("far", "near"), waits, strict=True)
            )
        name = f"On the chip: block {format_index(block, launch.grid)}"
        if self._has_grid:
            name, chip_wait = "The grid and the GPU", ""
        traces = []
        for frame, title, wait in (
            (self._far, "Global memory", far_wait), (self._chip, name, chip_wait)
        ):  # fmt: skip
            y = frame.top + 0.5 * TITLE * letters.name
            left, right = frame.left + 0.7 * letters.name, frame.right - 0.7 * letters.name
            width = right - left
            if text_width(title, letters.name, True) > width:
                title = title.partition(":")[0]
            taken = text_width(title, letters.name, True)
            if taken + text_width(wait, letters.small) + letters.name > width:
                wait = wait.rpartition(": ")[2]
            if taken + text_width(wait, letters.small) + letters.name > width:
                wait = ""
            traces.append(
                words([(left, y)], [f"<b>{title}</b>"], letters.name, palette.ink, "middle right",
                      SANS)
            )  # fmt: skip
            traces.append(
                words([(right, y)], [wait], letters.small, palette.faint, "middle left", SANS)
            )
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """The counts above the bars, or at their right: only texts change."""
        palette, bars = self._palette, self._bars(step)
        points = [
            (whole.left, whole.top - 0.75 * self._size) if self._has_words_above
            else (self._area.right, (whole.top + whole.bottom) / 2)
            for whole, *_ in bars
        ]  # fmt: skip
        return [
            words(points, [text for *_, text in bars], self._size, palette.ink,
                  "middle right" if self._has_words_above else "middle left", SANS)
        ]  # fmt: skip

    def _bars(self, step: Step) -> list[tuple[Rectangle, Rectangle, str]]:
        """The most that a bar can be, the bar, and its words; the kernel's own is the last."""
        kernel = markup(self._model.recording.kernel.name)
        rows = [(f"{kernel} loads", self._loads[step.number])]
        if self._naive is not None and self._rows == BARS:
            rows.insert(0, ("naive loads", self._naive[step.number]))
        area, size, found = self._area, self._size, []
        longest = max(text_width(f"{name} {self._most:,}", size) for name, _ in rows)
        beside = 0.0 if self._has_words_above else longest + 10
        for i, (name, count) in enumerate(rows):
            low = self._top + (i + 1) * self._line - 0.2 * size
            high = min(self._line - 1.7 * size, TALLEST * size) if self._has_words_above else (
                BAR * size
            )  # fmt: skip
            whole = Rectangle(
                area.left, low - high, max(area.left + 20, area.right - beside), low
            )  # fmt: skip
            bar = replace(whole, right=whole.left + whole.width * count / self._most)
            text = f"{name} {count:,}"
            if self._has_words_above and text_width(text, size) > whole.width:
                text = f"{name.removesuffix(' loads')} {count:,}"
            found.append((whole, bar, text))
        return found

    def shapes(self, step: Step) -> list[Shape]:
        """Both frames, and the bars."""
        palette = self._palette
        bars = self._bars(step)
        first, second = (bars[0][1], bars[1][1]) if len(bars) == BARS else (None, bars[0][1])
        return [
            outline(_frame(self._far), palette.line, 1.5, palette.far, "below"),
            outline(_frame(self._chip), palette.line, 1.5, palette.near, "below"),
            outline("".join(_frame(whole) for whole, *_ in bars), palette.line, 1, palette.cell),
            outline("" if first is None else _frame(first), palette.faint, 0, palette.line),
            outline(_frame(second), palette.ink, 0, palette.phases[Phase.LOAD]),
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
