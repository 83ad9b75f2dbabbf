"""Popovers whose content is drawn only while they are open: most runs have forty controls less."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import streamlit as st

# For so long after a popover has closed its content is drawn still: a control in it may have been
# changed by the click that closed it, and the browser tells of both in any order.
CLOSING_SECONDS = 2.0
PREFIX = "popover "  # of their keys


@dataclass(frozen=True, slots=True)
class Popover:
    """A popover of a page."""

    container: Any
    is_drawn: bool  # whether its content is to be drawn


def draw_popover(label: str, icon: str, name: str) -> Popover:
    """Draw a popover; its name tells it from the page's others."""
    container = st.popover(label, icon=icon, on_change="rerun", key=_key(name))
    since, now = _closed_since(), time.monotonic()
    if container.open:
        since[name] = None
    elif since.get(name, 0.0) is None:
        since[name] = now
    closed = since.get(name, 0.0)
    return Popover(container, closed is None or now - closed < CLOSING_SECONDS)


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
