"""The kernel's text with its current line and the loops that it is in."""

from __future__ import annotations

import html

from simulator import Recording, Step
from simulator.language.tree import Loop, Statement
from simulator.machine.observer import StepKind
from ui.analysis.scene_model import SceneModel, iteration
from ui.drawing.canvas import CLEAR, MONO, SANS, Shape, Trace, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, hover
from ui.lecture.highlight import COLOURS, highlight

LEFT, TOP, RIGHT = 28, 74, 614
BOTTOM = 560
MOST_LINES = 38  # more at once would be too small to read
WINDOW = 30  # lines shown of a longer text
LINE_HEIGHT = 19.5
LARGEST = 13.5
NUMBERS, CODE = 18, 27  # from the left edge: where the lines' numbers end and the code begins
COUNTED, BEYOND = 586, 612  # as far as a line may reach, and one that has no count
LETTER = 0.605  # of a letter's height is its width
LEAST_NUMBER = 10.2  # the size of a line's number, beside the smallest letters
WIDEST = 84  # letters of a line; more are cut
WIDEST_MOVING = 76  # of one whose text moves: its letters would be too small
HOVER = (
    "The kernel's own text: what the simulator runs is what you read. Marked is the line of this "
    "step; the bars at the left stand beside the loops that are running, the outer one in the "
    "colour of its iteration. At the right is how often a line has run so far. A long text is "
    "shown in part and follows the steps, with half of its indentation."
)


