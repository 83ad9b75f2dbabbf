"""The stage of a shared-memory request: the array by its banks, and a warp's wavefronts.

Above is the array, each cell in the colour of its bank; under it the 32 banks as bins, in which
each word that the warp asks for lies in the row of the wavefront that serves it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.ctype import Array
from simulator.language.tree import MemorySpace, Variable
from simulator.launch import WARP_SIZE
from simulator.machine.buffers import element_of
from simulator.observers.transactions import BANK_BYTES, BANKS
from simulator.recording.requests import Request
from simulator.sentences.warps import VERBS
from ui.analysis.scene_model import Phase
from ui.drawing.canvas import Shape, Trace, labels, outline, paragraph, words
from ui.drawing.motions import Light, Motion
from ui.drawing.paths import box, px
from ui.drawing.sheet import Rectangle
from ui.lecture.cells import LINE_ABOVE, Cells, number_width, window_start
from ui.lecture.colours import mix
from ui.lecture.letters import fit, markup, text_width
from ui.lecture.panel_context import PanelContext
from ui.lecture.stage_panel import StagePanel

PALER = 0.4  # of the paper in the colour of a line that crosses cells
TALLEST = 2.4  # of a small letter, a wavefront's row
MIDDLE = 18  # the bank around which is written how many are idle
LINES = 5  # of words beside the maps
LINES_ON_CHIP = 2  # of words above the array, where it has the chip's width
ARRAY_SHARE = 0.46  # of the height that words leave, the array's cells
MOST_COLUMNS = 33  # of an array in view: 32 banks and what pads a row
LEAST_COLUMNS = 8  # of an array in view
MOST_ROWS = 32  # of an array in view
WIDEST = 3.4  # of a small letter, a cell of the array
HIGHEST = 2.0  # of a small letter, the same cell's height


@dataclass(frozen=True, slots=True)
class Grid:
    """Where a shared array is, a cell for each word of 4 bytes."""

    cells: Cells  # those in view
    pitch: int  # words from one row to the next
    count: int  # words of the whole array


@dataclass(frozen=True, slots=True)
class ArrayView:
    """The part of a shared array that is in view at a request."""

    grid: Grid
    base: int  # the array's first word, counted from the start of the block's shared memory
    start: tuple[int, int]  # the first row and column in view

    def banks(self) -> Array:
        """int [rows, columns]: the bank of each cell; -1 after the array's end."""
        cells, (row, column) = self.grid.cells, self.start
        rows = np.arange(row, row + cells.rows)[:, None]
        numbers = rows * self.grid.pitch + np.arange(column, column + cells.columns)
        return np.where(numbers < self.grid.count, (numbers + self.base) % BANKS, -1)

    def place(self, word: int) -> tuple[int, int]:
        """The row and column in view of a word of shared memory."""
        row, column = divmod(word - self.base, self.grid.pitch)
        return row - self.start[0], column - self.start[1]


