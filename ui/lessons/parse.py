"""Reads lessons: Markdown whose fenced blocks named below are directives, written as TOML.

    ```stops
    view = "kernel=tiled&M=4&N=4&K=4&TILE=2"
    [[stop]]
    step = 3
    mark = "source"
    text = "Each thread copies one value of A."
    ```

A file begins with a block named lesson. Every mistake is reported with file and line, and costs
a page no more than its block.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from simulator.broken_file import (
    FILE_NAME,
    Broken,
    BrokenFileError,
    Entries,
    log,
    parse_toml,
    read_folder,
    read_text,
)
from simulator.exercises.exercise import exercises
from ui.lessons.lesson import (
    Chart,
    ChartPart,
    Claim,
    ExercisePart,
    Kind,
    Lesson,
    Mark,
    Measure,
    Notes,
    Option,
    Part,
    Prose,
    Quantity,
    Question,
    QuestionPart,
    Reason,
    ScenePart,
    Stop,
    Stops,
    Verdict,
)
from ui.lessons.quantities import OF_VIEW
from ui.run.standalone import parse_address
from ui.view.small_kernels import name_small
from ui.view.view_url import View

FOLDER = Path(__file__).resolve().parent.parent.parent / "assets" / "lessons"
FENCE = re.compile(r"^```(?P<name>\w*)\s*$")
FEWEST_STOPS, MOST_STOPS = 4, 8  # of a sequence; a single one is a picture
WHOLE = {Mark.LEFT, Mark.RIGHT, Mark.COUNTS}  # marks of two scenes, beside the timeline's
LOCK = threading.Lock()

Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, or the Markdown between two."""

    name: str  # "" for Markdown
    text: str
    line: int  # of its first line of text, from 1


class _Lesson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    minutes: int
    idea: str
    session: int = 0


class _Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    mark: Mark
    step: int = 0
    view: str = ""


