"""The block's threads by warps: their sums, idle and waiting threads, and global loads."""

from __future__ import annotations

import functools
import html

import numpy as np

from simulator import Step
from simulator.language.ctype import Array, ArrayOf
from simulator.language.tree import (
    Barrier,
    Variable,
)
from simulator.launch import WARP_SIZE
from simulator.recording.barriers import waiting_threads
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.products import accumulator
from ui.analysis.scene_model import (
    Phase,
    SceneModel,
    distinct_snapshots,
    values_held,
)
from ui.analysis.variable_values import values_by_step
from ui.drawing.canvas import SANS, Grid, Shape, Trace, lines, number, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, fill, foot_bars, hatch, hover
from ui.lecture.cells import columns_of_block

LEFT, TOP, RIGHT, BOTTOM = 1152, 560, 1580, 812
LABEL = 26
LEGEND = 20
GRID_RIGHT = 1410  # of the threads, where their sums fit into their cells
FEWEST_SUMS, MOST_SUMS, SUMS_GAP = 64, 126, 22  # pixels across for a thread's own sums
BARS_LEFT, BAR_HEIGHT = 1436, 26
LARGEST_CELL = 62
LARGEST_SUM = 40
TEXT_CELLS = 256
SMALLEST_TEXT = 20
SMALLEST_BORDER = 5
FEWER = 1.05  # times: less is no saving
LONGEST_NAME = 12  # letters of a kernel's name that have room beside its count
WRAPPED = 8  # columns of a block of one long row
THREADS_HOVER = (
    "Every thread of the block, threadIdx.x to the right, y (and z) down; a block of one long row "
    "is wrapped. Heavy lines part the warps of 32. The number is what the thread's sum holds "
    "after this statement. A diagonal marks a thread that is not active at this statement, a bar "
    "at the foot one that has come to the barrier and waits. Simplified: the warps run all as one, "
    "or one after another up to a barrier; the hardware mixes them in an order of its own."
)
SUMS_HOVER = (
    "The sums that the focused thread keeps in registers, as the source declares the array. "
    "Outlined: what this statement changed."
)
LOADS_HOVER = (
    "Elements that the block's threads have loaded from global memory so far: a float4 counts as "
    "four, an access out of bounds not at all. Naive: what the naive kernel would have loaded for "
    "the products done so far, two elements for each; products with a tile's zeros beyond a "
    "matrix's edge are none of them. Simplified: caches are left out."
)


