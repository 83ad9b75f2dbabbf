"""What the focused warp asks of memory: a punchcard of lanes and banks, or sectors and lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.observers.transactions import BANKS, LINE_BYTES, SECTOR_BYTES
from simulator.recording.requests import Request, requests
from ui.analysis.scene_model import SceneModel
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.hit import Hit
from ui.drawing.palette import Palette
from ui.drawing.paths import box, hover, vertical_line

LEFT, TOP, RIGHT, BOTTOM = 1152, 300, 1580, 546
HALF = 203
MARGIN = 22  # left of a card: the lanes' numbers
HEADLINE_HEIGHTS = (332, 350, 367)  # pixels, y of a headline's lines
CARD, CARD_BOTTOM = 379, 483
STACKS = 498
TALLY_TOP, TALLY_STEP, TALLY_LINES = 350, 26, 7
SHOWN = 2
INSET, SPLIT = 0.4, 2.5  # pixels between marks, where a mark is taller than that
COLOURS = 4  # of wavefronts, which take turns
TALLEST_LEVEL, TALLEST_LINE = 12, 34
HOVER = (
    "One warp's part in this statement's loads and stores, as the hardware takes them. Shared "
    "memory: a row for each lane, a column for each bank, a mark for each 4-byte word that a lane "
    "touches, coloured by the wavefront that serves it; an upright line joins lanes that get the "
    "same word at once (a broadcast), where its bank has no other; a level line parts the halves "
    "or quarters of a warp that take turns with 8 or 16 bytes a lane. Below, the same words by "
    "bank, a wavefront a row: "
    "rows beyond the first are what a conflict costs. Global memory: a row for each 128-byte line, "
    "cut into 32-byte sectors; filled bytes are asked for, outlined sectors fetched. Simplified: "
    "the order of wavefronts within a request is not told by the hardware, their number is."
)


@dataclass(frozen=True, slots=True)
class Slot:
    """The area of one request on the sheet."""

    left: float  # pixels, its left edge
    right: float  # pixels, its right edge


WHOLE = Slot(LEFT, RIGHT)
HALVES = (Slot(LEFT, LEFT + HALF), Slot(RIGHT - HALF, RIGHT))
SLOTS = (WHOLE, *HALVES)


class RequestsPanel:
    """Up to two requests of the focused thread's warp, drawn lane by lane."""

    def __init__(self, model: SceneModel, palette: Palette) -> None:
        self._model, self._palette = model, palette
        self.warp = model.thread // WARP_SIZE
        self._lane = model.thread % WARP_SIZE
        self._lanes = min(WARP_SIZE, model.recording.launch.threads - self.warp * WARP_SIZE)
        self._row = (CARD_BOTTOM - CARD) / self._lanes
        self._requests = [
            requests(model.recording, step, self.warp) for step in model.recording.steps
        ]
        self._tallies = tallies(self._requests)
        blue, amber, green, pink = (palette.tile_edges[i] for i in (1, 0, 4, 3))
        self._colours = (blue, amber, green, pink)

    def static(self) -> list[Trace]:
        """The title."""
        title = f"<b>Warp {self.warp} asks memory</b>"
        return [words([(LEFT, TOP + 10)], [title], 16, self._palette.ink, "middle right", SANS,
                      hoverinfo="text", hovertext=[hover(HOVER)])]  # fmt: skip

    def changing(self, step: Step) -> list[Trace]:
        """What each request costs, in words, and its card's numbers."""
        palette = self._palette
        step_requests = self._requests[step.number]
        hidden = f"and {len(step_requests) - SHOWN} more" if len(step_requests) > SHOWN else ""
        tally_points = [(LEFT, TALLY_TOP + i * TALLY_STEP) for i in range(TALLY_LINES)]
        tally = [] if step_requests else self._tallies[step.number]
        tally = [*tally, *[""] * (TALLY_LINES - len(tally))]
        traces = [
            words([(RIGHT, TOP + 10)], [hidden], 14, palette.faint, "middle left", SANS),
            words(tally_points, tally, 15, palette.faint, "middle right", SANS),
        ]  # fmt: skip
        shown = dict(self._slots(step_requests))
        for slot in SLOTS:
            request = shown.get(slot)
            first, second, third = headline(request) if request else ("", "", "")
            shared = request is not None and request.access.space is MemorySpace.SHARED
            if slot is WHOLE:
                lines = [f"{first}: {second}" if request else "", third]
            else:
                lines = [first, second, third]
            points = [(slot.left, y) for y in HEADLINE_HEIGHTS]
            traces.append(words(points[:1], lines[:1], 16 if slot is WHOLE else 15, palette.ink,
                                "middle right", SANS))  # fmt: skip
            traces.append(words(points[1 : len(lines)], lines[1:], 14, palette.ink, "middle right",
                                SANS))  # fmt: skip
            numbers, texts = self._numbers(slot, request)
            traces.append(words(numbers, texts if shared else [""] * len(texts), 12, palette.faint,
                                family=SANS))  # fmt: skip
        return traces

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """Nothing: its cells are banks and sectors."""
        return None

    def shapes(self, step: Step) -> list[Shape]:
        """The cards with their marks, the stacks under them, and the sectors."""
        palette = self._palette
        drawn = _Drawing()
        for slot, request in self._slots(self._requests[step.number]):
            if request.access.space is MemorySpace.SHARED:
                self._punchcard(drawn, slot, request)
            else:
                self._sectors(drawn, slot, request)
        classes = [
            outline(path, colour, 0, colour)
            for path, colour in zip(drawn.classes, self._colours, strict=True)
        ]
        return [
            outline(drawn.card, palette.line, 1, palette.cell),
            outline(drawn.guides, palette.line, 0.7),
            outline(drawn.fetched, palette.faint, 1, palette.idle),
            *classes,
            outline(drawn.focused, palette.focus, 0.5, palette.focus),
            outline(drawn.joined, palette.ink, 1.5),
            outline(drawn.phases, palette.ink, 1.5, dash="dash"),
        ]

    def _slots(self, step_requests: Sequence[Request]) -> list[tuple[Slot, Request]]:
        """One request has the whole width, two half of it each."""
        if len(step_requests) == 1:
            return [(WHOLE, step_requests[0])]
        return list(zip(HALVES, step_requests, strict=False))

    def _numbers(
        self, slot: Slot, request: Request | None
    ) -> tuple[list[tuple[float, float]], list[str]]:
        """The numbers along a card: banks under it, lanes beside it."""
        bank = (slot.right - slot.left - MARGIN) / BANKS
        banks = range(0, BANKS, 4 if slot is WHOLE else 8)
        under = CARD_BOTTOM + 7.0
        points = [(slot.left + MARGIN + (i + 0.5) * bank, under) for i in banks]
        every = max(1, self._lanes // 4)
        lanes = range(0, self._lanes, every)
        points += [(slot.left + MARGIN / 2, CARD + (i + 0.5) * self._row) for i in lanes]
        return points, [str(i) for i in (*banks, *lanes)]

    def _punchcard(self, drawn: _Drawing, slot: Slot, request: Request) -> None:
        left, right, row = slot.left + MARGIN, slot.right, self._row
        bank = (right - left) / BANKS
        drawn.card += box(left, CARD, right, CARD_BOTTOM)
        drawn.guides += "".join(
            vertical_line(left + i * bank, CARD, CARD_BOTTOM) for i in range(4, BANKS, 4)
        )
        level = min(TALLEST_LEVEL, (BOTTOM - STACKS) / max(1, request.wavefront_count))
        drawn.guides += box(left, STACKS, right, STACKS + level * request.wavefront_count)
        inset = INSET if row > SPLIT else 0.0
        rows: dict[int, list[int]] = {}  # the lanes that touch each word
        for lane in np.flatnonzero(request.active).tolist():
            colour = int(request.wavefront_numbers[lane]) % COLOURS
            top = CARD + lane * row
            for first, last in _runs(request.banks[lane].tolist()):
                mark = box(
                    left + first * bank, top + inset, left + (last + 1) * bank, top + row - inset
                )
                if lane == self._lane:
                    drawn.focused += mark
                else:
                    drawn.classes[colour] += mark
            for word in request.words[lane].tolist():
                rows.setdefault(word, []).append(lane)
        self._stacks(drawn, left, bank, level, request, rows)
        alone = np.bincount([word % BANKS for word in rows], minlength=BANKS) == 1
        for word, served in request.lanes_by_word.items():
            x = left + (word % BANKS + 0.5) * bank
            for _, together in itertools.groupby(served, key=lambda one: request.phases[one]):
                lanes = list(together)
                if alone[word % BANKS] and lanes[-1] - lanes[0] >= len(lanes):
                    drawn.joined += vertical_line(
                        x, CARD + (lanes[0] + 0.5) * row, CARD + (lanes[-1] + 0.5) * row
                    )
        before = -1
        for lane, phase in enumerate(request.phases.tolist()):
            if phase >= 0:
                if before >= 0 and phase != before:
                    drawn.phases += f"M{left},{CARD + lane * row:g}H{right}"
                before = phase

    def _stacks(
        self,
        drawn: _Drawing,
        left: float,
        bank: float,
        level: float,
        request: Request,
        rows: dict[int, list[int]],
    ) -> None:
        """Each word in its bank's column and its wavefront's row; neighbours are joined."""
        focused_words = (
            set(request.words[self._lane].tolist()) if self._lane < self._lanes else set()
        )
        marks = sorted(
            {
                (int(request.wavefront_numbers[lane]), word % BANKS, word)
                for word, lanes in rows.items()
                for lane in lanes
            }
        )
        for wavefront, group in itertools.groupby(marks, key=lambda mark: mark[0]):
            members = list(group)
            inset = INSET if level > SPLIT else 0.0
            top, low = STACKS + wavefront * level + inset, STACKS + (wavefront + 1) * level - inset
            others = [column for _, column, word in members if word not in focused_words]
            for first, last in _runs(others):
                drawn.classes[wavefront % COLOURS] += box(
                    left + first * bank, top, left + (last + 1) * bank, low
                )
            for first, last in _runs(
                [column for _, column, word in members if word in focused_words]
            ):
                drawn.focused += box(left + first * bank, top, left + (last + 1) * bank, low)

    def _sectors(self, drawn: _Drawing, slot: Slot, request: Request) -> None:
        """A row for each line, four sectors in it, and the bytes that are asked for."""
        height = min(TALLEST_LINE, (BOTTOM - CARD) / len(request.lines))
        gap = 3 if height > 12 else 1 if height > 4 else 0
        byte = (slot.right - slot.left) / LINE_BYTES
        rows = {line: CARD + i * height for i, line in enumerate(request.lines)}
        for top in rows.values():
            drawn.card += box(slot.left, top, slot.right, top + height - gap)
            for i in range(1, LINE_BYTES // SECTOR_BYTES):
                drawn.guides += vertical_line(
                    slot.left + i * SECTOR_BYTES * byte, top, top + height - gap
                )
        for sector in request.sectors:
            line, offset = divmod(sector * SECTOR_BYTES, LINE_BYTES)
            x, top = slot.left + offset * byte, rows[line]
            drawn.fetched += box(x, top, x + SECTOR_BYTES * byte, top + height - gap)
        focused_lane = (
            self._lane if self._lane < self._lanes and request.active[self._lane] else None
        )
        other_bytes: set[int] = set()
        for lane in np.flatnonzero(request.active).tolist():
            start = int(request.addresses[lane])
            other_bytes.update(range(start, start + request.width))
        if focused_lane is not None:
            start = int(request.addresses[focused_lane])
            focused_bytes = set(range(start, start + request.width))
            other_bytes -= focused_bytes
            drawn.focused += _bytes(slot, focused_bytes, rows, byte, height, gap)
        drawn.classes[0] += _bytes(slot, other_bytes, rows, byte, height, gap)


class _Drawing:
    """The paths of one step, one for each colour and line style."""

    def __init__(self) -> None:
        self.card = self.guides = self.fetched = self.focused = self.joined = self.phases = ""
        self.classes = [""] * COLOURS


def headline(request: Request) -> tuple[str, str, str]:
    """Which access, what it costs, and why: three short texts, the first with its name bold."""
    access = request.access
    lanes = int(request.active.sum())
    if access.space is MemorySpace.GLOBAL:
        fetched, lines = _count(request.moved_sectors, "sector"), _count(len(request.lines), "line")
        return (
            f"<b>{access.kind} {access.name}</b>",
            f"{fetched} in {lines}",
            f"{request.useful_bytes} of {request.fetched_bytes} bytes useful",
        )
    distinct = np.unique(request.words[request.words >= 0]).size
    most = max(len(served) for served in request.lanes_by_word.values())
    turns = _count(request.wavefront_count, "wavefront")
    conflict = f"{request.degree}-way conflict" if request.degree > 1 else "no conflict"
    phases = np.unique(request.phases[request.phases >= 0]).size
    cost = f"{turns} for 1 request" if phases == 1 else f"{turns} in {phases} phases"
    reach = f"{_count(lanes, 'lane')}, {_count(int(distinct), 'word')}"
    if most > 1 and access.kind is AccessKind.LOAD:
        each = "each for" if len(request.lanes_by_word) > 1 else "for"
        reach = f"{_count(int(distinct), 'word')}, {each} {_count(most, 'lane')}"
    return f"<b>{access.kind} {access.name}</b>: {conflict}", cost, reach


def tallies(requests_by_step: Sequence[Sequence[Request]]) -> list[list[str]]:
    """For each step, what the warp's requests so far have cost, a line for each array."""
    sums: dict[tuple[str, str, str], tuple[int, int]] = {}
    by_step: list[list[str]] = []
    tally = ["Nothing asked of memory yet"]
    for step in requests_by_step:
        for request in step:
            access = request.access
            key = (access.kind, access.name, access.space)
            count, cost = sums.get(key, (0, 0))
            added = (
                request.wavefront_count
                if access.space is MemorySpace.SHARED
                else request.moved_sectors
            )
            sums[key] = (count + 1, cost + added)
        if step:
            lines = [
                f"{kind} {name}: {_count(count, 'request')}, "
                + _count(cost, "wavefront" if space is MemorySpace.SHARED else "sector")
                for (kind, name, space), (count, cost) in sums.items()
            ]
            tally = ["Nothing asked now; so far:", *lines][:TALLY_LINES]
        by_step.append(tally)
    return by_step


def _bytes(
    slot: Slot, bytes_: set[int], rows: dict[int, float], byte: float, height: float, gap: float
) -> str:
    path = ""
    for first, last in _runs(sorted(bytes_), LINE_BYTES):
        line, offset = divmod(first, LINE_BYTES)
        x = slot.left + offset * byte
        path += box(x, rows[line] + 1, x + (last + 1 - first) * byte, rows[line] + height - gap - 1)
    return path


def _runs(numbers: Sequence[int], never_over: int = BANKS) -> list[tuple[int, int]]:
    """Neighbouring numbers as first and last; a run ends before a multiple of `never_over`."""
    runs: list[tuple[int, int]] = []
    for value in numbers:
        if runs and value == runs[-1][1] + 1 and value % never_over:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def _count(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
