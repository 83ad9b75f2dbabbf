"""GLOSSARY.md: at most two lines for each word that pages and messages use, and a small scene."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.language.tree import MemorySpace
from simulator.observers.counters import FIELDS
from simulator.observers.findings import HazardKind
from ui.compute import load_navigation
from ui.glossary.entry import GlossaryError, Word, glossary, parse_glossary
from ui.glossary.picture import draw_word
from ui.glossary.small_kernels import small_kernels

TEXT = (Path(__file__).resolve().parent.parent / "GLOSSARY.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^\*\*(?P<term>[^*\n]+)\*\*: (?P<definition>.+?)$(?=\n<!--|\n\n|\n?\Z)", re.M | re.S
)
# What no scene shows: it is a matter of a GPU's hardware or clock, of several GPUs, of compilers or
# of a file's other code, or a word of the page as a whole.
WITHOUT_SCENE = {
    "arithmetic intensity", "contraction", "DRAM", "host code", "latency", "launch", "look",
    "loop limit", "observer", "occupancy", "overview", "panel", "peer copy", "roofline", "room",
    "TFLOP/s", "value numbering", "wave",
}  # fmt: skip
SCENES = {term: word for term, word in glossary().items() if word.scene is not None}
TITLE = "# Glossary\n\nWords.\n\n"
DEFINITIONS = {found["term"]: found["definition"] for found in ENTRY.finditer(TEXT)}


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
    name = kind.replace("out-of-bounds", "out-of-bounds access")
    name = name.replace("uninitialized-read", "uninitialized read")
    name = name.replace("misaligned", "misaligned access").replace("divergent-", "divergent ")
    name = name.replace("wrong-mask", "wrong mask").replace("absent-lane", "absent lane")
    name = name.replace("failed-assertion", "failed assertion")
    assert {name, f"{name} race"} & DEFINITIONS.keys()


@pytest.mark.parametrize("field", FIELDS)
def test_every_unit_that_is_counted_is_defined(field: str) -> None:
    unit = field.rpartition("_")[2].removesuffix("s")
    assert unit in DEFINITIONS


def test_the_words_without_a_scene_are_these() -> None:
    assert glossary().keys() - SCENES.keys() == WITHOUT_SCENE


def test_the_words_have_names_of_their_own() -> None:
    assert len({word.name for word in glossary().values()}) == len(glossary())


@pytest.mark.parametrize("word", SCENES.values(), ids=SCENES)
def test_a_scene_is_drawn_as_a_small_picture(word: Word) -> None:
    assert word.scene is not None
    view, mark = word.scene.view, word.scene.mark
    assert view.step < load_navigation(view)["steps"]
    svg = draw_word(view, mark, "light")
    size = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]+)"', svg)
    assert size is not None
    assert texts_within(svg, tuple(map(float, size[3].split()))), "something can be read there"
    if mark is not None:
        assert float(size[1]) <= 420, "a card is not wider"
        assert float(size[2]) <= 330


def texts_within(svg: str, box: tuple[float, ...]) -> list[str]:
    left, top, width, height = box
    return [
        text
        for x, y, text in re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*>(.+?)</text>', svg)
        if left <= float(x) <= left + width and top <= float(y) <= top + height
    ]


def test_every_small_kernel_shows_a_word() -> None:
    shown = {word.scene.view.own for word in SCENES.values() if word.scene is not None}
    assert set(small_kernels().values()) <= shown


@pytest.mark.parametrize(
    ("scene", "sentence"),
    [
        ("<!-- scene: kernel=nothing&M=4 #stage -->", "nothing"),
        ("<!-- scene: kernel=tiled&M=4&step=0 #stage -->", "first step is step 1"),
        ("<!-- scene: kernel=tiled #picture -->", "picture"),
        ("<!-- scene: kernel=tiled #left -->", "left is no place of one scene"),
        ("<!-- scene: kernel=naive&with=tiled #stage -->", "stage is no place of two scenes"),
        ("<!-- scene: own=nothing #stage -->", "there is no kernel nothing"),
        ("<!-- a remark -->", "A scene is written as"),
    ],
)
def test_a_wrong_scene_is_told_with_its_line(scene: str, sentence: str) -> None:
    with pytest.raises(GlossaryError, match=f"GLOSSARY.md, line 6: .*{sentence}"):
        parse_glossary(f"{TITLE}**one**: A word.\n{scene}\n")


def test_a_wrong_entry_is_told_with_its_line() -> None:
    with pytest.raises(GlossaryError, match="line 7: An entry is written as"):
        parse_glossary(f"{TITLE}**one**: A word.\n\nTwo: A word.\n")


def test_a_scene_of_an_own_kernel_is_left_out_where_visitors_run_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TILEWISE_WRITE", "off")
    assert glossary()["atomic"].shown_scene is None
    assert glossary()["tile"].shown_scene is not None
