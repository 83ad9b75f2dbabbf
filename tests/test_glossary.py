"""GLOSSARY.md: a definition of two lines at most for each word that pages and messages use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.language.tree import MemorySpace
from simulator.observers.counters import FIELDS
from simulator.observers.findings import HazardKind
from ui.glossary import glossary

TEXT = (Path(__file__).resolve().parent.parent / "GLOSSARY.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\*\*(?P<term>[^*\n]+)\*\*: (?P<definition>.+?)$(?=\n\n|\n?\Z)", re.M | re.S)
DEFINITIONS = {found["term"]: found["definition"] for found in ENTRY.finditer(TEXT)}


def test_pages_have_the_same_words() -> None:
    assert glossary() == {term: " ".join(text.split()) for term, text in DEFINITIONS.items()}


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
