"""The stages of copies, banks and threads, against counts from the accesses themselves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from simulator import Step
from simulator.language.tree import Barrier
from simulator.recording.barriers import waiting_threads
from simulator.recording.recording import StepAccess
from simulator.recording.requests import requests
from tests.ui.lecture.lectures import Box, Lecture, centre, of_query, of_size, seen, spread
from tests.ui.scene_models import EACH
from ui.drawing.canvas import SPACE
from ui.drawing.hit import Hit
from ui.drawing.look import Look, Stage
from ui.lecture.banks_stage import BanksStage
from ui.lecture.copy_stage import CopyStage
from ui.lecture.letters import text_width
from ui.lecture.threads_stage import ThreadsStage

COPY, BANKS, THREADS = (Look(stage=stage) for stage in (Stage.COPY, Stage.BANKS, Stage.THREADS))


def text_of(lecture: Lecture, step: Step, kind: type[Any]) -> str:
    traces = lecture.drawn(step, kind)[0]
    texts = [text for trace in traces for text in trace["text"] if trace.get("meta") != "numbers"]
    return " ".join(re.sub("</?b>", "", text) for text in texts if text != SPACE)


def lanes(lecture: Lecture, access: StepAccess) -> list[int]:
    """The byte offsets of the lanes of the focused thread's warp that take part."""
    warp = lecture.model.thread // 32
    threads = range(warp * 32, min(warp * 32 + 32, lecture.recording.launch.threads))
    return [int(access.offsets[t]) for t in threads if access.active[t] and access.in_bounds[t]]


# Copies -------------------------------------------------------------------------------------


