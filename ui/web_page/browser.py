"""What a request tells of the visitor's browser."""

from __future__ import annotations

import streamlit as st

from ui.drawing.look import Look
from ui.drawing.viewport import estimate_viewport, parse_cookie

VIEWPORT_COOKIE = "tilewise_room"


def browser_theme() -> str:
    """The browser's theme, "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def known_viewport() -> Look:
    """The viewport stored in the cookie, else one estimated from the browser's name."""
    cookie = st.context.cookies.get(VIEWPORT_COOKIE)
    return parse_cookie(str(cookie)) or estimate_viewport(str(st.context.headers.get("User-Agent")))
