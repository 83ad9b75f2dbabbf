"""What a visitor has answered in the lessons, and which numbers their questions have."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from ui.lessons.judge import Answer
from ui.lessons.lesson import Question, QuestionPart
from ui.lessons.progress import Book

VISIT = "learn_visit"  # the key of a visitor's visit in the session state


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that was given, for good, by the second try: the next is to other numbers."""

    answer: Answer
    is_right: bool


@dataclass(slots=True)
class Visit:
    """One visitor's lessons, kept in the session state."""

    lesson: str = ""  # the name of the one that is open
    seed: int = field(default_factory=lambda: random.randrange(2**32))  # noqa: S311  # no secret
    is_seeded: bool = False  # whether an address chose it
    is_teacher: bool = False  # whether answers and notes are shown
    drawings: dict[str, int] = field(default_factory=dict)  # how often a question was drawn anew
    given: dict[str, Given] = field(default_factory=dict)  # by the question's name
    tried: dict[str, Answer] = field(default_factory=dict)  # a first answer that was wrong
    book: Book = field(default_factory=Book)  # with the questions that were answered right once

    def variant(self, part: QuestionPart) -> Question:
        """The question with the numbers of this visit."""
        count = len(part.variants)
        first = random.Random(f"{self.seed} {part.name}").randrange(count)  # noqa: S311
        return part.variants[(first + self.drawings.get(part.name, 0)) % count]

    def answer(self, part: QuestionPart, answer: Answer, is_right: bool) -> None:
        """Keep an answer; a first wrong one leaves a second try."""
        if not is_right and part.name not in self.tried:
            self.tried[part.name] = answer
            return
        self.given[part.name] = Given(answer, is_right)
        if is_right:
            self.book.progress = self.book.progress.with_question(part.name)

    def draw_anew(self, part: QuestionPart) -> None:
        """Ask a question again, with other numbers where it has some."""
        self.drawings[part.name] = self.drawings.get(part.name, 0) + 1
        self.given.pop(part.name, None)
        self.tried.pop(part.name, None)

    def count(self, parts: tuple[QuestionPart, ...]) -> Mapping[str, int]:
        """How many of some questions were answered right, and how many there are."""
        solved = self.book.progress.questions
        return {"solved": sum(part.name in solved for part in parts), "of": len(parts)}