class SourcePanel:
    """The lines of one kernel, from its first that is no comment; long ones are shown in part.

    A text that fits stays as it is. Of a longer one each step shows a window, whose first line
    changes only when the current line would leave it.
    """

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette
        text = model.recording.kernel.text.rstrip().split("\n")
        first = next(
            (i for i, line in enumerate(text) if line.strip() and not line.startswith("//")), 0
        )
        self._first = first + 1
        self._lines = [line.replace("\t", "    ") for line in text[first:]]
        self._moves = len(self._lines) > MOST_LINES
        if self._moves:
            self._lines = [_narrowed(line) for line in self._lines]
        self._shown = min(len(self._lines), WINDOW if self._moves else MOST_LINES)
        self._starts = self._windows()
        self._height = min(LINE_HEIGHT, (BOTTOM - TOP) / max(1, self._shown))
        self._heights = [self._y(i) for i in range(self._shown)]
        self._counts = runs(model.recording)
        self._counted = sorted(self._counts[-1])
        widest = WIDEST_MOVING if self._moves else WIDEST
        self._lines = [_cut(line, widest) for line in self._lines]
        self._size = round(min(LARGEST, self._height * 0.76, self._widest()), 2)
        self._pieces = highlight(self._lines)
        self._layers = [_layers(pieces) for pieces in self._pieces] if self._moves else []

    def _widest(self) -> float:
        """The size of letters at which every line has room, beside its count if it has one."""
        counted = {line - self._first for line in self._counted}
        rooms = (
            ((COUNTED if i in counted else BEYOND) - LEFT - CODE) / max(1, len(line))
            for i, line in enumerate(self._lines)
        )
        return min(rooms, default=LARGEST) / LETTER

    def _windows(self) -> list[int]:
        """For each step the index of the first line shown."""
        starts, start, last = [], 0, len(self._lines) - self._shown
        for step in self._model.recording.steps:
            line = step.line - self._first
            if not start + 1 <= line < start + self._shown - 1:
                start = min(max(0, line - self._shown // 3), max(0, last))
            starts.append(start)
        return starts

    def static(self) -> list[Trace]:
        """The name, and a text that does not move: line numbers and coloured lines."""
        palette, kernel = self._palette, self._model.recording.kernel
        traces = [
            words([(LEFT, TOP - 12)], [f"<b>{html.escape(kernel.name)}</b>"], 16, palette.ink,
                  "middle right", SANS, hoverinfo="text", hovertext=[hover(HOVER)])
        ]  # fmt: skip
        if self._moves:
            return traces
        numbers = [str(self._first + i) for i in range(self._shown)]
        texts = [self._coloured(pieces) for pieces in self._pieces]
        return [
            *traces,
            words(self._line_points(LEFT + NUMBERS), numbers,
                  max(LEAST_NUMBER, self._size * 0.85), palette.faint, "middle left"),
            words(self._line_points(LEFT + CODE), texts, self._size, palette.ink,
                  "middle right", MONO),
        ]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """How often each line has run, and a text that moves: one trace for each colour."""
        palette = self._palette
        counts = self._counts[step.number]
        if not self._moves:
            points = [(RIGHT - 2, self._y(line - self._first)) for line in self._counted]
            texts = [f"{counts[line]}×" if counts.get(line) else "" for line in self._counted]
            return [words(points, texts, max(11.0, self._size * 0.9), palette.faint, "middle left")]
        start = self._starts[step.number]
        numbers = range(self._first + start, self._first + start + self._shown)
        texts = [f"{counts[line]}×" if counts.get(line) else "" for line in numbers]
        layers = self._layers[start : start + self._shown]
        colours = (palette.ink, palette.keyword, palette.number, palette.comment)
        return [
            words(self._line_points(RIGHT - 2), texts, max(11.0, self._size * 0.9), palette.faint,
                  "middle left"),
            words(self._line_points(LEFT + NUMBERS), [str(n) for n in numbers], self._size * 0.85,
                  palette.faint, "middle left"),
            *(
                words(self._line_points(LEFT + CODE), [line[i] for line in layers], self._size,
                      colour, "middle right", MONO)
                for i, colour in enumerate(colours)
            ),
        ]  # fmt: skip

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """A line."""
        row = int((y - TOP) // self._height)
        if not (LEFT <= x <= RIGHT and 0 <= row < self._shown):
            return None
        start = self._starts[step.number] if self._moves else 0
        return Hit("line", self._first + start + row)

    def shapes(self, step: Step) -> list[Shape]:
        """The current line, and a bar beside each loop that runs."""
        palette, height = self._palette, self._height
        start = self._starts[step.number]
        y = self._y(step.line - self._first - start) - height / 2
        current_line = box(LEFT + 1, y, RIGHT, y + height)
        shapes = [outline(current_line, palette.focus, 0, palette.current_line, "below")]
        for offset, loop in ((0, self._model.outer), (6, self._model.inner)):
            turn = iteration(self._model, step, loop)
            path = ""
            if loop is not None and turn is not None:
                path = self._bar(loop, LEFT - 10 + offset, start)
            colour = palette.tile_edge(turn[0] if turn else 0) if offset == 0 else palette.focus
            shapes.append(outline(path, colour, 0, colour if path else CLEAR))
        return shapes

    def _bar(self, loop: Loop, x: float, start: int) -> str:
        """A bar beside a loop's lines, as far as they are shown."""
        first = max(0, loop.span.line - self._first - start)
        last = min(self._shown - 1, loop.span.end_line - self._first - start)
        if first > last:
            return ""
        return box(x, self._y(first) - self._height / 2, x + 4, self._y(last) + self._height / 2)

    def _line_points(self, x: float) -> list[tuple[float, float]]:
        return [(x, y) for y in self._heights]

    def _y(self, line: float) -> float:
        return round(TOP + (min(max(line, 0), self._shown - 1) + 0.5) * self._height, 2)

    def _coloured(self, pieces: list[tuple[str, str]]) -> str:
        palette = self._palette
        colours = {
            "keyword": palette.keyword, "number": palette.number, "comment": palette.comment,
        }  # fmt: skip
        spans = []
        for kind, text in pieces:
            spaced = html.escape(text, quote=False).replace(" ", "\u00a0")
            colour = colours.get(kind)
            spans.append(f"<span style='color:{colour}'>{spaced}</span>" if colour else spaced)
        return "".join(spans)


def runs(recording: Recording) -> list[dict[int, int]]:
    """How often each line has run, up to and with each step.

    Of a line with several parts, such as a for, the part that has run most often counts.
    """
    counts: list[dict[int, int]] = []
    runs_of_parts: dict[tuple[Statement, StepKind], int] = {}
    runs_of_lines: dict[int, int] = {}
    for step in recording.steps:
        part = (step.statement, step.kind)
        runs_of_parts[part] = runs_of_parts.get(part, 0) + 1
        if runs_of_parts[part] > runs_of_lines.get(step.line, 0):
            runs_of_lines = runs_of_lines | {step.line: runs_of_parts[part]}
        counts.append(runs_of_lines)
    return counts


def _layers(pieces: list[tuple[str, str]]) -> list[str]:
    """A line once for each of COLOURS, with spaces where another colour's text stands."""
    layers = dict.fromkeys(COLOURS, "")
    for colour, text in pieces:
        for layer in layers:
            layers[layer] += text if layer == colour else " " * len(text)
    return [html.escape(text.rstrip(), quote=False) for text in layers.values()]


def _narrowed(line: str) -> str:
    """A line with half of its indentation."""
    bare = line.lstrip(" ")
    return " " * ((len(line) - len(bare)) // 2) + bare


def _cut(line: str, widest: int) -> str:
    return line if len(line) <= widest else line[: widest - 1] + "…"