@EACH
@pytest.mark.sample(3)
def test_sectors_are_drawn_once_and_the_words_in_use_are_filled(number: int) -> None:
    lecture, checked = of_size(number, COPY), 0
    panel = lecture.panel(CopyStage)
    steps = [s for s in lecture.steps if any(a.space == "global" for a in s.accesses)]
    for step in spread(steps, 8):
        access = next(a for a in step.accesses if a.space == "global")
        offsets = lanes(lecture, access)
        if not offsets:
            continue
        moved = {(byte + i) for byte in offsets for i in range(access.width)}
        guides, fetched, used, own = (seen(shape) for shape in panel.shapes(step)[-4:])
        assert len(fetched) == len({byte // 32 for byte in moved})
        assert len(guides) == len({byte // 128 for byte in moved})
        assert len(used) + len(own) == len({byte // 4 for byte in moved})
        thread = lecture.model.thread
        takes_part = bool(access.active[thread] and access.in_bounds[thread])
        assert len(own) == (access.width // 4 if takes_part else 0)
        assert all(any(within(word, sector) for sector in fetched) for word in used + own)
        assert all(any(within(sector, line) for line in guides) for sector in fetched)
        request = next(r for r in requests(lecture.recording, step, thread // 32)
                       if r.access is access)  # fmt: skip
        assert len(moved) == request.useful_bytes
        sectors = request.moved_sectors
        text = text_of(lecture, step, CopyStage)
        assert f"{sectors} sector" + "s" * (sectors > 1) in text
        assert f"{len(moved)} of {32 * sectors} bytes are used" in text
        checked += 1
    assert checked >= 2


def test_a_window_begins_where_the_blocks_tile_does() -> None:
    lecture = of_query(
        Look(width=1240, height=560), kernel="tiled", M=64, N=64, K=64, TILE=16, bx=1, by=2
    )
    panel = lecture.panel(CopyStage)
    for line, starts in (
        ("As[ty][tx] =", [(32, 16 * t) for t in range(4)]),
        ("Bs[ty][tx] =", [(16 * t, 16) for t in range(4)]),
        ("C[row * N + col] =", [(32, 16)]),
    ):
        contents = [panel._contents(step)[0] for step in lecture.steps_of(line)]
        assert [content.start for content in contents if content is not None] == starts


def within(inner: Box, outer: Box) -> bool:
    return (
        outer[0] - 0.2 <= inner[0] <= inner[2] <= outer[2] + 0.2
        and outer[1] - 0.2 <= inner[1] <= inner[3] <= outer[3] + 0.2
    )


@pytest.mark.parametrize(
    ("query", "line", "sectors", "used"),
    [
        # A warp of 32 threads in x reads 32 neighbours, or one row's cell after another's.
        ({"kernel": "naive", "M": 8, "N": 32, "K": 4}, "C[row * N + col] =", 4, 128),
        ({"kernel": "uncoalesced", "M": 32, "N": 8, "K": 4}, "C[row * N + col] =", 32, 128),
        ({"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4}, "As[ty][tx] =", 4, 64),
        ({"kernel": "tiled", "M": 64, "N": 64, "K": 64, "TILE": 32}, "As[ty][tx] =", 4, 128),
        ({"kernel": "tiled_double", "M": 8, "N": 8, "K": 8, "TILE": 4}, "As[ty][tx] =", 4, 128),
    ],
)
def test_a_warps_sectors(query: dict[str, Any], line: str, sectors: int, used: int) -> None:
    lecture = of_query(COPY, **query)
    step = lecture.steps_of(line)[0]
    assert f"{used} of {32 * sectors} bytes are used" in text_of(lecture, step, CopyStage)


# Banks --------------------------------------------------------------------------------------


def marks(lecture: Lecture, step: Step) -> list[Box]:
    return [box for shape in lecture.panel(BanksStage).shapes(step)[3:5] for box in seen(shape)]


@EACH
@pytest.mark.sample(3)
def test_each_value_has_a_mark_over_its_banks_and_each_wavefront_a_row(number: int) -> None:
    lecture, checked = of_size(number, BANKS), 0
    panel = lecture.panel(BanksStage)
    steps = [s for s in lecture.steps if any(a.space == "shared" for a in s.accesses)]
    for step in spread(steps, 10):
        asked = [
            r for r in requests(lecture.recording, step, lecture.model.thread // 32)
            if r.access.space == "shared"
        ]  # fmt: skip
        if not asked:
            continue
        request = max(
            asked, key=lambda r: (r.degree, r.wavefront_count, len(set(r.words.flat) - {-1}))
        )
        worst = request.degree
        drawn = marks(lecture, step)
        area = panel._chart
        rows = sorted({round(top) for _, top, *_ in drawn})

        def turn_and_banks(mark: Box, rows: list[int] = rows) -> tuple[int, list[int]]:
            first, end = (
                round((x - panel._chart.left) / (panel._chart.width / 32))
                for x in (mark[0] - 1, mark[2] + 1)
            )
            return rows.index(round(mark[1])), list(range(first, end))

        served = {
            (turn, tuple(words))
            for turn, words in zip(
                request.wavefront_numbers.tolist(), request.words.tolist(), strict=True
            )
            if min(words) >= 0
        }
        assert len(drawn) == len(served)
        assert sorted(map(turn_and_banks, drawn)) == sorted(
            (turn, [word % 32 for word in words]) for turn, words in served
        )
        assert len(rows) == request.wavefront_count
        whole, used, _, others, own, *_ = panel.shapes(step)
        lane = set(request.words[lecture.model.thread % 32].tolist())
        assert sorted(map(turn_and_banks, seen(own))) == sorted(
            (turn, [word % 32 for word in words])
            for turn, words in served
            if not lane.isdisjoint(words)
        )
        assert own["fillcolor"] != others["fillcolor"]
        [whole_box], [used_box] = seen(whole), seen(used)
        assert within((area.left, area.top, area.right, area.bottom), whole_box)
        assert within(used_box, whole_box)
        assert all(within(mark, used_box) for mark in drawn)
        height = (used_box[3] - used_box[1]) / request.wavefront_count
        assert [int((top - used_box[1]) / height) for top in rows] == list(range(len(rows)))
        text = text_of(lecture, step, BanksStage)
        if worst > 1:
            assert f"{worst}-way bank conflict, {request.wavefront_count} wavefronts" in text
        else:
            assert "no conflict" in text
        checked += 1
    assert bool(checked) == bool(lecture.recording.shared)


@pytest.mark.parametrize(
    ("kernel", "tile", "ways", "banks"),
    [
        ("transposed", 32, 32, 1),
        ("transposed", 16, 8, 2),
        ("transposed", 8, 2, 4),
        ("padded", 32, 1, 32),
        ("swizzled", 32, 1, 32),
        ("tiled", 32, 1, 32),
    ],
)
@pytest.mark.sample(3)
def test_a_conflict_of_n_ways_is_n_rows_in_its_banks(
    kernel: str, tile: int, ways: int, banks: int
) -> None:
    lecture = of_query(BANKS, kernel=kernel, M=32, N=32, K=32, TILE=tile)
    panel = lecture.panel(BanksStage)
    for step in spread(lecture.steps_of("acc +="), 4):
        access = next(a for a in step.accesses if a.name == "Bs")
        words = {byte // 4 for byte in lanes(lecture, access)}
        per_bank = np.bincount([word % 32 for word in words], minlength=32)
        assert (per_bank.max(), np.count_nonzero(per_bank)) == (ways, banks)
        drawn = marks(lecture, step)
        tops, lefts = ({round(box[i]) for box in drawn} for i in (1, 0))
        assert len(tops) == ways
        assert len(drawn) == len(words)
        assert len(lefts) == banks
        text = text_of(lecture, step, BanksStage)
        assert "reads Bs: " + (f"{ways}-way bank" if ways > 1 else "no") + " conflict" in text
        bottom = max(box[3] for box in drawn)
        assert bottom <= panel._chart.bottom + 0.2


def test_a_conflict_of_32_ways_is_32_rows_in_one_column() -> None:
    lecture = of_query(kernel="transposed", M=32, N=32, K=32, TILE=32)
    for step in lecture.steps_of("acc +="):
        drawn = marks(lecture, step)
        assert len({left for left, *_ in drawn}) == 1
        assert len({top for _, top, *_ in drawn}) == len(drawn) == 32
        text = text_of(lecture, step, BanksStage)
        assert "Warp 0 reads Bs: 32-way bank conflict, 32 wavefronts." in text


@pytest.mark.parametrize(
    ("kernel", "tile"),
    [("transposed", 32), ("padded", 32), ("swizzled", 32), ("padded", 8), ("tiled_double", 8),
     ("transposed", 16)],
)  # fmt: skip
@pytest.mark.sample(3)
def test_each_word_that_is_asked_for_has_its_banks_colour_and_drops_into_it(
    kernel: str, tile: int
) -> None:
    lecture = of_query(BANKS, kernel=kernel, M=32, N=32, K=32, TILE=tile)
    panel = lecture.panel(BanksStage)
    width = panel._chart.width / 32
    for step in spread(lecture.steps_of("acc +="), 4):
        asked = [r for r in requests(lecture.recording, step, 0) if r.access.space == "shared"]
        request = max(
            asked, key=lambda r: (r.degree, r.wavefront_count, len(set(r.words.flat) - {-1}))
        )
        banks = sorted(word % 32 for word in set(request.words.flat) - {-1})
        by_bank, (drops, others, own) = panel.shapes(step)[5:37], panel.shapes(step)[37:]
        view = panel._view(request).grid.cells
        cells = [
            (x, y) for shape in (others, own) for left, top, right, bottom in seen(shape)
            for x, y in view.centres() if left < x < right and top < y < bottom
        ]  # fmt: skip
        coloured = [
            bank
            for x, y in cells
            for bank, shape in enumerate(by_bank)
            for left, top, right, bottom in seen(shape)
            if left < x < right and top < y < bottom
        ]
        assert sorted(coloured) == banks
        ends = re.findall(r"([\d.]+),[\d.]+(?=M|$)", drops["path"])
        assert sorted(int((float(x) - panel._chart.left) / width) for x in ends) == banks
        assert len({shape["fillcolor"] for shape in by_bank}) == 32


def test_no_line_of_a_bank_goes_through_words() -> None:
    lecture = of_query(BANKS, kernel="transposed", M=32, N=32, K=32, TILE=32)
    panel = lecture.panel(BanksStage)
    step = lecture.steps_of("acc +=")[0]
    idle = panel.changing(step)[-1]
    [(x, y, text)] = zip(idle["x"], idle["y"], idle["text"], strict=True)
    assert text == "31 banks idle"
    size = idle["textfont"]["size"]
    half = text_width(text, size) / 2
    lines = seen(panel.shapes(step)[2])
    beside = [line for line in lines if abs(line[0] - x) < half]
    assert beside, "the lines go on above and below"
    assert not [line for line in beside if line[1] < y + size / 2 and line[3] > y - size / 2]


@pytest.mark.parametrize("tile", [8, 16, 32])
@pytest.mark.parametrize("kernel", ["transposed", "padded", "tiled_double"])
@pytest.mark.sample(3)
def test_banks_are_idle_that_no_word_of_the_request_is_in(kernel: str, tile: int) -> None:
    lecture = of_query(BANKS, kernel=kernel, M=tile, N=tile, K=tile, TILE=tile)
    panel = lecture.panel(BanksStage)
    count = 0
    for step in lecture.steps_of("acc +="):
        (text,) = panel.changing(step)[-1]["text"]
        if text.strip():
            count += 1
            used = {round(box[0]) for box in marks(lecture, step)}
            assert text == f"{32 - len(used)} banks idle"
    assert count or (kernel, tile) != ("transposed", 32)


def test_a_step_that_does_not_access_shared_memory_says_so() -> None:
    lecture = of_query(BANKS, kernel="naive", M=4, N=4, K=4)
    for step in lecture.steps:
        text = text_of(lecture, step, BanksStage)
        assert text == "This step does not access shared memory."
        assert marks(lecture, step) == []


# Threads ------------------------------------------------------------------------------------


def lanes_of(panel: ThreadsStage, step: Step, which: int) -> set[int]:
    """The threads whose cells a shape of the stage fills, from 0 for that of all lanes."""
    found, width = [], panel.rows.cells.width
    for left, top, right, bottom in seen(
        panel.shapes(step)[1 + which]
    ):  # small neighbours are joined
        for i in range(round((right - left) / width) or 1):
            found.append(panel.hit(step, left + (i + 0.5) * width, (top + bottom) / 2))
    assert all(hit is not None and hit.name == "thread" for hit in found)
    assert len(set(found)) == len(found)
    return {hit.index for hit in found if hit is not None}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "warps"),
    [
        ({"kernel": "tiled", "M": 16, "N": 16, "K": 16, "TILE": 8}, 2),
        pytest.param(
            {"kernel": "tiled", "M": 16, "N": 16, "K": 16, "TILE": 16}, 8, marks=pytest.mark.deep
        ),
        ({"kernel": "tiled", "M": 5, "N": 7, "K": 3, "TILE": 4, "bx": 1, "by": 1}, 1),
        ({"kernel": "transposed", "M": 16, "N": 16, "K": 8, "TILE": 8}, 2),
        ({"kernel": "naive", "M": 8, "N": 32, "K": 2}, 8),
    ],
)
@pytest.mark.parametrize("schedule", ["ascending", "descending", "lockstep"])
def test_who_waits_and_who_runs(query: dict[str, Any], warps: int, schedule: str) -> None:
    lecture = of_query(THREADS, **query, schedule=schedule)
    panel, total = lecture.panel(ThreadsStage), lecture.recording.launch.threads
    assert -(-total // 32) == warps
    come: set[int] = set()  # to the barrier, of the interval
    interval, partly, barriers = 0, 0, 0
    for step in lecture.steps:
        running = set(np.flatnonzero(step.active).tolist())
        is_barrier = isinstance(step.statement, Barrier)
        if step.interval != interval and not is_barrier:
            come, interval = set(), step.interval
        if is_barrier:
            come |= running
            barriers += 1
        waits = set(np.flatnonzero(waiting_threads(lecture.recording)[step.number]).tolist())
        assert waits == come, step.number
        assert lanes_of(panel, step, 0) == set(range(total))
        is_open = is_barrier and len(waits) == total
        assert lanes_of(panel, step, 3) == (set() if is_open else waits)
        hollow = lanes_of(panel, step, 2)  # those for which a condition does not hold
        assert lanes_of(panel, step, 1) == (
            set(range(total)) if is_open else running - waits - hollow
        )
        assert hollow <= running
        assert panel.hit(step, *centre(seen(panel.shapes(step)[5])[0])) == Hit(
            "thread", lecture.model.thread
        )
        assert bool(seen(panel.shapes(step)[6])) == (bool(waits) and not is_open)
        assert panel.shapes(step)[8]["path"].count("M") == (2 if is_open else 1)  # its leaves
        text = text_of(lecture, step, ThreadsStage)
        states = panel.changing(step)[-1]["text"]
        assert [state == "waits" for state in states] == [
            not is_open and set(range(32 * warp, min(32 * warp + 32, total))) <= waits
            for warp in range(warps)
        ]
        assert [state == "goes on" for state in states] == [is_open] * warps
        later = {
            thread // 32
            for one in lecture.steps[step.number + 1 :]
            for thread in np.flatnonzero(one.active).tolist()
        }
        for warp, state in enumerate(states):
            assert state != "ready" or warp in later
            assert state != "done" or warp not in later
        assert set(states) <= {"waits", "runs", "ready", "done", "goes on"}
        if is_open:
            assert f"The last of the {total} threads has reached the barrier: all go on." in text
        elif is_barrier:
            assert f"{len(waits)} of {total} threads wait at the barrier" in text
            partly += 1
        elif waits:
            assert f"{len(running)} threads run, {len(waits)} wait at the barrier." in text
    assert bool(partly) == (schedule != "lockstep" and warps > 1 and barriers > 0)


@pytest.mark.parametrize("schedule", ["ascending", "descending"])
def test_the_first_of_two_warps_waits_while_the_other_copies(schedule: str) -> None:
    lecture = of_query(THREADS, kernel="tiled", M=16, N=16, K=16, TILE=8, schedule=schedule)
    panel = lecture.panel(ThreadsStage)
    first, second = (0, 1) if schedule == "ascending" else (1, 0)
    copy = [s for s in lecture.steps_of("As[ty][tx] =") if s.active[32 * second]][0]  # noqa: RUF015
    assert lanes_of(panel, copy, 3) == set(range(32 * first, 32 * first + 32))
    assert lanes_of(panel, copy, 1) == set(range(32 * second, 32 * second + 32))
    text = text_of(lecture, copy, ThreadsStage)
    assert "32 threads run, 32 wait at the barrier." in text


@pytest.mark.parametrize(("width", "height", "presenting"), [(320, 500, False), (700, 900, True)])
def test_a_narrow_room_has_words_for_an_empty_stage_too(
    width: int, height: int, presenting: bool
) -> None:
    look = Look(stage=Stage.BANKS, width=width, height=height, presenting=presenting)
    lecture = of_query(look, kernel="naive", M=4, N=4, K=4)
    assert text_of(lecture, lecture.steps[0], BanksStage)
