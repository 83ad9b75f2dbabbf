"""Text as others see it: none of its letters moves a cursor, no folder is this machine's."""

from __future__ import annotations

import re

LAYOUT = "\n\t"
FOLDERS = re.compile(r"(?<![\w./~-])(?:~|[A-Za-z]:)?(?:[/\\][\w.+@~-]+)+[/\\](?=[\w.+@~-])")


def printable(text: str) -> str:
    r"""The text with letters that are not seen as escapes; ends of lines and tabs stay.

    >>> printable("a \x1b[31m\u202e b\n")
    'a \\x1b[31m\\u202e b\n'
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or letter in LAYOUT
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def without_folders(text: str) -> str:
    """The text with each file and folder by its last name, for those who are not of this machine.

    >>> without_folders("/usr/local/cuda/include/a.h(3): error in 'C:\\\\x\\\\b.cu', not 1/2/3")
    "a.h(3): error in 'b.cu', not 1/2/3"
    """
    return FOLDERS.sub("", text)
