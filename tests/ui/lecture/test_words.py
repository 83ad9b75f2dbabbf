"""The sentence and the line's values: some wording of the narration, in every room."""

from __future__ import annotations

import html
from itertools import zip_longest

import pytest

from simulator import Step, catalogue, narrate
from tests.ui.lecture.lectures import Lecture, centre, of_code, of_query, of_size, seen, spread
from tests.ui.scene_models import EACH
from ui.drawing.canvas import SPACE
from ui.drawing.hit import Hit
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.lecture.lecture_sheet import place_words
from ui.lecture.letters import wrap
from ui.lecture.sentences.sentence import SentencePanel
from ui.lecture.source_window import Row, SourceWindow
from ui.view.what_if import applicable_edits

TILED = catalogue()["tiled"].source(TILE=4)
ROOMS = [(320, 500, False), (390, 844, False), (1240, 560, False), (1280, 720, True)]


def lines(lecture: Lecture, step: Step, which: int) -> list[str]:
    texts = lecture.panel(SentencePanel).changing(step)[which]["text"]
    return [html.unescape(text).replace(SPACE, " ") for text in texts if text != SPACE]


def spoken_wordings(lecture: Lecture, step: Step) -> tuple[str, ...]:
    """The narration's wordings; with a warning where no barrier orders the thread's access."""
    thread = lecture.model.thread
    wordings = narrate.spoken(lecture.recording, step, thread)
    for access in step.accesses:
        if access.space != "shared" or not (access.active[thread] and access.in_bounds[thread]):
            continue
        first = int(access.offsets[thread]) // access.element_bytes
        own = set(range(first, first + access.components))
        if own & {int(cell) for cell in lecture.model.unordered[step.number].get(access.name, ())}:
            warning = f"⚠ no barrier orders the accesses to {access.name}."
            return (*(f"{wording[:-1]}; {warning}" for wording in wordings), warning)
    return wordings


