"""The stage of the threads: who runs, who waits, who is done, in words and before the gate."""

from __future__ import annotations

from simulator import Step
from simulator.language.files import with_file_names
from simulator.language.tree import Barrier, Return
from simulator.launch import WARP_SIZE, format_index, unravel
from simulator.recording.barriers import Absent
from simulator.sentences.barriers import describe_absent
from ui.drawing.canvas import Shape, Trace, labels, paragraph
from ui.drawing.hit import Hit
from ui.drawing.motions import Motion
from ui.drawing.sheet import Rectangle
from ui.lecture.letters import fit, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel
from ui.lecture.warp_rows import WarpRows

LINES = 4  # of words beside the maps


class ThreadsStage(StagePanel):
    """A row for each warp of the block, a cell for each of its 32 lanes."""

    def __init__(self, context: PanelContext) -> None:
        letters, areas = context.letters, context.areas
        self._model, self._palette, self._letters = context.model, context.palette, letters
        stage, maps = areas.whole_stage, areas.corner
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom
        )
        top = maps.bottom + 2.2 * letters.name
        right = stage.right - text_width("goes on", letters.small) - 10
        self.rows = WarpRows(context, Rectangle(stage.left, top, right, stage.bottom))
        threads, cells = self.rows.threads, self.rows.cells
        titles = (f"the block's {threads} threads, one row per warp", "one row per warp", "")
        width = stage.right - cells.left
        self._title = next(text for text in titles if text_width(text, letters.name) <= width)

    def changing(self, step: Step) -> list[Trace]:
        """Who waits and who runs in words, and each warp's name and state."""
        palette, letters, cells = self._palette, self._letters, self.rows.cells
        area, lines = self._words, self._describe(step)
        return [
            paragraph(area.left, area.top, lines, LINES, letters.sentence, palette.ink),
            labels([(cells.left, area.bottom + 1.3 * letters.name)], [self._title],
                   letters.name, palette.ink),
            self.rows.names(),
            self.rows.states(step),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The warps before the gate."""
        return self.rows.shapes(step)

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The thread under a point."""
        return self.rows.hit(step, x, y)

    def motions(self, step: Step) -> list[Motion]:
        """The warps that come to the gate, and the gate."""
        return self.rows.motions(step)

    def _describe_absent(self, come: int, missing: tuple[Absent, ...]) -> tuple[str, ...]:
        """Who waits in vain, and where the others are."""
        letters, width = self._letters, self._words.width
        first = f"⚠ Only {come} of {self.rows.threads} threads reach this barrier."
        lines = list(fit((first,), letters.sentence, width, LINES))
        for group in missing:
            text = with_file_names(
                describe_absent(self._model.recording, group),
                self._model.recording.kernel.text,
                keeps_numbers=True,
            )
            lines += fit((f"{text[0].upper()}{text[1:]}.",), letters.sentence, width,
                         LINES - len(lines))  # fmt: skip
        return tuple(lines)

    def _describe(self, step: Step) -> tuple[str, ...]:
        """How many wait, run, and are yet to come."""
        letters, width = self._letters, self._words.width
        waits = int(self.rows.waiting[step.number].sum())
        active = int(step.active.sum())
        total = self.rows.threads
        missing = self.rows.missing(step)
        if missing:
            come = total - sum(len(group.threads) for group in missing)
            return self._describe_absent(come, missing)
        if isinstance(step.statement, Barrier):
            if waits == total:
                text = f"The last of the {total} threads has reached the barrier: all go on."
            else:
                text = (
                    f"{waits} of {total} threads {_verb('wait', waits)} at the barrier; the others "
                    "have yet to come."
                )
        elif isinstance(step.statement, Return):
            text = f"{active} of {total} threads {'has' if active == 1 else 'have'} finished."
        elif waits:
            threads = "thread" if active == 1 else "threads"
            text = (
                f"{active} {threads} {_verb('run', active)}, {waits} {_verb('wait', waits)} at the "
                "barrier."
            )
        else:
            text = f"{active} of {total} threads {_verb('run', active)} this line."
            text += " Nobody waits at a barrier."
        block = self._model.recording.launch.block
        thread = format_index(unravel(self._model.thread, block), block)
        warp = self._model.thread // WARP_SIZE
        who = f"Thread {thread} is lane {self._model.thread % WARP_SIZE} of warp {warp}."
        first = fit((text,), letters.sentence, width, LINES)
        return (*first, *fit((who,), letters.sentence, width, LINES - len(first)))


def _verb(verb: str, count: int) -> str:
    """A verb of so many threads: "runs" of one, else "run"."""
    return f"{verb}s" if count == 1 else verb
