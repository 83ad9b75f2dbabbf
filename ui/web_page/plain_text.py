"""Sentences in Streamlit's Markdown, which would take C's signs for its own and join lines."""

from __future__ import annotations

import re

from simulator.language.printable import printable

SIGNS = re.compile(r"[\\`*_~$\[\]<>#|&]|:(?=\w)")
LINE_BEGINS = re.compile(r"^([ \t]*)(\d*)([-+=.)]?)", re.MULTILINE)  # of lists, rules and headings
# Where an address is written, of a page or of a mailbox: Markdown makes a link of it, however its
# signs are escaped, unless a letter is within that has no width.
ADDRESSES = re.compile(r"https?:(?=//)|www(?=\.)|(?<=[\w.+-])(?=@)", re.IGNORECASE)
# A text in which Markdown sees none of its signs.
LITERAL = re.compile(r"[A-Za-z](?:[A-Za-z0-9 ,.()]|(?<=\w)_|:(?= )|\*(?=[ *]))*")
NO_BREAK, NO_WIDTH = "\u00a0", "\u2060"


def plain_text(text: str) -> str:
    r"""A text as Markdown that shows it as it is, each of its lines on a line.

    Letters that are not seen are shown as escapes. An address is no link.

    >>> plain_text("Write __device__ before it.\nOr: leave it out.")
    'Write \\_\\_device\\_\\_ before it.  \nOr: leave it out.'
    >>> plain_text("1. :smile:\x1b[2J")
    '1\\. \\:smile:\\\\x1b\\[2J'
    """
    escaped = ADDRESSES.sub(rf"\g<0>{NO_WIDTH}", SIGNS.sub(r"\\\g<0>", printable(text)))
    return LINE_BEGINS.sub(_line_begin, escaped).replace("\n", "  \n")


def plain_label(text: str) -> str:
    r"""The same for a control's label, which screen readers read as it is written.

    >>> plain_label("const float* my_row: rows"), plain_label("Vec<4>* A")
    ('const float* my_row: rows', 'Vec\\<4\\>\\* A')
    """
    return text if LITERAL.fullmatch(text) else plain_text(text)


def _line_begin(found: re.Match[str]) -> str:
    spaces, number, sign = found.groups()
    return NO_BREAK * len(spaces) + number + (f"\\{sign}" if sign else "")
