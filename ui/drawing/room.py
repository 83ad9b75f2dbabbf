"""The room that a page leaves its scene, in CSS pixels: as a browser reports it, or guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ui.drawing.look import Look

COOKIE = re.compile(r"(\d{1,5})x(\d{1,5})")
SMALLEST, LARGEST = 200, 8000  # pixels of either side; what is beyond is no screen
USUAL = Look(width=1240, height=600)  # of a window of 1280 x 720
PHONE = Look(width=370, height=840)  # of a phone held upright
ROOMS = {"phone": PHONE, "wide": USUAL}  # by their names in ui/web/reader.js
PHONE_WIDTH = 640  # pixels; a narrower window is a phone's
PHONE_AGENT = re.compile(r"Mobi", re.IGNORECASE)  # in the User-Agent of every phone's browser


def parse_room(reported: Mapping[str, Any] | None) -> Look | None:
    """The room that a stepper reports: "width", "height", "presenting"; None for anything else."""
    if reported is None:
        return None
    try:
        width, height = int(reported["width"]), int(reported["height"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return _checked(width, height, bool(reported.get("presenting")))


def parse_cookie(text: str) -> Look | None:
    """The room that a cookie remembers from the last visit; None for anything else.

    >>> room = parse_cookie("1240x560")
    >>> (room.width, room.height)
    (1240, 560)
    """
    match = COOKIE.fullmatch(text)
    return _checked(int(match[1]), int(match[2]), False) if match else None


def is_phone(room: Look) -> bool:
    """Whether a room is as narrow as a phone's.

    >>> is_phone(PHONE), is_phone(USUAL)
    (True, False)
    """
    return room.width < PHONE_WIDTH


def guess_room(user_agent: str) -> Look:
    """The room of a window of 1280 x 720, or of a phone."""
    return PHONE if PHONE_AGENT.search(user_agent) else USUAL


def _checked(width: int, height: int, presenting: bool) -> Look | None:
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        return None
    return Look(width=width, height=height, presenting=presenting)
