"""The sectors of global memory that a warp moves, word by word: a full row is all asked for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from simulator.observers.transactions import BANK_BYTES, SECTOR_BYTES
from simulator.recording.requests import Request, requests
from ui.analysis.scene_model import Phase
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.paths import box, px
from ui.drawing.sheet import Rectangle
from ui.lecture.cells import Cells
from ui.lecture.letters import text_width
from ui.lecture.panel_context import PanelContext

WORDS = SECTOR_BYTES // BANK_BYTES  # in a row
LARGEST = 4.0  # of a small letter, a word, its width and its height at most
LEAST_HATCHED = 9.0  # pixels, the height of what has a line of hatching through it
LABELS = 1.5  # of a small letter, the line above the rows


class Sectors:
    """A row for each sector that a warp moves at a step, a column for each array it moves."""

    def __init__(self, context: PanelContext, area: Rectangle) -> None:
        model, letters = context.model, context.letters
        self._model, self._palette, self._letters = model, context.palette, letters
        self._requests: dict[int, tuple[Request, ...]] = {}
        steps = model.recording.steps
        arrays = [{one.name for one in step.accesses if one.space is MemorySpace.GLOBAL}
                  for step in steps]  # fmt: skip
        self._count = max([1, *map(len, arrays)])
        gap = 0.8 * letters.small
        each = (area.width - (self._count - 1) * gap) / self._count
        self._places = [
            Rectangle(left, area.top + LABELS * letters.small, left + each, area.bottom)
            for left in (area.left + i * (each + gap) for i in range(self._count))
        ]

    def moves(self, step: Step) -> bool:
        """Whether a warp moves any sector at a step."""
        return bool(self._of(step))

    def changing(self, step: Step) -> list[Trace]:
        """How many sectors of which array."""
        letters, texts = self._letters, [""] * self._count
        for i, (place, request) in enumerate(zip(self._places, self._of(step), strict=False)):
            count = request.moved_sectors
            noun = "sector" if count == 1 else "sectors"
            wordings = (f"{count} {noun} of {request.access.name}", f"{count} {noun}", f"{count}")
            texts[i] = next(
                (text for text in wordings if text_width(text, letters.small) <= place.width), ""
            )
        points = [(place.left, place.top - 0.8 * letters.small) for place in self._places]
        return [labels(points, texts, letters.small, self._palette.ink)]

    def shapes(self, step: Step) -> list[Shape]:
        """The words that are asked for, those that nobody asks for, and the focused thread's.

        What a lane asks for as one vector has one outline, with lines between its words.
        """
        palette, warp = self._palette, self._warp(step)
        used = unused = hatch = own = vectors = splits = ""
        found = self._of(step)
        for place, request in zip(self._places, found, strict=False):
            if len(found) == 1:
                place = replace(place, right=self._places[-1].right)
            cells = self._rows(place, len(request.sectors))
            asked, mine = (np.zeros((cells.rows, WORDS), np.bool_) for _ in range(2))
            row_of = {sector: i for i, sector in enumerate(request.sectors)}
            for lane, touched in enumerate(request.words.tolist()):
                if len(touched) > 1 and touched[0] >= 0:
                    row, column = row_of[touched[0] // WORDS], touched[0] % WORDS
                    vectors += cells.path(row, column, 1, len(touched))
                    splits += cells.splits(row, column, len(touched))
                for word in touched:
                    if word >= 0:
                        asked[row_of[word // WORDS], word % WORDS] = True
                        if warp * WARP_SIZE + lane == self._model.thread:
                            mine[row_of[word // WORDS], word % WORDS] = True
            used += cells.fill(asked & ~mine)
            own += cells.fill(mine)
            unused += cells.fill(~asked)
            joined = math.ceil(LEAST_HATCHED / cells.height)  # low rows share a line of hatching
            for row in range(0, cells.rows, joined):
                rows = min(joined, cells.rows - row)
                for column in np.flatnonzero(~asked[row : row + rows].any(axis=0)).tolist():
                    left, top, right, bottom = cells.box(row, column, rows)
                    hatch += f"M{px(left)},{px(bottom)}L{px(right)},{px(top)}"
            hatch += box(cells.left, cells.top, cells.right, cells.bottom)
        load = palette.phases[Phase.LOAD]
        return [
            outline(unused, palette.line, 0, palette.cell, "below"),
            outline(hatch, load, 1, layer="below"),
            outline(used, load, 0, load, "below"),
            outline(own, palette.focus, 0, palette.focus, "below"),
            outline(splits, palette.paper, 1),
            outline(vectors, palette.ink, 2),
        ]

    def _rows(self, place: Rectangle, count: int) -> Cells:
        small = self._letters.small
        high = min(LARGEST * small, place.height / max(1, count))
        return Cells(place.left, place.top, min(LARGEST * small, place.width / WORDS), high,
                     count, WORDS)  # fmt: skip

    def _warp(self, step: Step) -> int:
        """The focused thread's warp, or the first that runs where that one does not."""
        running = np.unique(np.flatnonzero(step.active) // WARP_SIZE).tolist()
        own = self._model.thread // WARP_SIZE
        return own if own in running or not running else int(running[0])

    def _of(self, step: Step) -> tuple[Request, ...]:
        """What the warp asks of global memory, of each array once."""
        if step.number not in self._requests:
            found = {
                one.access.name: one
                for one in reversed(requests(self._model.recording, step, self._warp(step)))
                if one.access.space is MemorySpace.GLOBAL and one.sectors
            }
            self._requests[step.number] = tuple(reversed(found.values()))
        return self._requests[step.number]
