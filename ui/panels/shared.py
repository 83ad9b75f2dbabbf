"""Shared memory: each array as rows and columns, and the same words in their 32 banks."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.record import StepAccess
from simulator.transactions import BANK_BYTES, BANKS, wavefronts
from ui.palette import Palette
from ui.panels.canvas import SANS, Grid, Shape, Trace, heat, lines, number, outline, words
from ui.story import Array, Story, cells_of, outer_iteration

LEFT, TOP, RIGHT, BOTTOM = 1152, 66, 1580, 316
GAP, LABEL = 26, 26
LARGEST_CELL = 56
TEXT_CELLS = 64
SMALLEST_TEXT = 20
BANK_TOP, BANK_HEIGHT = 386, 44
ACCESSES = 2  # of one statement, each with its strip of banks
WARP = 32


class SharedPanel:
    """The block's shared arrays and what a warp's instruction touches in their banks."""

    def __init__(self, story: Story, palette: Palette) -> None:
        self._story, self._palette = story, palette
        self.grids: dict[str, Grid] = {}
        shared = story.recording.steps[0].shared if story.recording.steps else {}
        self._offsets = _offsets(story)
        width = (RIGHT - LEFT - GAP * (len(shared) - 1)) / max(1, len(shared))
        left: float = LEFT
        for name, contents in shared.items():
            columns = contents.shape[-1]
            rows = contents.size // max(1, columns)
            size = min(width / columns, (BOTTOM - TOP - LABEL) / max(1, rows), LARGEST_CELL)
            self.grids[name] = Grid(left, TOP + LABEL, size, rows, columns)
            left += width + GAP
        self._iterations = self._written_in()

    def _written_in(self) -> list[dict[str, Array]]:
        """For each step and array, the outer iteration that each cell was last written in."""
        now = {name: np.full(g.rows * g.columns, -1) for name, g in self.grids.items()}
        found = []
        for step in self._story.recording.steps:
            for access in step.accesses:
                if access.kind != "load" and access.name in now and access.space == "shared":
                    changed = now[access.name].copy()
                    changed[cells_of(access)] = outer_iteration(self._story, step) or 0
                    now = now | {access.name: changed}
            found.append(now)
        return found

    def static(self) -> list[Trace]:
        """Names, borders and the banks' numbers."""
        palette = self._palette
        if not self.grids:
            place = ((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2)
            return [words([place], ["This kernel uses no shared memory"], 17, palette.faint,
                          family=SANS)]  # fmt: skip
        traces = [
            words(
                [(g.left, g.top - 14) for g in self.grids.values()],
                [f"<b>{name}</b>  shared" for name in self.grids], 15, palette.ink,
                "middle right", SANS,
            )
        ]  # fmt: skip
        bank = (RIGHT - LEFT) / BANKS
        numbers = [(LEFT + (i + 0.5) * bank, BANK_TOP - 30) for i in range(0, BANKS, 4)]
        traces.append(
            words([(LEFT, BANK_TOP - 50)], ["<b>The words in their 32 banks</b>, one warp"], 15,
                  palette.ink, "middle right", SANS)
        )  # fmt: skip
        traces.append(words(numbers, [str(i) for i in range(0, BANKS, 4)], 11, palette.faint))
        for strip in range(ACCESSES):
            top = BANK_TOP + strip * (BANK_HEIGHT + 26)
            traces.append(
                lines(Grid(LEFT, top - 18, bank, 1, BANKS), (1, 1), palette.line, 1)
                | {"y": _strip_borders(top)}
            )
        return traces

    def changing(self, step: Step) -> list[Trace]:
        """The cells with the colour of the iteration that wrote them, and what banks cost."""
        palette = self._palette
        traces: list[Trace] = []
        colours = [palette.cell, *palette.tiles]
        for name, grid in self.grids.items():
            written = self._iterations[step.number][name]
            fill = np.where(written < 0, 0, written % len(palette.tiles) + 1)
            traces.append(heat(grid, fill.reshape(grid.rows, grid.columns).tolist(), colours))
            if grid.size >= SMALLEST_TEXT and grid.rows * grid.columns <= TEXT_CELLS:
                values = step.shared[name].reshape(-1)
                known = step.written[name].reshape(-1)
                texts = [number(v) if k else "" for v, k in zip(values, known, strict=True)]
                places = [grid.centre(*divmod(i, grid.columns)) for i in range(values.size)]
                traces.append(words(places, texts, min(20, grid.size * 0.42), palette.ink))
        if self.grids:
            said = [self._said(access) for access in self._accesses(step)]
            said += [""] * (ACCESSES - len(said))
            places = [
                (LEFT, BANK_TOP + i * (BANK_HEIGHT + 26) + BANK_HEIGHT - 8) for i in range(ACCESSES)
            ]
            traces.append(words(places, said, 13, palette.ink, "middle right", SANS))
        return traces

    def shapes(self, step: Step) -> list[Shape]:
        """The words touched now, the focused thread's among them, and the same in their banks."""
        palette = self._palette
        now = mine = ""
        for access in self._accesses(step):
            grid = self.grids[access.name]
            now += grid.boxes(cells_of(access).tolist())
            mine += grid.boxes(cells_of(access, self._story.thread).tolist())
        shapes = [
            outline(now, palette.ink, 2.5),
            outline(mine, palette.focus, 4.5),
        ]
        accesses = self._accesses(step)
        for strip in range(ACCESSES):
            path = self._strip(accesses[strip], strip) if strip < len(accesses) else ""
            fill = palette.bank if path else "rgba(0,0,0,0)"
            shapes.append(outline(path, palette.paper, 0.5, fill))
        return shapes

    def _accesses(self, step: Step) -> list[StepAccess]:
        return [a for a in step.accesses if a.space == "shared" and a.name in self.grids][:ACCESSES]

    def _warp(self, access: StepAccess) -> tuple[Array, Array]:
        """Byte addresses [1, 32] and activity of the focused thread's warp."""
        first = self._story.thread // WARP * WARP
        addresses = access.offsets[first : first + WARP] + self._offsets[access.name]
        active = (access.active & access.in_bounds)[first : first + WARP]
        missing = WARP - addresses.size
        return np.pad(addresses, (0, missing))[None], np.pad(active, (0, missing))[None]

    def _strip(self, access: StepAccess, strip: int) -> str:
        """Each word in its bank, words of one bank stacked."""
        addresses, active = self._warp(access)
        words_ = sorted(
            {
                int(a) // BANK_BYTES + i
                for a, on in zip(addresses[0], active[0], strict=True)
                if on
                for i in range(max(1, access.width // BANK_BYTES))
            }
        )
        stack: dict[int, int] = {}
        for word in words_:
            stack[word % BANKS] = stack.get(word % BANKS, 0) + 1
        deepest = max(stack.values(), default=1)
        height = (BANK_HEIGHT - 24) / deepest
        bank = (RIGHT - LEFT) / BANKS
        top = BANK_TOP + strip * (BANK_HEIGHT + 26) - 18
        path = ""
        for number_, depth in stack.items():
            for level in range(depth):
                grid = Grid(LEFT + number_ * bank + 1, top + level * height + 0.5, 1, 1, 1)
                x, y, w, h = grid.left, grid.top, bank - 2, height - 1
                path += f"M{x:g},{y:g}L{x + w:g},{y:g}L{x + w:g},{y + h:g}L{x:g},{y + h:g}Z"
        return path

    def _said(self, access: StepAccess) -> str:
        addresses, active = self._warp(access)
        lanes = int(active.sum())
        if not lanes:
            return f"{access.kind} {access.name}: no active lane in this warp"
        distinct = len({int(a) for a in addresses[active]})
        cost = int(wavefronts(addresses, active, access.width, access.kind)[0])
        least = max(1, -(-distinct * access.width // (BANKS * BANK_BYTES)))
        noun = "wavefront" if cost == 1 else "wavefronts"
        verdict = "no conflict" if cost <= least else f"{cost}-way conflict"
        shared = f"{distinct} words" if distinct != 1 else "1 word"
        return (
            f"<b>{access.kind} {access.name}</b>: {lanes} lanes, {shared}, "
            f"<b>{cost} {noun}</b>, {verdict}"
        )


def _offsets(story: Story) -> dict[str, int]:
    """Where each shared array begins in its block's shared memory, in bytes."""
    offset, found = 0, {}
    for variable in story.recording.shared:
        found[variable.name] = offset
        if not variable.dynamic:
            offset += -(-variable.ctype.size // 16) * 16
    return found


def _strip_borders(top: float) -> list[float | None]:
    """The heights of a strip's borders: its two long sides, then every bank's side."""
    low, high = top - 18, top - 18 + BANK_HEIGHT - 24
    heights: list[float | None] = [low, low, None, high, high, None]
    for _ in range(BANKS + 1):
        heights += [low, high, None]
    return heights
