"""Checks lessons, and prints what their questions' answers are: `python -m ui.lessons [FILE …]`.

With `--export FOLDER` it writes each lesson as an HTML file that needs no network, the teacher's
notes in it with `--notes`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from simulator import LaunchError, SourceError
from simulator.broken_file import BrokenFileError
from ui.drawing.viewport import USUAL
from ui.lessons.cell_picture import draw_cells
from ui.lessons.export import write_lesson
from ui.lessons.judge import QuestionError, cells, check_texts, fill, right_answer, value, words
from ui.lessons.lesson import Claim, Lesson, QuestionPart, ScenePart, Stops
from ui.lessons.parse import FOLDER, lessons, parse_lesson
from ui.lessons.picture import draw_stop
from ui.lessons.played_scene import count_steps
from ui.lessons.quantities import find


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or write lessons; 0, or 2 where one is wrong or cannot be written."""
    parser = argparse.ArgumentParser(
        prog="python -m ui.lessons",
        description="Check lessons and print the answers, or write them as HTML files.",
    )
    parser.add_argument(
        "files", nargs="*", type=Path, help="lessons to check; all if none is named"
    )
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write all lessons into it")
    parser.add_argument("--notes", action="store_true", help="with the notes for the teacher")
    options = parser.parse_args(arguments)
    if options.export is not None:
        if options.files:
            parser.error("--export writes all lessons: give no files with it.")
        return export(options.export, options.notes)
    problems = 0
    for file in options.files or sorted(FOLDER.glob("*.md")):
        try:
            lesson = parse_lesson(file.read_text(encoding="utf-8"), file.name)
        except (BrokenFileError, OSError, UnicodeDecodeError) as error:
            print(f"error: {_reason(file, error)}", file=sys.stderr)
            problems += 1
            continue
        print(f"{file.name}: {lesson.title}")
        problems += check(lesson)
    return 2 if problems else 0


def _reason(file: Path, error: BrokenFileError | OSError | UnicodeDecodeError) -> str:
    """Why a file is no lesson, as a sentence."""
    match error:
        case OSError():
            return f"{file} cannot be read: {error.strerror}."
        case UnicodeDecodeError():
            return f"{file} is not UTF-8 text: save it as UTF-8."
    return str(error)


def export(folder: Path, with_notes: bool) -> int:
    """Write all lessons into a folder; 0, or 2 where that is not possible."""
    try:
        for lesson in lessons().checked().values():
            for broken in lesson.broken:
                raise BrokenFileError(broken)
        folder.mkdir(parents=True, exist_ok=True)
        for place, name in enumerate(lessons(), 1):
            file = folder / f"{place:02}-{name}.html"
            file.write_bytes("".join(write_lesson(name, with_notes)).encode())
            print(file)
    except BrokenFileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {folder} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    return 0


def check(lesson: Lesson) -> int:
    """Run what a lesson shows and asks, and print it; return how many things are wrong."""
    problems = 0
    for part in lesson.parts:
        try:
            if isinstance(part, Stops):
                for stop in part.stops:
                    draw_stop(stop.view, USUAL, stop.mark)
                print(f"  {len(part.stops)} stops, from {part.stops[0].text!r}")
            elif isinstance(part, ScenePart):
                print(f"  a scene of {count_steps(part)} steps: {part.text!r}")
            elif isinstance(part, QuestionPart):
                _print_question(part)
            elif isinstance(part, Claim):
                numbers = {name: find(quantity) for name, quantity in part.quantities.items()}
                if value(part, part.holds, numbers) <= 0:
                    raise QuestionError(f"{part.name} is not {part.verdict}: {numbers}.")
                print(f"  {part.name}: {part.verdict}\n    {fill(part, part.found, numbers)}")
        except (QuestionError, LaunchError, SourceError, ValueError) as error:
            print(f"error: {lesson.name}: {error}", file=sys.stderr)
            problems += 1
    return problems


def _print_question(part: QuestionPart) -> None:
    for question in part.variants:
        numbers = {name: find(quantity) for name, quantity in question.quantities.items()}
        texts = check_texts(question, numbers)
        if question.picture is not None:
            draw_cells(question.picture, question.array, *cells(question, numbers), USUAL)
        answer = words(question, numbers, right_answer(question, numbers))
        print(f"  {part.name}: {answer}   {numbers}\n    " + "\n    ".join(texts))


if __name__ == "__main__":
    sys.exit(main())
