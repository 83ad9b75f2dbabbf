"""The sentence: what the focused thread does at a step, and what its warp asks of memory."""

from __future__ import annotations

from collections.abc import Iterator

from simulator import Step, narrate
from simulator.language.files import with_file_names
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE, format_index, unravel
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.recording.recording import StepAccess
from simulator.sentences.parts import parts
from ui.analysis.divergence import threads_that_take
from ui.analysis.hazard_steps import is_example
from ui.analysis.scene_model import unordered_cells
from ui.analysis.wrong_access import Fault
from ui.drawing.canvas import CLEAR, Trace, labels
from ui.drawing.sheet import Panel
from ui.lecture.arrays import array_of, cells_of_thread
from ui.lecture.letters import fit, markup
from ui.lecture.panel_context import PanelContext
from ui.lecture.sentences.part_words import describe_part, shorten_part
from ui.lecture.sentences.wrong_words import describe_wrong_access

PARTS = 12  # of a statement, at most
REPLACING = (Fault.OUTSIDE, Fault.MISALIGNED, Fault.STRAY)  # their words say the whole access


class SentencePanel(Panel[Step]):
    """The thread, its sentence, and its warp's."""

    def __init__(self, context: PanelContext) -> None:
        areas = context.areas
        self._model, self._palette, self._letters = context.model, context.palette, context.letters
        self._reader = context.reader
        self._box = areas.sentence
        self._lines, self._warp_lines = areas.sentence_lines, areas.warp_lines

    def changing(self, step: Step) -> list[Trace]:
        """The sentences."""
        letters, palette, area = self._letters, self._palette, self._box
        text, wordings = self._model.recording.kernel.text, self._spoken(step)
        named = [with_file_names(one, text, keeps_numbers=True) for one in wordings]
        spoken = fit((*named, *wordings), letters.sentence, area.width, self._lines)
        texts = [f"<b>{self._subject()}</b>", *map(markup, spoken), *[""] * self._lines]
        height = 1.42 * letters.sentence
        points = [(area.left, area.top + (i + 0.5) * height) for i in range(self._lines + 1)]
        colours = [palette.focus, *[palette.ink] * self._lines]
        warp = self._warp(step)
        low = area.top + (self._lines + 1) * height
        warp_points = [
            (area.left, low + (i + 0.5) * 1.35 * letters.small) for i in range(self._warp_lines)
        ]
        return [
            labels(points, texts[: self._lines + 1], letters.sentence, colours, meta="sentence"),
            labels(warp_points, [*map(markup, warp), *[""] * self._warp_lines][: self._warp_lines],
                   letters.small, palette.faint, meta="warp"),
            # The statement's parts, one upon the other: the page shows one, in the warp's place.
            labels(warp_points[:1] * PARTS, self._parts(step), letters.small, CLEAR, meta="parts"),
        ]  # fmt: skip

    def _parts(self, step: Step) -> list[str]:
        """The statement's parts in the order in which they happen, a line each."""
        pieces = parts(self._model.recording, step, self._model.thread)
        lines = [describe_part(piece) for piece in pieces]
        size, width = self._letters.small, self._box.width
        fitted = [fit((line, shorten_part(line)), size, width, 1) for line in lines]
        shown = [markup(line[0]) for line in fitted if line][:PARTS]
        return [*shown, *[""] * (PARTS - len(shown))]

    def _subject(self) -> str:
        recording = self._model.recording
        launch = recording.launch
        thread = format_index(unravel(self._model.thread, launch.block), launch.block)
        return f"Thread {thread} of block {format_index(recording.block, launch.grid)}"

    def _warp(self, step: Step) -> tuple[str, ...]:
        """What the warp asks of memory, the dearest request first, as far as there is room."""
        warp = self._model.thread // WARP_SIZE
        wordings = narrate.warp(self._model.recording, step, warp)
        return fit(
            _of_lanes_that_part(step, warp) or wordings,
            self._letters.small,
            self._box.width,
            self._warp_lines,
        )

    def _spoken(self, step: Step) -> tuple[str, ...]:
        """The sentence; with a warning where no barrier orders what the thread accesses."""
        thread = self._model.thread
        wordings = narrate.spoken(self._model.recording, step, thread)
        wrong = self._reader.wrong_access(step)
        if wrong is not None:
            tile = -1
            if wrong.access.in_bounds[thread]:
                tile = int(self._reader.iterations(step, array_of(wrong.access))[wrong.cell])
            warnings = describe_wrong_access(self._model, wrong, tile)
            if wrong.fault in REPLACING:
                return warnings
            return tuple(
                sentence for text in warnings for sentence in (f"{wordings[-1][:-1]}; {text}", text)
            )
        for access in step.accesses:
            if access.space is MemorySpace.SHARED and self._is_unordered(step, access):
                return self._warned(wordings, access)
        for warning in self._reported(step):
            return (f"{wordings[-1][:-1]}; {warning}", warning, *wordings)
        for access in step.accesses:
            if self._is_unordered(step, access):
                return self._warned(wordings, access)
        return wordings

    def _is_unordered(self, step: Step, access: StepAccess) -> bool:
        """Whether no barrier orders what the focused thread accesses."""
        cells = unordered_cells(self._model, step, access.space).get(access.name, ())
        own = cells_of_thread(access, self._model.thread)
        return not {int(cell) for cell in cells}.isdisjoint(own)

    def _warned(self, wordings: tuple[str, ...], access: StepAccess) -> tuple[str, ...]:
        """The wordings with what no barrier orders."""
        warning = f"⚠ no barrier orders the accesses to {access.name}."
        return (*(f"{text[:-1]}; {warning}" for text in wordings), warning)

    def _reported(self, step: Step) -> Iterator[str]:
        """The hazards of which this thread at this step is the example, as they were reported.

        Such as a register without a value, or a cell that two blocks write. A divergent barrier is
        told by the sentence itself.
        """
        recording, launch = self._model.recording, self._model.recording.launch
        thread = unravel(self._model.thread, launch.block)
        for hazard in self._model.hazards:
            is_here = hazard.example.thread == thread and is_example(hazard, step, recording)
            if is_here and hazard.kind is not HazardKind.DIVERGENT_BARRIER:
                subject = (
                    f"line {step.line}: thread {format_index(thread, launch.block)} of block "
                    f"{format_index(recording.block, launch.grid)} "
                )
                yield f"⚠ {hazard.message.removeprefix(subject)}"


def _of_lanes_that_part(step: Step, warp: int) -> tuple[str, ...]:
    """How many of a warp's lanes go on, where a condition does not hold for all that test it."""
    taking = threads_that_take(step)
    if taking is None:
        return ()
    lanes = slice(warp * WARP_SIZE, (warp + 1) * WARP_SIZE)
    count, tested = int(taking[lanes].sum()), int(step.active[lanes].sum())
    if count in (0, tested):
        return ()
    text = f"Warp {warp} diverges: the condition holds for {count} of {tested} lanes"
    return (f"{text}; the others wait until these have run what is inside.", f"{text}.")
