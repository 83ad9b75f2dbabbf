"""GLOSSARY.md as data: words, each with a definition and a small scene or a chart that shows it.

    **tile**: A rectangular part of a matrix that a block loads into shared memory and uses
    together.
    <!-- scene: kernel=tiled&M=4&N=4&K=4&TILE=2&step=10 #stage -->

    **latency**: Clock cycles from asking for a value until it can be used.
    <!-- chart: latencies -->

The scene is an address of the Step page, as after its question mark, and the place to look at, a
Mark of ui.lessons.lesson; without one the whole scene is meant. `own=` is one of the small kernels
of assets/small_kernels.toml. The chart is a SmallChart: what a GPU alone can show.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from simulator.broken_file import Broken, BrokenFileError, Entries, log, read_text
from ui.jobs.settings import may_write
from ui.lessons.lesson import Mark
from ui.lessons.parse import is_place
from ui.run.standalone import parse_address
from ui.view.small_kernels import name_small
from ui.view.view_url import View

FILE = Path(__file__).resolve().parents[2] / "GLOSSARY.md"
TERM = re.compile(r"\*\*(?P<term>[^*]+)\*\*: (?P<text>.+)", re.S)
SCENE = re.compile(r"<!-- scene: (?P<address>\S+)(?: #(?P<mark>\S+))? -->")
CHART = re.compile(r"<!-- chart: (?P<name>\S+) -->")


def _error(line: int, sentence: str) -> BrokenFileError:
    return BrokenFileError(Broken(FILE.name, line, sentence))


@dataclass(frozen=True, slots=True)
class SmallScene:
    """A view at a step, and the part of its picture that shows a word."""

    view: View
    mark: Mark | None  # None for the whole


class SmallChart(StrEnum):
    """A chart of a recorded run on a GPU, which shows a word."""

    LATENCIES = "latencies"
    MEMORIES = "memories"
    OCCUPANCY = "occupancy"
    SPEEDS = "speeds"
    ROOFLINE = "roofline"
    WAVES = "waves"
    MULTIPROCESSOR = "multiprocessor"
    PANELS = "panels"  # of a product over several GPUs
    PEER_COPIES = "peer-copies"  # of a product over several GPUs, too


@dataclass(frozen=True, slots=True)
class Word:
    """An entry."""

    term: str
    text: str  # the definition, Markdown
    picture: SmallScene | SmallChart | Broken

    @property
    def shown_picture(self) -> SmallScene | SmallChart | None:
        """The picture, if it may be drawn: whoever serves the app may switch user kernels off."""
        picture = self.picture
        if isinstance(picture, Broken):
            return None
        is_user_kernel = isinstance(picture, SmallScene) and picture.view.user_kernel is not None
        return None if is_user_kernel and not may_write() else picture

    @property
    def name(self) -> str:
        """The term as a part of an address: small letters, digits and "-"."""
        return re.sub(r"[^a-z0-9]+", "-", self.term.lower()).strip("-")


@functools.cache
def glossary() -> Entries[Word]:
    """The words by their terms, in alphabetical order."""
    try:
        words = Entries(_read_words(read_text(FILE)))
    except BrokenFileError as error:
        return Entries({FILE.name: error.broken})
    for word in words.values():
        if isinstance(word.picture, Broken):
            log(word.picture)
    return words


def _read_words(text: str) -> dict[str, Word | Broken]:
    words: dict[str, Word | Broken] = {}
    line = 1
    for number, paragraph in enumerate(text.split("\n\n")):
        if number > 1 and paragraph.strip():
            try:
                word = _parse_word(paragraph.strip("\n"), line)
                words[word.term] = word
            except BrokenFileError as error:
                words[f"line {line}"] = error.broken
        line += paragraph.count("\n") + 2
    if not words:
        raise _error(1, "It has no word.")
    return words


def _parse_word(paragraph: str, line: int) -> Word:
    *lines, comment = paragraph.split("\n")
    found = TERM.fullmatch("\n".join(lines))
    if found is None:
        raise _error(
            line, "An entry is written as **term**: definition, with its picture on a line below."
        )
    picture: SmallScene | SmallChart | Broken
    try:
        picture = _parse_picture(comment.strip(), line + len(lines))
    except BrokenFileError as error:
        picture = error.broken
    return Word(found["term"], " ".join(found["text"].split()), picture)


def _parse_picture(comment: str, line: int) -> SmallScene | SmallChart:
    chart = CHART.fullmatch(comment)
    if chart is None:
        return _parse_scene(comment, line)
    if chart["name"] not in list(SmallChart):
        raise _error(line, f"There is no chart {chart['name']}, only {', '.join(SmallChart)}.")
    return SmallChart(chart["name"])


def _parse_scene(comment: str, line: int) -> SmallScene:
    found = SCENE.fullmatch(comment)
    if found is None:
        raise _error(
            line,
            "A picture is written as <!-- scene: kernel=tiled&M=4 #stage --> or "
            "<!-- chart: latencies -->.",
        )
    try:
        view = parse_address(name_small(found["address"]))
        mark = None if found["mark"] is None else Mark(found["mark"])
    except ValueError as error:
        raise _error(line, f"This is not a scene: {error}") from None
    if mark is not None and not is_place(mark, view):
        scenes = "two scenes" if view.comparison else "one scene"
        raise _error(line, f"{mark} is not a place of {scenes}.")
    return SmallScene(view, mark)
