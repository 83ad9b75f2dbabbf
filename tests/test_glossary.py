"""GLOSSARY.md: at most two lines for each word that pages and messages use, and a picture."""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpu.recorded import recordings
from simulator.broken_file import Broken
from simulator.language.tree import MemorySpace
from simulator.observers.counters import FIELDS
from simulator.observers.hazards.hazard_kind import HazardKind
from ui.drawing.palette import PALETTES
from ui.glossary import entry
from ui.glossary.chart import draw_small_chart
from ui.glossary.entry import SmallChart, SmallScene, glossary
from ui.glossary.picture import draw_word
from ui.lecture.letters import text_width
from ui.lessons.lesson import ScenePart, Stops
from ui.lessons.parse import lessons
from ui.run.compute import load_navigation
from ui.view.small_kernels import small_kernels

TEXT = (Path(__file__).resolve().parent.parent / "GLOSSARY.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^\*\*(?P<term>[^*\n]+)\*\*: (?P<definition>.+?)$(?=\n<!--|\n\n|\n?\Z)", re.M | re.S
)
SCENES = {
    term: word.picture for term, word in glossary().items() if isinstance(word.picture, SmallScene)
}
TITLE = "# Glossary\n\nWords.\n\n"
ONE = "**one**: A word.\n<!-- chart: waves -->"
TEXTS = re.compile(
    r'<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)" [^>]*?font-size="([\d.]+)"[^>]*>'
    r"(.+?)</text>"
)
Box = tuple[float, float, float, float]  # left, top, width, height
DEFINITIONS = {found["term"]: found["definition"] for found in ENTRY.finditer(TEXT)}


@pytest.fixture
def told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """What is said of a glossary's text with one mistake."""

    def read(text: str) -> str:
        file = tmp_path / "GLOSSARY.md"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(entry, "FILE", file)
        words = glossary.__wrapped__()
        pictures = (word.picture for word in words.values())
        [broken] = [*words.broken, *(one for one in pictures if isinstance(one, Broken))]
        return str(broken)

    return read


def test_pages_have_the_same_words() -> None:
    words = {term: word.text for term, word in glossary().items()}
    assert words == {term: " ".join(text.split()) for term, text in DEFINITIONS.items()}


def test_every_paragraph_after_the_first_is_an_entry() -> None:
    title, opening, *entries = TEXT.strip().split("\n\n")
    assert title == "# Glossary"
    assert opening
    assert len(entries) == len(DEFINITIONS) >= 40


def test_terms_stand_in_alphabetical_order() -> None:
    assert list(DEFINITIONS) == sorted(DEFINITIONS, key=str.lower)


@pytest.mark.parametrize("term", DEFINITIONS)
def test_a_definition_is_a_sentence_of_at_most_two_lines(term: str) -> None:
    entry = f"**{term}**: {DEFINITIONS[term]}"
    assert entry.count("\n") <= 1
    assert all(len(line) <= 100 for line in entry.split("\n"))
    assert entry.endswith(".")


@pytest.mark.parametrize("space", [space for space in MemorySpace if space != "parameter"])
def test_every_memory_is_defined(space: MemorySpace) -> None:
    assert {space, f"{space} memory"} & DEFINITIONS.keys()


@pytest.mark.parametrize("kind", HazardKind)
def test_every_kind_of_hazard_is_defined(kind: HazardKind) -> None:
    names = (kind, kind.replace("-", " "))
    assert any(term in names or term.startswith(names) for term in DEFINITIONS)


@pytest.mark.parametrize("field", FIELDS)
def test_every_unit_that_is_counted_is_defined(field: str) -> None:
    unit = field.rpartition("_")[2].removesuffix("s")
    assert unit in DEFINITIONS


def test_a_word_without_a_picture_is_told_with_its_line(told_of: Callable[[str], str]) -> None:
    told = told_of(f"{TITLE}**one**: A word.\n")
    assert re.search("line 5: An entry is written as .* its picture", told)


def test_every_chart_shows_a_word() -> None:
    pictures = {word.picture for word in glossary().values()}
    assert pictures == {*SmallChart, *SCENES.values()}


