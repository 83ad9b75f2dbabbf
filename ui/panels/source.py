"""The kernel's text with its current line and the loops that it is in."""

from __future__ import annotations

import html
import re

from simulator import Step
from simulator.tree import Loop
from ui.palette import Palette
from ui.panels.canvas import MONO, Shape, Trace, outline, words
from ui.story import Story

LEFT, TOP, RIGHT = 28, 66, 588
BOTTOM = 626
MOST_LINES = 46
LINE_HEIGHT = 19.5
TOKENS = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<macro>^\s*#\w+)|(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_]\w*)"
)
KEYWORDS = frozenset(
    {
        "extern",
        "__global__",
        "__shared__",
        "__device__",
        "void",
        "const",
        "float",
        "double",
        "int",
        "unsigned",
        "size_t",
        "bool",
        "char",
        "for",
        "while",
        "do",
        "if",
        "else",
        "switch",
        "case",
        "default",
        "break",
        "continue",
        "return",
        "constexpr",
        "static",
        "volatile",
        "__restrict__",
        "__launch_bounds__",
        "template",
        "typename",
        "__syncthreads",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
        "float4",
        "float2",
    }
)


class SourcePanel:
    """The lines of one kernel, from its first that is no comment; long ones are shown in part."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        text = story.recording.kernel.text.rstrip().split("\n")
        first = next(
            (i for i, line in enumerate(text) if line.strip() and not line.startswith("//")), 0
        )
        span = story.recording.kernel.span
        if len(text) - first > MOST_LINES:
            first = max(first, span.line - 1)
        self._first = first + 1
        self._lines = text[first : first + MOST_LINES]
        self._height = min(LINE_HEIGHT, (BOTTOM - TOP) / max(1, len(self._lines)))
        self._size = min(13.0, self._height * 0.72)
        longest = max((len(line) for line in self._lines), default=1)
        self._size = min(self._size, (RIGHT - LEFT - 44) / (0.605 * longest))

    def static(self) -> list[Trace]:
        """Line numbers and coloured lines."""
        palette = self._palette
        heights = [self._y(i) for i in range(len(self._lines))]
        numbers = [str(self._first + i) for i in range(len(self._lines))]
        return [
            words([(LEFT + 24, y) for y in heights], numbers, self._size * 0.85, palette.faint,
                  "middle left"),
            words([(LEFT + 34, y) for y in heights], [self._coloured(x) for x in self._lines],
                  self._size, palette.ink, "middle right", MONO),
        ]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """Nothing: highlights are shapes."""
        return []

    def shapes(self, step: Step) -> list[Shape]:
        """The current line, and a bar beside each loop that runs."""
        palette, height = self._palette, self._height
        y = self._y(step.line - self._first) - height / 2
        here = f"M{LEFT + 4},{y:g}L{RIGHT},{y:g}L{RIGHT},{y + height:g}L{LEFT + 4},{y + height:g}Z"
        current = outline(here, palette.focus, 0, palette.current_line) | {"layer": "below"}
        running = {id(position.loop): position.iteration for position in step.loops}
        shapes = [current]
        for offset, loop in ((0, self._story.outer), (6, self._story.inner)):
            iteration = None if loop is None else running.get(id(loop))
            path = "" if loop is None or iteration is None else self._bar(loop, LEFT - 8 + offset)
            colour = palette.tile_edge(iteration or 0) if offset == 0 else palette.focus
            shapes.append(outline(path, colour, 0, colour if path else "rgba(0,0,0,0)"))
        return shapes

    def _bar(self, loop: Loop, x: float) -> str:
        top = self._y(loop.span.line - self._first) - self._height / 2
        bottom = self._y(loop.span.end_line - self._first) + self._height / 2
        return f"M{x},{top:g}L{x + 4},{top:g}L{x + 4},{bottom:g}L{x},{bottom:g}Z"

    def _y(self, line: float) -> float:
        return TOP + (min(max(line, 0), len(self._lines)) + 0.5) * self._height

    def _coloured(self, line: str) -> str:
        palette = self._palette
        parts, at = [], 0
        for found in TOKENS.finditer(line):
            kind, token = found.lastgroup, found[0]
            colour = {
                "comment": palette.comment, "number": palette.number, "macro": palette.keyword,
            }.get(kind or "")  # fmt: skip
            if kind == "word" and token in KEYWORDS:
                colour = palette.keyword
            parts.append(_spaced(line[at : found.start()]))
            text = _spaced(token)
            parts.append(f"<span style='color:{colour}'>{text}</span>" if colour else text)
            at = found.end()
        parts.append(_spaced(line[at:]))
        return "".join(parts)


def _spaced(text: str) -> str:
    return html.escape(text, quote=False).replace(" ", "\u00a0").replace("\t", "\u00a0" * 4)
