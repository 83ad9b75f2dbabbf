"""A window of the source that follows the current line, with the line's values under it."""

from __future__ import annotations

import functools
import html
from dataclasses import dataclass, replace

from simulator import Step, narrate
from simulator.language.tree import Loop
from ui.analysis.line_runs import count_runs
from ui.analysis.scene_model import iteration
from ui.drawing.canvas import CLEAR, MONO, Shape, Trace, labels, outline, words
from ui.drawing.hit import Hit
from ui.drawing.paths import box
from ui.drawing.sheet import Panel
from ui.lecture.highlight import COLOURS, highlight
from ui.lecture.layout import LINE
from ui.lecture.letters import MONO_WIDTH, mono_width, text_width
from ui.lecture.panel_context import PanelContext
from ui.view.what_if import Change

MARGIN = 1.3  # letters, from the left edge to the code: the loops' bars are there
BEFORE = 3  # lines that stay visible above the current line, where there are any
HANGING = 4  # spaces before the rest of a line that is continued
VALUE_ROWS = 2  # under the current line, at most
PINNED = 7  # rows of a what-if's changes above the window, at most
LEAST_ROWS = 1 + VALUE_ROWS  # of the window, however low it is
LEAST = 7  # rows of the window that stay below them
BREAKS = " ,(*+-<>=&|?:;/%"  # a line is continued after one of these


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the source: a line, or a piece of one that is too long for the window."""

    line: int  # number in the text, from 1
    # "+" for a line that a what-if changed, "-" for what it was before, "≠" for a line that the
    # scene beside this one does not have, else "".
    sign: str
    layers: tuple[str, ...]  # its text in each of COLOURS, with spaces where another's is
    is_pinned: bool = False  # whether it is above the window, apart from the lines around it


GAP = Row(0, "", ("⋯", *("" for _ in COLOURS[1:])), is_pinned=True)  # below pinned rows


class SourceWindow(Panel[Step]):
    """The rows of the kernel's source around the current line.

    What a what-if has changed, or is pinned, is above them where no line of it is among
    them.
    """

    def __init__(
        self, context: PanelContext, differing: frozenset[int] = frozenset(),
        pinned: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        """The lines `differing` stand out: the scene beside this one has others.

        Of the lines in `pinned` one is always in view, if there is room.
        """
        model, letters = context.model, context.letters
        self._model, self._palette, self._letters = model, context.palette, letters
        self._box = context.areas.source
        self._height = LINE * letters.source
        self._count = max(LEAST_ROWS, int(self._box.height / self._height))
        self._code = self._box.left + MARGIN * letters.source
        letter = MONO_WIDTH * letters.source
        self._columns = int((self._box.right - self._code) / letter)
        self._value_columns = int((self._box.right - self._code) / (MONO_WIDTH * letters.values))
        self._rows = _rows(model.recording.kernel.text, model.changes, differing, self._columns)
        self._pinned = _pinned_rows(self._rows, self._count, pinned)
        self._follows = self._count - len(self._pinned)  # rows that follow the current line
        self._first_row = {row.line: i for i, row in reversed(list(enumerate(self._rows)))}
        self._last_row = {row.line: i for i, row in enumerate(self._rows)}
        # The first and the last row of each line that a what-if changed, or that is pinned.
        self._changed = [
            (self._first_row[line], self._last_row[line])
            for line in sorted(
                {row.line for row in self._rows if row.sign in _CHANGED or row.line in pinned}
            )
        ]
        self._before = min(BEFORE, max(0, self._follows - 1 - VALUE_ROWS) // 2)
        self._runs = count_runs(model.recording)
        self._starts = self._window_starts()

    def _last_start(self, rows: int) -> int:
        """The first row, a line's, from where all that follows has room: no row is left free."""
        first = max(0, len(self._rows) - rows)
        return next(
            i for i in range(first, len(self._rows)) if self._first_row[self._rows[i].line] == i
        )

    def _window_starts(self) -> list[int]:
        """For each step the first row: it changes when the current line would leave the window."""
        starts, start = [], 0
        last = max(0, len(self._rows) + VALUE_ROWS - self._follows)
        last = self._first_row[self._rows[last].line]
        for step in self._model.recording.steps:
            first, end = self._rows_of(step)
            low = self._first_row[self._rows[max(0, first - self._before)].line]
            low = min(first, max(low, end + 1 + VALUE_ROWS - self._follows))  # a line of many rows
            if not (start <= low and end + 1 + VALUE_ROWS <= start + self._follows):
                start = min(low, last)
            starts.append(start)
        return starts

    def _rows_of(self, step: Step) -> tuple[int, int]:
        """The first and the last row of a step's line."""
        line = min(max(step.line, self._rows[0].line), self._rows[-1].line)
        return self._first_row.get(line, 0), self._last_row.get(line, 0)

    def _values(self, step: Step) -> tuple[str, ...]:
        """The line's values, as one or two rows."""
        for text in narrate.values(self._model.recording, step, self._model.thread):
            rows = _wrap_mono(text, self._value_columns)
            if len(rows) <= VALUE_ROWS:
                return rows
        return ()

    def _shown(self, step: Step) -> list[Row | str | None]:
        """What each row of the window has at a step: source, values, or nothing."""
        start, (_, end) = self._starts[step.number], self._rows_of(step)
        values = self._values(step)
        stop = start + self._follows - len(values)
        is_seen = any(start <= first and last < stop for first, last in self._changed)
        pinned = () if is_seen else self._pinned
        start = min(start, self._last_start(self._count - len(pinned) - len(values)))
        shown: list[Row | str | None] = [
            *pinned, *self._rows[start : end + 1], *values, *self._rows[end + 1 :]
        ]  # fmt: skip
        shown = shown[: self._count]
        return [*shown, *[None] * (self._count - len(shown))]

    def changing(self, step: Step) -> list[Trace]:
        """The rows, a trace for each colour, and the values."""
        palette, letters = self._palette, self._letters
        shown = self._shown(step)
        points = [(self._code, self._middle(i)) for i in range(self._count)]
        colours = (palette.ink, palette.keyword, palette.number, palette.comment)
        traces = [
            words(points, [row.layers[i] if isinstance(row, Row) else "" for row in shown],
                  letters.source, colour, "middle right", MONO, meta="source")
            for i, colour in enumerate(colours)
        ]  # fmt: skip
        ends = [(self._box.right - 8, y) for _, y in points]
        values = [_bold(row) if isinstance(row, str) else "" for row in shown]
        return [
            *traces,
            labels(ends, self._counts(step, shown), letters.small, palette.faint, "middle left",
                   meta="runs"),
            words(points, values, letters.values, palette.focus, "middle right", MONO,
                  meta="values"),
        ]  # fmt: skip

    def _counts(self, step: Step, shown: list[Row | str | None]) -> list[str]:
        """How often each line has run, at the end of its last row, where that has room."""
        counts, texts = self._runs[step.number], []
        lines = [row.line if isinstance(row, Row) and row.sign != "-" else 0 for row in shown]
        for i, row in enumerate(shown):
            text = f"{counts.get(lines[i], 0):,}×" if lines[i] else ""
            is_last = lines[i] not in lines[i + 1 :]
            letters = max(map(len, map(html.unescape, row.layers))) if isinstance(row, Row) else 0
            end = self._code + mono_width(letters + 1, self._letters.source)
            has_room = end + text_width(text, self._letters.small) <= self._box.right - 8
            texts.append(text if lines[i] in counts and is_last and has_room else "")
        return texts

    def shapes(self, step: Step) -> list[Shape]:
        """The current line, and a bar beside each loop that runs."""
        palette = self._palette
        shown = self._shown(step)
        current = [
            i for i, row in enumerate(shown)
            if isinstance(row, Row) and row.line == step.line and row.sign != "-"
        ]  # fmt: skip
        path = ""
        if current:
            path = box(self._code - 4, self._top(current[0]), self._box.right,
                       self._top(current[-1] + 1))  # fmt: skip
        edge = ""
        if current:
            top, low = self._top(current[0]), self._top(current[-1] + 1)
            edge = box(self._box.right - 4, top, self._box.right, low)
        shapes = [
            *(
                outline(self._boxes(shown, sign), palette.line, 0, colour, "below")
                for sign, colour in (("-", palette.removed), ("+≠", palette.added))
            ),
            outline(path, palette.focus, 0, palette.current_line, "below"),
            outline(edge, palette.focus, 0, palette.focus, "below"),
        ]
        for offset, loop in ((0.0, self._model.outer), (0.45, self._model.inner)):
            turn = iteration(self._model, step, loop)
            path = self._bar(loop, shown, offset) if loop is not None and turn else ""
            colour = palette.tile_edge(turn[0] if turn else 0) if not offset else palette.focus
            shapes.append(outline(path, colour, 0, colour if path else CLEAR))
        return shapes

    def _boxes(self, shown: list[Row | str | None], signs: str) -> str:
        """A box behind each row with one of some signs."""
        return "".join(
            box(self._code - 4, self._top(i), self._box.right, self._top(i + 1))
            for i, row in enumerate(shown)
            if isinstance(row, Row) and row.sign and row.sign in signs
        )

    def _bar(self, loop: Loop, shown: list[Row | str | None], offset: float) -> str:
        """A bar beside a loop's rows, as far as they are shown."""
        rows = [
            i for i, row in enumerate(shown)
            if isinstance(row, Row) and not row.is_pinned
            and loop.span.line <= row.line <= loop.span.end_line
        ]  # fmt: skip
        if not rows:
            return ""
        x = self._box.left + offset * self._letters.source
        return box(x, self._top(rows[0]), x + 0.28 * self._letters.source, self._top(rows[-1] + 1))

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """The line under a point."""
        if not self._box.contains(x, y):
            return None
        row = int((y - self._box.top) / self._height)
        shown = self._shown(step)[: row + 1]
        lines = [entry.line for entry in shown if isinstance(entry, Row)]
        return Hit("line", lines[-1]) if lines and lines[-1] and shown[-1] is not None else None

    def _top(self, row: int) -> float:
        return self._box.top + row * self._height

    def _middle(self, row: int) -> float:
        return round(self._top(row) + self._height / 2, 2)


