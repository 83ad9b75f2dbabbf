"""The block's threads by warps: each one's sum, who is idle or waits, and what it has loaded."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from simulator import Kernel, Launch, Step, record
from simulator.language.ctype import ArrayOf, Scalar
from simulator.language.tree import (
    Assign,
    Barrier,
    Binary,
    Evaluate,
    Expression,
    Index,
    MemorySpace,
    Name,
    Statement,
    Variable,
)
from simulator.language.visit import expressions_of, subexpressions
from simulator.launch import WARP_SIZE, Dim3
from simulator.machine.observer import AccessKind
from ui.palette import Palette
from ui.panels.canvas import SANS, Grid, Shape, Trace, lines, number, outline, target, words
from ui.panels.paths import box, feet, fill, hatch, hover
from ui.scene_model import Array, Story, tell

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

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        x, y, z = block = story.recording.launch.block
        columns = across_of(block)
        rows = -(-x * y * z // columns)
        self._sums = accumulator(story)
        self._name = self._sums.name if self._sums else None
        each = _dimensions(self._sums)
        down, wide = (each[0], each[-1]) if len(each) > 1 else (*each, 1, 1)[:2]
        beside = min(MOST_SUMS, max(FEWEST_SUMS, LARGEST_SUM * wide)) if each else 0
        right = GRID_RIGHT - beside - (SUMS_GAP if each else 0)
        height = BOTTOM - TOP - LABEL - LEGEND
        size = min((right - LEFT) / columns, height / rows, LARGEST_CELL)
        self.grid = Grid(LEFT, TOP + LABEL, size, rows, columns)
        self._own: Grid | None = None
        if each:
            size = min(beside / wide, height / down, LARGEST_SUM)
            self._own = Grid(GRID_RIGHT - beside, TOP + LABEL, size, down, wide)
        self._has_text = (
            not each and self.grid.size >= SMALLEST_TEXT and x * y * z <= TEXT_CELLS
            and self._name is not None
        )  # fmt: skip
        self._held = held(story, self._sums)
        self._waiting = waiting(story)
        self.loads = global_loads(story)
        self.naive = naive_loads(story)

    def static(self) -> list[Trace]:
        """Names and borders; a heavier one between warps."""
        palette, grid = self._palette, self.grid
        threads = self._story.recording.launch.threads
        warps = -(-threads // WARP_SIZE)
        inside = f"<b>{threads} threads</b>"
        if self._own is None:
            inside += f", {warps} warp{'s' if warps > 1 else ''}"
            inside = f"<b>{self._name}</b> of {inside}" if self._name else inside
        title = TOP + LABEL - 14
        names = [(grid.left, title, inside, THREADS_HOVER)]
        if self._own is not None:
            names.append((self._own.left, title, f"its <b>{self._name}</b>", SUMS_HOVER))
        names.append((BARS_LEFT, title, "<b>Global loads</b>", LOADS_HOVER))
        traces = [
            words(
                [(x, y) for x, y, _, _ in names], [text for *_, text, _ in names], 16, palette.ink,
                "middle right", SANS, hoverinfo="text", hovertext=[hover(why) for *_, why in names],
            )
        ]  # fmt: skip
        for one in (grid, self._own):
            if one is not None:
                if one.size >= SMALLEST_BORDER:
                    traces.append(lines(one, (1, 1), palette.paper, 1))
                traces.append(lines(one, (one.rows, one.columns), palette.line, 1.5))
        if threads > WARP_SIZE:
            traces.append(self._warps())
        traces.append(target(grid, "threads"))
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """The sums, who is active, and the loads counted."""
        palette, grid = self._palette, self.grid
        traces: list[Trace] = []
        sums = self._held[step.number]
        if self._has_text:
            count = self._story.recording.launch.threads
            texts = [""] * count if sums is None else [number(v) for v in sums.tolist()]
            places = [grid.centre(*divmod(i, grid.columns)) for i in range(count)]
            traces.append(words(places, texts, self._text_size, palette.ink))
        if self._own is not None:
            own = self._own
            count = own.rows * own.columns
            values = [] if sums is None else sums[self._story.thread].reshape(-1).tolist()
            texts = [number(v) for v in values] if len(values) == count else [""] * count
            places = [own.centre(*divmod(i, own.columns)) for i in range(count)]
            if own.size >= SMALLEST_TEXT:
                traces.append(words(places, texts, self._text_size, palette.ink))
        traces.append(words([(LEFT, BOTTOM - 7)], [self._legend(step)], 14, palette.faint,
                            "middle right", SANS))  # fmt: skip
        mine, naive = self.loads[step.number], self.naive[step.number]
        places = [(BARS_LEFT, TOP + LABEL + 12 + 50 * i) for i in range(2)]
        name = self._story.recording.kernel.name
        told = [f"naive <b>{naive:,}</b>", f"{'here' if name == 'naive' else name} <b>{mine:,}</b>"]
        traces.append(words(places, told, 15, palette.ink, "middle right", SANS))
        places = [(BARS_LEFT, TOP + LABEL + 122 + 22 * i) for i in range(2)]
        traces.append(words(places, self._saved(step), 16, palette.ink, "middle right", SANS))
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """Who is active, who waits, the focused thread, and the two counters as bars."""
        palette, grid = self._palette, self.grid
        row, column = divmod(self._story.thread, grid.columns)
        waits = feet(grid, self._cells(self._waiting[step.number]))
        changed = cells = ""
        if self._own is not None:
            cells = fill(self._own, np.ones(self._own.rows * self._own.columns, np.bool_))
            changed = self._changed(step)
        thickness = max(1.5, grid.size * 0.12)
        most = max(1, *self.loads[-1:], *self.naive[-1:])
        scale = (RIGHT - BARS_LEFT) / most
        bars = [
            box(BARS_LEFT, top, BARS_LEFT + scale * count, top + BAR_HEIGHT - 4) if count else ""
            for count, top in (
                (self.naive[step.number], TOP + LABEL + 22),
                (self.loads[step.number], TOP + LABEL + 72),
            )
        ]
        return [
            outline(fill(grid, self._cells(~step.active)), palette.cell, 0, palette.cell, "below"),
            outline(fill(grid, self._cells(step.active)), palette.idle, 0, palette.idle, "below"),
            outline(cells, palette.idle, 0, palette.idle, "below"),
            outline(grid.box(row, column), palette.focus_fill, 0, palette.focus_fill, "below"),
            outline(hatch(grid, self._cells(~step.active)), palette.faint, 0.8, layer="below"),
            outline(waits, palette.phases["barrier"], thickness),
            outline(changed, palette.focus, 3),
            outline(grid.box(row, column), palette.focus, 4 if grid.size > 12 else 2),
            outline(bars[0], palette.faint, 0, palette.phases["compute"], "below"),
            outline(bars[1], palette.faint, 0, palette.phases["store"], "below"),
        ]

    @functools.cached_property
    def _text_size(self) -> float:
        """As large as the longest sum allows that any thread ever holds."""
        size = (self._own or self.grid).size
        kept = {id(sums): sums for sums in self._held if sums is not None}
        if not kept:
            return min(20.0, size * 0.5)
        own = slice(None) if self._own is None else self._story.thread
        values = np.unique(np.concatenate([sums[own].reshape(-1) for sums in kept.values()]))
        longest = max(len(number(value)) for value in values.tolist())
        return round(min(20.0, size * 0.5, size * 0.94 / (0.602 * longest)), 1)

    def _cells(self, chosen: Array) -> Array:
        """Chosen threads [T] as cells; a last row may have fewer threads than cells."""
        found = np.zeros(self.grid.rows * self.grid.columns, np.bool_)
        found[: chosen.size] = chosen
        return found

    def _changed(self, step: Step) -> str:
        """The focused thread's sums that differ from the step before."""
        now, before = self._held[step.number], self._held[max(0, step.number - 1)]
        if self._own is None or now is None or before is None or now is before:
            return ""
        thread = self._story.thread
        differs: Array = now[thread] != before[thread]
        return fill(self._own, differs.reshape(-1))

    def _warps(self) -> Trace:
        """A line after each warp, stepped where a warp ends within a row."""
        grid = self.grid
        x: list[float | None] = []
        y: list[float | None] = []
        for first in range(WARP_SIZE, self._story.recording.launch.threads, WARP_SIZE):
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
        """How many take part, in words: a colour alone would not do."""
        active, all_ = int(step.active.sum()), step.active.size
        waits = int(self._waiting[step.number].sum())
        if isinstance(step.statement, Barrier):
            return f"{waits} of {all_} have come to the barrier"
        said = f"{active} of {all_} active" if active < all_ else f"all {all_} active"
        return f"{said}, {waits} wait at the barrier" if waits else said

    def _saved(self, step: Step) -> list[str]:
        """How many times fewer loads than the naive kernel, now and in the end."""
        mine, naive = self.loads[step.number], self.naive[step.number]
        last = self.naive[-1] / self.loads[-1] if self.loads[-1] else 0.0
        end = f"{_times(last)} at the end" if last >= FEWER else ""
        if not mine or not naive:
            return ["", end]
        if naive < mine * FEWER:
            return ["not yet fewer" if end else "no fewer", end]
        return [f"saved <b>{_times(naive / mine)}</b>", end]


