"""Text from others, shown as it is: none of its letters moves a cursor, colours or hides."""

from __future__ import annotations

LAYOUT = "\n\t"


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
