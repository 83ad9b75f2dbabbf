"""A visitor's progress with exercises and lessons, and the file that it is saved in.

A page keeps one Progress and replaces it at each event:

>>> progress = Progress().with_hint("one_element").with_text("one_element", "// mine")
>>> progress = progress.with_solved("one_element").with_question("memory_factor")
>>> progress.attempt("one_element")
Attempt(text='// mine', solved=True, hints=1)
>>> read(write(progress)) == progress
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpu.json_data import decode
from simulator.exercises.exercise import exercises
from simulator.frontend.directives import MAX_TEXT_BYTES
from ui.lessons.parse import lessons

FILE_NAME = "tilewise-progress.json"  # offered as a download
FORMAT = 1
QUESTIONS = "questions"  # their key, which no exercise has as its name
MAX_FILE_BYTES = 8 * 2**20  # more than a file with the largest text for each exercise has


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a visitor has done with one exercise."""

    text: str | None = None  # as last written; None for the exercise's start
    solved: bool = False  # by this text or one before it
    hints: int = 0  # how many were opened


@dataclass(frozen=True, slots=True)
class Progress:
    """What a visitor has done with all exercises and lessons."""

    attempts: Mapping[str, Attempt] = field(default_factory=dict)  # by the exercise's name
    questions: frozenset[str] = frozenset()  # of the lessons, that were answered right once

    def attempt(self, name: str) -> Attempt:
        """What was done with an exercise."""
        return self.attempts.get(name, Attempt())

    @property
    def solved(self) -> int:
        """How many exercises are solved."""
        return sum(attempt.solved for attempt in self.attempts.values())

    def marks(self) -> dict[str, object]:
        """What is solved, and how many hints are open, as plain data; no texts."""
        marks: dict[str, object] = {
            name: [int(attempt.solved), attempt.hints]
            for name, attempt in self.attempts.items()
            if attempt.solved or attempt.hints
        }
        return {**marks, QUESTIONS: sorted(self.questions)} if self.questions else marks

    def with_text(self, name: str, text: str) -> Progress:
        """After an exercise's text was changed. ValueError, a sentence, for one too long."""
        _check_text(name, text)
        return self._with(name, replace(self.attempt(name), text=text))

    def with_solved(self, name: str) -> Progress:
        """After an exercise was solved."""
        return self._with(name, replace(self.attempt(name), solved=True))

    def with_hint(self, name: str) -> Progress:
        """After the next hint of an exercise was opened; the same if all were."""
        attempt = self.attempt(name)
        hints = min(attempt.hints + 1, len(exercises()[name].hints))
        return self._with(name, replace(attempt, hints=hints))

    def with_question(self, name: str) -> Progress:
        """After a question of a lesson was answered right."""
        return replace(self, questions=self.questions | {name})

    def with_visit(self, visit: Progress) -> Progress:
        """After a visit: its texts instead of these, what was solved or opened in either."""
        attempts = dict(self.attempts)
        for name, attempt in visit.attempts.items():
            before = self.attempt(name)
            attempts[name] = Attempt(
                before.text if attempt.text is None else attempt.text,
                before.solved or attempt.solved,
                max(before.hints, attempt.hints),
            )
        return Progress(attempts, self.questions | visit.questions)

    def _with(self, name: str, attempt: Attempt) -> Progress:
        return replace(self, attempts={**self.attempts, name: attempt})


@dataclass(slots=True)
class Book:
    """Where one visit's progress is, for all pages."""

    progress: Progress = field(default_factory=Progress)
    opened_file: str = ""  # the identifier of the upload that was opened last
    is_restored: bool = False  # whether it has what the browser's tab kept of an earlier session


@dataclass(frozen=True, slots=True)
class _File:
    """The file as JSON."""

    format: int
    exercises: dict[str, Attempt]
    questions: list[str] = field(default_factory=list)


def write(progress: Progress) -> bytes:
    """The file of a progress: JSON in UTF-8."""
    attempts = {
        name: {"text": attempt.text, "solved": attempt.solved, "hints": attempt.hints}
        for name, attempt in progress.attempts.items()
    }
    whole = {"format": FORMAT, "exercises": attempts, "questions": sorted(progress.questions)}
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def read(data: bytes) -> Progress:
    """The progress of a file, which anybody may have written.

    Exercises and questions that are not known here are left out. Raises ValueError, a sentence,
    where it is no such file, or larger than one can be.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(
            f"The file has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are allowed."
        )
    try:
        found: Any = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ValueError("The file is not JSON, so it is not a progress file.") from None
    file = decode(_File, found, "The progress file")
    if file.format != FORMAT:
        raise ValueError(
            f"The progress file has format {file.format}; this version reads {FORMAT}."
        )
    attempts = {
        name: _checked(name, file.exercises[name]) for name in exercises() if name in file.exercises
    }
    return Progress(attempts, _known(file.questions))


def _known(names: Iterable[object]) -> frozenset[str]:
    """Those of some names that a question has."""
    known = {part.name for lesson in lessons().values() for part in lesson.questions}
    return frozenset(name for name in names if isinstance(name, str) and name in known)


def from_marks(marks: object) -> Progress:
    """The progress that Progress.marks() tells, from a browser; what is none is left out.

    >>> from_marks({"one_element": [1, 2], "no_such": [1, 0], "coalesce": "x"}).marks()
    {'one_element': [1, 2]}
    """
    found, questions = {}, frozenset[str]()
    for name, mark in marks.items() if isinstance(marks, dict) else ():
        match mark:
            case [int(solved), int(hints)] if name in exercises():
                found[name] = _checked(name, Attempt(None, bool(solved), hints))
            case list() if name == QUESTIONS:
                questions = _known(mark)
    return Progress(found, questions)


def _checked(name: str, attempt: Attempt) -> Attempt:
    if attempt.text is not None:
        _check_text(name, attempt.text)
    most = len(exercises()[name].hints)
    return replace(attempt, hints=max(0, min(attempt.hints, most)))


def _check_text(name: str, text: str) -> None:
    """Raise ValueError where no kernel has such a text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(
            f"The code for {name} contains an incomplete character; write it again."
        ) from None
    if size > MAX_TEXT_BYTES:
        raise ValueError(
            f"The code for {name} has {size:,} bytes; a kernel's may be at most {MAX_TEXT_BYTES:,}."
        )
