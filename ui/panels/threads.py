"""The block's threads: each with its accumulator, by warps, and what memory has moved so far."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.ctype import Scalar
from simulator.tree import Assign, Evaluate, Name
from simulator.walk import walk
from ui.palette import Palette
from ui.panels.canvas import SANS, Grid, Shape, Trace, heat, lines, number, outline, words
from ui.story import Story

LEFT, TOP, RIGHT, BOTTOM = 1152, 552, 1580, 812
LABEL = 26
GRID_RIGHT = 1416
LARGEST_CELL = 62
TEXT_CELLS = 64
SMALLEST_TEXT = 22
WARP = 32


class ThreadsPanel:
    """One cell a thread of the block, x to the right, y (and z) down."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        x, y, z = story.recording.launch.block
        size = min(
            (GRID_RIGHT - LEFT) / x, (BOTTOM - TOP - LABEL) / (y * z), LARGEST_CELL
        )  # fmt: skip
        self.grid = Grid(LEFT, TOP + LABEL, size, y * z, x)
        self._name = accumulator(story)
        self._has_text = size >= SMALLEST_TEXT and x * y * z <= TEXT_CELLS
        self._loads = self._count()

    def static(self) -> list[Trace]:
        """Names and borders; a thicker one between warps."""
        palette, grid = self._palette, self.grid
        threads = grid.rows * grid.columns
        warps = -(-threads // WARP)
        what = f"<b>{self._name}</b> of" if self._name else "<b>Threads</b>:"
        title = f"{what} {threads} threads, {warps} warp{'s' if warps > 1 else ''}"
        every = max(1, WARP // grid.columns) if threads > WARP else grid.rows
        return [
            words([(LEFT, TOP + LABEL - 14)], [title], 15, palette.ink, "middle right", SANS),
            lines(grid, (every, grid.columns), palette.line, 2),
            words([(GRID_RIGHT + 24, TOP + LABEL - 14)], ["<b>Loads so far</b>"], 15, palette.ink,
                  "middle right", SANS),
        ]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """Who is active, what each accumulator holds, and the loads counted."""
        palette, grid = self._palette, self.grid
        fill = np.where(step.active, 1, 0)
        fill[self._story.thread] = 2
        colours = [palette.cell, palette.idle, palette.focus_fill]
        traces = [heat(grid, fill.reshape(grid.rows, grid.columns).tolist(), colours)]
        if self._has_text:
            values = step.registers.get(self._name) if self._name else None
            texts = [""] * fill.size if values is None else [number(v) for v in values]
            places = [grid.centre(*divmod(i, grid.columns)) for i in range(fill.size)]
            traces.append(words(places, texts, min(19, grid.size * 0.34), palette.ink))
        from_global, from_shared = self._loads[step.number]
        places = [(GRID_RIGHT + 24, TOP + LABEL + 20 + 27 * i) for i in range(4)]
        told = [f"global <b>{from_global:,}</b>", "", "", ""]
        if self._story.recording.shared:
            told[1] = f"shared <b>{from_shared:,}</b>"
            if from_shared and from_global:
                told[2] = f"<b>{from_shared / from_global:.1f}×</b> fewer from"
                told[3] = "global than naive"
        traces.append(words(places, told, 15, palette.ink, "middle right", SANS))
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """The focused thread."""
        row, column = divmod(self._story.thread, self.grid.columns)
        return [outline(self.grid.box(row, column), self._palette.focus, 4)]

    def _count(self) -> list[tuple[int, int]]:
        """Threads' loads from global and from shared memory, up to each step."""
        found, from_global, from_shared = [], 0, 0
        for step in self._story.recording.steps:
            for access in step.accesses:
                if access.kind == "load":
                    active = int((access.active & access.in_bounds).sum())
                    from_global += active if access.space == "global" else 0
                    from_shared += active if access.space == "shared" else 0
            found.append((from_global, from_shared))
        return found


def accumulator(story: Story) -> str | None:
    """The float variable that the innermost loop adds to, if there is one in registers."""
    within = story.inner or story.outer
    for statement in walk(within.body if within else story.recording.kernel.body):
        match statement:
            case Evaluate(expression=Assign(place=Name(variable=variable), operator="+")):
                if isinstance(variable.ctype, Scalar) and variable.ctype.is_float:
                    return variable.name
            case _:
                pass
    return None
