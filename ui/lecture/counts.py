"""What both scenes have cost so far, beside each other: each count with its name under it."""

from __future__ import annotations

import numpy as np

from ui.analysis.costs import add_up_costs
from ui.analysis.loads import global_loads
from ui.analysis.pairs import Pair
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import Shape, Trace, labels, outline
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Panel, Rectangle
from ui.lecture.letters import Letters

NAMES = ("multiply-adds", "sectors", "wavefronts", "warp waits", "thread loads")
NUMBER_ROW, NAME_ROW = 1.45, 1.35  # of the letters in them
DIFFERS = "≠ "


def counts_height(letters: Letters, columns: int) -> float:
    """Pixels that the counts of one scene take in so many columns."""
    rows = -(-len(NAMES) // columns)
    return rows * (NUMBER_ROW * letters.number + NAME_ROW * letters.small)


class CountsPanel(Panel[Pair]):
    """A row of counts for each side; where the sides differ, both have a sign and a frame."""

    def __init__(
        self, models: tuple[SceneModel, SceneModel], palette: Palette, letters: Letters,
        areas: tuple[Rectangle, Rectangle], columns: int,
    ) -> None:  # fmt: skip
        self._palette, self._letters, self._areas = palette, letters, areas
        self._columns = columns
        self._counts = [_counts(model) for model in models]

    def static(self) -> list[Trace]:
        """The names."""
        letters = self._letters
        points, names = [], []
        for area in self._areas:
            for i, name in enumerate(NAMES):
                cell = self._cell(area, i)
                points.append((cell.left + 4, cell.bottom - NAME_ROW / 2 * letters.small))
                names.append(name)
        return [labels(points, names, letters.small, self._palette.ink)]

    def changing(self, step: Pair) -> list[Trace]:
        """The numbers."""
        letters = self._letters
        points, texts = [], []
        differs = self._differs(step)
        for side, area in enumerate(self._areas):
            numbers = self._counts[side][step.sides[side].number]
            for i, number in enumerate(numbers):
                cell = self._cell(area, i)
                points.append((cell.left + 4, cell.top + NUMBER_ROW / 2 * letters.number))
                texts.append(f"<b>{DIFFERS if differs[i] else ''}{number:,}</b>")
        return [labels(points, texts, letters.number, self._palette.ink, meta="numbers")]

    def shapes(self, step: Pair) -> list[Shape]:
        """A field behind each count; those that differ stand out."""
        fields = {True: "", False: ""}
        for area in self._areas:
            for i, is_other in enumerate(self._differs(step)):
                cell = self._cell(area, i)
                fields[is_other] += box(cell.left, cell.top, cell.right - 4, cell.bottom)
        palette = self._palette
        return [
            outline(fields[True], palette.line, 0, palette.focus_fill, "below"),
            outline(fields[False], palette.line, 0, palette.cell, "below"),
        ]

    def _differs(self, step: Pair) -> list[bool]:
        left, right = (
            counts[one.number] for counts, one in zip(self._counts, step.sides, strict=True)
        )
        return [one != other for one, other in zip(left, right, strict=True)]

    def _cell(self, area: Rectangle, number: int) -> Rectangle:
        row, column = divmod(number, self._columns)
        width = area.width / self._columns
        height = area.height / -(-len(NAMES) // self._columns)
        left, top = area.left + column * width, area.top + row * height
        return Rectangle(left, top, left + width, top + height)


def _counts(model: SceneModel) -> list[tuple[int, ...]]:
    """For each step the counts of NAMES: those of the block, and the focused thread's loads."""
    costs = add_up_costs(model.recording)
    columns = (
        costs.multiply_adds, costs.sectors, costs.wavefronts, costs.waits,
        np.array(global_loads(model, model.thread)),
    )  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))
