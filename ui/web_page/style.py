"""The rules of a page's style, which its first picture has already."""

from __future__ import annotations

import streamlit as st

from ui.web_page.browser import browser_theme
from ui.web_page.web_files import read_web

MARK = "page-style"
HIDDEN = f".stElementContainer:has(> .stHtml > .{MARK}) {{ display: none; }}"


def paper_style() -> str:
    """The rules by which a page without a print style of its own is printed: wide, on white."""
    return read_web("paper.css") + (read_web("dark_paper.css") if browser_theme() == "dark" else "")


def draw_style(css: str) -> None:
    """Style the page by rules of CSS.

    Streamlit draws an element of nothing but rules beside the page and often after it, which is
    then seen without them for up to seconds. With a mark the element is the page's own.
    """
    st.html(f"<style>{css}\n{HIDDEN}</style><i class='{MARK}'></i>")
