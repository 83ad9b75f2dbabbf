"""What a request tells of the visitor's browser."""

from __future__ import annotations

import streamlit as st

from ui.drawing.look import Look
from ui.drawing.room import guess_room, parse_cookie

ROOM_COOKIE = "tilewise_room"


def browser_theme() -> str:
    """The browser's theme, "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def known_room() -> Look:
    """The room that the cookie remembers, else one guessed by the browser's name."""
    cookie = st.context.cookies.get(ROOM_COOKIE)
    return parse_cookie(str(cookie)) or guess_room(str(st.context.headers.get("User-Agent")))