@pytest.mark.sample(8)
@EACH
@pytest.mark.parametrize(("width", "height", "presenting"), ROOMS)
def test_the_sentence_is_a_wording_of_the_narration_with_its_thread(
    number: int, width: int, height: int, presenting: bool
) -> None:
    lecture = of_size(number, Look(width=width, height=height, presenting=presenting))
    recording, thread = lecture.recording, lecture.model.thread
    x, y, _ = recording.launch.block
    assert x * y == recording.launch.threads
    bx, by, _ = recording.block
    who = f"<b>Thread ({thread % x}, {thread // x}) of block ({bx}, {by})</b>"
    for step in spread(lecture.steps, 12):
        subject, *said = lines(lecture, step, 0)
        assert subject == who
        assert " ".join(said) in spoken_wordings(lecture, step)
        warp = " ".join(lines(lecture, step, 1))
        wordings = narrate.warp(recording, step, thread // 32)
        assert warp in wordings
        panel, small = lecture.panel(SentencePanel), lecture.sheet.letters.small
        for longer in wordings[: wordings.index(warp)]:
            assert wrap(longer, small, panel._box.width, panel._warp_lines) is None


UNORDERED = """__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = A[i];
    C[i] = s[63 - i];
}"""


FILES = """#include "a.h"
__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float s[64];
    C[threadIdx.x] = half_of(s, A[threadIdx.x]);
}
// ==== file: a.h ====
__device__ float half_of(float* s, float a) {
    s[threadIdx.x] = a;
    if (threadIdx.x < 40) {
        __syncthreads();
        a *= 2;
    }
    return a + 1;
}"""


def test_lines_of_several_files_have_their_file() -> None:
    lecture = of_code(FILES, 64, 3)
    [barrier] = lecture.steps_of("__syncthreads")
    said = "go on at line 13 (line 7 of a.h)."
    assert " ".join(lines(lecture, barrier, 0)).endswith(said)
    stage = [text for trace in lecture.drawn_stage(barrier)[0] for text in trace.get("text", ())]
    assert said in html.unescape(" ".join(stage))
    assert place_words(lecture.model, barrier)[-1] == "line 10 (line 4 of a.h)"


@pytest.mark.parametrize("thread", [0, 33])
def test_the_sentence_warns_of_an_access_that_no_barrier_orders(thread: int) -> None:
    lecture = of_code(UNORDERED, 64, thread)
    [read] = lecture.steps_of("C[i] = s[63 - i]")
    _, *spoken = lines(lecture, read, 0)
    assert " ".join(spoken).endswith("⚠ no barrier orders the accesses to s.")
    assert " ".join(spoken) in spoken_wordings(lecture, read)
    _, *spoken = lines(lecture, lecture.steps_of("int i")[0], 0)
    assert "⚠" not in " ".join(spoken)


@EACH
def test_the_values_under_the_line_are_a_wording_of_the_narration(number: int) -> None:
    lecture, found = of_size(number), 0
    for step in spread(lecture.steps, 20):
        texts = lecture.panel(SourceWindow).changing(step)[-1]["text"]
        rows = [html.unescape(text[3:-4]).strip() for text in texts if text != SPACE]
        wordings = narrate.values(lecture.recording, step, lecture.model.thread)
        assert bool(rows) == bool(wordings)
        assert " ".join(rows) in (wordings or ("",))
        found += bool(rows)
    assert found >= 3


def test_a_what_if_shows_what_a_line_was_above_what_it_is() -> None:
    lecture = of_query(edits="first-barrier.pad", TILE=4)
    window = lecture.panel(SourceWindow)
    [step, *_] = lecture.steps_of("acc += As")
    rows = [row for row in window._rows if row.sign]
    texts = ["".join(max(letters) for letters in zip_longest(*row.layers, fillvalue=" "))
             for row in rows]  # fmt: skip
    assert [(row.sign, text[1:].strip()) for row, text in zip(rows, texts, strict=True)] == [
        ("-", "__shared__ float Bs[TILE][TILE];"),
        ("+", "__shared__ float Bs[TILE][TILE + 1];"),
        ("-", "__syncthreads();"),
        ("+", "// __syncthreads(); removed"),
    ]
    removed, added = window.shapes(step)[:2]
    assert removed["fillcolor"] == PALETTES["light"].removed
    assert len(seen(removed)) == len(seen(added)) == 1  # the barrier's; Bs is above the window
    [old], [new] = seen(removed), seen(added)
    assert old[3] == new[1]  # one right above the other
    line = rows[-1].line
    assert window.hit(step, *centre(old)) == window.hit(step, *centre(new)) == Hit("line", line)


def test_the_current_line_is_the_new_one() -> None:
    lecture = of_query(edits="zero-fill", TILE=4)
    window = lecture.panel(SourceWindow)
    for step in lecture.steps_of("if (row < M && a_col < K) As"):
        _, added, current = window.shapes(step)[:3]
        [box] = seen(current)
        assert any(box[1] == other[1] for other in seen(added))


@pytest.mark.parametrize(("width", "height", "presenting"), ROOMS[1:])
@pytest.mark.parametrize("edit", [one.key for one in applicable_edits(TILED)])
@pytest.mark.sample(4)
def test_what_a_what_if_changed_is_shown_at_every_step(
    edit: str, width: int, height: int, presenting: bool
) -> None:
    look = Look(width=width, height=height, presenting=presenting)
    lecture = of_query(edits=edit, TILE=4, look=look)
    window = lecture.panel(SourceWindow)
    changed = [row for row in window._rows if row.sign]
    for step in lecture.steps:
        assert len(seen(window.shapes(step)[2])) == 1, "the current line"
        shown = [
            (row.line, row.sign, row.layers) for row in window._shown(step) if isinstance(row, Row)
        ]
        assert any(
            all((row.line, row.sign, row.layers) in shown for row in changed if row.line == line)
            for line in {row.line for row in changed}
        ), (edit, step.number)


def test_a_click_between_pinned_changes_and_the_source_is_on_no_line() -> None:
    lecture = of_query(edits="pad", TILE=4)
    window = lecture.panel(SourceWindow)
    [step, *_] = lecture.steps_of("acc += As")
    [removed], [added] = (seen(shape) for shape in window.shapes(step)[:2])
    x, y = centre(added)
    declared = next(row.line for row in window._rows if row.sign == "+")
    assert window.hit(step, x, y) == Hit("line", declared)
    assert window.hit(step, x, y + added[3] - added[1]) is None
    assert removed[1] == pytest.approx(window._box.top, abs=0.1)
