"""The stage of the costs: what the block's steps have cost so far, and what they cost in all."""

from __future__ import annotations

from dataclasses import dataclass

from simulator import Step
from simulator.language.ctype import Array
from simulator.observers.transactions import SECTOR_BYTES
from ui.analysis.costs import Costs, add_up_costs
from ui.analysis.scene_model import Phase
from ui.drawing.canvas import Shape, Trace, labels, outline, paragraph
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.gpu_charts.measured import describe_recorded_time
from ui.lecture.letters import fit, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

LINES = 5  # of words beside the maps
BAR = 0.42  # of a row's height


@dataclass(frozen=True, slots=True)
class _Sum:
    """One row: what is added up."""

    names: tuple[str, ...]  # wordings, the longest first
    costs: Array  # int64 [steps]
    colour: str
    part: Array | None = None  # int64 [steps], of these, marked at the bar's end


class CostsStage(StagePanel):
    """A row for each kind of cost: its name, how much of how much, and a bar that fills."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._palette, self._letters = context.palette, letters
        costs = self._costs = add_up_costs(model.recording)
        self._sums = _sums(costs, context.palette)
        is_measured = not model.is_user_kernel and not model.changes
        name = model.recording.kernel.name
        self._took = describe_recorded_time(name, model.tile) if is_measured else ()
        stage, maps = areas.stage, areas.corner
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom
        )
        top = maps.bottom + 0.8 * letters.name
        self._rows = Rectangle(stage.left, top, stage.right, stage.bottom)
        self._height = self._rows.height / len(self._sums)

    def changing(self, step: Step) -> list[Trace]:
        """What it means in words, and each row's name and numbers."""
        palette, letters, rows = self._palette, self._letters, self._rows
        left, top, lines = self._words.left, self._words.top, self._describe(step)
        counts = [
            f"{int(one.costs[step.number]):,} of {int(one.costs[-1]):,}" for one in self._sums
        ]
        middles = [
            rows.top + i * self._height + (1 - BAR) / 2 * self._height
            for i in range(len(self._sums))
        ]
        names = []
        for one, count in zip(self._sums, counts, strict=True):
            width = rows.width - text_width(count, letters.number) - letters.name
            names.append(next(iter(fit(one.names, letters.name, width, 1)), ""))
        return [
            paragraph(left, top, lines, LINES, letters.sentence, palette.ink),
            labels([(rows.left, y) for y in middles], names, letters.name, palette.ink),
            labels([(rows.right, y) for y in middles], counts, letters.number, palette.ink,
                   "middle left"),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """Each row's bar: in all, so far, and the part of that which is marked."""
        palette, rows = self._palette, self._rows
        frames, marked, shapes = "", "", []
        for i, one in enumerate(self._sums):
            bottom = rows.top + (i + 1) * self._height - 2
            top = bottom - BAR * self._height
            total, now = int(one.costs[-1]), int(one.costs[step.number])
            frames += box(rows.left, top, rows.right, bottom)
            reach = rows.left + (rows.width * now / total if total else 0)
            shapes.append(outline(_bar(rows.left, top, reach, bottom), one.colour, 0, one.colour))
            if one.part is not None and total:
                start = reach - rows.width * int(one.part[step.number]) / total
                marked += _bar(start, top, reach, bottom)
        return [
            outline(frames, palette.line, 1, palette.cell, "below"),
            *shapes,
            outline(marked, palette.focus, 0, palette.focus),
        ]

    def _describe(self, step: Step) -> tuple[str, ...]:
        """The conflicts, what a byte of global memory serves, and what a GPU took."""
        lines: tuple[str, ...] = ()
        for wordings in (self._conflicts(step), self._intensity(step), self._took):
            free = LINES - len(lines)
            lines += fit(wordings, self._letters.sentence, self._words.width, free)
        return lines

    def _conflicts(self, step: Step) -> tuple[str, ...]:
        served = int(self._costs.wavefronts[step.number])
        conflicts = int(self._costs.conflicts[step.number])
        if not self._costs.wavefronts[-1]:
            return ("This kernel does not use shared memory.", "No shared memory.")
        if not served:
            return ("Shared memory has not been used yet.", "No wavefront yet.")
        if not conflicts:
            return ("No bank conflict: every wavefront is needed.", "No bank conflict.")
        return (f"{conflicts:,} of {served:,} wavefronts are conflicts.",)

    def _intensity(self, step: Step) -> tuple[str, ...]:
        moved = int(self._costs.sectors[step.number]) * SECTOR_BYTES
        done = int(self._costs.multiply_adds[step.number])
        if not (moved and done):
            return ()
        ratio = f"{done / moved:.2g}"
        return (
            f"So far {ratio} multiply-adds for each byte of global memory.",
            f"{ratio} multiply-adds a byte.",
        )


def _sums(costs: Costs, palette: Palette) -> tuple[_Sum, ...]:
    """The rows; conflicts are marked at the end of the wavefronts' bar."""
    conflicts = int(costs.conflicts[-1])
    wavefronts, by = "wavefronts of shared memory", f"{conflicts:,} by conflicts"
    return (
        _Sum(("sectors of global memory, 32 bytes each", "sectors of global memory", "sectors"),
             costs.sectors, palette.phases[Phase.LOAD]),
        _Sum((*((f"{wavefronts}, {by}", f"wavefronts, {by}") if conflicts else ()), wavefronts,
              "wavefronts"), costs.wavefronts, palette.number, costs.conflicts),
        _Sum(("warps that came to a barrier", "warps at barriers", "waits"), costs.waits,
             palette.phases[Phase.BARRIER]),
        _Sum(("multiply-adds of all threads", "multiply-adds"), costs.multiply_adds,
             palette.phases[Phase.COMPUTE]),
    )  # fmt: skip


def _bar(left: float, top: float, right: float, bottom: float) -> str:
    """A rectangle; nothing where it has no width."""
    return box(left, top, right, bottom) if right > left else ""
