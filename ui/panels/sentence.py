"""The focused thread in words: what it just did, part by part, and what its registers hold."""

from __future__ import annotations

import functools
import html
import textwrap

import numpy as np

from simulator import Kernel, Step
from simulator.launch import WARP_SIZE, format_index, unravel
from simulator.sentences import overview_steps, warps
from simulator.sentences.parts import Part, parts
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import MONO, SANS, Shape, Trace, number, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import hover
from ui.lecture.part_words import PART_WIDTH, describe_part, shorten_part

LEFT, TOP = 28, 586
SENTENCE_TOP, SENTENCE_LINES, SENTENCE_WIDTH = 614, 2, 64
WARP_TOP, WARP_LINES, WARP_WIDTH = 662, 3, 82
LIST_TOP, LIST_LINES, LIST_STEP = 724, 6, 17.5
REGISTER_WIDTH = 25
PARTS_LEFT = 258
MATTERS = (("load", "store", "atomic", "assign", "value"), ("load", "store", "atomic", "assign"))
HOVER = (
    "The statement as the focused thread ran it, with the numbers it had; then what its warp asked "
    "of memory; then the thread's registers, and the statement opened into its parts in the order "
    "in which they happen: index, address, bank or sector, value. Simplified: where the list is "
    "short of room, plain reads of registers and then results of operators are left out."
)


class WordsPanel:
    """The sentence of one thread at each step, with its real numbers."""

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette

    def static(self) -> list[Trace]:
        """Which thread is in focus."""
        recording = self._model.recording
        launch = recording.launch
        thread = format_index(unravel(self._model.thread, launch.block), launch.block)
        block = format_index(recording.block, launch.grid)
        title = f"<b>Thread {thread} of block {block}</b>"
        return [words([(LEFT, TOP)], [title], 19, self._palette.focus, "middle right", SANS,
                      hoverinfo="text", hovertext=[hover(HOVER)])]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """The thread's sentence, the warp's, the registers, and the statement's parts."""
        recording, thread, palette = self._model.recording, self._model.thread, self._palette
        sentence = overview_steps.sentence(recording, step, thread)
        sentence = sentence.split(": ", 1)[-1] if step.active[thread] else sentence
        sentence = sentence[0].upper() + sentence[1:] if " = " not in sentence else sentence
        warp = warps.warp_sentence(recording, step, thread // WARP_SIZE)
        rows = (
            (LEFT, SENTENCE_TOP, 24, _wrapped(sentence, SENTENCE_WIDTH, SENTENCE_LINES), 17,
             palette.ink, SANS, "sentence"),
            (LEFT, WARP_TOP, 19, _wrapped(warp, WARP_WIDTH, WARP_LINES), 14, palette.faint, SANS,
             None),
            (LEFT, LIST_TOP, LIST_STEP,
             _wrapped(registers(recording.kernel, step, thread), REGISTER_WIDTH, LIST_LINES), 14,
             palette.faint, MONO, None),
            (PARTS_LEFT, LIST_TOP, LIST_STEP, self._parts(step), 14, palette.ink, SANS, "parts"),
        )  # fmt: skip
        return [
            words([(x, top + apart * i) for i in range(len(texts))], texts, size, colour,
                  "middle right", family, **({"meta": meta} if meta else {}))
            for x, top, apart, texts, size, colour, family, meta in rows
        ]  # fmt: skip

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """Nothing: it has texts only."""
        return None

    def shapes(self, step: Step) -> list[Shape]:
        """None: this panel has texts only."""
        return []

    def _parts(self, step: Step) -> list[str]:
        """The parts that fit into the list; its last line counts the others."""
        pieces = parts(self._model.recording, step, self._model.thread)
        shown = select_parts(pieces)
        lines = [shorten_part(_brief(piece)) for piece in shown]
        if len(lines) > LIST_LINES:
            lines = [*lines[: LIST_LINES - 1], f"and {len(lines) - LIST_LINES + 1} more"]
        lines += [""] * (LIST_LINES - len(lines))
        return [html.escape(line, quote=False) for line in lines]


def select_parts(pieces: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts to show where there is no room for all: accesses and results first."""
    for kinds in MATTERS:
        if len(pieces) > LIST_LINES:
            pieces = tuple(piece for piece in pieces if piece.kind in kinds)
    return pieces


def registers(kernel: Kernel, step: Step, thread: int) -> str:
    """The thread's plain variables and what they hold after a step, without the parameters."""
    given = {parameter.name for parameter in kernel.parameters}
    shown = []
    for name, values in step.registers.items():
        value = values[thread]
        if np.ndim(value) == 0 and name not in given:
            shown.append(f"{name}={number(value)}")
    return "  ".join(shown)


def _brief(piece: Part) -> str:
    """The same, without the source's text where there is no room for it."""
    line = describe_part(piece)
    return line if len(line) <= PART_WIDTH else _summary(piece)


def _summary(piece: Part) -> str:
    """What a part did; the array that its cell names is not named again."""
    return (
        piece.summary
        if piece.cell is None
        else piece.summary.replace(f" of {piece.cell.array}", "")
    )


@functools.lru_cache(maxsize=4096)  # many steps have the same text
def _wrapped(text: str, width: int, count: int) -> list[str]:
    """At most `count` lines; what does not fit ends in an ellipsis."""
    lines = [text]
    if len(text) > width:
        lines = textwrap.wrap(text, width, max_lines=count, placeholder=" …")
    lines += [""] * (count - len(lines))
    return [html.escape(line, quote=False).replace("  ", "\u00a0 ") for line in lines]
