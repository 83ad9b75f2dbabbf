"""The words on a page: explained where they are, and in a list."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from simulator.broken_file import Broken
from ui.glossary.entry import SmallScene, Word, glossary
from ui.glossary.route import folder, picture_path
from ui.run.broken_section import list_broken
from ui.view.view_url import View
from ui.web_page.browser import browser_theme
from ui.web_page.component import component
from ui.web_page.press import press

MOST_PICTURES = 3  # of the words that a search finds

OpenView = Callable[[View], object]  # shows a scene on the Step page


def explain_words(open_view: OpenView) -> None:
    """Underline the first use of each word on the page; a pointer or a tap shows what it means."""
    draw = component("glossary", "glossary.js", "<span class='glossary'></span>", ("glossary.css",))
    result = draw(
        key="glossary", data={"folder": folder(), "theme": browser_theme()},
        on_opened_change=lambda: None,
    )  # fmt: skip
    word = glossary().get(str(result.get("opened"))) if result.get("opened") else None
    scene = word and word.shown_picture
    if isinstance(scene, SmallScene):
        open_view(scene.view)


def draw_glossary(open_view: OpenView, lists_all: bool = True) -> None:
    """Draw the words with their definitions, for those who come to them by the keyboard.

    Without lists_all there are none until they are searched for.
    """
    with st.container(key="glossary_list"):
        wanted = st.text_input("Find a word", key="glossary_wanted").strip().lower()
        if lists_all and not wanted:
            list_broken(glossary().broken)
        found = [word for word in glossary().values() if wanted in word.term.lower()]
        for word in found if wanted or lists_all else ():
            st.markdown(f"**{word.term}**: {word.text}")
            if wanted and isinstance(word.picture, Broken):
                list_broken([word.picture])
            elif wanted and word.shown_picture is not None:
                _draw_picture(word, open_view, is_seen=len(found) <= MOST_PICTURES)
        if not found:
            st.markdown("There is no such word.")


def _draw_picture(word: Word, open_view: OpenView, is_seen: bool) -> None:
    """Draw a word's picture, if it is to be seen, and the way to its scene."""
    if is_seen:
        st.html(
            f"<img class='term-picture' src='{picture_path(word.name, browser_theme())}' alt=''>"
        )
    scene = word.shown_picture
    if isinstance(scene, SmallScene) and press(
        st.button, "Step through it", f"word {word.name}", icon=":material/steps:",
        help=f"A scene that shows {word.term}.",
    ):  # fmt: skip
        open_view(scene.view)
