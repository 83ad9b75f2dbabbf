"""The toolbar component: buttons and keyboard that show steps in the browser and report them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

WEB = Path(__file__).with_name("web")


@functools.cache
def _register_component() -> Any:
    """Register the component, once in a process."""
    html, css, frames, toolbar = (
        (WEB / name).read_text(encoding="utf-8")
        for name in ("toolbar.html", "toolbar.css", "frames.js", "toolbar.js")
    )
    return st.components.v2.component(
        "tilewise_keys", html=html, css=css, js=f"{frames}\n{toolbar}"
    )


def draw_toolbar(
    scene: str,
    order: int,
    navigation: Mapping[str, Any],
    steps: range,
    start: int,
    requested_frames: Mapping[str, Any] | None = None,
    key: str = "keys",
) -> Any:
    """Draw the buttons and handle the keyboard.

    scene identifies the figure, steps are the steps that it has, navigation is scene.navigation's.
    The toolbar shows step `start` first, and again whenever `order` changes. requested_frames
    answers a request: a page's "first" step, its "end" and its "frames".

    The result has two attributes. `at` is None before the first event, then a list of the scene,
    the order, the current step, and a step whose frames are requested or -1. `clicked` is the
    trace's name, row and column of a click since the last run, or None.
    """
    return _register_component()(
        key=key,
        data={
            "scene": scene, "order": order, "first": steps.start, "end": steps.stop,
            "start": start, "stops": dict(navigation), "more": requested_frames,
        },
        default={"at": None},
        on_at_change=lambda: None,
        on_clicked_change=lambda: None,
    )  # fmt: skip
