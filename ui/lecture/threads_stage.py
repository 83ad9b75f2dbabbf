"""The stage of the threads: each warp a row of its lanes, who runs, who waits, who is done."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import Barrier, Return
from simulator.launch import WARP_SIZE, format_index, unravel
from simulator.recording.barriers import Absent, absent, waiting_threads
from simulator.sentences.barriers import describe_absent
from ui.analysis.scene_model import Phase, SceneModel
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.hit import Hit
from ui.drawing.motions import Motion, Wall
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.lecture.cells import Cells
from ui.lecture.layout import Areas
from ui.lecture.letters import Letters, fit, text_width
from ui.lecture.window import Windows

LINES = 4  # of words beside the maps
TALLEST = 3.0  # of a small letter, a warp's row


class ThreadsStage:
    """A row for each warp of the block, a cell for each of its 32 lanes."""

    def __init__(self, model: SceneModel, palette: Palette, letters: Letters, areas: Areas) -> None:
        self._model, self._palette, self._letters = model, palette, letters
        self._threads = model.recording.launch.threads
        self._warps = -(-self._threads // WARP_SIZE)
        self._waiting = waiting_threads(model.recording)
        self._last = self._last_steps()
        self._absent: dict[int, tuple[Absent, ...]] = {}
        stage, maps = areas.stage, areas.corner
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom
        )
        self._name = text_width(f"warp {self._warps - 1}", letters.small) + 6
        state = text_width("goes on", letters.small) + 10
        lanes = min(WARP_SIZE, self._threads)
        top = maps.bottom + 2.2 * letters.name
        across = (stage.width - self._name - state) / lanes
        height = min(TALLEST * letters.small, (stage.bottom - top) / self._warps)
        self._cells = Cells(
            stage.left + self._name, top, min(across, 1.5 * height), height, self._warps, lanes
        )
        titles = (f"the block's {self._threads} threads, one row per warp", "one row per warp", "")
        room = stage.right - self._cells.left
        self._title = next(text for text in titles if text_width(text, letters.name) <= room)
        self._every = max(1, -(-int(1.25 * letters.small) // int(max(1, height))))

    def matches(self, step: Step) -> bool:
        """Whether the stage can show a step: any."""
        return True

    def static(self) -> list[Trace]:
        """Nothing."""
        return []

    def changing(self, step: Step) -> list[Trace]:
        """Who waits and who runs in words, and each warp's name and state."""
        palette, letters, cells = self._palette, self._letters, self._cells
        points = [
            (self._words.left, self._words.top + letters.sentence * (0.8 + 1.35 * i))
            for i in range(LINES)
        ]
        lines = self._describe(step)
        rows = range(0, self._warps, self._every)
        middles = [cells.top + (row + 0.5) * cells.height for row in rows]
        names = [f"warp {row}" for row in rows]
        return [
            words(points, [*lines, *[""] * LINES][:LINES], letters.sentence, palette.ink,
                  "middle right", SANS),
            words([(cells.left, cells.top - 0.9 * letters.name)],
                  [self._title], letters.name, palette.ink, "middle right", SANS),
            words([(cells.left - 6, y) for y in middles], names, letters.small, palette.ink,
                  "middle left", SANS),
            words([(cells.right + 6, y) for y in middles],
                  [self._state(step, row) for row in rows], letters.small, palette.ink,
                  "middle right", SANS),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The lanes by what they do."""
        palette, cells = self._palette, self._cells
        is_open = self._is_open(step)
        missing = np.zeros(self._threads, np.bool_)
        for group in self._missing(step):
            missing[list(group.threads)] = True
        waits = self._waiting[step.number] & ~is_open
        runs = (step.active | is_open) & ~waits
        focus = divmod(self._model.thread, WARP_SIZE)
        return [
            outline(cells.fill(self._lanes(np.ones(self._threads, np.bool_))), palette.line, 1,
                    palette.cell, "below"),
            outline(cells.fill(self._lanes(runs)), palette.line, 0, palette.number, "below"),
            outline(cells.fill(self._lanes(waits)), palette.line, 0,
                    palette.phases[Phase.BARRIER], "below"),
            outline(cells.path(*focus), palette.focus, 4),
            outline(self._wall(step), palette.focus, 0, palette.focus),
            outline(cells.fill(self._lanes(missing)), palette.focus, 2, dash="dot"),
        ]  # fmt: skip

    def windows(self, step: Step) -> Windows:
        """None: it shows no array."""
        return ()

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The thread under a point."""
        at = self._cells.at(x, y)
        if at is None:
            return None
        thread = at[0] * WARP_SIZE + at[1]
        return Hit("thread", thread) if thread < self._threads else None

    def motions(self, step: Step) -> list[Motion]:
        """The barrier's wall: it closes before the first who wait, and opens with the last."""
        if not isinstance(step.statement, Barrier):
            return []
        return [Wall(self._wall_box(), self._is_open(step))]

    def _is_open(self, step: Step) -> bool:
        """Whether the last thread has come to the barrier at this step."""
        return isinstance(step.statement, Barrier) and bool(self._waiting[step.number].all())

    def _missing(self, step: Step) -> tuple[Absent, ...]:
        """Those that never come to the barrier of a step; () at other steps."""
        if not isinstance(step.statement, Barrier):
            return ()
        if step.number not in self._absent:
            self._absent[step.number] = absent(self._model.recording, step)
        return self._absent[step.number]

    def _describe_absent(self, come: int, missing: tuple[Absent, ...]) -> tuple[str, ...]:
        """Who waits in vain, and where the others are."""
        letters, room = self._letters, self._words.width
        first = f"⚠ Only {come} of {self._threads} threads come to this barrier."
        lines = list(fit((first,), letters.sentence, room, LINES))
        for group in missing:
            text = describe_absent(self._model.recording, group)
            lines += fit((f"{text[0].upper()}{text[1:]}.",), letters.sentence, room,
                         LINES - len(lines))  # fmt: skip
        return tuple(lines)

    def _wall(self, step: Step) -> str:
        """The barrier that the waiting threads stand at."""
        if not isinstance(step.statement, Barrier) or self._is_open(step):
            return ""
        return box(*self._wall_box())

    def _wall_box(self) -> tuple[float, float, float, float]:
        cells = self._cells
        return cells.left, cells.bottom + 3, cells.right, cells.bottom + 7

    def _lanes(self, threads: Array) -> Array:
        lanes = np.zeros(self._cells.rows * self._cells.columns, np.bool_)
        numbers = np.flatnonzero(threads)
        lanes[numbers // WARP_SIZE * self._cells.columns + numbers % WARP_SIZE] = True
        return lanes.reshape(self._cells.rows, self._cells.columns)

    def _state(self, step: Step, warp: int) -> str:
        """What most of a warp does, as text beside its row."""
        lanes = slice(warp * WARP_SIZE, min((warp + 1) * WARP_SIZE, self._threads))
        if self._is_open(step):
            return "goes on"
        waits = self._waiting[step.number][lanes]
        if waits.all():
            return "waits"
        if waits.any() and self._missing(step):
            return f"{waits.sum()} wait{'' if waits.sum() > 1 else 's'}"
        if step.active[lanes].any():
            return "runs"
        return "ready" if step.number < self._last[warp] else "done"

    def _last_steps(self) -> list[int]:
        """The number of the last step of each warp, -1 for one that runs none."""
        last = [-1] * self._warps
        for step in self._model.recording.steps:
            for warp in np.unique(np.flatnonzero(step.active) // WARP_SIZE).tolist():
                last[warp] = step.number
        return last

    def _describe(self, step: Step) -> tuple[str, ...]:
        """How many wait, run, and are yet to come."""
        letters, room = self._letters, self._words.width
        waits = int(self._waiting[step.number].sum())
        active = int(step.active.sum())
        total = self._threads
        missing = self._missing(step)
        if missing:
            come = total - sum(len(group.threads) for group in missing)
            return self._describe_absent(come, missing)
        if isinstance(step.statement, Barrier):
            if waits == total:
                text = f"The last of the {total} threads has come to the barrier: all go on."
            else:
                text = (
                    f"{waits} of {total} threads wait at the barrier, the others have yet to come."
                )
        elif isinstance(step.statement, Return):
            text = f"{active} of {total} threads have finished."
        elif waits:
            text = f"{active} threads run, {waits} wait at the barrier."
        else:
            text = f"{active} of {total} threads run this line."
            text += " Nobody waits."
        block = self._model.recording.launch.block
        thread = format_index(unravel(self._model.thread, block), block)
        warp = self._model.thread // WARP_SIZE
        who = f"Thread {thread} is lane {self._model.thread % WARP_SIZE} of warp {warp}."
        first = fit((text,), letters.sentence, room, LINES)
        return (*first, *fit((who,), letters.sentence, room, LINES - len(first)))