class BanksStage(StagePanel):
    """The request with the worst conflict: each bank a column, each wavefront a row."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        self._reader, self._stages = context.reader, context.stages
        stage, maps = areas.whole_stage, areas.corner
        self._lines = LINES if areas.far is None else LINES_ON_CHIP
        under_words = maps.bottom
        if areas.far is not None:
            under_words = stage.top + 1.35 * self._lines * letters.sentence
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, under_words
        )
        left = stage.left + 2.6 * letters.small  # of it: the wavefronts' numbers
        top, bottom = under_words + 2.2 * letters.name, stage.bottom - 2.2 * letters.small
        tile = ARRAY_SHARE * (bottom - top)
        self._bank = (stage.right - left) / MOST_COLUMNS
        self._area = Rectangle(left, top, stage.right, top + tile)  # of the array
        self._chart = Rectangle(
            left, self._area.bottom + 3 * letters.small, left + BANKS * self._bank, bottom
        )
        self._heads = Cells(left, self._chart.top - 0.6 * letters.small, self._bank,
                            0.6 * letters.small, 1, BANKS)  # fmt: skip
        self._grids = {one.name: self._grid(one) for one in model.recording.shared}
        self._numbered = [name for name, grid in self._grids.items() if self._is_readable(grid)]
        self._middle = (
            self._chart.left + MIDDLE * self._bank, (self._chart.top + self._chart.bottom) / 2
        )  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """What the request costs, in words, and the numbers along both axes."""
        palette, letters, chart = self._palette, self._letters, self._chart
        request = self._request(step)
        title, lines = self._describe(step, request)
        banks = range(0, BANKS, 4)
        under = [(chart.left + (i + 0.5) * self._bank, chart.bottom + 1.3 * letters.small)
                 for i in banks]  # fmt: skip
        numbers = self._wavefront_numbers(request)
        return [
            paragraph(self._words.left, self._words.top, [*title, *lines], self._lines,
                      letters.sentence, palette.ink),
            labels([(chart.left, self._area.top - 0.9 * letters.name)], [self._title(request)],
                   letters.name, palette.ink),
            labels(under, [str(i) if request is not None else "" for i in banks], letters.small,
                   palette.faint, "middle center"),
            labels([(chart.left - 0.5 * letters.small, y) for y, _ in numbers],
                   [text for _, text in numbers], letters.small, palette.faint,
                   "middle left"),
            *(
                words(self._grids[name].cells.centres(), self._bank_numbers(name, request),
                      letters.small, palette.ink)
                for name in self._numbered
            ),
            labels([self._middle], [self._idle(request)], letters.number, palette.ink,
                   "middle center"),
        ]  # fmt: skip

    def shapes(self, step: Step) -> list[Shape]:
        """The words in their banks and wavefronts."""
        palette, chart = self._palette, self._chart
        request = self._request(step)
        whole = frame = columns = own = others = ""
        if request is not None:
            level = self._level(request)
            low = chart.top + level * request.wavefront_count
            whole = box(chart.left, chart.top, chart.right, chart.bottom)
            frame = box(chart.left, chart.top, chart.right, low)
            middle, half = self._middle[1], 0.8 * self._letters.number
            half_width = self._half_width(idle) if (idle := self._idle(request)) else 0.0
            for bank in range(0, BANKS, 4):
                x = chart.left + bank * self._bank
                if abs(bank - MIDDLE) < half_width:  # not through the words
                    columns += box(x, chart.top, x, middle - half)
                    columns += box(x, middle + half, x, chart.bottom)
                else:
                    columns += box(x, chart.top, x, chart.bottom)
            others, own = self._marks(request, level)
        return [
            outline(whole, palette.line, 1, mix(palette.near, palette.cell, 0.5), "below"),
            outline(frame, palette.line, 1.5, palette.cell, "below"),
            outline(columns, palette.line, 0.7),
            outline(others, palette.ink, 0, palette.phases[Phase.BARRIER]),
            outline(own, palette.focus, 0, palette.focus),
            *(self._tile_shapes(request) if self._grids else []),
        ]

    def _tile_shapes(self, request: Request | None) -> list[Shape]:
        """The array's words in their banks' colours, those asked for, and where they drop.

        The words of one value, as of a double, have one outline.
        """
        palette, chart = self._palette, self._chart
        paths = [""] * BANKS
        others = drops = own = ""
        if request is not None:
            view = self._view(request)
            cells, banks = view.grid.cells, view.banks()
            paths = [cells.fill(banks == bank) + self._heads.path(0, bank) for bank in range(BANKS)]
            focused = self._own_words(request)
            for value in sorted(set(map(tuple, request.words[request.active].tolist()))):
                rows: dict[int, list[int]] = {}  # the columns of the value's words in view
                for word in value:
                    row, column = view.place(word)
                    if not (0 <= row < cells.rows and 0 <= column < cells.columns):
                        continue
                    rows.setdefault(row, []).append(column)
                    left, _, right, low = cells.box(row, column)
                    x, end = (left + right) / 2, chart.left + (word % BANKS + 0.5) * self._bank
                    drops += f"M{px(x)},{px(low)}L{px(end)},{px(self._heads.top)}"
                path = "".join(
                    cells.path(row, columns[0], 1, len(columns)) for row, columns in rows.items()
                )
                if focused.isdisjoint(value):
                    others += path
                else:
                    own += path
        return [
            *(outline(path, palette.line, 0, mix(*palette.banks, bank / (BANKS - 1)), "below")
              for bank, path in enumerate(paths)),
            outline(drops, mix(palette.ink, palette.paper, PALER), 1),
            outline(others, palette.ink, 2),
            outline(own, palette.focus, 3),
        ]  # fmt: skip

    def _grid(self, array: Variable) -> Grid:
        """Where a shared array is, as rows of words."""
        letters, area = self._letters, self._area
        size = element_of(array.ctype).size
        *above, last = self._model.shared_shapes.get(array.name, (1,))
        while above and last * size < LEAST_COLUMNS * BANK_BYTES:  # a row of short vectors
            last *= above.pop()
        row_bytes = last * size
        if row_bytes % BANK_BYTES or (not above and last > MOST_COLUMNS):
            row_bytes = BANKS * BANK_BYTES
        pitch = row_bytes // BANK_BYTES
        count = -(-math.prod((*above, last)) * size // BANK_BYTES)
        rows, columns = min(-(-count // pitch), MOST_ROWS), min(pitch, MOST_COLUMNS)
        width = self._bank
        if pitch < BANKS:
            width = min(area.width / columns, WIDEST * letters.small)
        height = min(area.height / rows, HIGHEST * letters.small)
        cells = Cells(self._chart.left, area.bottom - rows * height, width, height, rows, columns)
        return Grid(cells, pitch, count)

    def _is_readable(self, grid: Grid) -> bool:
        """Whether the banks' numbers have room in the cells."""
        small = self._letters.small
        return grid.cells.height >= LINE_ABOVE * small and grid.cells.width >= number_width(
            2, small
        )

    def _view(self, request: Request) -> ArrayView:
        """The part of the request's array that is in view."""
        grid = self._grids[request.access.name]
        lane = self._model.thread % WARP_SIZE
        lanes = np.flatnonzero(request.active).tolist()
        first = lane if lane in lanes else lanes[0]
        word = int(request.words[first].max())
        offset = int(request.access.offsets[request.threads[first]])
        within = (offset + request.width - 1) // BANK_BYTES  # the array
        row, column = divmod(within, grid.pitch)
        start = (
            window_start(row, grid.cells.rows, -(-grid.count // grid.pitch)),
            window_start(column, grid.cells.columns, grid.pitch),
        )
        return ArrayView(grid, word - within, start)

    def _bank_numbers(self, name: str, request: Request | None) -> list[str]:
        """The number of each cell's bank, if the request is one of the array."""
        if request is None or request.access.name != name:
            cells = self._grids[name].cells
            return [""] * (cells.rows * cells.columns)
        banks = self._view(request).banks().reshape(-1).tolist()
        return [str(bank) if bank >= 0 else "" for bank in banks]

    def _title(self, request: Request | None) -> str:
        """What is above the array, and its banks under it."""
        if request is None:
            return ""
        name = markup(request.access.name)
        texts = (f"<b>{name}</b> and its {BANKS} banks, one row per wavefront",
                 f"<b>{name}</b> and its {BANKS} banks", f"<b>{name}</b>")  # fmt: skip
        width = self._area.width
        return next(
            (text for text in texts if text_width(text, self._letters.name) <= width), texts[-1]
        )

    def motions(self, step: Step) -> list[Motion]:
        """The wavefronts of a conflict, which are served one after another."""
        request = self._request(step)
        if request is None or request.degree < 2 or self._stages.subject(step) is not step:
            return []
        chart, level, count = self._chart, self._level(request), request.wavefront_count
        return [
            Light((chart.left, chart.top + i * level, chart.right, chart.top + (i + 1) * level),
                  i, count)
            for i in range(count)
        ]  # fmt: skip

    def _request(self, step: Step) -> Request | None:
        """The shared request of the focused thread's warp that takes the most wavefronts."""
        shared = [
            request for request in self._stages.requests(self._stages.subject(step))
            if request.access.space is MemorySpace.SHARED
        ]  # fmt: skip
        return max(shared, key=_cost, default=None)

    def _level(self, request: Request) -> float:
        """The height of a wavefront's row."""
        return min(
            TALLEST * self._letters.small, self._chart.height / max(1, request.wavefront_count)
        )

    def _idle(self, request: Request | None) -> str:
        """What a conflict costs, where no mark is behind the words."""
        if request is None or request.degree < 2:
            return ""
        used = np.unique(request.words[request.words >= 0] % BANKS)
        text = f"{BANKS - used.size} banks idle"
        half = self._half_width(text)
        is_free = not ((used > MIDDLE - half - 1) & (used < MIDDLE + half)).any()
        low = self._chart.top + self._level(request) * request.wavefront_count
        return text if is_free and low > self._middle[1] + self._letters.number else ""

    def _half_width(self, text: str) -> float:
        """How many banks the half of some words takes, and a little room beside them."""
        return (0.5 * text_width(text, self._letters.number) + self._letters.small) / self._bank

    def _own_words(self, request: Request) -> set[int]:
        """The words that the focused thread asks for."""
        lane = self._model.thread % WARP_SIZE
        return set(request.words[lane].tolist()) - {-1} if lane < request.active.size else set()

    def _marks(self, request: Request, level: float) -> tuple[str, str]:
        """A mark for each value in its banks' columns and its wavefront's row; the thread's own.

        A value is aligned to its size, so that its words are in neighbouring banks.
        """
        chart = self._chart
        others = own = ""
        focused = self._own_words(request)
        marks = {
            (int(request.wavefront_numbers[i]), tuple(request.words[i].tolist()))
            for i in np.flatnonzero(request.active).tolist()
        }
        inset = 1.0 if level > 5 else 0.0
        for wavefront, value in sorted(marks):
            x, y = chart.left + value[0] % BANKS * self._bank, chart.top + wavefront * level
            mark = box(x + 1, y + inset, x + len(value) * self._bank - 1, y + level - inset)
            if focused.isdisjoint(value):
                others += mark
            else:
                own += mark
        return others, own

    def _wavefront_numbers(self, request: Request | None) -> list[tuple[float, str]]:
        """Heights and numbers beside the rows; always the same heights.

        Few rows are of one height, and each has its number; many fill the chart, and have a number
        at each quarter of it.
        """
        chart, letters = self._chart, self._letters
        tallest, count = TALLEST * letters.small, request.wavefront_count if request else 0
        few = int(chart.height / tallest)
        numbers = [
            (chart.top + (i + 0.5) * tallest, str(i + 1) if i < count <= few else "")
            for i in range(few)
        ]
        half = 0.5 * letters.small
        has_room = 0.25 * chart.height > 2.5 * letters.small  # between the first two
        quarters = [
            (chart.top + share * chart.height - half,
             str(round(share * count)) if has_room or share == 1.0 else "")
            for share in (0.25, 0.5, 0.75, 1.0)
        ]  # fmt: skip
        quarters = [(chart.top + half, "1" if has_room else ""), *quarters]
        return [*numbers, *((y, text if count > few else "") for y, text in quarters)]

    def _describe(
        self, step: Step, request: Request | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The request and its conflict, and what that means; lines that fit."""
        letters, width = self._letters, self._words.width
        if request is None:
            none = (
                "This step does not access shared memory.",
                "No shared memory here.",
                "Nothing.",
            )
            return fit(none, letters.sentence, width, self._lines), ()
        access, waves = request.access, request.wavefront_count
        later = self._stages.subject(step).number - step.number
        when = "Next: " if later > 0 else "Last: " if later else ""
        who = f"{when}Warp {request.warp} {VERBS[access.kind]} {access.name}:"
        turns = f"{waves} wavefront" + ("s" if waves != 1 else "")
        words_ = np.unique(request.words[request.words >= 0])
        banks = np.unique(words_ % BANKS)
        if request.degree > 1:
            cost = f"{request.degree}-way bank conflict, {turns}."
            where = f"bank {banks[0]}" if banks.size == 1 else f"{banks.size} banks"
            serve = "serves" if banks.size == 1 else "serve"
            why: tuple[str, ...] = (
                f"This request's {words_.size} words are in {where}, which {serve} them one after "
                "another.",
                f"{words_.size} words in {where}, one after another.",
            )
        else:
            cost = f"no conflict, {turns}."
            why = (
                f"This request's {words_.size} words are in {banks.size} different banks."
                if words_.size > 1 else "All its lanes read one word: a broadcast.",
            )  # fmt: skip
        title = fit(
            (f"{who} {cost}", f"{when}{access.name}: {cost}", f"{access.name}: {turns}"),
            letters.sentence, 0.92 * width, max(2, self._lines - 1),
        )  # fmt: skip
        lines = fit(why, letters.sentence, width, self._lines - len(title))
        return tuple(f"<b>{markup(line)}</b>" for line in title), lines


def _cost(request: Request) -> tuple[int, int, int]:
    """The worst conflict, the most wavefronts, the most words."""
    distinct = np.unique(request.words[request.words >= 0]).size
    return request.degree, request.wavefront_count, int(distinct)
