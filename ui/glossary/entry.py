"""GLOSSARY.md as data: words, each with a definition and a small scene or a chart that shows it.

    **tile**: A rectangular part of a matrix that a block loads into shared memory and uses
    together.
    <!-- scene: kernel=tiled&M=4&N=4&K=4&TILE=2&step=10 #stage -->

    **latency**: Clock cycles from asking for a value until it can be used.
    <!-- chart: latencies -->

The scene is an address of the Step page, as behind its question mark, and the place to look at, a
Mark of ui.lessons.lesson; without one the whole scene is meant. `own=` is one of the small kernels
of assets/glossary.toml. The chart is a SmallChart: what a GPU alone can show.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ui import own_link
from ui.glossary.small_kernels import small_kernels
from ui.lessons.lesson import Mark
from ui.lessons.parse import is_place
from ui.settings import may_write
from ui.standalone import parse_address
from ui.view_url import View

FILE = Path(__file__).resolve().parents[2] / "GLOSSARY.md"
TERM = re.compile(r"\*\*(?P<term>[^*]+)\*\*: (?P<text>.+)", re.S)
SCENE = re.compile(r"<!-- scene: (?P<address>\S+)(?: #(?P<mark>\S+))? -->")
CHART = re.compile(r"<!-- chart: (?P<name>\S+) -->")
OWN = re.compile(rf"(?<![^&]){own_link.PARAMETER}=(?P<name>[\w-]+)")


class GlossaryError(ValueError):
    """What is wrong in the glossary, and in which line."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"{FILE.name}, line {line}: {sentence}")


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
    PANELS = "panels"  # of a product over several GPUs
    PEER_COPIES = "peer-copies"  # likewise


@dataclass(frozen=True, slots=True)
class Word:
    """An entry."""

    term: str
    text: str  # the definition, Markdown
    picture: SmallScene | SmallChart

    @property
    def shown_picture(self) -> SmallScene | SmallChart | None:
        """The picture, if it may be drawn: whoever serves the app may switch own kernels off."""
        picture = self.picture
        is_own = isinstance(picture, SmallScene) and picture.view.own is not None
        return None if is_own and not may_write() else picture

    @property
    def name(self) -> str:
        """The term as a part of an address: small letters, digits and "-"."""
        return re.sub(r"[^a-z0-9]+", "-", self.term.lower()).strip("-")


@functools.cache
def glossary() -> Mapping[str, Word]:
    """The words by their terms, in alphabetical order. Raises GlossaryError."""
    return parse_glossary(FILE.read_text(encoding="utf-8"))


def parse_glossary(text: str) -> dict[str, Word]:
    """The words of a text: paragraphs behind a title and an opening. Raises GlossaryError."""
    words: dict[str, Word] = {}
    line = 1
    for number, paragraph in enumerate(text.split("\n\n")):
        if number > 1 and paragraph.strip():
            word = _parse_word(paragraph.strip("\n"), line)
            words[word.term] = word
        line += paragraph.count("\n") + 2
    return words


def _parse_word(paragraph: str, line: int) -> Word:
    *lines, comment = paragraph.split("\n")
    found = TERM.fullmatch("\n".join(lines))
    if found is None:
        raise GlossaryError(
            line, "An entry is written as **term**: definition, and its picture in a line below."
        )
    picture = _parse_picture(comment.strip(), line + len(lines))
    return Word(found["term"], " ".join(found["text"].split()), picture)


def _parse_picture(comment: str, line: int) -> SmallScene | SmallChart:
    chart = CHART.fullmatch(comment)
    if chart is None:
        return _parse_scene(comment, line)
    if chart["name"] not in list(SmallChart):
        raise GlossaryError(
            line, f"There is no chart {chart['name']}, only {', '.join(SmallChart)}."
        )
    return SmallChart(chart["name"])


def _parse_scene(comment: str, line: int) -> SmallScene:
    found = SCENE.fullmatch(comment)
    if found is None:
        raise GlossaryError(
            line,
            "A picture is written as <!-- scene: kernel=tiled&M=4 #stage --> or "
            "<!-- chart: latencies -->.",
        )
    try:
        view = parse_address(OWN.sub(_encode_own, found["address"]))
        mark = None if found["mark"] is None else Mark(found["mark"])
    except ValueError as error:
        raise GlossaryError(line, f"This is no scene: {error}") from None
    if mark is not None and not is_place(mark, view):
        scenes = "two scenes" if view.partner else "one scene"
        raise GlossaryError(line, f"{mark} is no place of {scenes}.")
    return SmallScene(view, mark)


def _encode_own(found: re.Match[str]) -> str:
    """A small kernel's parameter as an address has it. Raises ValueError."""
    own = small_kernels().get(found["name"])
    if own is None:
        raise ValueError(f"there is no kernel {found['name']}, only {', '.join(small_kernels())}.")
    return f"{own_link.PARAMETER}={own_link.encode(own)}"
