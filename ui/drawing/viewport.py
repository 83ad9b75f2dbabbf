"""The viewport available to the scene, in CSS pixels, reported by the browser or estimated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ui.drawing.look import Look

COOKIE = re.compile(r"(\d{1,5})x(\d{1,5})")
SMALLEST, LARGEST = 200, 8000  # pixels of either side; what is beyond is no screen
USUAL = Look(width=1240, height=600)  # of a window of 1280 x 720
PHONE = Look(width=370, height=840)  # of a phone held upright
VIEWPORTS = {"phone": PHONE, "wide": USUAL}  # by their names in ui/web/reader.js
PHONE_WIDTH = 640  # pixels; a narrower window is a phone's
PHONE_AGENT = re.compile(r"Mobi", re.IGNORECASE)  # in the User-Agent of every phone's browser


def parse_viewport(reported: Mapping[str, Any] | None) -> Look | None:
    """The viewport that a stepper reports: width, height, presenting; None for anything else."""
    if reported is None:
        return None
    try:
        width, height = int(reported["width"]), int(reported["height"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return _checked(width, height, bool(reported.get("presenting")))


def parse_cookie(text: str) -> Look | None:
    """The viewport of the last visit, as a cookie stores it; None for anything else.

    >>> viewport = parse_cookie("1240x560")
    >>> (viewport.width, viewport.height)
    (1240, 560)
    """
    match = COOKIE.fullmatch(text)
    return _checked(int(match[1]), int(match[2]), False) if match else None


def is_phone(viewport: Look) -> bool:
    """Whether a viewport is as narrow as a phone's.

    >>> is_phone(PHONE), is_phone(USUAL)
    (True, False)
    """
    return viewport.width < PHONE_WIDTH


def estimate_viewport(user_agent: str) -> Look:
    """The viewport in a window of 1280 x 720, or on a phone if the browser is a phone's."""
    return PHONE if PHONE_AGENT.search(user_agent) else USUAL


def _checked(width: int, height: int, presenting: bool) -> Look | None:
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        return None
    return Look(width=width, height=height, presenting=presenting)