_CHANGED = ("-", "+")


def _pinned_rows(rows: tuple[Row, ...], count: int, pinned: frozenset[int]) -> tuple[Row, ...]:
    """The first rows that a what-if changed or that are pinned, and a gap; none without room.

    They are whole lines.
    """
    changed = [row for row in rows if row.sign in _CHANGED or row.line in pinned]
    while changed and len(changed) > min(PINNED, count - LEAST - 1):
        changed = [row for row in changed if row.line != changed[-1].line]
    if not changed or count - len(changed) - 1 < LEAST:
        return ()
    return (*(replace(row, is_pinned=True) for row in changed), GAP)


def _bold(text: str) -> str:
    return f"<b>{html.escape(text, quote=False)}</b>"


@functools.lru_cache(maxsize=64)
def _rows(
    text: str, changes: tuple[Change, ...], differing: frozenset[int], columns: int
) -> tuple[Row, ...]:
    """The text's rows from the first line that is not a comment, without empty lines.

    Those of a window are few, and each is to say something. A line that a what-if changed is
    below what it was before; both have their sign, as has a line of `differing`.
    """
    lines = text.rstrip().split("\n")
    first = next(
        (i for i, line in enumerate(lines) if line.strip() and not line.startswith("//")), 0
    )
    before = {change.line: change.old for change in changes if change.old is not None}
    rows: list[Row] = []
    for number, pieces in enumerate(highlight([_plain(line) for line in lines[first:]]), first + 1):
        old = before.get(number)
        if old is None and not pieces:
            continue
        if old is None:
            rows += _rows_of_line(number, "≠" if number in differing else "", pieces, columns)
        else:
            rows += _rows_of_line(number, "-", highlight([_plain(old)])[0], columns)
            rows += _rows_of_line(number, "+", pieces, columns)
    return tuple(rows)