def across_of(block: Dim3) -> int:
    """How many threads of a block stand in a row: threadIdx.x, or less where all are in one."""
    x, y, z = block
    return x if y * z > 1 else min(x, WRAPPED)


def _times(ratio: float) -> str:
    return f"{ratio:.1f}".removesuffix(".0") + "×"


def global_loads(story: Story) -> list[int]:
    """Elements that the block's threads have loaded from global memory, up to each step."""
    found, count = [], 0
    for step in story.recording.steps:
        for access in step.accesses:
            if access.kind is AccessKind.LOAD and access.space is MemorySpace.GLOBAL:
                count += int((access.active & access.in_bounds).sum()) * access.components
        found.append(count)
    return found


def naive_loads(story: Story) -> list[int]:
    """Elements the naive kernel would have loaded for the products done, up to each step.

    It loads two for each product that a stored cell of C needs. A sum takes up its products in the
    order of k, so that its first K are those; what follows multiplies the zeros of a last tile,
    and the sums of cells beyond C's edges multiply nothing that the naive kernel would.
    """
    recording = story.recording
    sums = accumulator(story)
    needed = _needed(story, sums)
    done = np.zeros(needed.shape, np.int64)
    K = int(recording.arguments["K"])
    factors = {step.statement: _products(step.statement) for step in recording.steps}
    found, count = [], 0
    for step in recording.steps:
        for active in _done(step, factors[step.statement]):
            places = np.flatnonzero(active), _cells_added(step, sums)[active]
            done[places] += 1
            count += 2 * int((needed[places] & (done[places] <= K)).sum())
        found.append(count)
    return found


