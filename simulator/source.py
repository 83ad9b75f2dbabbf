"""The kernel's text: its #define lines set to chosen values, so that what is shown is what runs."""

from __future__ import annotations

import re
from collections.abc import Mapping


def set_defines(text: str, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with each macro's #define line set to its value, and the macros it does not define.

    Only object-like macros on one line are set; the rest is for the compiler's -D.
    """
    left: dict[str, str] = {}
    for name, value in values.items():
        line = re.compile(
            rf"^([ \t]*#[ \t]*define[ \t]+{re.escape(name)}[ \t]+)[^\s].*?(?=[ \t]*(?://.*|/\*.*)?$)",
            re.MULTILINE,
        )
        text, count = line.subn(lambda found, value=value: found[1] + value, text)
        if not count:
            left[name] = value
    return text, left
