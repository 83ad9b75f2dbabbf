"""The keyboard and the buttons that move the scene within the page, and report where it is."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

# Two buttons and a word between: what they do, the word, the group's name, theirs, their keys.
PAIRS = (
    ("outer-", "tile", "Outer iteration", "Tile", ("Page Up", "Page Down")),
    ("inner-", "inner", "Inner iteration", "Inner iteration", ("Shift + Left", "Shift + Right")),
    ("", "step", "Statement", "Statement", ("Left", "Right")),
    ("part-", "part", "Part of the statement", "Part", (",", ".")),
)
PAIR = """  <span class="group" role="group" aria-label="{group}">
    <button data-do="{do}back" title="{name} back ({keys[0]})" aria-label="{name} back">◀</button>
    <span>{word}</span>
    <button data-do="{do}forward" title="{name} forward ({keys[1]})"
      aria-label="{name} forward">▶</button></span>"""
HTML = """
<div class="bar" role="toolbar" aria-label="Steps of the scene">
  <button data-do="first" title="First step (Home)" aria-label="First step">|◀</button>
PAIRS
  <button data-do="barrier" title="Next barrier (B)" aria-label="Next barrier">barrier ▶</button>
  <button data-do="last" title="Last step (End)" aria-label="Last step">▶|</button>
  <button data-do="play" title="Play or pause (Space)" aria-label="Play or pause">Play</button>
  <select aria-label="Steps a second" title="Steps a second">
    <option value="1">1 / s</option><option value="2" selected>2 / s</option>
    <option value="5">5 / s</option><option value="10">10 / s</option></select>
  <label title="Go to a step (its number, Enter)">step
    <input type="number" min="1" aria-label="Go to step"></label>
  <span data-total></span>
  <span class="group" role="group" aria-label="Picture">
    <button data-do="svg" title="This step as an SVG file">SVG</button>
    <button data-do="png" title="This step as a PNG file">PNG</button></span>
  <button data-do="present" title="Only the scene, as large as it goes (P; Escape ends)"
    aria-label="Present"><svg width="14" height="14" viewBox="0 0 14 14" fill="none"
    stroke="currentColor" stroke-width="2"><path d="M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9"/></svg>
  </button>
  <span class="live" aria-live="polite"></span>
</div>
""".replace(
    "PAIRS",
    "\n".join(
        PAIR.format(do=do, word=word, group=group, name=name, keys=keys)
        for do, word, group, name, keys in PAIRS
    ),
)
CSS = """
.bar { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; font: 14px sans-serif;
  color: var(--st-text-color); }
.bar button, .bar input, .bar select { box-sizing: border-box; height: 30px;
  font: inherit; color: inherit;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-radius: 6px; padding: 0 7px; }
.group { display: inline-flex; align-items: center; gap: 2px; border: 1px solid
  var(--st-border-color); border-radius: 8px; padding: 0 1px; box-sizing: border-box;
  height: 30px; }
.bar .group button { border: 0; height: 24px; min-width: 26px; padding: 0 4px; }
.bar button { cursor: pointer; min-width: 30px; }
.bar svg { vertical-align: -2px; }
.bar button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
.bar button:focus-visible { outline: 2px solid var(--st-primary-color); }
.bar input { width: 58px; appearance: textfield; }
.bar input::-webkit-inner-spin-button { display: none; }
.bar label { margin-left: 2px; }
.live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""


@functools.cache
def _component() -> Any:
    """The component, registered once in a process."""
    folder = Path(__file__).with_name("web")
    script = "\n".join(
        (folder / name).read_text(encoding="utf-8") for name in ("frames.js", "toolbar.js")
    )
    return st.components.v2.component("tilewise_keys", html=HTML, css=CSS, js=script)


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
