"""The lines at which something is said: of a lesson's stops, scenes and questions, and of words.

A view names its step by a number. Which statement that is changes with the kernel's text, or with
how it is stepped through. shown_lines.json has the line that each step was on when its sentence was
written. Where it is another now, look at the scene and name another step; where that is meant,
`python -m tests.ui.test_shown_lines` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import Recording
from ui.analysis.pairs import align
from ui.glossary.entry import SmallScene, glossary
from ui.lessons.lesson import Claim, Lesson, QuestionPart, ScenePart, Stops
from ui.lessons.parse import lessons
from ui.run.compute import load_recording, load_sides, recording_key
from ui.view.view_url import View

FILE = Path(__file__).with_name("shown_lines.json")
WORDS = "words"  # the glossary's, beside the lessons by their names


def said_at(lesson: Lesson) -> Iterator[tuple[str, View]]:
    """Each sentence of a lesson that a step is shown with, and its view."""
    for part in lesson.parts:
        match part:
            case Stops():
                yield from ((stop.text, stop.view) for stop in part.stops)
            case ScenePart():
                yield part.text, part.view
            case QuestionPart():
                for number, question in enumerate(part.variants, 1):
                    if question.view is not None:
                        yield f"{part.name} {number}", question.view
            case Claim() if part.view is not None:
                yield part.says, part.view
            case _:
                pass


def shown(name: str) -> dict[str, str]:
    """The line that each sentence of a lesson, or each word, is shown with."""
    views = said_at(lessons()[name]) if name != WORDS else (
        (word.term, word.shown_picture.view) for word in glossary().values()
        if isinstance(word.shown_picture, SmallScene)
    )  # fmt: skip
    return {text: line_of(view) for text, view in views}


def line_of(view: View) -> str:
    """The line of a view's step; with a comparison those of both scenes."""
    recordings = [load_recording(recording_key(side)) for side in load_sides(view)]
    if len(recordings) == 1:
        return line_in(recordings[0], view.step)
    steps = align(*recordings)[view.step].sides
    both = (line_in(each, step.number) for each, step in zip(recordings, steps, strict=True))
    return " | ".join(both)


def line_in(recording: Recording, step: int) -> str:
    line = recording.steps[step].line
    return recording.kernel.text.split("\n")[line - 1].strip()


@pytest.mark.parametrize("name", [*lessons(), WORDS])
def test_a_sentence_is_shown_with_its_line(name: str) -> None:
    assert shown(name) == json.loads(FILE.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    lines = {name: shown(name) for name in [*lessons(), WORDS]}
    FILE.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
