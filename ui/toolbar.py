"""The keyboard and the buttons that move the scene within the page, and report where it is."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

WEB = Path(__file__).with_name("web")


@functools.cache
def _component() -> Any:
    """The component, registered once in a process."""
    html, css, frames, toolbar = (
        (WEB / name).read_text(encoding="utf-8")
        for name in ("toolbar.html", "toolbar.css", "frames.js", "toolbar.js")
    )
    return st.components.v2.component(
        "tilewise_keys", html=html, css=css, js=f"{frames}\n{toolbar}"
    )


def keys(
    scene: str,
    order: int,
    navigation: Mapping[str, Any],
    steps: range,
    start: int,
    more: Mapping[str, Any] | None = None,
    key: str = "keys",
) -> Any:
    """Draw the buttons and listen to the keyboard.

    scene names what is shown and steps those of its steps that the figure has; navigation is
    scene.navigation's. The scene begins at step `start`, and goes there again for another order.
    The result's `at` is the scene, the order, the step that is shown and one whose page is asked
    for, or -1; None before the first key. `more` is the answer: that page's "first" step, its
    "end" and its "frames". `clicked` is what was just clicked, as the trace's name,
    row and column, or None.
    """
    return _component()(
        key=key,
        data={
            "scene": scene, "order": order, "first": steps.start, "end": steps.stop,
            "start": start, "stops": dict(navigation), "more": more,
        },
        default={"at": None},
        on_at_change=lambda: None,
        on_clicked_change=lambda: None,
    )  # fmt: skip
