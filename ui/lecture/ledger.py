"""The ledger: C's tile as a sum of products of tiles, what a thread has loaded, who shares it."""

from __future__ import annotations

import re

import numpy as np

from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import format_index, unravel
from simulator.machine.observer import AccessKind
from ui.analysis.loads import global_loads
from ui.analysis.products import accumulator
from ui.analysis.scene_model import follows_products, multiplied_tile
from ui.drawing.canvas import Trace, labels, number
from ui.drawing.sheet import Panel
from ui.lecture.letters import text_width
from ui.lecture.panel_context import PanelContext

LINE = 1.35  # of a letter
MOST_NAMED = 4  # threads that are named one by one


class LedgerPanel(Panel[Step]):
    """Up to three entries, each of one or two lines."""

    def __init__(self, context: PanelContext) -> None:
        model, letters, areas = context.model, context.letters, context.areas
        self._model, self._palette, self._letters = model, context.palette, letters
        self._box, self._has_bars = areas.ledger, areas.far is not None
        self._size = letters.name
        self._count = int(self._box.height / (LINE * self._size) + 0.01)
        self._loads = global_loads(model, model.thread)
        self._sum = accumulator(model.recording)

    def changing(self, step: Step) -> list[Trace]:
        """The entries."""
        lines: list[str] = []
        warnings = self._hazard(step), self._wrong(step)
        if self._count == 1:  # what came of a hazard says more than the hazard
            warnings = warnings[::-1]
        for wordings in (*warnings, self._algebra(step), self._counts(step), self._sharing(step)):
            lines += self._fit(wordings, self._count - len(lines))
        points = [
            (self._box.left, self._box.top + (i + 0.5) * LINE * self._size)
            for i in range(self._count)
        ]
        return [
            labels(points, [*lines, *[""] * self._count][: self._count], self._size,
                   self._palette.ink, meta="ledger")
        ]  # fmt: skip

    def _fit(self, wordings: tuple[str, ...], most: int) -> list[str]:
        """The first wording that fits into a line, else the first that fits into two."""
        for count in range(1, min(most, 2) + 1):
            for text in wordings:
                lines = self._wrap(text)
                if len(lines) <= count:
                    return lines
        return []

    def _wrap(self, text: str) -> list[str]:
        """A text as lines; <b> and </b> take no room, and are within a line."""
        lines = [""]
        for word in text.split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if self._width(longer) <= self._box.width:
                lines[-1] = longer
            else:
                lines.append(word)
        return [_closed(line) for line in lines if line]

    def _width(self, line: str) -> float:
        """At most how many pixels a line takes, of which <b> makes a part bold."""
        parts = re.split("</?b>", _closed(line))
        return sum(text_width(part, self._size, i % 2 == 1) for i, part in enumerate(parts))

    def _hazard(self, step: Step) -> tuple[str, ...]:
        """Which accesses of the step no barrier orders."""
        unordered = self._model.unordered[step.number]
        unset = count = 0
        for name, cells in unordered.items():
            is_written = step.written[name].reshape(-1)[cells]
            unset += int((~is_written).sum())
            count += int(is_written.sum())
        count += sum(cells.size for cells in self._model.racing[step.number].values())
        wordings = []
        if unset:
            read = f"<b>⚠ {_cells(unset)} read before"
            wordings += [f"{read} anything was written there</b>", f"{read} any write</b>"]
        if count:
            wordings.append(f"<b>⚠ {_cells(count)} shared with no barrier in between</b>")
        return tuple(wordings)

    def _wrong(self, step: Step) -> tuple[str, ...]:
        """How many sums, or cells of C, a run without the fault would not have."""
        right, variable, product = self._model.right, self._sum, self._model.product
        if right is None or product is None:
            return ()
        name = product.C
        stored, stray = (
            right.wrong_cells(step, name, MemorySpace.GLOBAL), right.stray_cells(step, name)
        )  # fmt: skip
        if stored is not None or stray is not None:
            count = 0 if stored is None else int((~np.isnan(stored)).sum())
            count += 0 if stray is None else int(stray.sum())
            return (f"<b>⚠ {_cells(count)} of {name} {'is' if count == 1 else 'are'} wrong</b>",)
        found = None if variable is None else right.right_sums(step, variable.name)
        if variable is None or found is None or found.ndim != 1:
            return ()
        count, own = int((~np.isnan(found)).sum()), float(found[self._model.thread])
        many = f"{count} {'sum is' if count == 1 else 'sums are'} wrong"
        if np.isnan(own):
            return (f"<b>⚠ {many}</b>",)
        mine = f"this thread's {variable.name} should be {number(own)}"
        return (f"<b>⚠ {many}; {mine}</b>", f"<b>⚠ {mine}</b>")

    def _algebra(self, step: Step) -> tuple[str, ...]:
        """The block's tile of C as a sum of products, the running term in bold."""
        model, grid = self._model, self._model.recording.launch.grid
        if model.tile is None or model.outer is None or model.product is None:
            return ()
        A, B, C = model.product.names
        x, y, _ = model.recording.block
        count = model.tile_count
        current = multiplied_tile(model, step)
        separate = "," if max(grid[0], grid[1], count) > 10 else ""

        def term(t: int) -> str:
            text = f"{A}{y}{separate}{t}·{B}{t}{separate}{x}"
            return f"<b>{text}</b>" if t == current else text

        total = f"{C}{y}{separate}{x}"
        every = f"{total} = {' + '.join(term(t) for t in range(count))}"
        free = min(2, self._count - len(self._fit(self._hazard(step), self._count)))
        if count == 1 or len(self._wrap(every)) <= free:
            return (every,)
        at = current
        if at is None:  # before the first product, or after the last
            at = count - 1 if follows_products(model, step) else 0
        return (
            f"{total} = {'… + ' if at else ''}{term(at)}{' + …' if at < count - 1 else ''} "
            f"({count} terms)",
        )

    def _counts(self, step: Step) -> tuple[str, ...]:
        """What the focused thread has loaded from global memory."""
        if self._has_bars:  # under global memory
            return ()
        loads, total = self._loads[step.number], self._loads[-1]
        return (f"This thread's loads: <b>{loads}</b> of {total}", f"Loads: <b>{loads}</b>")

    def _sharing(self, step: Step) -> tuple[str, ...]:
        """How many threads use the value that the focused thread loads."""
        thread = self._model.thread
        for access in step.accesses:
            if not (access.active[thread] and access.in_bounds[thread]):
                continue
            cell = int(access.offsets[thread])
            if access.kind is AccessKind.LOAD and access.space is not MemorySpace.LOCAL:
                if any(other.kind is not AccessKind.LOAD and other.space is MemorySpace.SHARED
                       for other in step.accesses):  # fmt: skip
                    continue
                same = access.active & access.in_bounds & (access.offsets == cell)
                return self._name_readers(access.name, np.flatnonzero(same).tolist())
            if access.kind is not AccessKind.LOAD and access.space is MemorySpace.SHARED:
                readers = self._readers(step, access.name, cell)
                if readers:
                    who = "1 thread" if len(readers) == 1 else f"{len(readers)} threads"
                    return (
                        f"{who} will read the value that it writes to {access.name}",
                        f"{who} will read it from {access.name}",
                    )
        return ()

    def _name_readers(self, name: str, threads: list[int]) -> tuple[str, ...]:
        """Who reads the same cell at this step."""
        if len(threads) < 2:
            return (f"No other thread reads this cell of {name} now",)
        block = self._model.recording.launch.block
        places = ", ".join(format_index(unravel(thread, block), block) for thread in threads)
        short = f"{len(threads)} threads read this cell of {name} now"
        return (f"{short}: {places}", short) if len(threads) <= MOST_NAMED else (short,)

    def _readers(self, step: Step, name: str, cell: int) -> set[int]:
        """The threads that read a cell of shared memory before it is written again."""
        readers: set[int] = set()
        for later in self._model.recording.steps[step.number + 1 :]:
            for access in later.accesses:
                if access.name != name or access.space is not MemorySpace.SHARED:
                    continue
                first, end = access.offsets, access.offsets + access.width
                same = access.active & access.in_bounds & (first <= cell) & (cell < end)
                if not same.any():
                    continue
                if access.kind is not AccessKind.LOAD:
                    return readers
                readers.update(np.flatnonzero(same).tolist())
        return readers


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _closed(line: str) -> str:
    """A line whose bold text ends with it, and which begins in bold where that goes on."""
    line = line.strip()
    if line.count("</b>") > line.count("<b>"):
        line = f"<b>{line}"
    return line + "</b>" * (line.count("<b>") - line.count("</b>"))