class _Stops(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stop: list[_Stop]
    view: str = ""
    more: bool = False


class _Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    view: str
    text: str


class _Chart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    chart: Chart
    text: str


class _Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    text: str


class _Quantity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    measure: Measure
    view: str = ""
    of: str = ""
    digits: int = 0


class _Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    answer: str | int
    because: str


class _Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    value: str | int


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: Kind
    ask: str
    because: str
    hint: str = ""
    more: bool = False
    answer: str | int = ""
    view: str = ""
    rows: str | int = ""
    columns: str | int = ""
    array: str = ""
    picture: str = ""
    numbers: dict[str, _Quantity] = {}
    fresh: dict[str, list[int]] = {}
    wrong: list[_Reason] = []
    option: list[_Option] = []


class _Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    says: str
    notes: list[int]
    verdict: Verdict
    found: str
    holds: str
    view: str = ""
    numbers: dict[str, _Quantity] = {}


def lessons() -> Entries[Lesson]:
    """All lessons by name, in the order of their files; of one with a mistake what is right."""
    with LOCK:  # a class that comes together has them read once
        return _read_lessons()


@functools.cache
def _read_lessons() -> Entries[Lesson]:
    found = read_folder(FOLDER, "*.md", lambda file: read_lesson(read_text(file), file.name))
    for lesson in found.values():
        for broken in lesson.broken:
            log(broken)
    return found


def parse_lesson(text: str, file: str) -> Lesson:
    """A lesson from a file's text. Raises BrokenFileError for its first mistake."""
    lesson = read_lesson(text, file)
    for broken in lesson.broken:
        raise BrokenFileError(broken)
    return lesson


def read_lesson(text: str, file: str) -> Lesson:
    """A lesson from a file's text, of which each part with a mistake is Broken.

    Raises BrokenFileError where its title cannot be read.
    """
    name = FILE_NAME.fullmatch(Path(file).stem)
    if name is None:
        raise _error(file, 1, "A lesson's file is named like 01_memory.md.")
    blocks: list[Block | Broken] = list(split_blocks(text, file))
    first = blocks[0] if blocks else None
    if isinstance(first, Broken):
        raise BrokenFileError(first)
    if first is None or first.name != "lesson":
        raise _error(file, 1, "A lesson begins with a block ```lesson.")
    head = _decode(_Lesson, first, file)
    parts: list[Part] = []
    names: set[str] = set()
    for block in blocks[1:]:
        part = block if isinstance(block, Broken) else _read_part(file, block)
        if isinstance(part, QuestionPart | Claim):
            if part.name in names:
                sentence = f"Two questions or claims are named {part.name}."
                part = Broken(file, block.line, sentence)
            else:
                names.add(part.name)
        parts.append(part)
    lines = tuple(block.line for block in blocks[1:])
    return Lesson(
        name["name"], head.title, head.minutes, head.idea, head.session, tuple(parts), file, lines
    )


def _read_part(file: str, block: Block) -> Part:
    try:
        return _Reader(file, block).part()
    except BrokenFileError as error:
        return error.broken


def _error(file: str, line: int, sentence: str) -> BrokenFileError:
    return BrokenFileError(Broken(file, line, sentence))


def split_blocks(text: str, file: str) -> Iterator[Block | Broken]:
    """The directives of a lesson, and the Markdown between them.

    A block without an end, or with a name that there is not, is Broken; the former is the last.
    """
    lines = text.split("\n")
    prose: list[str] = []
    start, number = 1, 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if fence is None:
            prose.append(lines[number])
            number += 1
            continue
        end = next((n for n in range(number + 1, len(lines)) if lines[n].rstrip() == "```"), None)
        if end is not None and fence["name"] in CODE:
            prose += lines[number : end + 1]
            number = end + 1
            continue
        if "".join(prose).strip():
            yield Block("", "\n".join(prose).strip("\n"), start)
        if end is None:
            yield Broken(file, number + 1, "This block has no end: a line ``` is missing.")
            return
        if fence["name"] in DIRECTIVES:
            yield Block(fence["name"], "\n".join(lines[number + 1 : end]), number + 2)
        else:
            known = ", ".join((*DIRECTIVES, *CODE))
            sentence = f"There is no block {fence['name']!r}, only {known}."
            yield Broken(file, number + 1, sentence)
        prose, start, number = [], end + 2, end + 1
    if "".join(prose).strip():
        yield Block("", "\n".join(prose).strip("\n"), start)


def is_place(mark: Mark, view: View) -> bool:
    """Whether a view's scene, or its two scenes beside each other, have a place."""
    return mark is Mark.TIMELINE or (view.comparison is not None) == (mark in WHOLE)


def _decode(kind: type[Data], block: Block, file: str) -> Data:
    """The data of a directive. Raises BrokenFileError."""
    try:
        return msgspec.convert(parse_toml(block.text, file, block.line), kind)
    except msgspec.ValidationError as error:
        raise _error(file, block.line, f"{block.name}: {error}.") from None


class _Reader:
    """Makes a part of a block."""

    def __init__(self, file: str, block: Block) -> None:
        self._file, self._block = file, block

    def part(self) -> Part:
        """The block's part."""
        match self._block.name:
            case "":
                return Prose(self._block.text)
            case "notes":
                return Notes(self._block.text)
            case "stops":
                return self._stops(_decode(_Stops, self._block, self._file))
            case "scene":
                scene = _decode(_Scene, self._block, self._file)
                view = self._view(scene.view)
                return ScenePart(view, scene.text, self._file, self._block.line)
            case "chart":
                chart = _decode(_Chart, self._block, self._file)
                return ChartPart(chart.chart, chart.text)
            case "exercise":
                named = _decode(_Exercise, self._block, self._file)
                if named.name not in exercises().everything:
                    known = ", ".join(exercises())
                    raise self._error(f"There is no exercise {named.name}, only {known}.")
                return ExercisePart(exercises()[named.name], named.text)
            case "question":
                return self._question(_decode(_Question, self._block, self._file))
            case "claim":
                return self._claim(_decode(_Claim, self._block, self._file))
            case _:
                raise self._error("A lesson has one block ```lesson, at its start.")

    def _error(self, sentence: str) -> BrokenFileError:
        return _error(self._file, self._block.line, sentence)

    def _view(self, address: str, step: int = 0) -> View:
        query = address + (f"&step={step}" if step else "")
        try:
            return parse_address(name_small(query))
        except ValueError as error:
            raise self._error(f"{query!r} is not a view: {error}") from None

    def _stops(self, found: _Stops) -> Stops:
        count = len(found.stop)
        if count != 1 and not FEWEST_STOPS <= count <= MOST_STOPS:
            raise self._error(
                f"There are {count} stops; a sequence has {FEWEST_STOPS} to {MOST_STOPS}, and a "
                "picture is a single one."
            )
        stops = []
        for one in found.stop:
            view = self._view(one.view or found.view, one.step)
            if not is_place(one.mark, view):
                scenes = "two scenes" if view.comparison else "one scene"
                raise self._error(f"{one.mark} is not a place of {scenes}.")
            stops.append(Stop(view, one.text, one.mark))
        return Stops(tuple(stops), found.more)

    def _question(self, found: _Question) -> QuestionPart:
        drawn = list(itertools.product(*found.fresh.values()))
        variants = [
            self._variant(found, dict(zip(found.fresh, values, strict=True))) for values in drawn
        ]
        return QuestionPart(found.name, tuple(variants), found.more)

    def _variant(self, found: _Question, fresh: Mapping[str, int]) -> Question:
        """The question with its fresh numbers, which are in views as {name}."""
        quantities = self._quantities(found.numbers, fresh)
        has_options = found.kind in (Kind.CHOICE, Kind.ORDER)
        if has_options != (len(found.option) > 1) or has_options == bool(str(found.answer)):
            raise self._error(
                f"A question of the kind {found.kind} has "
                + (
                    "two or more options and no answer."
                    if has_options
                    else "an answer and no option."
                )
            )
        of_cells = (str(found.rows), str(found.columns), found.array, found.picture)
        if (found.kind is Kind.CELL) != all(of_cells) or any(of_cells) != all(of_cells):
            raise self._error(
                "A question for a cell has rows, columns, array and picture; no other kind has."
            )
        if found.kind is Kind.LINE and not found.view:
            raise self._error("A question for a line has a view, whose source it shows.")
        return Question(
            found.name, found.kind, found.ask, quantities, fresh, str(found.answer),
            found.because, found.hint,
            tuple(Reason(str(one.answer), one.because) for one in found.wrong),
            tuple(Option(one.text, str(one.value)) for one in found.option),
            str(found.rows), str(found.columns), found.array,
            self._view(self._filled(found.picture, fresh)) if found.picture else None,
            self._view(self._filled(found.view, fresh)) if found.view else None,
        )  # fmt: skip

    def _quantities(
        self, numbers: Mapping[str, _Quantity], fresh: Mapping[str, int]
    ) -> dict[str, Quantity]:
        quantities = {}
        for name, one in numbers.items():
            if name in fresh:
                raise self._error(f"The number {name} is both drawn and measured.")
            view = self._view(self._filled(one.view, fresh)) if one.view else None
            if (view is None) == (one.measure in OF_VIEW):
                is_missing = "needs a view" if view is None else "takes no view"
                raise self._error(f"The number {name}, {one.measure}, {is_missing}.")
            quantities[name] = Quantity(one.measure, view, self._filled(one.of, fresh), one.digits)
        return quantities

    def _claim(self, found: _Claim) -> Claim:
        return Claim(
            found.name, found.says, tuple(found.notes), found.verdict, found.found, found.holds,
            self._quantities(found.numbers, {}), {},
            self._view(found.view) if found.view else None,
        )  # fmt: skip

    def _filled(self, text: str, fresh: Mapping[str, int]) -> str:
        try:
            return text.format(**fresh)
        except (KeyError, IndexError, ValueError):
            raise self._error(f"{text!r} names a number that is not drawn in [fresh].") from None


DIRECTIVES = ("lesson", "stops", "scene", "chart", "exercise", "question", "claim", "notes")
CODE = ("cpp", "text")  # fenced blocks that are shown as they are
