"""Tells a visitor who does not see or has scrolled away from a verdict that there is one."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st

from ui.web_page.web_files import read_web


@functools.cache
def _register_component() -> Any:
    """Register the announcer, once in a process."""
    return st.components.v2.component(
        "tilewise_announcer", html=read_web("announcer.html"), js=read_web("announcer.js"),
        isolate_styles=False,
    )  # fmt: skip


def announce(number: int, text: str) -> None:
    """Read a sentence to screen readers, and scroll to the verdict where it is out of sight.

    Each number is announced once; the first one, which a visitor comes back to, is not.
    """
    _register_component()(key="announcer", data={"number": number, "text": text})
