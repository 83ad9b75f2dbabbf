"""The stage of a shared-memory request: the 32 banks, and the wavefronts that serve a warp."""

from __future__ import annotations

import numpy as np

from simulator import Step
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from simulator.observers.transactions import BANKS
from simulator.recording.requests import Request
from simulator.sentences.warps import VERBS
from ui.analysis.scene_model import Phase, SceneModel
from ui.drawing.canvas import SANS, Shape, Trace, outline, words
from ui.drawing.hit import Hit
from ui.drawing.motions import Light, Motion
from ui.drawing.palette import Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.lecture.arrays import ArrayReader
from ui.lecture.layout import Areas
from ui.lecture.letters import Letters, fit, markup, text_width
from ui.lecture.stages import Stages
from ui.lecture.window import Windows

TALLEST = 2.4  # of a small letter, a wavefront's row
MIDDLE = 18  # the bank around which it stands how many are idle
LINES = 5  # of words beside the maps


class BanksStage:
    """The request with the worst conflict: each bank a column, each wavefront a row."""

    def __init__(
        self, model: SceneModel, palette: Palette, letters: Letters, areas: Areas,
        reader: ArrayReader, stages: Stages,
    ) -> None:  # fmt: skip
        self._model, self._palette, self._letters = model, palette, letters
        self._reader, self._stages = reader, stages
        stage, maps = areas.stage, areas.corner
        self._words = Rectangle(
            maps.right + 1.5 * letters.name, stage.top, stage.right, maps.bottom
        )
        self._axis = 2.6 * letters.small  # left of the banks: the wavefronts' numbers
        self._chart = Rectangle(
            stage.left + self._axis, maps.bottom + 2.4 * letters.name, stage.right,
            stage.bottom - 1.5 * letters.small,
        )  # fmt: skip
        self._bank = self._chart.width / BANKS
        self._middle = (
            self._chart.left + MIDDLE * self._bank, (self._chart.top + self._chart.bottom) / 2
        )  # fmt: skip

    def matches(self, step: Step) -> bool:
        """Whether the stage can show a step: any."""
        return True

    def static(self) -> list[Trace]:
        """Nothing."""
        return []

    def changing(self, step: Step) -> list[Trace]:
        """What the request costs, in words, and the numbers along both axes."""
        palette, letters, chart = self._palette, self._letters, self._chart
        request = self._request(step)
        title, lines = self._describe(step, request)
        points = [
            (self._words.left, self._words.top + letters.sentence * (0.8 + 1.35 * i))
            for i in range(LINES)
        ]
        banks = range(0, BANKS, 4)
        under = [(chart.left + (i + 0.5) * self._bank, chart.bottom + 0.8 * letters.small)
                 for i in banks]  # fmt: skip
        numbers = self._wavefront_numbers(request)
        return [
            words(points, [*title, *lines, *[""] * LINES][:LINES], letters.sentence, palette.ink,
                  "middle right", SANS),
            words([(chart.left, chart.top - 0.9 * letters.name)],
                  [f"the {BANKS} banks, one row per wavefront" if request is not None else ""],
                  letters.name, palette.ink, "middle right", SANS),
            words(under, [str(i) if request is not None else "" for i in banks], letters.small,
                  palette.faint, family=SANS),
            words([(chart.left - 0.5 * letters.small, y) for y, _ in numbers],
                  [text for _, text in numbers], letters.small, palette.faint, "middle left", SANS),
            words([self._middle], [self._idle(request)], letters.number, palette.ink,
                  family=SANS),
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
            beside = self._half_width(idle) if (idle := self._idle(request)) else 0.0
            for bank in range(0, BANKS, 4):
                x = chart.left + bank * self._bank
                if abs(bank - MIDDLE) < beside:  # not through the words
                    columns += box(x, chart.top, x, middle - half)
                    columns += box(x, middle + half, x, chart.bottom)
                else:
                    columns += box(x, chart.top, x, chart.bottom)
            others, own = self._marks(request, level)
        return [
            outline(whole, palette.line, 1, layer="below"),
            outline(frame, palette.line, 1.5, palette.cell, "below"),
            outline(columns, palette.line, 0.7),
            outline(others, palette.ink, 0, palette.phases[Phase.BARRIER]),
            outline(own, palette.focus, 0, palette.focus),
        ]

    def windows(self, step: Step) -> Windows:
        """None: it shows no array."""
        return ()

    def hit(self, step: Step, x: float, y: float) -> Hit | None:
        """Nothing can be clicked."""
        return None

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
        """What a conflict costs, where no mark stands behind the words."""
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

    def _marks(self, request: Request, level: float) -> tuple[str, str]:
        """A mark for each word in its bank's column and its wavefront's row; the thread's own."""
        chart = self._chart
        others = own = ""
        lane = self._model.thread % WARP_SIZE
        focused = set(request.words[lane].tolist()) - {-1} if lane < request.active.size else set()
        marks = {
            (int(request.wavefront_numbers[i]), word)
            for i in np.flatnonzero(request.active).tolist()
            for word in request.words[i].tolist()
            if word >= 0
        }
        inset = 1.0 if level > 5 else 0.0
        for wavefront, word in sorted(marks):
            x, y = chart.left + word % BANKS * self._bank, chart.top + wavefront * level
            mark = box(x + 1, y + inset, x + self._bank - 1, y + level - inset)
            if word in focused:
                own += mark
            else:
                others += mark
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
        quarters = [
            (chart.top + share * chart.height - half, str(round(share * count)))
            for share in (0.25, 0.5, 0.75, 1.0)
        ]
        quarters = [(chart.top + half, "1"), *quarters]
        return [*numbers, *((y, text if count > few else "") for y, text in quarters)]

    def _describe(
        self, step: Step, request: Request | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The request and its conflict, and what that means; lines that fit."""
        letters, room = self._letters, self._words.width
        if request is None:
            none = (
                "This step asks nothing of shared memory.",
                "No shared memory here.",
                "Nothing.",
            )
            return fit(none, letters.sentence, room, LINES), ()
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
                f"Its {words_.size} words are in {where}, which {serve} them one after another.",
                f"{words_.size} words in {where}, one after another.",
            )
        else:
            cost = f"no conflict, {turns}."
            why = (
                f"Its {words_.size} words are in {banks.size} different banks."
                if words_.size > 1 else "All its lanes read one word: a broadcast.",
            )  # fmt: skip
        title = fit(
            (f"{who} {cost}", f"{when}{access.name}: {cost}", f"{access.name}: {turns}"),
            letters.sentence, 0.92 * room, LINES - 1,
        )  # fmt: skip
        lines = fit(why, letters.sentence, room, LINES - len(title))
        return tuple(f"<b>{markup(line)}</b>" for line in title), lines


def _cost(request: Request) -> tuple[int, int, int]:
    """The worst conflict, the most wavefronts, the most words."""
    distinct = np.unique(request.words[request.words >= 0]).size
    return request.degree, request.wavefront_count, int(distinct)
