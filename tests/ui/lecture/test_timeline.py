"""The timeline's names, against the steps that they are above."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from simulator.recording.navigation import beats
from tests.ui.lecture.lectures import of_query, seen
from ui.drawing.look import Look
from ui.lecture.letters import text_width
from ui.lecture.timeline import LectureTimeline

TWO_WARPS = {"kernel": "tiled", "M": 16, "N": 16, "K": 16, "TILE": 8}


@pytest.mark.parametrize(
    "query",
    [
        {"schedule": "ascending"},
        {"schedule": "descending"},
        {"schedule": "ascending", "edits": "first-barrier"},
        {"schedule": "ascending", "edits": "second-barrier"},
        {"schedule": "lockstep"},
    ],
)
@pytest.mark.parametrize("look", [Look(), Look(presenting=True, width=1280, height=720)])
def test_each_run_of_steps_with_room_has_its_own_name(look: Look, query: dict[str, Any]) -> None:
    lecture = of_query(look, **TWO_WARPS, **query)
    box, small = lecture.sheet.areas.timeline, lecture.sheet.letters.small
    across = box.width / len(lecture.steps)
    trace = lecture.panel(LectureTimeline).static()[2]
    named = {
        round((x - box.left) / across): text
        for x, text in zip(trace["x"], trace["text"], strict=True)
    }
    shown = 0

    def place(number: int) -> tuple[int | None, int | None]:
        """The warp, None for both, and the outer iteration of a step."""
        step = lecture.steps[number]
        warps = np.unique(np.flatnonzero(step.active) // 32).tolist()
        t = next((one.value for one in step.loops if one.variable == "t"), None)
        outside = t is None or t >= 2
        return (warps[0] if len(warps) == 1 else None), (None if outside else t)

    for (warp, t), numbers in itertools.groupby(range(len(lecture.steps)), key=place):
        steps = list(numbers)
        if t is None:
            assert not set(steps) & set(named)
            continue
        full = f"tile {t + 1}" if warp is None else f"warp {warp}: tile {t + 1}"
        if text_width(full, small) + 6 <= len(steps) * across:
            assert named.get(steps[0]) == full
            shown += 1
        for number in set(steps) & set(named):
            assert number == steps[0]
            found = re.fullmatch(r"(?:warp (\d+))?(?:: )?(?:tile )?(\d+)?", named[number])
            assert found
            assert found[1] in (None, str(warp))
            assert found[2] in (None, str(t + 1))
            assert text_width(named[number], small) <= len(steps) * across
    assert shown >= 2


def test_the_marks_of_all_hazards_are_drawn_once() -> None:
    """Drawn at each step, those of a recording of 12,000 steps took most of its animation."""
    lecture = of_query(Look(), **TWO_WARPS, edits="first-barrier", schedule="ascending")
    timeline = lecture.panel(LectureTimeline)
    first, last = (timeline.shapes(lecture.steps[i])[1]["path"] for i in (0, -1))
    assert first.count("Z") > 1
    assert first is last


def test_a_bar_stands_below_each_beat() -> None:
    lecture = of_query(Look(), kernel="tiled", M=8, N=8, K=8, TILE=4)
    timeline = lecture.panel(LectureTimeline)
    area = lecture.sheet.timeline
    width = (area.right - area.left) / len(lecture.steps)
    bars = seen(timeline.shapes(lecture.steps[0])[0])
    found = [int(((left + right) / 2 - area.left) / width) for left, _, right, _ in bars]
    assert found == list(beats(lecture.recording, lecture.model.positions))
    assert len(found) == 17
    assert all(top >= area.bottom for _, top, _, _ in bars)
