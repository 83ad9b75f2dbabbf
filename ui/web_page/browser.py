"""What a request tells of the visitor's browser."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.drawing.look import Look
from ui.drawing.palette import CHART_INKS
from ui.drawing.viewport import PHONE, USUAL, estimate_viewport, is_phone, parse_cookie

VIEWPORT_COOKIE = "tilewise_room"


def browser_theme() -> str:
    """The browser's theme, "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def text_colour() -> str:
    """The colour of a chart's text in the browser's theme."""
    return CHART_INKS[browser_theme()]


def is_history_navigation() -> bool:
    """Whether the visitor has pressed the browser's Back or Forward."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def known_viewport() -> Look:
    """The viewport stored in the cookie, else one estimated from the browser's name."""
    cookie = st.context.cookies.get(VIEWPORT_COOKIE)
    return parse_cookie(str(cookie)) or estimate_viewport(str(st.context.headers.get("User-Agent")))


def picture_look() -> Look:
    """How a page's pictures are drawn: for a phone or a wide window, in the browser's theme."""
    chosen = PHONE if is_phone(known_viewport()) else USUAL
    return replace(chosen, theme=browser_theme())
