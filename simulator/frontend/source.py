"""The kernel's source with chosen values in its #define lines.

What is edited here is shown on the screen, too: the text that is shown is the text that runs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping


def set_defines(text: str, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with each macro's #define line set to its value, and the macros without such a line.

    Only object-like macros on one line are set; the others are for the compiler's -D.

    >>> set_defines("#define TILE 16 // columns", {"TILE": "8", "DEPTH": "4"})
    ('#define TILE 8 // columns', {'DEPTH': '4'})
    """
    undefined: dict[str, str] = {}
    for name, value in values.items():
        line = re.compile(
            rf"^([ \t]*#[ \t]*define[ \t]+{re.escape(name)}[ \t]+)([^\s].*)", re.MULTILINE
        )
        text, count = line.subn(functools.partial(_with_value, value), text)
        if not count:
            undefined[name] = value
    return text, undefined


def _with_value(value: str, found: re.Match[str]) -> str:
    """A #define line with its value replaced; a comment after it and the space before it stay.

    found has the line up to the value, and the rest; the old value has at least one character.
    """
    comment = re.search(r"//|/\*", found[2][1:])
    end = len(found[2]) if comment is None else comment.start() + 1
    return found[1] + value + found[2][len(found[2][:end].rstrip(" \t")) :]