def test_the_words_have_names_of_their_own() -> None:
    assert len({word.name for word in glossary().values()}) == len(glossary())


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.sample(4)
def test_a_scene_is_drawn_as_a_small_picture(scene: SmallScene) -> None:
    assert scene.view.step < load_navigation(scene.view)["steps"]
    svg = draw_word(scene.view, scene.mark, "light")
    ElementTree.fromstring(svg)  # noqa: S314  # our own
    box = view_box(svg)
    assert texts_within(svg, box), "something can be read there"
    if scene.mark is not None:
        fits_a_card(box)


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("chart", SmallChart)
def test_a_chart_is_drawn_as_a_small_picture_whose_texts_fit(chart: SmallChart, theme: str) -> None:
    svg = draw_small_chart(chart, theme)
    ElementTree.fromstring(svg)  # noqa: S314  # our own
    left, top, width, height = view_box(svg)
    fits_a_card((left, top, width, height))
    boxes = [
        (text_left(float(x), anchor, text_width(letters(text), float(size), "bold" in text)),
         float(y) - float(size), float(size), letters(text))
        for x, y, anchor, size, text in TEXTS.findall(svg)
    ]  # fmt: skip
    assert boxes
    for (begin, end), upper, size, text in boxes:
        assert left <= begin, text
        assert end <= left + width, text
        assert upper >= top, text
        assert upper + size <= top + height, text
    for one, other in itertools.combinations(boxes, 2):
        (begin, end), upper, size, text = one
        (other_begin, other_end), other_upper, other_size, other_text = other
        is_beside = end <= other_begin or other_end <= begin
        is_above = upper + size <= other_upper + 1 or other_upper + other_size <= upper + 1
        assert is_beside or is_above, (text, other_text)


def test_the_charts_numbers_are_the_recorded_ones() -> None:
    run = recordings().runs[0]
    assert run.limits is not None
    for chart in (SmallChart.LATENCIES, SmallChart.MEMORIES):
        assert f"{run.limits.latency.dram:.0f} cycles" in draw_small_chart(chart, "light")
    assert f"{run.device.memory_bytes / 2**30:.0f} GB" in draw_small_chart(
        SmallChart.MEMORIES, "light"
    )
    assert f"{run.limits.ceilings.fp32_tflops:.1f} TFLOP/s" in draw_small_chart(
        SmallChart.ROOFLINE, "light"
    )


def test_the_waves_have_all_blocks_of_a_recorded_launch() -> None:
    waves = re.findall(r">([\d,]+) of ([\d,]+)<", draw_small_chart(SmallChart.WAVES, "light"))
    blocks = [int(here) for here, _ in waves]
    assert len(blocks) > 1
    assert {int(most) for _, most in waves} == {blocks[0]}
    launched = {
        math.prod(kernel.grid or ())
        for comparison in recordings().runs[0].comparisons
        for kernel in comparison.kernels
        if kernel.name == "warptiles"
    }
    assert sum(blocks) in launched


def view_box(svg: str) -> Box:
    found = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]+)"', svg)
    assert found is not None
    left, top, width, height = map(float, found[3].split())
    return left, top, width, height


def fits_a_card(box: Box) -> None:
    assert box[2] <= 420, "a card is not wider"
    assert box[3] <= 330


def letters(text: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", text))


def text_left(x: float, anchor: str, width: float) -> tuple[float, float]:
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
    return left, left + width


def texts_within(svg: str, box: Box) -> list[str]:
    left, top, width, height = box
    return [
        text
        for x, y, text in re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*>(.+?)</text>', svg)
        if left <= float(x) <= left + width and top <= float(y) <= top + height
    ]


def test_every_small_kernel_shows_a_word_or_is_a_stops() -> None:
    words = {scene.view.user_kernel for scene in SCENES.values()}
    parts = [one for lesson in lessons().values() for one in lesson.parts]
    stops = [one for one in parts if isinstance(one, Stops)]
    pictures = {stop.view.user_kernel for part in stops for stop in part.stops}
    pictures |= {one.view.user_kernel for one in parts if isinstance(one, ScenePart)}
    assert set(small_kernels().values()) <= words | pictures


@pytest.mark.parametrize(
    ("scene", "sentence"),
    [
        ("<!-- scene: kernel=nothing&M=4 #stage -->", "nothing"),
        ("<!-- scene: kernel=tiled&M=4&step=0 #stage -->", "first step is step 1"),
        ("<!-- scene: kernel=tiled #picture -->", "picture"),
        ("<!-- scene: kernel=tiled #left -->", "left is not a place of one scene"),
        ("<!-- scene: kernel=naive&with=tiled #stage -->", "stage is not a place of two scenes"),
        ("<!-- scene: own=nothing #stage -->", "there is no kernel nothing"),
        ("<!-- chart: nothing -->", "There is no chart nothing, only latencies, "),
        ("<!-- a remark -->", "A picture is written as"),
    ],
)
def test_a_wrong_scene_is_told_with_its_line(
    told_of: Callable[[str], str], scene: str, sentence: str
) -> None:
    told = told_of(f"{TITLE}**one**: A word.\n{scene}\n")
    assert re.search(f"GLOSSARY.md, line 6: .*{sentence}", told)


def test_a_wrong_entry_is_told_with_its_line(told_of: Callable[[str], str]) -> None:
    told = told_of(f"{TITLE}{ONE}\n\nTwo: A word.\n<!-- chart: waves -->\n")
    assert "line 8: An entry is written as" in told


def test_a_scene_of_an_own_kernel_is_left_out_where_visitors_run_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TILEWISE_WRITE", "off")
    assert glossary()["atomic"].shown_picture is None
    assert glossary()["tile"].shown_picture is not None
    assert glossary()["latency"].shown_picture is not None
