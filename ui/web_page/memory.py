"""What the browser's tab keeps over a reload, of which a visitor's session knows nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.web_page.web_files import read_web


@functools.cache
def _register_component() -> Any:
    """Register the component, once in a process."""
    return st.components.v2.component(
        "tilewise_memory", html="<span></span>", js=read_web("memory.js"), isolate_styles=False,
        css=read_web("memory.css"),
    )  # fmt: skip


def remember(marks: Mapping[str, object], asks: bool) -> object:
    """Let the tab keep plain data; with asks return what it kept of an earlier session, or None.

    Empty data is not kept. Anybody may have written what comes back; what is no JSON is empty.
    """
    result = _register_component()(
        key="memory", data={"marks": dict(marks), "asks": asks}, default={"remembered": None},
        on_remembered_change=lambda: None,
    )  # fmt: skip
    if not asks or result.remembered is None:
        return None
    try:
        return json.loads(result.remembered) or {}
    except (TypeError, ValueError, RecursionError):
        return {}
