"""Sentences in Streamlit's Markdown, which would take C's signs for its own and join lines."""

from __future__ import annotations

import re

SIGNS = re.compile(r"[\\`*_~$\[\]<>#|&]|:(?=\w)")


def plain_text(text: str) -> str:
    r"""A text as Markdown that shows it as it is, each of its lines on a line.

    >>> plain_text("Write __device__ before it.\nOr: leave it out.")
    'Write \\_\\_device\\_\\_ before it.  \nOr: leave it out.'
    """
    return SIGNS.sub(r"\\\g<0>", text).replace("\n", "  \n")
