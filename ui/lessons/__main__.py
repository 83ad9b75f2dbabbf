"""Checks lessons and prints what their questions' answers are: `python -m ui.lessons [FILE …]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from simulator import LaunchError, SourceError
from ui.lessons.judge import QuestionError, check_texts, right_answer, words
from ui.lessons.lesson import Lesson, QuestionPart, Stops
from ui.lessons.parse import FOLDER, LessonError, parse_lesson
from ui.lessons.picture import draw_stop
from ui.lessons.quantities import find
from ui.room import USUAL


def main(arguments: Sequence[str]) -> int:
    """Check the lessons of some files, or all; 0, or 2 where one is wrong."""
    files = [Path(name) for name in arguments] or sorted(FOLDER.glob("*.md"))
    problems = 0
    for file in files:
        try:
            lesson = parse_lesson(file.read_text(encoding="utf-8"), file.name)
        except (LessonError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            problems += 1
            continue
        print(f"{file.name}: {lesson.title}")
        problems += check(lesson)
    return 2 if problems else 0


def check(lesson: Lesson) -> int:
    """Run what a lesson shows and asks, and print it; return how many things are wrong."""
    problems = 0
    for part in lesson.parts:
        try:
            if isinstance(part, Stops):
                for stop in part.stops:
                    draw_stop(stop.view, USUAL, stop.mark)
                print(f"  {len(part.stops)} stops, from {part.stops[0].text!r}")
            elif isinstance(part, QuestionPart):
                _print_question(part)
        except (QuestionError, LaunchError, SourceError, ValueError) as error:
            print(f"error: {lesson.name}: {error}", file=sys.stderr)
            problems += 1
    return problems


def _print_question(part: QuestionPart) -> None:
    for question in part.variants:
        numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
        texts = check_texts(question, numbers)
        answer = words(question, numbers, right_answer(question, numbers))
        print(f"  {part.name}: {answer}   {numbers}\n    " + "\n    ".join(texts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