def _needed(story: Story, sums: Variable | None) -> Array:
    """Which of each thread's sums [T, sums of a thread] belong to a cell within C."""
    recording, tile = story.recording, story.tile
    T, each = recording.launch.threads, math.prod(_dimensions(sums))
    if each == 1:
        stores = [
            access.active & access.in_bounds
            for step in recording.steps
            for access in step.accesses
            if access.kind is AccessKind.STORE and access.name == "C"
        ]
        stored: Array = np.logical_or.reduce([np.zeros(T, np.bool_), *stores])
        return stored[:, None]
    cells = recording.steps[-1].stored.get("C", np.zeros(0))
    if tile is None or np.count_nonzero(cells) == T * each:
        return np.ones((T, each), np.bool_)
    element = recording.arguments["C"].dtype
    row, column = sums_within_tile(recording.kernel, recording.launch.block, tile, element)
    (rows, columns, _), (x, y, _) = tile, recording.block
    M, N = story.shapes["C"]
    needed: Array = (y * rows + row < M) & (x * columns + column < N)
    return needed


@functools.lru_cache(maxsize=16)
def sums_within_tile(
    kernel: Kernel, block: Dim3, tile: tuple[int, int, int], element: np.dtype[Any]
) -> tuple[Array, Array]:
    """Row and column, within the block's tile of C, of each thread's sums [T, sums of a thread].

    They are read off a block whose tile lies within C: with the A and B it is given, each cell of C
    becomes its own number, row by row. element is the type of A, B and C.
    """
    rows, columns, depth = tile
    A, B = np.zeros((rows, depth), element), np.zeros((depth, columns), element)
    A[:, 0], B[0] = np.arange(rows), columns
    A[:, 1], B[1] = 1, np.arange(columns)
    arguments = {"A": A, "B": B, "C": np.zeros((rows, columns), element)}
    launch = Launch((1, 1, 1), block, {**arguments, "M": rows, "N": columns, "K": depth})
    story = tell(record(kernel, launch), 0)
    last = held(story, accumulator(story))[-1]
    assert last is not None, "a kernel whose sums are an array"
    row, column = np.divmod(last.reshape(launch.threads, -1).astype(np.int64), columns)
    return row, column


