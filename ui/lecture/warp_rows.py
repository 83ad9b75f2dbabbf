"""The warps of a block before a barrier, which is a gate: who runs, who is there, who is past.

A warp is a row of its lanes. Of those that test a condition the ones for which it does not hold
are hollow: the others go on first. A warp is at the left while it runs, before the gate while
it waits there, and reaches past it once the last warp has come and the gate is open.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import Barrier
from simulator.launch import WARP_SIZE
from simulator.recording.barriers import Absent, absent, waiting_threads
from ui.analysis.divergence import threads_that_take
from ui.analysis.scene_model import Phase, iteration
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.hit import Hit
from ui.drawing.motions import Box, Motion, Walk, Wall
from ui.drawing.paths import box, px
from ui.drawing.sheet import Rectangle
from ui.lecture.cells import Cells
from ui.lecture.letters import text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel
from ui.view.what_if import REMOVED

TALLEST = 6.0  # of a small letter, a warp's row
THICK = 0.84  # of the way from one row to the next, a row
LANES = 0.7  # of the way from the left to the right, the width of a row
GATE = 0.86  # of the same way, where the gate is
PAST = 0.27  # of the same way, how far a row has come that reaches past the gate
POST = 6.0  # pixels, the gate's width
STUB = 7.0  # pixels, the gate above and below the rows
SWING = 4.0  # pixels, how far outside these the end of an open leaf is
LEAF = 0.13  # of the way from the left to the right, each of the two leaves of an open gate

Moment = tuple[float, int]  # an outer iteration, -1 before the first, and a line


class WarpRows(StagePanel):
    """A row for each warp of the block, and the gate: a panel, or a part of one."""

    def __init__(self, context: PanelContext, area: Rectangle) -> None:
        model, letters = context.model, context.letters
        self._model, self._palette, self._letters = model, context.palette, letters
        self.threads = model.recording.launch.threads
        self.warps = -(-self.threads // WARP_SIZE)
        self.waiting = waiting_threads(model.recording)
        self._absent: dict[int, tuple[Absent, ...]] = {}
        self._moments, self._last = self._find_moments()
        self.has_gate = any(isinstance(step.statement, Barrier) for step in model.recording.steps)
        self._removed = tuple(
            change.line for change in model.changes
            if change.new is not None and REMOVED.match(change.new)
        )  # fmt: skip
        lanes = min(WARP_SIZE, self.threads)
        left = area.left + text_width(f"warp {self.warps - 1}", letters.small) + 6
        self._way = area.right - left
        across = LANES * self._way / lanes
        height = min(TALLEST * letters.small, (area.height - 2 * STUB) / self.warps)
        self.cells = Cells(
            left, area.top + STUB, min(across, 1.5 * height), height, self.warps, lanes
        )
        self._gate = left + GATE * self._way
        self._every = max(1, -(-int(1.25 * letters.small) // int(max(1, height))))

    def changing(self, step: Step) -> list[Trace]:
        """The warps' names."""
        return [self.names()]

    def names(self) -> Trace:
        """The warps' names; where rows are low, of some of them."""
        rows = range(0, self.warps, self._every)
        points = [(self.cells.left - 6, self._middle(row)) for row in rows]
        return labels(points, [f"warp {row}" for row in rows], self._letters.small,
                      self._palette.ink, "middle left")  # fmt: skip

    def states(self, step: Step) -> Trace:
        """What each warp does, in words at the right."""
        rows = range(0, self.warps, self._every)
        points = [(self.cells.left + self._way + 6, self._middle(row)) for row in rows]
        return labels(points, [self._state(step, row) for row in rows], self._letters.small,
                      self._palette.ink)  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The lanes by what they do, each row where its warp is, and the gate."""
        palette = self._palette
        is_open = self.is_open(step)
        missing = np.zeros(self.threads, np.bool_)
        for group in self.missing(step):
            missing[list(group.threads)] = True
        waits = self.waiting[step.number] & ~is_open
        runs = (step.active | is_open) & ~waits
        taking = threads_that_take(step)
        skips = np.zeros_like(runs) if taking is None else runs & ~taking
        warp, lane = divmod(self._model.thread, WARP_SIZE)
        everybody = np.ones(self.threads, np.bool_)
        idle, closed, ajar, ghost = self._gates(step)
        return [
            outline(self._tracks(), palette.line, 0, palette.cell, "below"),
            outline(self._fill(step, everybody), palette.line, 1, palette.cell, "below"),
            outline(self._fill(step, runs & ~skips), palette.line, 0, palette.number, "below"),
            outline(self._fill(step, skips), palette.number, 2, layer="below"),
            outline(self._fill(step, waits), palette.line, 0,
                    palette.phases[Phase.BARRIER], "below"),
            outline(self._row(step, warp).path(0, lane), palette.focus, 4),
            outline(closed, palette.ink, 0, palette.ink),
            outline(self._fill(step, missing), palette.focus, 2, dash="dot"),
            outline(ajar, palette.ink, 0, palette.ink),
            outline(ghost, palette.ink, 2, dash="dot"),
            outline(idle, palette.line, 0, palette.line),
        ]  # fmt: skip

    def box(self, step: Step, thread: int) -> Box:
        """Where a thread's lane is."""
        warp, lane = divmod(thread, WARP_SIZE)
        return self._row(step, warp).box(0, lane)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The thread under a point."""
        for warp in range(self.warps):
            at = self._row(step, warp).at(x, y)
            thread = warp * WARP_SIZE + at[1] if at is not None else self.threads
            if thread < self.threads:
                return Hit("thread", thread)
        return None

    def motions(self, step: Step) -> list[Motion]:
        """The warps that come to the barrier or leave it, and the gate that opens with the last."""
        if not isinstance(step.statement, Barrier):
            return []
        cells = self.cells
        before = self._model.recording.steps[step.number - 1] if step.number else step
        walks: list[Motion] = []
        for warp in range(self.warps):
            here, there = self._row(step, warp), self._row(before, warp)
            if here.left > there.left:
                place = here.left, here.top, here.right, here.bottom
                walks.append(Walk(place, there.left - here.left))
        return [Wall(self._gate_box(cells.top, cells.bottom), self.is_open(step)), *walks]

    def is_open(self, step: Step) -> bool:
        """Whether the last thread has come to the barrier at this step."""
        return isinstance(step.statement, Barrier) and bool(self.waiting[step.number].all())

    def missing(self, step: Step) -> tuple[Absent, ...]:
        """Those that never come to the barrier of a step; () at other steps."""
        if not isinstance(step.statement, Barrier):
            return ()
        if step.number not in self._absent:
            self._absent[step.number] = absent(self._model.recording, step)
        return self._absent[step.number]

    def _middle(self, warp: int) -> float:
        return self.cells.top + (warp + 0.5) * self.cells.height

    def _row(self, step: Step, warp: int) -> Cells:
        """The lanes of a warp, where it has come to."""
        cells = self.cells
        lanes = slice(warp * WARP_SIZE, min((warp + 1) * WARP_SIZE, self.threads))
        left = cells.left
        if self.is_open(step) or warp in self._early(step):
            left += PAST * self._way
        elif self.waiting[step.number][lanes].any():
            left = self._gate - 2 - cells.columns * cells.width
        top, height = cells.top + (warp + 0.5 - 0.5 * THICK) * cells.height, THICK * cells.height
        return replace(cells, left=left, top=top, height=height, rows=1)

    def _fill(self, step: Step, threads: Array) -> str:
        """The lanes of some threads, bool [threads]."""
        path = ""
        for warp in np.unique(np.flatnonzero(threads) // WARP_SIZE).tolist():
            lanes = np.zeros(self.cells.columns, np.bool_)
            own = threads[warp * WARP_SIZE : (warp + 1) * WARP_SIZE]
            lanes[: own.size] = own
            path += self._row(step, warp).fill(lanes[None, :])
        return path

    def _tracks(self) -> str:
        """The way of each warp, from where it runs through the gate."""
        cells = self.cells
        return "".join(
            box(cells.left, self._middle(warp) - 0.5 * THICK * cells.height,
                cells.left + self._way, self._middle(warp) + 0.5 * THICK * cells.height)
            for warp in range(self.warps)
        ) if self.has_gate else ""  # fmt: skip

    def _gate_box(self, top: float, bottom: float) -> Box:
        return self._gate, top, self._gate + POST, bottom

    def _gates(self, step: Step) -> tuple[str, str, str, str]:
        """The gate: nobody before it; closed; open, its leaves aside; removed, with a warp past it.

        A kernel without a barrier has none.
        """
        top, bottom = self.cells.top - STUB, self.cells.bottom + STUB
        if self.is_open(step):
            end = self._gate + LEAF * self._way
            leaves = "".join(
                f"M{px(self._gate)},{px(hinge)}L{px(end)},{px(hinge - way * SWING)}"
                f"V{px(hinge)}L{px(self._gate + POST)},{px(hinge + way * STUB)}"
                f"H{px(self._gate)}Z"
                for hinge, way in ((top, 1), (bottom, -1))
            )
            return "", "", leaves, ""
        gate = box(*self._gate_box(top, bottom))
        if self._early(step):
            return "", "", "", gate
        if self.waiting[step.number].any():
            return "", gate, "", ""
        return gate if self.has_gate else "", "", "", ""

    def _early(self, step: Step) -> frozenset[int]:
        """The warps past a removed barrier that another warp has yet to come to."""
        moments = self._moments[step.number]
        for line in self._removed:
            turn, at = min(moments)
            gate = max(turn + (at > line), 0.0), line
            if gate[0] < self._model.iterations:
                past = frozenset(i for i, moment in enumerate(moments) if moment > gate)
                if past:
                    return past
        return frozenset()

    def _find_moments(self) -> tuple[list[tuple[Moment, ...]], list[int]]:
        """For each step where each warp has come to, its outer iteration and line.

        Also the number of each warp's last step, -1 for one that runs none.
        """
        now: list[Moment] = [(-1, 0)] * self.warps
        last = [-1] * self.warps
        found = []
        for step in self._model.recording.steps:
            turn = iteration(self._model, step, self._model.outer)
            for warp in np.unique(np.flatnonzero(step.active) // WARP_SIZE).tolist():
                after = np.inf if now[warp][0] >= 0 else -1
                now[warp] = (after if turn is None else turn[0], step.line)
                last[warp] = step.number
            found.append(tuple(now))
        return found, last

    def _state(self, step: Step, warp: int) -> str:
        """What most of a warp does."""
        lanes = slice(warp * WARP_SIZE, min((warp + 1) * WARP_SIZE, self.threads))
        if self.is_open(step):
            return "goes on"
        waits = self.waiting[step.number][lanes]
        if waits.all():
            return "waits"
        if waits.any() and self.missing(step):
            return f"{waits.sum()} wait{'' if waits.sum() > 1 else 's'}"
        if step.active[lanes].any():
            return "runs"
        return "ready" if step.number < self._last[warp] else "done"
