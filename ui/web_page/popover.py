"""Popovers whose content is drawn only while they are open: most runs have forty controls less."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

# For so long after a popover has closed its content is drawn still: a control in it may have been
# changed by the click that closed it, and the browser tells of both in any order.
CLOSING_SECONDS = 2.0
PREFIX = "popover "  # of their keys


def draw_popover(
    label: str, icon: str, name: str, draw: Callable[[], None] | None = None
) -> DeltaGenerator | None:
    """Draw a popover, and what a function draws in it; its name tells it from the page's others.

    It is returned where its content is to be drawn.
    """
    container = st.popover(label, icon=icon, on_change="rerun", key=_key(name))
    since, now = _closed_since(), time.monotonic()
    if container.open:
        since[name] = None
    elif since.get(name, 0.0) is None:
        since[name] = now
    closed = since.get(name, 0.0)
    if closed is not None and now - closed >= CLOSING_SECONDS:
        return None
    if draw is not None:
        with container:
            draw()
    return container


def close_popovers() -> None:
    """Close all popovers, from the next script run on."""
    st.session_state["closed"] = st.session_state.get("closed", 0) + 1


def is_popover(key: str) -> bool:
    """Whether this is the key of a popover that is on the page."""
    return key.startswith(PREFIX) and key.endswith(_suffix())


def _key(name: str) -> str:
    """The key of a popover, which holds until the page closes it: one with a new key is closed."""
    return f"{PREFIX}{name}{_suffix()}"


def _suffix() -> str:
    return f":{st.session_state.get('closed', 0)}"


def _closed_since() -> dict[str, float | None]:
    """When each popover was closed, by time.monotonic(); None for one that is open."""
    if "closed_since" not in st.session_state:
        st.session_state["closed_since"] = {}
    return st.session_state["closed_since"]  # type: ignore[no-any-return]  # set above
