"""GLOSSARY.md as data, and the component that explains its words where they stand on a page."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from ui.web_files import read_web

FILE = Path(__file__).resolve().parent.parent / "GLOSSARY.md"
ENTRY = re.compile(r"^\*\*(?P<term>[^*\n]+)\*\*: (?P<text>.+?)(?=\n\n|\n?\Z)", re.M | re.S)


@functools.cache
def glossary() -> Mapping[str, str]:
    """The definition of each word, in alphabetical order."""
    text = FILE.read_text(encoding="utf-8")
    return {one["term"]: " ".join(one["text"].split()) for one in ENTRY.finditer(text)}


@functools.cache
def _register_component() -> Any:
    """Register the component, once in a process."""
    return st.components.v2.component(
        "tilewise_glossary", html="<span></span>", css=read_web("glossary.css"),
        js=read_web("glossary.js"), isolate_styles=False,
    )  # fmt: skip


def explain_words() -> None:
    """Underline the first use of each word on the page; a pointer or a tap shows what it means."""
    _register_component()(key="glossary", data=dict(glossary()))


def draw_glossary() -> None:
    """Draw all words with their definitions, for those who come to them by the keyboard."""
    wanted = st.text_input("Find a word", key="glossary_wanted").strip().lower()
    found = [one for one in glossary().items() if wanted in one[0].lower()]
    for term, text in found:
        st.markdown(f"**{term}**: {text}")
    if not found:
        st.markdown("There is no such word.")
