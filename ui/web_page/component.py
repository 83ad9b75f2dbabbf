"""The components of pages, each made of files of ui/web."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st

from ui.web_page.web_files import read_script, read_web

EMPTY = "<span></span>"


@functools.cache
def component(name: str, script: str, html: str = EMPTY, css: tuple[str, ...] = ()) -> Any:
    """A component, registered once in a process: its script and styles are files of ui/web."""
    return st.components.v2.component(
        f"tilewise_{name}", html=html or None, css=read_web(*css) or None,
        js=read_script(script), isolate_styles=False,
    )  # fmt: skip