def _cells_added(step: Step, sums: Variable | None) -> Array:
    """Which of its sums each thread [T] adds to at a step: 0 where it has one."""
    if sums is not None and sums.space is MemorySpace.LOCAL:
        for access in step.accesses:
            mine = access.space is MemorySpace.LOCAL and access.name == sums.name
            if mine and access.kind is AccessKind.STORE:
                cells: Array = access.offsets // access.values.itemsize
                return cells
    return np.zeros(step.active.size, np.int64)


def _products(statement: Statement) -> list[Expression]:
    """The products of two floating-point numbers in a statement."""
    return [
        one
        for root in expressions_of(statement)
        for one in subexpressions(root)
        if isinstance(one, Binary) and one.operator == "*" and _is_float(one)
    ]


def _done(step: Step, products: list[Expression]) -> list[Array]:
    """For each product of its statement, which threads [T] have done it at a step.

    A product that is fused with a sum has no value of its own: all who run the statement do it.
    """
    if not products:
        return []
    done = {part.expression: part.active for part in step.evaluations}
    return [done.get(product, step.active) for product in products]


def _is_float(expression: Expression) -> bool:
    return isinstance(expression.ctype, Scalar) and expression.ctype.is_float


def accumulator(story: Story) -> Variable | None:
    """The float variable, or array of them, in registers that a loop adds to, if there is one."""
    sums = (_added(step.statement) for step in story.recording.steps)
    return next((variable for variable in sums if variable is not None), None)


def waiting(story: Story) -> list[Array]:
    """For each step, which threads [T] have come to the barrier and wait there for the others."""
    found: list[Array] = []
    nobody = now = np.zeros(story.recording.launch.threads, np.bool_)
    interval = 0
    for step in story.recording.steps:
        if step.interval != interval and not isinstance(step.statement, Barrier):
            now, interval = nobody, step.interval
        if isinstance(step.statement, Barrier):
            now = now | step.active
        found.append(now)
    return found


def held(story: Story, variable: Variable | None) -> list[Array | None]:
    """What a variable holds after each step, one entry a thread; None before it is there.

    Where a step cannot see it, as in a function that was given the array, its stores tell.
    """
    found: list[Array | None] = []
    now: Array | None = None
    for step in story.recording.steps:
        if variable is not None:
            seen = step.registers.get(variable.name)
            if seen is not None:
                now = seen
            elif now is not None:
                now = _stored(now, step, variable.name)
        found.append(now)
    return found


def _stored(held_: Array, step: Step, name: str) -> Array:
    """An array that every thread has of its own, with what one step stores to it."""
    for access in step.accesses:
        if (
            access.space is MemorySpace.LOCAL
            and access.name == name
            and access.kind is not AccessKind.LOAD
        ):
            threads = np.flatnonzero(access.active & access.in_bounds)
            components = access.components
            cells = access.offsets[threads] // access.element_bytes
            held_ = held_.copy()
            flat = held_.reshape(held_.shape[0], -1)
            for i in range(components):
                values = access.values[threads] if components == 1 else access.values[threads, i]
                flat[threads, cells + i] = values
    return held_


def _added(statement: object) -> Variable | None:
    match statement:
        case Evaluate(expression=Assign(lvalue=lvalue, operator="+") as sum_) if _is_float(sum_):
            while isinstance(lvalue, Index):
                lvalue = lvalue.base
            if isinstance(lvalue, Name) and lvalue.variable.space in (
                MemorySpace.REGISTER,
                MemorySpace.LOCAL,
            ):
                return lvalue.variable
        case _:
            pass
    return None


def _dimensions(variable: Variable | None) -> tuple[int, ...]:
    """The lengths of an array variable; () for a plain one."""
    ctype = variable.ctype if variable is not None else None
    return ctype.shape if isinstance(ctype, ArrayOf) else ()