def _plain(line: str) -> str:
    return line.replace("\t", "    ").rstrip()


def _rows_of_line(number: int, sign: str, pieces: list[tuple[str, str]], columns: int) -> list[Row]:
    """One line, its pieces as highlight() has them, with its sign where it is indented."""
    letters = [(letter, colour) for colour, part in pieces for letter in part]
    wrapped = _wrap_letters(letters, columns)
    if sign and wrapped[0][:1] == [(" ", "plain")]:
        wrapped[0] = [(sign, "plain"), *wrapped[0][1:]]
    rows = []
    for row in wrapped:
        layers = tuple(
            html.escape(
                "".join(letter if colour == layer else " " for letter, colour in row).rstrip(),
                quote=False,
            )
            for layer in COLOURS
        )
        rows.append(Row(number, sign, layers))
    return rows


def _wrap_letters(letters: list[tuple[str, str]], columns: int) -> list[list[tuple[str, str]]]:
    """A line's coloured letters as rows of at most `columns`, the later ones indented."""
    deep = next((i for i, (letter, _) in enumerate(letters) if letter != " "), 0)
    indent = deep if len(letters) <= columns else min(deep, columns // 2)
    hanging = [(" ", "plain")] * min(indent + HANGING, columns // 2)
    rows: list[list[tuple[str, str]]] = []
    rest = letters[deep - indent :]
    while len(rest) > columns:
        least = (len(hanging) if rows else indent) + HANGING
        cut = next(
            (i for i in range(columns, least, -1) if rest[i - 1][0] in BREAKS
             and rest[i][0] not in ")];=&|>"),
            columns,
        )  # fmt: skip
        rows.append(rest[:cut])
        following = (i for i in range(cut, len(rest)) if rest[i][0] != " ")
        rest = hanging + rest[next(following, len(rest)) :]
    return [*rows, rest]


def _wrap_mono(text: str, columns: int) -> tuple[str, ...]:
    """A text as rows of at most `columns` letters, broken at spaces, the later ones indented."""
    rows = [""]
    for word in text.split(" "):
        longer = f"{rows[-1]} {word}" if rows[-1].strip() else f"{rows[-1]}{word}"
        if len(longer) <= columns:
            rows[-1] = longer
        else:
            rows.append("  " + word)
    return tuple(rows) if all(len(row) <= columns for row in rows) else ("",) * 99
