"""Progress with the exercises: what happened is kept, saved, read; hostile files are reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.exercises.exercise import exercises
from simulator.frontend.directives import MAX_TEXT_BYTES
from ui.lessons.progress import FORMAT, MAX_FILE_BYTES, Attempt, Progress, from_marks, read, write

NAME = "transpose"


def test_events_add_up() -> None:
    progress = Progress()
    assert progress.attempt(NAME) == Attempt(text=None, solved=False, hints=0)
    for _ in range(20):
        progress = progress.with_hint(NAME)
    progress = progress.with_solved(NAME).with_text(NAME, "// one").with_text(NAME, "// two")
    assert progress.attempt(NAME) == Attempt("// two", True, len(exercises()[NAME].hints))
    assert progress.with_solved("swizzle").solved == 2
    assert progress.solved == 1, "a progress does not change"


def test_the_largest_progress_survives_its_file() -> None:
    progress = Progress()
    for name in exercises():
        progress = progress.with_text(name, "\x01" * MAX_TEXT_BYTES).with_solved(name)
    data = write(progress)
    assert len(data) <= MAX_FILE_BYTES
    assert read(data) == progress


def test_letters_of_all_kinds_survive() -> None:
    progress = Progress().with_text(NAME, 'é "\\ \u2028 漢\r\n\t\U0001f600')
    assert read(write(progress)) == progress


def test_a_file_that_an_editor_of_windows_saved_is_read() -> None:
    progress = Progress().with_solved(NAME)
    assert read(b"\xef\xbb\xbf" + write(progress).replace(b"\n", b"\r\n")) == progress


def test_questions_of_the_lessons_are_in_the_same_file() -> None:
    progress = Progress().with_solved(NAME).with_question("memory_factor")
    assert read(write(progress)) == from_marks(progress.marks()) == progress
    other = Progress().with_question("banks_degree")
    assert progress.with_visit(other).questions == {"memory_factor", "banks_degree"}
    data = {"format": FORMAT, "exercises": {}, "questions": ["memory_factor", "no_such"]}
    assert read(json.dumps(data).encode()).questions == {"memory_factor"}
    assert from_marks({"questions": ["memory_factor", 7, [], "x"]}).questions == {"memory_factor"}


def file(**attempt: Any) -> bytes:
    return json.dumps({"format": FORMAT, "exercises": {NAME: attempt}}).encode()


def test_what_is_not_known_is_left_out() -> None:
    data = {"format": FORMAT, "exercises": {"sort": {"solved": True}, NAME: {"more": 1}}, "x": 1}
    assert read(json.dumps(data).encode()) == Progress({NAME: Attempt()})


@pytest.mark.parametrize(("given", "opened"), [(-3, 0), (2, 2), (10**30, 4)])
def test_hints_are_as_many_as_there_are(given: int, opened: int) -> None:
    assert read(file(hints=given)).attempt(NAME).hints == opened


HOSTILE = {
    "nothing": (b"", "not JSON"),
    "no text": (b"\xff\xfe\x00", "not JSON"),
    "nested": (b"[" * 1_000_000, "not JSON"),
    "a list": (b"[]", "The progress file is wrong: expected object"),
    "no exercises": (b'{"format": 1}', "lacks exercises"),
    "another format": (b'{"format": 2, "exercises": {}}', "has format 2; this version reads 1"),
    "a number as text": (file(text=7), r"exercises.*text is wrong: expected str"),
    "a word as solved": (file(solved="yes"), r"solved is wrong: expected bool"),
    "a fraction of hints": (file(hints=1.5), r"hints is wrong: expected int"),
    "half of a letter": (
        file(text="\ud800"),
        f"The code for {NAME} contains an incomplete character",
    ),
    "a number as question": (
        b'{"format": 1, "exercises": {}, "questions": [7]}',
        "questions.* is wrong: expected str",
    ),
    "too long a text": (file(text="a" * (MAX_TEXT_BYTES + 1)), "65,537 bytes; .*65,536"),
    "too long a file": (b" " * (MAX_FILE_BYTES + 1), "8,388,609 bytes; .*8,388,608"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_a_sentence(case: str) -> None:
    data, sentence = HOSTILE[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        read(data)
    assert len(str(caught.value)) < 200


def test_a_saved_progress_loses_nothing_of_the_visit() -> None:
    saved = Progress().with_text(NAME, "// saved").with_hint(NAME).with_solved("barriers")
    saved = saved.with_text("swizzle", "// saved")
    visit = Progress().with_text(NAME, "// new").with_solved(NAME).with_hint("barriers")
    both = saved.with_visit(visit)
    assert both.attempt(NAME) == Attempt("// new", True, 1)
    assert both.attempt("barriers") == Attempt(None, True, 1)
    assert both.attempt("swizzle") == Attempt("// saved")
