"""The focused thread in words: where it is, what it just did, and what its registers hold."""

from __future__ import annotations

import html
import textwrap

import numpy as np

from simulator import Step, narrate
from ui.palette import Palette
from ui.panels.canvas import MONO, SANS, Shape, Trace, number, words
from ui.story import Story

LEFT, TOP = 28, 660
SENTENCE_LINES, REGISTER_LINES = 3, 2
SENTENCE_WIDTH, REGISTER_WIDTH = 58, 66


class WordsPanel:
    """The sentence of one thread at each step, with its real numbers."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette

    def static(self) -> list[Trace]:
        """Which thread is in focus."""
        x, y, z = self._story.recording.launch.block
        thread = self._story.thread
        place = (thread % x, thread // x % y, thread // (x * y))[: 3 if z > 1 else 2]
        block = self._story.recording.block[: 3 if self._story.recording.launch.grid[2] > 1 else 2]
        said = f"<b>Thread ({_list(place)}) of block ({_list(block)})</b>"
        return [words([(LEFT, TOP)], [said], 19, self._palette.focus, "middle right", SANS)]

    def changing(self, step: Step) -> list[Trace]:
        """The sentence, and the registers."""
        said = narrate.sentence(self._story.recording, step, self._story.thread)
        said = said.split(": ", 1)[-1] if step.active[self._story.thread] else said
        said = said[0].upper() + said[1:] if " = " not in said else said
        sentence = _wrapped(said, SENTENCE_WIDTH, SENTENCE_LINES)
        registers = _wrapped(self._registers(step), REGISTER_WIDTH, REGISTER_LINES)
        spots = [(LEFT, TOP + 32 + 25 * i) for i in range(SENTENCE_LINES)]
        more = [(LEFT, TOP + 116 + 22 * i) for i in range(REGISTER_LINES)]
        return [
            words(spots, sentence, 17, self._palette.ink, "middle right", SANS),
            words(more, registers, 13, self._palette.faint, "middle right", MONO),
        ]

    def shapes(self, step: Step) -> list[Shape]:
        """None: this panel only speaks."""
        return []

    def _registers(self, step: Step) -> str:
        shown = []
        for name, values in step.registers.items():
            value = values[self._story.thread]
            if np.ndim(value) == 0 and name not in ("M", "N", "K"):
                shown.append(f"{name}={number(value)}")
        return "  ".join(shown)


def _wrapped(text: str, width: int, count: int) -> list[str]:
    """At most `count` lines; what does not fit ends in an ellipsis."""
    found = textwrap.wrap(text, width, max_lines=count, placeholder=" …", break_long_words=True)
    found += [""] * (count - len(found))
    return [html.escape(line, quote=False).replace("  ", "\u00a0 ") for line in found]


def _list(place: tuple[int, ...]) -> str:
    return ", ".join(map(str, place))