class ThreadsPanel:
    """One cell a thread of the block; beside them the focused thread's sums, and the counters."""

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette
        x, y, z = block = model.recording.launch.block
        columns = columns_of_block(block)
        rows = -(-x * y * z // columns)
        self._sums = accumulator(model.recording)
        self._name = self._sums.name if self._sums else None
        each = _dimensions(self._sums)
        down, wide = (each[0], each[-1]) if len(each) > 1 else (*each, 1, 1)[:2]
        beside = min(MOST_SUMS, max(FEWEST_SUMS, LARGEST_SUM * wide)) if each else 0
        right = GRID_RIGHT - beside - (SUMS_GAP if each else 0)
        height = BOTTOM - TOP - LABEL - LEGEND
        size = min((right - LEFT) / columns, height / rows, LARGEST_CELL)
        self.grid = Grid(LEFT, TOP + LABEL, size, rows, columns)
        self._sums_grid: Grid | None = None
        if each:
            size = min(beside / wide, height / down, LARGEST_SUM)
            self._sums_grid = Grid(GRID_RIGHT - beside, TOP + LABEL, size, down, wide)
        self._has_text = (
            not each and self.grid.size >= SMALLEST_TEXT and x * y * z <= TEXT_CELLS
            and self._name is not None
        )  # fmt: skip
        self._sum_values = values_by_step(model.recording, self._name)
        self._waiting = waiting_threads(model.recording)
        self.loads = global_loads(model)
        self.naive = naive_loads(model)

    def static(self) -> list[Trace]:
        """Names and borders; a heavier one between warps."""
        palette, grid = self._palette, self.grid
        threads = self._model.recording.launch.threads
        warps = -(-threads // WARP_SIZE)
        inside = f"<b>{threads} threads</b>"
        if self._sums_grid is None:
            inside += f", {warps} warp{'s' if warps > 1 else ''}"
            inside = f"<b>{self._name}</b> of {inside}" if self._name else inside
        title = TOP + LABEL - 14
        names = [(grid.left, title, inside, THREADS_HOVER)]
        if self._sums_grid is not None:
            names.append((self._sums_grid.left, title, f"its <b>{self._name}</b>", SUMS_HOVER))
        names.append((BARS_LEFT, title, "<b>Global loads</b>", LOADS_HOVER))
        traces = [
            words(
                [(x, y) for x, y, _, _ in names], [text for *_, text, _ in names], 16, palette.ink,
                "middle right", SANS, hoverinfo="text", hovertext=[hover(why) for *_, why in names],
            )
        ]  # fmt: skip
        for drawn in (grid, self._sums_grid):
            if drawn is not None:
                if drawn.size >= SMALLEST_BORDER:
                    traces.append(lines(drawn, (1, 1), palette.paper, 1))
                traces.append(lines(drawn, (drawn.rows, drawn.columns), palette.line, 1.5))
        if threads > WARP_SIZE:
            traces.append(self._warps())
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """The sums, how many threads are active, and the counts of loads."""
        palette, grid = self._palette, self.grid
        traces: list[Trace] = []
        sums = self._sum_values[step.number]
        if self._has_text:
            count = self._model.recording.launch.threads
            texts = [""] * count if sums is None else [number(v) for v in sums.tolist()]
            points = [grid.centre(*divmod(i, grid.columns)) for i in range(count)]
            traces.append(words(points, texts, self._text_size, palette.ink))
        if self._sums_grid is not None:
            sums_grid = self._sums_grid
            count = sums_grid.rows * sums_grid.columns
            values = [] if sums is None else sums[self._model.thread].reshape(-1).tolist()
            texts = [number(v) for v in values] if len(values) == count else [""] * count
            points = [sums_grid.centre(*divmod(i, sums_grid.columns)) for i in range(count)]
            if sums_grid.size >= SMALLEST_TEXT:
                traces.append(words(points, texts, self._text_size, palette.ink))
        traces.append(words([(LEFT, BOTTOM - 7)], [self._legend(step)], 14, palette.faint,
                            "middle right", SANS))  # fmt: skip
        loads = self.loads[step.number]
        points = [(BARS_LEFT, TOP + LABEL + 12 + 50 * i) for i in range(2)]
        name = self._model.recording.kernel.name
        is_here = name == "naive" or self.naive is None or len(name) > LONGEST_NAME
        labels = [
            "" if self.naive is None else f"naive <b>{self.naive[step.number]:,}</b>",
            f"{'here' if is_here else html.escape(name)} <b>{loads:,}</b>",
        ]
        traces.append(words(points, labels, 15, palette.ink, "middle right", SANS))
        points = [(BARS_LEFT, TOP + LABEL + 122 + 22 * i) for i in range(2)]
        traces.append(words(points, self._saved(step), 16, palette.ink, "middle right", SANS))
        return traces

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A thread."""
        cell = self.grid.cell_at(x, y)
        inside = cell is not None and cell < self._model.recording.launch.threads
        return Hit("thread", cell) if cell is not None and inside else None

    def shapes(self, step: Step) -> list[Shape]:
        """Active and waiting threads, the focused thread, and the two counters as bars."""
        palette, grid = self._palette, self.grid
        row, column = divmod(self._model.thread, grid.columns)
        waits = foot_bars(grid, self._cells(self._waiting[step.number]))
        changed = cells = ""
        if self._sums_grid is not None:
            cells = fill(
                self._sums_grid, np.ones(self._sums_grid.rows * self._sums_grid.columns, np.bool_)
            )
            changed = self._changed(step)
        thickness = max(1.5, grid.size * 0.12)
        naive = self.naive or [0] * len(self.loads)
        most = max(1, *self.loads[-1:], *naive[-1:])
        scale = (RIGHT - BARS_LEFT) / most
        bars = [
            box(BARS_LEFT, top, BARS_LEFT + scale * count, top + BAR_HEIGHT - 4) if count else ""
            for count, top in (
                (naive[step.number], TOP + LABEL + 22),
                (self.loads[step.number], TOP + LABEL + 72),
            )
        ]
        return [
            outline(fill(grid, self._cells(~step.active)), palette.cell, 0, palette.cell, "below"),
            outline(fill(grid, self._cells(step.active)), palette.idle, 0, palette.idle, "below"),
            outline(cells, palette.idle, 0, palette.idle, "below"),
            outline(grid.box(row, column), palette.focus_fill, 0, palette.focus_fill, "below"),
            outline(hatch(grid, self._cells(~step.active)), palette.faint, 0.8, layer="below"),
            outline(waits, palette.phases[Phase.BARRIER], thickness),
            outline(changed, palette.focus, 3),
            outline(grid.box(row, column), palette.focus, 4 if grid.size > 12 else 2),
            outline(bars[0], palette.faint, 0, palette.phases[Phase.COMPUTE], "below"),
            outline(bars[1], palette.faint, 0, palette.phases[Phase.STORE], "below"),
        ]

    @functools.cached_property
    def _text_size(self) -> float:
        """As large as the longest sum allows that any thread ever holds."""
        size = (self._sums_grid or self.grid).size
        snapshots = distinct_snapshots(sums for sums in self._sum_values if sums is not None)
        shown = slice(None) if self._sums_grid is None else self._model.thread
        values = values_held(sums[shown] for sums in snapshots)
        if not values.size:
            return min(20.0, size * 0.5)
        longest = max(len(number(value)) for value in values.tolist())
        return round(min(20.0, size * 0.5, size * 0.94 / (0.602 * longest)), 1)

    def _cells(self, threads: Array) -> Array:
        """Chosen threads [T] as cells; a last row may have fewer threads than cells."""
        cells = np.zeros(self.grid.rows * self.grid.columns, np.bool_)
        cells[: threads.size] = threads
        return cells

    def _changed(self, step: Step) -> str:
        """The focused thread's sums that differ from the step before."""
        after, before = self._sum_values[step.number], self._sum_values[max(0, step.number - 1)]
        if self._sums_grid is None or after is None or before is None or after is before:
            return ""
        thread = self._model.thread
        differs: Array = after[thread] != before[thread]
        return fill(self._sums_grid, differs.reshape(-1))

    def _warps(self) -> Trace:
        """A line after each warp, stepped where a warp ends within a row."""
        grid = self.grid
        x: list[float | None] = []
        y: list[float | None] = []
        for first in range(WARP_SIZE, self._model.recording.launch.threads, WARP_SIZE):
            row, column = divmod(first, grid.columns)
            top, across_ = grid.top + row * grid.size, grid.left + column * grid.size
            x += [grid.left, across_, across_, grid.right, None]
            y += (
                [top + grid.size, top + grid.size, top, top, None] if column else [top] * 4 + [None]
            )
        return {
            "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
            "line": {"color": self._palette.faint, "width": 2},
        }  # fmt: skip

    def _legend(self, step: Step) -> str:
        """How many threads take part, as text: a colour alone would not be accessible."""
        active, all_ = int(step.active.sum()), step.active.size
        waits = int(self._waiting[step.number].sum())
        if isinstance(step.statement, Barrier):
            return f"{waits} of {all_} have come to the barrier"
        text = f"{active} of {all_} active" if active < all_ else f"all {all_} active"
        return f"{text}, {waits} wait at the barrier" if waits else text

    def _saved(self, step: Step) -> list[str]:
        """How many times fewer loads than the naive kernel, at this step and at the last."""
        if self.naive is None:
            return ["", ""]
        loads, naive = self.loads[step.number], self.naive[step.number]
        last = self.naive[-1] / self.loads[-1] if self.loads[-1] else 0.0
        end = f"{_times(last)} at the end" if last >= FEWER else ""
        if not loads or not naive:
            return ["", end]
        if naive < loads * FEWER:
            return ["not yet fewer" if end else "no fewer", end]
        return [f"saved <b>{_times(naive / loads)}</b>", end]


def _times(ratio: float) -> str:
    return f"{ratio:.1f}".removesuffix(".0") + "×"


def _dimensions(variable: Variable | None) -> tuple[int, ...]:
    """The lengths of an array variable; () for a plain one."""
    ctype = variable.ctype if variable is not None else None
    return ctype.shape if isinstance(ctype, ArrayOf) else ()
