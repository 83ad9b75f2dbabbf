"""Tells a visitor who does not see or has scrolled away from a verdict that there is one."""

from __future__ import annotations

from ui.web_page.component import component
from ui.web_page.web_files import read_web


def announce(number: int, text: str) -> None:
    """Read a sentence to screen readers, and scroll to the verdict where it is out of sight.

    Each number is announced once; the first one, which a visitor comes back to, is not.
    """
    draw = component("announcer", "announcer.js", read_web("announcer.html"))
    draw(key="announcer", data={"number": number, "text": text})
